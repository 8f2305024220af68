// Which values of a kernel of the device stage may be undefined: derived from llvm.mlir.undef or
// poison, or read from a local array before it has been written. Told element by element, so that
// a vector that is put together from an undefined one is defined once all of it has been inserted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace cameo {

/// How many elements a value of `type` has: of vectors, and of structs and arrays all in a row.
/// 0: none that can be told apart.
unsigned countElements(mlir::Type type);

/// What an address is within a local array, or null: the array.
mlir::LLVM::AllocaOp localArrayOf(mlir::Value address);

/// Whether an operation computes its one result from its operands alone, so that it is undefined
/// where they are, and nothing else happens.
bool carriesOperands(mlir::Operation *op);

class UndefinedValues {
public:
  explicit UndefinedValues(mlir::LLVM::LLVMFuncOp kernel);

  /// Whether any element of `value` may be undefined.
  bool mayBe(mlir::Value value) const { return elements.count(value); }

  /// Whether all accesses of a local array are known, so that what is read can be told.
  bool isKnown(mlir::LLVM::AllocaOp array) const { return array && known.contains(array); }

  /// Where what may be undefined in `value` comes from, if that is one place: llvm.mlir.undef or
  /// poison, or a local array; else null.
  mlir::Operation *originOf(mlir::Value value) const;

private:
  bool update(mlir::Value value, const llvm::BitVector &more);
  void visit(mlir::Operation *op);
  llvm::BitVector get(mlir::Value value) const;
  llvm::BitVector resultOf(mlir::Operation *op) const;

  llvm::DenseMap<mlir::Value, llvm::BitVector> elements; // those with one at least
  llvm::SmallPtrSet<mlir::Operation *, 8> known;
  llvm::SetVector<mlir::Operation *> work;
};

} // namespace cameo
