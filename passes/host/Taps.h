// Taps as steps of the plan.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cameo {

/// Makes a step (`rt.tap`) of each result that is a tap, right behind what computes it: its memory is free again after
/// that. The step has the attributes of the result.
void takeTaps(mlir::func::FuncOp function);
/// Makes steps of all taps of a function, whose bodies are regions by now, and numbers them: its own, those of regions in
/// their order, and behind these all that count the elements of others.
void numberTaps(mlir::func::FuncOp function);

} // namespace cameo
