// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault))' --mlir-print-op-on-diagnostic=false %s 2>&1 >%t.same | FileCheck %s --check-prefix=LIST
// RUN: %cameo-opt %s | diff - %t.same
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=drop-barrier kernel=Rotate}))' %s 2>/dev/null | FileCheck %s --check-prefix=DROP
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=early-barrier kernel=Rotate}))' %s 2>/dev/null | FileCheck %s --check-prefix=EARLY
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=late-barrier kernel=Rotate}))' %s 2>/dev/null | FileCheck %s --check-prefix=LATE
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=diverge-barrier kernel=Rotate}))' %s 2>/dev/null | FileCheck %s --check-prefix=DIVERGE
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=diverge-shuffle kernel=Sum}))' %s 2>/dev/null | FileCheck %s --check-prefix=SHUFFLE
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=shift-index kernel=Rotate index=1}))' %s 2>/dev/null | FileCheck %s --check-prefix=INDEX
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=widen-bound kernel=Sum}))' %s 2>/dev/null | FileCheck %s --check-prefix=WIDEN
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=drop-start kernel=Sum}))' %s 2>/dev/null | FileCheck %s --check-prefix=START
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=loosen-async-wait kernel=Copy}))' %s 2>/dev/null | FileCheck %s --check-prefix=LOOSEN
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=drop-expectation kernel=Copy}))' %s 2>/dev/null | FileCheck %s --check-prefix=EXPECT
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=drop-mbarrier-wait kernel=Copy}))' %s 2>/dev/null | FileCheck %s --check-prefix=PHASE
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=weaken-async-wait kernel=Write}))' %s 2>/dev/null | FileCheck %s --check-prefix=WEAKEN
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=misplace-fence kernel=Write index=1}))' %s 2>/dev/null | FileCheck %s --check-prefix=MISPLACE
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=diverge-warpgroup kernel=Write}))' %s 2>/dev/null | FileCheck %s --check-prefix=WARPGROUP
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=drop-swizzle kernel=Ring}))' %s 2>/dev/null | FileCheck %s --check-prefix=SWIZZLE
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=hold-stage kernel=Ring}))' %s 2>/dev/null | FileCheck %s --check-prefix=HOLD
// RUN: not %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=drop-barrier kernel=Sum}))' %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-plant-fault{kind=typo}))' %s 2>&1 | FileCheck %s --check-prefix=TYPO

// A loop is never opened, so that Sum has a condition to close and none to open.
// LIST: faults of kind drop-barrier in Rotate: 1
// LIST: faults of kind early-barrier in Rotate: 1
// LIST: faults of kind late-barrier in Rotate: 1
// LIST: faults of kind diverge-barrier in Rotate: 1
// LIST: faults of kind drop-shared-store in Rotate: 1
// LIST: faults of kind drop-global-store in Rotate: 1
// LIST: faults of kind shift-index in Rotate: 3
// LIST: faults of kind diverge-shuffle in Sum: 1
// LIST-NOT: open-mask in Sum
// LIST: faults of kind close-mask in Sum: 1
// LIST: faults of kind shift-start in Sum: 1
// LIST: faults of kind drop-load in Sum: 1
// LIST: faults of kind drop-start in Sum: 1
// LIST: faults of kind drop-async-wait in Copy: 1
// LIST: faults of kind loosen-async-wait in Copy: 1
// LIST: faults of kind drop-commit in Copy: 1
// LIST: faults of kind drop-fence in Copy: 1
// LIST: faults of kind drop-copy in Copy: 1
// LIST: faults of kind drop-mbarrier-wait in Copy: 1
// LIST: faults of kind flip-parity in Copy: 1
// LIST-NOT: drop-mbarrier-arrival in Copy
// LIST: faults of kind drop-expectation in Copy: 1
// LIST: faults of kind drop-cluster-barrier in Copy: 1
// LIST: faults of kind drop-async-wait in Write: 3
// LIST: faults of kind drop-fence in Write: 3
// LIST: faults of kind weaken-async-wait in Write: 1
// LIST: faults of kind misplace-fence in Write: 2
// LIST: faults of kind diverge-warpgroup in Write: 1
// LIST: faults of kind drop-swizzle in Ring: 1
// LIST: faults of kind hold-stage in Ring: 1

// NONE: error: has 0 places for a fault of kind drop-barrier; there is no number 0
// TYPO: error: unknown kind of fault 'typo'; known: drop-barrier, early-barrier

gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x f32>

  // DROP-LABEL: llvm.func @Rotate
  // DROP: llvm.store
  // DROP-NOT: nvvm.barrier0
  // DROP: llvm.load
  // EARLY-LABEL: llvm.func @Rotate
  // EARLY: nvvm.barrier0
  // EARLY-NEXT: llvm.store
  // LATE-LABEL: llvm.func @Rotate
  // LATE: %[[LOADED:.*]] = llvm.load
  // LATE-NEXT: nvvm.barrier0
  // DIVERGE-LABEL: llvm.func @Rotate
  // DIVERGE: %[[LOWER:.*]] = llvm.icmp "eq"
  // DIVERGE-NEXT: llvm.cond_br %[[LOWER]], ^[[SYNC:.*]], ^[[REST:.*]]
  // DIVERGE-NEXT: ^[[SYNC]]:
  // DIVERGE-NEXT: nvvm.barrier0
  // DIVERGE-NEXT: llvm.br ^[[REST]]
  // INDEX-LABEL: llvm.func @Rotate
  // INDEX: %[[GEP:.*]] = llvm.getelementptr inbounds %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  // INDEX: %[[GEP1:.*]] = llvm.getelementptr inbounds %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
  // INDEX-NEXT: %[[SHIFTED:.*]] = llvm.getelementptr inbounds %[[GEP1]][1]
  // INDEX-NEXT: llvm.load %[[SHIFTED]]
  llvm.func @Rotate(%out: !llvm.ptr<1>, %value: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %other = llvm.xor %t, %c63 : i32
    %to = llvm.getelementptr inbounds %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %value, %to : f32, !llvm.ptr<3>
    nvvm.barrier0
    %from = llvm.getelementptr inbounds %tile[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %loaded = llvm.load %from : !llvm.ptr<3> -> f32
    %result = llvm.getelementptr inbounds %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %loaded, %result : f32, !llvm.ptr<1>
    llvm.return
  }

  // WIDEN-LABEL: llvm.func @Sum
  // WIDEN: %[[N:.*]] = llvm.add %arg1, %{{.*}} : i32
  // WIDEN-NEXT: llvm.icmp "slt" %{{.*}}, %[[N]]
  // START-LABEL: llvm.func @Sum
  // START: %[[GARBAGE:.*]] = llvm.mlir.undef : f32
  // START-NEXT: llvm.br ^bb1(%{{.*}}, %[[GARBAGE]] : i32, f32)
  // SHUFFLE-LABEL: llvm.func @Sum
  // SHUFFLE: llvm.cond_br %{{.*}}, ^[[THEN:.*]], ^[[AFTER:.*]](%[[OWN:.*]] : f32)
  // SHUFFLE: ^[[THEN]]:
  // SHUFFLE: %[[OTHER:.*]] = nvvm.shfl.sync
  // SHUFFLE: llvm.br ^[[AFTER]](%[[OTHER]] : f32)
  // SHUFFLE: ^[[AFTER]](%[[MERGED:.*]]: f32):
  // SHUFFLE: llvm.fadd %{{.*}}, %[[MERGED]]
  llvm.func @Sum(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    llvm.br ^head(%t, %zero : i32, f32)
  ^head(%i: i32, %sum: f32):
    %more = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %more, ^body, ^end
  ^body:
    %p = llvm.getelementptr inbounds %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    %s = llvm.fadd %sum, %v : f32
    %next = llvm.add %i, %c32 : i32
    llvm.br ^head(%next, %s : i32, f32)
  ^end:
    %o = nvvm.shfl.sync bfly %all, %sum, %c1, %c31 : f32 -> f32
    %both = llvm.fadd %sum, %o : f32
    llvm.store %both, %x : f32, !llvm.ptr<1>
    llvm.return
  }

  // LOOSEN-LABEL: llvm.func @Copy
  // LOOSEN: kernel.ptx "cp.async.wait_group 1"()
  // EXPECT-LABEL: llvm.func @Copy
  // EXPECT: kernel.ptx "mbarrier.arrive.shared.b64"(%{{.*}}) : (!llvm.ptr<3>) -> i64
  // PHASE-LABEL: llvm.func @Copy
  // PHASE-NOT: try_wait
  // PHASE: %[[OVER:.*]] = llvm.mlir.constant(true) : i1
  // PHASE-NEXT: llvm.cond_br %[[OVER]]
  llvm.func @Copy(%in: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    kernel.ptx "cp.async.ca.shared.global 4"(%tile, %in) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    kernel.ptx "cp.async.commit_group"() : () -> ()
    kernel.ptx "cp.async.wait_group 0"() : () -> ()
    kernel.ptx "fence.proxy.async"() : () -> ()
    kernel.ptx "barrier.cluster.arrive"() : () -> ()
    kernel.ptx "barrier.cluster.wait"() : () -> ()
    %state = kernel.ptx "mbarrier.arrive.expect_tx.shared.b64"(%tile, %c0) : (!llvm.ptr<3>, i32) -> i64
    llvm.br ^wait
  ^wait:
    %over = kernel.ptx "mbarrier.try_wait.parity.shared.b64"(%tile, %c0) : (!llvm.ptr<3>, i32) -> i1
    llvm.cond_br %over, ^end, ^wait
  ^end:
    llvm.return
  }

  // WEAKEN-LABEL: llvm.func @Write
  // WEAKEN-COUNT-2: kernel.ptx "cp.async.bulk.wait_group.read 0"()
  // MISPLACE-LABEL: llvm.func @Write
  // MISPLACE: kernel.ptx "fence.proxy.async"()
  // MISPLACE-NEXT: kernel.ptx "fence.proxy.async.global"()
  // MISPLACE-NEXT: kernel.ptx "fence.proxy.async.global"()
  // WARPGROUP-LABEL: llvm.func @Write
  // WARPGROUP: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
  // WARPGROUP: %[[SIDE:.*]] = llvm.and %[[THREAD]], %{{.*}}
  // WARPGROUP: llvm.cond_br %{{.*}}, ^[[THEN:.*]], ^[[AFTER:.*]]
  // WARPGROUP: ^[[THEN]]:
  // WARPGROUP-NEXT: kernel.ptx "wgmma.wait_group.sync.aligned 0"()
  llvm.func @Write() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    kernel.ptx "fence.proxy.async"() : () -> ()
    kernel.ptx "fence.proxy.async.global"() : () -> ()
    kernel.ptx "fence.proxy.async.shared::cta"() : () -> ()
    kernel.ptx "cp.async.bulk.wait_group 0"() : () -> ()
    kernel.ptx "cp.async.bulk.wait_group.read 0"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    llvm.return
  }

  // Truth values are not swizzled, and what does not go back to zero is no ring.
  // SWIZZLE-LABEL: llvm.func @Ring
  // SWIZZLE: llvm.getelementptr %arg0[%arg1]
  // HOLD-LABEL: llvm.func @Ring
  // HOLD: llvm.getelementptr %arg0[%arg1, 1]
  llvm.func @Ring(%p: !llvm.ptr<1>, %i: i32, %ok: i1) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %turned = llvm.xor %i, %c1 : i32
    %other = llvm.xor %ok, %ok : i1
    %more = llvm.add %i, %c1 : i32
    %stage = llvm.select %other, %c0, %more : i1, i32
    %either = llvm.select %ok, %c1, %more : i1, i32
    %a = llvm.getelementptr %p[%turned] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %b = llvm.getelementptr %p[%stage, 1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<2 x i32>
    llvm.store %either, %a : i32, !llvm.ptr<1>
    llvm.store %c0, %b : i32, !llvm.ptr<1>
    llvm.return
  }
}
