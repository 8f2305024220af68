// Values that products read ==> means by input channel and place in the window.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/InputMeans.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/precision/RecordedRanges.h"

#include <cmath>

using namespace mlir;
using namespace cameo;

/// Parts of a quantum that sums count, and quanta that a number has at most.
static constexpr double kParts = 65536, kMostQuanta = 1 << 20;

/// What of a tensor is added, and which number of 8 bits it becomes.
struct InputMeans::Numbers {
  std::vector<int64_t> parts;
  std::vector<int64_t> quanta;

  Numbers(ArrayRef<float> values, float threshold) {
    double scale = threshold / kQuantizedMost;
    parts.reserve(values.size());
    quanta.reserve(values.size());
    for (float value : values) {
      double number = std::isfinite(value) && scale > 0 ? value / scale : 0;
      number = std::clamp(number, -kMostQuanta, kMostQuanta);
      parts.push_back(std::llrint(number * kParts));
      quanta.push_back(
          int64_t(std::clamp<double>(std::nearbyint(number), -kQuantizedMost, kQuantizedMost)));
    }
  }
};

//===-- Products ------------------------------------------------------------------------------===//

static SmallVector<int64_t> numbersOf(Operation *op, StringRef name, size_t count,
                                      int64_t without) {
  auto given = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return given ? SmallVector<int64_t>(given.asArrayRef()) : SmallVector<int64_t>(count, without);
}

/// Nothing for what is no convolution or Gemm by constant weights with a bias of its own.
std::optional<InputMeans::Product> InputMeans::productOf(Operation *op) {
  if (!isa<onnx::ConvOp, onnx::GemmOp>(op))
    return std::nullopt;
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  auto weights = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  if (!weights || !weights.hasStaticShape() || !onnx::constantValue(op->getOperand(1)) ||
      (gemm && gemm.getTransA()))
    return std::nullopt;
  Product product;
  product.name = onnx::nodeName(op).value_or("").str();
  product.value = valueName(op->getOperand(0));
  if (gemm) {
    product.channels = weights.getDimSize(gemm.getTransB() ? 1 : 0);
    return product;
  }
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  if (mode && mode.getValue() != "NOTSET" && mode.getValue() != "VALID")
    return std::nullopt;
  auto group = op->getAttrOfType<IntegerAttr>("group");
  product.channels = weights.getDimSize(1) * (group ? group.getInt() : 1);
  size_t rank = weights.getRank() - 2;
  Window &window = product.window.emplace();
  window.sizes.assign(weights.getShape().begin() + 2, weights.getShape().end());
  window.strides = numbersOf(op, "strides", rank, 1);
  window.dilations = numbersOf(op, "dilations", rank, 1);
  SmallVector<int64_t> pads = numbersOf(op, "pads", 2 * rank, 0);
  if (mode && mode.getValue() == "VALID")
    pads.assign(2 * rank, 0);
  window.padsBefore.assign(pads.begin(), pads.begin() + rank);
  window.padsAfter.assign(pads.begin() + rank, pads.end());
  return product;
}

InputMeans::InputMeans(ModuleOp module, ArrayRef<TensorPort> taps, ArrayRef<CalibratedValue> values)
    : byTap(taps.size()) {
  llvm::StringMap<unsigned> named;
  module.walk([&](Operation *op) { ++named[onnx::nodeName(op).value_or("")]; });
  module.walk([&](Operation *op) {
    std::optional<Product> product = productOf(op);
    // Of several values of one name a tap shows the last.
    if (!product || named.lookup(product->value) > 1)
      return;
    auto tap = llvm::find_if(taps, [&](const TensorPort &at) { return at.name == product->value; });
    auto value =
        llvm::find_if(values, [&](const CalibratedValue &at) { return at.name == product->value; });
    if (product->name.empty() || tap == taps.end() || value == values.end())
      return;
    product->threshold = value->thresholds[value->chosen];
    int64_t places = 1;
    if (product->window)
      for (int64_t size : product->window->sizes)
        places *= size;
    product->sums.assign(product->channels * places, 0);
    product->quantizedSums = product->sums;
    byTap[tap - taps.begin()].push_back(products.size());
    products.push_back(std::move(*product));
  });
}

//===-- Sums ----------------------------------------------------------------------------------===//

void InputMeans::addRows(Product &product, const TappedValue &value, const Numbers &numbers) {
  for (size_t i = 0; i < numbers.parts.size(); ++i) {
    product.sums[i % product.channels] += numbers.parts[i];
    product.quantizedSums[i % product.channels] += numbers.quanta[i];
  }
  product.places += numbers.parts.size() / product.channels;
}

namespace {
/// The places of an axis that a place of the window sees: `count` of them from `first` on.
struct Seen {
  int64_t first, step, count;
};
} // namespace

static Seen seenBy(int64_t at, int64_t size, int64_t results, int64_t stride, int64_t dilation,
                   int64_t pad) {
  // Of results r those with 0 <= r * stride + at * dilation - pad < size.
  int64_t offset = at * dilation - pad;
  int64_t from = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  int64_t to = size - offset <= 0 ? 0 : std::min(results, (size - offset + stride - 1) / stride);
  return {from * stride + offset, stride, std::max<int64_t>(to - from, 0)};
}

/// Sums over a grid of elements, axis by axis.
static void sum(ArrayRef<Seen> seen, ArrayRef<int64_t> sizes, int64_t base, const int64_t *parts,
                const int64_t *quanta, int64_t &sumOfParts, int64_t &sumOfQuanta) {
  int64_t inner = 1;
  for (int64_t size : sizes.drop_front())
    inner *= size;
  for (int64_t i = 0; i < seen[0].count; ++i) {
    int64_t at = base + (seen[0].first + i * seen[0].step) * inner;
    if (seen.size() > 1) {
      sum(seen.drop_front(), sizes.drop_front(), at, parts, quanta, sumOfParts, sumOfQuanta);
      continue;
    }
    sumOfParts += parts[at];
    sumOfQuanta += quanta[at];
  }
}

void InputMeans::addWindows(Product &product, const TappedValue &value, const Numbers &numbers) {
  const Window &window = *product.window;
  ArrayRef<int64_t> sizes = value.shape.drop_front(2);
  int64_t plane = 1, results = 1;
  SmallVector<int64_t> counts;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    int64_t reach = window.dilations[axis] * (window.sizes[axis] - 1) + 1;
    int64_t room = size + window.padsBefore[axis] + window.padsAfter[axis] - reach;
    counts.push_back(room < 0 ? 0 : room / window.strides[axis] + 1);
    plane *= size;
    results *= counts.back();
  }
  int64_t places = product.sums.size() / product.channels;
  SmallVector<Seen> seen(sizes.size());
  for (int64_t place = 0; place < places; ++place) {
    for (int64_t axis = sizes.size() - 1, rest = place; axis >= 0; --axis) {
      seen[axis] = seenBy(rest % window.sizes[axis], sizes[axis], counts[axis],
                          window.strides[axis], window.dilations[axis], window.padsBefore[axis]);
      rest /= window.sizes[axis];
    }
    for (int64_t i = 0; i < value.shape[0] * product.channels; ++i) {
      int64_t to = i % product.channels * places + place;
      sum(seen, sizes, i * plane, numbers.parts.data(), numbers.quanta.data(), product.sums[to],
          product.quantizedSums[to]);
    }
  }
  product.places += value.shape[0] * results;
}

/// Movement of an input has the input's name, and a tap shows the last value of a name.
bool InputMeans::reads(const Product &product, ArrayRef<int64_t> shape) {
  if (!product.window)
    return !shape.empty() && shape.back() == product.channels;
  return shape.size() == product.window->sizes.size() + 2 && shape[1] == product.channels;
}

void InputMeans::add(const TappedValue &value) {
  if (value.type != CAMEO_DTYPE_F32 || byTap[value.tap].empty())
    return;
  ArrayRef<float> floats(reinterpret_cast<const float *>(value.bytes.data()),
                         value.bytes.size() / sizeof(float));
  // Those that read one value have one threshold.
  Numbers numbers(floats, products[byTap[value.tap].front()].threshold);
  for (unsigned i : byTap[value.tap])
    if (reads(products[i], value.shape))
      (products[i].window ? addWindows : addRows)(products[i], value, numbers);
}

std::vector<ProductInput> InputMeans::means() const {
  std::vector<ProductInput> found;
  for (const Product &product : products) {
    if (product.places == 0)
      continue;
    double scale = product.threshold / kQuantizedMost, places = double(product.places);
    ProductInput &input = found.emplace_back();
    input.product = product.name;
    input.value = product.value;
    input.threshold = product.threshold;
    for (auto [sum, quantized] : llvm::zip(product.sums, product.quantizedSums)) {
      double mean = double(sum) / kParts / places;
      input.means.push_back(float(mean * scale));
      input.shifts.push_back(float((double(quantized) / places - mean) * scale));
    }
  }
  llvm::sort(found, [](const auto &a, const auto &b) { return a.product < b.product; });
  return found;
}
