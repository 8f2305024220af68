// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-insert-undefined-checks))' --mlir-print-debuginfo=false %s | FileCheck %s

// CHECK-LABEL: llvm.func internal @stored$body
// CHECK:         llvm.cond_br %{{.*}} weights([1, 1048576]), ^[[REPORT:.*]], ^[[STORE:.*]]
// CHECK:       ^[[REPORT]]:
// CHECK:         {sim.site = "undefined value"}
// CHECK:         %[[SITE:.*]] = llvm.mlir.constant(0 : i32) {sim.site = "the value of a store of 4 B to parameter 0"} : i32
// CHECK:         llvm.call @cameo.sim.instruction(%{{.*}}, %{{.*}}, %{{.*}}, %[[SITE]])
// CHECK:         llvm.br ^[[STORE]]
// CHECK:       ^[[STORE]]:
// CHECK:         llvm.store
gpu.module @kernels {
  llvm.func internal @stored$body(%thread: !llvm.ptr, %p: !llvm.ptr<1>) attributes {sim.body = @stored} {
    %none = llvm.mlir.undef : f32
    llvm.store %none, %p {sim.access = {what = "store of 4 B to parameter 0"}} : f32, !llvm.ptr<1>
    llvm.return
  }
  // What is defined, or does not matter, is not asked.
  // CHECK-LABEL: llvm.func internal @defined$body
  // CHECK-NOT:     cond_br
  // CHECK-NOT:     cameo.sim
  // CHECK:         llvm.return
  llvm.func internal @defined$body(%thread: !llvm.ptr, %p: !llvm.ptr<1>, %x: f32) attributes {sim.body = @defined} {
    %none = llvm.mlir.undef : f32
    %unused = llvm.fadd %none, %x : f32
    llvm.store %x, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
