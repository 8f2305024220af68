// Ranges of values that were recorded while a model ran, as a file.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/RecordedRanges.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/precision/Policy.h"
#include "passes/precision/QuantizedValue.h"
#include "passes/precision/RangesFile.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace cameo {

std::string valueName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name =
        function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::kNameAttr)
                 : StringAttr();
    return name ? name.str() : "";
  }
  return valueName(onnx::nodeName(value.getDefiningOp()).value_or(""),
                   cast<OpResult>(value).getResultNumber());
}

std::string valueName(StringRef node, unsigned result) {
  return node.empty() || result == 0 ? node.str() : node.str() + ":" + std::to_string(result);
}

ArrayAttr dimsOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto all = result ? result.getOwner()->getAttrOfType<ArrayAttr>(onnx::kDimsAttr) : ArrayAttr();
  if (!all || result.getResultNumber() >= all.size())
    return {};
  return ArrayAttr::get(value.getContext(), all[result.getResultNumber()]);
}

static llvm::Error problem(StringRef path, llvm::Error error) {
  return llvm::createStringError("ranges in '" + path + "': " + llvm::toString(std::move(error)));
}

llvm::Expected<RecordedRanges> RecordedRanges::read(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return problem(path, llvm::createStringError(file.getError().message()));
  return parse((*file)->getBuffer(), path);
}

llvm::Expected<RecordedRanges> RecordedRanges::parse(StringRef text, StringRef path) {
  llvm::Expected<RangesFile> file = RangesFile::parse(text);
  if (!file)
    return problem(path, file.takeError());
  RecordedRanges result;
  result.file = path.str();
  for (const RangesFile::Value &value : file->values) {
    llvm::Expected<double> threshold = value.threshold();
    if (!threshold)
      return problem(path, threshold.takeError());
    llvm::Expected<std::optional<double>> scaled = value.scaledThreshold();
    if (!scaled)
      return problem(path, scaled.takeError());
    result.byName[value.name] = {value.least, value.most,
                                 *threshold > 0 ? activationScale(float(*threshold)) : 0,
                                 *scaled ? activationScale(float(**scaled)) : 0};
  }
  result.channels = std::move(file->channels);
  result.inputs = std::move(file->inputs);
  result.correctsBiases = file->correctsBiases;
  if (std::optional<StringRef> hash = file->members().getString("model"))
    result.model = hash->str();
  return result;
}

//===-- As an attribute -----------------------------------------------------------------------===//
//
// {file = "r.json", values = {conv1 = array<f64: least, most, scale, scale of scaled channels>},
//  channels = {conv1 = array<i8: 0, 3, 1>},
//  inputs = {conv2 = [array<f64: means>, array<f64: shifts>, array<f64: scale>, "conv1"]},
//  corrected}    where biases are corrected unless asked for otherwise

/// Entries in the order of their names, whatever that of the map is.
template <typename Each, typename ToAttr>
static DictionaryAttr toAttr(Builder &b, const llvm::StringMap<Each> &map, ToAttr each) {
  SmallVector<NamedAttribute> entries;
  for (const auto &entry : map)
    entries.push_back(b.getNamedAttr(entry.first(), each(entry.second)));
  return b.getDictionaryAttr(entries);
}

/// False where an entry is not of its form: text can be written by hand.
template <typename Each>
static bool fromAttr(Attribute attribute, llvm::StringMap<Each> &map,
                     bool (*readOne)(Attribute, Each &)) {
  auto entries = dyn_cast_or_null<DictionaryAttr>(attribute);
  return entries && llvm::all_of(entries, [&](NamedAttribute entry) {
           return readOne(entry.getValue(), map[entry.getName()]);
         });
}

static bool readNumbers(Attribute attribute, std::vector<double> &numbers) {
  auto list = dyn_cast<DenseF64ArrayAttr>(attribute);
  if (list)
    numbers = list.asArrayRef().vec();
  return bool(list);
}

static bool readRange(Attribute attribute, RecordedRanges::Range &range) {
  std::vector<double> read;
  if (!readNumbers(attribute, read) || read.size() != 4)
    return false;
  range = {read[0], read[1], float(read[2]), float(read[3])};
  return true;
}

static bool readChannels(Attribute attribute, ChannelExponents &exponents) {
  auto list = dyn_cast<DenseI8ArrayAttr>(attribute);
  if (list)
    exponents = list.asArrayRef().vec();
  return bool(list);
}

static bool readInput(Attribute attribute, RecordedRanges::Input &input) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  std::vector<double> scale;
  if (!list || list.size() != 4 || !readNumbers(list[0], input.means) ||
      !readNumbers(list[1], input.shifts) || !readNumbers(list[2], scale) || scale.size() != 1 ||
      !isa<StringAttr>(list[3]))
    return false;
  input.scale = float(scale.front());
  input.value = cast<StringAttr>(list[3]).str();
  return input.means.size() == input.shifts.size();
}

llvm::Error RecordedRanges::attach(func::FuncOp function, StringRef modelHash) const {
  if (model && !modelHash.empty() && *model != modelHash)
    return problem(file, llvm::createStringError("they are of the model with the hash " + *model +
                                                 ", and this one's is " + modelHash));
  Builder b(function.getContext());
  NamedAttrList members;
  members.set("file", b.getStringAttr(file));
  members.set("values", toAttr(b, byName, [&](const Range &range) {
                return b.getDenseF64ArrayAttr({range.least, range.most, range.scale, range.scaled});
              }));
  if (!channels.empty())
    members.set("channels", toAttr(b, channels, [&](const ChannelExponents &exponents) {
                  return b.getDenseI8ArrayAttr(exponents);
                }));
  if (inputs)
    members.set("inputs", toAttr(b, *inputs, [&](const Input &input) {
                  return b.getArrayAttr(
                      {b.getDenseF64ArrayAttr(input.means), b.getDenseF64ArrayAttr(input.shifts),
                       b.getDenseF64ArrayAttr(double(input.scale)), b.getStringAttr(input.value)});
                }));
  if (correctsBiases)
    members.set("corrected", b.getUnitAttr());
  function->setAttr(kRangesAttr, members.getDictionary(b.getContext()));
  return llvm::Error::success();
}

FailureOr<RecordedRanges> RecordedRanges::of(func::FuncOp function) {
  RecordedRanges result;
  auto attached = function->getAttrOfType<DictionaryAttr>(kRangesAttr);
  if (!attached)
    return result;
  auto name = attached.getAs<StringAttr>("file");
  bool isGood = name && fromAttr(attached.get("values"), result.byName, readRange);
  if (Attribute found = attached.get("channels"))
    isGood &= fromAttr(found, result.channels, readChannels);
  if (Attribute found = attached.get("inputs"))
    isGood &= fromAttr(found, result.inputs.emplace(), readInput);
  if (!isGood)
    return function.emitError() << "'" << kRangesAttr
                                << "' is not of the form in which cameo-attach-ranges leaves it";
  result.file = name.str();
  result.correctsBiases = attached.contains("corrected");
  return result;
}

} // namespace cameo
