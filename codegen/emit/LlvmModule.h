// Steps that both ways from the device stage share: translation to LLVM IR, optimisation, emission.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace cameo {

/// Registers what LLVM needs to know of NVPTX and of the host's x86-64. Safe to call at any time,
/// from any thread.
void initializeLlvmTargets();

/// Makes the context know the dialect-to-LLVM translations. Not thread safe: call it before
/// translations run in parallel.
void registerDeviceTranslations(mlir::MLIRContext &context);

/// A target machine; an error for an unknown triple.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(llvm::StringRef triple, llvm::StringRef chip, llvm::StringRef features,
                    llvm::CodeGenOptLevel level, const llvm::TargetOptions &options = {});

/// LLVM IR of a device-stage module for `machine`. MLIR's diagnostics become the error.
llvm::Expected<std::unique_ptr<llvm::Module>> translateDeviceModule(mlir::Operation *module,
                                                                    llvm::LLVMContext &context,
                                                                    llvm::TargetMachine &machine);

/// What passes of LLVM ask for, ready to use with the managers of `builder`'s pipelines.
struct PassAnalyses {
  explicit PassAnalyses(llvm::TargetMachine *machine,
                        llvm::PipelineTuningOptions tuning = llvm::PipelineTuningOptions());
  PassAnalyses(const PassAnalyses &) = delete;
  PassAnalyses &operator=(const PassAnalyses &) = delete;

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

/// LLVM's default pipeline; without the SLP vectoriser where `slp` is false.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    llvm::OptimizationLevel level, bool slp);

/// Assembly text or an object file.
llvm::Expected<llvm::SmallString<0>> emitModule(llvm::Module &module, llvm::TargetMachine &machine,
                                                llvm::CodeGenFileType type);

} // namespace cameo
