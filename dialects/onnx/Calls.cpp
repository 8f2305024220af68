// Calls of the functions that bodies of control flow are: what they must agree with.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace cameo::onnx {

/// The function takes values of such types; its results are for those of the op behind the first `own`, and named ones
/// behind these for who watches a run.
static LogicalResult verifyCallee(Operation *op, SymbolTableCollection &symbols,
                                  FlatSymbolRefAttr name, TypeRange given, unsigned own) {
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  if (!callee)
    return op->emitOpError() << "calls " << name << ", which is not a function";
  FunctionType type = callee.getFunctionType();
  if (type.getNumInputs() != given.size() ||
      failed(verifyCompatibleShapes(TypeRange(type.getInputs()), given)))
    return op->emitOpError() << "calls " << name << " with " << given << ", which takes "
                             << type.getInputs();
  unsigned results = type.getNumResults();
  while (results > own + op->getNumResults() && callee.getResultAttr(results - 1, kNameAttr))
    --results;
  if (results != own + op->getNumResults())
    return op->emitOpError() << "has " << op->getNumResults() << " results, and " << name
                             << " gives " << type.getNumResults();
  return success();
}

/// A pair of numbers for each dimension of each result.
static LogicalResult verifySizes(Operation *op, ArrayRef<int64_t> sizes, ValueRange values) {
  size_t count = 0;
  for (Type type : op->getResultTypes()) {
    auto ranked = dyn_cast<RankedTensorType>(type);
    if (!ranked)
      return op->emitOpError() << "has a result of type " << type << ", which has no rank";
    count += 2 * ranked.getRank();
  }
  if (sizes.size() != count)
    return op->emitOpError() << "has " << sizes.size() << " numbers for sizes; " << count
                             << " are needed";
  for (size_t i = 0; i < sizes.size(); i += 2) {
    if (sizes[i] == -1)
      continue;
    auto type = sizes[i] >= 0 && sizes[i] < int64_t(values.size())
                    ? dyn_cast<RankedTensorType>(values[sizes[i]].getType())
                    : RankedTensorType();
    if (!type || sizes[i + 1] < 0 || sizes[i + 1] >= type.getRank())
      return op->emitOpError() << "has a size from dimension " << sizes[i + 1] << " of value "
                               << sizes[i] << ", which there is not";
  }
  return success();
}

LogicalResult CallIfOp::verifySymbolUses(SymbolTableCollection &symbols) {
  TypeRange given = getCaptures().getTypes();
  if (failed(verifyCallee(*this, symbols, getThenBranchAttr(), given, 0)) ||
      failed(verifyCallee(*this, symbols, getElseBranchAttr(), given, 0)))
    return failure();
  return verifySizes(*this, getSizes(), getCaptures());
}

LogicalResult CallLoopOp::verify() {
  if (getCarried() > getValues().size() || getCarried() > getNumResults())
    return emitOpError() << "carries " << getCarried() << " values, of " << getValues().size()
                         << " that it is given and " << getNumResults() << " results";
  return success();
}

LogicalResult CallLoopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SmallVector<Type> given{RankedTensorType::get({}, IntegerType::get(getContext(), 64))};
  llvm::append_range(given, getValues().getTypes());
  if (failed(verifyCallee(*this, symbols, getBodyAttr(), given, 1)))
    return failure();
  return verifySizes(*this, getSizes(), getValues());
}

} // namespace cameo::onnx
