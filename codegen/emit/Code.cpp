// Variants ==> plan, PTX, cubin and simulator image sections.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Code.h"

#include "codegen/emit/Plan.h"

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

llvm::Expected<std::string> cameo::emitVariantPtx(const CodeVariant &variant,
                                                  const CodeOptions &options) {
  return emitPtx(kernelsOf(variant), *variant.target.target, options.ptx);
}

llvm::Expected<CodeSections> cameo::emitSections(ArrayRef<CodeVariant> variants,
                                                 const CodeOptions &options) {
  CodeSections result;
  for (auto [i, variant] : llvm::enumerate(variants))
    for (auto function : rt::VariantOp(variant.op).getOps<func::FuncOp>()) {
      FailureOr<std::vector<char>> plan = emitPlan(function);
      if (failed(plan))
        return llvm::createStringError("no launch plan can be made of @" +
                                       function.getName().str());
      result.sections.push_back({CAMEO_SECTION_PLAN, uint32_t(i), 0, 0, std::move(*plan)});
    }
  Code code;
  CodeStore store(options.cache);
  for (const Backend &backend : backends())
    if (llvm::Error error = backend.emit(variants, options, store, code))
      return std::move(error);
  // Cubins last, of which there are many.
  llvm::stable_sort(code.sections, [](const CodeSection &a, const CodeSection &b) {
    return std::pair(a.kind == CAMEO_SECTION_CUBIN, a.variant) <
           std::pair(b.kind == CAMEO_SECTION_CUBIN, b.variant);
  });
  for (CodeSection &section : code.sections)
    result.sections.push_back({section.kind, section.variant,
                               variants[section.variant].target.target->archNumber(), section.flags,
                               std::move(section.bytes)});
  result.assembled = std::move(code.assembled);
  result.messages = store.finish();
  return result;
}
