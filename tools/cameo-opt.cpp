// cameo-opt: reads MLIR, runs passes, writes MLIR. Knows every dialect of ours and of MLIR's.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<cameo::onnx::OnnxDialect, cameo::kernel::KernelDialect, cameo::rt::RtDialect>();
  cameo::registerCameoCodegenPasses();
  cameo::registerCameoPasses();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "Cameo's pass driver\n", registry)) ? 1 : 0;
}
