// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-infer-sim-kernels,cameo-split-sim-kernels))' %s | FileCheck %s
// What is split stays as it is.
// RUN: %cameo-opt --pass-pipeline='builtin.module(gpu.module(cameo-infer-sim-kernels,cameo-split-sim-kernels,cameo-split-sim-kernels))' %s | FileCheck %s

// CHECK:      llvm.func internal @scale$body(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: i32) attributes {always_inline, kernel.nodes = "scale", sim.body = @scale}
// CHECK-NEXT:   llvm.return
// CHECK:      llvm.func @scale(%[[THREAD:.*]]: !llvm.ptr, %[[ARGS:.*]]: !llvm.ptr) attributes {sim.block
// CHECK-NEXT:   %[[P0:.*]] = llvm.getelementptr %[[ARGS]][0]
// CHECK-NEXT:   %[[S0:.*]] = llvm.load %[[P0]] invariant : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:   %[[X:.*]] = llvm.load %[[S0]] invariant : !llvm.ptr -> !llvm.ptr<1>
// CHECK-NEXT:   %[[P1:.*]] = llvm.getelementptr %[[ARGS]][8]
// CHECK-NEXT:   %[[S1:.*]] = llvm.load %[[P1]] invariant : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:   %[[N:.*]] = llvm.load %[[S1]] invariant : !llvm.ptr -> i32
// CHECK-NEXT:   llvm.call @scale$body(%[[THREAD]], %[[X]], %[[N]])
// CHECK-NEXT:   llvm.return
// Of a tensor map the kernel has the address.
// CHECK:      llvm.func @mapped(
// CHECK:        %[[SLOT:.*]] = llvm.load
// CHECK-NEXT:   llvm.call @mapped$body(%{{.*}}, %[[SLOT]])
// CHECK-NOT:  llvm.func
gpu.module @kernels {
  llvm.func @scale(%x: !llvm.ptr<1> {llvm.noalias, llvm.align = 16 : i64}, %n: i32) attributes {kernel.nodes = "scale", nvvm.kernel} {
    llvm.return
  }
  llvm.func @mapped(%m: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.return
  }
}
