// The vectorised form of simulated kernels: loops over lanes, which become SIMD, where all lanes come by
// together; a reason where there is none.
//
// RUN: cameo-translate --kernel-to-sim-ir %s -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: cameo-translate --kernel-to-sim-ir --thread-form %s | FileCheck %s --check-prefix=THREAD
//
// THREAD: ; guarded has no vectorised form
// THREAD: define void @guarded(
// THREAD-NOT: $warp

// A lane's guard is a mask.
// CHECK-LABEL: define void @"guarded$warp"
// CHECK:         icmp slt <8 x i32>
// CHECK:         call <8 x float> @llvm.masked.load.v8f32
// CHECK:         fmul <8 x float>
// CHECK:         call void @llvm.masked.store.v8f32
// CHECK-NOT:   define {{.*}} @guarded(
gpu.module @guarded {
  llvm.func @guarded(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias}, %f: f32, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %c = llvm.mlir.constant(64 : i32) : i32
    %b = llvm.mul %block, %c : i32
    %i = llvm.add %b, %tid : i32
    %in = llvm.icmp "slt" %i, %n : i32
    llvm.cond_br %in, ^then, ^done
  ^then:
    %w = llvm.sext %i : i32 to i64
    %p = llvm.getelementptr %x[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %q = llvm.getelementptr %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    %r = llvm.fmul %v, %f : f32
    llvm.store %r, %q : f32, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    llvm.return
  }
}

// A shuffle reads other lanes' rows; what only the warp's number tells is computed once.
// CHECK-LABEL: define void @"shuffled$warp"
// CHECK:         [[ROWS:%.*]] = alloca [32 x i32]
// CHECK:         [[WARP:%.*]] = load i32, ptr {{.*}} !range
// CHECK:         br label %vector.body
// CHECK:         getelementptr inbounds i32, ptr [[ROWS]]
// CHECK:         ret void
gpu.module @shuffled {
  llvm.func @shuffled(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %w = llvm.zext %tid : i32 to i64
    %p = llvm.getelementptr %x[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %v = llvm.load %p : !llvm.ptr<1> -> i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %s = nvvm.shfl.sync bfly %all, %v, %one, %clamp : i32 -> i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %warp = llvm.lshr %tid, %five : i32
    %sum = llvm.add %s, %warp : i32
    %q = llvm.getelementptr %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %sum, %q : i32, !llvm.ptr<1>
    llvm.return
  }
}

// Between barriers lanes run one after the other; the barrier is the warp's.
// CHECK-LABEL: define void @"exchanged$warp"
// CHECK:         br label %vector.body
// CHECK:         call void %{{.*}}(ptr {{.*}}%0, i32 0, i32 0, i32 {{[0-9]+}})
// CHECK:         br label %vector.body
// CHECK:         ret void
gpu.module @exchanged {
  llvm.mlir.global internal @line() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i32>
  llvm.func @exchanged(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %line = llvm.mlir.addressof @line : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %w = llvm.zext %tid : i32 to i64
    %p = llvm.getelementptr %x[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %v = llvm.load %p : !llvm.ptr<1> -> i32
    %own = llvm.getelementptr %line[%w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
    llvm.store %v, %own : i32, !llvm.ptr<3>
    nvvm.barrier0
    %last = llvm.mlir.constant(63 : i64) : i64
    %mirrored = llvm.sub %last, %w : i64
    %from = llvm.getelementptr %line[%mirrored] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
    %u = llvm.load %from : !llvm.ptr<3> -> i32
    %q = llvm.getelementptr %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %u, %q : i32, !llvm.ptr<1>
    llvm.return
  }
}

// CHECK: ; parted has no vectorised form: lanes may reach a barrier or collective operation at different times
gpu.module @parted {
  llvm.func @parted() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %few = llvm.icmp "ult" %tid, %seven : i32
    llvm.cond_br %few, ^then, ^done
  ^then:
    nvvm.barrier0
    llvm.br ^done
  ^done:
    llvm.return
  }
}

// Whole warps take the same way: they may wait on it.
// CHECK-LABEL: define void @"specialised$warp"
gpu.module @specialised {
  llvm.func @specialised() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bound = llvm.mlir.constant(32 : i32) : i32
    %first = llvm.icmp "ult" %tid, %bound : i32
    llvm.cond_br %first, ^then, ^done
  ^then:
    %id = llvm.mlir.constant(1 : i32) : i32
    nvvm.barrier id = %id number_of_threads = %bound
    llvm.br ^done
  ^done:
    llvm.return
  }
}

// CHECK: ; half has no vectorised form: a collective operation is for a part of the warp
gpu.module @half {
  llvm.func @half(%y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %mask = llvm.mlir.constant(65535 : i32) : i32
    nvvm.bar.warp.sync %mask : i32
    llvm.return
  }
}

// CHECK: ; odd has no vectorised form: its blocks are not a whole number of warps
gpu.module @odd {
  llvm.func @odd() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 48, 1, 1>} {
    llvm.return
  }
}

// CHECK: ; open has no vectorised form: the block's size is not known
gpu.module @open {
  llvm.func @open() attributes {nvvm.kernel} {
    llvm.return
  }
}

// Nothing depends on a lane: all that is left is the kernel itself.
// CHECK-LABEL: define void @"idle$warp"
// CHECK-NOT:     load
// CHECK:         ret void
gpu.module @idle {
  llvm.func @idle(%x: !llvm.ptr<1> {llvm.noalias})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.return
  }
}
