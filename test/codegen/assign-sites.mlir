// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-assign-sites))' %s | FileCheck %s
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-assign-sites{first=7}))' %s | FileCheck %s --check-prefix=FIRST

// The node is that of the operation; else those of the kernel.
// CHECK: gpu.module @kernels attributes {sim.sites = {{\[\[}}"conv", "k.mlir:3:5", "barrier"], ["conv, relu", "", "vote"]]}
// CHECK: llvm.mlir.constant(0 : i32) : i32
// CHECK: llvm.mlir.constant(1 : i32) : i32
// CHECK: llvm.mlir.constant(5 : i32) : i32
// FIRST: llvm.mlir.constant(7 : i32) : i32
// FIRST: llvm.mlir.constant(8 : i32) : i32
// FIRST: llvm.mlir.constant(5 : i32) : i32
gpu.module @kernels {
  llvm.func internal @k$body(%thread: !llvm.ptr) attributes {sim.body = @k, kernel.nodes = "conv, relu"} {
    %a = llvm.mlir.constant(0 : i32) {sim.site = "barrier"} : i32 loc("conv"("k.mlir":3:5))
    %b = llvm.mlir.constant(0 : i32) {sim.site = "vote"} : i32 loc(unknown)
    %c = llvm.mlir.constant(5 : i32) : i32
    llvm.return
  }
}
// Without sites there is no table.
// CHECK: gpu.module @none {
gpu.module @none {
  llvm.func internal @k$body(%thread: !llvm.ptr) attributes {sim.body = @k} {
    llvm.return
  }
}
