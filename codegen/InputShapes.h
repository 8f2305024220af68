// --shapes: sizes of a model's inputs, fixed before anything else looks at them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace cameo {

struct InputShapes {
  /// Sizes by the names of inputs and of open sizes; -1 leaves one open.
  std::map<std::string, llvm::SmallVector<int64_t>> sizes;
  /// Sizes that are one: an input's name and a dimension's index ("x.0"), an open size's name, a number.
  std::vector<std::vector<std::string>> equal;

  bool empty() const { return sizes.empty() && equal.empty(); }
};

/// Adds what "x:1x3x224x224,y:?x4,batch:8,x.0=y.0" says, where ? is -1; a scalar is "x:". A name that has sizes already is
/// an error.
llvm::Error parseShapes(llvm::StringRef text, InputShapes &shapes);

/// Changes the types of the function's arguments (stage imported). Of a name that no input has, the
/// one number is that of the open sizes of that name. A size that has a name is fixed wherever an
/// input has that name, and equal sizes get one name. Sizes of -1 stay open. Fails after a diagnostic that
/// begins with `option`.
mlir::LogicalResult fixInputShapes(mlir::ModuleOp module, const InputShapes &shapes,
                                   llvm::StringRef option = "--shapes");

/// The names of sizes that inputs leave open (stage imported), in their order.
std::vector<std::string> openSizes(mlir::func::FuncOp function);

} // namespace cameo
