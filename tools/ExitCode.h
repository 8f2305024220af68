// How programs end: docs/command-line.md has the table. Artefacts have the same codes in
// runtime/main/exit_code.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cameo {

enum ExitCode : int {
  Good = 0,
  Negative = 1, // the program has done its work: a model is refused, or results differ
  Usage = 2,    // options, and files that cannot be read or written
  DeviceFailure = 3
};

} // namespace cameo
