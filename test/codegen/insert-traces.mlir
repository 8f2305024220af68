// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-insert-traces))' %s | FileCheck %s

// CHECK: llvm.func @cameo.trace(!llvm.ptr, i32, i32, i32, i32)
// CHECK-LABEL: llvm.func @traced
// CHECK:         %[[BUFFER:.*]] = llvm.alloca
// CHECK:         %[[SUM:.*]] = llvm.fadd
// CHECK:         llvm.store %[[SUM]], %[[BUFFER]] : f32, !llvm.ptr
// CHECK:         %[[SITE:.*]] = llvm.mlir.constant(0 : i32) {sim.site = "%0 = llvm.fadd %arg0, %arg0 : f32"} : i32
// CHECK:         llvm.call @cameo.trace(%[[BUFFER]], %{{.*}}, %{{.*}}, %{{.*}}, %[[SITE]])
// What has no result is told of all the same.
// CHECK:         {sim.site = "llvm.return"}
gpu.module @kernels {
  llvm.func @traced(%x: f32) attributes {nvvm.kernel} {
    %y = llvm.fadd %x, %x : f32
    llvm.return
  }
  // CHECK: llvm.func @declared()
  llvm.func @declared()
}
