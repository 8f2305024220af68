// Kernels to PTX, cubins and simulator images, one stage at a time. They take every gpu.module of
// the file, of the tiled or of the device stage.
//
// SPDX-License-Identifier: Apache-2.0
#include "tools/KernelTranslations.h"

#include "codegen/Passes.h"
#include "codegen/emit/Assemble.h"
#include "codegen/emit/Ptx.h"
#include "codegen/sim/SimImage.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Timer.h"

using namespace mlir;

namespace {

llvm::cl::opt<std::string> arch("arch", llvm::cl::desc("GPU architecture of kernel translations"),
                                llvm::cl::init("sm_80"));
llvm::cl::opt<bool> checked("checked",
                            llvm::cl::desc("instrument the simulator image's memory accesses"));
llvm::cl::opt<bool> threadForm("thread-form",
                               llvm::cl::desc("simulate each thread on its own, not warps"));
llvm::cl::opt<bool> kernelLineInfo("kernel-line-info", llvm::cl::desc("line information in PTX"));
llvm::cl::opt<std::string> libdevice("libdevice", llvm::cl::desc("path of libdevice.10.bc"));
llvm::cl::opt<bool> kernelTime("kernel-time",
                               llvm::cl::desc("say on stderr how long translations take"));

LogicalResult fail(Operation *op, llvm::Error error) {
  // Without the operation, which would be printed whole.
  return emitError(op->getLoc(), llvm::toString(std::move(error)));
}

/// Says how long a part took, where asked.
template <typename Function> auto timed(StringRef what, Function &&function) {
  llvm::TimeRecord start = llvm::TimeRecord::getCurrentTime();
  auto result = function();
  if (kernelTime) {
    llvm::TimeRecord end = llvm::TimeRecord::getCurrentTime(false);
    end -= start;
    llvm::errs() << llvm::formatv("{0}: {1:f1} ms\n", what, end.getWallTime() * 1e3);
  }
  return result;
}

/// The file's kernels at the device stage.
FailureOr<SmallVector<gpu::GPUModuleOp>> deviceModules(Operation *root) {
  SmallVector<gpu::GPUModuleOp> modules;
  bool tiled = false;
  root->walk([&](gpu::GPUModuleOp module) {
    modules.push_back(module);
    tiled |= !module.getOps<gpu::GPUFuncOp>().empty();
  });
  if (!tiled)
    return modules;
  auto result = timed("lower-to-device", [&] {
    for (gpu::GPUModuleOp module : modules) {
      PassManager passes(root->getContext(), gpu::GPUModuleOp::getOperationName());
      passes.addPass(cameo::createLowerToDevice({arch}));
      if (failed(passes.run(module)))
        return failure();
    }
    return success();
  });
  if (failed(result))
    return failure();
  return modules;
}

/// Modules and target, then what `make` writes of them.
template <typename Function> LogicalResult withModules(Operation *root, Function &&make) {
  llvm::Expected<const cameo::Target *> target = cameo::findTarget(arch);
  if (!target)
    return fail(root, target.takeError());
  FailureOr<SmallVector<gpu::GPUModuleOp>> modules = deviceModules(root);
  if (failed(modules))
    return failure();
  return make(*modules, **target);
}

llvm::Expected<std::string> ptxOf(ArrayRef<gpu::GPUModuleOp> modules, const cameo::Target &target) {
  cameo::PtxOptions options;
  options.libdevice = libdevice;
  options.lineInfo = kernelLineInfo;
  return timed("ptx", [&] { return cameo::emitPtx(modules, target, options); });
}

LogicalResult toPtx(Operation *root, raw_ostream &output) {
  return withModules(root, [&](ArrayRef<gpu::GPUModuleOp> modules, const cameo::Target &target) {
    llvm::Expected<std::string> text = ptxOf(modules, target);
    if (!text)
      return fail(root, text.takeError());
    output << *text;
    return success();
  });
}

/// Assembles all modules in groups of at most `most`, and gives `write` each group's cubin.
LogicalResult assemble(Operation *root, size_t most,
                       function_ref<void(const cameo::Cubin &)> write) {
  return withModules(root, [&](ArrayRef<gpu::GPUModuleOp> modules, const cameo::Target &target) {
    auto assembler = cameo::Assembler::create();
    if (!assembler)
      return fail(root, assembler.takeError());
    do {
      size_t count = std::min(most, modules.size());
      llvm::Expected<std::string> text = ptxOf(modules.take_front(count), target);
      if (!text)
        return fail(root, text.takeError());
      llvm::Expected<cameo::Cubin> cubin =
          timed("ptxas", [&] { return (*assembler)->assemble(*text, target); });
      if (!cubin)
        return fail(root, cubin.takeError());
      write(*cubin);
      modules = modules.drop_front(count);
    } while (!modules.empty());
    return success();
  });
}

LogicalResult toCubin(Operation *root, raw_ostream &output) {
  return assemble(root, SIZE_MAX, [&](const cameo::Cubin &cubin) {
    output.write(cubin.data.data(), cubin.data.size());
  });
}

LogicalResult toResources(Operation *root, raw_ostream &output) {
  // ptxas's time grows faster than the kernels of a text: 727 take 29 s as one, 12 s in groups of 64.
  return assemble(root, 64, [&](const cameo::Cubin &cubin) {
    for (const cameo::KernelResources &kernel : cubin.kernels)
      output << llvm::formatv("{0}: registers {1}, shared {2}, stack {3}, spill stores {4}, "
                              "spill loads {5}, barriers {6}\n",
                              kernel.name, kernel.registers, kernel.sharedBytes, kernel.stackBytes,
                              kernel.spillStoreBytes, kernel.spillLoadBytes, kernel.barriers);
    output << cubin.log;
  });
}

LogicalResult toSimImage(Operation *root, raw_ostream &output) {
  return withModules(root, [&](ArrayRef<gpu::GPUModuleOp> modules, const cameo::Target &target) {
    cameo::SimImageOptions options;
    options.checked = checked;
    options.target = &target;
    if (threadForm)
      options.forms = cameo::SimImageOptions::Forms::Thread;
    llvm::Expected<SmallVector<char>> image =
        timed("sim image", [&] { return cameo::emitSimImage(modules, options); });
    if (!image)
      return fail(root, image.takeError());
    output.write(image->data(), image->size());
    return success();
  });
}

LogicalResult toSimIr(Operation *root, raw_ostream &output) {
  return withModules(root, [&](ArrayRef<gpu::GPUModuleOp> modules, const cameo::Target &) {
    cameo::SimImageOptions options;
    options.checked = checked;
    if (threadForm)
      options.forms = cameo::SimImageOptions::Forms::Thread;
    if (llvm::Error error = cameo::printSimIr(modules, options, output))
      return fail(root, std::move(error));
    return success();
  });
}

void registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                  scf::SCFDialect, vector::VectorDialect, cameo::kernel::KernelDialect,
                  cameo::rt::RtDialect>();
}

} // namespace

void cameo::registerKernelTranslations() {
  static TranslateFromMLIRRegistration ptx("kernel-to-ptx", "kernels to PTX text", toPtx,
                                           registerDialects);
  static TranslateFromMLIRRegistration cubin("kernel-to-cubin", "kernels to a cubin, by ptxas",
                                             toCubin, registerDialects);
  static TranslateFromMLIRRegistration resources(
      "kernel-resources", "what ptxas says kernels take: registers, shared memory, spills",
      toResources, registerDialects);
  static TranslateFromMLIRRegistration sim(
      "kernel-to-sim-image", "kernels to an image for the simulator", toSimImage, registerDialects);
  static TranslateFromMLIRRegistration ir(
      "kernel-to-sim-ir", "kernels to the LLVM IR that an image for the simulator is compiled from",
      toSimIr, registerDialects);
}
