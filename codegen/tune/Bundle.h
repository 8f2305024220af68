// A tuning bundle: all candidates of a model's dispatches in one file, to be measured where only a
// driver is (runtime/tune).
//
// It is an artefact whose payload has plans and code of all candidates, what is equal once, and
// whose manifest says which of them each candidate consists of, and what it is a candidate of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Code.h"
#include "codegen/emit/Manifest.h"

namespace cameo {

/// Makes a bundle of a module at stage host whose variants are candidates. `sections` is what was made of `candidates`, in their order.
llvm::Expected<PayloadContents> makeTuningBundle(mlir::ModuleOp module,
                                                 llvm::ArrayRef<CodeVariant> candidates,
                                                 llvm::ArrayRef<PayloadSection> sections,
                                                 const ManifestInfo &info);

/// The variants of a module at stage host that are candidates for one of `targets`.
llvm::Expected<std::vector<CodeVariant>> findCandidates(mlir::ModuleOp module,
                                                        llvm::ArrayRef<TargetVariant> targets);

} // namespace cameo
