// Folds what is affine in the channels into the constant weights of the convolution before it.
//
//   %0 = onnx.Conv(%x, %w, %none)
//   %1 = onnx.BatchNormalization(%0, %scale, %b, %mean, %var)
//     ==>
//   %1 = onnx.Conv(%x, %w', %b')        w' = w * s, b' = (bias - mean) * s + b,
//                                       s = scale / sqrt(var + epsilon)
//
// Mul, Add and Sub with constants of one number per channel go the same way, and ConvTranspose and
// Gemm are convolutions in this. Computed in double, rounded once.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Weights.h"

#include <cmath>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDBATCHNORMINTOCONV
#include "passes/Passes.h.inc"

namespace {

/// The convolution before `op` and the operand its result comes in by.
FailureOr<std::pair<Weighted, unsigned>> producerBefore(Operation *op) {
  if (!isa<onnx::BatchNormalizationOp, onnx::MulOp, onnx::AddOp, onnx::SubOp>(op))
    return failure();
  for (unsigned i = 0; i < std::min(2u, op->getNumOperands()); ++i) {
    Value operand = op->getOperand(i);
    if (!operand.hasOneUse() || operand.getDefiningOp<onnx::MatMulOp>())
      continue;
    if (FailureOr<Weighted> producer = Weighted::of(operand.getDefiningOp()); succeeded(producer))
      return std::make_pair(*producer, i);
  }
  return failure();
}

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

/// What an operator does with result 0 of the producer, its only user's operand `use`.
std::optional<Affine> affineOf(Operation *user, unsigned use, const Weighted &producer,
                               std::string &why) {
  if (auto norm = dyn_cast<onnx::BatchNormalizationOp>(user))
    return use == 0 ? affineOf(norm, producer, why) : std::nullopt;
  bool commutes = isa<onnx::MulOp, onnx::AddOp>(user);
  if (!commutes && !(isa<onnx::SubOp>(user) && use == 0))
    return std::nullopt;
  std::optional<std::vector<double>> constant =
      producer.perChannel(user->getOperand(1 - use), Side::Output, producer.weight.type.getRank());
  if (!constant)
    return std::nullopt;
  if (isa<onnx::MulOp>(user))
    return Affine{*constant, std::vector<double>(producer.outputs, 0.0)};
  if (isa<onnx::SubOp>(user))
    for (double &number : *constant)
      number = -number;
  return Affine{{}, *constant};
}

struct FoldBatchNormIntoConv : impl::FoldBatchNormIntoConvBase<FoldBatchNormIntoConv> {
  void runOnOperation() override {
    rt::Ledger ledger(getOperation());
    SmallVector<Operation *> candidates;
    getOperation().walk([&](Operation *op) {
      if (isa<onnx::BatchNormalizationOp, onnx::MulOp, onnx::AddOp, onnx::SubOp>(op))
        candidates.push_back(op);
    });
    for (Operation *op : candidates)
      foldIntoProducer(op, ledger);
    updateFunctionType(getOperation());
  }

private:
  void foldIntoProducer(Operation *op, rt::Ledger &ledger) {
    FailureOr<std::pair<Weighted, unsigned>> found = producerBefore(op);
    // Statistics that a batch normalization yields beside its result are those of training.
    bool more = llvm::any_of(op->getResults().drop_front(), [](Value v) { return !v.use_empty(); });
    if (failed(found) || more)
      return;
    auto &[producer, use] = *found;
    std::string why;
    std::optional<Affine> affine = affineOf(op, use, producer, why);
    if (!affine || !foldIntoWeights(producer, *affine, why)) {
      if (!why.empty())
        ledger.missed("fold-batch-norm", op->getLoc(), "not folded into the convolution before it",
                      why);
      return;
    }
    Operation *conv = producer.op;
    ledger.applied("fold-batch-norm", op->getLoc(), "folded into the convolution before it");
    conv->setLoc(FusedLoc::get(op->getContext(), {conv->getLoc(), op->getLoc()}));
    replaceResult(op, 0, conv->getResult(0));
    eraseWithConstants(op);
    count(&getContext(), getArgument(), "folded");
  }
};

} // namespace

bool foldsIntoConvolution(Operation *op) {
  auto norm = dyn_cast<onnx::BatchNormalizationOp>(op);
  if (!norm)
    return false;
  FailureOr<std::pair<Weighted, unsigned>> found = producerBefore(op);
  std::string why;
  if (failed(found) || found->second != 0 ||
      llvm::any_of(op->getResults().drop_front(), [](Value v) { return !v.use_empty(); }))
    return false;
  std::optional<Affine> affine = affineOf(op, 0, found->first, why);
  return affine && canFoldIntoWeights(found->first, *affine, why);
}

} // namespace cameo
