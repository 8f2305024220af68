// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s | FileCheck %s
// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s -o %t.1
// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %t.1 | diff %t.1 -

// All values of a chain are tapped: the arena is as large as without taps, since none lives longer
// than it did. %b is computed over %a.
rt.variant @chain target "sm_80" {
  // CHECK-LABEL: func.func @Chain()
  // CHECK-SAME: rt.memory = {arena_bytes = 512 : i64, live_max_bytes = 512 : i64, tensor_sum_bytes = 512 : i64}
  // CHECK-SAME: rt.outputs = [{dims = [64], element = f32, name = "y"}]
  // CHECK-SAME: rt.taps = [{dims = [64], element = f32, name = "x"}, {dims = [64], element = f32, name = "a"}, {dims = [64], element = f32, name = "b"}, {dims = [64], element = f32, name = "c"}, {dims = [64], element = f32, name = "d"}]
  func.func @Chain(%x: tensor<64xf32> {onnx.name = "x"})
      -> (tensor<64xf32> {onnx.name = "x", rt.tap}, tensor<64xf32> {onnx.name = "a", rt.tap},
          tensor<64xf32> {onnx.name = "b", rt.tap}, tensor<64xf32> {onnx.name = "c", rt.tap},
          tensor<64xf32> {onnx.name = "y"}, tensor<64xf32> {onnx.name = "d", rt.tap}) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    // CHECK: rt.output_shape 0
    // CHECK-NOT: rt.output_shape
    // CHECK: %[[X:.*]] = rt.input 0
    // CHECK: rt.tap 0 = %[[X]] sizes(%[[C64:.*]]) : !rt.buffer
    // CHECK: %[[A:.*]] = rt.arena_view
    // CHECK: rt.launch @k::@k {{.*}} args(%[[X]], %[[A]] : !rt.buffer, !rt.buffer) writes [1]
    // CHECK-NEXT: rt.tap 1 = %[[A]] sizes(%[[C64]])
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[A]] {{.*}} {rt.in_place = array<i64: 1, 0>
    // CHECK-NEXT: rt.tap 2 = %[[A]] sizes(%[[C64]])
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    // CHECK: %[[C:.*]] = rt.arena_view
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[C]]
    // CHECK-NEXT: rt.tap 3 = %[[C]] sizes(%[[C64]])
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%b, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // The output, which is a tap as well, is not copied.
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.launch @k::@k {{.*}} args(%[[C]], %[[Y]]
    // CHECK-NEXT: rt.tap 4 = %[[Y]] sizes(%[[C64]])
    // CHECK-NEXT: return
    %d = rt.launch @k::@k grid(%c1, %c1, %c1) args(%c, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %x, %a, %b, %c, %d, %d : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
}

// -----

// Sizes of which some are known when the plan runs; a reshape; both results of a launch, in order.
rt.variant @open target "sm_80" {
  // CHECK-LABEL: func.func @Open()
  // CHECK-SAME: rt.taps = [{dims = ["N", 4], element = f32, name = "a"}, {dims = [""], element = f32, name = "tap1"}, {dims = [8], element = si8, name = "b"}]
  func.func @Open(%x: tensor<?x4xf32> {onnx.dims = ["N", 4]})
      -> (tensor<?x4xf32> {onnx.name = "a", onnx.dims = ["N", 4], rt.tap},
          tensor<?xf32> {rt.tap}, tensor<8xi8> {onnx.name = "b", onnx.type = si8, rt.tap}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // CHECK: %[[N:.*]] = rt.dim 0, 0
    // CHECK: %[[ALL:.*]] = arith.muli %[[N]], %c4
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %all = arith.muli %n, %c4 : index
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %f = tensor.empty() : tensor<8xi8>
    // CHECK: rt.lay_out_arena [
    // CHECK-NEXT: %{{.*}} from 0 to 3,
    // CHECK-NEXT: %{{.*}} from 0 to 2
    // CHECK: %[[A:.*]] = rt.arena_view %offset#0
    // CHECK: %[[B:.*]] = rt.arena_view %offset#1
    // CHECK: rt.launch @k::@k {{.*}} args(%{{.*}}, %[[A]], %[[B]]
    // CHECK-NEXT: rt.tap 0 = %[[A]] sizes(%[[N]], %c4)
    // CHECK-NEXT: rt.tap 2 = %[[B]] sizes(%c8)
    // CHECK-NEXT: rt.tap 1 = %[[A]] sizes(%[[ALL]])
    %a:2 = rt.launch @k::@k grid(%n, %c1, %c1) args(%x, %e, %f : tensor<?x4xf32>, tensor<?x4xf32>, tensor<8xi8>) writes [1, 2] -> tensor<?x4xf32>, tensor<8xi8>
    %flat = rt.reshape %a#0 sizes(%all) : tensor<?x4xf32> -> tensor<?xf32>
    return %a#0, %flat, %a#1 : tensor<?x4xf32>, tensor<?xf32>, tensor<8xi8>
  }
}

// -----

// Weights, what the host knows, and what nobody writes.
rt.constant @w = dense<1.0> : tensor<4xf32>
rt.variant @others target "sm_80" {
  // CHECK-LABEL: func.func @Others()
  func.func @Others() -> (tensor<4xf32> {rt.tap}, tensor<2xi64> {rt.tap}, tensor<0xf32> {rt.tap}) {
    %c3 = arith.constant 3 : index
    // CHECK-DAG: %[[W:.*]] = rt.get_constant @w : !rt.buffer
    // CHECK-DAG: rt.tap 0 = %[[W]] sizes(%c4)
    %w = rt.get_constant @w : tensor<4xf32>
    // CHECK-DAG: rt.write %[[S:.*]] as i64
    // CHECK-DAG: rt.tap 1 = %[[S]] sizes(%c2)
    %s = rt.from_scalars %c3, %c3 : index, index -> tensor<2xi64>
    // CHECK-DAG: rt.tap 2 = %{{.*}} sizes(%c0)
    %e = tensor.empty() : tensor<0xf32>
    return %w, %s, %e : tensor<4xf32>, tensor<2xi64>, tensor<0xf32>
  }
}

// -----

// Taps of regions come behind those of the function, and what counts elements behind all others.
rt.variant @trips target "sm_80" {
  // CHECK-LABEL: func.func @Trips()
  // CHECK-SAME: rt.taps = [{dims = [4], element = f32, name = "x"}, {dims = [4], element = f32, name = "h"}, {dims = [2], element = i32, name = "x (magnitudes)"}]
  func.func @Trips(%x: tensor<4xf32> {onnx.name = "x"})
      -> (tensor<4xf32>, tensor<4xf32> {onnx.name = "x", rt.tap}, tensor<2xi32> {onnx.name = "x (magnitudes)", rt.counts, rt.tap}) {
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    // CHECK: rt.tap 2
    %s = rt.from_scalars %c1, %c1 : index, index -> tensor<2xi32>
    // CHECK: rt.repeat
    %trips, %y = rt.repeat count %c1 carries(%x : tensor<4xf32>) unconditional {
    ^bb0(%i: index, %h: tensor<4xf32>):
      // CHECK: rt.tap 1
      rt.tap 0 = %h {onnx.name = "h"} : tensor<4xf32>
      %e = tensor.empty() : tensor<4xf32>
      %l = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
      rt.yield %true, %l : i1, tensor<4xf32>
    } -> tensor<4xf32>
    return %y, %x, %s : tensor<4xf32>, tensor<4xf32>, tensor<2xi32>
  }
}
