// JSON ==> ranges of values, means of what products read, and how their weights are rounded.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/RangesFile.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace cameo;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace json = llvm::json;

/// `where` is what the error begins with: "the input of 'conv1': ".
static Error wrong(const Twine &where, const json::Value *found, StringRef expected) {
  constexpr size_t kMostShown = 40;
  std::string text = found ? llvm::formatv("{0}", *found).str() : "nothing";
  if (text.size() > kMostShown)
    text = text.substr(0, kMostShown) + "...";
  return llvm::createStringError(where + "expected " + expected + ", found " + text);
}

static Error wrongMember(const Twine &where, const json::Object &object, StringRef member,
                         StringRef expected) {
  return wrong(where + "'" + member + "': ", object.get(member), expected);
}

static Error readText(const json::Object &object, const Twine &of, StringRef member,
                      std::string &text) {
  std::optional<StringRef> found = object.getString(member);
  if (!found)
    return wrongMember(of, object, member, "a text");
  text = found->str();
  return Error::success();
}

static Error readNumber(const json::Object &object, const Twine &of, StringRef member,
                        double &number) {
  std::optional<double> found = object.getNumber(member);
  if (!found || !std::isfinite(*found))
    return wrongMember(of, object, member, "a finite number");
  number = *found;
  return Error::success();
}

static Error readNumbers(const json::Object &object, const Twine &of, StringRef member,
                         std::vector<double> &numbers) {
  constexpr llvm::StringLiteral expected = "a list of finite numbers";
  const json::Array *array = object.getArray(member);
  if (!array)
    return wrongMember(of, object, member, expected);
  for (const json::Value &value : *array) {
    std::optional<double> number = value.getAsNumber();
    if (!number || !std::isfinite(*number))
      return wrongMember(of, object, member, expected);
    numbers.push_back(*number);
  }
  return Error::success();
}

static Error readInput(const json::Object &object, const Twine &of, RecordedRanges::Input &input) {
  if (Error error = readText(object, of, "value", input.value))
    return error;
  if (Error error = readNumber(object, of, "scale", input.scale))
    return error;
  if (Error error = readNumbers(object, of, "means", input.means))
    return error;
  if (Error error = readNumbers(object, of, "shifts", input.shifts))
    return error;
  if (input.means.size() != input.shifts.size())
    return llvm::createStringError(of + "'shifts': expected " + Twine(input.means.size()) +
                                   " numbers, as many as 'means' has, found " +
                                   Twine(input.shifts.size()));
  return Error::success();
}

static Error readRounding(const json::Object &object, const Twine &of,
                          RecordedRanges::Rounding &rounding) {
  if (Error error = readNumbers(object, of, "scales", rounding.scales))
    return error;
  std::string up;
  if (Error error = readText(object, of, "up", up))
    return error;
  std::vector<char> bytes;
  if (Error error = llvm::decodeBase64(up, bytes)) {
    llvm::consumeError(std::move(error));
    return wrongMember(of, object, "up", "Base64");
  }
  for (char byte : bytes)
    for (unsigned bit = 0; bit < 8; ++bit)
      rounding.isUp.push_back(byte >> bit & 1);
  return Error::success();
}

/// A member that has an object for each product; each is called `what` in errors.
template <typename Each>
static Error readProducts(const json::Object &file, StringRef member, StringRef what,
                          std::optional<llvm::StringMap<Each>> &products,
                          Error (*readOne)(const json::Object &, const Twine &, Each &)) {
  const json::Value *found = file.get(member);
  if (!found)
    return Error::success();
  if (!found->getAsObject())
    return wrongMember("", file, member, "an object of products");
  products.emplace();
  for (const auto &[name, value] : *found->getAsObject()) {
    const json::Object *object = value.getAsObject();
    std::string of = (what + " of '" + StringRef(name) + "': ").str();
    if (!object)
      return wrong(of, &value, "an object");
    if (Error error = readOne(*object, of, (*products)[StringRef(name)]))
      return error;
  }
  return Error::success();
}

Expected<double> RangesFile::Value::threshold() const {
  const json::Object *thresholds = members->getObject("thresholds");
  if (!thresholds)
    return std::max(std::abs(least), std::abs(most));
  std::optional<StringRef> method = members->getString("method");
  std::optional<double> threshold = method ? thresholds->getNumber(*method) : std::nullopt;
  if (!threshold || !std::isfinite(*threshold) || *threshold <= 0)
    return llvm::createStringError("'" + name +
                                   "': its 'method' names none of its 'thresholds', which are more "
                                   "than 0");
  return *threshold;
}

Error RangesFile::readValues() {
  const json::Object *ranges = members().getObject("ranges");
  if (!ranges)
    return wrongMember("", members(), "ranges", "an object of values");
  for (const auto &[name, value] : *ranges) {
    const json::Object *range = value.getAsObject();
    std::optional<double> least = range ? range->getNumber("min") : std::nullopt;
    std::optional<double> most = range ? range->getNumber("max") : std::nullopt;
    if (!least || !most || !std::isfinite(*least) || !std::isfinite(*most) || *least > *most)
      return llvm::createStringError("'" + name.str() +
                                     "' is not an object of two numbers, 'min' and 'max'");
    values.push_back({name.str(), *least, *most, range});
  }
  llvm::sort(values, [](const Value &a, const Value &b) { return a.name < b.name; });
  return Error::success();
}

Expected<RangesFile> RangesFile::read(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createStringError(file.getError().message());
  Expected<json::Value> parsed = json::parse((*file)->getBuffer());
  if (!parsed)
    return parsed.takeError();
  RangesFile result;
  result.parsed = std::make_unique<json::Value>(std::move(*parsed));
  const json::Object *object = result.parsed->getAsObject();
  if (!object || object->getInteger("cameo_ranges") != kVersion)
    return llvm::createStringError("the member 'cameo_ranges' is not " + Twine(kVersion));
  if (Error error = result.readValues())
    return error;
  if (Error error = readProducts(*object, "inputs", "the input", result.inputs, readInput))
    return error;
  if (Error error =
          readProducts(*object, "roundings", "the rounding", result.roundings, readRounding))
    return error;
  return result;
}
