// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-lower-sim-arithmetic))' %s | FileCheck %s

// CHECK-LABEL: llvm.func internal @k$body(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[X:.*]]: f32, %[[A:.*]]: i32, %[[B:.*]]: i32)
// CHECK:         llvm.call_intrinsic "llvm.fptosi.sat"(%[[X]]) : (f32) -> i32
// All ones where the divisor is zero.
// CHECK:         %[[ZERO:.*]] = llvm.icmp "eq" %[[B]]
// CHECK:         %[[SAFE:.*]] = llvm.select %[[ZERO]]
// CHECK:         %[[Q:.*]] = llvm.udiv %[[A]], %[[SAFE]]
// CHECK:         llvm.select %[[ZERO]], %{{.*}}, %[[Q]]
// CHECK:         llvm.fcmp "uno" %[[X]], %[[X]]
// CHECK-NOT:     llvm.fptrunc
// What is the same on both stays.
// CHECK:         llvm.fadd %[[X]], %[[X]] : f32
// CHECK-NEXT:    %[[SEVEN:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-NEXT:    llvm.udiv %[[A]], %[[SEVEN]]
// CHECK-NEXT:    llvm.return
gpu.module @kernels {
  llvm.func internal @k$body(%thread: !llvm.ptr, %x: f32, %a: i32, %b: i32) attributes {sim.body = @k} {
    %i = llvm.fptosi %x : f32 to i32
    %q = llvm.udiv %a, %b : i32
    %h = llvm.fptrunc %x : f32 to bf16
    %s = llvm.fadd %x, %x : f32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %r = llvm.udiv %a, %seven : i32
    llvm.return
  }
}
