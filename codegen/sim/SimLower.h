// Device-stage kernels rewritten for the simulator's engine (runtime/sim/abi.h), still in MLIR's
// llvm dialect: the order of the steps, and what they leave for the image's tables.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/emit/Backend.h"
#include "runtime/sim/abi.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <string>
#include <vector>

namespace cameo {

/// A row of the image's site table: CameoSimSite with strings of its own.
struct SimSite {
  std::string node, location, what;
};

struct SimKernel {
  std::string name;
  uint32_t sharedStatic = 0;                 // bytes
  std::array<uint32_t, 3> block = {0, 0, 0}; // threads; 0: told at launch
  std::array<uint32_t, 3> cluster = {};      // blocks; 0: told at launch
  std::vector<CameoSimBasicBlock> blocks;    // where instrumented
  uint32_t readOnlyParameters = 0;           // CameoSimKernelInfo::read_only_parameters
  bool genericProxyOnly = true;              // and generic_proxy_only
  uint32_t mapParameters = 0;                // and map_parameters
};

/// A module whose exported functions are CameoSimKernels. Calls of libdevice functions are still
/// there: BindMathCallsPass replaces them once the module is LLVM IR.
struct SimModule {
  mlir::OwningOpRef<mlir::ModuleOp> holder; // of the copy that `module` is: layouts are looked up
  mlir::gpu::GPUModuleOp module;
  std::vector<SimKernel> kernels;
};

/// Runs the steps on a copy of `module`. Sites are appended to `sites`. Operations that the
/// simulator does not know are one error, which names them all.
llvm::Expected<SimModule> lowerToSim(mlir::gpu::GPUModuleOp module, BackendPipelineOptions options,
                                     std::vector<SimSite> &sites);

} // namespace cameo
