// RUN: %cameo-opt %s --split-input-file --verify-diagnostics

func.func @NoConstant() {
  // expected-error @below {{no constant @w in any enclosing pool}}
  %w = rt.get_constant @w : tensor<4xf32>
  return
}

// -----

rt.constant @w = dense<1.0> : tensor<4xf32>
func.func @ConstantType() {
  // expected-error @below {{has type 'tensor<5xf32>', the constant 'tensor<4xf32>'}}
  %w = rt.get_constant @w : tensor<5xf32>
  return
}

// -----

func.func @ReshapeElementType(%x: tensor<4xf32>) {
  // expected-error @below {{cannot change the element type}}
  %y = rt.reshape %x : tensor<4xf32> -> tensor<4xi32>
  return
}

// -----

func.func @ReshapeSizes(%x: tensor<?xf32>) {
  // expected-error @below {{has 0 sizes, its result 1 dynamic dimensions}}
  %y = rt.reshape %x : tensor<?xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @ReshapeElements(%x: tensor<4xf32>) {
  // expected-error @below {{from 4 to 6 elements}}
  %y = rt.reshape %x : tensor<4xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @LaunchTimes(%n: index, %x: !rt.buffer) {
  // expected-error @below {{has times and no tensors; of buffers, launches are repeated by rt.repeat}}
  rt.launch @k::@f grid(%n, %n, %n) times(%n) args(%x : !rt.buffer) writes [0]
  return
}

// -----

func.func @LaunchGrid(%n: index, %x: tensor<4xf32>) {
  // expected-error @below {{needs three grid sizes, has 2}}
  rt.launch @k::@f grid(%n, %n) args(%x : tensor<4xf32>) writes [0]
  return
}

// -----

func.func @LaunchOutput(%n: index, %x: tensor<4xf32>) {
  // expected-error @below {{output position 1 is outside [0, 1)}}
  rt.launch @k::@f grid(%n, %n, %n) args(%x : tensor<4xf32>) writes [1]
  return
}

// -----

func.func @LaunchResults(%n: index, %x: tensor<4xf32>) {
  // expected-error @below {{has 2 results for 1 written operands}}
  %y:2 = rt.launch @k::@f grid(%n, %n, %n) args(%x : tensor<4xf32>) writes [0]
      -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @LaunchFinishes(%n: index, %x: tensor<4xf32>) {
  %p = rt.launch @parts::@f grid(%n, %n, %n) args(%x : tensor<4xf32>) writes [0] -> tensor<4xf32>
  %y = rt.launch @k::@f finishes @parts::@f grid(%n, %n, %n) args(%p : tensor<4xf32>) writes [0] -> tensor<4xf32>
  // expected-error @below {{finishes @k::@f, of which it reads no result}}
  %z = rt.launch @k::@f finishes @k::@f grid(%n, %n, %n) args(%p : tensor<4xf32>) writes [0] -> tensor<4xf32>
  return
}

// -----

func.func @LaunchInPlacePairs(%n: index, %x: tensor<4xf32>) {
  // expected-error @below {{rt.in_place needs pairs of positions, is array<i64: 1>}}
  rt.launch @k::@f grid(%n, %n, %n) args(%x, %x : tensor<4xf32>, tensor<4xf32>) writes [1] {rt.in_place = array<i64: 1>}
  return
}

// -----

func.func @LaunchInPlacePosition(%n: index, %x: tensor<4xf32>) {
  // expected-error @below {{rt.in_place has the pair 1, 2; positions are in [0, 2)}}
  rt.launch @k::@f grid(%n, %n, %n) args(%x, %x : tensor<4xf32>, tensor<4xf32>) writes [1] {rt.in_place = array<i64: 1, 2>}
  return
}

// -----

func.func @LaunchInPlaceRead(%n: index, %x: tensor<4xf32>) {
  // expected-error @below {{rt.in_place has the pair 0, 1; the first is written, the second only read}}
  rt.launch @k::@f grid(%n, %n, %n) args(%x, %x : tensor<4xf32>, tensor<4xf32>) writes [1] {rt.in_place = array<i64: 0, 1>}
  return
}

// -----

func.func @LaunchInPlaceBuffers(%n: index) {
  %a = rt.arena_view %n bytes %n
  %b = rt.arena_view %n bytes %n
  // expected-error @below {{rt.in_place has the pair 1, 0, which are not one buffer}}
  rt.launch @k::@f grid(%n, %n, %n) args(%a, %b : !rt.buffer, !rt.buffer) writes [1] {rt.in_place = array<i64: 1, 0>}
  return
}

// -----

func.func @LaunchSharedBuffer(%n: index) {
  %a = rt.arena_view %n bytes %n
  // expected-error @below {{writes operand 1, whose buffer operand 0 has, too}}
  rt.launch @k::@f grid(%n, %n, %n) args(%a, %a : !rt.buffer, !rt.buffer) writes [1]
  return
}

// -----

func.func @ReshapeView(%x: tensor<4x6xf32>) {
  %v = rt.view %x[0, 0] : tensor<4x6xf32> -> tensor<4x3xf32>
  // expected-error @below {{of a view must leave its outer dimensions as they are}}
  %y = rt.reshape %v : tensor<4x3xf32> -> tensor<12xf32>
  return
}

// -----

func.func @ConcatSizes(%x: tensor<?xf32>) {
  // expected-error @below {{has 0 sizes, its result 1 dynamic dimensions}}
  %y = rt.concat %x dim 0 : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @ConcatNothing() {
  // expected-error @below {{needs at least one part}}
  %y = "rt.concat"() <{dim = 0 : i64, operandSegmentSizes = array<i32: 0, 0>}> : () -> tensor<4xf32>
  return
}

// -----

func.func @ConcatDimension(%x: tensor<4xf32>) {
  // expected-error @below {{dimension 1 is outside [0, 1)}}
  %y = rt.concat %x dim 1 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @ConcatType(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @below {{part 1 of type 'tensor<4xi32>' cannot be in 'tensor<8xf32>'}}
  %z = rt.concat %x, %y dim 0 : tensor<4xf32>, tensor<4xi32> -> tensor<8xf32>
  return
}

// -----

func.func @ConcatOther(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @below {{part 1 has 3 elements along dimension 1, the whole 2}}
  %z = rt.concat %x, %y dim 0 : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func @ConcatSum(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{parts have 7 elements along dimension 0, the whole 8}}
  %z = rt.concat %x, %y dim 0 : tensor<4xf32>, tensor<3xf32> -> tensor<8xf32>
  return
}

// -----

func.func @StorageSizes() {
  // expected-error @below {{has 0 sizes, its result 1 dynamic dimensions}}
  %s = rt.storage : tensor<?xf32>
  return
}

// -----

func.func @ViewType(%x: tensor<4xf32>) {
  // expected-error @below {{of type 'tensor<2x1xf32>' cannot be in 'tensor<4xf32>'}}
  %v = rt.view %x[0] : tensor<4xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @ViewOffsets(%x: tensor<4x2xf32>) {
  // expected-error @below {{needs an offset for each of the 2 dimensions}}
  %v = rt.view %x[0] : tensor<4x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @ViewSizes(%x: tensor<4xf32>) {
  // expected-error @below {{has 0 sizes, its result 1 dynamic dimensions}}
  %v = rt.view %x[0] : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @ViewBounds(%x: tensor<4x2xf32>) {
  // expected-error @below {{ends at 5 of dimension 0, the source at 4}}
  %v = rt.view %x[3, 0] : tensor<4x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @AssembleTensor(%x: tensor<4xf32>) {
  // expected-error @below {{needs a rt.storage or a view of one}}
  %y = rt.assemble %x dim 0 of %x : tensor<4xf32> of tensor<4xf32>
  return
}

// -----

func.func @AssembleElsewhere(%x: tensor<4xf32>) {
  %s = rt.storage : tensor<4xf32>
  // expected-error @below {{part 0 is not in the storage}}
  %y = rt.assemble %s dim 0 of %x : tensor<4xf32> of tensor<4xf32>
  return
}

// -----

func.func @AssembleTwice(%n: index) {
  %s = rt.storage : tensor<4xf32>
  %v = rt.view %s[0] : tensor<4xf32> -> tensor<2xf32>
  %a = rt.launch @k::@f grid(%n, %n, %n) args(%v : tensor<2xf32>) writes [0] -> tensor<2xf32>
  // expected-error @below {{part 1 is where another part is}}
  %y = rt.assemble %s dim 0 of %a, %a : tensor<4xf32> of tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @AssembleOrder(%n: index) {
  %s = rt.storage : tensor<4xf32>
  %v = rt.view %s[0] : tensor<4xf32> -> tensor<2xf32>
  %w = rt.view %s[2] : tensor<4xf32> -> tensor<2xf32>
  %a = rt.launch @k::@f grid(%n, %n, %n) args(%v : tensor<2xf32>) writes [0] -> tensor<2xf32>
  %b = rt.launch @k::@f grid(%n, %n, %n) args(%w : tensor<2xf32>) writes [0] -> tensor<2xf32>
  // expected-error @below {{part 0 is not where the one before it ends}}
  %y = rt.assemble %s dim 0 of %b, %a : tensor<4xf32> of tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @AssembleOther(%n: index) {
  %s = rt.storage : tensor<4xf32>
  %v = rt.view %s[0] : tensor<4xf32> -> tensor<4xf32>
  %w = rt.view %s[2] : tensor<4xf32> -> tensor<2xf32>
  %a = rt.launch @k::@f grid(%n, %n, %n) args(%v : tensor<4xf32>) writes [0] -> tensor<4xf32>
  // expected-error @below {{has a storage with a view that is not a part}}
  %y = rt.assemble %s dim 0 of %a : tensor<4xf32> of tensor<4xf32>
  return
}

// -----

func.func @StateElsewhere(%past: tensor<4xf32>, %x: tensor<4xf32>) {
  %s = rt.storage state 1 : tensor<8xf32>
  %v = rt.view %s[0] : tensor<8xf32> -> tensor<4xf32>
  // expected-error @below {{is not in the storage of state 0}}
  %a = rt.state %past in %v : tensor<4xf32> in tensor<4xf32>
  return
}

// -----

func.func @StateBehind(%past: tensor<4xf32>) {
  %s = rt.storage state 0 : tensor<8xf32>
  %v = rt.view %s[4] : tensor<8xf32> -> tensor<4xf32>
  // expected-error @below {{is not at the beginning of its storage}}
  %a = rt.state %past in %v : tensor<4xf32> in tensor<4xf32>
  return
}

// -----

func.func @StateOfNoInput(%past: tensor<4xf32>, %n: index) {
  %s = rt.storage state 0 : tensor<8xf32>
  %v = rt.view %s[0] : tensor<8xf32> -> tensor<4xf32>
  %y = rt.launch @k::@f grid(%n, %n, %n) args(%past : tensor<4xf32>) writes [0] -> tensor<4xf32>
  // expected-error @below {{needs an input of the model}}
  %a = rt.state %y in %v : tensor<4xf32> in tensor<4xf32>
  return
}

// -----

// expected-error @below {{'rt.ledger' is not an array}}
func.func @LedgerForm() attributes {rt.ledger = "fused"} { return }

// -----

// expected-error @below {{entry 1 of 'rt.ledger' needs the strings 'kind' (applied, missed or chosen), 'what' and 'text', and the location 'at'}}
func.func @LedgerEntry() attributes {rt.ledger = [
    {at = loc("a"), kind = "missed", text = "not folded", what = "fold"},
    {at = loc("a"), kind = "avoided", text = "not folded", what = "fold"}]} {
  return
}

// -----

func.func @LayoutSteps(%n: index) {
  // expected-error @below {{buffer 1 is in use from step 3 to step 2; steps are in order and in [0, 2^32)}}
  %arena, %live, %sum, %offset:2 = rt.lay_out_arena [%n from 0 to 2, %n from 3 to 2]
  return
}

// -----

func.func @LayoutCounts(%n: index) {
  // expected-error @below {{has 1 sizes, 2 first and 1 last steps, and 1 offsets}}
  %0:4 = "rt.lay_out_arena"(%n) {first = array<i64: 0, 1>, last = array<i64: 2>} : (index) -> (index, index, index, index)
  return
}

// -----

func.func @TapSizes(%x: tensor<?xf32>, %n: index) {
  // expected-error @below {{has 1 sizes, and a tensor, which has its own}}
  rt.tap 0 = %x sizes(%n) : tensor<?xf32>
  return
}

// -----

func.func @ArenaUse(%n: index) {
  // expected-error @below {{states the live bytes or the sum of all bytes without the other}}
  "rt.arena_size"(%n, %n) {operandSegmentSizes = array<i32: 1, 1, 0>} : (index, index) -> ()
  return
}

// -----

// expected-error @below {{unknown GPU architecture 'gfx90a'; expected sm_ and a compute capability}}
rt.variant @Architecture target "gfx90a" {
}

// -----

// expected-error @below {{unknown GPU architecture 'sm_61': there is no board with it}}
rt.variant @NoBoard target "sm_61" {
}

// -----

// expected-error @below {{unknown board 'h200' of sm_80; known: a100-40, a100-80-sxm, a100-80-pcie, a30}}
rt.variant @OtherBoard target "sm_80" board "h200" {
}

// -----

// expected-error @below {{unknown board 'a100' of sm_80; known: a100-40}}
module attributes {test.target = #rt.target<"sm_80", board = "a100">} {
}

// -----

// expected-error @below {{dialect 'rt' has no attribute 'rt.speed'}}
func.func @UndeclaredAttribute() attributes {rt.speed = 1} {
  return
}

// -----

// expected-error @below {{'rt.memory' cannot be 1 : i64}}
func.func @AttributeOfAnotherType() attributes {rt.memory = 1} {
  return
}

// -----

func.func @FetchOfNibbles(%x: tensor<2xi4>) {
  // expected-error @below {{reads elements of type 'i4', which are not numbers by themselves}}
  %0:2 = rt.fetch %x as i4 : tensor<2xi4> -> i64, i64
  return
}

// -----

func.func @FetchOfFloats(%x: tensor<1xf32>) {
  // expected-error @below {{gives 'i64' for elements of type 'f32'}}
  %0 = rt.fetch %x as f32 : tensor<1xf32> -> i64
  return
}

// -----

func.func @FetchOfMore(%x: tensor<2xi64>) {
  // expected-error @below {{gives 1 numbers of 'tensor<2xi64>'}}
  %0 = rt.fetch %x as i64 : tensor<2xi64> -> i64
  return
}

// -----

func.func @FetchOfAny(%x: tensor<?xi64>) {
  // expected-error @below {{gives 1 numbers of 'tensor<?xi64>'}}
  %0 = rt.fetch %x as i64 : tensor<?xi64> -> i64
  return
}
