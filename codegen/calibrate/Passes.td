// SPDX-License-Identifier: Apache-2.0
// Passes of calibration, as a part of codegen/Passes.td.
#ifndef CAMEO_CODEGEN_CALIBRATE_PASSES_TD
#define CAMEO_CODEGEN_CALIBRATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertHistograms : Pass<"cameo-insert-histograms", "::cameo::rt::VariantOp"> {
  let summary = "insert launches that count the magnitudes of tapped values";
  let description = [{
    Each tap (`rt.tap`) of FP32 gets a histogram of its magnitudes, which is a further tap, behind all
    others and in their order, called `NAME (magnitudes)`: `MagnitudeWords` of
    `codegen/calibrate/Histogram.h`. Three kernels, which all of them share, clear the words, find the
    least and the largest element, and count in the bins that follow from these. A variant that has
    these kernels stays as it is.

    ```mlir
    %0 = rt.launch @k0_relu::@k0_relu ... -> tensor<4xf32>
    return %0 : tensor<4xf32>                                  // {onnx.name = "relu", rt.tap}
    ```
    ==>
    ```mlir
    %0 = rt.launch @k0_relu::@k0_relu ... -> tensor<4xf32>
    %1 = rt.launch @histogram_clear::@histogram_clear ... args(%e) writes [0]
    %2 = rt.launch @histogram_extent::@histogram_extent ... args(%0, %1, %n) writes [1]
    %3 = rt.launch @histogram_count::@histogram_count ... args(%0, %2, %n) writes [1]
    return %0, %3 : tensor<4xf32>, tensor<16388xi32>           // {onnx.name = "relu (magnitudes)", rt.tap}
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect", "::cameo::kernel::KernelDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"histograms", "histograms", "taps that have a histogram">];
}

#endif // CAMEO_CODEGEN_CALIBRATE_PASSES_TD
