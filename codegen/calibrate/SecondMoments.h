// What a product by weights reads, once quantised: the sum over samples and places of its results
// of each product of two numbers that two of its weights are multiplied with.
//
//   H[i][j] = sum of q[i] * q[j]        e' H e is the squared error that errors e of weights make
//
// Numbers are integers of 8 bits and so are exact sums of their products: the same in any order,
// for any batch and any number of threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/calibrate/ProductReads.h"

#include "llvm/Support/ThreadPool.h"

namespace cameo {

class SecondMoments {
public:
  explicit SecondMoments(const ProductRead &read);

  /// Whether another product has the same ones: one that reads the same value in the same way.
  bool isOf(const ProductRead &read) const;

  /// `numbers` is a tensor that the product reads, row-major.
  void add(llvm::ArrayRef<int8_t> numbers, llvm::ArrayRef<int64_t> shape,
           llvm::ThreadPoolInterface &threads);

  int64_t depth() const { return rows; }
  /// Of weights i and j of a group, in the order of input channels and places of the window.
  int64_t at(int64_t group, int64_t i, int64_t j) const {
    return sums[group * triangle() + (i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j)];
  }

private:
  void findOffsets(llvm::ArrayRef<int64_t> shape);
  void gather(llvm::ArrayRef<int8_t> numbers, int64_t first, int64_t row);
  void addTile(int64_t group, int64_t from);
  int64_t triangle() const { return rows * (rows + 1) / 2; }

  ProductRead read;
  int64_t rows;              // of a group
  std::vector<int64_t> sums; // the lower triangle of each group, row by row
  // Of the tensor that is being added: where its results are in one sample of one channel, by place
  // of the window and result, -1 for padding.
  std::vector<int64_t> shape, offsets;
  int64_t plane = 1, resultsOfSample = 1, results = 0;
  std::vector<int16_t> block; // numbers of all rows, for some of the results
};

} // namespace cameo
