// Everything is registered here, because MLIR's headers for it take long to compile.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Registration.h"

#include "codegen/Passes.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Rt.h"
#include "passes/OperatorInterfaces.h"
#include "passes/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void cameo::registerEverything(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<onnx::OnnxDialect, kernel::KernelDialect, rt::RtDialect>();
  registerOperatorInterfaces(registry);
  registerCameoCodegenPasses();
  registerCameoPasses();
}
