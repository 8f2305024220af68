// Folds batch normalizations into the constant weights of the convolution before them.
//
//   %0 = onnx.Conv(%x, %w, %none)
//   %1 = onnx.BatchNormalization(%0, %scale, %b, %mean, %var)
//     ==>
//   %1 = onnx.Conv(%x, %w', %b')        w' = w * s, b' = (bias - mean) * s + b,
//                                       s = scale / sqrt(var + epsilon)
//
// ConvTranspose and Gemm are convolutions in this. Computed in double, rounded once.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "passes/graph/Weights.h"

#include <cmath>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDBATCHNORMINTOCONV
#include "passes/Passes.h.inc"

namespace {

/// What BatchNormalization does in inference; a reason where it is not affine.
std::optional<Affine> affineOf(onnx::BatchNormalizationOp op, const Weighted &producer,
                               std::string &why) {
  if (op.getTrainingMode())
    return std::nullopt;
  std::vector<double> numbers[4]; // scale, B, mean, variance
  for (unsigned i = 0; i < 4; ++i) {
    std::optional<Elements> constant = Elements::of(onnx::constantValue(op->getOperand(i + 1)));
    if (!constant || !isa<FloatType>(constant->type.getElementType()) ||
        computesIn(constant->kind) == Computes::Not || constant->count() != producer.outputs)
      return std::nullopt;
    numbers[i] = readDoubles(*constant);
  }
  double epsilon = op.getEpsilon().convertToDouble();
  Affine affine;
  for (int64_t c = 0; c < producer.outputs; ++c) {
    double variance = numbers[3][c] + epsilon;
    if (!(variance > 0) || !std::isfinite(variance)) {
      why = llvm::formatv("variance + epsilon of channel {0} is {1}, not positive and finite", c,
                          variance);
      return std::nullopt;
    }
    double scale = numbers[0][c] / std::sqrt(variance);
    affine.scale.push_back(scale);
    affine.shift.push_back(numbers[1][c] - numbers[2][c] * scale);
  }
  return affine;
}

/// The convolution that the batch normalization alone reads, with what it does to that; a reason where
/// there is one and it does not take it.
std::optional<std::pair<Weighted, Affine>> foldable(onnx::BatchNormalizationOp op,
                                                    std::string &why) {
  Value x = op.getX();
  FailureOr<Weighted> producer = Weighted::of(x.getDefiningOp());
  // Statistics that are yielded beside the result are those of training.
  bool more = llvm::any_of(op->getResults().drop_front(), [](Value v) { return !v.use_empty(); });
  if (more || !x.hasOneUse() || failed(producer) || !producer->canHaveBias())
    return std::nullopt;
  std::optional<Affine> affine = affineOf(op, *producer, why);
  return affine ? std::optional(std::make_pair(*producer, *affine)) : std::nullopt;
}

struct FoldBatchNormIntoConv : impl::FoldBatchNormIntoConvBase<FoldBatchNormIntoConv> {
  void runOnOperation() override {
    rt::Ledger ledger(getOperation());
    SmallVector<onnx::BatchNormalizationOp> candidates;
    getOperation().walk([&](onnx::BatchNormalizationOp op) { candidates.push_back(op); });
    for (onnx::BatchNormalizationOp op : candidates)
      if (foldBatchNorm(op, ledger))
        count(&getContext(), getArgument(), "folded");
    updateFunctionType(getOperation());
  }
};

} // namespace

bool foldBatchNorm(Operation *op, rt::Ledger &ledger) {
  std::string why;
  auto found = foldable(cast<onnx::BatchNormalizationOp>(op), why);
  if (!found || !foldIntoWeights(found->first, found->second, why)) {
    if (!why.empty())
      ledger.missed("fold-batch-norm", op->getLoc(), "not folded into the convolution before it",
                    why);
    return false;
  }
  Operation *conv = found->first.op;
  ledger.applied("fold-batch-norm", op->getLoc(), "folded into the convolution before it");
  conv->setLoc(FusedLoc::get(op->getContext(), {conv->getLoc(), op->getLoc()}));
  replaceResult(op, 0, conv->getResult(0));
  eraseWithConstants(op);
  return true;
}

bool foldsIntoConvolution(Operation *op) {
  auto norm = dyn_cast<onnx::BatchNormalizationOp>(op);
  std::string why;
  auto found = norm ? foldable(norm, why) : std::nullopt;
  return found && canFoldIntoWeights(found->first, found->second, why);
}

} // namespace cameo
