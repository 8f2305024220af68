// SPDX-License-Identifier: Apache-2.0
// Passes that compile several schedules of a dispatch, as a part of codegen/Passes.td.
#ifndef CAMEO_CODEGEN_TUNE_PASSES_TD
#define CAMEO_CODEGEN_TUNE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TuneSchedules : Pass<"cameo-tune-schedules", "::mlir::ModuleOp"> {
  let summary = "tune schedules: choose among candidates by their machine code";
  let description = [{
    Makes kernels of all candidates that `cameo-assign-schedules{candidates=N}` has noted, one of each of
    equal dispatches, has ptxas assemble them and nvdisasm print what came of it, and gives each
    dispatch the candidate that is then estimated to be the fastest: by the slots, pipes and stalls of
    its main loop, its registers, and the blocks that fit on a multiprocessor. No GPU is needed.

    ```mlir
    %0 = kernel.dispatch ... schedule #a attributes {kernel.candidates = [...]}
    ```
    ==>
    ```mlir
    %0 = kernel.dispatch ... schedule #b
    ```
  }];
  let dependentDialects = ["::cameo::kernel::KernelDialect", "::cameo::rt::RtDialect"];
  let options = [Option<"ptxas", "ptxas", "std::string", /*default=*/"\"\"",
                        "NVIDIA's assembler; else the PATH's">,
                 Option<"nvdisasm", "nvdisasm", "std::string", /*default=*/"\"\"",
                        "NVIDIA's disassembler; else the PATH's">,
                 Option<"libdevice", "libdevice", "std::string", /*default=*/"\"\"",
                        "NVIDIA's libdevice.10.bc; else looked for beside ptxas">,
                 Option<"cacheDir", "cache-dir", "std::string", /*default=*/"\"\"",
                        "folder of kernels that were compiled before; none where it is empty">];
  let statistics = [
    Statistic<"assembled", "assembled", "kernels made for trial">,
    Statistic<"changed", "changed", "dispatches for which another candidate is better">
  ];
}

def CreateCandidates : Pass<"cameo-create-candidates", "::mlir::ModuleOp"> {
  let summary = "create a variant for each candidate of each dispatch";
  let description = [{
    Makes a variant of each candidate that `cameo-assign-schedules{candidates=N everything}` has noted, one
    of each of equal dispatches. It computes nothing but the dispatch, with the candidate's schedule;
    `rt.candidate` on it says what it is. Operands become inputs, called `x` and their position, and
    constants placeholders without data of the type in which the candidate reads them. Operands that are views
    become tensors of their own. The model's own variants go. Dispatches with sizes known only at run time are left
    out, with a warning.

    ```mlir
    rt.variant @sm_80 target "sm_80" {
      func.func @main(...) { ... %0 = kernel.dispatch ... {kernel.candidates = [#a, #b]} ... }
    }
    ```
    ==>
    ```mlir
    rt.variant @d0_0 target "sm_80" attributes {rt.candidate = {candidate = #a, key = "...", ...}} {
      func.func @main(%x0 {onnx.name = "x0"}) { %0 = kernel.dispatch ... schedule ... }
    }
    rt.variant @d0_1 target "sm_80" attributes {rt.candidate = {candidate = #b, key = "...", ...}} {
      func.func @main(%x0 {onnx.name = "x0"}) { %0 = kernel.dispatch ... schedule ... }
    }
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect", "::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"candidates", "candidates", "candidates that became variants">
  ];
}

def ReplacePlaceholders : Pass<"cameo-replace-placeholders", "::mlir::ModuleOp"> {
  let summary = "replace placeholders of constants by inputs";
  let description = [{
    Constants that variants with `rt.candidate` read become arguments of their functions, behind those that
    there are, so that no weights are stored for them.

    ```mlir
    func.func @main(%0: tensor<8x16xf16> {onnx.name = "x0"}) -> ... {
      %1 = rt.get_constant @placeholder0 : tensor<16x32xf16>
      %2 = rt.launch @k0::@k0 ... args(%0, %1, ...) ...
    ```
    ==>
    ```mlir
    func.func @main(%0: tensor<8x16xf16> {onnx.name = "x0"}, %1: tensor<16x32xf16> {onnx.name = "x1"}) -> ... {
      %2 = rt.launch @k0::@k0 ... args(%0, %1, ...) ...
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect", "::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"passed", "passed", "constants that became inputs">
  ];
}

#endif
