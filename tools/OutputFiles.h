// Writing files: no input is overwritten, and a full disk is an error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

#include <string>

namespace cameo {

/// A file that is to be written, and what names it on the command line.
struct OutputName {
  std::string option, path;
};

/// Fails where an output is an input, under whatever name, or another output.
llvm::Error checkOutputs(llvm::ArrayRef<std::string> inputs, llvm::ArrayRef<OutputName> outputs);

/// A rule of make by which the output is made anew where an input changes: where one is a folder, a file of it, too.
std::string dependencyRule(llvm::StringRef output, llvm::ArrayRef<std::string> inputs);

/// Fails where standard output cannot be written. Unless this is asked, LLVM ends the process for
/// it, with the exit code of a mismatch.
llvm::Error flushStandardOutput();

} // namespace cameo
