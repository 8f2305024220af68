// Constant weights as integers of 8 bits, or of 4, and the constants that have them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/Elements.h"
#include "passes/precision/QuantizationPlan.h"
#include "passes/precision/QuantizedValue.h"

namespace cameo {

/// With one scale, or one for each index of `axis`.
struct QuantizedWeights {
  std::vector<int8_t> numbers;
  std::vector<float> scales;
  std::optional<int64_t> axis;
  int64_t widened = 0; // channels

  /// Of the element with this number, row-major.
  int64_t channelOf(int64_t i) const { return axis ? i / inner % int64_t(scales.size()) : 0; }
  int64_t inner = 1; // elements behind the axis
};

/// Rounds to the nearest. No channel's greatest element is clipped, and a scale is larger where the
/// channel's bias, added to sums in the scale of weights and input, needs it. Biases are none, one,
/// or one a channel.
QuantizedWeights quantizeWeights(const Elements &elements, std::optional<int64_t> axis,
                                 llvm::ArrayRef<double> biases, double inputScale);

/// A matrix with a scale for each column, or for each block of a column's depth; or several matrices,
/// whose depth is innermost.
struct QuantizedMatrix {
  std::vector<int8_t> numbers;
  std::vector<float> scales; // row-major, of `scaleShape`
  llvm::SmallVector<int64_t, 2> scaleShape;
};

/// Rounds to the nearest; the greatest magnitude that a scale is for becomes `last`. The depth,
/// which is `depthAxis`, is in whole blocks; without a size of blocks, a column is one.
QuantizedMatrix quantizeMatrix(const Elements &elements, int64_t depthAxis,
                               std::optional<int64_t> block, double last);

//===-- Constants -----------------------------------------------------------------------------===//

/// The location of a new node of this name, which stands for what is at `loc`.
mlir::Location namedLocation(mlir::Location loc, const llvm::Twine &name);

/// A constant of scales.
mlir::Value createScales(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<float> scales,
                         llvm::ArrayRef<int64_t> shape);

/// DequantizeLinear of a constant of integers without zero points; `name` is what their names begin
/// with. One scale is for all where there is no axis.
mlir::Value dequantizeConstant(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                               mlir::ElementsAttr numbers, llvm::ArrayRef<float> scales,
                               llvm::ArrayRef<int64_t> scaleShape, std::optional<int64_t> axis,
                               std::optional<int64_t> block = std::nullopt);

} // namespace cameo
