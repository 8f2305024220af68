// Sections of candidates, each once, and the manifest over them.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune/Bundle.h"

#include "codegen/schedule/Packing.h"
#include "codegen/schedule/ScheduleFile.h"
#include "codegen/tune/CandidateVariant.h"
#include "codegen/tune/WorkMembers.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace json = llvm::json;

namespace cameo {

static std::string textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// Orders of inputs' dimensions by position; an empty one: as they are.
static json::Array ordersOf(ArrayAttr packing) {
  json::Array orders;
  if (packing)
    for (auto order : packing.getAsRange<DenseI64ArrayAttr>())
      orders.push_back(json::Array(order.asArrayRef()));
  return orders;
}

llvm::Expected<std::vector<CodeVariant>> findCandidates(ModuleOp module,
                                                        ArrayRef<TargetVariant> targets) {
  std::vector<CodeVariant> found;
  for (auto variant : module.getOps<rt::VariantOp>()) {
    if (!variant->hasAttr(kCandidateVariantAttr))
      continue;
    if (!candidateVariantOf(variant))
      return llvm::createStringError("variant @" + variant.getSymName().str() + ": " +
                                     kCandidateVariantAttr.str() +
                                     " needs a candidate, a key, nodes and uses");
    for (TargetVariant target : targets)
      if (variant.getTarget().getArch() == target.target->name) {
        llvm::Expected<const Target *> own = findTarget(variant.getTarget());
        if (!own)
          return own.takeError();
        target.target = *own;
        found.push_back({variant, target});
      }
  }
  if (found.empty())
    return llvm::createStringError("no dispatch of the model has a schedule to measure");
  return found;
}

llvm::Expected<PayloadContents> makeTuningBundle(ModuleOp module, ArrayRef<CodeVariant> candidates,
                                                 ArrayRef<PayloadSection> sections,
                                                 const ManifestInfo &info) {
  PayloadContents contents;
  contents.module = module;
  contents.variantCount = 1;
  contents.flags = CAMEO_PAYLOAD_TUNING;
  std::vector<json::Array> own(candidates.size()); // numbers of each candidate's sections
  llvm::StringMap<int64_t> known;                  // numbers, by what is in them
  for (const PayloadSection &section : sections) {
    std::string name =
        llvm::formatv("{0} {1} {2} ", int(section.kind), section.arch, section.flags);
    name.append(section.bytes.begin(), section.bytes.end());
    auto [entry, isNew] = known.try_emplace(name, contents.sections.size());
    if (isNew) {
      contents.sections.push_back(section);
      contents.sections.back().variant = 0;
    }
    own[section.variant].push_back(entry->second);
  }
  std::vector<json::Object> dispatches;
  llvm::StringMap<size_t> places; // of dispatches, by target and key
  for (auto [number, variant] : llvm::enumerate(candidates)) {
    CandidateVariant described = *candidateVariantOf(variant.op);
    const Target &target = *variant.target.target;
    auto [place, isFirst] =
        places.try_emplace(target.spelling() + " " + described.key, dispatches.size());
    if (isFirst) {
      json::Array nodes;
      for (StringRef node : described.nodes)
        nodes.push_back(json::fixUTF8(node));
      dispatches.push_back(json::Object{{"key", described.key},
                                        {"target", target.spelling()},
                                        {"board", target.board->name},
                                        {"arch", int64_t(target.archNumber())},
                                        {"nodes", std::move(nodes)},
                                        {"uses", described.uses},
                                        {"candidates", json::Array()}});
    }
    const NotedCandidate &candidate = described.candidate;
    json::Object members{{"sections", std::move(own[number])},
                         {"schedule", textOf(candidate.schedule)},
                         {"family", candidate.schedule.getFamily()},
                         {"estimate_us", candidate.microseconds},
                         {"work", workJson(candidate.work)}};
    if (candidate.packing) {
      members["packing"] = textOf(candidate.packing);
      members["orders"] = ordersOf(candidate.packing);
    }
    dispatches[place->second].getArray("candidates")->push_back(std::move(members));
  }
  json::Array list;
  for (json::Object &dispatch : dispatches)
    list.push_back(std::move(dispatch));
  contents.manifest = llvm::formatv(
      "{0}",
      json::Value(json::Object{{"name", json::fixUTF8(info.modelName)},
                               {"compiler", "cameo " + info.compilerVersion},
                               {"precision", info.precision},
                               {"model_xxh3", llvm::formatv("{0:x-16}", info.modelHash).str()},
                               {"cameo_tuning_bundle", 1},
                               {"schedule_version", kScheduleVersion},
                               {"dispatches", std::move(list)}}));
  return std::move(contents);
}

} // namespace cameo
