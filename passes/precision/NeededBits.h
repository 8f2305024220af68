// Values that have to keep their bits, for what is made of them or for what they are.
//
// An angle of 300 that is rounded to FP16 is off by 0.1, and its sine is another number: it is no use that
// Sin computes in FP32 if what it reads was rounded before. So nodes whose results lead to operators that
// depend on such bits compute in FP32, through data movement, elementwise work, sums and one product, up to
// operators whose results do not grow with what they read. Integers that the type does not have all of are
// kept from it as well, for they are counted, compared and subtracted. And what is computed from inputs alone is done
// before anything is rounded, up to products and to what does not grow with what it reads: inputs are stored in FP32,
// any number may come, and of a pressure of 101,000 what counts is how far it is from the mean of all.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/precision/NumberRanges.h"

namespace cameo {

class NeededBits {
public:
  NeededBits(mlir::func::FuncOp function, const NumberRanges &ranges, Precision precision);

  /// Why a node computes in FP32, whatever casts cost; empty where nothing asks for it.
  std::string whyOf(mlir::Operation *op) const;
  /// True of an Attention whose mask is a bias with large numbers, which its scores must not be rounded beside.
  bool hasLargeBias(mlir::Operation *op) const;

private:
  /// An operator that a value leads to, and how many products may be between.
  struct Need {
    mlir::Operation *reader = nullptr;
    unsigned products = 0;
    /// Small numbers alone must not be lost: what is squared is not as small, and no product in front of it asks for more.
    bool isGuard = false;
    /// A product is between already, of which squares in front of it may be the operand.
    bool isBehindProduct = false;

    bool goesFurtherThan(const Need &other) const {
      return !other.reader || products > other.products ||
             (products == other.products && other.isGuard && !isGuard);
    }
  };

  void ask(mlir::Value value, Need need);
  std::optional<Need> needOf(mlir::Operation *op, unsigned operand) const;
  void passOn(mlir::Operation *op);
  bool isLargeInteger(mlir::Operation *op) const;
  bool leavesRest(mlir::Operation *op) const;
  void findInputWork(mlir::Block &block);
  void findRunningSums(mlir::Block &block);
  void findLargeBiases(mlir::Block &block);

  const NumberRanges &ranges;
  Precision precision;
  llvm::DenseMap<mlir::Value, Need> needs;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> readers; // of what a node makes
  llvm::DenseSet<mlir::Value> integers;                         // that the type may not have
  llvm::DenseSet<mlir::Value> runningSums;                      // and their differences
  llvm::DenseSet<mlir::Value> largeBiases;                      // of scores, and the scores
  llvm::DenseSet<mlir::Operation *> inputWork; // on inputs alone, and what moves them to it
};

} // namespace cameo
