// RUN: cameo-opt --cameo-expand-tiles --split-input-file --verify-diagnostics %s

#g = #gpu.address_space<global>
#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
!acc = !kernel.fragment<4 by 8 of f32, #layout>

gpu.module @no_block {
  // expected-error @+1 {{has tile operations and needs a kernel.block of one dimension}}
  gpu.func @no_block(%v: f32) kernel {
    %0 = kernel.fill_fragment %v : f32 -> !acc
    gpu.return
  }
}

// -----

#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
!acc = !kernel.fragment<4 by 8 of f32, #layout>

gpu.module @other_threads {
  gpu.func @other_threads(%v: f32) kernel attributes {kernel.block = array<i32: 64, 1, 1>} {
    // expected-error @+1 {{has a fragment over 32 threads; the kernel's block has 64}}
    %0 = kernel.fill_fragment %v : f32 -> !acc
    gpu.return
  }
}

// -----

gpu.module @layout {
  gpu.func @layout(%v: f32) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    // expected-error @+1 {{needs a thread_tile layout to be expanded, has "warps"}}
    %0 = kernel.fill_fragment %v : f32 -> !kernel.fragment<4 by 8 of f32, "warps">
    gpu.return
  }
}

// -----

#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>

gpu.module @uncovered {
  gpu.func @uncovered(%v: f32) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    // expected-error @+1 {{layout does not cover a fragment of 8 by 8}}
    %0 = kernel.fill_fragment %v : f32 -> !kernel.fragment<8 by 8 of f32, #layout>
    gpu.return
  }
}

// -----

#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>

gpu.module @fill_type {
  gpu.func @fill_type(%v: f32) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    // expected-error @+1 {{fills 'f64' with 'f32'}}
    %0 = kernel.fill_fragment %v : f32 -> !kernel.fragment<4 by 8 of f64, #layout>
    gpu.return
  }
}

// -----

#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>

gpu.module @index_elements {
  gpu.func @index_elements(%v: index) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    // expected-error @+1 {{accumulates floating-point or integer elements, not 'index'}}
    %0 = kernel.fill_fragment %v : index -> !kernel.fragment<4 by 8 of index, #layout>
    gpu.return
  }
}

// -----

#ws = #gpu.address_space<workgroup>
#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
!acc = !kernel.fragment<4 by 8 of f32, #layout>

gpu.module @types {
  gpu.func @types(%v: f32) workgroup(%s: memref<64xf64, #ws>) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %0 = kernel.fill_fragment %v : f32 -> !acc
    // expected-error @+1 {{cannot multiply 'f64' into an accumulator of 'f32'}}
    %1 = kernel.contract_tile %s[%c0] stride 4, %s[%c0] stride 8 depth 2 into %0
        : memref<64xf64, #ws>, memref<64xf64, #ws> into !acc
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

gpu.module @copy_threads {
  gpu.func @copy_threads(%x: memref<?xf32, #g>, %v: f32) workgroup(%s: memref<64xf32, #ws>) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{is for 64 threads; the kernel's block has 32}}
    kernel.copy_tile %x to %s[%c0] rows 8 cols 8 strides [8, 1] vector 4 threads 64
        padding %v : f32 : memref<?xf32, #g> to memref<64xf32, #ws> {
    ^bb0(%r: index, %c: index):
      %true = arith.constant true
      kernel.yield %c, %true : index, i1
    }
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

gpu.module @copy_types {
  gpu.func @copy_types(%x: memref<?xf32, #g>, %v: f32) workgroup(%s: memref<64xf16, #ws>) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{converts only to wider floating-point types, not 'f32' to 'f16'}}
    kernel.copy_tile %x to %s[%c0] rows 8 cols 8 strides [8, 1] vector 4 threads 32
        padding %v : f32 : memref<?xf32, #g> to memref<64xf16, #ws> {
    ^bb0(%r: index, %c: index):
      %true = arith.constant true
      kernel.yield %c, %true : index, i1
    }
    gpu.return
  }
}

// -----

#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
!acc = !kernel.fragment<4 by 8 of f32, #layout>

gpu.module @passed_on {
  gpu.func @passed_on(%v: f32, %some: i1) kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %0 = kernel.fill_fragment %v : f32 -> !acc
    // expected-error @+1 {{cannot take a fragment; only scf.for and scf.if pass it on}}
    %1 = arith.select %some, %0, %0 : !acc
    gpu.return
  }
}

// -----

#layout = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
!acc = !kernel.fragment<4 by 8 of f32, #layout>

gpu.module @nested {
  gpu.module @inner {
    func.func @nested(%v: f32) {
      // expected-error @+1 {{can stand only in the body of a kernel}}
      %0 = kernel.fill_fragment %v : f32 -> !acc
      return
    }
  }
}
