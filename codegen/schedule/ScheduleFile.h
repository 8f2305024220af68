// Files of schedules: what was chosen for each dispatch, to be read, edited and used again.
//
//   {"cameo_schedules": 1,
//    "schedules": [
//      {"target": "sm_80", "key": "8d5e...", "nodes": ["Conv_0"], "packing": "[...]",
//       "schedule": "#kernel.schedule<\"contraction\", {...}>"}, ...]}
//
// `packing` is there where constants are stored in another order, as Packing.h has it.
//
// A dispatch is named by its target and key (DispatchKey.h), so that a file serves every model that
// has such a dispatch. `nodes` is for readers.
//
// The results of a tuning executable (codegen/tune/Bundle.h) are read, too: of each dispatch the
// fastest schedule of those measured in the last round that any was.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/DispatchKey.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include "llvm/ADT/StringSet.h"

#include <map>
#include <string>

namespace cameo {

/// Raised whenever a schedule of a former version stands for another kernel, so that what was
/// measured of it holds no more.
inline constexpr int64_t kScheduleVersion = 1;

class ScheduleFile {
public:
  /// Of files, separated by semicolons or commas. A dispatch that several have gets the schedule that
  /// was measured to be the fastest, and one that was not measured from the first of them. Errors name
  /// the file and what is wrong in it.
  static llvm::Expected<ScheduleFile> read(llvm::StringRef paths, mlir::MLIRContext *context);

  struct Entry {
    kernel::ScheduleAttr schedule;
    mlir::ArrayAttr packing; // null: constants are as they are
    std::string nodes;       // that it was for, with commas
    double microseconds = 0; // measured; 0: not
    int64_t round = 0;       // in which it was measured
  };
  /// Of a target's dispatch with that key; null where the file has none.
  const Entry *find(llvm::StringRef target, DispatchKey key) const;
  /// How many schedules it has for a target.
  size_t count(llvm::StringRef target) const;
  /// Of the dispatches that it has for a target, those with a key that is not in `used`: "conv1 (key
  /// 8d5e...)".
  llvm::SmallVector<std::string> unused(llvm::StringRef target,
                                        const llvm::StringSet<> &used) const;
  /// Where it has none for a target, but for the same architecture on other boards: which these are.
  llvm::SmallVector<std::string> boardsBeside(llvm::StringRef target) const;

private:
  class Reader;

  std::map<std::pair<std::string, std::string>, Entry> entries; // by target and key
};

/// The key of a dispatch as it was before constants were packed, and of which of them can be: so it
/// is the same before and after schedules are assigned. Fractions in its body do not count, so that
/// layers that differ in their scales have one schedule, which another calibration keeps.
DispatchKey scheduleKey(kernel::DispatchOp op, DispatchHasher &hasher);

/// The file's text for all variants of a module at stage `scheduled`; an error where equal
/// dispatches have different schedules.
llvm::Expected<std::string> scheduleFileOf(mlir::ModuleOp module);

} // namespace cameo
