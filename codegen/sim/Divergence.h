// Uniformity analysis: which values are the same for all lanes of a warp, and which blocks are in
// divergent regions, where lanes may take different ways. docs/simulator/vectorisation.md compares
// it with LLVM's.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueMap.h"

#include <array>
#include <memory>
#include <string>

namespace cameo {

constexpr unsigned kWarpLanes = 32;

/// What is known of a value's 32 copies.
struct LaneShape {
  enum Kind { Uniform, Affine, Divergent };
  Kind kind = Uniform;
  /// Affine: lane l has u + offset[l], u unknown but the same for all and a multiple of 2^align.
  std::array<int64_t, kWarpLanes> offset{};
  unsigned align = 0;
  bool operator==(const LaneShape &other) const {
    return kind == other.kind &&
           (kind != Affine || (offset == other.offset && align == other.align));
  }
};

/// Computed for a function whose lane number is the call `lane`; null: it has none. Private variables
/// must have been given a place for each lane: allocas are the warp's.
class Divergence {
public:
  Divergence(llvm::Function &function, const llvm::Instruction *lane,
             const llvm::PostDominatorTree &postDominators);

  /// Why the function has no vectorised form, or empty.
  const std::string &problem() const { return problem_; }

  /// Whether all lanes have the same value wherever the whole warp comes by.
  bool isUniform(const llvm::Value *value) const { return shape(value).kind == LaneShape::Uniform; }

  /// Whether no two lanes have the same value.
  bool differsBetweenLanes(const llvm::Value *value) const;

  /// Whether a condition is known to vary between lanes: it compares the lane's number, or a value
  /// derived from it, with a constant that lies between lanes.
  bool isKnownVarying(const llvm::Value *condition) const;

  /// Makes known an instruction that was added since, of which each lane has its own result.
  void addDivergent(const llvm::Instruction &instruction) {
    (*shapes_)[&instruction].kind = LaneShape::Divergent;
  }

  /// Whether lanes may come to `block` at different times, or some not at all: it lies between a
  /// divergent branch and the block where all ways from there meet again.
  bool isInDivergentRegion(const llvm::BasicBlock *block) const {
    return divergentRegion_.contains(block);
  }

  /// Whether both are in the divergent region of the same branches.
  bool isSameRegion(const llvm::BasicBlock *a, const llvm::BasicBlock *b) const {
    return regions_.isEquivalent(a, b);
  }

  LaneShape shape(const llvm::Value *value) const;

private:
  LaneShape evaluate(const llvm::Instruction &instruction) const;
  bool isFromOneLane(const llvm::CallInst &call) const;
  LaneShape evaluatePhi(const llvm::PHINode &phi) const;
  bool addDivergentRegion(const llvm::BasicBlock &branching,
                          const llvm::PostDominatorTree &postDominators);

  const llvm::Instruction *lane_;
  /// Instructions are erased while this is in use, and others are made, some at the same addresses:
  /// a value's entry ends with it.
  struct Forgetting : llvm::ValueMapConfig<const llvm::Value *> {
    enum { FollowRAUW = false };
  };
  using Shapes = llvm::ValueMap<const llvm::Value *, LaneShape, Forgetting>;
  std::unique_ptr<Shapes> shapes_ = std::make_unique<Shapes>(); // which cannot be moved
  llvm::SmallPtrSet<const llvm::BasicBlock *, 16> divergentRegion_, joins_;
  llvm::EquivalenceClasses<const llvm::BasicBlock *> regions_;
  std::string problem_;
};

} // namespace cameo
