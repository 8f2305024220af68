// Matrix instructions and cp.async in the vectorised form: operands and results are rows that lie where
// they are, and one call of the engine does what has nothing in between.
//
// RUN: cameo-translate --kernel-to-sim-ir %s | FileCheck %s

// A copy and its commit; the wait is a call of its own, where it stands.
// CHECK-DAG: @copies = private constant [2 x { i32, i32, i32, i32 }] [{ i32, i32, i32, i32 } { i32 4104, i32 0, i32 0, i32 0 }, { i32, i32, i32, i32 } { i32 9, i32 0, i32 1, i32 0 }]
// CHECK-DAG: @copies.{{[0-9]+}} = private constant [1 x { i32, i32, i32, i32 }] [{ i32, i32, i32, i32 } { i32 10, i32 0, i32 {{[0-9]+}}, i32 0 }]
// CHECK-LABEL: define void @"copied$warp"
// CHECK:         [[COPIES:%.*]] = alloca [640 x i8]
// CHECK:         store <4 x i64>
// CHECK:         store <4 x i64>
// CHECK:         call void %{{.*}}(ptr {{.*}}%0, ptr {{.*}}@copies, i32 2, ptr {{.*}}[[COPIES]])
// CHECK:         call void %{{.*}}(ptr {{.*}}%0, ptr {{.*}}@copies.{{[0-9]+}}, i32 1, ptr {{.*}}[[COPIES]])
// CHECK:         fadd <8 x float>
// CHECK:         ret void
gpu.module @copied {
  llvm.mlir.global internal @line() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x f32>
  llvm.func @copied(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias}, %f: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %line = llvm.mlir.addressof @line : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %i = llvm.mul %tid, %four : i32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %line[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    kernel.ptx "cp.async.cg.shared.global 16"(%to, %from) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    kernel.ptx "cp.async.commit_group"() : () -> ()
    nvvm.barrier0
    kernel.ptx "cp.async.wait_group 0"() : () -> ()
    nvvm.barrier0
    %p = llvm.getelementptr %line[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %q = llvm.getelementptr %y[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<3> -> f32
    %s = llvm.fadd %v, %f : f32
    llvm.store %s, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}

// Where only some lanes copy, each lane calls the engine for itself.
// CHECK-LABEL: define void @"some$warp"
// CHECK-NOT:     alloca [640 x i8]
// CHECK:         call void %{{.*}}(ptr {{.*}}, i64 4104, ptr
// CHECK:         call void %{{.*}}(ptr {{.*}}, i64 10, ptr
// CHECK:         ret void
gpu.module @some {
  llvm.mlir.global internal @line() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x f32>
  llvm.func @some(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %line = llvm.mlir.addressof @line : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %few = llvm.icmp "ult" %tid, %four : i32
    llvm.cond_br %few, ^copy, ^wait
  ^copy:
    %i = llvm.mul %tid, %four : i32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %line[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    kernel.ptx "cp.async.cg.shared.global 16"(%to, %from) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    llvm.br ^wait
  ^wait:
    kernel.ptx "cp.async.wait_group 0"() : () -> ()
    llvm.return
  }
}

// Two sums of a loop, which come as vectors: each turn is one load of fragments and one call for
// both products, on the rows of the sums; no lane loop moves them.
// CHECK-LABEL: define void @"summed$warp"
// CHECK:         [[ROWS:%.*]] = alloca [{{[0-9]+}} x i8], align 64
// CHECK:         call void %{{.*}}(ptr {{.*}}%0, ptr {{.*}}@steps{{.*}}, i32 1, ptr {{.*}}[[ROWS]], ptr {{.*}}@places{{.*}})
// CHECK-NEXT:    call void %{{.*}}(ptr {{.*}}%0, ptr {{.*}}@steps{{.*}}, i32 2, ptr {{.*}}[[ROWS]], ptr {{.*}}@places{{.*}})
// CHECK-NEXT:    add
// CHECK-NEXT:    icmp
// CHECK-NEXT:    br i1
// CHECK:         ret void
gpu.module @summed {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<512 x f16>
  llvm.func @summed(%y: !llvm.ptr<1> {llvm.noalias}, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %n0 = llvm.mlir.constant(0 : i32) : i32
    %n1 = llvm.mlir.constant(1 : i32) : i32
    %n2 = llvm.mlir.constant(2 : i32) : i32
    %n3 = llvm.mlir.constant(3 : i32) : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %none = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
    %undef = llvm.mlir.undef : vector<4xf32>
    %at = llvm.mul %tid, %eight : i32
    %p = llvm.getelementptr %tile[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f16
    llvm.br ^turn(%n0, %none, %none : i32, vector<4xf32>, vector<4xf32>)
  ^turn(%i: i32, %c: vector<4xf32>, %e: vector<4xf32>):
    %a:4 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"(%p) : (!llvm.ptr<3>) -> (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)
    %c0 = llvm.extractelement %c[%n0 : i32] : vector<4xf32>
    %c1 = llvm.extractelement %c[%n1 : i32] : vector<4xf32>
    %c2 = llvm.extractelement %c[%n2 : i32] : vector<4xf32>
    %c3 = llvm.extractelement %c[%n3 : i32] : vector<4xf32>
    %e0 = llvm.extractelement %e[%n0 : i32] : vector<4xf32>
    %e1 = llvm.extractelement %e[%n1 : i32] : vector<4xf32>
    %e2 = llvm.extractelement %e[%n2 : i32] : vector<4xf32>
    %e3 = llvm.extractelement %e[%n3 : i32] : vector<4xf32>
    %d:4 = kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%a#0, %a#1, %a#2, %a#3, %a#0, %a#1, %c0, %c1, %c2, %c3) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %g:4 = kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%a#0, %a#1, %a#2, %a#3, %a#2, %a#3, %e0, %e1, %e2, %e3) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %dv0 = llvm.insertelement %d#0, %undef[%n0 : i32] : vector<4xf32>
    %dv1 = llvm.insertelement %d#1, %dv0[%n1 : i32] : vector<4xf32>
    %dv2 = llvm.insertelement %d#2, %dv1[%n2 : i32] : vector<4xf32>
    %dv3 = llvm.insertelement %d#3, %dv2[%n3 : i32] : vector<4xf32>
    %gv0 = llvm.insertelement %g#0, %undef[%n0 : i32] : vector<4xf32>
    %gv1 = llvm.insertelement %g#1, %gv0[%n1 : i32] : vector<4xf32>
    %gv2 = llvm.insertelement %g#2, %gv1[%n2 : i32] : vector<4xf32>
    %gv3 = llvm.insertelement %g#3, %gv2[%n3 : i32] : vector<4xf32>
    %next = llvm.add %i, %n1 : i32
    %more = llvm.icmp "ult" %next, %n : i32
    llvm.cond_br %more, ^turn(%next, %dv3, %gv3 : i32, vector<4xf32>, vector<4xf32>), ^done
  ^done:
    %s = llvm.fadd %dv3, %gv3 : vector<4xf32>
    %q = llvm.getelementptr %y[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
    llvm.store %s, %q : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
}

// A sum that is needed once more keeps its row: the second product's goes to others, the first
// one's overwrites nothing. Words that nobody reads share a row.
// CHECK-DAG: @places{{.*}} = private constant [11 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10]
// CHECK-DAG: @places{{.*}} = private constant [11 x i32] [i32 0, i32 1, i32 2, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 12, i32 12]
// CHECK-LABEL: define void @"kept$warp"
// CHECK:         call void %{{.*}}(ptr {{.*}}%0, ptr {{.*}}@steps{{.*}}, i32 1,
// CHECK:         call void %{{.*}}(ptr {{.*}}%0, ptr {{.*}}@steps{{.*}}, i32 1,
// CHECK:         fmul
// CHECK:         ret void
gpu.module @kept {
  llvm.func @kept(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %x[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %w = llvm.load %p : !llvm.ptr<1> -> i32
    %a = llvm.bitcast %w : i32 to vector<2xf16>
    %none = llvm.mlir.constant(0.0 : f32) : f32
    %d:4 = kernel.ptx "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"(%a, %a, %a, %none, %none, %none, %none) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %g:4 = kernel.ptx "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"(%a, %a, %a, %d#0, %d#1, %d#2, %d#3) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %s = llvm.fmul %d#0, %g#0 : f32
    %q = llvm.getelementptr %y[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %s, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}
