// RUN: cameo-opt --cameo-expand-tiles %s | cameo-translate --kernel-to-ptx --arch=sm_80 - | FileCheck %s

// What tile operations read beside the tile comes in 16 bytes, and once where a group shares it.

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>
#tile = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 4, group = 4>

// Both groups of a thread are loaded before the first is computed on.
// CHECK-LABEL: .entry value(
// CHECK-DAG: ld.global.nc.v4.f32
// CHECK-DAG: ld.global.nc.v4.f32
// CHECK-DAG: ld.global.nc.f32
// CHECK-DAG: ld.global.nc.f32
// CHECK-NOT: ld.global
// CHECK-COUNT-4: mul.rn.f32
// CHECK: st.shared.v4.f32
// CHECK-COUNT-4: mul.rn.f32
// CHECK: st.shared.v4.f32
gpu.module @value attributes {kernel.index_bits = 32 : i32} {
  gpu.func @value(%x: memref<?xf32, #g> {llvm.noalias}, %scale: memref<?xf32, #g> {llvm.noalias},
                  %out: memref<?xf32, #g> {llvm.noalias}) workgroup(%s: memref<256xf32, #ws>) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %true = arith.constant true
    %zero = arith.constant 0.0 : f32
    kernel.copy_tile %x, %scale widths [4, 0] to %s[%c0] rows 8 cols 32 strides [32, 1] vector 4 threads 32
        padding %zero : f32 : memref<?xf32, #g>, memref<?xf32, #g> to memref<256xf32, #ws> {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %c32 : index
      %offset = arith.addi %line, %c : index
      kernel.yield %offset, %r, %true : index, index, i1
    } value {
    ^bb0(%a: f32, %b: f32):
      %m = arith.mulf %a, %b : f32
      kernel.yield %m : f32
    }
    gpu.barrier
    %t = gpu.thread_id x
    %i = arith.xori %t, %c32 : index
    %v = memref.load %s[%i] : memref<256xf32, #ws>
    memref.store %v, %out[%t] : memref<?xf32, #g>
    gpu.return
  }
}

// A residual and a bias of a row.
// CHECK-LABEL: .entry residual(
// CHECK-DAG: ld.global.nc.v4.f32
// CHECK-DAG: ld.global.nc.f32
// CHECK-NOT: ld.global
// CHECK: st.global.v4.f32
gpu.module @residual attributes {kernel.index_bits = 32 : i32} {
  gpu.func @residual(%y: memref<?xf32, #g> {llvm.noalias}, %old: memref<?xf32, #g> {llvm.noalias},
                     %bias: memref<?xf32, #g> {llvm.noalias}) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c32 = arith.constant 32 : index
    %true = arith.constant true
    %one = arith.constant 1.0 : f32
    %f = kernel.fill_fragment %one : f32 -> !kernel.fragment<4 by 32 of f32, #tile>
    kernel.store_fragment %f reading %old, %bias widths [4, 0] to %y vector 4
        : !kernel.fragment<4 by 32 of f32, #tile>, memref<?xf32, #g>, memref<?xf32, #g> to memref<?xf32, #g> {
    ^bb0(%r: index, %c: index, %v: f32, %a: f32, %b: f32):
      %line = arith.muli %r, %c32 : index
      %offset = arith.addi %line, %c : index
      %s = arith.mulf %v, %a : f32
      %t = arith.addf %s, %b : f32
      kernel.yield %t, %offset, %true : f32, index, i1
    } reads {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %c32 : index
      %offset = arith.addi %line, %c : index
      kernel.yield %offset, %r : index, index
    }
    gpu.return
  }
}
