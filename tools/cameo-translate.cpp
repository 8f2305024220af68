// cameo-translate: between MLIR and the formats around it.
//
// SPDX-License-Identifier: Apache-2.0
#include "tools/KernelTranslations.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  cameo::registerKernelTranslations();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "Cameo's translations")) ? 1 : 0;
}
