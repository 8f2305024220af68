// Gives values in bodies names that no other value of the model has.
//
//   %1 = onnx.CallLoop(%n, %none, %h0, %w) {body = @main.body, carried = 1}   loc("loop")
//   func.func private @main.body(%i, %h {onnx.name = "w"}, %v {onnx.name = "old"}) {
//     %0 = onnx.MatMul(%h, %v) loc("loop")
//     ==>
//   func.func private @main.body(%i, %h {onnx.name = "w_1"}, %v {onnx.name = "w"}) {
//     %0 = onnx.MatMul(%h, %v) loc("loop_1")
//
// A captured value has the name that it has in the caller, as it is the same one. A value that a loop carries is
// another one in each trip.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/NodeText.h"
#include "passes/Statistics.h"
#include "passes/graph/Bodies.h"
#include "passes/precision/RecordedRanges.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_ASSIGNBODYNAMES
#include "passes/Passes.h.inc"

namespace {

struct AssignBodyNames : impl::AssignBodyNamesBase<AssignBodyNames> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions = modelFunctions(getOperation());
    if (llvm::none_of(functions, [](func::FuncOp function) { return function.isPrivate(); }))
      return markAllAnalysesPreserved();
    taken.clear();
    llvm::StringMap<Operation *> owners; // the first function of each name
    for (func::FuncOp function : functions) {
      for (BlockArgument argument : function.getArguments())
        taken.insert(valueName(argument));
      function.walk([&](Operation *op) {
        if (std::optional<StringRef> name = nameOf(op)) {
          taken.insert(*name);
          owners.try_emplace(*name, function);
        }
      });
    }
    for (func::FuncOp function : functions)
      if (function.isPrivate())
        nameNodes(function, owners);
    llvm::StringSet<> values; // that are no captures
    for (const auto &owner : owners)
      values.insert(owner.first());
    for (func::FuncOp function : functions)
      if (!function.isPrivate())
        for (BlockArgument argument : function.getArguments())
          values.insert(valueName(argument));
    for (func::FuncOp function : functions)
      for (Operation &op : function.getBody().front())
        for (const BodyCall &call : bodyCalls(&op))
          nameArguments(&op, call, values);
  }

private:
  /// Constants are copied into the functions that read them.
  static std::optional<StringRef> nameOf(Operation *op) {
    if (isa<func::FuncOp, func::ReturnOp, onnx::ConstantOp, onnx::NoneOp>(op))
      return std::nullopt;
    return onnx::nodeName(op);
  }

  std::string uniqueName(StringRef wanted) {
    std::string unique;
    unsigned number = 1;
    do
      unique = (wanted + "_" + Twine(number++)).str();
    while (!taken.insert(unique).second);
    return unique;
  }

  /// Steps of one node keep one name.
  void nameNodes(func::FuncOp function, llvm::StringMap<Operation *> &owners) {
    llvm::StringMap<std::string> renamed;
    function.walk([&](Operation *op) {
      std::optional<StringRef> name = nameOf(op);
      if (!name || owners.lookup(*name) == function)
        return;
      auto [known, isNew] = renamed.try_emplace(*name);
      if (isNew) {
        known->second = uniqueName(*name);
        owners[known->second] = function;
        count(&getContext(), getArgument(), "renamed");
      }
      auto named = dyn_cast<NameLoc>(op->getLoc());
      op->setLoc(NameLoc::get(StringAttr::get(&getContext(), known->second),
                              named ? named.getChildLoc() : op->getLoc()));
    });
  }

  void nameArguments(Operation *op, const BodyCall &call, llvm::StringSet<> &values) {
    func::FuncOp callee = call.callee;
    auto name = [&](unsigned number, StringRef text) {
      callee.setArgAttr(number, onnx::kNameAttr, StringAttr::get(&getContext(), text));
    };
    for (unsigned i = 1; i < call.own; ++i) { // behind the number of the trip
      std::string given = valueName(callee.getArgument(i));
      if (given.empty())
        given = (onnx::nodeName(op).value_or("") + ".carried").str();
      if (values.contains(given))
        given = uniqueName(given);
      values.insert(given);
      name(i, given);
    }
    for (auto [i, value] : llvm::enumerate(call.captures))
      if (std::string given = valueName(value); !given.empty())
        name(call.own + i, given);
  }

  llvm::StringSet<> taken;
};

} // namespace

} // namespace cameo
