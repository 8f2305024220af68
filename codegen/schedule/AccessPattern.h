// Which dimensions of a dispatch's operands neighbouring threads go along, and what that costs in
// memory traffic for each order in which the operands may be stored.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/PermuteDispatch.h"
#include "dialects/kernel/form/UnknownSizes.h"

#include "llvm/ADT/BitVector.h"

namespace cameo {

/// Orders of a dispatch's operands: its inputs, then its results.
using OperandOrders = llvm::ArrayRef<DimOrder>;

/// Bytes that memory moves at once.
inline constexpr double kSectorBytes = 32;

/// From one element to the next along each dimension of a tensor that is stored in this order.
llvm::SmallVector<double> stridesIn(mlir::RankedTensorType type, llvm::ArrayRef<unsigned> order);
double tensorBytes(mlir::RankedTensorType type);
/// How many times the bytes that are asked for are moved where neighbours are `distance` elements
/// apart: memory moves in sectors of 32 bytes.
double sectorFactor(double distance, mlir::RankedTensorType type);

class AccessPattern {
public:
  explicit AccessPattern(kernel::DispatchOp op);

  /// A dimension of an operand, inputs first.
  struct Place {
    unsigned operand, dim;
    bool operator==(const Place &other) const {
      return operand == other.operand && dim == other.dim;
    }
  };
  /// By dimension of the first result: the dimensions of other operands that an index along it is
  /// an index of, perhaps times a stride or plus a window's tap.
  llvm::SmallVector<llvm::SmallVector<Place>> alike;

  /// Bytes that are moved if operands are stored so, but for those of `apart`. Threads go along the
  /// first result as it is stored or, where they may, along what is reduced; where the dispatch may
  /// turn operands in shared memory, these count as what that takes.
  double bytesMoved(OperandOrders orders, const llvm::BitVector &apart, bool mayGoAlongReduced,
                    bool mayTurn = true) const;
  /// Elements between what neighbours read of an input, along the first result.
  double distance(unsigned input, OperandOrders orders) const;

  llvm::SmallVector<mlir::RankedTensorType> types; // of operands

private:
  /// The dimension of the first result along which its elements follow one another.
  std::optional<unsigned> innermost(OperandOrders orders) const;
  /// How many times its bytes are moved for an operand that a dispatch turns in shared memory;
  /// nothing where it cannot.
  std::optional<double> turned(unsigned operand, OperandOrders orders) const;
  /// The result's dimensions that an operand's are, outermost first, without those of extent 1.
  llvm::SmallVector<unsigned> dimensionsOfResult(unsigned operand,
                                                 llvm::ArrayRef<unsigned> order) const;
  /// How operands move when threads go one further. By operand: steps along its dimensions; none
  /// where it is not read.
  using Walk = llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<int64_t>, 1>>;
  Walk walkFrom(kernel::DispatchOp op, mlir::Value value, llvm::ArrayRef<int64_t> step,
                mlir::Operation *loopsOf);
  double bytesMoved(OperandOrders orders, const llvm::BitVector &apart, const Walk &walk,
                    bool mayTurn) const;

  unsigned inputs;
  bool isElementwise = true;
  llvm::SmallVector<Walk> alongResult;  // by dimension of the first result
  llvm::SmallVector<Walk> alongReduced; // innermost loops of reductions
};

} // namespace cameo
