// kernel.contract into accumulators of mma.sync ==> matrix instructions: each of a warp's tiles of
// sums, once for each of the instruction's depths in the operands.
//
//   %d:4 = kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
//            (%a0, ..., %b0, %b1, %c0, ...)
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/tile/MatrixProducts.h"

#include "dialects/kernel/Ptx.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace cameo;

namespace {

/// As PTX calls it; empty: matrix instructions know no such elements. Of f32 the instruction takes
/// what is in the bits of tf32.
StringRef ptxName(Type element, bool isSum, bool isUnsigned = false) {
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
    return isUnsigned ? "u8" : "s8";
  return "";
}

/// A thread's sums by instruction: where the registers of one are among the values of the layout.
/// Sums of 16 bits are two in a register; of two instructions whose columns are in pairs, four
/// neighbours are one value.
class Sums {
public:
  Sums(OpBuilder &b, Location loc, kernel::FragmentType type, ArrayRef<Value> values)
      : b(b), loc(loc), type(type), width(type.getSpread().width) {
    auto layout = cast<kernel::MmaAttr>(type.getLayout());
    columns = type.getCols() / layout.getWarpCols() / layout.getN();
    halves = layout.getM() / 8;
    areJoined = type.getElementType().getIntOrFloatBitWidth() * width <= 32;
    inPairs = layout.hasPairs(/*ofRows=*/false);
    for (Value value : values)
      for (int64_t e = 0; e < (areJoined ? 1 : width); ++e)
        registers.push_back(areJoined ? value : b.create<vector::ExtractOp>(loc, value, e));
  }

  /// Registers that an instruction has.
  int64_t count() const { return areJoined ? halves : 2 * halves; }
  Type registerType() const { return registers.front().getType(); }
  Value &at(int64_t row, int64_t column, int64_t number) {
    if (areJoined)
      return registers[(row * columns + column) * halves + number];
    int64_t half = number / 2, element = number % 2;
    if (!inPairs)
      return registers[((row * columns + column) * halves + half) * 2 + element];
    int64_t value = (row * columns / 2 + column / 2) * halves + half;
    return registers[value * 4 + 2 * element + column % 2];
  }

  SmallVector<Value> values() const {
    if (areJoined)
      return registers;
    SmallVector<Value> joined;
    auto vector = VectorType::get(width, type.getElementType());
    for (ArrayRef<Value> left = registers; !left.empty(); left = left.drop_front(width))
      joined.push_back(b.create<vector::FromElementsOp>(loc, vector, left.take_front(width)));
    return joined;
  }

private:
  OpBuilder &b;
  Location loc;
  kernel::FragmentType type;
  int64_t width, columns, halves;
  bool areJoined, inPairs;
  SmallVector<Value> registers;
};

} // namespace

FailureOr<SmallVector<Value>> cameo::multiplyMatrices(kernel::ContractOp op, ArrayRef<Value> lhs,
                                                      ArrayRef<Value> rhs, ArrayRef<Value> sums) {
  kernel::FragmentType type = op.getType();
  auto layout = cast<kernel::MmaAttr>(type.getLayout());
  kernel::FragmentType left = op.getLhs().getType(), right = op.getRhs().getType();
  StringRef d = ptxName(type.getElementType(), true),
            a = ptxName(left.getElementType(), false, op.getLhsUnsigned()),
            bName = ptxName(right.getElementType(), false, op.getRhsUnsigned());
  std::string name = llvm::formatv("mma.sync.aligned.m{0}n{1}k{2}.row.col.{3}.{4}.{5}.{3}",
                                   layout.getM(), layout.getN(), layout.getK(), d, a, bName);
  int64_t tileRows = type.getRows() / layout.getWarpRows() / layout.getM();
  int64_t tileCols = type.getCols() / layout.getWarpCols() / layout.getN();
  int64_t depths = left.getCols() / layout.getK();
  // Values of a thread for one instruction.
  int64_t ofLhs = lhs.size() / (tileRows * depths), ofRhs = rhs.size() / (tileCols * depths);
  OpBuilder b(op);
  Location loc = op.getLoc();
  Sums results(b, loc, type, sums);
  unsigned operands = ofLhs + ofRhs + results.count();
  std::string error;
  if (failed(kernel::parsePtxInstruction(name, operands, error)))
    return op.emitOpError() << "has no matrix instruction: " << error;

  SmallVector<Type> types(results.count(), results.registerType());
  for (int64_t depth = 0; depth < depths; ++depth)
    for (int64_t row = 0; row < tileRows; ++row)
      for (int64_t step = 0; step < tileCols; ++step) {
        // Back and forth, so that neighbours share an operand.
        int64_t column = row % 2 ? tileCols - 1 - step : step;
        SmallVector<Value> inputs;
        llvm::append_range(inputs, lhs.slice((row * depths + depth) * ofLhs, ofLhs));
        llvm::append_range(inputs, rhs.slice((column * depths + depth) * ofRhs, ofRhs));
        for (int64_t i = 0; i < results.count(); ++i)
          inputs.push_back(results.at(row, column, i));
        auto product = b.create<kernel::PtxOp>(loc, types, name, inputs);
        for (auto [i, output] : llvm::enumerate(product.getOutputs()))
          results.at(row, column, i) = output;
      }
  return results.values();
}
