// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-lower-to-host-types))' %s | FileCheck %s
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-lower-to-host-types,cameo-lower-to-host-types))' %s | FileCheck %s

// CHECK: llvm.mlir.global internal constant @table(dense<1.000000e+00>
// CHECK-SAME: addr_space = 0
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME:    %[[P:.*]]: !llvm.ptr, %[[X:.*]]: i16, %[[F:.*]]: f32)
// CHECK-NEXT:    llvm.load %[[P]] : !llvm.ptr -> i16
// CHECK-NEXT:    llvm.mlir.constant(16256 : i16) : i16
// CHECK-NEXT:    llvm.mlir.constant(dense<16256> : vector<2xi16>) : vector<2xi16>
// CHECK-NEXT:    llvm.mlir.addressof @table : !llvm.ptr
// CHECK-NEXT:    llvm.fadd %[[F]], %[[F]] : f32
gpu.module @kernels {
  llvm.mlir.global internal constant @table(dense<1.0> : tensor<2xf32>) {addr_space = 4 : i32} : !llvm.array<2 x f32>
  llvm.func @k(%p: !llvm.ptr<1>, %x: bf16, %f: f32) {
    %g = llvm.addrspacecast %p : !llvm.ptr<1> to !llvm.ptr
    %v = llvm.load %g : !llvm.ptr -> bf16
    %c = llvm.mlir.constant(1.0 : bf16) : bf16
    %d = llvm.mlir.constant(dense<1.0> : vector<2xbf16>) : vector<2xbf16>
    %t = llvm.mlir.addressof @table : !llvm.ptr<4>
    %s = llvm.fadd %f, %f : f32
    llvm.return
  }
}
