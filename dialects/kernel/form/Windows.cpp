// Recognising windows in descriptions.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Windows.h"

using namespace mlir;

namespace cameo {

std::optional<Windows> matchWindows(const Computation &computation) {
  if (!computation.root)
    return std::nullopt;
  auto generic = computation.root.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return std::nullopt;
  Windows windows;
  windows.epilogues = computation.epilogues;
  windows.generic = generic;
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  if (!out.isProjectedPermutation() || out.getNumResults() == 0 ||
      out.getNumResults() != generic.getNumParallelLoops())
    return std::nullopt;
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  windows.across = cast<AffineDimExpr>(out.getResults().back()).getPosition();
  generic.getReductionDims(windows.reductions);
  windows.taps = windows.reductions.back();
  windows.width = ranges[windows.across];
  windows.count = ranges[windows.taps];
  if (ShapedType::isDynamic(windows.count) || windows.count > kLargestWindow)
    return std::nullopt;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType()))
      continue;
    Access slid = accessOf(input->get(), generic.getMatchingIndexingMap(input), ranges);
    AffineMap map = slid.map;
    std::optional<SmallVector<int64_t>> last;
    if (map.getNumResults() != 0)
      last = factorsOf(map, map.getNumResults() - 1);
    if (!last)
      continue;
    windows.stride = (*last)[windows.across];
    windows.dilation = (*last)[windows.taps];
    (*last)[windows.across] = (*last)[windows.taps] = 0;
    bool others = llvm::any_of(*last, [](int64_t factor) { return factor != 0; });
    for (AffineExpr expr : map.getResults().drop_back())
      others |= expr.isFunctionOfDim(windows.across) || expr.isFunctionOfDim(windows.taps);
    if (others || windows.stride <= 0 || windows.dilation <= 0)
      continue;
    windows.input = input->getOperandNumber();
    windows.slid = slid;
    return windows;
  }
  return std::nullopt;
}

} // namespace cameo
