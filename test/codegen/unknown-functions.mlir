// A function of libdevice that the engine does not have ends the compilation of an image, and says which.
//
// RUN: not cameo-translate --kernel-to-sim-image %s -o %t 2>&1 | FileCheck %s
// RUN: not cameo-translate --kernel-to-sim-ir %s -o %t 2>&1 | FileCheck %s

// CHECK: error: {{.*}}the simulator has no function __nv_unheardf
gpu.module @unbound {
  llvm.func @__nv_unheardf(f32) -> f32
  llvm.func @unbound(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %v = llvm.load %x : !llvm.ptr<1> -> f32
    %w = llvm.call @__nv_unheardf(%v) : (f32) -> f32
    llvm.store %w, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
