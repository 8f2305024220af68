// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=host})' %s

rt.variant @v target "sm_80" {
  func.func @main() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'rt.launch' at stage host: no kernel @k::@k}}
    rt.launch @k::@k grid(%c1, %c1, %c1) args() writes []
    return
  }
}

// -----

rt.variant @v target "sm_80" {
  gpu.module @k {
    llvm.func @k() {
      llvm.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'rt.launch' at stage host: no kernel @parts::@parts, which it finishes}}
    rt.launch @k::@k finishes @parts::@parts grid(%c1, %c1, %c1) args() writes []
    return
  }
}

// -----

rt.variant @v target "sm_80" {
  gpu.module @k {
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1> {llvm.noalias}) {
      llvm.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %a = rt.arena_view %c0 bytes %c0
    // expected-error @+1 {{'rt.launch' at stage host: parameter 1 of @k::@k is noalias and may be written in place}}
    rt.launch @k::@k grid(%c0, %c0, %c0) args(%a, %a : !rt.buffer, !rt.buffer) writes [1] {rt.in_place = array<i64: 1, 0>}
    return
  }
}

// -----

rt.variant @v target "sm_80" {
  func.func @main() {
    // expected-error @+1 {{'tensor.empty' at stage host: tensors have become buffers by now}}
    %e = tensor.empty() : tensor<4xf32>
    return
  }
}

// -----

rt.constant @w = dense<1.0> : tensor<4xf32>
rt.variant @v target "sm_80" {
  func.func @main() {
    // expected-error @+1 {{'rt.get_constant' at stage host: constant @w has no place}}
    %w = rt.get_constant @w : !rt.buffer
    return
  }
}

// -----

rt.variant @v target "sm_80" {
  gpu.module @k {
    // expected-error @+1 {{'gpu.func' at stage host: kernels are llvm, nvvm and kernel.ptx by now}}
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @main() {
    return
  }
}

// -----

rt.variant @v target "sm_80" {
  gpu.module @k {
    llvm.func @k() attributes {kernel.dynamic_shared = 65536 : i64, nvvm.kernel} {
      llvm.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'rt.launch' at stage host: it needs 65536 B of dynamic shared memory for @k::@k}}
    rt.launch @k::@k grid(%c1, %c1, %c1) shared(%c1) args() writes []
    return
  }
}
