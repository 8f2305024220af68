// Samples and weights ==> exponents of channels.
//
// Arithmetic is in doubles, in a fixed order and without functions of the C library that differ
// between its versions: samples have one result on every machine.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/ChannelScaler.h"

#include "passes/graph/Bodies.h"
#include "passes/precision/QuantizedValue.h"
#include "passes/precision/RangesFile.h"

#include <cmath>

using namespace mlir;
using namespace cameo;

/// Candidates beside that of no factors.
static constexpr int kStrengths = 4;
/// Channels that differ by more are nearly empty, or their weights are.
static constexpr int kMostExponent = 8;
/// Factors are worth it where less than this of the noise is left, which is an estimate by greatest numbers.
static constexpr double kWorth = 0.8;

ChannelScaler::ChannelScaler(ModuleOp module, ArrayRef<TensorPort> taps) {
  llvm::StringMap<SourceOfGraph> byName;
  for (func::FuncOp function : modelFunctions(module)) {
    graphs.push_back(std::make_unique<Graph>(function));
    Graph *graph = graphs.back().get();
    for (const ChannelPaths::Class &joined : graph->paths.classes())
      for (unsigned source : joined.sources)
        byName[valueName(graph->paths.sources()[source].value)] = {graph, source};
    graph->statistics.resize(graph->paths.sources().size());
  }
  for (auto [tap, port] : llvm::enumerate(taps))
    if (auto found = byName.find(port.name);
        found != byName.end() && port.type == CAMEO_DTYPE_F32) {
      auto [graph, source] = sourceOfTap[tap] = found->second;
      int64_t channels = graph->paths.sources()[source].channels;
      Statistics &of = graph->statistics[source];
      for (std::vector<double> &greatest : of.greatest)
        greatest.assign(channels, 0.0);
      of.squares.assign(channels, 0.0);
    }
}

/// Calls with each element and its channel.
template <typename Numbers, typename Call>
static void forEachChannel(Numbers numbers, ArrayRef<int64_t> shape, int64_t axis, Call call) {
  int64_t inner = ShapedType::getNumElements(shape.drop_front(axis + 1)), channels = shape[axis];
  for (size_t at = 0; at < numbers.size();)
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t i = 0; i < inner; ++i)
        call(numbers[at++], channel);
}

/// The larger of two numbers for each channel.
static std::vector<double> greatestOf(ArrayRef<double> left, ArrayRef<double> right) {
  std::vector<double> greatest;
  for (auto [a, b] : llvm::zip(left, right))
    greatest.push_back(std::max(a, b));
  return greatest;
}

void ChannelScaler::add(const TappedValue &value) {
  auto [graph, number] = sourceOfTap.lookup(value.tap);
  const ChannelPaths::Source &source = graph->paths.sources()[number];
  Statistics &of = graph->statistics[number];
  if (value.type != CAMEO_DTYPE_F32 || source.axis >= int64_t(value.shape.size()) ||
      value.shape[source.axis] != source.channels)
    return;
  ArrayRef<float> numbers(reinterpret_cast<const float *>(value.bytes.data()),
                          value.bytes.size() / sizeof(float));
  // Samples are along the first axis, unless channels are.
  int64_t samples = source.axis == 0 ? 1 : value.shape[0];
  size_t size = samples ? numbers.size() / samples : 0;
  for (int64_t i = 0; i < samples; ++i) {
    std::vector<double> &greatest = of.greatest[of.samples++ % 2];
    forEachChannel(numbers.slice(i * size, size), value.shape.drop_front(source.axis ? 1 : 0),
                   source.axis ? source.axis - 1 : 0, [&](float number, int64_t channel) {
                     if (!std::isfinite(number))
                       return;
                     greatest[channel] = std::max(greatest[channel], std::abs(double(number)));
                     of.squares[channel] += double(number) * double(number);
                   });
  }
  of.places += numbers.size() / source.channels;
}

void ChannelScaler::Scaled::multiply(MutableArrayRef<float> numbers, ArrayRef<int64_t> shape,
                                     bool isInverse) const {
  std::vector<double> wide = channelFactors(exponents, isInverse);
  std::vector<float> factors(wide.begin(), wide.end());
  forEachChannel(numbers, shape, axis,
                 [&](float &number, int64_t channel) { number *= factors[channel]; });
}

//===-- Noise ---------------------------------------------------------------------------------===//

namespace {

/// A product by constant weights that reads channels of a class.
class ReadChannels {
public:
  /// `channelOf` has, for each input channel, that of the class.
  ReadChannels(const Weighted &weighted, std::vector<unsigned> channelOf)
      : channelOf(std::move(channelOf)), greatestOf(weighted.outputs, 0.0) {
    weighted.forEach([&](double weight, int64_t output, int64_t input) {
      if (weights.empty() || weights.back().output != output || weights.back().input != input)
        weights.push_back({unsigned(output), unsigned(input), 0, 0});
      weights.back().greatest = std::max(weights.back().greatest, float(std::abs(weight)));
      weights.back().squares += float(weight * weight);
      greatestOf[output] = std::max(greatestOf[output], std::abs(weight));
    });
    places = weights.empty() ? 1 : double(weighted.weight.count()) / double(weights.size());
  }

  /// The greatest weight of each channel, beside its output channel's.
  void shares(std::vector<double> &shares) const {
    for (const Weights &of : weights)
      if (greatestOf[of.output] > 0) {
        double &share = shares[channelOf[of.input]];
        share = std::max(share, of.greatest / greatestOf[of.output]);
      }
  }

  /// Noise over signal, of what it gives. Its step is that of the channels that it reads: a part of a
  /// concatenation that is much smaller than the whole has one of its own for its other readers.
  double noise(ArrayRef<double> factors, ArrayRef<double> greatest,
               ArrayRef<double> squares) const {
    double most = 0;
    for (unsigned channel : channelOf)
      most = std::max(most, greatest[channel] * factors[channel]);
    double step = most / kLastQuantum;
    std::vector<double> steps(greatestOf.size(), 0.0);
    for (const Weights &of : weights)
      steps[of.output] =
          std::max(steps[of.output], of.greatest / factors[channelOf[of.input]] / kLastQuantum);
    double noise = 0, signal = 0;
    for (const Weights &of : weights) {
      unsigned channel = channelOf[of.input];
      double factor = factors[channel], square = squares[channel];
      noise += step * step * of.squares / (factor * factor);
      noise += steps[of.output] * steps[of.output] * square * factor * factor * places;
      signal += of.squares * square;
    }
    return signal > 0 ? noise / signal : 0;
  }

private:
  /// The weights between one output and one input channel.
  struct Weights {
    unsigned output, input;
    float greatest, squares;
  };
  std::vector<unsigned> channelOf;
  std::vector<double> greatestOf; // by output channel
  std::vector<Weights> weights;
  double places;
};

/// Channels of a class, those of one source behind those of another.
struct ClassChannels {
  std::vector<double> greatest, squares, shares;
  std::vector<double> seen;   // the greatest of every other sample
  std::vector<size_t> firsts; // by source
  std::vector<ReadChannels> products;

  double noise(const ChannelExponents &exponents) const {
    std::vector<double> factors = channelFactors(exponents);
    double sum = products.empty() ? ownNoise(factors) : 0;
    for (const ReadChannels &product : products)
      sum += product.noise(factors, greatest, squares);
    return sum;
  }

  /// Noise over signal of the value itself.
  double ownNoise(ArrayRef<double> factors) const {
    double most = 0, noise = 0, signal = 0;
    for (auto [factor, magnitude] : llvm::zip(factors, greatest))
      most = std::max(most, magnitude * factor);
    for (auto [factor, square] : llvm::zip(factors, squares)) {
      noise += most * most / (factor * factor * kLastQuantum * kLastQuantum);
      signal += square;
    }
    return signal > 0 ? noise / signal : 0;
  }

  /// Exponents next to log2 of a^-p * w^(1-p), with p = step / kStrengths. At p = 1 none is above it, so that
  /// no channel becomes greater than the greatest.
  ChannelExponents candidate(int step, ArrayRef<double> greatest) const {
    double mostMagnitude = *llvm::max_element(greatest), mostShare = *llvm::max_element(shares);
    auto bounded = [](double number, double most) {
      return std::clamp(number / most, std::ldexp(1.0, -kMostExponent), 1.0);
    };
    ChannelExponents exponents;
    for (auto [magnitude, share] : llvm::zip(greatest, shares)) {
      double power = 1; // of the factor, to the power of kStrengths
      for (int i = 0; i < kStrengths; ++i)
        power *= i < step ? 1 / bounded(magnitude, mostMagnitude) : bounded(share, mostShare);
      int exponent = std::ilogb(power) + (step == kStrengths ? 0 : kStrengths / 2);
      int whole =
          exponent >= 0 ? exponent / kStrengths : -((kStrengths - 1 - exponent) / kStrengths);
      exponents.push_back(int8_t(std::clamp(whole, -kMostExponent, kMostExponent)));
    }
    // Samples say nothing of channels that were zero in all of them, whose weights are there all the same:
    // these get what the others of their source have on average.
    for (size_t i = 0; i < firsts.size(); ++i) {
      size_t end = i + 1 < firsts.size() ? firsts[i + 1] : greatest.size();
      int sum = 0, known = 0;
      for (size_t at = firsts[i]; at < end; ++at)
        if (greatest[at] > 0) {
          sum += exponents[at];
          ++known;
        }
      for (size_t at = firsts[i]; at < end; ++at)
        if (greatest[at] == 0)
          exponents[at] = int8_t(known ? sum / known : 0);
    }
    return exponents;
  }
};

} // namespace

static_assert(kMostExponent <= RangesFile::kMostExponent, "what is written can be read");

//===-- Choice --------------------------------------------------------------------------------===//

void ChannelScaler::Graph::choose(const ChannelPaths::Class &joined,
                                  std::vector<ChannelExponents> &exponents) const {
  ClassChannels channels;
  llvm::DenseMap<unsigned, unsigned> firstOf; // by source
  for (unsigned source : joined.sources) {
    const Statistics &of = statistics[source];
    if (of.places == 0 || of.samples < 2)
      return; // not a tap, without elements, or with nothing to judge by
    firstOf[source] = channels.greatest.size();
    channels.firsts.push_back(channels.greatest.size());
    llvm::append_range(channels.seen, of.greatest[0]);
    llvm::append_range(channels.greatest, greatestOf(of.greatest[0], of.greatest[1]));
    for (double sum : of.squares)
      channels.squares.push_back(sum / double(of.places));
  }
  channels.shares.assign(channels.greatest.size(), joined.products.empty() ? 1.0 : 0.0);
  for (Operation *product : joined.products) {
    std::vector<unsigned> channelOf;
    for (const ChannelPaths::Channel &channel : paths.of(product->getOperand(0))->origins)
      channelOf.push_back(firstOf[channel.source] + channel.channel);
    channels.products.emplace_back(*Weighted::of(product), std::move(channelOf));
    channels.products.back().shares(channels.shares);
  }
  if (!(*llvm::max_element(channels.seen) > 0) || !(*llvm::max_element(channels.shares) > 0))
    return;
  ChannelExponents best(channels.greatest.size(), 0);
  double least = kWorth * channels.noise(best);
  for (int step = 1; step <= kStrengths; ++step)
    if (double noise = channels.noise(channels.candidate(step, channels.seen)); noise < least) {
      least = noise;
      best = channels.candidate(step, channels.greatest);
    }
  if (llvm::all_of(best, [](int8_t exponent) { return exponent == 0; }))
    return;
  for (unsigned source : joined.sources) {
    auto first = best.begin() + firstOf[source];
    exponents[source].assign(first, first + paths.sources()[source].channels);
  }
}

void ChannelScaler::choose(llvm::ThreadPoolInterface &threads) {
  for (const std::unique_ptr<Graph> &graph : graphs) {
    const ChannelPaths &paths = graph->paths;
    std::vector<ChannelExponents> exponents(paths.sources().size());
    for (const ChannelPaths::Class &joined : paths.classes())
      threads.async([&] { graph->choose(joined, exponents); }); // sources are of one class each
    threads.wait();
    for (auto [source, found] : llvm::zip(paths.sources(), exponents))
      if (!found.empty())
        chosen[valueName(source.value)] = std::move(found);
    auto keep = [&](Value value) {
      if (ChannelExponents found = paths.exponents(value, chosen); !found.empty())
        scaled[valueName(value)] = {paths.of(value)->axis, std::move(found)};
    };
    for (Value argument : graph->function.getArguments())
      keep(argument);
    graph->function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        keep(result);
    });
  }
}

const ChannelScaler::Scaled *ChannelScaler::of(StringRef name) const {
  auto found = scaled.find(name);
  return found == scaled.end() ? nullptr : &found->second;
}
