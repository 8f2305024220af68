// Storing elementwise work on a root.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Epilogues.h"

#include "dialects/kernel/form/Runs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {

SmallVector<Value> planSizesOfRoot(OpBuilder &host, kernel::DispatchOp op, const Epilogue &first,
                                   Value root) {
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(root.getType()).getShape())) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(host.createOrFold<tensor::DimOp>(op.getLoc(), op.getInits()[0],
                                                       *sameDimension(first, dim)));
    else
      sizes.push_back(host.create<arith::ConstantIndexOp>(op.getLoc(), size));
  }
  return sizes;
}

void storeResult(Kernel &kernel, Value root, const Epilogue &epilogue, size_t number,
                 ArrayRef<Value> place, ArrayRef<Value> values, function_ref<Value()> flat) {
  OpBuilder &b = kernel.b;
  Value destination = kernel.op.getInitArgs()[number];
  auto rootType = cast<RankedTensorType>(root.getType());
  auto type = cast<RankedTensorType>(destination.getType());
  int64_t lanes = values.size(), width = 1;
  if (lanes > 1)
    width = vectorAlong(epilogue.place, type, {unsigned(rootType.getRank() - 1)},
                        rootType.getShape(), lanes, epilogue.bounds);
  while (lanes % width != 0)
    width /= 2;
  auto same = simplifiedWithin(
      AffineMap::getMultiDimIdentityMap(rootType.getRank(), b.getContext()), rootType.getShape());

  auto placeOf = [&](int64_t lane) {
    SmallVector<Value> at(place);
    if (lane != 0)
      at.back() = kernel.add(at.back(), kernel.constant(lane));
    return at;
  };
  auto valueOf = [&](int64_t lane) {
    Value value = values[lane];
    if (epilogue.value == root)
      return value;
    kernel.keep(root, [value](ValueRange) { return value; });
    return kernel.element(epilogue.value, kernel.apply(epilogue.place, placeOf(lane)));
  };
  Value start;
  auto offsetOf = [&](int64_t lane) {
    if (flat && epilogue.place == same && epilogue.bounds.empty() &&
        kernel.layout(destination).isContiguous()) {
      if (!start)
        start = flat();
      return kernel.add(start, kernel.constant(lane));
    }
    return kernel.offset(destination, kernel.apply(epilogue.place, placeOf(lane)));
  };
  if (epilogue.bounds.empty()) {
    SmallVector<Value> stored;
    for (int64_t lane = 0; lane < lanes; ++lane)
      stored.push_back(valueOf(lane));
    for (int64_t lane = 0; lane < lanes; lane += width)
      kernel.storeVector(kernel.memory(destination), offsetOf(lane),
                         ArrayRef(stored).slice(lane, width));
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
    SmallVector<Value> stored;
    for (int64_t lane = first; lane < first + width; ++lane)
      stored.push_back(valueOf(lane));
    kernel.storeVector(kernel.memory(destination), offsetOf(first), stored);
  }
}

} // namespace cameo
