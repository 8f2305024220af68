// The artefact's file: a stub, the payload with everything in it, a trailer (runtime/format.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/format.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace cameo {

/// A section but weights, which are read from the module as they are written.
struct PayloadSection {
  CameoSectionKind kind;
  uint32_t variant = 0;
  uint32_t arch = 0;
  uint32_t flags = 0;
  std::vector<char> bytes;
};

/// What a file consists of.
struct PayloadContents {
  std::string manifest; // JSON
  std::vector<PayloadSection> sections;
  uint32_t variantCount = 0;
  uint32_t flags = 0; // CAMEO_PAYLOAD_TUNING
  /// Its pool (host stage) becomes the weight section.
  mlir::ModuleOp module;
};

/// Bytes of the weight section.
uint64_t weightSectionBytes(mlir::ModuleOp module);

/// Writes stub, payload and trailer to memory, or wherever one can go back. An empty `stub` gives a
/// plan file.
void writeArtefact(llvm::raw_pwrite_stream &output, llvm::StringRef stub,
                   const PayloadContents &contents);

/// Writes a file: to one of another name first, which then takes the name, so that nobody sees half
/// a file. `mode` is that of chmod.
llvm::Error writeFile(llvm::StringRef path, unsigned mode,
                      llvm::function_ref<llvm::Error(llvm::raw_fd_ostream &)> write);

} // namespace cameo
