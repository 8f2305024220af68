// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(cameo-verify-wgmma-results))' %s

gpu.module @kernels {
  llvm.func @Early(%desc: i64, %f: f32) attributes {nvvm.kernel} {
    %true = llvm.mlir.constant(true) : i1
    %a:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    // expected-error @below {{kernel Early: llvm.fadd uses a result of wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0}}
    %s = llvm.fadd %a#0, %f : f32
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @Waits(%desc: i64, %f: f32) attributes {nvvm.kernel} {
    %true = llvm.mlir.constant(true) : i1
    %a:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    %s = llvm.fadd %a#0, %f : f32
    llvm.return
  }
}
