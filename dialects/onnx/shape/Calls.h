// What the outlining and the lowering of loops share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cameo::onnx {

/// The trips that a loop makes at most that the run makes and that collects parts: memory is taken for all of them.
inline constexpr int64_t kMostParts = int64_t(1) << 24;

} // namespace cameo::onnx
