// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-lower-engine-calls))' %s | FileCheck %s

// CHECK-NOT:   @cameo.sim
// CHECK-LABEL: llvm.func internal @k$body(
// CHECK-SAME:    %[[THREAD:.*]]: !llvm.ptr)
// CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr %[[THREAD]][0]
// CHECK-NEXT:    %[[API:.*]] = llvm.load %[[P]] invariant : !llvm.ptr -> !llvm.ptr
// Once for all calls.
// CHECK-NEXT:    %[[Q:.*]] = llvm.getelementptr %[[API]][8]
// CHECK-NEXT:    %[[BARRIER:.*]] = llvm.load %[[Q]] invariant : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT:    llvm.call %[[BARRIER]](%[[THREAD]], %[[ZERO]], %[[ZERO]], %[[ZERO]]) : !llvm.ptr, (!llvm.ptr, i32, i32, i32) -> ()
// CHECK-NEXT:    llvm.call %[[BARRIER]](
// Others are not the engine's.
// CHECK:         llvm.call @__nv_expf(
gpu.module @kernels {
  llvm.func @cameo.sim.barrier(!llvm.ptr, i32, i32, i32) attributes {sim.engine = 8 : i64}
  llvm.func @__nv_expf(f32) -> f32
  llvm.func internal @k$body(%thread: !llvm.ptr) attributes {sim.body = @k} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.call @cameo.sim.barrier(%thread, %zero, %zero, %zero) : (!llvm.ptr, i32, i32, i32) -> ()
    llvm.call @cameo.sim.barrier(%thread, %zero, %zero, %zero) : (!llvm.ptr, i32, i32, i32) -> ()
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %e = llvm.call @__nv_expf(%one) : (f32) -> f32
    llvm.return
  }
}
