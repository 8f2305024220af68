// rt.constant @w = ... ==> rt.constant @w = ... at 4096
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/Statistics.h"
#include "passes/host/ArenaLayout.h"
#include "passes/host/WeightPool.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

namespace cameo {
#define GEN_PASS_DEF_LAYOUTWEIGHTS
#include "passes/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

static std::optional<onnx::ConstantBytes> bytesOf(rt::ConstantOp constant) {
  return onnx::constantBytes(cast<ElementsAttr>(constant.getValue()));
}

FailureOr<int64_t> cameo::weightBytes(rt::ConstantOp constant) {
  auto value = cast<ElementsAttr>(constant.getValue());
  std::optional<onnx::ElementKind> kind = onnx::elementKind(value.getElementType());
  if (!kind || !onnx::elementBytes(*kind))
    return constant.emitError() << "cannot be a weight: elements of type "
                                << value.getElementType();
  if (!bytesOf(constant))
    return emitError(constant.getLoc()) << "constant @" << constant.getSymName() << " of type "
                                        << value.getType() << ": its data are missing";
  return value.getNumElements() * onnx::elementBytes(*kind);
}

void cameo::forEachPiece(rt::ConstantOp constant, function_ref<void(ArrayRef<char>)> piece) {
  std::optional<onnx::ConstantBytes> bytes = bytesOf(constant);
  int64_t count = cast<ElementsAttr>(constant.getValue()).getNumElements();
  if (!bytes || count == 0)
    return;
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
  llvm::DenseMap<int64_t, rt::ConstantOp> byOffset;
  SmallVector<rt::ConstantOp> order;
  for (auto constant : module.getOps<rt::ConstantOp>()) {
    FailureOr<int64_t> bytes = weightBytes(constant);
    if (failed(bytes) || *bytes == 0 || !constant.getOffset())
      continue;
    if (byOffset.try_emplace(*constant.getOffset(), constant).second)
      order.push_back(constant);
  }
  llvm::sort(order,
             [](rt::ConstantOp a, rt::ConstantOp b) { return *a.getOffset() < *b.getOffset(); });
  return order;
}

namespace {

/// For constants of as many bytes; a splat equals splats only.
bool sameContents(rt::ConstantOp a, rt::ConstantOp b) {
  std::optional<onnx::ConstantBytes> left = bytesOf(a), right = bytesOf(b);
  if (left->isSplat() != right->isSplat())
    return false;
  if (!left->isSplat())
    return left->get() == right->get();
  // Elements may differ in size: both repeat after the product of their sizes at the latest.
  ArrayRef<char> x = left->get(), y = right->get();
  for (size_t i = 0; i < x.size() * y.size(); ++i)
    if (x[i % x.size()] != y[i % y.size()])
      return false;
  return true;
}

struct LayOutWeights : cameo::impl::LayOutWeightsBase<LayOutWeights> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringSet<> used;
    module.walk([&](rt::GetConstantOp get) { used.insert(get.getConstant()); });

    // Candidates for equality have the same size and hash.
    std::map<std::pair<int64_t, uint64_t>, SmallVector<rt::ConstantOp, 1>> known;
    int64_t end = 0;
    bool isComplete = true;
    Builder builder(module.getContext());
    for (auto constant : llvm::make_early_inc_range(module.getOps<rt::ConstantOp>())) {
      if (!used.contains(constant.getSymName())) {
        constant.erase();
        count(&getContext(), getArgument(), "unused");
        continue;
      }
      FailureOr<int64_t> bytes = weightBytes(constant);
      if (failed(bytes)) {
        isComplete = false;
        continue;
      }
      uint64_t hash = 0;
      if (std::optional<onnx::ConstantBytes> contents = bytesOf(constant); !contents->isSplat())
        hash = llvm::xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(contents->get().data()),
                                          contents->get().size()));
      SmallVector<rt::ConstantOp, 1> &candidates = known[{*bytes, hash}];
      auto *same = llvm::find_if(
          candidates, [&](rt::ConstantOp other) { return sameContents(constant, other); });
      if (same != candidates.end()) {
        constant.setOffset(same->getOffset());
        count(&getContext(), getArgument(), "shared");
        count(&getContext(), getArgument(), "bytes-saved", *bytes);
        continue;
      }
      constant.setOffset(end);
      candidates.push_back(constant);
      end += llvm::alignTo(*bytes, kBufferAlignment);
    }
    if (!isComplete)
      return signalPassFailure();
    count(&getContext(), getArgument(), "bytes", end);
  }
};

} // namespace
