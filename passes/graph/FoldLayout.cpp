// Folding of operators that make shapes or move elements, of any element type.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ConstantFolding.h"

#include "mlir/Dialect/Traits.h"

using namespace mlir;

namespace cameo {

/// Elements of operand `from`, read at strides.
static std::vector<char> stridedBytes(const Elements &from, ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> strides, int64_t offset, int64_t count) {
  unsigned width = from.elementBytes();
  std::vector<char> bytes(count * width);
  forEachOffset(shape, strides, offset, [&](int64_t i, int64_t at) {
    std::memcpy(bytes.data() + i * width, from.at(at), width);
  });
  return bytes;
}

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

/// The same elements in the same order are no new bytes.
static LogicalResult strided(Fold &fold, unsigned operand, ArrayRef<int64_t> shape,
                             ArrayRef<int64_t> strides, int64_t offset = 0) {
  if (shape == fold.input(operand).shape() && ArrayRef<int64_t>(rowMajor(shape)) == strides)
    return fold.yieldView(operand, shape);
  if (fold.input(operand).isSplat() && fold.canYieldSplat(shape))
    return fold.yieldSplat(shape, fold.input(operand).bytes.get());
  std::optional<int64_t> count = fold.count(shape);
  if (!count)
    return failure();
  return fold.yield(shape, stridedBytes(fold.input(operand), shape, strides, offset, *count));
}

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

//===-- Shapes --------------------------------------------------------------------------------===//

static LogicalResult yieldInts(Fold &fold, ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
  return fold.yield(shape, writeElements<int64_t>(fold.kind(), values));
}

static RankedTensorType reliableType(Value value) {
  return hasReliableShape(value) ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
}

static LogicalResult foldShape(Fold &fold) {
  auto type = reliableType(fold.op->getOperand(0));
  if (!type)
    return failure();
  int64_t rank = type.getRank();
  auto bound = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = bound(fold.attribute("start", 0)), end = bound(fold.attribute("end", rank));
  ArrayRef<int64_t> sizes = type.getShape().slice(start, std::max<int64_t>(end - start, 0));
  if (ShapedType::isDynamicShape(sizes))
    return failure();
  return yieldInts(fold, {static_cast<int64_t>(sizes.size())}, sizes);
}

static LogicalResult foldSize(Fold &fold) {
  auto type = reliableType(fold.op->getOperand(0));
  if (!type || !type.hasStaticShape())
    return failure();
  return yieldInts(fold, {}, type.getNumElements());
}

/// Views keep the elements; the shape is the operator's own, or the type's.
static LogicalResult foldView(Fold &fold, ArrayRef<int64_t> shape) {
  return fold.yieldView(0, shape);
}

static LogicalResult foldReshape(Fold &fold) {
  std::optional<SmallVector<int64_t>> shape = fold.list(1);
  if (!shape)
    return failure();
  ArrayRef<int64_t> from = fold.input(0).shape();
  bool copies = fold.attribute("allowzero", 0) == 0;
  std::optional<size_t> inferred;
  int64_t others = 1;
  for (auto [i, size] : llvm::enumerate(*shape)) {
    if (size == 0 && copies) {
      if (i >= from.size())
        return failure();
      size = from[i];
    }
    if (size < -1 || (size == -1 && inferred))
      return failure();
    if (size == -1)
      inferred = i;
    else if (llvm::MulOverflow(others, size, others))
      return failure();
  }
  int64_t count = fold.input(0).count();
  if (inferred) {
    if (others == 0 || count % others != 0)
      return failure();
    (*shape)[*inferred] = count / others;
  } else if (others != count) {
    return failure();
  }
  return foldView(fold, *shape);
}

static LogicalResult foldFlatten(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape();
  int64_t axis = fold.attribute("axis", 1), rank = from.size();
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis > rank)
    return failure();
  return foldView(fold, {product(from.take_front(axis)), product(from.drop_front(axis))});
}

/// Axes counted from the front, each once; those of 1 where none are given.
static std::optional<SmallVector<bool>> axesOf(Fold &fold, int64_t rank) {
  SmallVector<bool> chosen(rank, false);
  std::optional<SmallVector<int64_t>> axes = fold.list(1);
  if (!axes)
    return std::nullopt;
  for (int64_t given : *axes) {
    std::optional<int64_t> axis = fold.axis(given, rank);
    if (!axis || chosen[*axis])
      return std::nullopt;
    chosen[*axis] = true;
  }
  return chosen;
}

static LogicalResult foldSqueeze(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape();
  SmallVector<bool> gone;
  for (int64_t size : from)
    gone.push_back(size == 1);
  if (!fold.absent(1)) {
    std::optional<SmallVector<bool>> axes = axesOf(fold, from.size());
    if (!axes)
      return failure();
    gone = *axes;
  }
  SmallVector<int64_t> shape;
  for (auto [size, isGone] : llvm::zip(from, gone)) {
    if (isGone && size != 1)
      return failure();
    if (!isGone)
      shape.push_back(size);
  }
  return foldView(fold, shape);
}

static LogicalResult foldUnsqueeze(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape();
  std::optional<SmallVector<int64_t>> given = fold.list(1);
  if (!given)
    return failure();
  std::optional<SmallVector<bool>> added = axesOf(fold, from.size() + given->size());
  if (!added)
    return failure();
  SmallVector<int64_t> shape;
  size_t next = 0;
  for (bool isNew : *added)
    shape.push_back(isNew ? 1 : from[next++]);
  return foldView(fold, shape);
}

static LogicalResult foldConstantOfShape(Fold &fold) {
  std::optional<SmallVector<int64_t>> shape = fold.list(0);
  auto attr = fold.op->getAttrOfType<ElementsAttr>("value");
  std::optional<Elements> value = Elements::of(attr);
  if (!shape || (attr && (!value || value->count() != 1)))
    return failure();
  unsigned width = onnx::elementBytes(fold.kind());
  std::vector<char> element(width, 0);
  if (value)
    std::memcpy(element.data(), value->at(0), width);
  if (fold.canYieldSplat(*shape))
    return fold.yieldSplat(*shape, element);
  std::optional<int64_t> count = fold.count(*shape);
  if (!count)
    return failure();
  std::vector<char> bytes(*count * width);
  for (int64_t i = 0; i < *count; ++i)
    std::memcpy(bytes.data() + i * width, element.data(), width);
  return fold.yield(*shape, bytes);
}

/// Integers; what a float has left of it depends on how the kernel multiplies and adds.
static LogicalResult foldRange(Fold &fold) {
  int64_t ends[3];
  for (unsigned i = 0; i < 3; ++i) {
    std::optional<SmallVector<int64_t>> value = fold.list(i);
    if (!value || value->size() != 1)
      return failure();
    ends[i] = value->front();
  }
  auto [start, limit, delta] = ends;
  // 2^40 elements are too many anyway, and no sum below overflows.
  constexpr int64_t kFar = int64_t(1) << 40;
  if (delta == 0 || std::max({std::abs(start), std::abs(limit), std::abs(delta)}) > kFar)
    return failure();
  int64_t elements = std::max<int64_t>(llvm::divideCeilSigned(limit - start, delta), 0);
  std::optional<int64_t> count = fold.count(elements);
  if (!count)
    return failure();
  std::vector<int64_t> values(*count);
  for (int64_t i = 0; i < *count; ++i)
    values[i] = start + i * delta;
  return yieldInts(fold, elements, values);
}

//===-- Elements moved ------------------------------------------------------------------------===//

static LogicalResult foldTranspose(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape();
  auto perm = fold.op->getAttrOfType<DenseI64ArrayAttr>("perm");
  SmallVector<int64_t> strides = rowMajor(from), shape, read;
  if (perm && perm.size() != static_cast<int64_t>(from.size()))
    return failure();
  for (size_t i = 0; i < from.size(); ++i) {
    std::optional<int64_t> axis = fold.axis(perm ? perm[i] : from.size() - 1 - i, from.size());
    if (!axis)
      return failure();
    shape.push_back(from[*axis]);
    read.push_back(strides[*axis]);
  }
  return strided(fold, 0, shape, read);
}

static LogicalResult foldExpand(Fold &fold) {
  std::optional<SmallVector<int64_t>> shape = fold.list(1);
  if (!shape)
    return failure();
  ArrayRef<int64_t> from = fold.input(0).shape();
  if (shape->size() < from.size())
    shape->insert(shape->begin(), from.size() - shape->size(), 1);
  for (size_t back = 1; back <= from.size(); ++back) {
    int64_t &size = (*shape)[shape->size() - back];
    if (size == 1)
      size = from[from.size() - back];
  }
  std::optional<SmallVector<int64_t>> strides = broadcastStrides(from, *shape);
  return strides ? strided(fold, 0, *shape, *strides) : failure();
}

static LogicalResult foldTile(Fold &fold) {
  std::optional<SmallVector<int64_t>> repeats = fold.list(1);
  ArrayRef<int64_t> from = fold.input(0).shape();
  if (!repeats || repeats->size() != from.size())
    return failure();
  // As [repeats0, size0, repeats1, size1 ...], repeated without a step.
  SmallVector<int64_t> strides = rowMajor(from), loops, read, shape;
  for (auto [size, times, stride] : llvm::zip(from, *repeats, strides)) {
    loops.append({times, size});
    read.append({0, stride});
    int64_t total;
    if (times < 0 || llvm::MulOverflow(size, times, total))
      return failure();
    shape.push_back(total);
  }
  if (ArrayRef<int64_t>(shape) == from)
    return fold.yieldView(0, shape);
  if (fold.input(0).isSplat() && fold.canYieldSplat(shape))
    return fold.yieldSplat(shape, fold.input(0).bytes.get());
  std::optional<int64_t> count = fold.count(shape);
  if (!count)
    return failure();
  return fold.yield(shape, stridedBytes(fold.input(0), loops, read, 0, *count));
}

static LogicalResult foldSlice(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape();
  SmallVector<int64_t> shape(from), strides = rowMajor(from);
  std::optional<SmallVector<int64_t>> starts = fold.list(1), ends = fold.list(2),
                                      axes = fold.list(3), steps = fold.list(4);
  if (!starts || !ends || starts->size() != ends->size() ||
      (axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size()))
    return failure();
  int64_t offset = 0;
  for (size_t i = 0; i < starts->size(); ++i) {
    std::optional<int64_t> axis = fold.axis(axes ? (*axes)[i] : i, from.size());
    int64_t step = steps ? (*steps)[i] : 1;
    if (!axis || step == 0 || step == INT64_MIN)
      return failure();
    int64_t size = from[*axis];
    auto bound = [&](int64_t at, int64_t least, int64_t most) {
      return std::clamp(at < 0 ? at + size : at, least, most);
    };
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    int64_t start = bound((*starts)[i], step > 0 ? 0 : std::min<int64_t>(0, high), high);
    int64_t end = bound((*ends)[i], low, high);
    int64_t length = step > 0 ? end - start : start - end, stride = std::abs(step);
    shape[*axis] = length <= 0 ? 0 : (length - 1) / stride + 1;
    if (shape[*axis] == 0)
      continue;
    offset += start * strides[*axis];
    // With one element there is no next one, and the product may not fit.
    strides[*axis] = shape[*axis] == 1 ? 0 : strides[*axis] * step;
  }
  return strided(fold, 0, shape, strides, product(shape) ? offset : 0);
}

static LogicalResult foldSplit(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape();
  std::optional<int64_t> axis = fold.axis(fold.attribute("axis", 0), from.size());
  if (!axis)
    return failure();
  int64_t parts = fold.op->getNumResults(), size = from[*axis];
  SmallVector<int64_t> sizes;
  if (fold.absent(1)) {
    int64_t each = llvm::divideCeil(size, parts);
    // As the lowering checks: what an older version asks for, and parts that are not empty.
    bool even = fold.op->hasAttr(onnx::kEvenSplitAttr);
    if (even ? size % parts != 0
             : fold.attribute("num_outputs", 0) != parts ||
                   size - (parts - 1) * each < std::min<int64_t>(each, 1))
      return failure();
    for (int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<int64_t>(size - i * each, 0, each));
  } else if (std::optional<SmallVector<int64_t>> given = fold.list(1)) {
    sizes = *given;
  }
  int64_t total = 0;
  for (int64_t part : sizes) {
    if (part < 0 || part > size)
      return failure();
    total += part;
  }
  if (static_cast<int64_t>(sizes.size()) != parts || total != size)
    return failure();
  SmallVector<int64_t> strides = rowMajor(from), shape(from);
  int64_t offset = 0;
  for (int64_t part : sizes) {
    shape[*axis] = part;
    if (failed(strided(fold, 0, shape, strides, product(shape) ? offset : 0)))
      return failure();
    offset += part * strides[*axis];
  }
  return success();
}

static LogicalResult foldConcat(Fold &fold) {
  SmallVector<int64_t> shape(fold.input(0).shape());
  std::optional<int64_t> axis = fold.axis(fold.attribute("axis", 0), shape.size());
  if (!axis)
    return failure();
  shape[*axis] = 0;
  for (unsigned i = 0; i < fold.inputCount(); ++i) {
    ArrayRef<int64_t> own = fold.input(i).shape();
    if (own.size() != shape.size())
      return failure();
    for (auto [d, size] : llvm::enumerate(own))
      if (static_cast<int64_t>(d) != *axis && size != shape[d])
        return failure();
    shape[*axis] += own[*axis];
  }
  std::optional<int64_t> count = fold.count(shape);
  if (!count)
    return failure();
  int64_t outer = product(ArrayRef(shape).take_front(*axis)), width = fold.input(0).elementBytes();
  std::vector<char> bytes;
  bytes.reserve(*count * width);
  SmallVector<onnx::ConstantBytes> sources;
  for (unsigned i = 0; i < fold.inputCount(); ++i)
    sources.push_back(fold.input(i).bytes.expanded(fold.input(i).count()));
  for (int64_t row = 0; row < outer; ++row)
    for (onnx::ConstantBytes &source : sources) {
      int64_t length = source.get().size() / outer;
      llvm::append_range(bytes, source.get().slice(row * length, length));
    }
  return fold.yield(shape, bytes);
}

static LogicalResult foldGather(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape();
  std::optional<int64_t> axis = fold.axis(fold.attribute("axis", 0), from.size());
  std::optional<SmallVector<int64_t>> indices = fold.ints(1);
  if (!axis || !indices)
    return failure();
  for (int64_t &index : *indices) {
    index = index < 0 ? index + from[*axis] : index;
    if (index < 0 || index >= from[*axis])
      return failure();
  }
  SmallVector<int64_t> shape(from.take_front(*axis));
  llvm::append_range(shape, fold.input(1).shape());
  llvm::append_range(shape, from.drop_front(*axis + 1));
  std::optional<int64_t> count = fold.count(shape);
  if (!count)
    return failure();
  const Elements &data = fold.input(0);
  int64_t outer = product(from.take_front(*axis)), inner = product(from.drop_front(*axis + 1));
  std::vector<char> bytes;
  bytes.reserve(*count * data.elementBytes());
  for (int64_t row = 0; row < outer; ++row)
    for (int64_t index : *indices)
      for (int64_t i = 0; i < inner; ++i) {
        const char *at = data.at((row * from[*axis] + index) * inner + i);
        bytes.insert(bytes.end(), at, at + data.elementBytes());
      }
  return fold.yield(shape, bytes);
}

static LogicalResult foldWhere(Fold &fold) {
  SmallVector<int64_t> shape;
  for (unsigned i = 0; i < 3; ++i)
    if (!OpTrait::util::getBroadcastedShape(SmallVector<int64_t>(shape), fold.input(i).shape(),
                                            shape))
      return failure();
  std::optional<int64_t> count = fold.count(shape);
  if (!count)
    return failure();
  std::vector<char> parts[3];
  for (unsigned i = 0; i < 3; ++i) {
    std::optional<SmallVector<int64_t>> strides = broadcastStrides(fold.input(i).shape(), shape);
    if (!strides)
      return failure();
    parts[i] = stridedBytes(fold.input(i), shape, *strides, 0, *count);
  }
  unsigned width = fold.input(1).elementBytes();
  for (int64_t i = 0; i < *count; ++i)
    if (parts[0][i])
      std::memcpy(parts[2].data() + i * width, parts[1].data() + i * width, width);
  return fold.yield(shape, parts[2]);
}

void registerLayoutFolds(FoldRows &rows) {
  rows.add<onnx::ShapeOp>({foldShape});
  rows.add<onnx::SizeOp>({foldSize});
  rows.add<onnx::ReshapeOp>({foldReshape});
  rows.add<onnx::FlattenOp>({foldFlatten});
  rows.add<onnx::SqueezeOp>({foldSqueeze});
  rows.add<onnx::UnsqueezeOp>({foldUnsqueeze});
  rows.add<onnx::ConstantOfShapeOp>({foldConstantOfShape});
  rows.add<onnx::RangeOp>({foldRange});
  rows.add<onnx::TransposeOp>({foldTranspose});
  rows.add<onnx::ExpandOp>({foldExpand});
  rows.add<onnx::TileOp>({foldTile});
  rows.add<onnx::SliceOp>({foldSlice});
  rows.add<onnx::SplitOp>({foldSplit});
  rows.add<onnx::ConcatOp>({foldConcat});
  rows.add<onnx::GatherOp>({foldGather});
  rows.add<onnx::WhereOp>({foldWhere});
}

} // namespace cameo
