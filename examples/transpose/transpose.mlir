// A kernel written by hand, as a model of the tiled stage: y = x transposed, 64 x 64, through tiles
// of 32 x 32 in shared memory. It has two faults, which docs/faults.md finds.
//
// SPDX-License-Identifier: Apache-2.0
#global = #gpu.address_space<global>
#shared = #gpu.address_space<workgroup>
rt.variant @sm_80 target "sm_80" {
  gpu.module @transpose attributes {kernel.index_bits = 32 : i32} {
    gpu.func @transpose(%x: memref<?xf32, #global> {llvm.noalias}, %y: memref<?xf32, #global> {llvm.noalias}, %n: index)
        workgroup(%tile: memref<1056xf32, #shared>)
        kernel attributes {kernel.block = array<i32: 256, 1, 1>, kernel.nodes = "transpose"} {
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %stride = arith.constant 32 : index
      %t = gpu.thread_id x
      %column = arith.remui %t, %c32 : index
      %first = arith.divui %t, %c32 : index
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %left = arith.muli %bx, %c32 : index
      %top = arith.muli %by, %c32 : index
      scf.for %row = %first to %c32 step %c8 {
        %r = arith.addi %top, %row : index
        %c = arith.addi %left, %column : index
        %line = arith.muli %r, %n : index
        %from = arith.addi %line, %c : index
        %value = memref.load %x[%from] : memref<?xf32, #global>
        %part = arith.muli %row, %stride : index
        %to = arith.addi %part, %column : index
        memref.store %value, %tile[%to] : memref<1056xf32, #shared>
      }
      scf.for %row = %first to %c32 step %c8 {
        %part = arith.muli %column, %stride : index
        %from = arith.addi %part, %row : index
        %value = memref.load %tile[%from] : memref<1056xf32, #shared>
        %r = arith.addi %left, %row : index
        %c = arith.addi %top, %column : index
        %line = arith.muli %r, %n : index
        %to = arith.addi %line, %c : index
        memref.store %value, %y[%to] : memref<?xf32, #global>
      }
      gpu.return
    }
  }
  func.func @main(%x: tensor<64x64xf32> {onnx.name = "x", onnx.dims = [64, 64], onnx.type = f32}) -> (tensor<64x64xf32> {onnx.name = "y", onnx.dims = [64, 64], onnx.type = f32}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %y = tensor.empty() : tensor<64x64xf32>
    %result = rt.launch @transpose::@transpose grid(%c2, %c2, %c1) args(%x, %y, %c64 : tensor<64x64xf32>, tensor<64x64xf32>, index) writes [1] -> tensor<64x64xf32>
    return %result : tensor<64x64xf32>
  }
}
