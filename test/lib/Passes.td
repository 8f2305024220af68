// SPDX-License-Identifier: Apache-2.0
// Passes for tests alone, which cameo-opt has where tests are built.
#ifndef CAMEO_TEST_LIB_PASSES_TD
#define CAMEO_TEST_LIB_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlantFault : Pass<"cameo-plant-fault", "::mlir::gpu::GPUModuleOp"> {
  let summary = "plant a fault in a kernel, to see whether the simulator's checks find it";
  let description = [{
    Breaks the kernels of a `gpu.module` at the device stage in one way and place: for tests of the
    simulator's checks alone, and no part of the pipeline. Without a `kind` nothing is changed, and a
    remark for each kernel and kind says how many places there are.

    | kind | the fault |
    |---|---|
    | drop-barrier, early-barrier, late-barrier | a barrier is gone; stands before the stores to shared memory that it should follow; behind loads that it should precede |
    | diverge-barrier, diverge-shuffle | the upper half of each warp goes past it |
    | drop-shuffle, narrow-shuffle | each lane keeps its own value; lane 31 is not in the mask |
    | drop-shared-store, drop-global-store | a store is gone |
    | drop-copy, drop-commit, drop-async-wait, loosen-async-wait | of an asynchronous copy or a wgmma: it is gone; it stays out of its group; nobody waits; one group more may stay in flight |
    | weaken-async-wait | a bulk copy is waited for only until it has read its source |
    | drop-fence, misplace-fence | a fence.proxy.async, fence.proxy.tensormap, fence.mbarrier_init or wgmma.fence is gone; one of global memory is one of shared memory, or the other way round |
    | diverge-warpgroup | every other warp goes past a wgmma.fence, commit_group or wait_group |
    | drop-mbarrier-wait, flip-parity, drop-mbarrier-arrival, drop-expectation | of an mbarrier: nobody waits; the other phase is waited for; an arrival is gone; it expects no bytes |
    | drop-cluster-barrier, stay-local, narrow-multicast | an arrival at the cluster's barrier and the wait are gone; the own block's address stands for another one's; a copy reaches the first block alone |
    | shift-index | an address is one element further on |
    | drop-swizzle | an offset lacks what an exclusive or turns over in it |
    | hold-stage | the next stage of a ring is the one before |
    | widen-bound, narrow-bound | an ordered comparison lets one more, one less pass |
    | open-mask, close-mask | a condition is always, never true (loops' are never opened) |
    | drop-conjunct | one side of a logical and is taken for true |
    | shift-start | a loop's first index is one more |
    | drop-start, drop-load | an accumulator has no value when its loop begins; a load into registers is gone |

    Before ==> after, with `kind=drop-barrier`:

    ```mlir
    llvm.store %v, %p : f32, !llvm.ptr<3>
    nvvm.barrier0
    %w = llvm.load %q : !llvm.ptr<3> -> f32
    ```
    ```mlir
    llvm.store %v, %p : f32, !llvm.ptr<3>
    %w = llvm.load %q : !llvm.ptr<3> -> f32
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
  let options = [Option<"kind", "kind", "std::string", /*default=*/"\"\"", "which fault">,
                 Option<"index", "index", "unsigned", /*default=*/"0",
                        "in which of its places in the kernel, in the order of the text">,
                 Option<"kernel", "kernel", "std::string", /*default=*/"\"\"",
                        "in which kernel; all that there are without it">];
  let statistics = [
    Statistic<"planted", "planted", "faults">
  ];
}

#endif
