// Activation functions.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Elementwise.h"

#include <cmath>

using namespace mlir;

namespace cameo {

//===-- Formulas ------------------------------------------------------------------------------===//

static double real(APFloat value) { return value.convertToDouble(); }

Value relu(ScalarMath &m, Value x) { return m.max(x, m.c(0)); }

Value leakyRelu(ScalarMath &m, Value x, double alpha) {
  return m.select(m.lt(x, m.c(0)), m.mul(m.c(alpha), x), x);
}

Value elu(ScalarMath &m, Value x, double alpha) {
  return m.select(m.lt(x, m.c(0)), m.mul(m.c(alpha), m.expm1(x)), x);
}

Value clampedLine(ScalarMath &m, Value x, double slope, double offset) {
  // Two roundings, as ONNX Runtime has them: what is quantised behind it has the same integers then.
  Value line = m.add(m.mul(m.c(slope), x), m.c(offset));
  return m.max(m.c(0), m.min(m.c(1), line));
}

Value softsign(ScalarMath &m, Value x) { return m.div(x, m.add(m.c(1), m.abs(x))); }

Value thresholdedRelu(ScalarMath &m, Value x, double alpha) {
  return m.select(m.gt(x, m.c(alpha)), x, m.c(0));
}

static Value relu(ScalarMath &m, Operation *, ValueRange x) { return relu(m, x[0]); }

static Value leakyRelu(ScalarMath &m, Operation *op, ValueRange x) {
  return leakyRelu(m, x[0], real(cast<onnx::LeakyReluOp>(op).getAlpha()));
}

static Value prelu(ScalarMath &m, Operation *, ValueRange x) {
  return m.select(m.lt(x[0], m.c(0)), m.mul(x[1], x[0]), x[0]);
}

static Value elu(ScalarMath &m, Operation *op, ValueRange x) {
  return elu(m, x[0], real(cast<onnx::EluOp>(op).getAlpha()));
}

static Value selu(ScalarMath &m, Operation *op, ValueRange x) {
  auto node = cast<onnx::SeluOp>(op);
  Value alpha = m.c(real(node.getAlpha())), gamma = m.c(real(node.getGamma()));
  return m.mul(gamma, m.select(m.gt(x[0], m.c(0)), x[0], m.mul(alpha, m.expm1(x[0]))));
}

static Value celu(ScalarMath &m, Operation *op, ValueRange x) {
  Value alpha = m.c(real(cast<onnx::CeluOp>(op).getAlpha())), zero = m.c(0);
  Value below = m.min(zero, m.mul(alpha, m.expm1(m.div(x[0], alpha))));
  return m.add(m.max(zero, x[0]), below);
}

static Value sigmoid(ScalarMath &m, Operation *, ValueRange x) { return m.sigmoid(x[0]); }

static Value hardSigmoid(ScalarMath &m, Operation *op, ValueRange x) {
  auto node = cast<onnx::HardSigmoidOp>(op);
  return clampedLine(m, x[0], real(node.getAlpha()), real(node.getBeta()));
}

static Value hardSwish(ScalarMath &m, Operation *, ValueRange x) {
  return m.mul(x[0], clampedLine(m, x[0], 1.0 / 6, 0.5));
}

static Value softplus(ScalarMath &m, Operation *, ValueRange x) { return m.softplus(x[0]); }

static Value softsign(ScalarMath &m, Operation *, ValueRange x) { return softsign(m, x[0]); }

static Value thresholdedRelu(ScalarMath &m, Operation *op, ValueRange x) {
  return thresholdedRelu(m, x[0], real(cast<onnx::ThresholdedReluOp>(op).getAlpha()));
}

static Value gelu(ScalarMath &m, Operation *op, ValueRange x) {
  Value half = m.mul(m.c(0.5), x[0]), inner;
  if (cast<onnx::GeluOp>(op).getApproximate() == "tanh") {
    // sqrt(2 / pi) * (x + 0.044715 x^3)
    Value cubic = m.fma(m.mul(m.c(0.044715), m.mul(x[0], x[0])), x[0], x[0]);
    inner = m.tanh(m.mul(m.c(std::sqrt(M_2_PI)), cubic));
  } else {
    inner = m.unary<math::ErfOp>(m.mul(x[0], m.c(M_SQRT1_2)));
  }
  return m.mul(half, m.add(m.c(1), inner));
}

static Value mish(ScalarMath &m, Operation *, ValueRange x) {
  return m.mul(x[0], m.tanh(m.softplus(x[0])));
}

static Value swish(ScalarMath &m, Operation *op, ValueRange x) {
  Value alpha = m.c(real(cast<onnx::SwishOp>(op).getAlpha()));
  return m.mul(x[0], m.sigmoid(m.mul(alpha, x[0])));
}

/// Integers are shrunk as doubles, since bias and lambd are reals.
static Value shrink(ScalarMath &m, Operation *op, ValueRange x) {
  auto node = cast<onnx::ShrinkOp>(op);
  auto asSigned = [&](Type type, bool isUnsigned) -> Type {
    return isUnsigned ? IntegerType::get(m.b.getContext(), type.getIntOrFloatBitWidth(),
                                         IntegerType::Unsigned)
                      : type;
  };
  Type given = asSigned(m.type, m.isUnsigned);
  ScalarMath r(m.b, m.loc, m.isFloat() ? m.type : Type(m.b.getF64Type()), false);
  Value value = convertScalar(m.b, m.loc, x[0], given, r.type);
  Value bias = r.c(real(node.getBias())), lambd = r.c(real(node.getLambd()));
  // Where a negative lambd lets both conditions hold the first one of the specification counts.
  Value high = r.select(r.gt(value, lambd), r.sub(value, bias), r.c(0));
  Value result = r.select(r.lt(value, r.neg(lambd)), r.add(value, bias), high);
  return convertScalar(m.b, m.loc, result, r.type, given);
}

void registerActivations(LoweringRows &rows) {
  rows.add<onnx::ReluOp>({lowerElementwise<relu>});
  rows.add<onnx::LeakyReluOp>({lowerElementwise<leakyRelu>});
  rows.add<onnx::PReluOp>({lowerElementwise<prelu>});
  rows.add<onnx::EluOp>({lowerElementwise<elu>});
  rows.add<onnx::SeluOp>({lowerElementwise<selu>});
  rows.add<onnx::CeluOp>({lowerElementwise<celu>});
  rows.add<onnx::SigmoidOp>({lowerElementwise<sigmoid>});
  rows.add<onnx::HardSigmoidOp>({lowerElementwise<hardSigmoid>});
  rows.add<onnx::HardSwishOp>({lowerElementwise<hardSwish>});
  rows.add<onnx::SoftplusOp>({lowerElementwise<softplus>});
  rows.add<onnx::SoftsignOp>({lowerElementwise<softsign>});
  rows.add<onnx::ThresholdedReluOp>({lowerElementwise<thresholdedRelu>});
  rows.add<onnx::GeluOp>({lowerElementwise<gelu>});
  rows.add<onnx::MishOp>({lowerElementwise<mish>});
  rows.add<onnx::SwishOp>({lowerElementwise<swish>});
  rows.add<onnx::ShrinkOp>({lowerElementwise<shrink>});
}

} // namespace cameo
