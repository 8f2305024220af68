// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/TargetInstructions.h"

#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cameo;

llvm::Error cameo::verifyTargetInstructions(Operation *module, const Target &target) {
  llvm::Error errors = llvm::Error::success();
  module->walk([&](kernel::PtxOp op) {
    const kernel::PtxInstruction &instruction = op.decode();
    if (target.has(instruction))
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << op.getLoc() << ": ";
    if (auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>())
      stream << "kernel " << kernel.getName() << ": ";
    stream << op.getInstruction() << " needs sm_" << instruction.since
           << (instruction.archSpecific ? "a" : "");
    if (instruction.ptxVersion)
      stream << " and PTX " << instruction.ptxVersion / 10 << "." << instruction.ptxVersion % 10;
    stream << "; the kernel is for " << target.name << " in PTX " << target.ptxVersionText();
    errors = llvm::joinErrors(std::move(errors), llvm::createStringError(text));
  });
  return errors;
}
