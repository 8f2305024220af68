// What sizes that only a run knows are taken for wherever something is estimated at compile time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cameo {

/// Fusion, layouts, schedules and reports all take a size known only at run time for this one, so
/// that what a report shows is what was decided by. It is an assumption: of the order of a batch or
/// of a sequence's length, which is what models leave open, and a multiple of every vector and
/// warp that kernels have.
///
/// Two ask something else: TapMemory, which kernel is the largest for short and for long sequences
/// (1, 64, 4096), and transpositions, what may be too large for caches (256).
inline constexpr double kUnknownSize = 64;

} // namespace cameo
