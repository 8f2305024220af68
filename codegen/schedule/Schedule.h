// Schedule classes: how a dispatch may be computed.
//
// Each class says whether it can compute a dispatch by matching what was read of it, once: the
// match is what it has recognised, and with it chooses parameters for a target, checks parameters
// it is given (they can be edited), and emits the launches. Classes are asked in order, from the
// most specific to `map`, which computes everything that its threads would not compute repeatedly;
// the rest is split (SplitDispatches.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/AccessPattern.h"
#include "codegen/schedule/KernelEmitter.h"
#include "codegen/target/Target.h"
#include "dialects/kernel/form/Computation.h"

namespace cameo {

/// A dispatch as a schedule class computes it on a target. It holds until the dispatch is changed.
class ScheduleMatch {
public:
  virtual ~ScheduleMatch() = default;
  /// The order in which the dimensions of an input (by position) that is a constant are wanted;
  /// empty: as they are.
  virtual llvm::SmallVector<unsigned> packing(unsigned) const { return {}; }
  /// Operands (inputs, then results) that are read in any order of their dimensions, whatever that
  /// of the results: of the others threads go along the same dimensions.
  virtual llvm::BitVector readApart() const;
  /// What the dispatch takes, in bytes of memory traffic, if its operands are stored in these
  /// orders; constants are packed as it wants them. What no order changes may be left out.
  virtual double layoutCost(const AccessPattern &pattern, OperandOrders orders) const;
  /// Parameters.
  virtual mlir::DictionaryAttr choose() const = 0;
  /// Whether parameters fit dispatch and target; emits an error where not.
  virtual llvm::LogicalResult verify(mlir::DictionaryAttr params) const = 0;
  /// Launches kernels made with `emitter` that compute the dispatch's results, and returns these.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>> emit(mlir::DictionaryAttr params,
                                                               KernelEmitter &emitter) const = 0;

protected:
  ScheduleMatch(kernel::DispatchOp op, const Target &target) : op(op), target(target) {}

  // MLIR's accessors are not const, so that const methods need a copy or this.
  mutable kernel::DispatchOp op;
  const Target &target;
};

class Schedule {
public:
  virtual ~Schedule() = default;
  /// Name in #kernel.schedule.
  virtual llvm::StringRef family() const = 0;
  /// Null where this class cannot compute the dispatch on the target.
  virtual std::unique_ptr<ScheduleMatch> match(const Computation &computation,
                                               const Target &target) const = 0;
};

/// The first class that can compute the dispatch, and its match; nulls where none can.
std::pair<const Schedule *, std::unique_ptr<ScheduleMatch>> matchSchedule(kernel::DispatchOp op,
                                                                          const Target &target);

/// All classes, the most specific first.
llvm::ArrayRef<const Schedule *> schedules();
/// The class of that name, or null.
const Schedule *findSchedule(llvm::StringRef family);

const Schedule *mmaSchedule();
const Schedule *contractionSchedule();
const Schedule *windowSchedule();
const Schedule *rowSchedule();
const Schedule *columnSchedule();
const Schedule *scanSchedule();
const Schedule *transposeSchedule();
const Schedule *mapSchedule();

/// An integer parameter; nothing where it is missing or of another type.
std::optional<int64_t> intParam(mlir::DictionaryAttr params, llvm::StringRef name);

} // namespace cameo
