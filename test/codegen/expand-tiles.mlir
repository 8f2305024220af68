// RUN: cameo-opt --cameo-expand-tiles --split-input-file %s | FileCheck %s
// Twice does nothing more:
// RUN: cameo-opt --cameo-expand-tiles --split-input-file %s -o %t.1
// RUN: cameo-opt --cameo-expand-tiles --split-input-file %t.1 -o %t.2
// RUN: cmp %t.1 %t.2

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

// CHECK-LABEL: gpu.func @copy
// CHECK-SAME: (%[[X:.*]]: memref<?xf32, {{.*}}>, %[[N:.*]]: index) workgroup(%[[S:[^ ]*]]
gpu.module @copy {
  gpu.func @copy(%x: memref<?xf32, #g>, %n: index) workgroup(%s: memref<320xf32, #ws>) kernel
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
    kernel.copy_tile %x to %s[%c0] rows 16 cols 16 strides [20, 1] vector 4 threads 64
        padding %zero : f32 : memref<?xf32, #g> to memref<320xf32, #ws> {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      %inside = arith.cmpi ult, %c, %n : index
      kernel.yield %offset, %inside : index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

// Groups along rows; all loads before the first store; no condition where everything is inside; the
// last round is for some threads only; elements are widened. A stage of 256 elements keeps stores aligned,
// an unknown offset does not.
// CHECK-LABEL: gpu.func @copy_along_rows
gpu.module @copy_along_rows {
  gpu.func @copy_along_rows(%x: memref<?xf16, #g>, %stage: index, %any: index)
      workgroup(%s: memref<512xf32, #ws>) kernel
      attributes {kernel.block = array<i32: 24, 1, 1>} {
    // CHECK: %[[T:.*]] = gpu.thread_id x
    // CHECK: %[[SOME:.*]] = arith.cmpi ult, %[[T]], %{{.*}}
    %c256 = arith.constant 256 : index
    %pad = arith.constant 0.0 : f16
    %at = arith.muli %stage, %c256 : index
    // CHECK-NOT: scf.if
    // CHECK: vector.load %{{.*}} {kernel.alignment = 8 : i64} : {{.*}}, vector<4xf16>
    // CHECK: vector.load
    // CHECK: %[[LAST:.*]] = scf.if %[[SOME]] -> (vector<4xf16>)
    // CHECK: vector.load
    // CHECK-NOT: vector.load
    // CHECK: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
    // CHECK: vector.store %{{.*}} {kernel.alignment = 16 : i64}
    // CHECK: vector.store %{{.*}} {kernel.alignment = 16 : i64}
    // CHECK: scf.if %[[SOME]] {
    // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[LAST]]
    // CHECK: vector.store %[[WIDE]]
    kernel.copy_tile %x to %s[%at] rows 16 cols 16 strides [1, 16] vector 4 along_rows threads 24
        padding %pad : f16 : memref<?xf16, #g> to memref<512xf32, #ws> {
    ^bb0(%r: index, %c: index):
      %true = arith.constant true
      %offset = arith.addi %r, %c : index
      kernel.yield %offset, %true : index, i1
    }
    // CHECK: gpu.barrier
    gpu.barrier
    // CHECK: memref.store
    // CHECK-NOT: vector.store
    kernel.copy_tile %x to %s[%any] rows 16 cols 16 strides [1, 16] vector 4 along_rows threads 24
        padding %pad : f16 : memref<?xf16, #g> to memref<512xf32, #ws> {
    ^bb0(%r: index, %c: index):
      %true = arith.constant true
      %offset = arith.addi %r, %c : index
      kernel.yield %offset, %true : index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

// Copies that follow one another load first, all of them, unless one reads what another writes.
// CHECK-LABEL: gpu.func @copies
gpu.module @copies {
  gpu.func @copies(%x: memref<?xf32, #g>, %y: memref<?xf32, #g>) workgroup(%s: memref<128xf32, #ws>)
      kernel attributes {kernel.block = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %true = arith.constant true
    // CHECK: vector.load
    // CHECK-NOT: vector.store
    // CHECK: vector.load
    // CHECK-COUNT-2: vector.store
    // CHECK: vector.load
    // CHECK: vector.store
    // CHECK-NOT: vector.store
    kernel.copy_tile %x to %s[%c0] rows 8 cols 8 strides [8, 1] vector 4 threads 16
        padding %zero : f32 : memref<?xf32, #g> to memref<128xf32, #ws> {
    ^bb0(%r: index, %c: index):
      kernel.yield %c, %true : index, i1
    }
    %c64 = arith.constant 64 : index
    kernel.copy_tile %y to %s[%c64] rows 8 cols 8 strides [8, 1] vector 4 threads 16
        padding %zero : f32 : memref<?xf32, #g> to memref<128xf32, #ws> {
    ^bb0(%r: index, %c: index):
      kernel.yield %c, %true : index, i1
    }
    kernel.copy_tile %s to %s[%c64] rows 8 cols 8 strides [8, 1] vector 4 threads 16
        padding %zero : f32 : memref<128xf32, #ws> to memref<128xf32, #ws> {
    ^bb0(%r: index, %c: index):
      kernel.yield %c, %true : index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

// 40 rounds: 5 times 8 in a loop. An offset that is itself loaded is loaded for elements inside only.
// CHECK-LABEL: gpu.func @copy_in_rounds
gpu.module @copy_in_rounds {
  gpu.func @copy_in_rounds(%x: memref<?xi8, #g>, %table: memref<?xindex, #g>, %n: index)
      workgroup(%s: memref<1280xi8, #ws>) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 7 : i8
    // CHECK: scf.for %{{.*}} = %{{.*}} to %[[END:.*]] step %[[STEP:.*]] {
    // CHECK: %[[INSIDE:.*]] = arith.cmpi ult
    // CHECK-NEXT: scf.if %[[INSIDE]] -> (i8)
    // CHECK-NEXT: memref.load %{{.*}} : memref<?xindex
    // CHECK-NEXT: memref.load %{{.*}} : memref<?xi8
    // CHECK-COUNT-7: scf.if
    // CHECK-NOT: scf.if
    // CHECK-COUNT-8: memref.store
    // CHECK-NOT: memref.store
    // CHECK: gpu.return
    kernel.copy_tile %x to %s[%c0] rows 1280 cols 1 strides [1, 1] vector 1 threads 32
        padding %pad : i8 : memref<?xi8, #g> to memref<1280xi8, #ws> {
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
#ws = #gpu.address_space<workgroup>
#layout = #kernel.thread_tile<threads = 4 x 8, tile = 2 x 8, group = 4>
!acc = !kernel.fragment<8 by 64 of f32, #layout>

// A thread has 2 rows of 2 groups: 4 values, through loops and conditions.
// CHECK-LABEL: gpu.func @contract
// CHECK-SAME: workgroup(%[[A:[^ ]*]] : {{.*}}, %[[B:[^ ]*]] : {{.*}})
gpu.module @contract {
  gpu.func @contract(%y: memref<?xf32, #g>, %bias: memref<?xf32, #g> {llvm.noalias}, %n: index, %some: i1)
      workgroup(%a: memref<16xf32, #ws>, %b: memref<128xf32, #ws>) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    // CHECK-DAG: %[[T:.*]] = gpu.thread_id x
    // CHECK-DAG: %[[TR:.*]] = arith.divui %[[T]], %[[C8:.*]] : index
    // CHECK-DAG: %[[TC:.*]] = arith.remui %[[T]], %[[C8]] : index
    // CHECK-DAG: %[[ROW0:.*]] = arith.muli %[[TR]], %{{.*}} overflow<nsw, nuw>
    // CHECK-DAG: %[[COL0:.*]] = arith.muli %[[TC]], %{{.*}} overflow<nsw, nuw>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
    %init = kernel.fill_fragment %zero : f32 -> !acc
    // CHECK: %[[SUM:.*]]:4 = scf.for {{.*}} iter_args(%[[S0:.*]] = %[[ZERO]], %[[S1:[^,]*]] = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
    %sum = scf.for %i = %c0 to %n step %c2 iter_args(%s = %init) -> !acc {
      // CHECK: scf.if %{{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
      %next = scf.if %some -> !acc {
        // CHECK: %[[L:.*]] = vector.load %[[A]][%[[ROW0]]] {kernel.alignment = 8 : i64} : {{.*}}, vector<2xf32>
        // CHECK: %[[L0:.*]] = vector.extract %[[L]][0]
        // CHECK: %[[L1:.*]] = vector.extract %[[L]][1]
        // CHECK: %[[R0:.*]] = vector.load %[[B]][%[[COL0]]] {kernel.alignment = 16 : i64} : {{.*}}, vector<4xf32>
        // CHECK: %[[R1:.*]] = vector.load %[[B]]
        // CHECK: %[[SPLAT:.*]] = vector.broadcast %[[L0]]
        // CHECK: %[[F0:.*]] = vector.fma %[[SPLAT]], %[[R0]], %[[S0]]
        // CHECK: vector.fma %[[SPLAT]], %[[R1]], %[[S1]]
        // CHECK: vector.broadcast %[[L1]]
        // CHECK-COUNT-2: vector.fma
        // CHECK: vector.fma %{{.*}}, %{{.*}}, %[[F0]]
        %more = kernel.contract_tile %a[%c0] stride 8, %b[%c0] stride 64 depth 2 into %s
            : memref<16xf32, #ws>, memref<128xf32, #ws> into !acc
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
#ws = #gpu.address_space<workgroup>
#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
!acc = !kernel.fragment<4 by 8 of i32, #layout>

// Integers are signed; a deep contraction is a loop of 4 steps with the rest behind it; a vector that
// does not divide a group is stored by elements.
// CHECK-LABEL: gpu.func @integers
gpu.module @integers {
  gpu.func @integers(%y: memref<?xi32, #g>) workgroup(%a: memref<128xi8, #ws>, %b: memref<256xi8, #ws>)
      kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %init = kernel.fill_fragment %zero : i32 -> !acc
    // CHECK: scf.for {{.*}} -> (vector<1xi32>)
    // CHECK: arith.extsi %{{.*}} : i8 to i32
    // CHECK-COUNT-4: arith.muli %{{.*}} : vector<1xi32>
    // CHECK: scf.yield
    // CHECK: arith.muli %{{.*}} : vector<1xi32>
    // CHECK: %[[SUM:.*]] = arith.addi %{{.*}} : vector<1xi32>
    %sum = kernel.contract_tile %a[%c0] stride 4, %b[%c0] stride 8 depth 17 into %init
        : memref<128xi8, #ws>, memref<256xi8, #ws> into !acc
    // CHECK: %[[V:.*]] = vector.extract %[[SUM]][0]
    // CHECK: memref.store %[[V]]
    kernel.store_fragment %sum to %y vector 4 : !acc to memref<?xi32, #g> {
    ^bb0(%r: index, %c: index, %v: i32):
      %true = arith.constant true
      %offset = arith.addi %r, %c : index
      kernel.yield %v, %offset, %true : i32, index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#layout = #kernel.thread_tile<threads = 4 x 8, tile = 2 x 2, group = 2>
!acc = !kernel.fragment<8 by 16 of f32, #layout>

// What may be the memory that is stored to is loaded for a row before the row is stored.
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
    // CHECK: memref.load
    // CHECK: scf.if %[[IN]] {
    // CHECK-NEXT: memref.store %[[FIRST]]#0, %{{.*}}[%[[FIRST]]#1]
    // CHECK: memref.store %[[SECOND]]#0, %{{.*}}[%[[SECOND]]#1]
    // CHECK-COUNT-2: memref.load
    // CHECK-COUNT-2: memref.store
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
#ws = #gpu.address_space<workgroup>

// Elements that are computed: all sources of all groups are loaded before the first is stored, one
// in vectors, one of an element for a group, one of pairs; what is outside is padding, not what the region
// makes of zeros.
// CHECK-LABEL: gpu.func @copy_value
// CHECK-SAME: (%[[X:[^:]*]]: memref{{.*}}, %[[S:[^:]*]]: memref{{.*}}, %[[P:[^:]*]]: memref
gpu.module @copy_value {
  gpu.func @copy_value(%x: memref<?xf32, #g>, %scale: memref<?xf32, #g>, %pairs: memref<?xf32, #g>, %n: index)
      workgroup(%s: memref<512xf32, #ws>) kernel
      attributes {kernel.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[PADDING:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
    // CHECK: %[[IN:.*]] = arith.cmpi ult
    // CHECK: %[[V:.*]]:4 = scf.if %[[IN]] -> (vector<4xf32>, f32, vector<2xf32>, vector<2xf32>)
    // CHECK: vector.load %[[X]]
    // CHECK: memref.load %[[S]]
    // CHECK: vector.load %[[P]]{{.*}} : {{.*}}, vector<2xf32>
    // CHECK: vector.load %[[P]]{{.*}} : {{.*}}, vector<2xf32>
    // CHECK: scf.if
    // CHECK: vector.load %[[X]]
    // CHECK-NOT: scf.if
    // CHECK: %[[A:.*]] = vector.extract %[[V]]#0[0]
    // CHECK: %[[B:.*]] = vector.extract %[[V]]#2[0]
    // CHECK: %[[M:.*]] = arith.mulf %[[A]], %[[V]]#1
    // CHECK: arith.addf %[[M]], %[[B]]
    // CHECK: vector.extract %[[V]]#3[1]
    // CHECK-COUNT-2: vector.insert
    // CHECK: %[[ALL:.*]] = vector.insert
    // CHECK-NEXT: %[[STORED:.*]] = arith.select %[[IN]], %[[ALL]], %[[PADDING]] : vector<4xf32>
    // CHECK-NEXT: vector.store %[[STORED]]
    // CHECK-NOT: scf.if
    kernel.copy_tile %x, %scale, %pairs widths [4, 0, 2] to %s[%c0] rows 16 cols 32 strides [32, 1] vector 4
        threads 64 padding %zero : f32
        : memref<?xf32, #g>, memref<?xf32, #g>, memref<?xf32, #g> to memref<512xf32, #ws> {
    ^bb0(%r: index, %c: index):
      %line = arith.muli %r, %n : index
      %offset = arith.addi %line, %c : index
      %inside = arith.cmpi ult, %c, %n : index
      kernel.yield %offset, %r, %offset, %inside : index, index, index, i1
    } value {
    ^bb0(%a: f32, %b: f32, %p: f32):
      %m = arith.mulf %a, %b : f32
      %v = arith.addf %m, %p : f32
      kernel.yield %v : f32
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

// What cannot be computed outside is not.
// CHECK-LABEL: gpu.func @copy_quotient
// CHECK: %[[V:.*]]:2 = scf.if
// CHECK: scf.if
// CHECK: arith.divsi %[[V]]#0, %[[V]]#1
// CHECK: else
gpu.module @copy_quotient {
  gpu.func @copy_quotient(%x: memref<?xi32, #g>, %y: memref<?xi32, #g>, %n: index)
      workgroup(%s: memref<64xi32, #ws>) kernel attributes {kernel.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    kernel.copy_tile %x, %y to %s[%c0] rows 64 cols 1 strides [1, 1] vector 1 threads 64
        padding %zero : i32 : memref<?xi32, #g>, memref<?xi32, #g> to memref<64xi32, #ws> {
    ^bb0(%r: index, %c: index):
      %inside = arith.cmpi ult, %r, %n : index
      kernel.yield %r, %r, %inside : index, index, i1
    } value {
    ^bb0(%a: i32, %b: i32):
      %v = arith.divsi %a, %b : i32
      kernel.yield %v : i32
    }
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
