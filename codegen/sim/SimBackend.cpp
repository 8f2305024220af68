// The simulated GPU: images for its engine (runtime/sim).
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Backend.h"
#include "codegen/sim/SimImage.h"

using namespace mlir;
using namespace cameo;

static bool wantsSim(const TargetVariant &variant) { return variant.sim; }

static llvm::Error emitImage(const CodeVariant &variant, uint32_t number, bool checked,
                             const CodeOptions &options, CodeStore &store, Code &code) {
  SimImageOptions image;
  image.checked = checked;
  image.traced = checked && options.simTrace;
  image.target = variant.target.target;
  image.forms = options.simForms;
  image.quick = options.simQuick;
  image.remarks = options.remarks;
  image.cancelled = options.cancelled;
  SmallVector<gpu::GPUModuleOp> kernels = kernelsOf(variant);
  KernelCount count(options,
                    "kernels for sim:" + variant.target.target->name + (checked ? ", checked" : ""),
                    kernels.size());
  image.count = &count;
  llvm::Expected<SmallVector<char>> bytes = emitSimImage(kernels, image, &store);
  if (!bytes)
    return bytes.takeError();
  code.sections.push_back({number, CAMEO_SECTION_SIM_IMAGE,
                           checked ? uint32_t(CAMEO_SIM_IMAGE_CHECKED) : 0,
                           std::vector<char>(bytes->begin(), bytes->end())});
  return llvm::Error::success();
}

static llvm::Error emitSim(ArrayRef<CodeVariant> variants, const CodeOptions &options,
                           CodeStore &store, Code &code) {
  bool hasChecks = options.simChecks || options.simTrace || options.simChecksOnly;
  for (auto [number, variant] : llvm::enumerate(variants))
    for (bool checked : {false, true})
      if (wantsSim(variant.target) && (checked ? hasChecks : !options.simChecksOnly))
        if (llvm::Error error = emitImage(variant, number, checked, options, store, code))
          return error;
  return llvm::Error::success();
}

const Backend cameo::simBackend = {"sim", "images for the simulator", wantsSim, populateSimImage,
                                   emitSim};
