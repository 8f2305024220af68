// Instructions on both ways: inline assembly in PTX, a call of the engine in the simulator.
//
// RUN: cameo-translate --kernel-to-ptx --arch=sm_80 %s | FileCheck %s
// RUN: cameo-translate --kernel-to-sim-image --arch=sm_90a %s -o %t.so

gpu.module @instructions {
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: .entry instructions(
  llvm.func @instructions(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %c: vector<2xf16>, %p: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %shared = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    // Shared addresses have 32 bits, global ones 64.
    // CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %r{{[0-9]+}};
    kernel.ptx "cp.async.cg.shared.global 16"(%shared, %in, %p) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
    // CHECK: cp.async.commit_group;
    kernel.ptx "cp.async.commit_group"() : () -> ()
    // CHECK: cp.async.wait_group 0;
    kernel.ptx "cp.async.wait_group 0"() : () -> ()
    // CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r[[A0:[0-9]+]], %r[[A1:[0-9]+]], %r[[A2:[0-9]+]], %r[[A3:[0-9]+]]}, [%r{{[0-9]+}}];
    %a:4 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x4.shared.b16"(%shared) : (!llvm.ptr<3>) -> (i32, i32, i32, i32)
    // CHECK: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r{{[0-9]+}}, %r{{[0-9]+}}}, {%r[[A0]], %r[[A1]], %r[[A2]], %r[[A3]]}, {%r[[A0]], %r[[A1]]}, {%r[[C:[0-9]+]], %r[[C]]};
    %d:2 = kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"(%a#0, %a#1, %a#2, %a#3, %a#0, %a#1, %c, %c)
        : (i32, i32, i32, i32, i32, i32, vector<2xf16>, vector<2xf16>) -> (vector<2xf16>, vector<2xf16>)
    llvm.store %d#0, %out : vector<2xf16>, !llvm.ptr<1>
    // CHECK: prmt.b32 %r{{[0-9]+}}, %r[[A0]], %r[[A1]], %r{{[0-9]+}};
    %turned = kernel.ptx "prmt.b32"(%a#0, %a#1, %p) : (i32, i32, i32) -> i32
    llvm.store %turned, %out : i32, !llvm.ptr<1>
    // CHECK: cvt.rna.tf32.f32 %r{{[0-9]+}}, %f{{[0-9]+}};
    %wide = llvm.load %in : !llvm.ptr<1> -> f32
    %narrow = kernel.ptx "cvt.rna.tf32.f32"(%wide) : (f32) -> i32
    llvm.store %narrow, %out : i32, !llvm.ptr<1>
    // What nobody uses and has no effect on memory is dropped, what has an effect is kept.
    // CHECK-NOT: ex2
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %unused = kernel.ptx "ex2.approx.f32"(%one) : (f32) -> f32
    // CHECK: atom.global.add.u32
    %old = kernel.ptx "atom.global.add.u32"(%out, %p) : (!llvm.ptr<1>, i32) -> i32
    llvm.return
  }
}
