// Instructions that report their results: the simulator's --sim-trace.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/sim/SimLower.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace cameo {

/// What kTraceFunction is called with: elements, how many, bits of each, CameoSimValue, site. The
/// lowering to the simulator makes a call of the engine of it.
constexpr llvm::StringLiteral kTraceFunction = "cameo.trace";

/// Puts a call of kTraceFunction behind every instruction of a device-stage kernel, and at the
/// head of blocks for their arguments. `nodes`: for sites.
void insertTraces(mlir::LLVM::LLVMFuncOp kernel, llvm::StringRef nodes,
                  std::vector<SimSite> &sites);

} // namespace cameo
