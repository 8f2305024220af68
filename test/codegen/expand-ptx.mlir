// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-expand-ptx))' %s | FileCheck %s

// CHECK-LABEL: llvm.func @applies
// CHECK-NOT:     kernel.ptx
// CHECK:         llvm.inline_asm has_side_effects asm_dialect = att "cp.async.commit_group;", "~{memory}"
// CHECK:         llvm.inline_asm {{.*}}"redux.sync.add.s32 $0, $1, $2;"
gpu.module @kernels {
  llvm.func @applies(%a: i32) -> i32 {
    %all = llvm.mlir.constant(-1 : i32) : i32
    kernel.ptx "cp.async.commit_group"() : () -> ()
    %s = kernel.ptx "redux.sync.add.s32"(%a, %all) : (i32, i32) -> i32
    llvm.return %s : i32
  }
  // CHECK-LABEL: llvm.func @none
  // CHECK-NEXT:    nvvm.barrier0
  // CHECK-NEXT:    llvm.return
  llvm.func @none() {
    nvvm.barrier0
    llvm.return
  }
}
