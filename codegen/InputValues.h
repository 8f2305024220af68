// --shape-values: numbers that inputs of a model have in every run, and that its compilation knows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cameo.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace cameo {

/// An input's numbers: as text, in row-major order, or an array of a file.
struct InputValue {
  std::vector<std::string> numbers;
  std::string file; // empty: the numbers are texts
  cameo_dtype type = CAMEO_DTYPE_UNDEFINED;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> bytes;
};

using InputValues = std::map<std::string, InputValue>;

/// Adds "rate=16000,sizes=1,3,224,224,scales=@scales.npy" to `values`: numbers are separated by commas or
/// spaces, and files are read.
llvm::Error parseInputValues(llvm::StringRef text, InputValues &values);

/// A hash of what inputs are fixed to, for what is kept of a model that is compiled so; 0 for nothing.
uint64_t hashOfInputValues(const InputValues &values);

/// Replaces arguments of the entry function (stage imported) by constants, and notes them in the module.
/// An open size of such an input becomes known, wherever an input has its name. Fails after a diagnostic.
mlir::LogicalResult fixInputValues(mlir::ModuleOp module, const InputValues &values);

} // namespace cameo
