// Checks of accesses, and the faults that they find.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_CHECKS_H
#define CAMEO_SIM_CHECKS_H

#include "runtime/sim/abi.h"
#include "runtime/sim/check/async.h"
#include "runtime/sim/check/report.h"

namespace cameo::sim {

struct Block;
struct Fiber;
struct Range;
struct Worker;

/// Checks an access of shared memory by an asynchronous operation against what threads have done,
/// without noting it.
void checkRecorded(const Fiber &issuer, uint64_t offset, uint32_t bytes, CameoSimAccess kind,
                   uint32_t site, Agent agent);
/// The same of global memory, where other clusters must see it: it is noted, unless `notes` is
/// false. Whether all is well.
bool checkRecordedGlobal(const Fiber &issuer, const char *address, uint32_t bytes,
                         CameoSimAccess kind, uint32_t site, Agent agent, bool notes);
/// Fills in whose shared memory `offset` is in, and where.
void nameOwner(Fault &fault, const Block &self, uint64_t offset);

/// Checks one access; CameoSimApi::access.
void *checkAccess(CameoSimThread *thread, void *address, uint32_t bytes, uint32_t alignment,
                  uint32_t space, uint32_t kind, uint32_t site);

/// What a global access of the launch may touch and touches, or null. `parameter` and `site` as in
/// CameoSimApi::access.
Range *findRange(Worker &worker, const char *address, uint32_t bytes, uint32_t parameter,
                 uint32_t site);
/// Checks accesses of a warp; CameoSimApi::warp_access.
uint32_t checkWarpAccesses(CameoSimThread *thread, const CameoSimAccessSite *accesses,
                           uint32_t count, char *const *addresses, const uint8_t *lanes,
                           char **allowed);

/// Closes the epoch: flushes accesses that have been deferred since the last barrier to the race
/// shadow, where whatever happens next is checked.
void flushDeferred(Worker &worker);
/// A fault of `fiber`, filled in as far as the fiber tells.
Fault makeFault(const Fiber &fiber, FaultKind kind, uint32_t site);

} // namespace cameo::sim

#endif
