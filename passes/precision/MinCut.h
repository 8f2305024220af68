// A minimal cut of a network between a source and a sink (Dinic's algorithm).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace cameo {

class MinCut {
public:
  static constexpr unsigned kSource = 0, kSink = 1;
  /// More than any cut has.
  static constexpr int64_t kInfinite = int64_t(1) << 60;

  unsigned addNode();
  /// Separating `from`, with the source, from `to`, with the sink, costs so much.
  void addEdge(unsigned from, unsigned to, int64_t cost);
  /// Finds the cut; of equally cheap ones, that with the fewest nodes on the source's side.
  void solve();
  bool isWithSource(unsigned node) const { return level[node] >= 0; }

private:
  struct Edge {
    unsigned to;
    int64_t left; // capacity
  };
  bool findLevels();
  int64_t augment();

  // Edge i and its reverse are 2i and 2i + 1.
  std::vector<Edge> edges;
  std::vector<llvm::SmallVector<unsigned, 4>> leaving{2}; // edges, by node
  std::vector<int> level;                                 // distance from the source; -1: cut off
  std::vector<unsigned> next;                             // of a node's edges
};

} // namespace cameo
