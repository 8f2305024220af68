// GPU architectures as data: what code generation, schedules and estimates may ask of a target.
//
// Everything that depends on an architecture is read from one checked table (Target.cpp); passes
// never compare architecture names. The command line's list of targets is parsed here too, because
// its meaning (which variants to compile, which files to make of each) is fixed by the table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Ptx.h"
#include "runtime/boards.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace cameo {

/// One architecture. Sizes are bytes; rates are per clock cycle and multiprocessor.
struct Target {
  llvm::StringLiteral name; // "sm_90a": also ptxas's and LLVM's name
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

  /// What schedules are chosen for and what estimates are of.
  const CameoBoard *board = nullptr;

  /// What a launch costs, in bytes of memory traffic.
  int64_t launchBytes() const;
  /// The same of the time in which a multiprocessor does so many FP32 multiply-adds.
  double bytesInTime(double multiplyAdds) const;
  /// Bytes of a kernel's parameters (PTX ISA, "Kernel Function Parameters").
  unsigned maxParameterBytes() const { return ptxVersion >= 81 ? 32764 : 4096; }
  /// "sm_90a", or "sm_90a:h200" where the board is not the architecture's first.
  std::string spelling() const;
  /// LLVM's feature string, e.g. "+ptx70".
  std::string features() const;
  /// "7.0": the PTX version as written in text.
  std::string ptxVersionText() const;
  /// CAMEO_SECTION's architecture number: 90, with CAMEO_ARCH_A for 90a.
  uint32_t archNumber() const;
  /// The shapes of mma.sync that it has; of wgmma, too, where it has those.
  llvm::SmallVector<kernel::MatrixShape> matrixShapes() const;
  /// Whether it has what compute capability `since` (10 * major + minor) brought; of what is
  /// `specific` to that architecture, no later one has anything.
  bool isAtLeast(unsigned since, bool specific) const;
  bool has(const kernel::PtxInstruction &instruction) const;
};

/// All architectures with their first boards, in ascending order.
llvm::ArrayRef<Target> knownTargets();

/// The architecture called `name`, on its first board or as "sm_90a:h200" on the one named; an
/// error lists the known ones.
llvm::Expected<const Target *> findTarget(llvm::StringRef name);

/// Checks the table against itself: order, limits that imply one another, features against compute
/// capability, PTX versions, matrix shapes.
llvm::Error checkTargets();

/// What is made of the kernels compiled for one architecture.
struct TargetVariant {
  const Target *target;
  bool boardNamed = false; // by the list; else it is the architecture's first
  bool cubin = false;
  bool ptx = false; // forward-compatible PTX text
  bool sim = false; // image for the simulator
};

/// The meaning of a list such as "sm_75,sm_80,sm_90a:h200,ptx,sim:sm_80": each architecture once,
/// in the table's order. `ptx` asks for the PTX of the highest plain architecture of the list;
/// where it has only specific ones, of the plain form of the highest (compute_90 beside sm_90a);
/// where it has none, of the oldest known. `native` stands for the GPU present. Each word may come
/// twice.
llvm::Expected<llvm::SmallVector<TargetVariant>> parseTargetSpec(llvm::StringRef text);

/// The architecture to compile for so that code runs on the first GPU of this machine, as told by
/// its driver; an error where there is no driver, no GPU, or one older than the table.
llvm::Expected<const Target *> findNativeTarget();

} // namespace cameo
