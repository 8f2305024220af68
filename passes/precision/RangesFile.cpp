// JSON ==> ranges of values, factors of their channels, and means of what products read.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/RangesFile.h"

#include "llvm/Support/FormatVariadic.h"

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
  double scale;
  if (Error error = readNumber(object, of, "scale", scale))
    return error;
  input.scale = float(scale);
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

Error RangesFile::readInputs() {
  const json::Value *found = members().get("inputs");
  if (!found)
    return Error::success();
  if (!found->getAsObject())
    return wrongMember("", members(), "inputs", "an object of products");
  inputs.emplace();
  for (const auto &[name, value] : *found->getAsObject()) {
    const json::Object *object = value.getAsObject();
    std::string of = ("the input of '" + StringRef(name) + "': ").str();
    if (!object)
      return wrong(of, &value, "an object");
    if (Error error = readInput(*object, of, (*inputs)[StringRef(name)]))
      return error;
  }
  return Error::success();
}

Error RangesFile::readChosen() {
  const json::Value *found = members().get("chosen");
  if (!found)
    return Error::success();
  const json::Object *object = found->getAsObject();
  if (!object)
    return wrongMember("", members(), "chosen", "an object");
  std::optional<bool> corrects = object->getBoolean("bias_correction");
  if (!corrects)
    return wrongMember("'chosen': ", *object, "bias_correction", "true or false");
  correctsBiases = *corrects;
  if (correctsBiases && !inputs)
    return wrongMember("'chosen' corrects biases, for which it takes ", members(), "inputs",
                       "an object of products");
  return Error::success();
}

/// The threshold of the value's method; nothing where there is no such member.
static Expected<std::optional<double>> thresholdIn(const RangesFile::Value &value,
                                                   StringRef member) {
  const json::Object *thresholds = value.members->getObject(member);
  if (!thresholds)
    return std::nullopt;
  std::optional<StringRef> method = value.members->getString("method");
  std::optional<double> threshold = method ? thresholds->getNumber(*method) : std::nullopt;
  if (!threshold || !std::isfinite(*threshold) || *threshold <= 0)
    return llvm::createStringError("'" + value.name + "': its 'method' names none of its '" +
                                   member + "', which are more than 0");
  return threshold;
}

Expected<double> RangesFile::Value::threshold() const {
  Expected<std::optional<double>> found = thresholdIn(*this, "thresholds");
  if (!found)
    return found.takeError();
  return found->value_or(std::max(std::abs(least), std::abs(most)));
}

Expected<std::optional<double>> RangesFile::Value::scaledThreshold() const {
  return thresholdIn(*this, "scaled");
}

Error RangesFile::readChannels() {
  const json::Value *found = members().get("channels");
  if (!found)
    return Error::success();
  if (!found->getAsObject())
    return wrongMember("", members(), "channels", "an object of values");
  for (const auto &[name, value] : *found->getAsObject()) {
    ChannelExponents &exponents = channels[StringRef(name)];
    bool isGood = value.getAsArray() != nullptr;
    for (const json::Value &number : isGood ? *value.getAsArray() : json::Array()) {
      std::optional<int64_t> exponent = number.getAsInteger();
      isGood &= exponent && std::abs(*exponent) <= kMostExponent;
      exponents.push_back(int8_t(isGood ? *exponent : 0));
    }
    if (!isGood)
      return wrong(
          "the channels of '" + StringRef(name) + "': ", &value,
          ("a list of exponents from -" + Twine(kMostExponent) + " to " + Twine(kMostExponent))
              .str());
  }
  return Error::success();
}

Error RangesFile::readValues() {
  const json::Object *ranges = members().getObject("ranges");
  if (!ranges)
    return wrongMember("", members(), "ranges", "an object of values");
  for (const auto &[name, value] : *ranges) {
    const json::Object *range = value.getAsObject();
    std::optional<double> least = range ? range->getNumber("min") : std::nullopt;
    std::optional<double> most = range ? range->getNumber("max") : std::nullopt;
    if (!least || !most || !std::isfinite(*least) || !std::isfinite(*most))
      return llvm::createStringError("'" + name.str() +
                                     "' is not an object of two numbers, 'min' and 'max'");
    if (*least > *most)
      return llvm::createStringError("'" + name.str() + "' has a 'min' that is above its 'max'");
    values.push_back({name.str(), *least, *most, range});
  }
  llvm::sort(values, [](const Value &a, const Value &b) { return a.name < b.name; });
  return Error::success();
}

Expected<RangesFile> RangesFile::parse(StringRef text) {
  Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return parsed.takeError();
  RangesFile result;
  result.parsed = std::make_unique<json::Value>(std::move(*parsed));
  const json::Object *object = result.parsed->getAsObject();
  if (!object || object->getInteger("cameo_ranges") != kVersion)
    return llvm::createStringError("the member 'cameo_ranges' is not " + Twine(kVersion));
  if (Error error = result.readValues())
    return error;
  if (Error error = result.readChannels())
    return error;
  if (Error error = result.readInputs())
    return error;
  if (Error error = result.readChosen())
    return error;
  return result;
}
