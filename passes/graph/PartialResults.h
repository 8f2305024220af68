// Constants that are added one after another, or multiplied, as one constant.
//
// That is not always the same. (x + 12582912) - 12582912 is x rounded to an integer, and
// x * 1e30 * 1e30 * 1e-60 is infinite unless x is next to nothing: constants stay apart where what
// they come to on the way is far beyond what they come to in the end, or where one number has fewer
// digits than they have.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/graph/Elements.h"

#include <string>

namespace cameo {

/// By how much a result on the way may be beyond those at both ends: three bits. Of a sum no more
/// digits are lost, and of a type's range that is what products do without.
inline constexpr double kMostDetour = 8;

/// Elements that constants come to together, and how far they go on the way.
class PartialResults {
public:
  PartialResults(bool multiplies, size_t count)
      : total(count, multiplies ? 1.0 : 0.0), multiplies(multiplies), least(count, 1.0),
        most(total), hasZero(count, false) {}

  void add(llvm::ArrayRef<double> numbers);
  /// Every element becomes several: those that `from` has the indices of.
  void spread(llvm::ArrayRef<int64_t> from);
  /// Why one constant of the type would not do the work of all; empty where it does.
  std::string whyApart(mlir::FloatType type) const;

  std::vector<double> total;

private:
  bool multiplies;
  std::vector<double> least, most; // magnitudes on the way
  std::vector<bool> hasZero;       // a factor
};

/// The same of constants of several shapes that broadcast to one.
class MergedConstants {
public:
  explicit MergedConstants(bool multiplies) : results(multiplies, 1) {}

  /// Takes a constant with the numbers that it stands for. False, and nothing is done, where that
  /// would make more numbers than are in either, or where types differ.
  bool add(mlir::ElementsAttr constant,
           llvm::function_ref<std::vector<double>(std::vector<double>)> numbers);
  std::string whyApart() const { return results.whyApart(elementType()); }
  /// Null, with a reason, where a number would leave the type's range.
  mlir::ElementsAttr value(llvm::StringRef name, std::string &why) const;

private:
  mlir::FloatType elementType() const { return mlir::cast<mlir::FloatType>(type.getElementType()); }

  PartialResults results;
  mlir::RankedTensorType type; // null before the first
  bool isSplat = true;         // results are of one element, whatever the type
};

} // namespace cameo
