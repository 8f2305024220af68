// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-lower-sim-instructions))' %s | FileCheck %s

// CHECK-LABEL: llvm.func internal @summed$body(
// CHECK-SAME:    %[[THREAD:.*]]: !llvm.ptr, %[[A:.*]]: i32)
// CHECK:         %[[BUFFER:.*]] = llvm.alloca %{{.*}} x i32 {alignment = 16 : i64}
// CHECK:         %[[ALL:.*]] = llvm.mlir.constant(-1 : i32)
// CHECK:         %[[P0:.*]] = llvm.getelementptr %[[BUFFER]][0]
// CHECK:         llvm.store %[[A]], %[[P0]] {alignment = 4 : i64} : i32, !llvm.ptr
// CHECK:         %[[P1:.*]] = llvm.getelementptr %[[BUFFER]][4]
// CHECK:         llvm.store %[[ALL]], %[[P1]] {alignment = 4 : i64} : i32, !llvm.ptr
// The mask is an operand, because all lanes wait.
// CHECK:         %[[SITE:.*]] = llvm.mlir.constant(0 : i32) {sim.site = "redux.sync.add.s32"}
// CHECK:         llvm.call @cameo.sim.blocking_instruction(%[[THREAD]], %{{.*}}, %[[ALL]], %[[BUFFER]], %[[SITE]])
// CHECK:         %[[P2:.*]] = llvm.getelementptr %[[BUFFER]][8]
// CHECK:         %[[SUM:.*]] = llvm.load %[[P2]] {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK:         llvm.call @use(%[[SUM]])
gpu.module @kernels {
  llvm.func @use(i32)
  llvm.func internal @summed$body(%thread: !llvm.ptr, %a: i32) attributes {sim.body = @summed} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %s = kernel.ptx "redux.sync.add.s32"(%a, %all) : (i32, i32) -> i32
    llvm.call @use(%s) : (i32) -> ()
    llvm.return
  }
  // CHECK-LABEL: llvm.func internal @none$body
  // CHECK-NEXT:    nvvm.barrier0
  // CHECK-NEXT:    llvm.return
  llvm.func internal @none$body(%thread: !llvm.ptr) attributes {sim.body = @none} {
    nvvm.barrier0
    llvm.return
  }
}
