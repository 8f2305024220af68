// RUN: cameo-opt --cameo-lower-to-device --split-input-file %s | FileCheck %s
// RUN: cameo-opt --cameo-lower-to-device=target=sm_75 --split-input-file %s | FileCheck %s --check-prefix=SM75

#g = #gpu.address_space<global>

// CHECK-LABEL: gpu.module @relu
gpu.module @relu attributes {kernel.index_bits = 32 : i32} {
  // CHECK: llvm.func @relu(%[[IN:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %[[OUT:.*]]: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[N:.*]]: i32)
  // CHECK-SAME: kernel.nodes = "relu1"
  // CHECK-SAME: nvvm.kernel
  // CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
  // SM75-LABEL: llvm.func @relu
  gpu.func @relu(%in: memref<?xf32, #g> {llvm.noalias}, %out: memref<?xf32, #g>, %n: index) kernel
      attributes {kernel.block = array<i32: 256, 1, 1>, kernel.nodes = "relu1"} {
    // CHECK: %[[I:.*]] = nvvm.read.ptx.sreg.tid.x : i32
    %i = gpu.thread_id x
    // CHECK-NOT: nvvm.read.ptx.sreg.ntid
    %d = gpu.block_dim x
    %in_range = arith.cmpi ult, %i, %n : index
    // CHECK: llvm.cond_br
    scf.if %in_range {
      // CHECK: %[[P:.*]] = llvm.getelementptr inbounds %[[IN]][%[[I]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      // CHECK: %[[V:.*]] = llvm.load %[[P]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %v = vector.load %in[%i] {kernel.alignment = 16 : i64} : memref<?xf32, #g>, vector<4xf32>
      %zero = arith.constant dense<0.0> : vector<4xf32>
      // CHECK: llvm.intr.maximum
      // SM75-NOT: llvm.intr.maximum
      // SM75: llvm.intr.maxnum
      // SM75: llvm.fcmp "uno"
      // SM75: llvm.select
      %r = arith.maximumf %v, %zero : vector<4xf32>
      // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr<1>
      vector.store %r, %out[%d] : memref<?xf32, #g>, vector<4xf32>
    }
    // CHECK: llvm.return
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

// Indices are 64 bits by default.
// CHECK-LABEL: gpu.module @shared
gpu.module @shared {
  // CHECK-DAG: llvm.mlir.global internal @shared$shared0() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<64 x f16>
  // CHECK-DAG: llvm.mlir.global internal @shared$shared1() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x i8>
  // CHECK-DAG: llvm.mlir.global {{.*}}@shared$dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK: llvm.func @shared(%{{.*}}: !llvm.ptr<1> {{.*}}, %{{.*}}: i64)
  gpu.func @shared(%out: memref<?xi1, #g>, %n: index)
      workgroup(%a: memref<64xf16, #ws> {llvm.align = 128 : i64}, %b: memref<8xi1, #ws>) kernel {
    // CHECK: llvm.zext %{{.*}} : i32 to i64
    %t = gpu.thread_id x
    %h = memref.load %a[%t] : memref<64xf16, #ws>
    // CHECK: nvvm.barrier0
    gpu.barrier
    // i1 is a byte in memory.
    // CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<3> -> i8
    // CHECK: %[[BIT:.*]] = llvm.icmp "ne" %[[BYTE]]
    %x = memref.load %b[%t] : memref<8xi1, #ws>
    // CHECK: llvm.zext %[[BIT]] : i1 to i8
    memref.store %x, %out[%n] : memref<?xi1, #g>
    %d = gpu.dynamic_shared_memory : memref<?xi8, #ws>
    %byte = memref.load %d[%n] : memref<?xi8, #ws>
    memref.store %byte, %d[%t] : memref<?xi8, #ws>
    memref.store %h, %a[%n] : memref<64xf16, #ws>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// CHECK-LABEL: llvm.func @small_floats
gpu.module @small_floats {
  gpu.func @small_floats(%h: memref<?xf16, #g>, %b: memref<?xbf16, #g>, %d: memref<?xf64, #g>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %h[%i] : memref<?xf16, #g>
    %y = memref.load %b[%i] : memref<?xbf16, #g>
    // f16 sums are the GPU's own; quotients and all of bf16 go through f32.
    // CHECK: llvm.fadd %{{.*}}, %{{.*}} : f16
    %0 = arith.addf %x, %x : f16
    // CHECK: llvm.fdiv %{{.*}}, %{{.*}} : f32
    // CHECK: llvm.fptrunc %{{.*}} : f32 to f16
    %1 = arith.divf %0, %x : f16
    // CHECK: llvm.fadd %{{.*}}, %{{.*}} : f32
    // CHECK: llvm.fptrunc %{{.*}} : f32 to bf16
    %2 = arith.addf %y, %y : bf16
    // CHECK: llvm.intr.fma(%{{.*}}) : (f16, f16, f16) -> f16
    %3 = math.fma %x, %1, %x : f16
    memref.store %3, %h[%i] : memref<?xf16, #g>
    memref.store %2, %b[%i] : memref<?xbf16, #g>
    // CHECK: llvm.fptrunc %{{.*}} : f64 to f32
    // CHECK: llvm.fptrunc %{{.*}} : f32 to bf16
    %z = memref.load %d[%i] : memref<?xf64, #g>
    %4 = arith.truncf %z : f64 to bf16
    memref.store %4, %b[%i] : memref<?xbf16, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// CHECK-LABEL: gpu.module @math
gpu.module @math {
  // CHECK-DAG: llvm.func @__nv_expf(f32) -> f32
  // CHECK-DAG: llvm.func @__nv_pow(f64, f64) -> f64
  // CHECK: llvm.func @math
  gpu.func @math(%f: memref<?xf32, #g>, %d: memref<?xf64, #g>) kernel {
    %i = gpu.thread_id x
    %v = vector.load %f[%i] : memref<?xf32, #g>, vector<2xf32>
    // CHECK-COUNT-2: llvm.call @__nv_expf
    %0 = math.exp %v : vector<2xf32>
    // CHECK: llvm.intr.roundeven
    %1 = math.roundeven %0 : vector<2xf32>
    // CHECK: llvm.intr.sqrt
    // CHECK: llvm.fdiv
    %2 = math.rsqrt %1 : vector<2xf32>
    vector.store %2, %f[%i] : memref<?xf32, #g>, vector<2xf32>
    %x = memref.load %d[%i] : memref<?xf64, #g>
    // CHECK: llvm.call @__nv_pow
    %3 = math.powf %x, %x : f64
    memref.store %3, %d[%i] : memref<?xf64, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

// CHECK-LABEL: llvm.func @shuffle
gpu.module @shuffle {
  gpu.func @shuffle(%f: memref<?xf32, #g>, %d: memref<?xi64, #g>) kernel {
    %i = gpu.thread_id x
    %w = arith.constant 32 : i32
    %o = arith.constant 1 : i32
    %x = memref.load %f[%i] : memref<?xf32, #g>
    // CHECK: nvvm.shfl.sync bfly {{.*}} {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
    %y, %p = gpu.shuffle xor %x, %o, %w : f32
    memref.store %y, %f[%i] : memref<?xf32, #g>
    // CHECK-COUNT-2: nvvm.shfl.sync idx
    %z = memref.load %d[%i] : memref<?xi64, #g>
    %s, %q = gpu.shuffle idx %z, %o, %w : i64
    memref.store %s, %d[%i] : memref<?xi64, #g>
    gpu.return
  }
}

// -----

#ws = #gpu.address_space<workgroup>

// Dynamic shared memory as what it holds, and addresses for instructions, are pointers of their memory.
// CHECK-LABEL: llvm.func @typed
// CHECK: %[[ALL:.*]] = llvm.mlir.addressof @typed$dynamic
// CHECK: %[[PART:.*]] = llvm.getelementptr inbounds %[[ALL]][%{{.*}}] : {{.*}}, i8
// CHECK: %[[AT:.*]] = llvm.getelementptr inbounds %[[PART]][%{{.*}}] : {{.*}}, f16
// CHECK: kernel.ptx "ldmatrix.sync.aligned.m8n8.x1.shared.b16"(%[[AT]])
gpu.module @typed attributes {kernel.index_bits = 32 : i32} {
  gpu.func @typed(%i: index) kernel attributes {kernel.dynamic_shared = 65536 : i64} {
    %c1024 = arith.constant 1024 : index
    %all = gpu.dynamic_shared_memory : memref<?xi8, #ws>
    %part = memref.view %all[%c1024][] : memref<?xi8, #ws> to memref<512xf16, #ws>
    %at = kernel.address %part[%i] : memref<512xf16, #ws> -> !llvm.ptr<3>
    %m = kernel.ptx "ldmatrix.sync.aligned.m8n8.x1.shared.b16"(%at) : (!llvm.ptr<3>) -> i32
    gpu.return
  }
}
