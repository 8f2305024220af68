// What a profiler would count of a launch: sectors, wavefronts, instructions, bytes.
//
// One warp-level access is a WarpAccess. Where lanes run one by one, LaneLog (lane_log.h) puts
// their accesses together again. docs/simulator/counters.md gives the rules and their sources.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_COUNTERS_H
#define CAMEO_SIM_COUNTERS_H

#include "runtime/sim/abi.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cameo::sim {

/// Warp-level instructions. What the compiled code does by itself is counted in operations.
enum class InstructionKind : uint32_t {
  Load, // of global and shared memory
  Store,
  Atomic,
  Shuffle,
  Vote, // and match, elect
  Reduce,
  WarpSync,
  Barrier, // bar.sync, bar.arrive; once a warp
  Matrix,  // mma, wgmma
  MatrixLoad,
  MatrixStore,
  AsyncCopy, // cp.async, bulk and tensor copies
  Mbarrier,
  Approximation,
  Other, // commits, waits, fences
  Count
};
/// "load", "matrix_load", ...
const char *instructionName(InstructionKind kind);
/// "f32_fma", ... of a CameoSimCount.
const char *operationName(unsigned count);

/// Accesses of global memory by warps. Sectors are 32 bytes.
struct GlobalCounts {
  uint64_t requests = 0; // warp-level
  uint64_t bytes = 0;    // of all lanes together
  uint64_t sectors = 0;
  uint64_t idealSectors = 0; // that the different bytes asked for would fill
  void add(const GlobalCounts &other);
};

/// Accesses of shared memory by warps. A wavefront is what the 32 banks do at once.
struct SharedCounts {
  uint64_t requests = 0;
  uint64_t bytes = 0;
  uint64_t wavefronts = 0;
  uint64_t idealWavefronts = 0; // without bank conflicts
  uint64_t conflicts() const { return wavefronts - idealWavefronts; }
  void add(const SharedCounts &other);
};

struct KernelCounters {
  uint64_t blocks = 0, warps = 0, threads = 0;
  GlobalCounts globalLoads, globalStores, globalAtomics;
  SharedCounts sharedLoads, sharedStores, sharedAtomics;
  uint64_t asyncCopyBytes = 0; // cp.async: also among globalLoads and sharedStores
  uint64_t bulkLoadBytes = 0, bulkStoreBytes = 0; // the asynchronous engine's: nowhere else
  uint64_t instructions[uint32_t(InstructionKind::Count)] = {};
  uint64_t operations[CAMEO_SIM_COUNTS] = {}; // of threads, as CameoSimBasicBlock has them
  std::map<uint64_t, uint64_t> matrix;        // instructions by code (instructions.h)
  /// Accesses counted a lane at a time, because a lane ran too far ahead of its warp.
  uint64_t ungrouped = 0;

  uint64_t &of(InstructionKind kind) { return instructions[uint32_t(kind)]; }
  uint64_t of(InstructionKind kind) const { return instructions[uint32_t(kind)]; }
  uint64_t globalSectors() const {
    return globalLoads.sectors + globalStores.sectors + globalAtomics.sectors;
  }
  uint64_t sharedWavefronts() const {
    return sharedLoads.wavefronts + sharedStores.wavefronts + sharedAtomics.wavefronts;
  }
  void add(const KernelCounters &other);
};

/// "mma.m16n8k16.f32.f16.f16" of a code of CAMEO_SIM_OP_MMA or CAMEO_SIM_OP_WGMMA.
std::string matrixName(uint64_t code);
/// Multiply-adds of one such instruction of a warp (of wgmma: of one of the four warps).
uint64_t matrixMultiplyAdds(uint64_t code);

/// What the lanes of a warp access in one instruction.
struct WarpAccess {
  uint32_t lanes;            // bit a lane
  const uint64_t *addresses; // 32 of them; of shared memory offsets would do
  uint32_t bytes;            // a lane
  uint32_t alignment;        // of each; wider accesses are made in pieces of it
  CameoSimAccess kind;
  bool shared;
  bool accessOnly; // of an instruction that is counted by itself: cp.async, ldmatrix
};

/// A worker's counters of a launch.
class Counter {
public:
  void access(const WarpAccess &access);
  void instruction(InstructionKind kind) { ++counters.of(kind); }
  KernelCounters counters;

private:
  void global(const WarpAccess &access, uint32_t offset, uint32_t bytes);
  void shared(const WarpAccess &access, uint32_t offset, uint32_t bytes);
};

} // namespace cameo::sim

#endif
