// What of nvvm is not an instruction of `kernel.ptx`, and what the simulator does not know: of all
// kernels in one go.
//
// RUN: not cameo-translate --kernel-to-sim-image %s -o %t.so 2>&1 | FileCheck %s --implicit-check-not="does not know"

gpu.module @first {
  llvm.func @first(%a: i32, %c: i32, %p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    // CHECK: nvvm-instructions-errors.mlir":[[#@LINE+1]]:{{.*}}: no instruction is this nvvm.mma.sync: 'mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32' is not an instruction that is known here
    %d = nvvm.mma.sync A[%a] B[%a] C[%c, %c] {b1Op = #nvvm.mma_b1op<xor_popc>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<b1>, multiplicandBPtxType = #nvvm.mma_type<b1>, shape = #nvvm.shape<m = 8, n = 8, k = 128>} : (i32, i32, i32) -> !llvm.struct<(i32, i32)>
    %e = llvm.extractvalue %d[0] : !llvm.struct<(i32, i32)>
    llvm.store %e, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}

gpu.module @second {
  llvm.func @second(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    // CHECK: nvvm-instructions-errors.mlir":[[#@LINE+1]]:{{.*}}: kernel second: the simulator does not know nvvm.read.ptx.sreg.clock64
    %t = nvvm.read.ptx.sreg.clock64 : i64
    llvm.store %t, %p : i64, !llvm.ptr<1>
    llvm.return
  }
}

gpu.module @third {
  llvm.func @third(%to: !llvm.ptr<3>, %map: !llvm.ptr, %at: i32, %bar: !llvm.ptr<3>, %hint: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    // CHECK: nvvm-instructions-errors.mlir":[[#@LINE+1]]:{{.*}}: no instruction is this nvvm.cp.async.bulk.tensor.shared.cluster.global: 'cp.async.bulk.tensor.1d.{{.*}}.L2::cache_hint' is not an instruction that is known here
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %bar, box [%at] l2_cache_hint = %hint : !llvm.ptr<3>, !llvm.ptr
    llvm.return
  }
}
