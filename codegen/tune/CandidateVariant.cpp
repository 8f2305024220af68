// Outlined candidates as attributes.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune/CandidateVariant.h"

using namespace mlir;

namespace cameo {

Attribute attributeOf(const CandidateVariant &variant) {
  Builder b(variant.candidate.schedule.getContext());
  return b.getDictionaryAttr({
      b.getNamedAttr("candidate", noted(variant.candidate)),
      b.getNamedAttr("key", b.getStringAttr(variant.key)),
      b.getNamedAttr("nodes", b.getStrArrayAttr(variant.nodes)),
      b.getNamedAttr("uses", b.getI64IntegerAttr(variant.uses)),
  });
}

std::optional<CandidateVariant> candidateVariantOf(rt::VariantOp variant) {
  auto dictionary = variant->getAttrOfType<DictionaryAttr>(kCandidateVariantAttr);
  if (!dictionary)
    return std::nullopt;
  auto key = dictionary.getAs<StringAttr>("key");
  auto nodes = dictionary.getAs<ArrayAttr>("nodes");
  auto uses = dictionary.getAs<IntegerAttr>("uses");
  Attribute candidate = dictionary.get("candidate");
  std::optional<NotedCandidate> noted = candidate ? candidateOf(candidate) : std::nullopt;
  if (!key || !nodes || !uses || !noted)
    return std::nullopt;
  CandidateVariant result{*noted, key.str(), uses.getInt(), {}};
  for (auto node : nodes.getAsRange<StringAttr>())
    result.nodes.push_back(node);
  return result;
}

} // namespace cameo
