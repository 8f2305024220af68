// What a plan computes on the host where sizes that only a run knows are taken for a stated number:
// for reports, which want figures of models with symbolic sizes too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/UnknownSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cameo {

class AssumedSizes {
public:
  /// Looks through the plan once.
  explicit AssumedSizes(mlir::func::FuncOp plan);

  /// Nothing where it depends on the values of an input, or where the plan would refuse these
  /// sizes.
  std::optional<int64_t> of(mlir::Value value) const;
  /// The same of a floating-point number.
  std::optional<double> numberOf(mlir::Value value) const;
  /// Whether a size was taken for kUnknownSize at all.
  bool areAssumed() const { return assumed; }

private:
  void evaluate(mlir::Operation &op);
  void layOut(mlir::Operation &op);
  void set(mlir::Value value, int64_t number);

  llvm::DenseMap<mlir::Value, mlir::Attribute> known;
  bool assumed = false, refused = false;
};

} // namespace cameo
