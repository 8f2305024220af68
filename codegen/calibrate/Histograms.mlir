// The kernels of cameo-insert-histograms: what of a tensor of FP32 codegen/calibrate/Histogram.h
// counts on the host, in the same bins. The results are words of 32 bits:
//
//   0         the least key of the finite elements: their bits, made comparable as integers
//   1         the largest one
//   2         elements that are infinite or no number
//   3         elements of bin 0
//   4 + i     those of bin 1 + i, of 16384; where bin 1 begins follows from the keys
//
// Counts are integers, so that blocks and threads may add to them in any order.
//
// SPDX-License-Identifier: Apache-2.0
#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>

module {
  // Words before anything is counted.
  gpu.module @histogram_clear {
    gpu.func @histogram_clear(%words: memref<?xi32, #g> {llvm.noalias}) kernel
        attributes {kernel.block = array<i32: 512, 1, 1>, kernel.no_sync} {
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %threads = arith.constant 512 : index
      %size = arith.constant 16388 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %none = arith.constant 0 : i32
      %leastKey = arith.constant -2147483648 : i32
      %mostKey = arith.constant 2147483647 : i32
      %start = arith.muli %block, %threads : index
      %i = arith.addi %start, %thread : index
      %isLargest = arith.cmpi eq, %i, %c1 : index
      %isLeast = arith.cmpi eq, %i, %c0 : index
      %isInside = arith.cmpi ult, %i, %size : index
      %0 = arith.select %isLargest, %leastKey, %none : i32
      %1 = arith.select %isLeast, %mostKey, %0 : i32
      scf.if %isInside {
        memref.store %1, %words[%i] : memref<?xi32, #g>
      }
      gpu.return
    }
  }

  // Words 0 to 2, to which each block adds once.
  gpu.module @histogram_extent {
    gpu.func @histogram_extent(%x: memref<?xf32, #g> {llvm.noalias},
                               %words: memref<?xi32, #g> {llvm.noalias}, %elements: i64)
        workgroup(%shared: memref<3xi32, #ws>) kernel
        attributes {kernel.block = array<i32: 512, 1, 1>} {
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %threads = arith.constant 512 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %none = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %sign = arith.constant 31 : i32
      %leastKey = arith.constant -2147483648 : i32
      %mostKey = arith.constant 2147483647 : i32
      %infinity = arith.constant 2139095040 : i32
      %isFirst = arith.cmpi eq, %thread, %c0 : index
      scf.if %isFirst {
        memref.store %mostKey, %shared[%c0] : memref<3xi32, #ws>
        memref.store %leastKey, %shared[%c1] : memref<3xi32, #ws>
        memref.store %none, %shared[%c2] : memref<3xi32, #ws>
      }
      gpu.barrier
      %size = arith.index_cast %elements : i64 to index
      %before = arith.muli %block, %threads : index
      %start = arith.addi %before, %thread : index
      %step = arith.muli %blocks, %threads : index
      %least, %most, %odd = scf.for %i = %start to %size step %step
          iter_args(%l = %mostKey, %m = %leastKey, %o = %none) -> (i32, i32, i32) {
        %value = memref.load %x[%i] : memref<?xf32, #g>
        %bits = arith.bitcast %value : f32 to i32
        %magnitude = arith.andi %bits, %mostKey : i32
        %isFinite = arith.cmpi ult, %magnitude, %infinity : i32
        %signs = arith.shrsi %bits, %sign : i32
        %flipped = arith.andi %signs, %mostKey : i32
        %key = arith.xori %bits, %flipped : i32
        %lower = arith.minsi %l, %key : i32
        %higher = arith.maxsi %m, %key : i32
        %more = arith.addi %o, %one : i32
        %l1 = arith.select %isFinite, %lower, %l : i32
        %m1 = arith.select %isFinite, %higher, %m : i32
        %o1 = arith.select %isFinite, %o, %more : i32
        scf.yield %l1, %m1, %o1 : i32, i32, i32
      }
      %0 = memref.atomic_rmw mins %least, %shared[%c0] : (i32, memref<3xi32, #ws>) -> i32
      %1 = memref.atomic_rmw maxs %most, %shared[%c1] : (i32, memref<3xi32, #ws>) -> i32
      %2 = memref.atomic_rmw addi %odd, %shared[%c2] : (i32, memref<3xi32, #ws>) -> i32
      gpu.barrier
      scf.if %isFirst {
        %3 = memref.load %shared[%c0] : memref<3xi32, #ws>
        %4 = memref.load %shared[%c1] : memref<3xi32, #ws>
        %5 = memref.load %shared[%c2] : memref<3xi32, #ws>
        %6 = memref.atomic_rmw mins %3, %words[%c0] : (i32, memref<?xi32, #g>) -> i32
        %7 = memref.atomic_rmw maxs %4, %words[%c1] : (i32, memref<?xi32, #g>) -> i32
        %8 = memref.atomic_rmw addi %5, %words[%c2] : (i32, memref<?xi32, #g>) -> i32
      }
      gpu.return
    }
  }

  // The other words: a block counts in shared memory, all of the 64 KiB that a block of sm_75 may
  // have, and adds what is not zero. Bin 0, often the fullest by far, is counted in registers.
  gpu.module @histogram_count {
    gpu.func @histogram_count(%x: memref<?xf32, #g> {llvm.noalias},
                              %words: memref<?xi32, #g> {llvm.noalias}, %elements: i64) kernel
        attributes {kernel.block = array<i32: 512, 1, 1>, kernel.dynamic_shared = 65536 : i64} {
      %thread = gpu.thread_id x
      %block = gpu.block_id x
      %blocks = gpu.grid_dim x
      %threads = arith.constant 512 : index
      %bins = arith.constant 16384 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %none = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %all = arith.constant -1 : i32
      %mostKey = arith.constant 2147483647 : i32
      %infinity = arith.constant 2139095040 : i32
      %mantissa = arith.constant 23 : i32
      %below = arith.constant 15 : i32
      %stepBits = arith.constant 10 : i32
      %dropped = arith.constant 13 : i32
      %memory = gpu.dynamic_shared_memory : memref<?xi8, #ws>
      %shared = memref.view %memory[%c0][] : memref<?xi8, #ws> to memref<16384xi32, #ws>
      scf.for %i = %thread to %bins step %threads {
        memref.store %none, %shared[%i] : memref<16384xi32, #ws>
      }
      gpu.barrier

      // Sixteen octaves up to the largest magnitude, of normal numbers only.
      %least = memref.load %words[%c0] : memref<?xi32, #g>
      %most = memref.load %words[%c1] : memref<?xi32, #g>
      %ofLeast = arith.xori %least, %all : i32
      %largest = arith.maxsi %most, %ofLeast : i32
      %octave = arith.shrsi %largest, %mantissa : i32
      %lowest = arith.subi %octave, %below : i32
      %normal = arith.maxsi %lowest, %one : i32
      %first = arith.shli %normal, %stepBits : i32

      %size = arith.index_cast %elements : i64 to index
      %before = arith.muli %block, %threads : index
      %start = arith.addi %before, %thread : index
      %stride = arith.muli %blocks, %threads : index
      %small = scf.for %i = %start to %size step %stride iter_args(%s = %none) -> (i32) {
        %value = memref.load %x[%i] : memref<?xf32, #g>
        %bits = arith.bitcast %value : f32 to i32
        %magnitude = arith.andi %bits, %mostKey : i32
        %isFinite = arith.cmpi ult, %magnitude, %infinity : i32
        %step = arith.shrui %magnitude, %dropped : i32
        %isSmall = arith.cmpi slt, %step, %first : i32
        %more = arith.addi %s, %one : i32
        %s1 = arith.select %isSmall, %more, %s : i32
        %isCounted = arith.cmpi sge, %step, %first : i32
        %isBin = arith.andi %isCounted, %isFinite : i1
        scf.if %isBin {
          %offset = arith.subi %step, %first : i32
          %bin = arith.index_castui %offset : i32 to index
          %0 = memref.atomic_rmw addi %one, %shared[%bin] : (i32, memref<16384xi32, #ws>) -> i32
        }
        scf.yield %s1 : i32
      }
      gpu.barrier
      scf.for %i = %thread to %bins step %threads {
        %count = memref.load %shared[%i] : memref<16384xi32, #ws>
        %isAny = arith.cmpi ne, %count, %none : i32
        scf.if %isAny {
          %word = arith.addi %i, %c4 : index
          %0 = memref.atomic_rmw addi %count, %words[%word] : (i32, memref<?xi32, #g>) -> i32
        }
      }

      // The first bin's place is free now.
      gpu.barrier
      %isFirst = arith.cmpi eq, %thread, %c0 : index
      scf.if %isFirst {
        memref.store %none, %shared[%c0] : memref<16384xi32, #ws>
      }
      gpu.barrier
      %1 = memref.atomic_rmw addi %small, %shared[%c0] : (i32, memref<16384xi32, #ws>) -> i32
      gpu.barrier
      scf.if %isFirst {
        %count = memref.load %shared[%c0] : memref<16384xi32, #ws>
        %0 = memref.atomic_rmw addi %count, %words[%c3] : (i32, memref<?xi32, #g>) -> i32
      }
      gpu.return
    }
  }
}
