// RUN: cameo-opt --cameo-expand-nibbles --split-input-file %s | FileCheck %s
// Twice does nothing more:
// RUN: cameo-opt --cameo-expand-nibbles --split-input-file %s -o %t.1
// RUN: cameo-opt --cameo-expand-nibbles --split-input-file %t.1 -o %t.2
// RUN: cmp %t.1 %t.2

#g = #gpu.address_space<global>

// A byte has two elements: which of them is in the lowest bit of the index.
// CHECK-LABEL: gpu.func @one
// CHECK-SAME: (%[[W:.*]]: memref<?xi8, {{.*}}>, %{{.*}}: memref<?xi32, {{.*}}>, %[[I:.*]]: index)
gpu.module @one {
  gpu.func @one(%w: memref<?xi4, #g>, %y: memref<?xi32, #g>, %i: index) kernel {
    // CHECK: %[[HALF:.*]] = arith.shrui %[[I]], %{{.*}} : index
    // CHECK: %[[BYTE:.*]] = memref.load %[[W]][%[[HALF]]] : memref<?xi8
    // CHECK: %[[ODD:.*]] = arith.andi %[[I]], %{{.*}} : index
    // CHECK: %[[PART:.*]] = arith.index_castui %[[ODD]] : index to i32
    // CHECK: %[[SHIFT:.*]] = arith.muli %[[PART]], %{{.*}} : i32
    // CHECK: %[[WORD:.*]] = arith.extui %[[BYTE]] : i8 to i32
    // CHECK: %[[V:.*]] = arith.shrui %[[WORD]], %[[SHIFT]] : i32
    %v = memref.load %w[%i] : memref<?xi4, #g>
    // CHECK: %[[UP:.*]] = arith.shli %[[V]], %[[C28:.*]] : i32
    // CHECK: %[[N:.*]] = arith.shrsi %[[UP]], %[[C28]] : i32
    // CHECK: memref.store %[[N]]
    %n = arith.extsi %v : i4 to i32
    memref.store %n, %y[%i] : memref<?xi32, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// Sixteen are two words, shifted by constants; no vector of elements is made. Unsigned ones are masked.
// CHECK-LABEL: gpu.func @several
gpu.module @several {
  gpu.func @several(%w: memref<?xi4, #g>, %y: memref<?xi16, #g>, %i: index) kernel {
    // CHECK: %[[BYTES:.*]] = vector.load %{{.*}} {kernel.alignment = 8 : i64} : memref<?xi8, {{.*}}>, vector<8xi8>
    // CHECK: %[[WORDS:.*]] = vector.bitcast %[[BYTES]] : vector<8xi8> to vector<2xi32>
    // CHECK: %[[LOW:.*]] = vector.extract %[[WORDS]][0] : i32
    // CHECK: %[[HIGH:.*]] = vector.extract %[[WORDS]][1] : i32
    // CHECK: %[[V9:.*]] = arith.shrui %[[HIGH]], %{{.*}} : i32
    // CHECK-NOT: vector.from_elements
    %v = vector.load %w[%i] {kernel.alignment = 8 : i64} : memref<?xi4, #g>, vector<16xi4>
    %a = vector.extract %v[0] : i4 from vector<16xi4>
    %b = vector.extract %v[9] : i4 from vector<16xi4>
    // CHECK: %[[A:.*]] = arith.andi %[[LOW]], %{{.*}} : i32
    // CHECK: %[[AN:.*]] = arith.trunci %[[A]] : i32 to i16
    %an = arith.extui %a : i4 to i16
    // CHECK: %[[B:.*]] = arith.andi %[[V9]], %{{.*}} : i32
    // CHECK: arith.trunci %[[B]] : i32 to i16
    %bn = arith.extui %b : i4 to i16
    memref.store %an, %y[%i] : memref<?xi16, #g>
    memref.store %bn, %y[%i] : memref<?xi16, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// What begins at an odd element begins in the middle of a byte; control flow passes words on.
// CHECK-LABEL: gpu.func @advance
// CHECK-SAME: (%[[W:.*]]: memref<?xi8, {{.*}}>, %{{.*}}, %[[FAR:.*]]: i64, %[[I:.*]]: index, %[[IN:.*]]: i1)
gpu.module @advance {
  gpu.func @advance(%w: memref<?xi4, #g>, %y: memref<?xi64, #g>, %far: i64, %i: index, %in: i1) kernel {
    // CHECK: %[[HALF:.*]] = arith.shrsi %[[FAR]], %{{.*}} : i64
    // CHECK: %[[ODD:.*]] = arith.andi %[[FAR]], %{{.*}} : i64
    // CHECK: %[[PART:.*]] = kernel.advance %[[W]] by %[[HALF]] : memref<?xi8
    // CHECK: %[[FIRST:.*]] = arith.index_cast %[[ODD]] : i64 to index
    %part = kernel.advance %w by %far : memref<?xi4, #g>
    %zero = arith.constant 0 : i4
    // CHECK: %[[V:.*]] = scf.if %[[IN]] -> (i32)
    %v = scf.if %in -> i4 {
      // CHECK: %[[AT:.*]] = arith.addi %[[I]], %[[FIRST]] : index
      // CHECK: arith.shrui %[[AT]]
      %l = memref.load %part[%i] : memref<?xi4, #g>
      scf.yield %l : i4
    } else {
      scf.yield %zero : i4
    }
    // CHECK: arith.shli %[[V]]
    // CHECK: %[[N:.*]] = arith.shrsi
    // CHECK: arith.extsi %[[N]] : i32 to i64
    %n = arith.extsi %v : i4 to i64
    memref.store %n, %y[%i] : memref<?xi64, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// Of eight or more a branch gives the words, behind which they are shifted; so does one that it is in.
// A constant is one in every place of a word.
// CHECK-LABEL: gpu.func @branches
// CHECK-SAME: (%[[W:.*]]: memref<?xi8, {{.*}}>, %{{.*}}, %{{.*}}, %[[IN:.*]]: i1, %[[HAS:.*]]: i1)
gpu.module @branches {
  gpu.func @branches(%w: memref<?xi4, #g>, %y: memref<?xi32, #g>, %i: index, %in: i1, %has: i1) kernel {
    // CHECK: arith.constant dense<858993459> : vector<2xi32>
    %threes = arith.constant dense<3> : vector<16xi4>
    // CHECK-NOT: vector.from_elements
    // CHECK: %[[V:.*]] = scf.if %[[HAS]] -> (vector<2xi32>) {
    %v = scf.if %has -> vector<16xi4> {
      // CHECK: %[[INNER:.*]] = scf.if %[[IN]] -> (vector<2xi32>) {
      %inner = scf.if %in -> vector<16xi4> {
        // CHECK: %[[BYTES:.*]] = vector.load {{.*}} vector<8xi8>
        // CHECK: %[[WORDS:.*]] = vector.bitcast %[[BYTES]] : vector<8xi8> to vector<2xi32>
        // CHECK: scf.yield %[[WORDS]] : vector<2xi32>
        %l = vector.load %w[%i] {kernel.alignment = 8 : i64} : memref<?xi4, #g>, vector<16xi4>
        scf.yield %l : vector<16xi4>
      } else {
        // CHECK: scf.yield %cst{{.*}} : vector<2xi32>
        scf.yield %threes : vector<16xi4>
      }
      // CHECK: scf.yield %[[INNER]] : vector<2xi32>
      scf.yield %inner : vector<16xi4>
    } else {
      // CHECK: scf.yield %cst{{.*}} : vector<2xi32>
      scf.yield %threes : vector<16xi4>
    }
    // CHECK: %[[HIGH:.*]] = vector.extract %[[V]][1] : i32
    // CHECK: %[[E:.*]] = arith.shrui %[[HIGH]], %{{.*}} : i32
    // CHECK: arith.andi %[[E]]
    %e = vector.extract %v[9] : i4 from vector<16xi4>
    %n = arith.extui %e : i4 to i32
    memref.store %n, %y[%i] : memref<?xi32, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// Four are no word, and one element in all places comes from none: elements are passed on.
// CHECK-LABEL: gpu.func @elements
gpu.module @elements {
  gpu.func @elements(%w: memref<?xi4, #g>, %y: memref<?xi32, #g>, %i: index, %in: i1) kernel {
    // CHECK: scf.if {{.*}} -> (vector<4xi32>, vector<8xi32>)
    %zero = arith.constant dense<0> : vector<4xi4>
    %x = memref.load %w[%i] : memref<?xi4, #g>
    %other = vector.broadcast %x : i4 to vector<8xi4>
    %v:2 = scf.if %in -> (vector<4xi4>, vector<8xi4>) {
      %four = vector.load %w[%i] {kernel.alignment = 2 : i64} : memref<?xi4, #g>, vector<4xi4>
      %eight = vector.load %w[%i] {kernel.alignment = 4 : i64} : memref<?xi4, #g>, vector<8xi4>
      scf.yield %four, %eight : vector<4xi4>, vector<8xi4>
    } else {
      scf.yield %zero, %other : vector<4xi4>, vector<8xi4>
    }
    %a = vector.extract %v#0[1] : i4 from vector<4xi4>
    %b = vector.extract %v#1[1] : i4 from vector<8xi4>
    %m = arith.extui %a : i4 to i32
    %n = arith.extsi %b : i4 to i32
    memref.store %m, %y[%i] : memref<?xi32, #g>
    memref.store %n, %y[%i] : memref<?xi32, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// Extensions of other integers stay.
// CHECK-LABEL: gpu.func @bytes
// CHECK: memref.load %{{.*}} : memref<?xi8
// CHECK-NEXT: arith.extsi %{{.*}} : i8 to i32
gpu.module @bytes {
  gpu.func @bytes(%w: memref<?xi8, #g>, %y: memref<?xi32, #g>, %i: index) kernel {
    %v = memref.load %w[%i] : memref<?xi8, #g>
    %n = arith.extsi %v : i8 to i32
    memref.store %n, %y[%i] : memref<?xi32, #g>
    gpu.return
  }
}
