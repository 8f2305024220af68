// RUN: cameo-opt --cameo-expand-tiles --split-input-file --verify-diagnostics %s

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

!tile = !kernel.tile<8x8xf32, #kernel.strided<[8, 1]>, stages = 1>

gpu.module @over_order {
  gpu.func @over_order() kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %a = kernel.alloc_tile : !tile
    %b = kernel.alloc_tile : !tile
    // expected-error @+1 {{is over tiles that do not follow one another}}
    %c = kernel.alloc_tile over (%b, %a : !tile, !tile) : !tile
    gpu.return
  }
}

// -----

!tile = !kernel.tile<8x8xf32, #kernel.strided<[8, 1]>, stages = 1>

gpu.module @over_alignment {
  gpu.func @over_alignment() kernel attributes {kernel.block = array<i32: 32, 1, 1>} {
    %a = kernel.alloc_tile : !tile
    %b = kernel.alloc_tile : !kernel.tile<32x32xf32, #kernel.strided<[32, 1]>, stages = 1>
    %c = kernel.alloc_tile over (%a, %b : !tile, !kernel.tile<32x32xf32, #kernel.strided<[32, 1]>, stages = 1>) : !tile
    // expected-error @+1 {{is over a tile at 256 B, which its layout's alignment of 1024 B does not divide}}
    %d = kernel.alloc_tile over (%b : !kernel.tile<32x32xf32, #kernel.strided<[32, 1]>, stages = 1>)
        : !kernel.tile<8x32xf32, #kernel.swizzle<128, along = columns>, stages = 1>
    gpu.return
  }
}

// -----

gpu.module @dynamic {
  // expected-error @+1 {{has tiles of 256 B in 128 B of dynamic shared memory}}
  gpu.func @dynamic() kernel attributes {kernel.block = array<i32: 32, 1, 1>, kernel.dynamic_shared = 128 : i64} {
    %a = kernel.alloc_tile : !kernel.tile<8x8xf32, #kernel.strided<[8, 1]>, stages = 1>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>
!tile = !kernel.tile<8x8xf32, #kernel.strided<[9, 1]>, stages = 1>

gpu.module @copy_alignment {
  gpu.func @copy_alignment(%x: memref<?xf32, #g>, %ok: i1) kernel attributes {kernel.block = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = kernel.alloc_tile : !tile
    // expected-error @+1 {{copies 16 B to places that are not aligned to them}}
    kernel.copy_async %x to %a[%c0, %c0, %c0]
        as !kernel.fragment<8 by 8 of f32, #kernel.copied<vector = 4, along = columns, threads = 16>>
        : memref<?xf32, #g> to !tile {
    ^bb0(%r: index, %c: index):
      kernel.yield %c, %ok : index, i1
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
