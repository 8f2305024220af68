// Validates a plan's code: instruction lengths, register, buffer, string, tensor and kernel
// numbers, jump targets. What depends on values (sizes, defined buffers) is checked when it runs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/patterns.h"
#include "runtime/core/plan.h"

namespace cameo::runtime {
namespace {

struct Pattern {
  uint32_t opcode;
  const char *operands;
};

constexpr Pattern kPatterns[] = {
    {CAMEO_OP_END, ""},
    {CAMEO_OP_CONST, "Rww"},
    {CAMEO_OP_MOVE, "Rr"},
    {CAMEO_OP_DIM, "Riw"},
    {CAMEO_OP_LOAD, "Rhr"},
    {CAMEO_OP_JUMP, "t"},
    {CAMEO_OP_BRANCH_ZERO, "rt"},
    {CAMEO_OP_SELECT, "Rrrr"},
    {CAMEO_OP_FFLOOR, "Rr"},
    {CAMEO_OP_FCEIL, "Rr"},
    {CAMEO_OP_FROUND_EVEN, "Rr"},
    {CAMEO_OP_FROUND_F32, "Rr"},
    {CAMEO_OP_INT_TO_FLOAT, "Rr"},
    {CAMEO_OP_FLOAT_TO_INT, "Rr"},
    {CAMEO_OP_CHECK, "rsrr"},
    {CAMEO_OP_OUTPUT_SHAPE, "on*"},
    {CAMEO_OP_OUTPUT_BOUND, "on*"},
    {CAMEO_OP_ARENA_SIZE, "r"},
    {CAMEO_OP_ARENA_REQUEST, "Rrww"},
    {CAMEO_OP_ARENA_LAYOUT, "RRR"},
    {CAMEO_OP_ARENA_USE, "rr"},
    {CAMEO_OP_BUF_ARENA, "Brr"},
    {CAMEO_OP_BUF_WEIGHT, "Bwwww"},
    {CAMEO_OP_BUF_INPUT, "Bi"},
    {CAMEO_OP_BUF_OUTPUT, "Bo"},
    {CAMEO_OP_CAPACITY, "Rir"},
    {CAMEO_OP_BUF_STATE, "Bir"},
    {CAMEO_OP_BUF_RANDOM, "B"},
    {CAMEO_OP_LAUNCH, "krrrr*"},
    {CAMEO_OP_COPY, "bbr"},
    {CAMEO_OP_WRITE, "bdn*"},
    {CAMEO_OP_FETCH, "bdrn+"},
    {CAMEO_OP_NODES, "s"},
    {CAMEO_OP_WORK, "rr"},
    {CAMEO_OP_BUF_NAME, "bs"},
    {CAMEO_OP_BUF_PART, "Bbrr"},
    {CAMEO_OP_TAP, "pbn*"},
};

Status bad(uint32_t word, const char *what, uint64_t value, uint64_t limit) {
  return failure(Code::Corrupt, "damaged launch plan: word %u: %s %llu; there are %llu", word, what,
                 (unsigned long long)value, (unsigned long long)limit);
}

} // namespace

const char *operandPattern(uint32_t opcode) {
  if ((opcode >= CAMEO_OP_ADD && opcode <= CAMEO_OP_LE) ||
      (opcode >= CAMEO_OP_WRAP_ADD && opcode <= CAMEO_OP_REM_UNSIGNED) ||
      (opcode >= CAMEO_OP_FADD && opcode <= CAMEO_OP_FLE))
    return "Rrr";
  for (const Pattern &pattern : kPatterns)
    if (pattern.opcode == opcode)
      return pattern.operands;
  return nullptr;
}

/// An instruction as it stands in the code.
struct Plan::CodeInstruction {
  uint32_t at; // of the code's words
  uint32_t opcode;
  const uint32_t *operands;
  uint32_t count;
  uint32_t used = 0; // operands that the pattern has a letter for
  uint32_t tail = 0; // how many follow them, by what they say
};

Status Plan::validateOperand(const CodeInstruction &instruction, char kind, uint32_t value) const {
  auto below = [&](const char *what, size_t limit) {
    return value < limit ? Status() : bad(instruction.at, what, value, limit);
  };
  switch (kind) {
  case 'r':
  case 'R':
    return below("register", registers);
  case 'b':
  case 'B':
    return below("buffer", buffers);
  case 's':
    return checkString(value, "a text");
  case 'i':
    return below("input", inputList.size());
  case 'h':
    CAMEO_RETURN_IF_ERROR(below("input", inputList.size()));
    if (inputList[value].flags & CAMEO_TENSOR_HOST)
      return {};
    return failure(Code::Corrupt,
                   "damaged launch plan: word %u reads input '%s', which is not on the host",
                   instruction.at, inputList[value].name);
  case 'o':
    return below("output", outputList.size());
  case 'p':
    return below("tap", tapList.size());
  case 'k':
    return below("kernel", kernelList.size());
  case 'd':
    if (dtypeBits(value) && !isComplex(value))
      return {};
    return failure(Code::Corrupt, "damaged launch plan: word %u has values of element type %u",
                   instruction.at, value);
  default:
    return {};
  }
}

/// What follows the operands that the pattern has a letter for.
Status Plan::validateTail(const CodeInstruction &instruction, char kind) const {
  const uint32_t *rest = instruction.operands + instruction.used;
  uint32_t restCount = instruction.count - instruction.used, at = instruction.at;
  if (instruction.opcode == CAMEO_OP_LAUNCH) {
    const PlanKernel &kernel = kernelList[instruction.operands[0]];
    if (restCount != kernel.argCount)
      return bad(at, "kernel operands", restCount, kernel.argCount);
    for (uint32_t i = 0; i < restCount; ++i) {
      uint32_t limit = kernel.argTypes[i] == CAMEO_ARG_BUFFER ? buffers : registers;
      if (rest[i] >= limit)
        return bad(at, "kernel operand", rest[i], limit);
    }
    return {};
  }
  if (!kind)
    return restCount ? bad(at, "operands:", instruction.count, instruction.used) : Status();
  if (restCount != instruction.tail)
    return bad(at, "operands in the tail:", restCount, instruction.tail);
  for (uint32_t i = 0; i < restCount; ++i)
    CAMEO_RETURN_IF_ERROR(validateOperand(instruction, 'r', rest[i]));
  return {};
}

/// What goes by more than one operand.
Status Plan::validateMeaning(const CodeInstruction &instruction, uint64_t weightBytes) const {
  const uint32_t *operands = instruction.operands;
  uint32_t at = instruction.at, tail = instruction.tail;
  switch (instruction.opcode) {
  case CAMEO_OP_DIM:
    if (operands[2] >= inputList[operands[1]].dims.size())
      return bad(at, "dimension", operands[2], inputList[operands[1]].dims.size());
    return {};
  case CAMEO_OP_LOAD:
    if (isComplex(inputList[operands[1]].dtype))
      return failure(Code::Corrupt, "damaged launch plan: word %u reads a complex input", at);
    return {};
  case CAMEO_OP_FETCH:
    if (dtypeBits(operands[1]) < 8)
      return failure(Code::Corrupt,
                     "damaged launch plan: word %u fetches elements of %u bits; 8 at least", at,
                     dtypeBits(operands[1]));
    if (!tail)
      return failure(Code::Corrupt, "damaged launch plan: word %u fetches nothing", at);
    return {};
  case CAMEO_OP_OUTPUT_SHAPE:
  case CAMEO_OP_OUTPUT_BOUND:
    if (tail != outputList[operands[0]].dims.size())
      return bad(at, "sizes of an output:", tail, outputList[operands[0]].dims.size());
    return {};
  case CAMEO_OP_TAP:
    if (tail < tapList[operands[0]].dims.size())
      return bad(at, "sizes of a tap:", tail, tapList[operands[0]].dims.size());
    return {};
  case CAMEO_OP_CAPACITY:
    if (!inputList[operands[1]].isInPlace() || inputList[operands[1]].growing == PlanTensor::kNone)
      return failure(Code::Corrupt,
                     "damaged launch plan: word %u: input '%s' does not grow in place", at,
                     inputList[operands[1]].name);
    return {};
  case CAMEO_OP_BUF_STATE:
  case CAMEO_OP_BUF_INPUT: {
    bool isState = instruction.opcode == CAMEO_OP_BUF_STATE;
    const PlanTensor &input = inputList[operands[1]];
    if (isState != input.isInPlace())
      return failure(Code::Corrupt, "damaged launch plan: word %u: input '%s' is %s state in place",
                     at, input.name, isState ? "no" : "a");
    return {};
  }
  case CAMEO_OP_BUF_WEIGHT: {
    uint64_t offset = operands[1] | uint64_t(operands[2]) << 32;
    uint64_t bytes = operands[3] | uint64_t(operands[4]) << 32;
    if (offset > weightBytes || bytes > weightBytes - offset)
      return bad(at, "weight bytes at", offset, weightBytes);
    return {};
  }
  default:
    return {};
  }
}

Status Plan::validateCode(uint64_t weightBytes, uint32_t version) const {
  std::vector<bool> starts(wordCount, false);
  std::vector<uint32_t> targets;
  uint32_t last = CAMEO_OP_CONST;
  for (uint32_t at = 0; at < wordCount;) {
    uint32_t opcode = words[at] & 0xffff, length = words[at] >> 16;
    const char *pattern = operandPattern(opcode);
    if (opcode == CAMEO_OP_ATTRIBUTE || opcode == CAMEO_OP_TENSOR_MAP)
      return failure(Code::Incompatible,
                     "launch plan, word %u: asks for %s, which this runtime does not know yet", at,
                     opcode == CAMEO_OP_ATTRIBUTE ? "an attribute of the device" : "a tensor map");
    if (!pattern)
      return failure(Code::Corrupt, "damaged launch plan: word %u: unknown instruction %u", at,
                     opcode);
    if (version < 5 && (opcode == CAMEO_OP_FETCH || opcode == CAMEO_OP_OUTPUT_BOUND ||
                        opcode == CAMEO_OP_BUF_RANDOM))
      return failure(Code::Corrupt,
                     "damaged launch plan: word %u: instruction %u is of payload version 5; the "
                     "file has version %u",
                     at, opcode, version);
    if (!length || length > wordCount - at)
      return bad(at, "instruction of length", length, wordCount - at);
    starts[at] = true;
    last = opcode;
    CodeInstruction instruction{at, opcode, words + at + 1, length - 1};
    uint32_t &used = instruction.used;
    for (; *pattern && *pattern != '*' && *pattern != '+'; ++pattern, ++used) {
      if (used >= instruction.count)
        return bad(at, "operand", used, instruction.count);
      uint32_t value = instruction.operands[used];
      CAMEO_RETURN_IF_ERROR(validateOperand(instruction, *pattern, value));
      if (*pattern == 't')
        targets.push_back(value);
      else if (*pattern == 'n')
        instruction.tail = value;
    }
    CAMEO_RETURN_IF_ERROR(validateTail(instruction, *pattern));
    CAMEO_RETURN_IF_ERROR(validateMeaning(instruction, weightBytes));
    at += length;
  }
  // Code that falls off its end would read past it.
  if (last != CAMEO_OP_END && last != CAMEO_OP_JUMP)
    return failure(Code::Corrupt, "damaged launch plan: its code does not end");
  for (uint32_t target : targets)
    if (target >= wordCount || !starts[target])
      return bad(target, "jump to", target, wordCount);
  return {};
}

} // namespace cameo::runtime
