// Lanes of the vectorised form run in an order that is drawn anew, where it can be seen; else in their own.
//
// RUN: cameo-translate --kernel-to-sim-ir --arch=sm_90a %s | FileCheck %s

// What lanes get depends on who comes first. The order is drawn before the loop.
// CHECK-LABEL: define void @"appended$warp"
// CHECK:         [[PLACE:%.*]] = getelementptr i8, ptr %0, i64 128
// CHECK:         [[START:%.*]] = load i32, ptr [[PLACE]]
// CHECK:         [[ORDER:%.*]] = mul i32 [[START]], -1814600227
// CHECK:         [[SHIFTED:%.*]] = lshr i32 [[ORDER]], 22
// CHECK:         [[FACTOR:%.*]] = or i32 [[SHIFTED]], 1
// CHECK:         [[FLIPS:%.*]] = lshr i32 [[ORDER]], 27
// CHECK:         [[TURN:%.*]] = phi i32 [ 0,
// CHECK:         [[PRODUCT:%.*]] = mul nuw nsw i32 [[TURN]], [[FACTOR]]
// CHECK:         [[LOW:%.*]] = and i32 [[PRODUCT]], 31
// CHECK:         [[LANE:%.*]] = xor i32 [[LOW]], [[FLIPS]]
// CHECK:         [[THREAD:%.*]] = or disjoint i32 %{{.*}}, [[LANE]]
// CHECK:         atomicrmw add
// CHECK:         store i32 [[THREAD]]
// CHECK:         [[NEXT:%.*]] = add nuw nsw i32 [[TURN]], 1
// CHECK:         icmp eq i32 [[NEXT]], 32
// CHECK:         ret void
gpu.module @appended {
  llvm.func @appended(%count: !llvm.ptr<1>, %list: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %at = llvm.atomicrmw add %count, %one monotonic : !llvm.ptr<1>, i32
    %w = llvm.zext %at : i32 to i64
    %p = llvm.getelementptr %list[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %tid, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}

// What comes before and after an atomic's loop, with a barrier between, stays SIMD's.
// CHECK-LABEL: define void @"counted$warp"
// CHECK:         load <8 x i32>
// CHECK:         mul i32 %{{.*}}, -1814600227
// CHECK:         atomicrmw add
// CHECK:         store <8 x i32>
// CHECK-NOT:     -1814600227
// CHECK:         ret void
gpu.module @counted {
  llvm.func @counted(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias}, %count: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %w = llvm.zext %tid : i32 to i64
    %p = llvm.getelementptr %x[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %v = llvm.load %p : !llvm.ptr<1> -> i32
    %q = llvm.getelementptr %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %square = llvm.mul %v, %v : i32
    nvvm.barrier0
    %old = llvm.atomicrmw add %count, %square monotonic : !llvm.ptr<1>, i32
    nvvm.barrier0
    llvm.store %square, %q : i32, !llvm.ptr<1>
    llvm.return
  }
}

// Each loop of lanes has an order of its own, and so has each turn of a loop around it: the warp
// draws from what the last order was drawn from.
// CHECK-LABEL: define void @"again$warp"
// CHECK:         [[BEFORE:%.*]] = phi i32 [ [[ORDER:%.*]], %{{.*}} ], [ %{{.*}}, %{{.*}} ]
// CHECK:         [[ORDER]] = mul i32 [[BEFORE]], -1814600227
// CHECK:         atomicrmw xchg
// CHECK:         ret void
gpu.module @again {
  llvm.func @again(%count: !llvm.ptr<1>, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^body(%zero : i32)
  ^body(%i: i32):
    %old = llvm.atomicrmw xchg %count, %tid monotonic : !llvm.ptr<1>, i32
    nvvm.barrier0
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %next, %n : i32
    llvm.cond_br %more, ^body(%next : i32), ^done
  ^done:
    llvm.return
  }
}

// The engine is called for each lane.
// CHECK-LABEL: define void @"added$warp"
// CHECK:         mul i32 %{{.*}}, -1814600227
// CHECK:         call void %{{.*}}, i64
// CHECK:         ret void
gpu.module @added {
  llvm.func @added(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %at = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    kernel.ptx "red.global.add.u32"(%at, %tid) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }
}

// Functions of the C library are called lane by lane, too, but cannot tell.
// CHECK-LABEL: define void @"computed$warp"
// CHECK-NOT:     -1814600227
// CHECK:         call float
// CHECK-NOT:     -1814600227
// CHECK:         ret void
gpu.module @computed {
  llvm.func @__nv_sinf(f32) -> f32
  llvm.func @computed(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    %s = llvm.call @__nv_sinf(%v) : (f32) -> f32
    llvm.store %s, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}

// Of many values for one place, that of the lane that comes last stays.
// CHECK-LABEL: define void @"last$warp"
// CHECK:         [[ORDER:%.*]] = mul i32 %{{.*}}, -1814600227
// CHECK:         [[FLIPS:%.*]] = lshr i32 [[ORDER]], 27
// CHECK:         [[LANE:%.*]] = xor i32 %{{.*}}, [[FLIPS]]
// CHECK:         [[THREAD:%.*]] = or disjoint i32 %{{.*}}, [[LANE]]
// CHECK:         store i32 [[THREAD]]
// CHECK:         ret void
gpu.module @last {
  llvm.func @last(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.store %tid, %x : i32, !llvm.ptr<1>
    llvm.return
  }
}

// A value that all have, or a place of each lane's own, or one lane alone: no order to be seen.
// CHECK-LABEL: define void @"same$warp"
// CHECK-NOT:     -1814600227
// CHECK:         ret void
gpu.module @same {
  llvm.func @same(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias}, %v: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.store %v, %x : i32, !llvm.ptr<1>
    %p = llvm.getelementptr %y[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %w = llvm.add %tid, %v : i32
    llvm.store %w, %p : i32, !llvm.ptr<1>
    %leads = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %leads, ^then, ^done
  ^then:
    llvm.store %w, %x : i32, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    llvm.return
  }
}

// A loop that lanes run each for itself, for the sake of its vectors, and in which they write.
// CHECK-LABEL: define void @"rows$warp"
// CHECK:         mul i32 %{{.*}}, -1814600227
// CHECK:         store <4 x i32>
// CHECK:         ret void
gpu.module @rows {
  llvm.func @rows(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^head(%tid : i32)
  ^head(%i: i32):
    %more = llvm.icmp "ult" %i, %n : i32
    llvm.cond_br %more, ^body, ^done
  ^body:
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %q = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xi32>
    %v = llvm.load %p : !llvm.ptr<1> -> vector<4xi32>
    %w = llvm.mul %v, %v : vector<4xi32>
    llvm.store %w, %q : vector<4xi32>, !llvm.ptr<1>
    %next = llvm.add %i, %one : i32
    llvm.br ^head(%next : i32)
  ^done:
    llvm.return
  }
}
