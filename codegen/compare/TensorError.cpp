// How far the elements of tensors are from those of a reference.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/compare/TensorError.h"

#include "passes/graph/Elements.h"

#include <cmath>

using namespace cameo;
using llvm::ArrayRef;

std::vector<double> cameo::toNumbers(cameo_dtype type, ArrayRef<char> bytes) {
  std::optional<onnx::ElementKind> kind = onnx::elementKindOfNumber(type); // the same numbers
  // Elements of less than a byte are packed in memory.
  if (!kind || computesIn(*kind) == Computes::Not || onnx::elementBits(*kind) < 8)
    return {};
  return readDoubles(*kind, bytes);
}

void TensorError::add(ArrayRef<double> reference, ArrayRef<double> given) {
  assert(reference.size() == given.size() && "tensors of one shape");
  for (auto [expected, value] : llvm::zip_equal(reference, given))
    cameoAddError(&sums, expected, value);
}

size_t cameo::largestOf(ArrayRef<double> row) {
  size_t largest = 0;
  for (size_t i = 1; i < row.size(); ++i)
    if (row[i] > row[largest] || (std::isnan(row[i]) && !std::isnan(row[largest])))
      largest = i;
  return largest;
}

void Agreement::add(ArrayRef<double> reference, ArrayRef<double> values, int64_t rowLength) {
  for (size_t at = 0; at < reference.size(); at += rowLength, ++all)
    same += largestOf(reference.slice(at, rowLength)) == largestOf(values.slice(at, rowLength));
}
