// Updates at places that are known, as gathers; and of a cache by a window of it.
//
// Each element of the result reads the one that was written to it last, or what was there: the data and all updates are
// one after another, and a table has a place for each element. What is added, multiplied or compared goes round by round,
// in the order of the updates.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand/Expander.h"
#include "passes/graph/Elements.h"

using namespace mlir;

namespace cameo {

/// The most elements of a table, and rounds.
static constexpr int64_t kMostPlaces = 1 << 24, kMostRounds = 16;

/// `data` and `updates` as rows of `width` elements, the latter written to rows `targets`, one each.
static FailureOr<Value> writeRows(Expander &e, Value data, Value updates, int64_t rows,
                                  int64_t width, ArrayRef<int64_t> targets) {
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
  if (int64_t(rounds.size()) > kMostRounds) {
    (void)e.refuse(Twine(rounds.size()) + " updates meet in one place; at most " +
                   Twine(kMostRounds) + " are supported");
    return failure();
  }
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

static LogicalResult refusePlaces(Expander &e) {
  return e.refuse(
      "its indices are computed on the device; nearest supported: constant indices, Where "
      "with OneHot, or Slice and Concat at fixed places");
}

/// The sizes of the data, if the first `depth` are known and give no more places than a table may have.
static FailureOr<SmallVector<int64_t>> sizesOfPlaces(Expander &e, int64_t depth) {
  SmallVector<int64_t> sizes = e.sizes(0);
  int64_t count = 1;
  for (int64_t size : ArrayRef(sizes).take_front(depth)) {
    if (ShapedType::isDynamic(size)) {
      (void)e.refuse("a size of 'data' along which it writes is known only at run time; nearest "
                     "supported: sizes fixed with --shapes");
      return failure();
    }
    count = std::min(kMostPlaces + 1, count * size);
  }
  if (count == 0 || count > kMostPlaces) {
    (void)e.refuse("'data' has more than " + Twine(kMostPlaces) + " places, or none");
    return failure();
  }
  return sizes;
}

static LogicalResult expandScatterND(Expander &e) {
  std::optional<SmallVector<int64_t>> indices = e.known(1);
  if (!indices)
    return refusePlaces(e);
  SmallVector<int64_t> shape = e.sizes(1);
  if (indices->empty()) {
    e.give(0, e.operand(0));
    return success();
  }
  if (shape.empty() || shape.back() > e.rank(0) || shape.back() < 1)
    return e.refuse("'indices' must have 1 to " + Twine(e.rank(0)) + " numbers for a place");
  int64_t depth = shape.back(), rows = 1, width = 1;
  FailureOr<SmallVector<int64_t>> data = sizesOfPlaces(e, depth);
  if (failed(data))
    return failure();
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
    return e.refuse("'updates' has other sizes than 'indices' and 'data' say");
  std::vector<int64_t> targets;
  for (size_t i = 0; i < indices->size(); i += depth) {
    int64_t row = 0;
    for (int64_t j = 0; j < depth; ++j) {
      int64_t index = (*indices)[i + j], size = (*data)[j];
      if (index < -size || index >= size)
        return e.refuse("index " + Twine(index) + " is none of a dimension of " + Twine(size));
      row = row * size + (index < 0 ? index + size : index);
    }
    targets.push_back(row);
  }
  FailureOr<Value> written = writeRows(e, e.operand(0), e.operand(2), rows, width, targets);
  if (failed(written))
    return failure();
  e.give(0, e.emit("Reshape", {*written, e.emit("Shape", {e.operand(0)})}));
  return success();
}

static LogicalResult expandScatterElements(Expander &e) {
  std::optional<SmallVector<int64_t>> indices = e.known(1);
  if (!indices)
    return refusePlaces(e);
  FailureOr<SmallVector<int64_t>> data = sizesOfPlaces(e, e.rank(0));
  if (failed(data))
    return failure();
  SmallVector<int64_t> shape = e.sizes(1);
  int64_t rank = int64_t(data->size()), axis = e.integer("axis", 0);
  if (axis < -rank || axis >= rank || int64_t(shape.size()) != rank || e.sizes(2) != shape)
    return e.refuse("'axis' = " + Twine(axis) +
                    " is no axis of the data, or 'indices' and 'updates' have other sizes");
  axis = axis < 0 ? axis + rank : axis;
  if (indices->empty()) {
    e.give(0, e.operand(0));
    return success();
  }
  std::vector<int64_t> targets;
  SmallVector<int64_t> at(rank, 0);
  int64_t size = (*data)[axis], count = 1;
  for (int64_t all : *data)
    count *= all;
  for (int64_t index : *indices) {
    if (index < -size || index >= size)
      return e.refuse("index " + Twine(index) + " is none of a dimension of " + Twine(size));
    int64_t place = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != axis && at[d] >= (*data)[d])
        return e.refuse("'indices' goes beyond 'data' along axis " + Twine(d));
      place = place * (*data)[d] + (d != axis ? at[d] : index < 0 ? index + size : index);
    }
    targets.push_back(place);
    for (int64_t d = rank - 1; d >= 0 && ++at[d] == shape[d]; --d)
      at[d] = 0;
  }
  FailureOr<Value> written = writeRows(e, e.operand(0), e.operand(2), count, 1, targets);
  if (failed(written))
    return failure();
  e.give(0, e.reshape(*written, *data));
  return success();
}

/// A type that all of what gathers takes and that has all numbers of an element type of 8 bits or fewer.
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

/// Each place of the cache reads the update that falls on it, or what was there.
static LogicalResult expandTensorScatter(Expander &e) {
  int64_t rank = e.rank(0), axis = e.integer("axis", -2);
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 1 || axis >= rank || e.rank(1) != rank)
    return e.refuse("'axis' = " + Twine(e.integer("axis", -2)) + " is none of 1 to " +
                    Twine(rank - 1) + ", or the update has other dimensions than the cache");
  Type integer = onnx::elementTypeOf(onnx::ElementKind::I64, e.op->getContext());
  auto sizeOf = [&](unsigned operand) {
    return e.squeeze(
        e.emit("Shape", {e.operand(operand)}, {e.with("start", axis), e.with("end", axis + 1)}), 0);
  };
  Value length = sizeOf(0), count = sizeOf(1), zero = e.scalar(0, integer),
        one = e.scalar(1, integer);
  Value places = e.emit("Range", {zero, length, one});
  if (e.has(2))
    places = e.emit("Sub", {places, e.unsqueeze(e.cast(e.operand(2), integer), {1})});
  else
    places = e.unsqueeze(places, {0});
  if (e.text("mode", "linear") == "circular")
    places = e.emit("Mod", {places, length});
  Value isWritten =
      e.emit("And", {e.emit("GreaterOrEqual", {places, zero}), e.emit("Less", {places, count})});
  Value from = e.emit("Max", {e.emit("Min", {places, e.emit("Sub", {count, one})}), zero});
  // [batch, places] among the dimensions of the cache.
  SmallVector<int64_t> axes;
  for (int64_t d = 1; d < rank; ++d)
    if (d != axis)
      axes.push_back(d);
  if (!axes.empty()) {
    isWritten = e.unsqueeze(isWritten, axes);
    from = e.unsqueeze(from, axes);
  }
  from = e.emit("Expand", {from, e.emit("Shape", {e.operand(0)})});
  Type element = e.elementType(0), wide = gatheredAs(element);
  Value update =
      e.emit("GatherElements", {e.cast(e.operand(1), wide), from}, {e.with("axis", axis)});
  Value present = e.emit("Where", {isWritten, update, e.cast(e.operand(0), wide)});
  // Infinities stay.
  e.give(0, wide == element ? present : e.cast(present, element, /*saturates=*/false));
  return success();
}

void registerScatterExpansions(ExpansionRows &rows) {
  rows.add<onnx::ScatterNDOp>(
      {expandScatterND, "indices computed on the device, sizes known only at run time"});
  rows.add<onnx::ScatterElementsOp>(
      {expandScatterElements, "indices computed on the device, sizes known only at run time"});
  rows.add<onnx::TensorScatterOp>({expandTensorScatter});
}

} // namespace cameo
