// Files and texts of options ==> passes of the pipeline.
// SPDX-License-Identifier: Apache-2.0
#include "tools/PassPlugins.h"

#include "codegen/Passes.h"
#include "passes/Passes.h"

#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace cameo;

static llvm::Error load(const std::string &file) {
  // The loader takes a name without a slash for one of the system's libraries.
  llvm::SmallString<256> path(file);
  if (std::error_code error = llvm::sys::fs::make_absolute(path))
    return llvm::createStringError("--load-pass-plugin=" + file + ": " + error.message());
  llvm::Expected<PassPlugin> plugin = PassPlugin::load(path.str().str());
  if (!plugin)
    return llvm::createStringError("--load-pass-plugin=" + file + ": " +
                                   StringRef(llvm::toString(plugin.takeError())).rtrim());
  plugin->registerPassRegistryCallbacks();
  return llvm::Error::success();
}

llvm::Error cameo::insertPasses(CameocOptions &options) {
  if (options.passPlugins.empty() && options.insertedPasses.empty())
    return llvm::Error::success();
  registerCameoPasses();
  registerCameoCodegenPasses();
  registerTransformsPasses();
  for (const std::string &file : options.passPlugins)
    if (llvm::Error error = load(file))
      return error;
  for (const std::string &text : options.insertedPasses) {
    llvm::Expected<InsertedPass> pass = parseInsertedPass(text);
    if (!pass)
      return llvm::createStringError("--insert-pass=" + text + ": " +
                                     llvm::toString(pass.takeError()));
    options.pipeline.insertedPasses.push_back(std::move(*pass));
  }
  return llvm::Error::success();
}
