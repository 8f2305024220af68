// The invariants of stages: what a rung of the ladder promises to the passes that follow it.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/StagePromises.h"

#include "codegen/Pipeline.h"
#include "codegen/lower/DevicePatterns.h"
#include "codegen/lower/VerifyTargetInstructions.h"
#include "codegen/schedule/VerifySchedule.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/InPlace.h"
#include "dialects/rt/Layout.h"
#include "dialects/rt/Ledger.h"
#include "passes/graph/ConstantFolding.h"
#include "passes/graph/Graph.h"
#include "passes/host/VerifyPlan.h"
#include "passes/precision/Policy.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace cameo;

namespace {

/// Says what is wrong with an operation at a stage.
class Complaint {
public:
  /// `missed` takes what could be better; where it is null, that is an error, too.
  Complaint(Stage stage, rt::Ledger *missed = nullptr) : stage(stage), missed(missed) {}

  const Stage stage;

  /// An error: passes or code that follow would go wrong.
  InFlightDiagnostic operator()(Operation *op) const {
    return emitError(op->getLoc())
           << "'" << op->getName() << "' at stage " << stageName(stage) << ": ";
  }

  /// A remark, or an error in strict checks: the operation is right, but the passes have left more
  /// to do than they should.
  LogicalResult couldBeBetter(Operation *op, const Twine &how) const {
    if (!missed)
      return (*this)(op) << how;
    missed->missed("promise", op->getLoc(), "not as stage " + stageName(stage) + " promises", how);
    return success();
  }

private:
  rt::Ledger *missed;
};

/// Of one operation.
using Check = LogicalResult (*)(Operation *op, const Complaint &error);

//===-- Models --------------------------------------------------------------------------------===//

/// The model's function, beside those that bodies of control flow are; null after an error.
func::FuncOp modelFunction(ModuleOp module, const Complaint &error) {
  auto functions = llvm::to_vector(llvm::make_filter_range(
      module.getOps<func::FuncOp>(), [](func::FuncOp f) { return !f.isPrivate(); }));
  if (functions.size() == 1)
    return functions.front();
  emitError(module.getLoc()) << "a model at stage " << stageName(error.stage)
                             << " is one function; there are " << functions.size();
  return {};
}

LogicalResult checkOnnx(Operation *op, const Complaint &error) {
  if (!isa<func::FuncDialect, onnx::OnnxDialect>(op->getDialect()))
    return error(op) << "only the onnx dialect is expected";
  return success();
}

/// What a pass of the stage would still change.
LogicalResult checkSimplified(Operation *op, const Complaint &error) {
  if (identityOf(op))
    return error.couldBeBetter(op, "it computes nothing; what uses it can use its operand");
  int64_t growth;
  if (!op->hasAttr(kKeptUnfoldedAttr) && !op->getNumRegions() &&
      succeeded(foldToConstants(op, kFoldedBytes, /*reclaim=*/false, growth)))
    return error.couldBeBetter(op, "its operands are constants, so its results are");
  if (foldsIntoWindow(op))
    return error.couldBeBetter(op, "the padding before it can be its own");
  if (foldsIntoConvolution(op))
    return error.couldBeBetter(op, "it can be folded into the convolution before it");
  return success();
}

/// Whether the operation stands in a function whose types cameo-lower-precision has made final.
bool hasFinalTypes(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return function && function->hasAttr(kPrecisionAttr);
}

/// Nothing is converted that is known now, or that was converted a moment ago. A model may cut and round
/// numbers by a cast and the one back, neither of which is ours.
LogicalResult checkCast(Operation *op, const Complaint &error) {
  auto cast = dyn_cast<onnx::CastOp>(op);
  if (!cast || !hasFinalTypes(op) || isFP32(cast.getOutput()) == isFP32(cast.getInput()))
    return success();
  auto type = dyn_cast<TensorType>(cast.getInput().getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return success();
  if (onnx::constantValue(cast.getInput()))
    return error.couldBeBetter(op, "constants have their final type");
  auto before = cast.getInput().getDefiningOp<onnx::CastOp>();
  if (!before || before.getInput().getType() != cast.getOutput().getType())
    return success();
  bool isOurs = before->hasAttr(kPrecisionAttr) || cast->hasAttr(kPrecisionAttr);
  if (isOurs || holdsValuesOf(type.getElementType(), getElementTypeOrSelf(cast.getOutput())))
    return error.couldBeBetter(op, "it undoes the cast before it");
  return success();
}

/// Products are of the precision that was asked for, or say why not.
LogicalResult checkProducts(func::FuncOp function, const Complaint &error) {
  auto asked = function->getAttrOfType<StringAttr>(kPrecisionAttr);
  if (!asked)
    return success();
  std::optional<Precision> wanted = parsePrecision(asked.getValue());
  if (!wanted)
    return error(function) << "'" << kPrecisionAttr << "' is not a precision: " << asked;
  for (Operation &op : function.getBody().front()) {
    std::optional<Precision> precision = precisionOf(&op);
    bool isFloat = *wanted == Precision::INT8 || llvm::any_of(op.getOperands(), isFP32);
    if (policyOf(&op).role == Role::Product && precision && *precision != *wanted &&
        *precision != Precision::INT8 && !op.hasAttr(kKeptPrecisionAttr) && isFloat &&
        failed(error.couldBeBetter(&op, "it computes in " + precisionText(*precision) +
                                            " and not in " + precisionText(*wanted) +
                                            ", and nothing says why")))
      return failure();
  }
  return success();
}

/// A product of a dequantised tensor has dequantised operands and a dequantised bias: otherwise it
/// is no product of integers.
LogicalResult checkQuantized(Operation *op, const Complaint &error) {
  auto function = op->getParentOfType<func::FuncOp>();
  auto asked = function ? function->getAttrOfType<StringAttr>(kPrecisionAttr) : StringAttr();
  if (!asked || asked.getValue() != precisionName(Precision::INT8) ||
      policyOf(op).role != Role::Product || op->hasAttr(kKeptPrecisionAttr) ||
      !op->getOperand(0).getDefiningOp<onnx::DequantizeLinearOp>())
    return success();
  unsigned count = std::min(op->getNumOperands(), isa<onnx::ConvOp>(op) ? 3u : 2u);
  for (Value operand : op->getOperands().take_front(count))
    if (isFP32(operand) && onnx::constantValue(operand))
      return error.couldBeBetter(op, "its constants stand in DequantizeLinear up to this stage");
  return success();
}

/// The model's function, and those that it calls.
LogicalResult verifyModel(ModuleOp module, const Complaint &error, ArrayRef<Check> checks) {
  if (!modelFunction(module, error))
    return failure();
  WalkResult result = module.walk([&](Operation *op) {
    if (isa<ModuleOp>(op))
      return WalkResult::advance();
    for (Check check : checks)
      if (failed(check(op, error)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===-- Variants ------------------------------------------------------------------------------===//

bool isInKernel(Operation *op) { return op->getParentOfType<gpu::GPUModuleOp>() != nullptr; }

LogicalResult checkLowered(Operation *op, const Complaint &error) {
  if (isa<onnx::OnnxDialect>(op->getDialect()))
    return error(op) << "operators have become dispatches by now";
  if (isa<rt::ConcatOp>(op))
    return error(op) << "concatenations have become storages by now";
  // Dispatches are not entered.
  if (isa<linalg::LinalgDialect>(op->getDialect()))
    return error(op) << "compute ops stand in dispatches";
  return success();
}

/// The target of the variant that an operation is in; null after an error.
const Target *targetOf(Operation *op, const Complaint &error) {
  auto variant = op->getParentOfType<rt::VariantOp>();
  if (!variant) {
    error(op) << "it stands in no variant, so it has no target";
    return nullptr;
  }
  llvm::Expected<const Target *> target = findTarget(variant.getTarget());
  if (target)
    return *target;
  error(op) << llvm::toString(target.takeError());
  return nullptr;
}

LogicalResult checkSchedule(Operation *op, const Complaint &error) {
  auto dispatch = dyn_cast<kernel::DispatchOp>(op);
  if (!dispatch)
    return success();
  if (!dispatch.getSchedule())
    return error(op) << "it has no schedule";
  const Target *target = targetOf(op, error);
  if (!target || failed(verifySchedule(dispatch, *target)))
    return failure();
  std::string better = betterSchedule(dispatch, *target);
  return better.empty() ? success() : error.couldBeBetter(op, better);
}

LogicalResult checkIsNoDispatch(Operation *op, const Complaint &error) {
  if (isa<kernel::DispatchOp>(op))
    return error(op) << "dispatches have become launches by now";
  return success();
}

LogicalResult checkLaunch(Operation *op, const Complaint &error) {
  auto launch = dyn_cast<rt::LaunchOp>(op);
  if (!launch)
    return success();
  Operation *kernel = SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr());
  if (error.stage == Stage::Tiled ? !isa_and_nonnull<gpu::GPUFuncOp>(kernel)
                                  : !isa_and_nonnull<LLVM::LLVMFuncOp>(kernel))
    return error(launch) << "no kernel " << launch.getKernelAttr();
  if (std::optional<SymbolRefAttr> parts = launch.getFinishes();
      parts && !SymbolTable::lookupNearestSymbolFrom(launch, *parts))
    return error(launch) << "no kernel " << *parts << ", which it finishes";
  // The compiler of the kernel must know of memory that parameters share.
  auto pairs = launch->getAttrOfType<DenseI64ArrayAttr>(rt::kInPlaceAttr);
  for (int64_t position : pairs ? pairs.asArrayRef() : ArrayRef<int64_t>())
    if (cast<FunctionOpInterface>(kernel).getArgAttr(position,
                                                     LLVM::LLVMDialect::getNoAliasAttrName()))
      return error(launch) << "parameter " << position << " of " << launch.getKernelAttr()
                           << " is noalias and may be written in place";
  auto wanted = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttribute);
  if (wanted && (!launch.getShared() ||
                 getConstantIntValue(launch.getShared()) != std::optional(wanted.getInt())))
    return error(launch) << "it needs " << wanted.getInt() << " B of dynamic shared memory for "
                         << launch.getKernelAttr();
  return success();
}

/// A view may begin anywhere; what a kernel promises of its pointers, LLVM makes wide accesses of.
LogicalResult checkAlignment(Operation *op, const Complaint &error) {
  auto launch = dyn_cast<rt::LaunchOp>(op);
  if (!launch)
    return success();
  auto kernel =
      cast<LLVM::LLVMFuncOp>(SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()));
  for (auto [position, operand] : llvm::enumerate(launch.getOperands_())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    auto promised =
        kernel.getArgAttrOfType<IntegerAttr>(position, LLVM::LLVMDialect::getAlignAttrName());
    std::optional<rt::Layout> layout;
    if (type && promised && !rt::hasOwnMemory(operand))
      layout = rt::layoutOf(operand);
    if (!layout)
      continue;
    // Of elements of 4 bits two are in a byte.
    int64_t bytes =
        promisedAlignment(layout->alignment(2 * kPointerAlignment), type.getElementType());
    if (bytes < promised.getInt())
      return error(launch) << "parameter " << position << " of " << launch.getKernelAttr()
                           << " promises an alignment of " << promised.getInt()
                           << " B; the view that it is given has " << bytes << " B";
  }
  return success();
}

LogicalResult checkMemorySpaces(Operation *op, const Complaint &error) {
  if (!isInKernel(op))
    return success();
  for (Type type : op->getResultTypes())
    if (auto memref = dyn_cast<MemRefType>(type); memref && !memref.getMemorySpace())
      return error(op) << "the memory space of " << memref << " is not named";
  return success();
}

LogicalResult checkDeviceOps(Operation *op, const Complaint &error) {
  if (isInKernel(op) && !isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()) &&
      !isa<gpu::ModuleEndOp, kernel::PtxOp>(op))
    return error(op) << "kernels are llvm, nvvm and kernel.ptx by now";
  if (isa<LLVM::InlineAsmOp>(op))
    return error(op) << "inline assembly appears only in PTX";
  return success();
}

/// Only a variant has a target.
LogicalResult checkTargetHasInstruction(Operation *op, const Complaint &error) {
  auto instruction = dyn_cast<kernel::PtxOp>(op);
  if (!instruction)
    return success();
  const Target *target = targetOf(op, error);
  return target ? verifyTargetInstruction(instruction, *target) : failure();
}

LogicalResult checkBuffers(Operation *op, const Complaint &error) {
  if (isInKernel(op) || isa<rt::ConstantOp>(op))
    return success();
  for (Type type : llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                            llvm::to_vector(op->getResultTypes())))
    if (isa<TensorType>(type))
      return error(op) << "tensors have become buffers by now";
  if (auto get = dyn_cast<rt::GetConstantOp>(op)) {
    auto constant = op->getParentOfType<ModuleOp>().lookupSymbol<rt::ConstantOp>(get.getConstant());
    if (constant && !constant.getOffset())
      return error(op) << "constant @" << get.getConstant() << " has no place";
  }
  return success();
}

/// Not of the passes before alone: the stage has others behind the planner.
LogicalResult checkArena(Operation *op, const Complaint &) {
  auto function = dyn_cast<func::FuncOp>(op);
  return function && !isInKernel(op) && !function.isDeclaration() ? verifyArena(function)
                                                                  : success();
}

LogicalResult verifyVariants(ModuleOp module, const Complaint &error, ArrayRef<Check> checks) {
  auto variants = module.getOps<rt::VariantOp>();
  if (variants.empty())
    return emitError(module.getLoc()) << "a model at stage " << stageName(error.stage)
                                      << " has a variant for each architecture; there is none";
  for (auto function : module.getOps<func::FuncOp>())
    return error(function) << "functions stand in variants";
  for (rt::VariantOp variant : variants)
    if (variant.getOps<func::FuncOp>().empty())
      return error(variant) << "it has no entry function";
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Check check : checks)
      if (failed(check(op, error)))
        return WalkResult::interrupt();
    // What is inside a dispatch is its own affair.
    return isa<kernel::DispatchOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace

/// Broken promises of quality are errors, or the module's ledger has them.
static LogicalResult verifyAll(ModuleOp module, Stage stage, bool strict,
                               function_ref<LogicalResult(const Complaint &)> verify) {
  if (strict)
    return verify(Complaint(stage));
  rt::Ledger ledger(module);
  return verify(Complaint(stage, &ledger));
}

static LogicalResult verifyVariants(ModuleOp module, Stage stage, bool strict,
                                    ArrayRef<Check> checks) {
  return verifyAll(module, stage, strict,
                   [&](const Complaint &error) { return verifyVariants(module, error, checks); });
}

LogicalResult cameo::verifyImported(ModuleOp module, bool strict) {
  return verifyAll(module, Stage::Imported, strict,
                   [&](const Complaint &error) { return verifyModel(module, error, {checkOnnx}); });
}

LogicalResult cameo::verifyNormalized(ModuleOp module, bool strict) {
  return verifyAll(module, Stage::Normalized, strict, [&](const Complaint &error) -> LogicalResult {
    if (failed(verifyModel(module, error, {checkOnnx, checkSimplified})))
      return failure();
    for (auto function : module.getOps<func::FuncOp>())
      if (Operation *op = findUninferred(function))
        return error.couldBeBetter(op, "it has no rank, although its shape can be inferred");
    return success();
  });
}

LogicalResult cameo::verifyPrecision(ModuleOp module, bool strict) {
  return verifyAll(module, Stage::Precision, strict, [&](const Complaint &error) {
    return failure(failed(verifyModel(module, error, {checkOnnx, checkCast, checkQuantized})) ||
                   failed(checkProducts(modelFunction(module, error), error)));
  });
}

LogicalResult cameo::verifyDispatched(ModuleOp module, bool strict) {
  return verifyVariants(module, Stage::Dispatched, strict, {checkLowered});
}

LogicalResult cameo::verifyScheduled(ModuleOp module, bool strict) {
  return verifyVariants(module, Stage::Scheduled, strict, {checkSchedule, checkLowered});
}

LogicalResult cameo::verifyTiled(ModuleOp module, bool strict) {
  return verifyVariants(module, Stage::Tiled, strict,
                        {checkIsNoDispatch, checkLowered, checkLaunch, checkMemorySpaces});
}

LogicalResult cameo::verifyDevice(ModuleOp module, bool strict) {
  return verifyVariants(module, Stage::Device, strict,
                        {checkIsNoDispatch, checkLowered, checkLaunch, checkAlignment,
                         checkDeviceOps, checkTargetHasInstruction});
}

LogicalResult cameo::verifyHost(ModuleOp module, bool strict) {
  return verifyVariants(module, Stage::Host, strict,
                        {checkIsNoDispatch, checkLowered, checkLaunch, checkDeviceOps,
                         checkTargetHasInstruction, checkBuffers, checkArena});
}
