// Shapes of operators that read a tensor at positions which another one holds: GridSample.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

/// Checks that there is an element to read, where anything is read: each size but the channels' is
/// 1 or more.
static LogicalResult checkInputElements(SizeBuilder &s, Operation *op, const Sizes &x,
                                        const Sizes &result) {
  OpFoldResult none = s.equal(s.product(result), s.index(0));
  for (auto [dim, size] : llvm::enumerate(x)) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (dim == 1 || (known && *known > 0))
      continue;
    if (failed(s.check(op, s.select(none, s.index(1), s.less(s.index(0), size)),
                       "the input has a size of {0}; it must be 1 or more", size)))
      return failure();
  }
  return success();
}

static FailureOr<Sizes> inferGridSample(SizeBuilder &s, Operation *op, ArrayRef<Sizes> operands) {
  const Sizes &x = operands[0], &grid = operands[1];
  if (x.size() < 3 || grid.size() != x.size())
    return s.refuse(op, "X of rank " + Twine(x.size()) + ", grid of rank " + Twine(grid.size()) +
                            "; both need one rank of 3 or more");
  OpFoldResult spatial = s.index(x.size() - 2);
  if (failed(s.check(op, s.equal(grid.back(), spatial),
                     "the grid has {0} coordinates for {1} spatial dimensions", grid.back(),
                     spatial)) ||
      failed(s.check(op, s.equal(x[0], grid[0]), "batch sizes {0} and {1} of X and grid differ",
                     x[0], grid[0])))
    return failure();
  Sizes result{x[0], x[1]};
  result.append(grid.begin() + 1, grid.end() - 1);
  if (failed(checkInputElements(s, op, x, result)))
    return failure();
  return result;
}

void registerSamplingRules(RuleTable &table) {
  table["GridSample"] = {fromSizes<inferGridSample>};
}

} // namespace cameo::onnx
