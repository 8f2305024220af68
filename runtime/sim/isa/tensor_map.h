// Tensor maps of the simulator: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make for a
// GPU, in the same 128 opaque bytes. Numbers of types, swizzles and fills are the driver's.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_SIM_TENSOR_MAP_H
#define CAMEO_SIM_TENSOR_MAP_H

#include <cstdint>

namespace cameo::sim {

/// The driver's parameters; dimension 0 is the fastest.
struct TensorMapParameters {
  uint32_t type = 0; // CUtensorMapDataType
  uint32_t rank = 0; // 1 to 5
  void *address = nullptr;
  uint64_t sizes[5] = {1, 1, 1, 1, 1};
  uint64_t strides[4] = {0, 0, 0, 0};  // bytes, of dimensions 1 on
  uint32_t box[5] = {1, 1, 1, 1, 1};   // tiled
  uint32_t steps[5] = {1, 1, 1, 1, 1}; // "element strides"
  uint32_t swizzle = 0;                // CUtensorMapSwizzle: none, 32, 64, 128 bytes
  bool fillsNan = false;               // outside of the tensor; else zero
  bool im2col = false;
  int32_t lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0}; // corners of the pixel box
  uint32_t channels = 0, pixels = 0;                  // a column
};

/// Writes the map to 128 bytes at `map`, 64-byte aligned. Null, or what is not allowed.
const char *encodeTensorMap(const TensorMapParameters &parameters, void *map);

/// Bytes of an element; 0: no such type.
uint32_t tensorElementBytes(uint32_t type);

/// Reads a map that encodeTensorMap() wrote; false if it is not one.
bool decodeTensorMap(const void *map, TensorMapParameters &parameters);

} // namespace cameo::sim

#endif
