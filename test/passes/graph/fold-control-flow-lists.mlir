// Sequences and optionals: what reads one reads the tensors in it.
// RUN: cameo-opt %s --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' > %t
// RUN: FileCheck %s < %t
// RUN: cameo-opt %t --split-input-file --pass-pipeline='builtin.module(cameo-fold-control-flow)' | diff %t -

// CHECK-LABEL: func @InsertedAndErased
// CHECK-NOT: Sequence
// CHECK: %[[Y:.*]] = onnx.Concat(%arg1, %arg2, %arg0) {axis = 0 : i64, onnx.shape_declared} : {{.*}} -> tensor<6xf32>
// CHECK: return %[[Y]], %[[N:.*]] : tensor<6xf32>, tensor<i64>
func.func @InsertedAndErased(%a: tensor<1xf32>, %b: tensor<2xf32>, %c: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xi64>) {
  %none = onnx.None() : () -> none
  %last = onnx.Constant() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %zero = onnx.Constant() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.SequenceConstruct(%a, %a, %b) : (tensor<1xf32>, tensor<1xf32>, tensor<2xf32>) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceInsert(%0, %c, %none) : (!onnx.seq<tensor<*xf32>>, tensor<3xf32>, none) -> !onnx.seq<tensor<*xf32>>
  %2 = onnx.SequenceInsert(%1, %a, %none) : (!onnx.seq<tensor<*xf32>>, tensor<1xf32>, none) -> !onnx.seq<tensor<*xf32>>
  %3 = onnx.SequenceErase(%2, %zero) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  %4 = onnx.SequenceErase(%3, %zero) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  %5 = onnx.Identity(%4) : (!onnx.seq<tensor<*xf32>>) -> !onnx.seq<tensor<*xf32>>
  %6 = onnx.ConcatFromSequence(%5) {axis = 0 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  %7 = onnx.SequenceLength(%5) : (!onnx.seq<tensor<*xf32>>) -> tensor<*xi64>
  return %6, %7 : tensor<*xf32>, tensor<*xi64>
}

// -----

// CHECK-LABEL: func @At
// CHECK: return %arg0, %arg1
func.func @At(%a: tensor<1xf32>, %b: tensor<2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %first = onnx.Constant() {value = dense<-2> : tensor<i64>} : () -> tensor<i64>
  %second = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.SequenceConstruct(%a, %b) : (tensor<1xf32>, tensor<2xf32>) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceAt(%0, %first) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  %2 = onnx.SequenceAt(%0, %second) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %1, %2 : tensor<*xf32>, tensor<*xf32>
}

// -----

// A new dimension, and parts of equal size but for the last.
// CHECK-LABEL: func @SplitAndStacked
// CHECK: %[[P:.*]]:3 = onnx.Split(%arg0, {{.*}}) {axis = 1 : i64, onnx.shape_declared} : {{.*}} -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x1xf32>)
// CHECK: %[[A:.*]] = onnx.Unsqueeze(%[[P]]#0
// CHECK: %[[B:.*]] = onnx.Unsqueeze(%[[P]]#1
// CHECK: %[[Y:.*]] = onnx.Concat(%[[A]], %[[B]]) {axis = -1 : i64
// CHECK: return %[[Y]] : tensor<2x2x2xf32>
func.func @SplitAndStacked(%x: tensor<2x5xf32>) -> tensor<*xf32> {
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %none = onnx.None() : () -> none
  %0 = onnx.SplitToSequence(%x, %two) {axis = 1 : i64, keepdims = 0 : i64} : (tensor<2x5xf32>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceErase(%0, %none) : (!onnx.seq<tensor<*xf32>>, none) -> !onnx.seq<tensor<*xf32>>
  %2 = onnx.ConcatFromSequence(%1) {axis = -1 : i64, new_axis = 1 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// Single entries lose their dimension where they are told to.
// CHECK-LABEL: func @SplitWithoutDimension
// CHECK: %[[P:.*]]:2 = onnx.Split(%arg0
// CHECK: %[[Y:.*]] = onnx.Squeeze(%[[P]]#1, {{.*}} -> tensor<2xf32>
// CHECK: return %[[Y]]
func.func @SplitWithoutDimension(%x: tensor<2x2xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %one = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.SplitToSequence(%x, %none) {axis = 1 : i64, keepdims = 0 : i64} : (tensor<2x2xf32>, none) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceAt(%0, %one) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A sequence that a loop makes, and one that SequenceMap makes of it.
// CHECK-LABEL: func @Mapped
// CHECK-NOT: Loop
// CHECK: %[[A:.*]] = onnx.Exp(%arg0)
// CHECK: %[[B:.*]] = onnx.Exp(%[[A]])
// CHECK: %[[MA:.*]] = onnx.Add(%[[A]], %arg0)
// CHECK: %[[MB:.*]] = onnx.Add(%[[B]], %arg0)
// CHECK-NOT: onnx.Sequence
// CHECK: onnx.Concat(%[[MA]], %[[MB]])
func.func @Mapped(%x: tensor<3xf32>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %two = onnx.Constant() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %empty = onnx.SequenceEmpty() : () -> !onnx.seq<tensor<*xf32>>
  %0:2 = onnx.Loop(%two, %none, %empty, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %l: !onnx.seq<tensor<*xf32>>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %2 = onnx.SequenceInsert(%l, %1, %none) : (!onnx.seq<tensor<*xf32>>, tensor<*xf32>, none) -> !onnx.seq<tensor<*xf32>>
    onnx.Yield(%c, %2, %1) : (tensor<i1>, !onnx.seq<tensor<*xf32>>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, !onnx.seq<tensor<*xf32>>, tensor<3xf32>) -> (!onnx.seq<tensor<*xf32>>, tensor<*xf32>)
  %3 = onnx.SequenceMap(%0#0, %x) ({
  ^bb0(%e: tensor<*xf32>, %f: tensor<*xf32>):
    %4 = onnx.Add(%e, %f) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%4) : (tensor<*xf32>) -> ()
  }) : (!onnx.seq<tensor<*xf32>>, tensor<3xf32>) -> !onnx.seq<tensor<*xf32>>
  %5 = onnx.ConcatFromSequence(%3) {axis = 0 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  return %5 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func @Optionals
// CHECK-NOT: Optional
// CHECK: %[[NO:.*]] = onnx.Constant() {value = dense<false>
// CHECK: %[[Y:.*]] = onnx.Neg(%arg0)
// CHECK: return %[[Y]], %[[NO]]
func.func @Optionals(%x: tensor<3xf32>) -> (tensor<*xf32>, tensor<*xi1>) {
  %none = onnx.None() : () -> none
  %0 = onnx.Optional(%x) : (tensor<3xf32>) -> !onnx.opt<tensor<*xf32>>
  %1 = onnx.Optional(%none) {type = tensor<3xf32>} : (none) -> !onnx.opt<tensor<*xf32>>
  %has = onnx.OptionalHasElement(%0) : (!onnx.opt<tensor<*xf32>>) -> tensor<*xi1>
  %hasNot = onnx.OptionalHasElement(%1) : (!onnx.opt<tensor<*xf32>>) -> tensor<*xi1>
  %2 = onnx.If(%has) ({
    onnx.Yield(%x) : (tensor<3xf32>) -> ()
  }, {
    %3 = onnx.OptionalGetElement(%0) : (!onnx.opt<tensor<*xf32>>) -> tensor<*xf32>
    %4 = onnx.Neg(%3) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield(%4) : (tensor<*xf32>) -> ()
  }) : (tensor<*xi1>) -> tensor<*xf32>
  return %2, %hasNot : tensor<*xf32>, tensor<*xi1>
}

// -----

// What each trip appends is collected; a list of all trips becomes another axis, or a longer one.
// CHECK-LABEL: func @Appended
// CHECK-NOT: onnx.Sequence
// CHECK: %[[R:.*]]:2 = onnx.CallLoop(%arg1, %{{.*}}, %arg0) {body = @Appended.body, carried = 1 : i64, {{.*}}} : (tensor<i64>, none, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<?x2x3xf32>)
// CHECK: onnx.Transpose(%[[R]]#1) {{.*}}perm = array<i64: 1, 0, 2>} : (tensor<?x2x3xf32>) -> tensor<2x?x3xf32>
// CHECK: onnx.Shape(%[[R]]#1)
// CHECK: onnx.Reshape(%[[R]]#1, %{{.*}}) {allowzero = 1 : i64, {{.*}}} : (tensor<?x2x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
// CHECK: onnx.Gather(%[[R]]#1, %{{.*}}) {axis = 0 : i64{{.*}}}
// CHECK: func private @Appended.body
// CHECK: return %{{.*}}, %[[E:.*]], %[[E]] : tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>
func.func @Appended(%x: tensor<2x3xf32>, %n: tensor<i64>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None() : () -> none
  %empty = onnx.SequenceEmpty() : () -> !onnx.seq<tensor<*xf32>>
  %0:2 = onnx.Loop(%n, %none, %empty, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %l: !onnx.seq<tensor<*xf32>>, %v: tensor<*xf32>):
    %1 = onnx.Exp(%v) : (tensor<*xf32>) -> tensor<*xf32>
    %2 = onnx.SequenceInsert(%l, %1, %none) : (!onnx.seq<tensor<*xf32>>, tensor<*xf32>, none) -> !onnx.seq<tensor<*xf32>>
    onnx.Yield(%c, %2, %1) : (tensor<i1>, !onnx.seq<tensor<*xf32>>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, none, !onnx.seq<tensor<*xf32>>, tensor<2x3xf32>) -> (!onnx.seq<tensor<*xf32>>, tensor<*xf32>)
  %3 = onnx.ConcatFromSequence(%0#0) {axis = 1 : i64, new_axis = 1 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  %4 = onnx.ConcatFromSequence(%0#0) {axis = 0 : i64} : (!onnx.seq<tensor<*xf32>>) -> tensor<*xf32>
  %5 = onnx.SequenceAt(%0#0, %n) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %3, %4, %5 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Single entries of an open axis.
// CHECK-LABEL: func @Entries
// CHECK-NOT: onnx.SplitToSequence
// CHECK: %[[T:.*]] = onnx.Transpose(%arg0) {{.*}}perm = array<i64: 1, 0>} : (tensor<2x?xf32>) -> tensor<?x2xf32>
// CHECK: %[[U:.*]] = onnx.Unsqueeze(%[[T]], %{{.*}}) {{.*}}: (tensor<?x2xf32>, tensor<1xi64>) -> tensor<?x2x1xf32>
// CHECK: onnx.Gather(%[[U]], %{{.*}}) {axis = 0 : i64{{.*}}} : (tensor<?x2x1xf32>, tensor<i64>) -> tensor<2x1xf32>
func.func @Entries(%x: tensor<2x?xf32> {onnx.dims = [2, "N"]}, %n: tensor<i64>) -> tensor<*xf32> {
  %none = onnx.None() : () -> none
  %0 = onnx.SplitToSequence(%x, %none) {axis = 1 : i64} : (tensor<2x?xf32>, none) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceAt(%0, %n) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A position that only a run knows, of tensors of one shape.
// CHECK-LABEL: func @Position
// CHECK: %[[L:.*]] = onnx.Concat(%{{.*}}, %{{.*}}) {{.*}}: (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK: onnx.Gather(%[[L]], %{{.*}}) {axis = 0 : i64{{.*}}} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
func.func @Position(%x: tensor<3xf32>, %y: tensor<3xf32>, %n: tensor<i64>) -> tensor<*xf32> {
  %0 = onnx.SequenceConstruct(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceAt(%0, %n) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// Entries without their axis, as torch writes unbind.
// CHECK-LABEL: func @Unbound
// CHECK: onnx.Gather(%{{.*}}, %{{.*}}) {axis = 0 : i64{{.*}}} : (tensor<?x2xf32>, tensor<i64>) -> tensor<2xf32>
func.func @Unbound(%x: tensor<?x2xf32> {onnx.dims = ["N", 2]}, %n: tensor<i64>) -> tensor<*xf32> {
  %one = onnx.Constant() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = onnx.SplitToSequence(%x, %one) {axis = 0 : i64, keepdims = 0 : i64} : (tensor<?x2xf32>, tensor<i64>) -> !onnx.seq<tensor<*xf32>>
  %1 = onnx.SequenceAt(%0, %n) : (!onnx.seq<tensor<*xf32>>, tensor<i64>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
