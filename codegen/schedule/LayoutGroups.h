// Which tensors between dispatches are stored alike.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/PermuteDispatch.h"
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace cameo {

/// Tensors that are in one another's memory (views, what was written to them, reshapes) must have
/// one order, those that dispatches walk together should. Dimensions of such tensors that go with
/// one another are a class: a group is stored as imported, or with the dimensions of one class
/// innermost and all others as they were.
class LayoutGroups {
public:
  explicit LayoutGroups(mlir::func::FuncOp function);

  //===-- While groups are made ---------------------------------------------------------------===//
  /// Whether the order in which a tensor is stored is to be chosen.
  bool isFree(mlir::Value value) const;
  void fix(mlir::ValueRange values, llvm::StringRef reason);
  /// That a dispatch goes along these dimensions together.
  void relate(mlir::Value a, unsigned dimA, mlir::Value b, unsigned dimB);
  void finish();

  //===-- Then --------------------------------------------------------------------------------===//
  unsigned size() const { return members.size(); }
  std::optional<unsigned> groupOf(mlir::Value value) const;
  llvm::ArrayRef<mlir::Value> valuesOf(unsigned group) const { return members[group]; }
  /// The class that is innermost, nothing for as imported.
  std::optional<unsigned> innermost(unsigned group) const { return chosen[group]; }
  void setInnermost(unsigned group, std::optional<unsigned> dims);
  /// Everything that setInnermost may be given. Sizes known only at run time stay outside, where
  /// they are not a stride.
  llvm::SmallVector<std::optional<unsigned>> candidates(unsigned group) const;
  /// The class of the second of three or more dimensions, nothing where no value has that many.
  std::optional<unsigned> channels(unsigned group) const;
  /// Empty where as imported.
  DimOrder orderOf(mlir::Value value) const;
  mlir::RankedTensorType formerType(mlir::Value value) const;
  /// Values of the group with readers that take them only as they were.
  llvm::ArrayRef<mlir::Value> neededAsImported(unsigned group) const { return needed[group]; }
  bool needsAsImported(mlir::OpOperand &use) const { return asImported.contains(&use); }
  /// Values that keep their order, and why: one of each set of those in one another's memory.
  llvm::SmallVector<std::pair<mlir::Value, llvm::StringRef>> fixedValues() const;

private:
  struct Member {
    mlir::RankedTensorType type; // as imported
    unsigned number, firstDim;
  };

  void add(mlir::Value value);
  void join(mlir::Operation *op);
  void joinReshape(rt::ReshapeOp reshape);
  /// Of values in one another's memory; where only one of them is a member, that is fixed.
  void join(mlir::Value a, mlir::Value b);
  void joinDims(mlir::Value a, unsigned dimA, mlir::Value b, unsigned dimB);
  void findFixed(mlir::Value value);

  llvm::MapVector<mlir::Value, Member> known;
  unsigned dims = 0;
  llvm::IntEqClasses memory;                         // of values: in one another's memory
  llvm::IntEqClasses classes;                        // of dimensions
  llvm::IntEqClasses alike;                          // of values: to be decided together
  llvm::DenseMap<unsigned, llvm::StringRef> reasons; // of fixed ones, by leader in `memory`
  llvm::SmallVector<std::pair<mlir::Value, llvm::StringRef>> toFix;
  llvm::DenseSet<mlir::OpOperand *> asImported;
  llvm::DenseSet<mlir::Value> asImportedValues;

  llvm::DenseMap<unsigned, unsigned> groups;                         // by leader in `alike`
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> members, needed; // by group
  llvm::SmallVector<std::optional<unsigned>> chosen;
  llvm::DenseMap<mlir::Value, DimOrder> orders;
};

} // namespace cameo
