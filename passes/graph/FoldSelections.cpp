// Folding of operators that sort, choose and write elements at given places.
//
// A NaN is greater than all numbers, and equal to other NaNs.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ConstantFolding.h"

#include "mlir/Dialect/Traits.h"

#include <numeric>

using namespace mlir;

namespace cameo {

/// Bytes of some elements, in the given order.
static std::vector<char> chosenBytes(const Elements &data, ArrayRef<int64_t> places) {
  std::vector<char> bytes;
  bytes.reserve(places.size() * data.elementBytes());
  for (int64_t place : places)
    bytes.insert(bytes.end(), data.at(place), data.at(place) + data.elementBytes());
  return bytes;
}

static std::vector<char> indexBytes(ArrayRef<int64_t> indices) {
  return writeElements<int64_t>(onnx::ElementKind::I64, indices);
}

template <typename C> static bool isBefore(C a, C b) {
  return a < b || (b != b && a == a); // NaN behind all numbers
}

namespace {
/// A dimension with what is around it.
struct Line {
  int64_t outer, size, inner;

  Line(ArrayRef<int64_t> shape, int64_t axis)
      : outer(ShapedType::getNumElements(shape.take_front(axis))), size(shape[axis]),
        inner(ShapedType::getNumElements(shape.drop_front(axis + 1))) {}

  int64_t at(int64_t row, int64_t i, int64_t column) const {
    return (row * size + i) * inner + column;
  }
};
} // namespace

/// Indices counted from the front; nothing where one is out of range.
static bool moveIntoRange(int64_t &index, int64_t size) {
  if (index < 0)
    index += size;
  return index >= 0 && index < size;
}

//===-- TopK ----------------------------------------------------------------------------------===//

static LogicalResult foldTopK(Fold &fold) {
  const Elements &data = fold.input(0);
  std::optional<int64_t> axis = fold.axis(fold.attribute("axis", -1), data.shape().size());
  std::optional<SmallVector<int64_t>> k = fold.list(1);
  if (!axis || !k || k->size() != 1)
    return failure();
  Line line(data.shape(), *axis);
  int64_t taken = k->front();
  if (taken < 0 || taken > line.size)
    return failure();
  SmallVector<int64_t> shape(data.shape());
  shape[*axis] = taken;
  if (!fold.count(shape))
    return failure();
  bool isLargest = fold.attribute("largest", 1) != 0;
  std::vector<int64_t> places(ShapedType::getNumElements(shape)), indices(places.size());
  bool isSorted = withComputeType(data.kind, [&](auto type) {
    using C = decltype(type);
    std::vector<C> numbers = readElements<C>(data);
    std::vector<int64_t> order(line.size);
    for (int64_t row = 0; row < line.outer; ++row)
      for (int64_t column = 0; column < line.inner; ++column) {
        auto number = [&](int64_t i) {
          return numbers[data.isSplat() ? 0 : line.at(row, i, column)];
        };
        std::iota(order.begin(), order.end(), 0);
        llvm::sort(order, [&](int64_t a, int64_t b) {
          C left = number(a), right = number(b);
          if (isBefore(left, right))
            return !isLargest;
          return isBefore(right, left) ? isLargest : a < b; // equal ones stay in their order
        });
        for (int64_t i = 0; i < taken; ++i) {
          int64_t to = (row * taken + i) * line.inner + column;
          places[to] = line.at(row, order[i], column);
          indices[to] = order[i];
        }
      }
  });
  if (!isSorted)
    return failure();
  return success(succeeded(fold.yield(shape, chosenBytes(data, places))) &&
                 succeeded(fold.yield(shape, indexBytes(indices))));
}

//===-- NonZero, Compress ---------------------------------------------------------------------===//

static LogicalResult foldNonZero(Fold &fold) {
  const Elements &data = fold.input(0);
  auto rank = static_cast<int64_t>(data.shape().size());
  std::vector<int64_t> found;
  bool isRead = withComputeType(data.kind, [&](auto type) {
    using C = decltype(type);
    std::vector<C> numbers = readElements<C>(data);
    for (int64_t i = 0; i < data.count(); ++i)
      if (numbers[data.isSplat() ? 0 : i] != C(0))
        found.push_back(i);
  });
  auto count = static_cast<int64_t>(found.size());
  // Of a scalar there is no row at all, as the text has it.
  if (!isRead || !fold.count({rank, count}))
    return failure();
  std::vector<int64_t> indices(rank * count);
  for (auto [number, place] : llvm::enumerate(found))
    for (int64_t d = rank - 1, rest = place; d >= 0; --d) {
      indices[d * count + number] = rest % data.shape()[d];
      rest /= data.shape()[d];
    }
  return fold.yield({rank, count}, indexBytes(indices));
}

static LogicalResult foldCompress(Fold &fold) {
  const Elements &data = fold.input(0), &condition = fold.input(1);
  SmallVector<int64_t> shape(data.shape());
  int64_t axis = 0;
  if (auto given = fold.op->getAttrOfType<IntegerAttr>("axis")) {
    std::optional<int64_t> known = fold.axis(given.getInt(), shape.size());
    if (!known)
      return failure();
    axis = *known;
  } else {
    shape = {data.count()};
  }
  if (condition.shape().size() != 1 || condition.count() > shape[axis])
    return failure();
  Line line(shape, axis);
  std::vector<int64_t> kept, places;
  for (int64_t i = 0; i < condition.count(); ++i)
    if (*condition.at(i))
      kept.push_back(i);
  shape[axis] = static_cast<int64_t>(kept.size());
  if (!fold.count(shape))
    return failure();
  for (int64_t row = 0; row < line.outer; ++row)
    for (int64_t i : kept)
      for (int64_t column = 0; column < line.inner; ++column)
        places.push_back(line.at(row, i, column));
  return fold.yield(shape, chosenBytes(data, places));
}

//===-- Unique --------------------------------------------------------------------------------===//

namespace {
/// The slices of a tensor along an axis, each known by its number.
template <typename C> class Slices {
public:
  Slices(const Elements &data, Line line)
      : numbers(readElements<C>(data)), isSplat(data.isSplat()), line(line) {}

  /// Below, at or above 0 where slice a is before, equal to or behind slice b.
  int compare(int64_t a, int64_t b) const {
    for (int64_t row = 0; row < line.outer; ++row)
      for (int64_t column = 0; column < line.inner; ++column) {
        C left = number(row, a, column), right = number(row, b, column);
        if (isBefore(left, right))
          return -1;
        if (isBefore(right, left))
          return 1;
      }
    return 0;
  }

private:
  C number(int64_t row, int64_t i, int64_t column) const {
    return numbers[isSplat ? 0 : line.at(row, i, column)];
  }

  std::vector<C> numbers;
  bool isSplat;
  Line line;
};

/// Slices that differ: the first of each, which of them every slice is, and how often each occurs.
struct Uniques {
  std::vector<int64_t> first, inverse, counts;
};
} // namespace

template <typename C>
static Uniques uniquesOf(const Slices<C> &slices, int64_t size, bool isSorted) {
  std::vector<int64_t> order(size), group(size);
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t a, int64_t b) {
    int order = slices.compare(a, b);
    return order ? order < 0 : a < b;
  });
  Uniques found;
  found.inverse.resize(size);
  for (int64_t i = 0; i < size; ++i) {
    if (i == 0 || slices.compare(order[i - 1], order[i]) != 0) {
      found.first.push_back(order[i]);
      found.counts.push_back(0);
    }
    ++found.counts.back();
    group[order[i]] = static_cast<int64_t>(found.first.size()) - 1;
  }
  // Unsorted: as they occur first.
  std::vector<int64_t> ranks(found.first.size()), place(found.first.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (!isSorted)
    llvm::sort(ranks, [&](int64_t a, int64_t b) { return found.first[a] < found.first[b]; });
  Uniques result = found;
  for (auto [number, rank] : llvm::enumerate(ranks)) {
    result.first[number] = found.first[rank];
    result.counts[number] = found.counts[rank];
    place[rank] = static_cast<int64_t>(number);
  }
  for (int64_t i = 0; i < size; ++i)
    result.inverse[i] = place[group[i]];
  return result;
}

static LogicalResult foldUnique(Fold &fold) {
  const Elements &data = fold.input(0);
  SmallVector<int64_t> shape(data.shape());
  int64_t axis = 0;
  if (auto given = fold.op->getAttrOfType<IntegerAttr>("axis")) {
    std::optional<int64_t> known = fold.axis(given.getInt(), shape.size());
    // Slices without an element have no order.
    if (!known || (data.count() == 0 && shape[*known] != 0))
      return failure();
    axis = *known;
  } else {
    shape = {data.count()};
  }
  Line line(shape, axis);
  Uniques found;
  bool isSorted = fold.attribute("sorted", 1) != 0;
  if (!withComputeType(data.kind, [&](auto type) {
        found = uniquesOf(Slices<decltype(type)>(data, line), line.size, isSorted);
      }))
    return failure();
  auto count = static_cast<int64_t>(found.first.size());
  shape[axis] = count;
  if (!fold.count(shape))
    return failure();
  std::vector<int64_t> places;
  for (int64_t row = 0; row < line.outer; ++row)
    for (int64_t slice : found.first)
      for (int64_t column = 0; column < line.inner; ++column)
        places.push_back(line.at(row, slice, column));
  if (failed(fold.yield(shape, chosenBytes(data, places))))
    return failure();
  for (const std::vector<int64_t> *indices : {&found.first, &found.inverse, &found.counts}) {
    if (isa<NoneType>(fold.op->getResult(fold.results.size()).getType()))
      fold.yieldNone();
    else if (failed(fold.yield({static_cast<int64_t>(indices->size())}, indexBytes(*indices))))
      return failure();
  }
  return success();
}

//===-- GatherElements, GatherND --------------------------------------------------------------===//

/// Places in a tensor of sizes `from` of which indices of shape `shape` are the coordinates along an axis, and their own
/// coordinates the others; nothing where one is out of range.
static std::optional<std::vector<int64_t>> placesAlong(int64_t axis, ArrayRef<int64_t> indices,
                                                       ArrayRef<int64_t> shape,
                                                       ArrayRef<int64_t> from) {
  SmallVector<int64_t> at(shape.size(), 0);
  std::vector<int64_t> places;
  for (int64_t index : indices) {
    int64_t place = 0;
    for (auto [d, size] : llvm::enumerate(from)) {
      int64_t i = int64_t(d) == axis ? index : at[d];
      if (!moveIntoRange(i, size))
        return std::nullopt;
      place = place * size + i;
    }
    places.push_back(place);
    for (int64_t d = int64_t(shape.size()) - 1; d >= 0 && ++at[d] == shape[d]; --d)
      at[d] = 0;
  }
  return places;
}

static LogicalResult foldGatherElements(Fold &fold) {
  const Elements &data = fold.input(0);
  std::optional<int64_t> axis = fold.axis(fold.attribute("axis", 0), data.shape().size());
  std::optional<SmallVector<int64_t>> indices = fold.ints(1);
  ArrayRef<int64_t> shape = fold.input(1).shape();
  if (!axis || !indices || shape.size() != data.shape().size() || !fold.count(shape))
    return failure();
  auto places = placesAlong(*axis, *indices, shape, data.shape());
  return places ? fold.yield(shape, chosenBytes(data, *places)) : failure();
}

/// Places that rows of `width` coordinates point to in a tensor whose first dimensions are `sizes`; nothing if one is out
/// of range.
static std::optional<std::vector<int64_t>> rowPlaces(MutableArrayRef<int64_t> indices,
                                                     ArrayRef<int64_t> sizes) {
  std::vector<int64_t> places;
  auto width = static_cast<int64_t>(sizes.size());
  for (size_t row = 0; row + width <= indices.size() && width; row += width) {
    int64_t place = 0;
    for (int64_t d = 0; d < width; ++d) {
      if (!moveIntoRange(indices[row + d], sizes[d]))
        return std::nullopt;
      place = place * sizes[d] + indices[row + d];
    }
    places.push_back(place);
  }
  return places;
}

static LogicalResult foldGatherND(Fold &fold) {
  const Elements &data = fold.input(0);
  std::optional<SmallVector<int64_t>> indices = fold.ints(1);
  ArrayRef<int64_t> from = data.shape(), by = fold.input(1).shape();
  int64_t batches = fold.attribute("batch_dims", 0);
  if (!indices || by.empty() || batches < 0 || batches >= int64_t(by.size()) || by.back() < 1 ||
      batches + by.back() > int64_t(from.size()) ||
      from.take_front(batches) != by.take_front(batches))
    return failure();
  ArrayRef<int64_t> found = from.slice(batches, by.back());
  ArrayRef<int64_t> rest = from.drop_front(batches + by.back());
  SmallVector<int64_t> shape(by.drop_back());
  llvm::append_range(shape, rest);
  std::optional<std::vector<int64_t>> rows = rowPlaces(*indices, found);
  if (!rows || !fold.count(shape))
    return failure();
  int64_t inner = ShapedType::getNumElements(rest), batch = ShapedType::getNumElements(found);
  int64_t each =
      std::max<int64_t>(ShapedType::getNumElements(by.drop_front(batches).drop_back()), 1);
  std::vector<int64_t> places;
  for (auto [number, row] : llvm::enumerate(*rows))
    for (int64_t i = 0; i < inner; ++i)
      places.push_back((int64_t(number) / each * batch + row) * inner + i);
  return fold.yield(shape, chosenBytes(data, places));
}

//===-- ScatterElements, ScatterND ------------------------------------------------------------===//

/// Result of `reduction` on an element and an update; false where it is no operation of the type.
template <typename C> static bool reduceInto(StringRef reduction, C &element, C update) {
  bool isMax = reduction == "max", isMin = reduction == "min";
  if (isMax || isMin) {
    // A NaN is not lost.
    if (update != update || (isMax ? element < update : update < element))
      element = update;
  } else if (reduction == "add" || reduction == "mul") {
    bool adds = reduction == "add";
    if constexpr (std::is_integral_v<C>)
      element = static_cast<C>(adds ? uint64_t(element) + uint64_t(update)
                                    : uint64_t(element) * uint64_t(update));
    else
      element = adds ? element + update : element * update;
  } else {
    return false;
  }
  return true;
}

/// Writes updates at places, one after another.
static LogicalResult scatter(Fold &fold, ArrayRef<int64_t> places) {
  const Elements &data = fold.input(0), &updates = fold.input(2);
  auto given = fold.op->getAttrOfType<StringAttr>("reduction");
  StringRef reduction = given ? given.getValue() : "none";
  std::optional<int64_t> count = fold.count(data.shape());
  if (!count || data.kind != updates.kind || updates.count() != int64_t(places.size()))
    return failure();
  if (reduction == "none") {
    std::vector<int64_t> all(*count);
    std::iota(all.begin(), all.end(), 0);
    std::vector<char> bytes = chosenBytes(data, all);
    unsigned width = data.elementBytes();
    for (auto [i, place] : llvm::enumerate(places))
      std::copy_n(updates.at(i), width, bytes.begin() + place * width);
    return fold.yield(data.shape(), bytes);
  }
  bool isWritten = !places.empty() && data.kind != onnx::ElementKind::Bool;
  std::vector<char> bytes;
  if (!isWritten || !withComputeType(data.kind, [&](auto type) {
        using C = decltype(type);
        std::vector<C> numbers = readElements<C>(data), news = readElements<C>(updates);
        if (data.isSplat())
          numbers.assign(*count, numbers[0]);
        for (auto [i, place] : llvm::enumerate(places)) {
          C &element = numbers[place];
          isWritten &= reduceInto(reduction, element, news[updates.isSplat() ? 0 : i]);
          // Each update is rounded, as an Add of its own would be.
          if (std::is_same_v<C, float> && data.kind != onnx::ElementKind::F32)
            element = C(readDoubles(data.kind, writeElements<C>(data.kind, element))[0]);
        }
        bytes = writeElements<C>(data.kind, numbers);
      }))
    return failure();
  return isWritten ? fold.yield(data.shape(), bytes) : failure();
}

static LogicalResult foldScatterElements(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape(), shape = fold.input(1).shape();
  std::optional<int64_t> axis = fold.axis(fold.attribute("axis", 0), from.size());
  std::optional<SmallVector<int64_t>> indices = fold.ints(1);
  if (!axis || !indices || shape.size() != from.size() || fold.input(2).shape() != shape)
    return failure();
  auto places = placesAlong(*axis, *indices, shape, from);
  return places ? scatter(fold, *places) : failure();
}

static LogicalResult foldScatterND(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape(), by = fold.input(1).shape();
  std::optional<SmallVector<int64_t>> indices = fold.ints(1);
  if (!indices || by.empty() || by.back() < 1 || by.back() > int64_t(from.size()))
    return failure();
  ArrayRef<int64_t> rest = from.drop_front(by.back());
  SmallVector<int64_t> shape(by.drop_back());
  llvm::append_range(shape, rest);
  std::optional<std::vector<int64_t>> rows = rowPlaces(*indices, from.take_front(by.back()));
  if (!rows || fold.input(2).shape() != ArrayRef(shape))
    return failure();
  std::vector<int64_t> places;
  int64_t inner = ShapedType::getNumElements(rest);
  for (int64_t row : *rows)
    for (int64_t i = 0; i < inner; ++i)
      places.push_back(row * inner + i);
  return scatter(fold, places);
}

//===-- NonMaxSuppression ---------------------------------------------------------------------===//

namespace {
struct Box {
  float left, top, right, bottom;

  /// A box of two corners, or of a center and sizes.
  static Box of(ArrayRef<float> numbers, bool isCentered) {
    if (isCentered) {
      float x = numbers[2] / 2, y = numbers[3] / 2;
      return {numbers[0] - x, numbers[1] - y, numbers[0] + x, numbers[1] + y};
    }
    return {std::min(numbers[1], numbers[3]), std::min(numbers[0], numbers[2]),
            std::max(numbers[1], numbers[3]), std::max(numbers[0], numbers[2])};
  }

  float area() const { return (right - left) * (bottom - top); }

  /// True if the common area is more than a share of the area of both. Products are rounded, since no statement
  /// adds one.
  bool overlaps(const Box &other, float share) const {
    float width = std::min(right, other.right) - std::max(left, other.left);
    float height = std::min(bottom, other.bottom) - std::max(top, other.top);
    if (width <= 0 || height <= 0)
      return false;
    float common = width * height, both = area() + other.area() - common;
    return common > 0 && area() > 0 && other.area() > 0 && both > 0 && common / both > share;
  }
};
} // namespace

/// Boxes of a class, the best first, but for those that overlap a better one that is chosen.
static std::vector<int64_t> chosenBoxes(ArrayRef<Box> boxes, ArrayRef<float> scores, int64_t most,
                                        float share, std::optional<float> least) {
  std::vector<int64_t> order, chosen;
  for (int64_t i = 0; i < int64_t(scores.size()); ++i)
    if (!least || scores[i] > *least)
      order.push_back(i);
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  for (int64_t i : order) {
    if (int64_t(chosen.size()) >= most)
      break;
    if (llvm::none_of(chosen,
                      [&](int64_t other) { return boxes[i].overlaps(boxes[other], share); }))
      chosen.push_back(i);
  }
  return chosen;
}

static LogicalResult foldNonMaxSuppression(Fold &fold) {
  ArrayRef<int64_t> boxSizes = fold.input(0).shape(), scoreSizes = fold.input(1).shape();
  if (boxSizes.size() != 3 || scoreSizes.size() != 3 || boxSizes[2] != 4 ||
      boxSizes[0] != scoreSizes[0] || boxSizes[1] != scoreSizes[2])
    return failure();
  auto number = [&](unsigned i) -> std::optional<float> {
    std::optional<double> value = onnx::constantScalar(fold.op->getOperand(i));
    return value ? std::optional(float(*value)) : std::nullopt;
  };
  SmallVector<int64_t> most{0};
  if (!fold.absent(2)) {
    std::optional<SmallVector<int64_t>> given = fold.list(2);
    if (!given || given->size() != 1)
      return failure();
    most = *given;
  }
  float share = fold.absent(3) ? 0 : number(3).value_or(NAN);
  std::optional<float> least = fold.absent(4) ? std::nullopt : number(4);
  std::vector<double> numbers = readDoubles(fold.input(0)), ranks = readDoubles(fold.input(1));
  auto isNan = [](double x) { return x != x; };
  // Nobody says what overlaps a NaN, or is better than one.
  if (!(share >= 0 && share <= 1) || (!fold.absent(4) && (!least || isNan(*least))) ||
      fold.input(0).isSplat() || fold.input(1).isSplat() || llvm::any_of(numbers, isNan) ||
      llvm::any_of(ranks, isNan))
    return failure();
  std::vector<float> corners(numbers.begin(), numbers.end()), scores(ranks.begin(), ranks.end());
  int64_t count = boxSizes[1], classes = scoreSizes[1];
  std::vector<int64_t> found;
  for (int64_t batch = 0; batch < boxSizes[0]; ++batch) {
    std::vector<Box> boxes;
    for (int64_t i = 0; i < count; ++i)
      boxes.push_back(Box::of(ArrayRef(corners).slice((batch * count + i) * 4, 4),
                              fold.attribute("center_point_box", 0) != 0));
    for (int64_t kind = 0; kind < classes; ++kind)
      for (int64_t i :
           chosenBoxes(boxes, ArrayRef(scores).slice((batch * classes + kind) * count, count),
                       most[0], share, least))
        found.insert(found.end(), {batch, kind, i});
  }
  SmallVector<int64_t> shape{int64_t(found.size()) / 3, 3};
  return fold.count(shape) ? fold.yield(shape, indexBytes(found)) : failure();
}

void registerSelectionFolds(FoldRows &rows) {
  rows.add<onnx::TopKOp>({foldTopK});
  rows.add<onnx::NonZeroOp>({foldNonZero});
  rows.add<onnx::CompressOp>({foldCompress});
  rows.add<onnx::UniqueOp>({foldUnique});
  rows.add<onnx::GatherElementsOp>({foldGatherElements});
  rows.add<onnx::GatherNDOp>({foldGatherND});
  rows.add<onnx::ScatterElementsOp>({foldScatterElements});
  rows.add<onnx::ScatterNDOp>({foldScatterND});
  rows.add<onnx::NonMaxSuppressionOp>({foldNonMaxSuppression});
}

} // namespace cameo
