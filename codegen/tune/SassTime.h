// How long a kernel is estimated to run, by its machine code.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Sass.h"
#include "codegen/schedule/TimeModel.h"

#include <limits>

namespace cameo {

struct SassTime {
  double microseconds = std::numeric_limits<double>::infinity();
  /// Of the main loop; empty where there is none.
  llvm::StringRef resource;
  unsigned registers = 0, blocksPerSm = 0, spilledBytes = 0;
};

/// The model's time with what the machine code says of the main loop (slots, pipes, stalls), of
/// registers and of the room that blocks take; `work` has the grid and what goes through memory.
/// Without a main loop nothing is known.
SassTime sassTime(const sass::Kernel &kernel, const KernelWork &work, unsigned dynamicSharedBytes,
                  unsigned spilledBytes, const Target &target);

} // namespace cameo
