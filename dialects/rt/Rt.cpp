// SPDX-License-Identifier: Apache-2.0
// The rt dialect: registration and verifiers.
#include "dialects/rt/Rt.h"

#include "dialects/rt/Ledger.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cameo::rt;

#include "dialects/rt/RtDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/rt/RtTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/rt/Rt.cpp.inc"

void RtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/rt/Rt.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/rt/RtTypes.cpp.inc"
      >();
}

LogicalResult RtDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return attribute.getName() == kLedgerAttr ? verifyLedger(op, attribute.getValue()) : success();
}

LogicalResult GetConstantOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // The pool is the module around the variants.
  for (Operation *scope = getOperation()->getParentOp(); scope; scope = scope->getParentOp()) {
    if (!scope->hasTrait<OpTrait::SymbolTable>())
      continue;
    if (auto constant =
            dyn_cast_or_null<ConstantOp>(symbols.lookupSymbolIn(scope, getConstantAttr()))) {
      if (isa<BufferType>(getType()) || constant.getValue().getType() == getType())
        return success();
      return emitOpError() << "has type " << getType() << ", the constant "
                           << constant.getValue().getType();
    }
  }
  return emitOpError() << "no constant " << getConstantAttr() << " in any enclosing pool";
}

LogicalResult ReshapeOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  auto source = cast<RankedTensorType>(getSource().getType());
  if (type.getElementType() != source.getElementType())
    return emitOpError("cannot change the element type");
  if (static_cast<int64_t>(getSizes().size()) != type.getNumDynamicDims())
    return emitOpError() << "has " << getSizes().size() << " sizes, its result "
                         << type.getNumDynamicDims() << " dynamic dimensions";
  if (type.hasStaticShape() && source.hasStaticShape() &&
      type.getNumElements() != source.getNumElements())
    return emitOpError() << "from " << source.getNumElements() << " to " << type.getNumElements()
                         << " elements";
  return success();
}

LogicalResult LaunchOp::verify() {
  if (getGrid().size() != 3)
    return emitOpError() << "needs three grid sizes, has " << getGrid().size();
  for (int64_t position : getOutputs())
    if (position < 0 || position >= static_cast<int64_t>(getOperands_().size()))
      return emitOpError() << "output position " << position << " is outside [0, "
                           << getOperands_().size() << ")";
  if (!getResults().empty() && getResults().size() != getOutputs().size())
    return emitOpError() << "has " << getResults().size() << " results for " << getOutputs().size()
                         << " written operands";
  return success();
}
