// Which attributes the versions of ONNX's operators have, and what values these may take, as data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Schema.h"

#include "mlir/IR/Attributes.h"

namespace cameo::onnx {

/// An attribute that the versions `first` to `last` of an operator have.
struct AttributeVersion {
  llvm::StringRef op, name;
  AttrKind kind;
  bool required;
  int64_t first, last;
};

/// All of an operator's attributes of all versions from kMinOpset on.
llvm::ArrayRef<AttributeVersion> attributeVersions(llvm::StringRef op);

/// What is wrong with an attribute's being there in this kind, or an empty text.
std::string attributeKindProblem(llvm::StringRef op, int64_t version, llvm::StringRef name,
                                 AttrKind kind);
/// What is wrong with an attribute's value, as far as no shape is needed to tell, or an empty text.
/// Attributes that the version does not have are passed over.
std::string attributeValueProblem(llvm::StringRef op, int64_t version, llvm::StringRef name,
                                  mlir::Attribute value);

} // namespace cameo::onnx
