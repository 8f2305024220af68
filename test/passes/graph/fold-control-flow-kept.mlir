// What stays, each with the reason; and what stays because of it, without one.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' | diff %t -

// CHECK-LABEL: func @Counts
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "has neither a trip count nor a condition, so that it never ends; nearest supported: a trip count"
// CHECK: onnx.Scan({{.*}}onnx.unexpanded = "scans 2 and 3 entries; all scanned inputs must have as many"
// CHECK: onnx.Scan({{.*}}onnx.unexpanded = "scans axis 2 of input 0, which has rank 2"
// CHECK: onnx.Scan({{.*}}onnx.unexpanded = "it scans axes that are not known to be of one size; nearest supported: sizes of one name, or fixed with --shapes; it is not unrolled: scans an axis whose size only a run knows
func.func @Counts(%x: tensor<?x3xf32> {onnx.dims = ["N", 3]}, %z: tensor<?x3xf32> {onnx.dims = ["M", 3]}, %y: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %4 = onnx.Loop(%none, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    onnx.Yield(%c, %v) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (none, none, tensor<?x3xf32>) -> tensor<*xf32>
  %12 = onnx.Scan(%y, %y) {num_scan_inputs = 2 : i64, scan_input_axes = array<i64: 0, 1>} ({
  ^bb0(%e: tensor<*xf32>, %f: tensor<*xf32>):
    onnx.Yield(%e) : (tensor<*xf32>) -> ()
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  %13 = onnx.Scan(%y) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 2>} ({
  ^bb0(%e: tensor<*xf32>):
    onnx.Yield(%e) : (tensor<*xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<*xf32>
  %14 = onnx.Scan(%x, %z) {num_scan_inputs = 2 : i64} ({
  ^bb0(%e: tensor<*xf32>, %f: tensor<*xf32>):
    %15 = onnx.Add(%e, %f) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%15) : (tensor<*xf32>) -> ()
  }) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<*xf32>
  return %4, %12, %13, %14 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Loops of which only a run knows how many trips they make, and whose bodies cannot be functions.
// CHECK-LABEL: func @Bodies
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "it carries 'x' of type float[2,3], which a trip makes float[1,2,3]; nearest supported: values that keep type and rank; it is not unrolled: its trip count depends on
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "it collects a part in each of 9223372036854775807 trips; nearest supported: 16777216 trips; it is not unrolled:
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "it collects parts of a size that only its trips know
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "its body cannot be a function: node '{{.*}}' (StringNormalizer) in it:
// CHECK: onnx.Loop({{.*}}onnx.unexpanded = "it goes through a sequence or an optional
// CHECK-NOT: func private
func.func @Bodies(%x: tensor<2x3xf32> {onnx.name = "x"}, %n: tensor<i64>, %k: tensor<1xi64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %zero = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %first = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %limit = onnx.Constant() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %text = onnx.Constant() {value = dense<"a"> : tensor<1x!onnx.string>} : () -> tensor<1x!onnx.string>
  %yes = onnx.Constant() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %most = onnx.Constant() {value = dense<9223372036854775807> : tensor<i64>} : () -> tensor<i64>
  %2 = onnx.Loop(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %3 = onnx.Unsqueeze(%v, %zero) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.Yield(%c, %3) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<2x3xf32>) -> tensor<*xf32>
  %4:2 = onnx.Loop(%most, %yes, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %5 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %5, %5) : (tensor<i1>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  %8 = onnx.Loop(%n, %none) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    %9 = onnx.Slice(%x, %zero, %k, %zero, %none) : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
    onnx.Yield(%c, %9) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none) -> tensor<*xf32>
  %10 = onnx.Loop(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<*xf32>):
    %11 = onnx.StringNormalizer(%text) : (tensor<1x!onnx.string>) -> tensor<*x!onnx.string>
    %12 = onnx.Shape(%11) : (tensor<*x!onnx.string>) -> tensor<*xi64>
    %13 = onnx.Cast(%12) {to = 1 : i64} : (tensor<*xi64>) -> tensor<*xf32>
    %14 = onnx.Add(%v, %13) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%c, %14) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, tensor<2x3xf32>) -> tensor<*xf32>
  %15 = onnx.SequenceConstruct(%x) : (tensor<2x3xf32>) -> !onnx.seq<tensor<*xf32>>
  %16 = onnx.Loop(%n, %none, %15) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: !onnx.seq<tensor<*xf32>>):
    %17 = onnx.SequenceInsert(%v, %x, %none) : (!onnx.seq<tensor<*xf32>>, tensor<2x3xf32>, none) -> !onnx.seq<tensor<*xf32>>
    onnx.Yield(%c, %17) : (tensor<i1>, !onnx.seq<tensor<*xf32>>) -> ()
  }) : (tensor<i64>, none, !onnx.seq<tensor<*xf32>>) -> !onnx.seq<tensor<*xf32>>
  %18 = onnx.SequenceAt(%16, %first) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %2, %4#1, %8, %10, %18 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func @Positions
// CHECK: onnx.SequenceConstruct(%arg0, %arg2) {onnx.unexpanded = ""}
// CHECK: onnx.SequenceAt({{.*}}onnx.unexpanded = "input 'position' is 2; the sequence allows -2 to 1"
// CHECK: onnx.SequenceInsert({{.*}}onnx.unexpanded = "input 'position' is -3; the sequence allows -2 to 2"
// CHECK: onnx.SequenceAt({{.*}}onnx.unexpanded = "input 'position' depends on sizes or numbers that only a run knows
// CHECK: onnx.SequenceLength({{.*}} {onnx.unexpanded = ""}
// CHECK: onnx.ConcatFromSequence({{.*}}onnx.unexpanded = "its sequence is empty
// CHECK: onnx.OptionalGetElement({{.*}}onnx.unexpanded = "its optional has no element
// CHECK: onnx.SplitToSequence({{.*}}onnx.unexpanded = "splits an axis whose size only a run knows; nearest supported: sizes fixed with --shapes, 'split' with the size of each part, or single entries that are only read"
func.func @Positions(%x: tensor<3xf32>, %n: tensor<i64>, %y: tensor<?xf32> {onnx.dims = ["N"]}) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>) {
  %none = onnx.None() : () -> none
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %minus = onnx.Constant() {value = dense<-3> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.SequenceConstruct(%x, %y) : (tensor<3xf32>, tensor<?xf32>) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceAt(%0, %two) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  %2 = onnx.SequenceInsert(%0, %x, %minus) : (!onnx.seq<tensor<*xf32>>, tensor<3xf32>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  %3 = onnx.SequenceAt(%0, %n) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  %4 = onnx.SequenceLength(%2) : (!onnx.seq<tensor<*xf32>>) -> tensor<*xi64>
  %5 = onnx.SequenceEmpty() : () -> !onnx.seq<tensor<*xf32>>
  %6 = onnx.ConcatFromSequence(%5) {axis = 0 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  %7 = onnx.Optional(%none) {type = tensor<3xf32>} : (none) -> !onnx.opt<tensor<*xf32>>
  %8 = onnx.OptionalGetElement(%7) : (!onnx.opt<tensor<*xf32>>) -> tensor<*xf32>
  %9 = onnx.SplitToSequence(%y, %two) : (tensor<?xf32>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  %10 = onnx.SequenceLength(%9) : (!onnx.seq<tensor<*xf32>>) -> tensor<*xi64>
  return %1, %3, %4, %6, %8, %10 : tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>
}

// -----

// Ifs of which only a run knows which branch is taken, and whose branches cannot be functions: values of two ranks, an
// operator that is not supported, a sequence.
// CHECK-LABEL: func @Branches
// CHECK: onnx.If({{.*}}onnx.unexpanded = "its branches make output 0 of rank 3 and 2; nearest supported: one rank, or a condition that is known when the model is compiled, by --shapes or --shape-values; it is not folded: its condition depends on sizes or numbers that only a run knows; {{.*}}"
// CHECK: onnx.If({{.*}}onnx.unexpanded = "its then-branch cannot be a function: node '{{.*}}' (StringNormalizer) in it: {{.*}}; it is not folded: its condition depends on
// CHECK: onnx.If({{.*}}onnx.unexpanded = "its branches make a sequence or an optional; nearest supported: tensors, {{.*}}; it is not folded: its condition depends on
// CHECK-NOT: onnx.Where
// CHECK-NOT: func private
func.func @Branches(%x: tensor<?x3xf32> {onnx.dims = ["N", 3]}, %c: tensor<i1>) -> (tensor<*xf32>, tensor<*xi64>, tensor<*xf32>) {
  %zero = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %axes = onnx.Constant() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %text = onnx.Constant() {value = dense<"a"> : tensor<1x!onnx.string>} : () -> tensor<1x!onnx.string>
  %0 = onnx.If(%c) ({
    onnx.Yield(%x) : (tensor<?x3xf32>) -> ()
  }, {
    %1 = onnx.Unsqueeze(%x, %axes) : (tensor<?x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.Yield(%1) : (tensor<*xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %2 = onnx.If(%c) ({
    %3 = onnx.Shape(%x) : (tensor<?x3xf32>) -> tensor<*xi64>
    onnx.Yield(%3) : (tensor<*xi64>) -> ()
  }, {
    %4 = onnx.StringNormalizer(%text) : (tensor<1x!onnx.string>) -> tensor<*x!onnx.string>
    %5 = onnx.Shape(%4) : (tensor<*x!onnx.string>) -> tensor<*xi64>
    onnx.Yield(%5) : (tensor<*xi64>) -> ()
  }) : (tensor<i1>) -> tensor<*xi64>
  %6 = onnx.If(%c) ({
    %7 = onnx.SequenceConstruct(%x) : (tensor<?x3xf32>) -> !onnx.seq<tensor<*xf32>>
    onnx.Yield(%7) : (!onnx.seq<tensor<*xf32>>) -> ()
  }, {
    %8 = onnx.SequenceConstruct(%x, %x) : (tensor<?x3xf32>, tensor<?x3xf32>) -> !onnx.seq<tensor<*xf32>>
    onnx.Yield(%8) : (!onnx.seq<tensor<*xf32>>) -> ()
  }) : (tensor<i1>) -> !onnx.seq<tensor<*xf32>>
  %9 = onnx.SequenceAt(%6, %zero) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %0, %2, %9 : tensor<*xf32>, tensor<*xi64>, tensor<*xf32>
}
