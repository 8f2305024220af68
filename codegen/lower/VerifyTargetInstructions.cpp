// Whether a target has the instructions that kernels use.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/VerifyTargetInstructions.h"

#include "codegen/Passes.h"
#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace cameo {
#define GEN_PASS_DEF_VERIFYTARGETINSTRUCTIONS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

LogicalResult cameo::verifyTargetInstruction(kernel::PtxOp op, const Target &target) {
  const kernel::PtxInstruction &instruction = op.decode();
  if (target.has(instruction))
    return success();
  InFlightDiagnostic error = emitError(op.getLoc());
  if (auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>())
    error << "kernel " << kernel.getName() << ": ";
  error << op.getInstruction() << " needs sm_" << instruction.since
        << (instruction.archSpecific ? "a" : "");
  if (instruction.ptxVersion)
    error << " and PTX " << instruction.ptxVersion / 10 << "." << instruction.ptxVersion % 10;
  return error << "; the kernel is for " << target.name << " in PTX " << target.ptxVersionText();
}

namespace {
struct VerifyTargetInstructions
    : cameo::impl::VerifyTargetInstructionsBase<VerifyTargetInstructions> {
  using VerifyTargetInstructionsBase::VerifyTargetInstructionsBase;

  void runOnOperation() override {
    llvm::Expected<const Target *> known = findTarget(target);
    if (!known) {
      emitError(getOperation()->getLoc()) << llvm::toString(known.takeError());
      return signalPassFailure();
    }
    bool failing = false;
    getOperation()->walk(
        [&](kernel::PtxOp op) { failing |= failed(verifyTargetInstruction(op, **known)); });
    if (failing)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
