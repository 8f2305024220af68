// See WeightPool.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/WeightPool.h"

#include "dialects/onnx/Schema.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cameo;

/// Of elements of less than a byte, which are a byte each until they are written.
static bool isPacked(rt::ConstantOp constant) {
  return getElementTypeOrSelf(cast<ElementsAttr>(constant.getValue()).getType()).isInteger(4);
}

std::optional<onnx::ConstantBytes> cameo::weightContents(rt::ConstantOp constant) {
  auto value = cast<ElementsAttr>(constant.getValue());
  std::optional<onnx::ConstantBytes> bytes = onnx::constantBytes(value);
  // Splats share their place by what they repeat, which is bytes.
  return bytes && bytes->isSplat() && isPacked(constant) ? bytes->expanded(value.getNumElements())
                                                         : bytes;
}

/// Two elements a byte, the first in the lower bits.
static void forEachPackedPiece(ArrayRef<char> elements, function_ref<void(ArrayRef<char>)> piece) {
  constexpr size_t kBlock = 1 << 16;
  std::vector<char> block;
  for (; !elements.empty(); elements = elements.drop_front(std::min(kBlock, elements.size()))) {
    block.clear();
    for (size_t i = 0; i < std::min(kBlock, elements.size()); i += 2) {
      char second = i + 1 < elements.size() ? elements[i + 1] : 0;
      block.push_back(char((elements[i] & 15) | (second & 15) << 4));
    }
    piece(block);
  }
}

FailureOr<int64_t> cameo::weightBytes(rt::ConstantOp constant) {
  auto value = cast<ElementsAttr>(constant.getValue());
  std::optional<onnx::ElementKind> kind = onnx::elementKind(value.getElementType());
  if (!kind || !onnx::elementBytes(*kind))
    return constant.emitError() << "cannot be a weight: elements of type "
                                << value.getElementType();
  if (!weightContents(constant))
    return emitError(constant.getLoc()) << "constant @" << constant.getSymName() << " of type "
                                        << value.getType() << ": its data are missing";
  if (isPacked(constant))
    return llvm::divideCeil(value.getNumElements(), 2);
  return value.getNumElements() * onnx::elementBytes(*kind);
}

void cameo::forEachPiece(rt::ConstantOp constant, function_ref<void(ArrayRef<char>)> piece) {
  std::optional<onnx::ConstantBytes> bytes = weightContents(constant);
  int64_t count = cast<ElementsAttr>(constant.getValue()).getNumElements();
  if (!bytes || count == 0)
    return;
  if (isPacked(constant))
    return forEachPackedPiece(bytes->get(), piece);
  if (!bytes->isSplat())
    return piece(bytes->get());
  // A splat holds one element: a block of them, as often as it takes.
  constexpr int64_t kBlock = 4096;
  onnx::ConstantBytes block = bytes->expanded(std::min(count, kBlock));
  const int64_t elementBytes = bytes->get().size();
  for (int64_t left = count; left > 0; left -= kBlock)
    piece(block.get().take_front(std::min(left, kBlock) * elementBytes));
}

SmallVector<rt::ConstantOp> cameo::weightSectionOrder(ModuleOp module) {
  // The largest of those at one place: smaller splats are where it begins.
  llvm::MapVector<int64_t, std::pair<int64_t, rt::ConstantOp>> byOffset;
  for (auto constant : module.getOps<rt::ConstantOp>()) {
    FailureOr<int64_t> bytes = weightBytes(constant);
    if (failed(bytes) || *bytes == 0 || !constant.getOffset())
      continue;
    auto &[most, largest] = byOffset[*constant.getOffset()];
    if (*bytes > most)
      std::tie(most, largest) = std::make_pair(*bytes, constant);
  }
  SmallVector<rt::ConstantOp> order;
  for (auto &[offset, entry] : byOffset)
    order.push_back(entry.second);
  llvm::sort(order,
             [](rt::ConstantOp a, rt::ConstantOp b) { return *a.getOffset() < *b.getOffset(); });
  return order;
}
