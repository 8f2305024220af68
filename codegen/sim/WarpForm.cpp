// The order of the steps.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/WarpForm.h"

#include "codegen/sim/WarpBranches.h"
#include "codegen/sim/WarpChecks.h"
#include "codegen/sim/WarpMasks.h"
#include "codegen/sim/WarpPrepare.h"
#include "codegen/sim/WarpRewriter.h"

using namespace llvm;
using namespace cameo;

std::string warp::Rewriter::run() {
  if (!divergence.problem().empty())
    return divergence.problem();
  if (std::string problem = checkCollectives(); !problem.empty())
    return problem;
  gatherCopies();
  if (std::string problem = findDivergentRegions(); !problem.empty())
    return problem;
  splitAtCollectives();
  lowerCollectives();
  findConvergentRegions();
  placePhiStores();
  for (auto &region : regions)
    makeLoop(*region);
  for (auto &region : regions)
    connect(*region);
  connectWarpCode();
  finish();
  emitMatrices();
  DenseMap<const BasicBlock *, size_t> order; // of the code
  for (const BasicBlock &block : function)
    order.insert({&block, order.size()});
  llvm::sort(regions, [&](const auto &a, const auto &b) {
    return order.lookup(a->latch) < order.lookup(b->latch);
  });
  for (auto &region : regions)
    versionLoop(*region);
  resolveAddresses();
  return {};
}

Function *cameo::makeWarpForm(Function &thread, const std::array<uint32_t, 3> &block,
                              std::string &problem) {
  WarpWaits waits;
  bool masks = true;
  while (true) {
    Instruction *lane = nullptr;
    Function *function = prepareForWarp(thread, block, waits, lane, problem);
    if (!function)
      return nullptr;
    uniformiseBranches(*function, *lane);
    bool masked = masks && predicateLoops(*function, *lane);
    checkByWarp(*function, *lane);
    warp::Rewriter rewriter(*function, *lane);
    problem = rewriter.run();
    if (problem.empty())
      return function;
    // A wait that the warp cannot do as one: once more, with lanes that wait each for itself. What
    // masks stand in the way of goes without them.
    const Value *apart = waits.original.lookup(rewriter.partedWait());
    function->eraseFromParent();
    if (apart && waits.apart.insert(apart).second)
      continue;
    if (!masked)
      return nullptr;
    masks = false;
  }
}
