// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(cameo-verify-target-instructions{target=sm_75}))' %s

gpu.module @kernels {
  llvm.func @Late(%a: i32) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    // expected-error @below {{kernel Late: redux.sync.add.s32 needs sm_80; the kernel is for sm_75 in PTX 7.0}}
    %s = kernel.ptx "redux.sync.add.s32"(%a, %all) : (i32, i32) -> i32
    // All are told at once.
    // expected-error @below {{kernel Late: cp.async.commit_group needs sm_80}}
    kernel.ptx "cp.async.commit_group"() : () -> ()
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @Known(%a: i32) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %s = kernel.ptx "match.any.sync.b32"(%a, %all) : (i32, i32) -> i32
    llvm.return
  }
}
