// The order of the steps in MLIR.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimLower.h"

#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "codegen/sim/SimImage.h"

using namespace mlir;
using namespace cameo;

void cameo::populateSimImage(OpPassManager &passes, const BackendPipelineOptions &options) {
  passes.addPass(createReplaceNvvmInstructions());
  // Of one spelling, so that each is looked for once.
  if (options.target)
    passes.addPass(createVerifyTargetInstructions({options.target->name.str()}));
  if (options.checked)
    passes.addPass(createVerifyWgmmaResults());
  // Before anything is put in, which would count, and be traced, too.
  if (options.checked)
    passes.addPass(createInferOperationCounts());
  if (options.traced)
    passes.addPass(createInsertTraces());
  // Before parameters are other values and addresses the engine's.
  passes.addPass(createInferSimKernels({options.checked}));
  passes.addPass(createSplitSimKernels());
  passes.addPass(createLayOutSharedMemory());
  if (options.checked) {
    // Before blocks are split: they are counted as they were written.
    passes.addPass(createInsertExecutionCounts());
    // Before accesses are of what the engine gives, which is always defined.
    passes.addPass(createInsertUndefinedChecks());
    passes.addPass(createInsertAccessChecks());
  }
  passes.addPass(createLowerSimInstructions());
  passes.addPass(createLowerNvvmToEngine());
  passes.addPass(createLowerSimArithmetic());
  passes.addPass(createAssignSites({options.firstSite}));
  passes.addPass(createLowerEngineCalls());
  // Last: types tell what an access is of, and bf16 what arithmetic.
  passes.addPass(createLowerToHostTypes());
}

/// What the steps have written on an entry; takes it away.
static SimKernel takeKernel(LLVM::LLVMFuncOp entry) {
  SimKernel kernel;
  kernel.name = entry.getName().str();
  auto number = [&](StringRef name) {
    return uint32_t(entry->getAttrOfType<IntegerAttr>(name).getInt());
  };
  kernel.sharedStatic = number(kSimSharedAttr);
  kernel.readOnlyParameters = number(kSimReadOnlyAttr);
  kernel.mapParameters = number(kSimMapsAttr);
  kernel.genericProxyOnly = !entry->hasAttr(kSimAsyncProxyAttr);
  llvm::copy(entry->getAttrOfType<DenseI32ArrayAttr>(kSimBlockAttr).asArrayRef(),
             kernel.block.begin());
  llvm::copy(entry->getAttrOfType<DenseI32ArrayAttr>(kSimClusterAttr).asArrayRef(),
             kernel.cluster.begin());
  if (auto blocks = entry->getAttrOfType<ArrayAttr>(kSimCountsAttr))
    for (auto counts : blocks.getAsRange<DenseI32ArrayAttr>())
      llvm::copy(counts.asArrayRef(), kernel.blocks.emplace_back().counts);
  for (NamedAttribute attribute : llvm::to_vector(entry->getDiscardableAttrs()))
    entry->removeAttr(attribute.getName());
  return kernel;
}

llvm::Expected<SimModule> cameo::lowerToSim(gpu::GPUModuleOp module, BackendPipelineOptions options,
                                            std::vector<SimSite> &sites) {
  SimModule result;
  result.holder = ModuleOp::create(module.getLoc());
  result.module = module.clone();
  result.holder->push_back(result.module);
  options.firstSite = sites.size();
  if (llvm::Error error = runBackendPipeline(result.module, simBackend, options))
    return std::move(error);
  for (LLVM::LLVMFuncOp body : simBodies(result.module)) {
    result.kernels.push_back(takeKernel(entryOf(body)));
    body->removeAttr(kSimBodyAttr);
  }
  auto table = result.module->getAttrOfType<ArrayAttr>(kSimSitesAttr);
  if (!table)
    return result;
  for (auto row : table.getAsRange<ArrayAttr>()) {
    auto text = [&](unsigned column) { return cast<StringAttr>(row[column]).str(); };
    sites.push_back({text(0), text(1), text(2)});
  }
  result.module->removeAttr(kSimSitesAttr);
  return result;
}
