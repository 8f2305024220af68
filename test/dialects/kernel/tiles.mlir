// RUN: %cameo-opt %s | %cameo-opt | FileCheck %s

#threads = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>
#mma = #kernel.mma<16 x 8 x 16, warps = 2 x 4>
#copied = #kernel.copied<vector = 4, along = rows, threads = 256>
#pieces = #kernel.copied<vector = 8, along = columns, threads = 256>
#lines = #kernel.strided<[1, 68]>
#swizzle = #kernel.swizzle<64, along = columns>

// CHECK-LABEL: func.func @ThreadTiles
func.func @ThreadTiles(%x: memref<?xf32, 1>, %s: memref<?xf16, 1>, %y: memref<?xf32, 1>, %i: index, %ok: i1) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  // CHECK: %[[A:.*]] = kernel.alloc_tile : <64x16xf32, #kernel.strided<[1, 68]>, stages = 2>
  %a = kernel.alloc_tile : !kernel.tile<64x16xf32, #lines, stages = 2>
  %b = kernel.alloc_tile : !kernel.tile<16x64xf32, #kernel.strided<[68, 1]>, stages = 2>
  // CHECK: kernel.alloc_tile over(%[[A]] : !kernel.tile<64x16xf32, #kernel.strided<[1, 68]>, stages = 2>) : <16x64xf32
  %staging = kernel.alloc_tile over (%a : !kernel.tile<64x16xf32, #lines, stages = 2>)
      : !kernel.tile<16x64xf32, #kernel.strided<[64, 1]>, stages = 1>
  // CHECK: %[[L:.*]]:3 = kernel.load_global %{{.*}}, %{{.*}} widths [4, 0] padding %{{.*}}, %{{.*}} : memref<?xf32, 1>, memref<?xf16, 1>
  // CHECK-SAME: -> !kernel.fragment<64 by 16 of f32, #kernel.copied<vector = 4, along = rows, threads = 256>>, !kernel.fragment<64 by 16 of f16
  %l:3 = kernel.load_global %x, %s widths [4, 0] padding %zero, %none : memref<?xf32, 1>, memref<?xf16, 1>
      -> !kernel.fragment<64 by 16 of f32, #copied>, !kernel.fragment<64 by 16 of f16, #copied>,
         !kernel.fragment<64 by 16 of i1, #copied> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %r, %ok : index, index, i1
  }
  // CHECK: kernel.map_fragment %[[L]]#0, %[[L]]#1, %[[L]]#2
  // CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: f16, %{{.*}}: i1):
  %m = kernel.map_fragment %l#0, %l#1, %l#2
      : !kernel.fragment<64 by 16 of f32, #copied>, !kernel.fragment<64 by 16 of f16, #copied>,
        !kernel.fragment<64 by 16 of i1, #copied> -> !kernel.fragment<64 by 16 of f32, #copied> {
  ^bb0(%r: index, %c: index, %e: f32, %f: f16, %in: i1):
    %wide = arith.extf %f : f16 to f32
    %product = arith.mulf %e, %wide : f32
    %v = arith.select %in, %product, %zero : f32
    kernel.yield %v : f32
  }
  // CHECK: kernel.write_tile %{{.*}} to %[[A]][%{{.*}}, %{{.*}}, %{{.*}}] : <64 by 16 of f32
  kernel.write_tile %m to %a[%i, %c0, %c0] : !kernel.fragment<64 by 16 of f32, #copied> to !kernel.tile<64x16xf32, #lines, stages = 2>
  %f = kernel.fill_fragment %zero : f32 -> !kernel.fragment<64 by 64 of f32, #threads>
  // CHECK: kernel.load_fragment %[[A]][%{{.*}}, %{{.*}}, %{{.*}}] : <64x16xf32, {{.*}}> -> <64 by 1 of f32, #kernel.operand<0, of = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>>>
  %lhs = kernel.load_fragment %a[%c0, %c0, %i] : !kernel.tile<64x16xf32, #lines, stages = 2>
      -> !kernel.fragment<64 by 1 of f32, #kernel.operand<0, of = #threads>>
  %rhs = kernel.load_fragment %b[%c0, %i, %c0] : !kernel.tile<16x64xf32, #kernel.strided<[68, 1]>, stages = 2>
      -> !kernel.fragment<1 by 64 of f32, #kernel.operand<1, of = #threads>>
  // CHECK: kernel.contract %{{.*}}, %{{.*}} into %{{.*}} : <64 by 1 of f32
  %g = kernel.contract %lhs, %rhs into %f
      : !kernel.fragment<64 by 1 of f32, #kernel.operand<0, of = #threads>>,
        !kernel.fragment<1 by 64 of f32, #kernel.operand<1, of = #threads>>
      into !kernel.fragment<64 by 64 of f32, #threads>
  // CHECK: kernel.store_fragment %{{.*}} to %{{.*}} vector 4
  kernel.store_fragment %g to %y vector 4
      : !kernel.fragment<64 by 64 of f32, #threads> to memref<?xf32, 1> {
  ^bb0(%r: index, %c: index, %v: f32):
    kernel.yield %v, %i, %ok : f32, index, i1
  }
  // CHECK: kernel.store_fragment %{{.*}} reading %{{.*}} widths [4] to %{{.*}} vector 4
  // CHECK-SAME: : <64 by 64 of f32, {{.*}}>, memref<?xf32, 1> to memref<?xf32, 1>
  // CHECK: } reads {
  kernel.store_fragment %g reading %x widths [4] to %y vector 4
      : !kernel.fragment<64 by 64 of f32, #threads>, memref<?xf32, 1> to memref<?xf32, 1> {
  ^bb0(%r: index, %c: index, %v: f32, %old: f32):
    %sum = arith.addf %v, %old : f32
    kernel.yield %sum, %i, %ok : f32, index, i1
  } reads {
  ^bb0(%r: index, %c: index):
    kernel.yield %i : index
  }
  // CHECK: kernel.reduce_rows %{{.*}}, %{{.*}} from %{{.*}} : !kernel.fragment<64 by 64 of f32, {{.*}}>, !kernel.fragment<64 by 64 of f32, {{.*}}> -> <64 by 64 of f32, {{.*}}>
  // CHECK: } combine {
  %init = arith.constant 0.0 : f32
  %rows = kernel.reduce_rows %g, %g from %init
      : !kernel.fragment<64 by 64 of f32, #threads>, !kernel.fragment<64 by 64 of f32, #threads>
      -> !kernel.fragment<64 by 64 of f32, #threads> {
  ^bb0(%r: index, %c: index, %v: f32, %w: f32, %sofar: f32):
    %sum = math.fma %v, %w, %sofar : f32
    kernel.yield %sum : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    %sum = arith.addf %p, %q : f32
    kernel.yield %sum : f32
  }
  // CHECK: kernel.store_fragment %{{.*}} with %{{.*}} : !kernel.fragment<64 by 64 of f32, {{.*}}> reading %{{.*}} widths [4] to
  kernel.store_fragment %g with %rows : !kernel.fragment<64 by 64 of f32, #threads> reading %x widths [4] to %y vector 4
      : !kernel.fragment<64 by 64 of f32, #threads>, memref<?xf32, 1> to memref<?xf32, 1> {
  ^bb0(%r: index, %c: index, %v: f32, %row: f32, %old: f32):
    %part = arith.divf %v, %row : f32
    %sum = arith.addf %part, %old : f32
    kernel.yield %sum, %i, %ok : f32, index, i1
  } reads {
  ^bb0(%r: index, %c: index):
    kernel.yield %i : index
  }
  return
}

// Sums of f16 in three stages; stored by way of shared memory as vectors.
// Elements that a thread gathers, neighbours of which are with neighbouring threads.
// CHECK-LABEL: func.func @Gathered
func.func @Gathered(%x: memref<?xf16, 1>, %i: index, %ok: i1) {
  %zero = arith.constant 0.0 : f16
  // CHECK: kernel.load_global %{{.*}} widths [1] together 1 padding %{{.*}} : memref<?xf16, 1>
  // CHECK-SAME: -> !kernel.fragment<64 by 16 of f16, #kernel.copied<vector = 8, along = columns, threads = 32, across_first = true>>
  %l = kernel.load_global %x widths [1] together 1 padding %zero : memref<?xf16, 1>
      -> !kernel.fragment<64 by 16 of f16, #kernel.copied<vector = 8, along = columns, threads = 32, across_first = true>> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// CHECK-LABEL: func.func @Mma
func.func @Mma(%x: memref<?xf16, 1>, %stage: index, %k: index, %ok: i1, %zero: f32) {
  %c0 = arith.constant 0 : index
  // CHECK: kernel.alloc_tile : <64x32xf16, #kernel.swizzle<64, along = columns>, stages = 3>
  %a = kernel.alloc_tile : !kernel.tile<64x32xf16, #swizzle, stages = 3>
  %b = kernel.alloc_tile : !kernel.tile<32x64xf16, #kernel.swizzle<64, along = rows>, stages = 3>
  // CHECK: kernel.copy_async %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] as !kernel.fragment<64 by 32 of f16, {{.*}}> : memref<?xf16, 1> to <64x32xf16
  kernel.copy_async %x to %a[%stage, %c0, %c0] as !kernel.fragment<64 by 32 of f16, #pieces>
      : memref<?xf16, 1> to !kernel.tile<64x32xf16, #swizzle, stages = 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %r, %ok : index, i1
  }
  // CHECK: kernel.copy_async %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] padding %{{.*}} : f16 as !kernel.fragment<64 by 32 of f16, {{.*}}> : memref<?xf16, 1> to <64x32xf16
  %minus = arith.constant -1.0 : f16
  kernel.copy_async %x to %a[%stage, %c0, %c0] padding %minus : f16 as !kernel.fragment<64 by 32 of f16, #pieces>
      : memref<?xf16, 1> to !kernel.tile<64x32xf16, #swizzle, stages = 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %r, %ok : index, i1
  }
  // CHECK: kernel.commit_copies
  kernel.commit_copies
  // CHECK: kernel.wait_copies 1
  kernel.wait_copies 1
  %sum = kernel.fill_fragment %zero : f32 -> !kernel.fragment<64 by 64 of f32, #mma>
  %lhs = kernel.load_fragment %a[%stage, %c0, %k] : !kernel.tile<64x32xf16, #swizzle, stages = 3>
      -> !kernel.fragment<64 by 16 of f16, #kernel.operand<0, of = #mma>>
  %rhs = kernel.load_fragment %b[%stage, %k, %c0] : !kernel.tile<32x64xf16, #kernel.swizzle<64, along = rows>, stages = 3>
      -> !kernel.fragment<16 by 64 of f16, #kernel.operand<1, of = #mma>>
  // CHECK: kernel.contract {{.*}} into <64 by 64 of f32, #kernel.mma<16 x 8 x 16, warps = 2 x 4>>
  %next = kernel.contract %lhs, %rhs into %sum
      : !kernel.fragment<64 by 16 of f16, #kernel.operand<0, of = #mma>>,
        !kernel.fragment<16 by 64 of f16, #kernel.operand<1, of = #mma>>
      into !kernel.fragment<64 by 64 of f32, #mma>
  return
}

// Half of each warp's sums at a time.
// CHECK-LABEL: func.func @Staged
func.func @Staged(%sums: !kernel.fragment<64 by 64 of f32, #mma>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[T:.*]] = kernel.alloc_tile : <32x64xf32, #kernel.staged<16 x 16>, stages = 1>
  %t = kernel.alloc_tile : !kernel.tile<32x64xf32, #kernel.staged<16 x 16>, stages = 1>
  // CHECK: kernel.slice_fragment %{{.*}}[1] : <64 by 64 of f32, #kernel.mma<16 x 8 x 16, warps = 2 x 4>> -> <32 by 64 of f32
  %part = kernel.slice_fragment %sums[1] : !kernel.fragment<64 by 64 of f32, #mma> -> !kernel.fragment<32 by 64 of f32, #mma>
  kernel.write_tile %part to %t[%c0, %c0, %c0] : !kernel.fragment<32 by 64 of f32, #mma> to !kernel.tile<32x64xf32, #kernel.staged<16 x 16>, stages = 1>
  // CHECK: kernel.load_fragment %[[T]]{{.*}} -> <32 by 64 of f32, #kernel.warp_rows<vector = 8, warps = 2 x 4>>
  %rows = kernel.load_fragment %t[%c0, %c0, %c0] : !kernel.tile<32x64xf32, #kernel.staged<16 x 16>, stages = 1>
      -> !kernel.fragment<32 by 64 of f32, #kernel.warp_rows<vector = 8, warps = 2 x 4>>
  return
}

// CHECK-LABEL: func.func @Address
func.func @Address(%s: memref<64xf16, 3>, %i: index) -> !llvm.ptr<3> {
  // CHECK: kernel.address %{{.*}}[%{{.*}}] : memref<64xf16, 3> -> !llvm.ptr<3>
  %p = kernel.address %s[%i] : memref<64xf16, 3> -> !llvm.ptr<3>
  return %p : !llvm.ptr<3>
}

// CHECK-LABEL: func.func @Unsigned
func.func @Unsigned(%a: !kernel.fragment<32 by 32 of i8, #kernel.operand<0, of = #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>>>,
                    %b: !kernel.fragment<32 by 32 of i8, #kernel.operand<1, of = #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>>>,
                    %sum: !kernel.fragment<32 by 32 of i32, #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>>) {
  // CHECK: kernel.contract {{.*}} {lhs_unsigned} : {{.*}} into <32 by 32 of i32, #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>>
  %next = kernel.contract %a, %b into %sum {lhs_unsigned}
      : !kernel.fragment<32 by 32 of i8, #kernel.operand<0, of = #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>>>,
        !kernel.fragment<32 by 32 of i8, #kernel.operand<1, of = #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>>>
      into !kernel.fragment<32 by 32 of i32, #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>>
  return
}
