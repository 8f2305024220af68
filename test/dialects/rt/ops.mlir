// RUN: %cameo-opt %s | %cameo-opt | FileCheck %s

// CHECK: rt.constant @w = dense<1.000000e+00> : tensor<4xf32>
rt.constant @w = dense<1.0> : tensor<4xf32>
// CHECK: rt.constant @placed = dense<2> : tensor<3xi64> at 4096
rt.constant @placed = dense<2> : tensor<3xi64> at 4096

// CHECK: module attributes {test.target = #rt.target<"sm_90a", board = "h200">}
module attributes {test.target = #rt.target<"sm_90a", board = "h200">} {
}
// The first board of an architecture.
// CHECK: module attributes {test.target = #rt.target<"sm_75", board = "t4">}
module attributes {test.target = #rt.target<"sm_75">} {
}
// CHECK: rt.variant @sm_90a target "sm_90a" board "gh200"
rt.variant @sm_90a target "sm_90a" board "gh200" {
}

// CHECK: rt.variant @sm_80 target "sm_80" board "a100-40"
rt.variant @sm_80 target "sm_80" {
  // CHECK-LABEL: func.func @Tensors
  func.func @Tensors(%x: tensor<?x4xf32>, %shape: tensor<2xi64>, %n: index) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: rt.get_constant @w : tensor<4xf32>
    %w = rt.get_constant @w : tensor<4xf32>
    // CHECK: rt.random_state : tensor<8xi32>
    %random = rt.random_state : tensor<8xi32>
    // CHECK: rt.read %{{.*}}[%{{.*}}] : tensor<2xi64> -> i64
    %rows = rt.read %shape[%c0] : tensor<2xi64> -> i64
    %wanted = arith.index_cast %n : index to i64
    %ok = arith.cmpi eq, %rows, %wanted : i64
    // CHECK: rt.check %{{.*}}, "dimension 0 is {0}, expected {1}"(%{{.*}}, %{{.*}} : i64, index)
    rt.check %ok, "dimension 0 is {0}, expected {1}" (%rows, %n : i64, index)
    // CHECK: rt.from_scalars %{{.*}}, %{{.*}} : i64, index -> tensor<2xi32>
    %t = rt.from_scalars %rows, %n : i64, index -> tensor<2xi32>
    // CHECK: rt.reshape %{{.*}} sizes(%{{.*}}) : tensor<?x4xf32> -> tensor<?xf32>
    %flat = rt.reshape %x sizes(%n) : tensor<?x4xf32> -> tensor<?xf32>
    // CHECK: rt.launch @kernels::@relu grid({{[^)]*}}) shared({{[^)]*}})
    // CHECK-SAME: args(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, index) writes [1]
    // CHECK-SAME: -> tensor<?x4xf32>
    %y = rt.launch @kernels::@relu grid(%n, %c1, %c1) shared(%n)
        args(%x, %x, %n : tensor<?x4xf32>, tensor<?x4xf32>, index) writes [1] -> tensor<?x4xf32>
    // CHECK: rt.launch @kernels::@relu grid({{[^)]*}}) times(%{{.*}}) args(
    %v = rt.launch @kernels::@relu grid(%n, %c1, %c1) times(%n) args(%x, %x : tensor<?x4xf32>, tensor<?x4xf32>)
        writes [1] -> tensor<?x4xf32>
    // CHECK: rt.launch {{.*}} {kernel.bytes = 96 : i64} estimate <nanoseconds = 2600, limit = shared_memory, assumed = true> -> tensor<?x4xf32>
    %z = rt.launch @kernels::@relu grid(%n, %c1, %c1) args(%x, %x, %n : tensor<?x4xf32>, tensor<?x4xf32>, index)
        writes [1] {kernel.bytes = 96 : i64} estimate <nanoseconds = 2600, limit = shared_memory, assumed = true> -> tensor<?x4xf32>
    // CHECK: rt.launch {{.*}} writes [1] estimate <nanoseconds = 2600, limit = launch>
    %u = rt.launch @kernels::@relu grid(%n, %c1, %c1) args(%x, %x, %n : tensor<?x4xf32>, tensor<?x4xf32>, index)
        writes [1] estimate <nanoseconds = 2600, limit = launch> -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }

  // CHECK-LABEL: func.func @Views
  func.func @Views(%x: tensor<?x3xf32>, %n: index, %c1: index) -> tensor<?x8xf32> {
    // CHECK: rt.concat %{{.*}}, %{{.*}} dim 1 sizes(%{{.*}}) : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x6xf32>
    %twice = rt.concat %x, %x dim 1 sizes(%n) : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x6xf32>
    // CHECK: %[[S:.*]] = rt.storage sizes(%{{.*}}) : tensor<?x8xf32>
    %s = rt.storage sizes(%n) : tensor<?x8xf32>
    // CHECK: %[[V:.*]] = rt.view %[[S]][0, 0] sizes(%{{.*}}) : tensor<?x8xf32> -> tensor<?x3xf32>
    %v = rt.view %s[0, 0] sizes(%n) : tensor<?x8xf32> -> tensor<?x3xf32>
    // CHECK: %[[W:.*]] = rt.view %[[S]][0, 3]
    %w = rt.view %s[0, 3] sizes(%n) : tensor<?x8xf32> -> tensor<?x5xf32>
    // A view of a view; reshapes that leave its outer dimension as it is.
    // CHECK: rt.view %[[W]][0, %{{.*}}] sizes(%{{.*}}, %{{.*}})
    %open = rt.view %w[0, %c1] sizes(%n, %c1) : tensor<?x5xf32> -> tensor<?x?xf32>
    // CHECK: %[[F:.*]] = rt.reshape %[[V]]
    %folded = rt.reshape %v sizes(%n) : tensor<?x3xf32> -> tensor<?x1x3xf32>
    %a = rt.launch @kernels::@relu grid(%n, %c1, %c1) args(%folded : tensor<?x1x3xf32>) writes [0] -> tensor<?x1x3xf32>
    // CHECK: %[[A:.*]] = rt.reshape
    %flat = rt.reshape %a sizes(%n) : tensor<?x1x3xf32> -> tensor<?x3xf32>
    %b = rt.launch @kernels::@relu grid(%n, %c1, %c1) args(%w : tensor<?x5xf32>) writes [0] -> tensor<?x5xf32>
    // CHECK: rt.assemble %[[S]] dim 1 of %[[A]], %{{.*}} : tensor<?x8xf32> of tensor<?x3xf32>, tensor<?x5xf32>
    %y = rt.assemble %s dim 1 of %flat, %b : tensor<?x8xf32> of tensor<?x3xf32>, tensor<?x5xf32>
    // CHECK: rt.tap 3 = %{{.*}} : tensor<?x8xf32>
    rt.tap 3 = %y : tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }

  // CHECK-LABEL: func.func @Buffers
  func.func @Buffers() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: %[[N:.*]] = rt.dim 0, 1
    %n = rt.dim 0, 1
    // CHECK: rt.read_input 1[%{{.*}}] -> f64
    %ratio = rt.read_input 1[%c0] -> f64
    // CHECK: %arena, %live, %sum, %offset:2 = rt.lay_out_arena [
    // CHECK-NEXT: %[[N]] from 0 to 2,
    // CHECK-NEXT: %c0 from 2 to 3
    // CHECK-NEXT: ]
    %arena, %live, %sum, %offset:2 = rt.lay_out_arena [%n from 0 to 2, %c0 from 2 to 3]
    // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = rt.lay_out_arena []
    %none:3 = rt.lay_out_arena []
    // CHECK: rt.arena_size %arena live %live sum %sum
    rt.arena_size %arena live %live sum %sum
    // CHECK: rt.arena_size %[[N]]{{$}}
    rt.arena_size %n
    // CHECK: rt.output_shape 0 sizes(%[[N]])
    rt.output_shape 0 sizes(%n)
    // CHECK: rt.input 0
    %in = rt.input 0
    // CHECK: rt.output 0
    %out = rt.output 0
    // CHECK: rt.arena_view %{{.*}} bytes %[[N]]
    %temp = rt.arena_view %c0 bytes %n
    // CHECK: rt.buffer_part %{{.*}} at %{{.*}} bytes %[[N]]
    %part = rt.buffer_part %in at %c0 bytes %n
    // CHECK: rt.write %{{.*}} as f32, %{{.*}} : f64
    rt.write %temp as f32, %ratio : f64
    // CHECK: rt.launch @kernels::@scale grid(%[[N]], {{[^)]*}})
    // CHECK-SAME: args(%{{.*}}, %{{.*}} : !rt.buffer, !rt.buffer) writes [1] flops %[[RATIO:.*]] bytes %[[RATIO]]{{$}}
    rt.launch @kernels::@scale grid(%n, %c1, %c1) args(%in, %temp : !rt.buffer, !rt.buffer)
        writes [1] flops %ratio bytes %ratio
    // CHECK: rt.tap 0 = %{{.*}} sizes(%[[N]], %{{.*}}) : !rt.buffer
    rt.tap 0 = %temp sizes(%n, %c1) : !rt.buffer
    // CHECK: rt.copy %{{.*}} to %{{.*}} bytes %[[N]]
    rt.copy %temp to %out bytes %n
    return
  }
}

// CHECK-LABEL: func.func @state
func.func @state(%past: tensor<2x?xf32>, %p: index, %n: index) -> tensor<2x?xf32> {
  // CHECK: %[[C:.*]] = rt.capacity 0 least %{{.*}}
  %c = rt.capacity 0 least %n
  // CHECK: %[[S:.*]] = rt.storage state 0 sizes(%[[C]]) : tensor<2x?xf32>
  %s = rt.storage state 0 sizes(%c) : tensor<2x?xf32>
  %v = rt.view %s[0, 0] sizes(%p) : tensor<2x?xf32> -> tensor<2x?xf32>
  // CHECK: rt.state %{{.*}} in %{{.*}} : tensor<2x?xf32> in tensor<2x?xf32>
  %old = rt.state %past in %v : tensor<2x?xf32> in tensor<2x?xf32>
  return %old : tensor<2x?xf32>
}
