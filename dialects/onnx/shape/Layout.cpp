// Shapes of operators that move elements.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Layout.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Axes.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

//===-- Transpose -----------------------------------------------------------------------------===//

static FailureOr<SmallVector<int64_t>> permutationOf(TransposeOp op, int64_t rank) {
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

FailureOr<TransposeShape> inferTranspose(Shapes &shapes, Operation *op) {
  Sizes x = shapes.of(op, 0);
  auto permutation = permutationOf(cast<TransposeOp>(op), x.size());
  if (failed(permutation))
    return shapes.sizes.refuse(op, "perm is not a permutation of the " + Twine(x.size()) +
                                       " dimensions of the input");
  TransposeShape shape{*permutation, {}};
  for (int64_t from : *permutation)
    shape.result.push_back(x[from]);
  return shape;
}

static FailureOr<Sizes> hostTranspose(Shapes &shapes, Operation *op, unsigned) {
  FailureOr<HostArray> data = hostArray(shapes, op, 0);
  if (failed(data))
    return failure();
  auto permutation = permutationOf(cast<TransposeOp>(op), data->shape.size());
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

static LogicalResult checkRank4(SizeBuilder &s, Operation *op, const Sizes &x) {
  if (x.size() == 4)
    return success();
  return s.refuse(op, "the input has rank " + Twine(x.size()) + "; it must have 4");
}

FailureOr<Sizes> inferDepthToSpace(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &in = operands[0];
  if (failed(checkRank4(s, op, in)))
    return failure();
  int64_t block = cast<DepthToSpaceOp>(op).getBlocksize();
  OpFoldResult size = s.index(block), area = s.index(block * block);
  OpFoldResult channels = s.floorDiv(in[1], area);
  if (failed(s.check(op, s.equal(s.mul(channels, area), in[1]),
                     "{0} channels are not a multiple of {1}, the square of blocksize", in[1],
                     area)))
    return failure();
  return Sizes{in[0], channels, s.mul(in[2], size), s.mul(in[3], size)};
}

FailureOr<Sizes> inferSpaceToDepth(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &in = operands[0];
  if (failed(checkRank4(s, op, in)))
    return failure();
  int64_t block = cast<SpaceToDepthOp>(op).getBlocksize();
  OpFoldResult size = s.index(block);
  OpFoldResult rows = s.floorDiv(in[2], size), columns = s.floorDiv(in[3], size);
  for (auto [blocks, whole] : {std::pair(rows, in[2]), std::pair(columns, in[3])})
    if (failed(s.check(op, s.equal(s.mul(blocks, size), whole),
                       "a size of {0} is not a multiple of blocksize {1}", whole, size)))
      return failure();
  return Sizes{in[0], s.mul(in[1], s.index(block * block)), rows, columns};
}

//===-- Expand, Tile --------------------------------------------------------------------------===//

LogicalResult checkGivenSizes(SizeBuilder &s, Operation *op, const Sizes &sizes) {
  for (OpFoldResult size : sizes)
    if (!s.isNonNegative(size) &&
        failed(s.check(op, s.less(s.index(-1), size),
                       "the shape has a size of {0}; it must be 0 or more", size)))
      return failure();
  return success();
}

static FailureOr<Sizes> inferExpand(Shapes &shapes, Operation *op) {
  FailureOr<Sizes> shape = shapes.host.values(op, 1);
  if (failed(shape) || failed(checkGivenSizes(shapes.sizes, op, *shape)))
    return failure();
  return shapes.sizes.broadcast(op, {shapes.of(op, 0), *shape});
}

static FailureOr<Sizes> hostExpand(Shapes &shapes, Operation *op, unsigned) {
  FailureOr<HostArray> data = hostArray(shapes, op, 0);
  FailureOr<Sizes> wanted = shapes.host.tryValues(op->getOperand(1));
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

FailureOr<TileShape> inferTile(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Sizes x = shapes.of(op, 0);
  FailureOr<Sizes> repeats = shapes.host.values(op, 1);
  if (failed(repeats))
    return failure();
  if (repeats->size() != x.size())
    return s.refuse(op, "repeats holds " + Twine(repeats->size()) +
                            " numbers for an input of rank " + Twine(x.size()));
  TileShape shape{*repeats, {}};
  for (auto [size, repeat] : llvm::zip(x, *repeats)) {
    if (!s.isNonNegative(repeat) &&
        failed(s.check(op, s.less(s.index(-1), repeat),
                       "repeats has a value of {0}; it must be 0 or more", repeat)))
      return failure();
    shape.result.push_back(s.mul(size, repeat));
  }
  return shape;
}

static FailureOr<Sizes> hostTile(Shapes &shapes, Operation *op, unsigned) {
  FailureOr<HostArray> data = hostArray(shapes, op, 0);
  FailureOr<Sizes> repeats = shapes.host.tryValues(op->getOperand(1));
  if (failed(data) || failed(repeats) || repeats->size() != data->shape.size())
    return failure();
  SizeBuilder &s = shapes.sizes;
  Sizes sizes;
  for (auto [size, repeat] : llvm::zip(data->shape, *repeats))
    sizes.push_back(s.mul(s.index(size), repeat));
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

FailureOr<ConcatShape> inferConcat(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  SmallVector<Sizes> parts = shapes.operands(op);
  size_t rank = parts[0].size();
  FailureOr<int64_t> axis = normalizedAxis(s, op, cast<ConcatOp>(op).getAxis(), rank);
  if (failed(axis))
    return failure();
  for (auto [i, part] : llvm::enumerate(parts))
    if (part.size() != rank)
      return s.refuse(op, "input 0 has rank " + Twine(rank) + ", input " + Twine(i) + " rank " +
                              Twine(part.size()) + "; all need one rank");
  // The sum along the axis, and the other sizes, which all parts share.
  Sizes sizes = parts[0];
  for (const Sizes &part : ArrayRef(parts).drop_front())
    sizes[*axis] = s.add(sizes[*axis], part[*axis]);
  for (const Sizes &part : ArrayRef(parts).drop_front())
    for (size_t i = 0; i < rank; ++i) {
      if (static_cast<int64_t>(i) == *axis || part[i] == sizes[i])
        continue;
      if (failed(s.check(op, s.equal(part[i], sizes[i]),
                         "sizes {0} and {1} of two inputs differ in dimension " + Twine(i) +
                             "; only those along the axis may",
                         part[i], sizes[i])))
        return failure();
      if (getConstantIntValue(part[i]))
        sizes[i] = part[i];
    }
  return ConcatShape{*axis, sizes};
}

static FailureOr<Sizes> hostConcat(Shapes &shapes, Operation *op, unsigned) {
  SmallVector<HostArray> parts;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    FailureOr<HostArray> part = hostArray(shapes, op, i);
    if (failed(part) || (i > 0 && part->shape.size() != parts[0].shape.size()))
      return failure();
    parts.push_back(*part);
  }
  SmallVector<int64_t> shape = parts[0].shape;
  std::optional<int64_t> axis = normalizedAxis(cast<ConcatOp>(op).getAxis(), shape.size());
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

void registerLayoutRules(ShapeRows &rows) {
  rows.add<TransposeOp>(fromShapes<inferTranspose>, hostTranspose);
  rows.add<DepthToSpaceOp>(fromSizes<inferDepthToSpace>);
  rows.add<SpaceToDepthOp>(fromSizes<inferSpaceToDepth>);
  rows.add<ExpandOp>(fromShapes<inferExpand>, hostExpand);
  rows.add<TileOp>(fromShapes<inferTile>, hostTile);
  rows.add<ConcatOp>(fromShapes<inferConcat>, hostConcat);
}

} // namespace cameo::onnx
