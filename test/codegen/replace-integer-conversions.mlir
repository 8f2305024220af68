// RUN: cameo-opt --cameo-replace-integer-conversions --split-input-file %s | FileCheck %s
// Twice does nothing more:
// RUN: cameo-opt --cameo-replace-integer-conversions --split-input-file %s -o %t.1
// RUN: cameo-opt --cameo-replace-integer-conversions --split-input-file %t.1 -o %t.2
// RUN: cmp %t.1 %t.2

#g = #gpu.address_space<global>

// Signed numbers of four bits at the same place of both halves: 1024 and the number, whose sign is an
// offset of eight.
// CHECK-LABEL: gpu.func @nibbles
// CHECK-SAME: (%[[W:.*]]: i32, %{{.*}})
gpu.module @nibbles {
  gpu.func @nibbles(%w: i32, %y: memref<?xf32, #g>, %i: index, %j: index) kernel {
    // CHECK: %[[MASK:.*]] = arith.constant 983055 : i32
    // CHECK: %[[PART:.*]] = arith.andi %[[W]], %[[MASK]] : i32
    // CHECK: %[[MAGIC:.*]] = arith.constant 1678271496 : i32
    // CHECK: %[[BITS:.*]] = arith.xori %[[PART]], %[[MAGIC]] : i32
    // CHECK: %[[WORD:.*]] = vector.from_elements %[[BITS]] : vector<1xi32>
    // CHECK: %[[RAISED:.*]] = vector.bitcast %[[WORD]] : vector<1xi32> to vector<2xf16>
    // CHECK: %[[OFF:.*]] = arith.constant dense<1.032000e+03> : vector<2xf16>
    // CHECK: %[[PAIR:.*]] = arith.subf %[[RAISED]], %[[OFF]] : vector<2xf16>
    // CHECK: %[[LOW:.*]] = vector.extract %[[PAIR]][0] : f16
    // CHECK: %[[HIGH:.*]] = vector.extract %[[PAIR]][1] : f16
    // CHECK-NOT: arith.sitofp
    // CHECK: %[[A:.*]] = arith.extf %[[LOW]] : f16 to f32
    // CHECK: %[[B:.*]] = arith.extf %[[HIGH]] : f16 to f32
    // CHECK: memref.store %[[A]]
    // CHECK: memref.store %[[B]]
    %c16 = arith.constant 16 : i32
    %c28 = arith.constant 28 : i32
    %l = arith.shli %w, %c28 : i32
    %a = arith.shrsi %l, %c28 : i32
    %s = arith.shrui %w, %c16 : i32
    %h = arith.shli %s, %c28 : i32
    %b = arith.shrsi %h, %c28 : i32
    %x = arith.sitofp %a : i32 to f32
    %z = arith.sitofp %b : i32 to f32
    memref.store %x, %y[%i] : memref<?xf32, #g>
    memref.store %z, %y[%j] : memref<?xf32, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// Unsigned ones. What is 4 bits up stays there, and is 16 times as large; what is beyond the ten bits
// of an f16 is moved.
// CHECK-LABEL: gpu.func @places
// CHECK-SAME: (%[[W:.*]]: i32, %{{.*}})
gpu.module @places {
  gpu.func @places(%w: i32, %y: memref<?xf16, #g>, %i: index, %j: index) kernel {
    // CHECK: %[[EIGHT:.*]] = arith.constant 8 : i32
    // CHECK: %[[DOWN:.*]] = arith.shrui %[[W]], %[[EIGHT]] : i32
    // CHECK: arith.constant 15728880 : i32
    // CHECK: arith.andi %[[DOWN]]
    // CHECK: arith.constant 1677747200 : i32
    // CHECK: arith.xori
    // CHECK: %[[RAISED:.*]] = vector.bitcast
    // CHECK: %[[LESS:.*]] = arith.constant dense<6.250000e-02> : vector<2xf16>
    // CHECK: %[[OFF:.*]] = arith.constant dense<-6.400000e+01> : vector<2xf16>
    // CHECK: math.fma %[[RAISED]], %[[LESS]], %[[OFF]] : vector<2xf16>
    // CHECK-NOT: arith.uitofp
    %c12 = arith.constant 12 : i32
    %c15 = arith.constant 15 : i32
    %c28 = arith.constant 28 : i32
    %l = arith.shrui %w, %c12 : i32
    %a = arith.andi %l, %c15 : i32
    %h = arith.shrui %w, %c28 : i32
    %b = arith.andi %h, %c15 : i32
    %x = arith.uitofp %a : i32 to f16
    %z = arith.uitofp %b : i32 to f16
    memref.store %x, %y[%i] : memref<?xf16, #g>
    memref.store %z, %y[%j] : memref<?xf16, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// Bytes of a vector. Zero points are taken off in pairs, and products with scales of f16 rounded once.
// CHECK-LABEL: gpu.func @bytes
// CHECK-SAME: (%[[W:.*]]: memref<?xi8, {{.*}}>, %[[Z:.*]]: i8, %[[S:.*]]: f16, %[[T:.*]]: f16,
gpu.module @bytes {
  gpu.func @bytes(%w: memref<?xi8, #g>, %z: i8, %s: f16, %t: f16, %y: memref<?xf16, #g>, %i: index, %j: index) kernel {
    // CHECK: %[[V:.*]] = vector.load
    // CHECK: %[[WORDS:.*]] = vector.bitcast %[[V]] : vector<8xi8> to vector<2xi32>
    // CHECK: %[[WORD:.*]] = vector.extract %[[WORDS]][1] : i32
    // CHECK: arith.shrui %[[WORD]]
    // CHECK: arith.constant 16711935 : i32
    // CHECK: arith.constant 1686135936 : i32
    // CHECK: arith.constant dense<1.152000e+03> : vector<2xf16>
    // CHECK: %[[PAIR:.*]] = arith.subf
    // CHECK: %[[ZEROS:.*]] = vector.from_elements
    // CHECK: %[[LESS:.*]] = arith.subf %[[PAIR]], %[[ZEROS]] : vector<2xf16>
    // CHECK: %[[SCALES:.*]] = vector.from_elements %[[S]], %[[T]] : vector<2xf16>
    // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[LESS]], %[[SCALES]] : vector<2xf16>
    // CHECK: %[[LOW:.*]] = vector.extract %[[PRODUCT]][0]
    // CHECK: %[[HIGH:.*]] = vector.extract %[[PRODUCT]][1]
    // CHECK: memref.store %[[LOW]]
    // CHECK: memref.store %[[HIGH]]
    %v = vector.load %w[%i] {kernel.alignment = 8 : i64} : memref<?xi8, #g>, vector<8xi8>
    %zi = arith.extsi %z : i8 to i32
    %sw = arith.extf %s : f16 to f32
    %tw = arith.extf %t : f16 to f32
    %a = vector.extract %v[5] : i8 from vector<8xi8>
    %ai = arith.extsi %a : i8 to i32
    %ad = arith.subi %ai, %zi : i32
    %af = arith.sitofp %ad : i32 to f32
    %ap = arith.mulf %af, %sw : f32
    %ar = arith.truncf %ap : f32 to f16
    memref.store %ar, %y[%i] : memref<?xf16, #g>
    %b = vector.extract %v[7] : i8 from vector<8xi8>
    %bi = arith.extsi %b : i8 to i32
    %bd = arith.subi %bi, %zi : i32
    %bf = arith.sitofp %bd : i32 to f32
    %bp = arith.mulf %bf, %tw : f32
    %br = arith.truncf %bp : f32 to f16
    memref.store %br, %y[%j] : memref<?xf16, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// A choice by one condition is made for both, with constants that come later; one by two is not.
// CHECK-LABEL: gpu.func @choices
// CHECK-SAME: (%[[W:.*]]: i32, %[[S:.*]]: f16, %[[C:.*]]: i1, %[[D:.*]]: i1,
gpu.module @choices {
  gpu.func @choices(%w: i32, %s: f16, %c: i1, %d: i1, %y: memref<?xf16, #g>, %i: index, %j: index) kernel {
    // CHECK: %[[PRODUCT:.*]] = arith.mulf {{.*}} : vector<2xf16>
    // CHECK: %[[ZEROS:.*]] = vector.from_elements
    // CHECK: %[[BOTH:.*]] = arith.select %[[C]], %[[PRODUCT]], %[[ZEROS]] : vector<2xf16>
    // CHECK: %[[LOW:.*]] = vector.extract %[[BOTH]][0]
    // CHECK: %[[HIGH:.*]] = vector.extract %[[BOTH]][1]
    // CHECK: %[[A:.*]] = arith.select %[[C]], %[[LOW]], %{{.*}} : f16
    // CHECK: memref.store %[[A]]
    // CHECK: %[[B:.*]] = arith.select %[[D]], %[[HIGH]], %{{.*}} : f16
    // CHECK: memref.store %[[B]]
    %c15 = arith.constant 15 : i32
    %c16 = arith.constant 16 : i32
    %wide = arith.extf %s : f16 to f32
    %a = arith.andi %w, %c15 : i32
    %af = arith.sitofp %a : i32 to f32
    %ap = arith.mulf %af, %wide : f32
    %ar = arith.truncf %ap : f32 to f16
    %zero = arith.constant 0.0 : f16
    %as = arith.select %c, %ar, %zero : f16
    %at = arith.select %c, %as, %zero : f16
    memref.store %at, %y[%i] : memref<?xf16, #g>
    %h = arith.shrui %w, %c16 : i32
    %b = arith.andi %h, %c15 : i32
    %bf = arith.sitofp %b : i32 to f32
    %bp = arith.mulf %bf, %wide : f32
    %br = arith.truncf %bp : f32 to f16
    %later = arith.constant 0.0 : f16
    %bs = arith.select %c, %br, %later : f16
    %bt = arith.select %d, %bs, %later : f16
    memref.store %bt, %y[%j] : memref<?xf16, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// BF16 has them by way of FP32. A product with a scale of FP32 is not one of f16, and stays.
// CHECK-LABEL: gpu.func @others
gpu.module @others {
  gpu.func @others(%w: i32, %s: f32, %y: memref<?xf16, #g>, %u: memref<?xbf16, #g>, %i: index, %j: index) kernel {
    // CHECK: %[[LOW:.*]] = vector.extract {{.*}}[0] : f16
    // CHECK: %[[HIGH:.*]] = vector.extract {{.*}}[1] : f16
    // CHECK: %[[A:.*]] = arith.extf %[[LOW]] : f16 to f32
    // CHECK: %[[B:.*]] = arith.extf %[[HIGH]] : f16 to f32
    // CHECK: arith.truncf %[[B]] : f32 to bf16
    // CHECK: arith.mulf %[[A]], %{{.*}} : f32
    %c15 = arith.constant 15 : i32
    %c16 = arith.constant 16 : i32
    %a = arith.andi %w, %c15 : i32
    %h = arith.shrui %w, %c16 : i32
    %b = arith.andi %h, %c15 : i32
    %af = arith.sitofp %a : i32 to f32
    %bf = arith.sitofp %b : i32 to bf16
    %ap = arith.mulf %af, %s : f32
    %ar = arith.truncf %ap : f32 to f16
    memref.store %ar, %y[%i] : memref<?xf16, #g>
    memref.store %bf, %u[%j] : memref<?xbf16, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// Alone in its word; numbers of other sizes; results of other types.
// CHECK-LABEL: gpu.func @alone
// CHECK-NOT: vector<2xf16>
gpu.module @alone {
  gpu.func @alone(%w: i32, %v: i16, %y: memref<?xf32, #g>, %u: memref<?xf64, #g>, %i: index, %j: index) kernel {
    // CHECK: arith.uitofp {{.*}} : i32 to f32
    // CHECK: arith.sitofp {{.*}} : i32 to f32
    // CHECK: arith.uitofp {{.*}} : i32 to f64
    %c15 = arith.constant 15 : i32
    %c16 = arith.constant 16 : i32
    %a = arith.andi %w, %c15 : i32
    %af = arith.uitofp %a : i32 to f32
    %b = arith.extsi %v : i16 to i32
    %bf = arith.sitofp %b : i32 to f32
    %h = arith.shrui %w, %c16 : i32
    %c = arith.andi %h, %c15 : i32
    %cf = arith.uitofp %c : i32 to f64
    memref.store %af, %y[%i] : memref<?xf32, #g>
    memref.store %bf, %y[%j] : memref<?xf32, #g>
    memref.store %cf, %u[%j] : memref<?xf64, #g>
    gpu.return
  }
}
