// How programs of ours end.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_EXIT_CODE_H
#define CAMEO_RUNTIME_MAIN_EXIT_CODE_H

#include "runtime/core/status.h"

namespace cameo::cli {

enum ExitCode { Good = 0, Mismatch = 1, Usage = 2, DeviceFailure = 3, BadFile = 4 };

// The exit code of a failure; Good where there is none.
inline ExitCode exitCode(runtime::Code code) {
  switch (code) {
  case runtime::Code::Ok:
    return Good;
  case runtime::Code::InvalidArgument:
  case runtime::Code::OutOfRange:
  case runtime::Code::NotFound:
  case runtime::Code::Io:
  case runtime::Code::NotKnownYet:
    return Usage;
  case runtime::Code::Corrupt:
  case runtime::Code::NotAModel:
  case runtime::Code::Incompatible:
    return BadFile;
  default:
    return DeviceFailure;
  }
}

} // namespace cameo::cli

#endif
