// Collectives of a warp over registers, and matrices between registers and shared memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/exec/worker.h"
#include "runtime/sim/isa/instruct.h"
#include "runtime/sim/isa/tiles.h"

#include <algorithm>
#include <cstring>

namespace cameo::sim {
namespace {

template <typename Function> void eachLane(uint32_t lanes, Function function) {
  for (; lanes; lanes &= lanes - 1)
    function(uint32_t(__builtin_ctz(lanes)));
}

uint32_t combine(uint32_t operation, bool isSigned, uint32_t a, uint32_t b) {
  switch (operation) {
  case CAMEO_SIM_ADD:
    return a + b;
  case CAMEO_SIM_MIN:
    return isSigned ? uint32_t(std::min(int32_t(a), int32_t(b))) : std::min(a, b);
  case CAMEO_SIM_MAX:
    return isSigned ? uint32_t(std::max(int32_t(a), int32_t(b))) : std::max(a, b);
  case CAMEO_SIM_AND:
    return a & b;
  case CAMEO_SIM_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

constexpr uint32_t kRows = 8, kRowBytes = 16;

/// Where the rows of `count` matrices lie, checked: lane 8m + r has the address of row r of matrix
/// m.
void findRows(char *(&places)[kLanes], Warp &warp, Rows words, uint32_t count,
              CameoSimAccess access, uint32_t site) {
  const uint32_t rows = kRows * count;
  const uint32_t *low = words[0], *high = words[1];
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    places[lane] = reinterpret_cast<char *>(low[lane] | uint64_t(high[lane]) << 32);
  Worker &worker = *warp.block->worker;
  if (warp.block->warpForm && !warp.block->counting) {
    if (!(worker.checks & kCheckMemory))
      return;
    char *addresses[kLanes] = {}, *allowed[kLanes];
    uint8_t lanes[kLanes] = {};
    std::copy(places, places + rows, addresses);
    std::fill(lanes, lanes + rows, 1);
    const CameoSimAccessSite &whole = worker.matrixAccess(access, count, site);
    if (checkWarpAccesses(&warp.fibers[0].thread, &whole, 1, addresses, lanes, allowed))
      std::copy(allowed, allowed + rows, places);
    return;
  }
  for (uint32_t lane = 0; lane < rows; ++lane)
    places[lane] = static_cast<char *>(checkAccess(&warp.fibers[lane].thread, places[lane],
                                                   kRowBytes, kRowBytes, 3, access, site));
}

} // namespace

/// PTX ISA, redux.sync.
void executeRedux(Instruction instruction, LaneWords lane, uint32_t lanes) {
  bool isSigned = instruction.modifier(1) == CAMEO_SIM_S32;
  uint32_t first = uint32_t(__builtin_ctz(lanes));
  uint32_t result = lane[first][0];
  eachLane(lanes & (lanes - 1), [&](uint32_t l) {
    result = combine(instruction.modifier(0), isSigned, result, lane[l][0]);
  });
  eachLane(lanes, [&](uint32_t l) { lane[l][2] = result; });
}

/// PTX ISA, vote.sync.
void executeVote(Instruction instruction, LaneWords lane, uint32_t lanes) {
  uint32_t ballot = 0;
  eachLane(lanes, [&](uint32_t l) { ballot |= uint32_t(lane[l][0] & 1) << l; });
  uint32_t result = ballot;
  switch (instruction.modifier(0)) {
  case CAMEO_SIM_VOTE_ANY:
    result = ballot != 0;
    break;
  case CAMEO_SIM_VOTE_ALL:
    result = ballot == lanes;
    break;
  case CAMEO_SIM_VOTE_UNI:
    result = ballot == 0 || ballot == lanes;
    break;
  default:
    break;
  }
  eachLane(lanes, [&](uint32_t l) { lane[l][2] = result; });
}

/// PTX ISA, match.sync: the lanes with the same value; with .all, all lanes or none.
void executeMatch(Instruction instruction, LaneWords lane, uint32_t lanes) {
  bool all = instruction.modifier(0);
  unsigned words = instruction.modifier(1) / 4;
  uint32_t results[kLanes] = {};
  eachLane(lanes, [&](uint32_t l) {
    eachLane(lanes, [&](uint32_t other) {
      if (!memcmp(lane[l], lane[other], 4 * words))
        results[l] |= 1u << other;
    });
  });
  eachLane(lanes, [&](uint32_t l) {
    uint32_t *result = lane[l] + words + 1;
    result[0] = all && results[l] != lanes ? 0 : results[l];
    if (all)
      result[1] = results[l] == lanes;
  });
}

/// PTX ISA, elect.sync: some lane of the mask, always the same; here the lowest.
void executeElect(Instruction, LaneWords lane, uint32_t lanes) {
  uint32_t leader = uint32_t(__builtin_ctz(lanes));
  eachLane(lanes, [&](uint32_t l) {
    lane[l][1] = leader;
    lane[l][2] = l == leader;
  });
}

/// PTX ISA, ldmatrix: lane l gets elements 2 (l mod 4) and the next of row l / 4; transposed, of
/// column l / 4. So what lanes get of one matrix, in their order, are its rows one after the other.
void executeMatrixLoad(Instruction instruction, Warp &warp, Rows rows, uint32_t site) {
  uint32_t count = instruction.modifier(0);
  bool transposed = instruction.modifier(1);
  char *places[kLanes];
  findRows(places, warp, rows, count, CAMEO_SIM_READ, site);
  for (uint32_t m = 0; m < count; ++m) {
    __m128i elements[kRows];
    for (uint32_t r = 0; r < kRows; ++r)
      elements[r] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(places[kRows * m + r]));
    if (transposed)
      turnHalves(elements);
    memcpy(rows[2 + m], elements, sizeof elements);
  }
}

/// PTX ISA, stmatrix: the inverse.
void executeMatrixStore(Instruction instruction, Warp &warp, Rows rows, uint32_t site) {
  uint32_t count = instruction.modifier(0);
  bool transposed = instruction.modifier(1);
  char *places[kLanes];
  findRows(places, warp, rows, count, CAMEO_SIM_WRITE, site);
  for (uint32_t m = 0; m < count; ++m) {
    __m128i elements[kRows];
    memcpy(elements, rows[2 + m], sizeof elements);
    if (transposed)
      turnHalves(elements);
    for (uint32_t r = 0; r < kRows; ++r)
      memcpy(places[kRows * m + r], &elements[r], kRowBytes);
  }
}

} // namespace cameo::sim
