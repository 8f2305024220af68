// Following elements through elementwise work: which element of something each of several values
// was computed from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Movement.h"

#include "llvm/ADT/DenseMap.h"

namespace cameo {

/// Visits the operands whose elements the operation or its body reads, not those that only say how
/// large something is.
void forEachRead(mlir::Operation *op, llvm::function_ref<void(mlir::OpOperand &)> visit);

/// Values whose elements each belong to one place: the indices of an element give its place.
class Places {
public:
  /// Elements of `value` are where `map` of their indices says.
  void set(mlir::Value value, mlir::AffineMap map) { maps[value] = map; }
  /// Null where nothing is known.
  mlir::AffineMap lookup(mlir::Value value) const { return maps.lookup(value); }
  bool contains(mlir::Value value) const { return maps.contains(value); }

  /// The one place of all elements with a place that the operation reads for an element, of its
  /// loops where it is a linalg.generic, else of its result's indices. Null where it reads none;
  /// failure where it reads several places, or more than one can tell.
  llvm::FailureOr<mlir::AffineMap> placeRead(mlir::Operation *op) const;

  /// Gives the results of an operation that computes each element from one place that place.
  /// Failure where it does not.
  llvm::LogicalResult follow(mlir::Operation *op);

private:
  llvm::DenseMap<mlir::Value, mlir::AffineMap> maps;
};

} // namespace cameo
