// Versions, gathered from the build, the libraries, and ptxas itself.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Version.h"

#include "codegen/target/Target.h"
#include "dialects/onnx/Onnx.h"
#include "runtime/format.h"
#include "tools/GitHash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace cameo;

/// "13.0.88": the word after "V" in the last line but one of what ptxas says, or an empty string.
static std::string ptxasVersion(StringRef path) {
  llvm::SmallString<128> file;
  if (llvm::sys::fs::createTemporaryFile("cameo-ptxas", "txt", file))
    return "";
  llvm::FileRemover remover(file);
  std::optional<StringRef> redirects[] = {StringRef(""), file.str(), StringRef("")};
  if (llvm::sys::ExecuteAndWait(path, {path, "--version"}, std::nullopt, redirects, 10))
    return "";
  auto text = llvm::MemoryBuffer::getFile(file);
  if (!text)
    return "";
  StringRef version = (*text)->getBuffer().split(", V").second;
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
    std::string version = ptxasVersion(ptxas);
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
