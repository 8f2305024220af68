// What PTX a kernel becomes: MLIR and LLVM drop some things silently.
//
// RUN: cameo-translate --kernel-to-ptx --arch=sm_75 %s | FileCheck %s --check-prefixes=CHECK,SM75
// RUN: cameo-translate --kernel-to-ptx --arch=sm_80 %s | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: cameo-translate --kernel-to-ptx --arch=sm_90 %s | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: cameo-translate --kernel-to-ptx --arch=sm_100 %s | FileCheck %s --check-prefixes=CHECK,SM100
// RUN: cameo-translate --kernel-to-ptx --arch=sm_103 %s | FileCheck %s --check-prefixes=CHECK,SM103
// RUN: cameo-translate --kernel-to-ptx --arch=sm_110 %s | FileCheck %s --check-prefixes=CHECK,SM110
// RUN: cameo-translate --kernel-to-ptx --arch=sm_120 %s | FileCheck %s --check-prefixes=CHECK,SM120
// RUN: cameo-translate --kernel-to-ptx --arch=sm_121 %s | FileCheck %s --check-prefixes=CHECK,SM121
// RUN: cameo-translate --kernel-to-ptx --arch=sm_80 %s | FileCheck %s --implicit-check-not=.local
// RUN: cameo-translate --kernel-to-ptx --kernel-line-info %s | FileCheck %s --check-prefix=LINES
// Twice the same text:
// RUN: cameo-translate --kernel-to-ptx %s -o %t.1 && cameo-translate --kernel-to-ptx %s -o %t.2
// RUN: cmp %t.1 %t.2

// Line directives alone, no debug code; files are numbered once for all kernels.
// LINES: .target sm_80{{$}}
// LINES: .loc 1
// LINES: .file 1 "{{.*}}ptx.mlir"
// LINES-NOT: .file

// One header for all kernels.
// SM75: .version 7.0
// SM75: .target sm_75
// SM80: .version 7.0
// SM80: .target sm_80
// SM90: .version 7.8
// SM90: .target sm_90
// SM100: .version 8.6
// SM100: .target sm_100{{$}}
// SM103: .version 8.8
// SM103: .target sm_103{{$}}
// SM110: .version 9.0
// SM110: .target sm_110{{$}}
// SM120: .version 8.7
// SM120: .target sm_120{{$}}
// SM121: .version 8.8
// SM121: .target sm_121{{$}}
// CHECK: .address_size 64
// CHECK-NOT: .version

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

// CHECK-LABEL: .entry vectors(
// CHECK: .reqntid 256, 1, 1
gpu.module @vectors attributes {kernel.index_bits = 32 : i32} {
  gpu.func @vectors(%a: memref<?xf32, #g> {llvm.noalias}, %b: memref<?xf16, #g> {llvm.noalias},
                    %out: memref<?xf32, #g> {llvm.noalias}, %n: index) kernel
      attributes {kernel.block = array<i32: 256, 1, 1>} {
    %t = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %i = arith.muli %t, %c8 : index
    // CHECK-DAG: ld.global.nc.v4.f32
    %x = vector.load %a[%i] {kernel.alignment = 16 : i64} : memref<?xf32, #g>, vector<4xf32>
    // Sixteen bytes of f16 are one access too.
    // CHECK-DAG: ld.global.nc.v4.{{(b|u)32}}
    %h = vector.load %b[%i] {kernel.alignment = 16 : i64} : memref<?xf16, #g>, vector<8xf16>
    %h0 = vector.extract_strided_slice %h {offsets = [0], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
    %h1 = vector.extract_strided_slice %h {offsets = [4], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
    // f16 sums are the GPU's own.
    // CHECK-DAG: add{{(.rn)?}}.f16
    %h2 = arith.addf %h0, %h1 : vector<4xf16>
    %v = arith.extf %h2 : vector<4xf16> to vector<4xf32>
    // CHECK: fma.rn.f32
    %r = vector.fma %x, %v, %x : vector<4xf32>
    // CHECK: st.global.v4.f32
    vector.store %r, %out[%i] {kernel.alignment = 16 : i64} : memref<?xf32, #g>, vector<4xf32>
    gpu.return
  }
}

// CHECK-LABEL: .entry rounding(
gpu.module @rounding {
  gpu.func @rounding(%a: memref<?xf32, #g> {llvm.noalias}, %out: memref<?xf32, #g>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<?xf32, #g>
    // CHECK: sqrt.rn.f32
    %0 = math.sqrt %x : f32
    // CHECK: cvt.rni.f32.f32
    %1 = math.roundeven %0 : f32
    // CHECK: cvt.rmi.f32.f32
    %half = arith.constant 0.3 : f32
    %t2 = arith.mulf %1, %half : f32
    %2 = math.floor %t2 : f32
    // CHECK: cvt.rpi.f32.f32
    %t3 = arith.mulf %2, %half : f32
    %3 = math.ceil %t3 : f32
    // CHECK: div.rn.f32
    %4 = arith.divf %3, %x : f32
    // Never fused behind our back: mul.rn and add.rn stay apart in ptxas too.
    // CHECK: mul.rn.f32
    // CHECK: add.rn.f32
    %5 = arith.mulf %4, %x : f32
    %6 = arith.addf %5, %x : f32
    // SM75: max.f32
    // SM75: setp.nan.f32
    // SM80: max.NaN.f32
    // SM90: max.NaN.f32
    %7 = arith.maximumf %6, %x : f32
    memref.store %7, %out[%i] : memref<?xf32, #g>
    gpu.return
  }
}

// CHECK-LABEL: .entry together(
// CHECK: .shared .align 16 .b8 together$shared0[32]
gpu.module @together {
  gpu.func @together(%out: memref<?xf32, #g>) workgroup(%s: memref<8xf32, #ws>) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %out[%t] : memref<?xf32, #g>
    %one = arith.constant 1 : i32
    %w = arith.constant 32 : i32
    // CHECK: shfl.sync.bfly.b32
    %y, %p = gpu.shuffle xor %x, %one, %w : f32
    %c7 = arith.constant 7 : index
    %k = arith.andi %t, %c7 : index
    // CHECK: st.shared.{{(f|u|b)}}32
    memref.store %y, %s[%k] : memref<8xf32, #ws>
    // CHECK: bar.sync
    gpu.barrier
    // CHECK: ld.shared.f32
    %z = memref.load %s[%c7] : memref<8xf32, #ws>
    // CHECK: {{(red|atom)}}.global.add.f32
    %old = memref.atomic_rmw addf %z, %out[%k] : (f32, memref<?xf32, #g>) -> f32
    gpu.return
  }
}
