// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-lay-out-shared-memory))' %s | FileCheck %s

// CHECK-NOT:   llvm.mlir.global {{.*}}addr_space = 3
// CHECK-LABEL: llvm.func internal @k$body
// CHECK-DAG:     %[[WINDOW:.*]] = llvm.load %{{.*}} invariant : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[A:.*]] = llvm.getelementptr %[[WINDOW]][0]
// CHECK:         %[[SA:.*]] = llvm.addrspacecast %[[A]] : !llvm.ptr to !llvm.ptr<3>
// CHECK:         %[[B:.*]] = llvm.getelementptr %[[WINDOW]][32]
// CHECK:         %[[SB:.*]] = llvm.addrspacecast %[[B]] : !llvm.ptr to !llvm.ptr<3>
// The dynamic one comes last, aligned to 1024.
// CHECK:         %[[D:.*]] = llvm.getelementptr %[[WINDOW]][1024]
// CHECK:         llvm.store %{{.*}}, %[[SA]]
// CHECK:         llvm.store %{{.*}}, %[[SB]]
// CHECK:       llvm.func @k(
// CHECK-SAME:    sim.shared = 40 : i32
// No shared memory, and none is said to be.
// CHECK-LABEL: llvm.func internal @none$body
// CHECK-NEXT:    llvm.return
// CHECK:       llvm.func @none(
// CHECK-SAME:    sim.shared = 0 : i32
gpu.module @kernels {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<5 x f32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<2 x f32>
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.mlir.global internal @unused() {addr_space = 3 : i32} : !llvm.array<2 x f32>
  llvm.func internal @k$body(%thread: !llvm.ptr, %v: f32) attributes {sim.body = @k} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %d = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    llvm.store %v, %a : f32, !llvm.ptr<3>
    llvm.store %v, %b : f32, !llvm.ptr<3>
    llvm.store %v, %d : f32, !llvm.ptr<3>
    llvm.return
  }
  llvm.func @k(%thread: !llvm.ptr, %args: !llvm.ptr) {
    llvm.return
  }
  llvm.func internal @none$body(%thread: !llvm.ptr) attributes {sim.body = @none} {
    llvm.return
  }
  llvm.func @none(%thread: !llvm.ptr, %args: !llvm.ptr) {
    llvm.return
  }
}
