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
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/DispatchKey.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>

namespace cameo {

class ScheduleFile {
public:
  /// Errors name the file and what is wrong in it.
  static llvm::Expected<ScheduleFile> read(llvm::StringRef path, mlir::MLIRContext *context);

  struct Entry {
    kernel::ScheduleAttr schedule;
    mlir::ArrayAttr packing; // null: constants are as they are
  };
  /// Of a target's dispatch with that key; null where the file has none.
  const Entry *find(llvm::StringRef target, DispatchKey key) const;
  /// How many schedules it has for a target.
  size_t count(llvm::StringRef target) const;

private:
  std::map<std::pair<std::string, std::string>, Entry> entries; // by target and key
};

/// The key of a dispatch as it was before constants were packed, and of which of them can be: so it
/// is the same before and after schedules are assigned.
DispatchKey scheduleKey(kernel::DispatchOp op, DispatchHasher &hasher);

/// The file's text for all variants of a module at stage `scheduled`; an error where equal
/// dispatches have different schedules.
llvm::Expected<std::string> scheduleFileOf(mlir::ModuleOp module);

} // namespace cameo
