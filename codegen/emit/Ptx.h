// From device-stage kernels to PTX text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace cameo {

class CodeStore;

struct PtxOptions {
  /// libdevice.10.bc; empty: looked for beside ptxas (findLibdevice).
  std::string libdevice;
  /// Where ptxas stands, to find libdevice beside it; empty: ptxas of the PATH.
  std::string ptxas;
  /// Write .loc directives.
  bool lineInfo = false;
};

/// PTX of one device-stage module, with its header. Symbols other than the kernels begin with the
/// first kernel's name and a '$', so that texts can be put together. The same module gives the same
/// text. Emits no diagnostics. Needs libdevice only where a kernel calls it.
llvm::Expected<std::string> emitPtx(mlir::gpu::GPUModuleOp module, const Target &target,
                                    const PtxOptions &options);

/// PTX of many modules, a text each, with its header. Modules are compiled on the context's
/// threads, the largest first, or taken from `store`, if there is one; each calls `done` with its position
/// and text as soon as it has it.
using PtxDone = llvm::function_ref<llvm::Error(size_t module, llvm::StringRef ptx)>;
llvm::Error emitPtx(llvm::ArrayRef<mlir::gpu::GPUModuleOp> modules, const Target &target,
                    const PtxOptions &options, CodeStore *store, PtxDone done);

/// The same as one text, in their order.
llvm::Expected<std::string> emitPtx(llvm::ArrayRef<mlir::gpu::GPUModuleOp> modules,
                                    const Target &target, const PtxOptions &options);

/// Puts texts for one target together: one header, all bodies.
std::string mergePtx(llvm::ArrayRef<std::string> texts);

/// Path of libdevice.10.bc: `explicitPath` if given, else where NVIDIA's toolkit and Debian's have it, seen from
/// ptxas's real place, else an empty string.
llvm::Expected<std::string> findLibdevice(llvm::StringRef explicitPath = "",
                                          llvm::StringRef ptxas = "");

} // namespace cameo
