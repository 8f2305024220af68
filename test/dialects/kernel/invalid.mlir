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

func.func @SortAxis(%x: tensor<4x8xi64>) {
  // expected-error @below {{axis -1 is outside [0, 2)}}
  %y = kernel.sort %x, %x {axis = -1 : i64, most = 8 : i64} : tensor<4x8xi64>
  return
}

// -----

func.func @SortFloats(%x: tensor<4x8xf32>) {
  // expected-error @below {{sorts integers, not elements of 'f32'}}
  %y = kernel.sort %x, %x {axis = 1 : i64, most = 8 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @SortLongLine(%x: tensor<4x8xi64>) {
  // expected-error @below {{lines have 8 elements; at most 7 are said to be there}}
  %y = kernel.sort %x, %x {axis = 1 : i64, most = 7 : i64} : tensor<4x8xi64>
  return
}

// -----

func.func @SortOfNothing(%x: tensor<4x?xi64>) {
  // expected-error @below {{'most' is 0; it must be 1 or more}}
  %y = kernel.sort %x, %x {axis = 1 : i64, most = 0 : i64} : tensor<4x?xi64>
  return
}

// -----

func.func @ChooseConflicts(%x: tensor<4x8xi1>, %c: tensor<4x8xi1>, %n: index) {
  // expected-error @below {{conflicts are 'tensor<4x8xi1>'; candidates make them 'tensor<4x8x8xi1>'}}
  %y = kernel.choose %x conflicts %c limit %n, %x : tensor<4x8xi1>, tensor<4x8xi1>
  return
}

// -----

func.func @ChooseNoLines(%x: tensor<i1>, %c: tensor<i1>, %n: index) {
  // expected-error @below {{has no dimension that lines are along}}
  %y = kernel.choose %x conflicts %c limit %n, %x : tensor<i1>, tensor<i1>
  return
}

// -----

func.func @InsertAxis(%x: tensor<2x3xf32>, %p: tensor<2x2xi64>, %o: tensor<2x8xf32>) {
  // expected-error @below {{axis 0 is none of 1 to 1}}
  %y = kernel.insert %x at %p into %o {axis = 0 : i64} : tensor<2x3xf32>, tensor<2x2xi64>, tensor<2x8xf32>
  return
}

// -----

func.func @InsertSizes(%x: tensor<2x3x5xf32>, %p: tensor<2x3xi64>, %o: tensor<2x8x4xf32>) {
  // expected-error @below {{inserts 'tensor<2x3x5xf32>' into 'tensor<2x8x4xf32>'; they may differ in their size along axis 1 only}}
  %y = kernel.insert %x at %p into %o {axis = 1 : i64} : tensor<2x3x5xf32>, tensor<2x3xi64>, tensor<2x8x4xf32>
  return
}

// -----

func.func @InsertPlaces(%x: tensor<2x3x4xf32>, %p: tensor<2x3xi32>, %o: tensor<2x8x4xf32>) {
  // expected-error @below {{places are 'tensor<2x3xi32>'; expected 'tensor<2x3xi64>'}}
  %y = kernel.insert %x at %p into %o {axis = 1 : i64} : tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<2x8x4xf32>
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

// -----

func.func @Precision(%x: f32) {
  // expected-error @below {{'kernel.precision' is "tf32", not "f16"}}
  %0 = arith.mulf %x, %x {kernel.precision = "f16"} : f32
  return
}

// -----

// expected-error @below {{dialect 'kernel' has no attribute 'kernel.speed'}}
func.func @UndeclaredAttribute() attributes {kernel.speed = 1} {
  return
}

// -----

// expected-error @below {{'kernel.nodes' cannot be 1 : i64}}
func.func @AttributeOfAnotherType() attributes {kernel.nodes = 1} {
  return
}

// -----

func.func @RecurrenceWeights(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x4xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{weights: 'tensor<1x4x4xf32>'; expected directions, depth, gates and units, at least one}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceRank(%x: tensor<15x4xf32>, %r: tensor<1x4x1x4xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{input has rank 2; expected 5}}
  %l = kernel.recurrence input(%x : tensor<15x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceGates(%x: tensor<5x3x1x2x4xf32>, %r: tensor<1x4x2x4xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{input: 'tensor<5x3x1x2x4xf32>'; expected 5x3x1x1x4}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x2x4xf32>) weights(%r : tensor<1x4x2x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceDepth(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x8x1x4xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{weights: 'tensor<1x8x1x4xf32>'; expected 1x4x1x4}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x8x1x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceParameters(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %p: tensor<1x2x5xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{parameters: 'tensor<1x2x5xf32>'; expected 1x?x4}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      parameters(%p : tensor<1x2x5xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %q0: f32, %q1: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceLengths(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %n: tensor<5xi32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{lengths: 'tensor<5xi32>'; expected 3}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      lengths(%n : tensor<5xi32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceResults(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{has 2 states, 1 destinations and 1 results; expected one of each for a state, and perhaps one in front}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      initial(%h, %h : tensor<1x3x4xf32>, tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32, %cell: f32):
    kernel.yield %in, %in : f32, f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceInitial(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %h: tensor<3x1x4xf32>, %o: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{an initial state: 'tensor<3x1x4xf32>'; expected 1x3x4}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      initial(%h : tensor<3x1x4xf32>) outs(%o : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceLast(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %h: tensor<1x3x4xf32>, %o: tensor<3x1x4xf32>) -> tensor<3x1x4xf32> {
  // expected-error @below {{a last state: 'tensor<3x1x4xf32>'; expected 1x3x4}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%o : tensor<3x1x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<3x1x4xf32>
  return %l : tensor<3x1x4xf32>
}

// -----

func.func @RecurrenceSequence(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %h: tensor<1x3x4xf32>, %o: tensor<3x5x1x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{the sequence: 'tensor<3x5x1x4xf32>'; expected 5x1x3x4}}
  %s, %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%o, %h : tensor<3x5x1x4xf32>, tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<3x5x1x4xf32>, tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceTypes(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf16>, %h: tensor<1x3x4xf16>, %o: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{states are of one type, not of 'tensor<1x3x4xf32>' and 'tensor<1x3x4xf16>'}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf16>)
      initial(%h : tensor<1x3x4xf16>) outs(%o : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrencePhases(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{2 phases and 1 cells; expected a cell and at least one gate for each phase}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1, 0] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceArguments(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{cell 0 has arguments of 'index', 'f32', 'f32'; expected 'index', 'f32', 'f32', 'f32'}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32):
    kernel.yield %in : f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}

// -----

func.func @RecurrenceYields(%x: tensor<5x3x1x1x4xf32>, %r: tensor<1x4x1x4xf32>, %h: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  // expected-error @below {{cell 0 must yield values of 'f32', 1 of them}}
  %l = kernel.recurrence input(%x : tensor<5x3x1x1x4xf32>) weights(%r : tensor<1x4x1x4xf32>)
      initial(%h : tensor<1x3x4xf32>) outs(%h : tensor<1x3x4xf32>) phases [1] reverse [false] {
  ^bb0(%direction: index, %in: f32, %sum: f32, %before: f32):
    kernel.yield %in, %sum : f32, f32
  } -> tensor<1x3x4xf32>
  return %l : tensor<1x3x4xf32>
}
