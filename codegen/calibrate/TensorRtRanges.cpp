// TensorRT's scales by the names of ONNX tensors ==> ranges by the names of
// values.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Calibrate.h"

#include "codegen/NodeNames.h"
#include "dialects/onnx/Onnx.h"
#include "passes/graph/Bodies.h"
#include "passes/precision/RecordedRanges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace cameo;

namespace {

/// The scale of each result of the model's nodes that has one, in the order of
/// the nodes.
struct KnownScales {
  struct Scale {
    size_t order;
    float scale;
  };
  llvm::StringMap<Scale> byResult; // "node:0"

  KnownScales(const TensorRtCache &cache, ArrayRef<onnx::TensorOrigin> origins) {
    for (const auto &[order, origin] : llvm::enumerate(origins))
      if (auto found = cache.scales.find(origin.tensor); found != cache.scales.end())
        byResult[key(origin.node, origin.result)] = {order, found->second};
  }

  static std::string key(StringRef node, unsigned result) {
    return (node + ":" + Twine(result)).str();
  }

  /// Of the last node that has become part of what computes the value.
  std::optional<float> scaleOf(OpResult value) const {
    llvm::SetVector<StringRef> nodes;
    collectNodeNames(value.getLoc(), nodes);
    std::optional<Scale> last;
    for (StringRef node : nodes) {
      auto found = byResult.find(key(node, value.getResultNumber()));
      if (found != byResult.end() && (!last || last->order < found->second.order))
        last = found->second;
    }
    return last ? std::optional(last->scale) : std::nullopt;
  }
};

} // namespace

FailureOr<std::string> cameo::rangesOf(const TensorRtCache &cache, StringRef path,
                                       Compiler &compiler) {
  if (failed(compiler.runTo(Stage::Normalized)))
    return failure();
  KnownScales known(cache, compiler.tensorOrigins());
  llvm::json::Object ranges;
  auto add = [&](Value value, std::optional<float> scale) {
    std::string name = valueName(value);
    if (!scale || *scale == 0 || name.empty())
      return;
    double threshold = double(*scale) * kLastQuantum;
    ranges[name] = llvm::json::Object{{"min", -threshold},
                                      {"max", threshold},
                                      {"method", "tensorrt"},
                                      {"thresholds", llvm::json::Object{{"tensorrt", threshold}}}};
  };
  for (func::FuncOp function : modelFunctions(compiler.module())) {
    for (BlockArgument argument : function.getArguments())
      if (auto found = cache.scales.find(valueName(argument)); found != cache.scales.end())
        add(argument, found->second);
    function.walk([&](Operation *op) {
      for (OpResult result : op->getResults())
        add(result, known.scaleOf(result));
    });
  }
  if (ranges.empty())
    return compiler.fail("calibration cache '" + path + "' is of another model: none of its " +
                         Twine(cache.scales.size()) + " tensors is one of this model's");
  return llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{
                                      {"cameo_ranges", 1},
                                      {"model", llvm::formatv("{0:x-16}", compiler.hash()).str()},
                                      {"ranges", std::move(ranges)}}))
      .str();
}
