// Values that products read ==> means by input channel and place in the window.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/InputMeans.h"

#include "dialects/onnx/Onnx.h"
#include "passes/precision/QuantizedValue.h"

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
    double scale = activationScale(threshold);
    parts.reserve(values.size());
    quanta.reserve(values.size());
    for (float value : values) {
      double number = std::isfinite(value) ? value / scale : 0;
      number = std::clamp(number, -kMostQuanta, kMostQuanta);
      parts.push_back(std::llrint(number * kParts));
      quanta.push_back(
          int64_t(std::clamp<double>(std::nearbyint(number), -kLastQuantum, kLastQuantum)));
    }
  }
};

InputMeans::InputMeans(ModuleOp module, ArrayRef<TensorPort> taps, ArrayRef<CalibratedValue> values)
    : byTap(taps.size()) {
  for (ProductRead &read : tappedReads(productReads(module), taps, values)) {
    if (!isa<onnx::ConvOp, onnx::GemmOp>(read.product)) // a MatMul has no bias
      continue;
    byTap[read.tap].push_back(products.size());
    std::vector<int64_t> sums(read.depth() * read.groups, 0);
    products.push_back({std::move(read), 0, sums, sums});
  }
}

//===-- Sums ----------------------------------------------------------------------------------===//

void InputMeans::addRows(Product &product, const TappedValue &value, const Numbers &numbers) {
  size_t channels = product.read.channels;
  for (size_t i = 0; i < numbers.parts.size(); ++i) {
    product.sums[i % channels] += numbers.parts[i];
    product.quantizedSums[i % channels] += numbers.quanta[i];
  }
  product.places += numbers.parts.size() / channels;
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
  const ReadWindow &window = *product.read.window;
  int64_t channels = product.read.channels;
  ArrayRef<int64_t> sizes = value.shape.drop_front(2);
  int64_t plane = 1, results = 1;
  SmallVector<int64_t> counts;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    counts.push_back(window.results(axis, size));
    plane *= size;
    results *= counts.back();
  }
  int64_t places = window.places();
  SmallVector<Seen> seen(sizes.size());
  for (int64_t place = 0; place < places; ++place) {
    for (int64_t axis = sizes.size() - 1, rest = place; axis >= 0; --axis) {
      seen[axis] = seenBy(rest % window.sizes[axis], sizes[axis], counts[axis],
                          window.strides[axis], window.dilations[axis], window.padsBefore[axis]);
      rest /= window.sizes[axis];
    }
    for (int64_t i = 0; i < value.shape[0] * channels; ++i) {
      int64_t to = i % channels * places + place;
      sum(seen, sizes, i * plane, numbers.parts.data(), numbers.quanta.data(), product.sums[to],
          product.quantizedSums[to]);
    }
  }
  product.places += value.shape[0] * results;
}

void InputMeans::add(const TappedValue &value) {
  if (value.type != CAMEO_DTYPE_F32 || byTap[value.tap].empty())
    return;
  ArrayRef<float> floats(reinterpret_cast<const float *>(value.bytes.data()),
                         value.bytes.size() / sizeof(float));
  // Those that read one value have one threshold.
  Numbers numbers(floats, products[byTap[value.tap].front()].read.threshold);
  for (unsigned i : byTap[value.tap])
    if (products[i].read.reads(value.shape))
      (products[i].read.window ? addWindows : addRows)(products[i], value, numbers);
}

std::vector<ProductInput> InputMeans::means() const {
  std::vector<ProductInput> found;
  for (const Product &product : products) {
    if (product.places == 0)
      continue;
    float scale = activationScale(product.read.threshold);
    double places = double(product.places);
    ProductInput &input = found.emplace_back();
    input.product = product.read.name;
    input.value = product.read.value;
    input.scale = scale;
    for (auto [sum, quantized] : llvm::zip(product.sums, product.quantizedSums)) {
      double mean = double(sum) / kParts / places;
      input.means.push_back(float(mean * scale));
      input.shifts.push_back(float((double(quantized) / places - mean) * scale));
    }
  }
  llvm::sort(found, [](const auto &a, const auto &b) { return a.product < b.product; });
  return found;
}
