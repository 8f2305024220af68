// Module at stage imported ==> text.
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

#include <map>

using namespace mlir;
using namespace cameo;

namespace {

func::FuncOp entryOf(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  return functions.empty() ? func::FuncOp() : *functions.begin();
}

/// Columns of a line of operators.
constexpr size_t kColumns = 96;

class Inspector {
public:
  Inspector(ModuleOp module, raw_ostream &output)
      : module(module), function(entryOf(module)), output(output) {}

  void print(StringRef path, ArrayRef<std::string> externalFiles) {
    printModel(path, externalFiles);
    printPorts("inputs", function.getArgumentTypes(),
               [&](unsigned i, StringRef name) { return function.getArgAttr(i, name); });
    printPorts("outputs", function.getResultTypes(),
               [&](unsigned i, StringRef name) { return function.getResultAttr(i, name); });
    std::vector<std::string> open = openSizes(function);
    output << "open sizes: " << (open.empty() ? "none" : llvm::join(open, ", ")) << "\n";
    printContents();
  }

private:
  void printModel(StringRef path, ArrayRef<std::string> externalFiles) {
    uint64_t bytes = 0;
    llvm::sys::fs::file_size(path, bytes);
    for (const std::string &file : externalFiles) {
      uint64_t more = 0;
      llvm::sys::fs::file_size(file, more);
      bytes += more;
    }
    auto model = module->getAttrOfType<DictionaryAttr>(onnx::kModelAttr);
    auto number = [&](StringRef name) {
      auto value = model.getAs<IntegerAttr>(name);
      return value ? std::to_string(value.getInt()) : "none";
    };
    auto text = [&](StringRef name) { return model.getAs<StringAttr>(name).getValue(); };
    output << llvm::formatv("{0}: {1:f2} MB{2}, IR version {3}, opset {4}", path,
                            double(bytes) / 1e6, externalFiles.empty() ? "" : " with external data",
                            number("ir_version"), number("opset"));
    for (NamedAttribute domain : model.getAs<DictionaryAttr>("opsets"))
      output << ", " << domain.getName().getValue() << " "
             << cast<IntegerAttr>(domain.getValue()).getInt();
    if (StringRef producer = text("producer_name"); !producer.empty())
      output << ", made by " << producer << (text("producer_version").empty() ? "" : " ")
             << text("producer_version");
    output << "\n";
  }

  void printPorts(StringRef title, TypeRange types,
                  function_ref<Attribute(unsigned, StringRef)> attribute) {
    output << title << ":\n";
    for (auto [i, type] : llvm::enumerate(types)) {
      auto name = dyn_cast_or_null<StringAttr>(attribute(i, onnx::kNameAttr));
      output << "  " << (name ? name.getValue() : "") << ": "
             << portText(type, dyn_cast_or_null<ArrayAttr>(attribute(i, onnx::kDimsAttr))) << "\n";
    }
  }

  /// "Nx3x224x224 float", with the names of open sizes.
  std::string portText(Type type, ArrayAttr dims) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return onnx::typeText(type);
    SmallVector<std::string> sizes;
    for (auto [d, size] : llvm::enumerate(tensor.getShape())) {
      auto name = dims && d < dims.size() ? dyn_cast<StringAttr>(dims[d]) : StringAttr();
      sizes.push_back(!ShapedType::isDynamic(size) ? std::to_string(size)
                      : name && !name.empty()      ? name.str()
                                                   : "?");
    }
    std::string element = onnx::elementText(tensor.getElementType());
    return sizes.empty() ? element + ", a scalar" : llvm::join(sizes, "x") + " " + element;
  }

  void printContents() {
    std::map<std::string, unsigned> counts;
    unsigned nodes = 0;
    int64_t tensors = 0, numbers = 0;
    double bytes = 0;
    function.walk([&](Operation *op) {
      if (auto value = op->getAttrOfType<ElementsAttr>("value");
          value && isa<onnx::ConstantOp>(op)) {
        auto kind = onnx::elementKind(value.getElementType());
        ++tensors;
        numbers += value.getNumElements();
        bytes += double(value.getNumElements()) * (kind ? onnx::elementBits(*kind) : 0) / 8;
      } else if (isa<onnx::OnnxDialect>(op->getDialect()) &&
                 !isa<onnx::ConstantOp, onnx::NoneOp, onnx::YieldOp>(op)) {
        ++counts[StringRef(onnx::operatorText(op)).split(", opset").first.str()];
        ++nodes;
      }
    });
    output << llvm::formatv("constants: {0} numbers in {1} tensors, {2:f2} MB\n", numbers, tensors,
                            bytes / 1e6);
    output << llvm::formatv("nodes: {0}\n", nodes);
    std::vector<std::pair<std::string, unsigned>> list(counts.begin(), counts.end());
    llvm::sort(list, [](const auto &a, const auto &b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::string line;
    for (const auto &[name, count] : list) {
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

  ModuleOp module;
  func::FuncOp function;
  raw_ostream &output;
};

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

/// The arithmetic of a module at stage normalized.
void printArithmetic(ModuleOp module, ArrayRef<std::string> open, raw_ostream &output) {
  double sum = 0;
  unsigned counted = 0, others = 0;
  module.walk([&](Operation *op) {
    if (policyOf(op).role != Role::Product)
      return;
    std::optional<double> count = multiplyAdds(op);
    sum += count.value_or(0);
    ++(count ? counted : others);
  });
  bool isLarge = sum >= 1e9;
  output << llvm::formatv("arithmetic: {0:f3} {1} in {2} products", 2 * sum / (isLarge ? 1e9 : 1e6),
                          isLarge ? "GFLOP" : "MFLOP", counted);
  if (others)
    output << ", " << others << " more not counted";
  for (auto [i, name] : llvm::enumerate(open))
    output << (i ? ", " : "; with ") << name << " = 1";
  output << "\n";
}

} // namespace

LogicalResult cameo::inspectModel(StringRef path, const CompileOptions &options,
                                  raw_ostream &output) {
  CompileOptions inspection = options;
  inspection.pipeline.level = 0; // operators as the model has them
  inspection.pipeline.reportUnsupported = true;
  Compiler compiler(inspection);
  if (failed(compiler.read(path)))
    return failure();
  std::vector<std::string> open = openSizes(entryOf(compiler.module()));
  Inspector(compiler.module(), output).print(path, compiler.filesRead());
  // With sizes open, as it would be compiled.
  if (failed(compiler.runTo(Stage::Normalized)))
    return failure();
  inspection.onMessage = nullptr; // it has been said
  for (const std::string &name : open)
    inspection.shapes[name] = {1};
  Compiler counter(inspection);
  if (succeeded(counter.read(path)) && succeeded(counter.runTo(Stage::Normalized)))
    printArithmetic(counter.module(), open, output);
  output << "all of it is supported\n";
  return success();
}
