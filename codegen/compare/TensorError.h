// How far the elements of tensors are from those of a reference.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cameo.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace cameo {

/// Elements as numbers, which is exact for all types but integers beyond 53 bits; nothing for types
/// that have none.
std::vector<double> toNumbers(cameo_dtype type, llvm::ArrayRef<char> bytes);

/// Summed over any number of tensors. A NaN is equal to nothing, an infinity to itself.
class TensorError {
public:
  /// As many elements in both.
  void add(llvm::ArrayRef<double> reference, llvm::ArrayRef<double> values);

  uint64_t elements() const { return count; }
  /// Elements that are not a finite number in one or both, two equal infinities apart. They are in
  /// nothing else.
  uint64_t incomparable() const { return odd; }
  /// Signal over noise in dB: the sum of the reference's squares over that of the differences'.
  /// Infinite where nothing differs, minus infinity with an incomparable element.
  double sqnr() const;
  /// Of the angle between all elements as vectors; 1 where both are zeros.
  double cosine() const;
  /// Magnitudes of differences and of the reference.
  double largestDifference() const { return most; }
  double largestReference() const { return mostReference; }

private:
  uint64_t count = 0, odd = 0;
  double references = 0, values = 0, products = 0, differences = 0; // sums of squares, of products
  double most = 0, mostReference = 0;
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
