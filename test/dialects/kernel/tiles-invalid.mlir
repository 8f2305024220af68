// RUN: %cameo-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{no mma instruction has the shape 16x16x16}}
#l = #kernel.mma<16 x 16 x 16, warps = 1 x 1>

// -----

// expected-error @below {{needs 1 to 32 warps, has 8x8}}
#l = #kernel.mma<16 x 8 x 16, warps = 8 x 8>

// -----

// expected-error @below {{a contraction has operands 0 and 1, not 2}}
#l = #kernel.operand<2, of = #kernel.mma<16 x 8 x 16, warps = 1 x 1>>

// -----

// expected-error @below {{needs 1 to 1024 threads, has 2048}}
#l = #kernel.copied<vector = 4, along = rows, threads = 2048>

// -----

// expected-error @below {{vector must be positive, is 0}}
#l = #kernel.copied<vector = 0, along = rows, threads = 32>

// -----

// expected-error @below {{strides must be positive, are 0 and 1}}
#l = #kernel.strided<[0, 1]>

// -----

// expected-error @below {{span is 16, 32, 64 or 128 B, not 256}}
#l = #kernel.swizzle<256, along = rows>

// -----

// expected-error @below {{a tile has rows and columns, not 1 dimensions}}
func.func private @TileRank() -> !kernel.tile<4xf32, #kernel.strided<[4, 1]>, stages = 1>

// -----

// expected-error @below {{elements are truth values or have 8, 16, 32 or 64 bits, not 'i4'}}
func.func private @TileElements() -> !kernel.tile<4x4xi4, #kernel.strided<[4, 1]>, stages = 1>

// -----

// expected-error @below {{has 4 rows, 4 columns and 0 stages}}
func.func private @TileStages() -> !kernel.tile<4x4xf32, #kernel.strided<[4, 1]>, stages = 0>

// -----

// expected-error @below {{strides of 3 and 1 let elements of a tile of 4x4 coincide}}
func.func private @TileStrides() -> !kernel.tile<4x4xf32, #kernel.strided<[3, 1]>, stages = 1>

// -----

// expected-error @below {{has 32 lines of 32 B; a swizzled tile has eights of lines of a multiple of 64 B}}
func.func private @TileLines() -> !kernel.tile<32x16xf16, #kernel.swizzle<64, along = columns>, stages = 1>

// -----

// expected-error @below {{has floating-point or integer elements, not 'index'}}
func.func private @FragmentElements() -> !kernel.fragment<4 by 8 of index, #kernel.copied<vector = 4, along = columns, threads = 32>>

// -----

// expected-error @below {{layout does not cover a fragment of 32 by 64}}
func.func private @ThreadTile() -> !kernel.fragment<32 by 64 of f32, #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>>

// -----

// expected-error @below {{operand 1 of 4 by 32 does not go with the accumulators' 64 columns}}
func.func private @ThreadTileOperand() -> !kernel.fragment<4 by 32 of f32, #kernel.operand<1, of = #kernel.thread_tile<threads = 16 x 16, tile = 4 x 4, group = 4>>>

// -----

// expected-error @below {{layout does not cover a fragment of 24 by 64}}
func.func private @Mma() -> !kernel.fragment<24 by 64 of f32, #kernel.mma<16 x 8 x 16, warps = 2 x 2>>

// -----

// expected-error @below {{operand 0 of 32 by 8 is not made of those of 16x8x16}}
func.func private @MmaOperand() -> !kernel.fragment<32 by 8 of f16, #kernel.operand<0, of = #kernel.mma<16 x 8 x 16, warps = 2 x 2>>>

// -----

// expected-error @below {{elements of 'i8' are not multiplied 8 at a time}}
func.func private @MmaElements() -> !kernel.fragment<32 by 8 of i8, #kernel.operand<0, of = #kernel.mma<16 x 8 x 8, warps = 2 x 2>>>

// -----

// expected-error @below {{vector of 4 does not divide the extent 6}}
func.func private @CopiedVector() -> !kernel.fragment<4 by 6 of f32, #kernel.copied<vector = 4, along = columns, threads = 32>>

// -----

// expected-error @below {{has 0 rows and 4 columns}}
func.func private @CopiedExtent() -> !kernel.fragment<0 by 4 of f32, #kernel.copied<vector = 4, along = columns, threads = 32>>

// -----

!tile = !kernel.tile<8x8xf32, #kernel.strided<[8, 1]>, stages = 2>
func.func @Over(%a: !tile) {
  // expected-error @below {{can be over tiles of kernel.alloc_tile only that have their own memory}}
  %b = kernel.alloc_tile over (%a : !tile) : !tile
  return
}

// -----

func.func @OverRoom() {
  %a = kernel.alloc_tile : !kernel.tile<8x8xf32, #kernel.strided<[8, 1]>, stages = 1>
  // expected-error @below {{takes 512 B over tiles of 256 B}}
  %b = kernel.alloc_tile over (%a : !kernel.tile<8x8xf32, #kernel.strided<[8, 1]>, stages = 1>)
      : !kernel.tile<8x8xf32, #kernel.strided<[8, 1]>, stages = 2>
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadPaddings(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{has 1 sources and 2 paddings}}
  %0 = "kernel.load_global"(%x, %z, %z) <{operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }) : (memref<?xf32>, f32, f32) -> !part
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadResults(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{has 3 results for 1 sources}}
  %0:3 = kernel.load_global %x padding %z : memref<?xf32> -> !part, !part, !part {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadTogether(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{together of 3 does not divide the vector of 4}}
  %0 = kernel.load_global %x together 3 padding %z : memref<?xf32> -> !part {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadTogetherWidth(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{width of 4 does not divide the vector of 2}}
  %0 = kernel.load_global %x widths [4] together 2 padding %z : memref<?xf32> -> !part {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
func.func @LoadSizes(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{needs fragments of one size and layout}}
  %0:2 = kernel.load_global %x padding %z : memref<?xf32>
      -> !kernel.fragment<4 by 8 of f32, #l>, !kernel.fragment<8 by 8 of i1, #l> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
func.func @LoadElements(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{fragment 1 has elements of 'f32', not 'i1'}}
  %0:2 = kernel.load_global %x padding %z : memref<?xf32>
      -> !kernel.fragment<4 by 8 of f32, #l>, !kernel.fragment<4 by 8 of f32, #l> {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadPadding(%x: memref<?xf32>, %i: index, %ok: i1, %z: f16) {
  // expected-error @below {{padding 0 is not 'f32'}}
  %0 = "kernel.load_global"(%x, %z) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }) : (memref<?xf32>, f16) -> !part
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadRank(%x: memref<4x4xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{needs rank-1 contiguous memory, has 'memref<4x4xf32>'}}
  %0 = kernel.load_global %x padding %z : memref<4x4xf32> -> !part {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadWidths(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{has 2 widths for 1 sources}}
  %0 = kernel.load_global %x widths [4, 0] padding %z : memref<?xf32> -> !part {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadWidth(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{width of 3 does not divide the vector of 4}}
  %0 = kernel.load_global %x widths [3] padding %z : memref<?xf32> -> !part {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadRegion(%x: memref<?xf32>, %i: index, %ok: i1, %z: f32) {
  // expected-error @below {{region has the wrong arguments}}
  %0 = kernel.load_global %x padding %z : memref<?xf32> -> !part {
  ^bb0(%r: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!part = !kernel.fragment<4 by 8 of f32, #l>
func.func @LoadYield(%x: memref<?xf32>, %i: index, %z: f32) {
  // expected-error @below {{region yields the wrong values}}
  %0 = kernel.load_global %x padding %z : memref<?xf32> -> !part {
  ^bb0(%r: index, %c: index):
    kernel.yield %i : index
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
func.func @MapSizes(%f: !kernel.fragment<4 by 8 of f32, #l>) {
  // expected-error @below {{needs fragments of one size and layout}}
  %0 = kernel.map_fragment %f : !kernel.fragment<4 by 8 of f32, #l> -> !kernel.fragment<8 by 8 of f32, #l> {
  ^bb0(%r: index, %c: index, %e: f32):
    kernel.yield %e : f32
  }
  return
}

// -----

#o = #kernel.operand<0, of = #kernel.mma<16 x 8 x 16, warps = 1 x 1>>
func.func @MapSpread(%f: !kernel.fragment<16 by 16 of i8, #o>) {
  // expected-error @below {{needs elements that are spread alike}}
  %0 = kernel.map_fragment %f : !kernel.fragment<16 by 16 of i8, #o> -> !kernel.fragment<16 by 16 of f16, #o> {
  ^bb0(%r: index, %c: index, %e: i8):
    %v = arith.sitofp %e : i8 to f16
    kernel.yield %v : f16
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
func.func @MapRegion(%f: !kernel.fragment<4 by 8 of f32, #l>) {
  // expected-error @below {{region has the wrong arguments}}
  %0 = kernel.map_fragment %f : !kernel.fragment<4 by 8 of f32, #l> -> !kernel.fragment<4 by 8 of f32, #l> {
  ^bb0(%e: f32):
    kernel.yield %e : f32
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
func.func @WriteElements(%f: !kernel.fragment<4 by 8 of f32, #l>, %i: index) {
  %t = kernel.alloc_tile : !kernel.tile<4x8xf16, #kernel.strided<[8, 1]>, stages = 1>
  // expected-error @below {{tile has elements of 'f16', fragment of 'f32'}}
  kernel.write_tile %f to %t[%i, %i, %i] : !kernel.fragment<4 by 8 of f32, #l> to !kernel.tile<4x8xf16, #kernel.strided<[8, 1]>, stages = 1>
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
func.func @WriteStage(%f: !kernel.fragment<4 by 8 of f32, #l>, %i: index) {
  %c2 = arith.constant 2 : index
  %t = kernel.alloc_tile : !kernel.tile<4x8xf32, #kernel.strided<[8, 1]>, stages = 2>
  // expected-error @below {{reaches stages 2 to 2 of a tile of 2}}
  kernel.write_tile %f to %t[%c2, %i, %i] : !kernel.fragment<4 by 8 of f32, #l> to !kernel.tile<4x8xf32, #kernel.strided<[8, 1]>, stages = 2>
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
func.func @LoadFragmentColumns(%i: index) {
  %c4 = arith.constant 4 : index
  %t = kernel.alloc_tile : !kernel.tile<4x8xf32, #kernel.strided<[8, 1]>, stages = 1>
  // expected-error @below {{reaches columns 4 to 11 of a tile of 8}}
  %f = kernel.load_fragment %t[%i, %i, %c4] : !kernel.tile<4x8xf32, #kernel.strided<[8, 1]>, stages = 1> -> !kernel.fragment<4 by 8 of f32, #l>
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!tile = !kernel.tile<4x8xf32, #kernel.strided<[8, 1]>, stages = 1>
func.func @AsyncElements(%x: memref<?xi32>, %i: index, %ok: i1) {
  %t = kernel.alloc_tile : !tile
  // expected-error @below {{copies 'f32' from memory of 'i32'}}
  kernel.copy_async %x to %t[%i, %i, %i] as !kernel.fragment<4 by 8 of f32, #l> : memref<?xi32> to !tile {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 1, along = columns, threads = 32>
!tile = !kernel.tile<4x8xf16, #kernel.strided<[8, 1]>, stages = 1>
func.func @AsyncBytes(%x: memref<?xf16>, %i: index, %ok: i1) {
  %t = kernel.alloc_tile : !tile
  // expected-error @below {{copies 4, 8 or 16 B at once, not 2}}
  kernel.copy_async %x to %t[%i, %i, %i] as !kernel.fragment<4 by 8 of f16, #l> : memref<?xf16> to !tile {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

#l = #kernel.copied<vector = 4, along = rows, threads = 32>
!tile = !kernel.tile<4x8xf32, #kernel.strided<[8, 1]>, stages = 1>
func.func @AsyncDirection(%x: memref<?xf32>, %i: index, %ok: i1) {
  %t = kernel.alloc_tile : !tile
  // expected-error @below {{needs elements that are consecutive in the tile, too}}
  kernel.copy_async %x to %t[%i, %i, %i] as !kernel.fragment<4 by 8 of f32, #l> : memref<?xf32> to !tile {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

func.func @Pending() {
  // expected-error @below {{lets 0 to 254 groups pend, not 255}}
  kernel.wait_copies 255
  return
}

// -----

#t = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
func.func @ContractSizes(%a: !kernel.fragment<4 by 2 of f32, #kernel.operand<0, of = #t>>,
                         %b: !kernel.fragment<1 by 8 of f32, #kernel.operand<1, of = #t>>,
                         %s: !kernel.fragment<4 by 8 of f32, #t>) {
  // expected-error @below {{cannot multiply 4 by 2 and 1 by 8 into 4 by 8}}
  %0 = kernel.contract %a, %b into %s
      : !kernel.fragment<4 by 2 of f32, #kernel.operand<0, of = #t>>,
        !kernel.fragment<1 by 8 of f32, #kernel.operand<1, of = #t>> into !kernel.fragment<4 by 8 of f32, #t>
  return
}

// -----

#t = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
func.func @ContractLayout(%a: !kernel.fragment<4 by 2 of f32, #kernel.operand<0, of = #t>>,
                          %b: !kernel.fragment<2 by 8 of f32, #kernel.copied<vector = 1, along = rows, threads = 32>>,
                          %s: !kernel.fragment<4 by 8 of f32, #t>) {
  // expected-error @below {{operand 1 needs the layout #kernel.operand<1, of = #kernel.thread_tile<}}
  %0 = kernel.contract %a, %b into %s
      : !kernel.fragment<4 by 2 of f32, #kernel.operand<0, of = #t>>,
        !kernel.fragment<2 by 8 of f32, #kernel.copied<vector = 1, along = rows, threads = 32>>
      into !kernel.fragment<4 by 8 of f32, #t>
  return
}

// -----

#t = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
func.func @ContractElements(%a: !kernel.fragment<4 by 2 of f64, #kernel.operand<0, of = #t>>,
                            %b: !kernel.fragment<2 by 8 of f32, #kernel.operand<1, of = #t>>,
                            %s: !kernel.fragment<4 by 8 of f32, #t>) {
  // expected-error @below {{cannot multiply 'f64' into accumulators of 'f32'}}
  %0 = kernel.contract %a, %b into %s
      : !kernel.fragment<4 by 2 of f64, #kernel.operand<0, of = #t>>,
        !kernel.fragment<2 by 8 of f32, #kernel.operand<1, of = #t>> into !kernel.fragment<4 by 8 of f32, #t>
  return
}

// -----

#t = #kernel.thread_tile<threads = 4 x 8, tile = 1 x 1, group = 1>
func.func @FillType(%v: f32) {
  // expected-error @below {{fills 'f64' with 'f32'}}
  %0 = kernel.fill_fragment %v : f32 -> !kernel.fragment<4 by 8 of f64, #t>
  return
}

// -----

func.func @AddressRank(%x: memref<4x4xf32>, %i: index) {
  // expected-error @below {{needs rank-1 contiguous memory, has 'memref<4x4xf32>'}}
  %0 = kernel.address %x[%i] : memref<4x4xf32> -> !llvm.ptr
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

// expected-error @below {{vector must be positive, is 0}}
#l = #kernel.warp_rows<vector = 0, warps = 2 x 2>

// -----

// expected-error @below {{needs 1 to 32 warps, has 8x8}}
#l = #kernel.warp_rows<vector = 4, warps = 8 x 8>

// -----

// expected-error @below {{layout does not cover a fragment of 16 by 32}}
func.func private @WarpRows() -> !kernel.fragment<16 by 32 of f32, #kernel.warp_rows<vector = 8, warps = 2 x 2>>

// -----

// expected-error @below {{has rectangles of 0x16}}
#l = #kernel.staged<0 x 16>

// -----

// expected-error @below {{a tile of 32x48 is not made of rectangles of 16x32}}
func.func private @StagedTile() -> !kernel.tile<32x48xf32, #kernel.staged<16 x 32>, stages = 1>

// -----

// expected-error @below {{has rectangles of 4 rows of 16 B; rows are multiples of 16 B, rectangles of 128 B}}
func.func private @StagedBytes() -> !kernel.tile<8x4xf32, #kernel.staged<4 x 4>, stages = 1>

// -----

#l = #kernel.mma<16 x 8 x 16, warps = 1 x 1>
func.func @SliceLayout(%f: !kernel.fragment<32 by 16 of f32, #l>) {
  // expected-error @below {{needs fragments of one layout and element type}}
  %0 = kernel.slice_fragment %f[0] : !kernel.fragment<32 by 16 of f32, #l> -> !kernel.fragment<16 by 16 of f16, #l>
  return
}

// -----

#l = #kernel.mma<16 x 8 x 16, warps = 1 x 1>
func.func @SliceNumber(%f: !kernel.fragment<32 by 16 of f32, #l>) {
  // expected-error @below {{takes piece 2 of 4 of 8 values}}
  %0 = kernel.slice_fragment %f[2] : !kernel.fragment<32 by 16 of f32, #l> -> !kernel.fragment<16 by 16 of f32, #l>
  return
}

// -----

#l = #kernel.mma<16 x 8 x 16, warps = 1 x 1>
func.func @SlicePlaces(%f: !kernel.fragment<16 by 32 of f32, #l>) {
  // expected-error @below {{takes values that lie otherwise in the whole than in the part}}
  %0 = kernel.slice_fragment %f[0] : !kernel.fragment<16 by 32 of f32, #l> -> !kernel.fragment<32 by 16 of f32, #l>
  return
}

// -----

#l = #kernel.copied<vector = 4, along = columns, threads = 32>
!tile = !kernel.tile<4x8xf32, #kernel.strided<[8, 1]>, stages = 1>
func.func @AsyncPadding(%x: memref<?xf32>, %i: index, %ok: i1, %zero: f16) {
  %t = kernel.alloc_tile : !tile
  // expected-error @below {{pads 'f32' with 'f16'}}
  kernel.copy_async %x to %t[%i, %i, %i] padding %zero : f16 as !kernel.fragment<4 by 8 of f32, #l> : memref<?xf32> to !tile {
  ^bb0(%r: index, %c: index):
    kernel.yield %i, %ok : index, i1
  }
  return
}

// -----

// Of pairs of columns there are 16 at once.
// expected-error @below {{layout does not cover a fragment of 16 by 8}}
func.func @PairsOfEight(%f: !kernel.fragment<16 by 8 of i32, #kernel.mma<16 x 8 x 32, warps = 1 x 1, pairs = columns>>) {
  return
}

// -----

#l = #kernel.warp_rows<vector = 4, warps = 2 x 1>
#other = #kernel.warp_rows<vector = 2, warps = 2 x 1>
func.func @StoreOthers(%y: memref<?xf32>, %i: index, %ok: i1, %f: !kernel.fragment<16 by 64 of f32, #l>,
                       %g: !kernel.fragment<16 by 64 of f32, #other>) {
  // expected-error @below {{needs fragments of one size and layout}}
  kernel.store_fragment %f with %g : !kernel.fragment<16 by 64 of f32, #other> to %y vector 4
      : !kernel.fragment<16 by 64 of f32, #l> to memref<?xf32> {
  ^bb0(%r: index, %c: index, %v: f32, %w: f32):
    kernel.yield %v, %i, %ok : f32, index, i1
  }
  return
}

// -----

#l = #kernel.warp_rows<vector = 4, warps = 2 x 1>
#other = #kernel.warp_rows<vector = 2, warps = 2 x 1>
func.func @ReduceLayouts(%z: f32, %f: !kernel.fragment<16 by 64 of f32, #other>) {
  // expected-error @below {{needs fragments of one size and layout}}
  %0 = kernel.reduce_rows %f from %z
      : !kernel.fragment<16 by 64 of f32, #other> -> !kernel.fragment<16 by 64 of f32, #l> {
  ^bb0(%r: index, %c: index, %v: f32, %sofar: f32):
    kernel.yield %v : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    kernel.yield %p : f32
  }
  return
}

// -----

#l = #kernel.warp_rows<vector = 4, warps = 2 x 1>
func.func @ReduceNothing(%z: f32) {
  // expected-error @below {{needs a fragment to reduce}}
  %0 = "kernel.reduce_rows"(%z) ({
  ^bb0(%r: index, %c: index, %sofar: f32):
    kernel.yield %sofar : f32
  }, {
  ^bb0(%p: f32, %q: f32):
    kernel.yield %p : f32
  }) : (f32) -> !kernel.fragment<16 by 64 of f32, #l>
  return
}

// -----

// Warps side by side have parts of rows.
#l = #kernel.mma<16 x 8 x 16, warps = 1 x 2>
func.func @ReduceAcrossWarps(%z: f32, %f: !kernel.fragment<16 by 32 of f32, #l>) {
  // expected-error @below {{needs a layout of which each row is with lanes of one warp}}
  %0 = kernel.reduce_rows %f from %z
      : !kernel.fragment<16 by 32 of f32, #l> -> !kernel.fragment<16 by 32 of f32, #l> {
  ^bb0(%r: index, %c: index, %v: f32, %sofar: f32):
    kernel.yield %v : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    kernel.yield %p : f32
  }
  return
}

// -----

// Six lanes have a row: no bits of their numbers say which.
#l = #kernel.thread_tile<threads = 16 x 6, tile = 1 x 4, group = 4>
func.func @ReduceByNoBits(%z: f32, %f: !kernel.fragment<16 by 24 of f32, #l>) {
  // expected-error @below {{needs a layout of which each row is with lanes of one warp}}
  %0 = kernel.reduce_rows %f from %z
      : !kernel.fragment<16 by 24 of f32, #l> -> !kernel.fragment<16 by 24 of f32, #l> {
  ^bb0(%r: index, %c: index, %v: f32, %sofar: f32):
    kernel.yield %v : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    kernel.yield %p : f32
  }
  return
}

// -----

#l = #kernel.warp_rows<vector = 4, warps = 2 x 1>
func.func @ReduceRegion(%z: f32, %f: !kernel.fragment<16 by 64 of f32, #l>) {
  // expected-error @below {{region has the wrong arguments}}
  %0 = kernel.reduce_rows %f from %z
      : !kernel.fragment<16 by 64 of f32, #l> -> !kernel.fragment<16 by 64 of f32, #l> {
  ^bb0(%r: index, %c: index, %v: f32):
    kernel.yield %v : f32
  } combine {
  ^bb0(%p: f32, %q: f32):
    kernel.yield %p : f32
  }
  return
}

// -----

#l = #kernel.warp_rows<vector = 4, warps = 2 x 1>
func.func @ReduceCombine(%z: f32, %f: !kernel.fragment<16 by 64 of f32, #l>) {
  // expected-error @below {{region has the wrong arguments}}
  %0 = kernel.reduce_rows %f from %z
      : !kernel.fragment<16 by 64 of f32, #l> -> !kernel.fragment<16 by 64 of f32, #l> {
  ^bb0(%r: index, %c: index, %v: f32, %sofar: f32):
    kernel.yield %v : f32
  } combine {
  ^bb0(%p: f32):
    kernel.yield %p : f32
  }
  return
}
