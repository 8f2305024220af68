// RUN: %cameo-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(cameo-lower-nvvm-to-engine))' %s | FileCheck %s

// CHECK-LABEL: llvm.func internal @k$body(
// CHECK-SAME:    %[[THREAD:.*]]: !llvm.ptr, %[[V:.*]]: f32)
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %[[THREAD]][16]
// CHECK:         %[[TID:.*]] = llvm.load %[[PLACE]] invariant : !llvm.ptr -> i32
// CHECK:         %[[BARRIER:.*]] = llvm.mlir.constant(0 : i32) {sim.site = "barrier"}
// CHECK:         llvm.call @cameo.sim.barrier(%[[THREAD]], %{{.*}}, %{{.*}}, %[[BARRIER]]) : (!llvm.ptr, i32, i32, i32) -> ()
// CHECK:         %[[BITS:.*]] = llvm.bitcast %[[V]] : f32 to i32
// CHECK:         %[[BOTH:.*]] = llvm.call @cameo.sim.shuffle(%[[THREAD]], %{{.*}}, %{{.*}}, %[[BITS]], %[[TID]],
// CHECK:         %[[LOW:.*]] = llvm.trunc %[[BOTH]] : i64 to i32
// CHECK:         llvm.bitcast %[[LOW]] : i32 to f32
// CHECK:         llvm.call @cameo.sim.vote(
// CHECK:         llvm.call @cameo.sim.warp_sync(
// CHECK-NOT:     nvvm
gpu.module @kernels {
  llvm.func internal @k$body(%thread: !llvm.ptr, %v: f32) attributes {sim.body = @k} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    nvvm.barrier0
    %all = llvm.mlir.constant(-1 : i32) : i32
    %s = nvvm.shfl.sync idx %all, %v, %tid, %all : f32 -> f32
    %true = llvm.mlir.constant(true) : i1
    %b = nvvm.vote.ballot.sync %all, %true : i32
    nvvm.bar.warp.sync %all : i32
    llvm.return
  }
  llvm.func @k(%thread: !llvm.ptr, %args: !llvm.ptr) {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func internal @k$body(%thread: !llvm.ptr) attributes {sim.body = @k} {
    // expected-error @below {{kernel k: the simulator does not know nvvm.read.ptx.sreg.clock}}
    %t = nvvm.read.ptx.sreg.clock : i32
    llvm.return
  }
  llvm.func @k(%thread: !llvm.ptr, %args: !llvm.ptr) {
    llvm.return
  }
}
