// The steps of back ends, one after another, as cameo-opt runs them.
//
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-device-to-nvptx{target=sm_80}))' %s | FileCheck %s --check-prefix=NVPTX
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-device-to-sim{target=sm_80}))' %s | FileCheck %s --check-prefix=SIM
// RUN: not %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-device-to-sim{target=sm_75}))' %s 2>&1 | FileCheck %s --check-prefix=LACKS

// NVPTX-LABEL: llvm.func @k(%{{.*}}: !llvm.ptr<1>
// NVPTX:         llvm.inline_asm has_side_effects asm_dialect = att "cp.async.commit_group;"
// SIM-LABEL: llvm.func internal @k$body(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// SIM-NOT:     kernel.ptx
// SIM-NOT:     @cameo.sim
// SIM:       llvm.func @k(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// LACKS: error: kernel k: cp.async.commit_group needs sm_80; the kernel is for sm_75
gpu.module @kernels {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    nvvm.cp.async.commit.group
    nvvm.barrier0
    llvm.return
  }
}
