// How descriptions move elements: reshapes, slices, transpositions, paddings, and linalg operations
// that yield what they read.
//
// All of it is read backwards: an affine map from where an element is to where it comes from.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <memory>
#include <optional>

namespace cameo {

/// Which element of a tensor an element of a result comes from.
struct Read {
  mlir::Value tensor;
  mlir::AffineMap map; // of the indices of the result
};

/// What the elements of an operation's result are, where they are elements of one tensor, perhaps
/// widened: reshapes, slices, casts, linalg operations that yield what they read.
std::optional<Read> movement(mlir::OpResult result);

/// Indices of a result of a linalg operation without reductions to its loops; null where several
/// loops, or none, write a place.
mlir::AffineMap loopsOfResult(mlir::linalg::GenericOp generic, unsigned result);

/// Indices of an operation's operand to those of its result, where it reshapes that; null for others.
mlir::AffineMap reshapedTo(mlir::Operation *op);

/// Loops to the indices of a tensor.extract in the operation's body; null where they are more than
/// affine, or sizes are known only at run time.
mlir::AffineMap extractedAt(mlir::linalg::GenericOp generic, mlir::tensor::ExtractOp extract);

/// The map without dimensions of extent 1, and without divisions where the extents say what their
/// results are.
mlir::AffineMap simplifiedWithin(mlir::AffineMap map, llvm::ArrayRef<int64_t> extents);

/// The same, where sums of a number's digits are that number: of what is reshaped, and back.
mlir::AffineMap withJoinedDigits(mlir::AffineMap map, llvm::ArrayRef<int64_t> extents);

/// `number` / `divisor`, of which the remainder by `modulus` (0: all of it), and how often that is
/// counted.
struct NumberDigit {
  mlir::AffineExpr number;
  int64_t divisor, modulus, factor;

  mlir::AffineExpr expr() const {
    mlir::AffineExpr digit = number.floorDiv(divisor);
    return (modulus ? digit % modulus : digit) * factor;
  }
};

/// What is added up in an expression, each as a digit.
llvm::SmallVector<NumberDigit> digitsOf(mlir::AffineExpr expr);

/// The map's result as factors of its dimensions and a constant behind them; nothing where it has
/// divisions.
std::optional<llvm::SmallVector<int64_t>> factorsOf(mlir::AffineMap map, unsigned result);
bool isLinear(mlir::AffineMap map);

/// An index that is computed from memory, such as a Gather's.
struct ReadIndex {
  mlir::linalg::GenericOp generic;
  mlir::Value value;     // of the operation's body
  mlir::AffineMap loops; // to those of the operation
  unsigned dim;          // of what is read there
};

/// Which element of a tensor an element of a linalg operation's result is, where one index, not
/// that of neighbours in memory, is computed from memory. In its place `map`, of the result's
/// indices, has the sum of those that it depends on: what is aligned and what is consecutive does
/// not depend on which index it is.
struct Gathered {
  mlir::Value tensor;
  mlir::AffineMap map;
  ReadIndex index; // `loops` is of the result's indices
};

/// Nothing where it is none such.
std::optional<Gathered> gathered(mlir::OpResult result);

/// How an operation reads a tensor through what only moves it.
struct Access {
  mlir::Value tensor;      // what `map` gives indices of: what is padded on the way, or the source
  mlir::tensor::PadOp pad; // null where nothing is padded
  mlir::Value source;      // a block argument where it is memory
  mlir::AffineMap map;     // of loops
  mlir::AffineMap beneath; // indices of what the pad pads to those of the source
  mlir::Type elementType;  // as the operation reads it, perhaps wider than the source's
  std::shared_ptr<const ReadIndex> index = nullptr; // where one is read from memory: see Gathered

  /// Loops to indices of the source, but for how far padding moves them.
  mlir::AffineMap place() const { return pad ? beneath.compose(map) : map; }
};

/// `map` is of loops of these extents (kDynamic where unknown).
Access accessOf(mlir::Value tensor, mlir::AffineMap map, llvm::ArrayRef<int64_t> extents);

/// Follows an access further through what moves elements, but not through padding, up to any of
/// `ends`.
void follow(Access &access, llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<mlir::Value> ends = {});

} // namespace cameo
