// Which stage a module looks like, for messages to those who name another one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <utility>

namespace cameo {

/// The first and the last stage whose form the module may have, as far as that can be seen without
/// verifying it; nothing where it is not a model of any stage.
std::optional<std::pair<Stage, Stage>> stageForm(mlir::ModuleOp module);

/// An error that says which stage the module of `file` looks like, unless that may be `stage`.
llvm::Error checkStageForm(mlir::ModuleOp module, Stage stage, llvm::StringRef file);

} // namespace cameo
