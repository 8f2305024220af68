// llvm.func @k(%p: !llvm.ptr<1>, %n: i32)    ==>    llvm.func @k(%thread, %args) loads both and
//                                                   calls @k$body(%thread, %p, %n), inlined
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/sim/SimContext.h"
#include "dialects/kernel/Kernel.h"
#include "passes/Statistics.h"

namespace cameo {
#define GEN_PASS_DEF_SPLITSIMKERNELS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

/// Gives `kernel` the name and the attributes of a body, with the thread in front of its
/// parameters. The inliner keeps what `noalias` says of them; a plain load of them would not.
static void becomeBody(LLVM::LLVMFuncOp kernel) {
  OpBuilder builder(kernel.getContext());
  auto ptr = LLVM::LLVMPointerType::get(kernel.getContext());
  SmallVector<Type> parameters{ptr};
  SmallVector<Attribute> attributes{builder.getDictionaryAttr({})};
  StringRef noalias = LLVM::LLVMDialect::getNoAliasAttrName();
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    parameters.push_back(kernel.getArgument(i).getType());
    NamedAttrList kept;
    if (kernel.getArgAttr(i, noalias))
      kept.append(noalias, builder.getUnitAttr());
    attributes.push_back(kept.getDictionary(builder.getContext()));
  }
  auto entry = FlatSymbolRefAttr::get(kernel.getSymNameAttr());
  kernel.setName((kernel.getName() + "$body").str());
  kernel.getBody().insertArgument(0u, ptr, kernel.getLoc());
  kernel.setFunctionType(
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(kernel.getContext()), parameters));
  kernel.setArgAttrsAttr(builder.getArrayAttr(attributes));
  kernel.setLinkage(LLVM::Linkage::Internal);
  kernel.setAlwaysInline(true);
  for (NamedAttribute attr : llvm::to_vector(kernel->getDiscardableAttrs()))
    if (attr.getName() !=
        kernel::KernelDialect::NodesAttrHelper::getNameStr()) // of which sites tell
      kernel->removeAttr(attr.getName());
  kernel->setAttr(kSimBodyAttr, entry);
}

static void split(LLVM::LLVMFuncOp kernel) {
  Location loc = kernel.getLoc();
  std::string name = kernel.getName().str();
  SmallVector<NamedAttribute> facts;
  for (NamedAttribute attr : kernel->getDiscardableAttrs())
    if (attr.getName().strref().starts_with("sim."))
      facts.push_back(attr);
  uint32_t maps = 0;
  if (auto known = kernel->getAttrOfType<IntegerAttr>(kSimMapsAttr))
    maps = known.getInt();
  becomeBody(kernel);

  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(kernel);
  auto ptr = LLVM::LLVMPointerType::get(kernel.getContext());
  auto entry = builder.create<LLVM::LLVMFuncOp>(
      loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(kernel.getContext()), {ptr, ptr}));
  for (NamedAttribute fact : facts)
    entry->setAttr(fact.getName(), fact.getValue());
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  SimContext context(entry);
  context.builder = builder;
  SmallVector<Value> operands{entry.getArgument(0)};
  for (unsigned i = 1; i < kernel.getNumArguments(); ++i) {
    Value place = context.at(loc, entry.getArgument(1), sizeof(void *) * (i - 1));
    Value slot = context.loadInvariant(ptr, place);
    bool isMap = i <= 32 && maps >> (i - 1) & 1;
    operands.push_back(isMap ? slot : context.loadInvariant(kernel.getArgument(i).getType(), slot));
  }
  context.builder.create<LLVM::CallOp>(loc, kernel, operands);
  context.builder.create<LLVM::ReturnOp>(loc, ValueRange());
}

namespace {
struct SplitSimKernels : cameo::impl::SplitSimKernelsBase<SplitSimKernels> {
  using SplitSimKernelsBase::SplitSimKernelsBase;

  void runOnOperation() override {
    for (LLVM::LLVMFuncOp kernel : simKernels(getOperation()))
      // Entries have nothing to be split off.
      if (kernel->hasAttr(kSimBlockAttr) && !isSplit(kernel)) {
        split(kernel);
        count(&getContext(), getArgument(), "kernels");
      }
  }

  static bool isSplit(LLVM::LLVMFuncOp kernel) {
    return SymbolTable::lookupSymbolIn(moduleOf(kernel), (kernel.getName() + "$body").str());
  }
};
} // namespace
