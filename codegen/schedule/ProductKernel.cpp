// See ProductKernel.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ProductKernel.h"

#include "codegen/schedule/Sources.h"
#include "dialects/kernel/form/Runs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

using namespace mlir;

namespace cameo {

//===-- Offsets -----------------------------------------------------------------------------===//

ProductOffsets::ProductOffsets(KernelWriter &kernel, const Access &operand)
    : kernel(&kernel), source(operand.source), place(operand.place()),
      distances(operand.map.getNumDims()) {
  int64_t rank = cast<RankedTensorType>(operand.source.getType()).getRank();
  Value stride = kernel.constant(1);
  constant = padding = kernel.constant(0);
  for (int64_t dim = rank; dim-- > 0;) {
    // Checked by matchProduct: without divisions.
    SmallVector<int64_t> factors = *factorsOf(place, dim);
    bool isRead = operand.index && operand.index->dim == dim;
    if (isRead)
      ofIndex = stride;
    for (size_t loop = 0; loop < distances.size() && !isRead; ++loop)
      if (factors[loop] != 0) {
        Value part = kernel.mul(kernel.constant(factors[loop]), stride);
        distances[loop] = distances[loop] ? kernel.add(distances[loop], part) : part;
      }
    constant = kernel.add(constant, kernel.mul(kernel.constant(factors.back()), stride));
    if (operand.pad)
      takeOffPadding(operand, *factorsOf(operand.beneath, dim), stride);
    stride = kernel.outerStride(operand.source, dim, stride);
  }
  constant = kernel.add(constant, padding);
}

/// Of a dimension of the memory that is a sum, with these factors, over those of what is padded.
void ProductOffsets::takeOffPadding(const Access &operand, ArrayRef<int64_t> factors,
                                    Value stride) {
  for (size_t dim = 0; dim + 1 < factors.size(); ++dim)
    if (Value amount = factors[dim] != 0 ? kernel->lowPad(operand.pad, dim) : Value()) {
      Value part = kernel->mul(kernel->mul(amount, kernel->constant(factors[dim])), stride);
      padding = kernel->b.createOrFold<arith::SubIOp>(kernel->loc, padding, part);
    }
}

Value ProductOffsets::memoryFrom(ArrayRef<Value> indices) const {
  return kernel->advanced(kernel->memory(source),
                          kernel->wideOffset(source, kernel->apply(place, indices)));
}

bool ProductOffsets::isEvenAlong(ArrayRef<unsigned> loops, ArrayRef<int64_t> ranges) const {
  auto distanceOf = [&](unsigned loop) {
    return distances[loop] ? getConstantIntValue(distances[loop]) : std::optional<int64_t>(0);
  };
  for (size_t i = 0; i + 1 < loops.size(); ++i) {
    std::optional<int64_t> outer = distanceOf(loops[i]), inner = distanceOf(loops[i + 1]);
    if (!outer || !inner || *outer != *inner * ranges[loops[i + 1]])
      return false;
  }
  return true;
}

Value ProductOffsets::addDistance(Value sum, unsigned loop, Value from, Value to) const {
  return add(sum, loop, kernel->b.createOrFold<arith::SubIOp>(kernel->loc, to, from));
}

//===-- Indices -----------------------------------------------------------------------------===//

ProductKernel::ProductKernel(KernelWriter &kernel, const Product &product, int64_t tileRows,
                             int64_t tileColumns, const DepthParts &parts)
    : kernel(kernel), b(kernel.b), loc(kernel.loc), product(product), parts(parts),
      tileRows(tileRows), tileColumns(tileColumns) {
  extents = kernel.loopSizes(product.generic);
  rows = total(product.rows), columns = total(product.columns);
  Value columnTiles = tilesOf(columns, tileColumns), rowTiles = tilesOf(rows, tileRows);
  SmallVector<Value> order{kernel.constant(parts.count), total(product.batch), rowTiles,
                           columnTiles};
  SmallVector<Value> block = kernel.delinearize(kernel.blockId(), order);
  depthPart = block[0];
  rowStart = kernel.mul(block[2], kernel.constant(tileRows));
  columnStart = kernel.mul(block[3], kernel.constant(tileColumns));
  loops.resize(extents.size());
  spread(product.batch, block[1], loops);
  if (product.row.padding())
    rowPadding = kernel.padding(product.row.pad);
  if (product.column.padding())
    columnPadding = kernel.padding(product.column.pad);
}

SmallVector<Value> ProductKernel::sizesOf(ArrayRef<unsigned> group) {
  SmallVector<Value> sizes;
  for (unsigned loop : group)
    sizes.push_back(extents[loop]);
  return sizes;
}

Value ProductKernel::total(ArrayRef<unsigned> group) {
  Value result = kernel.constant(1);
  for (Value size : sizesOf(group))
    result = kernel.mul(result, size);
  return result;
}

Value ProductKernel::tilesOf(Value extent, int64_t size) {
  if (auto known = getConstantIntValue(extent))
    return kernel.constant(llvm::divideCeil(*known, size));
  return b.create<arith::DivUIOp>(loc, kernel.add(extent, kernel.constant(size - 1)),
                                  kernel.constant(size));
}

void ProductKernel::spread(ArrayRef<unsigned> group, Value index, SmallVector<Value> &place) {
  for (auto [loop, value] : llvm::zip(group, kernel.delinearize(index, sizesOf(group))))
    place[loop] = value;
}

std::pair<Value, Value> ProductKernel::stepsOfPart(Value steps) {
  if (parts.count == 1)
    return {kernel.constant(0), steps};
  Value most = tilesOf(steps, parts.count), first = kernel.mul(depthPart, most);
  if (auto known = getConstantIntValue(steps); known && *known % parts.count == 0)
    return {first, most};
  // The last parts may have fewer, or none.
  Value begin = b.create<arith::MinUIOp>(loc, first, steps);
  Value rest = b.create<arith::SubIOp>(loc, steps, begin);
  return {begin, b.create<arith::MinUIOp>(loc, rest, most)};
}

Value ProductKernel::below(Value index, Value bound) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, index, bound);
}

Value ProductKernel::isIn(Value index, Value bound, int64_t size) {
  auto known = getConstantIntValue(bound);
  if (known && *known % size == 0)
    return b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
  return below(index, bound);
}

SmallVector<Value> ProductKernel::placeOfBatch() {
  SmallVector<Value> place(loops);
  for (Value &index : place)
    if (!index)
      index = kernel.constant(0);
  return place;
}

//===-- Operands ----------------------------------------------------------------------------===//

Value ProductKernel::paddingOf(const Operand &operand, Type type) {
  Value given = &operand == &product.row ? rowPadding : columnPadding;
  return given ? given : b.create<arith::ConstantOp>(loc, b.getZeroAttr(type)).getResult();
}

Value ProductKernel::computeOperand(const Operand &operand, ArrayRef<Value> loaded, Type type) {
  auto from = cast<kernel::FragmentType>(loaded[0].getType());
  if (operand.value.isMemory() && from.getElementType() == type)
    return loaded[0];
  auto result = kernel::FragmentType::get(b.getContext(), from.getRows(), from.getCols(), type,
                                          from.getLayout());
  auto map = b.create<kernel::MapFragmentOp>(loc, result, loaded);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types{b.getIndexType(), b.getIndexType()};
  for (Value part : loaded)
    types.push_back(cast<kernel::FragmentType>(part.getType()).getElementType());
  Block *body = b.createBlock(&map.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  ValueRange elements = body->getArguments().drop_front(2);
  Value element = operand.value.isMemory() ? elements[0] : computeInside(operand, elements);
  if (element.getType() != type && isa<FloatType>(type))
    element = b.create<arith::ExtFOp>(loc, type, element);
  else if (element.getType() != type && operand.isUnsigned)
    element = b.create<arith::ExtUIOp>(loc, type, element);
  else if (element.getType() != type)
    element = b.create<arith::ExtSIOp>(loc, type, element);
  b.create<kernel::YieldOp>(loc, element);
  return map;
}

/// An element of what is computed; outside it is the operand's padding, whatever it makes of what
/// it reads there, and what may trap is not done.
Value ProductKernel::computeInside(const Operand &operand, ValueRange loaded) {
  Value inside = loaded.back();
  Block *body = b.getBlock();
  Value value = computeElement(kernel, operand.value, loaded.drop_back());
  auto work = llvm::map_to_vector(*body, [](Operation &op) { return &op; });
  Value padding = paddingOf(operand, value.getType());
  if (llvm::all_of(work, [](Operation *op) { return isSpeculatable(op); }))
    return b.create<arith::SelectOp>(loc, inside, value, padding);
  auto branch = b.create<scf::IfOp>(loc, value.getType(), inside, /*withElseRegion=*/true);
  for (Operation *op : work)
    op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  branch.getThenBodyBuilder().create<scf::YieldOp>(loc, value);
  branch.getElseBodyBuilder().create<scf::YieldOp>(loc, padding);
  return branch.getResult(0);
}

SmallVector<Value> ProductKernel::stageIndices(const Operand &operand, ArrayRef<unsigned> across,
                                               Value start, int64_t size, int64_t threads) {
  SmallVector<Value> staged;
  for (const Access &read : operand.value.reads) {
    Value &memory = staged.emplace_back();
    if (!read.index)
      continue;
    memory = kernel.sharedMemory(size, b.getI64Type());
    auto loop = b.create<scf::ForOp>(loc, kernel.threadId(), kernel.constant(size),
                                     kernel.constant(threads));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    // Behind the last one it is read again: nobody asks for what is there.
    Value last = b.createOrFold<arith::SubIOp>(loc, total(across), kernel.constant(1));
    Value at = b.create<arith::MinUIOp>(loc, kernel.add(start, loop.getInductionVar()), last);
    SmallVector<Value> place = placeOfBatch();
    spread(across, at, place);
    Value index = kernel.bodyValue(read.index->generic, kernel.apply(read.index->loops, place),
                                   read.index->value);
    b.create<memref::StoreOp>(loc, kernel.wide(index), memory, loop.getInductionVar());
  }
  if (operand.isGathered())
    b.create<gpu::BarrierOp>(loc);
  return staged;
}

Value ProductKernel::addStaged(Value sum, const ProductOffsets &offsets, Value staged,
                               Value local) {
  Value index = b.create<memref::LoadOp>(loc, staged, local);
  return offsets.addRead(sum, b.create<arith::IndexCastOp>(loc, b.getIndexType(), index));
}

//===-- Results -----------------------------------------------------------------------------===//

ProductKernel::Origin ProductKernel::originOfTile() {
  if (!kernel.isFar)
    return {};
  Origin origin{placeOf(rowStart, columnStart), {}};
  for (Value &index : origin.loops)
    if (!index)
      index = kernel.constant(0);
  origin.root = kernel.apply(product.outMap, origin.loops);
  return origin;
}

Value ProductKernel::Origin::memory(KernelWriter &kernel, Value tensor, AffineMap map,
                                    ArrayRef<Value> from) const {
  Value whole = kernel.memory(tensor);
  return from.empty() ? whole
                      : kernel.advanced(whole, kernel.wideOffset(tensor, kernel.apply(map, from)));
}

Value ProductKernel::Origin::offset(KernelWriter &kernel, Value tensor, AffineMap map,
                                    ArrayRef<Value> from, ArrayRef<Value> at) const {
  SmallVector<Value> indices = kernel.apply(map, at);
  if (from.empty())
    return kernel.offset(tensor, indices);
  // Of differences, since an offset is a sum of indices times strides.
  for (auto [index, first] : llvm::zip(indices, kernel.apply(map, from)))
    index = kernel.b.createOrFold<arith::SubIOp>(kernel.loc, index, first);
  return kernel.offset(tensor, indices);
}

/// Loop indices of a row and a column of the block's tile.
SmallVector<Value> ProductKernel::placeOf(Value row, Value column) {
  SmallVector<Value> place(loops);
  spread(product.rows, row, place);
  spread(product.columns, column, place);
  return place;
}

/// Where the row of a fragment is among all rows.
Value ProductKernel::rowOf(Value row, const Rows &rows) {
  if (rows.together == rows.apart)
    return kernel.add(rowStart, row);
  Value together = kernel.constant(rows.together);
  Value group = b.createOrFold<arith::DivUIOp>(loc, row, together);
  Value within = b.createOrFold<arith::RemUIOp>(loc, row, together);
  Value start = kernel.add(rowStart, kernel.mul(group, kernel.constant(rows.apart)));
  return kernel.add(start, kernel.add(within, kernel.constant(rows.first)));
}

int64_t ProductKernel::storeWidth(size_t number, int64_t most) {
  return std::min(storeVector(product, number, most),
                  kernel.layout(kernel.op.getInitArgs()[number]).alignment);
}

static size_t indexIn(ArrayRef<std::pair<Value, Value>> kept, Value tensor) {
  return llvm::find_if(kept, [&](auto &entry) { return entry.first == tensor; }) - kept.begin();
}

void ProductKernel::store(const Kept &kept, size_t number, int64_t vector, const Rows &part) {
  const Epilogue &epilogue = product.epilogues[number];
  Value destination = kernel.op.getInitArgs()[number];
  int64_t width = storeWidth(number, vector);
  // Elements of memory are loaded beforehand where it can be told which; else with the work.
  std::optional<Elementwise> work = product.workOf(epilogue);
  SmallVector<Value> memories, fragments;
  SmallVector<int64_t> widths;
  SmallVector<Type> types{b.getIndexType(), b.getIndexType()};
  for (auto [tensor, fragment] : kept) {
    fragments.push_back(fragment);
    types.push_back(cast<kernel::FragmentType>(fragment.getType()).getElementType());
  }
  Origin origin = originOfTile();
  for (const Access &read : work ? ArrayRef(work->reads) : ArrayRef<Access>()) {
    memories.push_back(origin.memory(kernel, read.source, read.map, origin.loops));
    widths.push_back(loadWidth(kernel.op, read, product.columns, product.ranges, width));
    types.push_back(getElementTypeOrSelf(read.source));
  }
  auto store = b.create<kernel::StoreFragmentOp>(
      loc, fragments.front(), ArrayRef(fragments).drop_front(), memories,
      origin.memory(kernel, destination, epilogue.place, origin.root), width,
      b.getDenseI64ArrayAttr(widths));
  if (memories.empty())
    store.removeWidthsAttr();
  OpBuilder::InsertionGuard guard(b);
  if (!memories.empty())
    describeReads(store, *work, part, origin);
  Block *body =
      b.createBlock(&store.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  Value row = rowOf(body->getArgument(0), part);
  Value column = kernel.add(columnStart, body->getArgument(1));
  Value rowIn = isIn(row, rows, tileRows), columnIn = isIn(column, columns, tileColumns);
  Value inside = b.createOrFold<arith::AndIOp>(loc, rowIn, columnIn);
  SmallVector<Value> root = kernel.apply(product.outMap, placeOf(row, column));
  for (const Bound &bound : epilogue.bounds)
    inside = b.createOrFold<arith::AndIOp>(
        loc, inside, below(kernel.apply(bound.at, root), kernel.constant(bound.size)));
  SmallVector<Value> indices = kernel.apply(epilogue.place, root);
  Value offset = origin.offset(kernel, destination, epilogue.place, origin.root, root);
  auto elements = body->getArguments().slice(2, kept.size());
  auto read = body->getArguments().drop_front(2 + kept.size());
  Value value =
      work ? computeElement(kernel, *work, read,
                            [&](Value tensor) -> Value { return elements[indexIn(kept, tensor)]; })
           : pullElement(epilogue.value, indices, elements.front(), inside);
  b.create<kernel::YieldOp>(loc, ValueRange{value, offset, inside});
}

SmallVector<unsigned> orderOfParts(const Product &product) {
  Value sums = product.sums();
  auto type = cast<RankedTensorType>(sums.getType());
  llvm::SmallSetVector<unsigned, 8> order;
  for (AffineExpr expr : product.epilogues.front().place.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      order.insert(dim.getPosition());
  SmallVector<unsigned> rest;
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (!order.contains(dim))
      rest.push_back(dim);
  // Several dimensions that are one there have no order of their own.
  if (!llvm::all_of(rest, [&](unsigned dim) { return type.getDimSize(dim) == 1; }))
    return llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
  llvm::append_range(rest, order);
  return rest;
}

AffineMap placeOfParts(const Product &product) {
  SmallVector<AffineExpr> place;
  for (unsigned dim : orderOfParts(product))
    place.push_back(product.outMap.getResult(dim));
  return AffineMap::get(product.outMap.getNumDims(), 0, place, product.outMap.getContext());
}

SmallVector<Value> ProductKernel::sizesOfParts() {
  SmallVector<Value> sizes;
  for (unsigned dim : orderOfParts(product))
    sizes.push_back(kernel.size(product.sums(), dim));
  sizes.insert(sizes.begin() + parts.dim, kernel.constant(parts.count));
  return sizes;
}

SmallVector<Value> ProductKernel::placeInParts(Value row, Value column) {
  SmallVector<Value> indices = kernel.apply(placeOfParts(product), placeOf(row, column));
  indices.insert(indices.begin() + parts.dim, depthPart);
  return indices;
}

int64_t ProductKernel::widthOfParts(int64_t most) {
  SmallVector<AffineExpr> place(placeOfParts(product).getResults());
  place.insert(place.begin() + parts.dim, b.getAffineConstantExpr(0));
  return vectorAlong(AffineMap::get(product.outMap.getNumDims(), 0, place, b.getContext()),
                     cast<RankedTensorType>(parts.sums.getType()), product.columns, product.ranges,
                     most);
}

void ProductKernel::storePart(Value sums, int64_t vector, const Rows &part) {
  SmallVector<Value> sizes = sizesOfParts(), origin = placeInParts(rowStart, columnStart);
  Value memory = kernel.memory(parts.sums);
  if (kernel.isFar)
    memory = kernel.advanced(memory, kernel.wideOffset(origin, sizes));
  auto store = b.create<kernel::StoreFragmentOp>(loc, sums, ValueRange(), ValueRange(), memory,
                                                 widthOfParts(vector), DenseI64ArrayAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *body =
      b.createBlock(&store.getBody(), {}, {b.getIndexType(), b.getIndexType(), product.sumType},
                    SmallVector<Location>(3, loc));
  Value row = rowOf(body->getArgument(0), part);
  Value column = kernel.add(columnStart, body->getArgument(1));
  Value inside = b.createOrFold<arith::AndIOp>(loc, isIn(row, rows, tileRows),
                                               isIn(column, columns, tileColumns));
  SmallVector<Value> indices = placeInParts(row, column);
  if (kernel.isFar)
    for (auto [index, first] : llvm::zip(indices, origin))
      index = b.createOrFold<arith::SubIOp>(loc, index, first);
  b.create<kernel::YieldOp>(
      loc, ValueRange{body->getArgument(2), kernel.linearize(indices, sizes), inside});
}

void ProductKernel::storePartAt(Value row, Value column, ArrayRef<Value> sums) {
  SmallVector<Value> sizes = sizesOfParts();
  int64_t width = std::gcd<int64_t>(widthOfParts(sums.size()), sums.size());
  for (int64_t first = 0; first < int64_t(sums.size()); first += width) {
    SmallVector<Value> place = placeInParts(row, kernel.add(column, kernel.constant(first)));
    Value memory = kernel.memory(parts.sums), offset = kernel.constant(0);
    if (kernel.isFar)
      memory = kernel.advanced(memory, kernel.wideOffset(place, sizes));
    else
      offset = kernel.linearize(place, sizes);
    kernel.storeVector(memory, offset, sums.slice(first, width));
  }
}

/// Writes where a store's other elements are.
void ProductKernel::describeReads(kernel::StoreFragmentOp store, const Elementwise &work,
                                  const Rows &part, const Origin &origin) {
  Block *body =
      b.createBlock(&store.getReads(), {}, {b.getIndexType(), b.getIndexType()}, {loc, loc});
  SmallVector<Value> place =
      placeOf(rowOf(body->getArgument(0), part), kernel.add(columnStart, body->getArgument(1)));
  for (Value &index : place)
    if (!index)
      index = kernel.constant(0);
  SmallVector<Value> offsets;
  for (const Access &read : work.reads)
    offsets.push_back(origin.offset(kernel, read.source, read.map, origin.loops, place));
  b.create<kernel::YieldOp>(loc, offsets);
}

/// An element of a result that is computed by pulling; what it reads, only inside.
Value ProductKernel::pullElement(Value result, ValueRange indices, Value accumulated,
                                 Value inside) {
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

int64_t storeVector(const Product &product, size_t number, int64_t most) {
  const Epilogue &epilogue = product.epilogues[number];
  SmallVector<Bound> bounds;
  for (const Bound &bound : epilogue.bounds)
    bounds.push_back({bound.at.compose(product.outMap), bound.size});
  auto type = cast<RankedTensorType>(epilogue.value.getType());
  return vectorAlong(epilogue.place.compose(product.outMap), type, product.columns, product.ranges,
                     most, bounds);
}

} // namespace cameo
