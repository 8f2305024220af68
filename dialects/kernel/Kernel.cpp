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

LogicalResult ScanOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOpError() << "axis " << axis << " is outside [0, " << type.getRank() << ")";
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
