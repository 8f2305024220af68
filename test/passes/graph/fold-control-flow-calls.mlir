// Control flow that only a run knows: what its graphs become are private functions, which one operator calls.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' | diff %t -

// Branches of two shapes: their sizes are told by the run, but for those that are the same in both.
// CHECK-LABEL: func @main
// CHECK: %[[Y:.*]] = onnx.CallIf(%arg1, %arg0) {else_branch = @main.else, {{.*}}sizes = array<i64: -1, -1, 0, 1>, then_branch = @main.then} : (tensor<i1>, tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK: onnx.Exp(%[[Y]])
// CHECK: func private @main.then(%arg0: tensor<?x?xf32> {onnx.dims = ["N", "M"], onnx.name = "x"}) -> tensor<?x?xf32>
// CHECK: onnx.Concat(%arg0, %arg0)
// CHECK: func private @main.else(%arg0: tensor<?x?xf32> {onnx.dims = ["N", "M"], onnx.name = "x"}) -> tensor<?x?xf32>
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["N", "M"], onnx.name = "x"}, %c: tensor<i1>) -> tensor<*xf32> {
  %0 = onnx.If(%c) ({
    onnx.Yield(%x) : (tensor<?x?xf32>) -> ()
  }, {
    %1 = onnx.Concat(%x, %x) {axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = onnx.Exp(%0) : (tensor<*xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Trips of which an input tells the number; the constant is copied, the other value is an argument.
// CHECK-LABEL: func @main
// CHECK: onnx.CallLoop(%arg1, %{{.*}}, %arg0, %arg2) {body = @main.body, carried = 1 : i64, {{.*}}sizes = array<i64: 0, 0, 0, 1, -1, -1, 0, 0, -1, -1>, unconditional} : (tensor<i64>, none, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x?x3xf32>)
// CHECK: func private @main.body(%arg0: tensor<i64> {{.*}}, %arg1: tensor<?x3xf32> {onnx.dims = ["N", 3], onnx.name = ""}, %arg2: tensor<?x3xf32> {{.*}}) -> (tensor<i1>, tensor<?x3xf32>, tensor<?x3xf32>)
// CHECK-DAG: onnx.Constant() {value = dense<2.0
// CHECK-DAG: onnx.Constant() {value = dense<true>
// CHECK: onnx.Add(%arg1, %arg2)
func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["N", 3]}, %n: tensor<i64>, %w: tensor<?x3xf32> {onnx.dims = ["N", 3]}) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %two = onnx.Constant() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0:2 = onnx.Loop(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Add(%v, %w) : (tensor<*xf32>, tensor<?x3xf32>) -> tensor<*xf32>
    %2 = onnx.Mul(%1, %two) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
    onnx.Yield(%c, %2, %1) : (tensor<i1>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<?x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// More trips than are unrolled; a condition that each trip computes; a result that nobody uses is not collected.
// CHECK-LABEL: func @main
// CHECK: onnx.CallLoop(%{{.*}}, %{{.*}}, %arg0) {body = @main.body, carried = 1 : i64, {{.*}}sizes = array<i64: 0, 0, 0, 1>, unconditional}
// CHECK: onnx.CallLoop(%{{.*}}, %{{.*}}, %arg0) {body = @main.body_0, carried = 1 : i64, {{.*}}sizes = array<i64: 0, 0, 0, 1>} : (none, tensor<i1>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: func private @main.body(
// CHECK: func private @main.body_0(
// CHECK: %[[C:.*]] = onnx.Less(
// CHECK: return %[[C]],
func.func @main(%x: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %many = onnx.Constant() {value = dense<17> : tensor<i64>} : () -> tensor<i64>
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0:2 = onnx.Loop(%many, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %1, %1) : (tensor<i1>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %2 = onnx.Loop(%none, %yes, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %3 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %4 = onnx.ReduceSum(%3, %none) {keepdims = 0 : i64} : (tensor<*xf32>, none) -> tensor<*xf32>
    %5 = onnx.Less(%4, %zero) : (tensor<*xf32>, tensor<f32>) -> tensor<*xi1>
    onnx.Yield(%5, %3) : (tensor<*xi1>, tensor<*xf32>) -> ()
  }) : (none, tensor<i1>, tensor<2x3xf32>) -> tensor<*xf32>
  return %0#0, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// A Scan goes through its entries as a Loop, from the last one on, and its parts are turned and moved to their axis.
// CHECK-LABEL: func @main
// CHECK: onnx.CallLoop(%{{.*}}, %{{.*}}, %arg0) {body = @main.body, carried = 0 : i64, {{.*}}sizes = array<i64: 0, 1, -1, -1>, unconditional}
// CHECK: onnx.Slice(
// CHECK: onnx.Transpose({{.*}}perm = array<i64: 1, 0>
// CHECK: func private @main.body(
// CHECK: onnx.Gather({{.*}}axis = 1
// CHECK: onnx.Exp(
func.func @main(%x: tensor<3x?xf32> {onnx.dims = [3, "N"]}) -> tensor<*xf32> {
  %0 = onnx.Scan(%x) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>, scan_input_directions = array<i64: 1>, scan_output_axes = array<i64: -1>, scan_output_directions = array<i64: 1>} ({
  ^bb0(%e: tensor<*xf32>):
    %1 = onnx.Exp(%e) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }) : (tensor<3x?xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A graph within a graph.
// CHECK-LABEL: func @main
// CHECK: onnx.CallLoop(
// CHECK: func private @main.body(
// CHECK: onnx.CallIf({{.*}}then_branch = @main.then
// CHECK-DAG: func private @main.then(
// CHECK-DAG: func private @main.else(
func.func @main(%x: tensor<2x3xf32>, %n: tensor<i64>, %b: tensor<1xi1>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %axes = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = onnx.Loop(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.If(%b) ({
      %2 = onnx.Concat(%v, %v) {axis = 0 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
      onnx.Yield(%2) : (tensor<*xf32>) -> ()
    }, {
      onnx.Yield(%v) : (tensor<*xf32>) -> ()
    }) : (tensor<1xi1>) -> tensor<*xf32>
    %3 = onnx.ReduceSum(%1, %axes) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %4 = onnx.Add(%v, %3) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %4) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A value that grows: its size is open in the body, and the run tells what it is after the loop.
// CHECK-LABEL: func @main
// CHECK: onnx.CallLoop({{.*}}sizes = array<i64: -1, -1, 0, 1>, unconditional} : (tensor<i64>, none, tensor<2x3xf32>) -> tensor<?x3xf32>
// CHECK: func private @main.body(%arg0: tensor<i64> {{{.*}}}, %arg1: tensor<?x3xf32> {onnx.dims = ["#1", 3], {{.*}}}) -> (tensor<i1>, tensor<?x3xf32>)
func.func @main(%x: tensor<2x3xf32>, %n: tensor<i64>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.Loop(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Concat(%v, %v) {axis = 0 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %1) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<2x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Numbers that follow from sizes are made again in the body, which so knows that the value keeps its size.
// CHECK-LABEL: func @main
// CHECK: onnx.CallLoop({{.*}}, %arg0, %arg0) {{{.*}}sizes = array<i64: 0, 0, 0, 1>, unconditional}
// CHECK: func private @main.body(
// CHECK: %[[S:.*]] = onnx.Shape(%arg2)
// CHECK: onnx.Reshape(%{{.*}}, %[[S]])
func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["N", 3]}, %n: tensor<i64>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %line = onnx.Constant() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = onnx.Shape(%x) : (tensor<?x3xf32>) -> tensor<*xi64>
  %0 = onnx.Loop(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Reshape(%v, %line) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %2 = onnx.Exp(%1) : (tensor<*xf32>) -> tensor<*xf32>
    %3 = onnx.Reshape(%2, %s) : (tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
    onnx.Yield(%c, %3) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<?x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// Sizes without a name: one that came in from the graph around is not another one of the graph within.
// CHECK-LABEL: func @main
// CHECK: func private @main.body({{.*}}, %arg1: tensor<1x?xi64> {onnx.dims = [1, "#[[CARRIED:[0-9]+]]"],{{.*}}, %arg2: tensor<1x?xi64> {onnx.dims = [1, "#[[FOUND:[0-9]+]]"],
// CHECK: func private @main.body_0({{.*}}, %arg1: tensor<1x?xi64> {onnx.dims = [1, "#3"],{{.*}}, %arg2: tensor<1x?xi64> {onnx.dims = [1, "#[[FOUND]]"],
func.func @main(%x: tensor<?xf32> {onnx.dims = ["N"], onnx.name = "x"}, %n: tensor<i64>, %m: tensor<i64>) -> tensor<*xi64> {
  %none = onnx.None() : () -> none
  %empty = onnx.Constant() {value = dense<> : tensor<1x0xi64>} : () -> tensor<1x0xi64>
  %found = onnx.NonZero(%x) : (tensor<?xf32>) -> tensor<*xi64>
  %0 = onnx.Loop(%n, %none, %empty) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xi64>):
    %1 = onnx.Loop(%m, %none, %v) ({
    ^bb0(%j: tensor<i64>, %d: tensor<i1>, %u: tensor<*xi64>):
      %2 = onnx.Concat(%u, %found) {axis = 1 : i64} : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
      onnx.Yield(%d, %2) : (tensor<i1>, tensor<*xi64>) -> ()
    }) : (tensor<i64>, none, tensor<*xi64>) -> tensor<*xi64>
    onnx.Yield(%c, %1) : (tensor<i1>, tensor<*xi64>) -> ()
  }) : (tensor<i64>, none, tensor<1x0xi64>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// -----

// Branches of two ranks that only decide on another branch are scalars; so is a condition of a size that only a run knows.
// CHECK-LABEL: func @main
// CHECK: %[[S:.*]] = onnx.Reshape(%arg1, %{{.*}}) : (tensor<?xi1>, tensor<0xi64>) -> tensor<i1>
// CHECK: %[[C:.*]] = onnx.CallIf(%[[S]], %arg1, %arg2) {{.*}}: (tensor<i1>, tensor<?xi1>, tensor<i1>) -> tensor<i1>
// CHECK: onnx.CallIf(%[[C]], %arg0)
// CHECK: func private @main.then
// CHECK-NOT: onnx.Reshape
// CHECK: func private @main.else
// CHECK: %[[N:.*]] = onnx.Not(%arg0)
// CHECK: onnx.Reshape(%[[N]], %{{.*}}) : (tensor<?xi1>, tensor<0xi64>) -> tensor<i1>
func.func @main(%x: tensor<?xf32> {onnx.dims = ["N"]}, %c: tensor<?xi1> {onnx.dims = ["M"]}, %d: tensor<i1>) -> tensor<*xf32> {
  %0 = onnx.If(%c) ({
    %1 = onnx.Not(%c) : (tensor<?xi1>) -> tensor<*xi1>
    onnx.Yield(%1) : (tensor<*xi1>) -> ()
  }, {
    onnx.Yield(%d) : (tensor<i1>) -> ()
  }) : (tensor<?xi1>) -> tensor<*xi1>
  %2 = onnx.If(%0) ({
    onnx.Yield(%x) : (tensor<?xf32>) -> ()
  }, {
    %3 = onnx.Concat(%x, %x) {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
    onnx.Yield(%3) : (tensor<*xf32>) -> ()
  }) : (tensor<*xi1>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Graphs in graphs: the outermost of four Ifs and of four loops are called, and copies are tried for three.
// CHECK-LABEL: func @main
// CHECK: onnx.CallIf(
// CHECK: onnx.CallLoop(
// CHECK: func private @main.then
// CHECK-COUNT-3: onnx.Where(
// CHECK: func private @main.body
// CHECK-COUNT-8: onnx.Neg(
// CHECK-NOT: onnx.Call
func.func @main(%x: tensor<3xf32>, %c: tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>) {
  %true = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.If(%c) ({
    %1 = onnx.If(%c) ({
      %2 = onnx.If(%c) ({
        %3 = onnx.If(%c) ({
          %4 = onnx.Exp(%x) : (tensor<3xf32>) -> tensor<*xf32>
          onnx.Yield(%4) : (tensor<*xf32>) -> ()
        }, {
          onnx.Yield(%x) : (tensor<3xf32>) -> ()
        }) : (tensor<i1>) -> tensor<*xf32>
        onnx.Yield(%3) : (tensor<*xf32>) -> ()
      }, {
        onnx.Yield(%x) : (tensor<3xf32>) -> ()
      }) : (tensor<i1>) -> tensor<*xf32>
      onnx.Yield(%2) : (tensor<*xf32>) -> ()
    }, {
      onnx.Yield(%x) : (tensor<3xf32>) -> ()
    }) : (tensor<i1>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }, {
    onnx.Yield(%x) : (tensor<3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %5 = onnx.Loop(%two, %true, %x) ({
  ^bb0(%i0: tensor<i64>, %c0: tensor<i1>, %v0: tensor<*xf32>):
    %6 = onnx.Loop(%two, %true, %v0) ({
    ^bb0(%i1: tensor<i64>, %c1: tensor<i1>, %v1: tensor<*xf32>):
      %7 = onnx.Loop(%two, %true, %v1) ({
      ^bb0(%i2: tensor<i64>, %c2: tensor<i1>, %v2: tensor<*xf32>):
        %8 = onnx.Loop(%two, %true, %v2) ({
        ^bb0(%i3: tensor<i64>, %c3: tensor<i1>, %v3: tensor<*xf32>):
          %9 = onnx.Neg(%v3) : (tensor<*xf32>) -> tensor<*xf32>
          onnx.Yield(%c3, %9) : (tensor<i1>, tensor<*xf32>) -> ()
        }) : (tensor<i64>, tensor<i1>, tensor<*xf32>) -> tensor<*xf32>
        onnx.Yield(%c2, %8) : (tensor<i1>, tensor<*xf32>) -> ()
      }) : (tensor<i64>, tensor<i1>, tensor<*xf32>) -> tensor<*xf32>
      onnx.Yield(%c1, %7) : (tensor<i1>, tensor<*xf32>) -> ()
    }) : (tensor<i64>, tensor<i1>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c0, %6) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<3xf32>) -> tensor<*xf32>
  return %0, %5 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Numbers that a loop carries and to which each trip adds the same are counted by the trip: those that nobody reads behind
// the loop are not carried any more.
// CHECK-LABEL: func @main
// CHECK: onnx.CallLoop(%{{.*}}, %{{.*}}, %arg0, %arg1) {{{.*}}carried = 1 : i64
// CHECK: func private @main.body(%arg0: tensor<i64> {{.*}}, %arg1: tensor<?xf32> {{.*}}, %arg2: tensor<i64>
// CHECK: %[[TRIPS:.*]] = onnx.Mul(%arg0, %{{.*}}) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK: %[[NOW:.*]] = onnx.Add(%{{.*}}, %[[TRIPS]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK: %[[NEXT:.*]] = onnx.Sub(%[[NOW]], %{{.*}})
// CHECK: %[[GOING:.*]] = onnx.Less(%arg2, %[[NEXT]])
// CHECK: return %[[GOING]], %{{.*}} : tensor<i1>, tensor<?xf32>
func.func @main(%x: tensor<?xf32> {onnx.dims = ["N"]}, %n: tensor<i64>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %true = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %first = onnx.Constant() {value = dense<90> : tensor<i64>} : () -> tensor<i64>
  %step = onnx.Constant() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %0:2 = onnx.Loop(%none, %true, %x, %first) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>, %k: tensor<i64>):
    %1 = onnx.Sin(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %2 = onnx.Sub(%k, %step) : (tensor<i64>, tensor<i64>) -> tensor<*xi64>
    %3 = onnx.Less(%n, %2) : (tensor<i64>, tensor<*xi64>) -> tensor<*xi1>
    onnx.Yield(%3, %1, %2) : (tensor<*xi1>, tensor<*xf32>, tensor<*xi64>) -> ()
  }) : (none, tensor<i1>, tensor<?xf32>, tensor<i64>) -> (tensor<*xf32>, tensor<*xi64>)
  return %0#0 : tensor<*xf32>
}

// -----

// What the device has computed is carried, as is what each trip adds another number to, or multiplies.
// CHECK-LABEL: func @main
// CHECK: onnx.CallLoop({{.*}}carried = 4 : i64
func.func @main(%x: tensor<?xf32> {onnx.dims = ["N"]}, %n: tensor<i64>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %first = onnx.Constant() {value = dense<9> : tensor<i64>} : () -> tensor<i64>
  %step = onnx.Constant() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %max = onnx.ReduceMax(%x, %none) {keepdims = 0 : i64} : (tensor<?xf32>, none) -> tensor<*xf32>
  %device = onnx.Cast(%max) {to = 7 : i64} : (tensor<*xf32>) -> tensor<*xi64>
  %0:4 = onnx.Loop(%n, %none, %x, %device, %first, %first) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>, %k: tensor<*xi64>, %m: tensor<i64>, %p: tensor<i64>):
    %1 = onnx.Add(%k, %step) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %2 = onnx.Add(%m, %i) : (tensor<i64>, tensor<i64>) -> tensor<*xi64>
    %3 = onnx.Mul(%p, %step) : (tensor<i64>, tensor<i64>) -> tensor<*xi64>
    %7 = onnx.Add(%k, %m) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %4 = onnx.Add(%7, %p) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
    %5 = onnx.Cast(%4) {to = 1 : i64} : (tensor<*xi64>) -> tensor<*xf32>
    %6 = onnx.Add(%v, %5) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %6, %1, %2, %3) : (tensor<i1>, tensor<*xf32>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>) -> ()
  }) : (tensor<i64>, none, tensor<?xf32>, tensor<*xi64>, tensor<i64>, tensor<i64>) -> (tensor<*xf32>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>)
  return %0#0 : tensor<*xf32>
}
