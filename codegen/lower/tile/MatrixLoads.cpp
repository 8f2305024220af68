// kernel.load_fragment of an operand of matrix instructions ==> ldmatrix. Of 16 rows and 32 bytes
// of depth, lanes 0 to 7 give the addresses of the first 8 rows, 8 to 15 of the others, 16 to 31
// the same 16 bytes further:
//
//   %row = %lane mod 16; %byte = %lane / 16 * 16        // of the thread, once
//   %part = %row * 64 + (%byte xor %row / 2 mod 4 * 16)
//   %p = %tile[(%part xor 32) + %stage * 8192 + 1024]   // the next 32 bytes, 16 rows further
//   %a:4 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"(%p)
//
// Bytes that are stored across depth are transposed as pairs of 16 bits: a lane gets two steps of
// depth of two neighbours. Two such registers, of the four steps that an instruction wants, become
// one of each neighbour:
//
//   %x:4 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"(%p)
//   %first = kernel.ptx "prmt.b32"(%x#0, %x#1, %even)
//   %second = kernel.ptx "prmt.b32"(%x#0, %x#1, %odd)
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
/// Steps of depth of two matrices, one register of which a lane has.
constexpr int64_t kPairLines = 16;
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
  lines.inPairs = !lines.isDeep && lines.elementBytes == 1 && layout.hasPairs(isFirst);
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
  if ((!lines.isDeep && bits != 16 && !lines.inPairs) || lines.stride % kMatrixBytes != 0)
    return false;
  if (lines.inPairs)
    return llvm::all_of(placesOf(op, lines), [](const Place &place) {
      return place.line % kPairLines == 0 && place.byte % kMatrixBytes < 2;
    });
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

Value MatrixLoads::threadBits(unsigned first, unsigned count) {
  Location loc = thread.getLoc();
  Value t = entry.createOrFold<arith::IndexCastOp>(loc, entry.getI32Type(), thread);
  Value low = entry.createOrFold<arith::ShRUIOp>(loc, t, number(first));
  return entry.createOrFold<arith::AndIOp>(loc, low, number((int64_t(1) << count) - 1));
}

/// What a thread's addresses consist of beside constants, with `byte` in a line.
Value MatrixLoads::threadPart(const Lines &lines, const Steps &steps, int64_t byte) {
  Value &part =
      known[{lines.isDeep, lines.inPairs, lines.elementBytes, lines.stride, lines.span, lines.panel,
             lines.warps, lines.warpSize, lines.isRowOfWarps, lines.warpColumns,
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
  Value across = mul(warp, lines.warpSize), row = threadBits(0, 3);
  if (lines.inPairs) {
    // Lane 2 t + i of a matrix has line 4 t + i, and with bit 3 two further; of t from 2 on the
    // other way round, so that all eight lines differ modulo 8, as banks want it.
    Value high = threadBits(2, 1);
    Value second = b.createOrFold<arith::XOrIOp>(loc, high, threadBits(3, 1));
    row = add(add(threadBits(0, 1), mul(threadBits(1, 1), 4)), add(mul(high, 8), mul(second, 2)));
  }
  Value line = row, at = number(byte);
  if (lines.isDeep)
    line = add(line, across);
  else
    at = add(at, mul(across, lines.elementBytes));
  for (auto [step, bit] : {std::pair(steps.bit3, 3u), {steps.bit4, 4u}}) {
    line = add(line, mul(threadBits(bit, 1), step.line));
    at = add(at, mul(threadBits(bit, 1), step.byte));
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
static int64_t bytesOfThreads(int64_t warpStep, int64_t warps, int64_t bit3, int64_t bit4) {
  int64_t mask = 0;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane : {int64_t(0), bit3, bit4, bit3 + bit4})
      mask |= warp * warpStep + lane;
  return mask;
}

class MatrixLoads::Addresses {
public:
  Addresses(MatrixLoads &loads, OpBuilder &b, kernel::LoadFragmentOp op, const Lines &lines,
            Value pointer)
      : lines(lines), loads(loads), b(b), loc(op.getLoc()), pointer(pointer) {
    kernel::TileType tile = op.getTile().getType();
    stage = b.createOrFold<arith::IndexCastOp>(loc, b.getI32Type(), op.getStage());
    stage = b.createOrFold<arith::MulIOp>(
        loc, stage, loads.number(tile.getStageElements() * lines.elementBytes));
  }

  /// A thread's address for an instruction whose first matrix is at `first`.
  Value at(Place first, const Steps &steps) {
    // Of the byte in a line, what is in no bit of the thread's part can be combined with it.
    int64_t warpStep = lines.isDeep ? 0 : lines.warpSize * lines.elementBytes;
    int64_t own = bytesOfThreads(warpStep, lines.warps, steps.bit3.byte, steps.bit4.byte);
    bool isApart = lines.span == 0 || (first.byte & own) == 0;
    Value part = loads.threadPart(lines, steps, isApart ? 0 : first.byte);
    int64_t beside = isApart ? first.byte : 0, further = first.line * lines.stride;
    int64_t exchanged = lines.span ? beside % lines.span : 0;
    further += lines.span ? beside / lines.span * lines.panel : beside;
    Value &base = bases[{part, exchanged}];
    if (!base) {
      base = exchanged ? b.create<arith::XOrIOp>(loc, part, loads.number(exchanged)).getResult()
                       : part;
      base = b.createOrFold<arith::AddIOp>(loc, base, stage);
    }
    Value offset = b.createOrFold<arith::AddIOp>(loc, base, loads.number(further));
    return b.create<LLVM::GEPOp>(loc, pointer.getType(), b.getI8Type(), pointer, offset,
                                 /*inbounds=*/true);
  }

  SmallVector<Value> load(Place first, const Steps &steps, unsigned count, Type result) {
    std::string name = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                       (lines.isDeep ? "" : ".trans") + ".shared.b16";
    auto loaded =
        b.create<kernel::PtxOp>(loc, SmallVector<Type>(count, result), name, at(first, steps));
    return SmallVector<Value>(loaded.getOutputs());
  }

  Value permuted(Value low, Value high, Value selector) {
    return b
        .create<kernel::PtxOp>(loc, TypeRange(low.getType()), "prmt.b32",
                               ValueRange{low, high, selector})
        .getResult(0);
  }

  const Lines &lines;

private:
  MatrixLoads &loads;
  OpBuilder &b;
  Location loc;
  Value pointer, stage;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> bases; // in this stage
};

SmallVector<Value> MatrixLoads::load(kernel::LoadFragmentOp op, Value pointer) {
  OpBuilder b(op);
  Lines lines = linesOf(op);
  Addresses addresses(*this, b, op, lines, pointer);
  int64_t width = op.getResult().getType().getSpread().width;
  Type result = op.getTile().getType().getElementType();
  if (width > 1)
    result = VectorType::get(width, result);
  if (lines.inPairs)
    return loadPairs(op, addresses, result);
  SmallVector<Place> places = placesOf(op, lines);
  SmallVector<Value> registers;
  for (ArrayRef<Place> left = places; !left.empty();) {
    Steps steps;
    unsigned count = together(left, steps);
    llvm::append_range(registers, addresses.load(left.front(), steps, count, result));
    left = left.drop_front(count);
  }
  return registers;
}

SmallVector<Value> MatrixLoads::loadPairs(kernel::LoadFragmentOp op, Addresses &addresses,
                                          Type result) {
  // The bytes of four steps of depth, the first two of which lanes with an even half of the other
  // bits have in the first register, the others in the second.
  constexpr int64_t kSelectors[2][2] = {{0x6420, 0x2064}, {0x7531, 0x3175}};
  Location loc = thread.getLoc();
  for (int64_t second : {0, 1})
    if (!selectors[second]) {
      Value isTurned = entry.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne,
                                                         threadBits(1, 1), number(0));
      selectors[second] = entry.createOrFold<arith::SelectOp>(
          loc, isTurned, number(kSelectors[second][1]), number(kSelectors[second][0]));
    }
  SmallVector<Place> places = placesOf(op, addresses.lines);
  SmallVector<Place> blocks; // of 16 lines and 16 bytes, once each
  auto blockOf = [](Place place) {
    return Place{place.line, place.byte / kMatrixBytes * kMatrixBytes};
  };
  auto find = [&](Place block) {
    return llvm::find_if(blocks, [&](const Place &other) {
      return other.line == block.line && other.byte == block.byte;
    });
  };
  for (const Place &place : places)
    if (find(blockOf(place)) == blocks.end())
      blocks.push_back(blockOf(place));
  SmallVector<Value> loaded;
  for (ArrayRef<Place> left = blocks; !left.empty();) {
    Steps steps{};
    bool areTwo = left.size() > 1 && left[1].line >= left[0].line && left[1].byte >= left[0].byte;
    if (areTwo)
      steps.bit4 = {left[1].line - left[0].line, left[1].byte - left[0].byte};
    llvm::append_range(loaded, addresses.load(left.front(), steps, areTwo ? 4 : 2, result));
    left = left.drop_front(areTwo ? 2 : 1);
  }
  SmallVector<Value> registers;
  for (const Place &place : places) {
    size_t block = find(blockOf(place)) - blocks.begin();
    registers.push_back(addresses.permuted(loaded[2 * block], loaded[2 * block + 1],
                                           selectors[place.byte % kMatrixBytes]));
  }
  return registers;
}
