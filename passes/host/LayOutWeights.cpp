// rt.constant @w = ... ==> rt.constant @w = ... at 4096
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/Statistics.h"
#include "passes/host/WeightPool.h"
#include "runtime/arena.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

namespace cameo {
#define GEN_PASS_DEF_LAYOUTWEIGHTS
#include "passes/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

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
        place(constant, *bytes, *weightContents(constant));
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
      if (std::optional<onnx::ConstantBytes> bytes = weightContents(constant);
          bytes && isSplat(*bytes)) {
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
    auto *same = llvm::find_if(candidates, [&](rt::ConstantOp other) {
      return weightContents(other)->get() == contents.get();
    });
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
