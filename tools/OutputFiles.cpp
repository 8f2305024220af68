// Comparison of files by device and inode.
// SPDX-License-Identifier: Apache-2.0
#include "tools/OutputFiles.h"

#include "llvm/Support/FileSystem.h"

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
