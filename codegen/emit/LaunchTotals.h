// The launches of a variant taken together, as reports, manifests and comparisons state them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Rt.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cameo {

/// How long a run's launches are estimated to take, one after another.
struct TotalEstimate {
  std::string board;
  double microseconds = 0;
  /// Sizes that only a run knows were taken for likely ones, and numbers of trips, too; loops that the device ends for
  /// one trip, and branches for the longer one.
  bool isAssumed = false;
};

struct LaunchTotals {
  std::string target; // as on the command line
  unsigned launches = 0, matrixLaunches = 0;
  unsigned repeated = 0, chosen = 0; // launches of loops' bodies and of branches among them
  // For numbers that are read back; in loops' bodies among them.
  unsigned waits = 0, repeatedWaits = 0;
  std::map<std::string, unsigned> byPrecision;
  /// Nothing where a launch has no estimate.
  std::optional<TotalEstimate> estimate;
};

LaunchTotals totalsOf(rt::VariantOp variant);

/// `board`, `microseconds`, and where they are, `sizes_assumed`.
llvm::json::Object estimateJson(const TotalEstimate &estimate);
/// `target`, `launches`, `kernels`, `tensor_core_kernels`, `estimate`, and `launches_in_loops`, `launches_in_branches`,
/// `waits` and `waits_in_loops` where there are any.
llvm::json::Object totalsJson(const LaunchTotals &totals);
/// `variants` of a manifest; those of an artefact that has none are none.
std::vector<LaunchTotals> readTotals(llvm::StringRef manifest);

/// The type with the fewest bits among a launch's tensors, of those that --precision has, as it
/// calls them; empty where there is none. From stage host on.
llvm::StringRef precisionOf(rt::LaunchOp launch);
/// Whether its kernel is one of Tensor Cores.
bool isOnTensorCores(rt::LaunchOp launch);

} // namespace cameo
