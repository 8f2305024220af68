// Which build of the compiler this is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cameo {

/// The build IDs of the program and of the libraries it has loaded, LLVM and plugins among them: bytes
/// that tell this compiler from every other one. Empty if the program was linked without one.
std::string buildIds();

} // namespace cameo
