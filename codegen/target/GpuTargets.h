// What is compiled for a GPU whose driver says what it is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/Support/Error.h"

#include <string>

namespace cameo {

/// For a GPU of this compute capability, as a list for parseTargetSpec: the architecture whose cubin
/// runs there, and its PTX for where the driver refuses the cubin; for GPUs later than the table PTX
/// alone. An error where the GPU is older than the table.
llvm::Expected<std::string> targetsOfGpu(unsigned major, unsigned minor);

} // namespace cameo
