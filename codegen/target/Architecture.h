// GPU architectures as data: what code generation and schedules may ask of one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Ptx.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace cameo {

/// What all boards with an architecture have in common. Sizes are bytes.
struct Architecture {
  llvm::StringLiteral name; // "sm_90a": also ptxas's name
  unsigned major, minor;    // compute capability
  bool archSpecific;        // 'a': its PTX runs on this very architecture alone
  unsigned ptxVersion;      // 10 * major + minor of the PTX ISA that is written

  // Limits (CUDA C++ Programming Guide, "Compute Capabilities", technical specifications).
  unsigned staticSharedPerBlock;
  unsigned maxSharedPerBlock; // with the opt-in for dynamic shared memory
  unsigned sharedPerSm;
  unsigned registersPerSm;
  unsigned maxRegistersPerThread;
  unsigned maxThreadsPerBlock;
  unsigned maxThreadsPerSm;
  unsigned maxWarpsPerSm;
  unsigned maxBlocksPerSm;

  // Instructions.
  bool asyncCopy; // cp.async
  bool bf16;      // bf16 conversions and matrix instructions
  bool nanMinMax; // min.NaN, max.NaN on f32 and 16-bit floats
  bool redux;     // redux.sync
  bool mbarrier;  // mbarrier.*
  bool tma;       // cp.async.bulk.tensor, clusters
  bool wgmma;     // wgmma.mma_async, setmaxnreg

  /// Bytes of a kernel's parameters (PTX ISA, "Kernel Function Parameters").
  unsigned maxParameterBytes() const { return ptxVersion >= 81 ? 32764 : 4096; }
  /// Blocks of a cluster at most. Eight are portable; the sixteen of Hopper ("Hopper Tuning Guide", "Thread
  /// Block Clusters") are not, so that code which later GPUs may run, too, has eight.
  unsigned clusterBlocks() const;
  /// Compute capability: 90 for sm_90 and sm_90a.
  unsigned capability() const { return 10 * major + minor; }
  /// What LLVM writes code as for: this architecture, or the newest one before it that LLVM knows,
  /// whose instructions it has, too. The text gets its own name and PTX version afterwards.
  llvm::StringRef llvmName() const;
  /// LLVM's feature string for that, e.g. "+ptx70".
  std::string features() const;
  unsigned llvmPtxVersion() const;
  /// "7.0": the PTX version as written in text.
  std::string ptxVersionText() const;
  /// 10 * major + minor of the CUDA version that brought this PTX, which ptxas and drivers have to be of, or newer.
  unsigned cudaVersion() const;
  /// CAMEO_SECTION's architecture number: 90, with CAMEO_ARCH_A for 90a.
  uint32_t archNumber() const;
  /// The shapes of mma.sync that it has; of wgmma, too, where it has those.
  llvm::SmallVector<kernel::MatrixShape> matrixShapes() const;
  /// Whether it has what compute capability `since` (10 * major + minor) brought; of what is
  /// `specific` to that architecture, no later one has anything.
  bool isAtLeast(unsigned since, bool specific) const;
  bool has(const kernel::PtxInstruction &instruction) const;
};

/// All architectures, in ascending order.
llvm::ArrayRef<Architecture> knownArchitectures();

} // namespace cameo
