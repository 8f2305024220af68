// Runs of a switched model ==> noise over signal.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/NoiseSamples.h"

#include "codegen/compare/TensorError.h"

#include <cmath>

using namespace cameo;
using llvm::Expected;

Expected<NoiseSamples> NoiseSamples::take(SwitchedModel &model, CalibrationData &data,
                                          uint64_t batch) {
  NoiseSamples result;
  model.set({});
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
  return std::move(result);
}

Expected<std::optional<double>> NoiseSamples::noiseOf(SwitchedModel &model,
                                                      const QuantizedOperands &operands,
                                                      llvm::function_ref<bool()> isOver) {
  model.set(operands);
  std::vector<TensorError> errors(model.outputs().size());
  for (auto [batch, wanted] : llvm::zip(batches, reference)) {
    if (isOver())
      return std::nullopt;
    Expected<std::vector<HostTensor>> outputs = model.run(batch);
    if (!outputs)
      return outputs.takeError();
    for (auto [error, output, right] : llvm::zip(errors, *outputs, wanted))
      if (output.type == CAMEO_DTYPE_F32)
        error.add(toNumbers(right.type, right.bytes), toNumbers(output.type, output.bytes));
  }
  double noise = 0;
  for (const TensorError &error : errors)
    if (error.elements())
      noise += std::pow(10, -error.sqnr() / 10);
  return std::isnan(noise) ? std::numeric_limits<double>::infinity() : noise;
}
