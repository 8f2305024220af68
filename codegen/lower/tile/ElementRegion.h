// Regions of tile operations, and what they read.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace cameo {

/// A tile operation's region, to be inlined for one element after the other. What may run for
/// elements that are outside is told apart from what may not (loads, above all).
class ElementRegion {
public:
  /// `condition` is the number of the yielded value that says whether an element is inside;
  /// arguments from number `loaded` on are there only for elements that are.
  ElementRegion(mlir::Block &body, unsigned condition, unsigned loaded = ~0u);

  /// What every element may compute, and with `withCondition` also whether it is inside.
  void inlineUnguarded(mlir::OpBuilder &builder, mlir::IRMapping &values, bool withCondition) const;
  /// The rest, for elements that are inside.
  void inlineGuarded(mlir::OpBuilder &builder, mlir::IRMapping &values, bool withCondition) const;
  /// Whether what it yields is there for elements that are inside only.
  bool isGuarded(unsigned number) const;
  /// What the region yields for the element of `values`.
  mlir::Value result(mlir::IRMapping &values, unsigned number) const;

private:
  bool isGuarded(mlir::Operation *op, bool withCondition) const;

  mlir::Block &body;
  llvm::SmallPtrSet<mlir::Operation *, 8> conditionSlice;
  llvm::SmallPtrSet<mlir::Operation *, 8> guarded;
};

/// Sources of which a thread loads what a group of neighbouring elements needs, before anything is
/// computed: of each source the whole group at once, pieces of it, or one element for all.
class SourceGroup {
public:
  /// `widths` as tile operations have them.
  SourceGroup(mlir::ValueRange sources, llvm::ArrayRef<int64_t> widths, int64_t vector);

  /// Of what `load` gives of a source.
  llvm::SmallVector<mlir::Type> types(unsigned source) const;
  /// `offset` is asked for the place in a source of one of the group's elements.
  llvm::SmallVector<mlir::Value>
  load(mlir::OpBuilder &builder, mlir::Location loc,
       llvm::function_ref<mlir::Value(unsigned source, int64_t element)> offset) const;
  /// Of a source, the element that was loaded for an element of the group.
  mlir::Value element(mlir::OpBuilder &builder, mlir::Location loc,
                      llvm::ArrayRef<mlir::Value> loaded, unsigned source, int64_t element) const;
  /// All of them as one value.
  mlir::Value whole(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::ArrayRef<mlir::Value> loaded, unsigned source, int64_t vector) const;

private:
  struct Source {
    mlir::Value memory;
    mlir::Type element;
    int64_t width, pieces;
    unsigned first; // piece
  };
  llvm::SmallVector<Source> sources;
};

} // namespace cameo
