// RUN: %cameo-opt %s | %cameo-opt | FileCheck %s

#tile = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>

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

// CHECK-LABEL: func.func @Tiles
func.func @Tiles(%x: memref<?xf32, 1>, %h: memref<?xf16, 1>, %s: memref<2176xf32, 3>,
                 %y: memref<?xf32, 1>, %i: index, %ok: i1) {
  %zero = arith.constant 0.0 : f32
  // CHECK: kernel.copy_tile %{{.*}} to %{{.*}}[%{{.*}}] rows 64 cols 16 strides[1, 68] vector 4
  // CHECK-SAME: along_rows threads 256 padding %{{.*}} : f32 : memref<?xf32, 1> to memref<2176xf32, 3>
  kernel.copy_tile %x to %s[%i] rows 64 cols 16 strides [1, 68] vector 4 along_rows threads 256
      padding %zero : f32 : memref<?xf32, 1> to memref<2176xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  // CHECK: kernel.copy_tile %{{.*}}, %{{.*}} widths [4, 0] to
  // CHECK-SAME: : memref<?xf32, 1>, memref<?xf16, 1> to memref<2176xf32, 3>
  // CHECK: kernel.yield %{{.*}}, %{{.*}}, %{{.*}} : index, index, i1
  // CHECK: } value {
  // CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f16):
  kernel.copy_tile %x, %h widths [4, 0] to %s[%i] rows 64 cols 16 strides [1, 68] vector 4 threads 256
      padding %zero : f32 : memref<?xf32, 1>, memref<?xf16, 1> to memref<2176xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %r, %ok : index, index, i1
  } value {
  ^bb0(%a: f32, %b: f16):
    %wide = arith.extf %b : f16 to f32
    %scaled = arith.mulf %a, %wide : f32
    kernel.yield %scaled : f32
  }
  // CHECK: kernel.fill_fragment %{{.*}} : f32 -> <64 by 64 of f32, #{{.*}}>
  %f = kernel.fill_fragment %zero : f32 -> !kernel.fragment<64 by 64 of f32, #tile>
  // CHECK: kernel.contract_tile %{{.*}}[%{{.*}}] stride 68, %{{.*}}[%{{.*}}] stride 64 depth 16 into
  %g = kernel.contract_tile %s[%i] stride 68, %s[%i] stride 64 depth 16 into %f
      : memref<2176xf32, 3>, memref<2176xf32, 3> into !kernel.fragment<64 by 64 of f32, #tile>
  // CHECK: kernel.store_fragment %{{.*}} to %{{.*}} vector 4
  kernel.store_fragment %g to %y vector 4
      : !kernel.fragment<64 by 64 of f32, #tile> to memref<?xf32, 1> {
  ^bb0(%r: index, %c: index, %v: f32):
    kernel.yield %v, %i, %ok : f32, index, i1
  }
  // CHECK: kernel.store_fragment %{{.*}} reading %{{.*}} widths [4] to %{{.*}} vector 4
  // CHECK-SAME: : <64 by 64 of f32, #{{.*}}>, memref<?xf32, 1> to memref<?xf32, 1>
  // CHECK: } reads {
  kernel.store_fragment %g reading %x widths [4] to %y vector 4
      : !kernel.fragment<64 by 64 of f32, #tile>, memref<?xf32, 1> to memref<?xf32, 1> {
  ^bb0(%r: index, %c: index, %v: f32, %a: f32):
    %sum = arith.addf %v, %a : f32
    kernel.yield %sum, %i, %ok : f32, index, i1
  } reads {
  ^bb0(%r: index, %c: index):
    kernel.yield %i : index
  }
  return
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
