// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s | FileCheck %s
// Planning a plan changes nothing.
// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s -o %t.1
// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %t.1 | diff %t.1 -

// Each part of the plan has an arena of its own: its sizes are known when what they depend on has been fetched.
// Shapes of outputs are set as soon as they are known.
rt.variant @parts target "sm_80" {
  // CHECK-LABEL: func.func @Parts()
  // CHECK-NOT: rt.memory
  func.func @Parts(%x: tensor<64xf32>) -> (tensor<?xf32>, tensor<64xf32>) {
    %c1 = arith.constant 1 : index
    %i = tensor.empty() : tensor<1xi64>
    %f = tensor.empty() : tensor<64xf32>
    // CHECK-DAG: rt.output_shape 1 sizes(%c64)
    // CHECK-DAG: rt.arena_size %c512
    // CHECK: %[[A:.*]] = rt.arena_view %c0 bytes %c256
    // CHECK: rt.launch @k::@k {{.*}}%[[A]] : !rt.buffer, !rt.buffer) writes [1]
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %f : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[N:.*]] = rt.arena_view %c256 bytes %c8
    // CHECK: rt.launch @n::@n {{.*}}%[[N]] : !rt.buffer, !rt.buffer) writes [1]
    %n = rt.launch @n::@n grid(%c1, %c1, %c1) args(%a, %i : tensor<64xf32>, tensor<1xi64>) writes [1] -> tensor<1xi64>
    // CHECK: %[[NUMBER:.*]] = rt.fetch %[[N]] as i64 : !rt.buffer -> i64
    %number = rt.fetch %n as i64 : tensor<1xi64> -> i64
    // CHECK: %[[SIZE:.*]] = arith.index_cast %[[NUMBER]]
    %size = arith.index_cast %number : i64 to index
    // CHECK: %[[BYTES:.*]] = arith.muli %[[SIZE]], %c4
    // CHECK: %[[ARENA:.*]], %{{.*}}, %{{.*}}, %[[OFFSET:.*]] = rt.lay_out_arena [
    // CHECK-NEXT: %[[BYTES]] from 3 to 4
    // CHECK-NEXT: ]
    // CHECK: rt.output_shape 0 sizes(%[[SIZE]])
    // CHECK: rt.arena_size %[[ARENA]]
    %e = tensor.empty(%size) : tensor<?xf32>
    // CHECK: %[[B:.*]] = rt.arena_view %[[OFFSET]] bytes %[[BYTES]]
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[B]]
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.launch @k::@k {{.*}} args(%[[B]], %[[Y]]
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%b, %e : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    // CHECK: %[[Z:.*]] = rt.output 1
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[Z]]
    %d = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %f : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %c, %d : tensor<?xf32>, tensor<64xf32>
  }
}

// -----

// What an earlier part has made lives on, and is written over where nobody reads it; an arena that nothing is in has
// no size. All that is known is the sum of the arenas.
rt.variant @crossing target "sm_80" {
  // CHECK-LABEL: func.func @Crossing()
  // CHECK-SAME: rt.memory = {arena_bytes = 256 : i64, live_max_bytes = 256 : i64, tensor_sum_bytes = 256 : i64}
  func.func @Crossing(%x: tensor<64xf32>) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %f = tensor.empty() : tensor<64xf32>
    // CHECK: %[[X:.*]] = rt.input 0
    // CHECK: %[[A:.*]] = rt.arena_view %c0 bytes %c256
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %f : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[NUMBERS:.*]]:64 = rt.fetch %[[X]] as f32 : !rt.buffer ->
    // CHECK-NOT: rt.arena_size
    %numbers:64 = rt.fetch %x as f32 : tensor<64xf32> -> f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64
    // CHECK: rt.launch @m::@m {{.*}} args(%[[A]], %[[A]], %[[NUMBERS]]#3 : !rt.buffer, !rt.buffer, f64)
    %b = rt.launch @m::@m grid(%c1, %c1, %c1) args(%a, %f, %numbers#3 : tensor<64xf32>, tensor<64xf32>, f64) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%b, %f : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %c : tensor<64xf32>
  }
}

// -----

// The most that outputs can be: of what a fetch decides the smaller one, no more than what is left; nothing where
// nothing bounds it, or a number that is no bound. What no fetch decides is computed in front of it.
rt.variant @bounds target "sm_80" {
  // CHECK-LABEL: func.func @Bounds()
  func.func @Bounds(%x: tensor<?xf32> {onnx.dims = ["N"]}, %n: tensor<1xi64>) -> (tensor<?xf32>, tensor<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %huge = arith.constant 4611686018427387904 : index
    // CHECK: %[[N:.*]] = rt.dim 0, 0
    // CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %c2
    // CHECK: %[[LEAST:.*]] = arith.maxsi %[[LEFT]], %c0
    // CHECK: rt.output_bound 0 sizes(%[[LEAST]])
    // CHECK: %[[MORE:.*]] = arith.addi %[[N]], %c1
    // CHECK: %[[LEAST1:.*]] = arith.maxsi %[[MORE]], %c0
    // CHECK: rt.output_bound 1 sizes(%[[LEAST1]], %c-1)
    // CHECK: rt.fetch
    %number = rt.fetch %n as i64 : tensor<1xi64> -> i64
    %size = arith.index_cast %number : i64 to index
    %dim = tensor.dim %x, %c0 : tensor<?xf32>
    %end = arith.minsi %size, %dim : index
    %rest = arith.subi %end, %c2 : index
    %more = arith.addi %end, %c1 : index
    %open = arith.maxsi %size, %huge : index
    %e = tensor.empty(%rest) : tensor<?xf32>
    %f = tensor.empty(%more, %open) : tensor<?x?xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %f : tensor<?xf32>, tensor<?x?xf32>) writes [1] -> tensor<?x?xf32>
    return %a, %b : tensor<?xf32>, tensor<?x?xf32>
  }
}
