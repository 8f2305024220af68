// Fourier transforms as products by tables, and windows and filters of numbers that are known.
//
// A transform of N numbers is a product by a table of N times N complex ones as long as that is small. A longer one of
// N1 times N2 numbers is N2 transforms of N1, a multiplication by roots of one, and N1 transforms of N2.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand/Expander.h"
#include "passes/graph/Elements.h"

#include <cmath>

using namespace mlir;

namespace cameo {

/// Lengths up to which a table is smaller than what splitting costs, and those of which a table may be at all.
static constexpr int64_t kWholeTransform = 512, kLongestTable = 2048;

/// exp(-2 pi i numerator / length), or its conjugate; exact where it lies on an axis.
static std::pair<double, double> rootOfOne(int64_t numerator, int64_t length, bool isInverse) {
  numerator %= length;
  double sine, cosine;
  if (4 * numerator % length == 0) {
    static constexpr double axes[] = {1, 0, -1, 0};
    int64_t quarter = 4 * numerator / length;
    cosine = axes[quarter];
    sine = axes[(quarter + 3) % 4];
  } else {
    double angle = 2 * M_PI * double(numerator) / double(length);
    cosine = std::cos(angle);
    sine = std::sin(angle);
  }
  return {cosine, isInverse ? sine : -sine};
}

//===-- DFT -----------------------------------------------------------------------------------===//

namespace {

/// Transforms of values [-1, length, parts], whose last dimension has a real part and perhaps an imaginary one.
class Transform {
public:
  Transform(Expander &e, Type element, bool isInverse)
      : e(e), element(element), isInverse(isInverse) {}

  /// Gives [-1, length, 2]; null where no table of the length can be had.
  Value whole(Value x, int64_t length, int64_t parts) {
    int64_t first = smallerFactor(length);
    if (length > kWholeTransform && first > 1)
      return split(x, first, length / first, parts);
    if (length > kLongestTable)
      return {};
    return byTable(x, length, parts, length);
  }

  /// Multiplies by one table, and computes the first `results` numbers alone.
  Value byTable(Value x, int64_t length, int64_t parts, int64_t results) {
    std::vector<double> table(length * parts * results * 2);
    for (int64_t n = 0; n < length; ++n)
      for (int64_t k = 0; k < results; ++k) {
        auto [re, im] = scaledRoot(n * k, length);
        double *row = &table[n * parts * results * 2 + k * 2];
        row[0] = re;
        row[1] = im;
        if (parts == 2) {
          row[results * 2] = -im;
          row[results * 2 + 1] = re;
        }
      }
    Value product = e.emit("MatMul", {e.reshape(x, {-1, length * parts}),
                                      e.table({length * parts, results * 2}, table, element)});
    return e.reshape(product, {-1, results, 2});
  }

  /// [-1, length / 2 + 1, 2] ==> [-1, length, 1]: the rest of what is transformed is known by symmetry.
  Value toReal(Value x, int64_t length) {
    int64_t given = length / 2 + 1;
    if (length > kWholeTransform && smallerFactor(length) > 1) {
      std::vector<int64_t> places(length);
      std::vector<double> signs(length * 2, 1);
      for (int64_t k = 0; k < length; ++k) {
        places[k] = k < given ? k : length - k;
        signs[k * 2 + 1] = k < given ? 1 : -1;
      }
      Value all = e.emit("Gather", {x, e.ints(places)}, {e.with("axis", 1)});
      all = e.emit("Mul", {all, e.table({length, 2}, signs, element)});
      Value result = whole(all, length, 2);
      return result ? e.slice(result, 2, 0, 1) : Value();
    }
    if (length > kLongestTable)
      return {};
    std::vector<double> table(given * 2 * length);
    for (int64_t k = 0; k < given; ++k)
      for (int64_t n = 0; n < length; ++n) {
        auto [re, im] = scaledRoot(n * k, length);
        double times = k == 0 || 2 * k == length ? 1 : 2;
        table[2 * k * length + n] = times * re;
        // A number that is its own conjugate has no imaginary part.
        table[(2 * k + 1) * length + n] = times == 1 ? 0 : -times * im;
      }
    Value product = e.emit(
        "MatMul", {e.reshape(x, {-1, given * 2}), e.table({given * 2, length}, table, element)});
    return e.reshape(product, {-1, length, 1});
  }

private:
  std::pair<double, double> scaledRoot(int64_t numerator, int64_t length) const {
    auto [re, im] = rootOfOne(numerator, length, isInverse);
    double scale = isInverse ? 1.0 / double(length) : 1.0;
    return {re * scale, im * scale};
  }

  /// The largest factor that is not above the root; 1 of a prime.
  static int64_t smallerFactor(int64_t length) {
    for (auto factor = int64_t(std::sqrt(double(length))); factor > 1; --factor)
      if (length % factor == 0)
        return factor;
    return 1;
  }

  /// The number n = second * n1 + n2 is read, k = k1 + first * k2 is written.
  Value split(Value x, int64_t first, int64_t second, int64_t parts) {
    x = e.transpose(e.reshape(x, {-1, first, second, parts}), {0, 2, 1, 3});
    Value columns = whole(e.reshape(x, {-1, first, parts}), first, parts);
    if (!columns)
      return {};
    std::vector<double> cosines, sines;
    for (int64_t n2 = 0; n2 < second; ++n2)
      for (int64_t k1 = 0; k1 < first; ++k1) {
        auto [re, im] = rootOfOne(n2 * k1, first * second, isInverse);
        cosines.insert(cosines.end(), {re, re});
        sines.insert(sines.end(), {-im, im});
      }
    columns = e.reshape(columns, {-1, second, first, 2});
    Value turned = e.emit("Gather", {columns, e.ints({1, 0})}, {e.with("axis", 3)});
    SmallVector<int64_t> shape{second, first, 2};
    Value rows = e.emit("Add", {e.emit("Mul", {columns, e.table(shape, cosines, element)}),
                                e.emit("Mul", {turned, e.table(shape, sines, element)})});
    rows = e.reshape(e.transpose(rows, {0, 2, 1, 3}), {-1, second, 2});
    rows = whole(rows, second, 2);
    if (!rows)
      return {};
    rows = e.transpose(e.reshape(rows, {-1, first, second, 2}), {0, 2, 1, 3});
    return e.reshape(rows, {-1, first * second, 2});
  }

  Expander &e;
  Type element;
  bool isInverse;
};

} // namespace

static LogicalResult refuseLength(Expander &e, int64_t length) {
  return e.refuse("a length of " + Twine(length) + " has a prime factor above " +
                  Twine(kLongestTable) + "; nearest supported: a length of small factors");
}

static LogicalResult expandDFT(Expander &e) {
  int64_t rank = e.rank(0);
  if (rank < 2)
    return e.refuse("input 'input' has " + Twine(rank) + " dimensions; at least 2 are needed");
  int64_t axis = -2;
  if (e.has(2)) {
    std::optional<SmallVector<int64_t>> given = e.known(2);
    if (!given || given->size() != 1)
      return e.refuseUnknown(2);
    axis = given->front();
  }
  if (axis < -rank || axis >= rank - 1 || axis == -1)
    return e.refuse("axis " + Twine(axis) + " is none of -" + Twine(rank) + " to -2 and 0 to " +
                    Twine(rank - 2));
  axis = axis < 0 ? axis + rank : axis;
  std::optional<int64_t> parts = e.size(0, rank - 1), size = e.size(0, axis);
  if (!parts || (*parts != 1 && *parts != 2))
    return e.refuse("the last dimension of the input must be 1 or 2");
  if (!size)
    return e.refuse("the length of the signal is known only at run time; nearest supported: sizes "
                    "fixed with --shapes");
  bool isInverse = e.integer("inverse", 0), isOneSided = e.integer("onesided", 0);
  bool makesReal = isInverse && isOneSided;
  if (makesReal ? *parts != 2 : isOneSided && *parts != 1)
    return e.refuse(makesReal ? "'onesided' and 'inverse' take a complex input"
                              : "'onesided' takes a real input");
  int64_t length = makesReal ? 2 * (*size - 1) : *size;
  if (e.has(1)) {
    std::optional<SmallVector<int64_t>> given = e.known(1);
    if (!given || given->size() != 1)
      return e.refuseUnknown(1);
    length = given->front();
  }
  if (length < 1)
    return e.refuse("a length of " + Twine(length) + " is not positive");

  Value x = e.operand(0);
  int64_t taken = makesReal ? length / 2 + 1 : length;
  if (taken < *size) {
    x = e.slice(x, axis, 0, taken);
  } else if (taken > *size) {
    SmallVector<int64_t> pads(2 * rank, 0);
    pads[rank + axis] = taken - *size;
    x = e.emit("Pad", {x, e.ints(pads)});
  }
  SmallVector<int64_t> order, back(rank);
  for (int64_t i = 0; i < rank - 1; ++i)
    if (i != axis)
      order.push_back(i);
  order.append({axis, rank - 1});
  for (auto [place, from] : llvm::enumerate(order))
    back[from] = int64_t(place);
  bool moves = axis != rank - 2;
  if (moves)
    x = e.transpose(x, order);
  Value lead = e.emit("Shape", {x}, {e.with("start", int64_t(0)), e.with("end", rank - 2)});
  Value flat = e.reshape(x, {-1, taken, *parts});
  Transform transform(e, e.elementType(0), isInverse);
  int64_t results = isOneSided && !isInverse ? length / 2 + 1 : length;
  Value y;
  if (makesReal)
    y = transform.toReal(flat, length);
  else if (results < length && length <= kWholeTransform)
    y = transform.byTable(flat, length, *parts, results);
  else
    y = transform.whole(flat, length, *parts);
  if (!y)
    return refuseLength(e, length);
  if (results < length && length > kWholeTransform)
    y = e.slice(y, 1, 0, results);
  Value shape = e.concat({lead, e.ints({results, makesReal ? 1 : 2})}, 0);
  y = e.emit("Reshape", {y, shape});
  e.give(0, moves ? e.transpose(y, back) : y);
  return success();
}

//===-- STFT ----------------------------------------------------------------------------------===//

static LogicalResult expandSTFT(Expander &e) {
  if (e.rank(0) != 3 && e.rank(0) != 2)
    return e.refuse("input 'signal' has " + Twine(e.rank(0)) + " dimensions, not 3");
  bool isFlat = e.rank(0) == 2; // a real signal without its last dimension
  std::optional<int64_t> parts = isFlat ? 1 : e.size(0, 2);
  if (!parts || (*parts != 1 && *parts != 2))
    return e.refuse("the last dimension of the signal must be 1 or 2");
  std::optional<SmallVector<int64_t>> step = e.known(1);
  if (!step || step->size() != 1)
    return e.refuseUnknown(1);
  if (step->front() < 1)
    return e.refuse("'frame_step' is " + Twine(step->front()) + ", not positive");
  std::optional<int64_t> window = e.has(2) ? e.size(2, 0) : std::nullopt, length = window;
  if (e.has(2) && (e.rank(2) != 1 || (!window && !e.has(3))))
    return e.refuse(
        "'window' must have one dimension, of a size that is known or that 'frame_length' says");
  if (e.has(3)) {
    std::optional<SmallVector<int64_t>> given = e.known(3);
    if (!given || given->size() != 1)
      return e.refuseUnknown(3);
    length = given->front();
    if (window && *window != *length)
      return e.refuse("'window' has " + Twine(*window) + " numbers and 'frame_length' is " +
                      Twine(*length) + "; nearest supported: a window that is padded by zeros");
  }
  if (!length)
    length = e.size(0, 1);
  if (!length || *length < 1)
    return e.refuse("neither 'window' nor 'frame_length' says how long a frame is");
  if (*length > kLongestTable)
    return e.refuse("frames of " + Twine(*length) + " are longer than " + Twine(kLongestTable) +
                    "; nearest supported: frames by Gather, and DFT");
  std::optional<int64_t> signal = e.size(0, 1);
  if (signal && *signal < *length)
    return e.refuse("the signal has " + Twine(*signal) + " numbers, a frame " + Twine(*length));
  bool isOneSided = e.integer("onesided", 1);
  if (isOneSided && *parts == 2)
    return e.refuse("'onesided' takes a real signal");
  int64_t results = isOneSided ? *length / 2 + 1 : *length;

  std::vector<double> weights(*length, 1);
  ElementsAttr constant = e.has(2) ? onnx::constantValue(e.operand(2)) : ElementsAttr();
  std::optional<Elements> known = constant ? Elements::of(constant) : std::nullopt;
  if (known)
    weights = readDoubles(*known);
  // A filter for each part of each result, which the convolution slides by the step.
  std::vector<double> filters(results * 2 * *parts * *length);
  for (int64_t k = 0; k < results; ++k)
    for (int64_t n = 0; n < *length; ++n) {
      auto [re, im] = rootOfOne(n * k, *length, /*isInverse=*/false);
      auto at = [&](int64_t result, int64_t part) -> double & {
        return filters[((2 * k + result) * *parts + part) * *length + n];
      };
      at(0, 0) = weights[n] * re;
      at(1, 0) = weights[n] * im;
      if (*parts == 2) {
        at(0, 1) = -weights[n] * im;
        at(1, 1) = weights[n] * re;
      }
    }
  Value filter = e.table({results * 2, *parts, *length}, filters, e.elementType(0));
  if (e.has(2) && !known)
    filter = e.emit("Mul", {filter, window ? e.operand(2) : e.reshape(e.operand(2), {*length})});
  Value x = isFlat ? e.unsqueeze(e.operand(0), {1}) : e.transpose(e.operand(0), {0, 2, 1});
  Value y = e.emit("Conv", {x, filter}, {e.with("strides", ArrayRef<int64_t>(step->front()))});
  e.give(0, e.reshape(e.transpose(y, {0, 2, 1}), {0, 0, results, 2}));
  return success();
}

//===-- Windows and filters -------------------------------------------------------------------===//

static FailureOr<Type> outputType(Expander &e) {
  std::optional<onnx::ElementKind> kind =
      onnx::elementKindOfNumber(e.integer("output_datatype", 1));
  if (!kind || computesIn(*kind) == Computes::Not) {
    (void)e.refuse("'output_datatype' is " + Twine(e.integer("output_datatype", 1)) +
                   ", no type of numbers");
    return failure();
  }
  return onnx::elementTypeOf(*kind, e.op->getContext());
}

/// A window of a size that only a run knows, in FP64 as one that is known.
static Value computeWindow(Expander &e, double a0, double a1, double a2) {
  Type wide = Float64Type::get(e.op->getContext());
  Value size = e.reshape(e.cast(e.operand(0), IntegerType::get(e.op->getContext(), 64)), {});
  Value zero = e.table({}, ArrayRef<int64_t>{0}), one = e.table({}, ArrayRef<int64_t>{1});
  Value place = e.cast(e.emit("Range", {zero, size, one}), wide);
  Value period = e.cast(e.integer("periodic", 1) ? size : e.emit("Sub", {size, one}), wide);
  auto wave = [&](double factor, double turns) {
    Value angle = e.emit("Div", {e.emit("Mul", {place, e.scalar(turns * M_PI, wide)}), period});
    return e.emit("Mul", {e.emit("Cos", {angle}), e.scalar(factor, wide)});
  };
  return e.emit("Add", {e.scalar(a0, wide), e.emit("Sub", {wave(a2, 4), wave(a1, 2)})});
}

/// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)
static LogicalResult expandWindow(Expander &e, double a0, double a1, double a2) {
  FailureOr<Type> type = outputType(e);
  if (failed(type))
    return failure();
  std::optional<SmallVector<int64_t>> size = e.known(0);
  if (!size) {
    e.give(0, e.cast(computeWindow(e, a0, a1, a2), *type));
    return success();
  }
  if (size->size() != 1)
    return e.refuse("'size' holds " + Twine(size->size()) + " numbers; it must hold one");
  constexpr int64_t kMost = 1 << 24;
  if (size->front() < 0 || size->front() > kMost)
    return e.refuse("a size of " + Twine(size->front()) + " is none of 0 to " + Twine(kMost));
  double period = double(size->front()) - (e.integer("periodic", 1) ? 0 : 1);
  std::vector<double> numbers;
  for (int64_t n = 0; n < size->front(); ++n)
    // In this order the largest number of all three windows is 1, which integers have.
    numbers.push_back(a0 + (a2 * std::cos(4 * M_PI * double(n) / period) -
                            a1 * std::cos(2 * M_PI * double(n) / period)));
  e.give(0, e.table({size->front()}, numbers, *type));
  return success();
}

static LogicalResult expandHann(Expander &e) { return expandWindow(e, 0.5, 0.5, 0); }
static LogicalResult expandHamming(Expander &e) {
  return expandWindow(e, 25.0 / 46, 1 - 25.0 / 46, 0);
}
static LogicalResult expandBlackman(Expander &e) { return expandWindow(e, 0.42, 0.5, 0.08); }

static LogicalResult expandMelWeightMatrix(Expander &e) {
  int64_t counts[3];
  static constexpr StringLiteral names[] = {"num_mel_bins", "dft_length", "sample_rate"};
  for (auto [i, name] : llvm::enumerate(names)) {
    std::optional<SmallVector<int64_t>> known = e.known(i);
    if (!known || known->size() != 1)
      return e.refuseUnknown(i);
    counts[i] = known->front();
    if (counts[i] < 1)
      return e.refuse("'" + name + "' is " + Twine(counts[i]) + ", not positive");
  }
  auto [bands, length, rate] = counts;
  std::optional<double> lower = onnx::constantScalar(e.operand(3)),
                        upper = onnx::constantScalar(e.operand(4));
  if (!lower || !upper)
    return e.refuse("the edges must be constants");
  FailureOr<Type> type = outputType(e);
  if (failed(type))
    return failure();
  auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double step = (toMel(*upper) - toMel(*lower)) / double(bands + 2);
  int64_t bins = length / 2 + 1;
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * (std::pow(10, (double(i) * step + toMel(*lower)) / 2595) - 1);
    edges.push_back(int64_t(std::floor(double(length + 1) * hertz / double(rate))));
    if (edges.back() < 0 || edges.back() >= bins)
      return e.refuse("the edges reach to bin " + Twine(edges.back()) + "; a transform of " +
                      Twine(length) + " has bins 0 to " + Twine(bins - 1));
  }
  std::vector<double> table(bins * bands);
  for (int64_t i = 0; i < bands; ++i) {
    int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    if (left == centre)
      table[centre * bands + i] = 1;
    for (int64_t j = left; j <= centre && left < centre; ++j)
      table[j * bands + i] = double(j - left) / double(centre - left);
    for (int64_t j = centre; j < right; ++j)
      table[j * bands + i] = double(right - j) / double(right - centre);
  }
  e.give(0, e.table({bins, bands}, table, *type));
  return success();
}

void registerFourierExpansions(ExpansionRows &rows) {
  rows.add<onnx::DFTOp>(
      {expandDFT, "a length or axis known only at run time, prime factors above 2048"});
  rows.add<onnx::STFTOp>(
      {expandSTFT, "a step or length known only at run time, frames above 2048"});
  rows.add<onnx::HannWindowOp>({expandHann});
  rows.add<onnx::HammingWindowOp>({expandHamming});
  rows.add<onnx::BlackmanWindowOp>({expandBlackman});
  rows.add<onnx::MelWeightMatrixOp>({expandMelWeightMatrix, "inputs known only at run time"});
}

} // namespace cameo
