// Matrix instructions: mma, ldmatrix, stmatrix, wgmma. Sections are those of the PTX ISA,
// "Instruction Set".
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/PtxParser.h"
#include "runtime/sim/abi.h"

using namespace mlir;
using namespace cameo::kernel;

/// Warp Level Matrix Multiply-Accumulate Instructions: mma.
LogicalResult PtxParser::mma() {
  struct Shape {
    unsigned m, n, k;
    StringRef inputs, accumulator;
    unsigned since;
  };
  // One letter an input type that the shape takes: see `kind`.
  static const Shape shapes[] = {
      {16, 8, 8, "h", "f16", 75},  {16, 8, 8, "h", "f32", 75},  {16, 8, 16, "h", "f16", 80},
      {16, 8, 16, "h", "f32", 80}, {16, 8, 8, "b", "f32", 80},  {16, 8, 16, "b", "f32", 80},
      {16, 8, 4, "t", "f32", 80},  {16, 8, 8, "t", "f32", 80},  {8, 8, 4, "d", "f64", 80},
      {8, 8, 16, "i", "s32", 75},  {16, 8, 16, "i", "s32", 80}, {16, 8, 32, "i", "s32", 80},
      {16, 8, 32, "e", "f32", 89},
  };
  auto kind = [](uint8_t type) -> StringRef {
    switch (type) {
    case CAMEO_SIM_F16:
      return "h";
    case CAMEO_SIM_BF16:
      return "b";
    case CAMEO_SIM_TF32:
      return "t";
    case CAMEO_SIM_F64:
      return "d";
    case CAMEO_SIM_S8:
    case CAMEO_SIM_U8:
      return "i";
    case CAMEO_SIM_E4M3:
    case CAMEO_SIM_E5M2:
      return "e";
    default:
      return "none";
    }
  };
  unsigned shape[3];
  if (!takeAll({"sync", "aligned"}) || !takeShape(shape) || !takeAll({"row", "col"}))
    return failure();
  bool satfinite = take("satfinite");
  StringRef d = takeAny();
  uint8_t a = typeOf(takeAny()), b = typeOf(takeAny());
  StringRef c = takeAny();
  bool mixes = kind(a) == "i" || kind(a) == "e";
  if (failed(atEnd()) || c != d || kind(a) != kind(b) || (!mixes && a != b) ||
      (satfinite && kind(a) != "i"))
    return failure();
  const Shape *found = llvm::find_if(shapes, [&](const Shape &known) {
    return known.m == shape[0] && known.n == shape[1] && known.k == shape[2] &&
           known.inputs == kind(a) && known.accumulator == d;
  });
  if (found == std::end(shapes))
    return failure();
  uint8_t accumulator = typeOf(d);
  auto registers = [&](unsigned rows, unsigned cols, uint8_t type) {
    return rows * cols * bitsOf(type) / 32 / std::max(32u, bitsOf(type));
  };
  PtxType input = a == CAMEO_SIM_F64 ? PtxType::F64 : PtxType::B32;
  PtxType sum = accumulator == CAMEO_SIM_F16 ? PtxType::B32 : registerOf(accumulator);
  unsigned sums = registers(found->m, found->n, accumulator);
  result.opcode = CAMEO_SIM_OP_MMA;
  result.modifiers = {uint8_t(found->m), uint8_t(found->n), uint8_t(found->k), a, b,
                      accumulator,       satfinite};
  std::string dText = out(sum, sums, true);
  std::string aText = in(input, registers(found->m, found->k, a), true);
  std::string bText = in(input, registers(found->k, found->n, b), true);
  std::string cText = in(sum, sums, true);
  result.text = llvm::formatv("{0} {1}, {2}, {3}, {4};", name, dText, aText, bText, cText);
  result.collective = result.pure = true;
  result.since = found->since;
  return success();
}

/// Warp-level matrix load instruction: ldmatrix; stmatrix.
LogicalResult PtxParser::matrixMemory() {
  bool load = parts[0] == "ldmatrix";
  if (!takeAll({"sync", "aligned", "m8n8"}))
    return failure();
  unsigned count = take("x1") ? 1 : take("x2") ? 2 : take("x4") ? 4 : 0;
  bool transposed = take("trans");
  if (!count || !(take("shared") || take("shared::cta")) || !take("b16") || failed(atEnd()))
    return failure();
  result.opcode = load ? CAMEO_SIM_OP_LDMATRIX : CAMEO_SIM_OP_STMATRIX;
  result.modifiers = {uint8_t(count), transposed};
  if (load) {
    std::string to = out(PtxType::B32, count, true);
    result.text = llvm::formatv("{0} {1}, [{2}];", name, to, in(PtxType::Shared));
  } else {
    std::string to = in(PtxType::Shared);
    result.text = llvm::formatv("{0} [{1}], {2};", name, to, in(PtxType::B32, count, true));
    result.since = 90;
  }
  result.collective = true;
  return success();
}

/// Asynchronous Warpgroup Level Matrix Instructions. Operands: A (a descriptor or four registers),
/// the descriptor of B, whether the accumulators count, the accumulators; immediates as in PTX.
LogicalResult PtxParser::wgmma() {
  result.since = 90;
  if (take("wait_group")) {
    if (!takeAll({"sync", "aligned"}) || failed(atEnd(1)) || immediates[0] < 0 || immediates[0] > 7)
      return fail("waits for 0 to 7 groups");
    result.opcode = CAMEO_SIM_OP_WGMMA_WAIT;
    result.modifiers = {uint8_t(immediates[0])};
    result.text = name.str() + " " + std::to_string(immediates[0]) + ";";
    return success();
  }
  bool fences = take("fence");
  if (fences || take("commit_group")) {
    result.opcode = fences ? CAMEO_SIM_OP_WGMMA_FENCE : CAMEO_SIM_OP_WGMMA_COMMIT;
    result.text = name.str() + ";";
    return success(takeAll({"sync", "aligned"}) && succeeded(atEnd()));
  }
  unsigned shape[3];
  if (!takeAll({"mma_async", "sync", "aligned"}) || !takeShape(shape))
    return failure();
  bool satfinite = take("satfinite");
  uint8_t d = typeOf(takeAny()), a = typeOf(takeAny()), b = typeOf(takeAny());
  if (next != parts.size() || d == kAbsent || a == kAbsent || b == kAbsent)
    return failure();
  bool is16 = a == CAMEO_SIM_F16 || a == CAMEO_SIM_BF16;
  bool isInteger = a == CAMEO_SIM_S8 || a == CAMEO_SIM_U8;
  bool isFp8 = a == CAMEO_SIM_E4M3 || a == CAMEO_SIM_E5M2;
  bool typesGo = a == b && (is16 || a == CAMEO_SIM_TF32);
  typesGo |= isInteger && (b == CAMEO_SIM_S8 || b == CAMEO_SIM_U8);
  typesGo |= isFp8 && (b == CAMEO_SIM_E4M3 || b == CAMEO_SIM_E5M2);
  typesGo &= isInteger
                 ? d == CAMEO_SIM_S32
                 : d == CAMEO_SIM_F32 || (d == CAMEO_SIM_F16 && (a == CAMEO_SIM_F16 || isFp8));
  unsigned n = shape[1];
  if (!typesGo || (satfinite && !isInteger) || shape[0] != 64 || shape[2] != 256 / bitsOf(a) ||
      n < 8 || n > 256 || n % 8 || (isInteger && n > 32 && n % 16))
    return failure();
  unsigned sums = d == CAMEO_SIM_F16 ? n / 4 : n / 2;
  bool registers = operandCount == sums + 6;
  size_t wanted = isInteger ? 0 : is16 ? (registers ? 3 : 4) : 2;
  if (immediates.size() != wanted)
    return fail(
        llvm::formatv("'{0}' takes {1} immediates here, not {2}", name, wanted, immediates.size()));
  uint8_t flags = registers * CAMEO_SIM_WGMMA_REGISTERS | satfinite * CAMEO_SIM_WGMMA_SATURATE;
  std::string list;
  for (auto [index, immediate] : llvm::enumerate(immediates)) {
    bool sign = index < 2, second = registers || index == 3;
    if (sign ? immediate != 1 && immediate != -1 : immediate != 0 && immediate != 1)
      return fail("scales are 1 or -1, transpositions 0 or 1");
    if (sign && immediate < 0)
      flags |= index ? CAMEO_SIM_WGMMA_NEGATE_B : CAMEO_SIM_WGMMA_NEGATE_A;
    if (!sign && immediate)
      flags |= second ? CAMEO_SIM_WGMMA_TRANSPOSE_B : CAMEO_SIM_WGMMA_TRANSPOSE_A;
    list += ", " + std::to_string(immediate);
  }
  PtxType sum = d == CAMEO_SIM_F32 ? PtxType::F32 : PtxType::B32;
  std::string dText = out(sum, sums, true);
  std::string aText = registers ? in(PtxType::B32, 4, true) : in(PtxType::B64);
  std::string bText = in(PtxType::B64), scale = in(PtxType::Predicate);
  result.operands.append(sums, sum);
  result.tied = sums;
  result.opcode = CAMEO_SIM_OP_WGMMA;
  result.modifiers = {uint8_t(n / 8), a, b, d, flags};
  result.text = llvm::formatv("{0} {1}, {2}, {3}, {4}{5};", name, dText, aText, bText, scale, list);
  result.collective = true;
  return success();
}
