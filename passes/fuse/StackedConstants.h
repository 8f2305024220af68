// Constants of one type as one, one after another.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/Passes.h"

#include "llvm/ADT/StringMap.h"

namespace cameo {

class StackedConstants {
public:
  explicit StackedConstants(mlir::ModuleOp module) : module(module) {}

  /// A constant with one dimension more, the first, along which these are. Null where the bytes of
  /// one of them cannot be read.
  rt::ConstantOp stack(llvm::ArrayRef<rt::GetConstantOp> parts);

private:
  rt::ConstantOp lookup(llvm::StringRef symbol);

  mlir::ModuleOp module;
  llvm::StringMap<rt::ConstantOp> symbols;
};

} // namespace cameo
