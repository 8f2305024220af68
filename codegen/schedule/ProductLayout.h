// What memory moves for the operands of a product, for each order in which these may be stored.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/AccessPattern.h"
#include "dialects/kernel/form/Product.h"

namespace cameo {

/// ScheduleMatch::layoutBytes of a product. Threads go along the results, but for its operands,
/// whose tiles are copied along the loop where neighbours are nearest.
double productLayoutBytes(kernel::DispatchOp op, const Product &product,
                          const AccessPattern &pattern, OperandOrders orders);

/// The inputs that a product's operands read.
llvm::BitVector inputsOfOperands(kernel::DispatchOp op, const Product &product);

} // namespace cameo
