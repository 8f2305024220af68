// RUN: cameo-opt --cameo-lower-to-device --split-input-file --verify-diagnostics %s

#g = #gpu.address_space<global>

gpu.module @rank {
  // expected-error @+1 {{kernels take rank-1 contiguous memrefs; this is 'memref<?x4xf32, #gpu.address_space<global>>'}}
  gpu.func @rank(%a: memref<?x4xf32, #g>) kernel {
    gpu.return
  }
}

// -----

// expected-error @+1 {{kernel.index_bits is 16; 32 and 64 are possible}}
gpu.module @bits attributes {kernel.index_bits = 16 : i32} {
}

// -----

// expected-error @+1 {{unknown GPU architecture 'sm_80a'; known: sm_75}}
gpu.module @arch attributes {kernel.target = #rt.target<"sm_80a">} {
}

// -----

#g = #gpu.address_space<global>

gpu.module @atomic {
  gpu.func @atomic(%a: memref<?xf32, #g>, %v: f32) kernel {
    %i = gpu.thread_id x
    // expected-error @+2 {{no atomic mulf on 'f32'}}
    // expected-error @+1 {{failed to legalize operation}}
    %0 = memref.atomic_rmw mulf %v, %a[%i] : (f32, memref<?xf32, #g>) -> f32
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

gpu.module @not_a_kernel {
  // expected-error @+2 {{only kernels are compiled; inline other functions}}
  // expected-error @+1 {{failed to legalize operation}}
  gpu.func @helper() {
    gpu.return
  }
}

// -----

#ws = #gpu.address_space<workgroup>

gpu.module @shared {
  // expected-error @+1 {{requires 65536 B of static shared memory; sm_80 allows 49152 B}}
  gpu.func @shared() workgroup(%a: memref<16384xf32, #ws>) kernel {
    gpu.return
  }
}

// -----

#ws = #gpu.address_space<workgroup>

gpu.module @dynamic {
  // expected-error @+1 {{requires 167936 B of shared memory; sm_80 allows 166912 B}}
  gpu.func @dynamic() workgroup(%a: memref<1024xf32, #ws>) kernel attributes {kernel.dynamic_shared = 163840 : i64} {
    gpu.return
  }
}

// -----

#ws = #gpu.address_space<workgroup>

gpu.module @address {
  gpu.func @address(%i: index, %v: f32) workgroup(%a: memref<1024xf32, #ws>) kernel {
    // expected-error @+2 {{gives '!llvm.ptr<3>', not '!llvm.ptr<1>'}}
    // expected-error @+1 {{failed to legalize operation}}
    %p = kernel.address %a[%i] : memref<1024xf32, #ws> -> !llvm.ptr<1>
    llvm.store %v, %p : f32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @threads {
  // expected-error @+1 {{requires a block of 2048 threads; sm_80 allows 1024}}
  gpu.func @threads() kernel attributes {kernel.block = array<i32: 64, 32, 1>} {
    gpu.return
  }
}

// -----

gpu.module @name {
  // expected-error @+1 {{'conv-1.0' cannot be a kernel's name in PTX}}
  gpu.func @"conv-1.0"() kernel {
    gpu.return
  }
}
