// RUN: cameo-opt %s --cameo-fold-control-flow --split-input-file | FileCheck %s

// Loops that collect parts: how many there are is not known in front of the first trip.
// CHECK-LABEL: func @Endless
// CHECK: text = "a run makes its trips: its condition after trip 1 is computed from what only a run knows"
// CHECK: %[[NOTHING:.*]] = onnx.ConstantOfShape({{.*}}) {{.*}} : (tensor<3xi64>) -> tensor<0x?x3xf32>
// CHECK: %[[CALL:.*]]:2 = onnx.CallLoop(%{{.*}}, %{{.*}}, %arg0, %[[NOTHING]], %arg1) {body = @Endless.body, carried = 2 : i64
// CHECK-NOT: unconditional
// CHECK: return %[[CALL]]#0, %[[CALL]]#1 : tensor<?x3xf32>, tensor<?x?x3xf32>
// CHECK: func private @Endless.body(
// CHECK: %[[FEW:.*]] = onnx.Min({{.*}}) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK: %[[SOME:.*]]:3 = onnx.CallLoop(%[[FEW]], %{{.*}}, %arg1, %{{.*}}, %arg3) {body = @Endless.body_0, carried = 2 : i64
// CHECK: %[[MORE:.*]] = onnx.Concat(%arg2, %[[SOME]]#2) {axis = 0 : i64
// CHECK-NOT: onnx.And
// CHECK: return %[[SOME]]#1, %[[SOME]]#0, %[[MORE]]
func.func @Endless(%x: tensor<?x3xf32> {onnx.name = "x", onnx.dims = ["N", 3]}, %limit: tensor<f32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0:2 = onnx.Loop(%none, %yes, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %2 = onnx.ReduceSum(%1, %none) {keepdims = 0 : i64} : (tensor<*xf32>, none) -> tensor<*xf32>
    %3 = onnx.Less(%2, %limit) : (tensor<*xf32>, tensor<f32>) -> tensor<*xi1>
    onnx.Yield(%3, %1, %1) : (tensor<*xi1>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (none, tensor<i1>, tensor<?x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// A trip count ends it, too, and the body reads the number of the trip among all.
// CHECK-LABEL: func @Counted
// CHECK: onnx.Greater(
// CHECK: onnx.CallLoop({{.*}}body = @Counted.body,
// CHECK: func private @Counted.body(
// CHECK: %[[LEFT:.*]] = onnx.Sub(%arg2, %{{.*}})
// CHECK: %[[FEW:.*]] = onnx.Min(%{{.*}}, %[[LEFT]])
// CHECK: onnx.CallLoop(%[[FEW]], {{.*}}body = @Counted.body_0,
// CHECK: %[[ALL:.*]] = onnx.Concat(
// CHECK: %[[LESS:.*]] = onnx.Less(%{{.*}}, %arg2)
// CHECK: onnx.And(%{{.*}}, %[[LESS]])
// CHECK: func private @Counted.body_0(
// CHECK: %[[TRIP:.*]] = onnx.Add(%arg0, %{{.*}})
// CHECK: onnx.Mul(%[[TRIP]], %[[TRIP]])
func.func @Counted(%n: tensor<i64> {onnx.name = "n"}, %limit: tensor<i64>) -> tensor<*xi64> {
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.Loop(%n, %yes) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    %1 = onnx.Mul(%i, %i) : (tensor<i64>, tensor<i64>) -> tensor<*xi64>
    %2 = onnx.Less(%1, %limit) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi1>
    onnx.Yield(%2, %1) : (tensor<*xi1>, tensor<*xi64>) -> ()
  }) : (tensor<i64>, tensor<i1>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// -----

// Memory is taken in front of the first trip: nothing but the count ends it, or there are few.
// CHECK-LABEL: func @Reserved
// CHECK-COUNT-2: onnx.CallLoop
// CHECK-NOT: onnx.CallLoop
func.func @Reserved(%n: tensor<i64> {onnx.name = "n"}, %limit: tensor<i64>) -> (tensor<*xi64>, tensor<*xi64>) {
  %none = onnx.None() : () -> none
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %few = onnx.Constant() {value = dense<1024> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.Loop(%n, %none) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    %1 = onnx.Mul(%i, %i) : (tensor<i64>, tensor<i64>) -> tensor<*xi64>
    onnx.Yield(%c, %1) : (tensor<i1>, tensor<*xi64>) -> ()
  }) : (tensor<i64>, none) -> tensor<*xi64>
  %2 = onnx.Loop(%few, %yes) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    %3 = onnx.Mul(%i, %i) : (tensor<i64>, tensor<i64>) -> tensor<*xi64>
    %4 = onnx.Less(%3, %limit) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi1>
    onnx.Yield(%4, %3) : (tensor<*xi1>, tensor<*xi64>) -> ()
  }) : (tensor<i64>, tensor<i1>) -> tensor<*xi64>
  return %0, %2 : tensor<*xi64>, tensor<*xi64>
}

// -----

// Nothing ends it.
// CHECK-LABEL: func @Forever
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "it collects a part in each trip, and nothing ends it; nearest supported: a trip count; it is not unrolled:
func.func @Forever() -> tensor<*xi64> {
  %none = onnx.None() : () -> none
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %0 = onnx.Loop(%none, %yes) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    onnx.Yield(%c, %i) : (tensor<i1>, tensor<i64>) -> ()
  }) : (none, tensor<i1>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}
