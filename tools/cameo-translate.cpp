// cameo-translate: between MLIR and the formats around it.
//
// SPDX-License-Identifier: Apache-2.0
#include "tools/KernelTranslations.h"
#include "tools/Locations.h"
#include "tools/OnnxTranslations.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "llvm/ADT/StringRef.h"

int main(int argc, char **argv) {
  cameo::printLocations();
  // Answered before the driver, which would wait for a file.
  if (argc == 2 && llvm::StringRef(argv[1]) == "--list-onnx-operators") {
    cameo::listOnnxOperators();
    return 0;
  }
  if (argc == 2 && llvm::StringRef(argv[1]) == "--convert-onnx-files") {
    cameo::convertOnnxFiles();
    return 0;
  }
  cameo::registerKernelTranslations();
  cameo::registerOnnxTranslations();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "Cameo's translations")) ? 1 : 0;
}
