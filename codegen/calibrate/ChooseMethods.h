// Which method's threshold costs least at the model's outputs, value by value.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/CalibrationCache.h"
#include "codegen/calibrate/CalibrationData.h"
#include "codegen/calibrate/ChannelScaler.h"

#include "llvm/ADT/StringSet.h"

namespace cameo {

/// For each of the values with these names, runs the model with nothing but that value quantised,
/// by each threshold that its methods give, and chooses the one with which the outputs differ least
/// from those of FP32: by the sum, over outputs of floats, of the noise's power over the signal's.
/// Of equal ones the first counts, in the order of CalibrationMethod::kSingle. Other values take
/// the threshold of the least squared error of their own. Channels are scaled as `scaler`, which may
/// be null, has found it.
///
/// The model is compiled so that each tapped value is read from where it is tapped (-O0). `onRun`
/// is called after each run.
llvm::Error chooseMethods(Runner &runner, const DataBatch &samples, const llvm::StringSet<> &names,
                          const ChannelScaler *scaler, std::vector<CalibratedValue> &values,
                          llvm::function_ref<void(uint64_t done, uint64_t runs)> onRun);

} // namespace cameo
