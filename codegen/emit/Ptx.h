// From device-stage kernels to PTX text and cubins.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace cameo {

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

/// PTX of many modules as one text, in their order; compiled on the context's threads.
llvm::Expected<std::string> emitPtx(llvm::ArrayRef<mlir::gpu::GPUModuleOp> modules,
                                    const Target &target, const PtxOptions &options);

/// Puts texts for one target together: one header, all bodies.
std::string mergePtx(llvm::ArrayRef<std::string> texts);

/// What ptxas says a kernel takes.
struct KernelResources {
  std::string name;
  unsigned registers = 0;
  unsigned stackBytes = 0;
  unsigned spillStoreBytes = 0;
  unsigned spillLoadBytes = 0;
  unsigned sharedBytes = 0; // static
  unsigned constantBytes = 0;
  unsigned barriers = 0;
};

struct Cubin {
  std::vector<char> data;
  std::vector<KernelResources> kernels; // in the order ptxas gives
  std::string log;                      // ptxas's other output: warnings
};

struct AssembleOptions {
  std::string ptxas; // empty: the PATH's
  /// Assembler processes at a time.
  unsigned jobs = 2;
};

struct AssembleJob {
  llvm::StringRef ptx;
  const Target *target;
};

/// Path of ptxas: `explicitPath` if given (an error if it is not there), else the PATH's, else an
/// empty string: no cubins can be made on this machine.
llvm::Expected<std::string> findPtxas(llvm::StringRef explicitPath = "");

/// Path of libdevice.10.bc: `explicitPath` if given, else ../nvvm/libdevice/ seen from ptxas's real
/// place, else an empty string.
llvm::Expected<std::string> findLibdevice(llvm::StringRef explicitPath = "",
                                          llvm::StringRef ptxas = "");

/// Assembles each text for its target. ptxas's errors are errors; so are its warnings C7510 and
/// C7514, which say that it has serialised warpgroup matrix instructions. Kernels that spill for
/// the sake of occupancy are assembled again without that goal.
llvm::Expected<std::vector<Cubin>> assemblePtx(llvm::ArrayRef<AssembleJob> jobs,
                                               const AssembleOptions &options);
llvm::Expected<Cubin> assemblePtx(llvm::StringRef ptx, const Target &target,
                                  const AssembleOptions &options);

/// Reads ptxas --verbose output; lines that are not about resources go to `rest`.
std::vector<KernelResources> parsePtxasLog(llvm::StringRef log, std::string &rest);

} // namespace cameo
