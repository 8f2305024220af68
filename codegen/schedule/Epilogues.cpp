// Storing elementwise work on a root.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Epilogues.h"

#include "codegen/schedule/Sources.h"
#include "dialects/kernel/form/Runs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {

SmallVector<Value> gridSizesOfRoot(OpBuilder &host, KernelEmitter &emitter, kernel::DispatchOp op,
                                   const Epilogue &first, Value root) {
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(root.getType()).getShape())) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(emitter.gridSize(host, op, 0, *sameDimension(first, dim)));
    else
      sizes.push_back(host.create<arith::ConstantIndexOp>(op.getLoc(), size));
  }
  return sizes;
}

SmallVector<Value, 3> gridOfLines(OpBuilder &host, KernelEmitter &emitter, kernel::DispatchOp op,
                                  const Epilogue &first, Value root, int64_t axis) {
  Value one = host.create<arith::ConstantIndexOp>(op.getLoc(), 1), lines = one;
  for (auto [dim, size] : llvm::enumerate(gridSizesOfRoot(host, emitter, op, first, root)))
    if (static_cast<int64_t>(dim) != axis)
      lines = host.createOrFold<arith::MulIOp>(op.getLoc(), lines, size);
  return {lines, one, one};
}

namespace {

/// Elementwise work on neighbours along a dimension of the root, which reads other memory for
/// several of them at once.
class TogetherWork {
public:
  TogetherWork(KernelWriter &kernel, Value root, const Epilogue &epilogue, int64_t width,
               int64_t along)
      : kernel(kernel), width(width), along(along) {
    auto type = cast<RankedTensorType>(root.getType());
    AffineMap place = simplifiedWithin(epilogue.place, type.getShape());
    Access access{epilogue.value, {}, epilogue.value,
                  place,          {}, getElementTypeOrSelf(epilogue.value)};
    work = elementwiseOf(access, type.getShape(), root);
    for (const Access &read : work ? ArrayRef(work->reads) : ArrayRef<Access>())
      widths.push_back(loadWidth(kernel.op, read, {unsigned(along)}, type.getShape(), width));
  }

  /// Whether anything is to be gained.
  bool reads() const {
    return llvm::any_of(widths, [](int64_t width) { return width > 1; });
  }

  /// Of neighbours from `place` on, whose elements of the root are `values`.
  SmallVector<Value> compute(ArrayRef<Value> place, ArrayRef<Value> values) {
    SmallVector<SmallVector<Value>> loaded(width); // by lane, then by read
    for (auto [read, step] : llvm::zip(work->reads, widths))
      for (int64_t lane = 0; lane < width; lane += step == 0 ? width : step) {
        SmallVector<Value> at(place);
        at[along] = kernel.add(at[along], kernel.constant(lane));
        auto [memory, offset] = kernel.address(read.source, kernel.apply(read.map, at));
        SmallVector<Value> lanes = kernel.load(memory, offset, std::max<int64_t>(step, 1));
        lanes.resize(step == 0 ? width : step, lanes.front());
        for (auto [i, value] : llvm::enumerate(lanes))
          loaded[lane + i].push_back(value);
      }
    SmallVector<Value> results;
    for (auto [read, value] : llvm::zip(loaded, values))
      results.push_back(computeElement(kernel, *work, read, value));
    return results;
  }

private:
  KernelWriter &kernel;
  int64_t width, along;
  std::optional<Elementwise> work;
  SmallVector<int64_t> widths; // by read
};

} // namespace

void storeResult(KernelWriter &kernel, Value root, const Epilogue &epilogue, size_t number,
                 ArrayRef<Value> place, ArrayRef<Value> values, function_ref<Value()> flat,
                 std::optional<unsigned> dimension) {
  OpBuilder &b = kernel.b;
  Value destination = kernel.op.getInitArgs()[number];
  auto rootType = cast<RankedTensorType>(root.getType());
  auto type = cast<RankedTensorType>(destination.getType());
  int64_t lanes = values.size(), width = 1;
  int64_t along = dimension ? int64_t(*dimension) : laneDimension(rootType);
  if (lanes > 1)
    width = vectorAlong(epilogue.place, type, {unsigned(along)}, rootType.getShape(), lanes,
                        epilogue.bounds);
  while (lanes % width != 0)
    width /= 2;
  auto same = simplifiedWithin(
      AffineMap::getMultiDimIdentityMap(rootType.getRank(), b.getContext()), rootType.getShape());

  auto placeOf = [&](int64_t lane) {
    SmallVector<Value> at(place);
    if (lane != 0)
      at[along] = kernel.add(at[along], kernel.constant(lane));
    return at;
  };
  TogetherWork together(kernel, root, epilogue, width, along);
  auto valuesFrom = [&](int64_t first) {
    SmallVector<Value> mine(values.slice(first, width));
    if (epilogue.value == root)
      return mine;
    if (together.reads())
      return together.compute(placeOf(first), mine);
    for (auto [i, value] : llvm::enumerate(mine)) {
      kernel.keep(root, [value = value](ValueRange) { return value; });
      value = kernel.element(epilogue.value, kernel.apply(epilogue.place, placeOf(first + i)));
    }
    return mine;
  };
  Value start;
  auto addressOf = [&](int64_t lane) -> KernelWriter::Address {
    if (flat && epilogue.place == same && epilogue.bounds.empty() &&
        kernel.layout(destination).isContiguous()) {
      if (!start)
        start = flat();
      return {kernel.memory(destination), kernel.add(start, kernel.constant(lane))};
    }
    return kernel.address(destination, kernel.apply(epilogue.place, placeOf(lane)));
  };
  auto store = [&](int64_t lane, ArrayRef<Value> stored) {
    auto [memory, offset] = addressOf(lane);
    kernel.storeVector(memory, offset, stored);
  };
  if (epilogue.bounds.empty()) {
    SmallVector<Value> stored;
    for (int64_t lane = 0; lane < lanes; lane += width)
      stored.append(valuesFrom(lane));
    for (int64_t lane = 0; lane < lanes; lane += width)
      store(lane, ArrayRef(stored).slice(lane, width));
    return;
  }
  for (int64_t first = 0; first < lanes; first += width) {
    Value inside;
    for (const Bound &bound : epilogue.bounds) {
      Value good = b.create<arith::CmpIOp>(kernel.loc, arith::CmpIPredicate::ult,
                                           kernel.apply(bound.at, placeOf(first)),
                                           kernel.constant(bound.size));
      inside = inside ? b.create<arith::AndIOp>(kernel.loc, inside, good).getResult() : good;
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(b.create<scf::IfOp>(kernel.loc, inside, false).thenBlock());
    SmallVector<Value> stored = valuesFrom(first);
    store(first, stored);
  }
}

} // namespace cameo
