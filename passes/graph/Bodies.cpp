// Functions of a module that bodies of control flow are, and the calls of them.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/Bodies.h"

#include "dialects/onnx/shape/NodeText.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {

SmallVector<BodyCall, 2> bodyCalls(Operation *op) {
  SmallVector<BodyCall, 2> calls;
  auto add = [&](FlatSymbolRefAttr name, unsigned own, ValueRange captures) {
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name))
      calls.push_back({callee, own, captures});
  };
  if (auto choice = dyn_cast<onnx::CallIfOp>(op)) {
    add(choice.getThenBranchAttr(), 0, choice.getCaptures());
    add(choice.getElseBranchAttr(), 0, choice.getCaptures());
  } else if (auto loop = dyn_cast<onnx::CallLoopOp>(op)) {
    add(loop.getBodyAttr(), 1 + loop.getCarried(), loop.getValues().drop_front(loop.getCarried()));
  }
  return calls;
}

static void addFunctions(func::FuncOp function, llvm::SetVector<func::FuncOp> &functions) {
  if (function.isExternal() || !functions.insert(function))
    return;
  for (Operation &op : function.getBody().front())
    for (const BodyCall &call : bodyCalls(&op))
      addFunctions(call.callee, functions);
}

SmallVector<func::FuncOp> modelFunctions(ModuleOp module) {
  llvm::SetVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate())
      addFunctions(function, functions);
  return functions.takeVector();
}

llvm::DenseMap<Operation *, Operation *> callersOf(ModuleOp module) {
  llvm::DenseMap<Operation *, Operation *> callers;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.getOps())
      for (const BodyCall &call : bodyCalls(&op))
        callers[call.callee] = &op;
  return callers;
}

std::vector<std::string> nodesAround(func::FuncOp function,
                                     const llvm::DenseMap<Operation *, Operation *> &callers) {
  std::vector<std::string> nodes;
  for (Operation *call = callers.lookup(function); call;
       call = callers.lookup(call->getParentOfType<func::FuncOp>()))
    nodes.insert(nodes.begin(), onnx::nodeName(call).value_or("").str());
  return nodes;
}

} // namespace cameo
