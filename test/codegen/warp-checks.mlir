// Accesses of checked kernels in the vectorised form: the engine is told of those of all lanes at once.
//
// RUN: cameo-translate --kernel-to-sim-ir --checked %s -o %t.ll
// RUN: FileCheck %s < %t.ll

// Lanes that are not to access memory are named beside the addresses. If the engine has an objection,
// a second loop takes the addresses that it gives instead.
// CHECK:       @accesses = private constant [2 x
// CHECK-SAME:    { i32 4, i32 4, i32 257, i32 0, i32 0, i32 0, i32 0, i32 0 }
// CHECK-SAME:    { i32 4, i32 4, i32 513, i32 1, i32 1, i32 1, i32 0, i32 0 }
// CHECK-LABEL: define void @guarded(
// CHECK-LABEL: define void @"guarded$warp"(
// CHECK:         [[ROWS:%addresses]] = alloca [64 x ptr]
// CHECK:         [[ALLOWED:%allowed]] = alloca [64 x ptr]
// CHECK:         [[PARTS:%parts]] = alloca [32 x i8]
// CHECK:         [[IN:%.*]] = icmp slt <4 x i32>
// CHECK:         store <4 x ptr>
// CHECK:         store <4 x ptr>
// CHECK:         zext <4 x i1> [[IN]] to <4 x i8>
// CHECK:         [[FOUND:%.*]] = call i32 %{{.*}}(ptr nonnull %0, ptr nonnull @accesses, i32 2, ptr nonnull [[ROWS]], ptr nonnull [[PARTS]], ptr nonnull [[ALLOWED]])
// CHECK:         icmp eq i32 [[FOUND]], 0
// CHECK:         call <8 x float> @llvm.masked.load.v8f32
// CHECK-NOT:     [[ALLOWED]]
// CHECK:         call void @llvm.masked.store.v8f32
// CHECK:       lanes.faulty:
// CHECK:         [[PLACE:%.*]] = getelementptr inbounds ptr, ptr [[ALLOWED]]
// CHECK:         [[ADDRESS:%.*]] = load ptr, ptr [[PLACE]]
// CHECK:         load float, ptr [[ADDRESS]]
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

// Addresses that are a constant apart share a row; a barrier parts groups.
// CHECK:       @accesses = private constant [4 x
// CHECK-SAME:    { i32 4, i32 4, i32 3, i32 1, i32 {{.}}, i32 1, i32 -1, i32 0 }
// CHECK-SAME:    { i32 4, i32 4, i32 3, i32 1, i32 {{.}}, i32 1, i32 -1, i32 128 }
// CHECK-SAME:    { i32 4, i32 4, i32 3, i32 1, i32 {{.}}, i32 1, i32 -1, i32 256 }
// CHECK:       [[SECOND:@accesses.*]] = private constant [2 x
// CHECK-LABEL: define void @"shared$warp"(
// CHECK:         call i32 %{{.*}}(ptr nonnull %0, ptr nonnull @accesses, i32 4, ptr nonnull %{{.*}}, ptr null,
// CHECK:         call void %{{.*}}(ptr nonnull %0, i32 0, i32 0,
// CHECK:         call i32 %{{.*}}(ptr nonnull %0, ptr nonnull [[SECOND]], i32 2,
// CHECK:         ret void
gpu.module @shared {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<96 x f32>
  llvm.func @shared(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %w = llvm.zext %tid : i32 to i64
    %p = llvm.getelementptr %x[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %t = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %s0 = llvm.getelementptr %t[%w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %s1 = llvm.getelementptr %s0[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
    %s2 = llvm.getelementptr %s0[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.store %v, %s0 : f32, !llvm.ptr<3>
    llvm.store %v, %s1 : f32, !llvm.ptr<3>
    llvm.store %v, %s2 : f32, !llvm.ptr<3>
    nvvm.barrier0
    %a = llvm.load %s1 : !llvm.ptr<3> -> f32
    %q = llvm.getelementptr %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %a, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}

// An address that a load tells is not known before it.
// CHECK-LABEL: define void @"gathered$warp"(
// CHECK:         call i32 %{{.*}}(ptr nonnull %0, ptr nonnull @accesses{{.*}}, i32 1,
// CHECK:         load <4 x i32>
// CHECK:         call i32 %{{.*}}(ptr nonnull %0, ptr nonnull @accesses{{.*}}, i32 1,
// CHECK:         ret void
gpu.module @gathered {
  llvm.func @gathered(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %w = llvm.zext %tid : i32 to i64
    %p = llvm.getelementptr %x[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %i = llvm.load %p : !llvm.ptr<1> -> i32
    %iw = llvm.sext %i : i32 to i64
    %q = llvm.getelementptr %y[%iw] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %tid, %q : i32, !llvm.ptr<1>
    llvm.return
  }
}

// Lanes that run a loop each as often as it likes tell the engine of each access by themselves.
// CHECK-LABEL: define void @"counted$warp"(
// CHECK:         [[OWN:%.*]] = getelementptr i8, ptr %0, i64 %
// CHECK:         [[P:%.*]] = tail call ptr %{{.*}}(ptr nonnull [[OWN]], ptr %{{.*}}, i32 4, i32 4, i32 257, i32 0,
// CHECK:         load float, ptr [[P]]
// CHECK:         call i32 %{{.*}}(ptr nonnull %0, ptr nonnull @accesses{{.*}}, i32 1,
// CHECK:         ret void
gpu.module @counted {
  llvm.func @counted(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %w = llvm.zext %tid : i32 to i64
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %none = llvm.mlir.constant(0.0 : f32) : f32
    llvm.br ^loop(%zero, %none : i64, f32)
  ^loop(%i: i64, %sum: f32):
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    %next = llvm.fadd %sum, %v : f32
    %i1 = llvm.add %i, %one : i64
    %more = llvm.icmp "ult" %i, %w : i64
    llvm.cond_br %more, ^loop(%i1, %next : i64, f32), ^done
  ^done:
    %q = llvm.getelementptr %y[%w] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %next, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}
