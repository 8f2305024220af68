// SPDX-License-Identifier: Apache-2.0
// The rt dialect: variants, the weight pool, and the launch plan.
#ifndef CAMEO_RT_TD
#define CAMEO_RT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::cameo::rt";
  let summary = "Variants, weights and the launch plan";
  let description = [{
    What passes decided stands in `rt.ledger`, an attribute of modules, variants and functions: an
    array with one dictionary per decision. Nothing but remarks and reports reads it.

    ```mlir
    func.func @main() attributes {rt.ledger = [
      {at = loc("add"), kind = "missed", text = "not folded", what = "fold",
       why = "it would add 32 B; 14 B are left"}
    ]}
    ```
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let discardableAttrs = (ins
    // On a result of a function: it is not an output, but a value that a run shows on its way.
    "::mlir::UnitAttr":$tap,
    // On such a result, and on `rt.tap`: it is what kernels have counted of another one's elements.
    "::mlir::UnitAttr":$counts,
    // Of modules, variants and functions: what passes decided.
    "::mlir::ArrayAttr":$ledger,
    // Of a launch: positions of operands, of one that it writes and of one that it only reads,
    // pair by pair.
    "::mlir::DenseI64ArrayAttr":$in_place,
    // Of a planned entry function: one dictionary per input.
    "::mlir::ArrayAttr":$inputs,
    // The same of outputs.
    "::mlir::ArrayAttr":$outputs,
    // The same of taps.
    "::mlir::ArrayAttr":$taps,
    // Of a planned entry function whose sizes are all known: how much the arena holds.
    "::mlir::DictionaryAttr":$memory,
    // Of a planned launch: shape and element type of each tensor whose buffer it gets.
    "::mlir::ArrayAttr":$shapes,
    // Of a variant whose values are stored channels last, wherever that can be.
    "::mlir::UnitAttr":$channels_last,
    // Of a variant that computes one dispatch in one of the ways that were thought of: which.
    "::mlir::DictionaryAttr":$candidate
  );
}

class Rt_Op<string mnemonic, list<Trait> traits = []> : Op<Rt_Dialect, mnemonic, traits>;

def Rt_BufferType : TypeDef<Rt_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of device memory";
}

def Rt_Scalar : AnyTypeOf<[Index, AnySignlessInteger, AnyFloat]>;
def Rt_Operand : AnyTypeOf<[AnyRankedTensor, Rt_BufferType, Index, AnySignlessInteger, AnyFloat]>;

def Rt_TargetAttr : AttrDef<Rt_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "a GPU that code is for: its architecture, and a board with it";
  let description = [{
    The architecture says which code runs at all: instructions, limits of a block. The board (of
    `runtime/boards.h`) has a number of multiprocessors, clocks and bandwidths, for which schedules
    are chosen. Without one it is the first of the architecture.

    ```mlir
    #rt.target<"sm_90a", board = "h200">
    ```
  }];
  let parameters = (ins
    StringRefParameter<"compute capability, e.g. sm_80 or sm_90a">:$arch,
    StringRefParameter<"a board with that architecture">:$board);
  let extraClassDeclaration = [{
    /// The first board of an architecture; empty where none is known.
    static ::llvm::StringRef firstBoard(::llvm::StringRef arch);
    /// As on the command line: the architecture, with ":board" where that is not the first.
    std::string spelling() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Rt_Limit : I32EnumAttr<"Limit", "what a launch is waited for", [
    I32EnumAttrCase<"Launch", 0, "launch">, I32EnumAttrCase<"Latency", 1, "latency">,
    I32EnumAttrCase<"Memory", 2, "memory">, I32EnumAttrCase<"L2Cache", 3, "l2_cache">,
    I32EnumAttrCase<"SharedMemory", 4, "shared_memory">,
    I32EnumAttrCase<"TensorCores", 5, "tensor_cores">,
    I32EnumAttrCase<"Arithmetic", 6, "arithmetic">, I32EnumAttrCase<"Issue", 7, "issue">]> {
  let cppNamespace = "::cameo::rt";
  let genSpecializedAttr = 0;
}

def Rt_EstimateAttr : AttrDef<Rt_Dialect, "Estimate"> {
  let mnemonic = "estimate";
  let summary = "how long a launch is estimated to take on its variant's board";
  let description = [{
    `nanoseconds` has what it costs to launch in it; `limit` is what most of it goes to: that cost,
    waiting for memory and other instructions, memory's bandwidth, that of the L2 cache or of shared
    memory, Tensor Cores, the lanes' arithmetic, or instructions that are issued. `assumed`: sizes
    that only a run knows were taken for likely ones.

    ```mlir
    #rt.estimate<nanoseconds = 5210, limit = memory>
    ```
  }];
  let parameters = (ins "int64_t":$nanoseconds, EnumParameter<Rt_Limit>:$limit,
                        DefaultValuedParameter<"bool", "false">:$assumed);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Rt_VariantOp : Rt_Op<"variant", [
    IsolatedFromAbove, SymbolTable, Symbol, NoRegionArguments, NoTerminator, SingleBlock]> {
  let summary = "the model's code for one target architecture";
  let description = [{
    Holds the entry function (`func.func`, its plan) and, from stage `tiled` on, the `gpu.module`s
    it launches. Weights are outside, shared between variants. The `target` is a `#rt.target`; a board
    that is the architecture's first need not be named.

    ```mlir
    rt.variant @sm_80 target "sm_80" board "a100-40" {
      func.func @main(...) { ... }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Rt_TargetAttr:$target);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `target` custom<Target>($target) attr-dict-with-keyword $body";
}

def Rt_ConstantOp : Rt_Op<"constant", [Symbol]> {
  let summary = "an entry of the weight pool";
  let description = [{
    ```mlir
    rt.constant @w0 = dense_resource<conv1.weight> : tensor<64x3x7x7xf32>
    ```
    `offset` is its place in the weight section in bytes, assigned at stage `host`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "$sym_name `=` $value (`at` $offset^)? attr-dict";
}

def Rt_GetConstantOp : Rt_Op<"get_constant", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a weight, by name";
  let arguments = (ins FlatSymbolRefAttr:$constant);
  let results = (outs AnyTypeOf<[AnyRankedTensor, Rt_BufferType]>:$result);
  let assemblyFormat = "$constant attr-dict `:` type($result)";
}

def Rt_RandomStateOp : Rt_Op<"random_state", [Pure]> {
  let summary = "what random numbers of a run are drawn by";
  let description = [{
    `runtime/core/random.h` says what it holds. Each run finds something else there, in the same place.
    ```mlir
    %s = rt.random_state : tensor<8xi32>
    ```
  }];
  let results = (outs AnyTypeOf<[AnyRankedTensor, Rt_BufferType]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

//===-- Host values -------------------------------------------------------------------------===//

def Rt_ReadOp : Rt_Op<"read", [Pure]> {
  let summary = "one value of a host-resident input";
  let description = [{
    `input` must be an argument of the entry function; it is then marked host-resident. Integer
    elements give i64 (zero-extended where the ONNX type is unsigned), booleans i64 0 or 1,
    floating-point elements f64.
  }];
  let arguments = (ins AnyRankedTensor:$input, Index:$position);
  let results = (outs AnyTypeOf<[I64, F64]>:$value);
  let assemblyFormat = "$input `[` $position `]` attr-dict `:` type($input) `->` type($value)";
}

def Rt_FetchOp : Rt_Op<"fetch", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the numbers of a tensor on the device, read back";
  let description = [{
    All elements in row-major order, each as `rt.read` gives it; `element` is their ONNX type. The plan
    waits until the tensor is there, so that what it makes of the numbers, sizes and conditions, may
    decide what it does next. Of a tensor this is a value like others; of a buffer, at stage `host`,
    it is a step.
    ```mlir
    %n = rt.fetch %lengths as i64 : tensor<1xi64> -> i64
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, Rt_BufferType]>:$source, TypeAttr:$element);
  let results = (outs Variadic<AnyTypeOf<[I64, F64]>>:$values);
  let assemblyFormat = [{
    $source `as` $element attr-dict `:` type($source) `->` type($values)
  }];
  let hasVerifier = 1;
}

def Rt_CheckOp : Rt_Op<"check"> {
  let summary = "fails the run with a message unless a condition holds";
  let description = [{
    `{0}` and `{1}` in the message stand for the operands.
    ```mlir
    rt.check %ok, "input 'y': dimension 0 is {0}, expected {1}" (%a, %b : index, index)
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message,
                       Variadic<AnyTypeOf<[Index, I64]>>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `:` type($values) `)`)? attr-dict";
}

def Rt_FromScalarsOp : Rt_Op<"from_scalars", [Pure]> {
  let summary = "a device tensor of values known on the host";
  let description = [{
    Elements in row-major order, each converted from index, i64 or f64 to the tensor's type.
  }];
  let arguments = (ins Variadic<Rt_Scalar>:$values);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict `->` type($result)";
}

def Rt_ReshapeOp : Rt_Op<"reshape", [Pure]> {
  let summary = "the same elements under another shape";
  let description = [{ `sizes` are those of the result's dynamic dimensions. No data moves. }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===-- Storages and views ------------------------------------------------------------------===//

def Rt_ConcatOp : Rt_Op<"concat", [Pure, AttrSizedOperandSegments]> {
  let summary = "tensors one after another along a dimension";
  let description = [{
    `sizes` are those of the result's dynamic dimensions. `cameo-place-concatenations` makes a
    storage and views of it.
    ```mlir
    %y = rt.concat %a, %b dim 1 : tensor<2x3xf32>, tensor<2x5xf32> -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts, I64Attr:$dim, Variadic<Index>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $parts `dim` $dim (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($parts) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Rt_StorageOp : Rt_Op<"storage"> {
  let summary = "memory for a tensor that is written in parts";
  let description = [{
    Row-major and in one piece, with one lifetime, from the first write of a part to the last read
    of a part or of the whole. It has no values before `rt.assemble`: until then it is only there to
    be viewed. `sizes` are those of the dynamic dimensions.

    The storage of a state, an input by number that an output becomes after each run, lives as long as
    the context does, and begins with the state's value. `rt.state` is that value, in its place; what
    a run adds is written behind it, and the output is both together.
    ```mlir
    %room = rt.capacity 0 least %length
    %s = rt.storage state 0 sizes(%room) : tensor<8x?x64xf16>
    %all = rt.view %s[0, 0, 0] sizes(%length) : tensor<8x?x64xf16> -> tensor<8x?x64xf16>
    %v = rt.view %all[0, 0, 0] sizes(%before) : tensor<8x?x64xf16> -> tensor<8x?x64xf16>
    %old = rt.state %past in %v : tensor<8x?x64xf16>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, OptionalAttr<I64Attr>:$state);
  let results = (outs Res<AnyRankedTensor, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    (`state` $state^)? (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Rt_CapacityOp : Rt_Op<"capacity", [Pure]> {
  let summary = "how many elements the storage of a state has along the dimension that grows";
  let description = [{
    Not fewer than `least`: the runtime makes room for that many before the run, and keeps what the
    state holds.
  }];
  let arguments = (ins I64Attr:$state, Index:$least);
  let results = (outs Index:$result);
  let assemblyFormat = "$state `least` $least attr-dict";
}

def Rt_StateOp : Rt_Op<"state", [Pure, AllTypesMatch<["place", "result"]>]> {
  let summary = "the value that a state has before the run, where its storage holds it";
  let description = [{
    `input` is the state, an argument of the entry function; `place` a view of its storage, or of a
    view of that, from its beginning on.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$place);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `in` $place attr-dict `:` type($input) `in` type($place)";
  let hasVerifier = 1;
}

def Rt_ViewOp : Rt_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a part of a tensor, in its memory";
  let description = [{
    The elements from `offsets` on, as many along each dimension as the result has: the distance
    from an element to the next is the source's. `sizes` are those of the result's dynamic
    dimensions.

    Of a storage, or of a view of one, it is a place to write to: the destination of one dispatch or
    the storage of another `rt.assemble`. What is written there is read in that place. Of another
    tensor it is a part to be read.
    ```mlir
    %v = rt.view %s[0, 64, 0, 0] : tensor<1x96x7x7xf32> -> tensor<1x32x7x7xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$offsets,
                       DenseI64ArrayAttr:$static_offsets, Variadic<Index>:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `` custom<DynamicIndexList>($offsets, $static_offsets)
    (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($source) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedOffsets();
  }];
  let hasVerifier = 1;
}

def Rt_AssembleOp : Rt_Op<"assemble", [Pure, AllTypesMatch<["storage", "result"]>]> {
  let summary = "a storage whose parts have all been written";
  let description = [{
    `parts` are what was written to views of `storage`, a `rt.storage` or a view of one: all of its
    views, in order, one after another along `dim`. No data moves.
    ```mlir
    %s = rt.storage : tensor<1x96x7x7xf32>
    %v = rt.view %s[0, 0, 0, 0] : tensor<1x96x7x7xf32> -> tensor<1x64x7x7xf32>
    %w = rt.view %s[0, 64, 0, 0] : tensor<1x96x7x7xf32> -> tensor<1x32x7x7xf32>
    %a = kernel.dispatch ... outs(%v : tensor<1x64x7x7xf32>) ...
    %b = kernel.dispatch ... outs(%w : tensor<1x32x7x7xf32>) ...
    %y = rt.assemble %s dim 1 of %a, %b
        : tensor<1x96x7x7xf32> of tensor<1x64x7x7xf32>, tensor<1x32x7x7xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$storage, I64Attr:$dim, Variadic<AnyRankedTensor>:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $storage `dim` $dim `of` $parts attr-dict `:` type($storage) `of` type($parts)
  }];
  let hasVerifier = 1;
}

//===-- Control flow ------------------------------------------------------------------------===//

def Rt_IfOp : Rt_Op<"if", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls one of two functions";
  let description = [{
    Both take all captures, and return tensors, which may be of other sizes than the other's, and behind these the
    sizes of all of their dimensions. `cameo-replace-calls` makes `rt.branch` of it.
    ```mlir
    %y, %n = rt.if %c then @main.then else @main.else (%x : tensor<?xf32>) -> tensor<?xf32>, index
    ```
  }];
  let arguments = (ins I1:$condition, Variadic<AnyRankedTensor>:$captures,
                       FlatSymbolRefAttr:$then_branch, FlatSymbolRefAttr:$else_branch);
  let results = (outs Variadic<AnyTypeOf<[AnyRankedTensor, Index]>>:$results);
  let assemblyFormat = [{
    $condition `then` $then_branch `else` $else_branch
    `(` ($captures^ `:` type($captures))? `)` attr-dict (`->` type($results)^)?
  }];
}

def Rt_LoopOp : Rt_Op<"loop", [AttrSizedOperandSegments,
                               DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function for each trip";
  let description = [{
    The function takes the number of the trip, the values that are carried and all captures. It returns whether there is
    another trip, what is carried to it, parts, which are collected: tensors with a first dimension for the trips, and
    all sizes of what is carried. `sizes` are those of other dynamic dimensions of parts. Values that are carried keep their
    sizes, but for those that `open` has, pairs of a value and a dimension, which are results, too. There are `count` trips at most, and none where `condition` is false;
    `unconditional`: each returns that there is another one. `cameo-replace-calls` makes `rt.repeat` of it.
    ```mlir
    %trips, %h, %y, %d = rt.loop @main.body count %n carries(%x : tensor<?xf32>) reads(%w : tensor<4xf32>) opens [0, 0]
      unconditional -> tensor<?xf32>, tensor<?x4xf32>, index
    ```
  }];
  let arguments = (ins Optional<Index>:$count, Optional<I1>:$condition,
                       Variadic<AnyRankedTensor>:$carried, Variadic<AnyRankedTensor>:$captures,
                       Variadic<Index>:$sizes, FlatSymbolRefAttr:$body, DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$open,
                       UnitAttr:$unconditional);
  let results = (outs Index:$trips, Variadic<AnyTypeOf<[AnyRankedTensor, Index]>>:$outputs);
  let assemblyFormat = [{
    $body (`count` $count^)? (`while` $condition^)?
    `carries` `(` ($carried^ `:` type($carried))? `)` `reads` `(` ($captures^ `:` type($captures))? `)`
    (`sizes` `(` $sizes^ `)`)? (`opens` $open^)? (`unconditional` $unconditional^)? attr-dict
    (`->` type($outputs)^)?
  }];
}

def Rt_YieldOp : Rt_Op<"yield", [Pure, Terminator, ParentOneOf<["BranchOp", "RepeatOp"]>]> {
  let summary = "ends a branch or a trip";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Rt_BranchOp : Rt_Op<"branch", [RecursiveMemoryEffects]> {
  let summary = "one of two parts of the plan";
  let description = [{
    Both yield the results: tensors, buffers once they are planned, and sizes. What a part has put into an arena of its
    own is there after it.
    ```mlir
    %n = rt.branch %c then { rt.yield %a : index } else { rt.yield %b : index } -> index
    ```
  }];
  let arguments = (ins I1:$condition);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$taken, SizedRegion<1>:$other);
  let assemblyFormat = [{
    $condition `then` $taken `else` $other attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Rt_RepeatOp : Rt_Op<"repeat", [AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "a part of the plan that is done again and again";
  let description = [{
    The part has the number of the trip and the values that are carried, and yields whether there is another trip and
    the values for it. Of tensors, parts that are collected follow them, then sizes that trips change, `opens` of them
    as `rt.loop` has it, which are carried, too. Of buffers, `places` has a number for each value: two buffers, that of the
    trip before, which is read, and the one that is written, which change places with each trip in the order in which
    they are yielded; or one, which each trip gives anew, for values whose sizes change. `collects` are buffers that parts are written to.
    ```mlir
    %trips, %a, %b = rt.repeat count %n carries(%p, %q : !rt.buffer, !rt.buffer) places [2] {
    ^bb0(%i: index, %from: !rt.buffer, %to: !rt.buffer):
      rt.yield %true, %to, %from : i1, !rt.buffer, !rt.buffer
    } -> !rt.buffer, !rt.buffer
    ```
  }];
  let arguments = (ins Optional<Index>:$count, Optional<I1>:$condition,
                       Variadic<AnyType>:$carried, Variadic<Index>:$sizes,
                       Variadic<Rt_BufferType>:$collected, DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$open,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$places, UnitAttr:$unconditional);
  let results = (outs Index:$trips, Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`count` $count^)? (`while` $condition^)? `carries` `(` ($carried^ `:` type($carried))? `)`
    (`sizes` `(` $sizes^ `)`)? (`collects` `(` $collected^ `)`)? (`opens` $open^)? (`places` $places^)? (`unconditional` $unconditional^)? $body attr-dict (`->` type($outputs)^)?
  }];
  let hasVerifier = 1;
}

//===-- Launches ----------------------------------------------------------------------------===//

def Rt_LaunchOp : Rt_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "launches a kernel";
  let description = [{
    Operands are passed in order: tensors (stages `tiled`) or buffers (stage `host`) as pointers,
    index as a 64- or 32-bit integer after the kernel's parameter, other scalars by value. With
    tensors, `outputs` lists the positions of the operands that the kernel writes; the results are
    those tensors after the launch. `flops` and `bytes` are what the launch computes and moves, for
    profiles; attributes `kernel.flops` and `kernel.bytes` where they are known at compile time.

    `rt.in_place = array<i64: 2, 0>` says that operand 2, which is written, may have the memory of
    operand 0, which is read: each element by the thread that overwrites it, before it does. What
    plans memory takes such pairs up; of buffers, those that it has taken up are left, and no other
    buffer of a launch may be one that it writes.

    `finishes` names the kernel whose results this launch only adds up, before what else it computes:
    the parts of a product that blocks share along its depth. The two are one step of the model.

    With tensors, `times` says how often the kernel is launched, one launch after another, with the launch's number behind
    the other operands. What one launch writes the next one finds; `flops` and `bytes` are each launch's. Of buffers this
    is a `rt.repeat`.

    `estimate` is of the schedule by which the kernel was written, for reports: of one launch.
    ```mlir
    %parts = rt.launch @k0::@k0 grid(%n, %c1, %c1) args(%x, %w, %space : ...) writes [2] -> ...
    %y = rt.launch @k1::@k1 finishes @k0::@k0 grid(%m, %c1, %c1) args(%parts, %e : ...) writes [1] -> ...
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<Index>:$grid, Optional<Index>:$shared,
                       Optional<Index>:$times, Variadic<Rt_Operand>:$operands_, DenseI64ArrayAttr:$outputs,
                       Optional<F64>:$flops, Optional<F64>:$bytes,
                       OptionalAttr<SymbolRefAttr>:$finishes,
                       OptionalAttr<Rt_EstimateAttr>:$estimate);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel (`finishes` $finishes^)? `grid` `(` $grid `)` (`shared` `(` $shared^ `)`)? (`times` `(` $times^ `)`)?
    `args` `(` ($operands_^ `:` type($operands_))? `)` `writes` $outputs
    (`flops` $flops^)? (`bytes` $bytes^)? attr-dict (`estimate` $estimate^)?
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

//===-- Taps --------------------------------------------------------------------------------===//

def Rt_TapOp : Rt_Op<"tap"> {
  let summary = "shows a value to who watches the run";
  let description = [{
    The value is one of the entry point's taps, by number. It need not live beyond this step. As a
    buffer it comes with its sizes, which a tensor has itself. Up to stage `host` taps are results of
    functions with the attribute `rt.tap`; `cameo-replace-calls` makes these of those of bodies, with the
    attributes of the results, `cameo-plan-buffers` of the others. In the part of a `rt.repeat` the value is
    shown in each trip, with the trip's number.
    ```mlir
    rt.tap 0 = %b sizes(%n, %c64) : !rt.buffer
    ```
  }];
  let arguments = (ins I64Attr:$number, AnyTypeOf<[AnyRankedTensor, Rt_BufferType]>:$value,
                       Variadic<Index>:$sizes);
  let assemblyFormat = [{
    $number `=` $value (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

//===-- Buffers: stage host -----------------------------------------------------------------===//

def Rt_OutputShapeOp : Rt_Op<"output_shape"> {
  let summary = "sets the sizes of an output";
  let arguments = (ins I64Attr:$output, Variadic<Index>:$sizes);
  let assemblyFormat = "$output (`sizes` `(` $sizes^ `)`)? attr-dict";
}

def Rt_OutputBoundOp : Rt_Op<"output_bound"> {
  let summary = "the most that sizes of an output can be, whose shape is set later";
  let description = [{ -1 where nothing bounds a size. Of what a fetch decides; in front of the first one. }];
  let arguments = (ins I64Attr:$output, Variadic<Index>:$sizes);
  let assemblyFormat = "$output (`sizes` `(` $sizes^ `)`)? attr-dict";
}

def Rt_LayOutArenaOp : Rt_Op<"lay_out_arena", [
    Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "gives buffers whose sizes are known only at run time their offsets in the arena";
  let description = [{
    Each buffer has a size in bytes and is in use from one step of the plan to another, both
    included. Those that share a step do not overlap, whatever their sizes turn out to be; where
    they stand is decided when the plan runs, by the algorithm that `cameo-plan-buffers` uses for
    sizes that it knows (`runtime/arena.h`). The results are the arena's size, the most bytes in use
    at one step, the sum of all bytes, and the offsets.
    ```mlir
    %arena, %live, %sum, %offset:2 = rt.lay_out_arena [
      %a from 0 to 2,
      %b from 1 to 3
    ]
    ```
  }];
  let arguments = (ins Variadic<Index>:$bytes, DenseI64ArrayAttr:$first, DenseI64ArrayAttr:$last);
  let results = (outs Index:$arena, Index:$live, Index:$sum, Variadic<Index>:$offsets);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$bytes, "::llvm::ArrayRef<int64_t>":$first,
                                 "::llvm::ArrayRef<int64_t>":$last)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Rt_ArenaSizeOp : Rt_Op<"arena_size", [AttrSizedOperandSegments]> {
  let summary = "states the arena's size in bytes";
  let description = [{
    `live` is the most that is in use at one step, `sum` the size of all buffers: what reports set
    the arena's size beside.
  }];
  let arguments = (ins Index:$bytes, Optional<Index>:$live, Optional<Index>:$sum);
  let assemblyFormat = "$bytes (`live` $live^ `sum` $sum)? attr-dict";
  let hasVerifier = 1;
}

// Not pure: two views of one range are two values, one after the other.
def Rt_ArenaViewOp : Rt_Op<"arena_view"> {
  let summary = "a range of the arena, offset and size in bytes";
  let description = [{
    Begins the life of a value: what was in the range is gone. The name of its location, if it has
    one, is what the simulator's reports call it.
  }];
  let arguments = (ins Index:$offset, Index:$bytes);
  let results = (outs Rt_BufferType:$result);
  let assemblyFormat = "$offset `bytes` $bytes attr-dict";
}

def Rt_InputOp : Rt_Op<"input", [Pure]> {
  let summary = "the memory of an input";
  let arguments = (ins I64Attr:$index);
  let results = (outs Rt_BufferType:$result);
  let assemblyFormat = "$index attr-dict";
}

def Rt_StateBufferOp : Rt_Op<"state_buffer", [Pure]> {
  let summary = "the memory of a state: of an input, by number, that an output becomes in place";
  let arguments = (ins I64Attr:$state, Index:$bytes);
  let results = (outs Rt_BufferType:$result);
  let assemblyFormat = "$state `bytes` $bytes attr-dict";
}

def Rt_OutputOp : Rt_Op<"output"> {
  let summary = "the memory of an output whose shape is set";
  let arguments = (ins I64Attr:$index);
  let results = (outs Rt_BufferType:$result);
  let assemblyFormat = "$index attr-dict";
}

def Rt_BufferPartOp : Rt_Op<"buffer_part", [Pure]> {
  let summary = "a range of a buffer, offset and size in bytes";
  let description = [{ It lives as long as the buffer does. }];
  let arguments = (ins Rt_BufferType:$buffer, Index:$offset, Index:$bytes);
  let results = (outs Rt_BufferType:$result);
  let assemblyFormat = "$buffer `at` $offset `bytes` $bytes attr-dict";
}

def Rt_CopyOp : Rt_Op<"copy"> {
  let summary = "copies bytes from one buffer to another";
  let arguments = (ins Rt_BufferType:$source, Rt_BufferType:$dest, Index:$bytes);
  let assemblyFormat = "$source `to` $dest `bytes` $bytes attr-dict";
}

def Rt_WriteOp : Rt_Op<"write"> {
  let summary = "writes host values to a buffer, as elements of one type";
  let arguments = (ins Rt_BufferType:$dest, TypeAttr:$element, Variadic<Rt_Scalar>:$values);
  let assemblyFormat = "$dest `as` $element (`,` $values^ `:` type($values))? attr-dict";
}

def Rt_DimOp : Rt_Op<"dim", [Pure]> {
  let summary = "a dimension of an input, by position";
  let arguments = (ins I64Attr:$input, I64Attr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = "$input `,` $dimension attr-dict";
}

def Rt_ReadInputOp : Rt_Op<"read_input", [Pure]> {
  let summary = "one value of a host-resident input, by position";
  let arguments = (ins I64Attr:$input, Index:$position);
  let results = (outs AnyTypeOf<[I64, F64]>:$value);
  let assemblyFormat = "$input `[` $position `]` attr-dict `->` type($value)";
}

#endif
