// NVIDIA's GPUs: PTX text, and cubins that ptxas makes of it.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/emit/Backend.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cameo;

static bool wantsNvptx(const TargetVariant &variant) { return variant.ptx || variant.cubin; }

static void populateNvptx(OpPassManager &passes, const BackendPipelineOptions &options) {
  passes.addPass(createReplaceNvvmInstructions());
  // Of one spelling, so that each is looked for once.
  if (options.target)
    passes.addPass(createVerifyTargetInstructions({options.target->name.str()}));
  passes.addPass(createVerifyWgmmaResults());
  // Last, because nobody knows what assembly does, and what is empty does nothing but stand there.
  passes.addPass(createExpandPtx());
  passes.addPass(createFenceAccumulators());
}

/// A kernel with its text and machine code.
struct Compiled {
  size_t variant; // its place in the list
  gpu::GPUModuleOp module;
  std::string text;
  Cubin cubin;
};

/// Kernels of all variants for one target. A kernel's text is assembled by the thread that has made
/// it, while others make more. Without an assembler there is text only.
static llvm::Error compile(MutableArrayRef<Compiled> kernels, const Target &target,
                           Assembler *assembler, const CodeOptions &options, CodeStore &store) {
  SmallVector<gpu::GPUModuleOp> modules;
  for (const Compiled &kernel : kernels)
    modules.push_back(kernel.module);
  KernelCount count(options, "kernels for " + target.name, kernels.size());
  return emitPtx(modules, target, options.ptx, &store, [&](size_t i, StringRef ptx) -> llvm::Error {
    if (options.isCancelled())
      return llvm::createStringError("cancelled while kernels were assembled");
    kernels[i].text = ptx.str();
    if (assembler)
      if (llvm::Error error = assembler->assemble(ptx, target).moveInto(kernels[i].cubin))
        return error;
    count.addOne();
    return llvm::Error::success();
  });
}

/// The sections of a variant, whose kernels these are.
static void addSections(const CodeVariant &variant, MutableArrayRef<Compiled> kernels, Code &code) {
  auto number = uint32_t(kernels.front().variant);
  if (variant.target.ptx) { // with the zero at its end
    std::vector<std::string> texts;
    for (Compiled &kernel : kernels)
      texts.push_back(std::move(kernel.text));
    std::string text = mergePtx(texts);
    code.sections.push_back({number, CAMEO_SECTION_PTX, /*flags=*/0,
                             std::vector<char>(text.c_str(), text.c_str() + text.size() + 1)});
  }
  if (!variant.target.cubin)
    return;
  Assembled said{variant.target.target, {}, {}};
  for (Compiled &kernel : kernels) {
    code.sections.push_back(
        {number, CAMEO_SECTION_CUBIN, /*flags=*/0, std::move(kernel.cubin.data)});
    llvm::append_range(said.kernels, kernel.cubin.kernels);
    said.warnings += kernel.cubin.log;
  }
  code.assembled.push_back(std::move(said));
}

static llvm::Error emitNvptx(ArrayRef<CodeVariant> variants, const CodeOptions &options,
                             CodeStore &store, Code &code) {
  std::unique_ptr<Assembler> assembler;
  if (llvm::any_of(variants, [](const CodeVariant &variant) { return variant.target.cubin; })) {
    llvm::Expected<std::unique_ptr<Assembler>> made = Assembler::create(options.ptx.ptxas, &store);
    if (!made)
      return made.takeError();
    assembler = std::move(*made);
  }
  // Kernels come together by target and by whether there are cubins, because variants that are candidates have a kernel
  // each, which threads share only if they come together.
  llvm::MapVector<std::pair<const Target *, unsigned>, std::vector<Compiled>> compiled;
  for (auto [number, variant] : llvm::enumerate(variants))
    if (wantsNvptx(variant.target))
      for (gpu::GPUModuleOp module : kernelsOf(variant))
        compiled[{variant.target.target, variant.target.cubin}].push_back({number, module, {}, {}});
  for (auto &[target, kernels] : compiled) {
    if (llvm::Error error = compile(kernels, *target.first,
                                    target.second ? assembler.get() : nullptr, options, store))
      return error;
    for (MutableArrayRef<Compiled> rest = kernels; !rest.empty();) {
      size_t number = rest.front().variant;
      auto own = rest.take_while([&](const Compiled &kernel) { return kernel.variant == number; });
      addSections(variants[number], own, code);
      rest = rest.drop_front(own.size());
    }
  }
  return llvm::Error::success();
}

const Backend cameo::nvptxBackend = {"nvptx", "PTX, and cubins by ptxas", wantsNvptx, populateNvptx,
                                     emitNvptx};
