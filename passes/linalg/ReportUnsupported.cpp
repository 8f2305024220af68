// Reports everything in a model that cannot be compiled, before anything of it is changed.
//
// The lowerings know what they support, so the pass lowers the function into a module that it
// throws away. A node that is refused is stood in for by its declared shape, so that those behind
// it are looked at, too; without such a shape they are looked at as far as operators and types go.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/RefusalReport.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_REPORTUNSUPPORTED
#include "passes/Passes.h.inc"

namespace {
struct ReportUnsupported : impl::ReportUnsupportedBase<ReportUnsupported> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(getOperation().getLoc());
    if (failed(Lowering(*scratch).checkFunction(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace cameo
