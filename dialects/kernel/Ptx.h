// What `kernel.ptx` instructions are: operands and results, how PTX writes them, and how the
// simulator's engine is called for them. The one table of instructions; docs/simulator/instructions.md
// lists them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/sim/instructions.h"

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace cameo::kernel {

/// The register or address that an operand or result is.
enum class PtxType : uint8_t { B16, B32, B64, F32, F64, Predicate, Shared, Global };

/// "a 32-bit register", ...
llvm::StringRef describe(PtxType type);
/// Whether a value of the llvm dialect's `type` can be such an operand.
bool accepts(PtxType ptx, mlir::Type type);

/// One shape of mma.sync, or of wgmma, where n is the largest that the instruction takes. Types are
/// CameoSimType. PTX ISA, "Matrix multiply-accumulate operation using mma" and "Asynchronous
/// Warpgroup Level Matrix Instructions".
struct MatrixShape {
  unsigned m, n, k;
  uint8_t a, b, accumulator;
  unsigned since;          // as PtxInstruction's
  unsigned ptxVersion = 0; // likewise
  bool isWarpgroup() const { return m == 64; }
};
/// All of them but sub-byte and 1-bit shapes, and those that hardware emulates (m8n8k4 of f16).
llvm::ArrayRef<MatrixShape> matrixShapes();

struct PtxInstruction {
  CameoSimOpcode opcode = CAMEO_SIM_OP_NONE;
  /// Of the engine's instruction code; see instructions.h.
  llvm::SmallVector<uint8_t, 7> modifiers;
  llvm::SmallVector<PtxType> operands, results;
  /// The statement, with $n for results and then operands.
  std::string text;
  /// Of a collective one, the operand that says which lanes execute it; -1: all.
  int mask = -1;
  /// How many lanes' operands count, the first ones.
  unsigned lanes = 32;
  /// The last operands are the first results' former values: one register each. They count only
  /// where the operand before them is true.
  unsigned tied = 0;
  /// The first architecture that has it: 10 * major + minor; and of its like only those with an
  /// 'a', whose code runs on no other.
  unsigned since = 75;
  bool archSpecific = false;
  /// The first PTX ISA that has it, 10 * major + minor, where that is a later one than the
  /// architecture's first; else 0.
  unsigned ptxVersion = 0;

  /// See CameoSimFact.
  bool isCollective() const { return cameoSimFacts(opcode) & CAMEO_SIM_COLLECTIVE; }
  bool blocks() const { return cameoSimFacts(opcode) & CAMEO_SIM_BLOCKS; }
  bool isPure() const { return cameoSimFacts(opcode) & CAMEO_SIM_PURE; }

  uint64_t code() const {
    uint64_t code = opcode;
    for (auto [index, modifier] : llvm::enumerate(modifiers))
      code |= uint64_t(modifier) << 8 * (index + 1);
    return code;
  }
};

/// Reads `text`, an opcode of PTX with all its qualifiers, then immediate operands after a space:
/// "cp.async.cg.shared.global 16". Some instructions have optional operands: `operands` is how
/// many there are. On failure says in `error` what is wrong.
mlir::FailureOr<PtxInstruction> parsePtxInstruction(llvm::StringRef text, unsigned operands,
                                                    std::string &error);

} // namespace cameo::kernel
