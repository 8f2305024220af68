// kernel.contract into accumulators of mma.sync ==> matrix instructions: each of a warp's tiles of
// sums, once for each of the instruction's depths in the operands.
//
//   %d:4 = kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%a0, ..., %b0, %b1, %c0,
//   ...)
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/tile/MatrixProducts.h"

#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace cameo;

namespace {

/// As PTX calls it; empty: matrix instructions know no such elements. Integers are signed but for
/// unsigned ones; f32 is rounded to tf32 by the instruction.
StringRef ptxName(Type element, bool isSum) {
  if (element.isF16())
    return "f16";
  if (element.isBF16() && !isSum)
    return "bf16";
  if (element.isF32())
    return isSum ? "f32" : "tf32";
  if (element.isF64())
    return "f64";
  if (element.isInteger(32) && isSum)
    return "s32";
  if (element.isInteger(8) && !isSum)
    return element.isUnsignedInteger() ? "u8" : "s8";
  return "";
}

} // namespace

FailureOr<SmallVector<Value>> cameo::multiplyMatrices(kernel::ContractOp op, ArrayRef<Value> lhs,
                                                      ArrayRef<Value> rhs, ArrayRef<Value> sums) {
  kernel::FragmentType type = op.getType();
  auto layout = cast<kernel::MmaAttr>(type.getLayout());
  kernel::FragmentType left = op.getLhs().getType(), right = op.getRhs().getType();
  Type sum = type.getElementType();
  StringRef d = ptxName(sum, true), a = ptxName(left.getElementType(), false),
            bName = ptxName(right.getElementType(), false);
  std::string name = llvm::formatv("mma.sync.aligned.m{0}n{1}k{2}.row.col.{3}.{4}.{5}.{3}",
                                   layout.getM(), layout.getN(), layout.getK(), d, a, bName);
  int64_t tileRows = type.getRows() / layout.getWarpRows() / layout.getM();
  int64_t tileCols = type.getCols() / layout.getWarpCols() / layout.getN();
  int64_t depths = left.getCols() / layout.getK();
  // Values of a thread for one instruction.
  int64_t ofLhs = lhs.size() / (tileRows * depths), ofRhs = rhs.size() / (tileCols * depths);
  int64_t ofSums = sums.size() / (tileRows * tileCols);
  int64_t width = type.getSpread().width;
  // Sums of 16 bits are two in a register.
  bool areJoined = sum.getIntOrFloatBitWidth() * width <= 32;
  int64_t registers = areJoined ? ofSums : ofSums * width;
  unsigned operands = ofLhs + ofRhs + registers;
  std::string error;
  if (failed(kernel::parsePtxInstruction(name, operands, error)))
    return op.emitOpError() << "has no matrix instruction: " << error;

  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> results(sums);
  for (int64_t depth = 0; depth < depths; ++depth)
    for (int64_t row = 0; row < tileRows; ++row)
      for (int64_t step = 0; step < tileCols; ++step) {
        // Back and forth, so that neighbours share an operand.
        int64_t column = row % 2 ? tileCols - 1 - step : step;
        SmallVector<Value> inputs;
        llvm::append_range(inputs, lhs.slice((row * depths + depth) * ofLhs, ofLhs));
        llvm::append_range(inputs, rhs.slice((column * depths + depth) * ofRhs, ofRhs));
        MutableArrayRef<Value> tile =
            MutableArrayRef(results).slice((row * tileCols + column) * ofSums, ofSums);
        for (Value value : tile) {
          if (areJoined)
            inputs.push_back(value);
          for (int64_t e = 0; !areJoined && e < width; ++e)
            inputs.push_back(b.create<vector::ExtractOp>(loc, value, e));
        }
        SmallVector<Type> types(registers, areJoined ? tile[0].getType() : sum);
        auto product = b.create<kernel::PtxOp>(loc, types, name, inputs);
        for (int64_t i = 0; i < ofSums; ++i) {
          if (areJoined) {
            tile[i] = product.getOutputs()[i];
            continue;
          }
          ValueRange elements = product.getOutputs().slice(i * width, width);
          tile[i] = b.create<vector::FromElementsOp>(loc, VectorType::get(width, sum), elements);
        }
      }
  return results;
}
