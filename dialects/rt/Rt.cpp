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

//===-- The arena -----------------------------------------------------------------------------===//

void LayOutArenaOp::build(OpBuilder &builder, OperationState &state, ValueRange bytes,
                          ArrayRef<int64_t> first, ArrayRef<int64_t> last) {
  SmallVector<Type> offsets(bytes.size(), builder.getIndexType());
  build(builder, state, builder.getIndexType(), builder.getIndexType(), builder.getIndexType(),
        offsets, bytes, builder.getDenseI64ArrayAttr(first), builder.getDenseI64ArrayAttr(last));
}

void LayOutArenaOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getArena(), "arena");
  setName(getLive(), "live");
  setName(getSum(), "sum");
  if (!getOffsets().empty())
    setName(getOffsets().front(), "offset");
}

ParseResult LayOutArenaOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> bytes;
  SmallVector<int64_t> first, last;
  auto parseRequest = [&]() -> ParseResult {
    return failure(parser.parseOperand(bytes.emplace_back()) || parser.parseKeyword("from") ||
                   parser.parseInteger(first.emplace_back()) || parser.parseKeyword("to") ||
                   parser.parseInteger(last.emplace_back()));
  };
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRequest) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.resolveOperands(bytes, index, result.operands))
    return failure();
  result.addAttribute(getFirstAttrName(result.name),
                      parser.getBuilder().getDenseI64ArrayAttr(first));
  result.addAttribute(getLastAttrName(result.name), parser.getBuilder().getDenseI64ArrayAttr(last));
  result.addTypes(SmallVector<Type>(3 + bytes.size(), index));
  return success();
}

void LayOutArenaOp::print(OpAsmPrinter &printer) {
  printer << " [";
  printer.increaseIndent();
  bool isFirst = true;
  for (auto [bytes, first, last] : llvm::zip(getBytes(), getFirst(), getLast())) {
    printer << (isFirst ? "" : ",");
    printer.printNewline();
    printer << bytes << " from " << first << " to " << last;
    isFirst = false;
  }
  printer.decreaseIndent();
  if (!isFirst)
    printer.printNewline();
  printer << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getFirstAttrName(), getLastAttrName()});
}

LogicalResult LayOutArenaOp::verify() {
  size_t count = getBytes().size();
  if (getFirst().size() != count || getLast().size() != count || getOffsets().size() != count)
    return emitOpError() << "has " << count << " sizes, " << getFirst().size() << " first and "
                         << getLast().size() << " last steps, and " << getOffsets().size()
                         << " offsets";
  for (auto [i, first, last] : llvm::enumerate(getFirst(), getLast()))
    if (first < 0 || last < first || last > UINT32_MAX)
      return emitOpError() << "buffer " << i << " is in use from step " << first << " to step "
                           << last << "; steps are in order and in [0, 2^32)";
  return success();
}

LogicalResult ArenaSizeOp::verify() {
  if (!getLive() != !getSum())
    return emitOpError("states the live bytes or the sum of all bytes without the other");
  return success();
}
