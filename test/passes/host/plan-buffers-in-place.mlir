// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s | FileCheck %s

// What a launch may write over an operand that nobody reads later has that operand's memory: one
// buffer for the chain. The output has its own.
rt.variant @chain target "sm_80" {
  // CHECK-LABEL: func.func @Chain()
  // CHECK-SAME: rt.ledger = [{{{.*}}kind = "missed", text = "not written over what it reads", {{.*}}, {{{.*}}kind = "applied", text = "written over what it reads", what = "in-place", why = "nothing reads that afterwards"
  // CHECK-SAME: rt.memory = {arena_bytes = 256 : i64, live_max_bytes = 256 : i64, tensor_sum_bytes = 256 : i64}
  func.func @Chain(%x: tensor<64xf32>) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    // An input stays as it is.
    // CHECK: %[[X:.*]] = rt.input 0
    // CHECK: %[[A:.*]] = rt.arena_view
    // CHECK: rt.launch @k::@k {{.*}} args(%[[X]], %[[A]] : !rt.buffer, !rt.buffer) writes [1]
    // CHECK-NOT: in_place
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[A]] : !rt.buffer, !rt.buffer) writes [1] {rt.in_place = array<i64: 1, 0>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    // In another shape.
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[A]] : !rt.buffer, !rt.buffer) writes [1] {rt.in_place = array<i64: 1, 0>
    %r = rt.reshape %b : tensor<64xf32> -> tensor<4x16xf32>
    %f = tensor.empty() : tensor<4x16xf32>
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%r, %f : tensor<4x16xf32>, tensor<4x16xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<4x16xf32>
    %s = rt.reshape %c : tensor<4x16xf32> -> tensor<64xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[Y]] : !rt.buffer, !rt.buffer) writes [1]
    // CHECK-NOT: in_place
    %d = rt.launch @k::@k grid(%c1, %c1, %c1) args(%s, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    return %d : tensor<64xf32>
  }
}

// -----

// Of two operands the one that dies; of two results one.
rt.variant @choice target "sm_80" {
  // CHECK-LABEL: func.func @Choice()
  func.func @Choice(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    // CHECK: %[[A:.*]] = rt.arena_view
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[B:.*]] = rt.arena_view
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[D:.*]] = rt.arena_view
    // CHECK: rt.launch @two::@two {{.*}} args(%[[A]], %[[B]], %[[B]], %[[D]] : {{.*}}) writes [2, 3] {rt.in_place = array<i64: 2, 1>
    %c:2 = rt.launch @two::@two grid(%c1, %c1, %c1) args(%a, %b, %e, %e : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) writes [2, 3] {rt.in_place = array<i64: 2, 0, 2, 1, 3, 0, 3, 1>} -> tensor<64xf32>, tensor<64xf32>
    %d = rt.launch @three::@three grid(%c1, %c1, %c1) args(%a, %c#0, %c#1, %e : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) writes [3] -> tensor<64xf32>
    %f = rt.launch @three::@three grid(%c1, %c1, %c1) args(%a, %c#0, %c#1, %e : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) writes [3] -> tensor<64xf32>
    return %d, %f : tensor<64xf32>, tensor<64xf32>
  }
}

// -----

// Not where the operand is a weight, read again (by the launch itself, too), of another size, or a
// part of something else.
rt.constant @w = dense<1.0> : tensor<64xf32>
rt.variant @guards target "sm_80" {
  // CHECK-LABEL: func.func @Guards()
  // CHECK-NOT: in_place
  func.func @Guards(%x: tensor<64xf32>) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %e32 = tensor.empty() : tensor<32xf32>
    %w = rt.get_constant @w : tensor<64xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%w, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    %c = rt.launch @add::@add grid(%c1, %c1, %c1) args(%b, %b, %e : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) writes [2] {rt.in_place = array<i64: 2, 0>} -> tensor<64xf32>
    %d = rt.launch @add::@add grid(%c1, %c1, %c1) args(%c, %a, %e32 : tensor<64xf32>, tensor<64xf32>, tensor<32xf32>) writes [2] {rt.in_place = array<i64: 2, 0>} -> tensor<32xf32>
    %s = rt.storage : tensor<64xf32>
    %v0 = rt.view %s[0] : tensor<64xf32> -> tensor<32xf32>
    %v1 = rt.view %s[32] : tensor<64xf32> -> tensor<32xf32>
    %p = rt.launch @k::@k grid(%c1, %c1, %c1) args(%d, %v0 : tensor<32xf32>, tensor<32xf32>) writes [1] -> tensor<32xf32>
    %q = rt.launch @k::@k grid(%c1, %c1, %c1) args(%d, %v1 : tensor<32xf32>, tensor<32xf32>) writes [1] -> tensor<32xf32>
    %g = rt.launch @k::@k grid(%c1, %c1, %c1) args(%p, %e32 : tensor<32xf32>, tensor<32xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<32xf32>
    %all = rt.assemble %s dim 0 of %p, %q : tensor<64xf32> of tensor<32xf32>, tensor<32xf32>
    %y = rt.launch @add::@add grid(%c1, %c1, %c1) args(%all, %g, %e : tensor<64xf32>, tensor<32xf32>, tensor<64xf32>) writes [2] -> tensor<64xf32>
    return %y : tensor<64xf32>
  }
}

// -----

// Of two launches for different sizes one runs: both write over the operand. Not where only one may,
// or where the result of both is an output.
rt.variant @either target "sm_80" {
  // CHECK-LABEL: func.func @Either()
  func.func @Either(%x: tensor<64xf32>) -> tensor<64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: rt.launch @n::@n {{.*}} args(%[[A:.*]], %[[A]] : {{.*}}) writes [1] {rt.in_place = array<i64: 1, 0>
    %b = rt.launch @n::@n grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    // CHECK: rt.launch @w::@w {{.*}} args(%[[A]], %[[A]] : {{.*}}) writes [1] {kernel.fallback, rt.in_place = array<i64: 1, 0>
    %c = rt.launch @w::@w grid(%c0, %c1, %c1) args(%a, %b : tensor<64xf32>, tensor<64xf32>) writes [1] {kernel.fallback, rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    // CHECK: rt.launch @n::@n {{.*}} args(%[[A]], %[[D:.*]] : {{.*}}) writes [1] {rt.shapes
    %d = rt.launch @n::@n grid(%c1, %c1, %c1) args(%c, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    // CHECK: rt.launch @w::@w {{.*}} args(%[[A]], %[[D]] : {{.*}}) writes [1] {kernel.fallback, rt.shapes
    %f = rt.launch @w::@w grid(%c0, %c1, %c1) args(%c, %d : tensor<64xf32>, tensor<64xf32>) writes [1] {kernel.fallback} -> tensor<64xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.launch @n::@n {{.*}} args(%[[D]], %[[Y]] : {{.*}}) writes [1] {rt.shapes
    %g = rt.launch @n::@n grid(%c1, %c1, %c1) args(%f, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    %h = rt.launch @w::@w grid(%c0, %c1, %c1) args(%f, %g : tensor<64xf32>, tensor<64xf32>) writes [1] {kernel.fallback, rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    return %h : tensor<64xf32>
  }
}
