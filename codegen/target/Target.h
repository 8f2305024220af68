// What code is for: an architecture and a board with it.
//
// All that depends on an architecture is read from one checked table (Architecture.cpp), all that
// depends on a board from another (runtime/boards.h); passes never compare names. In the IR a
// target is the attribute #rt.target of its variant. The command line's list of targets is parsed
// here too, because its meaning (which variants to compile, which files to make of each) is fixed
// by the table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Architecture.h"
#include "runtime/boards.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace cameo {

namespace rt {
class TargetAttr;
} // namespace rt

/// What kernels are compiled for: an architecture, and a board with it.
struct Target : Architecture {
  Target(const Architecture &architecture, const CameoBoard &board)
      : Architecture(architecture), board(&board) {}

  /// What schedules are chosen for and what estimates are of; of runtime/boards.h.
  const CameoBoard *board;

  /// Multiply-adds a clock cycle and multiprocessor.
  const CameoRates &rates() const;
  /// How long things take of which no data sheet says it.
  const CameoTiming &timing() const;
  /// Bytes that kernels move from and to memory in a microsecond.
  double memoryRate() const;
  /// What a launch costs, in bytes of memory traffic.
  int64_t launchBytes() const;
  /// The same of the time in which a multiprocessor does so many FP32 multiply-adds.
  double bytesInTime(double multiplyAdds) const;
  rt::TargetAttr attribute(mlir::MLIRContext *context) const;
  /// As on the command line: "sm_90a", or "sm_90a:h200" where the board is not the first.
  std::string spelling() const;
};

/// All architectures with their first boards, in ascending order.
llvm::ArrayRef<Target> knownTargets();

/// The architecture called `name`, on its first board or as "sm_90a:h200" on the one named; an
/// error lists the known ones.
llvm::Expected<const Target *> findTarget(llvm::StringRef name);

/// The target that an attribute names; an error where the architecture is not in the table.
llvm::Expected<const Target *> findTarget(rt::TargetAttr target);

/// Checks the tables: order, limits that imply one another, features against compute
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
