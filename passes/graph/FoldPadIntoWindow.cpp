// Folds padding into the pads of the convolution or pool that reads it.
//
//   %0 = onnx.Pad(%x, [0, 0, 1, 0, 0, 1], 0.0)
//   %1 = onnx.Conv(%0, %w, %b) {pads = [0, 0]}   ==>   onnx.Conv(%x, %w, %b) {pads = [1, 1]}
//
// Every bit stays as it was: what the window reads in the padding is what Pad would have written.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Graph.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDPADINTOWINDOW
#include "passes/Passes.h.inc"

/// What a Pad by constants adds on both sides of each dimension, if it adds anything and takes
/// nothing away.
static std::optional<SmallVector<int64_t>> paddingOf(onnx::PadOp pad) {
  auto type = dyn_cast<RankedTensorType>(pad.getData().getType());
  std::optional<SmallVector<int64_t>> pads = onnx::constantInts(pad.getPads());
  if (!type || !hasReliableShape(pad.getData()) || !pads || pad.getMode() != "constant" ||
      llvm::any_of(*pads, [](int64_t amount) { return amount < 0; }))
    return std::nullopt;
  int64_t rank = type.getRank();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (!onnx::isAbsent(pad.getAxes())) {
    std::optional<SmallVector<int64_t>> given = onnx::constantInts(pad.getAxes());
    if (!given)
      return std::nullopt;
    axes = *given;
  }
  size_t half = axes.size();
  if (pads->size() != 2 * half)
    return std::nullopt;
  SmallVector<int64_t> all(2 * rank, 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < -rank || axis >= rank)
      return std::nullopt;
    axis += axis < 0 ? rank : 0;
    all[axis] += (*pads)[i];
    all[rank + axis] += (*pads)[half + i];
  }
  return all;
}

/// Whether the padding's elements are +0, as windows of sums see them.
static bool padsWithZero(onnx::PadOp pad) {
  if (onnx::isAbsent(pad.getConstantValue()))
    return true;
  std::optional<Elements> value = Elements::of(onnx::constantValue(pad.getConstantValue()));
  return value && value->count() == 1 &&
         llvm::all_of(value->bytes.get(), [](char byte) { return byte == 0; });
}

/// Whether no element is less than the padding's: -infinity, or the least integer.
static bool padsWithLeast(onnx::PadOp pad) {
  if (onnx::isAbsent(pad.getConstantValue()))
    return false;
  auto value = dyn_cast_or_null<DenseElementsAttr>(onnx::constantValue(pad.getConstantValue()));
  if (!value || value.getNumElements() != 1)
    return false;
  if (isa<FloatType>(value.getElementType())) {
    APFloat number = *value.value_begin<APFloat>();
    return number.isInfinity() && number.isNegative();
  }
  auto type = dyn_cast<IntegerType>(value.getElementType());
  if (!type || type.getWidth() < 8)
    return false;
  APInt number = *value.value_begin<APInt>();
  return type.isUnsigned() ? number.isZero() : number.isMinSignedValue();
}

static SmallVector<int64_t> intsOr(Operation *op, StringRef name, size_t count, int64_t otherwise) {
  auto given = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return given ? SmallVector<int64_t>(given.asArrayRef()) : SmallVector<int64_t>(count, otherwise);
}

/// Whether every window of a pool has an element of the input in it, however it is padded: the
/// padding is no wider than the last tap, and no step between taps leaps over the input.
static bool reachesInput(Operation *pool, ArrayRef<int64_t> pads, ArrayRef<int64_t> sizes) {
  size_t spatial = sizes.size();
  SmallVector<int64_t> kernel = intsOr(pool, "kernel_shape", spatial, 0),
                       dilations = intsOr(pool, "dilations", spatial, 1);
  if (kernel.size() != spatial || dilations.size() != spatial)
    return false;
  for (size_t i = 0; i < spatial; ++i)
    for (int64_t pad : {pads[i], pads[spatial + i]})
      // ONNX Runtime wants less than the kernel even where it is dilated.
      if (pad >= kernel[i] || (dilations[i] > 1 && sizes[i] < dilations[i]))
        return false;
  return true;
}

/// The pads that the operator has by itself; nothing where they depend on its input's size.
static std::optional<SmallVector<int64_t>> ownPads(Operation *op, size_t spatial) {
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  if (mode && mode.getValue() == "VALID")
    return SmallVector<int64_t>(2 * spatial, 0);
  if (mode && mode.getValue() != "NOTSET")
    return std::nullopt;
  SmallVector<int64_t> pads = intsOr(op, "pads", 2 * spatial, 0);
  return pads.size() == 2 * spatial ? std::optional(pads) : std::nullopt;
}

/// Whether a pool reads its own padding, `own`, as it would what Pad adds, `added`.
static bool poolsAlike(Operation *op, onnx::PadOp pad, ArrayRef<int64_t> own,
                       ArrayRef<int64_t> total) {
  auto type = cast<RankedTensorType>(pad.getData().getType());
  bool roundsUp = op->getAttrOfType<IntegerAttr>("ceil_mode") &&
                  op->getAttrOfType<IntegerAttr>("ceil_mode").getInt() != 0;
  // Windows that reach beyond the padding count it or not by rules of their own.
  if (roundsUp || !reachesInput(op, total, type.getShape().drop_front(2)))
    return false;
  if (isa<onnx::MaxPoolOp>(op))
    return padsWithLeast(pad) && op->getResult(1).use_empty();
  // What Pad added has been counted; what the pool adds must be as well.
  bool counts = cast<onnx::AveragePoolOp>(op).getCountIncludePad() != 0;
  return padsWithZero(pad) && (counts || llvm::all_of(own, [](int64_t n) { return n == 0; }));
}

/// The pads with which the operator can read what its Pad reads. Where there is a Pad, and it has
/// to stay, why.
static std::optional<SmallVector<int64_t>> mergedPads(Operation *op, StringRef &why) {
  auto pad = isa<onnx::ConvOp, onnx::AveragePoolOp, onnx::MaxPoolOp>(op)
                 ? op->getOperand(0).getDefiningOp<onnx::PadOp>()
                 : onnx::PadOp();
  if (!pad)
    return std::nullopt;
  auto keep = [&](StringRef reason) {
    why = reason;
    return std::nullopt;
  };
  std::optional<SmallVector<int64_t>> added = paddingOf(pad);
  if (!added || added->size() < 6)
    return keep("it does more than to add constants, as many as are known when compiling");
  size_t rank = added->size() / 2, spatial = rank - 2;
  std::optional<SmallVector<int64_t>> own = ownPads(op, spatial);
  if (!own)
    return keep("the window's own padding depends on the padded size");
  if ((*added)[0] || (*added)[1] || (*added)[rank] || (*added)[rank + 1])
    return keep("it pads dimensions that the window does not slide along");
  SmallVector<int64_t> total(*own);
  for (size_t i = 0; i < spatial; ++i) {
    total[i] += (*added)[2 + i];
    total[spatial + i] += (*added)[rank + 2 + i];
  }
  if (isa<onnx::ConvOp>(op) ? !padsWithZero(pad) : !poolsAlike(op, pad, *own, total))
    return keep("the window's own padding would have other elements, or count them otherwise");
  return total;
}

bool foldsIntoWindow(Operation *op) {
  StringRef why;
  return mergedPads(op, why).has_value();
}

namespace {

struct FoldPadIntoWindow : impl::FoldPadIntoWindowBase<FoldPadIntoWindow> {
  void runOnOperation() override {
    SmallVector<Operation *> windows;
    getOperation().walk([&](Operation *op) {
      if (isa<onnx::ConvOp, onnx::AveragePoolOp, onnx::MaxPoolOp>(op))
        windows.push_back(op);
    });
    rt::Ledger ledger(getOperation());
    for (Operation *op : windows) {
      StringRef why;
      // A Pad of a Pad as well.
      while (std::optional<SmallVector<int64_t>> pads = mergedPads(op, why)) {
        ledger.applied("fold-pad", op->getOperand(0).getLoc(),
                       "folded into the window that reads it");
        fold(op, *pads);
      }
      if (!why.empty())
        ledger.missed("fold-pad", op->getOperand(0).getLoc(),
                      "not folded into the window that reads it", why);
    }
  }

private:
  void fold(Operation *op, ArrayRef<int64_t> pads) {
    Builder b(op->getContext());
    Operation *pad = op->getOperand(0).getDefiningOp();
    op->setAttr("pads", b.getDenseI64ArrayAttr(pads));
    op->removeAttr("auto_pad");
    if (isa<onnx::AveragePoolOp>(op))
      op->setAttr("count_include_pad", b.getIntegerAttr(b.getIntegerType(64), 1));
    op->setOperand(0, pad->getOperand(0));
    if (pad->use_empty())
      eraseWithConstants(pad);
    count(&getContext(), getArgument(), "folded");
  }
};

} // namespace

} // namespace cameo
