// The pass that attaches ranges, of those that were read before.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/Passes.h"
#include "passes/precision/RecordedRanges.h"

#include <memory>

namespace cameo {

/// cameo-attach-ranges of what is known already; `model` is the hash of the model's file, empty
/// where it is not known.
std::unique_ptr<mlir::Pass> createAttachRanges(std::shared_ptr<const RecordedRanges> ranges,
                                               llvm::StringRef model);

} // namespace cameo
