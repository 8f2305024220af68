// Module at stage imported ==> text or JSON.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Inspect.h"

#include "codegen/InputShapes.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/Schema.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/precision/Policy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace mlir;
using namespace cameo;
namespace json = llvm::json;

namespace {

func::FuncOp entryOf(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  return functions.empty() ? func::FuncOp() : *functions.begin();
}

/// Columns of a line of operators.
constexpr size_t kColumns = 96;

/// An input or an output.
struct Port {
  std::string name, type;
  bool hasRank = true;
  SmallVector<std::string> sizes; // numbers, names, "?"
  std::string element;            // empty where it is no tensor
};

/// Facts about a model.
struct Inspection {
  std::string path, producer;
  uint64_t bytes = 0; // of all files
  bool hasExternalData = false;
  std::optional<int64_t> irVersion, opset;
  std::vector<std::pair<std::string, int64_t>> domains; // other than ONNX's own
  std::vector<Port> inputs, outputs;
  std::vector<std::string> open;
  int64_t tensors = 0, numbers = 0; // of constants
  double constantBytes = 0;
  std::vector<std::pair<std::string, unsigned>> operators; // the most frequent first
  // Those of products, with open sizes taken as 1; nothing where that model does not compile.
  std::optional<double> multiplyAdds;
  unsigned counted = 0, others = 0;

  unsigned nodes() const {
    unsigned sum = 0;
    for (const auto &[name, count] : operators)
      sum += count;
    return sum;
  }
};

Port portOf(StringRef name, Type type, ArrayAttr dims) {
  Port port{name.str(), onnx::typeText(type), false, {}, ""};
  if (auto tensor = dyn_cast<TensorType>(type))
    port.element = onnx::elementText(tensor.getElementType());
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return port;
  port.hasRank = true;
  for (auto [d, size] : llvm::enumerate(tensor.getShape())) {
    auto symbol = dims && d < dims.size() ? dyn_cast<StringAttr>(dims[d]) : StringAttr();
    port.sizes.push_back(!ShapedType::isDynamic(size) ? std::to_string(size)
                         : symbol && !symbol.empty()  ? symbol.str()
                                                      : "?");
  }
  return port;
}

std::vector<Port> portsOf(TypeRange types, function_ref<Attribute(unsigned, StringRef)> attribute) {
  std::vector<Port> ports;
  for (auto [i, type] : llvm::enumerate(types)) {
    auto name = dyn_cast_or_null<StringAttr>(attribute(i, onnx::kNameAttr));
    ports.push_back(portOf(name ? name.getValue() : "", type,
                           dyn_cast_or_null<ArrayAttr>(attribute(i, onnx::kDimsAttr))));
  }
  return ports;
}

void readModel(ModuleOp module, Inspection &found) {
  auto model = module->getAttrOfType<DictionaryAttr>(onnx::kModelAttr);
  auto number = [&](StringRef name) -> std::optional<int64_t> {
    auto value = model.getAs<IntegerAttr>(name);
    return value ? std::optional(value.getInt()) : std::nullopt;
  };
  auto text = [&](StringRef name) { return model.getAs<StringAttr>(name).getValue(); };
  found.irVersion = number("ir_version");
  found.opset = number("opset");
  for (NamedAttribute domain : model.getAs<DictionaryAttr>("opsets"))
    found.domains.push_back(
        {domain.getName().str(), cast<IntegerAttr>(domain.getValue()).getInt()});
  found.producer = text("producer_name");
  if (!found.producer.empty() && !text("producer_version").empty())
    found.producer += " " + text("producer_version").str();
}

void readContents(func::FuncOp function, Inspection &found) {
  std::map<std::string, unsigned> counts;
  function.walk([&](Operation *op) {
    if (auto value = op->getAttrOfType<ElementsAttr>("value"); value && isa<onnx::ConstantOp>(op)) {
      auto kind = onnx::elementKind(value.getElementType());
      ++found.tensors;
      found.numbers += value.getNumElements();
      found.constantBytes +=
          double(value.getNumElements()) * (kind ? onnx::elementBits(*kind) : 0) / 8;
    } else if (isa<onnx::OnnxDialect>(op->getDialect()) &&
               !isa<onnx::ConstantOp, onnx::NoneOp, onnx::YieldOp>(op)) {
      ++counts[StringRef(onnx::operatorText(op)).split(", opset").first.str()];
    }
  });
  found.operators.assign(counts.begin(), counts.end());
  llvm::sort(found.operators, [](const auto &a, const auto &b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
}

void printPorts(StringRef title, ArrayRef<Port> ports, raw_ostream &output) {
  output << title << ":\n";
  for (const Port &port : ports) {
    output << "  " << port.name << ": ";
    if (port.sizes.empty())
      output << (port.hasRank ? port.element + ", a scalar" : port.type) << "\n";
    else
      output << llvm::join(port.sizes, "x") << " " << port.element << "\n";
  }
}

void printOperators(const Inspection &found, raw_ostream &output) {
  std::string line;
  for (const auto &[name, count] : found.operators) {
    std::string text = llvm::formatv("{0} {1}", count, name);
    if (!line.empty() && line.size() + 2 + text.size() > kColumns) {
      output << "  " << line << "\n";
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + text;
  }
  if (!line.empty())
    output << "  " << line << "\n";
}

void printText(const Inspection &found, raw_ostream &output) {
  auto number = [](std::optional<int64_t> value) {
    return value ? std::to_string(*value) : std::string("none");
  };
  output << llvm::formatv("{0}: {1:f2} MB{2}, IR version {3}, opset {4}", found.path,
                          double(found.bytes) / 1e6,
                          found.hasExternalData ? " with external data" : "",
                          number(found.irVersion), number(found.opset));
  for (const auto &[domain, version] : found.domains)
    output << ", " << domain << " " << version;
  if (!found.producer.empty())
    output << ", made by " << found.producer;
  output << "\n";
  printPorts("inputs", found.inputs, output);
  printPorts("outputs", found.outputs, output);
  output << "open sizes: " << (found.open.empty() ? "none" : llvm::join(found.open, ", ")) << "\n";
  output << llvm::formatv("constants: {0} numbers in {1} tensors, {2:f2} MB\n", found.numbers,
                          found.tensors, found.constantBytes / 1e6);
  output << llvm::formatv("nodes: {0}\n", found.nodes());
  printOperators(found, output);
}

/// Comes after all else, which is known of models with unsupported operators, too.
void printArithmetic(const Inspection &found, raw_ostream &output) {
  double sum = found.multiplyAdds.value_or(0);
  bool isLarge = sum >= 1e9;
  output << llvm::formatv("arithmetic: {0:f3} {1} in {2} product{3}",
                          2 * sum / (isLarge ? 1e9 : 1e6), isLarge ? "GFLOP" : "MFLOP",
                          found.counted, found.counted == 1 ? "" : "s");
  if (found.others)
    output << ", " << found.others << " more not counted";
  for (auto [i, name] : llvm::enumerate(found.open))
    output << (i ? ", " : "; with ") << name << " = 1";
  output << "\n";
}

json::Array toJson(ArrayRef<Port> ports) {
  json::Array list;
  for (const Port &port : ports) {
    json::Object object{{"name", json::fixUTF8(port.name)},
                        {"type", port.element.empty() ? port.type : port.element}};
    json::Array shape;
    for (StringRef size : port.sizes) {
      int64_t known;
      if (size == "?")
        shape.push_back(nullptr);
      else if (!size.getAsInteger(10, known))
        shape.push_back(known);
      else
        shape.push_back(json::fixUTF8(size));
    }
    object["shape"] = port.hasRank ? json::Value(std::move(shape)) : json::Value(nullptr);
    list.push_back(std::move(object));
  }
  return list;
}

json::Object toJson(const Inspection &found) {
  json::Object operators, domains;
  for (const auto &[name, count] : found.operators)
    operators[json::fixUTF8(name)] = count;
  for (const auto &[domain, version] : found.domains)
    domains[json::fixUTF8(domain)] = version;
  json::Array open;
  for (const std::string &name : found.open)
    open.push_back(json::fixUTF8(name));
  json::Object object{{"path", json::fixUTF8(found.path)},
                      {"bytes", found.bytes},
                      {"external_data", found.hasExternalData},
                      {"ir_version", found.irVersion},
                      {"opset", found.opset},
                      {"domains", std::move(domains)},
                      {"producer", json::fixUTF8(found.producer)},
                      {"inputs", toJson(found.inputs)},
                      {"outputs", toJson(found.outputs)},
                      {"open_sizes", std::move(open)},
                      {"constants", json::Object{{"tensors", found.tensors},
                                                 {"numbers", found.numbers},
                                                 {"bytes", int64_t(found.constantBytes)}}},
                      {"operators", std::move(operators)},
                      {"flop", nullptr}};
  if (found.multiplyAdds)
    object["flop"] = 2 * *found.multiplyAdds;
  return object;
}

/// Multiply-adds of a product; nothing where a size is not known or the operator is another one.
std::optional<double> multiplyAdds(Operation *op) {
  auto typeOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() ? type : RankedTensorType();
  };
  auto elements = [](RankedTensorType type) {
    double count = 1;
    for (int64_t size : type.getShape())
      count *= double(size);
    return count;
  };
  if (op->getNumOperands() < 2 || op->getNumResults() == 0)
    return std::nullopt;
  RankedTensorType a = typeOf(op->getOperand(0)), b = typeOf(op->getOperand(1));
  RankedTensorType result = typeOf(op->getResult(0));
  if (!a || !b || !result || a.getRank() == 0 || b.getRank() == 0)
    return std::nullopt;
  bool isEmpty = llvm::is_contained(b.getShape(), 0);
  if (isa<onnx::ConvOp>(op) && !isEmpty)
    return elements(result) * elements(b) / double(b.getDimSize(0));
  if (isa<onnx::ConvTransposeOp>(op) && !isEmpty)
    return elements(a) * elements(b) / double(b.getDimSize(0));
  if (isa<onnx::MatMulOp>(op))
    return elements(result) * double(a.getShape().back());
  if (auto transposed = op->getAttrOfType<IntegerAttr>("transA"); isa<onnx::GemmOp>(op))
    return elements(result) * double(a.getDimSize(transposed && transposed.getInt() ? 0 : 1));
  return std::nullopt;
}

/// Counts a module at stage normalized, whose sizes are all known.
void readArithmetic(ModuleOp module, Inspection &found) {
  found.multiplyAdds = 0;
  module.walk([&](Operation *op) {
    if (policyOf(op).role != Role::Product)
      return;
    std::optional<double> count = multiplyAdds(op);
    *found.multiplyAdds += count.value_or(0);
    ++(count ? found.counted : found.others);
  });
}

} // namespace

LogicalResult cameo::inspectModel(StringRef path, const CompileOptions &options, bool asJson,
                                  raw_ostream &output) {
  CompileOptions inspection = options;
  inspection.pipeline.level = 0; // operators as the model has them
  inspection.pipeline.reportUnsupported = true;
  Compiler compiler(inspection);
  if (failed(compiler.read(path)))
    return failure();
  Inspection found;
  found.path = path;
  std::vector<std::string> files = compiler.filesRead();
  found.hasExternalData = !files.empty();
  files.push_back(path.str());
  for (const std::string &file : files) {
    uint64_t bytes = 0;
    llvm::sys::fs::file_size(file, bytes);
    found.bytes += bytes;
  }
  func::FuncOp function = entryOf(compiler.module());
  readModel(compiler.module(), found);
  found.inputs = portsOf(function.getArgumentTypes(),
                         [&](unsigned i, StringRef name) { return function.getArgAttr(i, name); });
  found.outputs = portsOf(function.getResultTypes(), [&](unsigned i, StringRef name) {
    return function.getResultAttr(i, name);
  });
  found.open = openSizes(function);
  readContents(function, found);
  if (!asJson)
    printText(found, output);
  // With sizes open, as it would be compiled.
  LogicalResult supported = compiler.runTo(Stage::Normalized);
  if (succeeded(supported)) {
    inspection.onMessage = nullptr; // it has been said
    for (const std::string &name : found.open)
      inspection.shapes.sizes[name] = {1};
    Compiler counter(inspection);
    if (succeeded(counter.read(path)) && succeeded(counter.runTo(Stage::Normalized)))
      readArithmetic(counter.module(), found);
  }
  if (asJson) {
    json::Object object = toJson(found);
    object["supported"] = succeeded(supported);
    output << llvm::formatv("{0:2}", json::Value(std::move(object))) << "\n";
    return supported;
  }
  if (failed(supported))
    return failure();
  if (found.multiplyAdds)
    printArithmetic(found, output);
  output << "all of it is supported\n";
  return success();
}
