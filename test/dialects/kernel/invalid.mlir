// RUN: %cameo-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{needs 1 to 1024 threads, has 64x32}}
#tile = #kernel.thread_tile<threads = 64 x 32, tile = 4 x 4, group = 4>

// -----

// expected-error @below {{thread tile of 4x6 is not made of column groups of 4}}
#tile = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 6, group = 4>

// -----

func.func @NoDestination(%x: tensor<4xf32>) {
  // expected-error @below {{needs at least one destination}}
  "kernel.dispatch"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%a: tensor<4xf32>):
    kernel.yield
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @BodyArgumentCount(%x: tensor<4xf32>) {
  // expected-error @below {{body has 1 arguments, expected 2 (inputs, scalars, destinations)}}
  %y = kernel.dispatch ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    kernel.yield %a : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

func.func @BodyArgumentType(%x: tensor<4xf32>) {
  // expected-error @below {{body argument 0 has type 'tensor<5xf32>', its operand 'tensor<4xf32>'}}
  %y = kernel.dispatch outs(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<5xf32>):
    kernel.yield %a : tensor<5xf32>
  } -> tensor<4xf32>
  return
}

// -----

func.func @Yield(%x: tensor<4xf32>) {
  // expected-error @below {{body must yield one tensor of the result's type for each destination}}
  %y = kernel.dispatch outs(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    kernel.yield
  } -> tensor<4xf32>
  return
}

// -----

func.func @ValueFromAbove(%x: tensor<4xf32>) {
  // expected-note @below {{required by region isolation constraints}}
  %y = kernel.dispatch outs(%x : tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{using value defined outside the region}}
    kernel.yield %x : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

func.func @ScanAxis(%x: tensor<4x8xf32>) {
  // expected-error @below {{axis 2 is outside [0, 2)}}
  %y = kernel.scan add %x, %x {axis = 2 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @CopyFromTwoDimensions(%x: memref<4x4xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32,
                                 %ok: i1) {
  // expected-error @below {{needs rank-1 contiguous memory, has 'memref<4x4xf32>'}}
  kernel.copy_tile %x to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f32 : memref<4x4xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

func.func @CopyVector(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32, %ok: i1) {
  // expected-error @below {{vector of 4 does not divide the extent 6}}
  kernel.copy_tile %x to %s[%i] rows 4 cols 6 strides [6, 1] vector 4 threads 32
      padding %z : f32 : memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

func.func @CopyThreads(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32, %ok: i1) {
  // expected-error @below {{needs 1 to 1024 threads, has 2048}}
  kernel.copy_tile %x to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 2048
      padding %z : f32 : memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

func.func @CopyPadding(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f16, %ok: i1) {
  // expected-error @below {{padding must have the source's element type}}
  kernel.copy_tile %x to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f16 : memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

func.func @CopyRegionArguments(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32,
                               %ok: i1) {
  // expected-error @below {{region has the wrong arguments}}
  kernel.copy_tile %x to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f32 : memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

func.func @CopyRegionYield(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32) {
  // expected-error @below {{region yields the wrong values}}
  kernel.copy_tile %x to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f32 : memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i : index
  }
  return
}

// -----

#tile = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>
func.func @ContractDepth(%s: memref<64xf32, 3>, %i: index, %f: !kernel.fragment<64 by 64 of f32, #tile>) {
  // expected-error @below {{depth must be positive, is 0}}
  %g = kernel.contract_tile %s[%i] stride 4, %s[%i] stride 4 depth 0 into %f
      : memref<64xf32, 3>, memref<64xf32, 3> into !kernel.fragment<64 by 64 of f32, #tile>
  return
}

// -----

#tile = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>
func.func @ContractLayout(%s: memref<64xf32, 3>, %i: index, %f: !kernel.fragment<32 by 64 of f32, #tile>) {
  // expected-error @below {{layout does not cover a fragment of 32 by 64}}
  %g = kernel.contract_tile %s[%i] stride 4, %s[%i] stride 4 depth 4 into %f
      : memref<64xf32, 3>, memref<64xf32, 3> into !kernel.fragment<32 by 64 of f32, #tile>
  return
}

// -----

#tile = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>
func.func @StoreRegion(%y: memref<?xf32>, %i: index, %ok: i1,
                       %f: !kernel.fragment<64 by 64 of f32, #tile>) {
  // expected-error @below {{region has the wrong arguments}}
  kernel.store_fragment %f to %y vector 4
      : !kernel.fragment<64 by 64 of f32, #tile> to memref<?xf32> {
  ^bb0(%r: index, %c: index, %v: f16):
    kernel.yield %v, %i, %ok : f16, index, i1
  }
  return
}

// -----

func.func @CopyOfTwo(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32, %ok: i1) {
  // expected-error @below {{needs a value region where it reads more than one source or parts of vectors}}
  kernel.copy_tile %x, %x to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f32 : memref<?xf32>, memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %i, %ok : index, index, i1
  }
  return
}

// -----

func.func @CopyWidths(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32, %ok: i1) {
  // expected-error @below {{has 2 widths for 1 sources}}
  kernel.copy_tile %x widths [4, 0] to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f32 : memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

func.func @CopyWidth(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32, %ok: i1) {
  // expected-error @below {{width of 3 does not divide the vector of 4}}
  kernel.copy_tile %x widths [3] to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f32 : memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

func.func @CopyValue(%x: memref<?xf32>, %s: memref<64xf32, 3>, %i: index, %z: f32, %ok: i1) {
  // expected-error @below {{region has the wrong arguments}}
  kernel.copy_tile %x to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f32 : memref<?xf32> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  } value {
  ^bb0(%a: f32, %b: f32):
    kernel.yield %a : f32
  }
  return
}

// -----

func.func @CopyValueType(%x: memref<?xf16>, %s: memref<64xf32, 3>, %i: index, %z: f32, %ok: i1) {
  // expected-error @below {{region yields the wrong values}}
  kernel.copy_tile %x to %s[%i] rows 4 cols 4 strides [4, 1] vector 4 threads 32
      padding %z : f32 : memref<?xf16> to memref<64xf32, 3> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  } value {
  ^bb0(%a: f16):
    kernel.yield %a : f16
  }
  return
}

// -----

#tile = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>
func.func @StoreReads(%y: memref<?xf32>, %i: index, %ok: i1,
                      %f: !kernel.fragment<64 by 64 of f32, #tile>) {
  // expected-error @below {{needs a region for where it reads exactly where it reads other memory}}
  kernel.store_fragment %f reading %y to %y vector 4
      : !kernel.fragment<64 by 64 of f32, #tile>, memref<?xf32> to memref<?xf32> {
  ^bb0(%r: index, %c: index, %v: f32, %a: f32):
    kernel.yield %v, %i, %ok : f32, index, i1
  }
  return
}

// -----

#tile = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>
func.func @StoreReadsOffsets(%y: memref<?xf32>, %i: index, %ok: i1,
                             %f: !kernel.fragment<64 by 64 of f32, #tile>) {
  // expected-error @below {{region yields the wrong values}}
  kernel.store_fragment %f reading %y to %y vector 4
      : !kernel.fragment<64 by 64 of f32, #tile>, memref<?xf32> to memref<?xf32> {
  ^bb0(%r: index, %c: index, %v: f32, %a: f32):
    kernel.yield %v, %i, %ok : f32, index, i1
  } reads {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %i : index, index
  }
  return
}

// -----

func.func @UnknownInstruction(%a: i32) {
  // expected-error @below {{'redux.sync.mul.s32' is not an instruction that is known here}}
  %0 = kernel.ptx "redux.sync.mul.s32"(%a, %a) : (i32, i32) -> i32
  return
}

// -----

func.func @CopySize(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>) {
  // expected-error @below {{copies of 8 B do not exist: 4, 8 and 16 with .ca, 16 with .cg}}
  kernel.ptx "cp.async.cg.shared.global 8"(%to, %from) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
  return
}

// -----

func.func @WaitGroups() {
  // expected-error @below {{waits for 0 to 254 groups}}
  kernel.ptx "cp.async.wait_group 255"() : () -> ()
  return
}

// -----

func.func @AtomicFlush(%at: !llvm.ptr<1>, %a: i16) {
  // expected-error @below {{16-bit floating-point atomics are .noftz, and they alone}}
  %0 = kernel.ptx "atom.global.add.f16"(%at, %a) : (!llvm.ptr<1>, i16) -> i16
  return
}

// -----

func.func @Registers() {
  // expected-error @below {{sets 100 registers; multiples of 8 from 24 to 256 are possible}}
  kernel.ptx "setmaxnreg.inc.sync.aligned.u32 100"() : () -> ()
  return
}

// -----

func.func @MapFenceBytes(%map: !llvm.ptr<1>) {
  // expected-error @below {{acquires 64 B; a tensor map has 128}}
  kernel.ptx "fence.proxy.tensormap::generic.acquire.sys 64"(%map) : (!llvm.ptr<1>) -> ()
  return
}

// -----

func.func @MapFenceScope() {
  // expected-error @below {{'fence.proxy.tensormap::generic.release.warp' is not an instruction that is known here}}
  kernel.ptx "fence.proxy.tensormap::generic.release.warp"() : () -> ()
  return
}

// -----

func.func @OperandCount(%a: i32) {
  // expected-error @below {{redux.sync.add.s32 has 2 operands, not 1}}
  %0 = kernel.ptx "redux.sync.add.s32"(%a) : (i32) -> i32
  return
}

// -----

func.func @OperandType(%a: i32, %b: i64) {
  // expected-error @below {{operand 1 of redux.sync.add.s32 is 32 bits, not 'i64'}}
  %0 = kernel.ptx "redux.sync.add.s32"(%a, %b) : (i32, i64) -> i32
  return
}

// -----

func.func @ResultType(%a: i32) {
  // expected-error @below {{result 0 of redux.sync.add.s32 is 32 bits, not 'f64'}}
  %0 = kernel.ptx "redux.sync.add.s32"(%a, %a) : (i32, i32) -> f64
  return
}

// -----

func.func @AdvanceRank(%x: memref<4x4xf32>, %i: i64) {
  // expected-error @below {{needs rank-1 contiguous memory, has 'memref<4x4xf32>'}}
  %0 = kernel.advance %x by %i : memref<4x4xf32>
  return
}
