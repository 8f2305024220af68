// Which open nodes are low: a minimal cut between those that are and those that are not.
//
//   Conv (low) - Relu (open) - Softmax (open) - Exp (FP32)   ==>   Relu and Softmax low, or not
//
// A value that is written on one side and read on the other costs one cast, however many read it:
// read and written once, in both types. An open node in FP32 costs the bytes that its results have
// more. Both are sums over nodes and values, so that the cheapest choice is a minimal cut, in which
// nodes that are low stand with the source. Where two choices cost the same, the one in FP32 is
// taken. For several low types this is done for one after the other.
//
// Around what is quantised nothing costs: casts are part of the kernels that quantise what they
// compute and dequantise what they read, and elementwise work in front of a QuantizeLinear is
// stored as its numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/PlaceCasts.h"

#include "passes/precision/MinCut.h"

using namespace mlir;

namespace cameo {

/// Bytes of an element that a cast reads and writes, and that it takes more in FP32.
static constexpr int64_t kCastBytes = 6, kWiderBytes = 2;

int64_t estimatedElements(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return kOpenSize;
  int64_t count = 1;
  for (int64_t size : type.getShape()) {
    size = ShapedType::isDynamic(size) ? kOpenSize : std::max<int64_t>(size, 1);
    count *= std::min(size, kMostElements / count);
  }
  return count;
}

namespace {

class CastNetwork {
public:
  CastNetwork(PrecisionPlan &plan, Precision precision, const NumberRanges &ranges)
      : plan(plan), precision(precision), type(storedType(precision, plan.function.getContext())) {
    for (PrecisionNode &node : plan.nodes)
      addNode(node, ranges);
    bool isLowIo = plan.inputsAndOutputs == precision;
    for (BlockArgument argument : plan.function.getArguments())
      if (isFP32(argument))
        addValue(argument, isLowIo ? MinCut::kSource : MinCut::kSink);
    for (Operation &op : plan.function.getBody().front())
      if (!isa<onnx::ConstantOp, onnx::CastOp>(op) || places.contains(&op))
        for (Value result : op.getResults())
          if (isFP32(result))
            addValue(result, sideOf(cast<OpResult>(result)));
  }

  void solve() {
    cut.solve();
    for (auto [node, place] : open)
      if (cut.isWithSource(place))
        node->precision = precision;
  }

private:
  struct Place {
    unsigned number;
    Converted converted;
  };

  void addNode(PrecisionNode &node, const NumberRanges &ranges) {
    if (node.precision == Precision::INT8) {
      quantized.insert(node.op);
      return;
    }
    std::optional<Converted> converted = convertedIn(node.op, precision);
    if (!converted)
      return;
    unsigned number = node.precision == precision ? MinCut::kSource : MinCut::kSink;
    if (!node.precision && ranges.whyNot(node.op, *converted, precision).empty()) {
      number = cut.addNode();
      open.push_back({&node, number});
      int64_t bytes = 0;
      for (unsigned i : converted->results)
        if (!isOutput(node.op->getResult(i)) && !plan.quantized.contains(node.op->getResult(i)) &&
            !isStoredAsNumbers(node.op->getResult(i)))
          bytes += kWiderBytes * estimatedElements(node.op->getResult(i));
      cut.addEdge(MinCut::kSource, number, bytes);
    }
    places.try_emplace(node.op, Place{number, std::move(*converted)});
  }

  /// Dequantised, perhaps with its channels as they were: what reads it computes it.
  bool isStoredAsNumbers(Value value) const {
    if (auto product = value.getDefiningOp<onnx::MulOp>();
        product && onnx::constantValue(product->getOperand(1)))
      value = product->getOperand(0);
    Operation *op = value.getDefiningOp();
    return isa_and_nonnull<onnx::DequantizeLinearOp>(op) && quantized.contains(op);
  }

  /// Stored as the model's output is, whatever the node.
  bool isOutput(Value value) const {
    return llvm::any_of(value.getUsers(),
                        [](Operation *user) { return isa<func::ReturnOp>(user); });
  }

  unsigned sideOf(OpResult result) const {
    auto place = places.find(result.getOwner());
    return place != places.end() && place->second.converted.writes(result.getResultNumber())
               ? place->second.number
               : MinCut::kSink;
  }

  /// The side that a use wants the value on; nothing where it takes either.
  std::optional<unsigned> sideOf(OpOperand &use) const {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp>(user))
      return plan.inputsAndOutputs == precision ? MinCut::kSource : MinCut::kSink;
    if (auto conversion = dyn_cast<onnx::CastOp>(user)) {
      bool isSame = cast<TensorType>(conversion.getOutput().getType()).getElementType() == type;
      return isSame ? std::optional(MinCut::kSource) : std::nullopt;
    }
    if (quantized.contains(user))
      return std::nullopt;
    auto place = places.find(user);
    if (place != places.end() && place->second.converted.reads(use.getOperandNumber()))
      return place->second.number;
    bool takesAny = user->getBlock() == &plan.function.getBody().front() &&
                    readsAnyType(user, use.getOperandNumber());
    return takesAny ? std::nullopt : std::optional(MinCut::kSink);
  }

  void addValue(Value value, unsigned writer) {
    if (plan.quantized.contains(value))
      return;
    // Stored in the type that readers want; only where they want two it is stored twice.
    Operation *op = value.getDefiningOp();
    if (isStoredAsNumbers(value))
      return;
    if (quantized.contains(op))
      writer = cut.addNode();
    llvm::SmallSetVector<unsigned, 4> readers;
    for (OpOperand &use : value.getUses())
      if (std::optional<unsigned> side = sideOf(use))
        readers.insert(*side);
    int64_t cost = kCastBytes * estimatedElements(value);
    if (readers.size() == 1) {
      cut.addEdge(writer, readers[0], cost);
      cut.addEdge(readers[0], writer, cost);
      return;
    }
    if (readers.empty())
      return;
    // Paid once if the writer is low and some reader is not, and the other way round.
    unsigned full = cut.addNode(), low = cut.addNode();
    cut.addEdge(writer, full, cost);
    cut.addEdge(low, writer, cost);
    for (unsigned reader : readers) {
      cut.addEdge(full, reader, MinCut::kInfinite);
      cut.addEdge(reader, low, MinCut::kInfinite);
    }
  }

  PrecisionPlan &plan;
  Precision precision;
  Type type;
  MinCut cut;
  llvm::DenseMap<Operation *, Place> places;
  llvm::DenseSet<Operation *> quantized;
  std::vector<std::pair<PrecisionNode *, unsigned>> open;
};

} // namespace

/// Values that only elementwise work reads which ends in QuantizeLinear.
llvm::DenseSet<Value> quantizedWork(func::FuncOp function) {
  llvm::DenseSet<Value> found;
  for (Operation &op : llvm::reverse(function.getBody().front())) {
    if (op.getNumResults() != 1 || op.use_empty())
      continue;
    if (llvm::all_of(op.getUsers(), [&](Operation *user) {
          return isa<onnx::QuantizeLinearOp>(user) ||
                 (policyOf(user).role == Role::Elementwise && user->getNumResults() == 1 &&
                  found.contains(user->getResult(0)));
        }))
      found.insert(op.getResult(0));
  }
  return found;
}

void placeCasts(PrecisionPlan &plan, Precision precision, const NumberRanges &ranges) {
  CastNetwork(plan, precision, ranges).solve();
}

} // namespace cameo
