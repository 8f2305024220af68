// Constants in which otherwise equal dispatches differ ==> scalars of the dispatches.
//
//   %y = kernel.dispatch ins(%x) {... arith.mulf %e, 2.0 ...}
//   %z = kernel.dispatch ins(%y) {... arith.mulf %e, 3.0 ...}
//     ==>
//   %y = kernel.dispatch ins(%x) scalars(2.0) {... arith.mulf %e, %s ...}
//   %z = kernel.dispatch ins(%y) scalars(3.0) {... arith.mulf %e, %s ...}
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/schedule/KernelEmitter.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_HOISTCONSTANTS
#include "codegen/Passes.h.inc"

namespace {

/// All parameters of a kernel must fit 4352 bytes: the address and the sizes of up to 32 inputs,
/// and these.
constexpr size_t kMostScalars = 64;

/// The type in which launches pass a constant; null for what they do not.
Type passedAs(Type type) {
  Builder b(type.getContext());
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() > 64   ? Type()
           : integer.getWidth() > 32 ? b.getI64Type()
                                     : b.getI32Type();
  if (!isa<FloatType>(type) || type.getIntOrFloatBitWidth() > 64)
    return {};
  return type.isF64() ? b.getF64Type() : b.getF32Type();
}

/// Whether nothing but elements' values hangs on the constant: neither how a tensor is filled or
/// padded, which schedules look at, nor where an element is.
bool isPlainOperand(arith::ConstantOp constant, bool hasIndexCasts) {
  Type type = constant.getType();
  if (!passedAs(type) || (hasIndexCasts && type.isInteger()))
    return false;
  // A NaN's bits would not survive the plan's arithmetic.
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()); number && number.getValue().isNaN())
    return false;
  return llvm::all_of(constant->getUsers(), [](Operation *user) {
    return user->getParentOfType<linalg::GenericOp>() &&
           !isa<tensor::TensorDialect>(user->getDialect());
  });
}

/// Dispatches that differ in nothing but the values of these constants.
struct Group {
  SmallVector<kernel::DispatchOp> members;
  SmallVector<SmallVector<arith::ConstantOp>> constants; // by member, in the order of the text
};

SmallVector<arith::ConstantOp> plainConstants(kernel::DispatchOp op) {
  bool hasIndexCasts = castsToIndex(op);
  SmallVector<arith::ConstantOp> result;
  op.getBody().walk([&](arith::ConstantOp constant) {
    if (isPlainOperand(constant, hasIndexCasts))
      result.push_back(constant);
  });
  return result;
}

struct HoistConstants : impl::HoistConstantsBase<HoistConstants> {
  void runOnOperation() override {
    DispatchHasher hasher;
    llvm::MapVector<std::pair<DispatchKey, Attribute>, Group> groups;
    getOperation().walk([&](kernel::DispatchOp op) {
      SmallVector<arith::ConstantOp> constants = plainConstants(op);
      if (constants.empty())
        return;
      llvm::SmallPtrSet<Operation *, 8> plain(constants.begin(), constants.end());
      DispatchKey key = hasher.key(op, [&](Operation *inner) { return plain.contains(inner); });
      Group &group = groups[{key, op.getScheduleAttr()}];
      group.members.push_back(op);
      group.constants.push_back(std::move(constants));
    });
    for (auto &[key, group] : groups)
      if (group.members.size() > 1)
        hoist(group);
  }

private:
  void hoist(Group &group) {
    SmallVector<size_t> different;
    for (auto [i, first] : llvm::enumerate(group.constants.front()))
      if (llvm::any_of(group.constants, [&, i = i, value = first.getValue()](auto &constants) {
            return constants[i].getValue() != value;
          }))
        different.push_back(i);
    if (different.empty() ||
        different.size() + group.members.front().getScalars().size() > kMostScalars)
      return;
    for (auto [op, constants] : llvm::zip(group.members, group.constants))
      for (size_t i : different)
        passAsScalar(op, constants[i]);
    count(&getContext(), getArgument(), "hoisted", different.size() * group.members.size());
  }

  static void passAsScalar(kernel::DispatchOp op, arith::ConstantOp constant) {
    OpBuilder outside(op), inside(constant);
    Type type = constant.getType(), passed = passedAs(type);
    TypedAttr value = constant.getValue();
    if (auto number = dyn_cast<FloatAttr>(value))
      value = FloatAttr::get(passed, number.getValueAsDouble());
    else // without a sign, so that a boolean's 1 stays 1
      value = IntegerAttr::get(
          passed, cast<IntegerAttr>(value).getValue().zext(passed.getIntOrFloatBitWidth()));
    Value scalar = outside.create<arith::ConstantOp>(op.getLoc(), value);
    unsigned position = op.getInputs().size() + op.getScalars().size();
    op.getScalarsMutable().append(scalar);
    Value replacement = op.getBodyBlock()->insertArgument(position, passed, op.getLoc());
    if (passed != type && isa<FloatType>(type))
      replacement = inside.create<arith::TruncFOp>(constant.getLoc(), type, replacement);
    else if (passed != type)
      replacement = inside.create<arith::TruncIOp>(constant.getLoc(), type, replacement);
    constant.replaceAllUsesWith(replacement);
    constant.erase();
  }
};

} // namespace

} // namespace cameo
