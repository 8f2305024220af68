// Comparison of files by device and inode, and the end of standard output.
// SPDX-License-Identifier: Apache-2.0
#include "tools/OutputFiles.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cameo;

namespace fs = llvm::sys::fs;

llvm::Error cameo::checkOutputs(ArrayRef<std::string> inputs, ArrayRef<OutputName> outputs) {
  auto isSame = [](StringRef a, StringRef b) {
    // Devices and pipes are written to and stay what they are.
    bool same = false;
    return a == b || (fs::is_regular_file(a) && !fs::equivalent(a, b, same) && same);
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto fail = [&](const Twine &what) {
      return llvm::createStringError(
          (outputs[i].option + ": '" + outputs[i].path + "' is " + what).str());
    };
    if (fs::exists(outputs[i].path) && !fs::is_regular_file(outputs[i].path))
      continue;
    for (const std::string &input : inputs)
      if (isSame(outputs[i].path, input))
        return fail("the input '" + input + "', which it would replace");
    for (size_t j = 0; j < i; ++j)
      if (isSame(outputs[i].path, outputs[j].path))
        return fail("what " + outputs[j].option + " writes");
  }
  return llvm::Error::success();
}

llvm::Error cameo::flushStandardOutput() {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  llvm::outs().clear_error();
  return error ? llvm::createStringError(error, "cannot write the output: " + error.message())
               : llvm::Error::success();
}
