// All code sections of a model: what is made of each variant's kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Backend.h"
#include "codegen/emit/Payload.h"

namespace cameo {

/// The variants of a host-stage module that `targets` asks for, in the order of the module; an
/// error where one is missing.
llvm::Expected<std::vector<CodeVariant>> findVariants(mlir::ModuleOp module,
                                                      llvm::ArrayRef<TargetVariant> targets);

/// PTX of a variant's kernels.
llvm::Expected<std::string> emitVariantPtx(const CodeVariant &variant, const CodeOptions &options);

/// Plans and code of all variants; a cubin is one section per kernel module. Diagnostics and errors
/// alike end in an error.
struct CodeSections {
  std::vector<PayloadSection> sections;
  std::vector<Assembled> assembled;
  CodeStore::Messages messages; // of what is kept
};
llvm::Expected<CodeSections> emitSections(llvm::ArrayRef<CodeVariant> variants,
                                          const CodeOptions &options);

} // namespace cameo
