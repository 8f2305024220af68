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
