// How far the elements of tensors are from those of a reference.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cameo.h"
#include "runtime/error_sums.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace cameo {

/// Elements as numbers, which is exact for all types but integers beyond 53 bits; nothing for types
/// that have none.
std::vector<double> toNumbers(cameo_dtype type, llvm::ArrayRef<char> bytes);

/// Summed over any number of tensors, as CameoErrorSums has it.
class TensorError {
public:
  /// As many elements in both.
  void add(llvm::ArrayRef<double> reference, llvm::ArrayRef<double> values);

  uint64_t elements() const { return sums.elements; }
  uint64_t incomparable() const { return sums.incomparable; }
  double sqnr() const { return cameoSqnr(&sums); }
  double cosine() const { return cameoCosine(&sums); }
  double largestDifference() const { return sums.largest_difference; }
  double largestReference() const { return sums.largest_reference; }

private:
  CameoErrorSums sums = {};
};

/// How often both have the largest element of a row, along the last axis, in the same place.
class Agreement {
public:
  void add(llvm::ArrayRef<double> reference, llvm::ArrayRef<double> values, int64_t rowLength);
  uint64_t rows() const { return all; }
  uint64_t agreeing() const { return same; }

private:
  uint64_t all = 0, same = 0;
};

/// Where the largest number of a row is: the first of equal ones, and of NaNs the first.
size_t largestOf(llvm::ArrayRef<double> row);

} // namespace cameo
