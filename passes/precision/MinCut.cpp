// A minimal cut between a source and a sink (Dinic's algorithm): shortest augmenting paths, all of
// one length in one phase. Paths are kept in a list, not on the stack, since networks may be as
// long as a model has nodes.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/MinCut.h"

#include <algorithm>

namespace cameo {

unsigned MinCut::addNode() {
  leaving.emplace_back();
  return leaving.size() - 1;
}

void MinCut::addEdge(unsigned from, unsigned to, int64_t cost) {
  if (from == to || cost == 0)
    return;
  leaving[from].push_back(edges.size());
  edges.push_back({to, cost});
  leaving[to].push_back(edges.size());
  edges.push_back({from, 0});
}

bool MinCut::findLevels() {
  level.assign(leaving.size(), -1);
  level[kSource] = 0;
  std::vector<unsigned> queue{kSource};
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned number : leaving[queue[i]])
      if (const Edge &edge = edges[number]; edge.left > 0 && level[edge.to] < 0) {
        level[edge.to] = level[queue[i]] + 1;
        queue.push_back(edge.to);
      }
  return level[kSink] >= 0;
}

/// Sends what one more path of this phase takes; 0 where there is none.
int64_t MinCut::augment() {
  std::vector<unsigned> path; // edges
  unsigned at = kSource;
  while (at != kSink) {
    if (next[at] < leaving[at].size()) {
      unsigned number = leaving[at][next[at]];
      const Edge &edge = edges[number];
      if (edge.left > 0 && level[edge.to] == level[at] + 1) {
        path.push_back(number);
        at = edge.to;
      } else {
        ++next[at];
      }
      continue;
    }
    if (path.empty())
      return 0;
    at = edges[path.back() ^ 1].to;
    path.pop_back();
    ++next[at]; // leads nowhere
  }
  int64_t amount = kInfinite;
  for (unsigned number : path)
    amount = std::min(amount, edges[number].left);
  for (unsigned number : path) {
    edges[number].left -= amount;
    edges[number ^ 1].left += amount;
  }
  return amount;
}

void MinCut::solve() {
  while (findLevels()) {
    next.assign(leaving.size(), 0);
    while (augment())
      ;
  }
}

} // namespace cameo
