// RUN: %cameo-opt %s | %cameo-opt | FileCheck %s

// CHECK-LABEL: func.func @Dispatch
func.func @Dispatch(%x: tensor<?x64xf32>, %n: index) -> tensor<?x64xf32> {
  %init = tensor.empty(%n) : tensor<?x64xf32>
  // CHECK: kernel.dispatch ins(%{{.*}} : tensor<?x64xf32>) scalars(%{{.*}} : index)
  // CHECK-SAME: outs(%{{.*}} : tensor<?x64xf32>)
  // CHECK: ^bb0(%[[X:.*]]: tensor<?x64xf32>, %{{.*}}: index, %[[OUT:.*]]: tensor<?x64xf32>):
  // CHECK: %[[Y:.*]] = linalg.copy ins(%[[X]]
  // CHECK: kernel.yield %[[Y]] : tensor<?x64xf32>
  %y = kernel.dispatch ins(%x : tensor<?x64xf32>) scalars(%n : index)
      outs(%init : tensor<?x64xf32>) {
  ^bb0(%a: tensor<?x64xf32>, %s: index, %o: tensor<?x64xf32>):
    %r = linalg.copy ins(%a : tensor<?x64xf32>) outs(%o : tensor<?x64xf32>) -> tensor<?x64xf32>
    kernel.yield %r : tensor<?x64xf32>
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @Schedule
func.func @Schedule(%o: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: schedule <"pointwise", {threads = 256 : i64, vector = 4 : i64}>
  %y = kernel.dispatch outs(%o : tensor<4xf32>)
      schedule #kernel.schedule<"pointwise", {threads = 256 : i64, vector = 4 : i64}> {
  ^bb0(%d: tensor<4xf32>):
    kernel.yield %d : tensor<4xf32>
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @Scan
func.func @Scan(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: kernel.scan add %{{.*}}, %{{.*}} {axis = 1 : i64, exclusive} : tensor<4x8xf32>
  %y = kernel.scan add %x, %o {axis = 1 : i64, exclusive} : tensor<4x8xf32>
  // CHECK: kernel.scan mul %{{.*}}, %{{.*}} {axis = 0 : i64, reverse} : tensor<4x8xf32>
  %z = kernel.scan mul %y, %o {axis = 0 : i64, reverse} : tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @Recurrence
func.func @Recurrence(%x: tensor<?x2x2x1x8xf32>, %r: tensor<2x8x1x8xf16>, %h: tensor<2x2x8xf16>,
                      %y: tensor<?x2x2x8xf16>) -> (tensor<?x2x2x8xf16>, tensor<2x2x8xf16>) {
  // CHECK: kernel.recurrence input(%{{.*}} : tensor<?x2x2x1x8xf32>) weights(%{{.*}} : tensor<2x8x1x8xf16>)
  // CHECK-SAME: initial(%{{.*}} : tensor<2x2x8xf16>) outs(%{{.*}}, %{{.*}} : tensor<?x2x2x8xf16>, tensor<2x2x8xf16>)
  // CHECK-SAME: phases [1] reverse [false, true] {
  %s, %l = kernel.recurrence input(%x : tensor<?x2x2x1x8xf32>) weights(%r : tensor<2x8x1x8xf16>)
      initial(%h : tensor<2x2x8xf16>) outs(%y, %h : tensor<?x2x2x8xf16>, tensor<2x2x8xf16>)
      phases [1] reverse [false, true] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    %0 = arith.addf %in, %sum : f32
    kernel.yield %0 : f32
  } -> tensor<?x2x2x8xf16>, tensor<2x2x8xf16>
  return %s, %l : tensor<?x2x2x8xf16>, tensor<2x2x8xf16>
}

// CHECK-LABEL: func.func @RecurrenceOfTwoPhases
func.func @RecurrenceOfTwoPhases(%x: tensor<3x5x1x3x4xf32>, %r: tensor<1x4x3x4xf32>, %p: tensor<1x2x4xf32>,
                                 %n: tensor<3xi32>, %h: tensor<3x1x4xf32>) -> tensor<3x1x4xf32> {
  // CHECK: parameters(%{{.*}} : tensor<1x2x4xf32>) lengths(%{{.*}} : tensor<3xi32>)
  // CHECK-SAME: phases [2, 1] reverse [true] rows_first {
  %l = kernel.recurrence input(%x : tensor<3x5x1x3x4xf32>) weights(%r : tensor<1x4x3x4xf32>)
      parameters(%p : tensor<1x2x4xf32>) lengths(%n : tensor<3xi32>)
      initial(%h : tensor<3x1x4xf32>) outs(%h : tensor<3x1x4xf32>) phases [2, 1] reverse [true] rows_first {
  ^bb0(%direction: index, %a: f32, %b: f32, %c: f32, %d: f32, %q0: f32, %q1: f32, %before: f32):
    kernel.yield %a, %b : f32, f32
  }, {
  ^bb0(%direction: index, %a: f32, %b: f32, %q0: f32, %q1: f32, %before: f32, %u: f32, %v: f32):
    kernel.yield %v : f32
  } -> tensor<3x1x4xf32>
  return %l : tensor<3x1x4xf32>
}

// CHECK-LABEL: func.func @Sort
func.func @Sort(%x: tensor<4x?xi64>, %o: tensor<4x?xi64>) -> tensor<4x?xi64> {
  // CHECK: kernel.sort %{{.*}}, %{{.*}} {axis = 1 : i64, most = 64 : i64} : tensor<4x?xi64>
  %y = kernel.sort %x, %o {axis = 1 : i64, most = 64 : i64} : tensor<4x?xi64>
  return %y : tensor<4x?xi64>
}

// CHECK-LABEL: func.func @Choose
func.func @Choose(%x: tensor<4x?xi1>, %c: tensor<4x?x?xi1>, %n: index, %o: tensor<4x?xi1>) -> tensor<4x?xi1> {
  // CHECK: kernel.choose %{{.*}} conflicts %{{.*}} limit %{{.*}}, %{{.*}} : tensor<4x?xi1>, tensor<4x?x?xi1>
  %y = kernel.choose %x conflicts %c limit %n, %o : tensor<4x?xi1>, tensor<4x?x?xi1>
  return %y : tensor<4x?xi1>
}

// CHECK-LABEL: func.func @Insert
func.func @Insert(%x: tensor<2x3x?x8xf16>, %p: tensor<2x?xi64>, %o: tensor<2x3x64x8xf16>) -> tensor<2x3x64x8xf16> {
  // CHECK: kernel.insert %{{.*}} at %{{.*}} into %{{.*}} {axis = 2 : i64} : tensor<2x3x?x8xf16>, tensor<2x?xi64>, tensor<2x3x64x8xf16>
  %y = kernel.insert %x at %p into %o {axis = 2 : i64} : tensor<2x3x?x8xf16>, tensor<2x?xi64>, tensor<2x3x64x8xf16>
  return %y : tensor<2x3x64x8xf16>
}

// CHECK-LABEL: func @Advance
func.func @Advance(%x: memref<?xf32, 1>, %i: i64) -> memref<?xf32, 1> {
  // CHECK: kernel.advance %{{.*}} by %{{.*}} : memref<?xf32, 1>
  %y = kernel.advance %x by %i : memref<?xf32, 1>
  return %y : memref<?xf32, 1>
}

// CHECK-LABEL: func @Instructions
func.func @Instructions(%row: !llvm.ptr<3>, %from: !llvm.ptr<1>, %mask: i32) {
  // CHECK: kernel.ptx "ldmatrix.sync.aligned.m8n8.x2.shared.b16"(%{{.*}}) : (!llvm.ptr<3>) -> (i32, i32)
  %m:2 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x2.shared.b16"(%row) : (!llvm.ptr<3>) -> (i32, i32)
  // CHECK: kernel.ptx "cp.async.cg.shared.global 16"(%{{.*}}, %{{.*}}) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
  kernel.ptx "cp.async.cg.shared.global 16"(%row, %from) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
  // CHECK: kernel.ptx "redux.sync.add.s32"
  %sum = kernel.ptx "redux.sync.add.s32"(%m#0, %mask) : (i32, i32) -> i32
  return
}
