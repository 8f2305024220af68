// What basic blocks of device-stage kernels compute, for the simulator's counters.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/sim/abi.h"

#include "mlir/IR/Block.h"

namespace cameo {

/// The operations of one execution of `block` by a thread. Accesses to global and shared memory,
/// synchronisation and `kernel.ptx` are not among them: the engine counts those as they happen.
CameoSimBasicBlock countOperations(mlir::Block &block);

} // namespace cameo
