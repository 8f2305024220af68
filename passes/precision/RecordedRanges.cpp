// Ranges of values that were recorded while a model ran, as a file.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/RecordedRanges.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/precision/Policy.h"
#include "passes/precision/RangesFile.h"

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
  std::string name = onnx::nodeName(value.getDefiningOp()).value_or("").str();
  unsigned number = cast<OpResult>(value).getResultNumber();
  return name.empty() || number == 0 ? name : name + ":" + std::to_string(number);
}

ArrayAttr dimsOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto all = result ? result.getOwner()->getAttrOfType<ArrayAttr>(onnx::kDimsAttr) : ArrayAttr();
  if (!all || result.getResultNumber() >= all.size())
    return {};
  return ArrayAttr::get(value.getContext(), all[result.getResultNumber()]);
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

llvm::Expected<RecordedRanges> RecordedRanges::read(StringRef path, StringRef model,
                                                    func::FuncOp function) {
  auto problem = [&](const Twine &what) {
    return llvm::createStringError("ranges in '" + path.str() + "': " + what.str());
  };
  llvm::Expected<RangesFile> file = RangesFile::read(path);
  if (!file)
    return problem(llvm::toString(file.takeError()));
  std::optional<StringRef> recorded = file->members().getString("model");
  if (recorded && !model.empty() && *recorded != model)
    return problem("they are of the model with the hash " + *recorded + ", and this one's is " +
                   model);
  if (std::string why = otherChannels(file->members(), function); !why.empty())
    return problem(why);
  RecordedRanges result;
  for (const RangesFile::Value &value : file->values) {
    llvm::Expected<double> threshold = value.threshold();
    if (!threshold)
      return problem(llvm::toString(threshold.takeError()));
    result.byName[value.name] = {value.least, value.most, *threshold};
  }
  result.hasInputs = file->inputs.has_value();
  if (result.hasInputs)
    result.inputs = std::move(*file->inputs);
  result.hasRoundings = file->roundings.has_value();
  if (result.hasRoundings)
    result.roundings = std::move(*file->roundings);
  return result;
}

} // namespace cameo
