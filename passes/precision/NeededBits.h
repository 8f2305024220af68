// Values that have to keep their bits, for what is made of them or for what they are.
//
// An angle of 300 that is rounded to FP16 is off by 0.1, and its sine is another number: it is no use that
// Sin computes in FP32 if what it reads was rounded before. So nodes whose results lead to operators that
// depend on such bits compute in FP32, through data movement, elementwise work, sums and one product, up to
// operators whose results do not grow with what they read. Integers that the type does not have all of are
// kept from it as well, for they are counted, compared and subtracted. And the first elementwise work on an input that
// shifts it is done before anything is rounded: the input is stored in FP32, and of a pressure of 101,000 what counts
// is how far it is from 101,325.
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

private:
  /// An operator that a value leads to, and how many products may be between.
  struct Need {
    mlir::Operation *reader = nullptr;
    unsigned products = 0;
  };

  void ask(mlir::Value value, Need need);
  bool asks(mlir::Operation *op, unsigned operand) const;
  void passOn(mlir::Operation *op);
  bool isLargeInteger(mlir::Operation *op) const;
  void findShifts(mlir::Value input);

  const NumberRanges &ranges;
  Precision precision;
  llvm::DenseMap<mlir::Value, Need> needs;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> readers; // of what a node makes
  llvm::DenseSet<mlir::Value> integers;                         // that the type may not have
  llvm::DenseSet<mlir::Operation *> shifts; // of an input, and what is in front of them
};

} // namespace cameo
