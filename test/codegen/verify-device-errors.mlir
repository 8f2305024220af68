// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(cameo-verify-stage{stage=device})' %s

// An instruction that the variant's target lacks.
rt.variant @sm_75 target "sm_75" {
  func.func @main() {
    return
  }
  gpu.module @k {
    llvm.func @k(%a: i32, %y: !llvm.ptr<1>) attributes {nvvm.kernel} {
      %all = llvm.mlir.constant(-1 : i32) : i32
      // expected-error @+1 {{redux.sync.add.s32 needs sm_80; the kernel is for sm_75 in PTX 7.0}}
      %s = kernel.ptx "redux.sync.add.s32"(%a, %all) : (i32, i32) -> i32
      llvm.store %s, %y : i32, !llvm.ptr<1>
      llvm.return
    }
  }
}

// -----

// A kernel that is in no variant has no target.
gpu.module @apart {
  llvm.func @k(%a: i32, %y: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    // expected-error @+1 {{'kernel.ptx' at stage device: it stands in no variant, so it has no target}}
    %s = kernel.ptx "redux.sync.add.s32"(%a, %all) : (i32, i32) -> i32
    llvm.store %s, %y : i32, !llvm.ptr<1>
    llvm.return
  }
}
rt.variant @sm_80 target "sm_80" {
  func.func @main() {
    return
  }
}

// -----

// A view that begins 20 bytes behind its storage, and a kernel to which 16 are promised.
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<8x4xf32>) -> tensor<8x9xf32> {
    %c1 = arith.constant 1 : index
    %s = rt.storage : tensor<8x9xf32>
    %v = rt.view %s[0, 0] : tensor<8x9xf32> -> tensor<8x5xf32>
    %w = rt.view %s[0, 5] : tensor<8x9xf32> -> tensor<8x4xf32>
    %a = rt.launch @k::@any grid(%c1, %c1, %c1) args(%v : tensor<8x5xf32>) writes [0] -> tensor<8x5xf32>
    // expected-error @+1 {{'rt.launch' at stage device: parameter 0 of @k::@k promises an alignment of 16 B; the view that it is given has 4 B}}
    %b = rt.launch @k::@k grid(%c1, %c1, %c1) args(%w : tensor<8x4xf32>) writes [0] -> tensor<8x4xf32>
    %y = rt.assemble %s dim 1 of %a, %b : tensor<8x9xf32> of tensor<8x5xf32>, tensor<8x4xf32>
    return %y : tensor<8x9xf32>
  }
  gpu.module @k {
    llvm.func @k(%y: !llvm.ptr<1> {llvm.align = 16 : i64}) attributes {nvvm.kernel} {
      llvm.return
    }
    llvm.func @any(%y: !llvm.ptr<1> {llvm.align = 4 : i64}) attributes {nvvm.kernel} {
      llvm.return
    }
  }
}
