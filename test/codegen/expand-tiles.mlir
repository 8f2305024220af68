// RUN: cameo-opt --cameo-expand-tiles --split-input-file %s | FileCheck %s
// Twice does nothing more:
// RUN: cameo-opt --cameo-expand-tiles --split-input-file %s -o %t.1
// RUN: cameo-opt --cameo-expand-tiles --split-input-file %t.1 -o %t.2
// RUN: cmp %t.1 %t.2

#g = #gpu.address_space<global>
#part = #kernel.copied<vector = 4, along = columns, threads = 64>
!tile = !kernel.tile<16x16xf32, #kernel.strided<[20, 1]>, stages = 1>

// CHECK-LABEL: gpu.func @copy
// CHECK-SAME: (%[[X:.*]]: memref<?xf32, {{.*}}>, %[[N:.*]]: index) workgroup(%[[S:[^ ]*]] : memref<320xf32
gpu.module @copy {
  gpu.func @copy(%x: memref<?xf32, #g>, %n: index) kernel
      attributes {kernel.block = array<i32: 64, 1, 1>} {
    // CHECK: %[[T:.*]] = gpu.thread_id x
    // CHECK-NOT: gpu.thread_id
    // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
    // CHECK-DAG: %[[R:.*]] = arith.divui %[[T]], %[[C4]]
    // CHECK-DAG: %[[Q:.*]] = arith.remui %[[T]], %[[C4]]
    // CHECK-DAG: %[[C:.*]] = arith.muli %[[Q]], %[[C4]] overflow<nsw, nuw>
    // CHECK-DAG: %[[C20:.*]] = arith.constant 20 : index
    // CHECK-DAG: %[[LINE:.*]] = arith.muli %[[R]], %[[C20]] overflow<nsw, nuw>
    // CHECK-DAG: %[[AT:.*]] = arith.addi %[[LINE]], %[[C]] overflow<nsw, nuw>
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %s = kernel.alloc_tile : !tile
    // CHECK: %[[PADDING:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
    // CHECK: %[[ROW:.*]] = arith.muli %[[R]], %[[N]]
    // CHECK: %[[OFFSET:.*]] = arith.addi %[[ROW]], %[[C]]
    // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[C]], %[[N]]
    // CHECK: %[[V:.*]] = scf.if %[[INSIDE]] -> (vector<4xf32>)
    // CHECK-NEXT: %[[L:.*]] = vector.load %[[X]][%[[OFFSET]]] {kernel.alignment = 16 : i64}
    // CHECK-NEXT: scf.yield %[[L]]
    // CHECK-NEXT: else
    // CHECK-NEXT: scf.yield %[[PADDING]]
    // CHECK: vector.store %[[V]], %[[S]][%[[AT]]] {kernel.alignment = 16 : i64}
    // CHECK-NOT: scf.if
    %f = kernel.load_global %x padding %zero : memref<?xf32, #g> -> !kernel.fragment<16 by 16 of f32, #part> {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      %inside = arith.cmpi ult, %c, %n : index
      kernel.yield %offset, %inside : index, i1
    }
    kernel.write_tile %f to %s[%c0, %c0, %c0] : !kernel.fragment<16 by 16 of f32, #part> to !tile
    gpu.return
  }
}

// -----

// Elements of a value that are inside by themselves. With lines first, a thread's are all of one
// line, and their columns known.

#g = #gpu.address_space<global>
#part = #kernel.copied<vector = 4, along = columns, threads = 16, across_first = true>
!part = !kernel.fragment<16 by 8 of f16, #part>
!mask = !kernel.fragment<16 by 8 of i1, #part>
!tile = !kernel.tile<16x8xf16, #kernel.strided<[8, 1]>, stages = 1>

// CHECK-LABEL: gpu.func @gather
// CHECK-SAME: (%[[X:.*]]: memref<?xf16, {{[^%]*}}>, %[[N:[^ ]*]]: index)
gpu.module @gather {
  gpu.func @gather(%x: memref<?xf16, #g>, %n: index) kernel
      attributes {kernel.block = array<i32: 16, 1, 1>} {
    // CHECK: %[[T:.*]] = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %s = kernel.alloc_tile : !tile
    // CHECK: %[[OFFSET:.*]] = arith.addi %[[T]], %{{.*}}
    // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[OFFSET]], %[[N]]
    // CHECK: %[[E:.*]] = scf.if %[[INSIDE]] -> (f16)
    // CHECK: memref.load %[[X]][%[[OFFSET]]]
    // CHECK-COUNT-3: memref.load
    // CHECK: vector.broadcast %[[E]] : f16 to vector<4xf16>
    // CHECK-COUNT-3: vector.insert
    // CHECK-COUNT-4: memref.load
    // CHECK-NOT: memref.load
    %f, %in = kernel.load_global %x widths [1] together 1 padding %zero : memref<?xf16, #g> -> !part, !mask {
    ^bb0(%r: index, %c: index):
      %offset = arith.addi %r, %c : index
      %inside = arith.cmpi ult, %offset, %n : index
      kernel.yield %offset, %inside : index, i1
    }
    // CHECK-COUNT-2: vector.store {{.*}} {kernel.alignment = 8 : i64}
    kernel.write_tile %f to %s[%c0, %c0, %c0] : !part to !tile
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#part = #kernel.copied<vector = 4, along = rows, threads = 24>
!tile = !kernel.tile<16x16xf32, #kernel.strided<[1, 16]>, stages = 2>
!odd = !kernel.tile<16x16xf32, #kernel.strided<[1, 17]>, stages = 2>

// Groups along rows; no condition where everything is inside; the last round is for some threads only;
// elements are widened. A stage of 256 elements keeps stores aligned, lines of 17 do not.
// CHECK-LABEL: gpu.func @copy_along_rows
// CHECK-SAME: workgroup(%[[EVEN:[^ ]*]] : memref<512xf32, {{[^,]*}}, %[[ODD:[^ ]*]] : memref<576xf32
gpu.module @copy_along_rows {
  gpu.func @copy_along_rows(%x: memref<?xf16, #g>, %stage: index) kernel
      attributes {kernel.block = array<i32: 24, 1, 1>} {
    // CHECK: %[[T:.*]] = gpu.thread_id x
    // CHECK: %[[SOME:.*]] = arith.cmpi ult, %[[T]], %{{.*}}
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f16
    %even = kernel.alloc_tile : !tile
    %odd = kernel.alloc_tile : !odd
    // CHECK-NOT: scf.if
    // CHECK: vector.load %{{.*}} {kernel.alignment = 8 : i64} : {{.*}}, vector<4xf16>
    // CHECK: vector.load
    // CHECK: %[[LAST:.*]] = scf.if %[[SOME]] -> (vector<4xf16>)
    // CHECK: vector.load
    // CHECK-NOT: vector.load
    %f = kernel.load_global %x padding %pad : memref<?xf16, #g> -> !kernel.fragment<16 by 16 of f16, #part> {
    ^bb0(%r: index, %c: index):
      %true = arith.constant true
      %offset = arith.addi %r, %c : index
      kernel.yield %offset, %true : index, i1
    }
    // CHECK: %[[E:.*]] = vector.extract %[[LAST]][0]
    // CHECK: arith.extf %[[E]] : f16 to f32
    %w = kernel.map_fragment %f : !kernel.fragment<16 by 16 of f16, #part> -> !kernel.fragment<16 by 16 of f32, #part> {
    ^bb0(%r: index, %c: index, %e: f16):
      %v = arith.extf %e : f16 to f32
      kernel.yield %v : f32
    }
    // CHECK: vector.store %{{.*}}, %[[EVEN]]{{.*}} {kernel.alignment = 16 : i64}
    // CHECK: vector.store %{{.*}}, %[[EVEN]]{{.*}} {kernel.alignment = 16 : i64}
    // CHECK: scf.if %[[SOME]] {
    // CHECK-NEXT: arith.addi
    // CHECK-NEXT: vector.store %{{.*}}, %[[EVEN]]
    kernel.write_tile %w to %even[%stage, %c0, %c0] : !kernel.fragment<16 by 16 of f32, #part> to !tile
    // CHECK-NOT: vector.store
    // CHECK: memref.store %{{.*}}, %[[ODD]]
    // CHECK-NOT: vector.store
    kernel.write_tile %w to %odd[%stage, %c0, %c0] : !kernel.fragment<16 by 16 of f32, #part> to !odd
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#part = #kernel.copied<vector = 4, along = columns, threads = 16>
!tile = !kernel.tile<8x8xf32, #kernel.strided<[8, 1]>, stages = 1>
!wide = !kernel.tile<8x16xf32, #kernel.strided<[16, 1]>, stages = 1>

// Tiles over others are views of one memory; so are all where shared memory is dynamic.
// CHECK-LABEL: gpu.func @over
// CHECK-SAME: workgroup(%[[ALL:[^ ]*]] : memref<512xi8, {{[^,]*}}, %[[ALONE:[^ ]*]] : memref<64xf32, {{[^,]*}})
// CHECK: memref.view %[[ALL]][%c0{{.*}}][] : {{.*}} to memref<64xf32
// CHECK: memref.view %[[ALL]][%c256{{.*}}][] : {{.*}} to memref<64xf32
// CHECK: memref.view %[[ALL]][%c0{{.*}}][] : {{.*}} to memref<128xf32
// CHECK-NOT: memref.view
gpu.module @over {
  gpu.func @over() kernel attributes {kernel.block = array<i32: 16, 1, 1>} {
    %a = kernel.alloc_tile : !tile
    %b = kernel.alloc_tile : !tile
    %c = kernel.alloc_tile : !tile
    %d = kernel.alloc_tile over (%a, %b : !tile, !tile) : !wide
    gpu.return
  }
}
// CHECK-LABEL: gpu.func @dynamic
// CHECK-NOT: workgroup(
// CHECK: %[[ALL:.*]] = gpu.dynamic_shared_memory
// CHECK: memref.view %[[ALL]][%c0{{.*}}][] : {{.*}} to memref<64xf32
// CHECK: memref.view %[[ALL]][%c1024{{.*}}][] : {{.*}} to memref<512xf16
gpu.module @dynamic {
  gpu.func @dynamic() kernel attributes {kernel.block = array<i32: 16, 1, 1>, kernel.dynamic_shared = 2048 : i64} {
    %a = kernel.alloc_tile : !tile
    %b = kernel.alloc_tile : !kernel.tile<8x64xf16, #kernel.swizzle<128, along = columns>, stages = 1>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#part = #kernel.copied<vector = 1, along = columns, threads = 32>

// An offset that is itself loaded is loaded for elements inside only.
// CHECK-LABEL: gpu.func @load_loaded
gpu.module @load_loaded {
  gpu.func @load_loaded(%x: memref<?xi8, #g>, %table: memref<?xindex, #g>, %n: index) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %pad = arith.constant 7 : i8
    // CHECK: %[[INSIDE:.*]] = arith.cmpi ult
    // CHECK-NEXT: scf.if %[[INSIDE]] -> (i8)
    // CHECK-NEXT: memref.load %{{.*}} : memref<?xindex
    // CHECK-NEXT: memref.load %{{.*}} : memref<?xi8
    // CHECK: else
    // CHECK-NEXT: scf.yield %c7_i8
    // CHECK-COUNT-7: scf.if
    // CHECK-NOT: scf.if
    // CHECK: gpu.return
    %f = kernel.load_global %x padding %pad : memref<?xi8, #g> -> !kernel.fragment<256 by 1 of i8, #part> {
    ^bb0(%r: index, %c: index):
      %offset = memref.load %table[%r] : memref<?xindex, #g>
      %inside = arith.cmpi ult, %r, %n : index
      kernel.yield %offset, %inside : index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#layout = #kernel.thread_tile<threads = 4 x 8, tile = 2 x 8, group = 4>
!acc = !kernel.fragment<8 by 64 of f32, #layout>
!tile_a = !kernel.tile<8x2xf32, #kernel.strided<[1, 8]>, stages = 1>
!tile_b = !kernel.tile<2x64xf32, #kernel.strided<[64, 1]>, stages = 1>
!lhs = !kernel.fragment<8 by 2 of f32, #kernel.operand<0, of = #layout>>
!rhs = !kernel.fragment<2 by 64 of f32, #kernel.operand<1, of = #layout>>

// A thread has 2 rows of 2 groups: 4 values, through loops and conditions.
// CHECK-LABEL: gpu.func @contract
// CHECK-SAME: workgroup(%[[A:[^ ]*]] : {{.*}}, %[[B:[^ ]*]] : {{.*}})
gpu.module @contract {
  gpu.func @contract(%y: memref<?xf32, #g>, %bias: memref<?xf32, #g> {llvm.noalias}, %n: index, %some: i1) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    // CHECK-DAG: %[[T:.*]] = gpu.thread_id x
    // CHECK-DAG: %[[TR:.*]] = arith.divui %[[T]], %[[C8:.*]] : index
    // CHECK-DAG: %[[TC:.*]] = arith.remui %[[T]], %[[C8]] : index
    // CHECK-DAG: %[[ROW0:.*]] = arith.muli %[[TR]], %{{.*}} overflow<nsw, nuw>
    // CHECK-DAG: %[[COL0:.*]] = arith.muli %[[TC]], %{{.*}} overflow<nsw, nuw>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f32
    %a = kernel.alloc_tile : !tile_a
    %b = kernel.alloc_tile : !tile_b
    // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
    %init = kernel.fill_fragment %zero : f32 -> !acc
    // CHECK: %[[SUM:.*]]:4 = scf.for {{.*}} iter_args(%[[S0:.*]] = %[[ZERO]], %[[S1:[^,]*]] = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
    %sum = scf.for %i = %c0 to %n step %c2 iter_args(%s = %init) -> !acc {
      // CHECK: scf.if %{{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
      %next = scf.if %some -> !acc {
        // CHECK: %[[L:.*]] = vector.load %[[A]][%[[ROW0]]] {kernel.alignment = 8 : i64} : {{.*}}, vector<2xf32>
        // CHECK: vector.load %[[A]]
        %l = kernel.load_fragment %a[%c0, %c0, %c0] : !tile_a -> !lhs
        // CHECK: %[[R0:.*]] = vector.load %[[B]][%[[COL0]]] {kernel.alignment = 16 : i64} : {{.*}}, vector<4xf32>
        // CHECK: %[[R1:.*]] = vector.load %[[B]]
        // CHECK-COUNT-2: vector.load %[[B]]
        %r = kernel.load_fragment %b[%c0, %c0, %c0] : !tile_b -> !rhs
        // CHECK: %[[L0:.*]] = vector.extract %[[L]][0]
        // CHECK: %[[SPLAT0:.*]] = vector.broadcast %[[L0]]
        // CHECK: %[[L1:.*]] = vector.extract %[[L]][1]
        // CHECK: %[[SPLAT1:.*]] = vector.broadcast %[[L1]]
        // CHECK: %[[F0:.*]] = vector.fma %[[SPLAT0]], %[[R0]], %[[S0]]
        // CHECK: vector.fma %[[SPLAT0]], %[[R1]], %[[S1]]
        // CHECK: vector.fma %[[SPLAT1]], %[[R0]]
        // CHECK: vector.fma %[[SPLAT1]], %[[R1]]
        // CHECK: vector.fma %{{.*}}, %{{.*}}, %[[F0]]
        %more = kernel.contract %l, %r into %s : !lhs, !rhs into !acc
        scf.yield %more : !acc
      } else {
        // CHECK: scf.yield %[[S0]], %[[S1]],
        scf.yield %s : !acc
      }
      scf.yield %next : !acc
    }
    // What has no effects is computed for all, once a vector for the condition; the rest if inside.
    // CHECK: %[[VALUE:.*]] = vector.extract %[[SUM]]#0[0] : f32
    // CHECK: arith.cmpi ult, %[[COL0]]
    // CHECK: vector.extract %[[SUM]]#0[1] : f32
    // CHECK: scf.if
    // CHECK-NEXT: %[[BIAS:.*]] = memref.load
    // CHECK-NEXT: arith.addf %[[VALUE]], %[[BIAS]]
    // CHECK-COUNT-3: memref.load
    // CHECK: vector.store %{{.*}} {kernel.alignment = 16 : i64} : {{.*}}, vector<4xf32>
    // CHECK-COUNT-3: vector.store
    // CHECK-NOT: store
    kernel.store_fragment %sum to %y vector 4 : !acc to memref<?xf32, #g> {
    ^bb0(%r: index, %c: index, %v: f32):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      %inside = arith.cmpi ult, %c, %n : index
      %add = memref.load %bias[%c] : memref<?xf32, #g>
      %out = arith.addf %v, %add : f32
      kernel.yield %out, %offset, %inside : f32, index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
!acc = !kernel.fragment<4 by 8 of i32, #layout>
!tile_a = !kernel.tile<4x2xi8, #kernel.strided<[1, 4]>, stages = 1>
!tile_b = !kernel.tile<2x8xi8, #kernel.strided<[8, 1]>, stages = 1>
!lhs = !kernel.fragment<4 by 2 of i8, #kernel.operand<0, of = #layout>>
!rhs = !kernel.fragment<2 by 8 of i8, #kernel.operand<1, of = #layout>>

// Integers are signed; a vector that does not divide a group is stored by elements.
// CHECK-LABEL: gpu.func @integers
gpu.module @integers {
  gpu.func @integers(%y: memref<?xi32, #g>) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %a = kernel.alloc_tile : !tile_a
    %b = kernel.alloc_tile : !tile_b
    %init = kernel.fill_fragment %zero : i32 -> !acc
    %l = kernel.load_fragment %a[%c0, %c0, %c0] : !tile_a -> !lhs
    %r = kernel.load_fragment %b[%c0, %c0, %c0] : !tile_b -> !rhs
    // CHECK-COUNT-2: arith.extsi %{{.*}} : i8 to i32
    // CHECK: arith.muli %{{.*}} : i32
    // CHECK: arith.addi %{{.*}} : i32
    // CHECK: arith.muli %{{.*}} : i32
    // CHECK: %[[SUM:.*]] = arith.addi %{{.*}} : i32
    %sum = kernel.contract %l, %r into %init : !lhs, !rhs into !acc
    // CHECK: memref.store %[[SUM]]
    kernel.store_fragment %sum to %y vector 4 : !acc to memref<?xi32, #g> {
    ^bb0(%row: index, %col: index, %v: i32):
      %true = arith.constant true
      %offset = arith.addi %row, %col : index
      kernel.yield %v, %offset, %true : i32, index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#layout = #kernel.thread_tile<threads = 4 x 8, tile = 2 x 2, group = 2>
!acc = !kernel.fragment<8 by 16 of f32, #layout>

// What may be the memory that is stored to is loaded for rows of 64 bytes together before they are stored.
// CHECK-LABEL: gpu.func @in_place
gpu.module @in_place {
  gpu.func @in_place(%y: memref<?xf32, #g>, %x: memref<?xf32, #g>, %n: index) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %acc = kernel.fill_fragment %zero : f32 -> !acc
    // CHECK: %[[IN:.*]] = arith.cmpi
    // CHECK: %[[FIRST:.*]]:2 = scf.if %[[IN]] -> (f32, index)
    // CHECK: memref.load
    // CHECK: scf.yield
    // CHECK: scf.yield
    // CHECK: %[[SECOND:.*]]:2 = scf.if
    // CHECK-COUNT-3: memref.load
    // CHECK: scf.if %[[IN]] {
    // CHECK-NEXT: memref.store %[[FIRST]]#0, %{{.*}}[%[[FIRST]]#1]
    // CHECK: memref.store %[[SECOND]]#0, %{{.*}}[%[[SECOND]]#1]
    // CHECK-COUNT-2: memref.store
    // CHECK-NOT: memref.load
    kernel.store_fragment %acc to %y vector 1 : !acc to memref<?xf32, #g> {
    ^bb0(%r: index, %c: index, %v: f32):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      %inside = arith.cmpi ult, %c, %n : index
      %add = memref.load %x[%offset] : memref<?xf32, #g>
      %out = arith.addf %v, %add : f32
      kernel.yield %out, %offset, %inside : f32, index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// Kernels without tile operations need no block and stay as they are.
// CHECK-LABEL: gpu.func @plain
gpu.module @plain {
  gpu.func @plain(%y: memref<?xf32, #g>) kernel {
    // CHECK-NEXT: %[[T:.*]] = gpu.thread_id x
    // CHECK-NEXT: memref.load %{{.*}}[%[[T]]]
    // CHECK-NEXT: memref.store
    // CHECK-NEXT: gpu.return
    %t = gpu.thread_id x
    %v = memref.load %y[%t] : memref<?xf32, #g>
    memref.store %v, %y[%t] : memref<?xf32, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#part = #kernel.copied<vector = 4, along = columns, threads = 64>
!part = !kernel.fragment<16 by 32 of f32, #part>
!mask = !kernel.fragment<16 by 32 of i1, #part>

// Elements that are computed: one source in vectors, one of an element for a group, one of pairs; all are
// loaded before anything is computed.
// CHECK-LABEL: gpu.func @values
// CHECK-SAME: (%[[X:[^:]*]]: memref{{.*}}, %[[S:[^:]*]]: memref{{.*}}, %[[P:[^:]*]]: memref
gpu.module @values {
  gpu.func @values(%x: memref<?xf32, #g>, %scale: memref<?xf32, #g>, %pairs: memref<?xf32, #g>, %n: index)
      kernel attributes {kernel.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %s = kernel.alloc_tile : !kernel.tile<16x32xf32, #kernel.strided<[32, 1]>, stages = 1>
    // CHECK: %[[IN:.*]] = arith.cmpi ult
    // CHECK: %[[V:.*]]:4 = scf.if %[[IN]] -> (vector<4xf32>, f32, vector<2xf32>, vector<2xf32>)
    // CHECK: vector.load %[[X]]
    // CHECK: memref.load %[[S]]
    // CHECK: vector.load %[[P]]{{.*}} : {{.*}}, vector<2xf32>
    // CHECK: vector.load %[[P]]{{.*}} : {{.*}}, vector<2xf32>
    // CHECK: scf.if
    // CHECK: vector.load %[[X]]
    %l:4 = kernel.load_global %x, %scale, %pairs widths [4, 0, 2] padding %zero, %zero, %zero
        : memref<?xf32, #g>, memref<?xf32, #g>, memref<?xf32, #g> -> !part, !part, !part, !mask {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      %inside = arith.cmpi ult, %c, %n : index
      kernel.yield %offset, %r, %offset, %inside : index, index, index, i1
    }
    // CHECK-NOT: scf.if
    // CHECK: %[[A:.*]] = vector.extract %[[V]]#0[0]
    // CHECK: %[[M:.*]] = arith.mulf %[[A]], %[[V]]#1
    // CHECK: %[[VALUE:.*]] = arith.addf %[[M]]
    // CHECK: arith.select %[[IN]], %[[VALUE]], %{{.*}} : f32
    // CHECK: vector.store
    // CHECK: vector.store
    // CHECK-NOT: vector.store
    %m = kernel.map_fragment %l#0, %l#1, %l#2, %l#3 : !part, !part, !part, !mask -> !part {
    ^bb0(%r: index, %c: index, %a: f32, %b: f32, %p: f32, %inside: i1):
      %m = arith.mulf %a, %b : f32
      %v = arith.addf %m, %p : f32
      %chosen = arith.select %inside, %v, %zero : f32
      kernel.yield %chosen : f32
    }
    kernel.write_tile %m to %s[%c0, %c0, %c0] : !part to !kernel.tile<16x32xf32, #kernel.strided<[32, 1]>, stages = 1>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#mma = #kernel.mma<16 x 8 x 16, warps = 1 x 2>
!sums = !kernel.fragment<16 by 16 of f32, #mma>

// What a layout answers is all that filling, computing by place and storing need: a warp has 16 by 8, a
// lane two pairs of neighbours, eight rows apart.
// CHECK-LABEL: gpu.func @other_layout
// CHECK-DAG: %[[WARP:.*]] = arith.divui %[[T:.*]], %c32
// CHECK-DAG: %[[LANE:.*]] = arith.remui %[[T]], %c32
// CHECK-DAG: %[[GROUP:.*]] = arith.divui %[[LANE]], %c4
// CHECK-DAG: %[[IN_GROUP:.*]] = arith.remui %[[T]], %c4
// CHECK-DAG: %[[PAIR:.*]] = arith.muli %[[IN_GROUP]], %c2
// CHECK-DAG: %[[COLS:.*]] = arith.muli %[[WARP]], %c8
// CHECK-DAG: %[[COL:.*]] = arith.addi %[[COLS]], %[[PAIR]]
// CHECK: vector.store %{{.*}}, %{{.*}} {kernel.alignment = 8 : i64} : {{.*}}, vector<2xf32>
// CHECK: arith.addi %[[GROUP]], %c8
// CHECK: vector.store %{{.*}}, %{{.*}} {kernel.alignment = 8 : i64} : {{.*}}, vector<2xf32>
// CHECK-NOT: vector.store
gpu.module @other_layout {
  gpu.func @other_layout(%y: memref<?xf32, #g>) kernel attributes {kernel.block = array<i32: 64, 1, 1>} {
    %c16 = arith.constant 16 : index
    %true = arith.constant true
    %one = arith.constant 1.0 : f32
    %f = kernel.fill_fragment %one : f32 -> !sums
    kernel.store_fragment %f to %y vector 2 : !sums to memref<?xf32, #g> {
    ^bb0(%r: index, %c: index, %v: f32):
      %line = arith.muli %r, %c16 : index
      %offset = arith.addi %line, %c : index
      kernel.yield %v, %offset, %true : f32, index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#part = #kernel.copied<vector = 8, along = columns, threads = 32>
!tile = !kernel.tile<8x64xf16, #kernel.swizzle<128, along = columns>, stages = 3>

// Asynchronous copies: zeros where nothing is inside, pieces exchanged by the line's number.
// CHECK-LABEL: gpu.func @async
// CHECK-SAME: (%[[X:.*]]: memref<?xf16, {{.*}}>, %[[N:.*]]: index, %{{.*}}: index) workgroup(%[[S:[^ ]*]] : memref<1536xf16, {{.*}}> {llvm.align = 1024 : i64})
// CHECK: arith.xori
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[N]]
// CHECK: %[[TO:.*]] = kernel.address %[[S]]{{.*}} -> !llvm.ptr<3>
// CHECK: %[[FROM:.*]] = kernel.address %[[X]]{{.*}} -> !llvm.ptr<1>
// CHECK: %[[SIZE:.*]] = arith.select %[[INSIDE]], %c16_i32, %c0_i32
// CHECK: kernel.ptx "cp.async.cg.shared.global 16"(%[[TO]], %[[FROM]], %[[SIZE]])
// CHECK: kernel.ptx "cp.async.cg.shared.global 16"
// CHECK: kernel.ptx "cp.async.commit_group"()
// CHECK: kernel.ptx "cp.async.wait_group 1"()
gpu.module @async {
  gpu.func @async(%x: memref<?xf16, #g>, %n: index, %stage: index) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = kernel.alloc_tile : !tile
    kernel.copy_async %x to %s[%stage, %c0, %c0] as !kernel.fragment<8 by 64 of f16, #part> : memref<?xf16, #g> to !tile {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      %inside = arith.cmpi ult, %c, %n : index
      kernel.yield %offset, %inside : index, i1
    }
    kernel.commit_copies
    kernel.wait_copies 1
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#tile = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 4, group = 4>

// Other memory that a store reads, as wide as the store or once for it, where the store is inside.
// CHECK-LABEL: gpu.func @store_reading
// CHECK-SAME: (%[[Y:[^:]*]]: memref{{.*}}, %[[R:[^:]*]]: memref{{.*}}, %[[B:[^:]*]]: memref
// CHECK: scf.if
// CHECK: %[[OLD:.*]] = vector.load %[[R]]{{.*}}kernel.alignment = 16
// CHECK: %[[BIAS:.*]] = memref.load %[[B]]
// CHECK-NOT: load
// CHECK: vector.extract %[[OLD]][0]
// CHECK: arith.addf %{{.*}}, %[[BIAS]]
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK-NOT: load
gpu.module @store_reading {
  gpu.func @store_reading(%y: memref<?xf32, #g>, %old: memref<?xf32, #g>, %bias: memref<?xf32, #g>, %n: index)
      kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %one = arith.constant 1.0 : f32
    %f = kernel.fill_fragment %one : f32 -> !kernel.fragment<4 by 32 of f32, #tile>
    kernel.store_fragment %f reading %old, %bias widths [4, 0] to %y vector 4
        : !kernel.fragment<4 by 32 of f32, #tile>, memref<?xf32, #g>, memref<?xf32, #g> to memref<?xf32, #g> {
    ^bb0(%r: index, %c: index, %v: f32, %a: f32, %b: f32):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      %inside = arith.cmpi ult, %c, %n : index
      %s = arith.addf %v, %a : f32
      %t = arith.addf %s, %b : f32
      kernel.yield %t, %offset, %inside : f32, index, i1
    } reads {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      kernel.yield %offset, %r : index, index
    }
    gpu.return
  }
}

// -----

// Two rows a thread, of which 8 lanes have one: each thread goes through its four elements, then lanes
// exchange what they have, the farthest first. What comes of it is with all of them.
#g = #gpu.address_space<global>
#rows = #kernel.thread_tile<threads = 4 x 8, tile = 2 x 4, group = 4>
!rows = !kernel.fragment<8 by 32 of f32, #rows>

// CHECK-LABEL: gpu.func @reduce
gpu.module @reduce {
  gpu.func @reduce(%y: memref<?xf32, #g>, %v: f32) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %f = kernel.fill_fragment %v : f32 -> !rows
    %true = arith.constant true
    // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[A:.*]] = arith.addf %[[ZERO]], %{{.*}}
    // CHECK-COUNT-3: arith.addf
    // CHECK: arith.addf %[[ZERO]]
    // CHECK-COUNT-3: arith.addf
    // CHECK-NOT: arith.addf
    // CHECK: %[[FAR:.*]] = arith.constant 4 : i32
    // CHECK: gpu.shuffle xor %{{.*}}, %[[FAR]]
    // CHECK: arith.addf
    // CHECK: gpu.shuffle xor
    // CHECK: arith.addf
    // CHECK: arith.constant 2 : i32
    // CHECK-COUNT-2: gpu.shuffle xor
    // CHECK: arith.constant 1 : i32
    // CHECK: gpu.shuffle xor
    // CHECK: %[[FIRST:.*]] = arith.addf
    // CHECK: gpu.shuffle xor
    // CHECK: %[[SECOND:.*]] = arith.addf
    // CHECK-NOT: gpu.shuffle
    %sum = kernel.reduce_rows %f from %zero : !rows -> !rows {
    ^bb0(%r: index, %c: index, %e: f32, %sofar: f32):
      %next = arith.addf %sofar, %e : f32
      kernel.yield %next : f32
    } combine {
    ^bb0(%a: f32, %b: f32):
      %both = arith.addf %a, %b : f32
      kernel.yield %both : f32
    }
    // CHECK-COUNT-4: arith.divf %[[V:.*]], %[[FIRST]]
    // CHECK: vector.store
    // CHECK-COUNT-4: arith.divf %[[V]], %[[SECOND]]
    // CHECK: vector.store
    kernel.store_fragment %f with %sum : !rows to %y vector 4 : !rows to memref<?xf32, #g> {
    ^bb0(%r: index, %c: index, %e: f32, %s: f32):
      %part = arith.divf %e, %s : f32
      kernel.yield %part, %c, %true : f32, index, i1
    }
    gpu.return
  }
}

// -----

// What is exchanged has 32 bits.
#rows = #kernel.warp_rows<vector = 2, warps = 1 x 1>
!rows = !kernel.fragment<2 by 32 of f16, #rows>

// CHECK-LABEL: gpu.func @narrow
gpu.module @narrow {
  gpu.func @narrow(%v: f16) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %f = kernel.fill_fragment %v : f16 -> !rows
    // CHECK-COUNT-4: gpu.shuffle xor %{{.*}}, %{{.*}}, %{{.*}} : i32
    // CHECK-NOT: gpu.shuffle
    %most = kernel.reduce_rows %f from %v : !rows -> !rows {
    ^bb0(%r: index, %c: index, %e: f16, %sofar: f16):
      %next = arith.maximumf %sofar, %e : f16
      kernel.yield %next : f16
    } combine {
    ^bb0(%a: f16, %b: f16):
      %both = arith.maximumf %a, %b : f16
      kernel.yield %both : f16
    }
    gpu.return
  }
}
