// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-hoist-checks)))' %s | FileCheck %s

// Checks of inputs are made before anything is launched, in their order; one of a fetched number behind its fetch.
rt.variant @early target "sm_80" {
  // CHECK-LABEL: func.func @Early
  // CHECK: tensor.dim
  // CHECK: arith.cmpi eq
  // CHECK-NEXT: rt.check {{.*}} "first"
  // CHECK: arith.cmpi ult
  // CHECK-NEXT: rt.check {{.*}} "second"
  // CHECK: rt.launch
  // CHECK: rt.fetch
  // CHECK: rt.check {{.*}} "third"
  // CHECK: rt.launch
  func.func @Early(%x: tensor<?xf32>, %e: tensor<1xi64>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<?xf32>, tensor<1xi64>) writes [1] -> tensor<1xi64>
    %n = rt.fetch %a as i64 : tensor<1xi64> -> i64
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %c8 = arith.constant 8 : index
    %same = arith.cmpi eq, %d, %c8 : index
    rt.check %same, "first" (%d : index)
    %i = arith.index_cast %n : i64 to index
    %b = rt.launch @k::@k grid(%i, %c1, %c1) args(%x, %x : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    %fewer = arith.cmpi ult, %i, %d : index
    rt.check %fewer, "third" (%i : index)
    %some = arith.cmpi ult, %c0, %d : index
    rt.check %some, "second" (%d : index)
    %r = rt.launch @k::@k grid(%d, %c1, %c1) args(%b, %x : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}

// -----

// What a region is asked for stays in it, and goes to its beginning.
rt.variant @regions target "sm_80" {
  // CHECK-LABEL: func.func @InRegion
  // CHECK: rt.branch
  // CHECK-NEXT: rt.check {{.*}} "of the branch"
  // CHECK-NEXT: rt.launch
  func.func @InRegion(%x: tensor<4xf32>, %ok: i1, %c: i1) -> tensor<4xf32> {
    %c1 = arith.constant 1 : index
    %r = rt.branch %c then {
      %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %x : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
      rt.check %ok, "of the branch"
      rt.yield %a : tensor<4xf32>
    } else {
      rt.yield %x : tensor<4xf32>
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// -----

// Nothing is moved where checks come first.
rt.variant @first target "sm_80" {
  // CHECK-LABEL: func.func @First
  // CHECK-NEXT: arith.constant 1 : index
  // CHECK-NEXT: rt.check {{.*}} "here"
  // CHECK-NEXT: rt.launch
  func.func @First(%x: tensor<4xf32>, %ok: i1) -> tensor<4xf32> {
    %c1 = arith.constant 1 : index
    rt.check %ok, "here" (%c1 : index)
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %x : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    return %a : tensor<4xf32>
  }
}
