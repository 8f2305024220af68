// What a piece of GPU code needs of the driver, read from the code itself.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CUDA_CODE_H
#define CAMEO_RUNTIME_CUDA_CODE_H

#include "runtime/core/device.h"

namespace cameo::runtime::cuda {

struct CodeNeeds {
  int driver = 0;      // as cuDriverGetVersion; 0: unknown
  std::string because; // e.g. "PTX ISA 8.5"
};

CodeNeeds codeNeeds(const CodeSection &section);

// "cubin for sm_90a".
std::string codeText(const CodeSection &section);

} // namespace cameo::runtime::cuda

#endif
