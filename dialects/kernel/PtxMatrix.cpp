// Matrix instructions: mma, ldmatrix, stmatrix, wgmma. Sections are those of the PTX ISA,
// "Instruction Set".
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/PtxParser.h"
#include "runtime/sim/abi.h"

using namespace mlir;
using namespace cameo::kernel;

#define CAMEO_SHAPE(M, N, K, A, B, D, ...)                                                         \
  {M, N, K, CAMEO_SIM_##A, CAMEO_SIM_##B, CAMEO_SIM_##D, __VA_ARGS__}
// Types that go together in any mix.
#define CAMEO_MIX(M, N, K, A, B, D, ...)                                                           \
  CAMEO_SHAPE(M, N, K, A, A, D, __VA_ARGS__), CAMEO_SHAPE(M, N, K, A, B, D, __VA_ARGS__),          \
      CAMEO_SHAPE(M, N, K, B, A, D, __VA_ARGS__), CAMEO_SHAPE(M, N, K, B, B, D, __VA_ARGS__)

static constexpr MatrixShape kMatrixShapes[] = {
    CAMEO_SHAPE(16, 8, 8, F16, F16, F16, 75),      CAMEO_SHAPE(16, 8, 8, F16, F16, F32, 75),
    CAMEO_SHAPE(16, 8, 16, F16, F16, F16, 80),     CAMEO_SHAPE(16, 8, 16, F16, F16, F32, 80),
    CAMEO_SHAPE(16, 8, 8, BF16, BF16, F32, 80),    CAMEO_SHAPE(16, 8, 16, BF16, BF16, F32, 80),
    CAMEO_SHAPE(16, 8, 4, TF32, TF32, F32, 80),    CAMEO_SHAPE(16, 8, 8, TF32, TF32, F32, 80),
    CAMEO_SHAPE(8, 8, 4, F64, F64, F64, 80),       CAMEO_MIX(8, 8, 16, S8, U8, S32, 75),
    CAMEO_MIX(16, 8, 16, S8, U8, S32, 80),         CAMEO_MIX(16, 8, 32, S8, U8, S32, 80),
    CAMEO_MIX(16, 8, 32, E4M3, E5M2, F32, 89, 84), CAMEO_SHAPE(64, 256, 16, F16, F16, F16, 90),
    CAMEO_SHAPE(64, 256, 16, F16, F16, F32, 90),   CAMEO_SHAPE(64, 256, 16, BF16, BF16, F32, 90),
    CAMEO_SHAPE(64, 256, 8, TF32, TF32, F32, 90),  CAMEO_MIX(64, 256, 32, E4M3, E5M2, F16, 90),
    CAMEO_MIX(64, 256, 32, E4M3, E5M2, F32, 90),   CAMEO_MIX(64, 256, 32, S8, U8, S32, 90),
};

llvm::ArrayRef<MatrixShape> cameo::kernel::matrixShapes() { return kMatrixShapes; }

/// The shape with these types, n counting only where it is fixed; null: there is none.
static const MatrixShape *findShape(const unsigned (&shape)[3], uint8_t a, uint8_t b, uint8_t d) {
  const MatrixShape *found = llvm::find_if(kMatrixShapes, [&](const MatrixShape &known) {
    return known.m == shape[0] && (known.isWarpgroup() || known.n == shape[1]) &&
           known.k == shape[2] && known.a == a && known.b == b && known.accumulator == d;
  });
  return found == std::end(kMatrixShapes) ? nullptr : found;
}

/// Warp Level Matrix Multiply-Accumulate Instructions: mma.
LogicalResult PtxParser::mma() {
  unsigned shape[3];
  if (!takeAll({"sync", "aligned"}) || !takeShape(shape) || !takeAll({"row", "col"}))
    return failure();
  bool satfinite = take("satfinite");
  StringRef d = takeAny();
  uint8_t a = typeOf(takeAny()), b = typeOf(takeAny());
  StringRef c = takeAny();
  const MatrixShape *found = findShape(shape, a, b, typeOf(d));
  if (failed(atEnd()) || !found || found->isWarpgroup() || c != d ||
      (satfinite && found->accumulator != CAMEO_SIM_S32))
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
  result.since = found->since;
  result.ptxVersion = found->ptxVersion;
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
  result.lanes = 8 * count; // each gives a row of a matrix
  if (load) {
    std::string to = out(PtxType::B32, count, true);
    result.text = llvm::formatv("{0} {1}, [{2}];", name, to, in(PtxType::Shared));
  } else {
    std::string to = in(PtxType::Shared);
    result.text = llvm::formatv("{0} [{1}], {2};", name, to, in(PtxType::B32, count, true));
    result.since = 90;
  }
  return success();
}

/// Asynchronous Warpgroup Level Matrix Instructions. Operands: A (a descriptor or four registers),
/// the descriptor of B, whether the accumulators count, the accumulators; immediates as in PTX.
LogicalResult PtxParser::wgmma() {
  result.since = 90;
  result.archSpecific = true;
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
  if (next != parts.size())
    return failure();
  const MatrixShape *found = findShape(shape, a, b, d);
  if (!found || !found->isWarpgroup())
    return failure();
  bool is16 = bitsOf(a) == 16, isInteger = d == CAMEO_SIM_S32;
  unsigned n = shape[1];
  if ((satfinite && !isInteger) || n < 8 || n > found->n || n % 8 ||
      (isInteger && n > 32 && n % 16))
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
  return success();
}
