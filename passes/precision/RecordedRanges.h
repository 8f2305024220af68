// Ranges of values that were recorded while a model ran, as a file.
//
//   {"cameo_ranges": 1, "ranges": {"conv1": {"min": -3.5, "max": 12.25}, "image": {...}}}
//
// A value is called as `cameoc --stop-after=normalized --emit=onnx` calls it: an input by its name,
// a node's first result by the node's name, its others by that and their number ("split:1").
// Members that are not named here are for whoever wrote the file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace cameo {

/// What a value is called in such files; empty where its node has no name.
std::string valueName(mlir::Value value);

struct RecordedRanges {
  struct Range {
    double least, most;
  };
  llvm::StringMap<Range> byName;

  static llvm::Expected<RecordedRanges> read(llvm::StringRef path);
};

} // namespace cameo
