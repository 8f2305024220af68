// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(rt.variant(cameo-replace-calls))' | FileCheck %s

// Branches yield what their functions return, and read what these capture in its place.
// CHECK-LABEL: func.func @main(%arg0: tensor<?xf32>
// CHECK: %[[Y:.*]]:2 = rt.branch %{{.*}} then {
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK-NEXT: rt.yield %arg0, %[[N]] : tensor<?xf32>, index
// CHECK-NEXT: } else {
// CHECK: %[[L:.*]] = rt.launch @k::@k grid{{.*}} args(%arg0, %{{.*}}) writes [1] -> tensor<?xf32>
// CHECK: rt.yield %[[L]], %{{.*}} : tensor<?xf32>, index
// CHECK-NEXT: } -> tensor<?xf32>, index
// CHECK-NEXT: return %[[Y]]#0
// CHECK-NOT: func private
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<?xf32>, %c: tensor<i1> {onnx.type = i1}) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %bit = rt.read %c[%zero] : tensor<i1> -> i64
    %none = arith.constant 0 : i64
    %flag = arith.cmpi ne, %bit, %none : i64
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %y:2 = rt.if %flag then @main.then else @main.else (%x, %x : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>, index
    return %y#0 : tensor<?xf32>
  }
  func.func private @main.then(%x: tensor<?xf32>, %w: tensor<?xf32>) -> (tensor<?xf32>, index) {
    %zero = arith.constant 0 : index
    %n = tensor.dim %w, %zero : tensor<?xf32>
    return %x, %n : tensor<?xf32>, index
  }
  func.func private @main.else(%x: tensor<?xf32>, %w: tensor<?xf32>) -> (tensor<?xf32>, index) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = rt.launch @k::@k grid(%one, %one, %one) args(%x, %e : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    return %y, %n : tensor<?xf32>, index
  }
  gpu.module @k {
    llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
  }
}

// -----

// A body reads the number of its trip and the caller's numbers on the host; what the device computes is fetched: a value
// from outside once, one that is carried in each trip.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = rt.from_scalars %{{.*}} : index -> tensor<1xi64>
// CHECK: %[[L:.*]] = rt.launch @k::@k
// CHECK: %[[F:.*]] = rt.fetch %[[L]] as ui8 : tensor<1xi8> -> i64
// CHECK: rt.repeat count %{{.*}} carries(%arg0 : tensor<1xi8>) unconditional {
// CHECK-NEXT: ^bb0(%[[I:.*]]: index{{.*}}, %[[C:.*]]: tensor<1xi8>
// CHECK: %[[G:.*]] = rt.fetch %[[C]] as i8 : tensor<1xi8> -> i64
// CHECK: %[[T:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: arith.addi %[[T]], %[[F]]
// CHECK: arith.addi %{{.*}}, %[[G]]
// CHECK: rt.yield
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<1xi8>, %k: index) -> tensor<1xi8> {
    %one = arith.constant 1 : index
    %s = rt.from_scalars %one : index -> tensor<1xi64>
    %e = tensor.empty() : tensor<1xi8>
    %d = rt.launch @k::@k grid(%one, %one, %one) args(%x, %e : tensor<1xi8>, tensor<1xi8>) writes [1] -> tensor<1xi8>
    %trips, %y = rt.loop @main.body count %one carries(%x : tensor<1xi8>) reads(%s, %d : tensor<1xi64>, tensor<1xi8>) unconditional -> tensor<1xi8>
    return %y : tensor<1xi8>
  }
  func.func private @main.body(%i: tensor<i64> {onnx.type = i64}, %v: tensor<1xi8> {onnx.type = i8}, %s: tensor<1xi64> {onnx.type = i64}, %d: tensor<1xi8> {onnx.type = ui8}) -> (i1, tensor<1xi8>, index) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %true = arith.constant true
    %a = rt.read %i[%zero] : tensor<i64> -> i64
    %b = rt.read %d[%zero] : tensor<1xi8> -> i64
    %c = rt.read %v[%zero] : tensor<1xi8> -> i64
    %f = rt.read %s[%zero] : tensor<1xi64> -> i64
    %g = arith.addi %a, %b : i64
    %h = arith.addi %g, %c : i64
    %j = arith.addi %h, %f : i64
    %y = rt.from_scalars %j : i64 -> tensor<1xi8>
    return %true, %y, %one : i1, tensor<1xi8>, index
  }
  gpu.module @k {
    llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
  }
}

// -----

// What calls nothing stays as it is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<1xi8>) -> tensor<1xi8> {
    return %x : tensor<1xi8>
  }
}

// -----

// What a body shows is a step of it, where it is computed, and has the attributes of the result.
// CHECK-LABEL: func.func @main
// CHECK: rt.repeat
// CHECK-NEXT: ^bb0(%{{.*}}: index{{.*}}, %[[H:.*]]: tensor<4xf32>
// CHECK: rt.tap 0 = %[[H]] {onnx.name = "h"} : tensor<4xf32>
// CHECK: %[[L:.*]] = rt.launch
// CHECK-NEXT: rt.tap 1 = %[[L]] {onnx.name = "add"} : tensor<4xf32>
// CHECK: rt.yield %{{.*}}, %[[L]] : i1, tensor<4xf32>
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<4xf32>, %k: index) -> tensor<4xf32> {
    %trips, %y = rt.loop @main.body count %k carries(%x : tensor<4xf32>) reads() unconditional -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func private @main.body(%i: tensor<i64> {onnx.type = i64}, %h: tensor<4xf32>) -> (i1, tensor<4xf32>, tensor<4xf32> {onnx.name = "h", rt.tap}, tensor<4xf32> {onnx.name = "add", rt.tap}, index) {
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %true = arith.constant true
    %e = tensor.empty() : tensor<4xf32>
    %y = rt.launch @k::@k grid(%one, %one, %one) args(%h, %e : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    return %true, %y, %h, %y, %four : i1, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, index
  }
  gpu.module @k {
    llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<1>)
  }
}
