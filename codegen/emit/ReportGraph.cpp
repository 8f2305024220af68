// The graph of nodes at a stage, for the report.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/NodeNames.h"
#include "codegen/emit/Report.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/graph/Bodies.h"
#include "passes/precision/Policy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace cameo;

/// "1x64x56x56xf32" for tensors.
static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  StringRef inside = text;
  return inside.consume_front("tensor<") && inside.consume_back(">") ? inside.str() : text;
}

static func::FuncOp entryOf(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    return function;
  for (auto variant : module.getOps<rt::VariantOp>())
    for (auto function : variant.getOps<func::FuncOp>())
      return function;
  return {};
}

namespace {

class GraphReader {
public:
  explicit GraphReader(StageGraph &graph) : graph(graph) {}

  /// Nodes of a graph, with those of graphs in it behind the node that has them.
  void read(func::FuncOp function) {
    for (Operation &op : function.getBody().front()) {
      read(op);
      for (func::FuncOp body : bodiesOf(op)) {
        around.push_back(nodeNames(op.getLoc()));
        read(body);
        around.pop_back();
      }
    }
  }

private:
  static SmallVector<func::FuncOp, 2> bodiesOf(Operation &op) {
    SmallVector<func::FuncOp, 2> bodies;
    for (const BodyCall &call : bodyCalls(&op))
      bodies.push_back(call.callee);
    auto add = [&](FlatSymbolRefAttr name) {
      if (auto body = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(&op, name))
        bodies.push_back(body);
    };
    if (auto choice = dyn_cast<rt::IfOp>(op)) {
      add(choice.getThenBranchAttr());
      add(choice.getElseBranchAttr());
    } else if (auto loop = dyn_cast<rt::LoopOp>(op)) {
      add(loop.getBodyAttr());
    }
    return bodies;
  }

  void read(Operation &op) {
    if (isa<onnx::ConstantOp, rt::GetConstantOp>(op)) {
      ++graph.constants;
      return;
    }
    if (op.hasTrait<OpTrait::IsTerminator>())
      return;
    // What has one tensor to look at is a view of it; what has several, as an assembly of parts,
    // is a node of its own, so that the graph is no larger than the module.
    bool isNode = isa<onnx::OnnxDialect>(op.getDialect()) || isa<kernel::DispatchOp>(op);
    SmallVector<Value> tensors;
    for (Value operand : op.getOperands())
      if (isa<TensorType>(operand.getType()))
        tensors.push_back(operand);
    if (!isNode && (tensors.empty() || op.getNumResults() == 0))
      return;
    if (!isNode && tensors.size() == 1) {
      if (auto source = producers.find(tensors.front()); source != producers.end())
        for (Value result : op.getResults())
          producers[result] = source->second;
      return;
    }
    if (!isa<onnx::NoneOp>(op))
      add(op, tensors);
  }

  void add(Operation &op, ArrayRef<Value> tensors) {
    unsigned number = graph.nodes.size();
    StageGraph::Node node;
    node.name = nodeNames(op.getLoc());
    node.op = onnx::operatorName(&op).str();
    node.around = around;
    // Of a cast between two types neither is what it computes in.
    std::optional<Precision> precision =
        graph.precision.empty() || isa<onnx::CastOp>(op) ? std::nullopt : precisionOf(&op);
    if (precision)
      node.precision = precisionName(*precision);
    llvm::SmallSetVector<unsigned, 2> from;
    for (Value tensor : tensors)
      if (auto source = producers.find(tensor); source != producers.end())
        from.insert(source->second);
    node.from.assign(from.begin(), from.end());
    for (Value result : op.getResults()) {
      if (isa<TensorType>(result.getType()))
        node.results.push_back(typeText(result.getType()));
      producers[result] = number;
    }
    graph.nodes.push_back(std::move(node));
  }

  StageGraph &graph;
  DenseMap<Value, unsigned> producers;
  std::vector<std::string> around;
};

} // namespace

StageGraph cameo::readGraph(Stage stage, ModuleOp module) {
  StageGraph graph;
  graph.stage = stageName(stage);
  func::FuncOp entry = entryOf(module);
  if (!entry || entry.isExternal())
    return graph;
  if (auto precision = entry->getAttrOfType<StringAttr>(kPrecisionAttr))
    graph.precision = precision.str();
  GraphReader(graph).read(entry);
  return graph;
}
