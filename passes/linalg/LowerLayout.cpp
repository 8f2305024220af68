// Operators that move elements: Transpose, Expand, Tile, DepthToSpace, SpaceToDepth, Concat.
//
//   onnx.Transpose  ==>  linalg.generic with a permutation as the input's map
//   onnx.Concat     ==>  rt.concat
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Slicing.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace cameo {

//===-- Transpose -----------------------------------------------------------------------------===//

/// `data` with its dimensions in the order of `permutation`.
static Lowered transposed(Location loc, Lowering &l, const Lowered &data,
                          ArrayRef<int64_t> permutation) {
  Sizes sizes;
  SmallVector<int64_t> moving; // those that are not 1
  for (int64_t from : permutation) {
    sizes.push_back(data.sizes[from]);
    if (!isConstantIntValue(data.sizes[from], 1))
      moving.push_back(from);
  }
  if (llvm::is_sorted(moving))
    return l.build.reshape(loc, data, sizes);
  SmallVector<AffineExpr> source(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    source[from] = getAffineDimExpr(to, loc.getContext());
  Value result = readThrough(l, loc, data, source, sizes);
  return {result, sizes, data.elementType};
}

static FailureOr<SmallVector<int64_t>> permutationOf(onnx::TransposeOp op, int64_t rank) {
  SmallVector<int64_t> permutation;
  if (auto given = op.getPerm()) {
    permutation.assign(given->begin(), given->end());
  } else {
    for (int64_t i = rank; i-- > 0;)
      permutation.push_back(i);
  }
  if (static_cast<int64_t>(permutation.size()) != rank || !isPermutationVector(permutation))
    return failure();
  return permutation;
}

static LogicalResult lowerTranspose(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  auto permutation = permutationOf(cast<onnx::TransposeOp>(op), data.rank());
  if (failed(permutation))
    return l.unsupported(op, "perm is no permutation of the " + Twine(data.rank()) +
                                 " dimensions of the input");
  l.define(op, 0, transposed(op->getLoc(), l, data, *permutation));
  return success();
}

static FailureOr<Sizes> hostTranspose(Operation *op, unsigned, Lowering &l) {
  FailureOr<HostArray> data = hostArray(op, 0, l);
  if (failed(data))
    return failure();
  auto permutation = permutationOf(cast<onnx::TransposeOp>(op), data->shape.size());
  if (failed(permutation))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t from : *permutation)
    shape.push_back(data->shape[from]);
  return hostElements(shape, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> source(at.size());
    for (auto [to, from] : llvm::enumerate(*permutation))
      source[from] = at[to];
    return data->at(source);
  });
}

//===-- DepthToSpace, SpaceToDepth ------------------------------------------------------------===//

static LogicalResult lowerDepthToSpace(Operation *op, Lowering &l) {
  auto depth = cast<onnx::DepthToSpaceOp>(op);
  Lowered data = l.operand(op, 0);
  int64_t block = depth.getBlocksize();
  if (data.rank() != 4)
    return l.unsupported(op, "the input has rank " + Twine(data.rank()) + "; it must have 4");
  Location loc = op->getLoc();
  ArrayRef<OpFoldResult> in = data.sizes;
  OpFoldResult size = l.plan.index(block), area = l.plan.index(block * block);
  OpFoldResult channels = l.plan.floorDiv(in[1], area);
  if (failed(l.plan.check(op, l.plan.equal(l.plan.mul(channels, area), in[1]),
                          "{0} channels are not a multiple of {1}, the square of blocksize", in[1],
                          area)))
    return failure();
  bool columnRow = depth.getMode() == "CRD";
  Sizes split = columnRow ? Sizes{in[0], channels, size, size, in[2], in[3]}
                          : Sizes{in[0], size, size, channels, in[2], in[3]};
  SmallVector<int64_t> order =
      columnRow ? SmallVector<int64_t>{0, 1, 4, 2, 5, 3} : SmallVector<int64_t>{0, 3, 4, 1, 5, 2};
  Lowered moved = transposed(loc, l, l.build.reshape(loc, data, split), order);
  l.define(op, 0,
           l.build.reshape(loc, moved,
                           {in[0], channels, l.plan.mul(in[2], size), l.plan.mul(in[3], size)}));
  return success();
}

static LogicalResult lowerSpaceToDepth(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  int64_t block = cast<onnx::SpaceToDepthOp>(op).getBlocksize();
  if (data.rank() != 4)
    return l.unsupported(op, "the input has rank " + Twine(data.rank()) + "; it must have 4");
  Location loc = op->getLoc();
  ArrayRef<OpFoldResult> in = data.sizes;
  OpFoldResult size = l.plan.index(block);
  OpFoldResult rows = l.plan.floorDiv(in[2], size), columns = l.plan.floorDiv(in[3], size);
  for (auto [blocks, whole] : {std::pair(rows, in[2]), std::pair(columns, in[3])})
    if (failed(l.plan.check(op, l.plan.equal(l.plan.mul(blocks, size), whole),
                            "a size of {0} is not a multiple of blocksize {1}", whole, size)))
      return failure();
  Lowered split = l.build.reshape(loc, data, {in[0], in[1], rows, size, columns, size});
  Lowered moved = transposed(loc, l, split, {0, 3, 5, 1, 2, 4});
  l.define(op, 0,
           l.build.reshape(loc, moved,
                           {in[0], l.plan.mul(in[1], l.plan.index(block * block)), rows, columns}));
  return success();
}

//===-- Expand, Tile --------------------------------------------------------------------------===//

static LogicalResult lowerExpand(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  FailureOr<Sizes> shape = l.host.values(op, 1);
  if (failed(shape))
    return failure();
  for (OpFoldResult size : *shape)
    if (!l.plan.isNonNegative(size) &&
        failed(l.plan.check(op, l.plan.less(l.plan.index(-1), size),
                            "the shape has a size of {0}; it must be 0 or more", size)))
      return failure();
  FailureOr<Sizes> sizes = l.plan.broadcast(op, {data.sizes, *shape});
  if (failed(sizes))
    return failure();
  if (*sizes == data.sizes) {
    l.define(op, 0, data);
    return success();
  }
  Value result =
      l.build.elementwise(op->getLoc(), data, *sizes, data.elementType,
                          [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; });
  l.define(op, 0, result, *sizes, data.elementType);
  return success();
}

static FailureOr<Sizes> hostExpand(Operation *op, unsigned, Lowering &l) {
  FailureOr<HostArray> data = hostArray(op, 0, l);
  FailureOr<Sizes> wanted = l.host.tryValues(op->getOperand(1));
  if (failed(data) || failed(wanted))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = hostShape(*wanted);
  if (failed(shape))
    return failure();
  while (shape->size() < data->shape.size())
    shape->insert(shape->begin(), 1);
  size_t shift = shape->size() - data->shape.size();
  for (auto [i, size] : llvm::enumerate(data->shape)) {
    int64_t &out = (*shape)[shift + i];
    if (out != size && out != 1 && size != 1)
      return failure();
    if (out == 1)
      out = size;
  }
  if (failed(hostShape(getAsIndexOpFoldResult(op->getContext(), *shape))))
    return failure();
  return hostElements(*shape, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> source(at.drop_front(shift));
    for (auto [i, size] : llvm::enumerate(data->shape))
      if (size == 1)
        source[i] = 0;
    return data->at(source);
  });
}

static LogicalResult lowerTile(Operation *op, Lowering &l) {
  Lowered data = l.operand(op, 0);
  FailureOr<Sizes> repeats = l.host.values(op, 1);
  if (failed(repeats))
    return failure();
  if (static_cast<int64_t>(repeats->size()) != data.rank())
    return l.unsupported(op, "repeats holds " + Twine(repeats->size()) +
                                 " numbers for an input of rank " + Twine(data.rank()));
  Sizes sizes;
  for (auto [size, repeat] : llvm::zip(data.sizes, *repeats)) {
    if (!l.plan.isNonNegative(repeat) &&
        failed(l.plan.check(op, l.plan.less(l.plan.index(-1), repeat),
                            "repeats has a value of {0}; it must be 0 or more", repeat)))
      return failure();
    sizes.push_back(l.plan.mul(size, repeat));
  }
  if (sizes == data.sizes) {
    l.define(op, 0, data);
    return success();
  }
  Value result = l.build.compute(
      op->getLoc(), sizes, data.elementType, [&](OpBuilder &b, Location loc, ValueRange at) {
        IndexMath math(b, loc);
        SmallVector<Value> source;
        for (auto [i, size] : llvm::enumerate(data.sizes)) {
          if (isConstantIntValue(size, 1))
            source.push_back(indexConstant(b, loc, 0));
          else if (isConstantIntValue((*repeats)[i], 1))
            source.push_back(at[i]);
          else
            source.push_back(b.create<arith::RemUIOp>(loc, at[i], math.of(size)));
        }
        return math.element(data, source);
      });
  l.define(op, 0, result, sizes, data.elementType);
  return success();
}

static FailureOr<Sizes> hostTile(Operation *op, unsigned, Lowering &l) {
  FailureOr<HostArray> data = hostArray(op, 0, l);
  FailureOr<Sizes> repeats = l.host.tryValues(op->getOperand(1));
  if (failed(data) || failed(repeats) || repeats->size() != data->shape.size())
    return failure();
  Sizes sizes;
  for (auto [size, repeat] : llvm::zip(data->shape, *repeats))
    sizes.push_back(l.plan.mul(l.plan.index(size), repeat));
  FailureOr<SmallVector<int64_t>> shape = hostShape(sizes);
  if (failed(shape))
    return failure();
  return hostElements(*shape, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> source(at);
    for (auto [i, size] : llvm::enumerate(data->shape))
      source[i] %= size;
    return data->at(source);
  });
}

//===-- Concat --------------------------------------------------------------------------------===//

static LogicalResult lowerConcat(Operation *op, Lowering &l) {
  SmallVector<Lowered> parts;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    parts.push_back(l.operand(op, i));
  int64_t rank = parts[0].rank();
  FailureOr<int64_t> axis = normalizedAxis(op, l, cast<onnx::ConcatOp>(op).getAxis(), rank);
  if (failed(axis))
    return failure();
  for (auto [i, part] : llvm::enumerate(parts))
    if (part.rank() != rank)
      return l.unsupported(op, "input 0 has rank " + Twine(rank) + ", input " + Twine(i) +
                                   " rank " + Twine(part.rank()) + "; all need one rank");

  // The sum along the axis, and the other sizes, which all parts share.
  Sizes sizes = parts[0].sizes;
  for (const Lowered &part : ArrayRef<Lowered>(parts).drop_front())
    sizes[*axis] = l.plan.add(sizes[*axis], part.sizes[*axis]);
  for (const Lowered &part : ArrayRef<Lowered>(parts).drop_front()) {
    for (int64_t i = 0; i < rank; ++i) {
      if (i == *axis || part.sizes[i] == sizes[i])
        continue;
      if (failed(l.plan.check(op, l.plan.equal(part.sizes[i], sizes[i]),
                              "sizes {0} and {1} of two inputs differ in dimension " + Twine(i) +
                                  "; only those along the axis may",
                              part.sizes[i], sizes[i])))
        return failure();
      if (isa<Attribute>(part.sizes[i]))
        sizes[i] = part.sizes[i];
    }
  }
  SmallVector<Lowered> filled; // parts with elements
  for (const Lowered &part : parts)
    if (!isConstantIntValue(part.sizes[*axis], 0))
      filled.push_back(part);
  if (filled.size() == 1 && filled[0].sizes == sizes) {
    l.define(op, 0, filled[0]);
    return success();
  }
  if (filled.empty())
    filled.push_back(parts[0]); // no elements at all
  l.define(op, 0, l.build.concat(op->getLoc(), filled, *axis, sizes));
  return success();
}

static FailureOr<Sizes> hostConcat(Operation *op, unsigned, Lowering &l) {
  SmallVector<HostArray> parts;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    FailureOr<HostArray> part = hostArray(op, i, l);
    if (failed(part) || (i > 0 && part->shape.size() != parts[0].shape.size()))
      return failure();
    parts.push_back(*part);
  }
  SmallVector<int64_t> shape = parts[0].shape;
  std::optional<int64_t> axis = normalizedAxis(cast<onnx::ConcatOp>(op).getAxis(), shape.size());
  if (!axis)
    return failure();
  shape[*axis] = 0;
  for (const HostArray &part : parts)
    for (auto [i, size] : llvm::enumerate(part.shape)) {
      if (static_cast<int64_t>(i) == *axis)
        shape[i] += size;
      else if (shape[i] != size)
        return failure();
    }
  if (failed(hostShape(getAsIndexOpFoldResult(op->getContext(), shape))))
    return failure();
  return hostElements(shape, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> source(at);
    const HostArray *part = parts.begin();
    while (source[*axis] >= part->shape[*axis])
      source[*axis] -= (part++)->shape[*axis];
    return part->at(source);
  });
}

void registerLayoutOperators(OperatorTable &table) {
  table["Transpose"] = {lowerTranspose, hostTranspose};
  table["DepthToSpace"] = {lowerDepthToSpace};
  table["SpaceToDepth"] = {lowerSpaceToDepth};
  table["Expand"] = {lowerExpand, hostExpand, "shape known on the host"};
  table["Tile"] = {lowerTile, hostTile, "repeats known on the host"};
  table["Concat"] = {lowerConcat, hostConcat};
  registerSlicing(table);
}

} // namespace cameo
