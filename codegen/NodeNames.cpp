// Locations ==> names of ONNX nodes.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/NodeNames.h"
#include "dialects/kernel/Kernel.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

void cameo::collectNodeNames(Location location, llvm::SetVector<StringRef> &names) {
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName().getValue());
    return WalkResult::advance();
  });
}

std::string cameo::nodeNames(Location location) {
  llvm::SetVector<StringRef> names;
  collectNodeNames(location, names);
  return llvm::join(names, ",");
}

Operation *cameo::kernelOf(rt::LaunchOp launch) {
  return SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr());
}

std::string cameo::kernelNodes(Operation *kernel) {
  auto nodes = kernel ? declaredAttr<kernel::KernelDialect::NodesAttrHelper>(kernel) : StringAttr();
  return nodes ? nodes.getValue().str() : "";
}

std::string cameo::launchNodes(rt::LaunchOp launch) {
  std::string nodes = nodeNames(launch.getLoc());
  return nodes.empty() ? kernelNodes(kernelOf(launch)) : nodes;
}
