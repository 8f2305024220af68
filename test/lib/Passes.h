// Passes for tests alone: declarations and registration, generated from Passes.td.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace cameo {

#define GEN_PASS_DECL
#include "test/lib/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "test/lib/Passes.h.inc"

} // namespace cameo
