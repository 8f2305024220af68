// SPDX-License-Identifier: Apache-2.0
#include "tools/ShortHelp.h"

#include "codegen/Version.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

bool cameo::answerHelp(int argc, char **argv, StringRef text) {
  static char all[] = "--help-hidden";
  for (char *&argument : llvm::MutableArrayRef<char *>(argv, argc).drop_front()) {
    StringRef name = argument;
    if (name == "--")
      break;
    if (name == "--help-all" || name == "-help-all")
      argument = all;
    if (name != "--help" && name != "-help" && name != "-h")
      continue;
    llvm::outs() << text << "--help-all lists all options.\n";
    return true;
  }
  return false;
}

void cameo::nameVersion() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &output) {
    output << "Cameo " CAMEO_VERSION "\nLLVM and MLIR " LLVM_VERSION_STRING "\n";
  });
}
