// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s | FileCheck %s

// A state that grows: its memory is the context's, with room for more; the output is there already.
rt.variant @growing target "sm_80" {
  // CHECK-LABEL: func.func @Growing()
  // CHECK-SAME: rt.inputs = [{dims = [2, "p"], element = f32, grows = 1 : i64, in_place, name = "past", state = 0 : i64}
  // CHECK: %[[N:.*]] = arith.addi
  // CHECK: %[[C:.*]] = rt.capacity 0 least %[[N]]
  // CHECK: rt.output_shape 0
  // CHECK-NOT: rt.input 0
  // CHECK-NOT: rt.output 0
  // CHECK-NOT: rt.copy
  // CHECK: %[[S:.*]] = rt.state_buffer 0 bytes
  // CHECK: %[[W:.*]] = rt.buffer_part %[[S]]
  // CHECK: rt.launch @k::@k {{.*}} args(%{{.*}}, %[[W]], %[[C]] : !rt.buffer, !rt.buffer, index) writes [1]
  func.func @Growing(%past: tensor<2x?xf32> {onnx.state = 0 : i64, onnx.name = "past", onnx.dims = [2, "p"]}, %x: tensor<2x5xf32>) -> tensor<2x?xf32> {
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %p = tensor.dim %past, %c1 : tensor<2x?xf32>
    %n = arith.addi %p, %c5 : index
    %c = rt.capacity 0 least %n
    %s = rt.storage state 0 sizes(%c) : tensor<2x?xf32>
    %all = rt.view %s[0, 0] sizes(%n) : tensor<2x?xf32> -> tensor<2x?xf32>
    %v = rt.view %all[0, 0] sizes(%p) : tensor<2x?xf32> -> tensor<2x?xf32>
    %w = rt.view %all[0, %p] : tensor<2x?xf32> -> tensor<2x5xf32>
    %old = rt.state %past in %v : tensor<2x?xf32> in tensor<2x?xf32>
    %new = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %w, %c : tensor<2x5xf32>, tensor<2x5xf32>, index) writes [1] -> tensor<2x5xf32>
    %y = rt.assemble %all dim 1 of %old, %new : tensor<2x?xf32> of tensor<2x?xf32>, tensor<2x5xf32>
    return %y : tensor<2x?xf32>
  }
}

// -----

// A state that keeps its size is written where it was read: by the launch that reads it last, if that may be, or
// by a later one.
rt.variant @fixed target "sm_80" {
  // CHECK-LABEL: func.func @Fixed()
  // CHECK-SAME: rt.inputs = [{dims = [64], element = f32, in_place, name = "input0", state = 0 : i64}
  // CHECK: %[[S:.*]] = rt.state_buffer 0 bytes
  // CHECK: rt.launch @k::@k {{.*}} args(%[[S]], %[[S]] : !rt.buffer, !rt.buffer) writes [1] {rt.in_place = array<i64: 1, 0>
  func.func @Fixed(%h: tensor<64xf32> {onnx.state = 0 : i64}) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    return %a : tensor<64xf32>
  }
  // CHECK-LABEL: func.func @Later()
  // CHECK-SAME: in_place
  // CHECK: %[[A:.*]] = rt.arena_view
  // CHECK: rt.launch @k::@k {{.*}} args(%[[S:.*]], %[[A]] : !rt.buffer, !rt.buffer)
  // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[S]] : !rt.buffer, !rt.buffer)
  func.func @Later(%h: tensor<64xf32> {onnx.state = 0 : i64}) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %b : tensor<64xf32>
  }
}

// -----

// A kernel writes a part of the state, which needs no copy; where the old value is read afterwards, the new one begins
// with a copy of it.
rt.variant @parts target "sm_80" {
  // CHECK-LABEL: func.func @Part()
  // CHECK-SAME: in_place
  // CHECK-NOT: rt.copy
  // CHECK: %[[S:.*]] = rt.state_buffer 0 bytes
  // CHECK: rt.launch @k::@k {{.*}} args(%{{.*}}, %[[S]] : !rt.buffer, !rt.buffer) writes [1]
  func.func @Part(%h: tensor<64xf32> {onnx.state = 0 : i64}, %x: tensor<4xf32>) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %h : tensor<4xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %a : tensor<64xf32>
  }
  // The copy that is left out is no step: what is in use behind it is laid out for the steps that there are.
  // CHECK-LABEL: func.func @PartThenMore()
  // CHECK-SAME: in_place
  // CHECK: rt.lay_out_arena [
  // CHECK-NEXT: {{.*}} from 1 to 2
  // CHECK-NOT: rt.copy
  // CHECK: return
  func.func @PartThenMore(%h: tensor<64xf32> {onnx.state = 0 : i64}, %x: tensor<?xf32>) -> (tensor<64xf32>, tensor<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %h : tensor<?xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    %f = tensor.empty(%n) : tensor<?xf32>
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%b, %f : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    return %a, %c : tensor<64xf32>, tensor<?xf32>
  }
  // CHECK-LABEL: func.func @PartReadAgain()
  // CHECK-NOT: in_place
  // CHECK: %[[A:.*]] = rt.output 0
  // CHECK: %[[H:.*]] = rt.input 0
  // CHECK: rt.copy %[[H]] to %[[A]]
  // CHECK: rt.launch @k::@k {{.*}} args(%{{.*}}, %[[A]] : !rt.buffer, !rt.buffer) writes [1]
  func.func @PartReadAgain(%h: tensor<64xf32> {onnx.state = 0 : i64}, %x: tensor<4xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %h : tensor<4xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %a, %b : tensor<64xf32>, tensor<64xf32>
  }
}

// -----

// Read again after it would be written, written by a launch that reads it and may not write over it, of another
// size, and returned as another output as well.
rt.variant @guards target "sm_80" {
  // CHECK-LABEL: func.func @ReadAgain()
  // CHECK-SAME: rt.inputs = [{dims = [64], element = f32, name = "input0", state = 0 : i64}
  // CHECK-NOT: rt.state_buffer
  func.func @ReadAgain(%h: tensor<64xf32> {onnx.state = 0 : i64}) -> (tensor<64xf32>, tensor<64xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %a, %b : tensor<64xf32>, tensor<64xf32>
  }
  // CHECK-LABEL: func.func @NotAllowed()
  // CHECK-NOT: rt.state_buffer
  func.func @NotAllowed(%h: tensor<64xf32> {onnx.state = 0 : i64}) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %a : tensor<64xf32>
  }
  // CHECK-LABEL: func.func @OtherSize()
  // CHECK-SAME: grows = 0 : i64, name
  // CHECK-NOT: rt.state_buffer
  func.func @OtherSize(%h: tensor<?xf32> {onnx.state = 0 : i64}) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = tensor.dim %h, %c0 : tensor<?xf32>
    %n = arith.addi %p, %c1 : index
    %e = tensor.empty(%n) : tensor<?xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<?xf32>, tensor<?xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<?xf32>
    return %a : tensor<?xf32>
  }
  // CHECK-LABEL: func.func @Returned()
  // CHECK-NOT: rt.state_buffer
  func.func @Returned(%h: tensor<64xf32> {onnx.state = 0 : i64}) -> (tensor<64xf32>, tensor<64xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%h, %e : tensor<64xf32>, tensor<64xf32>) writes [1] {rt.in_place = array<i64: 1, 0>} -> tensor<64xf32>
    return %a, %h : tensor<64xf32>, tensor<64xf32>
  }
}
