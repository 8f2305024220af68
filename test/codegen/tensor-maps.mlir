// Tensor maps: parameters of 128 bytes by value, whose generic addresses instructions take, and pointers
// to global memory, with the fences that these need.
//
// RUN: cameo-translate --kernel-to-ptx --arch=sm_90a %s | FileCheck %s --implicit-check-not=.local
// RUN: cameo-translate --kernel-to-sim-ir --arch=sm_90a --thread-form %s | FileCheck %s --check-prefix=SIM
// RUN: cameo-translate --kernel-to-sim-image --arch=sm_90a --checked %s -o %t.so

gpu.module @maps {
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: .entry maps(
  // CHECK-NEXT: .param .align 64 .b8 maps_param_0[128],
  // CHECK-NEXT: .param .u64 maps_param_1
  // SIM-LABEL: define void @maps(
  // SIM: %[[MAP:.*]] = load ptr, ptr %1
  // SIM: %[[SLOT:.*]] = getelementptr i8, ptr %1, i64 8
  // SIM: %[[POINTER:.*]] = load ptr, ptr %[[SLOT]]
  // SIM: load ptr, ptr %[[POINTER]]
  llvm.func @maps(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                  %global: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %shared = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    // CHECK-DAG: ld.param.u64 %[[GLOBAL:rd[0-9]+]], [maps_param_1];
    // CHECK-DAG: mov.b64 %[[PARAMETER:rd[0-9]+]], maps_param_0;
    // CHECK-DAG: mov.u64 %[[COPY:rd[0-9]+]], %[[PARAMETER]];
    // CHECK: cvta.param.u64 %[[MAP:rd[0-9]+]], %[[COPY]];
    // CHECK: prefetch.tensormap [%[[MAP]]];
    kernel.ptx "prefetch.tensormap"(%map) : (!llvm.ptr) -> ()
    // CHECK: cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%[[MAP]], {%r{{[0-9]+}}}], [%r{{[0-9]+}}];
    // SIM: ptrtoint ptr %[[MAP]] to i64
    kernel.ptx "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group"(%map, %zero, %shared) : (!llvm.ptr, i32, !llvm.ptr<3>) -> ()
    // CHECK: fence.proxy.tensormap::generic.acquire.cta [%[[GLOBAL]]], 128;
    // SIM: call void {{.*}}, i64 [[#0x0000012e]],
    kernel.ptx "fence.proxy.tensormap::generic.acquire.cta 128"(%global) : (!llvm.ptr<1>) -> ()
    // CHECK: fence.proxy.tensormap::generic.acquire.cluster [%[[GLOBAL]]], 128;
    // SIM: call void {{.*}}, i64 [[#0x0001012e]],
    kernel.ptx "fence.proxy.tensormap::generic.acquire.cluster 128"(%global) : (!llvm.ptr<1>) -> ()
    // CHECK: fence.proxy.tensormap::generic.acquire.gpu [%[[GLOBAL]]], 128;
    // SIM: call void {{.*}}, i64 [[#0x0002012e]],
    kernel.ptx "fence.proxy.tensormap::generic.acquire.gpu 128"(%global) : (!llvm.ptr<1>) -> ()
    // CHECK: fence.proxy.tensormap::generic.acquire.sys [%[[GLOBAL]]], 128;
    // SIM: call void {{.*}}, i64 [[#0x0003012e]],
    kernel.ptx "fence.proxy.tensormap::generic.acquire.sys 128"(%global) : (!llvm.ptr<1>) -> ()
    // CHECK: cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%[[GLOBAL]], {%r{{[0-9]+}}}], [%r{{[0-9]+}}];
    kernel.ptx "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group"(%global, %zero, %shared) : (!llvm.ptr<1>, i32, !llvm.ptr<3>) -> ()
    // CHECK: fence.proxy.tensormap::generic.release.cta;
    // SIM: call void {{.*}}, i64 [[#0x0000002e]],
    kernel.ptx "fence.proxy.tensormap::generic.release.cta"() : () -> ()
    // CHECK: fence.proxy.tensormap::generic.release.cluster;
    kernel.ptx "fence.proxy.tensormap::generic.release.cluster"() : () -> ()
    // CHECK: fence.proxy.tensormap::generic.release.gpu;
    kernel.ptx "fence.proxy.tensormap::generic.release.gpu"() : () -> ()
    // CHECK: fence.proxy.tensormap::generic.release.sys;
    kernel.ptx "fence.proxy.tensormap::generic.release.sys"() : () -> ()
    llvm.return
  }
}
