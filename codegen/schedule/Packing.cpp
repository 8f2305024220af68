// Orders of constants, and which of them are rounded, as attributes.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Packing.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace cameo {

/// Whether the description only reads the input element by element, with maps.
static bool isReadByMaps(BlockArgument argument) {
  return llvm::all_of(argument.getUses(), [](OpOperand &use) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    return generic && generic.isDpsInput(&use);
  });
}

bool isPackable(kernel::DispatchOp op, unsigned input) {
  auto type = cast<RankedTensorType>(op.getInputs()[input].getType());
  if (!type.hasStaticShape() || type.getNumElements() == 0 ||
      !rt::constantOf(op.getInputs()[input]))
    return false;
  std::optional<onnx::ElementKind> kind = onnx::elementKind(type.getElementType());
  return kind && onnx::elementBytes(*kind) != 0 && isReadByMaps(op.getInputArgs()[input]);
}

std::optional<Packing> packingOf(kernel::DispatchOp op, Attribute attribute) {
  auto list = dyn_cast_if_present<ArrayAttr>(attribute);
  if (!list || list.size() != op.getInputs().size())
    return std::nullopt;
  Packing packing;
  for (auto [input, entry] : llvm::enumerate(list)) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(entry);
    if (!numbers)
      return std::nullopt;
    DimOrder &order = packing.emplace_back(numbers.asArrayRef());
    if (order.empty())
      continue;
    DimOrder sorted = order;
    llvm::sort(sorted);
    auto rank = cast<RankedTensorType>(op.getInputs()[input].getType()).getRank();
    if (!llvm::equal(sorted, llvm::seq<unsigned>(0, rank)) || !isPackable(op, input))
      return std::nullopt;
  }
  return packing;
}

ArrayAttr packingAttr(MLIRContext *context, const Packing &packing) {
  if (llvm::all_of(packing, [](const DimOrder &order) { return order.empty(); }))
    return {};
  SmallVector<Attribute> list;
  for (const DimOrder &order : packing)
    list.push_back(
        DenseI64ArrayAttr::get(context, SmallVector<int64_t>(order.begin(), order.end())));
  return ArrayAttr::get(context, list);
}

bool isRoundable(kernel::DispatchOp op, unsigned input) {
  return isPackable(op, input) && getElementTypeOrSelf(op.getInputs()[input]).isF32();
}

std::optional<SmallVector<int64_t>> roundedOf(kernel::DispatchOp op, DenseI64ArrayAttr attribute) {
  SmallVector<int64_t> inputs;
  if (attribute)
    llvm::append_range(inputs, attribute.asArrayRef());
  for (int64_t input : inputs)
    if (input < 0 || input >= int64_t(op.getInputs().size()) || !isRoundable(op, input))
      return std::nullopt;
  return inputs;
}

DenseI64ArrayAttr roundedAttr(MLIRContext *context, ArrayRef<int64_t> inputs) {
  return inputs.empty() ? DenseI64ArrayAttr() : DenseI64ArrayAttr::get(context, inputs);
}

DimOrder inverse(ArrayRef<unsigned> order) {
  DimOrder result(order.size());
  for (auto [position, dim] : llvm::enumerate(order))
    result[dim] = position;
  return result;
}

} // namespace cameo
