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
  /// A register that holds the bits, set where it is first asked for. Plans have no loops around
  /// that place.
  uint32_t constant(uint64_t bits);
  uint32_t constantDouble(double value);
  void op(CameoOpcode opcode, llvm::ArrayRef<uint32_t> operands);
  /// A new register with the opcode's result.
  uint32_t compute(CameoOpcode opcode, llvm::ArrayRef<uint32_t> operands);

  std::vector<char> finish(llvm::StringRef name);

  std::vector<CameoPlanTensor> inputs, outputs, taps;
  std::vector<CameoPlanDim> dims;
  std::vector<CameoPlanKernel> kernels;
  std::vector<uint32_t> argTypes;

private:
  CameoPlanHeader header = {};
  std::vector<uint32_t> code;
  std::string strings;
  std::map<std::string, uint32_t> stringOffsets;
  std::map<uint64_t, uint32_t> constants;
};

} // namespace cameo
