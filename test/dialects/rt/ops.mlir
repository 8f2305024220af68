// RUN: %cameo-opt %s | %cameo-opt | FileCheck %s

// CHECK: rt.constant @w = dense<1.000000e+00> : tensor<4xf32>
rt.constant @w = dense<1.0> : tensor<4xf32>
// CHECK: rt.constant @placed = dense<2> : tensor<3xi64> at 4096
rt.constant @placed = dense<2> : tensor<3xi64> at 4096

// CHECK: rt.variant @sm_80 target "sm_80"
rt.variant @sm_80 target "sm_80" {
  // CHECK-LABEL: func.func @Tensors
  func.func @Tensors(%x: tensor<?x4xf32>, %shape: tensor<2xi64>, %n: index) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: rt.get_constant @w : tensor<4xf32>
    %w = rt.get_constant @w : tensor<4xf32>
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
    return %y : tensor<?x4xf32>
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
    // CHECK: rt.write %{{.*}} as f32, %{{.*}} : f64
    rt.write %temp as f32, %ratio : f64
    // CHECK: rt.launch @kernels::@scale grid(%[[N]], {{[^)]*}})
    // CHECK-SAME: args(%{{.*}}, %{{.*}} : !rt.buffer, !rt.buffer) writes [1] flops %[[RATIO:.*]] bytes %[[RATIO]]{{$}}
    rt.launch @kernels::@scale grid(%n, %c1, %c1) args(%in, %temp : !rt.buffer, !rt.buffer)
        writes [1] flops %ratio bytes %ratio
    // CHECK: rt.copy %{{.*}} to %{{.*}} bytes %[[N]]
    rt.copy %temp to %out bytes %n
    return
  }
}
