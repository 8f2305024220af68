// The pass behind each stage: does the module have its form?
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/Pipeline.h"

namespace cameo {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {

struct VerifyStage : cameo::impl::VerifyStageBase<VerifyStage> {
  using VerifyStageBase::VerifyStageBase;

  void runOnOperation() override {
    llvm::Expected<Stage> known = findStage(stage);
    if (!known) {
      emitError(getOperation().getLoc()) << llvm::toString(known.takeError());
      return signalPassFailure();
    }
    auto verify = stages()[static_cast<unsigned>(*known)].verify;
    if (verify && failed(verify(getOperation(), strict)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
