// Faults as they are noted while a launch runs, and their making into reports afterwards.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_REPORT_H
#define CAMEO_SIM_REPORT_H

#include "runtime/sim/check/async.h"
#include "runtime/sim/engine.h"

#include <map>
#include <mutex>
#include <tuple>

namespace cameo::sim {

struct Range;

constexpr uint32_t kNoSite = ~0u;

/// Plain data: fibers note faults on their own small stacks; words are made later.
struct Fault {
  FaultKind kind = FaultKind::Deadlock;
  uint32_t site = kNoSite;
  uint32_t otherSite = kNoSite;
  uint64_t block = 0; // linear
  uint32_t warp = 0;
  uint32_t lanes = 0;
  uint64_t count = 1;
  // Accesses.
  uint64_t address = 0; // global: absolute; shared: offset in the window
  static constexpr uint64_t kOwnBlock = ~0ull;
  uint64_t ownerBlock = kOwnBlock; // shared memory of another block of the cluster: which
  uint32_t bytes = 0;
  CameoSimAccess access = CAMEO_SIM_READ;
  // The other side of a race.
  CameoSimAccess otherAccess = CAMEO_SIM_READ;
  uint64_t otherBlock = 0;
  uint32_t otherThread = 0;
  Agent otherAgent = Agent::Thread;
  bool ofGlobal = false; // a missing fence: `address` is in global memory
  // What else the kind needs: expected and found values, masks, barrier numbers. Of reads of global
  // memory that does not hold what is read: its mark | the parameter as in CameoSimApi::access << 8,
  // and the mark that was found.
  uint32_t values[3] = {0, 0, 0};
  std::string detail; // deadlock: who waits where
};

/// The distinct faults of a launch. Thread-safe.
class FaultLog {
public:
  void add(Fault fault);
  bool empty() const { return faults_.empty(); }
  /// In the order of blocks, warps and sites. `ranges` name global addresses.
  std::vector<Report> reports(const Launch &launch, const std::vector<Range> &ranges,
                              uint32_t sharedBytes, unsigned limit, uint64_t &more) const;

private:
  using Key = std::tuple<FaultKind, uint32_t, uint32_t>;
  std::map<Key, Fault> faults_;
  std::mutex mutex_;
};

/// " (what, location)" or what of it is known; empty if nothing is.
std::string describeSite(const CameoSimImage *image, uint32_t site);
/// "lane 3", "lanes 0-15, 20".
std::string describeSet(const char *noun, uint32_t mask);
/// "shuffle.bfly", "vote.any", "warp sync"; of an Op.
const char *describeOp(uint32_t op);

/// Formats like printf.
std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

} // namespace cameo::sim

#endif
