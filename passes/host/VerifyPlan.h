// Are launch plans right, by what their steps read and write alone? Nothing here knows how memory
// was planned, or what the planner takes lifetimes for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/InPlace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cameo {

/// A planned entry function is wrong if two values of one segment's arena are in use at the same time and share a
/// byte. A value is in use from the first step that has its buffer, or a part of it, to the last.
/// Where sizes are known only at run time, what `rt.lay_out_arena` is told covers these steps.
/// Takes n log n. Fails after a diagnostic.
llvm::LogicalResult verifyArena(mlir::func::FuncOp plan);

/// The reads and writes of each step of an entry function on tensors, to be held against the plan
/// that the function becomes.
class PlannedValues {
public:
  explicit PlannedValues(mlir::func::FuncOp function);

  /// Each step of the plan must find the values that it reads in the buffers that it has, if these
  /// are apart from each other (verifyArena), and outputs must have theirs. Parts of a storage are
  /// one value, whose places in it are not looked at. Fails after a diagnostic.
  llvm::LogicalResult verify(mlir::func::FuncOp plan) const;

private:
  static constexpr int kNothing = -1; // of tensors that nobody has written, such as tensor.empty
  /// A tensor's value. `isOpen`: a storage, or what has been written to a part of one, whose other
  /// parts may be written later.
  struct Content {
    int value = kNothing;
    bool isOpen = false;
  };
  struct Operand {
    unsigned position;
    int read, written; // values
  };
  struct Launch {
    llvm::SmallVector<Operand, 4> operands;
  };

  int newValue(mlir::Location name) {
    names.push_back(name);
    return names.size() - 1;
  }
  void add(mlir::Operation &op);
  void addLaunch(rt::LaunchOp launch);
  void addBlock(mlir::Block &block);
  void addBranch(rt::BranchOp branch);
  void addRepeat(rt::RepeatOp repeat);
  void hand(mlir::Value tensor) { handed.push_back(contents.lookup(tensor).value); }
  /// A new value, which a region is given or gives.
  void receive(mlir::Value tensor);
  void addReturn(mlir::func::ReturnOp end);
  std::string nameOf(int value) const;

  std::vector<mlir::Location> names; // by value
  llvm::DenseMap<mlir::Value, Content> contents;
  llvm::DenseMap<mlir::Attribute, int> constants; // by symbol
  int random = kNothing;                          // what random numbers are drawn by
  std::vector<Launch> launches;                   // in their order
  llvm::SmallVector<int> inputs, outputs, scalars, fetched;
  llvm::SmallVector<int> taps;                      // by their numbers
  llvm::SmallDenseMap<unsigned, unsigned> outputOf; // that inputs become after each run
  llvm::SmallVector<int> handed;                    // over borders of regions, in order

  class Run;
};

} // namespace cameo
