// Reading and writing files of schedules.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ScheduleFile.h"

#include "codegen/NodeNames.h"
#include "codegen/schedule/Packing.h"
#include "dialects/rt/Layout.h"
#include "dialects/rt/Rt.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
template <typename Attr>
static Attr parseAs(StringRef text, StringRef what, MLIRContext *context, std::string &error) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  Attribute attribute = parseAttribute(text, context);
  auto wanted = dyn_cast_if_present<Attr>(attribute);
  if (attribute && !wanted)
    error = "expected " + what.str();
  return wanted;
}

/// Adds what one file has to those before.
class ScheduleFile::Reader {
public:
  Reader(ScheduleFile &file, StringRef path, MLIRContext *context)
      : file(file), path(path), context(context) {}

  llvm::Error read() {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!buffer)
      return fail(buffer.getError().message());
    llvm::Expected<json::Value> parsed = json::parse((*buffer)->getBuffer());
    if (!parsed)
      return fail(llvm::toString(parsed.takeError()));
    const json::Object *root = parsed->getAsObject();
    if (root && root->get("cameo_tuning"))
      return readResults(*root);
    std::optional<int64_t> version = root ? root->getInteger("cameo_schedules") : std::nullopt;
    const json::Array *list = root ? root->getArray("schedules") : nullptr;
    if (!version || !list)
      return fail("it has no number 'cameo_schedules' or no list 'schedules'");
    if (*version != kVersion)
      return fail(llvm::formatv("its version is {0}, not {1}", *version, kVersion));
    return readList(*list, "schedule");
  }

private:
  llvm::Error fail(const Twine &what) {
    return llvm::createStringError("schedules '" + path + "': " + what);
  }

  llvm::Error readResults(const json::Object &root) {
    std::optional<int64_t> version = root.getInteger("cameo_tuning");
    std::optional<int64_t> schedules = root.getInteger("schedule_version");
    const json::Array *list = root.getArray("results");
    if (!version || !schedules || !list)
      return fail(
          "results of tuning need the numbers 'cameo_tuning' and 'schedule_version' and the "
          "list 'results'");
    if (*version != kVersion)
      return fail(llvm::formatv("its version is {0}, not {1}", *version, kVersion));
    if (*schedules != kScheduleVersion)
      return fail(llvm::formatv("it is stale: schedules of version {0} were measured, and this "
                                "compiler has version {1}; measure again",
                                *schedules, kScheduleVersion));
    return readList(*list, "result");
  }

  llvm::Error readList(const json::Array &list, StringRef what) {
    for (size_t number = 0; number < list.size(); ++number)
      if (llvm::Error error = readEntry(list[number].getAsObject(), number, what))
        return error;
    return llvm::Error::success();
  }

  llvm::Error readEntry(const json::Object *object, size_t number, StringRef what) {
    auto member = [&](StringRef name) {
      return object ? object->getString(name) : std::optional<StringRef>();
    };
    auto target = member("target"), key = member("key"), text = member("schedule");
    auto failHere = [&](const Twine &why) {
      return fail(what + " " + Twine(number) + (key ? " (key " + *key + ")" : Twine()) + " " + why);
    };
    if (!target || !key || !text)
      return failHere("needs the strings 'target', 'key' and 'schedule'");
    Entry entry;
    if (what == "result") {
      std::optional<double> time = object->getNumber("us");
      std::optional<int64_t> round = object->getInteger("round");
      std::optional<StringRef> status = member("status");
      if (!time || !round || !status)
        return failHere("needs the numbers 'us' and 'round' and the string 'status'");
      if (*status != "ok")
        return llvm::Error::success();
      entry.microseconds = *time;
      entry.round = *round;
    }
    std::string error;
    entry.schedule = parseAs<kernel::ScheduleAttr>(*text, "a #kernel.schedule", context, error);
    if (auto packing = member("packing"); packing && entry.schedule) {
      entry.packing = parseAs<ArrayAttr>(*packing, "a list of orders", context, error);
      if (!entry.packing)
        return failHere("has a packing that cannot be read: " + error);
    }
    if (!entry.schedule)
      return failHere("cannot be read: " + error);
    if (const json::Array *nodes = object->getArray("nodes"))
      for (const json::Value &node : *nodes)
        entry.nodes += (entry.nodes.empty() ? "" : ",") + node.getAsString().value_or("").str();
    auto [place, isNew] = file.entries.try_emplace({target->str(), key->str()}, entry);
    bool isOwn = !own.insert((*target + " " + *key).str()).second;
    if (isNew)
      return llvm::Error::success();
    if (what == "schedule" && isOwn)
      return failHere("is the second one for " + *target);
    if (isBetter(entry, place->second))
      place->second = std::move(entry);
    return llvm::Error::success();
  }

  /// The later round counts, which has fewer and better schedules; then the shorter time.
  static bool isBetter(const Entry &entry, const Entry &other) {
    if (entry.round == 0 || other.round == 0)
      return false;
    return std::pair(-entry.round, entry.microseconds) <
           std::pair(-other.round, other.microseconds);
  }

  ScheduleFile &file;
  StringRef path;
  MLIRContext *context;
  llvm::StringSet<> own; // target and key of what this file has
};

llvm::Expected<ScheduleFile> ScheduleFile::read(StringRef paths, MLIRContext *context) {
  ScheduleFile file;
  while (!paths.empty()) {
    StringRef path = paths.take_until([](char c) { return c == ',' || c == ';'; });
    paths = paths.drop_front(std::min(path.size() + 1, paths.size()));
    if (llvm::Error error = Reader(file, path, context).read())
      return std::move(error);
  }
  return file;
}

const ScheduleFile::Entry *ScheduleFile::find(StringRef target, DispatchKey key) const {
  auto entry = entries.find({target.str(), textOf(key)});
  return entry == entries.end() ? nullptr : &entry->second;
}

/// A number that values are scaled by. No schedule goes by it, and scales of quantised values are of
/// a layer and a calibration; infinities, zeros and other whole numbers may be what a class looks for.
static bool isFraction(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return number && number.getValue().isFinite() && !number.getValue().isInteger();
}

/// The key of the dispatch with its constants in the orders that they had.
static DispatchKey unpackedKey(kernel::DispatchOp op, const Packing &packing,
                               DispatchHasher &hasher) {
  OpBuilder b(op);
  auto former = cast<kernel::DispatchOp>(b.clone(*op));
  SmallVector<DimOrder> inputs(packing.size()), results(op.getNumResults());
  SmallVector<Operation *> constants;
  for (auto [input, order] : llvm::enumerate(packing)) {
    if (order.empty())
      continue;
    inputs[input] = inverse(order);
    Value given = op.getInputs()[input];
    Type type = permuted(cast<RankedTensorType>(given.getType()), inputs[input]);
    auto get = b.create<rt::GetConstantOp>(op.getLoc(), type, rt::constantOf(given).getConstant());
    former.getInputsMutable()[input].set(get);
    constants.push_back(get);
  }
  permuteDispatch(former, inputs, results);
  DispatchKey key = hasher.key(former, isFraction);
  former.erase();
  for (Operation *constant : constants)
    constant->erase();
  return key;
}

DispatchKey scheduleKey(kernel::DispatchOp op, DispatchHasher &hasher) {
  std::string packable;
  for (unsigned input = 0; input < op.getInputs().size(); ++input)
    if (isPackable(op, input))
      packable += " " + std::to_string(input);
  std::optional<Packing> packed = packingOf(op, op->getAttr(kPackedAttr));
  DispatchKey key = packed ? unpackedKey(op, *packed, hasher) : hasher.key(op, isFraction);
  return packable.empty() ? key : extend(key, packable);
}

llvm::SmallVector<std::string> ScheduleFile::unused(StringRef target,
                                                    const llvm::StringSet<> &used) const {
  llvm::SmallVector<std::string> found;
  for (auto &[name, entry] : entries)
    if (name.first == target && !used.contains(name.second))
      found.push_back(entry.nodes + " (key " + name.second + ")");
  return found;
}

llvm::SmallVector<std::string> ScheduleFile::boardsBeside(StringRef target) const {
  llvm::SmallVector<std::string> found;
  if (count(target) > 0)
    return found;
  for (auto &[name, entry] : entries)
    if (StringRef(name.first).split(':').first == target.split(':').first &&
        !llvm::is_contained(found, name.first))
      found.push_back(name.first);
  return found;
}

size_t ScheduleFile::count(StringRef target) const {
  return llvm::count_if(entries, [&](auto &entry) { return entry.first.first == target; });
}

namespace {

/// Equal dispatches of a variant.
struct Scheduled {
  kernel::ScheduleAttr schedule;
  Attribute packing;
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
      Scheduled &known = schedules[scheduleKey(op, hasher)];
      Attribute packing = op->getAttr(kPackedAttr);
      if (known.schedule && (known.schedule != op.getScheduleAttr() || known.packing != packing))
        other = op;
      known.schedule = op.getScheduleAttr();
      known.packing = packing;
      collectNodeNames(op.getLoc(), known.nodes);
    });
    if (other)
      return llvm::createStringError("equal dispatches of " + variant.getTarget().spelling() +
                                     " have different schedules, one of which is that of '" +
                                     textOf(scheduleKey(other, hasher)) + "'");
    for (auto &[key, scheduled] : schedules) {
      auto textOfAttribute = [](Attribute attribute) {
        std::string text;
        llvm::raw_string_ostream(text) << attribute;
        return text;
      };
      json::Array nodes;
      for (StringRef node : scheduled.nodes)
        nodes.push_back(json::fixUTF8(node));
      json::Object entry{{"target", variant.getTarget().spelling()},
                         {"key", textOf(key)},
                         {"nodes", std::move(nodes)},
                         {"schedule", textOfAttribute(scheduled.schedule)}};
      if (scheduled.packing)
        entry["packing"] = textOfAttribute(scheduled.packing);
      list.push_back(std::move(entry));
    }
  }
  std::string result;
  llvm::raw_string_ostream(result) << llvm::formatv(
      "{0:2}\n",
      json::Value(json::Object{{"cameo_schedules", kVersion}, {"schedules", std::move(list)}}));
  return result;
}

} // namespace cameo
