// Names of sizes, as `onnx.dims` has them: expressions over the names of the inputs' sizes, such as
// "(N + 1)*S".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/shape/SizeBuilder.h"

namespace cameo::onnx {

class SizeNames {
public:
  explicit SizeNames(const SizeBuilder &sizes) : sizes(sizes) {}

  /// An empty string for what has no name or too long a one.
  std::string of(mlir::OpFoldResult size, unsigned depth = 0);

private:
  std::string write(mlir::OpFoldResult size, unsigned depth);

  const SizeBuilder &sizes;
  llvm::DenseMap<const void *, std::string> names;
};

} // namespace cameo::onnx
