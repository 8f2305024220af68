// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/ScaleScores.h"

#include "passes/graph/Graph.h"
#include "passes/precision/Policy.h"
#include "passes/precision/QuantizedProduct.h"
#include "passes/precision/QuantizedWeights.h"
#include "passes/precision/RecordedRanges.h"

using namespace mlir;

namespace cameo {

bool leadsToSoftmax(Operation *op) {
  SmallVector<Operation *> open{op};
  for (llvm::SmallPtrSet<Operation *, 16> seen; !open.empty();)
    for (Operation *user : open.pop_back_val()->getUsers()) {
      if (isa<onnx::SoftmaxOp, onnx::LogSoftmaxOp, onnx::AttentionOp>(user))
        return true;
      bool goesOn = isa<onnx::AddOp, onnx::SubOp, onnx::WhereOp, onnx::MulOp, onnx::DivOp>(user) ||
                    policyOf(user).role == Role::Movement;
      if (goesOn && seen.insert(user).second)
        open.push_back(user);
    }
  return false;
}

std::optional<double> factorOf(Operation *op) {
  if (!isa<onnx::MulOp, onnx::DivOp>(op))
    return std::nullopt;
  std::optional<double> number = onnx::constantScalar(op->getOperand(1));
  if (number && isa<onnx::DivOp>(op))
    return 1 / *number;
  return number;
}

/// The constant below 1 by which a node multiplies results of a product that nothing else reads.
static std::optional<double> smallFactorOf(Value scores) {
  if (!isFP32(scores) || !scores.hasOneUse())
    return std::nullopt;
  Operation *scale = *scores.user_begin();
  std::optional<double> factor = factorOf(scale);
  bool fits = factor && scale->getOperand(0) == scores && std::abs(*factor) < 1 && *factor != 0 &&
              scale->getResult(0).getType() == scores.getType();
  return fits ? factor : std::nullopt;
}

/// A Gemm multiplies its sums before it stores them.
static void scaleSums(onnx::GemmOp product) {
  std::optional<double> factor = smallFactorOf(product->getResult(0));
  if (!factor || isQuantized(product) || !onnx::isAbsent(product->getOperand(2)))
    return;
  Operation *scale = *product->getResult(0).user_begin();
  Builder b(product->getContext());
  product->setAttr("alpha",
                   b.getF32FloatAttr(float(product.getAlpha().convertToDouble() * *factor)));
  scale->getResult(0).replaceAllUsesWith(product->getResult(0));
  product->setLoc(scale->getLoc());
  scale->erase();
}

void scaleScoresEarly(func::FuncOp function) {
  for (auto product : llvm::make_early_inc_range(function.getOps<onnx::GemmOp>()))
    scaleSums(product);
  SmallVector<std::pair<onnx::MatMulOp, Operation *>> found;
  function.walk([&](onnx::MatMulOp product) {
    if (!smallFactorOf(product->getResult(0)) || isQuantized(product))
      return;
    Operation *scale = *product->getResult(0).user_begin();
    if (leadsToSoftmax(scale) || !onnx::constantValue(product->getOperand(1)))
      found.push_back({product, scale});
  });
  for (auto [product, scale] : found) {
    Value queries = product->getOperand(0), scores = product->getResult(0);
    ArrayAttr dims = dimsOf(queries);
    scale->getResult(0).replaceAllUsesWith(scores);
    if (Operation *constant = scale->getOperand(1).getDefiningOp();
        product->isBeforeInBlock(constant))
      constant->moveBefore(product);
    scale->moveBefore(product);
    scale->setOperand(0, queries);
    scale->getResult(0).setType(queries.getType());
    if (dims)
      scale->setAttr(onnx::kDimsAttr, dims);
    else
      scale->removeAttr(onnx::kDimsAttr);
    product->setOperand(0, scale->getResult(0));
    // By name values are what they were: the product's is that of the scores when scaled, and the queries, scaled,
    // have one that no file of ranges and no reader of values knows.
    product->setLoc(scale->getLoc());
    scale->setLoc(namedLocation(scale->getLoc(), nodeName(scale) + ".queries"));
  }
}

} // namespace cameo
