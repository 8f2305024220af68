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

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/Kernel.cpp.inc"

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

//===-- Attributes --------------------------------------------------------------------------===//

LogicalResult ThreadTileAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                     int64_t threadRows, int64_t threadCols, int64_t tileRows,
                                     int64_t tileCols, int64_t group) {
  if (threadRows <= 0 || threadCols <= 0 || threadRows * threadCols > 1024)
    return emitError() << "needs 1 to 1024 threads, has " << threadRows << "x" << threadCols;
  if (tileRows <= 0 || tileCols <= 0 || group <= 0 || tileCols % group != 0)
    return emitError() << "thread tile of " << tileRows << "x" << tileCols
                       << " is not made of column groups of " << group;
  return success();
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

LogicalResult ScanOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOpError() << "axis " << axis << " is outside [0, " << type.getRank() << ")";
  return success();
}

//===-- Tile level --------------------------------------------------------------------------===//

static LogicalResult verifyFlat(Operation *op, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() == 1 && type.getLayout().isIdentity())
    return success();
  return op->emitOpError() << "needs rank-1 contiguous memory, has " << type;
}

static LogicalResult verifyRegion(Operation *op, Block &block, TypeRange arguments,
                                  TypeRange results) {
  if (block.getArgumentTypes() != arguments)
    return op->emitOpError("region has the wrong arguments");
  if (block.getTerminator()->getOperandTypes() != results)
    return op->emitOpError("region yields the wrong values");
  return success();
}

static Type elementOf(Value memref) { return cast<MemRefType>(memref.getType()).getElementType(); }

/// Checks how much of each source is loaded at once.
static LogicalResult verifyWidths(Operation *op, ValueRange sources,
                                  std::optional<ArrayRef<int64_t>> widths, int64_t vector) {
  for (Value source : sources)
    if (failed(verifyFlat(op, source)))
      return failure();
  if (!widths)
    return success();
  if (widths->size() != sources.size())
    return op->emitOpError() << "has " << widths->size() << " widths for " << sources.size()
                             << " sources";
  for (int64_t width : *widths)
    if (width < 0 || (width > 0 && vector % width != 0))
      return op->emitOpError() << "width of " << width << " does not divide the vector of "
                               << vector;
  return success();
}

LogicalResult CopyTileOp::verify() {
  if (failed(verifyWidths(*this, getSources(), getWidths(), getVector())) ||
      failed(verifyFlat(*this, getDest())))
    return failure();
  if (!computes() && (getSources().size() != 1 || widthOf(0) != int64_t(getVector())))
    return emitOpError(
        "needs a value region where it reads more than one source or parts of vectors");
  int64_t extent = getAlongRows() ? getRows() : getCols(), vector = getVector();
  if (vector <= 0 || extent % vector != 0)
    return emitOpError() << "vector of " << vector << " does not divide the extent " << extent;
  int64_t threads = getThreads();
  if (threads <= 0 || threads > 1024)
    return emitOpError() << "needs 1 to 1024 threads, has " << threads;
  auto index = IndexType::get(getContext());
  SmallVector<Type> places(getSources().size(), index), elements;
  places.push_back(IntegerType::get(getContext(), 1));
  if (failed(verifyRegion(*this, getBody().front(), {index, index}, places)))
    return failure();
  if (!computes())
    return getPadding().getType() == elementOf(getSources()[0])
               ? success()
               : emitOpError("padding must have the source's element type");
  for (Value source : getSources())
    elements.push_back(elementOf(source));
  return verifyRegion(*this, getValue().front(), elements, getPadding().getType());
}

LogicalResult ContractTileOp::verify() {
  if (failed(verifyFlat(*this, getLhs())) || failed(verifyFlat(*this, getRhs())))
    return failure();
  int64_t depth = getDepth();
  if (depth <= 0)
    return emitOpError() << "depth must be positive, is " << depth;
  FragmentType type = getAccumulator().getType();
  if (auto layout = dyn_cast<ThreadTileAttr>(type.getLayout()))
    if (layout.getThreadRows() * layout.getTileRows() != type.getRows() ||
        layout.getThreadCols() * layout.getTileCols() != type.getCols())
      return emitOpError() << "layout does not cover a fragment of " << type.getRows() << " by "
                           << type.getCols();
  return success();
}

LogicalResult StoreFragmentOp::verify() {
  if (failed(verifyWidths(*this, getSources(), getWidths(), getVector())) ||
      failed(verifyFlat(*this, getDest())))
    return failure();
  if (getSources().empty() != getReads().empty())
    return emitOpError("needs a region for where it reads exactly where it reads other memory");
  Type index = IndexType::get(getContext());
  SmallVector<Type> arguments{index, index, getFragment().getType().getElementType()};
  for (Value source : getSources())
    arguments.push_back(elementOf(source));
  SmallVector<Type> places(getSources().size(), index);
  if (!getReads().empty() &&
      failed(verifyRegion(*this, getReads().front(), {index, index}, places)))
    return failure();
  return verifyRegion(*this, getBody().front(), arguments,
                      {elementOf(getDest()), index, IntegerType::get(getContext(), 1)});
}

LogicalResult AdvanceOp::verify() { return verifyFlat(*this, getMemory()); }

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
