// SPDX-License-Identifier: Apache-2.0
// The kernel dialect: dispatches (what one launch list computes), schedules (how), and the
// tile-level operations kernels are written in before they become device code.
#ifndef CAMEO_KERNEL_TD
#define CAMEO_KERNEL_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/kernel/layouts/Layouts.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::cameo::kernel";
  let summary = "Dispatches, schedules and tile-level operations";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasOperationAttrVerify = 1;
  let discardableAttrs = (ins
    // Of the operation of a dispatch that is a product: how it may be computed; "tf32": operands of
    // f32 may be rounded to TF32.
    "::mlir::StringAttr":$precision,
    // Of the operation of a dispatch that is a Cast of the model: what it rounds stays rounded.
    "::mlir::UnitAttr":$cast,
    // Of a kernel: how it was made, for reports.
    "::cameo::kernel::ScheduleAttr":$schedule,
    // Of a kernel: the names of its nodes, with commas.
    "::mlir::StringAttr":$nodes,
    // Of a kernel: threads of a block, in x, y and z.
    "::mlir::DenseI32ArrayAttr":$block,
    // Of a kernel: its threads never wait for one another.
    "::mlir::UnitAttr":$no_sync,
    // Of a kernel: bytes of dynamic shared memory that launches give it.
    "::mlir::IntegerAttr":$dynamic_shared,
    // Of a gpu.module: bits of an index.
    "::mlir::IntegerAttr":$index_bits,
    // Of a gpu.module outside of a variant: the #rt.target that it is for.
    "::mlir::Attribute":$target,
    // Of a load or store: what of the kernel's promise holds for it, in bytes.
    "::mlir::IntegerAttr":$alignment,
    // Of a launch: arithmetic operations on elements.
    "::mlir::IntegerAttr":$flops,
    // Of a launch: bytes that its description asks for.
    "::mlir::IntegerAttr":$bytes,
    // Of a launch that runs only where the one whose results it writes does not, for one of
    // the two has an empty grid; it reads the same.
    "::mlir::UnitAttr":$fallback,
    // Of a dispatch: orders of constant inputs' dimensions that its schedule asks for.
    "::mlir::ArrayAttr":$packing,
    // Of a dispatch: the same, done.
    "::mlir::ArrayAttr":$packed,
    // Of a dispatch: constant inputs, by position, that its schedule asks for rounded to TF32.
    "::mlir::DenseI64ArrayAttr":$rounding,
    // Of a dispatch: the same, done.
    "::mlir::DenseI64ArrayAttr":$rounded,
    // Of a dispatch: ways to compute it until one of them is chosen, the one that the estimate
    // prefers first; dictionaries.
    "::mlir::ArrayAttr":$candidates,
    // Of a dispatch, and then of its kernels: the number of the candidate that it is made to try.
    "::mlir::IntegerAttr":$trial
  );
  let extraClassDeclaration = [{
    /// The instruction that `text` is, with so many operands; null: none, and `error` says why.
    /// A text is parsed once.
    const PtxInstruction *findInstruction(::mlir::StringAttr text, unsigned operands,
                                          std::string &error);

  private:
    std::unique_ptr<PtxInstructionCache> instructions;

  public:
  }];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;
class Kernel_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Kernel_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}
class Kernel_Type<string name, string typeMnemonic> : TypeDef<Kernel_Dialect, name> {
  let mnemonic = typeMnemonic;
}

//===-- Attributes and types ----------------------------------------------------------------===//

def Kernel_ScheduleAttr : Kernel_Attr<"Schedule", "schedule"> {
  let summary = "how a dispatch is computed: a schedule class and its parameters";
  let description = [{
    Written by `cameo-assign-schedules`, read by `cameo-lower-dispatches`; the class named by
    `family` checks its parameters. It can be read, edited and replayed:

    ```mlir
    #kernel.schedule<"contraction", {tile = [64, 64, 16], thread = [4, 4], vector = [4, 4]}>
    ```
  }];
  let parameters = (ins StringRefParameter<"schedule class">:$family,
                        "::mlir::DictionaryAttr":$params);
  let assemblyFormat = "`<` $family `,` $params `>`";
}

def Kernel_ThreadTileAttr : Kernel_Attr<"ThreadTile", "thread_tile", [
    DeclareAttrInterfaceMethods<Kernel_FragmentLayout>,
    DeclareAttrInterfaceMethods<Kernel_AccumulatorLayout>]> {
  let summary = "accumulator layout of SIMT kernels: a rectangle of elements per thread";
  let description = [{
    `threads` = [rows, columns] of the block's threads, thread t standing at (t / columns,
    t mod columns); each owns `tile` = [rows, columns] elements. A thread's rows are consecutive;
    its columns are groups of `group` consecutive elements, `threads[1] * group` apart, so that
    the threads of a row read shared memory without bank conflicts.
  }];
  let parameters = (ins "int64_t":$thread_rows, "int64_t":$thread_cols, "int64_t":$tile_rows,
                        "int64_t":$tile_cols, "int64_t":$group);
  let assemblyFormat = [{
    `<` `threads` `=` $thread_rows `x` $thread_cols `,` `tile` `=` $tile_rows `x` $tile_cols `,`
    `group` `=` $group `>`
  }];
  let genVerifyDecl = 1;
}

def Kernel_Pairs : I32EnumAttr<"Pairs", "of what neighbours are in one lane", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Rows", 1, "rows">,
    I32EnumAttrCase<"Columns", 2, "columns">, I32EnumAttrCase<"Both", 3, "both">]> {
  let cppNamespace = "::cameo::kernel";
  let genSpecializedAttr = 0;
}

def Kernel_MmaAttr : Kernel_Attr<"Mma", "mma", [
    DeclareAttrInterfaceMethods<Kernel_FragmentLayout>,
    DeclareAttrInterfaceMethods<Kernel_AccumulatorLayout>]> {
  let summary = "accumulator layout of mma.sync: tiles of one instruction, spread over warps";
  let description = [{
    The fragment is cut into as many equal parts as there are `warps` = [rows, columns]; each part
    consists of results of the instruction `m` x `n` x `k`, row by row.

    With `pairs` of rows, columns or both, what an instruction has as rows (columns) i and i + 8 of
    16 are rows 2 i and 2 i + 1: an operand of 8 bits that is stored across depth comes to lanes in
    pairs of neighbours.

    ```mlir
    #kernel.mma<16 x 8 x 16, warps = 2 x 2>
    #kernel.mma<16 x 8 x 32, warps = 2 x 2, pairs = columns>
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k, "int64_t":$warp_rows,
                        "int64_t":$warp_cols,
                        DefaultValuedParameter<"::cameo::kernel::Pairs",
                                               "::cameo::kernel::Pairs::None">:$pairs);
  let assemblyFormat = [{
    `<` $m `x` $n `x` $k `,` `warps` `=` $warp_rows `x` $warp_cols (`,` `pairs` `=` $pairs^)? `>`
  }];
  let extraClassDeclaration = [{
    /// Whether rows, or columns, are in pairs.
    bool hasPairs(bool ofRows) const {
      return (static_cast<unsigned>(getPairs()) & (ofRows ? 1 : 2)) != 0;
    }
  }];
  let genVerifyDecl = 1;
}

def Kernel_OperandAttr : Kernel_Attr<"Operand", "operand", [
    DeclareAttrInterfaceMethods<Kernel_FragmentLayout>]> {
  let summary = "layout of an operand of a contraction into accumulators of a layout";
  let description = [{
    Operand 0 has the accumulators' rows and the contraction's depth as columns, operand 1 the depth
    as rows and the accumulators' columns.
  }];
  let parameters = (ins "int64_t":$number, "::cameo::kernel::AccumulatorLayoutInterface":$of);
  let assemblyFormat = "`<` $number `,` `of` `=` $of `>`";
  let genVerifyDecl = 1;
}

def Kernel_Direction : I32EnumAttr<"Direction", "where the neighbours of an element are", [
    I32EnumAttrCase<"Columns", 0, "columns">, I32EnumAttrCase<"Rows", 1, "rows">]> {
  let cppNamespace = "::cameo::kernel";
  let genSpecializedAttr = 0;
}

def Kernel_CopiedAttr : Kernel_Attr<"Copied", "copied", [
    DeclareAttrInterfaceMethods<Kernel_FragmentLayout>]> {
  let summary = "how threads share what is copied: groups of neighbours, in order";
  let description = [{
    Group g of `vector` elements along columns (beside one another) or rows (one below the other) is
    with thread g mod `threads`. Groups are counted in the direction of their elements first, or
    with `across_first` in the other one. Of the last round the first threads only may have one.
  }];
  let parameters = (ins "int64_t":$vector, EnumParameter<Kernel_Direction>:$along,
                        "int64_t":$threads, DefaultValuedParameter<"bool", "false">:$acrossFirst);
  let assemblyFormat = [{
    `<` `vector` `=` $vector `,` `along` `=` $along `,` `threads` `=` $threads
    (`,` `across_first` `=` $acrossFirst^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Kernel_WarpRowsAttr : Kernel_Attr<"WarpRows", "warp_rows", [
    DeclareAttrInterfaceMethods<Kernel_FragmentLayout>]> {
  let summary = "how a warp's lanes share a part of their own: groups of neighbours, row by row";
  let description = [{
    The fragment is cut into as many equal parts as there are `warps` = [rows, columns]. In a warp's
    part, group g of `vector` elements beside one another is with lane g mod 32; groups are counted
    along rows. Parts are those of an `mma` layout with the same warps, so that a warp reads what it
    alone has written.
  }];
  let parameters = (ins "int64_t":$vector, "int64_t":$warp_rows, "int64_t":$warp_cols);
  let assemblyFormat = "`<` `vector` `=` $vector `,` `warps` `=` $warp_rows `x` $warp_cols `>`";
  let genVerifyDecl = 1;
}

def Kernel_StridedAttr : Kernel_Attr<"Strided", "strided", [
    DeclareAttrInterfaceMethods<Kernel_TileLayout>]> {
  let summary = "tile layout: element (r, c) at r * row + c * col";
  let parameters = (ins "int64_t":$row, "int64_t":$col);
  let assemblyFormat = "`<` `[` $row `,` $col `]` `>`";
  let genVerifyDecl = 1;
}

def Kernel_SwizzleAttr : Kernel_Attr<"Swizzle", "swizzle", [
    DeclareAttrInterfaceMethods<Kernel_TileLayout>]> {
  let summary = "tile layout: panels of `span` bytes per line, 16-byte pieces exchanged";
  let description = [{
    With `along = columns` lines are the tile's rows, with `rows` its columns. Lines longer than
    `span` are cut into panels, one behind the other. In a panel lines follow each other; of a byte's
    place in the tile, bits 4 and up are then combined by exclusive or with bits 7 and up: one bit for
    a span of 32, two for 64, three for 128, none for 16. So the same piece of eight consecutive lines is in
    different banks. It is the pattern of TMA and of wgmma's descriptors.
  }];
  let parameters = (ins "int64_t":$span, EnumParameter<Kernel_Direction>:$along);
  let assemblyFormat = "`<` $span `,` `along` `=` $along `>`";
  let genVerifyDecl = 1;
}

def Kernel_StagedAttr : Kernel_Attr<"Staged", "staged", [
    DeclareAttrInterfaceMethods<Kernel_TileLayout>]> {
  let summary = "tile layout: sums on their way to results, in rectangles one behind the other";
  let description = [{
    The tile consists of rectangles of `rows` x `cols` elements, row by row; in each of them rows
    follow each other. The eight 16-byte pieces of each 128 bytes of a rectangle are exchanged: a
    piece's number is combined by exclusive or with that of `getExchange` of the line of 128 bytes. So
    there are no bank conflicts where a warp writes its accumulators of matrix instructions, nor where
    it reads 16 bytes per lane, each lane 16, 32 or 64 bytes from the one before, of rows of 16 elements
    or any power of two above.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols);
  let assemblyFormat = "`<` $rows `x` $cols `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What the number of a piece is combined with in a line. Linear: of two lines with no bit in
    /// common, what both are combined with together is that of their sum.
    static int64_t getExchange(int64_t line);
  }];
}

def Kernel_TileType : Kernel_Type<"Tile", "tile"> {
  let summary = "a tile in the block's shared memory, once a stage";
  let description = "`!kernel.tile<128x32xf16, #kernel.swizzle<64, along = columns>, stages = 3>`";
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                        "::cameo::kernel::TileLayoutInterface":$layout, "int64_t":$stages);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// From a stage to the next.
    int64_t getStageElements() const;
    /// Of all stages.
    int64_t getBytes() const;
  }];
}

def Kernel_FragmentType : Kernel_Type<"Fragment", "fragment"> {
  let summary = "a tile spread over the registers of a block's threads";
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
                        "::cameo::kernel::FragmentLayoutInterface":$layout);
  let assemblyFormat = "`<` $rows `by` $cols `of` $elementType `,` $layout `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What each thread has of it.
    Spread getSpread() const;
  }];
}

def Kernel_CombineKind : I32EnumAttr<"CombineKind", "associative combination", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">]> {
  let cppNamespace = "::cameo::kernel";
}

//===-- Dispatches --------------------------------------------------------------------------===//

def Kernel_DispatchOp : Kernel_Op<"dispatch", [
    IsolatedFromAbove, AttrSizedOperandSegments, DestinationStyleOpInterface,
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "one unit of device work, described by linalg operations";
  let description = [{
    The body is a description on tensors: linalg operations, `tensor.pad` with a constant,
    `tensor.empty`, `linalg.fill`, `kernel.scan`, `kernel.sort`, `kernel.choose`, `kernel.insert`, `kernel.recurrence`.
    Its block arguments are the inputs, the scalars and the destinations, in this order; it yields one tensor per destination. No
    memory is implied for values inside the body.

    ```mlir
    %y = kernel.dispatch ins(%x : tensor<?x64xf32>) scalars(%n : index)
                         outs(%init : tensor<?x64xf32>) {
    ^bb0(%a: tensor<?x64xf32>, %s: index, %o: tensor<?x64xf32>):
      ...
      kernel.yield %r : tensor<?x64xf32>
    } -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs,
                       Variadic<AnyTypeOf<[Index, AnySignlessInteger, AnyFloat]>>:$scalars,
                       Variadic<AnyRankedTensor>:$inits,
                       OptionalAttr<Kernel_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`scalars` `(` $scalars^ `:` type($scalars) `)`)?
    `outs` `(` $inits `:` type($inits) `)` (`schedule` $schedule^)? attr-dict-with-keyword $body
    `->` type($results)
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs, "::mlir::ValueRange":$scalars,
                                 "::mlir::ValueRange":$inits)>];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    ::mlir::Block *getBodyBlock() { return &getBody().front(); }
    ::mlir::Block::BlockArgListType getInputArgs() {
      return getBodyBlock()->getArguments().take_front(getInputs().size());
    }
    ::mlir::Block::BlockArgListType getScalarArgs() {
      return getBodyBlock()->getArguments().slice(getInputs().size(), getScalars().size());
    }
    ::mlir::Block::BlockArgListType getInitArgs() {
      return getBodyBlock()->getArguments().take_back(getInits().size());
    }
  }];
}

def Kernel_YieldOp : Kernel_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "ends a dispatch's body or a tile operation's region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  // An empty body would make it a declaration.
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

def Kernel_LineOpInterface : OpInterface<"LineOpInterface"> {
  let cppNamespace = "::cameo::kernel";
  let description = [{
    An operation whose elements depend on whole lines of its input, along one dimension: its result has the input's
    shape.
  }];
  let methods = [
    InterfaceMethod<"The tensor that has the lines.", "::mlir::Value", "lineInput", (ins), [{}],
                    [{ return $_op.getInput(); }]>,
    InterfaceMethod<"The destination.", "::mlir::OpOperand &", "lineInit", (ins), [{}],
                    [{ return $_op.getInitMutable(); }]>,
    InterfaceMethod<"The dimension that lines are along.", "int64_t", "lineAxis", (ins), [{}],
                    [{ return $_op.getAxis(); }]>,
    InterfaceMethod<"Lines are along another dimension.", "void", "setLineAxis", (ins "int64_t":$axis), [{}],
                    [{ $_op.setAxis(axis); }]>];
}

include "dialects/kernel/LineOps.td"

def Kernel_ChooseOp : Kernel_Op<"choose", [
    Pure, DestinationStyleOpInterface, AllTypesMatch<["candidates", "init", "result"]>]> {
  let summary = "candidates of lines that conflict with none that is chosen before them";
  let description = [{
    `result[.., j]` is whether `candidates[.., j]` holds, fewer than `limit` elements before it in its line, along the
    last dimension, are chosen, and `conflicts[.., i, j]` holds for none of them. Only chosen i with j > i are asked.

    ```mlir
    %y = kernel.choose %x conflicts %c limit %n, %init : tensor<4x100xi1>, tensor<4x100x100xi1>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$candidates, AnyRankedTensor:$conflicts, Index:$limit,
                       AnyRankedTensor:$init);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $candidates `conflicts` $conflicts `limit` $limit `,` $init attr-dict `:` type($candidates) `,` type($conflicts)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
  let hasVerifier = 1;
}

def Kernel_InsertOp : Kernel_Op<"insert", [
    Pure, DestinationStyleOpInterface, AllTypesMatch<["init", "result"]>]> {
  let summary = "slices of a tensor at computed places, in a destination that keeps the rest";
  let description = [{
    `result[b, .., places[b, s], ..]` is `values[b, .., s, ..]`, with the place along dimension `axis`; all other
    elements are those of `init`, a destination of the dispatch whose content counts. Slices whose place is outside of
    the dimension are left out. No two places of one `b` are the same.

    ```mlir
    %y = kernel.insert %x at %p into %init {axis = 2 : i64}
        : tensor<1x8x?x64xf16>, tensor<1x?xi64>, tensor<1x8x4096x64xf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$values, AnyRankedTensor:$places, AnyRankedTensor:$init,
                       I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $values `at` $places `into` $init attr-dict `:` type($values) `,` type($places) `,` type($init)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
  let hasVerifier = 1;
}

//===-- Tile level --------------------------------------------------------------------------===//
//
// Operations that all threads of the block take part in. Barriers between those that write a tile
// and those that read it are the kernel's.

def Kernel_AllocTileOp : Kernel_Op<"alloc_tile", [MemoryEffects<[MemAlloc]>]> {
  let summary = "shared memory for a tile";
  let description = [{
    Memory of its own, or that of other tiles: from where the first of `over` begins to at most where
    the last ends, which follow one another. Which of both is in use is the kernel's business, and
    the barriers between. All tiles are in static shared memory, or in dynamic where the kernel's
    `kernel.dynamic_shared` says how many bytes that has.

    ```mlir
    %a = kernel.alloc_tile : !kernel.tile<128x32xf16, #a, stages = 3>
    %staging = kernel.alloc_tile over (%a : !kernel.tile<128x32xf16, #a, stages = 3>)
        : !kernel.tile<32x128xf32, #s, stages = 1>
    ```
  }];
  let arguments = (ins Variadic<Kernel_TileType>:$over);
  let results = (outs Kernel_TileType:$result);
  let assemblyFormat = [{
    (`over` `(` $over^ `:` type($over) `)`)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_LoadGlobalOp : Kernel_Op<"load_global", [
    AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "loads fragments from global memory";
  let description = [{
    For every row r and column c the region gives the offset of the element in each source and
    whether it is inside; one that is not is its source's padding. The elements of a thread's value
    are inside together, or `together` of them are. Of these `widths` are consecutive and aligned in
    a source, a number for each; 0 says that all of them read the same one. Without it that is all
    of them.

    A fragment of i1 behind the sources' is whether elements are inside.

    ```mlir
    %a, %scale, %inside = kernel.load_global %x, %s widths [4, 0] padding %zero, %zero
        : memref<?xf32, 1>, memref<?xf32, 1>
        -> !kernel.fragment<64 by 16 of f32, #l>, !kernel.fragment<64 by 16 of f32, #l>,
           !kernel.fragment<64 by 16 of i1, #l> {
    ^bb0(%r: index, %c: index):
      kernel.yield %offset, %channel, %isInside : index, index, i1
    }
    ```
  }];
  let arguments = (ins Variadic<AnyMemRef>:$sources, Variadic<AnyType>:$paddings,
                       OptionalAttr<DenseI64ArrayAttr>:$widths,
                       OptionalAttr<I64Attr>:$together);
  let results = (outs Variadic<Kernel_FragmentType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sources (`widths` $widths^)? (`together` $together^)? `padding` $paddings attr-dict `:` type($sources)
    custom<Paddings>(type($paddings), ref(type($sources))) `->` type($results) $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it says which elements are inside.
    bool isMasked() { return getNumResults() > getSources().size(); }
  }];
}

def Kernel_MapFragmentOp : Kernel_Op<"map_fragment", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "computes each element of a fragment from those of others at the same place";
  let description = [{
    All have one layout. The region is given row, column and the elements.

    ```mlir
    %h = kernel.map_fragment %x : !kernel.fragment<64 by 16 of f32, #l>
        -> !kernel.fragment<64 by 16 of f16, #l> {
    ^bb0(%r: index, %c: index, %e: f32):
      %n = arith.truncf %e : f32 to f16
      kernel.yield %n : f16
    }
    ```
  }];
  let arguments = (ins Variadic<Kernel_FragmentType>:$inputs);
  let results = (outs Kernel_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($result) $body";
  let hasVerifier = 1;
}

def Kernel_WriteTileOp : Kernel_Op<"write_tile"> {
  let summary = "writes a fragment to a stage of a tile, from a row and a column on";
  let arguments = (ins Kernel_FragmentType:$fragment, Kernel_TileType:$tile, Index:$stage,
                       Index:$row, Index:$col);
  let assemblyFormat = [{
    $fragment `to` $tile `[` $stage `,` $row `,` $col `]` attr-dict `:` type($fragment) `to`
    type($tile)
  }];
  let hasVerifier = 1;
}

def Kernel_CopyAsyncOp : Kernel_Op<"copy_async", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "starts to copy a part of a tile from global memory";
  let description = [{
    Threads share the part as they would share the fragment `as`, whose values have 4, 8 or 16
    bytes, consecutive on both sides. Elements that are not inside become zero, or `padding`, which
    is written at once. The region is that of `load_global`. Copies belong to the group that the
    thread's next `commit_copies` closes.

    ```mlir
    kernel.copy_async %x to %a[%stage, %c0, %c0] as !kernel.fragment<128 by 32 of f16, #l>
        : memref<?xf16, 1> to !kernel.tile<128x32xf16, #a, stages = 3> {
    ^bb0(%r: index, %c: index):
      kernel.yield %offset, %inside : index, i1
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Kernel_TileType:$tile, Index:$stage, Index:$row,
                       Index:$col, Optional<AnyType>:$padding,
                       TypeAttrOf<Kernel_FragmentType>:$shape);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $source `to` $tile `[` $stage `,` $row `,` $col `]` (`padding` $padding^ `:` type($padding))?
    `as` $shape attr-dict `:` type($source) `to` type($tile) $body
  }];
  let hasVerifier = 1;
}

def Kernel_CommitCopiesOp : Kernel_Op<"commit_copies"> {
  let summary = "closes a group of the thread's asynchronous copies";
  let assemblyFormat = "attr-dict";
}

def Kernel_WaitCopiesOp : Kernel_Op<"wait_copies"> {
  let summary = "waits until of the thread's groups only the `pending` newest may be under way";
  let description = "What other threads copied is there after a barrier behind it.";
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 1;
}

def Kernel_LoadFragmentOp : Kernel_Op<"load_fragment"> {
  let summary = "loads a fragment from a stage of a tile, from a row and a column on";
  let arguments = (ins Kernel_TileType:$tile, Index:$stage, Index:$row, Index:$col);
  let results = (outs Kernel_FragmentType:$result);
  let assemblyFormat = [{
    $tile `[` $stage `,` $row `,` $col `]` attr-dict `:` type($tile) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_ContractOp : Kernel_Op<"contract", [
    Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulates the product of two fragments";
  let description = [{
    accumulator[m, n] += sum over k of lhs[m, k] * rhs[k, n], k going up. Operands are of the
    accumulators' type or narrower, each as it is: with a `thread_tile` they are widened, products
    are fused multiply-adds; integers are signed, but for truth values and operands that are said to
    be unsigned.

    ```mlir
    %next = kernel.contract %a, %b into %sum
        : !kernel.fragment<64 by 1 of f32, #kernel.operand<0, of = #t>>,
          !kernel.fragment<1 by 64 of f32, #kernel.operand<1, of = #t>>
        into !kernel.fragment<64 by 64 of f32, #t>
    ```
  }];
  let arguments = (ins Kernel_FragmentType:$lhs, Kernel_FragmentType:$rhs,
                       Kernel_FragmentType:$accumulator, UnitAttr:$lhs_unsigned,
                       UnitAttr:$rhs_unsigned);
  let results = (outs Kernel_FragmentType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `into` $accumulator attr-dict `:` type($lhs) `,` type($rhs) `into`
    type($accumulator)
  }];
  let hasVerifier = 1;
}

def Kernel_FillFragmentOp : Kernel_Op<"fill_fragment", [Pure]> {
  let summary = "a fragment whose elements all have one value";
  let arguments = (ins AnyType:$value);
  let results = (outs Kernel_FragmentType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_SliceFragmentOp : Kernel_Op<"slice_fragment", [Pure]> {
  let summary = "a part of a fragment: some of each thread's values";
  let description = [{
    A thread's values are cut into equal pieces, of which this is one. Layout and elements stay, and
    what is a distance between two of a thread's values in the whole is so in the part. Of accumulators
    of `mma` such parts are some rows of each warp.

    ```mlir
    %part = kernel.slice_fragment %sums[1] : !kernel.fragment<128 by 64 of f32, #acc>
        -> !kernel.fragment<64 by 64 of f32, #acc>
    ```
  }];
  let arguments = (ins Kernel_FragmentType:$fragment, I64Attr:$number);
  let results = (outs Kernel_FragmentType:$result);
  let assemblyFormat = [{
    $fragment `[` $number `]` attr-dict `:` type($fragment) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Kernel_ReduceRowsOp : Kernel_Op<"reduce_rows", [
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
    TypesMatchWith<"init is an element of the result", "result", "init",
                   "::llvm::cast<::cameo::kernel::FragmentType>($_self).getElementType()">]> {
  let summary = "combines the elements of each row of fragments";
  let description = [{
    All fragments have one size and layout, of which each row is with lanes of one warp. A thread goes
    through what it has of a row in the order of its values: the region is given row, column, the
    elements and what was combined so far, the first time `init`, and yields what comes of them. Then
    `combine` joins what two lanes have, of lanes that are farthest apart first, so that the order
    of a sum follows from the layout. Every element of the result is what its row has come to.

    ```mlir
    %sum = kernel.reduce_rows %x, %most from %zero
        : !kernel.fragment<64 by 64 of f32, #l>, !kernel.fragment<64 by 64 of f32, #l>
        -> !kernel.fragment<64 by 64 of f32, #l> {
    ^bb0(%r: index, %c: index, %e: f32, %m: f32, %sofar: f32):
      %d = arith.subf %e, %m : f32
      %p = math.exp %d : f32
      %next = arith.addf %sofar, %p : f32
      kernel.yield %next : f32
    } combine {
    ^bb0(%a: f32, %b: f32):
      %both = arith.addf %a, %b : f32
      kernel.yield %both : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Kernel_FragmentType>:$inputs, AnyType:$init);
  let results = (outs Kernel_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body, SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $inputs `from` $init attr-dict `:` type($inputs) `->` type($result) $body `combine` $combine
  }];
  let hasVerifier = 1;
}

def Kernel_StoreFragmentOp : Kernel_Op<"store_fragment", [
    AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "writes a fragment to global memory through an elementwise epilogue";
  let description = [{
    For every element (r, c) of the fragment the region is given r, c and the accumulated value and
    yields the value to store, the element offset in `dest` and whether it is inside. `vector`
    consecutive columns are consecutive in dest, aligned, and inside or outside together.

    What it is given of other fragments `with` this one, of its size and layout, follows the
    accumulated value. Elements of other memory that are inside are loaded before, and come last in the
    region's arguments: `reads` gives their offsets, `widths` one number per source as in
    `load_global`.

    ```mlir
    kernel.store_fragment %f reading %residual, %bias widths [4, 0] to %y vector 4
        : !kernel.fragment<...>, memref<?xf32, 1>, memref<?xf32, 1> to memref<?xf32, 1> {
    ^bb0(%r: index, %c: index, %sum: f32, %a: f32, %b: f32):
      ...
      kernel.yield %value, %offset, %inside : f32, index, i1
    } reads {
    ^bb0(%r: index, %c: index):
      kernel.yield %from, %channel : index, index
    }
    ```
  }];
  let arguments = (ins Kernel_FragmentType:$fragment, Variadic<Kernel_FragmentType>:$others,
                       Variadic<AnyMemRef>:$sources, AnyMemRef:$dest, I64Attr:$vector,
                       OptionalAttr<DenseI64ArrayAttr>:$widths);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$reads);
  let assemblyFormat = [{
    $fragment (`with` $others^ `:` type($others))? (`reading` $sources^)? (`widths` $widths^)? `to` $dest `vector` $vector attr-dict `:`
    type($fragment) (`,` type($sources)^)? `to` type($dest) $body (`reads` $reads^)?
  }];
  let hasVerifier = 1;
}

def Kernel_AdvanceOp : Kernel_Op<"advance", [Pure, AllTypesMatch<["memory", "result"]>]> {
  let summary = "memory from an element on";
  let description = [{
    The offset is in elements and has 64 bits, whatever the width of the kernel's indices: where
    an operand of a block begins may be farther than these reach.

    ```mlir
    %part = kernel.advance %x by %offset : memref<?xf32, #gpu.address_space<global>>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, I64:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$memory `by` $offset attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def Kernel_AddressOp : Kernel_Op<"address", [Pure]> {
  let summary = "where an element of memory is, for instructions that take addresses";
  let description = [{
    Unlike a number it still belongs to its memory, which the simulator's checks go by.

    ```mlir
    %p = kernel.address %s[%i] : memref<4096xf16, #gpu.address_space<workgroup>> -> !llvm.ptr<3>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Index:$offset);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$memory `[` $offset `]` attr-dict `:` type($memory) `->` type($result)";
  let hasVerifier = 1;
}

//===-- Device code -------------------------------------------------------------------------===//

def Kernel_PtxOp : Kernel_Op<"ptx", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "one instruction of the GPU that has no operation upstream";
  let description = [{
    The instruction is PTX's opcode with all its qualifiers; immediate operands follow after a
    space. Results and operands are registers and addresses in PTX's order, the elements of a
    vector operand one after the other. What exists is in `dialects/kernel/Ptx*.cpp`.

    On the way to PTX it becomes inline assembly, on the way to the simulator a call of the engine.

    ```mlir
    %d:2 = kernel.ptx "ldmatrix.sync.aligned.m8n8.x2.shared.b16"(%row) : (!llvm.ptr<3>) -> (i32, i32)
    kernel.ptx "cp.async.cg.shared.global 16"(%to, %from) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    ```
  }];
  let arguments = (ins StrAttr:$instruction, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = [{
    $instruction `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)
  }];
  let extraClassDeclaration = [{
    /// What the instruction is. The operation must be valid.
    const PtxInstruction &decode();
  }];
  let hasVerifier = 1;
}

#endif
