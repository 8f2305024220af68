// Bounds of indices, known or compared at run time.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/IndexWidth.h"

#include "codegen/schedule/KernelEmitter.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cameo {

bool fitsIn32Bits(kernel::DispatchOp op, int64_t bound) {
  bool fits = true;
  auto check = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && (!tensor.hasStaticShape() || tensor.getNumElements() >= bound))
      fits = false;
  };
  op->walk([&](Operation *inner) {
    for (Type type : inner->getOperandTypes())
      check(type);
    for (Type type : inner->getResultTypes())
      check(type);
    if (auto generic = dyn_cast<linalg::GenericOp>(inner))
      for (int64_t range : generic.getStaticLoopRanges())
        if (ShapedType::isDynamic(range) || range >= bound)
          fits = false;
  });
  for (BlockArgument view : viewsOf(op))
    check(rt::layoutOf(op->getOperand(view.getArgNumber()))->root.getType());
  // Those of the plan may be anything.
  return fits && llvm::none_of(op.getScalars(),
                               [&](Value scalar) { return isIndex(op, scalar.getType()); });
}

Value fitsAtRunTime(kernel::DispatchOp op, int64_t limit) {
  OpBuilder host(op);
  Location loc = op.getLoc();
  Value bound = host.create<arith::ConstantIndexOp>(loc, limit), all;
  auto require = [&](Value value) {
    // Unsigned: negative values need the wide kernel, too.
    Value small = host.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, value, bound);
    all = all ? host.create<arith::AndIOp>(loc, all, small).getResult() : small;
  };
  for (Value scalar : op.getScalars()) {
    if (!isIndex(op, scalar.getType()))
      continue;
    if (!scalar.getType().isIndex())
      return {};
    require(scalar);
  }
  llvm::SetVector<Value> tensors;
  for (BlockArgument argument : op.getBodyBlock()->getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      tensors.insert(argument);
  WalkResult products = op.getBody().walk([&](Operation *inner) {
    for (Value result : inner->getResults())
      if (isa<RankedTensorType>(result.getType()))
        tensors.insert(result);
    // Indices that a body multiplies itself have no bound.
    return isa<arith::MulIOp>(inner) && inner->getResult(0).getType().isIndex()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (products.wasInterrupted())
    return {};
  for (Value tensor : tensors) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.hasStaticShape()) {
      if (type.getNumElements() >= limit)
        return {};
      continue;
    }
    Value count;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value size = planSize(host, op, tensor, dim);
      if (!size)
        return {};
      count = count ? host.createOrFold<arith::MulIOp>(loc, count, size) : size;
    }
    require(count);
  }
  for (BlockArgument view : viewsOf(op)) {
    Value root = rt::layoutOf(op->getOperand(view.getArgNumber()))->root;
    rt::Extent elements;
    for (int64_t dim = 0; dim < cast<RankedTensorType>(root.getType()).getRank(); ++dim)
      elements = elements * rt::sizeOf(root, dim);
    require(elements.value(host, loc));
  }
  return all;
}

} // namespace cameo
