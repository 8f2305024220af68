// Updates at places that are known, as gathers; and of a cache by a window of it; maxima put back in their places.
//
// Each element of the result reads the one that was written to it last, or what was there: the data and all updates are
// one after another, and a table has a place for each element. What is added, multiplied or compared goes round by round,
// in the order of the updates. What else there is of both is for kernels of their own.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand/Expander.h"
#include "passes/graph/Elements.h"

using namespace mlir;

namespace cameo {

/// The most elements of a table, and rounds.
static constexpr int64_t kMostPlaces = 1 << 24, kMostRounds = 16;

/// `data` and `updates` as rows of `width` elements, the latter written to rows `targets`, one each; null where too many
/// of them go to one row.
static Value writeRows(Expander &e, Value data, Value updates, int64_t rows, int64_t width,
                       ArrayRef<int64_t> targets) {
  StringRef reduction = e.text("reduction", "none");
  Value base = e.reshape(data, {rows, width});
  Value given = e.reshape(updates, {int64_t(targets.size()), width});
  if (reduction == "none") {
    std::vector<int64_t> places(rows);
    for (int64_t i = 0; i < rows; ++i)
      places[i] = i;
    for (auto [i, target] : llvm::enumerate(targets))
      places[target] = rows + int64_t(i);
    return e.emit("Gather", {e.concat({base, given}, 0), e.ints(places)},
                  {e.with("axis", int64_t(0))});
  }
  StringRef combine = llvm::StringSwitch<StringRef>(reduction)
                          .Case("add", "Add")
                          .Case("mul", "Mul")
                          .Case("max", "Max")
                          .Default("Min");
  std::vector<std::vector<int64_t>> rounds;
  std::vector<size_t> met(rows);
  for (auto [i, target] : llvm::enumerate(targets)) {
    size_t round = met[target]++;
    if (round == rounds.size())
      rounds.emplace_back(rows, -1);
    rounds[round][target] = int64_t(i);
  }
  if (int64_t(rounds.size()) > kMostRounds)
    return {};
  Type boolean = IntegerType::get(e.op->getContext(), 1);
  Value result = base;
  for (std::vector<int64_t> &round : rounds) {
    std::vector<double> written(rows);
    for (auto [place, isWritten] : llvm::zip(round, written)) {
      isWritten = place >= 0;
      place = std::max<int64_t>(place, 0);
    }
    Value update = e.emit("Gather", {given, e.ints(round)}, {e.with("axis", int64_t(0))});
    result = e.emit(
        "Where", {e.table({rows, 1}, written, boolean), e.emit(combine, {result, update}), result});
  }
  return result;
}

/// The sizes of the data, if the first `depth` are known and give no more places than a table may have.
static std::optional<SmallVector<int64_t>> sizesOfPlaces(Expander &e, int64_t depth) {
  SmallVector<int64_t> sizes = e.sizes(0);
  int64_t count = 1;
  for (int64_t size : ArrayRef(sizes).take_front(depth)) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    count = std::min(kMostPlaces + 1, count * size);
  }
  return count > 0 && count <= kMostPlaces ? std::optional(sizes) : std::nullopt;
}

/// True of booleans, of which no operator of two tensors makes a sum or the like.
static bool isReducedBoolean(Expander &e) {
  return e.elementType(0).isInteger(1) && e.text("reduction", "none") != "none";
}

static LogicalResult expandScatterND(Expander &e) {
  std::optional<SmallVector<int64_t>> indices = e.known(1);
  SmallVector<int64_t> shape = e.sizes(1);
  if (!indices || indices->empty() || shape.empty() || shape.back() > e.rank(0) ||
      shape.back() < 1 || isReducedBoolean(e))
    return e.leave();
  int64_t depth = shape.back(), rows = 1, width = 1;
  std::optional<SmallVector<int64_t>> data = sizesOfPlaces(e, depth);
  if (!data)
    return e.leave();
  for (auto [i, size] : llvm::enumerate(*data)) {
    if (int64_t(i) < depth)
      rows *= size;
    else
      width = ShapedType::isDynamic(size) || width < 0 ? -1 : width * size;
  }
  SmallVector<int64_t> wanted(ArrayRef(shape).drop_back());
  wanted.append(data->begin() + depth, data->end());
  bool fits = llvm::equal(e.sizes(2), wanted, [](int64_t a, int64_t b) {
    return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
  });
  if (!fits)
    return e.leave();
  std::vector<int64_t> targets;
  for (size_t i = 0; i < indices->size(); i += depth) {
    int64_t row = 0;
    for (int64_t j = 0; j < depth; ++j) {
      int64_t index = (*indices)[i + j], size = (*data)[j];
      if (index < -size || index >= size)
        return e.leave();
      row = row * size + (index < 0 ? index + size : index);
    }
    targets.push_back(row);
  }
  Value written = writeRows(e, e.operand(0), e.operand(2), rows, width, targets);
  if (!written)
    return e.leave();
  e.give(0, e.emit("Reshape", {written, e.emit("Shape", {e.operand(0)})}));
  return success();
}

static LogicalResult expandScatterElements(Expander &e) {
  std::optional<SmallVector<int64_t>> indices = e.known(1);
  std::optional<SmallVector<int64_t>> data = sizesOfPlaces(e, e.rank(0));
  SmallVector<int64_t> shape = e.sizes(1);
  if (!indices || indices->empty() || !data || isReducedBoolean(e))
    return e.leave();
  int64_t rank = int64_t(data->size()), axis = e.integer("axis", 0);
  if (axis < -rank || axis >= rank || int64_t(shape.size()) != rank || e.sizes(2) != shape)
    return e.leave();
  axis = axis < 0 ? axis + rank : axis;
  std::vector<int64_t> targets;
  SmallVector<int64_t> at(rank, 0);
  int64_t size = (*data)[axis], count = 1;
  for (int64_t all : *data)
    count *= all;
  for (int64_t index : *indices) {
    if (index < -size || index >= size)
      return e.leave();
    int64_t place = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != axis && at[d] >= (*data)[d])
        return e.leave();
      place = place * (*data)[d] + (d != axis ? at[d] : index < 0 ? index + size : index);
    }
    targets.push_back(place);
    for (int64_t d = rank - 1; d >= 0 && ++at[d] == shape[d]; --d)
      at[d] = 0;
  }
  Value written = writeRows(e, e.operand(0), e.operand(2), count, 1, targets);
  if (!written)
    return e.leave();
  e.give(0, e.reshape(written, *data));
  return success();
}

/// A type that kernels move element by element and that has all numbers of an element type of 8 bits or fewer.
static Type gatheredAs(Type element) {
  onnx::ElementKind kind = *onnx::elementKind(element);
  if (onnx::elementBits(kind) > 8 || kind == onnx::ElementKind::String ||
      kind == onnx::ElementKind::Bool || kind == onnx::ElementKind::I8 ||
      kind == onnx::ElementKind::U8)
    return element;
  return onnx::elementTypeOf(isa<FloatType>(element) || !isa<IntegerType>(element)
                                 ? onnx::ElementKind::F32
                             : element.isUnsignedInteger() ? onnx::ElementKind::U8
                                                           : onnx::ElementKind::I8,
                             element.getContext());
}

/// Elements that share a byte, and others that no kernel moves one by one, become wider ones meanwhile.
static LogicalResult expandTensorScatter(Expander &e) {
  Type element = e.elementType(0), wide = gatheredAs(element);
  if (wide == element)
    return e.leave();
  SmallVector<Value> operands{e.cast(e.operand(0), wide), e.cast(e.operand(1), wide)};
  if (e.has(2))
    operands.push_back(e.operand(2));
  Value present =
      e.emit("TensorScatter", operands,
             {e.with("axis", e.integer("axis", -2)), e.with("mode", e.text("mode", "linear"))});
  // Infinities stay.
  e.give(0, e.cast(present, element, /*saturates=*/false));
  return success();
}

/// Elements are scattered among zeros. The places are those of the shape that the windows make; what a given shape has
/// more lies behind.
static LogicalResult expandMaxUnpool(Expander &e) {
  std::optional<SmallVector<int64_t>> kernel = e.integers("kernel_shape");
  int64_t spatial = kernel ? int64_t(kernel->size()) : 0, rank = spatial + 2;
  SmallVector<int64_t> strides = e.integers("strides").value_or(SmallVector<int64_t>(spatial, 1));
  SmallVector<int64_t> pads = e.integers("pads").value_or(SmallVector<int64_t>(2 * spatial, 0));
  if (spatial == 0 || e.rank(0) != rank || e.rank(1) != rank ||
      int64_t(strides.size()) != spatial || int64_t(pads.size()) != 2 * spatial)
    return e.refuse("kernel_shape, strides and pads have " + Twine(spatial) + ", " +
                    Twine(strides.size()) + " and " + Twine(pads.size()) +
                    " numbers, for an input of rank " + Twine(e.rank(0)) + " and indices of rank " +
                    Twine(e.rank(1)));
  for (auto [name, numbers] : {std::pair("kernel_shape", ArrayRef<int64_t>(*kernel)),
                               std::pair("strides", ArrayRef<int64_t>(strides)),
                               std::pair("pads", ArrayRef<int64_t>(pads))})
    for (int64_t number : numbers)
      if (number > std::numeric_limits<int32_t>::max())
        return e.refuse(Twine(name) + " has " + Twine(number) + "; at most " +
                        Twine(std::numeric_limits<int32_t>::max()) + " is supported");
  // Sizes are (x - 1) * stride + kernel - pads.
  SmallVector<int64_t> factors{1, 1}, terms{0, 0};
  for (int64_t i = 0; i < spatial; ++i) {
    factors.push_back(strides[i]);
    terms.push_back((*kernel)[i] - strides[i] - pads[i] - pads[spatial + i]);
    std::optional<int64_t> size = e.size(0, i + 2);
    if (int64_t left = size.value_or(1) * strides[i] + terms.back(); size && left < 0)
      return e.refuse("pads " + Twine(pads[i]) + " and " + Twine(pads[spatial + i]) +
                      " leave a size of " + Twine(left) + "; it must be 0 or more");
  }
  Value sizes = e.emit("Shape", {e.operand(0)});
  sizes = e.emit("Add", {e.emit("Mul", {sizes, e.ints(factors)}), e.ints(terms)});
  Value count = e.emit("ReduceProd", {sizes}, {e.with("keepdims", int64_t(1))});
  Value zeros = e.emit("Expand", {e.scalar(0, e.elementType(0)), count});
  Value written = e.emit("ScatterElements",
                         {zeros, e.reshape(e.operand(1), {-1}), e.reshape(e.operand(0), {-1})});
  Value result = e.emit("Reshape", {written, sizes});
  if (e.has(2)) {
    SmallVector<int64_t> none(rank, 0);
    Value more = e.emit("Sub", {e.operand(2), sizes});
    result = e.emit("Pad", {result, e.concat({e.ints(none), more}, 0)});
  }
  e.give(0, result);
  return success();
}

void registerScatterExpansions(ExpansionRows &rows) {
  rows.add<onnx::ScatterNDOp>({expandScatterND, {}, /*isPartial=*/true});
  rows.add<onnx::ScatterElementsOp>({expandScatterElements, {}, /*isPartial=*/true});
  rows.add<onnx::MaxUnpoolOp>(
      {expandMaxUnpool, "indices read at run time are moved into range, not reported"});
  rows.add<onnx::TensorScatterOp>({expandTensorScatter, {}, /*isPartial=*/true});
}

} // namespace cameo
