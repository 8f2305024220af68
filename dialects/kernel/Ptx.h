// What `kernel.ptx` instructions are: operands and results, how PTX writes them, and how the
// simulator's engine is told of them. The one table of instructions; docs/simulator.md lists them.
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

struct PtxInstruction {
  CameoSimOpcode opcode = CAMEO_SIM_OP_NONE;
  /// Of the engine's instruction code; see instructions.h.
  llvm::SmallVector<uint8_t, 7> modifiers;
  llvm::SmallVector<PtxType> operands, results;
  /// The statement, with $n for results and then operands.
  std::string text;
  /// The lanes of a warp execute it together. `mask`: the operand that says which; -1: all.
  bool collective = false;
  int mask = -1;
  /// It may wait for other threads without being collective.
  bool blocks = false;
  /// Its results depend on its operands alone.
  bool pure = false;
  /// The last operands are the first results' former values: one register each.
  unsigned tied = 0;
  /// The first architecture that has it: 10 * major + minor.
  unsigned since = 75;

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
