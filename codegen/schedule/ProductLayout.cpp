// Measuring how far apart neighbours are in a product's operands.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ProductLayout.h"

#include "dialects/rt/Layout.h"

using namespace mlir;

namespace cameo {

/// Elements between neighbours in what is read, stored in this order, along the one of the loops
/// where they are nearest; 0: all read one element.
static double nearest(const Product &product, const Access &read, ArrayRef<unsigned> order,
                      ArrayRef<unsigned> loops) {
  SmallVector<double> strides = stridesIn(cast<RankedTensorType>(read.source.getType()), order);
  AffineMap map = read.place();
  SmallVector<double> distances(product.ranges.size());
  for (unsigned dim = 0; dim < strides.size(); ++dim) {
    // Of products, places are sums over loops.
    SmallVector<int64_t> factors = *factorsOf(map, dim);
    for (auto [loop, distance] : llvm::enumerate(distances))
      distance += std::abs(double(factors[loop])) * strides[dim];
  }
  double least = 0;
  for (unsigned loop : loops)
    if (double distance = distances[loop];
        product.ranges[loop] != 1 && distance != 0 && (least == 0 || distance < least))
      least = distance;
  return least;
}

double productLayoutBytes(kernel::DispatchOp op, const Product &product,
                          const AccessPattern &pattern, OperandOrders orders) {
  double bytes =
      pattern.bytesMoved(orders, inputsOfOperands(op, product), /*mayGoAlongReduced=*/false);
  for (bool isRow : {true, false}) {
    SmallVector<unsigned> loops(isRow ? product.rows : product.columns);
    llvm::append_range(loops, product.depth);
    for (const Access &read : (isRow ? product.row : product.column).value.reads) {
      unsigned input = cast<BlockArgument>(read.source).getArgNumber();
      // Constants are packed as they are wanted; what is gathered goes by what its indices say.
      if (rt::constantOf(op.getInputs()[input]) || read.index)
        continue;
      RankedTensorType type = pattern.types[input];
      double distance = nearest(product, read, orders[input], loops);
      bytes += tensorBytes(type) * std::max(sectorFactor(distance, type), 1.0);
    }
  }
  return bytes;
}

llvm::BitVector inputsOfOperands(kernel::DispatchOp op, const Product &product) {
  llvm::BitVector inputs(op.getInputs().size() + op.getNumResults());
  for (const Operand *operand : {&product.row, &product.column})
    for (const Access &read : operand->value.reads)
      if (!read.index)
        inputs.set(cast<BlockArgument>(read.source).getArgNumber());
  return inputs;
}

} // namespace cameo
