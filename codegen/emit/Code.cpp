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
    auto found = llvm::find_if(ops, [&](rt::VariantOp op) {
      return op.getTarget().split(':').first == target.target->name;
    });
    if (found == ops.end()) {
      std::string held;
      for (rt::VariantOp op : ops)
        held += (held.empty() ? "" : ", ") + op.getTarget().str();
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

llvm::Expected<std::vector<PayloadSection>> cameo::emitSections(ArrayRef<CodeVariant> variants,
                                                                const CodeOptions &options,
                                                                std::vector<Assembled> &assembled) {
  std::vector<PayloadSection> plans, code;
  std::vector<std::string> texts(variants.size());
  std::vector<AssembleJob> jobs;
  std::vector<uint32_t> jobVariants;
  for (auto [i, variant] : llvm::enumerate(variants)) {
    const uint32_t number = i, arch = variant.target.target->archNumber();
    for (auto function : rt::VariantOp(variant.op).getOps<func::FuncOp>()) {
      FailureOr<std::vector<char>> plan = emitPlan(function);
      if (failed(plan))
        return llvm::createStringError("no launch plan can be made of @" +
                                       function.getName().str());
      plans.push_back({CAMEO_SECTION_PLAN, number, 0, 0, std::move(*plan)});
    }
    if (variant.target.ptx || variant.target.cubin) {
      llvm::Expected<std::string> text = emitVariantPtx(variant, options);
      if (!text)
        return text.takeError();
      texts[i] = std::move(*text);
      if (variant.target.cubin) {
        jobs.push_back({texts[i], variant.target.target});
        jobVariants.push_back(number);
      }
      if (variant.target.ptx)
        code.push_back(
            {CAMEO_SECTION_PTX, number, arch, 0,
             std::vector<char>(texts[i].c_str(), texts[i].c_str() + texts[i].size() + 1)});
    }
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
      code.push_back({CAMEO_SECTION_SIM_IMAGE, number, arch, checked ? CAMEO_SIM_IMAGE_CHECKED : 0,
                      std::vector<char>(image->begin(), image->end())});
    }
  }
  if (!jobs.empty()) {
    llvm::Expected<std::vector<Cubin>> cubins = assemblePtx(jobs, options.assemble);
    if (!cubins)
      return cubins.takeError();
    for (auto [cubin, job, number] : llvm::zip(*cubins, jobs, jobVariants)) {
      code.push_back(
          {CAMEO_SECTION_CUBIN, number, job.target->archNumber(), 0, std::move(cubin.data)});
      assembled.push_back({job.target, std::move(cubin.kernels), std::move(cubin.log)});
    }
  }
  plans.insert(plans.end(), std::make_move_iterator(code.begin()),
               std::make_move_iterator(code.end()));
  return plans;
}
