// What kernels consist of besides elements of the description: sizes, indices, memory, threads.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/DevicePatterns.h"
#include "codegen/schedule/KernelEmitter.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace cameo {

//===-- Sizes and indices ---------------------------------------------------------------------===//

Value KernelWriter::constant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
    known = entry.create<arith::ConstantIndexOp>(loc, value);
  }
  return known;
}

Value KernelWriter::add(Value a, Value c) {
  if (isConstantIntValue(c, 0))
    return a;
  if (isConstantIntValue(a, 0))
    return c;
  return b.createOrFold<arith::AddIOp>(loc, a, c);
}

Value KernelWriter::mul(Value a, Value c) {
  if (isConstantIntValue(c, 1))
    return a;
  if (isConstantIntValue(a, 1))
    return c;
  auto x = getConstantIntValue(a), y = getConstantIntValue(c);
  if (x && y)
    return constant(*x * *y);
  return b.createOrFold<arith::MulIOp>(loc, a, c);
}

Value KernelWriter::size(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return constant(type.getDimSize(dim));
  auto known = dynamicSizes.find({tensor, dim});
  if (known != dynamicSizes.end())
    return known->second;
  Value result;
  Operation *definition = tensor.getDefiningOp();
  if (auto empty = dyn_cast_if_present<tensor::EmptyOp>(definition))
    result = scalar(empty.getDynamicSize(dim));
  else if (auto pad = dyn_cast_if_present<tensor::PadOp>(definition)) {
    auto amount = [&](OpFoldResult ofr) {
      auto known = getConstantIntValue(ofr);
      return known ? constant(*known) : scalar(cast<Value>(ofr));
    };
    result = add(add(size(pad.getSource(), dim), amount(pad.getMixedLowPad()[dim])),
                 amount(pad.getMixedHighPad()[dim]));
  } else if (auto style = dyn_cast_if_present<DestinationStyleOpInterface>(definition)) {
    result = size(style.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  } else if (auto cast = dyn_cast_if_present<tensor::CastOp>(definition)) {
    result = size(cast.getSource(), dim);
  } else if (auto expand = dyn_cast_if_present<tensor::ExpandShapeOp>(definition)) {
    result = scalar(expand.getOutputShape()[type.getDynamicDimIndex(dim)]);
  } else if (auto collapse = dyn_cast_if_present<tensor::CollapseShapeOp>(definition)) {
    result = constant(1);
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
    for (int64_t part : CAMEO_MUTANT(
             43, ArrayRef<int64_t>(groups[dim]),
             ArrayRef<int64_t>(std::vector<int64_t>(groups[dim].begin(), groups[dim].end()))))
      result = mul(result, size(collapse.getSrc(), part));
  } else if (auto slice = dyn_cast_if_present<tensor::ExtractSliceOp>(definition)) {
    if (slice.getType().getRank() == slice.getSourceType().getRank())
      result = scalar(llvm::cast<Value>(slice.getMixedSizes()[dim]));
  }
  if (!result) {
    emitError(loc) << "size " << dim << " of a tensor in the description is not known";
    broken = true;
    return constant(1);
  }
  return result;
}

SmallVector<Value> KernelWriter::sizes(Value tensor) {
  SmallVector<Value> result;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim)
    result.push_back(size(tensor, dim));
  return result;
}

SmallVector<Value> KernelWriter::loopSizes(linalg::LinalgOp linalgOp) {
  SmallVector<int64_t> known = linalgOp.getStaticLoopRanges();
  SmallVector<Value> result(known.size());
  for (auto [dim, range] : llvm::enumerate(known)) {
    if (!ShapedType::isDynamic(range)) {
      result[dim] = constant(range);
      continue;
    }
    for (OpOperand &operand : linalgOp->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()) || result[dim])
        continue;
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      for (auto [position, expr] : llvm::enumerate(map.getResults()))
        if (expr == getAffineDimExpr(dim, b.getContext()) && !result[dim])
          result[dim] = size(operand.get(), position);
    }
    if (!result[dim]) {
      emitError(loc) << "extent of loop " << dim << " of the description is not known";
      broken = true;
      result[dim] = constant(1);
    }
  }
  return result;
}

Value KernelWriter::linearize(ValueRange indices, ArrayRef<Value> extents) {
  Value result;
  for (auto [index, extent] : llvm::zip(indices, extents))
    result = result ? add(mul(result, extent), index) : index;
  return result ? result : constant(0);
}

/// `sum` as a multiple of `size` and an index that is less, where that is how it was made.
static std::optional<std::pair<Value, Value>>
partsOf(Value sum, int64_t size, const llvm::DenseMap<Value, int64_t> &bounds) {
  auto add = sum.getDefiningOp<arith::AddIOp>();
  auto multiple = add ? add.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto bound = add ? bounds.find(add.getRhs()) : bounds.end();
  if (!multiple || bound == bounds.end() || bound->second > size ||
      getConstantIntValue(multiple.getRhs()) != size)
    return std::nullopt;
  return std::pair(multiple.getLhs(), add.getRhs());
}

SmallVector<Value> KernelWriter::delinearize(Value flat, ArrayRef<Value> extents) {
  SmallVector<Value> result(extents.size());
  for (size_t i = extents.size(); i-- > 0;) {
    if (isConstantIntValue(extents[i], 1)) {
      result[i] = constant(0);
      continue;
    }
    bool outermost = llvm::all_of(ArrayRef<Value>(extents).take_front(i),
                                  [](Value extent) { return isConstantIntValue(extent, 1); });
    if (outermost) {
      result[i] = flat;
      flat = constant(0);
      continue;
    }
    if (auto known = getConstantIntValue(extents[i]))
      if (auto parts = partsOf(flat, *known, bounds)) {
        std::tie(flat, result[i]) = *parts;
        continue;
      }
    result[i] = b.create<arith::RemUIOp>(loc, flat, extents[i]);
    flat = b.create<arith::DivUIOp>(loc, flat, extents[i]);
  }
  return result;
}

SmallVector<Value> KernelWriter::placeOf(Value flat, ArrayRef<Value> sizes) {
  place = {flat, SmallVector<Value>(sizes), delinearize(flat, sizes)};
  return place.indices;
}

Value KernelWriter::apply(AffineExpr expr, ValueRange dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto known = dyn_cast<AffineConstantExpr>(expr))
    return constant(known.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value left = apply(binary.getLHS(), dims), right = apply(binary.getRHS(), dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(left, right);
  case AffineExprKind::Mul:
    return mul(left, right);
  case AffineExprKind::Mod:
    return b.create<arith::RemSIOp>(loc, left, right);
  case AffineExprKind::FloorDiv:
    return b.create<arith::FloorDivSIOp>(loc, left, right);
  default:
    return b.create<arith::CeilDivSIOp>(loc, left, right);
  }
}

SmallVector<Value> KernelWriter::apply(AffineMap map, ValueRange dims) {
  SmallVector<Value> result;
  for (AffineExpr expr : map.getResults())
    result.push_back(apply(expr, dims));
  return result;
}

//===-- Addresses -----------------------------------------------------------------------------===//

Value KernelWriter::outerStride(Value tensor, int64_t dim, Value stride) {
  const OperandLayout &place = layout(tensor);
  if (place.isContiguous() || dim == 0)
    return mul(stride, size(tensor, dim));
  int64_t known = place.strides[dim - 1];
  return ShapedType::isDynamic(known) ? dynamicStrides.at({tensor, dim - 1}) : constant(known);
}

Value KernelWriter::offset(Value tensor, ValueRange indices) {
  if (layout(tensor).isContiguous()) {
    SmallVector<Value> extents = sizes(tensor);
    bool isPlace = place.flat && llvm::equal(indices, place.indices) && extents == place.sizes;
    return isPlace ? place.flat : linearize(indices, extents);
  }
  Value stride = constant(1), result = constant(0);
  for (size_t dim = indices.size(); dim-- > 0;) {
    result = add(mul(indices[dim], stride), result);
    stride = outerStride(tensor, dim, stride);
  }
  return result;
}

Value KernelWriter::wide(Value index) {
  if (auto known = getConstantIntValue(index))
    return b.create<arith::ConstantIntOp>(loc, *known, 64);
  return b.create<arith::IndexCastOp>(loc, b.getI64Type(), index);
}

Value KernelWriter::wideOffset(ValueRange indices, ArrayRef<Value> extents) {
  auto add = [&](Value a, Value c) { return b.createOrFold<arith::AddIOp>(loc, a, c); };
  auto mul = [&](Value a, Value c) { return b.createOrFold<arith::MulIOp>(loc, a, c); };
  Value result;
  for (auto [index, extent] : llvm::zip(indices, extents))
    result = result ? add(mul(result, wide(extent)), wide(index)) : wide(index);
  return result ? result : wide(constant(0));
}

Value KernelWriter::wideOffset(Value tensor, ValueRange indices) {
  if (layout(tensor).isContiguous())
    return wideOffset(indices, sizes(tensor));
  Value result = wide(constant(0));
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    Value stride = dim + 1 < indices.size() ? outerStride(tensor, dim + 1, {}) : constant(1);
    Value part = b.createOrFold<arith::MulIOp>(loc, wide(indices[dim]), wide(stride));
    result = b.createOrFold<arith::AddIOp>(loc, result, part);
  }
  return result;
}

Value KernelWriter::advanced(Value memory, Value offset) {
  Value result = b.create<kernel::AdvanceOp>(loc, memory.getType(), memory, offset);
  if (auto known = alignments.find(memory); known != alignments.end()) {
    int64_t alignment = known->second;
    alignments[result] = alignment;
  }
  return result;
}

KernelWriter::Address KernelWriter::address(Value tensor, ValueRange indices) {
  if (!isFar)
    return {memory(tensor), offset(tensor, indices)};
  return {advanced(memory(tensor), wideOffset(tensor, indices)), constant(0)};
}

//===-- Memory and threads --------------------------------------------------------------------===//

Value KernelWriter::sharedMemory(int64_t count, Type type) {
  synchronises = true;
  ownSharedBytes += count * llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto memory = MemRefType::get({count}, type, MemRefLayoutAttrInterface(), space);
  return function.addWorkgroupAttribution(memory, loc);
}

TypedValue<kernel::TileType> KernelWriter::tile(kernel::TileType type, ValueRange over) {
  synchronises = true;
  return b.create<kernel::AllocTileOp>(loc, type, over).getResult();
}

/// Elements in 16 bytes.
static int64_t widestAccess(Type type) {
  return type.isInteger(1) ? 1 : 128 / type.getIntOrFloatBitWidth();
}

static IntegerAttr alignment(OpBuilder &b, Type type, int64_t lanes) {
  return b.getI64IntegerAttr(lanes * type.getIntOrFloatBitWidth() / 8);
}

int64_t KernelWriter::alignmentOf(Value memory, int64_t lanes) {
  auto known = alignments.find(memory);
  return known == alignments.end() ? lanes : std::min(lanes, known->second);
}

Value KernelWriter::loadVector(Value memory, Value offset, int64_t lanes) {
  Type type = cast<MemRefType>(memory.getType()).getElementType();
  auto load = b.create<vector::LoadOp>(loc, VectorType::get({lanes}, type), memory, offset);
  load->setAttr(kAlignmentAttr, alignment(b, type, alignmentOf(memory, lanes)));
  return load;
}

SmallVector<Value> KernelWriter::load(Value memory, Value offset, int64_t lanes) {
  int64_t piece = std::min(alignmentOf(memory, lanes),
                           widestAccess(cast<MemRefType>(memory.getType()).getElementType()));
  SmallVector<Value> result;
  for (int64_t lane = 0; lane < lanes; lane += piece) {
    Value at = add(offset, constant(lane));
    if (piece == 1) {
      result.push_back(b.create<memref::LoadOp>(loc, memory, at));
      continue;
    }
    Value vector = loadVector(memory, at, piece);
    for (int64_t i = 0; i < piece; ++i)
      result.push_back(b.create<vector::ExtractOp>(loc, vector, i));
  }
  return result;
}

void KernelWriter::storeVector(Value memory, Value offset, ArrayRef<Value> lanes) {
  Type type = lanes[0].getType();
  int64_t piece = std::min(alignmentOf(memory, lanes.size()), widestAccess(type));
  for (int64_t lane = 0, count = lanes.size(); lane < count; lane += piece) {
    Value at = add(offset, constant(lane));
    if (piece == 1) {
      b.create<memref::StoreOp>(loc, lanes[lane], memory, at);
      continue;
    }
    Value vector = b.create<vector::FromElementsOp>(loc, VectorType::get({piece}, type),
                                                    lanes.slice(lane, piece));
    auto store = b.create<vector::StoreOp>(loc, vector, memory, at);
    store->setAttr(kAlignmentAttr, alignment(b, type, piece));
  }
}

Value KernelWriter::threadId() { return b.create<gpu::ThreadIdOp>(loc, gpu::Dimension::x); }
Value KernelWriter::blockId(gpu::Dimension dim) { return b.create<gpu::BlockIdOp>(loc, dim); }

} // namespace cameo
