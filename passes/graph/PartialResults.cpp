// Constants that are added one after another, or multiplied, as one constant.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/PartialResults.h"

#include "passes/graph/ConstantFolding.h"
#include "passes/graph/Weights.h"

#include "mlir/Dialect/Traits.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace cameo {

//===-- Elements ------------------------------------------------------------------------------===//

void PartialResults::add(ArrayRef<double> numbers) {
  for (size_t i = 0; i < total.size(); ++i) {
    double number = numbers[numbers.size() == 1 ? 0 : i];
    total[i] = multiplies ? total[i] * number : total[i] + number;
    least[i] = std::min(least[i], std::abs(total[i]));
    most[i] = std::max(most[i], std::abs(total[i]));
    hasZero[i] = hasZero[i] || number == 0;
  }
}

template <typename Vector> static Vector picked(const Vector &values, ArrayRef<int64_t> from) {
  Vector result(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    result[i] = values[from[i]];
  return result;
}

void PartialResults::spread(ArrayRef<int64_t> from) {
  total = picked(total, from);
  least = picked(least, from);
  most = picked(most, from);
  hasZero = picked(hasZero, from);
}

std::string PartialResults::whyApart(FloatType type) const {
  double normal = leastNormal(type);
  for (size_t i = 0; i < total.size(); ++i) {
    double end = std::abs(total[i]);
    auto reason = [&](double way, const char *effect) {
      std::string text;
      llvm::raw_string_ostream(text)
          << llvm::format("constants come to %g by way of %g, ", total[i], way) << effect;
      return text;
    };
    // Comparisons are false of what is no number.
    if (!multiplies) {
      if (!(most[i] <= kMostDetour * end))
        return reason(most[i], "which rounds what they are added to");
      continue;
    }
    const char *leaves = "where what they multiply may leave its type's range";
    if (!(most[i] <= kMostDetour * std::max(end, 1.0)))
      return reason(most[i], leaves);
    if (!(least[i] * kMostDetour >= std::min(end, 1.0)))
      return reason(least[i], leaves);
    if (!hasZero[i] && !(end >= normal))
      return reason(end, "which has fewer digits than normal numbers");
  }
  return "";
}

//===-- Shapes --------------------------------------------------------------------------------===//

bool MergedConstants::add(ElementsAttr constant,
                          function_ref<std::vector<double>(std::vector<double>)> numbers) {
  std::optional<Elements> given = Elements::of(constant);
  if (!given || computesIn(given->kind) == Computes::Not || given->count() == 0 ||
      !isa<FloatType>(given->type.getElementType()))
    return false;
  SmallVector<int64_t> shape(given->shape());
  if (type) {
    if (type.getElementType() != given->type.getElementType() ||
        !OpTrait::util::getBroadcastedShape(type.getShape(), given->shape(), shape))
      return false;
    auto both = RankedTensorType::get(shape, type.getElementType());
    if (both.getNumElements() > std::max(type.getNumElements(), given->count()))
      return false;
  }
  RankedTensorType before = type;
  type = RankedTensorType::get(shape, given->type.getElementType());
  // Equal elements remain one, however many they are.
  bool wasSplat = isSplat;
  isSplat = isSplat && given->isSplat();
  if (isSplat) {
    given->type = RankedTensorType::get({}, type.getElementType());
    results.add(numbers(readDoubles(*given)));
    return true;
  }
  auto indices = [&](ArrayRef<int64_t> from) {
    std::vector<int64_t> found(type.getNumElements());
    forEachOffset(shape, *broadcastStrides(from, shape), 0,
                  [&](int64_t at, int64_t offset) { found[at] = offset; });
    return found;
  };
  if (wasSplat || before != type)
    results.spread(indices(wasSplat ? ArrayRef<int64_t>() : before.getShape()));
  if (given->isSplat())
    given->type = RankedTensorType::get({}, type.getElementType());
  std::vector<double> list = numbers(readDoubles(*given));
  results.add(given->shape() == ArrayRef(shape) || list.size() == 1
                  ? list
                  : picked(list, indices(given->shape())));
  return true;
}

ElementsAttr MergedConstants::value(StringRef name, std::string &why) const {
  return roundedConstant(type, name, results.total, why);
}

} // namespace cameo
