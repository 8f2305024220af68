// Folding of reductions. Sums of floats are taken in double in row-major order and rounded once.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ConstantFolding.h"

using namespace mlir;

namespace cameo {

namespace {
enum class Reduction { Sum, Mean, Prod, Max, Min };

struct Reduced {
  SmallVector<int64_t> shape;   // of the result
  SmallVector<int64_t> strides; // of the result, along the operand's dimensions
  int64_t each = 1;             // elements that make one
};
} // namespace

static std::optional<Reduced> reducedShape(Fold &fold) {
  ArrayRef<int64_t> from = fold.input(0).shape();
  SmallVector<int64_t> axes;
  if (!fold.absent(1)) {
    std::optional<SmallVector<int64_t>> given = fold.list(1);
    if (!given)
      return std::nullopt;
    axes = *given;
  }
  bool none = axes.empty() && fold.attribute("noop_with_empty_axes", 0) != 0;
  SmallVector<bool> gone(from.size(), axes.empty() && !none);
  for (int64_t given : axes) {
    std::optional<int64_t> axis = fold.axis(given, from.size());
    if (!axis)
      return std::nullopt;
    gone[*axis] = true;
  }
  Reduced reduced;
  reduced.strides.assign(from.size(), 0);
  int64_t stride = 1;
  for (int64_t i = static_cast<int64_t>(from.size()) - 1; i >= 0; --i) {
    if (gone[i]) {
      reduced.each *= from[i];
      continue;
    }
    reduced.strides[i] = stride;
    stride *= from[i];
  }
  for (auto [size, isGone] : llvm::zip(from, gone)) {
    if (!isGone)
      reduced.shape.push_back(size);
    else if (fold.attribute("keepdims", 1) != 0)
      reduced.shape.push_back(1);
  }
  return reduced;
}

template <typename C> static C combine(Reduction reduction, C a, C b) {
  switch (reduction) {
  case Reduction::Max:
    return a != a || a > b ? a : b;
  case Reduction::Min:
    return a != a || a < b ? a : b;
  case Reduction::Prod:
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    return a * b;
  case Reduction::Sum:
  case Reduction::Mean:
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    return a + b;
  }
  llvm_unreachable("all kinds are above");
}

template <typename C>
static LogicalResult reduce(Fold &fold, Reduction reduction, const Reduced &reduced,
                            int64_t count) {
  std::vector<C> numbers = readElements<C>(fold.input(0)), results(count);
  std::vector<bool> begun(count, false);
  forEachOffset(fold.input(0).shape(), reduced.strides, 0, [&](int64_t from, int64_t to) {
    results[to] = begun[to] ? combine(reduction, results[to], numbers[from]) : numbers[from];
    begun[to] = true;
  });
  if (reduction == Reduction::Mean)
    for (C &result : results)
      result /= static_cast<C>(reduced.each);
  return fold.yield(reduced.shape, writeElements<C>(fold.kind(), results));
}

/// Elements that are reduced at most: equal ones take no memory, however many they are.
static constexpr int64_t kMostReduced = 1 << 24;

template <Reduction reduction> static LogicalResult foldReduction(Fold &fold) {
  std::optional<Reduced> reduced = reducedShape(fold);
  std::optional<int64_t> count = reduced ? fold.count(reduced->shape) : std::nullopt;
  // No elements make what the operator says for itself; that is left to it.
  if (!count || fold.input(0).count() == 0 || fold.input(0).count() > kMostReduced)
    return failure();
  switch (computesIn(fold.input(0).kind)) {
  case Computes::Float:
  case Computes::Double:
    return reduce<double>(fold, reduction, *reduced, *count);
  case Computes::Signed:
    return reduction == Reduction::Mean ? failure()
                                        : reduce<int64_t>(fold, reduction, *reduced, *count);
  case Computes::Unsigned:
    return reduction == Reduction::Mean ? failure()
                                        : reduce<uint64_t>(fold, reduction, *reduced, *count);
  case Computes::Not:
    return failure();
  }
  return failure();
}

void registerReductionFolds(FoldRows &rows) {
  rows.add<onnx::ReduceSumOp>({foldReduction<Reduction::Sum>});
  rows.add<onnx::ReduceMeanOp>({foldReduction<Reduction::Mean>});
  rows.add<onnx::ReduceProdOp>({foldReduction<Reduction::Prod>});
  rows.add<onnx::ReduceMaxOp>({foldReduction<Reduction::Max>});
  rows.add<onnx::ReduceMinOp>({foldReduction<Reduction::Min>});
}

} // namespace cameo
