// cameo-lsp-server: shows editors the errors, types and definitions of .mlir files with our
// dialects. SPDX-License-Identifier: Apache-2.0
#include "tools/Registration.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  cameo::registerEverything(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
