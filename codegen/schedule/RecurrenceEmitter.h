// Writing kernels of recurrent networks: places of threads, their sums, results.
//
// RecurrenceKernel.cpp writes those of all steps, RecurrenceStepKernel.cpp those of one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/RecurrenceKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>

namespace cameo {

/// Matrix instructions for the gates of a phase: two gates of eight units each.
inline int64_t tilesOf(int64_t gates) { return llvm::divideCeil(gates, 2); }

/// Of a kernel that is being written.
class RecurrenceEmitter {
protected:
  /// One unit of one row, whose states a thread has. Others may have the same ones.
  struct Cell {
    mlir::Value row, unit;
    mlir::Value vectorRow; // in the block
    mlir::Value isOwn;     // whether this thread stores it for other threads
    mlir::Value isStored;  // the same, of rows that there are
    mlir::Value length;    // steps of the row; null: all
    llvm::SmallVector<mlir::Value> parameters;
  };

  /// Operands of matrix instructions: by step along the depth, four registers for two gates.
  using Fragments = llvm::SmallVector<std::array<mlir::Value, 4>>;

  /// A thread's units and its part of their sums.
  struct Place {
    mlir::Value part, unit; // the first of its units
    mlir::Value depth;      // of Tensor Cores' products: where the part begins
    mlir::Value isInside;   // null: always
    llvm::SmallVector<Cell> cells;
    llvm::SmallVector<llvm::SmallVector<Fragments>> kept; // by phase and two gates
  };

  RecurrenceEmitter(KernelWriter &kernel, kernel::RecurrenceOp op, const RecurrenceForm &form)
      : kernel(kernel), b(kernel.b), loc(kernel.loc), op(op), form(form), units(op.getUnits()),
        type(op.getComputeType()), stateType(getElementTypeOrSelf(op.getInitial().front())) {}

  //===-- Indices ---------------------------------------------------------------------------===//
  mlir::Value constant(int64_t value) { return kernel.constant(value); }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y) {
    return b.create<mlir::arith::CmpIOp>(loc, predicate, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return !x ? y : !y ? x : b.create<mlir::arith::AndIOp>(loc, x, y).getResult();
  }
  mlir::Value quotient(mlir::Value x, int64_t by) {
    return by == 1 ? x : b.create<mlir::arith::DivUIOp>(loc, x, constant(by)).getResult();
  }
  mlir::Value remainder(mlir::Value x, int64_t by) {
    return by == 1 ? constant(0) : b.create<mlir::arith::RemUIOp>(loc, x, constant(by)).getResult();
  }
  mlir::Value minimum(mlir::Value x, mlir::Value y) {
    return b.create<mlir::arith::MinUIOp>(loc, x, y);
  }
  /// Indices of a state's element, of an input's or of the sequence's.
  llvm::SmallVector<mlir::Value> stateIndices(const Cell &cell) const {
    if (op.getRowsFirst())
      return {cell.row, direction, cell.unit};
    return {direction, cell.row, cell.unit};
  }
  llvm::SmallVector<mlir::Value> inputIndices(const Cell &cell, mlir::Value step,
                                              mlir::Value gate) const {
    if (op.getRowsFirst())
      return {cell.row, step, direction, gate, cell.unit};
    return {step, cell.row, direction, gate, cell.unit};
  }
  llvm::SmallVector<mlir::Value> sequenceIndices(const Cell &cell, mlir::Value step) const {
    if (op.getRowsFirst())
      return {cell.row, step, direction, cell.unit};
    return {step, direction, cell.row, cell.unit};
  }

  //===-- Numbers ---------------------------------------------------------------------------===//
  mlir::Value wide(mlir::Value value) {
    return value.getType() == type ? value
                                   : b.create<mlir::arith::ExtFOp>(loc, type, value).getResult();
  }
  mlir::Value narrow(mlir::Value value) {
    return stateType == type ? value
                             : b.create<mlir::arith::TruncFOp>(loc, stateType, value).getResult();
  }
  mlir::Value zero() { return b.create<mlir::arith::ConstantOp>(loc, b.getZeroAttr(type)); }
  void inBranch(mlir::Value condition, llvm::function_ref<void()> emitBranch) {
    if (!condition)
      return emitBranch();
    auto branch = b.create<mlir::scf::IfOp>(loc, condition, false);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitBranch();
  }

  //===-- Parts -----------------------------------------------------------------------------===//
  mlir::Value ownUnit(mlir::Value unit) { return firstUnit ? kernel.add(firstUnit, unit) : unit; }
  void findBlock();
  void findPlaces();
  void findCells(Place &place);
  Cell cellAt(mlir::Value unit, mlir::Value row, mlir::Value isOwn);
  mlir::Value laneBit(const Place &place, int64_t mask) {
    mlir::Value bits = b.create<mlir::arith::AndIOp>(loc, place.part, constant(mask));
    return compare(mlir::arith::CmpIPredicate::ne, bits, constant(0));
  }
  /// By unit and row of a block, and gate: sums of a thread's part.
  using Sums = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;
  /// Of all parts, for the cells of the thread.
  Sums exchange(const Place &place, Sums sums);
  void findMatrixPlaces();
  /// Weights of a unit's gate, `count` neighbours along the depth.
  llvm::SmallVector<mlir::Value> weightsAlong(mlir::Value depth, int64_t gate, mlir::Value unit,
                                              int64_t count);
  /// Sums of tiles, four registers each, and what a step along the depth adds to them.
  llvm::SmallVector<mlir::Value> multiplyTiles(llvm::ArrayRef<std::array<mlir::Value, 4>> weights,
                                               llvm::ArrayRef<mlir::Value> state,
                                               mlir::ValueRange before);
  /// By cell and gate, from the registers of tiles.
  static Sums sumsOfTiles(const Place &place, int64_t gates, mlir::ValueRange tiles);
  /// The offset at which a warp's lane leaves a sum that warps share.
  mlir::Value sharedSum(mlir::Value warp, int64_t sum, int64_t count, mlir::Value lane) {
    mlir::Value first = kernel.add(kernel.mul(warp, constant(count)), constant(sum));
    return kernel.add(kernel.mul(first, constant(kWarp)), lane);
  }
  /// The weights of two gates, the second one perhaps beyond `end`, at a step along the depth.
  std::array<mlir::Value, 4> fragment(const Place &place, int64_t gate, int64_t end,
                                      mlir::Value depth);
  void storeResult(mlir::Value destination, const Cell &cell, llvm::ArrayRef<mlir::Value> indices,
                   mlir::Value value);
  /// Where a row's step `number` is, and whether the row has it (null: always).
  std::pair<mlir::Value, mlir::Value> timeOf(const Cell &cell, mlir::Value number);

  KernelWriter &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mutable kernel::RecurrenceOp op;
  RecurrenceForm form;
  int64_t units;
  mlir::Type type, stateType;

  mlir::Value direction, isReverse; // the latter null where directions are alike
  mlir::Value firstRow, rows, steps;
  llvm::SmallVector<Place> places;
  mlir::Value firstUnit;         // of the block; null: 0
  mlir::Value laneRow, lanePair; // of a matrix: row, and the first of two columns or of the depth
};

} // namespace cameo
