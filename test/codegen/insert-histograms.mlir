// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-insert-histograms))' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-insert-histograms,cameo-insert-histograms))' | FileCheck %s

#g = #gpu.address_space<global>

// Behind what computes a value, and before what may take its memory; in the order of the taps. A tap
// of integers and an output have none.
// CHECK-LABEL: rt.variant @sm_80
rt.variant @sm_80 target "sm_80" board "a100-40" {
  // CHECK: func.func @main(%[[X:[^:]*]]: tensor<?x4xf32>
  // CHECK-SAME: {onnx.name = "relu", rt.tap},
  // CHECK-SAME: tensor<16388xi32> {onnx.dims = [16388], onnx.name = "x (magnitudes)", rt.counts, rt.tap},
  // CHECK-SAME: tensor<16388xi32> {onnx.dims = [16388], onnx.name = "relu (magnitudes)", rt.counts, rt.tap})
  func.func @main(%x: tensor<?x4xf32> {onnx.name = "x"}, %i: tensor<?x4xi32> {onnx.name = "i"})
      -> (tensor<?x4xf32> {onnx.name = "y"}, tensor<?x4xf32> {onnx.name = "x", rt.tap},
          tensor<?x4xi32> {onnx.name = "i", rt.tap}, tensor<?x4xf32> {onnx.name = "relu", rt.tap}) {
    // CHECK: %[[N:[^ ]*]] = tensor.dim %[[X]]
    // CHECK: %[[SIZE:[^ ]*]] = arith.muli %[[N]], %{{.*}}
    // CHECK: arith.ceildivsi %[[SIZE]]
    // CHECK: %[[COUNT:[^ ]*]] = arith.index_cast %[[SIZE]] : index to i64
    // CHECK: %[[E:.*]] = tensor.empty() : tensor<16388xi32>
    // CHECK: %[[W0:.*]] = rt.launch @histogram_clear::@histogram_clear grid({{.*}}) args(%[[E]] : tensor<16388xi32>) writes [0]
    // CHECK: %[[W1:.*]] = rt.launch @histogram_extent::@histogram_extent grid({{.*}}) args(%[[X]], %[[W0]], %[[COUNT]] : {{.*}}) writes [1]
    // CHECK: %[[W2:.*]] = rt.launch @histogram_count::@histogram_count grid({{.*}}) shared(%{{.*}}) args(%[[X]], %[[W1]], %[[COUNT]] : {{.*}}) writes [1]
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%n) : tensor<?x4xf32>
    // CHECK: %[[RELU:.*]] = rt.launch @relu::@relu
    %relu = rt.launch @relu::@relu grid(%n, %c1, %c1) args(%x, %e : tensor<?x4xf32>, tensor<?x4xf32>) writes [1] -> tensor<?x4xf32>
    // CHECK: rt.launch @histogram_clear
    // CHECK: rt.launch @histogram_extent::@histogram_extent grid({{.*}}) args(%[[RELU]],
    // CHECK: %[[V2:.*]] = rt.launch @histogram_count::@histogram_count grid({{.*}}) shared(%{{.*}}) args(%[[RELU]],
    // CHECK: %[[Y:.*]] = rt.launch @relu::@relu
    %y = rt.launch @relu::@relu grid(%n, %c1, %c1) args(%relu, %e : tensor<?x4xf32>, tensor<?x4xf32>) writes [1] -> tensor<?x4xf32>
    // CHECK: return %[[Y]], %[[X]], %{{.*}}, %[[RELU]], %[[W2]], %[[V2]]
    return %y, %x, %i, %relu : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xi32>, tensor<?x4xf32>
  }
  gpu.module @relu {
    gpu.func @relu(%a: memref<?xf32, #g>, %b: memref<?xf32, #g>) kernel attributes {kernel.block = array<i32: 4, 1, 1>} {
      gpu.return
    }
  }
  // CHECK-COUNT-1: gpu.module @histogram_clear
  // CHECK-COUNT-1: gpu.module @histogram_extent
  // CHECK: kernel.dynamic_shared = 65536
  // CHECK-NOT: gpu.module @histogram
}

// CHECK-LABEL: rt.variant @sm_75
// CHECK-NOT: histogram
rt.variant @sm_75 target "sm_75" board "t4" {
  func.func @untapped(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
    return %x : tensor<4xf32>
  }
}
