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

// expected-error @below {{'rt.ledger' is no array}}
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

func.func @ArenaUse(%n: index) {
  // expected-error @below {{states the live bytes or the sum of all bytes without the other}}
  "rt.arena_size"(%n, %n) {operandSegmentSizes = array<i32: 1, 1, 0>} : (index, index) -> ()
  return
}
