// Quantises the constant weights of matrix products and recurrent networks, and nothing else.
//
//   %1 = onnx.MatMul(%x, %w)   ==>   %d = onnx.DequantizeLinear(%w', %s, %none)  int8 by column, or
//                                    %1 = onnx.MatMul(%x, %d)                    int4 by blocks
//
// Symmetric and rounded to the nearest: the greatest magnitude of a column, or of a block of its
// depth, becomes the last number. Products compute in floats, by weights that they dequantise as
// they read them; so this saves memory and its traffic, needs no ranges, and leaves activations as
// they are.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Recurrence.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/precision/Policy.h"
#include "passes/precision/QuantizedWeights.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_INSERTWEIGHTQUANTIZATION
#include "passes/Passes.h.inc"

/// The last number of 4 bits; -8 is not used, so that there is one of either sign.
static constexpr double kLastNibble = 7;

static bool isRecurrent(Operation *op) { return isa<onnx::GRUOp, onnx::LSTMOp, onnx::RNNOp>(op); }

/// Operands of products that may be weights.
static SmallVector<unsigned> weightsOf(Operation *op) {
  if (isRecurrent(op))
    return {onnx::kInputWeights, onnx::kStateWeights};
  if (policyOf(op).role == Role::Product && op->getNumOperands() > 1)
    return {1};
  return {};
}

namespace {

struct InsertWeightQuantization : impl::InsertWeightQuantizationBase<InsertWeightQuantization> {
  using InsertWeightQuantizationBase::InsertWeightQuantizationBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions = untypedFunctions(getOperation());
    if (functions.empty())
      return;
    if (type != "int8" && type != "int4") {
      emitError(functions.front().getLoc()) << "weights: '" << type << "' is none of int8 and int4";
      return signalPassFailure();
    }
    bool isAnyRead = false;
    isAnyKept = false;
    for (func::FuncOp function : functions) {
      rt::Ledger ledger(function);
      for (Operation &op : function.getBody().front())
        for (unsigned operand : weightsOf(&op))
          if (isFP32(op.getOperand(operand)) && onnx::constantValue(op.getOperand(operand)))
            quantize(&op, operand, ledger);
      isAnyRead |= !read.empty();
      for (Operation *constant : read)
        if (constant->use_empty())
          constant->erase();
      dequantized.clear();
      read.clear();
    }
    if (!isAnyRead && isAnyKept)
      functions.front().emitWarning(
          "--weights=" + type + ": no weights are quantised; --remarks tells why of each product");
  }

private:
  void quantize(Operation *op, unsigned operand, rt::Ledger &ledger);
  std::string whyNot(Operation *op, const Elements &weights, int64_t depthAxis) const;

  /// Of each constant and axis of depth what stands for it.
  llvm::DenseMap<std::pair<Value, int64_t>, Value> dequantized;
  llvm::SetVector<Operation *> read; // those constants
  bool isAnyKept = false;
};

} // namespace

/// The axis of the weights that products sum over.
static int64_t depthAxisOf(Operation *op) {
  if (isRecurrent(op))
    return 2;
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  return gemm && gemm.getTransB() ? 1 : 0;
}

std::string InsertWeightQuantization::whyNot(Operation *op, const Elements &weights,
                                             int64_t depthAxis) const {
  if (!isRecurrent(op) && !isa<onnx::MatMulOp, onnx::GemmOp>(op))
    return "only matrix products and recurrent networks dequantise weights as they read them";
  if (isRecurrent(op) && (type != "int8" || block > 0))
    return "recurrent networks have a scale for each gate of a unit, of 8 bits";
  if (!isRecurrent(op) && weights.shape().size() != 2)
    return ("weights of " + Twine(weights.shape().size()) + " dimensions are no matrix").str();
  if (weights.count() < leastWeights)
    return (Twine(weights.count()) + " weights are little to read; " + Twine(leastWeights) +
            " or more are quantised")
        .str();
  if (int64_t depth = weights.shape()[depthAxis]; block > 0 && depth % block != 0)
    return ("a depth of " + Twine(depth) + " is not whole blocks of " + Twine(block)).str();
  if (!llvm::all_of(readElements<float>(weights), [](float x) { return std::isfinite(x); }))
    return "some weights are infinite or no numbers";
  return "";
}

void InsertWeightQuantization::quantize(Operation *op, unsigned operand, rt::Ledger &ledger) {
  Value constant = op->getOperand(operand);
  std::optional<Elements> weights = Elements::of(onnx::constantValue(constant));
  int64_t depthAxis = depthAxisOf(op);
  if (std::string why = whyNot(op, *weights, depthAxis); !why.empty()) {
    ledger.missed("weights", op->getLoc(), "weights not quantised", why);
    count(&getContext(), getArgument(), "kept");
    isAnyKept = true;
    return;
  }
  Value &known = dequantized[{constant, depthAxis}];
  if (!known) {
    bool isNibble = type == "int4";
    // A recurrent network's rows are blocks of their own: one axis does not have those of all directions.
    std::optional<int64_t> size = isRecurrent(op) ? std::optional(weights->shape().back())
                                  : block > 0     ? std::optional<int64_t>(block)
                                                  : std::nullopt;
    QuantizedMatrix matrix =
        quantizeMatrix(*weights, depthAxis, size, isNibble ? kLastNibble : kLastQuantum);
    onnx::ElementKind kind = isNibble ? onnx::ElementKind::I4 : onnx::ElementKind::I8;
    std::vector<int64_t> numbers(matrix.numbers.begin(), matrix.numbers.end());
    std::vector<char> bytes = writeElements<int64_t>(kind, numbers);
    OpBuilder b(op);
    auto matrixType =
        RankedTensorType::get(weights->shape(), onnx::elementTypeOf(kind, &getContext()));
    std::string name = (nodeName(op) + (operand == 1 ? ".weights" : ".state_weights")).str();
    known = dequantizeConstant(
        b, op->getLoc(), name, onnx::makeConstant(matrixType, name, ArrayRef<char>(bytes)),
        matrix.scales, matrix.scaleShape, size ? depthAxis : 1 - depthAxis, size);
  }
  op->setOperand(operand, known);
  read.insert(constant.getDefiningOp());
  ledger.applied("weights", op->getLoc(), "weights quantised");
  count(&getContext(), getArgument(), "quantised");
}

} // namespace cameo
