// Schedule classes: how a dispatch may be computed.
//
// Each class says whether it can compute a dispatch by matching what was read of it, once: the
// match is what it has recognised, and with it lists candidates (parameters, with the time that
// they are estimated to take on a target), checks parameters it is given (they can be edited), and
// emits the launches. The fastest candidate of all classes is chosen. `map` computes everything
// that its threads would not compute repeatedly; the rest is split (SplitDispatches.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/AccessPattern.h"
#include "codegen/schedule/KernelEmitter.h"
#include "codegen/schedule/Packing.h"
#include "codegen/schedule/TimeModel.h"
#include "codegen/target/Target.h"
#include "dialects/kernel/form/Computation.h"

#include <limits>

namespace cameo {

/// A way to compute a dispatch.
struct Candidate {
  mlir::DictionaryAttr params;
  /// Of all its launches on the target's board, as TimeModel estimates it.
  double microseconds = 0;
  /// Of memory in which launches leave values for one another.
  int64_t workspaceBytes = 0;
  /// What its kernel takes, where it is one with a main loop of products.
  std::optional<KernelWork> work = {};
};

/// A dispatch as a schedule class computes it on a target. It holds until the dispatch is changed.
class ScheduleMatch {
public:
  virtual ~ScheduleMatch() = default;
  /// The order in which the dimensions of an input (by position) that is a constant are wanted;
  /// empty: as they are.
  virtual llvm::SmallVector<unsigned> packing(unsigned) const { return {}; }
  /// Has constants read as they will be stored: candidates are of that, and parameters are checked
  /// for it. Launches are made when it was done.
  virtual void setPacking(Packing orders) { packed = std::move(orders); }
  const Packing &packingSet() const { return packed; }
  /// Inputs (by position) that are constants, and that launches with these parameters, which fit,
  /// read as rounded to TF32.
  virtual llvm::SmallVector<int64_t> roundedInputs(mlir::DictionaryAttr) const { return {}; }
  /// Operands (inputs, then results) that are read in any order of their dimensions, whatever that
  /// of the results: of the others threads go along the same dimensions.
  virtual llvm::BitVector readApart() const;
  /// Bytes of memory traffic if operands are stored in these orders; constants are packed as it
  /// wants them. What no order changes may be left out.
  virtual double layoutBytes(const AccessPattern &pattern, OperandOrders orders) const;
  /// Microseconds of the dispatch in two, of which the first computes what the second reduces; more
  /// than anything where it is never better in two.
  virtual double microsecondsApart() const { return std::numeric_limits<double>::infinity(); }
  /// `most` at most: the fastest, in this order. None where the target has no room for any.
  virtual llvm::SmallVector<Candidate, 0> candidates(size_t most) const = 0;
  /// What the launch with these parameters, which fit, takes; where there are several, the first.
  virtual KernelWork workOf(mlir::DictionaryAttr params) const = 0;
  /// How long that one is estimated to take on the target's board, without those beside it; null
  /// where the model has no room for a block.
  rt::EstimateAttr estimate(mlir::DictionaryAttr params) const;
  /// Whether parameters fit dispatch and target; emits an error where not.
  virtual llvm::LogicalResult verify(mlir::DictionaryAttr params) const = 0;
  /// Launches kernels made with `emitter` that compute the dispatch's results, and returns these.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>> emit(mlir::DictionaryAttr params,
                                                               KernelEmitter &emitter) const = 0;

protected:
  ScheduleMatch(kernel::DispatchOp op, const Target &target) : op(op), target(target) {}

  /// With the time of their work.
  Candidate candidateOf(mlir::DictionaryAttr params) const {
    return {params, TimeModel(target).microseconds(workOf(params))};
  }

  // MLIR's accessors are not const, so that const methods need a copy or this.
  mutable kernel::DispatchOp op;
  const Target &target;
  Packing packed;
};

class Schedule {
public:
  virtual ~Schedule() = default;
  /// Name in #kernel.schedule.
  virtual llvm::StringRef family() const = 0;
  /// Whether it is for products. These are not left to other classes, whose threads read operands
  /// from memory as often as they are multiplied, which estimates take to be served by caches.
  virtual bool isOfProducts() const { return false; }
  /// Null where this class cannot compute the dispatch on the target.
  std::unique_ptr<ScheduleMatch> match(const Computation &computation, const Target &target) const {
    return computation.isEmpty && !takesEmpty() ? nullptr : tryMatch(computation, target);
  }

protected:
  /// Whether there may be nothing along a loop or a dimension. What is chosen by sizes and divides
  /// them leaves that to a class that does not.
  virtual bool takesEmpty() const { return false; }
  virtual std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                                  const Target &target) const = 0;
};

/// A class that can compute a dispatch, and the best that it has for it.
struct RankedSchedule {
  const Schedule *schedule;
  std::unique_ptr<ScheduleMatch> match;
  Candidate best;

  kernel::ScheduleAttr attribute() const;
};

/// All classes that can compute the dispatch, constants packed as each wants them, the best first:
/// the fastest, and of those whose estimates cannot be told apart the most specific one. Of a
/// product those of products alone.
std::vector<RankedSchedule> rankSchedules(const Computation &computation, const Target &target);

/// All classes, the most specific first; those of products before all others.
llvm::ArrayRef<const Schedule *> schedules();
/// The class of that name, or null.
const Schedule *findSchedule(llvm::StringRef family);

const Schedule *skinnySchedule();
const Schedule *mmaSchedule();
const Schedule *contractionSchedule();
const Schedule *windowSchedule();
const Schedule *rowSchedule();
const Schedule *columnSchedule();
const Schedule *scanSchedule();
const Schedule *recurrenceSchedule();
const Schedule *sortSchedule();
const Schedule *chooseSchedule();
const Schedule *insertSchedule();
const Schedule *transposeSchedule();
const Schedule *mapSchedule();

/// Columns at most of the tiles of products, of which a block can have whole rows.
inline constexpr int64_t kLongestProductRow = 256;

/// An integer parameter; nothing where it is missing or of another type.
std::optional<int64_t> intParam(mlir::DictionaryAttr params, llvm::StringRef name);

} // namespace cameo
