// Recognising windows in descriptions.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Windows.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo {

/// Whether no index but that of `dim` depends on the loop.
static bool isOnlyIn(AffineMap map, unsigned dim, unsigned loop) {
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (i != dim && map.getResult(i).isFunctionOfDim(loop))
      return false;
  return true;
}

/// Sets what says how windows slide along `dim` of an input, `across` and `taps` being known.
static bool slidesAlong(Windows &windows, AffineMap map, unsigned dim) {
  std::optional<SmallVector<int64_t>> factors = factorsOf(map, dim);
  if (!factors)
    return false;
  windows.dim = dim;
  windows.stride = std::exchange((*factors)[windows.across], 0);
  windows.dilation = std::exchange((*factors)[windows.taps], 0);
  return windows.stride > 0 && windows.dilation > 0 &&
         llvm::all_of(*factors, [](int64_t factor) { return factor == 0; }) &&
         isOnlyIn(map, dim, windows.across) && isOnlyIn(map, dim, windows.taps);
}

/// The last dimension of more than one element; nothing where there is none.
static std::optional<unsigned> innermost(ArrayRef<int64_t> shape) {
  for (size_t dim = shape.size(); dim-- > 0;)
    if (shape[dim] != 1)
      return dim;
  return std::nullopt;
}

/// The loop along which elements of memory that is read are neighbours, if it is that alone.
static std::optional<unsigned> innermostLoop(const Access &slid) {
  auto type = dyn_cast<RankedTensorType>(slid.source.getType());
  std::optional<unsigned> last = type ? innermost(type.getShape()) : std::nullopt;
  AffineExpr expr = last ? slid.place().getResult(*last) : AffineExpr();
  auto loop = dyn_cast_or_null<AffineDimExpr>(expr);
  return loop ? std::optional(loop.getPosition()) : std::nullopt;
}

/// The same where windows slide along another dimension than `beside`, the input's innermost loop,
/// along which it must not be padded.
static bool slidesBeside(Windows &windows, unsigned beside, ArrayRef<int64_t> ranges) {
  const Access &slid = windows.slid;
  AffineMap map = slid.map,
            out = windows.generic.getMatchingIndexingMap(windows.generic.getDpsInitOperand(0));
  AffineExpr loop = getAffineDimExpr(beside, map.getContext());
  std::optional<unsigned> last = map.getResultPosition(loop);
  if (!last || !out.getResultPosition(loop) || !isOnlyIn(map, *last, beside))
    return false;
  auto isZero = [&](OpFoldResult amount) { return isConstantIntValue(amount, 0); };
  if (tensor::PadOp pad = slid.pad;
      pad && !(isZero(pad.getMixedLowPad()[*last]) && isZero(pad.getMixedHighPad()[*last])))
    return false;
  for (unsigned dim = map.getNumResults(); dim-- > 0;)
    for (AffineExpr expr : out.getResults()) {
      windows.across = cast<AffineDimExpr>(expr).getPosition();
      // Of what is padded by so much as a run tells, elements are read as they come.
      tensor::PadOp pad = slid.pad;
      if (pad && !getConstantIntValue(pad.getMixedLowPad()[dim]) &&
          last != innermost(cast<RankedTensorType>(slid.tensor.getType()).getShape()))
        continue;
      // A window that goes nowhere is a reduction of rows.
      if (dim == *last || ranges[windows.across] == 1 || !slidesAlong(windows, map, dim))
        continue;
      windows.beside = beside;
      windows.extent = ranges[beside];
      return true;
    }
  return false;
}

static std::optional<Windows> readWindows(const Computation &computation) {
  auto generic =
      computation.root ? computation.root.getDefiningOp<linalg::GenericOp>() : linalg::GenericOp();
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
  generic.getReductionDims(windows.reductions);
  windows.taps = windows.reductions.back();
  windows.count = ranges[windows.taps];
  if (ShapedType::isDynamic(windows.count) || windows.count > kLargestWindow)
    return std::nullopt;
  unsigned last = out.getDimPosition(out.getNumResults() - 1);
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType()))
      continue;
    windows.input = input->getOperandNumber();
    windows.slid = accessOf(input->get(), generic.getMatchingIndexingMap(input), ranges);
    AffineMap map = windows.slid.map;
    if (map.getNumResults() == 0)
      continue;
    std::optional<unsigned> inner = innermostLoop(windows.slid);
    bool isBeside = inner && slidesBeside(windows, *inner, ranges);
    if (!isBeside)
      windows.across = last;
    if (!isBeside && !slidesAlong(windows, map, map.getNumResults() - 1))
      continue;
    windows.width = ranges[windows.across];
    return windows;
  }
  return std::nullopt;
}

const std::optional<Windows> &matchWindows(const Computation &computation) {
  if (!computation.windows)
    computation.windows = std::make_shared<const std::optional<Windows>>(readWindows(computation));
  return *computation.windows;
}

} // namespace cameo
