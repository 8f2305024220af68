// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(cameo-replace-nvvm-instructions))' %s | FileCheck %s
// Once more there is nothing to do.
// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(cameo-replace-nvvm-instructions,cameo-replace-nvvm-instructions))' %s | FileCheck %s

// CHECK-LABEL: llvm.func @applies
// CHECK-NEXT: kernel.ptx "cp.async.commit_group"() : () -> ()
// Registers, barriers, shuffles and votes have no other spelling.
// CHECK-NEXT: nvvm.read.ptx.sreg.tid.x
// CHECK-NEXT: nvvm.barrier0
gpu.module @kernels {
  llvm.func @applies() attributes {nvvm.kernel} {
    nvvm.cp.async.commit.group
    %t = nvvm.read.ptx.sreg.tid.x : i32
    nvvm.barrier0
    llvm.return
  }
}

// -----

gpu.module @invalid {
  llvm.func @invalid(%a: i32, %c: i32) attributes {nvvm.kernel} {
    // expected-error @below {{no instruction is this nvvm.mma.sync: 'mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32' is not an instruction that is known here}}
    %d = nvvm.mma.sync A[%a] B[%a] C[%c, %c] {b1Op = #nvvm.mma_b1op<xor_popc>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<b1>, multiplicandBPtxType = #nvvm.mma_type<b1>, shape = #nvvm.shape<m = 8, n = 8, k = 128>} : (i32, i32, i32) -> !llvm.struct<(i32, i32)>
    llvm.return
  }
}
