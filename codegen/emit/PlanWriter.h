// Tables, registers and code of a launch plan under construction.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/format.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <vector>

namespace cameo {

class PlanWriter {
public:
  /// A string's offset; each string is stored once.
  uint32_t string(llvm::StringRef text);
  uint32_t newRegister() { return header.register_count++; }
  uint32_t newBuffer() { return header.buffer_count++; }
  /// A register that holds the bits, set in front of all other code.
  uint32_t constant(uint64_t bits);
  uint32_t constantDouble(double value);
  void op(CameoOpcode opcode, llvm::ArrayRef<uint32_t> operands);
  /// The place that the next instruction gets, as a target of jumps.
  uint32_t here() const { return code.size(); }
  /// A jump, whose target may be given later.
  uint32_t jump(uint32_t target = 0);
  uint32_t branchZero(uint32_t condition);
  /// Lets the jump go to the next instruction.
  void land(uint32_t jump) { code[jump] = here(); }
  /// A new register with the opcode's result.
  uint32_t compute(CameoOpcode opcode, llvm::ArrayRef<uint32_t> operands);

  std::vector<char> finish(llvm::StringRef name);

  std::vector<CameoPlanTensor> inputs, outputs, taps;
  std::vector<CameoPlanDim> dims;
  std::vector<CameoPlanKernel> kernels;
  std::vector<uint32_t> argTypes;

private:
  CameoPlanHeader header = {};
  std::vector<uint32_t> prologue, code;
  std::vector<uint32_t> targets; // places in the code that say where a jump goes
  std::string strings;
  std::map<std::string, uint32_t> stringOffsets;
  std::map<uint64_t, uint32_t> constants;
};

} // namespace cameo
