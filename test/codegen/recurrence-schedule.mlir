// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules))' | FileCheck %s
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules,cameo-lower-dispatches))' | FileCheck %s --check-prefix=KERNEL

// 32 units: 8 groups of 4, whose sums 8 threads share, 4 elements of the depth at a time: a vector of the state, and one
// of the weights for each gate. Then threads exchange halves of their 8 sums twice, and the last two; one barrier a step.
// CHECK-LABEL: rt.variant @steps
// CHECK: schedule <"recurrence", {blocks = 1 : i64, deep = 4 : i64, parts = 8 : i64, rows = 1 : i64, threads = 64 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @steps
// KERNEL: rt.launch
// KERNEL: gpu.func
// KERNEL-SAME: workgroup(%{{.*}} : memref<64xf32
// KERNEL: gpu.barrier
// KERNEL: scf.for
// KERNEL: scf.for
// KERNEL-COUNT-9: vector.load {{.*}} vector<4xf32>
// KERNEL-NOT: vector.load
// KERNEL: scf.yield
// KERNEL-COUNT-8: gpu.shuffle xor
// KERNEL-NOT: gpu.shuffle
// KERNEL: math.tanh
// KERNEL: memref.store
// KERNEL: gpu.barrier
// KERNEL: scf.yield
// KERNEL-NOT: gpu.barrier
// KERNEL: gpu.return
rt.variant @steps target "sm_80" {
  func.func @main(%x: tensor<?x3x1x2x32xf32>, %r: tensor<1x32x2x32xf32>, %h: tensor<1x3x32xf32>, %y: tensor<?x1x3x32xf32>)
      -> (tensor<?x1x3x32xf32>, tensor<1x3x32xf32>) {
    %e = tensor.empty() : tensor<1x3x32xf32>
    %s:2 = kernel.dispatch ins(%x, %r, %h : tensor<?x3x1x2x32xf32>, tensor<1x32x2x32xf32>, tensor<1x3x32xf32>)
        outs(%y, %e : tensor<?x1x3x32xf32>, tensor<1x3x32xf32>) {
    ^bb0(%a: tensor<?x3x1x2x32xf32>, %b: tensor<1x32x2x32xf32>, %c: tensor<1x3x32xf32>,
         %o: tensor<?x1x3x32xf32>, %l: tensor<1x3x32xf32>):
      %q:2 = kernel.recurrence input(%a : tensor<?x3x1x2x32xf32>) weights(%b : tensor<1x32x2x32xf32>)
          initial(%c : tensor<1x3x32xf32>) outs(%o, %l : tensor<?x1x3x32xf32>, tensor<1x3x32xf32>)
          phases [2] reverse [false] {
      ^bb1(%direction: index, %i: f32, %j: f32, %m: f32, %n: f32, %before: f32):
        %0 = arith.addf %i, %m : f32
        %1 = arith.addf %j, %n : f32
        %2 = math.tanh %0 : f32
        %3 = arith.mulf %1, %2 : f32
        kernel.yield %3 : f32
      } -> tensor<?x1x3x32xf32>, tensor<1x3x32xf32>
      kernel.yield %q#0, %q#1 : tensor<?x1x3x32xf32>, tensor<1x3x32xf32>
    } -> tensor<?x1x3x32xf32>, tensor<1x3x32xf32>
    return %s#0, %s#1 : tensor<?x1x3x32xf32>, tensor<1x3x32xf32>
  }
}

// What one thread has alone is in its registers: nothing is shared, nobody waits. Of 400 rows in two directions a block has
// eight.
// CHECK-LABEL: rt.variant @one_unit
// CHECK: schedule <"recurrence", {blocks = 1 : i64, deep = 1 : i64, parts = 1 : i64, rows = 8 : i64, threads = 32 : i64, vector = 1 : i64}>
// KERNEL-LABEL: rt.variant @one_unit
// KERNEL: gpu.func
// KERNEL-NOT: gpu.barrier
// KERNEL-NOT: gpu.shuffle
// KERNEL: gpu.return
rt.variant @one_unit target "sm_80" {
  func.func @main(%x: tensor<400x5x2x1x1xf32>, %r: tensor<2x1x1x1xf32>, %h: tensor<400x2x1xf32>) -> tensor<400x2x1xf32> {
    %e = tensor.empty() : tensor<400x2x1xf32>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<400x5x2x1x1xf32>, tensor<2x1x1x1xf32>, tensor<400x2x1xf32>)
        outs(%e : tensor<400x2x1xf32>) {
    ^bb0(%a: tensor<400x5x2x1x1xf32>, %b: tensor<2x1x1x1xf32>, %c: tensor<400x2x1xf32>, %l: tensor<400x2x1xf32>):
      %q = kernel.recurrence input(%a : tensor<400x5x2x1x1xf32>) weights(%b : tensor<2x1x1x1xf32>)
          initial(%c : tensor<400x2x1xf32>) outs(%l : tensor<400x2x1xf32>) phases [1] reverse [true, false] rows_first {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        %0 = arith.addf %i, %m : f32
        kernel.yield %0 : f32
      } -> tensor<400x2x1xf32>
      kernel.yield %q : tensor<400x2x1xf32>
    } -> tensor<400x2x1xf32>
    return %s : tensor<400x2x1xf32>
  }
}

// Products of 16 bits are on Tensor Cores: a warp has eight units, of which a thread computes one in two rows. The weights,
// as they are in memory, stay in registers: two neighbours along the depth each, loaded before the first step.
// CHECK-LABEL: rt.variant @matrices
// CHECK: schedule <"recurrence", {blocks = 1 : i64, instruction = array<i64: 16, 8, 16>, threads = 64 : i64}>
// KERNEL-LABEL: rt.variant @matrices
// KERNEL: gpu.func
// KERNEL-SAME: workgroup(%{{.*}} : memref<384xf16
// KERNEL-COUNT-3: vector.load {{.*}} vector<2xf16>
// KERNEL: gpu.barrier
// KERNEL: scf.for
// KERNEL-COUNT-2: vector.load {{.*}} #gpu.address_space<workgroup>>, vector<2xf16>
// KERNEL-NOT: vector.load
// KERNEL: kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
// KERNEL-NOT: kernel.ptx
// KERNEL: gpu.barrier
// KERNEL: gpu.return

// Older GPUs have no such instruction.
// CHECK-LABEL: rt.variant @no_matrices
// CHECK: schedule <"recurrence", {blocks = 1 : i64, deep
rt.variant @matrices target "sm_80" {
  func.func @main(%x: tensor<5x3x1x1x16xf32>, %r: tensor<1x1x16x16xf16>, %h: tensor<1x3x16xf16>) -> tensor<1x3x16xf16> {
    %e = tensor.empty() : tensor<1x3x16xf16>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x16xf32>, tensor<1x1x16x16xf16>, tensor<1x3x16xf16>)
        outs(%e : tensor<1x3x16xf16>) {
    ^bb0(%a: tensor<5x3x1x1x16xf32>, %b: tensor<1x1x16x16xf16>, %c: tensor<1x3x16xf16>, %l: tensor<1x3x16xf16>):
      %t = tensor.empty() : tensor<1x16x1x16xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x1x16x16xf16>) outs(%t : tensor<1x16x1x16xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x16x1x16xf16>
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x16xf32>) weights(%w : tensor<1x16x1x16xf16>)
          initial(%c : tensor<1x3x16xf16>) outs(%l : tensor<1x3x16xf16>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x16xf16>
      kernel.yield %q : tensor<1x3x16xf16>
    } -> tensor<1x3x16xf16>
    return %s : tensor<1x3x16xf16>
  }
}

rt.variant @no_matrices target "sm_75" {
  func.func @main(%x: tensor<5x3x1x1x16xf32>, %r: tensor<1x1x16x16xf16>, %h: tensor<1x3x16xf16>) -> tensor<1x3x16xf16> {
    %e = tensor.empty() : tensor<1x3x16xf16>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x3x1x1x16xf32>, tensor<1x1x16x16xf16>, tensor<1x3x16xf16>)
        outs(%e : tensor<1x3x16xf16>) {
    ^bb0(%a: tensor<5x3x1x1x16xf32>, %b: tensor<1x1x16x16xf16>, %c: tensor<1x3x16xf16>, %l: tensor<1x3x16xf16>):
      %t = tensor.empty() : tensor<1x16x1x16xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x1x16x16xf16>) outs(%t : tensor<1x16x1x16xf16>) {
      ^bb1(%p: f16, %o: f16):
        linalg.yield %p : f16
      } -> tensor<1x16x1x16xf16>
      %q = kernel.recurrence input(%a : tensor<5x3x1x1x16xf32>) weights(%w : tensor<1x16x1x16xf16>)
          initial(%c : tensor<1x3x16xf16>) outs(%l : tensor<1x3x16xf16>) phases [1] reverse [false] {
      ^bb1(%direction: index, %i: f32, %m: f32, %before: f32):
        kernel.yield %m : f32
      } -> tensor<1x3x16xf16>
      kernel.yield %q : tensor<1x3x16xf16>
    } -> tensor<1x3x16xf16>
    return %s : tensor<1x3x16xf16>
  }
}

// From sm_90 on blocks of a cluster share the units where the weights then stay in registers: 128 units in FP32 are two
// blocks' work. What the next step multiplies is stored in both blocks' memory, and both wait for one another.
// CHECK-LABEL: rt.variant @cluster
// CHECK: schedule <"recurrence", {blocks = 2 : i64, deep = 4 : i64, parts = 32 : i64, rows = 1 : i64, threads = 512 : i64, vector = 4 : i64}>
// KERNEL-LABEL: rt.variant @cluster
// KERNEL: gpu.func
// KERNEL-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// KERNEL-COUNT-2: kernel.ptx "barrier.cluster
// KERNEL-COUNT-2: kernel.ptx "mapa.shared::cluster.u32"
// KERNEL-COUNT-2: kernel.ptx "barrier.cluster
// KERNEL: scf.for
// KERNEL: kernel.ptx "mapa.shared::cluster.u32"
// KERNEL: kernel.ptx "st.shared::cluster.f32"
// KERNEL: kernel.ptx "mapa.shared::cluster.u32"
// KERNEL: kernel.ptx "st.shared::cluster.f32"
// KERNEL: kernel.ptx "barrier.cluster.arrive.release.aligned"
// KERNEL: kernel.ptx "barrier.cluster.wait.acquire.aligned"
// KERNEL-NOT: barrier
// KERNEL: gpu.return
rt.variant @cluster target "sm_90" {
  func.func @main(%x: tensor<5x1x1x4x128xf32>, %r: tensor<1x128x4x128xf32>, %h: tensor<1x1x128xf32>) -> tensor<1x1x128xf32> {
    %e = tensor.empty() : tensor<1x1x128xf32>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<5x1x1x4x128xf32>, tensor<1x128x4x128xf32>, tensor<1x1x128xf32>)
        outs(%e : tensor<1x1x128xf32>) {
    ^bb0(%a: tensor<5x1x1x4x128xf32>, %b: tensor<1x128x4x128xf32>, %c: tensor<1x1x128xf32>, %l: tensor<1x1x128xf32>):
      %q = kernel.recurrence input(%a : tensor<5x1x1x4x128xf32>) weights(%b : tensor<1x128x4x128xf32>)
          initial(%c : tensor<1x1x128xf32>) outs(%l : tensor<1x1x128xf32>) phases [4] reverse [false] {
      ^bb1(%direction: index, %i: f32, %j: f32, %k: f32, %u: f32, %m: f32, %n: f32, %o: f32, %p: f32, %before: f32):
        %0 = arith.addf %m, %n : f32
        %1 = arith.addf %o, %p : f32
        %2 = arith.mulf %0, %1 : f32
        kernel.yield %2 : f32
      } -> tensor<1x1x128xf32>
      kernel.yield %q : tensor<1x1x128xf32>
    } -> tensor<1x1x128xf32>
    return %s : tensor<1x1x128xf32>
  }
}

// Where registers of sixteen blocks have the weights, sm_90a's kernels have so many; two warps share the depth of each
// group's sums then, through shared memory. Kernels for later GPUs, too, have eight at most, which these are too many for.
// CHECK-LABEL: rt.variant @large_cluster
// CHECK: schedule <"recurrence", {blocks = 16 : i64, instruction = array<i64: 16, 8, 16>, splits = 2 : i64, threads = 256 : i64}>
// KERNEL-LABEL: rt.variant @large_cluster
// KERNEL: gpu.func
// KERNEL-SAME: nvvm.cluster_dim = array<i32: 16, 1, 1>
// KERNEL: scf.for
// KERNEL-COUNT-32: kernel.ptx "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
// KERNEL-NOT: kernel.ptx
// KERNEL-COUNT-8: memref.store {{.*}} memref<2048xf32, #gpu.address_space<workgroup>>
// KERNEL-NEXT: gpu.barrier
// KERNEL-COUNT-16: memref.load {{.*}} memref<2048xf32, #gpu.address_space<workgroup>>
// KERNEL-NOT: gpu.barrier
// KERNEL: kernel.ptx "barrier.cluster.arrive.release.aligned"
// CHECK-LABEL: rt.variant @portable
// CHECK: schedule <"recurrence", {instruction = array<i64: 16, 8, 16>, splits = 8 : i64, steps = 1 : i64}>
rt.variant @large_cluster target "sm_90a" {
  func.func @main(%x: tensor<50x1x1x4x512xf32>, %r: tensor<1x4x512x512xf16>, %h: tensor<1x1x512xf16>) -> tensor<1x1x512xf16> {
    %e = tensor.empty() : tensor<1x1x512xf16>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<50x1x1x4x512xf32>, tensor<1x4x512x512xf16>, tensor<1x1x512xf16>)
        outs(%e : tensor<1x1x512xf16>) {
    ^bb0(%a: tensor<50x1x1x4x512xf32>, %b: tensor<1x4x512x512xf16>, %c: tensor<1x1x512xf16>, %l: tensor<1x1x512xf16>):
      %t = tensor.empty() : tensor<1x512x4x512xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x4x512x512xf16>) outs(%t : tensor<1x512x4x512xf16>) {
      ^bb1(%in: f16, %out: f16):
        linalg.yield %in : f16
      } -> tensor<1x512x4x512xf16>
      %q = kernel.recurrence input(%a : tensor<50x1x1x4x512xf32>) weights(%w : tensor<1x512x4x512xf16>)
          initial(%c : tensor<1x1x512xf16>) outs(%l : tensor<1x1x512xf16>) phases [4] reverse [false] {
      ^bb1(%direction: index, %i: f32, %j: f32, %k: f32, %u: f32, %m: f32, %n: f32, %o: f32, %p: f32, %before: f32):
        %0 = arith.addf %m, %n : f32
        %1 = arith.addf %o, %p : f32
        %2 = arith.mulf %0, %1 : f32
        kernel.yield %2 : f32
      } -> tensor<1x1x512xf16>
      kernel.yield %q : tensor<1x1x512xf16>
    } -> tensor<1x1x512xf16>
    return %s : tensor<1x1x512xf16>
  }
}
rt.variant @portable target "sm_90" {
  func.func @main(%x: tensor<50x1x1x4x512xf32>, %r: tensor<1x4x512x512xf16>, %h: tensor<1x1x512xf16>) -> tensor<1x1x512xf16> {
    %e = tensor.empty() : tensor<1x1x512xf16>
    %s = kernel.dispatch ins(%x, %r, %h : tensor<50x1x1x4x512xf32>, tensor<1x4x512x512xf16>, tensor<1x1x512xf16>)
        outs(%e : tensor<1x1x512xf16>) {
    ^bb0(%a: tensor<50x1x1x4x512xf32>, %b: tensor<1x4x512x512xf16>, %c: tensor<1x1x512xf16>, %l: tensor<1x1x512xf16>):
      %t = tensor.empty() : tensor<1x512x4x512xf16>
      %w = linalg.generic {indexing_maps = [affine_map<(d, k, g, j) -> (d, g, j, k)>, affine_map<(d, k, g, j) -> (d, k, g, j)>],
                           iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%b : tensor<1x4x512x512xf16>) outs(%t : tensor<1x512x4x512xf16>) {
      ^bb1(%in: f16, %out: f16):
        linalg.yield %in : f16
      } -> tensor<1x512x4x512xf16>
      %q = kernel.recurrence input(%a : tensor<50x1x1x4x512xf32>) weights(%w : tensor<1x512x4x512xf16>)
          initial(%c : tensor<1x1x512xf16>) outs(%l : tensor<1x1x512xf16>) phases [4] reverse [false] {
      ^bb1(%direction: index, %i: f32, %j: f32, %k: f32, %u: f32, %m: f32, %n: f32, %o: f32, %p: f32, %before: f32):
        %0 = arith.addf %m, %n : f32
        %1 = arith.addf %o, %p : f32
        %2 = arith.mulf %0, %1 : f32
        kernel.yield %2 : f32
      } -> tensor<1x1x512xf16>
      kernel.yield %q : tensor<1x1x512xf16>
    } -> tensor<1x1x512xf16>
    return %s : tensor<1x1x512xf16>
  }
}
