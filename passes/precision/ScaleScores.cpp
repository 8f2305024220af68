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
      if (isa<onnx::SoftmaxOp, onnx::LogSoftmaxOp>(user))
        return true;
      bool goesOn = isa<onnx::AddOp, onnx::SubOp, onnx::WhereOp, onnx::MulOp, onnx::DivOp>(user) ||
                    policyOf(user).role == Role::Movement;
      if (goesOn && seen.insert(user).second)
        open.push_back(user);
    }
  return false;
}

/// The factor of a node that multiplies or divides by a constant; nothing for others.
static std::optional<double> factorOf(Operation *op) {
  if (!isa<onnx::MulOp, onnx::DivOp>(op))
    return std::nullopt;
  std::optional<double> number = onnx::constantScalar(op->getOperand(1));
  if (number && isa<onnx::DivOp>(op))
    return 1 / *number;
  return number;
}

void scaleScoresEarly(func::FuncOp function) {
  SmallVector<std::pair<onnx::MatMulOp, Operation *>> found;
  function.walk([&](onnx::MatMulOp product) {
    Value scores = product->getResult(0);
    if (!isFP32(scores) || !scores.hasOneUse() || isQuantized(product))
      return;
    Operation *scale = *scores.user_begin();
    std::optional<double> factor = factorOf(scale);
    if (factor && scale->getOperand(0) == scores && std::abs(*factor) < 1 && *factor != 0 &&
        scale->getResult(0).getType() == scores.getType() && leadsToSoftmax(scale))
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
