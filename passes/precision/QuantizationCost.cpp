// What products of 8 bits save and cost beside those of 16, in bytes of memory traffic.
//
// A product saves a byte for each element that it reads, and time where Tensor Cores multiply. A
// value that some read in 8 bits and others in 16 is written in both, and one that nobody computes,
// an input of the model, is quantised by a launch of its own. All are sums over products and
// values, so that the cheapest choice is a minimal cut, in which products of integers stand with
// the source. What costs the same either way stays in 16 bits.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/QuantizationCost.h"

#include "passes/fuse/FusionLimits.h"
#include "passes/graph/Graph.h"
#include "passes/precision/MinCut.h"
#include "passes/precision/PlaceCasts.h"

using namespace mlir;

namespace cameo {

/// Multiplications in the time that a byte moves, of those that 8 bits save over 16: about half of
/// what Tensor Cores do in 16 bits.
static constexpr int64_t kProductsPerByte = 200;
/// Neighbours along depth that one matrix instruction takes: with fewer, 8 bits multiply no faster.
static constexpr int64_t kInstructionDepth = 32;

/// Sizes of the operand's dimensions that a result's element is a sum over; the first one is that
/// of neighbours.
static SmallVector<int64_t> depthOf(Operation *op) {
  Value w = op->getOperand(1);
  auto type = dyn_cast<RankedTensorType>(w.getType());
  if (!type || type.getRank() == 0)
    return {1};
  if (isa<onnx::ConvOp>(op))
    return SmallVector<int64_t>(type.getShape().drop_front());
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  int64_t axis = gemm && gemm.getTransB() ? 1 : std::max<int64_t>(type.getRank() - 2, 0);
  return {type.getDimSize(axis)};
}

/// Bytes that a product saves as one of integers, as long as all that it reads is there.
static int64_t savedBy(const QuantizationCandidate &candidate) {
  int64_t saved = 0;
  for (Value operand : candidate.op->getOperands().take_front(2))
    saved += estimatedElements(operand);
  int64_t depth = 1;
  SmallVector<int64_t> sizes = depthOf(candidate.op);
  for (int64_t &size : sizes) {
    size = ShapedType::isDynamic(size) ? kOpenSize : std::max<int64_t>(size, 1);
    depth *= std::min(size, kMostElements / depth);
  }
  int64_t results = estimatedElements(candidate.op->getResult(0));
  if (sizes[0] >= kInstructionDepth)
    saved +=
        std::min(results, kMostElements / std::max<int64_t>(depth, 1)) * depth / kProductsPerByte;
  return saved;
}

void weighQuantization(std::vector<QuantizationCandidate> &candidates,
                       function_ref<bool(Value)> isReadAsFloat) {
  MinCut cut;
  llvm::DenseMap<Value, std::pair<unsigned, unsigned>> places; // in 8 bits, in 16
  auto placeOf = [&](Value source) {
    if (auto found = places.find(source); found != places.end())
      return found->second;
    int64_t bytes = estimatedElements(source);
    // Whoever computes it quantises it as well; of what nobody does, a launch reads the floats.
    int64_t cost = isa<BlockArgument>(source) ? 3 * bytes + FusionLimits().launchBytes : bytes;
    unsigned low = cut.addNode(), wide = cut.addNode();
    cut.addEdge(low, MinCut::kSink, cost);
    if (!isa<BlockArgument>(source) && !isReadAsFloat(source))
      cut.addEdge(MinCut::kSource, wide, 2 * bytes);
    return places[source] = {low, wide};
  };
  std::vector<unsigned> numbers;
  for (const QuantizationCandidate &candidate : candidates) {
    unsigned number = cut.addNode();
    numbers.push_back(number);
    cut.addEdge(MinCut::kSource, number,
                candidate.isAsked ? MinCut::kInfinite : savedBy(candidate));
    for (Value source : candidate.sources) {
      auto [low, wide] = placeOf(source);
      cut.addEdge(number, low, MinCut::kInfinite);
      cut.addEdge(wide, number, MinCut::kInfinite);
    }
  }
  cut.solve();
  for (auto [candidate, number] : llvm::zip(candidates, numbers))
    candidate.isDearer = !cut.isWithSource(number);
}

} // namespace cameo
