// Why an operator is not supported, and what comes nearest to it, for the report.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/RefusalReport.h"

#include "dialects/onnx/Interfaces.h"
#include "dialects/onnx/OpsetConversion.h"

using namespace mlir;

namespace cameo {

/// The opsets that know an operator of the default domain, or the known name most like it.
static std::string describeUnknown(StringRef op, int64_t opset) {
  std::optional<int64_t> first;
  StringRef alike;
  unsigned least = op.size() / 3 + 1;
  for (const onnx::ConversionRow &row : onnx::conversionRows()) {
    if (row.op == op)
      first = first ? std::min(*first, row.sinceVersion) : row.sinceVersion;
    unsigned distance = op.edit_distance_insensitive(row.op, true, least);
    if (distance < least) {
      least = distance;
      alike = row.op;
    }
  }
  if (first && *first > opset)
    return "is known from opset " + std::to_string(*first) +
           " on; nearest supported: import opset " + std::to_string(*first);
  if (first)
    return "was removed from ONNX before opset " + std::to_string(opset);
  std::string text = "is not an operator of ONNX";
  return alike.empty() ? text : text + "; nearest supported: " + alike.str();
}

/// Operators of ONNX Runtime's on integers: QLinearAdd, QAttention, DynamicQuantizeLSTM; QuickGelu is not one.
static bool isQuantizedForm(StringRef type) {
  return type.starts_with("DynamicQuantize") ||
         (type.size() > 1 && type[0] == 'Q' && llvm::isUpper(type[1]));
}

std::string describeUnsupported(Operation *op) {
  auto custom = dyn_cast<onnx::CustomOp>(op);
  if (custom && custom.getUnsupported())
    return custom.getUnsupported()->str();
  if (custom && custom.getDomain().empty())
    return describeUnknown(custom.getOpType(), custom.getVersion());
  if (custom && custom.getDomain() == "com.microsoft" && isQuantizedForm(custom.getOpType()))
    return "operators of ONNX Runtime are not supported; nearest supported: the model quantised "
           "with quant_format=QuantFormat.QDQ";
  if (custom && custom.getDomain().starts_with("com.microsoft"))
    return "operators of ONNX Runtime are not supported; nearest supported: the model before ONNX "
           "Runtime optimised it";
  if (custom)
    return "operators of other domains are not supported; nearest supported: a model-local "
           "function "
           "of that name whose body uses ONNX's operators";
  std::string text = "the operator is not supported";
  auto known = dyn_cast<onnx::NearestFormInterface>(op);
  return known ? text + "; nearest supported: " + known.nearestForm().str() : text;
}

} // namespace cameo
