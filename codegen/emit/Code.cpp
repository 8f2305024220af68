// Variants ==> plan, PTX, cubin and simulator image sections.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Code.h"

#include "codegen/emit/Plan.h"
#include "codegen/sim/SimImage.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace cameo;

llvm::Expected<std::vector<CodeVariant>> cameo::findVariants(ModuleOp module,
                                                             ArrayRef<TargetVariant> targets) {
  std::vector<CodeVariant> variants;
  for (TargetVariant target : targets) {
    auto ops = module.getOps<rt::VariantOp>();
    auto found = llvm::find_if(
        ops, [&](rt::VariantOp op) { return op.getTarget().getArch() == target.target->name; });
    if (found == ops.end()) {
      std::string held;
      for (rt::VariantOp op : ops)
        held += (held.empty() ? "" : ", ") + op.getTarget().spelling();
      return llvm::createStringError("the input has no variant for " + target.target->name.str() +
                                     "; it has " + (held.empty() ? "none" : held));
    }
    // Estimates are for the board that the list names, else for the one that schedules were for.
    if (!target.boardNamed) {
      llvm::Expected<const Target *> own = findTarget((*found).getTarget());
      if (!own)
        return own.takeError();
      target.target = *own;
    }
    variants.push_back({*found, target});
  }
  return variants;
}

/// A variant whose plan launches nothing (the model only reshapes and copies) gets a kernel that
/// does nothing: the runtime chooses a variant by its code, so there has to be some.
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

static SmallVector<gpu::GPUModuleOp> kernelsOf(const CodeVariant &variant) {
  rt::VariantOp op = variant.op;
  if (op.getOps<gpu::GPUModuleOp>().empty())
    addPlaceholder(op);
  return llvm::to_vector(op.getOps<gpu::GPUModuleOp>());
}

llvm::Expected<std::string> cameo::emitVariantPtx(const CodeVariant &variant,
                                                  const CodeOptions &options) {
  return emitPtx(kernelsOf(variant), *variant.target.target, options.ptx);
}

namespace {

/// Makes the sections of one variant after the other.
class SectionEmitter {
public:
  SectionEmitter(const CodeOptions &options, CodeSections &result)
      : options(options), result(result) {}

  llvm::Error addPlans(const CodeVariant &variant, uint32_t number);
  llvm::Error addGpuCode(const CodeVariant &variant, uint32_t number);
  llvm::Error addSimImages(const CodeVariant &variant, uint32_t number);
  /// Plans come first, then what runs on simulators and as PTX, then cubins.
  void finish();

private:
  void addCubins(const CodeVariant &variant, uint32_t number, std::vector<Cubin> cubins);

  const CodeOptions &options;
  CodeSections &result;
  std::vector<PayloadSection> plans, code, cubinSections;
  std::unique_ptr<Assembler> assembler; // from the first cubin on
};

} // namespace

llvm::Error SectionEmitter::addPlans(const CodeVariant &variant, uint32_t number) {
  for (auto function : rt::VariantOp(variant.op).getOps<func::FuncOp>()) {
    FailureOr<std::vector<char>> plan = emitPlan(function);
    if (failed(plan))
      return llvm::createStringError("no launch plan can be made of @" + function.getName().str());
    plans.push_back({CAMEO_SECTION_PLAN, number, 0, 0, std::move(*plan)});
  }
  return llvm::Error::success();
}

/// A kernel's text is assembled by the thread that has made it, while others make more.
llvm::Error SectionEmitter::addGpuCode(const CodeVariant &variant, uint32_t number) {
  const Target &target = *variant.target.target;
  if (!variant.target.ptx && !variant.target.cubin)
    return llvm::Error::success();
  if (variant.target.cubin && !assembler) {
    llvm::Expected<std::unique_ptr<Assembler>> made = Assembler::create(options.assemble);
    if (!made)
      return made.takeError();
    assembler = std::move(*made);
  }
  SmallVector<gpu::GPUModuleOp> modules = kernelsOf(variant);
  std::vector<std::string> texts(modules.size());
  std::vector<Cubin> cubins(modules.size());
  llvm::Error error =
      emitPtx(modules, target, options.ptx, [&](size_t i, StringRef ptx) -> llvm::Error {
        texts[i] = ptx.str();
        if (!variant.target.cubin)
          return llvm::Error::success();
        llvm::Expected<Cubin> cubin = assembler->assemble(ptx, target);
        if (!cubin)
          return cubin.takeError();
        cubins[i] = std::move(*cubin);
        return llvm::Error::success();
      });
  if (error)
    return error;
  if (variant.target.ptx) {
    std::string text = mergePtx(texts);
    code.push_back({CAMEO_SECTION_PTX, number, target.archNumber(), 0,
                    std::vector<char>(text.c_str(), text.c_str() + text.size() + 1)});
  }
  if (variant.target.cubin)
    addCubins(variant, number, std::move(cubins));
  return llvm::Error::success();
}

void SectionEmitter::addCubins(const CodeVariant &variant, uint32_t number,
                               std::vector<Cubin> cubins) {
  const Target &target = *variant.target.target;
  Assembled said{&target, {}, {}};
  for (Cubin &cubin : cubins) {
    cubinSections.push_back(
        {CAMEO_SECTION_CUBIN, number, target.archNumber(), 0, std::move(cubin.data)});
    llvm::append_range(said.kernels, cubin.kernels);
    said.warnings += cubin.log;
  }
  result.assembled.push_back(std::move(said));
}

llvm::Error SectionEmitter::addSimImages(const CodeVariant &variant, uint32_t number) {
  for (bool checked : {false, true}) {
    if (!variant.target.sim || (checked && !options.simChecks && !options.simTrace))
      continue;
    SimImageOptions imageOptions;
    imageOptions.checked = checked;
    imageOptions.traced = checked && options.simTrace;
    imageOptions.target = variant.target.target;
    imageOptions.forms = options.simForms;
    imageOptions.remarks = options.remarks;
    llvm::Expected<SmallVector<char>> image = emitSimImage(kernelsOf(variant), imageOptions);
    if (!image)
      return image.takeError();
    code.push_back({CAMEO_SECTION_SIM_IMAGE, number, variant.target.target->archNumber(),
                    checked ? CAMEO_SIM_IMAGE_CHECKED : 0,
                    std::vector<char>(image->begin(), image->end())});
  }
  return llvm::Error::success();
}

void SectionEmitter::finish() {
  for (std::vector<PayloadSection> *part : {&plans, &code, &cubinSections})
    result.sections.insert(result.sections.end(), std::make_move_iterator(part->begin()),
                           std::make_move_iterator(part->end()));
  if (assembler)
    result.messages = assembler->finish();
}

llvm::Expected<CodeSections> cameo::emitSections(ArrayRef<CodeVariant> variants,
                                                 const CodeOptions &options) {
  CodeSections result;
  SectionEmitter emitter(options, result);
  for (auto [i, variant] : llvm::enumerate(variants)) {
    if (llvm::Error error = emitter.addPlans(variant, i))
      return std::move(error);
    if (llvm::Error error = emitter.addGpuCode(variant, i))
      return std::move(error);
    if (llvm::Error error = emitter.addSimImages(variant, i))
      return std::move(error);
  }
  emitter.finish();
  return result;
}
