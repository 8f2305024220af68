// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include "codegen/Passes.h"
#include "codegen/sim/SimImage.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace cameo;
using namespace cameo::test;
using namespace mlir;

static sim::Options engineOptions(bool checked, sim::Form form) {
  sim::Options options;
  options.threads = 1;
  options.form = form;
  options.checks = checked ? sim::kCheckAll : 0;
  return options;
}

SimKernels::SimKernels(llvm::StringRef tiledText, bool checked, llvm::StringRef target,
                       sim::Form form)
    : engine(engineOptions(checked, form)) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect,
                  kernel::KernelDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(tiledText, &context, "test.mlir");
  if (!module) {
    error = "does not parse";
    return;
  }
  llvm::SmallVector<gpu::GPUModuleOp> modules(module->getOps<gpu::GPUModuleOp>());
  PassManager passes(&context);
  passes.addNestedPass<gpu::GPUModuleOp>(createExpandTiles());
  passes.addNestedPass<gpu::GPUModuleOp>(createLowerToDevice({target.str()}));
  if (failed(passes.run(*module))) {
    error = "does not lower to the device stage";
    return;
  }
  SimImageOptions options;
  options.checked = checked;
  options.forms = SimImageOptions::Forms::Both;
  llvm::Expected<llvm::SmallVector<char>> bytes = emitSimImage(modules, options);
  if (!bytes) {
    error = llvm::toString(bytes.takeError());
    return;
  }
  image = sim::Image::load(bytes->data(), bytes->size(), error);
}

sim::LaunchResult SimKernels::launch(const char *kernel, unsigned blocks, unsigned threads,
                                     std::vector<const void *> parameters, unsigned sharedDynamic) {
  sim::Launch launch;
  launch.image = &image->table();
  launch.kernel = image->find(kernel);
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  launch.sharedDynamic = sharedDynamic;
  launch.args = parameters.data();
  return engine.launch(launch);
}
