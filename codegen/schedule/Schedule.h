// Schedule classes: how a dispatch may be computed.
//
// Each class decides whether it can compute a dispatch, chooses parameters for a target, checks
// parameters it is given (they can be edited), and emits the launches. Classes are asked in order,
// from the most specific to `map`, which computes everything.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/KernelEmitter.h"
#include "codegen/target/Target.h"

namespace cameo {

class Schedule {
public:
  virtual ~Schedule() = default;
  /// Name in #kernel.schedule.
  virtual llvm::StringRef family() const = 0;
  /// Whether this class can compute the dispatch on the target.
  virtual bool isSupported(kernel::DispatchOp op, const Target &target) const = 0;
  /// Parameters; called only where isSupported.
  virtual mlir::DictionaryAttr choose(kernel::DispatchOp op, const Target &target) const = 0;
  /// The order in which it wants the dimensions of an input (by position) that is a constant;
  /// empty: as they are. Called only where isSupported.
  virtual llvm::SmallVector<unsigned> packing(kernel::DispatchOp, unsigned) const { return {}; }
  /// Whether parameters fit dispatch and target; emits an error where not.
  virtual llvm::LogicalResult verify(kernel::DispatchOp op, mlir::DictionaryAttr params,
                                     const Target &target) const = 0;
  /// Replaces the dispatch by launches of kernels made with `emitter`.
  virtual llvm::LogicalResult emit(kernel::DispatchOp op, mlir::DictionaryAttr params,
                                   KernelEmitter &emitter) const = 0;
};

/// All classes, the most specific first.
llvm::ArrayRef<const Schedule *> schedules();
/// The class of that name, or null.
const Schedule *findSchedule(llvm::StringRef family);

const Schedule *contractionSchedule();
const Schedule *windowSchedule();
const Schedule *rowSchedule();
const Schedule *columnSchedule();
const Schedule *scanSchedule();
const Schedule *mapSchedule();

/// An integer parameter; nothing where it is missing or of another type.
std::optional<int64_t> intParam(mlir::DictionaryAttr params, llvm::StringRef name);

} // namespace cameo
