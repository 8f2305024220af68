// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-infer-operation-counts))' %s | FileCheck %s

// A number for each CameoSimCount, for each block: one sum and one product of f32; then an fma of
// f64 and a loaded local i32.
// CHECK-LABEL: llvm.func @counted
// CHECK-SAME:  sim.counts = [array<i32: 0, 2, 0, 0, 0, 0, 0, 0, 0, 0>, array<i32: 0, 0, 1, 0, 0, 0, 0, 0, 4, 0>]
// CHECK-NEXT:    llvm.fadd
gpu.module @kernels {
  llvm.func @counted(%x: f32, %d: f64, %p: !llvm.ptr, %g: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %y = llvm.fadd %x, %x : f32
    %z = llvm.fmul %y, %x : f32
    llvm.br ^next
  ^next:
    %f = llvm.intr.fma(%d, %d, %d) : (f64, f64, f64) -> f64
    %l = llvm.load %p : !llvm.ptr -> i32
    // What the engine is told of does not count twice.
    %v = llvm.load %g : !llvm.ptr<1> -> i32
    nvvm.barrier0
    llvm.return
  }
  // CHECK: llvm.func @declared()
  // CHECK-NOT: sim.counts
  llvm.func @declared()
}
