// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-insert-access-checks))' %s | FileCheck %s

// CHECK: llvm.func @cameo.sim.access(!llvm.ptr, !llvm.ptr, i32, i32, i32, i32, i32) -> !llvm.ptr attributes {sim.engine = 40 : i64}
// CHECK-LABEL: llvm.func internal @k$body(
// CHECK-SAME:    %[[THREAD:.*]]: !llvm.ptr, %[[P:.*]]: !llvm.ptr<1>, %[[L:.*]]: !llvm.ptr
// CHECK-DAG:     %[[BYTES:.*]] = llvm.mlir.constant(4 : i32)
// CHECK-DAG:     %[[ALIGNMENT:.*]] = llvm.mlir.constant(16 : i32)
// CHECK-DAG:     %[[SPACE:.*]] = llvm.mlir.constant(257 : i32)
// CHECK-DAG:     %[[KIND:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.constant(0 : i32) {sim.site = "store of 4 B to parameter 0"}
// CHECK-DAG:     %[[GENERIC:.*]] = llvm.addrspacecast %[[P]] : !llvm.ptr<1> to !llvm.ptr
// CHECK:         %[[Q:.*]] = llvm.call @cameo.sim.access(%[[THREAD]], %[[GENERIC]], %[[BYTES]], %[[ALIGNMENT]], %[[SPACE]], %[[KIND]], %[[SITE]])
// CHECK-NEXT:    llvm.store %{{.*}}, %[[Q]] {alignment = 1 : i64} : f32, !llvm.ptr
// A thread's own memory is no one else's business, and what nobody described stays.
// CHECK-NEXT:    llvm.store %{{.*}}, %[[L]] {alignment = 1 : i64} : f32, !llvm.ptr
// CHECK-NEXT:    llvm.store %{{.*}}, %[[P]] : f32, !llvm.ptr<1>
gpu.module @kernels {
  llvm.func internal @k$body(%thread: !llvm.ptr, %p: !llvm.ptr<1>, %l: !llvm.ptr, %v: f32) attributes {sim.body = @k} {
    llvm.store %v, %p {alignment = 1 : i64, sim.access = {alignment = 16 : i32, bytes = 4 : i32, kind = 1 : i32, space = 257 : i32, what = "store of 4 B to parameter 0"}} : f32, !llvm.ptr<1>
    llvm.store %v, %l {alignment = 1 : i64, sim.access = {alignment = 4 : i32, bytes = 4 : i32, kind = 1 : i32, space = 0 : i32, what = "store of 4 B to local memory"}} : f32, !llvm.ptr
    llvm.store %v, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
