// Names of sizes.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/SizeNames.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

static constexpr size_t kLongest = 64;

/// The sign between two operands; null for operations that are not written.
static const char *signOf(SizeOperation op) {
  switch (op) {
  case SizeOperation::Add:
    return " + ";
  case SizeOperation::Sub:
    return " - ";
  case SizeOperation::Mul:
    return "*";
  case SizeOperation::FloorDiv:
    return " floordiv ";
  case SizeOperation::CeilDiv:
    return " ceildiv ";
  case SizeOperation::Rem:
    return " mod ";
  default:
    return nullptr;
  }
}

static std::string parenthesized(const std::string &name) {
  return name.find(' ') == std::string::npos ? name : "(" + name + ")";
}

std::string SizeNames::of(OpFoldResult size, unsigned depth) {
  const void *key = size.getOpaqueValue();
  auto known = names.find(key);
  if (known != names.end())
    return known->second;
  if (depth > kLongest) // each operation takes a character at least
    return "";
  std::string name = write(size, depth);
  return names[key] = name.size() <= kLongest ? name : "";
}

std::string SizeNames::write(OpFoldResult size, unsigned depth) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return std::to_string(*known);
  const SizeExpression *made = sizes.expression(size);
  if (!made) {
    StringAttr name = sizes.nameOf(size);
    return name ? name.getValue().str() : "";
  }
  bool isChoice = made->op == SizeOperation::Min || made->op == SizeOperation::Max;
  const char *sign = signOf(made->op);
  if (!sign && !isChoice)
    return "";
  std::string left = of(made->operands[0], depth + 1), right = of(made->operands[1], depth + 1);
  if (left.empty() || right.empty())
    return "";
  if (isChoice)
    return (made->op == SizeOperation::Min ? "min(" : "max(") + left + ", " + right + ")";
  return parenthesized(left) + sign + parenthesized(right);
}

} // namespace cameo::onnx
