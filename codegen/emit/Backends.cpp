// The table of back ends, and what they share.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Backend.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cameo;

ArrayRef<Backend> cameo::backends() {
  static const Backend all[] = {nvptxBackend, simBackend};
  return all;
}

void KernelCount::addOne() {
  if (!options.onProgress)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  options.onProgress(what, ++done, all);
}

static void addPlaceholder(rt::VariantOp variant) {
  auto builder = OpBuilder::atBlockEnd(&variant.getBody().front());
  Location loc = variant.getLoc();
  auto module = builder.create<gpu::GPUModuleOp>(loc, "nothing");
  builder.setInsertionPointToStart(module.getBody());
  auto kernel = builder.create<LLVM::LLVMFuncOp>(
      loc, "nothing",
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {}));
  kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), builder.getDenseI32ArrayAttr({1, 1, 1}));
  builder.setInsertionPointToStart(kernel.addEntryBlock(builder));
  builder.create<LLVM::ReturnOp>(loc, ValueRange());
}

SmallVector<gpu::GPUModuleOp> cameo::kernelsOf(const CodeVariant &variant) {
  rt::VariantOp op = variant.op;
  if (op.getOps<gpu::GPUModuleOp>().empty())
    addPlaceholder(op);
  return llvm::to_vector(op.getOps<gpu::GPUModuleOp>());
}

llvm::Error cameo::runBackendPipeline(Operation *module, const Backend &backend,
                                      const BackendPipelineOptions &options) {
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  // Handlers belong to the context, and other threads may be at work, too.
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(module->getContext(), [&](Diagnostic &diagnostic) {
    if (llvm::get_threadid() != thread || diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    stream << (messages.empty() ? "" : "\n") << diagnostic.getLocation() << ": " << diagnostic;
    return success();
  });
  PassManager passes(module->getContext(), module->getName().getStringRef());
  backend.populate(passes, options);
  if (succeeded(passes.run(module)))
    return llvm::Error::success();
  return llvm::createStringError(messages.empty() ? "the steps of " + backend.name.str() + " fail"
                                                  : messages);
}
