// cameo-translate: between MLIR and the formats around it.
//
// SPDX-License-Identifier: Apache-2.0
#include "tools/CrashReports.h"
#include "tools/KernelTranslations.h"
#include "tools/Locations.h"
#include "tools/OnnxTranslations.h"
#include "tools/ShortHelp.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/InitLLVM.h"

static constexpr llvm::StringLiteral kHelp =
    R"(cameo-translate --TRANSLATION FILE [-o FILE]
Translates between MLIR and other formats. A FILE of the name -, or none, is standard input; without
-o the result goes to standard output.

  cameo-translate --import-onnx model.onnx -o model.mlir
  cameo-translate --export-onnx model.mlir -o model.onnx
  cameo-translate --kernel-to-ptx --arch=sm_90a kernels.mlir

Models:
  --import-onnx               an ONNX model to the onnx dialect, as cameoc reads it
  --export-onnx               the onnx dialect to an ONNX model
  --onnx-file=FILE            with --export-onnx: writes there, and large constants to FILE.data
  --onnx-external-from=BYTES  with --onnx-file: constants that are so large
  --mlir-print-debuginfo=false  text without locations, which are the names of the model's nodes

Kernels, each gpu.module of a file at stage tiled or device:
  --kernel-to-ptx             to PTX
  --kernel-to-cubin           to a cubin, by ptxas
  --kernel-resources          what ptxas says that they take: registers, shared memory, spills
  --kernel-to-sim-image       to an image for the simulator
  --kernel-to-sim-ir          to the LLVM IR that such an image is compiled from
  --arch=ARCH                 the architecture that they are for; default sm_80
  --checked                   for the simulator: with its checks
  --thread-form               for the simulator: each thread on its own, not warps
  --libdevice=FILE            NVIDIA's libdevice.10.bc
  --kernel-line-info          line information in PTX
  --kernel-time               says on stderr how long translations take

)";

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cameo::reportCrashes(llvm::ArrayRef<const char *>(argv, argc));
  cameo::nameVersion();
  if (cameo::answerHelp(argc, argv, kHelp))
    return 0;
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
