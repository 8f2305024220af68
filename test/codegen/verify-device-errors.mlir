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
