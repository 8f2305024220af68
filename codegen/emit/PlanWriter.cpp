// The layout of a plan's bytes.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/PlanWriter.h"

#include <cstring>

using namespace cameo;

uint32_t PlanWriter::string(llvm::StringRef text) {
  auto [known, isNew] = stringOffsets.try_emplace(text.str(), strings.size());
  if (isNew) {
    strings += text;
    strings += '\0';
  }
  return known->second;
}

uint32_t PlanWriter::constant(uint64_t bits) {
  auto [known, isNew] = constants.try_emplace(bits, header.register_count);
  if (isNew)
    prologue.insert(prologue.end(),
                    {CAMEO_OP_CONST | 4u << 16, newRegister(), static_cast<uint32_t>(bits),
                     static_cast<uint32_t>(bits >> 32)});
  return known->second;
}

uint32_t PlanWriter::constantDouble(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return constant(bits);
}

void PlanWriter::op(CameoOpcode opcode, llvm::ArrayRef<uint32_t> operands) {
  code.push_back(opcode | static_cast<uint32_t>(operands.size() + 1) << 16);
  code.insert(code.end(), operands.begin(), operands.end());
}

uint32_t PlanWriter::jump(uint32_t target) {
  op(CAMEO_OP_JUMP, {target});
  targets.push_back(code.size() - 1);
  return targets.back();
}

uint32_t PlanWriter::branchZero(uint32_t condition) {
  op(CAMEO_OP_BRANCH_ZERO, {condition, 0});
  targets.push_back(code.size() - 1);
  return targets.back();
}

uint32_t PlanWriter::compute(CameoOpcode opcode, llvm::ArrayRef<uint32_t> operands) {
  llvm::SmallVector<uint32_t> all = {newRegister()};
  all.append(operands.begin(), operands.end());
  op(opcode, all);
  return all.front();
}

std::vector<char> PlanWriter::finish(llvm::StringRef name) {
  op(CAMEO_OP_END, {});
  for (uint32_t at : targets)
    code[at] += prologue.size();
  code.insert(code.begin(), prologue.begin(), prologue.end());
  header.magic = CAMEO_PLAN_MAGIC;
  header.name = string(name);
  header.input_count = inputs.size();
  header.output_count = outputs.size();
  header.tap_count = taps.size();
  header.dim_count = dims.size();
  header.kernel_count = kernels.size();
  header.arg_count = argTypes.size();
  header.code_words = code.size();
  header.string_bytes = strings.size();
  std::vector<CameoPlanTensor> tensors = inputs;
  tensors.insert(tensors.end(), outputs.begin(), outputs.end());
  tensors.insert(tensors.end(), taps.begin(), taps.end());

  std::vector<char> bytes;
  auto append = [&](const void *data, size_t size) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    const char *begin = static_cast<const char *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  append(&header, sizeof header);
  append(tensors.data(), tensors.size() * sizeof(CameoPlanTensor));
  append(dims.data(), dims.size() * sizeof(CameoPlanDim));
  append(kernels.data(), kernels.size() * sizeof(CameoPlanKernel));
  append(argTypes.data(), argTypes.size() * sizeof(uint32_t));
  append(code.data(), code.size() * sizeof(uint32_t));
  append(strings.data(), strings.size());
  return bytes;
}
