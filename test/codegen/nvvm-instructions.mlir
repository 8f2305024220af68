// Operations of nvvm that are instructions of `kernel.ptx`, too, become these on both ways. (What
// they compute is tested in test/instructions, in both spellings.)
//
// RUN: cameo-translate --kernel-to-ptx --arch=sm_90a %s | FileCheck %s
// RUN: cameo-translate --kernel-to-sim-ir --arch=sm_90a --thread-form %s | FileCheck %s --check-prefix=SIM

// CHECK-LABEL: .entry barriers(
// SIM-LABEL: define void @barriers(
gpu.module @barriers {
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @barriers(%out: !llvm.ptr<1>, %map: !llvm.ptr, %count: i32, %phase: i32, %first: i1)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %shared = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    %generic = llvm.addrspacecast %shared : !llvm.ptr<3> to !llvm.ptr
    // A predicate is a branch around the instruction.
    // CHECK: @!%p{{[0-9]+}} bra [[AFTER:.*]];
    // CHECK: mbarrier.init.shared.b64 [%r{{[0-9]+}}], %r{{[0-9]+}};
    // CHECK: [[AFTER]]:
    // SIM: br i1 %[[FIRST:[0-9]+]], label %[[THEN:.*]], label %[[AFTER:.*]]
    // SIM: [[THEN]]:
    // SIM: call void {{.*}}, i64 15,
    // SIM-NEXT: br label %[[AFTER]]
    // SIM: [[AFTER]]:
    nvvm.mbarrier.init.shared %shared, %count, predicate = %first : !llvm.ptr<3>, i32, i1
    // CHECK: fence.mbarrier_init.release.cluster;
    nvvm.fence.mbarrier.init
    nvvm.barrier0
    // Generic addresses are those of shared memory.
    // CHECK: mbarrier.arrive.noComplete.shared.b64 %rd{{[0-9]+}}, [%r{{[0-9]+}}], %r{{[0-9]+}};
    // SIM: call void {{.*}}, i64 [[#0x10101000111]],
    %state = nvvm.mbarrier.arrive.nocomplete %generic, %count : !llvm.ptr, i32 -> i64
    llvm.store %state, %out : i64, !llvm.ptr<1>
    // A try may give up before the phase is over.
    // CHECK: [[LOOP:.*]]:
    // CHECK-NEXT: mbarrier.try_wait.parity.shared.b64 [[DONE:%p[0-9]+]], [%r{{[0-9]+}}], %r{{[0-9]+}};
    // CHECK-NEXT: @![[DONE]] bra [[LOOP]];
    // SIM: call void {{.*}}, i64 [[#0x10113]], i32 -1,
    nvvm.mbarrier.try_wait.parity.shared %shared, %phase, %count : !llvm.ptr<3>, i32, i32
    // CHECK: prefetch.tensormap
    nvvm.prefetch.tensormap %map, predicate = %first : !llvm.ptr, i1
    // CHECK: fence.proxy.alias;
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
    // CHECK: elect.sync
    %leads = nvvm.elect.sync -> i1
    %one = llvm.zext %leads : i1 to i32
    llvm.store %one, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
