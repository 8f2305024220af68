// The programs of a wheel in one: `cameo-tools cameoc MODEL.onnx -o FILE`.
// SPDX-License-Identifier: Apache-2.0
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include "tools/ExitCode.h"

using Main = int(int, char **);
Main cameoc_main, cameo_compare_main;

int main(int argc, char **argv) {
  Main *tool = llvm::StringSwitch<Main *>(argc > 1 ? argv[1] : "")
                   .Case("cameoc", cameoc_main)
                   .Case("cameo-compare", cameo_compare_main)
                   .Default(nullptr);
  if (!tool) {
    llvm::errs() << "error: which program? cameoc or cameo-compare\n";
    return cameo::Usage;
  }
  return tool(argc - 1, argv + 1);
}
