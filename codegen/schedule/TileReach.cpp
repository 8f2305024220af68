// See TileReach.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/TileReach.h"

#include "codegen/NodeNames.h"
#include "codegen/schedule/ProductKernel.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo {
namespace {

/// Gathers what has to be below a bound, as values of the plan.
class ReachReader {
public:
  ReachReader(kernel::DispatchOp op, const Product &product, const Reach &reach)
      : host(op), loc(op.getLoc()), op(op), product(product), reach(reach) {}

  /// False where something cannot be told.
  bool read() {
    return readScalars() && findExtents() && readGroups() && readOperands() && readResults();
  }

  SmallVector<Value> bounded;

private:
  Value number(int64_t value) { return host.create<arith::ConstantIndexOp>(loc, value); }
  Value add(Value a, Value c) { return host.createOrFold<arith::AddIOp>(loc, a, c); }
  Value mul(Value a, Value c) { return host.createOrFold<arith::MulIOp>(loc, a, c); }
  Value least(Value a, Value c) { return host.createOrFold<arith::MinSIOp>(loc, a, c); }
  Value ceil(int64_t a, Value c) {
    return host.createOrFold<arith::CeilDivSIOp>(loc, number(a), c);
  }

  /// Indices that a description multiplies itself have no bound; those of the plan may be any.
  bool readScalars() {
    for (Value scalar : op.getScalars()) {
      if (!isIndex(op, scalar.getType()))
        continue;
      if (!scalar.getType().isIndex())
        return false;
      bounded.push_back(scalar);
    }
    return !op.getBody()
                .walk([](Operation *inner) {
                  return isa<arith::MulIOp>(inner) && inner->getResult(0).getType().isIndex()
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
  }

  bool findExtents() {
    linalg::GenericOp generic = product.generic;
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    for (unsigned loop = 0; loop < product.ranges.size(); ++loop) {
      Value extent;
      if (!ShapedType::isDynamic(product.ranges[loop]))
        extent = number(product.ranges[loop]);
      for (auto [map, operand] : llvm::zip(maps, generic->getOperands()))
        for (auto [dim, expr] : llvm::enumerate(map.getResults()))
          if (!extent && expr == host.getAffineDimExpr(loop))
            extent = planSize(host, op, operand, dim);
      if (!extent)
        return false;
      extents.push_back(extent);
    }
    return true;
  }

  /// Indices of each group of loops, and how far a tile goes along each loop of it.
  bool readGroups() {
    changes.assign(extents.size(), Value());
    auto read = [&](ArrayRef<unsigned> loops, int64_t tile) {
      Value inner = number(1);
      bool isInnermost = true;
      for (unsigned loop : llvm::reverse(loops)) {
        // Neighbours may be in as many of an outer loop's indices as they begin.
        Value change = isInnermost ? number(tile) : add(ceil(tile, inner), number(1));
        changes[loop] = least(change, extents[loop]);
        isInnermost &= isConstantIntValue(extents[loop], 1);
        // Of none there is no tile; a division by zero must not be.
        inner = mul(inner, host.createOrFold<arith::MaxSIOp>(loc, extents[loop], number(1)));
      }
      bounded.push_back(inner);
    };
    read(product.batch, 0);
    read(product.rows, reach.rows);
    read(product.columns, reach.columns);
    read(product.depth, reach.depth);
    for (unsigned loop : product.batch)
      changes[loop] = number(0); // one index a tile
    return true;
  }

  /// Elements from one index to the next along each dimension.
  SmallVector<Value> stridesOf(Value argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    Value outside = op->getOperand(cast<BlockArgument>(argument).getArgNumber());
    SmallVector<Value> strides(type.getRank());
    if (!operandLayout(op, argument).isContiguous()) {
      std::optional<rt::Layout> layout = rt::layoutOf(outside);
      for (auto [stride, known] : llvm::zip(strides, layout->strides)) {
        stride = known.value(host, loc);
        bounded.push_back(stride);
      }
      return strides;
    }
    Value stride = number(1);
    for (int64_t dim = type.getRank(); dim-- > 0;) {
      strides[dim] = stride;
      Value size = planSize(host, op, argument, dim);
      if (type.isDynamicDim(dim))
        bounded.push_back(size);
      stride = mul(stride, size);
    }
    return strides;
  }

  /// How far a tile's elements are apart, at places that are sums over loops.
  bool readSpan(AffineMap map, ArrayRef<Value> strides, Value more) {
    Value span = more;
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
      std::optional<SmallVector<int64_t>> factors = factorsOf(map, dim);
      if (!factors)
        return false;
      for (auto [loop, change] : llvm::enumerate(changes))
        if (int64_t factor = (*factors)[loop])
          span = add(span, mul(mul(change, number(std::abs(factor))), strides[dim]));
    }
    bounded.push_back(span);
    return true;
  }

  bool readOperands() {
    for (const Operand *operand : {&product.row, &product.column})
      for (const Access &read : operand->value.reads) {
        if (read.index) // anywhere
          return false;
        SmallVector<Value> strides = stridesOf(read.source);
        Value padding = number(0);
        for (auto [dim, stride] : llvm::enumerate(strides)) {
          std::optional<SmallVector<int64_t>> factors;
          tensor::PadOp pad = operand->pad;
          if (pad)
            factors = factorsOf(read.beneath, dim);
          for (unsigned padded = 0; factors && padded + 1 < factors->size(); ++padded) {
            auto low = getConstantIntValue(pad.getMixedLowPad()[padded]);
            if (!low && (*factors)[padded] != 0)
              return false;
            if ((*factors)[padded] != 0)
              padding = add(padding, mul(number(std::abs(*low * (*factors)[padded])), stride));
          }
        }
        if (!readSpan(read.place(), strides, padding))
          return false;
      }
    return true;
  }

  bool readResults() {
    if (reach.splits > 1) { // they are another launch's
      AffineMap place = placeOfParts(product);
      SmallVector<Value> strides(place.getNumResults());
      Value stride = number(reach.splits);
      for (size_t dim = strides.size(); dim-- > 0;) {
        strides[dim] = stride;
        auto expr = dyn_cast<AffineDimExpr>(place.getResult(dim));
        stride = mul(stride, expr ? extents[expr.getPosition()] : number(1));
      }
      return readSpan(place, strides, number(0));
    }
    for (auto [epilogue, argument] : llvm::zip(product.epilogues, op.getInitArgs())) {
      AffineMap place = simplifiedWithin(epilogue.place.compose(product.outMap), product.ranges);
      if (!readSpan(place, stridesOf(argument), number(0)) || !readWork(product.workOf(epilogue)))
        return false;
    }
    return llvm::all_of(product.steps, [&](const RowStep &step) {
      return llvm::all_of(step.works, [&](const auto &work) { return readWork(work); });
    });
  }

  bool readWork(const std::optional<Elementwise> &work) {
    return llvm::all_of(work ? ArrayRef(work->reads) : ArrayRef<Access>(), [&](const Access &read) {
      return readSpan(read.map, stridesOf(read.source), number(0));
    });
  }

  OpBuilder host;
  Location loc;
  kernel::DispatchOp op;
  const Product &product;
  const Reach &reach;
  SmallVector<Value> extents; // of loops
  SmallVector<Value> changes; // of a loop's index within a tile, at most
};

} // namespace

void reachByTiles(KernelEmitter &emitter, kernel::DispatchOp op, const Product &product,
                  const Reach &reach) {
  if (!emitter.needsTwo(op))
    return;
  ReachReader reader(op, product, reach);
  int64_t bound = emitter.indexBound();
  if (!reader.read() || llvm::any_of(reader.bounded, [&](Value value) {
        auto known = getConstantIntValue(value);
        return known && *known >= bound;
      }))
    return;
  OpBuilder host(op);
  Location loc = op.getLoc();
  Value most = host.create<arith::ConstantIndexOp>(loc, bound), all;
  for (Value value : llvm::SetVector<Value>(reader.bounded.begin(), reader.bounded.end())) {
    if (getConstantIntValue(value))
      continue;
    // Unsigned: negative values are too large, too.
    Value fits = host.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, value, most);
    all = all ? host.create<arith::AndIOp>(loc, all, fits).getResult() : fits;
  }
  emitter.reachFar();
  if (!all)
    return;
  llvm::SetVector<StringRef> nodes;
  collectNodeNames(loc, nodes);
  std::string text;
  llvm::raw_string_ostream(text)
      << "node '" << (nodes.empty() ? StringRef("product") : nodes.front())
      << "': its kernel reaches less than " << bound
      << " rows, columns and steps of depth, and elements between the first and the last of a tile "
         "of "
      << reach.rows << "x" << reach.columns << "x" << reach.depth;
  host.create<rt::CheckOp>(loc, all, host.getStringAttr(text), ValueRange());
}

} // namespace cameo
