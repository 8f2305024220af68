// Precisions that a user asks for by node.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/Overrides.h"

#include "dialects/onnx/shape/NodeText.h"

using namespace mlir;

namespace cameo {

llvm::Expected<PrecisionOverrides> PrecisionOverrides::parse(StringRef text) {
  PrecisionOverrides overrides;
  SmallVector<StringRef> parts;
  text.split(parts, ';', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [glob, name] = part.rsplit('=');
    std::optional<Precision> precision = parsePrecision(name);
    if (glob.empty() || !part.contains('='))
      return llvm::createStringError("'" + part.str() + "' is not of the form GLOB=fp16");
    if (!precision)
      return llvm::createStringError("'" + name.str() + "' in '" + part.str() +
                                     "' is not one of fp32, tf32, fp16, bf16 and int8");
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
    if (!pattern)
      return llvm::createStringError("'" + glob.str() +
                                     "' is not a pattern: " + llvm::toString(pattern.takeError()));
    overrides.list.push_back({part.str(), std::move(*pattern), *precision});
  }
  return overrides;
}

const PrecisionOverride *PrecisionOverrides::find(Operation *op) {
  const PrecisionOverride *last = nullptr;
  StringRef node = onnx::nodeName(op).value_or(""), name = op->getName().stripDialect();
  for (PrecisionOverride &override : list) {
    bool isOfNodes = StringRef(override.text).starts_with("\\");
    if (!override.pattern.match(node) && (isOfNodes || !override.pattern.match(name)))
      continue;
    // Integers of 8 bits are of products alone.
    override.isUsed |= override.precision != Precision::INT8 || policyOf(op).role == Role::Product;
    last = &override;
  }
  return last;
}

} // namespace cameo
