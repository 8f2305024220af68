// Collects what cannot be compiled, and says it in one error: a line for each reason, with the
// nodes that it holds for.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/RefusalReport.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace cameo {

/// Names in a line, and lines in a report, that are printed in full; the others are counted.
static constexpr size_t kToldNames = 3, kToldReasons = 100;

static StringRef nearestType(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (isa<onnx::OptType>(type))
    return "a tensor that is always there";
  if (isa<onnx::SeqType>(type))
    return "its tensors, each by itself";
  if (!tensor)
    return "tensors";
  Type element = tensor.getElementType();
  if (isa<onnx::StringType>(element))
    return "numbers that stand for the strings, such as int64";
  if (isa<ComplexType>(element))
    return "real and imaginary parts in a dimension of size 2";
  return "float16, bfloat16 or float";
}

std::optional<std::string> typeProblem(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  if (isa<NoneType>(type))
    return std::nullopt;
  Type element = tensor ? tensor.getElementType() : Type();
  std::optional<onnx::ElementKind> kind =
      tensor ? onnx::elementKind(element) : std::optional<onnx::ElementKind>();
  if (kind && kind != onnx::ElementKind::String && !isa<ComplexType>(element))
    return std::nullopt;
  return "is " + (tensor ? "of type " + onnx::elementText(element) : onnx::typeText(type)) +
         "; nearest supported: " + nearestType(type).str();
}

std::optional<std::string> sizeProblem(RankedTensorType tensor) {
  // 128 GiB: no GPU holds more, and a size like this is an error of the model.
  constexpr double kMostBytes = double(int64_t(1) << 37);
  std::optional<onnx::ElementKind> kind = onnx::elementKind(tensor.getElementType());
  double bytes = kind ? onnx::elementBytes(*kind) : 1;
  for (int64_t size : tensor.getShape())
    if (!ShapedType::isDynamic(size))
      bytes *= static_cast<double>(size);
  if (bytes <= kMostBytes)
    return std::nullopt;
  return llvm::formatv("of type {0} takes {1:e} B; at most {2} B (128 GiB) are supported",
                       onnx::typeText(tensor), bytes, int64_t(kMostBytes))
      .str();
}

std::optional<std::string> packingProblem(RankedTensorType tensor) {
  std::optional<onnx::ElementKind> kind = onnx::elementKind(tensor.getElementType());
  if (tensor.hasStaticShape() || !kind || onnx::elementBits(*kind) >= 8)
    return std::nullopt;
  return "is of type " + onnx::typeText(tensor) +
         ", whose elements share bytes, and has a size known only at run time; nearest supported: "
         "elements of 8 bits";
}

LogicalResult reportRefusals(func::FuncOp function, const onnx::Refusals &refusals) {
  if (refusals.problems().empty())
    return success();
  // Nodes with one operator and one reason share a line.
  struct Line {
    std::string operatorText, reason;
    SmallVector<Operation *> ops;
  };
  std::vector<Line> lines;
  llvm::StringMap<size_t> lineOf;
  size_t counts[3] = {}; // by subject
  for (const onnx::Refusals::Problem &problem : refusals.problems()) {
    ++counts[size_t(problem.subject)];
    bool isNode = problem.subject == onnx::Refusals::Subject::Node;
    std::string text = isNode ? onnx::operatorText(problem.op) : "";
    auto [known, isNew] = lineOf.try_emplace(text + "\n" + problem.reason, lines.size());
    if (isNew)
      lines.push_back({text, problem.reason, {}});
    lines[known->second].ops.push_back(problem.op);
  }
  InFlightDiagnostic diagnostic = emitError(function.getLoc()) << "unsupported: ";
  static constexpr StringLiteral kinds[] = {"input", "output", "node"};
  SmallVector<std::string> parts;
  for (auto [count, what] : llvm::zip(counts, kinds))
    if (count)
      parts.push_back((Twine(count) + " " + what + (count == 1 ? "" : "s")).str());
  for (auto [i, part] : llvm::enumerate(parts))
    diagnostic << (i == 0 ? "" : i + 1 < parts.size() ? ", " : " and ") << part;
  diagnostic << " cannot be compiled";
  size_t told = 0;
  for (auto &[operatorText, reason, ops] : lines) {
    if (++told > kToldReasons) {
      diagnostic.attachNote(function.getLoc())
          << "and " << lines.size() - kToldReasons << " reasons more";
      break;
    }
    Diagnostic &note = diagnostic.attachNote(ops.front()->getLoc());
    if (operatorText.empty()) {
      note << reason;
      continue;
    }
    note << (ops.size() == 1 ? "node " : "nodes ");
    for (auto [i, op] : llvm::enumerate(ArrayRef(ops).take_front(kToldNames)))
      note << (i ? ", '" : "'") << onnx::nodeText(op) << "'";
    if (ops.size() > kToldNames)
      note << " and " << ops.size() - kToldNames << " more";
    note << " (" << operatorText << "): " << reason;
  }
  return diagnostic;
}

} // namespace cameo
