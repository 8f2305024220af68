// RUN: cameo-opt --cameo-expand-tiles %s | cameo-translate --kernel-to-ptx --arch=sm_80 - | FileCheck %s

// What tile operations read beside the tile comes in 16 bytes, and once where a group shares it.

#g = #gpu.address_space<global>
#part = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<8 by 32 of f32, #part>
!shared = !kernel.tile<8x32xf32, #kernel.strided<[32, 1]>, stages = 1>
#other = #kernel.copied<vector = 1, along = rows, threads = 32>
#tile = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 4, group = 4>

// Two groups of a thread, for each of which the scale is loaded once.
// CHECK-LABEL: .entry value(
// CHECK: ld.global.nc.f32
// CHECK: ld.global.nc.f32
// CHECK: ld.global.nc.v4.f32
// CHECK-COUNT-4: mul.rn.f32
// CHECK: ld.global.nc.v4.f32
// CHECK-NOT: ld.global
// CHECK-COUNT-4: mul.rn.f32
// CHECK-COUNT-2: st.shared.v4.f32
gpu.module @value attributes {kernel.index_bits = 32 : i32} {
  gpu.func @value(%x: memref<?xf32, #g> {llvm.noalias}, %scale: memref<?xf32, #g> {llvm.noalias},
                  %out: memref<?xf32, #g> {llvm.noalias}) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %true = arith.constant true
    %zero = arith.constant 0.0 : f32
    %s = kernel.alloc_tile : !shared
    %l:2 = kernel.load_global %x, %scale widths [4, 0] padding %zero, %zero
        : memref<?xf32, #g>, memref<?xf32, #g> -> !part, !part {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %c32 : index
      %offset = arith.addi %line, %c : index
      kernel.yield %offset, %r, %true : index, index, i1
    }
    %p = kernel.map_fragment %l#0, %l#1 : !part, !part -> !part {
    ^bb0(%r: index, %c: index, %a: f32, %b: f32):
      %m = arith.mulf %a, %b : f32
      kernel.yield %m : f32
    }
    kernel.write_tile %p to %s[%c0, %c0, %c0] : !part to !shared
    gpu.barrier
    %back = kernel.load_fragment %s[%c0, %c0, %c0] : !shared -> !kernel.fragment<8 by 32 of f32, #other>
    kernel.store_fragment %back to %out vector 1 : !kernel.fragment<8 by 32 of f32, #other> to memref<?xf32, #g> {
    ^bb0(%r: index, %c: index, %v: f32):
      %line = arith.muli %c, %c32 : index
      %offset = arith.addi %line, %r : index
      kernel.yield %v, %offset, %true : f32, index, i1
    }
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
