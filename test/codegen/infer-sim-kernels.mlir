// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(cameo-infer-sim-kernels{checked}))' %s | FileCheck %s
// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(cameo-infer-sim-kernels))' %s | FileCheck %s --check-prefix=PLAIN

// PLAIN-NOT: sim.access

// CHECK-LABEL: llvm.func @copies
// CHECK-SAME:  sim.block = array<i32: 64, 1, 1>
// CHECK-SAME:  sim.cluster = array<i32: 0, 0, 0>
// CHECK-SAME:  sim.maps = 0 : i32
// Parameter 1 is written to.
// CHECK-SAME:  sim.read_only = -3 : i32
// CHECK:       llvm.load {{.*}} {alignment = 1 : i64, sim.access = {alignment = 16 : i32, bytes = 4 : i32, kind = 0 : i32, space = 257 : i32, what = "load of 4 B from parameter 0"}}
// CHECK:       llvm.store {{.*}} {alignment = 1 : i64, sim.access = {alignment = 4 : i32, bytes = 4 : i32, kind = 1 : i32, space = 513 : i32, what = "store of 4 B to parameter 1"}}
// CHECK:       llvm.store {{.*}}what = "store of 4 B to shared memory"
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.func @copies(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %v = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> f32
    llvm.store %v, %y : f32, !llvm.ptr<1>
    %s = llvm.mlir.addressof @tile : !llvm.ptr<3>
    llvm.store %v, %s : f32, !llvm.ptr<3>
    llvm.return
  }
  // Whatever it writes through, the address is one that was read.
  // CHECK-LABEL: llvm.func @anywhere
  // CHECK-SAME:  sim.read_only = 0 : i32
  llvm.func @anywhere(%x: !llvm.ptr<1>, %v: f32) attributes {nvvm.kernel} {
    %p = llvm.load %x : !llvm.ptr<1> -> !llvm.ptr<1>
    llvm.store %v, %p : f32, !llvm.ptr<1>
    llvm.return
  }
  // CHECK-LABEL: llvm.func @mapped
  // CHECK-SAME:  sim.cluster = array<i32: 2, 1, 1>, sim.maps = 1 : i32
  llvm.func @mapped(%m: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @unknown(%x: !llvm.ptr<1>, %a: i32) attributes {nvvm.kernel} {
    // expected-error @below {{kernel unknown: the simulator does not know llvm.cmpxchg}}
    %r = llvm.cmpxchg %x, %a, %a monotonic monotonic : !llvm.ptr<1>, i32
    llvm.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{kernel size: parameter 0 is 64 B by value; the simulator takes tensor maps so, 128 B that are grid_constant}}
  llvm.func @size(%a: !llvm.ptr {llvm.byval = !llvm.array<64 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.return
  }
}
