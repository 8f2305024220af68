// --help and --version of our programs on MLIR's and LLVM's libraries, whose own have hundreds of options, and no
// word of us.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"

namespace cameo {

/// Answers --help by printing `text`, which ends in a new line: true, and the program is to end. Has
/// --help-all be what LLVM calls --help-hidden, all there is. For main, in front of LLVM's parser.
bool answerHelp(int argc, char **argv, llvm::StringRef text);

/// Has LLVM's parser answer --version with Cameo's version, and LLVM's.
void nameVersion();

} // namespace cameo
