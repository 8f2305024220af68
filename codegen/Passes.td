// SPDX-License-Identifier: Apache-2.0
// Passes that know GPU architectures, in the order of the stages they belong to.
#ifndef CAMEO_CODEGEN_PASSES_TD
#define CAMEO_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- dispatched, and every stage ----------------------------------------------------------===//

def CreateVariants : Pass<"cameo-create-variants", "::mlir::ModuleOp"> {
  let summary = "create a copy of the model for each target architecture";
  let description = [{
    Wraps the entry function in one `rt.variant` an architecture of the list, which is that of the
    command line's `--target`. Weights stay in the module, shared.

    ```mlir
    rt.constant @w = dense<1.0> : tensor<4xf32>
    func.func @main(...) { ... }
    ```
    ==>
    ```mlir
    rt.constant @w = dense<1.0> : tensor<4xf32>
    rt.variant @sm_80 target "sm_80" board "a100-40" {
      func.func @main(...) { ... }
    }
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect"];
  let options = [Option<"targets", "targets", "std::string", /*default=*/"\"sm_80\"",
                        "architectures, e.g. sm_80;ptx;sim:sm_90a (also with commas)">];
  let statistics = [
    Statistic<"variants", "variants", "architectures">
  ];
}

def VerifyStage : Pass<"cameo-verify-stage", "::mlir::ModuleOp"> {
  let summary = "verify that a module has the form that a stage promises";
  let description = [{
    Says which operation breaks a promise of the stage that is named; docs/stages.md has them all.
    Changes nothing but the ledger, which has the broken promises of quality: those with which nothing
    that follows goes wrong. With `strict` they are errors, too.
  }];
  let options = [
    Option<"stage", "stage", "std::string", /*default=*/"",
           "imported, normalized, precision, dispatched, scheduled, tiled, device or host">,
    Option<"strict", "strict", "bool", /*default=*/"false",
           "whether what could be better is an error">
  ];
  let dependentDialects = ["::cameo::rt::RtDialect"];
}

//===-- dispatched -> scheduled -> tiled ------------------------------------------------------===//

def SplitDispatches : Pass<"cameo-split-dispatches", "::cameo::rt::VariantOp"> {
  let summary = "split dispatches that no schedule class takes at their reductions";
  let description = [{
    What is merged into one dispatch may turn out to be for no class of schedules: each thread would
    compute a long reduction again, or a product that tiles are for would be a loop of a thread. The
    first of its reductions becomes a dispatch of its own, and so does what a product's operands are
    computed by, until a class takes each part.

    ```mlir
    %0 = kernel.dispatch ins(%x, %w) outs(%e) { product, transposed sum }
    ```
    ==>
    ```mlir
    %1 = tensor.empty() : tensor<64x64xf32>
    %2 = kernel.dispatch ins(%x, %w) outs(%1) { product }
    %0 = kernel.dispatch ins(%2) outs(%e) { transposed sum }
    ```
  }];
  let dependentDialects = ["::cameo::kernel::KernelDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"split", "split", "dispatches that became two">];
}

def AssignLayouts : Pass<"cameo-assign-layouts", "::cameo::rt::VariantOp"> {
  let summary = "assign tensors between dispatches the order in which they are stored";
  let description = [{
    A tensor that a dispatch writes and others read may be stored with its dimensions in another order
    than the model has them. Its type is then the permuted shape, and the order is composed into the
    maps of all dispatches that write or read it. Tensors in one another's memory, and those that
    dispatches go through together, are a group that is stored alike; each group gets the order in
    which its dispatches take the least time by the estimates of schedule classes. Inputs and outputs stay as
    they are declared: who reads or writes them does so through its maps. Where a reshape needs a
    tensor as it was, or several readers need another order, a dispatch copies it, at its cost.

    ```mlir
    %0 = kernel.dispatch ins(%x) ... -> tensor<1x64x8x8xf32>       // written at (n, c, y, x)
    %1 = kernel.dispatch ins(%0, %w) ... -> tensor<1x32x8x8xf32>   // read at (n, c, y, x)
    ```
    ==>
    ```mlir
    %0 = kernel.dispatch ins(%x) ... -> tensor<1x8x8x64xf32>       // written at (n, y, x, c)
    %1 = kernel.dispatch ins(%0, %w) ... -> tensor<1x32x8x8xf32>   // read at (n, y, x, c)
    ```
  }];
  let dependentDialects = ["::cameo::kernel::KernelDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [Option<"layout", "layout", "std::string", /*default=*/"\"auto\"",
                        "auto (by cost), tensor-cores (by cost, those that products on Tensor Cores "
                        "read or write), channels-last (dimension 1 innermost, wherever that can "
                        "be), as-imported">];
  let statistics = [
    Statistic<"stored", "stored", "results that are stored in another order">,
    Statistic<"copied", "copied", "copies between two orders">
  ];
}

def NarrowWeights : Pass<"cameo-narrow-weights", "::mlir::ModuleOp"> {
  let summary = "narrow weights whose numbers need four bits, to two a byte";
  let description = [{
    Constants of i8 that a product dequantises as it reads them become constants of i4 where each
    number is one of four bits, signed or not as bodies extend it. Memory of i4 has two elements a
    byte, the first one in the lower bits. What is multiplied as it is, as integers, stays, since
    instructions take bytes; so do scales, zero points and equal numbers, of which there are few.

    ```mlir
    rt.constant @w0 = dense_resource<w0> : tensor<64x32xi8>            // -8 to 7
    %0 = kernel.dispatch ins(%w, %s, %x : tensor<64x32xi8>, ...) ... {
      linalg.generic ... { ^bb0(%in: i8, ...): %1 = arith.extsi %in : i8 to i32 ... }
    ```
    ==>
    ```mlir
    rt.constant @w0_i4 = dense_resource<w0_i4> : tensor<64x32xi4>
    %0 = kernel.dispatch ins(%w, %s, %x : tensor<64x32xi4>, ...) ... {
      linalg.generic ... { ^bb0(%in: i4, ...): %1 = arith.extsi %in : i4 to i32 ... }
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect", "::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"narrowed", "narrowed", "constants that are stored in four bits">
  ];
}

def PackWeights : Pass<"cameo-pack-weights", "::mlir::ModuleOp"> {
  let summary = "pack weights in the order in which kernels read them";
  let description = [{
    Stores inputs that are constants with their dimensions in the order that `kernel.packing` on a
    dispatch says, which `cameo-assign-schedules` has chosen with the schedule: constant and indexing
    maps are permuted alike, and the attribute becomes `kernel.packed`. Inputs of f32 that
    `kernel.rounding` lists are rounded to TF32, which then is `kernel.rounded`. One packed constant
    serves all dispatches and variants that want the same order, rounded or not; constants that nothing
    reads any more go.

    ```mlir
    rt.constant @w0 = dense<...> : tensor<64x16x3x3xf32>
    %w = rt.get_constant @w0 : tensor<64x16x3x3xf32> // read at (f, c, y, x)
    %0 = kernel.dispatch ins(%x, %w) ... {kernel.packing = [array<i64>, array<i64: 2, 3, 1, 0>]}
    ```
    ==>
    ```mlir
    rt.constant @w0_2_3_1_0 = dense<...> : tensor<3x3x16x64xf32>
    %w = rt.get_constant @w0_2_3_1_0 : tensor<3x3x16x64xf32> // read at (y, x, c, f)
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect", "::cameo::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"packed", "packed", "constants that are stored in another order">
  ];
}

def AssignSchedules : Pass<"cameo-assign-schedules", "::cameo::rt::VariantOp"> {
  let summary = "assign each dispatch of a variant a schedule: how it is computed";
  let description = [{
    Gives every `kernel.dispatch` that has none a `#kernel.schedule`: of what all classes that support
    it have, what is estimated to be the fastest on the variant's target; and with it, as
    `kernel.packing` and `kernel.rounding`, the orders in which constants are to be stored for it, and
    which of them rounded. A schedule that is there
    already is kept, and one that a file of schedules has for an equal dispatch is taken, so that
    schedules can be edited and replayed. What no class supports is split, as
    `cameo-split-dispatches` does.

    ```mlir
    %0 = kernel.dispatch ins(...) outs(...) { ... }
    ```
    ==>
    ```mlir
    %0 = kernel.dispatch ins(...) outs(...)
           schedule <"map", {flat = true, threads = 256 : i64, vector = 4 : i64}> { ... }
    ```
  }];
  let dependentDialects = ["::cameo::kernel::KernelDialect"];
  let options = [Option<"schedules", "schedules", "std::string", /*default=*/"\"\"",
                        "file of schedules (cameoc --emit=schedules) that go before those chosen">,
                 Option<"candidates", "candidates", "unsigned", /*default=*/"1",
                        "note so many candidates of each product, for cameo-tune-schedules">,
                 Option<"everything", "everything", "bool", /*default=*/"false",
                        "note candidates of all dispatches, not of products alone">];
  let statistics = [
    Statistic<"chosen", "chosen", "dispatches that were given a schedule">,
    Statistic<"replayed", "replayed", "dispatches that were given one of the file">,
    Statistic<"kept", "kept", "dispatches that had one">,
    Statistic<"split", "split", "dispatches that no class takes, split in two">
  ];
}

include "codegen/tune/Passes.td"

def HoistConstants : Pass<"cameo-hoist-constants", "::cameo::rt::VariantOp"> {
  let summary = "hoist constants in which equal dispatches differ, as their scalars";
  let description = [{
    Dispatches with the same schedule and the same description but for constants' values become equal,
    and with that share a kernel: the constants in which they differ become scalars, arguments of
    their launches. Constants that all of them have stay, and so does everything on which a schedule
    or the place of an element may hang: padding, initial values, indices.

    ```mlir
    %0 = kernel.dispatch ins(%x) outs(%e) { ... %c = arith.constant 2.0 : f32 ... }
    %1 = kernel.dispatch ins(%0) outs(%e) { ... %c = arith.constant 3.0 : f32 ... }
    ```
    ==>
    ```mlir
    %c2 = arith.constant 2.0 : f32
    %0 = kernel.dispatch ins(%x) scalars(%c2) outs(%e) { ^bb0(%a, %c, %o): ... }
    %c3 = arith.constant 3.0 : f32
    %1 = kernel.dispatch ins(%0) scalars(%c3) outs(%e) { ^bb0(%a, %c, %o): ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"hoisted", "hoisted", "constants that became scalars of a dispatch">];
}

include "codegen/calibrate/Passes.td"

def LowerDispatches : Pass<"cameo-lower-dispatches", "::cameo::rt::VariantOp"> {
  let summary = "lower scheduled dispatches to kernels and their launches";
  let description = [{
    Each dispatch becomes one or more `rt.launch`es of `gpu.func`s, one `gpu.module` each; equal
    dispatches share kernels. Kernels are in scf, arith, memref, vector and gpu on flat memory, and in
    the tile-level operations of the kernel dialect.

    ```mlir
    %0 = kernel.dispatch ins(%x) outs(%e) schedule <"map", {...}> { ... }
    ```
    ==>
    ```mlir
    %0 = rt.launch @k0_relu::@k0_relu grid(%blocks, %c1, %c1) args(%x, %e) writes [1]
    ...
    gpu.module @k0_relu { gpu.func @k0_relu(...) kernel { ... } }
    ```
  }];
  let dependentDialects = ["::cameo::rt::RtDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::NVVM::NVVMDialect"];
  let statistics = [
    Statistic<"dispatches", "dispatches", "dispatches that became launches">,
    Statistic<"launches", "launches", "launches">,
    Statistic<"kernels", "kernels", "kernels that they share">
  ];
  let options = [Option<"indexBound", "index-bound", "int64_t", /*default=*/"1073741824",
                        "elements of a tensor that 32-bit indices reach; less is for tests">];
}

//===-- tiled -> device ------------------------------------------------------------------------===//

def ExpandTiles : Pass<"cameo-expand-tiles", "::mlir::gpu::GPUModuleOp"> {
  let summary = "expand tile operations into what each thread does";
  let description = [{
    Takes the tile operations of the kernel dialect to scf, vector, memref, arith and gpu. Kernels
    with tile operations have a one-dimensional `kernel.block`, over all threads of which each of
    them is spread.

    A fragment becomes the values that its layout gives a thread, vectors where they have several
    elements, through `scf.for` and `scf.if` as well. `load_global` loads nothing that is outside;
    `store_fragment` runs what has side effects, such as loads, for elements that are inside only.
    `contract` becomes fused multiply-adds (multiplications and additions for integers, which are
    signed). Tiles become workgroup attributions, or views of dynamic shared memory where the kernel
    has `kernel.dynamic_shared`.

    Before ==> after:

    ```mlir
    %f = kernel.load_global %x padding %zero : memref<?xf32, #g> -> !kernel.fragment<16 by 16 of f32,
        #kernel.copied<vector = 4, along = columns, threads = 64>> {
    ^bb0(%r: index, %c: index):
      ...
      kernel.yield %offset, %inside : index, i1
    }
    kernel.write_tile %f to %tile[%c0, %c0, %c0] : !kernel.fragment<...>
        to !kernel.tile<16x16xf32, #kernel.strided<[20, 1]>, stages = 1>
    ```
    ```mlir
    %t = gpu.thread_id x
    %r = arith.divui %t, %c4 : index
    %q = arith.remui %t, %c4 : index
    %c = arith.muli %q, %c4 overflow<nsw, nuw> : index
    ...
    %v = scf.if %inside -> (vector<4xf32>) {
      %l = vector.load %x[%offset] {kernel.alignment = 16 : i64} : memref<?xf32, #g>, vector<4xf32>
      scf.yield %l : vector<4xf32>
    } else {
      scf.yield %zeros : vector<4xf32>
    }
    vector.store %v, %s[%at] {kernel.alignment = 16 : i64} : memref<320xf32, #ws>, vector<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"kernels", "kernels", "kernels with tile operations">
  ];
}

def ExpandNibbles : Pass<"cameo-expand-nibbles", "::mlir::gpu::GPUModuleOp"> {
  let summary = "expand loads of i4, of which a byte has two, into loads of bytes";
  let description = [{
    Buffers of i4 become buffers of bytes. A load of one element loads its byte and shifts it; one of
    several loads their bytes at once, as words, and shifts those. From then on an i4 is an i32 of
    which the lower four bits count, whatever passes it on, and `arith.extsi` and `arith.extui` clear
    the others. Where an `scf.if` gives eight or more that were loaded at once, or constants in their
    place, it gives the words instead, which are shifted behind it. There are no stores of i4.

    ```mlir
    %v = vector.load %w[%i] {kernel.alignment = 4 : i64} : memref<?xi4, #g>, vector<8xi4>
    %x = vector.extract %v[1] : i4 from vector<8xi4>
    %n = arith.extsi %x : i4 to i32
    ```
    ==>
    ```mlir
    %h = arith.shrui %i, %c1 : index
    %b = vector.load %w[%h] {kernel.alignment = 4 : i64} : memref<?xi8, #g>, vector<4xi8>
    %v = vector.bitcast %b : vector<4xi8> to vector<1xi32>
    %e = vector.extract %v[0] : i32 from vector<1xi32>
    %x = arith.shrui %e, %c4 : i32
    %s = arith.shli %x, %c28 : i32
    %n = arith.shrsi %s, %c28 : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect", "::cameo::kernel::KernelDialect"];
  let statistics = [
    Statistic<"kernels", "kernels", "kernels that read memory of i4">
  ];
}

def ReplaceIntegerConversions
    : Pass<"cameo-replace-integer-conversions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "replace conversions of small integers to floats by arithmetic on pairs of f16";
  let description = [{
    Numbers of 4 or 8 bits at the same place of both halves of a word become floats at once: as the
    lower bits of two f16 from 1024 on, from which that is taken off. This is exact, and takes an
    instruction or two where a conversion of each takes a slow one. Differences with other small
    numbers (zero points), and products with an f16 that are rounded to f16, are computed in pairs,
    too, where both elements have them; these round as they did in f32. So is a choice between both
    and others by one condition. A number whose other half is not converted stays as it is, as do words
    that were not loaded in vectors.

    ```mlir
    %a = arith.andi %w, %c15 : i32
    %h = arith.shrui %w, %c16 : i32
    %b = arith.andi %h, %c15 : i32
    %x = arith.uitofp %a : i32 to f32
    %y = arith.uitofp %b : i32 to f32
    ```
    ==>
    ```mlir
    %m = arith.andi %w, %c983055 : i32        // 0x000f000f
    %n = arith.xori %m, %c1677747200 : i32    // 0x64006400
    %v = vector.from_elements %n : vector<1xi32>
    %f = vector.bitcast %v : vector<1xi32> to vector<2xf16>
    %p = arith.subf %f, %c1024 : vector<2xf16>
    %l = vector.extract %p[0] : f16 from vector<2xf16>
    %h = vector.extract %p[1] : f16 from vector<2xf16>
    %x = arith.extf %l : f16 to f32
    %y = arith.extf %h : f16 to f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"conversions", "conversions", "conversions of integers that were replaced">
  ];
}

def LowerToDevice : Pass<"cameo-lower-to-device", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower kernels from the tiled stage to llvm and nvvm";
  let description = [{
    Takes a `gpu.module` of the tiled stage (gpu, scf, cf, arith, math, vector and memref, with
    rank-1 contiguous memrefs) to the device stage: llvm and nvvm only. A memref becomes a bare
    pointer into its address space, `index` the integer type told by the module's
    `kernel.index_bits` (32 or 64, default 64), a workgroup attribution a shared global.

    Results are those the tiled operations promise, on every architecture: square roots and
    divisions round to nearest, `math.fma` is one rounding and nothing else is fused, `bf16`
    arithmetic and everything on `f16` but sums, products and fused multiply-adds is computed in
    `f32` and rounded, `maximumf` and `minimumf` propagate NaN. `exp`, `log`, `sin` and their like
    become calls of libdevice functions (`__nv_expf`); `i1` takes a byte in memory.

    Before ==> after:

    ```mlir
    gpu.func @relu(%in: memref<?xf32, #gpu.address_space<global>> {llvm.noalias}, ...) kernel
        attributes {kernel.block = array<i32: 256, 1, 1>} {
      %v = vector.load %in[%i] {kernel.alignment = 16 : i64} : ..., vector<4xf32>
    ```
    ```mlir
    llvm.func @relu(%in: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, ...)
        attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
      %p = llvm.getelementptr inbounds %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    ```

    The architecture is that of the module's `kernel.target` (`#rt.target`), else that of the `rt.variant` around it, else
    the option's.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::vector::VectorDialect"];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"sm_80\"",
                        "architecture where the IR names none">];
  let statistics = [
    Statistic<"kernels", "kernels", "kernels">
  ];
}

//===-- device -> what LLVM translates, for every back end -------------------------------------===//

def ReplaceNvvmInstructions : Pass<"cameo-replace-nvvm-instructions"> {
  let summary = "replace instructions that nvvm spells too by kernel.ptx";
  let description = [{
    Of matrix instructions, asynchronous copies, mbarriers and the like nvvm has operations of its
    own; after this pass each is one `kernel.ptx`, so that whatever follows knows one spelling.
    Special registers, barriers, shuffles and votes stay.

    ```mlir
    nvvm.cp.async.commit.group
    ```
    ==>
    ```mlir
    kernel.ptx "cp.async.commit_group"() : () -> ()
    ```
  }];
  let dependentDialects = ["::cameo::kernel::KernelDialect", "::mlir::LLVM::LLVMDialect"];
}

def VerifyTargetInstructions : Pass<"cameo-verify-target-instructions"> {
  let summary = "verify that a target has all instructions of kernels";
  let description = [{
    An error for each `kernel.ptx` that a later architecture, or a later version of PTX, brought.
    Changes nothing.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"sm_80\"",
                        "architecture that the kernels are for">];
}

def VerifyWgmmaResults : Pass<"cameo-verify-wgmma-results"> {
  let summary = "verify that nothing uses a wgmma's results before they are waited for";
  let description = [{
    An error for each use of an accumulator that may still be in flight, and for each wgmma that
    nobody waits for. Changes nothing.
  }];
}

def ExpandPtx : Pass<"cameo-expand-ptx"> {
  let summary = "expand kernel.ptx into inline assembly";
  let description = [{
    ```mlir
    kernel.ptx "cp.async.commit_group"() : () -> ()
    ```
    ==>
    ```mlir
    llvm.inline_asm has_side_effects asm_dialect = att "cp.async.commit_group;", "~{memory}" : () -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"expanded", "expanded", "instructions">];
}

def FenceAccumulators : Pass<"cameo-fence-accumulators"> {
  let summary = "fence the sums of a loop that runs once off from what reads them";
  let description = [{
    LLVM removes such a loop, and then computes what one other block alone reads in that block. The sums of
    a product with one step of depth would so go behind the tests of their stores, and all operands be
    loaded before, into registers.

    ```mlir
    ^loop(%i: i32, %s: f32):
      %more = llvm.icmp "slt" %i, %one : i32
      llvm.cond_br %more, ^body, ^exit
    ^body:
      %t = llvm.intr.fma(%a, %b, %s) : (f32, f32, f32) -> f32
      %j = llvm.add %i, %one : i32
      llvm.br ^loop(%j, %t : i32, f32)
    ^exit:
      llvm.store %s, %p : f32, !llvm.ptr<1>
    ```
    ==>
    ```mlir
    ^exit:
      %f = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %s : (f32) -> f32
      llvm.store %f, %p : f32, !llvm.ptr<1>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"fenced", "fenced", "values">];
}

//===-- device -> simulator, in the order in which they run ------------------------------------===//

def InferOperationCounts : Pass<"cameo-infer-operation-counts", "::mlir::gpu::GPUModuleOp"> {
  let summary = "infer what an execution of each basic block of a kernel counts as";
  let description = [{
    For the simulator's counters: `sim.counts` has, for each block, a number for each CameoSimCount
    of `runtime/sim/abi.h`. What the engine sees happen (accesses of global and shared memory,
    instructions) is not among them.

    ```mlir
    llvm.func @k(%x: f32) attributes {nvvm.kernel} { %y = llvm.fadd %x, %x : f32 ... }
    ```
    ==>
    ```mlir
    llvm.func @k(%x: f32) attributes {nvvm.kernel,
        sim.counts = [array<i32: 0, 1, 0, 0, 0, 0, 0, 0, 0, 0>]} { ... }
    ```
  }];
  let statistics = [Statistic<"blocks", "blocks", "basic blocks">];
}

def InsertTraces : Pass<"cameo-insert-traces", "::mlir::gpu::GPUModuleOp"> {
  let summary = "insert calls that report what each instruction of a kernel computes";
  let description = [{
    ```mlir
    %y = llvm.fadd %x, %x : f32
    ```
    ==>
    ```mlir
    %y = llvm.fadd %x, %x : f32
    llvm.store %y, %buffer : f32, !llvm.ptr
    %site = llvm.mlir.constant(0 : i32) {sim.site = "%0 = llvm.fadd %arg0, %arg0 : f32"} : i32
    llvm.call @cameo.trace(%buffer, %elements, %bits, %kind, %site)
    ```
  }];
  let statistics = [Statistic<"kernels", "kernels", "kernels">];
}

def InferSimKernels : Pass<"cameo-infer-sim-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "infer what the simulator's engine has to know of kernels";
  let description = [{
    While parameters and address spaces still tell it: the threads of a block, the blocks of a
    cluster, which parameters are tensor maps, which the kernel only reads, whether it uses the
    asynchronous proxy. Accesses of memory lose their alignment, which x86 would trap on; where they
    are to be checked, each is described. Operations that the simulator does not know are errors.

    ```mlir
    llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
      %v = llvm.load %p : !llvm.ptr<1> -> f32
    ```
    ==>
    ```mlir
    llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>,
        sim.block = array<i32: 64, 1, 1>, sim.cluster = array<i32: 0, 0, 0>, sim.maps = 0 : i32,
        sim.read_only = -1 : i32} {
      %v = llvm.load %p {alignment = 1 : i64, sim.access = {alignment = 4 : i32, bytes = 4 : i32,
          kind = 0 : i32, space = 257 : i32, what = "load of 4 B from parameter 0"}}
          : !llvm.ptr<1> -> f32
    ```
  }];
  let options = [Option<"checked", "checked", "bool", /*default=*/"false",
                        "describe accesses, for cameo-insert-access-checks">];
  let statistics = [Statistic<"kernels", "kernels", "kernels">];
}

def SplitSimKernels : Pass<"cameo-split-sim-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "split kernels into an entry, which fetches parameters, and a body";
  let description = [{
    The entry is called as `runtime/sim/abi.h` says; the body has the thread's context as its first
    parameter, and is inlined.

    ```mlir
    llvm.func @k(%n: i32) attributes {nvvm.kernel, sim.block = array<i32: 64, 1, 1>} { ... }
    ```
    ==>
    ```mlir
    llvm.func internal @k$body(%thread: !llvm.ptr, %n: i32) attributes {sim.body = @k} { ... }
    llvm.func @k(%thread: !llvm.ptr, %args: !llvm.ptr) attributes {sim.block = ...} {
      %slot = llvm.load %args invariant : !llvm.ptr -> !llvm.ptr
      %n = llvm.load %slot invariant : !llvm.ptr -> i32
      llvm.call @k$body(%thread, %n) : (!llvm.ptr, i32) -> ()
      llvm.return
    }
    ```
  }];
  let statistics = [Statistic<"kernels", "kernels", "kernels">];
}

def LayOutSharedMemory : Pass<"cameo-lay-out-shared-memory", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lay out a kernel's shared variables in its block's window";
  let description = [{
    Static ones one behind the other, then the dynamic one, aligned to 1024 bytes. The entry's
    `sim.shared` is the bytes of the static ones.

    ```mlir
    %p = llvm.mlir.addressof @tile : !llvm.ptr<3>
    ```
    ==>
    ```mlir
    %window = llvm.load %shared invariant : !llvm.ptr -> !llvm.ptr  // of the thread's context
    %place = llvm.getelementptr %window[0] : (!llvm.ptr) -> !llvm.ptr, i8
    %p = llvm.addrspacecast %place : !llvm.ptr to !llvm.ptr<3>
    ```
  }];
  let statistics = [Statistic<"variables", "variables", "shared variables">];
}

def InsertExecutionCounts : Pass<"cameo-insert-execution-counts", "::mlir::gpu::GPUModuleOp"> {
  let summary = "insert counters of how often basic blocks of a body are executed";
  let description = [{
    At the head of block i, `++thread->executions[i]`.

    ```mlir
    ^bb1:
    ```
    ==>
    ```mlir
    ^bb1:
      %place = llvm.getelementptr %executions[8] : (!llvm.ptr) -> !llvm.ptr, i8
      %n = llvm.load %place {alignment = 8 : i64} : !llvm.ptr -> i64
      %m = llvm.add %n, %c1 : i64
      llvm.store %m, %place {alignment = 8 : i64} : i64, !llvm.ptr
    ```
  }];
  let statistics = [Statistic<"blocks", "blocks", "basic blocks">];
}

def InsertUndefinedChecks : Pass<"cameo-insert-undefined-checks", "::mlir::gpu::GPUModuleOp"> {
  let summary = "insert calls of the engine where a body uses an undefined value";
  let description = [{
    Where it matters: what is stored for others, addresses, conditions, operands of instructions.
    What may be undefined is followed bit by bit, by values that are computed beside it.

    ```mlir
    %none = llvm.mlir.undef : f32
    llvm.store %none, %p : f32, !llvm.ptr<1>
    ```
    ==>
    ```mlir
      llvm.cond_br %isUndefined, ^report, ^store
    ^report:
      llvm.call @cameo.sim.instruction(%thread, %code, %null, %site)
      llvm.br ^store
    ^store:
      llvm.store %zero, %p : f32, !llvm.ptr<1>
    ```
  }];
  let statistics = [Statistic<"checks", "checks", "uses that are checked">];
}

def InsertAccessChecks : Pass<"cameo-insert-access-checks", "::mlir::gpu::GPUModuleOp"> {
  let summary = "insert a call of the engine before each access of global and shared memory";
  let description = [{
    Of those that `cameo-infer-sim-kernels` has described. The engine gives the address to access.

    ```mlir
    %v = llvm.load %p {sim.access = {..., what = "load of 4 B from parameter 0"}}
    ```
    ==>
    ```mlir
    %site = llvm.mlir.constant(0 : i32) {sim.site = "load of 4 B from parameter 0"} : i32
    %q = llvm.call @cameo.sim.access(%thread, %p, %bytes, %alignment, %space, %kind, %site)
    %v = llvm.load %q
    ```
  }];
  let statistics = [Statistic<"accesses", "accesses", "accesses that are checked">];
}

def LowerSimInstructions : Pass<"cameo-lower-sim-instructions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower kernel.ptx to calls of the engine, with operands in memory";
  let description = [{
    ```mlir
    kernel.ptx "st.async..."(%p, %v, %bar)
    ```
    ==>
    ```mlir
    llvm.store %p, %buffer ...  // operands, in words, and results behind them
    llvm.call @cameo.sim.instruction(%thread, %code, %buffer, %site)
    ```
  }];
  let statistics = [Statistic<"instructions", "instructions", "instructions">];
}

def LowerNvvmToEngine : Pass<"cameo-lower-nvvm-to-engine", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower barriers, shuffles and votes to calls of the engine";
  let description = [{
    And special registers to loads from the thread's context. An operation that is not known is an
    error.

    ```mlir
    nvvm.barrier0
    ```
    ==>
    ```mlir
    %site = llvm.mlir.constant(0 : i32) {sim.site = "barrier"} : i32
    llvm.call @cameo.sim.barrier(%thread, %c0, %c0, %site) : (!llvm.ptr, i32, i32, i32) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [Statistic<"lowered", "lowered", "operations">];
}

def LowerSimArithmetic : Pass<"cameo-lower-sim-arithmetic", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower arithmetic to what gives the GPU's results on the host";
  let description = [{
    Division by zero, conversions out of range, roundings to f16 and bf16.

    ```mlir
    %i = llvm.fptosi %x : f32 to i32
    ```
    ==>
    ```mlir
    %i = llvm.call_intrinsic "llvm.fptosi.sat"(%x) : (f32) -> i32
    ```
  }];
  let statistics = [Statistic<"lowered", "lowered", "operations">];
}

def AssignSites : Pass<"cameo-assign-sites", "::mlir::gpu::GPUModuleOp"> {
  let summary = "assign the sites of a module their numbers";
  let description = [{
    In the order of the text; `sim.sites` of the module is their table.

    ```mlir
    %site = llvm.mlir.constant(0 : i32) {sim.site = "barrier"} : i32 loc("conv"("k.mlir":3:5))
    ```
    ==>
    ```mlir
    gpu.module @k attributes {sim.sites = [["conv", "k.mlir:3:5", "barrier"]]}
    %site = llvm.mlir.constant(0 : i32) : i32
    ```
  }];
  let options = [Option<"first", "first", "unsigned", /*default=*/"0",
                        "the first number: sites of an image's modules follow one another">];
  let statistics = [Statistic<"sites", "sites", "sites">];
}

def LowerEngineCalls : Pass<"cameo-lower-engine-calls", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower calls of the engine to calls through the thread's table";
  let description = [{
    Images have no undefined symbols: what they call they load from the context that they are given.

    ```mlir
    llvm.call @cameo.sim.barrier(%thread, %c0, %c0, %site) : (!llvm.ptr, i32, i32, i32) -> ()
    ```
    ==>
    ```mlir
    %api = llvm.load %thread invariant : !llvm.ptr -> !llvm.ptr
    %place = llvm.getelementptr %api[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %barrier = llvm.load %place invariant : !llvm.ptr -> !llvm.ptr
    llvm.call %barrier(%thread, %c0, %c0, %site) : !llvm.ptr, (!llvm.ptr, i32, i32, i32) -> ()
    ```
  }];
  let statistics = [Statistic<"calls", "calls", "calls">];
}

def LowerToHostTypes : Pass<"cameo-lower-to-host-types", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower values to types that the host has";
  let description = [{
    Pointers lose their address spaces, and bf16 becomes i16: its arithmetic is written out by now.

    ```mlir
    %p = llvm.addrspacecast %a : !llvm.ptr<1> to !llvm.ptr
    %x = llvm.load %p : !llvm.ptr -> bf16
    ```
    ==>
    ```mlir
    %x = llvm.load %a : !llvm.ptr -> i16
    ```
  }];
  let statistics = [Statistic<"values", "values", "values of another type">];
}

#endif
