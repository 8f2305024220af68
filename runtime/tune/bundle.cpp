// The manifest of a bundle as structures. SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/bundle.h"

#include "runtime/core/hash.h"
#include "runtime/main/json.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace cameo::tune {
namespace {

using cli::Json;

const Json *find(const Json &object, const char *name) {
  for (auto &[key, value] : object.members)
    if (object.kind == Json::Object && key == name)
      return &value;
  return nullptr;
}

std::string text(const Json &object, const char *name) {
  const Json *member = find(object, name);
  return member && member->kind == Json::String ? member->text : "";
}

double number(const Json &object, const char *name) {
  const Json *member = find(object, name);
  return member && member->kind == Json::Number ? std::strtod(member->text.c_str(), nullptr) : 0;
}

const std::vector<std::pair<std::string, Json>> &list(const Json &object, const char *name) {
  static const std::vector<std::pair<std::string, Json>> none;
  const Json *member = find(object, name);
  return member && member->kind == Json::Array ? member->members : none;
}

// The value as JSON text again.
std::string print(const Json &value) {
  if (value.kind == Json::Null)
    return "null";
  if (value.kind == Json::String)
    return cli::quoteJson(value.text);
  if (value.kind != Json::Array && value.kind != Json::Object)
    return value.text;
  std::string result;
  for (auto &[name, member] : value.members) {
    result += result.empty() ? "" : ", ";
    if (value.kind == Json::Object)
      result += cli::quoteJson(name) + ": ";
    result += print(member);
  }
  return value.kind == Json::Array ? "[" + result + "]" : "{" + result + "}";
}

// Members of an object but those in `others`, without braces.
std::string printMembers(const Json &object, std::initializer_list<const char *> others) {
  std::string result;
  for (auto &[name, member] : object.members) {
    bool isOther = false;
    for (const char *other : others)
      isOther |= name == other;
    if (!isOther)
      result += (result.empty() ? "" : ", ") + cli::quoteJson(name) + ": " + print(member);
  }
  return result;
}

Status malformed(const std::string &what) {
  return failure(Code::Corrupt, "damaged tuning bundle: %s", what.c_str());
}

// The hash of all sections.
std::string hashOf(const runtime::Payload &payload) {
  std::vector<uint64_t> hashes;
  for (const runtime::Section &section : payload.sections())
    hashes.push_back(runtime::hash(section.data, section.size));
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64,
                runtime::hash(hashes.data(), hashes.size() * sizeof(uint64_t)));
  return text;
}

Status readCandidate(const Json &json, const runtime::Payload &payload, Candidate &candidate) {
  candidate.schedule = text(json, "schedule");
  candidate.described = printMembers(json, {"sections", "orders"});
  candidate.estimate = number(json, "estimate_us");
  for (auto &[none, order] : list(json, "orders")) {
    candidate.orders.emplace_back();
    for (auto &[nothing, dimension] : order.members)
      candidate.orders.back().push_back(
          uint32_t(std::strtoul(dimension.text.c_str(), nullptr, 10)));
  }
  for (auto &[none, section] : list(json, "sections")) {
    size_t number = 1 + std::strtoul(section.text.c_str(), nullptr, 10); // behind the manifest
    if (number >= payload.sections().size())
      return malformed("a candidate has a section that is not there");
    candidate.sections.push_back(payload.sections()[number]);
  }
  if (candidate.schedule.empty() || candidate.sections.empty())
    return malformed("a candidate has no schedule, or no sections");
  return {};
}

} // namespace

Status openBundle(std::unique_ptr<runtime::Payload> payload, Bundle &bundle) {
  Json manifest;
  if (!cli::parseJson(payload->manifest(), manifest))
    return malformed("its manifest is not JSON");
  if (!payload->isBundle() || number(manifest, "cameo_tuning_bundle") != 1)
    return failure(Code::Corrupt,
                   "the file is not a tuning bundle, which cameoc --emit=tuning makes");
  bundle.name = text(manifest, "name");
  bundle.compiler = text(manifest, "compiler");
  bundle.scheduleVersion = int64_t(number(manifest, "schedule_version"));
  for (auto &[none, json] : list(manifest, "dispatches")) {
    Dispatch dispatch;
    dispatch.key = text(json, "key");
    dispatch.target = text(json, "target");
    dispatch.board = text(json, "board");
    dispatch.described = printMembers(json, {"candidates", "arch"});
    dispatch.arch = uint32_t(number(json, "arch"));
    dispatch.uses = int64_t(number(json, "uses"));
    for (auto &[nothing, node] : list(json, "nodes"))
      dispatch.nodes += (dispatch.nodes.empty() ? "" : ",") + node.text;
    for (auto &[nothing, candidate] : list(json, "candidates")) {
      dispatch.candidates.emplace_back();
      CAMEO_RETURN_IF_ERROR(readCandidate(candidate, *payload, dispatch.candidates.back()));
    }
    if (dispatch.key.empty() || dispatch.candidates.empty())
      return malformed("a dispatch has no key, or no candidates");
    bundle.dispatches.push_back(std::move(dispatch));
  }
  bundle.hash = hashOf(*payload);
  bundle.payload = std::move(payload);
  return {};
}

} // namespace cameo::tune
