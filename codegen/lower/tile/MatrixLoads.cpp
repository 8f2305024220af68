// kernel.load_fragment of an operand of matrix instructions ==> ldmatrix. Of 16 rows and 32 bytes
// of depth, lanes 0 to 7 give the addresses of the first 8 rows, 8 to 15 of the others, 16 to 31
// the same 16 bytes further:
//
//   %row = %lane mod 16; %byte = %lane / 16 * 16        // of the thread, once
//   %part = %row * 64 + (%byte xor %row / 2 mod 4 * 16)
//   %p = %tile[(%part xor 32) + %stage * 8192 + 1024]   // the next 32 bytes, 16 rows further
//   %a:4 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"(%p)
//
// PTX ISA, "Warp-level matrix load instruction: ldmatrix".
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/tile/MatrixLoads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cameo;

namespace {

constexpr int64_t kMatrixLines = 8, kMatrixBytes = 16;
/// Bits of a byte's place in a swizzled tile that are combined with those from `kSource` on.
constexpr unsigned kTarget = 4, kSource = 7;

kernel::OperandAttr operandOf(kernel::LoadFragmentOp op) {
  return dyn_cast<kernel::OperandAttr>(op.getResult().getType().getLayout());
}

} // namespace

MatrixLoads::Lines MatrixLoads::linesOf(kernel::LoadFragmentOp op) {
  kernel::TileType tile = op.getTile().getType();
  kernel::OperandAttr operand = operandOf(op);
  auto layout = cast<kernel::MmaAttr>(operand.getOf());
  bool isFirst = operand.getNumber() == 0, rows = tile.getLayout().hasConsecutiveRows();
  Lines lines{};
  lines.isDeep = isFirst == rows;
  lines.elementBytes = tile.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t length = rows ? tile.getCols() : tile.getRows();
  int64_t count = rows ? tile.getRows() : tile.getCols();
  if (auto swizzle = dyn_cast<kernel::SwizzleAttr>(tile.getLayout())) {
    lines.span = lines.stride = swizzle.getSpan();
    lines.panel = count * lines.span;
  } else if (auto strided = dyn_cast<kernel::StridedAttr>(tile.getLayout())) {
    lines.stride = (rows ? strided.getRow() : strided.getCol()) * lines.elementBytes;
    lines.panel = length * lines.elementBytes;
  }
  lines.warps = isFirst ? layout.getWarpRows() : layout.getWarpCols();
  lines.isRowOfWarps = !isFirst;
  lines.warpColumns = layout.getWarpCols();
  kernel::FragmentType fragment = op.getResult().getType();
  lines.warpSize = (isFirst ? fragment.getRows() : fragment.getCols()) / lines.warps;
  return lines;
}

SmallVector<MatrixLoads::Place> MatrixLoads::placesOf(kernel::LoadFragmentOp op,
                                                      const Lines &lines) {
  int64_t row = *getConstantIntValue(op.getRow()), column = *getConstantIntValue(op.getCol());
  bool rows = op.getTile().getType().getLayout().hasConsecutiveRows();
  SmallVector<Place> places;
  for (const kernel::Place &value : op.getResult().getType().getSpread().values) {
    int64_t r = row + value.rowOffset, c = column + value.columnOffset;
    places.push_back({rows ? r : c, (rows ? c : r) * lines.elementBytes});
  }
  return places;
}

bool MatrixLoads::canLoad(kernel::LoadFragmentOp op) {
  kernel::OperandAttr operand = operandOf(op);
  if (!operand || !isa<kernel::MmaAttr>(operand.getOf()) || !getConstantIntValue(op.getRow()) ||
      !getConstantIntValue(op.getCol()))
    return false;
  kernel::TileType tile = op.getTile().getType();
  int64_t bits = tile.getElementType().getIntOrFloatBitWidth();
  if (bits > 32 || bits < 8 || !isa<kernel::SwizzleAttr, kernel::StridedAttr>(tile.getLayout()))
    return false;
  Lines lines = linesOf(op);
  if ((!lines.isDeep && bits != 16) || lines.stride % kMatrixBytes != 0)
    return false;
  return llvm::all_of(placesOf(op, lines), [](const Place &place) {
    return place.line % kMatrixLines == 0 && place.byte % kMatrixBytes == 0;
  });
}

unsigned MatrixLoads::together(ArrayRef<Place> places, Steps &steps) {
  auto from = [&](size_t number) {
    return Place{places[number].line - places[0].line, places[number].byte - places[0].byte};
  };
  auto isUp = [](const Place &step) { return step.line >= 0 && step.byte >= 0; };
  steps = {};
  if (places.size() < 2 || !isUp(from(1)))
    return 1;
  steps.bit3 = from(1);
  if (places.size() < 4 || !isUp(from(2)))
    return 2;
  Place second = from(2), third = from(3);
  if (third.line != steps.bit3.line + second.line || third.byte != steps.bit3.byte + second.byte)
    return 2;
  steps.bit4 = second;
  return 4;
}

Value MatrixLoads::number(int64_t value) {
  Value &found = numbers[value];
  if (!found)
    found = entry.create<arith::ConstantIntOp>(thread.getLoc(), value, entry.getI32Type());
  return found;
}

/// What a thread's addresses consist of beside constants, with `byte` in a line.
Value MatrixLoads::threadPart(const Lines &lines, const Steps &steps, int64_t byte) {
  Value &part =
      known[{lines.isDeep, lines.elementBytes, lines.stride, lines.span, lines.panel, lines.warps,
             lines.warpSize, lines.isRowOfWarps, lines.warpColumns,
             steps.bit3.line << 32 | steps.bit3.byte, steps.bit4.line, steps.bit4.byte, byte}];
  if (part)
    return part;
  Location loc = thread.getLoc();
  OpBuilder &b = entry;
  auto mul = [&](Value a, int64_t c) -> Value {
    return c == 0 ? number(0) : b.createOrFold<arith::MulIOp>(loc, a, number(c));
  };
  auto add = [&](Value a, Value c) { return b.createOrFold<arith::AddIOp>(loc, a, c); };
  auto bits = [&](Value a, unsigned first, unsigned count) -> Value {
    Value low = b.createOrFold<arith::ShRUIOp>(loc, a, number(first));
    return b.createOrFold<arith::AndIOp>(loc, low, number((int64_t(1) << count) - 1));
  };
  Value t = b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), thread);
  Value warp = b.createOrFold<arith::ShRUIOp>(loc, t, number(5));
  Value columns = number(lines.warpColumns);
  warp = lines.isRowOfWarps ? b.createOrFold<arith::RemUIOp>(loc, warp, columns)
                            : b.createOrFold<arith::DivUIOp>(loc, warp, columns);
  Value across = mul(warp, lines.warpSize), row = bits(t, 0, 3);
  Value line = row, at = number(byte);
  if (lines.isDeep)
    line = add(line, across);
  else
    at = add(at, mul(across, lines.elementBytes));
  for (auto [step, bit] : {std::pair(steps.bit3, 3u), {steps.bit4, 4u}}) {
    line = add(line, mul(bits(t, bit, 1), step.line));
    at = add(at, mul(bits(t, bit, 1), step.byte));
  }
  Value address = mul(line, lines.stride);
  if (lines.span == 0)
    return part = add(address, at);
  // Lines begin at multiples of eight but for the row.
  unsigned width = llvm::Log2_64(lines.span);
  Value exchange = bits(row, kSource - width, width - kTarget);
  exchange = b.createOrFold<arith::ShLIOp>(loc, exchange, number(kTarget));
  Value within = b.createOrFold<arith::XOrIOp>(loc, bits(at, 0, width), exchange);
  Value panel = b.createOrFold<arith::ShRUIOp>(loc, at, number(width));
  return part = add(add(mul(panel, lines.panel), address), within);
}

/// Bits that a thread's byte in a line may have.
static int64_t threadBits(int64_t warpStep, int64_t warps, int64_t bit3, int64_t bit4) {
  int64_t mask = 0;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane : {int64_t(0), bit3, bit4, bit3 + bit4})
      mask |= warp * warpStep + lane;
  return mask;
}

SmallVector<Value> MatrixLoads::load(kernel::LoadFragmentOp op, Value pointer) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Lines lines = linesOf(op);
  SmallVector<Place> places = placesOf(op, lines);
  kernel::TileType tile = op.getTile().getType();
  Value stage = b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), op.getStage());
  stage = b.createOrFold<arith::MulIOp>(loc, stage,
                                        number(tile.getStageElements() * lines.elementBytes));
  int64_t width = op.getResult().getType().getSpread().width;
  Type result = tile.getElementType();
  if (width > 1)
    result = VectorType::get(width, result);
  SmallVector<Value> registers;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> bases; // in this stage
  for (ArrayRef<Place> left = places; !left.empty();) {
    Steps steps;
    unsigned count = together(left, steps);
    Place first = left.front();
    left = left.drop_front(count);
    // Of the byte in a line, what is in no bit of the thread's part can be combined with it.
    int64_t warpStep = lines.isDeep ? 0 : lines.warpSize * lines.elementBytes;
    bool isApart =
        lines.span == 0 ||
        (first.byte & threadBits(warpStep, lines.warps, steps.bit3.byte, steps.bit4.byte)) == 0;
    Value part = threadPart(lines, steps, isApart ? 0 : first.byte);
    int64_t beside = isApart ? first.byte : 0, further = first.line * lines.stride;
    int64_t exchanged = lines.span ? beside % lines.span : 0;
    further += lines.span ? beside / lines.span * lines.panel : beside;
    Value &base = bases[{part, exchanged}];
    if (!base) {
      base = exchanged ? b.create<arith::XOrIOp>(loc, part, number(exchanged)).getResult() : part;
      base = b.createOrFold<arith::AddIOp>(loc, base, stage);
    }
    Value offset = b.createOrFold<arith::AddIOp>(loc, base, number(further));
    Value address = b.create<LLVM::GEPOp>(loc, pointer.getType(), b.getI8Type(), pointer, offset,
                                          /*inbounds=*/true);
    std::string name = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                       (lines.isDeep ? "" : ".trans") + ".shared.b16";
    auto loaded = b.create<kernel::PtxOp>(loc, SmallVector<Type>(count, result), name, address);
    llvm::append_range(registers, loaded.getOutputs());
  }
  return registers;
}
