// Shapes of MatMul and Gemm.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Contractions.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

/// Refuses or checks sizes that are multiplied and added up but differ.
static LogicalResult checkDepth(SizeBuilder &s, Operation *op, OpFoldResult left,
                                OpFoldResult right) {
  if (left == right)
    return success();
  return s.check(op, s.equal(left, right), "inner sizes {0} and {1} differ; they must be one", left,
                 right);
}

FailureOr<Sizes> inferMatMul(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &a = operands[0], &c = operands[1];
  if (a.empty() || c.empty())
    return s.refuse(op, "operands of rank " + Twine(a.size()) + " and " + Twine(c.size()) +
                            "; both need rank 1 or more");
  if (failed(checkDepth(s, op, a.back(), c.size() == 1 ? c[0] : c[c.size() - 2])))
    return failure();
  Sizes batches[] = {Sizes(ArrayRef(a).drop_back(std::min<size_t>(a.size(), 2))),
                     Sizes(ArrayRef(c).drop_back(std::min<size_t>(c.size(), 2)))};
  FailureOr<Sizes> batch = s.broadcast(op, batches);
  if (failed(batch))
    return failure();
  Sizes result(*batch);
  if (a.size() > 1)
    result.push_back(a[a.size() - 2]);
  if (c.size() > 1)
    result.push_back(c.back());
  return result;
}

/// Refuses or checks a C that is not broadcast to the result.
static LogicalResult checkAddend(SizeBuilder &s, Operation *op, const Sizes &addend,
                                 const Sizes &result) {
  if (addend.size() > 2)
    return s.refuse(op, "C has rank " + Twine(addend.size()) + "; at most 2 is possible");
  for (auto [i, size] : llvm::enumerate(addend)) {
    OpFoldResult whole = result[2 - addend.size() + i];
    if (failed(s.checkBroadcast(op, size, whole,
                                "dimension " + Twine(i) +
                                    " of C has size {0}; it must be 1 or the result's, {1}")))
      return failure();
  }
  return success();
}

FailureOr<Sizes> inferGemm(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  auto gemm = cast<GemmOp>(op);
  const Sizes &a = operands[0], &c = operands[1];
  if (a.size() != 2 || c.size() != 2)
    return s.refuse(op, "operands of rank " + Twine(a.size()) + " and " + Twine(c.size()) +
                            "; both need rank 2; nearest supported: MatMul");
  bool transA = gemm.getTransA() != 0, transB = gemm.getTransB() != 0;
  if (failed(checkDepth(s, op, a[transA ? 0 : 1], c[transB ? 1 : 0])))
    return failure();
  auto isFraction = [](APFloat factor) { return !factor.isInteger(); };
  if (!isa<FloatType>(elementType(op->getOperand(0))) &&
      (isFraction(gemm.getAlpha()) || isFraction(gemm.getBeta())))
    return s.refuse(op, "fractional alpha or beta on integers; nearest supported: whole numbers");
  Sizes result{a[transA ? 1 : 0], c[transB ? 0 : 1]};
  if (operands.size() > 2 && failed(checkAddend(s, op, operands[2], result)))
    return failure();
  return result;
}

static FailureOr<SmallVector<Sizes>> inferEinsumResult(Shapes &shapes, Operation *op) {
  FailureOr<EinsumShape> shape = inferEinsum(shapes.sizes, op, shapes.operands(op));
  if (failed(shape))
    return failure();
  return SmallVector<Sizes>{shape->result};
}

void registerContractionRules(ShapeRows &rows) {
  rows.add<MatMulOp>(fromSizes<inferMatMul>);
  rows.add<GemmOp>(fromSizes<inferGemm>);
  rows.add<EinsumOp>(inferEinsumResult);
}

} // namespace cameo::onnx
