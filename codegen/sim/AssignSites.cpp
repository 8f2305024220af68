// Sites get their numbers, in the order of the text, and the module their table.
//
//   llvm.mlir.constant(0 : i32) {sim.site = "barrier"}    ==>    llvm.mlir.constant(3 : i32)
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "dialects/kernel/Kernel.h"
#include "passes/Statistics.h"

#include "llvm/Support/FormatVariadic.h"

namespace cameo {
#define GEN_PASS_DEF_ASSIGNSITES
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

template <typename Part> static Part firstOf(Location location) {
  Part found;
  location->walk([&](Location part) {
    found = dyn_cast<Part>(part);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

static std::string fileOf(Location location) {
  auto file = firstOf<FileLineColLoc>(location);
  return file ? llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(), file.getLine(),
                              file.getColumn())
                    .str()
              : std::string();
}

namespace {
struct AssignSites : cameo::impl::AssignSitesBase<AssignSites> {
  using AssignSitesBase::AssignSitesBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<Attribute> sites;
    for (LLVM::LLVMFuncOp body : simBodies(getOperation())) {
      auto nodes = declaredAttr<kernel::KernelDialect::NodesAttrHelper>(body);
      body.walk([&](LLVM::ConstantOp constant) {
        auto what = constant->getAttrOfType<StringAttr>(kSimSiteAttr);
        if (!what)
          return;
        auto node = firstOf<NameLoc>(constant.getLoc());
        StringRef name = node ? node.getName().getValue() : nodes ? nodes.getValue() : "";
        constant->removeAttr(kSimSiteAttr);
        constant.setValueAttr(builder.getI32IntegerAttr(first + sites.size()));
        sites.push_back(builder.getStrArrayAttr({name, fileOf(constant.getLoc()), what}));
      });
      body->removeAttr(kernel::KernelDialect::NodesAttrHelper::getNameStr());
    }
    if (sites.empty())
      return;
    getOperation()->setAttr(kSimSitesAttr, builder.getArrayAttr(sites));
    count(&getContext(), getArgument(), "sites", sites.size());
  }
};
} // namespace
