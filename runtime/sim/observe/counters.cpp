// Sectors and wavefronts of one warp-level access.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/observe/counters.h"

#include "runtime/sim/check/report.h"
#include "runtime/sim/instructions.h"

#include <algorithm>

namespace cameo::sim {
namespace {
constexpr uint32_t kSector = 32;
constexpr uint32_t kWidest = 16; // bytes a lane in one instruction
constexpr uint32_t kBanks = 32;
constexpr uint32_t kBankBytes = 4;
constexpr uint32_t kWarpLanes = 32;
} // namespace

const char *instructionName(InstructionKind kind) {
  static const char *const names[] = {"load",     "store",         "atomic",       "shuffle",
                                      "vote",     "reduce",        "warp_sync",    "barrier",
                                      "matrix",   "matrix_load",   "matrix_store", "async_copy",
                                      "mbarrier", "approximation", "other"};
  static_assert(sizeof names / sizeof *names == uint32_t(InstructionKind::Count));
  return names[uint32_t(kind)];
}

const char *operationName(unsigned count) {
  static const char *const names[] = {"f32_fma",
                                      "f32",
                                      "f64_fma",
                                      "f64",
                                      "f16",
                                      "integer",
                                      "conversion",
                                      "special",
                                      "local_read_bytes",
                                      "local_written_bytes"};
  static_assert(sizeof names / sizeof *names == CAMEO_SIM_COUNTS);
  return names[count];
}

void GlobalCounts::add(const GlobalCounts &other) {
  requests += other.requests;
  bytes += other.bytes;
  sectors += other.sectors;
  idealSectors += other.idealSectors;
}

void SharedCounts::add(const SharedCounts &other) {
  requests += other.requests;
  bytes += other.bytes;
  wavefronts += other.wavefronts;
  idealWavefronts += other.idealWavefronts;
}

void KernelCounters::add(const KernelCounters &other) {
  blocks += other.blocks;
  warps += other.warps;
  threads += other.threads;
  globalLoads.add(other.globalLoads);
  globalStores.add(other.globalStores);
  globalAtomics.add(other.globalAtomics);
  sharedLoads.add(other.sharedLoads);
  sharedStores.add(other.sharedStores);
  sharedAtomics.add(other.sharedAtomics);
  asyncCopyBytes += other.asyncCopyBytes;
  bulkLoadBytes += other.bulkLoadBytes;
  bulkStoreBytes += other.bulkStoreBytes;
  for (uint32_t i = 0; i < uint32_t(InstructionKind::Count); ++i)
    instructions[i] += other.instructions[i];
  for (uint32_t i = 0; i < CAMEO_SIM_COUNTS; ++i)
    operations[i] += other.operations[i];
  for (const auto &[code, count] : other.matrix)
    matrix[code] += count;
  ungrouped += other.ungrouped;
}

std::string matrixName(uint64_t code) {
  auto modifier = [&](unsigned i) { return unsigned(code >> 8 * (i + 1) & 0xff); };
  auto type = [](unsigned type) {
    static const char *const names[] = {"f16", "bf16",  "tf32",   "f32",  "f64",
                                        "s8",  "u8",    "s32",    "u32",  "s64",
                                        "u64", "f16x2", "bf16x2", "e4m3", "e5m2"};
    return type < sizeof names / sizeof *names ? names[type] : "?";
  };
  if ((code & 0xff) == CAMEO_SIM_OP_MMA)
    return format("mma.m%un%uk%u.%s.%s.%s", modifier(0), modifier(1), modifier(2),
                  type(modifier(5)), type(modifier(3)), type(modifier(4)));
  return format("wgmma.m64n%u.%s.%s.%s", modifier(0) * 8, type(modifier(3)), type(modifier(1)),
                type(modifier(2)));
}

uint64_t matrixMultiplyAdds(uint64_t code) {
  auto modifier = [&](unsigned i) { return code >> 8 * (i + 1) & 0xff; };
  if ((code & 0xff) == CAMEO_SIM_OP_MMA)
    return modifier(0) * modifier(1) * modifier(2);
  // A step of wgmma is 256 bits deep (PTX ISA, "wgmma.mma_async"); each warp has 16 of 64 rows.
  uint64_t depth = 32;
  switch (modifier(1)) {
  case CAMEO_SIM_F16:
  case CAMEO_SIM_BF16:
    depth = 16;
    break;
  case CAMEO_SIM_TF32:
    depth = 8;
    break;
  default:
    break;
  }
  return 16 * modifier(0) * 8 * depth;
}

void Counter::access(const WarpAccess &access) {
  // LLVM makes several instructions of what is wider than an instruction or less aligned than it
  // must be.
  uint32_t piece = std::min({access.bytes, kWidest, access.alignment ? access.alignment : 1});
  for (uint32_t offset = 0; offset < access.bytes; offset += piece) {
    uint32_t bytes = std::min(piece, access.bytes - offset);
    if (access.shared)
      shared(access, offset, bytes);
    else
      global(access, offset, bytes);
    if (!access.accessOnly)
      instruction(access.kind == CAMEO_SIM_READ    ? InstructionKind::Load
                  : access.kind == CAMEO_SIM_WRITE ? InstructionKind::Store
                                                   : InstructionKind::Atomic);
  }
}

/// CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory": as many transactions of 32
/// bytes as serve all threads of the warp.
void Counter::global(const WarpAccess &access, uint32_t offset, uint32_t bytes) {
  uint64_t begins[kWarpLanes];
  uint32_t count = 0;
  bool sorted = true;
  for (uint32_t rest = access.lanes; rest; rest &= rest - 1) {
    uint64_t begin = access.addresses[__builtin_ctz(rest)] + offset;
    sorted &= !count || begins[count - 1] <= begin;
    begins[count++] = begin;
  }
  if (!sorted)
    std::sort(begins, begins + count);
  uint64_t sectors = 0, different = 0, nextSector = 0, nextByte = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t end = begins[i] + bytes;
    different += end - std::min(end, std::max(begins[i], nextByte));
    nextByte = std::max(nextByte, end);
    uint64_t last = (end - 1) / kSector;
    uint64_t first = std::max(begins[i] / kSector, nextSector);
    if (first <= last) {
      sectors += last - first + 1;
      nextSector = last + 1;
    }
  }
  GlobalCounts &counts = access.kind == CAMEO_SIM_READ    ? counters.globalLoads
                         : access.kind == CAMEO_SIM_WRITE ? counters.globalStores
                                                          : counters.globalAtomics;
  ++counts.requests;
  counts.bytes += uint64_t(count) * bytes;
  counts.sectors += sectors;
  counts.idealSectors += (different + kSector - 1) / kSector;
}

/// CUDA C++ Programming Guide, "Compute Capability 5.x: Shared Memory": 32 banks of 4 bytes, each
/// of which serves one word at a time, to any number of threads. 128 bytes a cycle come back, so
/// that accesses of 8 bytes a lane are done by half warps and those of 16 bytes by quarters
/// (docs/simulator/counters.md).
void Counter::shared(const WarpAccess &access, uint32_t offset, uint32_t bytes) {
  const uint32_t together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  uint64_t wavefronts = 0, ideal = 0, lanesIn = 0;
  for (uint32_t first = 0; first < kWarpLanes; first += together) {
    uint32_t lanes = access.lanes & (together == 32 ? ~0u : ((1u << together) - 1) << first);
    if (!lanes)
      continue;
    ++ideal;
    lanesIn += uint64_t(__builtin_popcount(lanes));
    // The different words that each bank is asked for, in chains.
    uint64_t words[2 * kWarpLanes];
    uint8_t chain[2 * kWarpLanes], heads[kBanks] = {}, asked[kBanks] = {};
    uint32_t count = 0, most = 1;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      uint64_t begin = access.addresses[__builtin_ctz(rest)] + offset;
      for (uint64_t word = begin / kBankBytes; word <= (begin + bytes - 1) / kBankBytes; ++word) {
        uint32_t bank = word % kBanks, left = asked[bank];
        for (uint32_t i = heads[bank]; left && words[i] != word; i = chain[i])
          --left;
        if (left) // found: one access serves both
          continue;
        words[count] = word;
        chain[count] = asked[bank] ? heads[bank] : uint8_t(count);
        heads[bank] = uint8_t(count++);
        most = std::max<uint32_t>(most, ++asked[bank]);
      }
    }
    wavefronts += most;
  }
  SharedCounts &counts = access.kind == CAMEO_SIM_READ    ? counters.sharedLoads
                         : access.kind == CAMEO_SIM_WRITE ? counters.sharedStores
                                                          : counters.sharedAtomics;
  ++counts.requests;
  counts.bytes += lanesIn * bytes;
  counts.wavefronts += wavefronts;
  counts.idealWavefronts += ideal;
}

} // namespace cameo::sim
