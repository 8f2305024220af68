// The programs of a wheel in one: `cameo-tools cameoc MODEL.onnx -o FILE`.
// SPDX-License-Identifier: Apache-2.0
#include "tools/ExitCode.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using Main = int(int, char **);
Main cameoc_main, cameo_compare_main, cameo_opt_main, cameo_translate_main, cameo_reduce_main,
    cameo_lsp_server_main;

static constexpr std::pair<llvm::StringLiteral, Main *> kTools[] = {
    {"cameoc", cameoc_main},
    {"cameo-compare", cameo_compare_main},
    {"cameo-opt", cameo_opt_main},
    {"cameo-translate", cameo_translate_main},
    {"cameo-reduce", cameo_reduce_main},
    {"cameo-lsp-server", cameo_lsp_server_main},
};

/// Takes options away that LLVM knows as soon as the code is there that has them: cameo-compare's, which are in a
/// category of its own. The other programs have files and options of the same names.
static void removeOptionsOfCompare() {
  llvm::cl::SubCommand &all = llvm::cl::SubCommand::getTopLevel();
  llvm::SmallVector<llvm::cl::Option *> options(llvm::make_second_range(all.OptionsMap));
  llvm::append_range(options, all.PositionalOpts);
  for (llvm::cl::Option *option : options)
    for (llvm::cl::OptionCategory *category : option->Categories)
      if (category->getName() == "Options")
        option->removeArgument();
}

int main(int argc, char **argv) {
  llvm::StringRef name = argc > 1 ? argv[1] : "";
  for (auto [tool, run] : kTools)
    if (name == tool) {
      if (tool != "cameo-compare")
        removeOptionsOfCompare();
      return run(argc - 1, argv + 1);
    }
  llvm::errs() << "error: '" << name << "' is none of "
               << llvm::join(llvm::make_first_range(kTools), ", ") << "\n";
  return cameo::Usage;
}
