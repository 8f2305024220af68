// Instructions that the target lacks: an error on the way to PTX, on that to the simulator, and at
// the device stage; all of them at once.
//
// RUN: not cameo-translate --kernel-to-ptx --arch=sm_75 %s -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,TURING
// RUN: not cameo-translate --kernel-to-sim-image --arch=sm_75 %s -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,TURING
// RUN: not cameo-translate --kernel-to-ptx --arch=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: not cameo-translate --kernel-to-sim-image --arch=sm_90 %s -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: cameo-translate --kernel-to-ptx --arch=sm_90a %s -o /dev/null
// RUN: cameo-translate --kernel-to-sim-image --arch=sm_90a %s -o /dev/null

gpu.module @late {
  llvm.func @late(%y: !llvm.ptr<1>, %a: i32, %c: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    // TURING: target-instructions-errors.mlir":[[#@LINE+1]]:{{.*}}: kernel late: redux.sync.add.s32 needs sm_80; the kernel is for sm_75 in PTX 7.0
    %sum = kernel.ptx "redux.sync.add.s32"(%a, %all) : (i32, i32) -> i32
    llvm.store %sum, %y : i32, !llvm.ptr<1>
    // Either spelling.
    // TURING: target-instructions-errors.mlir":[[#@LINE+1]]:{{.*}}: kernel late: cp.async.commit_group needs sm_80
    nvvm.cp.async.commit.group
    // CHECK: target-instructions-errors.mlir":[[#@LINE+1]]:{{.*}}: kernel late: mma.sync{{.*}} needs sm_89 and PTX 8.4; the kernel is for
    %d:4 = kernel.ptx "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"(%a, %a, %a, %a, %a, %a, %c, %c, %c, %c) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    llvm.store %d#0, %y : f32, !llvm.ptr<1>
    // HOPPER: target-instructions-errors.mlir":[[#@LINE+1]]:{{.*}}: kernel late: wgmma.fence.sync.aligned needs sm_90a; the kernel is for sm_90 in PTX 7.8
    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    llvm.return
  }
}
