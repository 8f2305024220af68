// The manifest: an artefact's description of itself, as JSON.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Code.h"

#include "llvm/Support/JSON.h"

namespace cameo {

struct ManifestInfo {
  std::string compilerVersion;
  std::string modelName;
  std::string precision;      // what was asked for, as --precision
  std::string leastPrecision; // with the fewest bits that was asked for of anything
  uint64_t modelHash = 0;     // XXH3 of the input file
};

/// The inputs that are constants, and their numbers as text; empty where there are none.
llvm::json::Object fixedInputs(mlir::ModuleOp module);

std::string makeManifest(mlir::ModuleOp module, llvm::ArrayRef<CodeVariant> variants,
                         llvm::ArrayRef<PayloadSection> sections, const ManifestInfo &info);

} // namespace cameo
