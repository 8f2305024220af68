// Matrix products of three generations, as MLIR text: by SIMT threads, by mma.sync, by wgmma. Tests
// run them on the simulator, and a benchmark measures it with them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cameo::test {

/// Block tile tm x tn x tk; a thread has rm x rn, in groups of `group`.
struct TileShape {
  int tm, tn, tk, rm, rn, group, vector;
  std::string element = "f32";
  int threads() const { return tm / rm * (tn / rn); }
};

/// @gemm(a, b, y: pointers, m, n, k, blocks along n: i32): y = a b, all row by row, of any size.
std::string simtKernel(const TileShape &shape);

/// @gemm(a, b, y: pointers, n, k: i32): y (m x n, f32) = a (m x k, f16) b (n x k, f16) transposed,
/// for multiples of the tile; one block per tile, those of a row of tiles follow each other.
struct MatrixTile {
  int m, n, k, threads;
};

/// sm_80: ldmatrix and mma.sync.m16n8k16; 8 warps of 64 x 32.
constexpr MatrixTile kMmaTile = {128, 128, 32, 256};
std::string mmaKernel();

/// sm_90a: wgmma.m64n128k16 with both operands in shared memory, not swizzled.
constexpr MatrixTile kWgmmaTile = {64, 128, 64, 128};
std::string wgmmaKernel();

} // namespace cameo::test
