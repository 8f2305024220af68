// ExpandTiles: tile operations ==> what each thread does. See Passes.td. Here: the pass, and
// control flow, where a fragment becomes as many values as a thread has of it:
//
//   %f = scf.for ... iter_args(%a = %init) -> !kernel.fragment<...>
//   ==>
//   %f:4 = scf.for ... iter_args(%a0 = %init0, ..., %a3 = %init3) -> vector<4xf32>, ...
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/lower/tile/TileExpander.h"
#include "dialects/kernel/Kernel.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cameo;

namespace cameo {
#define GEN_PASS_DEF_EXPANDTILES
#include "codegen/Passes.h.inc"
} // namespace cameo

static bool isFragment(Type type) { return isa<kernel::FragmentType>(type); }

static bool isTileOp(Operation *op) {
  return isa<kernel::AllocTileOp, kernel::LoadGlobalOp, kernel::MapFragmentOp, kernel::WriteTileOp,
             kernel::CopyAsyncOp, kernel::CommitCopiesOp, kernel::WaitCopiesOp,
             kernel::LoadFragmentOp, kernel::FillFragmentOp, kernel::ContractOp,
             kernel::SliceFragmentOp, kernel::ReduceRowsOp, kernel::StoreFragmentOp>(op);
}

//===-- Fragments in control flow -----------------------------------------------------------===//

FailureOr<TileExpander::Values> TileExpander::flatten(Operation *op, ValueRange values) {
  Values flat;
  for (Value value : values) {
    if (!isFragment(value.getType())) {
      flat.push_back(value);
      continue;
    }
    auto known = fragments.find(value);
    if (known == fragments.end())
      return op->emitOpError("takes a fragment that no tile operation of this kernel made");
    flat.append(known->second);
  }
  return flat;
}

FailureOr<SmallVector<Type>> TileExpander::flatten(Operation *op, TypeRange types) {
  SmallVector<Type> flat;
  for (Type type : types) {
    auto fragment = dyn_cast<kernel::FragmentType>(type);
    if (!fragment) {
      flat.push_back(type);
      continue;
    }
    FailureOr<const kernel::Spread *> spread = spreadOf(op, fragment);
    if (failed(spread))
      return failure();
    flat.append((*spread)->values.size(), valueType(fragment));
  }
  return flat;
}

/// Lets `to`, the flat form of `from`, take its place.
void TileExpander::mapResults(ValueRange from, ValueRange to) {
  size_t next = 0;
  for (Value value : from) {
    auto fragment = dyn_cast<kernel::FragmentType>(value.getType());
    if (!fragment) {
      value.replaceAllUsesWith(to[next++]);
      continue;
    }
    size_t count = spreadOf(fragment).values.size();
    ValueRange part = to.slice(next, count);
    fragments[value].assign(part.begin(), part.end());
    next += count;
  }
}

LogicalResult TileExpander::expandFor(scf::ForOp loop) {
  FailureOr<Values> inits = flatten(loop, loop.getInitArgs());
  FailureOr<SmallVector<Type>> types = flatten(loop, loop.getInitArgs().getTypes());
  if (failed(inits) || failed(types))
    return failure();
  OpBuilder builder(loop);
  auto flat = builder.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                         loop.getStep(), *inits,
                                         // With a body builder no terminator is made.
                                         [](OpBuilder &, Location, Value, ValueRange) {});
  flat->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  flat.getBody()->getOperations().splice(flat.getBody()->end(), loop.getBody()->getOperations());
  loop.getInductionVar().replaceAllUsesWith(flat.getInductionVar());
  mapResults(loop.getRegionIterArgs(), flat.getRegionIterArgs());
  mapResults(loop.getResults(), flat.getResults());
  expanded.push_back(loop);
  return expandBlock(*flat.getBody());
}

LogicalResult TileExpander::expandIf(scf::IfOp branch) {
  FailureOr<SmallVector<Type>> types = flatten(branch, branch.getResultTypes());
  if (failed(types))
    return failure();
  OpBuilder builder(branch);
  auto flat = builder.create<scf::IfOp>(branch.getLoc(), *types, branch.getCondition(),
                                        /*addThenBlock=*/false, /*addElseBlock=*/false);
  flat->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  flat.getThenRegion().takeBody(branch.getThenRegion());
  flat.getElseRegion().takeBody(branch.getElseRegion());
  mapResults(branch.getResults(), flat.getResults());
  expanded.push_back(branch);
  return failure(failed(expandBlock(flat.getThenRegion().front())) ||
                 failed(expandBlock(flat.getElseRegion().front())));
}

LogicalResult TileExpander::expandYield(Operation *op) {
  FailureOr<Values> values = flatten(op, op->getOperands());
  if (failed(values))
    return failure();
  op->setOperands(*values);
  return success();
}

LogicalResult TileExpander::expandBlock(Block &block) {
  auto instruction = [](Operation *op, const Twine &text) {
    OpBuilder(op).create<kernel::PtxOp>(op->getLoc(), TypeRange(), text.str(), ValueRange());
    return success();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool hasFragments = llvm::any_of(op.getOperandTypes(), isFragment) ||
                        llvm::any_of(op.getResultTypes(), isFragment);
    if (isa<kernel::AllocTileOp>(op))
      continue; // has its memory
    if (isTileOp(&op)) {
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(&op)
              .Case<kernel::LoadGlobalOp, kernel::MapFragmentOp, kernel::WriteTileOp,
                    kernel::CopyAsyncOp, kernel::LoadFragmentOp, kernel::FillFragmentOp,
                    kernel::ContractOp, kernel::SliceFragmentOp, kernel::ReduceRowsOp,
                    kernel::StoreFragmentOp>([&](auto tileOp) { return expand(tileOp); })
              .Case(
                  [&](kernel::CommitCopiesOp) { return instruction(&op, "cp.async.commit_group"); })
              .Case([&](kernel::WaitCopiesOp wait) {
                return instruction(&op, "cp.async.wait_group " + Twine(wait.getPending()));
              });
      if (failed(result))
        return failure();
      expanded.push_back(&op);
    } else if (hasFragments) {
      bool inStructure = isa<scf::ForOp, scf::IfOp>(op.getParentOp());
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(&op)
              .Case([&](scf::ForOp loop) { return expandFor(loop); })
              .Case([&](scf::IfOp branch) { return expandIf(branch); })
              .Default([&](Operation *op) -> LogicalResult {
                return isa<scf::YieldOp>(op) && inStructure
                           ? expandYield(op)
                           : op->emitOpError(
                                 "cannot take a fragment; only scf.for and scf.if pass it on");
              });
      if (failed(result))
        return failure();
    } else {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (failed(expandBlock(inner)))
            return failure();
    }
  }
  return success();
}

LogicalResult TileExpander::expand() {
  if (failed(placeTiles()))
    return failure();
  for (Block &block : function.getBody())
    if (failed(expandBlock(block)))
      return failure();
  for (Operation *op : llvm::reverse(expanded))
    op->erase();
  return success();
}

//===-- The pass ----------------------------------------------------------------------------===//

namespace {

struct ExpandTiles : cameo::impl::ExpandTilesBase<ExpandTiles> {
  using ExpandTilesBase::ExpandTilesBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (failed(expandKernel(kernel)))
        return signalPassFailure();
    WalkResult left = getOperation().walk([](Operation *op) {
      if (!isTileOp(op))
        return WalkResult::advance();
      op->emitOpError("can stand only in the body of a kernel");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult expandKernel(gpu::GPUFuncOp kernel) {
    bool tiled = kernel
                     .walk([](Operation *op) {
                       return isTileOp(op) ? WalkResult::interrupt() : WalkResult::advance();
                     })
                     .wasInterrupted();
    if (!tiled)
      return success();
    auto block = declaredAttr<kernel::KernelDialect::BlockAttrHelper>(kernel);
    if (!block || block.size() != 3 || block[0] < 1 || block[1] != 1 || block[2] != 1)
      return kernel.emitOpError(
          "has tile operations and needs a kernel.block of one dimension, such as "
          "array<i32: 256, 1, 1>");
    count(&getContext(), getArgument(), "kernels");
    return TileExpander(kernel, block[0]).expand();
  }
};

} // namespace
