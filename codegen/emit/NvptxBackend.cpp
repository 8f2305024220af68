// NVIDIA's GPUs: PTX text, and cubins that ptxas makes of it.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/emit/Backend.h"

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

/// A kernel's text is assembled by the thread that has made it, while others make more. Without an
/// assembler there is text only.
static llvm::Error emitVariant(const CodeVariant &variant, uint32_t number, Assembler *assembler,
                               const CodeOptions &options, Code &code) {
  const Target &target = *variant.target.target;
  SmallVector<gpu::GPUModuleOp> modules = kernelsOf(variant);
  std::vector<std::string> texts(modules.size());
  std::vector<Cubin> cubins(modules.size());
  llvm::Error error =
      emitPtx(modules, target, options.ptx, [&](size_t i, StringRef ptx) -> llvm::Error {
        if (options.isCancelled())
          return llvm::createStringError("cancelled while kernels were assembled");
        texts[i] = ptx.str();
        if (!assembler)
          return llvm::Error::success();
        llvm::Expected<Cubin> cubin = assembler->assemble(ptx, target);
        if (!cubin)
          return cubin.takeError();
        cubins[i] = std::move(*cubin);
        return llvm::Error::success();
      });
  if (error)
    return error;
  if (variant.target.ptx) { // with the zero at its end
    std::string text = mergePtx(texts);
    code.sections.push_back({number, CAMEO_SECTION_PTX, /*flags=*/0,
                             std::vector<char>(text.c_str(), text.c_str() + text.size() + 1)});
  }
  if (!assembler)
    return llvm::Error::success();
  Assembled said{&target, {}, {}};
  for (Cubin &cubin : cubins) {
    code.sections.push_back({number, CAMEO_SECTION_CUBIN, /*flags=*/0, std::move(cubin.data)});
    llvm::append_range(said.kernels, cubin.kernels);
    said.warnings += cubin.log;
  }
  code.assembled.push_back(std::move(said));
  return llvm::Error::success();
}

static llvm::Error emitNvptx(ArrayRef<CodeVariant> variants, const CodeOptions &options,
                             Code &code) {
  std::unique_ptr<Assembler> assembler;
  if (llvm::any_of(variants, [](const CodeVariant &variant) { return variant.target.cubin; })) {
    llvm::Expected<std::unique_ptr<Assembler>> made = Assembler::create(options.assemble);
    if (!made)
      return made.takeError();
    assembler = std::move(*made);
  }
  for (auto [number, variant] : llvm::enumerate(variants))
    if (wantsNvptx(variant.target))
      if (llvm::Error error = emitVariant(
              variant, number, variant.target.cubin ? assembler.get() : nullptr, options, code))
        return error;
  if (assembler)
    code.messages = assembler->finish();
  return llvm::Error::success();
}

const Backend cameo::nvptxBackend = {"nvptx", "PTX, and cubins by ptxas", wantsNvptx, populateNvptx,
                                     emitNvptx};
