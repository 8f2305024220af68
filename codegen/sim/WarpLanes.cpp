// The order in which the loops over lanes are made.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimPasses.h"
#include "codegen/sim/WarpRewriter.h"

using namespace llvm;
using namespace cameo;

std::string warp::Rewriter::run() {
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
  nameRows();
  return {};
}

bool LoopOverLanesPass::rewrite(Function &function, FunctionAnalysisManager &analyses) {
  Instruction *lane = laneOf(function);
  if (!lane)
    return false;
  auto &divergence = analyses.getResult<DivergenceAnalysis>(function);
  if (!divergence.problem().empty())
    return false;
  if (std::string problem = warp::Rewriter(function, *lane, divergence).run(); !problem.empty())
    setWarpProblem(function, problem);
  return true;
}
