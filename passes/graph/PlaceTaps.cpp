// Makes intermediate values results of the function that a run shows on its way.
//
//   %0 = onnx.Relu(%x) loc("relu")        %0 = onnx.Relu(%x) loc("relu")
//   %1 = onnx.Exp(%0)                ==>  %1 = onnx.Exp(%0)
//   return %1                             return %1, %0   // {onnx.name = "relu", rt.tap}
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/rt/Rt.h"
#include "passes/Statistics.h"
#include "passes/graph/Graph.h"
#include "passes/precision/RecordedRanges.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_PLACETAPS
#include "passes/Passes.h.inc"

namespace {

struct NamedValue {
  std::string name;
  Value value;
};

struct TapPattern {
  std::string text; // as given
  llvm::GlobPattern glob;
  bool isUsed = false;
  std::string constant; // one that it matches

  /// Whether it names the value, or the node that computes it.
  bool match(const NamedValue &value) const {
    if (glob.match(value.name))
      return true;
    Operation *op = value.value.getDefiningOp();
    return op && (glob.match(onnx::nodeName(op).value_or("")) ||
                  glob.match(op->getName().stripDialect()));
  }
};

/// Whether the value is another one in another type of floating point, and has its name.
bool isCastOfItsName(Value value, StringRef name) {
  auto cast = value.getDefiningOp<onnx::CastOp>();
  auto isFloat = [](Value of) {
    auto type = dyn_cast<TensorType>(of.getType());
    return type && isa<FloatType>(type.getElementType());
  };
  return cast && isFloat(cast.getInput()) && isFloat(value) && valueName(cast.getInput()) == name;
}

/// Whether the value is the same in every run: a constant, or one that is stored as integers.
bool isConstant(Value value) {
  if (auto dequantize = value.getDefiningOp<onnx::DequantizeLinearOp>())
    return isConstant(dequantize->getOperand(0));
  return value.getDefiningOp<onnx::ConstantOp>() != nullptr;
}

struct PlaceTaps : impl::PlaceTapsBase<PlaceTaps> {
  using PlaceTapsBase::PlaceTapsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (function.getResultAttr(i, rt::kTapAttr))
        return;
    if (failed(readPatterns()))
      return signalPassFailure();
    SmallVector<NamedValue> taps = valuesOf(function);
    llvm::erase_if(taps, [&](const NamedValue &value) { return !isWanted(value); });
    if (failed(checkPatterns()))
      return signalPassFailure();
    place(function, taps);
  }

private:
  LogicalResult fail(const Twine &what) {
    return emitError(getOperation().getLoc()) << "--tap: " << what;
  }

  LogicalResult readPatterns() {
    SmallVector<StringRef> texts;
    StringRef(globs).split(texts, ';', -1, /*KeepEmpty=*/false);
    for (StringRef text : texts) {
      llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
      if (!glob)
        return fail("'" + text + "' is not a pattern: " + llvm::toString(glob.takeError()));
      patterns.push_back({text.str(), std::move(*glob), false, {}});
    }
    return success();
  }

  /// In order of computation; of one name, the last value.
  static SmallVector<NamedValue> valuesOf(func::FuncOp function) {
    SmallVector<NamedValue> values;
    llvm::StringMap<size_t> last;
    auto add = [&](Value value) {
      std::string name = valueName(value);
      if (name.empty() || !isa<RankedTensorType>(value.getType()) || isCastOfItsName(value, name))
        return;
      auto [known, isNew] = last.try_emplace(name, values.size());
      if (!isNew)
        values[known->second].value = {};
      known->second = values.size();
      values.push_back({std::move(name), value});
    };
    for (BlockArgument argument : function.getArguments())
      add(argument);
    for (Operation &op : function.getBody().front())
      for (Value result : op.getResults())
        add(result);
    llvm::erase_if(values, [](const NamedValue &value) { return !value.value; });
    return values;
  }

  bool isWanted(const NamedValue &value) {
    bool isFound = false;
    for (TapPattern &pattern : patterns) {
      if (!pattern.match(value))
        continue;
      if (isConstant(value.value))
        pattern.constant = value.name;
      else
        pattern.isUsed = isFound = true;
    }
    return isFound;
  }

  LogicalResult checkPatterns() {
    for (const TapPattern &pattern : patterns) {
      if (!pattern.isUsed && !pattern.constant.empty())
        return fail("'" + pattern.text + "' matches constants only ('" + pattern.constant +
                    "'), and a run computes none");
      if (!pattern.isUsed)
        return fail("'" + pattern.text +
                    "' matches no value, neither by name nor by its node's name or operator");
    }
    return success();
  }

  void place(func::FuncOp function, ArrayRef<NamedValue> taps) {
    Builder b(&getContext());
    SmallVector<Value> values;
    SmallVector<DictionaryAttr> attributes;
    for (const auto &[name, value] : taps) {
      values.push_back(value);
      attributes.push_back(
          b.getDictionaryAttr({b.getNamedAttr(onnx::kNameAttr, b.getStringAttr(name)),
                               b.getNamedAttr(onnx::kDimsAttr, knownDims(value)),
                               b.getNamedAttr(rt::kTapAttr, b.getUnitAttr())}));
      count(&getContext(), getArgument(), "placed");
    }
    Operation *end = function.getBody().front().getTerminator();
    unsigned outputs = end->getNumOperands();
    end->insertOperands(outputs, values);
    function.insertResults(SmallVector<unsigned>(values.size(), outputs),
                           ValueRange(values).getTypes(), attributes);
  }

  std::vector<TapPattern> patterns;
};

} // namespace

} // namespace cameo
