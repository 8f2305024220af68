// Several ways to compute a dispatch, on the dispatch, until one of them is chosen.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/Schedule.h"

namespace cameo {

/// On a dispatch: dictionaries, the one that the estimate prefers first.
inline constexpr llvm::StringLiteral kCandidatesAttr =
    kernel::KernelDialect::CandidatesAttrHelper::getNameStr();

struct NotedCandidate {
  kernel::ScheduleAttr schedule;
  mlir::ArrayAttr packing;          // null: constants are as they are
  mlir::DenseI64ArrayAttr rounding; // null: none of them is rounded
  double microseconds = 0;
  KernelWork work;
};

mlir::Attribute noted(const NotedCandidate &candidate);
/// Nothing where the attribute is not what `noted` makes.
std::optional<NotedCandidate> candidateOf(mlir::Attribute attribute);

/// Of all classes, `most` at most, the fastest first: of those with a main loop of products, or of
/// everything.
llvm::SmallVector<NotedCandidate, 0> candidatesOf(llvm::ArrayRef<RankedSchedule> ranked,
                                                  size_t most, bool everything);

} // namespace cameo
