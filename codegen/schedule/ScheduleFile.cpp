// Reading and writing files of schedules.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ScheduleFile.h"

#include "codegen/NodeNames.h"
#include "dialects/rt/Rt.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
namespace json = llvm::json;

namespace cameo {

static constexpr int64_t kVersion = 1;

/// The attribute that `text` is; null, and `error` says why, where it is none.
static kernel::ScheduleAttr parseSchedule(StringRef text, MLIRContext *context,
                                          std::string &error) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  Attribute attribute = parseAttribute(text, context);
  auto schedule = dyn_cast_if_present<kernel::ScheduleAttr>(attribute);
  if (attribute && !schedule)
    error = "it is no #kernel.schedule";
  return schedule;
}

llvm::Expected<ScheduleFile> ScheduleFile::read(StringRef path, MLIRContext *context) {
  auto fail = [&](const Twine &what) {
    return llvm::createStringError("schedules '" + path + "': " + what);
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return fail(buffer.getError().message());
  llvm::Expected<json::Value> parsed = json::parse((*buffer)->getBuffer());
  if (!parsed)
    return fail(llvm::toString(parsed.takeError()));
  const json::Object *root = parsed->getAsObject();
  std::optional<int64_t> version = root ? root->getInteger("cameo_schedules") : std::nullopt;
  const json::Array *list = root ? root->getArray("schedules") : nullptr;
  if (!version || !list)
    return fail("it has no number 'cameo_schedules' or no list 'schedules'");
  if (*version != kVersion)
    return fail(llvm::formatv("its version is {0}, not {1}", *version, kVersion));

  ScheduleFile file;
  for (size_t number = 0; number < list->size(); ++number) {
    const json::Object *object = (*list)[number].getAsObject();
    auto member = [&](StringRef name) {
      return object ? object->getString(name) : std::optional<StringRef>();
    };
    auto target = member("target"), key = member("key"), text = member("schedule");
    auto failHere = [&](const Twine &what) {
      return fail("schedule " + Twine(number) + (key ? " (key " + *key + ")" : Twine()) + " " +
                  what);
    };
    if (!target || !key || !text)
      return failHere("needs the strings 'target', 'key' and 'schedule'");
    std::string error;
    kernel::ScheduleAttr schedule = parseSchedule(*text, context, error);
    if (!schedule)
      return failHere("cannot be read: " + error);
    if (!file.entries.try_emplace({target->str(), key->str()}, schedule).second)
      return failHere("is the second one for " + *target);
  }
  return file;
}

kernel::ScheduleAttr ScheduleFile::find(StringRef target, DispatchKey key) const {
  auto entry = entries.find({target.str(), textOf(key)});
  return entry == entries.end() ? kernel::ScheduleAttr() : entry->second;
}

size_t ScheduleFile::count(StringRef target) const {
  return llvm::count_if(entries, [&](auto &entry) { return entry.first.first == target; });
}

namespace {

/// Equal dispatches of a variant.
struct Scheduled {
  kernel::ScheduleAttr schedule;
  llvm::SetVector<StringRef> nodes;
};

} // namespace

llvm::Expected<std::string> scheduleFileOf(ModuleOp module) {
  DispatchHasher hasher;
  json::Array list;
  for (auto variant : module.getOps<rt::VariantOp>()) {
    llvm::MapVector<DispatchKey, Scheduled> schedules;
    kernel::DispatchOp other; // of which an equal one has another schedule
    variant.walk([&](kernel::DispatchOp op) {
      Scheduled &known = schedules[hasher.key(op)];
      if (known.schedule && known.schedule != op.getScheduleAttr())
        other = op;
      known.schedule = op.getScheduleAttr();
      collectNodeNames(op.getLoc(), known.nodes);
    });
    if (other)
      return llvm::createStringError("equal dispatches of " + variant.getTarget().spelling() +
                                     " have different schedules, one of which is that of '" +
                                     textOf(hasher.key(other)) + "'");
    for (auto &[key, scheduled] : schedules) {
      std::string text;
      llvm::raw_string_ostream(text) << scheduled.schedule;
      json::Array nodes;
      for (StringRef node : scheduled.nodes)
        nodes.push_back(json::fixUTF8(node));
      list.push_back(json::Object{{"target", variant.getTarget().spelling()},
                                  {"key", textOf(key)},
                                  {"nodes", std::move(nodes)},
                                  {"schedule", text}});
    }
  }
  std::string result;
  llvm::raw_string_ostream(result) << llvm::formatv(
      "{0:2}\n",
      json::Value(json::Object{{"cameo_schedules", kVersion}, {"schedules", std::move(list)}}));
  return result;
}

} // namespace cameo
