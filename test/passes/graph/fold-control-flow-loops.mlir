// Loop and Scan, a copy of the body for each trip.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' | diff %t -

// CHECK-LABEL: func @Counted
// CHECK-NOT: onnx.Loop
// CHECK: %[[A:.*]] = onnx.Exp(%arg0) {onnx.shape_declared} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[B:.*]] = onnx.Exp(%[[A]])
// CHECK: %[[PA:.*]] = onnx.Unsqueeze(%[[A]], {{.*}}) {{.*}} -> tensor<1x3xf32>
// CHECK: %[[PB:.*]] = onnx.Unsqueeze(%[[B]], {{.*}})
// CHECK: %[[P:.*]] = onnx.Concat(%[[PA]], %[[PB]]) {axis = 0 : i64, onnx.shape_declared} : {{.*}} -> tensor<2x3xf32>
// CHECK: return %[[B]], %[[P]] : tensor<3xf32>, tensor<2x3xf32>
func.func @Counted(%x: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %0:2 = onnx.Loop(%two, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %1, %1) : (tensor<i1>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// The condition becomes known by the trip's number, and in the end the count is not reached.
// CHECK-LABEL: func @EndsEarly
// CHECK-COUNT-3: onnx.Exp
// CHECK-NOT: onnx.Exp
// CHECK-NOT: onnx.Loop
func.func @EndsEarly(%x: tensor<3xf32>) -> tensor<*xf32> {
  %most = onnx.Constant() {value = dense<9223372036854775807> : tensor<i64>} : () -> tensor<i64>
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.Loop(%most, %yes, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %2 = onnx.Less(%i, %two) : (tensor<i64>, tensor<i64>) -> tensor<*xi1>
    onnx.Yield(%2, %1) : (tensor<*xi1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Without a condition, what the body yields for one does not count.
// CHECK-LABEL: func @ConditionOfTheBodyAlone
// CHECK-COUNT-2: onnx.Exp
func.func @ConditionOfTheBodyAlone(%x: tensor<3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %no = onnx.Constant() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.Loop(%two, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%no, %1) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Floats are folded on the way: 0.5, 1.0, 1.5 are not above 1.
// CHECK-LABEL: func @EndsByFolding
// CHECK-COUNT-3: onnx.Neg
// CHECK-NOT: onnx.Neg
func.func @EndsByFolding(%x: tensor<3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %half = onnx.Constant() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %one = onnx.Constant() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0:2 = onnx.Loop(%none, %yes, %zero, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<f32>, %v: tensor<*xf32>):
    %1 = onnx.Neg(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %2 = onnx.Add(%s, %half) : (tensor<f32>, tensor<f32>) -> tensor<*xf32>
    %3 = onnx.LessOrEqual(%2, %one) : (tensor<*xf32>, tensor<f32>) -> tensor<*xi1>
    onnx.Yield(%3, %2, %1) : (tensor<*xi1>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (none, tensor<i1>, tensor<f32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#1 : tensor<*xf32>
}

// -----

// The count comes from a shape, and what is carried grows.
// CHECK-LABEL: func @Grows
// CHECK: %[[A:.*]] = onnx.Concat(%arg0, %arg1) {{.*}} -> tensor<3x3xf32>
// CHECK: %[[B:.*]] = onnx.Concat(%[[A]], %arg1) {{.*}} -> tensor<4x3xf32>
// CHECK: return %[[B]] : tensor<4x3xf32>
func.func @Grows(%x: tensor<2x3xf32>, %row: tensor<1x3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %zero = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %shape = onnx.Shape(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  %size = onnx.Gather(%shape, %zero) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %0 = onnx.Loop(%size, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<?x3xf32>):
    %1 = onnx.Concat(%v, %row) {axis = 0 : i64} : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %1) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// No trip: carried values stay, and what would be collected is empty, in the shape that it would have.
// CHECK-LABEL: func @NoTrip
// CHECK-NOT: onnx.Exp
// CHECK: %[[P:.*]] = onnx.Constant() {value = dense<> : tensor<0x1x3xf32>}
// CHECK: return %arg0, %[[P]] : tensor<3xf32>, tensor<0x1x3xf32>
func.func @NoTrip(%x: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %zero = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %axis = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %0:2 = onnx.Loop(%zero, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %2 = onnx.Unsqueeze(%1, %axis) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.Yield(%c, %1, %2) : (tensor<i1>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Nothing to scan: the shape of a part is that of an entry that is not there.
// CHECK-LABEL: func @ScansNothing
// CHECK-NOT: onnx.Neg
// CHECK: %[[P:.*]] = onnx.Constant() {value = dense<> : tensor<3x0xf32>}
// CHECK: return %[[P]] : tensor<3x0xf32>
func.func @ScansNothing(%x: tensor<0x3xf32>) -> tensor<*xf32> {
  %0 = onnx.Scan(%x) {num_scan_inputs = 1 : i64, scan_output_axes = array<i64: -1>} ({
  ^bb0(%e: tensor<*xf32>):
    %1 = onnx.Neg(%e) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }) : (tensor<0x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A loop within a loop, as often as the outer trip says, and an If that asks for it.
// CHECK-LABEL: func @Nested
// CHECK-NOT: onnx.Loop
// CHECK: %[[A:.*]] = onnx.Exp(%arg0)
// CHECK: %[[B:.*]] = onnx.Neg(%[[A]])
// CHECK: %[[C:.*]] = onnx.Exp(%[[B]])
// CHECK: return %[[C]]
func.func @Nested(%x: tensor<3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %one = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Loop(%two, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %trips = onnx.Sub(%one, %i) : (tensor<i64>, tensor<i64>) -> tensor<*xi64>
    %2 = onnx.Loop(%trips, %none, %1) ({
    ^bb0(%j: tensor<i64>, %d: tensor<i1>, %u: tensor<*xf32>):
      %is = onnx.Equal(%i, %j) : (tensor<i64>, tensor<i64>) -> tensor<*xi1>
      %3 = onnx.If(%is) ({
        onnx.Yield(%u) : (tensor<*xf32>) -> ()
      }, {
        %4 = onnx.Neg(%u) : (tensor<*xf32>) -> tensor<*xf32>
        onnx.Yield(%4) : (tensor<*xf32>) -> ()
      }) : (tensor<*xi1>) -> tensor<*xf32>
      onnx.Yield(%d, %3) : (tensor<i1>, tensor<*xf32>) -> ()
    }) : (tensor<*xi64>, none, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %2) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Entries from the back along the second axis, parts to the front along the second axis of the result.
// CHECK-LABEL: func @Scan
// CHECK: %[[S1:.*]] = onnx.Slice(%arg1, %[[ONE:.*]], %{{.*}}) {{.*}} -> tensor<2x1xf32>
// CHECK: %[[E1:.*]] = onnx.Squeeze(%[[S1]]
// CHECK: %[[A:.*]] = onnx.Add(%arg0, %[[E1]])
// CHECK: %[[E0:.*]] = onnx.Squeeze(
// CHECK: %[[B:.*]] = onnx.Add(%[[A]], %[[E0]])
// CHECK: %[[PA:.*]] = onnx.Unsqueeze(%[[A]]
// CHECK: %[[PB:.*]] = onnx.Unsqueeze(%[[B]]
// CHECK: %[[P:.*]] = onnx.Concat(%[[PB]], %[[PA]]) {axis = 1 : i64
// CHECK: return %[[B]], %[[P]] : tensor<2xf32>, tensor<2x2xf32>
func.func @Scan(%s: tensor<2xf32>, %x: tensor<2x2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0:2 = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>, scan_input_directions = array<i64: 1>,
                            scan_output_axes = array<i64: 1>, scan_output_directions = array<i64: 1>} ({
  ^bb0(%v: tensor<*xf32>, %e: tensor<*xf32>):
    %1 = onnx.Add(%v, %e) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%1, %1) : (tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<2xf32>, tensor<2x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}
