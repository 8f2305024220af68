// Operators of positions: grids, rotations, windows in images, determinants.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand/Expander.h"

using namespace mlir;

namespace cameo {

//===-- AffineGrid ----------------------------------------------------------------------------===//

/// Positions of the centres of pixels between -1 and 1, or from -1 to 1.
static double position(int64_t index, int64_t count, bool alignsCorners) {
  if (alignsCorners)
    return count == 1 ? -1 : -1 + 2.0 * double(index) / double(count - 1);
  return (2.0 * double(index) + 1) / double(count) - 1;
}

static LogicalResult expandAffineGrid(Expander &e) {
  // Images and channels are theta's and no matter of the grid's: their sizes may be open.
  std::optional<SmallVector<std::optional<int64_t>>> size = e.numbers(1);
  if (!size ||
      (size->size() > 2 && llvm::is_contained(ArrayRef(*size).drop_front(2), std::nullopt)))
    return e.refuseUnknown(1);
  if (e.rank(0) != 3 || (size->size() != 4 && size->size() != 5))
    return e.refuse("'theta' has " + Twine(e.rank(0)) + " dimensions and 'size' " +
                    Twine(size->size()) + " numbers; 3, and 4 or 5 are needed");
  int64_t axes = int64_t(size->size()) - 2;
  if (e.size(0, 1) != axes || e.size(0, 2) != axes + 1)
    return e.refuse("'theta' must be matrices of " + Twine(axes) + " x " + Twine(axes + 1));
  SmallVector<int64_t> extents;
  for (std::optional<int64_t> extent : ArrayRef(*size).drop_front(2))
    extents.push_back(*extent);
  int64_t count = 1;
  constexpr int64_t kMost = 1 << 24;
  for (int64_t extent : extents) {
    if (extent < 1 || extent > kMost || count > kMost / extent)
      return e.refuse("a grid of more than " + Twine(kMost) + " places, or of none");
    count *= extent;
  }
  bool alignsCorners = e.integer("align_corners", 0);
  std::vector<double> places; // x, y and perhaps z, the last axis first; and 1
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (int64_t extent : llvm::reverse(extents)) {
      places.push_back(position(rest % extent, extent, alignsCorners));
      rest /= extent;
    }
    places.push_back(1);
  }
  Value table = e.table({count, axes + 1}, places, e.elementType(0));
  Value grid = e.emit("MatMul", {table, e.transpose(e.operand(0), {0, 2, 1})});
  SmallVector<int64_t> shape{0};
  shape.append(extents.begin(), extents.end());
  shape.push_back(axes);
  e.give(0, e.reshape(grid, shape));
  return success();
}

//===-- RotaryEmbedding -----------------------------------------------------------------------===//

static LogicalResult expandRotaryEmbedding(Expander &e) {
  int64_t rank = e.rank(0), heads = e.integer("num_heads", 0);
  if (rank != 3 && rank != 4)
    return e.refuse("input 'X' has " + Twine(rank) + " dimensions, neither 3 nor 4");
  std::optional<int64_t> last = e.size(0, rank - 1);
  if (!last)
    return e.refuse(
        "the last size of 'X' is known only at run time; nearest supported: sizes fixed "
        "with --shapes");
  if (rank == 3 && (heads < 1 || *last % heads))
    return e.refuse("'num_heads' = " + Twine(heads) + " does not divide the " + Twine(*last) +
                    " numbers of a token");
  int64_t size = rank == 3 ? *last / heads : *last;
  int64_t rotated = e.integer("rotary_embedding_dim", 0);
  if (rotated == 0)
    rotated = size;
  if (rotated < 0 || rotated > size || rotated % 2)
    return e.refuse("'rotary_embedding_dim' = " + Twine(rotated) +
                    " is not even, or more than the " + Twine(size) + " numbers of a head");
  int64_t cacheRank = e.has(3) ? 2 : 3;
  for (unsigned cache : {1, 2})
    if (e.rank(cache) != cacheRank ||
        e.size(cache, cacheRank - 1).value_or(rotated / 2) != rotated / 2)
      return e.refuse(Twine(cache == 1 ? "'cos_cache'" : "'sin_cache'") + " must have " +
                      Twine(cacheRank) + " dimensions, the last one of " + Twine(rotated / 2));

  // Tokens are the second dimension where heads stand beside one another, else the third.
  Value x = rank == 3 ? e.reshape(e.operand(0), {0, 0, heads, size}) : e.operand(0);
  int64_t headAxis = rank == 3 ? 2 : 1;
  Value factors[2];
  for (unsigned cache : {1, 2}) {
    Value table = e.operand(cache);
    if (!e.size(cache, cacheRank - 1)) {
      SmallVector<int64_t> shape(cacheRank, 0);
      shape.back() = rotated / 2;
      table = e.reshape(table, shape);
    }
    if (e.has(3))
      table = e.emit("Gather", {table, e.operand(3)}, {e.with("axis", int64_t(0))});
    factors[cache - 1] = e.unsqueeze(table, {headAxis});
  }
  bool isInterleaved = e.integer("interleaved", 0);
  Value re = isInterleaved ? e.slice(x, 3, 0, rotated, 2) : e.slice(x, 3, 0, rotated / 2);
  Value im = isInterleaved ? e.slice(x, 3, 1, rotated, 2) : e.slice(x, 3, rotated / 2, rotated);
  auto times = [&](Value a, Value b) { return e.emit("Mul", {a, b}); };
  Value turnedRe = e.emit("Sub", {times(factors[0], re), times(factors[1], im)});
  Value turnedIm = e.emit("Add", {times(factors[1], re), times(factors[0], im)});
  Value turned;
  if (isInterleaved) {
    Value pairs = e.concat({e.unsqueeze(turnedRe, {-1}), e.unsqueeze(turnedIm, {-1})}, -1);
    Value lead = e.emit("Shape", {x}, {e.with("start", int64_t(0)), e.with("end", 3)});
    turned = e.emit("Reshape", {pairs, e.concat({lead, e.ints({rotated})}, 0)});
  } else {
    turned = e.concat({turnedRe, turnedIm}, -1);
  }
  if (rotated < size)
    turned = e.concat({turned, e.slice(x, 3, rotated, size)}, -1);
  e.give(0, rank == 3 ? e.reshape(turned, {0, 0, *last}) : turned);
  return success();
}

//===-- CenterCropPad -------------------------------------------------------------------------===//

static LogicalResult expandCenterCropPad(Expander &e) {
  int64_t rank = e.rank(0);
  SmallVector<int64_t> axes;
  if (std::optional<SmallVector<int64_t>> given = e.integers("axes"))
    axes = *given;
  else
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  for (int64_t &axis : axes) {
    if (axis < -rank || axis >= rank)
      return e.refuse("axis " + Twine(axis) + " is no axis of " + Twine(rank) + " dimensions");
    axis = axis < 0 ? axis + rank : axis;
  }
  if (e.rank(1) != 1 || e.size(1, 0) != int64_t(axes.size()))
    return e.refuse("'shape' must have a number for each of " + Twine(axes.size()) + " axes");
  Type integer = onnx::elementTypeOf(onnx::ElementKind::I64, e.op->getContext());
  Value wanted = e.cast(e.operand(1), integer);
  Value found = e.emit("Gather", {e.emit("Shape", {e.operand(0)}), e.ints(axes)},
                       {e.with("axis", int64_t(0))});
  Value zero = e.scalar(0, integer), two = e.scalar(2, integer);
  // Both sides are cut or filled alike; of an odd number, less is in front.
  auto more = [&](Value a, Value b) { return e.emit("Max", {e.emit("Sub", {a, b}), zero}); };
  Value start = e.emit("Div", {more(found, wanted), two});
  Value end = e.emit("Add", {start, e.emit("Min", {found, wanted})});
  Value cropped = e.emit("Slice", {e.operand(0), start, end, e.ints(axes)});
  Value missing = more(wanted, found);
  Value front = e.emit("Div", {missing, two}), back = e.emit("Sub", {missing, front});
  // A negative size cuts off more than there is, which Pad refuses.
  Value cut = e.emit("Mul", {e.emit("Min", {wanted, zero}), e.scalar(0x1p32, integer)});
  Value pads = e.concat({front, e.emit("Add", {back, cut})}, 0);
  e.give(0, e.emit("Pad", {cropped, pads, e.scalar(0, e.elementType(0)), e.ints(axes)}));
  return success();
}

//===-- Col2Im --------------------------------------------------------------------------------===//

/// Numbers of columns at their places, added up place by place of a block: integers are not multiplied by weights.
static LogicalResult addColumns(Expander &e, ArrayRef<int64_t> image, ArrayRef<int64_t> block,
                                ArrayRef<int64_t> counts, ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads,
                                int64_t channels) {
  constexpr int64_t kMostPlaces = 64, kMostPixels = 1 << 20;
  int64_t places = 1, pixels = 1, columns = 1;
  for (auto [size, extent, count] : llvm::zip(block, image, counts)) {
    places *= size;
    pixels = std::min(kMostPixels + 1, pixels * extent);
    columns *= count;
  }
  if (places > kMostPlaces || pixels > kMostPixels)
    return e.refuse("a block of " + Twine(places) + " places of integers; at most " +
                    Twine(kMostPlaces) + " are supported, and images of " + Twine(kMostPixels));
  Type element = e.elementType(0), boolean = IntegerType::get(e.op->getContext(), 1);
  bool isBoolean = element == boolean;
  if (isBoolean)
    element = onnx::elementTypeOf(onnx::ElementKind::I32, e.op->getContext());
  Value x = e.reshape(e.cast(e.operand(0), element), {0, channels, places, columns});
  Value sum, zero = e.scalar(0, element);
  for (int64_t place = 0; place < places; ++place) {
    std::vector<int64_t> from(pixels);
    std::vector<double> isThere(pixels);
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      int64_t restOfPixel = pixel, restOfPlace = place, column = 0, stride = 1;
      bool found = true;
      for (size_t axis = image.size(); axis-- > 0;) {
        int64_t at =
            restOfPixel % image[axis] + pads[axis] - restOfPlace % block[axis] * dilations[axis];
        restOfPixel /= image[axis];
        restOfPlace /= block[axis];
        found &= at >= 0 && at % strides[axis] == 0 && at / strides[axis] < counts[axis];
        column += stride * (at / strides[axis]);
        stride *= counts[axis];
      }
      from[pixel] = found ? column : 0;
      isThere[pixel] = found;
    }
    Value own = e.squeeze(e.slice(x, 2, place, place + 1), 2);
    Value moved =
        e.emit("Where", {e.table({pixels}, isThere, boolean),
                         e.emit("Gather", {own, e.ints(from)}, {e.with("axis", 2)}), zero});
    sum = sum ? e.emit("Add", {sum, moved}) : moved;
  }
  SmallVector<int64_t> shape{0, channels};
  shape.append(image.begin(), image.end());
  sum = e.reshape(sum, shape);
  e.give(0, isBoolean ? e.cast(sum, boolean) : sum);
  return success();
}

/// A transposed convolution that puts each number of a column to its place, and adds up.
static LogicalResult expandCol2Im(Expander &e) {
  std::optional<SmallVector<int64_t>> image = e.known(1), block = e.known(2);
  if (!image || !block)
    return e.refuseUnknown(image ? 2 : 1);
  size_t axes = image->size();
  if (axes == 0 || block->size() != axes || e.rank(0) != 3)
    return e.refuse("'image_shape' and 'block_shape' have " + Twine(axes) + " and " +
                    Twine(block->size()) + " numbers, the input " + Twine(e.rank(0)) +
                    " dimensions; both must be as many, and the input's 3");
  SmallVector<int64_t> strides = e.integers("strides").value_or(SmallVector<int64_t>(axes, 1));
  SmallVector<int64_t> dilations = e.integers("dilations").value_or(SmallVector<int64_t>(axes, 1));
  SmallVector<int64_t> pads = e.integers("pads").value_or(SmallVector<int64_t>(2 * axes, 0));
  if (strides.size() != axes || dilations.size() != axes || pads.size() != 2 * axes)
    return e.refuse("'strides', 'dilations' and 'pads' must have a number for each axis, the last "
                    "one two");
  int64_t elements = 1;
  for (int64_t size : *block) {
    if (size < 1 || size > 4096 || elements > 4096 / size)
      return e.refuse("a block has more than 4096 places, or none");
    elements *= size;
  }
  std::optional<int64_t> rows = e.size(0, 1);
  if (!rows || *rows % elements)
    return e.refuse("the second size of the input must be a multiple of the " + Twine(elements) +
                    " places of a block");
  int64_t channels = *rows / elements;
  SmallVector<int64_t> counts{0, *rows}, rest;
  for (size_t i = 0; i < axes; ++i) {
    int64_t room = (*image)[i] + pads[i] + pads[axes + i] - (dilations[i] * ((*block)[i] - 1) + 1);
    if (strides[i] < 1 || dilations[i] < 1 || room < 0)
      return e.refuse("a block does not fit into the image along axis " + Twine(i));
    counts.push_back(room / strides[i] + 1);
    rest.push_back(room % strides[i]);
  }
  int64_t columns = 1;
  for (int64_t count : ArrayRef(counts).drop_front(2))
    columns *= count;
  if (std::optional<int64_t> given = e.size(0, 2); given && *given != columns)
    return e.refuse("the input has " + Twine(*given) +
                    " columns, and by 'strides', 'dilations' and 'pads' the image has " +
                    Twine(columns) + " blocks");
  if (!isa<FloatType>(e.elementType(0)))
    return addColumns(e, *image, *block, ArrayRef(counts).drop_front(2), strides, dilations, pads,
                      channels);
  std::vector<double> places(*rows * elements);
  for (int64_t row = 0; row < *rows; ++row)
    places[row * elements + row % elements] = 1;
  SmallVector<int64_t> shape{*rows, 1};
  shape.append(block->begin(), block->end());
  Value weights = e.table(shape, places, e.elementType(0));
  Value result =
      e.emit("ConvTranspose", {e.reshape(e.operand(0), counts), weights},
             {e.with("strides", strides), e.with("dilations", dilations), e.with("pads", pads),
              e.with("output_padding", rest), e.with("group", channels)});
  e.give(0, result);
  return success();
}

//===-- Det -----------------------------------------------------------------------------------===//

/// The determinant of the last rows from `row` on and the columns of `columns`, along the last row first.
static Value minorOf(Expander &e, ArrayRef<SmallVector<Value>> elements, size_t row,
                     ArrayRef<unsigned> columns) {
  if (columns.size() == 1)
    return elements[row][columns.front()];
  Value sum;
  for (size_t i = 0; i < columns.size(); ++i) {
    SmallVector<unsigned> others(columns);
    others.erase(others.begin() + i);
    Value term = e.emit("Mul", {elements[row][columns[i]], minorOf(e, elements, row + 1, others)});
    sum = !sum ? term : e.emit(i % 2 ? "Sub" : "Add", {sum, term});
  }
  return sum;
}

static LogicalResult expandDet(Expander &e) {
  int64_t rank = e.rank(0);
  std::optional<int64_t> rows = rank < 2 ? std::nullopt : e.size(0, rank - 2);
  constexpr int64_t kMost = 4;
  if (!rows || rows != e.size(0, rank - 1) || *rows < 1 || *rows > kMost)
    return e.refuse("the last two sizes must be known, alike and 1 to " + Twine(kMost) +
                    "; nearest supported: the determinant as an input");
  Type integer = onnx::elementTypeOf(onnx::ElementKind::I64, e.op->getContext());
  SmallVector<SmallVector<Value>> elements;
  SmallVector<unsigned> columns;
  for (int64_t i = 0; i < *rows; ++i) {
    Value row =
        e.emit("Gather", {e.operand(0), e.scalar(double(i), integer)}, {e.with("axis", rank - 2)});
    elements.emplace_back();
    columns.push_back(unsigned(i));
    for (int64_t j = 0; j < *rows; ++j)
      elements.back().push_back(
          e.emit("Gather", {row, e.scalar(double(j), integer)}, {e.with("axis", rank - 2)}));
  }
  e.give(0, minorOf(e, elements, 0, columns));
  return success();
}

void registerPositionExpansions(ExpansionRows &rows) {
  rows.add<onnx::AffineGridOp>({expandAffineGrid, "a size known only at run time"});
  rows.add<onnx::RotaryEmbeddingOp>(
      {expandRotaryEmbedding, "heads of a size known only at run time"});
  rows.add<onnx::CenterCropPadOp>({expandCenterCropPad});
  rows.add<onnx::Col2ImOp>({expandCol2Im, "shapes known only at run time"});
  rows.add<onnx::DetOp>({expandDet, "matrices of more than 4 rows"});
}

} // namespace cameo
