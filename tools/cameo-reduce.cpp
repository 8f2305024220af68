// cameo-reduce: makes IR that shows a bug smaller, while a script says that it still shows it.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Registration.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  cameo::registerEverything(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context)) ? 1 : 0;
}
