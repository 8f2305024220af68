// cameo-opt: reads MLIR, runs passes, writes MLIR. Knows every dialect of ours and of MLIR's.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  cameo::registerEverything(registry);
  return mlir::failed(mlir::MlirOptMain(argc, argv, "Cameo's pass driver\n", registry)) ? 1 : 0;
}
