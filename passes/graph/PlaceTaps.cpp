// Makes intermediate values results of the function that a run shows on its way.
//
//   %0 = onnx.Relu(%x) loc("relu")        %0 = onnx.Relu(%x) loc("relu")
//   %1 = onnx.Exp(%0)                ==>  %1 = onnx.Exp(%0)
//   return %1                             return %1, %0   // {onnx.name = "relu", rt.tap}
//
// Bodies give theirs behind what they give their caller; what they capture is shown there.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/rt/Rt.h"
#include "passes/Statistics.h"
#include "passes/graph/Bodies.h"
#include "passes/graph/Graph.h"
#include "passes/precision/RecordedRanges.h"

#include "llvm/ADT/StringSet.h"
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

/// All that a value may be called: its name here and in the model's file, its node's name, and its operator.
SmallVector<StringRef> wordsFor(const NamedValue &value, StringRef tensor) {
  SmallVector<StringRef> words{value.name};
  if (!tensor.empty())
    words.push_back(tensor);
  if (Operation *op = value.value.getDefiningOp()) {
    words.push_back(onnx::nodeName(op).value_or(""));
    words.push_back(onnx::operatorName(op));
  }
  return words;
}

struct TapPattern {
  std::string text; // as given
  llvm::GlobPattern glob;
  bool isUsed = false;
  std::string constant; // one that it matches

  bool match(ArrayRef<StringRef> words) const {
    return llvm::any_of(words, [&](StringRef word) { return glob.match(word); });
  }
};

/// The words that are most like `text`: at most three, quoted; empty where none is.
std::string nearest(StringRef text, const llvm::StringSet<> &words) {
  const unsigned least = text.size() / 3 + 1;
  SmallVector<std::pair<unsigned, StringRef>> alike;
  for (StringRef word : words.keys())
    if (unsigned distance = text.edit_distance_insensitive(word, true, least); distance < least)
      alike.push_back({distance, word});
  llvm::sort(alike);
  alike.truncate(std::min<size_t>(alike.size(), 3));
  std::string list;
  for (auto [distance, word] : alike)
    list += (list.empty() ? "'" : ", '") + word.str() + "'";
  return list;
}

/// Whether the value is another one in another type of floating point, and has its name. A cast of a later result has the
/// name of its node, which is that of the first result.
bool isCastOfItsName(Value value, StringRef name) {
  auto cast = value.getDefiningOp<onnx::CastOp>();
  auto isFloat = [](Value of) {
    auto type = dyn_cast<TensorType>(of.getType());
    return type && isa<FloatType>(type.getElementType());
  };
  if (!cast || !isFloat(cast.getInput()) || !isFloat(value))
    return false;
  Operation *source = cast.getInput().getDefiningOp();
  return (source ? onnx::nodeName(source).value_or("").str() : valueName(cast.getInput())) == name;
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
    SmallVector<func::FuncOp> functions = modelFunctions(getOperation());
    for (func::FuncOp function : functions)
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (function.getResultAttr(i, rt::kTapAttr))
          return;
    if (failed(readPatterns()))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      readTensors(function);
    llvm::DenseMap<Operation *, Operation *> callers = callersOf(getOperation());
    SmallVector<SmallVector<NamedValue>> taps;
    for (func::FuncOp function : functions) {
      SmallVector<NamedValue> &wanted = taps.emplace_back(valuesOf(function, callers));
      llvm::erase_if(wanted, [&](const NamedValue &value) { return !isWanted(value); });
    }
    if (!functions.empty() && failed(checkPatterns()))
      return signalPassFailure();
    for (auto [function, wanted] : llvm::zip(functions, taps)) {
      place(function, wanted);
      function->removeAttr(onnx::kTensorsAttr);
    }
  }

private:
  LogicalResult fail(const Twine &what) {
    auto functions = getOperation().getOps<func::FuncOp>();
    return emitError(functions.empty() ? getOperation().getLoc() : (*functions.begin()).getLoc())
           << "--tap: " << what;
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

  /// The arguments of a function that are values of their own: not what a body captures, nor the number of a trip.
  static ArrayRef<BlockArgument>
  ownArguments(func::FuncOp function, const llvm::DenseMap<Operation *, Operation *> &callers) {
    Operation *caller = callers.lookup(function);
    if (!caller)
      return function.getArguments();
    auto loop = dyn_cast<onnx::CallLoopOp>(caller);
    return loop ? function.getArguments().slice(1, loop.getCarried()) : ArrayRef<BlockArgument>();
  }

  /// In order of computation; of one name, the last value.
  static SmallVector<NamedValue> valuesOf(func::FuncOp function,
                                          const llvm::DenseMap<Operation *, Operation *> &callers) {
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
    for (BlockArgument argument : ownArguments(function, callers))
      add(argument);
    for (Operation &op : function.getBody().front())
      for (Value result : op.getResults())
        add(result);
    llvm::erase_if(values, [](const NamedValue &value) { return !value.value; });
    return values;
  }

  void readTensors(func::FuncOp function) {
    if (auto names = function->getAttrOfType<DictionaryAttr>(onnx::kTensorsAttr))
      for (NamedAttribute tensor : names)
        if (auto name = dyn_cast<StringAttr>(tensor.getValue()))
          tensors[tensor.getName().getValue()] = name.getValue();
  }

  bool isWanted(const NamedValue &value) {
    SmallVector<StringRef> words = wordsFor(value, tensors.lookup(value.name));
    known.insert(words.begin(), words.end());
    bool isFound = false;
    for (TapPattern &pattern : patterns) {
      if (!pattern.match(words))
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
      if (pattern.isUsed)
        continue;
      if (StringRef removed = removedBy(pattern); !removed.empty())
        return fail("'" + pattern.text + "' matches '" + removed +
                    "', which optimisation has removed");
      std::string alike = nearest(pattern.text, known);
      return fail("'" + pattern.text +
                  "' matches no value, neither by name nor by its node's name or operator" +
                  (alike.empty() ? "" : "; nearest: " + alike));
    }
    return success();
  }

  /// The name in the model's file of a value that matches and that nothing computes any more; else empty.
  StringRef removedBy(const TapPattern &pattern) const {
    StringRef found;
    for (const auto &[value, name] : tensors)
      if (pattern.glob.match(name) && (found.empty() || name < found))
        found = name;
    return found;
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
  llvm::DenseMap<StringRef, StringRef> tensors; // what the model calls a value, by its name here
  llvm::StringSet<> known;                      // what values are called
};

} // namespace

} // namespace cameo
