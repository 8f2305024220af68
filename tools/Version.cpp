// Versions, gathered from the build, the libraries, and ptxas itself.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Version.h"

#include "codegen/Version.h"
#include "codegen/emit/Assemble.h"
#include "codegen/target/Target.h"
#include "dialects/onnx/Onnx.h"
#include "runtime/format.h"
#include "tools/GitHash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace cameo;

/// "13.0.88": the word after "V" in the last line but one of what ptxas says, or an empty string.
static std::string shortVersion(StringRef path) {
  std::string text = ptxasVersion(path);
  StringRef version = StringRef(text).split(", V").second;
  return version.take_while([](char c) { return llvm::isDigit(c) || c == '.'; }).str();
}

void cameo::printVersions(raw_ostream &output, StringRef ptxas) {
  output << "cameoc " CAMEO_VERSION " (git " CAMEO_GIT_HASH ")\n"
         << "LLVM and MLIR " LLVM_VERSION_STRING "\n"
         << "ONNX opset " << onnx::kOpset << ", IR version " << onnx::kIrVersion << "\n"
         << "payload version " << CAMEO_PAYLOAD_VERSION << "\n";
  if (ptxas.empty()) {
    output << "ptxas not found, so PTX only\n";
  } else {
    std::string version = shortVersion(ptxas);
    output << "ptxas " << (version.empty() ? "of an unknown version" : version) << ", " << ptxas
           << "\n";
  }
  output << "PTX ISA";
  StringRef separator = " ";
  for (const Target &target : knownTargets()) {
    output << separator << target.ptxVersionText() << " for " << target.name;
    separator = ", ";
  }
  output << "\n";
}
