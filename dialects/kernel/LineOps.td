// SPDX-License-Identifier: Apache-2.0
// Operations on whole lines: running totals, order, steps of recurrent networks. A part of Kernel.td.
#ifndef CAMEO_KERNEL_LINE_OPS_TD
#define CAMEO_KERNEL_LINE_OPS_TD

class Kernel_LineOp<string mnemonic> : Kernel_Op<mnemonic, [
    Pure, DestinationStyleOpInterface, Kernel_LineOpInterface,
    AllTypesMatch<["input", "init", "result"]>]> {
  let results = (outs AnyRankedTensor:$result);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
  let hasVerifier = 1;
}

def Kernel_ScanOp : Kernel_LineOp<"scan"> {
  let summary = "running combination along one dimension of a tensor";
  let description = [{
    `result[.., i, ..]` combines `input[.., j, ..]` for j <= i (j < i if exclusive), or j >= i
    (j > i) if reverse. The combination starts from its neutral element.

    ```mlir
    %y = kernel.scan add %x, %init {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Kernel_CombineKind:$kind, AnyRankedTensor:$input, AnyRankedTensor:$init,
                       I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let assemblyFormat = "$kind $input `,` $init attr-dict `:` type($input)";
}

def Kernel_SortOp : Kernel_LineOp<"sort"> {
  let summary = "lines of a tensor of integers in ascending order";
  let description = [{
    Integers are compared as signed ones. No line is longer than `most`, so that one block can have it.

    ```mlir
    %y = kernel.sort %x, %init {axis = 1 : i64, most = 2048 : i64} : tensor<4x?xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$init, I64Attr:$axis, I64Attr:$most);
  let assemblyFormat = "$input `,` $init attr-dict `:` type($input)";
}

def Kernel_RecurrenceOp : Kernel_Op<"recurrence", [
    Pure, AttrSizedOperandSegments, DestinationStyleOpInterface]> {
  let summary = "steps of a recurrent network, each of which multiplies the state before by weights";
  let description = [{
    `input` has for each step, row, direction and gate the part of a unit's sum that does not depend
    on the state, [steps, rows, directions, gates, units]. A step consists of `phases`, as many gates
    each: the product of a vector of the row's units with `weights`, [directions, depth, gates,
    units], and then a cell on scalars, once for each unit. The vector of the first phase is the
    first state, that of a later one what the cell of the phase before yields first.

    A cell's arguments are the direction, then the gates' inputs, the sums of their products, the
    unit's `parameters` ([directions, count, units]), the states of the step before and what the cell
    of the phase before yields. The last one yields the new states, of the input's type; they are
    rounded to the type of `initial`, [directions, rows, units] each.

    A row ends behind as many steps as `lengths` says, where there are any; numbers outside of [0,
    steps] count as the nearest one inside. Results are the first state of each step, where there is
    a destination for it, [steps, rows, directions, units], with zeros behind a row's end; and the
    last states. A direction that is `reverse` begins at a row's last step. With `rows_first` rows
    come before steps and before directions in all of these.

    ```mlir
    %y, %h = kernel.recurrence input(%x : tensor<?x2x1x1x8xf32>) weights(%r : tensor<1x8x1x8xf32>)
        initial(%h0 : tensor<1x2x8xf32>) outs(%y0, %h1 : tensor<?x1x2x8xf32>, tensor<1x2x8xf32>)
        phases [1] reverse [false] {
    ^bb0(%direction: index, %in: f32, %sum: f32, %state: f32):
      %0 = arith.addf %in, %sum : f32
      %1 = math.tanh %0 : f32
      kernel.yield %1 : f32
    } -> tensor<?x1x2x8xf32>, tensor<1x2x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weights,
                       Optional<AnyRankedTensor>:$parameters, Optional<AnyRankedTensor>:$lengths,
                       Variadic<AnyRankedTensor>:$initial, Variadic<AnyRankedTensor>:$inits,
                       DenseI64ArrayAttr:$phases, DenseBoolArrayAttr:$reverse,
                       UnitAttr:$rows_first);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$cells);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) `)` `weights` `(` $weights `:` type($weights) `)`
    (`parameters` `(` $parameters^ `:` type($parameters) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `initial` `(` $initial `:` type($initial) `)` `outs` `(` $inits `:` type($inits) `)`
    `phases` $phases `reverse` $reverse (`rows_first` $rows_first^)? attr-dict-with-keyword
    $cells `->` type($results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// Whether the first state of each step is a result, the first one.
    bool hasSequence() { return getInits().size() > getInitial().size(); }
    int64_t getDirections() { return getReverse().size(); }
    int64_t getUnits() {
      return ::llvm::cast<::mlir::RankedTensorType>(getWeights().getType()).getDimSize(3);
    }
    int64_t getGates() {
      return ::llvm::cast<::mlir::RankedTensorType>(getWeights().getType()).getDimSize(2);
    }
    /// What cells compute in.
    ::mlir::Type getComputeType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getInput().getType()).getElementType();
    }
  }];
  let hasVerifier = 1;
}

#endif
