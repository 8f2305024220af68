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

std::string cameo::dependencyRule(StringRef output, ArrayRef<std::string> inputs) {
  std::string rule;
  auto add = [&](StringRef path) {
    for (char c : path) {
      if (c == ' ' || c == '#' || c == '\\')
        rule += '\\';
      if (c == '$')
        rule += '$';
      rule += c;
    }
  };
  add(output);
  rule += ':';
  for (const std::string &input : inputs) {
    rule += " \\\n  ";
    add(input);
    std::error_code error;
    for (fs::directory_iterator file(input, error), end; file != end && !error;
         file.increment(error)) {
      rule += " \\\n  ";
      add(file->path());
    }
  }
  return rule + "\n";
}

llvm::Error cameo::flushStandardOutput() {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  llvm::outs().clear_error();
  return error ? llvm::createStringError(error, "cannot write the output: " + error.message())
               : llvm::Error::success();
}
