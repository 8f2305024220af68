// SPDX-License-Identifier: Apache-2.0
#include "tools/ShortHelp.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
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
