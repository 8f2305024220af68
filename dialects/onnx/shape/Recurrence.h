// Shapes of LSTM, GRU and RNN, and the functions that their attributes name.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/Shapes.h"

namespace cameo::onnx {

/// Operands of LSTM, GRU and RNN by number; the last two are LSTM's alone.
enum RecurrenceOperand : unsigned {
  kStepInput,
  kInputWeights,
  kStateWeights,
  kBias,
  kSequenceLengths,
  kInitialHidden,
  kInitialCell,
  kPeepholes
};

enum class CellFunction {
  Affine,
  Elu,
  HardSigmoid,
  LeakyRelu,
  Relu,
  ScaledTanh,
  Sigmoid,
  Softplus,
  Softsign,
  Tanh,
  ThresholdedRelu
};

struct Activation {
  CellFunction function;
  double alpha = 0, beta = 0;
  bool operator==(const Activation &other) const {
    return function == other.function && alpha == other.alpha && beta == other.beta;
  }
};

struct RecurrenceShape {
  int64_t gates, units;
  bool rowsFirst; // rows come before steps and before directions: layout 1
  bool startsReversed, isBidirectional;
  mlir::OpFoldResult steps, rows, inputs;
  /// By direction, in the operator's order.
  llvm::SmallVector<llvm::SmallVector<Activation, 3>, 2> activations;
  Sizes sequence, state; // of Y, and of Y_h and Y_c

  int64_t directions() const { return isBidirectional ? 2 : 1; }
};
mlir::FailureOr<RecurrenceShape> inferRecurrence(Shapes &shapes, mlir::Operation *op);

} // namespace cameo::onnx
