// Tensor maps: the limits are those of the CUDA driver API, "Tensor Map Object Management".
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/isa/tensor_map.h"

#include <cstring>

namespace cameo::sim {
namespace {

constexpr uint32_t kMagic = 0x504d5443; // "CTMP"
constexpr uint32_t kSpans[] = {0, 32, 64, 128};

struct Encoded {
  uint32_t magic;
  uint8_t type, rank, swizzle, flags; // 1: NaN, 2: im2col
  uint64_t address;
  uint32_t lastIndices[5]; // sizes go up to 2^32
  uint16_t box[5];         // or, im2col: channels, pixels
  uint8_t steps[5];
  int8_t corners[6];
  uint8_t padding[3];
  uint64_t strides[4];
};
static_assert(sizeof(Encoded) <= 128, "a tensor map has 128 bytes");

} // namespace

uint32_t tensorElementBytes(uint32_t type) {
  static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type < sizeof bytes ? bytes[type] : 0;
}

const char *encodeTensorMap(const TensorMapParameters &parameters, void *map) {
  const TensorMapParameters &p = parameters;
  uint32_t bytes = tensorElementBytes(p.type);
  if (!bytes)
    return "a tensor map has no such element type";
  if (p.rank < (p.im2col ? 3 : 1) || p.rank > 5)
    return p.im2col ? "an im2col tensor map has 3 to 5 dimensions"
                    : "a tensor map has 1 to 5 dimensions";
  if (reinterpret_cast<uintptr_t>(p.address) % 16)
    return "a tensor map's address is a multiple of 16";
  if (p.swizzle > 3)
    return "a tensor map has no such swizzle";
  Encoded encoded{};
  encoded.magic = kMagic;
  encoded.type = uint8_t(p.type);
  encoded.rank = uint8_t(p.rank);
  encoded.swizzle = uint8_t(p.swizzle);
  encoded.flags = uint8_t(p.fillsNan | p.im2col << 1);
  encoded.address = reinterpret_cast<uintptr_t>(p.address);
  for (uint32_t d = 0; d < p.rank; ++d) {
    if (!p.sizes[d] || p.sizes[d] > 1ull << 32)
      return "sizes in a tensor map go from 1 to 2^32";
    if (!p.steps[d] || p.steps[d] > 8)
      return "element strides in a tensor map go from 1 to 8";
    if (!p.im2col && (!p.box[d] || p.box[d] > 256))
      return "box sizes in a tensor map go from 1 to 256";
    if (d && (p.strides[d - 1] % 16 || p.strides[d - 1] >= 1ull << 40))
      return "strides in a tensor map are multiples of 16 below 2^40";
    encoded.lastIndices[d] = uint32_t(p.sizes[d] - 1);
    encoded.steps[d] = uint8_t(p.steps[d]);
    encoded.box[d] = uint16_t(p.box[d]);
    if (d)
      encoded.strides[d - 1] = p.strides[d - 1];
  }
  uint32_t inner = (p.im2col ? p.channels : (p.box[0] + p.steps[0] - 1) / p.steps[0]) * bytes;
  if (!inner || inner % 16)
    return "a box's inner dimension in a tensor map is a multiple of 16 bytes";
  if (p.swizzle && inner > kSpans[p.swizzle])
    return "a box's inner dimension in a tensor map is longer than its swizzle";
  if (p.im2col) {
    if (p.channels > 256 || !p.pixels || p.pixels > 1024)
      return "a column in a tensor map has up to 256 channels and 1024 pixels";
    encoded.box[0] = uint16_t(p.channels);
    encoded.box[1] = uint16_t(p.pixels);
    for (int d = 0; d < 3; ++d) {
      if (p.lower[d] < -128 || p.lower[d] > 127 || p.upper[d] < -128 || p.upper[d] > 127)
        return "corners of a tensor map's pixel box go from -128 to 127";
      encoded.corners[d] = int8_t(p.lower[d]);
      encoded.corners[3 + d] = int8_t(p.upper[d]);
    }
  }
  memset(map, 0, 128);
  memcpy(map, &encoded, sizeof encoded);
  return nullptr;
}

bool decodeTensorMap(const void *map, TensorMapParameters &p) {
  Encoded encoded;
  memcpy(&encoded, map, sizeof encoded);
  if (encoded.magic != kMagic)
    return false;
  p.type = encoded.type;
  p.rank = encoded.rank;
  p.swizzle = encoded.swizzle;
  p.fillsNan = encoded.flags & 1;
  p.im2col = encoded.flags & 2;
  p.address = reinterpret_cast<void *>(encoded.address);
  for (uint32_t d = 0; d < 5; ++d) {
    p.sizes[d] = uint64_t(encoded.lastIndices[d]) + 1;
    p.steps[d] = encoded.steps[d];
    p.box[d] = encoded.box[d];
    if (d < 4)
      p.strides[d] = encoded.strides[d];
  }
  p.channels = encoded.box[0];
  p.pixels = encoded.box[1];
  for (int d = 0; d < 3; ++d) {
    p.lower[d] = encoded.corners[d];
    p.upper[d] = encoded.corners[3 + d];
  }
  return true;
}

} // namespace cameo::sim
