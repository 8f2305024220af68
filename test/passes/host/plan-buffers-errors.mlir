// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(rt.variant(func.func(cameo-plan-buffers)))' %s

rt.variant @v target "sm_80" {
  func.func @Compute(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{cannot be part of a launch plan}}
    %y = arith.addf %x, %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @ReadsDevice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<4xf32>
    %y = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    // expected-error @+1 {{reads a tensor that is not an input; only inputs are on the host}}
    %v = rt.read %y[%c1] : tensor<4xf32> -> f64
    return %y : tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @Dimension(%x: tensor<?xf32>, %y: tensor<i64>) -> tensor<?xf32> {
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{needs a constant dimension in [0, 1)}}
    %n = tensor.dim %x, %c2 : tensor<?xf32>
    return %x : tensor<?xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  // expected-error @+1 {{input 0 is not a ranked tensor}}
  func.func @Unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
    return %x : tensor<*xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @TooLarge() -> tensor<4294967296x4294967296xf32> {
    // expected-error @+1 {{takes more than 2^63 bytes}}
    %e = tensor.empty() : tensor<4294967296x4294967296xf32>
    %c1 = arith.constant 1 : index
    %y = rt.launch @k::@k grid(%c1, %c1, %c1) args(%e : tensor<4294967296x4294967296xf32>) writes [0] -> tensor<4294967296x4294967296xf32>
    return %y : tensor<4294967296x4294967296xf32>
  }
}

// -----

rt.variant @huge target "sm_80" {
  // expected-error @below {{its intermediate values take more than 2^63 bytes}}
  func.func @Huge(%x: tensor<4xi8>) -> tensor<4xi8> {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<4611686018427387904xi8>
    %f = tensor.empty() : tensor<4xi8>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<4xi8>, tensor<4611686018427387904xi8>) writes [1] -> tensor<4611686018427387904xi8>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%a, %e : tensor<4611686018427387904xi8>, tensor<4611686018427387904xi8>) writes [1] -> tensor<4611686018427387904xi8>
    %c = rt.launch @k::@k grid(%c1, %c1, %c1) args(%b, %f : tensor<4611686018427387904xi8>, tensor<4xi8>) writes [1] -> tensor<4xi8>
    return %c : tensor<4xi8>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @ViewOfNothing() -> tensor<2xf32> {
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @+1 {{is of a tensor that is in no memory}}
    %v = rt.view %e[2] : tensor<4xf32> -> tensor<2xf32>
    return %v : tensor<2xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @UpdatesPart(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<4xf32>
    %y = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %e : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    %v = rt.view %y[2] : tensor<4xf32> -> tensor<2xf32>
    // expected-error @+1 {{updates operand 0, a part of another tensor that is read later}}
    %z = rt.launch @u::@u grid(%c1, %c1, %c1) args(%v : tensor<2xf32>) writes [0] -> tensor<2xf32>
    return %z, %y : tensor<2xf32>, tensor<4xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @OutputInPieces(%x: tensor<4x4xf32>) -> tensor<4x2xf32> {
    %v = rt.view %x[0, 2] : tensor<4x4xf32> -> tensor<4x2xf32>
    // expected-error @+1 {{output 0 is in several pieces of another tensor}}
    return %v : tensor<4x2xf32>
  }
}

// -----

// Not in place, for the whole is read later; and no copy has the strides of a part.
rt.variant @v target "sm_80" {
  func.func @UpdatesAPartOfWhatIsReadLater(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<8xf32>
    %s = rt.storage : tensor<8xf32>
    %v = rt.view %s[0] : tensor<8xf32> -> tensor<4xf32>
    %w = rt.view %s[4] : tensor<8xf32> -> tensor<4xf32>
    %a = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %v : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%x, %w : tensor<4xf32>, tensor<4xf32>) writes [1] -> tensor<4xf32>
    %y = rt.assemble %s dim 0 of %a, %b : tensor<8xf32> of tensor<4xf32>, tensor<4xf32>
    // expected-error @+1 {{updates operand 0, a part of another tensor that is read later}}
    %c = rt.launch @update::@update grid(%c1, %c1, %c1) args(%a : tensor<4xf32>) writes [0] -> tensor<4xf32>
    %z = rt.launch @l::@l grid(%c1, %c1, %c1) args(%y, %e : tensor<8xf32>, tensor<8xf32>) writes [1] -> tensor<8xf32>
    return %c, %z : tensor<4xf32>, tensor<8xf32>
  }
}

// -----

rt.variant @v target "sm_80" {
  // expected-error @+1 {{input 'n' cannot be a state: the plan reads its values on the host}}
  func.func @HostState(%n: tensor<1xi64> {onnx.state = 0 : i64, onnx.name = "n"}) -> tensor<1xi64> {
    %c0 = arith.constant 0 : index
    %v = rt.read %n[%c0] : tensor<1xi64> -> i64
    %y = rt.from_scalars %v : i64 -> tensor<1xi64>
    return %y : tensor<1xi64>
  }
}
