// Runs of a switched model ==> noise over signal.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/NoiseSamples.h"

#include "codegen/compare/TensorError.h"

#include <cmath>

using namespace cameo;
using llvm::Expected;

Expected<NoiseSamples> NoiseSamples::take(SwitchedModel &model, CalibrationData &data,
                                          uint64_t batch, uint64_t skipped) {
  NoiseSamples result;
  model.set({});
  data.rewind();
  for (uint64_t done = 0; done < skipped;) {
    Expected<DataBatch> next = data.next(std::min(batch, skipped - done));
    if (!next)
      return next.takeError();
    if (next->samples == 0)
      break;
    done += next->samples;
  }
  // One run may have taken all there are.
  for (bool again : {false, true}) {
    if (again)
      data.rewind();
    while (result.taken < kSamples) {
      Expected<DataBatch> next = data.next(std::min(batch, kSamples - result.taken));
      if (!next)
        return next.takeError();
      if (next->samples == 0)
        break;
      Expected<std::vector<HostTensor>> outputs = model.run(*next);
      if (!outputs)
        return outputs.takeError();
      result.taken += next->samples;
      result.batches.push_back(std::move(*next));
      result.reference.push_back(std::move(*outputs));
    }
    if (result.taken)
      break;
  }
  return std::move(result);
}

/// Noise over signal, summed over outputs; NaN where one has something else than numbers.
static double sum(llvm::ArrayRef<TensorError> errors) {
  double noise = 0;
  for (const TensorError &error : errors)
    if (error.elements())
      noise += std::pow(10, -error.sqnr() / 10);
  return noise;
}

static double median(std::vector<double> numbers) {
  if (numbers.empty())
    return std::numeric_limits<double>::infinity();
  llvm::sort(numbers);
  size_t middle = numbers.size() / 2;
  return numbers.size() % 2 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

Expected<std::optional<NoiseSamples::Noise>>
NoiseSamples::noiseOf(SwitchedModel &model, const QuantizedOperands &operands,
                      llvm::function_ref<bool()> isOver) {
  model.set(operands);
  std::vector<TensorError> errors(model.outputs().size());
  std::vector<double> runs;
  for (auto [batch, wanted] : llvm::zip(batches, reference)) {
    if (isOver())
      return std::nullopt;
    Expected<std::vector<HostTensor>> outputs = model.run(batch);
    if (!outputs)
      return outputs.takeError();
    std::vector<TensorError> ofRun(errors.size());
    for (auto [error, all, output, right] : llvm::zip(ofRun, errors, *outputs, wanted)) {
      if (output.type != CAMEO_DTYPE_F32)
        continue;
      std::vector<double> reference = toNumbers(right.type, right.bytes);
      std::vector<double> numbers = toNumbers(output.type, output.bytes);
      error.add(reference, numbers);
      all.add(reference, numbers);
    }
    if (double noise = sum(ofRun); !std::isnan(noise))
      runs.push_back(noise);
  }
  double all = sum(errors);
  return Noise{std::isnan(all) ? std::numeric_limits<double>::infinity() : all,
               median(std::move(runs))};
}
