// Ranges of values that were recorded while a model ran, as a file.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/RecordedRanges.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/precision/Policy.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace mlir;

namespace cameo {

static constexpr int64_t kRangesVersion = 1;

std::string valueName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name =
        function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::kNameAttr)
                 : StringAttr();
    return name ? name.str() : "";
  }
  std::string name = onnx::nodeName(value.getDefiningOp()).value_or("").str();
  unsigned number = cast<OpResult>(value).getResultNumber();
  return name.empty() || number == 0 ? name : name + ":" + std::to_string(number);
}

/// What becomes 127; an error's text where the file does not say it as it should.
static llvm::Expected<double> thresholdOf(const llvm::json::Object &range, double magnitude) {
  const llvm::json::Object *thresholds = range.getObject("thresholds");
  if (!thresholds)
    return magnitude;
  std::optional<StringRef> name = range.getString("method");
  std::optional<double> threshold = name ? thresholds->getNumber(*name) : std::nullopt;
  if (!threshold || !std::isfinite(*threshold) || *threshold <= 0)
    return llvm::createStringError("its 'method' names none of its 'thresholds', which are more "
                                   "than 0");
  return *threshold;
}

/// Why ranges of a model with these channels are none of this one's; empty if they are. Who writes
/// a file without the model's hash need not know of channels either.
static std::string otherChannels(const llvm::json::Object &file, func::FuncOp function) {
  std::optional<StringRef> recorded = file.getString("equalized");
  auto wanted = function->getAttrOfType<StringAttr>(kEqualizedAttr);
  if (!recorded && (!wanted || !file.getString("model")))
    return "";
  if (!wanted)
    return "they were recorded with equalized ranges, which this model has not";
  if (!recorded)
    return "they were recorded without equalized ranges, which this model has";
  return *recorded == wanted.getValue()
             ? ""
             : "they were recorded with ranges equalized by other factors";
}

static bool readNumbers(const llvm::json::Array *array, std::vector<double> &numbers) {
  if (!array)
    return false;
  for (const llvm::json::Value &value : *array) {
    std::optional<double> number = value.getAsNumber();
    if (!number || !std::isfinite(*number))
      return false;
    numbers.push_back(*number);
  }
  return true;
}

static std::optional<RecordedRanges::Input> inputOf(const llvm::json::Object *object) {
  std::optional<StringRef> value = object ? object->getString("value") : std::nullopt;
  std::optional<double> threshold = object ? object->getNumber("threshold") : std::nullopt;
  RecordedRanges::Input input;
  if (!value || !threshold || !readNumbers(object->getArray("means"), input.means) ||
      !readNumbers(object->getArray("shifts"), input.shifts) ||
      input.means.size() != input.shifts.size())
    return std::nullopt;
  input.value = value->str();
  input.threshold = *threshold;
  return input;
}

static std::optional<RecordedRanges::Rounding> roundingOf(const llvm::json::Object *object) {
  RecordedRanges::Rounding rounding;
  std::optional<StringRef> up = object ? object->getString("up") : std::nullopt;
  std::vector<char> bytes;
  if (!up || !readNumbers(object->getArray("scales"), rounding.scales))
    return std::nullopt;
  if (llvm::Error error = llvm::decodeBase64(*up, bytes)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  for (char byte : bytes)
    for (unsigned bit = 0; bit < 8; ++bit)
      rounding.isUp.push_back(byte >> bit & 1);
  return rounding;
}

/// What bias correction and learned rounding need; the text of what is wrong with it, else none.
static std::string readProducts(const llvm::json::Object &file, RecordedRanges &result) {
  if (const llvm::json::Object *inputs = file.getObject("inputs")) {
    result.hasInputs = true;
    for (const auto &[name, value] : *inputs) {
      std::optional<RecordedRanges::Input> input = inputOf(value.getAsObject());
      if (!input)
        return "the input of '" + name.str() +
               "' is not an object of 'value', 'threshold' and as many numbers in 'means' as in "
               "'shifts'";
      result.inputs[name.str()] = std::move(*input);
    }
  }
  if (const llvm::json::Object *roundings = file.getObject("roundings")) {
    result.hasRoundings = true;
    for (const auto &[name, value] : *roundings) {
      std::optional<RecordedRanges::Rounding> rounding = roundingOf(value.getAsObject());
      if (!rounding)
        return "the rounding of '" + name.str() +
               "' is not an object of numbers in 'scales' and Base64 in 'up'";
      result.roundings[name.str()] = std::move(*rounding);
    }
  }
  return "";
}

llvm::Expected<RecordedRanges> RecordedRanges::read(StringRef path, StringRef model,
                                                    func::FuncOp function) {
  auto problem = [&](const Twine &what) {
    return llvm::createStringError("ranges in '" + path.str() + "': " + what.str());
  };
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return problem(file.getError().message());
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse((*file)->getBuffer());
  if (!parsed)
    return problem(llvm::toString(parsed.takeError()));
  const llvm::json::Object *object = parsed->getAsObject();
  std::optional<int64_t> version = object ? object->getInteger("cameo_ranges") : std::nullopt;
  if (version != kRangesVersion)
    return problem("the member 'cameo_ranges' is not " + Twine(kRangesVersion));
  std::optional<StringRef> recorded = object->getString("model");
  if (recorded && !model.empty() && *recorded != model)
    return problem("they are of the model with the hash " + *recorded + ", and this one's is " +
                   model);
  if (std::string why = otherChannels(*object, function); !why.empty())
    return problem(why);
  const llvm::json::Object *ranges = object->getObject("ranges");
  if (!ranges)
    return problem("there is no object 'ranges'");
  RecordedRanges result;
  for (const auto &[name, value] : *ranges) {
    const llvm::json::Object *range = value.getAsObject();
    std::optional<double> least = range ? range->getNumber("min") : std::nullopt;
    std::optional<double> most = range ? range->getNumber("max") : std::nullopt;
    if (!least || !most || !std::isfinite(*least) || !std::isfinite(*most) || *least > *most)
      return problem("'" + name.str() + "' is not an object of two numbers, 'min' and 'max'");
    llvm::Expected<double> threshold =
        thresholdOf(*range, std::max(std::abs(*least), std::abs(*most)));
    if (!threshold)
      return problem("'" + name.str() + "': " + llvm::toString(threshold.takeError()));
    result.byName[name.str()] = {*least, *most, *threshold};
  }
  if (std::string why = readProducts(*object, result); !why.empty())
    return problem(why);
  return result;
}

} // namespace cameo
