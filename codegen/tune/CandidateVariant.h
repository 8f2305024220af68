// The candidate that a variant computes, as an attribute of the variant.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/tune/Candidates.h"
#include "dialects/rt/Rt.h"

namespace cameo {

/// On a variant that computes a dispatch in one of the ways that were thought of.
inline constexpr llvm::StringLiteral kCandidateVariantAttr =
    rt::RtDialect::CandidateAttrHelper::getNameStr();

struct CandidateVariant {
  NotedCandidate candidate;
  std::string key;                          // of the dispatch, for files of schedules
  int64_t uses;                             // in the model
  llvm::SmallVector<llvm::StringRef> nodes; // that it computes, of all its uses
};

mlir::Attribute attributeOf(const CandidateVariant &variant);
/// Nothing where the variant is none.
std::optional<CandidateVariant> candidateVariantOf(rt::VariantOp variant);

} // namespace cameo
