// Values that have none, in checked kernels: how they are followed to where it matters.
//
// RUN: cameo-translate --kernel-to-sim-ir --checked %s | FileCheck %s
// RUN: cameo-translate --kernel-to-sim-ir %s | FileCheck %s --check-prefix=PLAIN

// Without checks nobody asks.
// PLAIN-NOT: call void %{{.*}}(ptr {{.*}}, i64 {{[0-9]+}}, ptr null,

// The engine is told on the way on which the value that is stored has not been set.
// CHECK-LABEL: define void @some_lanes(
// CHECK:         [[IN:%.*]] = icmp slt i32
// CHECK:         br i1 [[IN]], label %[[THEN:.*]], label %[[NONE:[0-9]+]]
// CHECK:       [[NONE]]:
// CHECK:         call void %{{.*}}(ptr {{.*}}%0, i64 [[CODE:[0-9]+]], ptr null, i32 [[SITE:[0-9]+]])
// CHECK:         phi float {{.*}}[ 0.000000e+00, %[[NONE]] ]
// CHECK-LABEL: define void @"some_lanes$warp"(
// CHECK:         call void %{{.*}}(ptr {{.*}}, i64 [[CODE]], ptr null, i32 [[SITE]])
gpu.module @some_lanes {
  llvm.func @some_lanes(%y: !llvm.ptr<1> {llvm.noalias}, %f: f32, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %none = llvm.mlir.undef : f32
    %in = llvm.icmp "slt" %tid, %n : i32
    llvm.cond_br %in, ^then, ^end(%none : f32)
  ^then:
    %x = llvm.sitofp %tid : i32 to f32
    llvm.br ^end(%x : f32)
  ^end(%v: f32):
    %r = llvm.fmul %v, %f : f32
    %q = llvm.getelementptr %y[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %r, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}

// Vectors all of whose elements are inserted, and elements that nobody takes, need nothing.
// CHECK-LABEL: define void @built(
// CHECK-NOT:     ptr null
// CHECK-LABEL: define void @"built$warp"(
// CHECK-NOT:     i64 {{[0-9]+}}, ptr null
gpu.module @built {
  llvm.func @built(%y: !llvm.ptr<1> {llvm.noalias}, %f: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %none = llvm.mlir.poison : vector<2xf32>
    %a = llvm.insertelement %f, %none[%c0 : i32] : vector<2xf32>
    %b = llvm.insertelement %f, %a[%c1 : i32] : vector<2xf32>
    %s = llvm.fadd %b, %b : vector<2xf32>
    %splat = llvm.shufflevector %a, %none [0, 0, -1, 3] : vector<2xf32>
    %e = llvm.extractelement %splat[%c1 : i32] : vector<4xf32>
    %t = llvm.insertelement %e, %s[%c1 : i32] : vector<2xf32>
    %q = llvm.getelementptr %y[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<2xf32>
    llvm.store %t, %q : vector<2xf32>, !llvm.ptr<1>
    llvm.return
  }
}

// A local array has a second one beside it, of undefined bits; of one that is written whole before it
// is read LLVM leaves neither.
// CHECK-LABEL: define void @partly(
// CHECK:         [[BITS:%.*]] = alloca [16 x i8]
// CHECK:         store i8 -1
// CHECK:         [[PLACE:%.*]] = getelementptr float, ptr [[BITS]]
// CHECK:         store i32 0, ptr [[PLACE]]
// CHECK:         [[UNDEFINED:%.*]] = load i32, ptr
// CHECK:         icmp eq i32 [[UNDEFINED]], 0
// CHECK:         call void %{{.*}}(ptr {{.*}}%0, i64 {{[0-9]+}}, ptr null,
// CHECK-LABEL: define void @"partly$warp"(
gpu.module @partly {
  llvm.func @partly(%y: !llvm.ptr<1> {llvm.noalias}, %f: f32, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %array = llvm.alloca %c4 x f32 : (i32) -> !llvm.ptr
    %i = llvm.and %n, %c3 : i32
    %p = llvm.getelementptr %array[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %f, %p : f32, !llvm.ptr
    %j = llvm.and %tid, %c3 : i32
    %r = llvm.getelementptr %array[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v = llvm.load %r : !llvm.ptr -> f32
    %q = llvm.getelementptr %y[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %v, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}

// CHECK-LABEL: define void @whole(
// CHECK-NOT:     alloca
// CHECK-NOT:     i64 {{[0-9]+}}, ptr null
// CHECK-LABEL: define void @"whole$warp"(
gpu.module @whole {
  llvm.func @whole(%y: !llvm.ptr<1> {llvm.noalias}, %f: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %array = llvm.alloca %c4 x f32 : (i32) -> !llvm.ptr
    llvm.br ^fill(%c0 : i32)
  ^fill(%i: i32):
    %p = llvm.getelementptr %array[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %f, %p : f32, !llvm.ptr
    %i1 = llvm.add %i, %c1 : i32
    %more = llvm.icmp "slt" %i1, %c4 : i32
    llvm.cond_br %more, ^fill(%i1 : i32), ^sum(%c0, %zero : i32, f32)
  ^sum(%j: i32, %s: f32):
    %r = llvm.getelementptr %array[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v = llvm.load %r : !llvm.ptr -> f32
    %t = llvm.fadd %s, %v : f32
    %j1 = llvm.add %j, %c1 : i32
    %again = llvm.icmp "slt" %j1, %c4 : i32
    llvm.cond_br %again, ^sum(%j1, %t : i32, f32), ^done
  ^done:
    %q = llvm.getelementptr %y[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %t, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}
