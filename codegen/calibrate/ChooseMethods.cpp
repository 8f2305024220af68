// Runs with one value quantised ==> the method of that value.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/ChooseMethods.h"

#include "passes/precision/QuantizedValue.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace cameo;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::MutableArrayRef;

namespace {

/// As QuantizeLinear and DequantizeLinear do it, with symmetric bytes, between factors of channels.
void quantize(MutableArrayRef<char> bytes, ArrayRef<int64_t> shape, float threshold,
              const ChannelScaler::Scaled *scaled) {
  constexpr float most = kLastQuantum;
  MutableArrayRef<float> values(reinterpret_cast<float *>(bytes.data()),
                                bytes.size() / sizeof(float));
  if (scaled)
    scaled->multiply(values, shape);
  float scale = activationScale(threshold);
  for (float &value : values)
    value = std::clamp(std::nearbyint(value / scale), -most, most) * scale;
  if (scaled)
    scaled->multiply(values, shape, /*isInverse=*/true);
}

/// How far outputs are from a reference: noise over signal, summed over outputs
/// of floats.
double noiseOf(ArrayRef<HostTensor> outputs, ArrayRef<HostTensor> reference) {
  double sum = 0;
  for (auto [output, wanted] : llvm::zip(outputs, reference)) {
    if (output.type != CAMEO_DTYPE_F32)
      continue;
    auto *found = reinterpret_cast<const float *>(output.bytes.data());
    auto *right = reinterpret_cast<const float *>(wanted.bytes.data());
    double noise = 0, signal = 0;
    for (size_t i = 0; i < wanted.bytes.size() / sizeof(float); ++i) {
      double difference = double(found[i]) - double(right[i]);
      noise += difference * difference;
      signal += double(right[i]) * double(right[i]);
    }
    sum += signal > 0 ? noise / signal : noise;
  }
  return sum;
}

class MethodSearch {
public:
  MethodSearch(Runner &runner, const DataBatch &samples) : runner(runner), samples(samples) {}

  Error start() {
    Expected<std::vector<HostTensor>> outputs = runner.run(samples.inputs);
    if (!outputs)
      return failed(outputs.takeError());
    reference = std::move(*outputs);
    return Error::success();
  }

  /// The noise that a value's threshold makes.
  Expected<double> noise(llvm::StringRef name, float threshold,
                         const ChannelScaler::Scaled *scaled) {
    // An input is quantised before the run: its memory is ours.
    std::vector<HostTensor> inputs = samples.inputs;
    for (auto [port, tensor] : llvm::zip(runner.inputs(), inputs))
      if (port.name == name)
        quantize(tensor.bytes, tensor.shape, threshold, scaled);
    Expected<std::vector<HostTensor>> outputs =
        runner.runChanged(inputs, [&](const TappedValue &value, MutableArrayRef<char> bytes) {
          if (value.name != name || value.type != CAMEO_DTYPE_F32)
            return false;
          quantize(bytes, value.shape, threshold, scaled);
          return true;
        });
    if (!outputs)
      return failed(outputs.takeError());
    return noiseOf(*outputs, reference);
  }

private:
  static Error failed(Error error) {
    return llvm::createStringError("calibration: " + llvm::toString(std::move(error)));
  }

  Runner &runner;
  const DataBatch &samples;
  std::vector<HostTensor> reference;
};

/// The scales of a value that differ, each with the first method that has it.
std::vector<CalibrationMethod::Kind> candidatesOf(const CalibratedValue &value) {
  std::vector<CalibrationMethod::Kind> kinds;
  for (CalibrationMethod::Kind kind : CalibrationMethod::kSingle)
    if (llvm::none_of(kinds, [&](CalibrationMethod::Kind other) {
          return activationScale(value.operandThresholds()[other]) ==
                 activationScale(value.operandThresholds()[kind]);
        }))
      kinds.push_back(kind);
  return kinds;
}

} // namespace

Error cameo::chooseMethods(Runner &runner, const DataBatch &samples, const llvm::StringSet<> &names,
                           const ChannelScaler *scaler, std::vector<CalibratedValue> &values,
                           llvm::function_ref<void(uint64_t, uint64_t)> onRun) {
  uint64_t done = 0, runs = 0;
  for (const CalibratedValue &value : values)
    if (names.contains(value.name) && candidatesOf(value).size() > 1)
      runs += candidatesOf(value).size();
  MethodSearch search(runner, samples);
  if (Error error = search.start())
    return error;
  for (CalibratedValue &value : values) {
    value.chosen = CalibrationMethod::Mse;
    std::vector<CalibrationMethod::Kind> kinds = candidatesOf(value);
    if (!names.contains(value.name) || kinds.size() == 1)
      continue;
    double least = INFINITY;
    for (CalibrationMethod::Kind kind : kinds) {
      Expected<double> noise = search.noise(value.name, value.operandThresholds()[kind],
                                            scaler ? scaler->of(value.name) : nullptr);
      if (!noise)
        return noise.takeError();
      if (*noise < least) {
        least = *noise;
        value.chosen = kind;
      }
      onRun(++done, runs);
    }
  }
  return Error::success();
}
