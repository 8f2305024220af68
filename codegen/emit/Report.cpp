// Ledgers, plans, and what ptxas said ==> JSON.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Report.h"

#include "codegen/NodeNames.h"
#include "codegen/emit/LaunchTotals.h"
#include "codegen/emit/Manifest.h"
#include "codegen/lower/DevicePatterns.h"
#include "dialects/rt/Ledger.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace cameo;
namespace json = llvm::json;

/// Of the members' names and meaning; a reader of an older one can read what it knows.
static constexpr int64_t kReportVersion = 1;

/// Decisions name what they concern; of thousands of nodes merged into one, the first few do.
static constexpr size_t kNamedNodes = 16;

static json::Array names(LocationAttr location) {
  json::Array list;
  llvm::SetVector<StringRef> names;
  location.walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName().getValue());
    return names.size() < kNamedNodes ? WalkResult::advance() : WalkResult::interrupt();
  });
  for (StringRef name : names)
    list.push_back(json::fixUTF8(name));
  return list;
}

static json::Object objectOf(const rt::Decision &decision) {
  json::Object object{{"kind", rt::decisionKindName(decision.kind)},
                      {"what", json::fixUTF8(decision.what)},
                      {"text", json::fixUTF8(decision.text)},
                      {"onnx_nodes", names(decision.at)}};
  if (!decision.why.empty())
    object["why"] = json::fixUTF8(decision.why);
  if (decision.from)
    object[decision.what == "fuse" ? "producer" : "with"] = names(decision.from);
  if (decision.bytes)
    object["bytes"] = *decision.bytes;
  return object;
}

namespace {
/// Decisions by what the report has of them.
struct Decisions {
  json::Array fused, notFused, others;

  void add(Operation *holder) {
    for (const rt::Decision &decision : rt::decisionsOn(holder)) {
      bool isFusion = decision.what == "fuse" && decision.kind != rt::DecisionKind::Chosen;
      json::Array &list = !isFusion                                    ? others
                          : decision.kind == rt::DecisionKind::Applied ? fused
                                                                       : notFused;
      list.push_back(objectOf(decision));
    }
  }
  /// On the operation and the functions in it.
  void addAll(Operation *holder) {
    add(holder);
    for (Operation &op : holder->getRegion(0).front())
      if (isa<func::FuncOp>(op))
        add(&op);
  }
};
} // namespace

static void writeDecisions(json::OStream &out, Decisions &&decisions) {
  out.attribute("decisions", std::move(decisions.others));
  out.attribute("fusions", json::Object{{"applied", std::move(decisions.fused)},
                                        {"missed", std::move(decisions.notFused)}});
}

/// One line per node: there may be many.
static void writeGraph(json::OStream &out, const StageGraph &graph) {
  size_t edges = 0;
  out.attributeArray("nodes", [&] {
    for (const StageGraph::Node &node : graph.nodes) {
      json::Array from, results;
      for (unsigned number : node.from)
        from.push_back(number);
      for (const std::string &result : node.results)
        results.push_back(json::fixUTF8(result));
      edges += node.from.size();
      json::Object object{{"name", json::fixUTF8(node.name)},
                          {"op", json::fixUTF8(node.op)},
                          {"from", std::move(from)},
                          {"results", std::move(results)}};
      if (!node.precision.empty())
        object["precision"] = node.precision;
      if (!node.around.empty())
        object["in"] = json::Array(llvm::map_range(
            node.around, [](const std::string &name) { return json::fixUTF8(name); }));
      out.rawValue(llvm::formatv("{0}", json::Value(std::move(object))).str());
    }
  });
  out.attribute("node_count", int64_t(graph.nodes.size()));
  out.attribute("edge_count", int64_t(edges));
  out.attribute("constant_count", graph.constants);
}

/// What was asked for and what the nodes have become, if anything was asked for.
static void writePrecision(json::OStream &out, ArrayRef<StageGraph> graphs) {
  for (const StageGraph &graph : graphs) {
    if (graph.precision.empty())
      continue;
    std::map<StringRef, int64_t> counts;
    for (const StageGraph::Node &node : graph.nodes)
      if (!node.precision.empty())
        ++counts[node.precision];
    out.attributeObject("precision", [&] {
      out.attribute("asked", graph.precision);
      out.attributeObject("nodes", [&] {
        for (auto [precision, count] : counts)
          out.attribute(precision, count);
      });
    });
  }
}

/// `resources`: one object per kernel and cubin; `warnings`: what else ptxas said.
static void writeAssembled(json::OStream &out, ModuleOp module, ArrayRef<Assembled> assembled) {
  json::Array resources, warnings;
  // ptxas does not know what launches add.
  std::map<std::pair<StringRef, StringRef>, int64_t> dynamicBytes; // by architecture and kernel
  for (auto variant : module.getOps<rt::VariantOp>())
    variant.walk([&](FunctionOpInterface kernel) {
      if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttribute))
        dynamicBytes[{variant.getTarget().getArch(), kernel.getName()}] = bytes.getInt();
    });
  for (const Assembled &cubin : assembled) {
    for (const KernelResources &kernel : cubin.kernels)
      resources.push_back(
          json::Object{{"target", cubin.target->name},
                       {"name", kernel.name},
                       {"registers", kernel.registers},
                       {"stack_bytes", kernel.stackBytes},
                       {"spill_bytes", kernel.spillStoreBytes + kernel.spillLoadBytes},
                       {"shared_bytes", kernel.sharedBytes},
                       {"dynamic_shared_bytes", dynamicBytes[{cubin.target->name, kernel.name}]},
                       {"constant_bytes", kernel.constantBytes},
                       {"barriers", kernel.barriers}});
    SmallVector<StringRef> lines;
    StringRef(cubin.warnings).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      warnings.push_back((cubin.target->name + ": " + line.trim()).str());
  }
  out.attribute("resources", std::move(resources));
  out.attribute("warnings", std::move(warnings));
}

void cameo::writeReport(json::OStream &out, const ReportContents &contents, Repeats repeats) {
  ArrayRef<CodeVariant> variants = contents.variants;
  out.object([&] {
    out.attribute("version", kReportVersion);
    out.attribute("model", json::fixUTF8(contents.modelName));
    out.attribute("compiler", "cameo " + contents.compilerVersion);
    if (json::Object fixed = fixedInputs(contents.module); !fixed.empty())
      out.attribute("fixed_inputs", std::move(fixed));
    if (!variants.empty() && repeats == Repeats::Yes) {
      rt::VariantOp first = variants.front().op;
      out.attribute("target", first.getTarget().spelling());
      out.attribute("kernels", launchesOf(first));
      out.attribute("memory", memorySumsOf(first));
    }
    writePrecision(out, contents.graphs);
    if (contents.calibration)
      out.attribute("calibration", json::Object(*contents.calibration));
    if (!contents.accuracy.empty())
      out.attribute("accuracy", json::Object(contents.accuracy));
    writeAssembled(out, contents.module, contents.assembled);
    Decisions shared;
    shared.addAll(contents.module);
    writeDecisions(out, std::move(shared));
    out.attributeObject("graph", [&] {
      for (const StageGraph &graph : contents.graphs)
        out.attributeObject(graph.stage, [&] { writeGraph(out, graph); });
    });
    out.attributeArray("variants", [&] {
      for (const CodeVariant &variant : variants)
        out.object([&] {
          out.attribute("target", rt::VariantOp(variant.op).getTarget().spelling());
          out.attribute("kernels", launchesOf(variant.op));
          if (json::Array waits = waitsOf(variant.op); !waits.empty())
            out.attribute("waits", std::move(waits));
          if (std::optional<TotalEstimate> estimate = totalsOf(variant.op).estimate)
            out.attribute("estimate", estimateJson(*estimate));
          out.attribute("memory", memoryOf(variant.op));
          Decisions own;
          own.addAll(variant.op);
          writeDecisions(out, std::move(own));
        });
    });
  });
}

std::string cameo::makeReport(const ReportContents &contents) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream, /*IndentSize=*/2);
  writeReport(out, contents, Repeats::Yes);
  return text + "\n";
}
