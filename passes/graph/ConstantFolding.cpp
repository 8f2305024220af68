// Operators on constants: operands, limits, results.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/ConstantFolding.h"

#include "passes/graph/RefusalReport.h"

#include "mlir/Dialect/Traits.h"

using namespace mlir;

namespace cameo {

static int64_t bytesOf(const Elements &elements) {
  return (elements.isSplat() ? 1 : elements.count()) * elements.elementBytes();
}

Fold::Fold(Operation *op, int64_t limit, int64_t reclaimed)
    : op(op), limit(limit), reclaimed(reclaimed) {
  for (Value operand : op->getOperands())
    inputs.push_back(Elements::of(onnx::constantValue(operand)));
}

std::optional<SmallVector<int64_t>> Fold::ints(unsigned i) const {
  return absent(i) ? std::nullopt : onnx::constantInts(op->getOperand(i));
}

std::optional<SmallVector<int64_t>> Fold::list(unsigned i) const {
  auto type = absent(i) ? nullptr : dyn_cast<RankedTensorType>(op->getOperand(i).getType());
  return type && type.getRank() <= 1 ? ints(i) : std::nullopt;
}

int64_t Fold::attribute(StringRef name, int64_t otherwise) const {
  auto value = op->getAttrOfType<IntegerAttr>(name);
  return value ? value.getInt() : otherwise;
}

std::optional<int64_t> Fold::axis(int64_t given, int64_t rank) const {
  int64_t axis = given < 0 ? given + rank : given;
  return axis < 0 || axis >= rank ? std::nullopt : std::optional<int64_t>(axis);
}

Type Fold::elementType(unsigned result) const {
  return cast<TensorType>(op->getResult(result).getType()).getElementType();
}

onnx::ElementKind Fold::kind(unsigned result) const {
  return *onnx::innerKind(op->getResult(result).getType());
}

std::optional<int64_t> Fold::count(ArrayRef<int64_t> shape) {
  int64_t count = 1, width = onnx::elementBytes(kind());
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(count, size, count))
      return std::nullopt;
  int64_t bytes;
  if (llvm::MulOverflow(count, width, bytes) || bytes - reclaimed + growth > limit)
    return std::nullopt;
  return count;
}

bool Fold::canYieldSplat(ArrayRef<int64_t> shape) const {
  // More elements than can be counted are not a tensor of MLIR.
  int64_t count = 1;
  for (int64_t size : shape)
    if (size <= 0 || llvm::MulOverflow(count, size, count))
      return false;
  Type element = elementType(results.size());
  // What no GPU holds is left for the report of all that cannot be compiled.
  return isa<IntegerType, FloatType>(element) &&
         !sizeProblem(RankedTensorType::get(shape, element));
}

LogicalResult Fold::yieldSplat(ArrayRef<int64_t> shape, ArrayRef<char> element) {
  results.push_back(
      onnx::makeSplat(RankedTensorType::get(shape, elementType(results.size())), element));
  growth += static_cast<int64_t>(element.size()) - reclaimed;
  reclaimed = 0;
  return success();
}

void Fold::collapseSplats() {
  SmallVector<int64_t> shape;
  for (const std::optional<Elements> &input : inputs)
    if (!input || !input->isSplat() ||
        !OpTrait::util::getBroadcastedShape(SmallVector<int64_t>(shape), input->shape(), shape))
      return;
  if (!canYieldSplat(shape))
    return;
  for (std::optional<Elements> &input : inputs)
    input->type = RankedTensorType::get({}, input->type.getElementType());
  collapsed = shape;
}

LogicalResult Fold::yield(ArrayRef<int64_t> shape, ArrayRef<char> bytes) {
  if (collapsed)
    return yieldSplat(*collapsed, bytes);
  auto type = RankedTensorType::get(shape, elementType(results.size()));
  results.push_back(onnx::makeConstant(type, nodeName(op), bytes));
  growth += static_cast<int64_t>(bytes.size()) - reclaimed;
  reclaimed = 0;
  return success();
}

LogicalResult Fold::yieldView(unsigned operand, ArrayRef<int64_t> shape) {
  ElementsAttr value = onnx::constantValue(op->getOperand(operand));
  auto type = RankedTensorType::get(shape, value.getElementType());
  if (type.getNumElements() != value.getNumElements())
    return failure();
  if (ElementsAttr large = onnx::largeConstantAs(type, value))
    results.push_back(large);
  else if (auto dense = dyn_cast<DenseElementsAttr>(value))
    results.push_back(dense.reshape(type));
  else
    return failure();
  return success();
}

std::optional<SmallVector<int64_t>> broadcastStrides(ArrayRef<int64_t> from,
                                                     ArrayRef<int64_t> shape) {
  if (from.size() > shape.size())
    return std::nullopt;
  SmallVector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t back = 1; back <= from.size(); ++back) {
    int64_t size = from[from.size() - back];
    if (size == shape[shape.size() - back])
      strides[shape.size() - back] = stride;
    else if (size != 1)
      return std::nullopt;
    stride *= size;
  }
  return strides;
}

void attachFolds(MLIRContext &context) {
  FoldRows rows(context);
  registerLayoutFolds(rows);
  registerElementwiseFolds(rows);
  registerReductionFolds(rows);
  registerSelectionFolds(rows);
}

FailureOr<SmallVector<ElementsAttr>> foldToConstants(Operation *op, int64_t limit, bool reclaim,
                                                     int64_t &growth) {
  growth = 0;
  if (!isa<onnx::OnnxDialect>(op->getDialect()) || isa<onnx::ConstantOp, onnx::NoneOp>(op) ||
      op->getNumResults() == 0 || !isa<TensorType>(op->getResult(0).getType()))
    return failure();
  // The same constant is no work and no bytes, whatever its type and size.
  if (Value same = identityOf(op))
    if (ElementsAttr value = onnx::constantValue(same))
      return SmallVector<ElementsAttr>{value};
  auto foldable = dyn_cast<FoldInterface>(op);
  if (!foldable)
    return failure();
  int64_t reclaimed = 0;
  // What has a shape that is known needs no values for Shape and Size.
  bool asksForShape = isa<onnx::ShapeOp, onnx::SizeOp>(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (onnx::isAbsent(operand) || asksForShape)
      continue;
    std::optional<Elements> elements = Elements::of(onnx::constantValue(operand));
    if (!elements)
      return failure();
    bool first = !llvm::is_contained(op->getOperands().take_front(i), operand);
    if (reclaim && first &&
        llvm::all_of(operand.getUsers(), [&](Operation *user) { return user == op; }))
      reclaimed += bytesOf(*elements);
  }
  Fold fold(op, limit, reclaimed);
  if (foldable.isElementwise())
    fold.collapseSplats();
  if (failed(foldable.foldConstants(fold)) || fold.results.size() != op->getNumResults())
    return failure();
  growth = fold.growth;
  return fold.results;
}

} // namespace cameo
