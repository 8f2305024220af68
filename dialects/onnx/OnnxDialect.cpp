// The dialect itself: registration, types, assembly, and the ops that are not operators.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Interfaces.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/OpsDetail.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cameo::onnx;

#include "dialects/onnx/OnnxDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/onnx/OnnxAttrs.cpp.inc"

LogicalResult OnnxDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyDeclared<OpsetAttrHelper, ModelAttrHelper, FixedAttrHelper, NameAttrHelper,
                        DimsAttrHelper, ShapeAttrHelper, TypeAttrHelper, EvenSplitAttrHelper,
                        RowsAttrHelper, KeptUnfoldedAttrHelper, ShapeDeclaredAttrHelper,
                        UnexpandedAttrHelper, ArithmeticAttrHelper, ProductsAttrHelper,
                        PrecisionAttrHelper, KeptPrecisionAttrHelper, RangesAttrHelper,
                        TensorsAttrHelper, KeyAttrHelper>(op, attribute);
}

LogicalResult OnnxDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  return verifyDeclared<NameAttrHelper, DimsAttrHelper, ShapeAttrHelper, TypeAttrHelper,
                        StateAttrHelper>(op, attribute);
}

LogicalResult OnnxDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                       NamedAttribute attribute) {
  return verifyDeclared<NameAttrHelper, DimsAttrHelper, ShapeAttrHelper, TypeAttrHelper>(op,
                                                                                         attribute);
}

void OnnxDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/onnx/OnnxTypes.cpp.inc"
      >();
  addAttributes<ExternalAttr>();
  addInterface(makeBytecodeInterface(this));
  registerOnnxDialectOperations(this);
  attachShapeRules(*getContext());
  attachNearestForms(*getContext());
}

Operation *OnnxDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  if (isa<NoneType>(type))
    return builder.create<NoneOp>(loc, type, ValueRange());
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, type, ValueRange(),
                                    builder.getNamedAttr("value", elements));
}

ParseResult cameo::onnx::detail::parseOp(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  SMLoc loc;
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalLParen())) {
    auto parseRegion = [&] { return parser.parseRegion(*result.addRegion()); };
    if (parser.parseCommaSeparatedList(parseRegion) || parser.parseRParen())
      return failure();
  }
  loc = parser.getCurrentLocation();
  if (parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  return success();
}

void cameo::onnx::detail::printOp(OpAsmPrinter &printer, Operation *op) {
  printer << "(";
  printer.printOperands(op->getOperands());
  printer << ")";
  printer.printOptionalAttrDict(op->getAttrs());
  if (op->getNumRegions()) {
    printer << " (";
    llvm::interleaveComma(op->getRegions(), printer,
                          [&](Region &region) { printer.printRegion(region); });
    printer << ")";
  }
  printer << " : ";
  printer.printFunctionalType(op);
}

//===----------------------------------------------------------------------===//
// Ops that are not operators, and Constant
//===----------------------------------------------------------------------===//

OpFoldResult NoneOp::fold(FoldAdaptor) { return UnitAttr::get(getContext()); }
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult ConstantOp::verify() {
  if (getValue().getType() != getOutput().getType())
    return emitOpError("has a value of type ")
           << getValue().getType() << " but yields " << getOutput().getType();
  return success();
}

LogicalResult CustomOp::verify() {
  size_t names = getGraphs() ? getGraphs()->size() : 0;
  if (names != getBodies().size())
    return emitOpError("names ") << names << " graphs but has " << getBodies().size() << " regions";
  return success();
}
