// Results of wgmma that are used while they may be in flight.
//
// RUN: not cameo-translate --kernel-to-ptx --arch=sm_90a %s -o /dev/null 2>&1 | FileCheck %s
// RUN: not cameo-translate --kernel-to-sim-image --arch=sm_90a --checked %s -o /dev/null 2>&1 | FileCheck %s
// Images without checks compute what they can.
// RUN: cameo-translate --kernel-to-sim-ir --arch=sm_90a %s -o /dev/null

// CHECK: wgmma-results-errors.mlir":[[@LINE+9]]:{{.*}}: kernel early: llvm.fadd uses a result of wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0 ({{.*}}:[[@LINE+8]]:{{.*}}) that may be in flight; wgmma.commit_group and wgmma.wait_group are missing between
// CHECK: wgmma-results-errors.mlir":[[@LINE+14]]:{{.*}}: kernel early: llvm.store uses a result of wgmma.mma_async{{.*}} that may be in flight; a wgmma.wait_group of 1 or less is missing between
// CHECK-NOT: kernel early
gpu.module @early {
  llvm.func @early(%y: !llvm.ptr<1>, %desc: i64, %f: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %true = llvm.mlir.constant(true) : i1
    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    %a:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %s = llvm.fadd %a#0, %f : f32
    %c:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    %b:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 2"() : () -> ()
    llvm.store %c#1, %y : f32, !llvm.ptr<1>
    llvm.store %c#2, %y : f32, !llvm.ptr<1>
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    llvm.store %b#0, %y : f32, !llvm.ptr<1>
    llvm.store %s, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}

// A way without a wait.
// CHECK: kernel branch: llvm.store uses a result of wgmma{{.*}} a wgmma.wait_group of 0 or less is missing between
gpu.module @branch {
  llvm.func @branch(%y: !llvm.ptr<1>, %desc: i64, %f: f32, %waits: i1)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %true = llvm.mlir.constant(true) : i1
    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    %a:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    llvm.cond_br %waits, ^wait, ^end(%a#0 : f32)
  ^wait:
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    llvm.br ^end(%a#0 : f32)
  ^end(%v: f32):
    llvm.store %v, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}

// The first group of the round before is waited for, the second is not; and A comes too early.
// CHECK: kernel rounds: llvm.store uses a result of wgmma{{.*}} a wgmma.wait_group of 0 or less is missing between
// CHECK: kernel rounds: wgmma.mma_async{{.*}} uses a result of wgmma.mma_async{{.*}} that may be in flight; wgmma.commit_group and wgmma.wait_group are missing between
gpu.module @rounds {
  llvm.func @rounds(%y: !llvm.ptr<1>, %desc: i64, %f: f32, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %true = llvm.mlir.constant(true) : i1
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%c0, %f : i32, f32)
  ^loop(%i: i32, %last: f32):
    kernel.ptx "wgmma.wait_group.sync.aligned 1"() : () -> ()
    llvm.store %last, %y : f32, !llvm.ptr<1>
    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    %a:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    %j = llvm.add %i, %c1 : i32
    %more = llvm.icmp "slt" %j, %n : i32
    llvm.cond_br %more, ^loop(%j, %a#0 : i32, f32), ^done
  ^done:
    %b:2 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %n, %n) : (i64, i64, i1, i32, i32) -> (i32, i32)
    %c:2 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 1, 1, 0"(%n, %n, %b#0, %n, %desc, %true, %n, %n) : (i32, i32, i32, i32, i64, i1, i32, i32) -> (i32, i32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    llvm.return
  }
}
