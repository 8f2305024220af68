// Machine code of kernels, read back: which instructions the main loop has, and what bounds them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/target/Target.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace cameo::sass {

/// What an instruction takes a slot for.
enum class Kind {
  Matrix,      // HMMA, IMMA, HGMMA, ...
  MultiplyAdd, // FFMA, HFMA2, DFMA
  LoadMatrix,  // LDSM
  LoadShared,
  StoreShared,
  AsyncCopy, // LDGSTS, bulk and tensor copies
  LoadGlobal,
  StoreGlobal,
  Local,   // LDL, STL: spills, and arrays that a kernel indexes
  Float,   // other floating-point arithmetic and conversions
  Integer, // and moves, predicates, addresses
  Uniform, // the uniform datapath
  Barrier, // barriers, and waits for asynchronous copies
  Branch,
  Nop, // and what is never executed
  Other
};
constexpr size_t kKinds = size_t(Kind::Other) + 1;
llvm::StringRef kindName(Kind kind);

struct Instruction {
  uint64_t address = 0;
  std::string text;   // "@!P0 LDS.128 R4, [R2+0x10]"
  std::string opcode; // "LDS.128"
  Kind kind = Kind::Other;
  /// The least cycles until the warp may issue its next instruction.
  unsigned stall = 0;
  std::optional<uint64_t> target; // of a branch

  /// Bytes a thread that an access is of, by its opcode: 4 where that says nothing. 0: no access.
  unsigned accessBytes() const;
  /// Multiply-adds of a matrix instruction of a warp, by its opcode; 0: none, or not known.
  unsigned matrixMultiplyAdds() const;
};

struct Kernel {
  std::string name;
  unsigned registers = 0, threads = 0, sharedBytes = 0; // shared: static
  std::vector<Instruction> instructions;
};

/// Instructions `begin` to `end`, which is behind the branch back.
struct Loop {
  size_t begin, end;
};

/// Kernels of ELF files that ptxas wrote for one target, in their order, by one run of nvdisasm.
llvm::Expected<std::vector<Kernel>> disassemble(llvm::ArrayRef<std::vector<char>> cubins,
                                                const Target &target, llvm::StringRef nvdisasm);

/// Instructions of what `nvdisasm --binary -hex` prints.
llvm::Expected<std::vector<Instruction>> parse(llvm::StringRef text);

/// The innermost loop with the most matrix instructions; where there are none, with the most
/// multiply-adds. Nothing where no loop has any.
std::optional<Loop> mainLoop(llvm::ArrayRef<Instruction> instructions);

/// What one warp does in one turn of a loop.
struct LoopCounts {
  std::array<unsigned, kKinds> ofKind{};
  unsigned slots = 0;
  unsigned stall = 0; // sum of all: the least cycles of a turn, had a warp the machine alone
  uint64_t matrixMultiplyAdds = 0;
  unsigned sharedWavefronts = 0;             // of accesses without conflicts
  std::array<unsigned, kKinds> wideOfKind{}; // accesses of 16 bytes

  unsigned of(Kind kind) const { return ofKind[size_t(kind)]; }
};
LoopCounts count(llvm::ArrayRef<Instruction> instructions, Loop loop);

/// Blocks of a kernel that a multiprocessor has room for (CUDA C++ Programming Guide, "Compute
/// Capabilities"; registers are given out by warp in units of 256, in each of four partitions).
unsigned blocksPerMultiprocessor(const Target &target, unsigned threads, unsigned registers,
                                 unsigned sharedBytes);

/// What a turn of the main loop takes at least, of all warps that a multiprocessor has room for.
struct Bound {
  double percent = 0; // of the peak of what multiplies
  llvm::StringRef
      resource;          // that is busy longest: "arithmetic", "issue", "shared memory", "stalls"
  double arithmetic = 0; // cycles of a multiprocessor for what one warp multiplies
};
/// Nothing where the loop has none of what the target has a rate for.
std::optional<Bound> boundOf(const LoopCounts &counts, llvm::ArrayRef<Instruction> instructions,
                             Loop loop, const Target &target, unsigned warps);

} // namespace cameo::sass
