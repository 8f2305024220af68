// rt.constant @w = ... ==> rt.constant @w = ... at 4096
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/Statistics.h"
#include "passes/host/WeightPool.h"
#include "runtime/arena.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

namespace cameo {
#define GEN_PASS_DEF_LAYOUTWEIGHTS
#include "passes/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

/// Of elements of less than a byte, which are a byte each until they are written.
static bool isPacked(rt::ConstantOp constant) {
  return getElementTypeOrSelf(cast<ElementsAttr>(constant.getValue()).getType()).isInteger(4);
}

static std::optional<onnx::ConstantBytes> bytesOf(rt::ConstantOp constant) {
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
  if (!bytesOf(constant))
    return emitError(constant.getLoc()) << "constant @" << constant.getSymName() << " of type "
                                        << value.getType() << ": its data are missing";
  if (isPacked(constant))
    return llvm::divideCeil(value.getNumElements(), 2);
  return value.getNumElements() * onnx::elementBytes(*kind);
}

void cameo::forEachPiece(rt::ConstantOp constant, function_ref<void(ArrayRef<char>)> piece) {
  std::optional<onnx::ConstantBytes> bytes = bytesOf(constant);
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

namespace {

bool isSplat(const onnx::ConstantBytes &bytes) { return bytes.isSplat() && !bytes.get().empty(); }

/// What a splat repeats, as 16 bytes: the sizes of all elements divide that.
std::string patternOf(const onnx::ConstantBytes &splat) {
  std::string pattern;
  while (pattern.size() < 16)
    pattern.append(splat.get().begin(), splat.get().end());
  return pattern;
}

struct LayOutWeights : cameo::impl::LayOutWeightsBase<LayOutWeights> {
  void runOnOperation() override {
    patterns.clear();
    known.clear();
    end = 0;
    eraseUnused();
    measureSplats();
    bool isComplete = true;
    for (auto constant : getOperation().getOps<rt::ConstantOp>())
      if (FailureOr<int64_t> bytes = weightBytes(constant); succeeded(bytes))
        place(constant, *bytes, *bytesOf(constant));
      else
        isComplete = false;
    if (!isComplete)
      return signalPassFailure();
    count(&getContext(), getArgument(), "bytes", end);
  }

private:
  void eraseUnused() {
    llvm::StringSet<> used;
    getOperation().walk([&](rt::GetConstantOp get) { used.insert(get.getConstant()); });
    for (auto constant : llvm::make_early_inc_range(getOperation().getOps<rt::ConstantOp>()))
      if (!used.contains(constant.getSymName())) {
        constant.erase();
        count(&getContext(), getArgument(), "unused");
      }
  }

  /// A splat is where the largest one of the same pattern begins, so that one has to be known.
  void measureSplats() {
    for (auto constant : getOperation().getOps<rt::ConstantOp>())
      if (std::optional<onnx::ConstantBytes> bytes = bytesOf(constant); bytes && isSplat(*bytes)) {
        auto value = cast<ElementsAttr>(constant.getValue());
        Splats &splats = patterns[patternOf(*bytes)];
        splats.bytes =
            std::max<int64_t>(splats.bytes, value.getNumElements() * int64_t(bytes->get().size()));
      }
  }

  void place(rt::ConstantOp constant, int64_t bytes, const onnx::ConstantBytes &contents) {
    if (isSplat(contents)) {
      Splats &splats = patterns[patternOf(contents)];
      if (splats.offset)
        return share(constant, *splats.offset, bytes);
      splats.offset = end;
      constant.setOffset(end);
      end += llvm::alignTo(splats.bytes, CAMEO_BUFFER_ALIGNMENT);
      return;
    }
    uint64_t hash = llvm::xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(contents.get().data()), contents.get().size()));
    SmallVector<rt::ConstantOp, 1> &candidates = known[{bytes, hash}];
    auto *same = llvm::find_if(
        candidates, [&](rt::ConstantOp other) { return bytesOf(other)->get() == contents.get(); });
    if (same != candidates.end())
      return share(constant, *same->getOffset(), bytes);
    constant.setOffset(end);
    candidates.push_back(constant);
    end += llvm::alignTo(bytes, CAMEO_BUFFER_ALIGNMENT);
  }

  void share(rt::ConstantOp constant, int64_t offset, int64_t bytes) {
    constant.setOffset(offset);
    count(&getContext(), getArgument(), "shared");
    count(&getContext(), getArgument(), "bytes-saved", bytes);
  }

  struct Splats {
    int64_t bytes = 0; // of the largest
    std::optional<int64_t> offset;
  };
  std::map<std::string, Splats> patterns;
  // Candidates for equality have the same size and hash.
  std::map<std::pair<int64_t, uint64_t>, SmallVector<rt::ConstantOp, 1>> known;
  int64_t end = 0;
};

} // namespace
