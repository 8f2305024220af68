// Writing kernels of products.
//
// Two buffers a tile: while one is multiplied, the next is filled, so that an iteration needs one
// barrier.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ContractionKernel.h"

#include "codegen/schedule/Sources.h"
#include "dialects/kernel/form/Runs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace cameo {
namespace {

/// Offsets into memory that an operand reads as a sum over loops, each with the distance that a
/// step of it makes: so the part of each loop is computed where that loop's index is known.
class Offsets {
public:
  Offsets(Kernel &kernel, const Access &operand)
      : kernel(kernel), operand(operand), distances(operand.map.getNumDims()) {
    int64_t rank = cast<RankedTensorType>(operand.source.getType()).getRank();
    AffineMap place = operand.place();
    Value stride = kernel.constant(1);
    constant = kernel.constant(0);
    for (int64_t dim = rank; dim-- > 0;) {
      // Checked by matchProduct: without divisions.
      SmallVector<int64_t> factors = *factorsOf(place, dim);
      for (size_t loop = 0; loop < distances.size(); ++loop)
        if (factors[loop] != 0) {
          Value part = kernel.mul(kernel.constant(factors[loop]), stride);
          distances[loop] = distances[loop] ? kernel.add(distances[loop], part) : part;
        }
      constant = kernel.add(constant, kernel.mul(kernel.constant(factors.back()), stride));
      if (operand.pad)
        takeOffPadding(*factorsOf(operand.beneath, dim), stride);
      stride = kernel.outerStride(operand.source, dim, stride);
    }
  }

  /// Offset of loop indices 0.
  Value constantPart() const { return constant; }
  /// `sum` and the part of `loop` at `index`.
  Value add(Value sum, unsigned loop, Value index) const {
    return distances[loop] ? kernel.add(sum, kernel.mul(index, distances[loop])) : sum;
  }

private:
  /// Of a dimension of the memory that is a sum, with these factors, over those of what is padded.
  void takeOffPadding(ArrayRef<int64_t> factors, Value stride) {
    for (size_t dim = 0; dim + 1 < factors.size(); ++dim)
      if (Value amount = factors[dim] != 0 ? kernel.lowPad(operand.pad, dim) : Value()) {
        Value part = kernel.mul(kernel.mul(amount, kernel.constant(factors[dim])), stride);
        constant = kernel.b.createOrFold<arith::SubIOp>(kernel.loc, constant, part);
      }
  }

  Kernel &kernel;
  const Access &operand;
  SmallVector<Value> distances; // by loop; null: the loop does not move it
  Value constant;
};

/// An operand as a block copies it: its place in the product and in shared memory.
struct Copied {
  const Operand &operand;
  ArrayRef<unsigned> across; // its loops of rows or columns
  Value start;               // of the tile, along these
  int64_t size;              // of the tile, along these
  ContractionVectors::Copy vector;
  Value shared;
  int64_t stride; // between steps of depth in shared memory
};

class ContractionEmitter {
public:
  ContractionEmitter(Kernel &kernel, const Product &product, const ContractionTile &tile,
                     const ContractionVectors &vectors)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), product(product), tile(tile),
        vectors(vectors) {}

  void emit() {
    kernel.storesOnce = true;
    extents = kernel.loopSizes(product.generic);
    rows = total(product.rows), columns = total(product.columns);
    Value depth = total(product.depth);
    Value columnTiles = tilesOf(columns, tile.columns), rowTiles = tilesOf(rows, tile.rows);
    SmallVector<Value> order{total(product.batch), rowTiles, columnTiles};
    SmallVector<Value> block = kernel.delinearize(kernel.blockId(), order);
    rowStart = kernel.mul(block[1], kernel.constant(tile.rows));
    columnStart = kernel.mul(block[2], kernel.constant(tile.columns));
    loops.resize(extents.size());
    spread(product.batch, block[0], loops);

    Value rowShared = kernel.sharedMemory(2 * tile.depth * tile.rowStride(), product.sumType);
    Value columnShared = kernel.sharedMemory(2 * tile.depth * tile.columnStride(), product.sumType);
    Copied row{product.row, product.rows, rowStart,        tile.rows,
               vectors.row, rowShared,    tile.rowStride()};
    Copied column{product.column, product.columns, columnStart,        tile.columns,
                  vectors.column, columnShared,    tile.columnStride()};
    Value sums = multiply(row, column, depth);
    for (size_t number = 0; number < product.epilogues.size(); ++number)
      store(sums, number);
  }

private:
  //===-- Indices -----------------------------------------------------------------------------===//

  SmallVector<Value> sizesOf(ArrayRef<unsigned> group) {
    SmallVector<Value> sizes;
    for (unsigned loop : group)
      sizes.push_back(extents[loop]);
    return sizes;
  }

  Value total(ArrayRef<unsigned> group) {
    Value result = kernel.constant(1);
    for (Value size : sizesOf(group))
      result = kernel.mul(result, size);
    return result;
  }

  Value tilesOf(Value extent, int64_t size) {
    if (auto known = getConstantIntValue(extent))
      return kernel.constant(llvm::divideCeil(*known, size));
    return b.create<arith::DivUIOp>(loc, kernel.add(extent, kernel.constant(size - 1)),
                                    kernel.constant(size));
  }

  /// Writes the indices of these loops, of which `index` is the flat one.
  void spread(ArrayRef<unsigned> group, Value index, SmallVector<Value> &place) {
    for (auto [loop, value] : llvm::zip(group, kernel.delinearize(index, sizesOf(group))))
      place[loop] = value;
  }

  Value below(Value index, Value bound) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, bound);
  }

  //===-- Copies and products -----------------------------------------------------------------===//

  /// The sums of the tile, along all of the depth.
  Value multiply(const Copied &row, const Copied &column, Value depth) {
    auto layout = kernel::ThreadTileAttr::get(
        b.getContext(), tile.rows / tile.threadRows, tile.columns / tile.threadColumns,
        tile.threadRows, tile.threadColumns, tile.threadColumns % 8 == 0 ? 8 : 4);
    auto fragment =
        kernel::FragmentType::get(b.getContext(), tile.rows, tile.columns, product.sumType, layout);
    auto offsetOf = [&](const Copied &copied, Value buffer) {
      return kernel.mul(buffer, kernel.constant(tile.depth * copied.stride));
    };
    auto fill = [&](Value step, Value buffer) {
      Value start = kernel.mul(step, kernel.constant(tile.depth));
      copy(row, start, offsetOf(row, buffer));
      copy(column, start, offsetOf(column, buffer));
    };
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(product.sumType));
    Value sum = b.create<kernel::FillFragmentOp>(loc, fragment, zero);
    fill(kernel.constant(0), kernel.constant(0));
    Value steps = tilesOf(depth, tile.depth);
    auto loop = b.create<scf::ForOp>(loc, kernel.constant(0), steps, kernel.constant(1), sum);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar();
    // All have filled this step's buffers and are done with the other ones.
    b.create<gpu::BarrierOp>(loc);
    Value next = b.create<arith::AddIOp>(loc, step, kernel.constant(1));
    Value buffer = b.create<arith::RemUIOp>(loc, step, kernel.constant(2));
    Value other = b.create<arith::SubIOp>(loc, kernel.constant(1), buffer);
    fill(next, other);
    Value rowOffset = offsetOf(row, buffer), columnOffset = offsetOf(column, buffer);
    Value result = b.create<kernel::ContractTileOp>(
        loc, fragment, row.shared, rowOffset, column.shared, columnOffset,
        loop.getRegionIterArgs()[0], tile.depth, row.stride, column.stride);
    b.create<scf::YieldOp>(loc, result);
    return loop.getResult(0);
  }

  /// Copies an operand's tile of the depth from `depthStart` on to `offset` of its shared memory.
  void copy(const Copied &copied, Value depthStart, Value offset) {
    const Operand &operand = copied.operand;
    ArrayRef<Access> reads = operand.value.reads;
    auto type = cast<RankedTensorType>(operand.source.getType());
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type.getElementType()));
    // Rows of the copied tile are depth, columns go across, unless depth is what is consecutive.
    bool alongRows = copied.vector.across == 1 && copied.vector.depth > 1;
    int64_t width = alongRows ? copied.vector.depth : copied.vector.across;
    while ((alongRows ? tile.depth : copied.size) % width != 0)
      width /= 2;

    SmallVector<Value> place(loops); // where an element is, in loop indices
    for (Value &index : place)
      if (!index)
        index = kernel.constant(0);
    Value inside;
    auto require = [&](Value condition) {
      inside = inside ? b.create<arith::AndIOp>(loc, inside, condition).getResult() : condition;
    };
    // What does not change within the tile is computed before it: a step of depth that stays within
    // its innermost loop has one place in the others. Depth is always checked: the copy ahead of
    // the last step asks for what is past the end.
    std::optional<unsigned> steady = steadyLoop();
    if (steady) {
      require(below(depthStart, total(product.depth)));
      spread(product.depth, depthStart, place);
    }
    SmallVector<Offsets> offsets;
    SmallVector<Value> memories, fixed;
    for (const Access &read : reads) {
      Offsets &of = offsets.emplace_back(kernel, read);
      memories.push_back(kernel.memory(read.source));
      Value start = of.constantPart();
      for (unsigned loop : product.batch)
        start = of.add(start, loop, place[loop]);
      if (steady)
        for (unsigned loop : product.depth)
          start = of.add(start, loop, place[loop]);
      fixed.push_back(start);
    }

    auto copy = b.create<kernel::CopyTileOp>(
        loc, memories, copied.shared, offset, zero, tile.depth, copied.size, copied.stride, 1,
        width, alongRows && width > 1, tile.threads(), DenseI64ArrayAttr());
    OpBuilder::InsertionGuard guard(b);
    if (!operand.value.isMemory())
      describeValue(copy, operand, alongRows ? ArrayRef(product.depth) : copied.across);
    Block *body =
        b.createBlock(&copy.getBody(), {}, {b.getIndexType(), b.getIndexType()}, {loc, loc});
    Value localDepth = body->getArgument(0);
    Value index = kernel.add(copied.start, body->getArgument(1));
    Value acrossTotal = total(copied.across);
    if (auto known = getConstantIntValue(acrossTotal); !known || *known % copied.size != 0)
      require(below(index, acrossTotal));
    spread(copied.across, index, place);
    SmallVector<Value> yielded;
    // The part of depth last: what goes across is the same in every step.
    for (auto [of, start] : llvm::zip(offsets, fixed)) {
      Value flat = kernel.constant(0);
      for (unsigned loop : copied.across)
        flat = of.add(flat, loop, place[loop]);
      yielded.push_back(kernel.add(flat, start));
    }
    if (!steady) {
      Value depth = kernel.add(depthStart, localDepth);
      require(below(depth, total(product.depth)));
      spread(product.depth, depth, place);
    }
    for (auto [of, flat] : llvm::zip(offsets, yielded)) {
      if (steady)
        flat = of.add(flat, *steady, localDepth);
      for (unsigned loop : steady ? ArrayRef<unsigned>() : ArrayRef(product.depth))
        flat = of.add(flat, loop, place[loop]);
    }
    if (tensor::PadOp pad = operand.pad) {
      if (steady)
        place[*steady] = kernel.add(place[*steady], localDepth);
      SmallVector<Value> indices = kernel.apply(operand.map, place);
      for (size_t dim = 0; dim < indices.size(); ++dim)
        if (Value amount = kernel.lowPad(pad, dim))
          require(below(b.createOrFold<arith::SubIOp>(loc, indices[dim], amount),
                        kernel.size(pad.getSource(), dim)));
    }
    if (!inside)
      inside = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
    yielded.push_back(inside);
    b.create<kernel::YieldOp>(loc, yielded);
  }

  /// Writes how a copy's elements are computed from what it reads.
  void describeValue(kernel::CopyTileOp copy, const Operand &operand, ArrayRef<unsigned> along) {
    SmallVector<int64_t> widths;
    SmallVector<Type> types;
    for (const Access &read : operand.value.reads) {
      widths.push_back(loadWidth(kernel.op, read, along, product.ranges, copy.getVector()));
      types.push_back(getElementTypeOrSelf(read.source));
    }
    copy.setWidths(widths);
    Block *body =
        b.createBlock(&copy.getValue(), {}, types, SmallVector<Location>(types.size(), loc));
    Value value = computeElement(kernel, operand.value, body->getArguments());
    b.create<kernel::YieldOp>(loc, value);
  }

  /// The innermost loop of depth, if a tile's depth stays within it.
  std::optional<unsigned> steadyLoop() {
    for (unsigned loop : llvm::reverse(product.depth)) {
      int64_t range = product.ranges[loop];
      if (range != 1)
        return !ShapedType::isDynamic(range) && range % tile.depth == 0 ? std::optional(loop)
                                                                        : std::nullopt;
    }
    return std::nullopt;
  }

  //===-- Results -----------------------------------------------------------------------------===//

  /// Loop indices of a row and a column of the block's tile.
  SmallVector<Value> placeOf(Value row, Value column) {
    SmallVector<Value> place(loops);
    spread(product.rows, row, place);
    spread(product.columns, column, place);
    return place;
  }

  /// Stores a result of the dispatch, of whose product these are the sums.
  void store(Value sums, size_t number) {
    const Epilogue &epilogue = product.epilogues[number];
    Value destination = kernel.op.getInitArgs()[number];
    int64_t width = std::min(
        {vectors.store, storeVector(product, number), kernel.layout(destination).alignment});
    // Elements of memory are loaded beforehand where it can be told which; else with the work.
    std::optional<Elementwise> work = workOf(epilogue);
    SmallVector<Value> memories;
    SmallVector<int64_t> widths;
    SmallVector<Type> types{b.getIndexType(), b.getIndexType(), product.sumType};
    for (const Access &read : work ? ArrayRef(work->reads) : ArrayRef<Access>()) {
      memories.push_back(kernel.memory(read.source));
      widths.push_back(loadWidth(kernel.op, read, product.columns, product.ranges, width));
      types.push_back(getElementTypeOrSelf(read.source));
    }
    auto store = b.create<kernel::StoreFragmentOp>(loc, sums, memories, kernel.memory(destination),
                                                   width, b.getDenseI64ArrayAttr(widths));
    if (memories.empty())
      store.removeWidthsAttr();
    OpBuilder::InsertionGuard guard(b);
    if (!memories.empty())
      describeReads(store, *work);
    Block *body =
        b.createBlock(&store.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    Value row = kernel.add(rowStart, body->getArgument(0));
    Value column = kernel.add(columnStart, body->getArgument(1));
    auto isIn = [&](Value index, Value extent, int64_t size) -> Value {
      auto known = getConstantIntValue(extent);
      if (known && *known % size == 0)
        return b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
      return below(index, extent);
    };
    Value rowIn = isIn(row, rows, tile.rows), columnIn = isIn(column, columns, tile.columns);
    Value inside = b.createOrFold<arith::AndIOp>(loc, rowIn, columnIn);
    SmallVector<Value> root = kernel.apply(product.outMap, placeOf(row, column));
    for (const Bound &bound : epilogue.bounds)
      inside = b.createOrFold<arith::AndIOp>(
          loc, inside, below(kernel.apply(bound.at, root), kernel.constant(bound.size)));
    SmallVector<Value> indices = kernel.apply(epilogue.place, root);
    Value offset = kernel.offset(destination, indices);
    Value accumulated = body->getArgument(2);
    Value value =
        work ? computeElement(kernel, *work, body->getArguments().drop_front(3), accumulated)
             : pullElement(epilogue.value, indices, accumulated, inside);
    b.create<kernel::YieldOp>(loc, ValueRange{value, offset, inside});
  }

  /// The elementwise work on an element of the product, where it is the same for all.
  std::optional<Elementwise> workOf(const Epilogue &epilogue) {
    AffineMap place = simplifiedWithin(epilogue.place.compose(product.outMap), product.ranges);
    Access access{epilogue.value, {}, epilogue.value,
                  place,          {}, getElementTypeOrSelf(epilogue.value)};
    return elementwiseOf(access, product.ranges, linalg::GenericOp(product.generic).getResult(0));
  }

  /// Writes where a store's other elements are.
  void describeReads(kernel::StoreFragmentOp store, const Elementwise &work) {
    Block *body =
        b.createBlock(&store.getReads(), {}, {b.getIndexType(), b.getIndexType()}, {loc, loc});
    SmallVector<Value> place = placeOf(kernel.add(rowStart, body->getArgument(0)),
                                       kernel.add(columnStart, body->getArgument(1)));
    for (Value &index : place)
      if (!index)
        index = kernel.constant(0);
    SmallVector<Value> offsets;
    for (const Access &read : work.reads)
      offsets.push_back(kernel.offset(read.source, kernel.apply(read.map, place)));
    b.create<kernel::YieldOp>(loc, offsets);
  }

  /// An element of a result that is computed by pulling; what it reads, only inside.
  Value pullElement(Value result, ValueRange indices, Value accumulated, Value inside) {
    kernel.keep(linalg::GenericOp(product.generic).getResult(0),
                [accumulated](ValueRange) { return accumulated; });
    if (matchPattern(inside, m_One()))
      return kernel.element(result, indices);
    Type type = getElementTypeOrSelf(result);
    auto branch = b.create<scf::IfOp>(loc, TypeRange{type}, inside, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    b.create<scf::YieldOp>(loc, kernel.element(result, indices));
    b.setInsertionPointToStart(branch.elseBlock());
    Value nothing = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
    b.create<scf::YieldOp>(loc, nothing);
    return branch.getResult(0);
  }

  Kernel &kernel;
  OpBuilder &b;
  Location loc;
  const Product &product;
  const ContractionTile &tile;
  const ContractionVectors &vectors;
  SmallVector<Value> extents, loops; // of all loops; indices of those of the batch
  Value rows, columns;               // in all
  Value rowStart, columnStart;       // of the block's tile
};

} // namespace

int64_t storeVector(const Product &product, size_t number) {
  const Epilogue &epilogue = product.epilogues[number];
  SmallVector<Bound> bounds;
  for (const Bound &bound : epilogue.bounds)
    bounds.push_back({bound.at.compose(product.outMap), bound.size});
  auto type = cast<RankedTensorType>(epilogue.value.getType());
  return vectorAlong(epilogue.place.compose(product.outMap), type, product.columns, product.ranges,
                     kGroup, bounds);
}

void emitContraction(Kernel &kernel, const Product &product, const ContractionTile &tile,
                     const ContractionVectors &vectors) {
  ContractionEmitter(kernel, product, tile, vectors).emit();
}

} // namespace cameo
