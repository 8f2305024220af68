// RUN: %cameo-opt --split-input-file --cameo-place-concatenations %s | FileCheck %s
// Once is enough.
// RUN: %cameo-opt --split-input-file --cameo-place-concatenations %s -o %t.1
// RUN: %cameo-opt --split-input-file --cameo-place-concatenations %t.1 | diff %t.1 -

#id = affine_map<(d0, d1) -> (d0, d1)>

// The old value stays where it is, and who read the input reads it there. What is new is written behind it.
// CHECK-LABEL: func.func @Extended
// CHECK: %[[P:.*]] = tensor.dim %arg0, %c1
// CHECK: %[[N:.*]] = arith.addi %[[P]]
// CHECK: %[[C:.*]] = rt.capacity 0 least %[[N]]
// CHECK: %[[S:.*]] = rt.storage state 0 sizes(%[[C]]) : tensor<2x?xf32>
// CHECK: %[[ALL:.*]] = rt.view %[[S]][0, 0] sizes(%[[N]])
// CHECK: %[[V:.*]] = rt.view %[[ALL]][0, 0]
// CHECK: %[[W:.*]] = rt.view %[[ALL]][0, %{{.*}}] : tensor<2x?xf32> -> tensor<2x5xf32>
// CHECK: %[[OLD:.*]] = rt.state %arg0 in %[[V]]
// CHECK: kernel.dispatch ins(%[[OLD]] : tensor<2x?xf32>)
// CHECK: %[[NEW:.*]] = kernel.dispatch ins(%arg1 : tensor<2x5xf32>) outs(%[[W]] : tensor<2x5xf32>)
// CHECK: %[[Y:.*]] = rt.assemble %[[ALL]] dim 1 of %[[OLD]], %[[NEW]]
// CHECK: return %{{.*}}, %[[Y]]
func.func @Extended(%past: tensor<2x?xf32> {onnx.state = 1 : i64}, %x: tensor<2x5xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>) {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %p = tensor.dim %past, %c1 : tensor<2x?xf32>
  %n = arith.addi %p, %c5 : index
  %f = tensor.empty(%p) : tensor<2x?xf32>
  %z = kernel.dispatch ins(%past : tensor<2x?xf32>) outs(%f : tensor<2x?xf32>) {
  ^bb0(%i: tensor<2x?xf32>, %o: tensor<2x?xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<2x?xf32>) outs(%o : tensor<2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.negf %in : f32
      linalg.yield %m : f32
    } -> tensor<2x?xf32>
    kernel.yield %r : tensor<2x?xf32>
  } -> tensor<2x?xf32>
  %e = tensor.empty() : tensor<2x5xf32>
  %a = kernel.dispatch ins(%x : tensor<2x5xf32>) outs(%e : tensor<2x5xf32>) {
  ^bb0(%i: tensor<2x5xf32>, %o: tensor<2x5xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<2x5xf32>) outs(%o : tensor<2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.negf %in : f32
      linalg.yield %m : f32
    } -> tensor<2x5xf32>
    kernel.yield %r : tensor<2x5xf32>
  } -> tensor<2x5xf32>
  %y = rt.concat %past, %a dim 1 sizes(%n) : tensor<2x?xf32>, tensor<2x5xf32> -> tensor<2x?xf32>
  return %z, %y : tensor<2x?xf32>, tensor<2x?xf32>
}

// -----

// A part that no kernel computes is copied behind the state, which is all that is copied.
// CHECK-LABEL: func.func @Copied
// CHECK: %[[S:.*]] = rt.storage state 0
// CHECK: %[[OLD:.*]] = rt.state %arg0 in
// CHECK: %[[NEW:.*]] = kernel.dispatch ins(%arg1 : tensor<2x5xf32>) outs(%{{.*}} : tensor<2x5xf32>)
// CHECK: rt.assemble %{{.*}} dim 1 of %[[OLD]], %[[NEW]]
func.func @Copied(%past: tensor<2x?xf32> {onnx.state = 0 : i64}, %x: tensor<2x5xf32>) -> tensor<2x?xf32> {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %p = tensor.dim %past, %c1 : tensor<2x?xf32>
  %n = arith.addi %p, %c5 : index
  %y = rt.concat %past, %x dim 1 sizes(%n) : tensor<2x?xf32>, tensor<2x5xf32> -> tensor<2x?xf32>
  return %y : tensor<2x?xf32>
}

// -----

// An output that is another one's state, and one that is two outputs.
// CHECK-LABEL: func.func @OtherOutput
// CHECK-NOT: rt.capacity
// CHECK-NOT: rt.state
func.func @OtherOutput(%past: tensor<2x?xf32> {onnx.state = 1 : i64}, %x: tensor<2x5xf32>) -> (tensor<2x?xf32>, tensor<2x5xf32>) {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %p = tensor.dim %past, %c1 : tensor<2x?xf32>
  %n = arith.addi %p, %c5 : index
  %y = rt.concat %past, %x dim 1 sizes(%n) : tensor<2x?xf32>, tensor<2x5xf32> -> tensor<2x?xf32>
  return %y, %x : tensor<2x?xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: func.func @TwoOutputs
// CHECK-NOT: rt.state
func.func @TwoOutputs(%past: tensor<2x?xf32> {onnx.state = 0 : i64}, %x: tensor<2x5xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>) {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %p = tensor.dim %past, %c1 : tensor<2x?xf32>
  %n = arith.addi %p, %c5 : index
  %y = rt.concat %past, %x dim 1 sizes(%n) : tensor<2x?xf32>, tensor<2x5xf32> -> tensor<2x?xf32>
  return %y, %y : tensor<2x?xf32>, tensor<2x?xf32>
}

// -----

// A state that is not the first part, as in a window that is shifted, and one of fixed length.
// CHECK-LABEL: func.func @Behind
// CHECK-NOT: rt.state
func.func @Behind(%past: tensor<2x?xf32> {onnx.state = 0 : i64}, %x: tensor<2x5xf32>) -> tensor<2x?xf32> {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %p = tensor.dim %past, %c1 : tensor<2x?xf32>
  %n = arith.addi %p, %c5 : index
  %y = rt.concat %x, %past dim 1 sizes(%n) : tensor<2x5xf32>, tensor<2x?xf32> -> tensor<2x?xf32>
  return %y : tensor<2x?xf32>
}

// CHECK-LABEL: func.func @Fixed
// CHECK-NOT: rt.state
func.func @Fixed(%past: tensor<2x3xf32> {onnx.state = 0 : i64}, %x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %p = tensor.dim %x, %c1 : tensor<2x?xf32>
  %n = arith.addi %p, %c3 : index
  %y = rt.concat %past, %x dim 1 sizes(%n) : tensor<2x3xf32>, tensor<2x?xf32> -> tensor<2x?xf32>
  return %y : tensor<2x?xf32>
}

// -----

// A length that a value decides which is there only after the state has been read.
// CHECK-LABEL: func.func @LateLength
// CHECK-NOT: rt.state
func.func @LateLength(%past: tensor<?xi64> {onnx.state = 0 : i64}) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %p = tensor.dim %past, %c0 : tensor<?xi64>
  %e = tensor.empty() : tensor<1xi64>
  %a = kernel.dispatch ins(%past : tensor<?xi64>) outs(%e : tensor<1xi64>) {
  ^bb0(%i: tensor<?xi64>, %o: tensor<1xi64>):
    kernel.yield %o : tensor<1xi64>
  } -> tensor<1xi64>
  %v = rt.fetch %a as i64 : tensor<1xi64> -> i64
  %k = arith.index_cast %v : i64 to index
  %f = tensor.empty(%k) : tensor<?xi64>
  %n = arith.addi %p, %k : index
  %y = rt.concat %past, %f dim 0 sizes(%n) : tensor<?xi64>, tensor<?xi64> -> tensor<?xi64>
  return %y : tensor<?xi64>
}
