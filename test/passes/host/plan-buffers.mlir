// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s | FileCheck %s
// Planning a plan changes nothing.
// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s -o %t.1
// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %t.1 | diff %t.1 -

// A chain: two buffers of the arena at most, the last result straight into the output. One
// tensor.empty is as many buffers as it has uses.
rt.variant @chain target "sm_80" {
  // CHECK-LABEL: func.func @Chain()
  // CHECK-SAME: rt.inputs = [{dims = [64], element = f32, name = "x"}]
  // CHECK-SAME: rt.memory = {arena_bytes = 512 : i64, live_max_bytes = 512 : i64, tensor_sum_bytes = 768 : i64}
  // CHECK-SAME: rt.outputs = [{dims = [64], element = f32, name = "y"}]
  func.func @Chain(%x: tensor<64xf32> {onnx.name = "x"}) -> (tensor<64xf32> {onnx.name = "y"}) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
    // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
    // CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
    // CHECK-DAG: %[[C512:.*]] = arith.constant 512 : index
    // CHECK: rt.output_shape 0 sizes(%[[C64]])
    // CHECK: rt.arena_size %[[C512]] live %[[C512]] sum %{{.*}}
    // CHECK: %[[X:.*]] = rt.input 0
    // CHECK: %[[A:.*]] = rt.arena_view %[[C0]] bytes %[[C256]]
    // CHECK: rt.launch @k::@k {{.*}} args(%[[X]], %[[A]] : !rt.buffer, !rt.buffer) writes [1]
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[B:.*]] = rt.arena_view %[[C256]] bytes %[[C256]]
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]], %[[B]]
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // The first range again, for another value.
    // CHECK: %[[C:.*]] = rt.arena_view %[[C0]] bytes %[[C256]]
    // CHECK: rt.launch @k::@k {{.*}} args(%[[B]], %[[C]]
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%b, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.launch @k::@k {{.*}} args(%[[C]], %[[Y]]
    %d = rt.launch @k::@k grid(%c1, %c1, %c1) args(%c, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %d : tensor<64xf32>
  }
}

// -----

// Sizes known only at run time are arithmetic; inputs with one name share theirs.
rt.variant @dynamic target "sm_80" {
  // CHECK-LABEL: func.func @Dynamic()
  // CHECK-SAME: dims = ["N", 4]
  func.func @Dynamic(%x: tensor<?x4xf32> {onnx.dims = ["N", 4]},
                     %z: tensor<?xf32> {onnx.dims = ["N"]}) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: %[[N:.*]] = rt.dim 0, 0
    // CHECK-NOT: rt.dim
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %m = tensor.dim %z, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?x4xf32>
    // CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %c16
    // CHECK: %arena, %live, %sum, %offset = rt.lay_out_arena [
    // CHECK-NEXT: %[[BYTES]] from 0 to 1
    // CHECK-NEXT: ]
    // CHECK: rt.output_shape 0 sizes(%[[N]], %c4)
    // CHECK: rt.arena_size %arena live %live sum %sum
    // CHECK: rt.arena_view %offset bytes %[[BYTES]]
    // CHECK: rt.launch @k::@k grid(%[[N]], %[[N]], %c1)
    %a = rt.launch @k::@k grid(%n, %m, %c1) args(%x, %e : tensor<?x4xf32>, tensor<?x4xf32>) writes [1] -> tensor<?x4xf32>
    %rows = tensor.dim %a, %c0 : tensor<?x4xf32>
    %f = tensor.empty(%rows) : tensor<?x4xf32>
    %b = rt.launch @k::@k grid(%n, %c1, %c1) args(%a, %f : tensor<?x4xf32>, tensor<?x4xf32>) writes [1] -> tensor<?x4xf32>
    return %b : tensor<?x4xf32>
  }
}

// -----

// Sizes that cannot be compared share memory all the same: where each is, is decided when they are
// known. Sizes that are known take part.
rt.variant @unlike target "sm_80" {
  // CHECK-LABEL: func.func @Unlike()
  // CHECK-NOT: rt.memory
  func.func @Unlike(%x: tensor<?xf32> {onnx.dims = ["N"]}, %z: tensor<?xf32> {onnx.dims = ["M"]})
      -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %m = tensor.dim %z, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %f = tensor.empty(%m) : tensor<?xf32>
    %g = tensor.empty() : tensor<8xf32>
    // CHECK-DAG: %[[N:.*]] = rt.dim 0, 0
    // CHECK-DAG: %[[M:.*]] = rt.dim 1, 0
    // CHECK-DAG: %[[A:.*]] = arith.muli %[[N]], %c4
    // CHECK-DAG: %[[B:.*]] = arith.muli %[[M]], %c4
    // CHECK: %arena, %live, %sum, %offset:3 = rt.lay_out_arena [
    // CHECK-NEXT: %[[A]] from 0 to 1,
    // CHECK-NEXT: %[[B]] from 1 to 2,
    // CHECK-NEXT: %c32 from 2 to 3
    // CHECK-NEXT: ]
    // CHECK: rt.arena_view %offset#0 bytes %[[A]]
    %a = rt.launch @k::@k grid(%n, %c1, %c1) args(%x, %e : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    // CHECK: rt.arena_view %offset#1 bytes %[[B]]
    %b = rt.launch @k::@k grid(%m, %c1, %c1) args(%a, %f : tensor<?xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    // CHECK: rt.arena_view %offset#2 bytes %c32
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%b, %g : tensor<?xf32>, tensor<8xf32>) writes [1] -> tensor<8xf32>
    %d = rt.launch @k::@k grid(%n, %c1, %c1) args(%c, %e : tensor<8xf32>, tensor<?xf32>) writes [1] -> tensor<?xf32>
    return %d : tensor<?xf32>
  }
}

// -----

// Outputs that are inputs, weights, each other, or reshapes are copied; the first name of a result
// gets it directly.
rt.constant @w = dense<1.0> : tensor<4xf32>
rt.variant @copies target "sm_80" {
  // CHECK-LABEL: func.func @Copies()
  func.func @Copies(%x: tensor<2x2xf32>)
      -> (tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<2x2xf32>
    %w = rt.get_constant @w : tensor<4xf32>
    // CHECK: %[[X:.*]] = rt.input 0
    // CHECK: %[[Y:.*]] = rt.output 2
    // CHECK: rt.launch @k::@k {{.*}} args(%[[X]], %[[Y]]
    %y = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<2x2xf32>, tensor<2x2xf32>) writes [1] -> tensor<2x2xf32>
    %flat = rt.reshape %y : tensor<2x2xf32> -> tensor<4xf32>
    // CHECK: rt.copy %[[X]] to %{{.*}} bytes %c16
    // CHECK: %[[W:.*]] = rt.get_constant @w : !rt.buffer
    // CHECK: rt.copy %[[W]] to
    // CHECK: rt.copy %[[Y]] to
    return %x, %w, %y, %flat : tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>
  }
}

// -----

// A launch updates its operand in place only where nothing reads the old value later.
rt.variant @in_place target "sm_80" {
  // CHECK-LABEL: func.func @InPlace()
  func.func @InPlace(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<4xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.launch @k::@k {{.*}} args(%{{.*}}, %[[Y]]
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    // CHECK: rt.launch @update::@update {{.*}} args(%[[Y]]
    %b = rt.launch @update::@update grid(%c1, %c1, %c1) args(%a : tensor<4xf32>) writes [0] -> tensor<4xf32>
    // An input may not be written.
    // CHECK: %[[Z:.*]] = rt.output 1
    // CHECK: rt.copy %{{.*}} to %[[Z]] bytes
    // CHECK: rt.launch @update::@update {{.*}} args(%[[Z]]
    %c = rt.launch @update::@update grid(%c1, %c1, %c1) args(%x : tensor<4xf32>) writes [0] -> tensor<4xf32>
    return %b, %c : tensor<4xf32>, tensor<4xf32>
  }
  // Another shape of the old value is it, too, wherever that gets its name.
  // CHECK-LABEL: func.func @ReadLaterInAnotherShape()
  func.func @ReadLaterInAnotherShape(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<4xf32>
    // CHECK: rt.launch @k::@k {{.*}} args(%{{.*}}, %[[A:.*]] :
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    // CHECK: rt.copy %[[A]] to %[[B:.*]] bytes
    // CHECK: rt.launch @update::@update {{.*}} args(%[[B]]
    %b = rt.launch @update::@update grid(%c1, %c1, %c1) args(%a : tensor<4xf32>) writes [0] -> tensor<4xf32>
    %r = rt.reshape %a : tensor<4xf32> -> tensor<2x2xf32>
    // CHECK: rt.launch @k::@k {{.*}} args(%[[A]],
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%r, %e : tensor<2x2xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    return %b, %c : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK-LABEL: func.func @ReadLater()
  func.func @ReadLater(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<4xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.launch @k::@k
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    // CHECK: %[[Z:.*]] = rt.output 1
    // CHECK: rt.copy %[[Y]] to %[[Z]]
    // CHECK: rt.launch @update::@update {{.*}} args(%[[Z]]
    %b = rt.launch @update::@update grid(%c1, %c1, %c1) args(%a : tensor<4xf32>) writes [0] -> tensor<4xf32>
    return %a, %b : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Values of the host: read from an input, and written to the device.
rt.variant @host target "sm_80" {
  // CHECK-LABEL: func.func @Host()
  // CHECK-SAME: rt.inputs = [{dims = [2], element = ui8, host, name = "shape"}]
  func.func @Host(%x: tensor<2xi8> {onnx.name = "shape", onnx.type = ui8}) -> tensor<2xi64> {
    %c0 = arith.constant 0 : index
    // CHECK: %[[V:.*]] = rt.read_input 0[%{{.*}}] -> i64
    %v = rt.read %x[%c0] : tensor<2xi8> -> i64
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.write %[[Y]] as i64, %[[V]], %{{.*}} : i64, index
    %s = rt.from_scalars %v, %c0 : i64, index -> tensor<2xi64>
    return %s : tensor<2xi64>
  }
}

// -----

// What a cast promises is checked before anything runs.
rt.variant @promise target "sm_80" {
  // CHECK-LABEL: func.func @Promise()
  func.func @Promise(%x: tensor<?xf32>) -> (tensor<4xf32> {onnx.name = "y"}) {
    // CHECK: %[[N:.*]] = rt.dim 0, 0
    // CHECK: %[[OK:.*]] = arith.cmpi eq, %[[N]], %c4
    // CHECK: rt.check %[[OK]], "output 'y': dimension 0 is {0}, the model declares {1}"(%[[N]], %c4
    // CHECK: rt.output_shape 0 sizes(%c4)
    %y = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
