// Dispatches that are compiled to be tried, and whose constants' numbers do not matter.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/kernel/Kernel.h"

namespace cameo {

/// Describes the dispatch as it reads constants that are packed, and rounded, so. Their data stay as
/// they are.
void readAsPacked(kernel::DispatchOp op, mlir::ArrayAttr orders, mlir::Attribute rounded);

/// Sets an attribute, or removes it where it is null.
void setOrRemove(kernel::DispatchOp op, llvm::StringRef name, mlir::Attribute attribute);

} // namespace cameo
