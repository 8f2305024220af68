// SPDX-License-Identifier: Apache-2.0
// The kernel dialect: registration, builders and verifiers.
#include "dialects/kernel/Kernel.h"

#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <shared_mutex>

using namespace mlir;
using namespace cameo::kernel;

namespace cameo::kernel {

/// Instructions by their text and how many operands they have.
class PtxInstructionCache {
public:
  const PtxInstruction *find(StringAttr text, unsigned operands, std::string &error) {
    std::pair<Attribute, unsigned> key(text, operands);
    {
      std::shared_lock<std::shared_mutex> lock(mutex);
      if (auto found = known.find(key); found != known.end())
        return found->second.get();
    }
    FailureOr<PtxInstruction> parsed = parsePtxInstruction(text.getValue(), operands, error);
    if (failed(parsed))
      return nullptr;
    std::unique_lock<std::shared_mutex> lock(mutex);
    std::unique_ptr<PtxInstruction> &place = known[key];
    if (!place) // another thread may have been faster
      place = std::make_unique<PtxInstruction>(std::move(*parsed));
    return place.get();
  }

private:
  std::shared_mutex mutex;
  llvm::DenseMap<std::pair<Attribute, unsigned>, std::unique_ptr<PtxInstruction>> known;
};

} // namespace cameo::kernel

/// Padding has the type of its source's elements.
static ParseResult parsePaddings(OpAsmParser &, SmallVectorImpl<Type> &paddings,
                                 TypeRange sources) {
  for (Type source : sources)
    paddings.push_back(cast<MemRefType>(source).getElementType());
  return success();
}
static void printPaddings(OpAsmPrinter &, Operation *, TypeRange, TypeRange) {}

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"
#include "dialects/kernel/KernelInterfaces.cpp.inc"
#include "dialects/kernel/KernelLayouts.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/Kernel.cpp.inc"

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(
          verifyDeclared<PrecisionAttrHelper, CastAttrHelper, ScheduleAttrHelper, NodesAttrHelper,
                         BlockAttrHelper, NoSyncAttrHelper, DynamicSharedAttrHelper,
                         IndexBitsAttrHelper, TargetAttrHelper, AlignmentAttrHelper,
                         FlopsAttrHelper, BytesAttrHelper, FallbackAttrHelper, PackingAttrHelper,
                         PackedAttrHelper, RoundingAttrHelper, RoundedAttrHelper,
                         CandidatesAttrHelper, TrialAttrHelper>(op, attribute)))
    return failure();
  StringRef name = PrecisionAttrHelper::getNameStr();
  if (attribute.getName() != name || cast<StringAttr>(attribute.getValue()).getValue() == kTf32)
    return success();
  return op->emitError() << "'" << name << "' is \"" << kTf32 << "\", not " << attribute.getValue();
}

void KernelDialect::initialize() {
  instructions = std::make_unique<PtxInstructionCache>();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/Kernel.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/kernel/KernelTypes.cpp.inc"
      >();
}

//===-- Dispatch ----------------------------------------------------------------------------===//

void DispatchOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                       ValueRange scalars, ValueRange inits) {
  state.addOperands(inputs);
  state.addOperands(scalars);
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  state.getOrAddProperties<Properties>().operandSegmentSizes = {
      static_cast<int32_t>(inputs.size()), static_cast<int32_t>(scalars.size()),
      static_cast<int32_t>(inits.size())};
  OpBuilder::InsertionGuard guard(builder);
  Region *region = state.addRegion();
  Block *block = builder.createBlock(region);
  for (ValueRange group : {inputs, scalars, inits})
    for (Value value : group)
      block->addArgument(value.getType(), value.getLoc());
}

LogicalResult DispatchOp::verify() {
  if (getInits().empty())
    return emitOpError("needs at least one destination");
  Block &block = getBody().front();
  size_t expected = getInputs().size() + getScalars().size() + getInits().size();
  if (block.getNumArguments() != expected)
    return emitOpError() << "body has " << block.getNumArguments() << " arguments, expected "
                         << expected << " (inputs, scalars, destinations)";
  for (auto [operand, argument] : llvm::zip(getOperands(), block.getArguments()))
    if (operand.getType() != argument.getType())
      return emitOpError() << "body argument " << argument.getArgNumber() << " has type "
                           << argument.getType() << ", its operand " << operand.getType();
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getValues().getTypes() != getResultTypes())
    return emitOpError("body must yield one tensor of the result's type for each destination");
  return success();
}

static LogicalResult verifyAxis(LineOpInterface op) {
  int64_t axis = op.lineAxis(), rank = cast<RankedTensorType>(op.lineInput().getType()).getRank();
  if (axis < 0 || axis >= rank)
    return op->emitOpError() << "axis " << axis << " is outside [0, " << rank << ")";
  return success();
}

LogicalResult ScanOp::verify() { return verifyAxis(*this); }

LogicalResult SortOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (!isa<IntegerType>(type.getElementType()))
    return emitOpError() << "sorts integers, not elements of " << type.getElementType();
  if (failed(verifyAxis(*this)))
    return failure();
  int64_t length = type.getDimSize(getAxis()), most = getMost();
  if (most < 1)
    return emitOpError() << "'most' is " << most << "; it must be 1 or more";
  if (length > most)
    return emitOpError() << "lines have " << length << " elements; at most " << most
                         << " are said to be there";
  return success();
}

/// Sizes that have to be equal where both are known.
static bool mayBeEqual(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

/// That a tensor's shape is this one.
static LogicalResult verifyShape(Operation *op, StringRef name, Value tensor,
                                 ArrayRef<int64_t> wanted) {
  auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  bool fits =
      shape.size() == wanted.size() && llvm::all_of(llvm::zip(shape, wanted), [](auto pair) {
        return mayBeEqual(std::get<0>(pair), std::get<1>(pair));
      });
  if (fits)
    return success();
  auto diagnostic = op->emitOpError() << name << ": " << tensor.getType() << "; expected ";
  llvm::interleave(
      wanted,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          diagnostic << "?";
        else
          diagnostic << size;
      },
      [&] { diagnostic << "x"; });
  return diagnostic;
}

/// The arguments and results of cells, phase by phase.
static LogicalResult verifyCells(RecurrenceOp op) {
  Builder b(op.getContext());
  Type type = op.getComputeType();
  size_t states = op.getInitial().size();
  SmallVector<Type> passed;
  for (auto [phase, gates] : llvm::enumerate(op.getPhases())) {
    SmallVector<Type> arguments{b.getIndexType()};
    arguments.append(2 * gates, type);
    if (Value parameters = op.getParameters())
      arguments.append(cast<RankedTensorType>(parameters.getType()).getDimSize(1),
                       getElementTypeOrSelf(parameters));
    arguments.append(states, type);
    llvm::append_range(arguments, passed);
    Block &cell = op.getCells()[phase].front();
    if (cell.getArgumentTypes() != TypeRange(arguments))
      return op.emitOpError() << "cell " << phase << " has arguments of " << cell.getArgumentTypes()
                              << "; expected " << arguments;
    auto yield = dyn_cast<YieldOp>(cell.getTerminator());
    bool isLast = phase + 1 == op.getPhases().size();
    if (!yield || (isLast ? yield.getValues().size() != states : yield.getValues().empty()) ||
        llvm::any_of(yield.getValues(), [&](Value value) { return value.getType() != type; }))
      return op.emitOpError() << "cell " << phase << " must yield values of " << type << ", "
                              << (isLast ? std::to_string(states) : "at least one")
                              << (isLast ? " of them" : "");
    passed.assign(yield.getValues().getTypes().begin(), yield.getValues().getTypes().end());
  }
  return success();
}

LogicalResult RecurrenceOp::verify() {
  constexpr int64_t kAny = ShapedType::kDynamic;
  auto input = cast<RankedTensorType>(getInput().getType());
  auto weights = cast<RankedTensorType>(getWeights().getType());
  int64_t directions = getDirections(), gates = 0;
  for (int64_t phase : getPhases())
    gates += phase;
  if (weights.getRank() != 4 || weights.isDynamicDim(3) || weights.getDimSize(3) == 0)
    return emitOpError() << "weights: " << weights << "; expected directions, depth, gates "
                         << "and units, at least one";
  int64_t units = getUnits();
  if (input.getRank() != 5)
    return emitOpError() << "input has rank " << input.getRank() << "; expected 5";
  int64_t steps = input.getDimSize(getRowsFirst()), rows = input.getDimSize(!getRowsFirst());
  SmallVector<int64_t> state{directions, rows, units};
  SmallVector<int64_t> sequence{steps, directions, rows, units};
  if (getRowsFirst()) {
    state = {rows, directions, units};
    sequence = {rows, steps, directions, units};
  }
  if (failed(verifyShape(*this, "input", getInput(),
                         {input.getDimSize(0), input.getDimSize(1), directions, gates, units})) ||
      failed(verifyShape(*this, "weights", getWeights(), {directions, units, gates, units})))
    return failure();
  if (getParameters() &&
      failed(verifyShape(*this, "parameters", getParameters(), {directions, kAny, units})))
    return failure();
  if (getLengths() && failed(verifyShape(*this, "lengths", getLengths(), rows)))
    return failure();
  if (getInitial().empty() || getInits().size() < getInitial().size() ||
      getInits().size() > getInitial().size() + 1 || getInits().getTypes() != getResultTypes())
    return emitOpError() << "has " << getInitial().size() << " states, " << getInits().size()
                         << " destinations and " << getNumResults()
                         << " results; expected one of each for a state, and perhaps one in front";
  for (Value initial : getInitial())
    if (failed(verifyShape(*this, "an initial state", initial, state)))
      return failure();
  for (Value last : getInits().take_back(getInitial().size()))
    if (failed(verifyShape(*this, "a last state", last, state)))
      return failure();
  if (hasSequence() && failed(verifyShape(*this, "the sequence", getInits().front(), sequence)))
    return failure();
  for (Value tensor :
       llvm::concat<Value>(llvm::to_vector(getInitial()), llvm::to_vector(getInits())))
    if (getElementTypeOrSelf(tensor) != getElementTypeOrSelf(getInitial().front()))
      return emitOpError() << "states are of one type, not of " << tensor.getType() << " and "
                           << getInitial().front().getType();
  if (getPhases().size() != getCells().size() || getPhases().empty() ||
      llvm::any_of(getPhases(), [](int64_t count) { return count < 1; }))
    return emitOpError() << getPhases().size() << " phases and " << getCells().size()
                         << " cells; expected a cell and at least one gate for each phase";
  return verifyCells(*this);
}

LogicalResult ChooseOp::verify() {
  auto type = cast<RankedTensorType>(getCandidates().getType());
  auto conflicts = cast<RankedTensorType>(getConflicts().getType());
  if (type.getRank() == 0)
    return emitOpError("has no dimension that lines are along");
  SmallVector<int64_t> wanted(type.getShape());
  wanted.push_back(wanted.back());
  if (!type.getElementType().isInteger(1) || !conflicts.getElementType().isInteger(1) ||
      conflicts.getShape() != ArrayRef(wanted))
    return emitOpError() << "conflicts are " << conflicts << "; candidates make them "
                         << RankedTensorType::get(wanted, IntegerType::get(getContext(), 1));
  return success();
}

LogicalResult InsertOp::verify() {
  auto values = cast<RankedTensorType>(getValues().getType());
  auto places = cast<RankedTensorType>(getPlaces().getType());
  auto type = cast<RankedTensorType>(getInit().getType());
  int64_t axis = getAxis();
  if (axis < 1 || axis >= type.getRank())
    return emitOpError() << "axis " << axis << " is none of 1 to " << type.getRank() - 1;
  SmallVector<int64_t> wanted(type.getShape());
  if (values.getRank() == type.getRank())
    wanted[axis] = values.getDimSize(axis);
  if (values != RankedTensorType::get(wanted, type.getElementType()))
    return emitOpError() << "inserts " << values << " into " << type
                         << "; they may differ in their size along axis " << axis << " only";
  auto whole = RankedTensorType::get({wanted[0], wanted[axis]}, IntegerType::get(getContext(), 64));
  if (places != whole)
    return emitOpError() << "places are " << places << "; expected " << whole;
  return success();
}

//===-- Device code -------------------------------------------------------------------------===//

const PtxInstruction *KernelDialect::findInstruction(StringAttr text, unsigned operands,
                                                     std::string &error) {
  return instructions->find(text, operands, error);
}

static const PtxInstruction *findInstruction(PtxOp op, std::string &error) {
  auto *dialect = cast<KernelDialect>(op->getDialect());
  return dialect->findInstruction(op.getInstructionAttr(), op.getInputs().size(), error);
}

const PtxInstruction &PtxOp::decode() {
  std::string unused;
  return *findInstruction(*this, unused);
}

LogicalResult PtxOp::verify() {
  std::string error;
  const PtxInstruction *known = findInstruction(*this, error);
  if (!known)
    return emitOpError() << error;
  auto check = [&](StringRef noun, TypeRange types, ArrayRef<PtxType> wanted) -> LogicalResult {
    if (types.size() != wanted.size())
      return emitOpError() << getInstruction() << " has " << wanted.size() << " " << noun
                           << "s, not " << types.size();
    for (auto [index, type] : llvm::enumerate(types))
      if (!accepts(wanted[index], type))
        return emitOpError() << noun << " " << index << " of " << getInstruction() << " is "
                             << describe(wanted[index]) << ", not " << type;
    return success();
  };
  return success(succeeded(check("operand", getInputs().getTypes(), known->operands)) &&
                 succeeded(check("result", getOutputs().getTypes(), known->results)));
}

void PtxOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  std::string error;
  const PtxInstruction *known = findInstruction(*this, error); // it may not be verified yet
  if (known && known->isPure())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}
