// Loops that lanes leave at different times, or do not all enter, are the warp's, under a mask.
//
// RUN: cameo-translate --kernel-to-sim-ir --arch=sm_90a %s | FileCheck %s

// Each lane sums as many numbers as its row says: the warp goes on while any lane does.
// CHECK-LABEL: define void @"parted$warp"
// CHECK:         %way{{.*}} = alloca [32 x i32]
// CHECK:         {{^}}[[HEAD:head[0-9]*]]:
// CHECK:         [[ON:%.*]] = icmp eq <4 x i32> %{{.*}}, zeroinitializer
// CHECK:         call <4 x float> @llvm.masked.load.v4f32{{.*}}<4 x i1> [[ON]]
// CHECK:         fadd <4 x float>
// CHECK:         select <4 x i1> [[ON]], <4 x float>
// CHECK:         [[BALLOT:%.*]] = bitcast <32 x i1> %{{.*}} to i32
// CHECK:         [[NONE:%.*]] = icmp eq i32 [[BALLOT]], 0
// CHECK:         br i1 [[NONE]], label %{{.*}}, label %[[HEAD]]
gpu.module @parted {
  llvm.func @parted(%x: !llvm.ptr<1> {llvm.noalias}, %rows: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %w = llvm.zext %tid : i32 to i64
    %p = llvm.getelementptr %rows[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %n = llvm.load %p : !llvm.ptr<1> -> i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %none = llvm.mlir.constant(0.0 : f32) : f32
    llvm.br ^head(%zero, %none : i32, f32)
  ^head(%i: i32, %s: f32):
    %more = llvm.icmp "ult" %i, %n : i32
    llvm.cond_br %more, ^body, ^done
  ^body:
    %row = llvm.shl %i, %five overflow<nsw, nuw> : i32
    %at = llvm.add %row, %tid overflow<nsw, nuw> : i32
    %wide = llvm.zext %at : i32 to i64
    %q = llvm.getelementptr %x[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %v = llvm.load %q : !llvm.ptr<1> -> f32
    %sum = llvm.fadd %s, %v : f32
    %next = llvm.add %i, %one : i32
    llvm.br ^head(%next, %sum : i32, f32)
  ^done:
    %r = llvm.getelementptr %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %s, %r : f32, !llvm.ptr<1>
    llvm.return
  }
}

// Lanes within bounds all run the loop equally long: the warp votes once, before it.
// CHECK-LABEL: define void @"guarded$warp"
// CHECK:         [[ANY:%.*]] = bitcast <32 x i1> %{{.*}} to i32
// CHECK:         br i1
// CHECK:         {{^}}[[HEAD:head[0-9]*]]:
// CHECK-NOT:     bitcast <32 x i1>
// CHECK:         fadd <{{[48]}} x float>
// CHECK-NOT:     bitcast <32 x i1>
// CHECK:         br i1 %{{.*}}, label %{{.*}}, label %[[HEAD]]
// CHECK:         ret void
gpu.module @guarded {
  llvm.func @guarded(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias}, %m: i32, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %w = llvm.zext %tid : i32 to i64
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %none = llvm.mlir.constant(0.0 : f32) : f32
    %in = llvm.icmp "ult" %tid, %m : i32
    llvm.cond_br %in, ^body(%zero, %none : i32, f32), ^done
  ^body(%i: i32, %s: f32):
    %row = llvm.shl %i, %five overflow<nsw, nuw> : i32
    %at = llvm.add %row, %tid overflow<nsw, nuw> : i32
    %wide = llvm.zext %at : i32 to i64
    %q = llvm.getelementptr %x[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %v = llvm.load %q : !llvm.ptr<1> -> f32
    %sum = llvm.fadd %s, %v : f32
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %next, %n : i32
    llvm.cond_br %more, ^body(%next, %sum : i32, f32), ^out
  ^out:
    %r = llvm.getelementptr %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %sum, %r : f32, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    llvm.return
  }
}

// An atomic keeps a body from being SIMD's: each lane runs its own loop.
// CHECK-LABEL: define void @"counted$warp"
// CHECK-NOT:     %way
// CHECK:         atomicrmw
// CHECK:         ret void
gpu.module @counted {
  llvm.func @counted(%x: !llvm.ptr<1>, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^head(%tid : i32)
  ^head(%i: i32):
    %more = llvm.icmp "ult" %i, %n : i32
    llvm.cond_br %more, ^body, ^done
  ^body:
    %old = llvm.atomicrmw add %x, %i monotonic : !llvm.ptr<1>, i32
    %next = llvm.add %i, %one : i32
    llvm.br ^head(%next : i32)
  ^done:
    llvm.return
  }
}

// A loop with a barrier gets no mask: all lanes must come there.
// CHECK-LABEL: define void @"waiting$warp"
// CHECK-NOT:     %way
// CHECK:         ret void
gpu.module @waiting {
  llvm.func @waiting(%n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %step = llvm.mlir.constant(3 : i32) : i32
    llvm.br ^head(%tid : i32)
  ^head(%i: i32):
    %more = llvm.icmp "ult" %i, %n : i32
    llvm.cond_br %more, ^body, ^done
  ^body:
    nvvm.barrier0
    %next = llvm.add %i, %step : i32
    llvm.br ^head(%next : i32)
  ^done:
    llvm.return
  }
}
