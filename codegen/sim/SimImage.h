// From device-stage kernels to a simulator image (runtime/sim/abi.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Backend.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace cameo {

/// The steps of the simulator's compiler in MLIR: Backend::populate.
void populateSimImage(mlir::OpPassManager &passes, const BackendPipelineOptions &options);

struct SimImageOptions {
  /// Call the engine before each access of shared and global memory, and count executions: for
  /// checks and counters.
  bool checked = false;
  /// Call the engine behind each instruction, too; needs `checked`.
  bool traced = false;
  /// What the kernels were compiled for, for estimates; null: not known.
  const Target *target = nullptr;
  using Forms = SimForms;
  Forms forms = Forms::Warp;
  /// Compile fast what then runs slowly: vectorised kernels are hardly optimised, and neither is machine code.
  bool quick = false;
  /// Say on the modules which kernels have no vectorised form, and why.
  bool remarks = false;
  /// Once it is set, no more kernels are compiled, and that is an error. Null: never.
  const std::atomic<bool> *cancelled = nullptr;
  /// Counts them; null: nobody does.
  KernelCount *count = nullptr;
};

/// One ELF shared object for x86-64-v3 with all kernels of `modules` (device stage, unchanged),
/// without undefined symbols; kernels are compiled on the context's threads, or taken from `store`. The
/// same modules give the same bytes.
llvm::Expected<llvm::SmallVector<char>> emitSimImage(llvm::ArrayRef<mlir::gpu::GPUModuleOp> modules,
                                                     const SimImageOptions &options,
                                                     CodeStore *store = nullptr);

/// Writes the LLVM IR that would be compiled for each of the modules, for those who work on it.
llvm::Error printSimIr(llvm::ArrayRef<mlir::gpu::GPUModuleOp> modules,
                       const SimImageOptions &options, llvm::raw_ostream &output);

} // namespace cameo
