// Elementwise work seen from one of its results: which elements of memory an element is computed
// from, and how.
//
// Loads and arithmetic are apart, so that a kernel can load many elements before it computes on the
// first one, and several at once where they are neighbours.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/form/Movement.h"

namespace cameo {

/// See the file comment.
struct Elementwise {
  /// A value of the computation, for one element.
  struct Term {
    enum class Kind {
      Read,    // element of memory
      Given,   // element of a tensor that is given
      Scalar,  // `value`: of the dispatch's body, or the splat constant that is its definition
      Computed // `value`: a result of a linalg.generic, of which `inputs` are the arguments
    };
    Kind kind;
    mlir::Value value;                  // of what is given: the tensor
    mlir::AffineMap place;              // of what is given: where it is read
    unsigned read = 0;                  // which
    llvm::SmallVector<unsigned> inputs; // terms; kUnused for what the operation does not read
    mlir::Type type;                    // as others read it, perhaps wider
  };
  static constexpr unsigned kUnused = ~0u;

  /// Places in memory, each once.
  llvm::SmallVector<Access> reads;
  /// Each after those that it takes; the last is the element.
  llvm::SmallVector<Term> terms;

  /// Whether the element is one of memory, as it is.
  bool isMemory() const { return terms.size() == 1 && terms[0].kind == Term::Kind::Read; }
};

/// How elements at `access` are computed, by work that is the same for every element. Reads are
/// padded where `access` is, and nowhere else. `given` are tensors whose elements are at hand.
/// Nothing where a value depends on more than elements at one place of each tensor. With
/// `mayGather` one index of a place may be read from memory.
std::optional<Elementwise> elementwiseOf(const Access &access, llvm::ArrayRef<int64_t> extents,
                                         llvm::ArrayRef<mlir::Value> given = {},
                                         bool mayGather = false);

/// Neighbours along `loops` (the innermost last) for which the map gives the same place: a number
/// that groups of so many begin at multiples of; kDynamic where all of them have it.
int64_t sameAlong(mlir::AffineMap map, llvm::ArrayRef<unsigned> loops,
                  llvm::ArrayRef<int64_t> ranges);

} // namespace cameo
