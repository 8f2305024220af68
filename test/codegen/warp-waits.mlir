// Waits and branches before collectives in the vectorised form.
//
// RUN: cameo-translate --kernel-to-sim-ir --arch=sm_90a %s -o %t.ll
// RUN: FileCheck %s < %t.ll

// Every lane arrives at the cluster's barrier, the warp waits for all of them.
// CHECK-LABEL: define void @"clustered$warp"
// CHECK:         [[CONTEXT:%.*]] = getelementptr i8, ptr %0, i64 %
// CHECK:         call void %{{.*}}(ptr nonnull [[CONTEXT]], i64 [[#0x11c]],
// CHECK:         br i1
// CHECK:         call void %{{.*}}(ptr nonnull %0, i64 29, i32 -1, ptr null,
// CHECK:         ret void
gpu.module @clustered {
  llvm.func @clustered() attributes {nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.reqntid = array<i32: 64, 1, 1>} {
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.return
  }
}

// One lane waits with its own context, within a lane's way, while the others stand still.
// CHECK-LABEL: define void @"led$warp"
// CHECK:         [[CONTEXT:%.*]] = getelementptr i8, ptr %0, i64 %
// CHECK:         call void %{{.*}}(ptr nonnull [[CONTEXT]], i64 [[#0x10113]], i32 -1,
// CHECK:         br i1
// CHECK:         ret void
gpu.module @led {
  llvm.mlir.global internal @bar() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<1 x i64>
  llvm.func @led(%y: !llvm.ptr<1>, %phase: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %leads = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %leads, ^wait, ^done
  ^wait:
    nvvm.mbarrier.try_wait.parity.shared %bar, %phase, %phase : !llvm.ptr<3>, i32, i32
    llvm.store %zero, %y : i32, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    nvvm.barrier0
    llvm.return
  }
}

// Lanes that wait for different mbarriers do so one after the other.
// CHECK-LABEL: define void @"apart$warp"
// CHECK:         [[CONTEXT:%.*]] = getelementptr i8, ptr %0, i64 %
// CHECK:         call void %{{.*}}(ptr nonnull [[CONTEXT]], i64 [[#0x10113]], i32 -1,
// CHECK:         br i1
// CHECK:         ret void
gpu.module @apart {
  llvm.mlir.global internal @bar() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<64 x i64>
  llvm.func @apart(%phase: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %bars = llvm.mlir.addressof @bar : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bar = llvm.getelementptr %bars[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.try_wait.parity.shared %bar, %phase, %phase : !llvm.ptr<3>, i32, i32
    llvm.return
  }
}

// Not if a neighbour may have to go on for that.
// CHECK: ; chained has no vectorised form: a lane waits for an mbarrier while others of its warp may arrive at one
gpu.module @chained {
  llvm.mlir.global internal @bar() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<1 x i64>
  llvm.func @chained(%y: !llvm.ptr<1>, %phase: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %leads = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %leads, ^wait, ^done
  ^wait:
    nvvm.mbarrier.try_wait.parity.shared %bar, %phase, %phase : !llvm.ptr<3>, i32, i32
    llvm.br ^done
  ^done:
    %state = nvvm.mbarrier.arrive.shared %bar : !llvm.ptr<3> -> i64
    llvm.return
  }
}

// A branch that data decide, before a collective of all lanes: they go together, or it is reported.
// CHECK-LABEL: define void @"decided$warp"
// CHECK:         [[LANES:%.*]] = bitcast <32 x i1> {{.*}} to i32
// CHECK:         parted
// CHECK:         [[CODE:%.*]] = or disjoint i64 {{.*}}, 39
// CHECK:         call void %{{.*}}(ptr {{.*}}, i64 [[CODE]], ptr null,
// CHECK:         ret void
gpu.module @decided {
  llvm.func @decided(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load %p : !llvm.ptr<1> -> i32
    %goes = llvm.icmp "ne" %v, %zero : i32
    llvm.cond_br %goes, ^then, ^done
  ^then:
    nvvm.barrier0
    llvm.br ^done
  ^done:
    llvm.return
  }
}

// Lanes may meet at barriers of either way.
// CHECK: ; either has no vectorised form: lanes may reach a barrier or collective operation at different times
gpu.module @either {
  llvm.func @either(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load %p : !llvm.ptr<1> -> i32
    %goes = llvm.icmp "ne" %v, %zero : i32
    llvm.cond_br %goes, ^then, ^else
  ^then:
    nvvm.bar.warp.sync %all : i32
    llvm.store %zero, %p : i32, !llvm.ptr<1>
    llvm.br ^done
  ^else:
    nvvm.bar.warp.sync %all : i32
    llvm.store %all, %p : i32, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    llvm.return
  }
}

// What lane 0 tells all lanes, all know.
// CHECK-LABEL: define void @"told$warp"
// CHECK-NOT:     parted
// CHECK:         ret void
gpu.module @told {
  llvm.func @told(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load %p : !llvm.ptr<1> -> i32
    %first = nvvm.shfl.sync idx %all, %v, %zero, %clamp : i32 -> i32
    %goes = llvm.icmp "ne" %first, %zero : i32
    llvm.cond_br %goes, ^then, ^done
  ^then:
    nvvm.barrier0
    llvm.br ^done
  ^done:
    llvm.return
  }
}
