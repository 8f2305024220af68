// RUN: %cameo-opt --split-input-file --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers,cse)))' %s | FileCheck %s

// Parts of a storage are written into the output; one is read before the other is written, and
// nothing is copied.
rt.variant @parts target "sm_80" {
  // CHECK-LABEL: func.func @Parts()
  // CHECK-SAME: arena_bytes = 256 : i64
  func.func @Parts(%x: tensor<64xf32>) -> tensor<192xf32> {
    %c1 = arith.constant 1 : index
    // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
    // CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
    // CHECK-DAG: %[[C512:.*]] = arith.constant 512 : index
    %s = rt.storage : tensor<192xf32>
    %v = rt.view %s[0] : tensor<192xf32> -> tensor<64xf32>
    %w = rt.view %s[64] : tensor<192xf32> -> tensor<128xf32>
    // CHECK: %[[X:.*]] = rt.input 0
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: %[[V:.*]] = rt.buffer_part %[[Y]] at %[[C0]] bytes %[[C256]]
    // CHECK: rt.launch @k::@k {{.*}} args(%[[X]], %[[V]]
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %v : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    // CHECK: %[[T:.*]] = rt.arena_view
    // CHECK: rt.launch @k::@k {{.*}} args(%[[V]], %[[T]]
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[W:.*]] = rt.buffer_part %[[Y]] at %[[C256]] bytes %[[C512]]
    // CHECK: rt.launch @l::@l {{.*}} args(%[[T]], %[[W]]
    %c = rt.launch @l::@l grid(%c1, %c1, %c1) args(%b, %w : tensor<64xf32>, tensor<128xf32>) writes [1] -> tensor<128xf32>
    // CHECK-NOT: rt.copy
    %y = rt.assemble %s dim 0 of %a, %c : tensor<192xf32> of tensor<64xf32>, tensor<128xf32>
    return %y : tensor<192xf32>
  }
}

// -----

// A storage has one lifetime, from the first write of a part to the last read of one.
rt.variant @lifetime target "sm_80" {
  // CHECK-LABEL: func.func @Lifetime()
  // CHECK-SAME: rt.memory = {arena_bytes = 768 : i64
  func.func @Lifetime(%x: tensor<64xf32>) -> tensor<64xf32> {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64xf32>
    %s = rt.storage : tensor<128xf32>
    %v = rt.view %s[0] : tensor<128xf32> -> tensor<64xf32>
    %w = rt.view %s[64] : tensor<128xf32> -> tensor<64xf32>
    // CHECK: %[[S:.*]] = rt.arena_view %c0 bytes %c512
    // CHECK: %[[V:.*]] = rt.buffer_part %[[S]] at %c0 bytes %c256
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %v : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[T:.*]] = rt.arena_view %c512 bytes %c256
    %t = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: %[[W:.*]] = rt.buffer_part %[[S]] at %c256 bytes %c256
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%t, %w : tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    %y = rt.assemble %s dim 0 of %a, %b : tensor<128xf32> of tensor<64xf32>, tensor<64xf32>
    // CHECK: %[[Z:.*]] = rt.arena_view %c512 bytes %c256
    // CHECK: rt.launch @l::@l {{.*}} args(%[[S]], %[[Z]]
    %z = rt.launch @l::@l grid(%c1, %c1, %c1) args(%y, %e : tensor<128xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    // CHECK: rt.launch @k::@k {{.*}} args(%[[V]], %{{.*}}, %[[Z]]
    %u = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e, %z : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) writes [1] -> tensor<64xf32>
    return %u : tensor<64xf32>
  }
}

// -----

// Updates of a part and of the whole: in place where nothing of it is read later.
rt.variant @updates target "sm_80" {
  // CHECK-LABEL: func.func @Updates()
  func.func @Updates(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %c1 = arith.constant 1 : index
    %s = rt.storage : tensor<8xf32>
    %v = rt.view %s[0] : tensor<8xf32> -> tensor<4xf32>
    %w = rt.view %s[4] : tensor<8xf32> -> tensor<4xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: %[[V:.*]] = rt.buffer_part %[[Y]] at %c0
    // CHECK: rt.launch @k::@k {{.*}} args(%{{.*}}, %[[V]]
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %v : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    // CHECK: %[[W:.*]] = rt.buffer_part %[[Y]] at %c16
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %w : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    // CHECK: rt.launch @update::@update {{.*}} args(%[[V]]
    %c = rt.launch @update::@update grid(%c1, %c1, %c1) args(%a : tensor<4xf32>) writes [0] -> tensor<4xf32>
    %y = rt.assemble %s dim 0 of %c, %b : tensor<8xf32> of tensor<4xf32>, tensor<4xf32>
    // CHECK: %[[Z:.*]] = rt.output 1
    // CHECK: rt.copy %[[Y]] to %[[Z]]
    // CHECK: rt.launch @update::@update {{.*}} args(%[[Z]]
    %z = rt.launch @update::@update grid(%c1, %c1, %c1) args(%y : tensor<8xf32>) writes [0] -> tensor<8xf32>
    return %y, %z : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Parts of parts, in several pieces, of sizes known only at run time: offsets add up, and a piece
// ends where the whole does.
rt.variant @nested target "sm_80" {
  // CHECK-LABEL: func.func @Nested()
  func.func @Nested(%x: tensor<?x4xf32>) -> tensor<?x12xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: %[[N:.*]] = rt.dim 0, 0
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %s = rt.storage sizes(%n) : tensor<?x12xf32>
    %i = rt.view %s[0, 4] sizes(%n) : tensor<?x12xf32> -> tensor<?x8xf32>
    %v = rt.view %i[0, 0] sizes(%n) : tensor<?x8xf32> -> tensor<?x4xf32>
    %w = rt.view %i[0, 4] sizes(%n) : tensor<?x8xf32> -> tensor<?x4xf32>
    %u = rt.view %s[0, 0] sizes(%n) : tensor<?x12xf32> -> tensor<?x4xf32>
    // CHECK: %[[ALL:.*]] = arith.muli %[[N]], %c48
    // CHECK: %[[FROM:.*]] = arith.minsi %[[ALL]], %c32
    // CHECK: %[[REST:.*]] = arith.subi %[[ALL]], %[[FROM]]
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: rt.buffer_part %[[Y]] at
    %a = rt.launch @k::@k grid(%n, %c1, %c1) args(%x, %v : tensor<?x4xf32>, tensor<?x4xf32>) writes [1] -> tensor<?x4xf32>
    // CHECK: rt.buffer_part %[[Y]] at %[[FROM]] bytes %[[REST]]
    %b = rt.launch @k::@k grid(%n, %c1, %c1) args(%a, %w : tensor<?x4xf32>, tensor<?x4xf32>) writes [1] -> tensor<?x4xf32>
    %inner = rt.assemble %i dim 1 of %a, %b : tensor<?x8xf32> of tensor<?x4xf32>, tensor<?x4xf32>
    // CHECK: rt.buffer_part %[[Y]] at
    %c = rt.launch @k::@k grid(%n, %c1, %c1) args(%inner, %u : tensor<?x8xf32>, tensor<?x4xf32>) writes [1] -> tensor<?x4xf32>
    // CHECK-NOT: rt.copy
    %y = rt.assemble %s dim 1 of %c, %inner : tensor<?x12xf32> of tensor<?x4xf32>, tensor<?x8xf32>
    return %y : tensor<?x12xf32>
  }
}

// -----

// A part in one piece that is an output, too, is copied.
rt.variant @output target "sm_80" {
  // CHECK-LABEL: func.func @Output()
  func.func @Output(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %v = rt.view %x[0] : tensor<4xf32> -> tensor<4xf32>
    // CHECK: rt.copy
    // CHECK: rt.copy
    return %x, %v : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Parts of nothing begin where it does, and end there. They are one buffer, of which nothing is written.
rt.variant @nothing target "sm_80" {
  // CHECK-LABEL: func.func @Nothing()
  func.func @Nothing(%x: tensor<0x3xf32>) -> tensor<0x5xf32> {
    %c1 = arith.constant 1 : index
    %s = rt.storage : tensor<0x5xf32>
    %v = rt.view %s[0, 0] : tensor<0x5xf32> -> tensor<0x3xf32>
    %w = rt.view %s[0, 3] : tensor<0x5xf32> -> tensor<0x2xf32>
    // CHECK: %[[Y:.*]] = rt.output 0
    // CHECK: %[[V:.*]] = rt.buffer_part %[[Y]] at %c0 bytes %c0
    // CHECK: rt.launch @k::@k {{.*}} args(%{{.*}}, %[[V]]
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %v : tensor<0x3xf32>, tensor<0x3xf32>) writes [1] -> tensor<0x3xf32>
    // CHECK-NOT: rt.buffer_part
    // CHECK: rt.launch @l::@l {{.*}} args(%[[V]], %[[V]]
    %b = rt.launch @l::@l grid(%c1, %c1, %c1) args(%a, %w : tensor<0x3xf32>, tensor<0x2xf32>) writes [1] -> tensor<0x2xf32>
    %y = rt.assemble %s dim 1 of %a, %b : tensor<0x5xf32> of tensor<0x3xf32>, tensor<0x2xf32>
    return %y : tensor<0x5xf32>
  }
}
