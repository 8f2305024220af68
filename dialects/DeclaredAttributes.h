// The discardable attributes that a dialect's .td file declares (`discardableAttrs`): typed access by
// the helper classes that TableGen makes of them, and the check that there are no others.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/Operation.h"

namespace cameo {

/// What `Helper` declares: the attribute's C++ type.
template <typename Helper> using DeclaredType = decltype(std::declval<Helper &>().getAttr(nullptr));

/// The attribute of `op` that `Helper` declares, or null.
template <typename Helper> DeclaredType<Helper> declaredAttr(mlir::Operation *op) {
  return op->getAttrOfType<DeclaredType<Helper>>(Helper::getNameStr());
}

template <typename Helper>
void setDeclaredAttr(mlir::Operation *op, DeclaredType<Helper> attribute) {
  op->setAttr(Helper::getNameStr(), attribute);
}

/// An error unless one of the `Helpers` declares an attribute of this name and type.
template <typename... Helpers>
llvm::LogicalResult verifyDeclared(mlir::Operation *op, mlir::NamedAttribute attribute) {
  llvm::StringRef name = attribute.getName();
  if (((name == Helpers::getNameStr() && mlir::isa<DeclaredType<Helpers>>(attribute.getValue())) ||
       ...))
    return llvm::success();
  if (((name == Helpers::getNameStr()) || ...))
    return op->emitError() << "'" << name << "' cannot be " << attribute.getValue();
  return op->emitError() << "dialect '" << name.split('.').first << "' has no attribute '" << name
                         << "'";
}

} // namespace cameo
