// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-insert-execution-counts))' %s | FileCheck %s

// CHECK-LABEL: llvm.func internal @k$body
// CHECK:         %[[COUNTERS:.*]] = llvm.load %{{.*}} invariant : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[P0:.*]] = llvm.getelementptr %[[COUNTERS]][0]
// CHECK-NEXT:    %[[N:.*]] = llvm.load %[[P0]] {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK:         %[[SUM:.*]] = llvm.add %[[N]]
// CHECK-NEXT:    llvm.store %[[SUM]], %[[P0]] {alignment = 8 : i64}
// CHECK:         llvm.br
// CHECK:         %[[P1:.*]] = llvm.getelementptr %[[COUNTERS]][8]
// CHECK:         llvm.return
// An entry is not a kernel's code.
// CHECK-LABEL: llvm.func @k(
// CHECK-NEXT:    llvm.return
gpu.module @kernels {
  llvm.func internal @k$body(%thread: !llvm.ptr) attributes {sim.body = @k} {
    llvm.br ^next
  ^next:
    llvm.return
  }
  llvm.func @k(%thread: !llvm.ptr, %args: !llvm.ptr) {
    llvm.return
  }
}
