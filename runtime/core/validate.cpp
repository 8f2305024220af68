// Validates a plan's code: instruction lengths, register, buffer, string, tensor and kernel
// numbers, jump targets. What depends on values (sizes, defined buffers) is checked when it runs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/plan.h"

namespace cameo::runtime {
namespace {

// How the fixed operands of an opcode are to be read; a letter a word. Variable tails are checked
// by hand.
//   r register  b buffer  s string  w any word  i input  h host-resident input  o output  p tap
//   k kernel  t jump target  d element type  n count of the tail  * tail
struct Pattern {
  uint32_t opcode;
  const char *operands;
};

constexpr Pattern kPatterns[] = {
    {CAMEO_OP_END, ""},
    {CAMEO_OP_CONST, "rww"},
    {CAMEO_OP_MOVE, "rr"},
    {CAMEO_OP_DIM, "riw"},
    {CAMEO_OP_LOAD, "rhr"},
    {CAMEO_OP_JUMP, "t"},
    {CAMEO_OP_BRANCH_ZERO, "rt"},
    {CAMEO_OP_SELECT, "rrrr"},
    {CAMEO_OP_FFLOOR, "rr"},
    {CAMEO_OP_FCEIL, "rr"},
    {CAMEO_OP_FROUND_EVEN, "rr"},
    {CAMEO_OP_FROUND_F32, "rr"},
    {CAMEO_OP_INT_TO_FLOAT, "rr"},
    {CAMEO_OP_FLOAT_TO_INT, "rr"},
    {CAMEO_OP_CHECK, "rsrr"},
    {CAMEO_OP_OUTPUT_SHAPE, "on*"},
    {CAMEO_OP_ARENA_SIZE, "r"},
    {CAMEO_OP_ARENA_REQUEST, "rrww"},
    {CAMEO_OP_ARENA_LAYOUT, "rrr"},
    {CAMEO_OP_ARENA_USE, "rr"},
    {CAMEO_OP_BUF_ARENA, "brr"},
    {CAMEO_OP_BUF_WEIGHT, "bwwww"},
    {CAMEO_OP_BUF_INPUT, "bi"},
    {CAMEO_OP_BUF_OUTPUT, "bo"},
    {CAMEO_OP_LAUNCH, "krrrr*"},
    {CAMEO_OP_COPY, "bbr"},
    {CAMEO_OP_WRITE, "bdn*"},
    {CAMEO_OP_NODES, "s"},
    {CAMEO_OP_WORK, "rr"},
    {CAMEO_OP_BUF_NAME, "bs"},
    {CAMEO_OP_BUF_PART, "bbrr"},
    {CAMEO_OP_TAP, "pbn*"},
};

const char *patternOf(uint32_t opcode) {
  if ((opcode >= CAMEO_OP_ADD && opcode <= CAMEO_OP_LE) ||
      (opcode >= CAMEO_OP_FADD && opcode <= CAMEO_OP_FLE))
    return "rrr";
  for (const Pattern &pattern : kPatterns)
    if (pattern.opcode == opcode)
      return pattern.operands;
  return nullptr;
}

Status bad(uint32_t word, const char *what, uint64_t value, uint64_t limit) {
  return failure(Code::Corrupt, "damaged launch plan: word %u: %s %llu; there are %llu", word, what,
                 (unsigned long long)value, (unsigned long long)limit);
}

} // namespace

Status Plan::validateCode(uint64_t weightBytes) const {
  std::vector<bool> starts(wordCount, false);
  std::vector<uint32_t> targets;
  uint32_t last = CAMEO_OP_CONST;
  for (uint32_t at = 0; at < wordCount;) {
    uint32_t opcode = words[at] & 0xffff, length = words[at] >> 16;
    const char *pattern = patternOf(opcode);
    if (!pattern)
      return failure(Code::Corrupt, "damaged launch plan: word %u: unknown instruction %u", at,
                     opcode);
    if (!length || length > wordCount - at)
      return bad(at, "instruction of length", length, wordCount - at);
    starts[at] = true;
    last = opcode;
    const uint32_t *operands = words + at + 1;
    uint32_t count = length - 1, used = 0, tail = 0;
    for (; *pattern && *pattern != '*'; ++pattern, ++used) {
      if (used >= count)
        return bad(at, "operand", used, count);
      uint32_t value = operands[used];
      switch (*pattern) {
      case 'r':
        if (value >= registers)
          return bad(at, "register", value, registers);
        break;
      case 'b':
        if (value >= buffers)
          return bad(at, "buffer", value, buffers);
        break;
      case 's':
        CAMEO_RETURN_IF_ERROR(checkString(value, "a text"));
        break;
      case 'i':
      case 'h':
        if (value >= inputList.size())
          return bad(at, "input", value, inputList.size());
        if (*pattern == 'h' && !(inputList[value].flags & CAMEO_TENSOR_HOST))
          return failure(Code::Corrupt,
                         "damaged launch plan: word %u reads input '%s', which is not on the host",
                         at, inputList[value].name);
        break;
      case 'o':
        if (value >= outputList.size())
          return bad(at, "output", value, outputList.size());
        break;
      case 'p':
        if (value >= tapList.size())
          return bad(at, "tap", value, tapList.size());
        break;
      case 'k':
        if (value >= kernelList.size())
          return bad(at, "kernel", value, kernelList.size());
        break;
      case 'd':
        if (!dtypeBits(value) || isComplex(value))
          return failure(Code::Corrupt, "damaged launch plan: word %u writes element type %u", at,
                         value);
        break;
      case 't':
        targets.push_back(value);
        break;
      case 'n':
        tail = value;
        break;
      default:
        break;
      }
    }
    const uint32_t *rest = operands + used;
    uint32_t restCount = count - used;
    if (opcode == CAMEO_OP_LAUNCH) {
      const PlanKernel &kernel = kernelList[operands[0]];
      if (restCount != kernel.argCount)
        return bad(at, "kernel operands", restCount, kernel.argCount);
      for (uint32_t i = 0; i < restCount; ++i) {
        uint32_t limit = kernel.argTypes[i] == CAMEO_ARG_BUFFER ? buffers : registers;
        if (rest[i] >= limit)
          return bad(at, "kernel operand", rest[i], limit);
      }
    } else if (*pattern == '*') {
      if (restCount != tail)
        return bad(at, "operands in the tail:", restCount, tail);
      for (uint32_t i = 0; i < restCount; ++i)
        if (rest[i] >= registers)
          return bad(at, "register", rest[i], registers);
    } else if (restCount) {
      return bad(at, "operands:", count, used);
    }

    if (opcode == CAMEO_OP_DIM && operands[2] >= inputList[operands[1]].dims.size())
      return bad(at, "dimension", operands[2], inputList[operands[1]].dims.size());
    if (opcode == CAMEO_OP_LOAD && isComplex(inputList[operands[1]].dtype))
      return failure(Code::Corrupt, "damaged launch plan: word %u reads a complex input", at);
    if (opcode == CAMEO_OP_OUTPUT_SHAPE && tail != outputList[operands[0]].dims.size())
      return bad(at, "sizes of an output:", tail, outputList[operands[0]].dims.size());
    if (opcode == CAMEO_OP_TAP && tail != tapList[operands[0]].dims.size())
      return bad(at, "sizes of a tap:", tail, tapList[operands[0]].dims.size());
    if (opcode == CAMEO_OP_BUF_WEIGHT) {
      uint64_t offset = operands[1] | uint64_t(operands[2]) << 32;
      uint64_t bytes = operands[3] | uint64_t(operands[4]) << 32;
      if (offset > weightBytes || bytes > weightBytes - offset)
        return bad(at, "weight bytes at", offset, weightBytes);
    }
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
