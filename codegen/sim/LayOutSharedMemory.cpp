// llvm.mlir.addressof @tile    ==>    thread->shared + offset
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/lower/DevicePatterns.h"
#include "codegen/sim/SimContext.h"
#include "passes/Statistics.h"

#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace cameo {
#define GEN_PASS_DEF_LAYOUTSHAREDMEMORY
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

/// Dynamic shared memory follows the static, aligned to this (abi.h).
static constexpr uint64_t kDynamicSharedAlignment = 1024;

namespace {

struct LayOutSharedMemory : cameo::impl::LayOutSharedMemoryBase<LayOutSharedMemory> {
  using LayOutSharedMemoryBase::LayOutSharedMemoryBase;

  void runOnOperation() override {
    for (LLVM::LLVMFuncOp body : simBodies(getOperation()))
      layOut(body);
    for (auto global : llvm::to_vector(getOperation()->getRegion(0).getOps<LLVM::GlobalOp>()))
      if (global.getAddrSpace() == kShared) {
        global.erase();
        count(&getContext(), getArgument(), "variables");
      }
  }

private:
  static LLVM::GlobalOp sharedOf(LLVM::AddressOfOp address, Operation *module) {
    auto global = dyn_cast_or_null<LLVM::GlobalOp>(
        SymbolTable::lookupSymbolIn(module, address.getGlobalName()));
    return global && global.getAddrSpace() == kShared ? global : LLVM::GlobalOp();
  }

  /// Gives every shared variable that the body uses its place in the block's window.
  static void layOut(LLVM::LLVMFuncOp body) {
    Operation *module = moduleOf(body);
    SmallVector<LLVM::AddressOfOp> addresses;
    llvm::DenseMap<Operation *, uint64_t> offsets;
    SmallVector<LLVM::GlobalOp> dynamic;
    uint64_t size = 0;
    body.walk([&](LLVM::AddressOfOp address) {
      LLVM::GlobalOp global = sharedOf(address, module);
      if (!global)
        return;
      addresses.push_back(address);
      if (address.use_empty() || offsets.count(global))
        return;
      if (global.getLinkage() == LLVM::Linkage::External) {
        dynamic.push_back(global);
        offsets[global] = 0;
        return;
      }
      size = llvm::alignTo(size, global.getAlignment().value_or(kPointerAlignment));
      offsets[global] = size;
      size += DataLayout::closest(body).getTypeSize(global.getType());
    });
    for (LLVM::GlobalOp global : dynamic)
      offsets[global] = llvm::alignTo(size, kDynamicSharedAlignment);
    SimContext context(body);
    entryOf(body)->setAttr(kSimSharedAttr, context.builder.getI32IntegerAttr(size));
    for (LLVM::AddressOfOp address : addresses) {
      context.builder.setInsertionPoint(address);
      Location loc = address.getLoc();
      Value window = context.member(context.ptr, offsetof(CameoSimThread, shared));
      Value place = context.at(loc, window, offsets.lookup(sharedOf(address, module)));
      // The address space stays until accesses are instrumented.
      context.replace(
          address,
          context.builder.create<LLVM::AddrSpaceCastOp>(loc, address.getType(), place).getResult());
    }
  }
};

} // namespace
