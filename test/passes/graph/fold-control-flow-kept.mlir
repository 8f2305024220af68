// What stays, each with the reason; and what stays because of it, without one.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-control-flow))' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(func.func(cameo-fold-control-flow))' | diff %t -

// CHECK-LABEL: func @Counts
// CHECK: onnx.Loop(%{{.*}}, %{{.*}}, %arg0) {onnx.unexpanded = "makes 17 trips; at most 16 are supported; nearest supported: a loop of at most 16 trips, or the work of all trips by operators on tensors that have a dimension for them"}
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "makes more than 16 trips, the most that are supported; nearest
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "has neither a trip count nor a condition, so that it never ends; nearest supported: a trip count"
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "its trip count depends on sizes or numbers that only a run knows; nearest supported: sizes fixed with --shapes, or a constant
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "its condition after trip 1 is computed from what only a run knows; nearest supported: a constant
// CHECK: onnx.Scan({{.*}}onnx.unexpanded = "scans an axis whose size only a run knows; nearest supported: sizes fixed with --shapes"
// CHECK: onnx.Scan({{.*}}onnx.unexpanded = "scans 2 and 3 entries; all scanned inputs must have as many"
// CHECK: onnx.Scan({{.*}}onnx.unexpanded = "scans axis 2 of input 0, which has rank 2"
func.func @Counts(%x: tensor<?x3xf32> {onnx.dims = ["N", 3]}, %n: tensor<i64>, %y: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %many = onnx.Constant() {value = dense<17> : tensor<i64>} : () -> tensor<i64>
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %zero = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Loop(%many, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %1) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<?x3xf32>) -> tensor<*xf32>
  %2 = onnx.Loop(%none, %yes, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %3 = onnx.Less(%i, %many) : (tensor<i64>, tensor<i64>) -> tensor<*xi1>
    onnx.Yield(%3, %v) : (tensor<*xi1>, tensor<*xf32>) -> ()
  }) : (none, tensor<i1>, tensor<?x3xf32>) -> tensor<*xf32>
  %4 = onnx.Loop(%none, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    onnx.Yield(%c, %v) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (none, none, tensor<?x3xf32>) -> tensor<*xf32>
  %5 = onnx.Loop(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    onnx.Yield(%c, %v) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<?x3xf32>) -> tensor<*xf32>
  %6 = onnx.Loop(%none, %yes, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %7 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %8 = onnx.ReduceSum(%7, %none) {keepdims = 0 : i64} : (tensor<*xf32>, none) -> tensor<*xf32>
    %9 = onnx.Less(%8, %zero) : (tensor<*xf32>, tensor<f32>) -> tensor<*xi1>
    onnx.Yield(%9, %7) : (tensor<*xi1>, tensor<*xf32>) -> ()
  }) : (none, tensor<i1>, tensor<?x3xf32>) -> tensor<*xf32>
  %10 = onnx.Scan(%x) {num_scan_inputs = 1 : i64} ({
  ^bb0(%e: tensor<*xf32>):
    %11 = onnx.Exp(%e) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%11) : (tensor<*xf32>) -> ()
  }) : (tensor<?x3xf32>) -> tensor<*xf32>
  %12 = onnx.Scan(%y, %y) {num_scan_inputs = 2 : i64, scan_input_axes = array<i64: 0, 1>} ({
  ^bb0(%e: tensor<*xf32>, %f: tensor<*xf32>):
    onnx.Yield(%e) : (tensor<*xf32>) -> ()
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  %13 = onnx.Scan(%y) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 2>} ({
  ^bb0(%e: tensor<*xf32>):
    onnx.Yield(%e) : (tensor<*xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<*xf32>
  return %0, %2, %4, %5, %6, %10, %12, %13 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func @Positions
// CHECK: onnx.SequenceConstruct(%arg0, %arg0) {onnx.unexpanded = ""}
// CHECK: onnx.SequenceAt({{.*}}onnx.unexpanded = "input 'position' is 2; the sequence allows -2 to 1"
// CHECK: onnx.SequenceInsert({{.*}}onnx.unexpanded = "input 'position' is -3; the sequence allows -2 to 2"
// CHECK: onnx.SequenceAt({{.*}}onnx.unexpanded = "input 'position' depends on sizes or numbers that only a run knows
// CHECK: onnx.SequenceLength({{.*}} {onnx.unexpanded = ""}
// CHECK: onnx.ConcatFromSequence({{.*}}onnx.unexpanded = "its sequence is empty
// CHECK: onnx.OptionalGetElement({{.*}}onnx.unexpanded = "its optional has no element
// CHECK: onnx.SplitToSequence({{.*}}onnx.unexpanded = "splits an axis whose size only a run knows; nearest supported: sizes fixed with --shapes, or 'split' with the size of each part"
func.func @Positions(%x: tensor<3xf32>, %n: tensor<i64>, %y: tensor<?xf32> {onnx.dims = ["N"]}) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>) {
  %none = onnx.None() : () -> none
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %minus = onnx.Constant() {value = dense<-3> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.SequenceConstruct(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceAt(%0, %two) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  %2 = onnx.SequenceInsert(%0, %x, %minus) : (!onnx.seq<tensor<*xf32>>, tensor<3xf32>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  %3 = onnx.SequenceAt(%0, %n) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  %4 = onnx.SequenceLength(%2) : (!onnx.seq<tensor<*xf32>>) -> tensor<*xi64>
  %5 = onnx.SequenceEmpty() : () -> !onnx.seq<tensor<*xf32>>
  %6 = onnx.ConcatFromSequence(%5) {axis = 0 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  %7 = onnx.Optional(%none) {type = tensor<3xf32>} : (none) -> !onnx.opt<tensor<*xf32>>
  %8 = onnx.OptionalGetElement(%7) : (!onnx.opt<tensor<*xf32>>) -> tensor<*xf32>
  %9 = onnx.SplitToSequence(%y, %none) : (tensor<?xf32>, none) -> !onnx.seq<tensor<*xf32>>
  %10 = onnx.SequenceLength(%9) : (!onnx.seq<tensor<*xf32>>) -> tensor<*xi64>
  return %1, %3, %4, %6, %8, %10 : tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>
}

// -----

// Ifs of which only a run knows which branch is taken, and that Where cannot choose between: values of two shapes, a
// check of sizes in a branch, a sequence.
// CHECK-LABEL: func @Branches
// CHECK: onnx.If(%arg2) {onnx.unexpanded = "its condition depends on sizes or numbers that only a run knows; nearest supported: sizes fixed with --shapes, or branches of one shape, or Where on the results of both; its branches make output 0 of shape float[?,3] and float[3,?]"}
// CHECK: onnx.If(%arg2) {onnx.unexpanded = "its condition depends on{{.*}}; node '{{.*}}' of a branch checks sizes while it runs, which the other one need not have"}
// CHECK: onnx.If(%arg2) {onnx.unexpanded = "its condition depends on{{.*}}, or Where on the results of both"}
// CHECK-NOT: onnx.Where
func.func @Branches(%x: tensor<?x3xf32> {onnx.dims = ["N", 3]}, %z: tensor<?x3xf32> {onnx.dims = ["M", 3]}, %c: tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %zero = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.If(%c) ({
    %1 = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<?x3xf32>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }, {
    onnx.Yield(%x) : (tensor<?x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = onnx.If(%c) ({
    %3 = onnx.Add(%x, %z) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<*xf32>
    onnx.Yield(%3) : (tensor<*xf32>) -> ()
  }, {
    onnx.Yield(%x) : (tensor<?x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %4 = onnx.If(%c) ({
    %5 = onnx.SequenceConstruct(%x) : (tensor<?x3xf32>) -> !onnx.seq<tensor<*xf32>>
    onnx.Yield(%5) : (!onnx.seq<tensor<*xf32>>) -> ()
  }, {
    %6 = onnx.SequenceConstruct(%z) : (tensor<?x3xf32>) -> !onnx.seq<tensor<*xf32>>
    onnx.Yield(%6) : (!onnx.seq<tensor<*xf32>>) -> ()
  }) : (tensor<i1>) -> !onnx.seq<tensor<*xf32>>
  %7 = onnx.SequenceAt(%4, %zero) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %0, %2, %7 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}
