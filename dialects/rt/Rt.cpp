// SPDX-License-Identifier: Apache-2.0
// The rt dialect: registration and verifiers.
#include "dialects/rt/InPlace.h"
#include "dialects/rt/Layout.h"

#include "dialects/rt/Ledger.h"
#include "runtime/boards.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cameo::rt;

#include "dialects/rt/RtDialect.cpp.inc"
#include "dialects/rt/RtEnums.cpp.inc"

/// In a variant: the architecture, `board` and the board.
static ParseResult parseTarget(OpAsmParser &parser, TargetAttr &target);
static void printTarget(OpAsmPrinter &printer, VariantOp, TargetAttr target);

#define GET_ATTRDEF_CLASSES
#include "dialects/rt/RtAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/rt/RtTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/rt/Rt.cpp.inc"

void RtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/rt/Rt.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/rt/RtAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/rt/RtTypes.cpp.inc"
      >();
}

LogicalResult RtDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kLedgerAttr)
    return verifyLedger(op, attribute.getValue());
  return verifyDeclared<TapAttrHelper, CountsAttrHelper, LedgerAttrHelper, InPlaceAttrHelper,
                        InputsAttrHelper, OutputsAttrHelper, TapsAttrHelper, MemoryAttrHelper,
                        ShapesAttrHelper, ChannelsLastAttrHelper, CandidateAttrHelper>(op,
                                                                                       attribute);
}

LogicalResult RtDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                     NamedAttribute attribute) {
  return verifyDeclared<TapAttrHelper, CountsAttrHelper>(op, attribute);
}

//===-- Targets -----------------------------------------------------------------------------===//

/// The compute capability that an architecture names, or 0.
static unsigned capabilityOf(StringRef arch) {
  unsigned capability = 0;
  if (!arch.consume_front("sm_") || arch.consumeInteger(10, capability))
    return 0;
  return arch.empty() || arch == "a" ? capability : 0;
}

/// All boards of an architecture: "t4, rtx2080ti".
static std::string boardsOf(StringRef arch) {
  std::string names;
  for (const CameoBoard &board : cameoBoards)
    if (board.arch == capabilityOf(arch))
      names += (names.empty() ? "" : ", ") + std::string(board.name);
  return names;
}

StringRef TargetAttr::firstBoard(StringRef arch) {
  for (const CameoBoard &board : cameoBoards)
    if (board.arch == capabilityOf(arch))
      return board.name;
  return "";
}

std::string TargetAttr::spelling() const {
  std::string text = getArch().str();
  return getBoard() == firstBoard(getArch()) ? text : text + ":" + getBoard().str();
}

LogicalResult TargetAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef arch,
                                 StringRef board) {
  if (!capabilityOf(arch))
    return emitError() << "unknown GPU architecture '" << arch
                       << "'; expected sm_ and a compute capability";
  std::string known = boardsOf(arch);
  if (known.empty())
    return emitError() << "unknown GPU architecture '" << arch << "': there is no board with it";
  for (const CameoBoard &row : cameoBoards)
    if (row.arch == capabilityOf(arch) && board == row.name)
      return success();
  return emitError() << "unknown board '" << board << "' of " << arch << "; known: " << known;
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  SMLoc place = parser.getCurrentLocation();
  std::string arch, board;
  if (parser.parseLess() || parser.parseString(&arch))
    return {};
  board = firstBoard(arch).str();
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("board") || parser.parseEqual() || parser.parseString(&board)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TargetAttr>(place, parser.getContext(), arch, board);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << '<' << '"' << getArch() << "\", board = \"" << getBoard() << "\">";
}

static ParseResult parseTarget(OpAsmParser &parser, TargetAttr &target) {
  SMLoc place = parser.getCurrentLocation();
  std::string arch, board;
  if (parser.parseString(&arch))
    return failure();
  board = TargetAttr::firstBoard(arch).str();
  if (succeeded(parser.parseOptionalKeyword("board")) && parser.parseString(&board))
    return failure();
  target = parser.getChecked<TargetAttr>(place, parser.getContext(), arch, board);
  return success(target != nullptr);
}

static void printTarget(OpAsmPrinter &printer, VariantOp, TargetAttr target) {
  printer << '"' << target.getArch() << "\" board \"" << target.getBoard() << '"';
}

//===-- Constants ---------------------------------------------------------------------------===//

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

/// One size for each dynamic dimension of the result.
static LogicalResult verifySizes(Operation *op, ValueRange sizes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (static_cast<int64_t>(sizes.size()) == type.getNumDynamicDims())
    return success();
  return op->emitOpError() << "has " << sizes.size() << " sizes, its result "
                           << type.getNumDynamicDims() << " dynamic dimensions";
}

LogicalResult ReshapeOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  auto source = cast<RankedTensorType>(getSource().getType());
  if (type.getElementType() != source.getElementType())
    return emitOpError("cannot change the element type");
  if (failed(verifySizes(*this, getSizes())))
    return failure();
  if (type.hasStaticShape() && source.hasStaticShape() &&
      type.getNumElements() != source.getNumElements())
    return emitOpError() << "from " << source.getNumElements() << " to " << type.getNumElements()
                         << " elements";
  if (!hasOwnMemory(getSource()) && !layoutOf(getResult()))
    return emitOpError("of a view must leave its outer dimensions as they are, and only join or "
                       "part inner ones that are in one piece");
  return success();
}

//===-- Storages and views ------------------------------------------------------------------===//

/// Whether tensors of these types can be parts of one, one after another along `dim`.
static LogicalResult verifyParts(Operation *op, RankedTensorType whole, ValueRange parts,
                                 int64_t dim) {
  if (parts.empty())
    return op->emitOpError("needs at least one part");
  if (dim < 0 || dim >= whole.getRank())
    return op->emitOpError() << "dimension " << dim << " is outside [0, " << whole.getRank() << ")";
  int64_t sum = 0;
  bool isKnown = !whole.isDynamicDim(dim);
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto type = cast<RankedTensorType>(part.getType());
    if (type.getElementType() != whole.getElementType() || type.getRank() != whole.getRank())
      return op->emitOpError() << "part " << i << " of type " << type << " cannot be in " << whole;
    for (int64_t other = 0; other < whole.getRank(); ++other)
      if (other != dim && !type.isDynamicDim(other) && !whole.isDynamicDim(other) &&
          type.getDimSize(other) != whole.getDimSize(other))
        return op->emitOpError() << "part " << i << " has " << type.getDimSize(other)
                                 << " elements along dimension " << other << ", the whole "
                                 << whole.getDimSize(other);
    isKnown &= !type.isDynamicDim(dim);
    sum += isKnown ? type.getDimSize(dim) : 0;
  }
  if (isKnown && sum != whole.getDimSize(dim))
    return op->emitOpError() << "parts have " << sum << " elements along dimension " << dim
                             << ", the whole " << whole.getDimSize(dim);
  return success();
}

LogicalResult ConcatOp::verify() {
  if (failed(verifySizes(*this, getSizes())))
    return failure();
  return verifyParts(*this, cast<RankedTensorType>(getType()), getParts(), getDim());
}

LogicalResult StorageOp::verify() { return verifySizes(*this, getSizes()); }

LogicalResult StateOp::verify() {
  auto input = dyn_cast<BlockArgument>(getInput());
  if (!input)
    return emitOpError("needs an input of the model");
  // Up to its storage, from the beginning on.
  Value at = getPlace();
  while (auto view = at.getDefiningOp<ViewOp>()) {
    if (!llvm::all_of(view.getMixedOffsets(),
                      [](OpFoldResult offset) { return isConstantIntValue(offset, 0); }))
      return emitOpError("is not at the beginning of its storage");
    at = view.getSource();
  }
  auto storage = at.getDefiningOp<StorageOp>();
  if (!storage || storage.getState() != input.getArgNumber())
    return emitOpError() << "is not in the storage of state " << input.getArgNumber();
  return success();
}

SmallVector<OpFoldResult> ViewOp::getMixedOffsets() {
  Builder b(getContext());
  return getMixedValues(getStaticOffsets(), getOffsets(), b);
}

LogicalResult ViewOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  auto source = cast<RankedTensorType>(getSource().getType());
  if (type.getElementType() != source.getElementType() || type.getRank() != source.getRank())
    return emitOpError() << "of type " << type << " cannot be in " << source;
  if (static_cast<int64_t>(getStaticOffsets().size()) != type.getRank() ||
      llvm::count_if(getStaticOffsets(), ShapedType::isDynamic) !=
          static_cast<int64_t>(getOffsets().size()))
    return emitOpError() << "needs an offset for each of the " << type.getRank() << " dimensions";
  if (failed(verifySizes(*this, getSizes())))
    return failure();
  for (auto [dim, offset] : llvm::enumerate(getStaticOffsets())) {
    if (ShapedType::isDynamic(offset))
      continue;
    int64_t size = type.isDynamicDim(dim) ? 0 : type.getDimSize(dim);
    if (offset < 0 || (!source.isDynamicDim(dim) && offset + size > source.getDimSize(dim)))
      return emitOpError() << "ends at " << offset + size << " of dimension " << dim
                           << ", the source at " << source.getDimSize(dim);
  }
  return success();
}

/// The view of `storage` that the part was written to.
static ViewOp viewOf(Value part, Value storage) {
  while (part) {
    auto view = part.getDefiningOp<ViewOp>();
    if (view && view.getSource() == storage)
      return view;
    Operation *op = part.getDefiningOp();
    part = isa_and_nonnull<ReshapeOp, tensor::CastOp>(op) ? op->getOperand(0) : destinationOf(part);
  }
  return {};
}

LogicalResult AssembleOp::verify() {
  auto whole = cast<RankedTensorType>(getType());
  int64_t dim = getDim();
  if (!getStorage().getDefiningOp<StorageOp>() && !getStorage().getDefiningOp<ViewOp>())
    return emitOpError("needs a rt.storage or a view of one");
  if (failed(verifyParts(*this, whole, getParts(), dim)))
    return failure();
  llvm::SmallPtrSet<Operation *, 8> written;
  std::optional<int64_t> end = 0; // of the parts so far, while it is known
  for (auto [i, part] : llvm::enumerate(getParts())) {
    ViewOp view = viewOf(part, getStorage());
    if (!view)
      return emitOpError() << "part " << i << " is not in the storage";
    if (!written.insert(view).second)
      return emitOpError() << "part " << i << " is where another part is";
    for (auto [other, offset] : llvm::enumerate(view.getMixedOffsets())) {
      std::optional<int64_t> known = getConstantIntValue(offset);
      if (static_cast<int64_t>(other) != dim ? known != 0 : known && end && known != end)
        return emitOpError() << "part " << i << " is not where the one before it ends";
    }
    int64_t size = cast<RankedTensorType>(view.getType()).getDimSize(dim);
    end = end && !ShapedType::isDynamic(size) ? std::optional(*end + size) : std::nullopt;
  }
  for (Operation *user : getStorage().getUsers())
    if (auto view = dyn_cast<ViewOp>(user); view && !written.contains(view))
      return emitOpError("has a storage with a view that is not a part");
  return success();
}

/// Whether the buffer is known to be a part of no bytes, of which nothing is written.
static bool isEmptyPart(Value buffer) {
  auto part = buffer.getDefiningOp<BufferPartOp>();
  return part && isConstantIntValue(part.getBytes(), 0);
}

/// What kInPlaceAttr says of a launch; with buffers, that it is true and complete.
static LogicalResult verifyInPlace(LaunchOp op) {
  Attribute attribute = op->getAttr(kInPlaceAttr);
  auto pairs = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  if (attribute && (!pairs || pairs.size() % 2 != 0))
    return op.emitOpError() << kInPlaceAttr << " needs pairs of positions, is " << attribute;
  ArrayRef<int64_t> positions = pairs ? pairs.asArrayRef() : ArrayRef<int64_t>();
  int64_t count = op.getOperands_().size();
  llvm::SmallDenseSet<std::pair<int64_t, int64_t>> shared;
  for (size_t i = 0; i < positions.size(); i += 2) {
    int64_t target = positions[i], source = positions[i + 1];
    if (target < 0 || source < 0 || target >= count || source >= count)
      return op.emitOpError() << kInPlaceAttr << " has the pair " << target << ", " << source
                              << "; positions are in [0, " << count << ")";
    bool isRead = !llvm::is_contained(op.getOutputs(), source);
    if (!llvm::is_contained(op.getOutputs(), target) || !isRead)
      return op.emitOpError() << kInPlaceAttr << " has the pair " << target << ", " << source
                              << "; the first is written, the second only read";
    Value written = op.getOperands_()[target], read = op.getOperands_()[source];
    if (isa<BufferType>(written.getType()) && written != read)
      return op.emitOpError() << kInPlaceAttr << " has the pair " << target << ", " << source
                              << ", which are not one buffer";
    shared.insert({target, source});
  }
  for (int64_t target : op.getOutputs())
    for (auto [source, operand] : llvm::enumerate(op.getOperands_()))
      if (isa<BufferType>(operand.getType()) && operand == op.getOperands_()[target] &&
          target != int64_t(source) && !shared.contains({target, source}) && !isEmptyPart(operand))
        return op.emitOpError() << "writes operand " << target << ", whose buffer operand "
                                << source << " has, too";
  return success();
}

/// Whether a launch reads what the kernel that it finishes has written. Of buffers that cannot be
/// told from the operation.
static LogicalResult verifyFinishes(LaunchOp launch) {
  std::optional<SymbolRefAttr> kernel = launch.getFinishes();
  if (!kernel || launch.getResults().empty())
    return success();
  for (Value operand : launch.getOperands_())
    if (auto writer = operand.getDefiningOp<LaunchOp>(); writer && writer.getKernel() == *kernel)
      return success();
  return launch.emitOpError() << "finishes " << *kernel << ", of which it reads no result";
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
  if (getTimes() && llvm::none_of(getOperandTypes(), llvm::IsaPred<TensorType>))
    return emitOpError()
           << "has times and no tensors; of buffers, launches are repeated by rt.repeat";
  return failure(failed(verifyFinishes(*this)) || failed(verifyInPlace(*this)));
}

//===-- Control flow --------------------------------------------------------------------------===//

/// A function that takes values of types that fit those given.
static LogicalResult verifyCallee(Operation *op, SymbolTableCollection &symbols,
                                  FlatSymbolRefAttr name, TypeRange given) {
  Operation *callee = symbols.lookupNearestSymbolFrom(op, name);
  auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
  if (!function)
    return op->emitOpError() << "calls " << name << ", which is not a function";
  if (function.getArgumentTypes().size() != given.size() ||
      failed(verifyCompatibleShapes(function.getArgumentTypes(), given)))
    return op->emitOpError() << "calls " << name << " with " << given << ", which takes "
                             << function.getArgumentTypes();
  return success();
}

LogicalResult IfOp::verifySymbolUses(SymbolTableCollection &symbols) {
  TypeRange given = getCaptures().getTypes();
  return failure(failed(verifyCallee(*this, symbols, getThenBranchAttr(), given)) ||
                 failed(verifyCallee(*this, symbols, getElseBranchAttr(), given)));
}

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SmallVector<Type> given{RankedTensorType::get({}, IntegerType::get(getContext(), 64))};
  llvm::append_range(given, getCarried().getTypes());
  llvm::append_range(given, getCaptures().getTypes());
  return verifyCallee(*this, symbols, getBodyAttr(), given);
}

LogicalResult BranchOp::verify() {
  for (Region *region : {&getTaken(), &getOther()}) {
    auto end = dyn_cast<YieldOp>(region->front().getTerminator());
    if (!end || end.getValues().size() != getNumResults() || region->getNumArguments())
      return emitOpError() << "needs parts without arguments that yield " << getNumResults()
                           << " values";
  }
  return success();
}

LogicalResult RepeatOp::verify() {
  auto end = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!end || end.getValues().size() != getNumResults() ||
      !end.getValues().front().getType().isInteger(1))
    return emitOpError() << "needs a part that yields a condition and " << getOutputs().size()
                         << " values";
  if (getBody().getNumArguments() != 1 + getCarried().size() ||
      !getBody().getArgument(0).getType().isIndex() || getOutputs().size() < getCarried().size() ||
      getOpen().size() % 2 || getOpen().size() / 2 > getCarried().size())
    return emitOpError() << "needs a part with the number of the trip and " << getCarried().size()
                         << " values";
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

LogicalResult TapOp::verify() {
  if (isa<TensorType>(getValue().getType()) && !getSizes().empty())
    return emitOpError() << "has " << getSizes().size()
                         << " sizes, and a tensor, which has its own";
  return success();
}

LogicalResult FetchOp::verify() {
  Type element = getElement();
  bool isReal = isa<FloatType>(element);
  if (!element.isIntOrFloat() || (!element.isInteger(1) && element.getIntOrFloatBitWidth() < 8) ||
      (isReal && element.getIntOrFloatBitWidth() < 16))
    return emitOpError() << "reads elements of type " << element
                         << ", which are not numbers by themselves";
  for (Type type : getValues().getTypes())
    if (isa<FloatType>(type) != isReal)
      return emitOpError() << "gives " << type << " for elements of type " << element;
  auto tensor = dyn_cast<RankedTensorType>(getSource().getType());
  if (tensor &&
      (!tensor.hasStaticShape() || tensor.getNumElements() != int64_t(getValues().size())))
    return emitOpError() << "gives " << getValues().size() << " numbers of " << tensor;
  return success();
}

/// Buffers hold one value after another: what is read of them depends on when.
void FetchOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (!isa<BufferType>(getSource().getType()))
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult ArenaSizeOp::verify() {
  if (!getLive() != !getSum())
    return emitOpError("states the live bytes or the sum of all bytes without the other");
  return success();
}
