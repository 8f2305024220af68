// The manifest, an artefact's description of itself, and the report of a compilation: both JSON.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Code.h"

namespace cameo {

struct ManifestInfo {
  std::string compilerVersion;
  std::string modelName;
  std::string precision = "fp32";
  uint64_t modelHash = 0; // XXH3 of the input file
};

std::string makeManifest(mlir::ModuleOp module, llvm::ArrayRef<CodeVariant> variants,
                         llvm::ArrayRef<PayloadSection> sections, const ManifestInfo &info);

/// One object a launch of the first variant, in launch order, with whatever is known of it, and
/// the memory it takes.
std::string makeReport(llvm::ArrayRef<CodeVariant> variants, llvm::ArrayRef<Assembled> assembled);

} // namespace cameo
