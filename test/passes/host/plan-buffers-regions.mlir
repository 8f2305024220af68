// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s | FileCheck %s
// Planning a plan changes nothing.
// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s -o %t.1
// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %t.1 | diff %t.1 -

// A branch has arenas of its own, and gives buffers; what it passes on is another name for what is there. What it reads
// from outside is not written over.
rt.variant @branch target "sm_80" {
  // CHECK-LABEL: func.func @Branch()
  func.func @Branch(%x: tensor<64xf32>, %flag: tensor<1xi64>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %bit = rt.read %flag[%c0] : tensor<1xi64> -> i64
    %size = arith.index_cast %bit : i64 to index
    %c = arith.cmpi ne, %size, %c0 : index
    %f = tensor.empty() : tensor<64xf32>
    // CHECK: rt.arena_size %c256
    // CHECK: %[[A:.*]] = rt.arena_view %c0 bytes %c256
    // CHECK: rt.launch @k::@k {{.*}}%[[A]] : !rt.buffer, !rt.buffer) writes [1]
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %f : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[R:.*]]:2 = rt.branch %{{.*}} then {
    %y:2 = rt.branch %c then {
      // CHECK-NEXT: %[[ALL:.*]] = rt.buffer_part %[[A]] at %c0 bytes %c256
      // CHECK-NEXT: rt.yield %[[ALL]], %c64 : !rt.buffer, index
      rt.yield %a, %c64 : tensor<64xf32>, index
    // CHECK-NEXT: } else {
    } else {
      // CHECK-NEXT: rt.arena_size %c256
      // CHECK-NEXT: %[[B:.*]] = rt.arena_view %c0 bytes %c256
      // CHECK-NEXT: rt.launch @k::@k {{.*}} args(%[[A]], %[[B]] : !rt.buffer, !rt.buffer) writes [1] {rt.shapes
      %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %f : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
      // CHECK-NEXT: %[[PART:.*]] = rt.buffer_part %[[B]] at %c0 bytes %c256
      // CHECK-NEXT: rt.yield %[[PART]], %c32 : !rt.buffer, index
      rt.yield %b, %c32 : tensor<64xf32>, index
    // CHECK-NEXT: } -> !rt.buffer, index
    } -> tensor<?xf32>, index
    // CHECK: rt.output_shape 0 sizes(%[[R]]#1)
    // CHECK: %[[OUT:.*]] = rt.output 0
    // CHECK: rt.copy %[[R]]#0 to %[[OUT]] bytes
    return %y#0 : tensor<?xf32>
  }
  gpu.module @k {
    llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
  }
}

// -----

// A launch that is made several times is a part that carries nothing: each finds what the one before has left in its
// destination.
rt.variant @times target "sm_80" {
  // CHECK-LABEL: func.func @Times()
  func.func @Times(%x: tensor<64xf32>) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %e = tensor.empty() : tensor<64xf32>
    // CHECK: %[[X:.*]] = rt.input 0
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: %[[SPACE:.*]] = rt.arena_view
    // CHECK-NEXT: rt.repeat count %c9 carries() unconditional {
    // CHECK-NEXT: ^bb0(%[[I:.*]]: index):
    // CHECK: rt.launch @k::@k {{.*}} args(%[[X]], %[[Y]], %[[SPACE]], %[[I]] : !rt.buffer, !rt.buffer, !rt.buffer, index) writes [1, 2]
    // CHECK-NEXT: rt.yield %true : i1
    %y, %space = rt.launch @k::@k grid(%c1, %c1, %c1) times(%c9) args(%x, %e, %e : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
        writes [1, 2] -> tensor<64xf32>, tensor<64xf32>
    return %y : tensor<64xf32>
  }
  gpu.module @k {
    llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>, %arg2: !llvm.ptr<1>, %arg3: i32)
  }
}

// -----

// What a loop carries has two places in front of it, which change with each trip; a result that is carried on is made
// in the second one. Parts are copied to their place among all of them, which is the output's memory where each trip
// is made.
rt.variant @repeat target "sm_80" {
  // CHECK-LABEL: func.func @Repeat()
  func.func @Repeat(%x: tensor<64xf32>, %count: tensor<1xi64>) -> (tensor<64xf32>, tensor<?x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: %[[N:.*]] = arith.index_cast
    %bits = rt.read %count[%c0] : tensor<1xi64> -> i64
    %n = arith.index_cast %bits : i64 to index
    // CHECK: rt.output_shape 1 sizes(%[[N]], %c64)
    // CHECK: rt.arena_size %c512
    // CHECK: %[[FIRST:.*]] = rt.arena_view %c0 bytes %c256
    // CHECK: rt.copy %{{.*}} to %[[FIRST]] bytes %c256
    // CHECK: %[[SECOND:.*]] = rt.arena_view %c256 bytes %c256
    // CHECK: %[[PARTS:.*]] = rt.output 1
    // CHECK: %trips, %[[R:.*]]:2 = rt.repeat count %[[N]] carries(%[[FIRST]], %[[SECOND]] : !rt.buffer, !rt.buffer) collects(%[[PARTS]]) places [2] unconditional {
    // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[FROM:.*]]: !rt.buffer, %[[TO:.*]]: !rt.buffer):
    // CHECK: %[[AT:.*]] = arith.muli %[[I]], %c256
    %trips, %y, %all = rt.repeat count %n carries(%x : tensor<64xf32>) unconditional {
    ^bb0(%i: index, %v: tensor<64xf32>):
      %f = tensor.empty() : tensor<64xf32>
      // CHECK: rt.launch @k::@k {{.*}} args(%[[FROM]], %[[TO]] : !rt.buffer, !rt.buffer) writes [1] {rt.shapes
      %w = rt.launch @k::@k grid(%c1, %c1, %c1) args(%v, %f : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
      // CHECK: %[[PART:.*]] = rt.buffer_part %[[PARTS]] at %[[AT]] bytes %c256
      // CHECK: rt.copy %[[TO]] to %[[PART]] bytes %c256
      // CHECK: rt.yield %true, %[[TO]], %[[FROM]] : i1, !rt.buffer, !rt.buffer
      rt.yield %true, %w, %w : i1, tensor<64xf32>, tensor<64xf32>
    // CHECK-NEXT: } -> !rt.buffer, !rt.buffer
    } -> tensor<64xf32>, tensor<?x64xf32>
    // CHECK: rt.copy %[[R]]#0 to
    return %y, %all : tensor<64xf32>, tensor<?x64xf32>
  }
  gpu.module @k {
    llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
  }
}

// -----

// The parts are an output of another shape, whose size is computed behind the loop of what was there in front of it.
rt.variant @joined target "sm_80" {
  // CHECK-LABEL: func.func @Joined()
  // CHECK: %[[N:.*]] = arith.index_cast
  // CHECK: %[[ALL:.*]] = arith.muli %[[N]], %c64
  // CHECK: rt.output_shape 0 sizes(%[[ALL]])
  // CHECK: %[[PARTS:.*]] = rt.output 0
  // CHECK: rt.repeat count %[[N]] {{.*}} collects(%[[PARTS]])
  func.func @Joined(%x: tensor<64xf32>, %count: tensor<1xi64>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %bits = rt.read %count[%c0] : tensor<1xi64> -> i64
    %n = arith.index_cast %bits : i64 to index
    %trips, %y, %all = rt.repeat count %n carries(%x : tensor<64xf32>) unconditional {
    ^bb0(%i: index, %v: tensor<64xf32>):
      %f = tensor.empty() : tensor<64xf32>
      %w = rt.launch @k::@k grid(%c1, %c1, %c1) args(%v, %f : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
      rt.yield %true, %w, %w : i1, tensor<64xf32>, tensor<64xf32>
    } -> tensor<64xf32>, tensor<?x64xf32>
    %c64 = arith.constant 64 : index
    %size = arith.muli %n, %c64 : index
    %long = rt.reshape %all sizes(%size) : tensor<?x64xf32> -> tensor<?xf32>
    return %long : tensor<?xf32>
  }
  gpu.module @k {
    llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
  }
}

// -----

// A value whose size each trip changes has memory of its size at the end of the trip; the size goes round with it.
rt.variant @grow target "sm_80" {
  // CHECK-LABEL: func.func @Grow()
  func.func @Grow(%x: tensor<64xf32>, %count: tensor<1xi64>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %true = arith.constant true
    %bits = rt.read %count[%c0] : tensor<1xi64> -> i64
    %n = arith.index_cast %bits : i64 to index
    %first = rt.reshape %x sizes(%c64) : tensor<64xf32> -> tensor<?xf32>
    // CHECK: %[[X:.*]] = rt.input 0
    // CHECK: %[[FIRST:.*]] = rt.buffer_part %[[X]] at %c0 bytes %c256
    // CHECK: %trips, %[[R:.*]]:2 = rt.repeat count %{{.*}} carries(%[[FIRST]], %c64 : !rt.buffer, index) places [1] unconditional {
    // CHECK-NEXT: ^bb0(%{{.*}}: index, %[[FROM:.*]]: !rt.buffer, %[[SIZE:.*]]: index):
    %trips, %y, %d = rt.repeat count %n carries(%first, %c64 : tensor<?xf32>, index) opens [0, 0] unconditional {
    ^bb0(%i: index, %v: tensor<?xf32>, %s: index):
      // CHECK: %[[NEXT:.*]] = arith.addi %[[SIZE]], %c64
      %next = arith.addi %s, %c64 : index
      %f = tensor.empty(%next) : tensor<?xf32>
      // CHECK: %[[MADE:.*]] = rt.arena_view
      // CHECK: rt.launch @k::@k {{.*}} args(%[[FROM]], %[[MADE]] : !rt.buffer, !rt.buffer) writes [1]
      %w = rt.launch @k::@k grid(%c1, %c1, %c1) args(%v, %f : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
      // CHECK: rt.arena_size
      // CHECK: %[[KEPT:.*]] = rt.arena_view
      // CHECK: rt.copy %[[MADE]] to %[[KEPT]]
      // CHECK: %[[ALL:.*]] = rt.buffer_part %[[KEPT]] at %c0
      // CHECK: rt.yield %true, %[[ALL]], %[[NEXT]] : i1, !rt.buffer, index
      rt.yield %true, %w, %next : i1, tensor<?xf32>, index
    } -> tensor<?xf32>, index
    // CHECK: rt.output_shape 0 sizes(%[[R]]#1)
    // CHECK: rt.copy %[[R]]#0 to
    return %y : tensor<?xf32>
  }
  gpu.module @k {
    llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
  }
}
