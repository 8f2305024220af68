// RUN: cameo-opt --cameo-expand-tiles --canonicalize --cse %s | FileCheck %s

// Fragments of matrix instructions: ldmatrix out of swizzled tiles, mma.sync, registers in loops.

#acc = #kernel.mma<16 x 8 x 16, warps = 1 x 1>
#deep = #kernel.swizzle<64, along = columns>
#lhs = #kernel.operand<0, of = #acc>
#rhs = #kernel.operand<1, of = #acc>

// Of 32 rows and 32 elements of depth, which are 64 bytes: two loads of 16 rows each, 1024 bytes apart;
// the second 32 bytes of depth are where a bit of the first ones' place is turned over.
// CHECK-LABEL: gpu.func @rows
// CHECK-DAG: %[[LANE:.*]] = arith.andi %{{.*}}, %c7_i32 : i32
// CHECK: %[[P0:.*]] = llvm.getelementptr inbounds %[[TILE:.*]][%[[AT:.*]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK: kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"(%[[P0]]) : (!llvm.ptr<3>) -> (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %c1024_i32 : i32
// CHECK: %[[P1:.*]] = llvm.getelementptr inbounds %[[TILE]][%[[NEXT]]]
// CHECK: kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"(%[[P1]])
// CHECK: %[[TURNED:.*]] = arith.xori %[[AT]], %c32_i32 : i32
// CHECK: %[[P2:.*]] = llvm.getelementptr inbounds %[[TILE]][%[[TURNED]]]
// CHECK: kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"(%[[P2]])
// CHECK: %[[BOTH:.*]] = arith.addi %[[TURNED]], %c1024_i32 : i32
// CHECK: llvm.getelementptr inbounds %[[TILE]][%[[BOTH]]]
// CHECK-NEXT: kernel.ptx "ldmatrix
// CHECK-NOT: ldmatrix
gpu.module @rows attributes {kernel.index_bits = 32 : i32} {
  gpu.func @rows() kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %t = kernel.alloc_tile : !kernel.tile<32x32xf16, #deep, stages = 1>
    %a = kernel.load_fragment %t[%c0, %c0, %c0] : !kernel.tile<32x32xf16, #deep, stages = 1> -> !kernel.fragment<32 by 16 of f16, #lhs>
    %b = kernel.load_fragment %t[%c0, %c0, %c16] : !kernel.tile<32x32xf16, #deep, stages = 1> -> !kernel.fragment<32 by 16 of f16, #lhs>
    gpu.return
  }
}

// A tile whose lines go across depth is transposed on the way.
// CHECK-LABEL: gpu.func @turned
// CHECK-COUNT-2: kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
// CHECK-NOT: ldmatrix
gpu.module @turned attributes {kernel.index_bits = 32 : i32} {
  gpu.func @turned() kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = kernel.alloc_tile : !kernel.tile<16x32xbf16, #deep, stages = 1>
    %b = kernel.load_fragment %t[%c0, %c0, %c0] : !kernel.tile<16x32xbf16, #deep, stages = 1> -> !kernel.fragment<16 by 32 of bf16, #rhs>
    gpu.return
  }
}

// Elements of 32 bits cannot be transposed, nor can places be told apart that are known at run time.
// CHECK-LABEL: gpu.func @one_by_one
// CHECK-NOT: ldmatrix
// CHECK: memref.load
// CHECK: vector.load
// CHECK-NOT: ldmatrix
gpu.module @one_by_one attributes {kernel.index_bits = 32 : i32} {
  gpu.func @one_by_one(%row: index) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = kernel.alloc_tile : !kernel.tile<8x32xf32, #kernel.swizzle<128, along = columns>, stages = 1>
    %b = kernel.load_fragment %s[%c0, %c0, %c0] : !kernel.tile<8x32xf32, #kernel.swizzle<128, along = columns>, stages = 1> -> !kernel.fragment<8 by 32 of f32, #kernel.operand<1, of = #kernel.mma<16 x 8 x 8, warps = 1 x 1>>>
    %t = kernel.alloc_tile : !kernel.tile<64x32xf16, #deep, stages = 1>
    %a = kernel.load_fragment %t[%c0, %row, %c0] : !kernel.tile<64x32xf16, #deep, stages = 1> -> !kernel.fragment<32 by 16 of f16, #lhs>
    gpu.barrier
    kernel.write_tile %b to %s[%c0, %c0, %c0] : !kernel.fragment<8 by 32 of f32, #kernel.operand<1, of = #kernel.mma<16 x 8 x 8, warps = 1 x 1>>> to !kernel.tile<8x32xf32, #kernel.swizzle<128, along = columns>, stages = 1>
    kernel.write_tile %a to %t[%c0, %row, %c0] : !kernel.fragment<32 by 16 of f16, #lhs> to !kernel.tile<64x32xf16, #deep, stages = 1>
    gpu.return
  }
}

// Sums go round a loop two by two; a smaller instruction takes the same fragments in two steps.
// CHECK-LABEL: gpu.func @product
// CHECK: scf.for {{.*}} -> (vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>)
// CHECK-COUNT-2: kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
// CHECK: scf.yield
// CHECK-COUNT-4: kernel.ptx "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
// CHECK-NOT: mma.sync
#small = #kernel.mma<16 x 8 x 8, warps = 1 x 1>
gpu.module @product attributes {kernel.index_bits = 32 : i32} {
  gpu.func @product(%n: index) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %a = kernel.alloc_tile : !kernel.tile<16x32xf16, #deep, stages = 1>
    %b = kernel.alloc_tile : !kernel.tile<16x32xf16, #deep, stages = 1>
    %y = kernel.alloc_tile : !kernel.tile<16x16xf32, #kernel.strided<[24, 1]>, stages = 1>
    %init = kernel.fill_fragment %zero : f32 -> !kernel.fragment<16 by 16 of f32, #acc>
    %sums = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> !kernel.fragment<16 by 16 of f32, #acc> {
      %l = kernel.load_fragment %a[%c0, %c0, %c0] : !kernel.tile<16x32xf16, #deep, stages = 1> -> !kernel.fragment<16 by 16 of f16, #lhs>
      %r = kernel.load_fragment %b[%c0, %c0, %c0] : !kernel.tile<16x32xf16, #deep, stages = 1> -> !kernel.fragment<16 by 16 of f16, #rhs>
      %m = kernel.contract %l, %r into %s : !kernel.fragment<16 by 16 of f16, #lhs>, !kernel.fragment<16 by 16 of f16, #rhs> into !kernel.fragment<16 by 16 of f32, #acc>
      scf.yield %m : !kernel.fragment<16 by 16 of f32, #acc>
    }
    kernel.write_tile %sums to %y[%c0, %c0, %c0] : !kernel.fragment<16 by 16 of f32, #acc> to !kernel.tile<16x16xf32, #kernel.strided<[24, 1]>, stages = 1>
    %l = kernel.load_fragment %a[%c0, %c0, %c0] : !kernel.tile<16x32xf16, #deep, stages = 1> -> !kernel.fragment<16 by 16 of f16, #kernel.operand<0, of = #small>>
    %r = kernel.load_fragment %b[%c0, %c0, %c0] : !kernel.tile<16x32xf16, #deep, stages = 1> -> !kernel.fragment<16 by 16 of f16, #kernel.operand<1, of = #small>>
    %i = kernel.fill_fragment %zero : f32 -> !kernel.fragment<16 by 16 of f32, #small>
    %p = kernel.contract %l, %r into %i : !kernel.fragment<16 by 16 of f16, #kernel.operand<0, of = #small>>, !kernel.fragment<16 by 16 of f16, #kernel.operand<1, of = #small>> into !kernel.fragment<16 by 16 of f32, #small>
    kernel.write_tile %p to %y[%c0, %c0, %c0] : !kernel.fragment<16 by 16 of f32, #small> to !kernel.tile<16x16xf32, #kernel.strided<[24, 1]>, stages = 1>
    gpu.return
  }
}

// Half of the sums of two warps go through 16 rows of shared memory each: pairs are written, 32 bytes of a
// row are read, at places that differ by constants, added or combined by exclusive or.
// CHECK-LABEL: gpu.func @staged
// CHECK: vector.store %{{.*}}, %[[TILE:.*]][%[[AT:.*]]] {kernel.alignment = 8 : i64} : memref<2048xf32, #gpu.address_space<workgroup>>, vector<2xf32>
// CHECK: %[[LOWER:.*]] = arith.xori %[[AT]], %c28 : index
// CHECK: %[[EIGHT:.*]] = arith.addi %[[LOWER]], %c512
// CHECK: vector.store %{{.*}}, %[[TILE]][%[[EIGHT]]] {kernel.alignment = 8 : i64}
// CHECK-COUNT-14: vector.store
// CHECK-NOT: vector.store
// CHECK: nvvm.bar.warp.sync
// CHECK: vector.load %[[TILE]][%[[FROM:.*]]] {kernel.alignment = 16 : i64} : memref<2048xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: %[[OTHER:.*]] = arith.xori %[[FROM]], %c4 : index
// CHECK-NEXT: vector.load %[[TILE]][%[[OTHER]]] {kernel.alignment = 16 : i64}
#warps = #kernel.mma<16 x 8 x 16, warps = 2 x 1>
gpu.module @staged attributes {kernel.index_bits = 32 : i32} {
  gpu.func @staged(%y: memref<?xf32, #gpu.address_space<global>>, %zero: f32) kernel attributes {kernel.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %all = arith.constant -1 : i32
    %in = arith.constant true
    %t = kernel.alloc_tile : !kernel.tile<32x64xf32, #kernel.staged<16 x 64>, stages = 1>
    %sums = kernel.fill_fragment %zero : f32 -> !kernel.fragment<64 by 64 of f32, #warps>
    %part = kernel.slice_fragment %sums[1] : !kernel.fragment<64 by 64 of f32, #warps> -> !kernel.fragment<32 by 64 of f32, #warps>
    kernel.write_tile %part to %t[%c0, %c0, %c0] : !kernel.fragment<32 by 64 of f32, #warps> to !kernel.tile<32x64xf32, #kernel.staged<16 x 64>, stages = 1>
    nvvm.bar.warp.sync %all : i32
    %rows = kernel.load_fragment %t[%c0, %c0, %c0] : !kernel.tile<32x64xf32, #kernel.staged<16 x 64>, stages = 1> -> !kernel.fragment<32 by 64 of f32, #kernel.warp_rows<vector = 8, warps = 2 x 1>>
    kernel.store_fragment %rows to %y vector 4 : !kernel.fragment<32 by 64 of f32, #kernel.warp_rows<vector = 8, warps = 2 x 1>> to memref<?xf32, #gpu.address_space<global>> {
    ^bb0(%r: index, %c: index, %v: f32):
      %c64 = arith.constant 64 : index
      %m = arith.muli %r, %c64 : index
      %at = arith.addi %m, %c : index
      kernel.yield %v, %at, %in : f32, index, i1
    }
    gpu.return
  }
}

// Bytes whose lines go across depth come in pairs of columns: two matrices are four steps of depth of
// two columns, of which bytes are picked out. Unsigned and signed ones are multiplied with one another.
// CHECK-LABEL: gpu.func @bytes
// CHECK-DAG: %[[EVEN:.*]] = arith.select %[[HIGH:.*]], %c8292_i32, %c25632_i32 : i32
// CHECK-DAG: %[[ODD:.*]] = arith.select %[[HIGH]], %c12661_i32, %c30001_i32 : i32
// CHECK: %[[A:.*]]:4 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
// CHECK: %[[X:.*]]:4 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
// CHECK: %[[B0:.*]] = kernel.ptx "prmt.b32"(%[[X]]#0, %[[X]]#1, %[[EVEN]])
// CHECK: %[[B1:.*]] = kernel.ptx "prmt.b32"(%[[X]]#2, %[[X]]#3, %[[EVEN]])
// CHECK: %[[B2:.*]] = kernel.ptx "prmt.b32"(%[[X]]#0, %[[X]]#1, %[[ODD]])
// CHECK: %[[B3:.*]] = kernel.ptx "prmt.b32"(%[[X]]#2, %[[X]]#3, %[[ODD]])
// CHECK: %[[Y0:.*]]:4 = kernel.ptx "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"(%[[A]]#0, %[[A]]#1, %[[A]]#2, %[[A]]#3, %[[B0]], %[[B1]],
// CHECK: %[[Y1:.*]]:4 = kernel.ptx "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"(%[[A]]#0, %[[A]]#1, %[[A]]#2, %[[A]]#3, %[[B2]], %[[B3]],
// CHECK: vector.from_elements %[[Y0]]#0, %[[Y1]]#0, %[[Y0]]#1, %[[Y1]]#1 : vector<4xi32>
// CHECK: vector.from_elements %[[Y0]]#2, %[[Y1]]#2, %[[Y0]]#3, %[[Y1]]#3 : vector<4xi32>
#bytes = #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>
gpu.module @bytes attributes {kernel.index_bits = 32 : i32} {
  gpu.func @bytes() kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %a = kernel.alloc_tile : !kernel.tile<16x32xi8, #kernel.swizzle<32, along = columns>, stages = 1>
    %b = kernel.alloc_tile : !kernel.tile<32x32xi8, #kernel.swizzle<32, along = columns>, stages = 1>
    %y = kernel.alloc_tile : !kernel.tile<16x16xi32, #kernel.strided<[24, 1]>, stages = 1>
    %l = kernel.load_fragment %a[%c0, %c0, %c0] : !kernel.tile<16x32xi8, #kernel.swizzle<32, along = columns>, stages = 1> -> !kernel.fragment<16 by 32 of i8, #kernel.operand<0, of = #bytes>>
    %r = kernel.load_fragment %b[%c0, %c0, %c0] : !kernel.tile<32x32xi8, #kernel.swizzle<32, along = columns>, stages = 1> -> !kernel.fragment<32 by 16 of i8, #kernel.operand<1, of = #bytes>>
    %i = kernel.fill_fragment %zero : i32 -> !kernel.fragment<16 by 16 of i32, #bytes>
    %p = kernel.contract %l, %r into %i {lhs_unsigned} : !kernel.fragment<16 by 32 of i8, #kernel.operand<0, of = #bytes>>, !kernel.fragment<32 by 16 of i8, #kernel.operand<1, of = #bytes>> into !kernel.fragment<16 by 16 of i32, #bytes>
    kernel.write_tile %p to %y[%c0, %c0, %c0] : !kernel.fragment<16 by 16 of i32, #bytes> to !kernel.tile<16x16xi32, #kernel.strided<[24, 1]>, stages = 1>
    gpu.return
  }
}

// What is not inside is written where it is not zero.
// CHECK-LABEL: gpu.func @padded
// CHECK: scf.if %{{.*}} {
// CHECK: kernel.ptx "cp.async.cg.shared.global 16"(%{{.*}}, %{{.*}}) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
// CHECK: } else {
// CHECK: vector.store %{{.*}}, %{{.*}} : memref<{{.*}}xi8, #gpu.address_space<workgroup>>, vector<16xi8>
gpu.module @padded attributes {kernel.index_bits = 32 : i32} {
  gpu.func @padded(%x: memref<?xi8, #gpu.address_space<global>>, %ok: i1) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %seven = arith.constant 7 : i8
    %b = kernel.alloc_tile : !kernel.tile<16x32xi8, #kernel.swizzle<32, along = columns>, stages = 1>
    kernel.copy_async %x to %b[%c0, %c0, %c0] padding %seven : i8 as !kernel.fragment<16 by 32 of i8, #kernel.copied<vector = 16, along = columns, threads = 32>>
        : memref<?xi8, #gpu.address_space<global>> to !kernel.tile<16x32xi8, #kernel.swizzle<32, along = columns>, stages = 1> {
    ^bb0(%r: index, %c: index):
      kernel.yield %c, %ok : index, i1
    }
    gpu.return
  }
}
