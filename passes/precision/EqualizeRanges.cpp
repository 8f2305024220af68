// Gives the channels between two products ranges that are more alike.
//
//   %1 = onnx.Conv(%x, %w, %b)                 w[c] / s[c], b[c] / s[c]
//   %2 = onnx.Relu(%1)                   ==>
//   %3 = onnx.Conv(%2, %v, %none)              v[:, c] * s[c]
//
// s[c] is the power of two next to sqrt(greatest |w[c]| / greatest |v[:, c]|), so that no rounding
// changes. What is between commutes with factors that are more than 0: rectifiers, pools, products
// with what has not been scaled, such as the gates of squeeze-and-excite. Pairs that share a
// product are gone through again and again until none changes.
//
// M. Nagel and others, Data-Free Quantization Through Weight Equalization and Bias Correction,
// ICCV 2019.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Weights.h"
#include "passes/precision/Policy.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_EQUALIZERANGES
#include "passes/Passes.h.inc"

/// Rounds over all pairs; what one pair does to the next fades within a few.
static constexpr unsigned kMostRounds = 16;
/// Of a factor's exponent: weights or biases of nearly nothing would make the other side huge.
static constexpr double kMostExponent = 6;
/// Of weights and biases that are scaled.
static constexpr double kMostMagnitude = 0x1p100;

namespace {

/// A product with what its channels are multiplied with.
struct ScaledProduct {
  Weighted weighted;
  std::vector<double> inputScale, outputScale;

  explicit ScaledProduct(const Weighted &weighted)
      : weighted(weighted), inputScale(weighted.inputs, 1.0), outputScale(weighted.outputs, 1.0) {}
  std::vector<double> magnitudes(Side side) const {
    return weighted.magnitudes(side, inputScale, outputScale);
  }
};

/// A product and those that alone read its channels.
struct Pair {
  Operation *producer;
  SmallVector<Operation *> consumers;
};

/// What a product's result becomes on the way to other products, its channels still apart.
class Reach {
public:
  /// False where something reads the channels that would see their factors.
  bool follow(Value result, int64_t axis, int64_t channels);
  SmallVector<Operation *> consumers;

private:
  bool followUse(OpOperand &use, int64_t channels);

  llvm::SmallDenseMap<Value, int64_t> axes; // of values that are scaled, that of channels
  SmallVector<Operation *> multiplications;
};

struct EqualizeRanges : impl::EqualizeRangesBase<EqualizeRanges> {
  void runOnOperation() override;

private:
  void findPairs();
  bool equalize(const Pair &pair);
  void apply(rt::Ledger &ledger);
  std::string hash();
  ScaledProduct &product(Operation *op) { return products.find(op)->second; }

  std::vector<Pair> pairs;
  llvm::MapVector<Operation *, ScaledProduct> products;
};

} // namespace

//===-- What is between -----------------------------------------------------------------------===//

/// f(s * x) = s * f(x) for s > 0, of operand 0, channel by channel.
static bool isHomogeneous(Operation *op) {
  return isa<onnx::ReluOp, onnx::LeakyReluOp, onnx::PReluOp, onnx::AbsOp, onnx::NegOp>(op);
}

static bool poolsChannels(Operation *op) {
  if (auto pool = dyn_cast<onnx::MaxPoolOp>(op))
    return pool->getNumResults() == 1 || pool->getResult(1).use_empty();
  return isa<onnx::AveragePoolOp, onnx::GlobalAveragePoolOp, onnx::GlobalMaxPoolOp>(op);
}

static RankedTensorType rankedType(Value value) {
  return hasReliableShape(value) ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
}

/// Whether [N, C, 1, 1] becomes [N, C].
static bool dropsOnes(Operation *op, int64_t axis, int64_t channels) {
  if (!isa<onnx::FlattenOp, onnx::ReshapeOp, onnx::SqueezeOp>(op) || axis != 1)
    return false;
  RankedTensorType from = rankedType(op->getOperand(0)), to = rankedType(op->getResult(0));
  return from && to && to.getRank() == 2 && to.getDimSize(1) == channels && from.getRank() > 2 &&
         from.getDimSize(1) == channels &&
         llvm::all_of(from.getShape().drop_front(2), [](int64_t size) { return size == 1; });
}

/// The axis of `value` along which a product counts its input channels.
static std::optional<int64_t> inputAxis(Operation *op) {
  if (isa<onnx::ConvOp, onnx::ConvTransposeOp>(op))
    return 1;
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  RankedTensorType type = rankedType(op->getOperand(0));
  if (!type || (gemm && gemm.getTransA()))
    return std::nullopt;
  return type.getRank() - 1;
}

bool Reach::followUse(OpOperand &use, int64_t channels) {
  Operation *op = use.getOwner();
  int64_t axis = axes[use.get()];
  unsigned number = use.getOperandNumber();
  auto reach = [&](int64_t at) { axes.try_emplace(op->getResult(0), at); };
  if (isHomogeneous(op) && number == 0) {
    reach(axis);
    return true;
  }
  if (poolsChannels(op) && axis == 1) {
    reach(1);
    return true;
  }
  if (dropsOnes(op, axis, channels) && number == 0) {
    reach(1);
    return true;
  }
  if (isa<onnx::MulOp>(op) && haveSameShape(use.get(), op->getResult(0))) {
    multiplications.push_back(op);
    reach(axis);
    return true;
  }
  FailureOr<Weighted> weighted = Weighted::of(op);
  if (failed(weighted) || number != 0 || inputAxis(op) != axis || weighted->inputs != channels)
    return false;
  consumers.push_back(op);
  return true;
}

bool Reach::follow(Value result, int64_t axis, int64_t channels) {
  axes[result] = axis;
  SmallVector<Value> pending{result};
  llvm::SmallDenseSet<Value> seen{result};
  while (!pending.empty()) {
    Value at = pending.pop_back_val();
    if (at.use_empty())
      return false;
    for (OpOperand &use : at.getUses()) {
      if (!followUse(use, channels))
        return false;
      Operation *op = use.getOwner();
      if (op->getNumResults() && axes.contains(op->getResult(0)) &&
          seen.insert(op->getResult(0)).second)
        pending.push_back(op->getResult(0));
    }
  }
  // The square of a factor is another one.
  return !consumers.empty() && llvm::none_of(multiplications, [&](Operation *op) {
    return axes.contains(op->getOperand(0)) && axes.contains(op->getOperand(1));
  });
}

//===-- Pairs ---------------------------------------------------------------------------------===//

/// Whether factors may leave FP32's range.
static bool isLarge(const Weighted &weighted) {
  ScaledProduct product(weighted);
  std::vector<double> weights = product.magnitudes(Side::Output), biases = weighted.biases();
  auto large = [](double number) { return !(std::abs(number) < kMostMagnitude); };
  return llvm::any_of(weights, large) || llvm::any_of(biases, large);
}

void EqualizeRanges::findPairs() {
  getOperation().walk([&](Operation *op) {
    FailureOr<Weighted> weighted = Weighted::of(op);
    if (failed(weighted) || weighted->weight.kind != onnx::ElementKind::F32)
      return;
    RankedTensorType type = rankedType(op->getResult(0));
    if (!type)
      return;
    int64_t axis = isa<onnx::ConvOp, onnx::ConvTransposeOp>(op) ? 1 : type.getRank() - 1;
    Reach reach;
    if (!reach.follow(op->getResult(0), axis, weighted->outputs))
      return;
    auto largeConsumer = [](Operation *consumer) { return isLarge(*Weighted::of(consumer)); };
    if (isLarge(*weighted) || llvm::any_of(reach.consumers, largeConsumer))
      return;
    products.insert({op, ScaledProduct(*weighted)});
    for (Operation *consumer : reach.consumers)
      products.insert({consumer, ScaledProduct(*Weighted::of(consumer))});
    pairs.push_back({op, reach.consumers});
  });
}

/// Whether any factor is not one.
bool EqualizeRanges::equalize(const Pair &pair) {
  ScaledProduct &producer = product(pair.producer);
  std::vector<double> made = producer.magnitudes(Side::Output), read(made.size(), 0.0);
  for (Operation *consumer : pair.consumers)
    for (auto [most, magnitude] : llvm::zip(read, product(consumer).magnitudes(Side::Input)))
      most = std::max(most, magnitude);
  bool isChanged = false;
  for (auto [c, scale] : llvm::enumerate(producer.outputScale)) {
    if (!(made[c] > 0 && read[c] > 0 && std::isfinite(made[c]) && std::isfinite(read[c])))
      continue;
    double before = -std::log2(scale);
    double exponent = std::nearbyint(std::log2(made[c] / read[c]) / 2) + before;
    exponent = std::clamp(exponent, -kMostExponent, kMostExponent) - before;
    if (exponent == 0)
      continue;
    isChanged = true;
    scale = std::exp2(-(exponent + before));
    for (Operation *consumer : pair.consumers)
      product(consumer).inputScale[c] *= std::exp2(exponent); // may have other producers, too
  }
  return isChanged;
}

//===-- Weights -------------------------------------------------------------------------------===//

static bool isOne(ArrayRef<double> scale) {
  return llvm::all_of(scale, [](double number) { return number == 1; });
}

void EqualizeRanges::apply(rt::Ledger &ledger) {
  for (const Pair &pair : pairs) {
    const std::vector<double> &scale = product(pair.producer).outputScale;
    if (isOne(scale))
      continue;
    auto [least, most] = std::minmax_element(scale.begin(), scale.end());
    ledger.chosen(
        "precision", pair.producer->getLoc(),
        llvm::formatv("ranges of channels equalized, by factors from {0} to {1}", *least, *most)
            .str());
    count(&getContext(), getArgument(), "equalized");
  }
  for (auto &[op, scaled] : products) {
    std::string why; // none: what is so large has been left out
    if (!isOne(scaled.inputScale)) {
      std::string name = weightName(op, 1);
      replaceConstant(op, 1,
                      roundedConstant(scaled.weighted.weight.type, name,
                                      scaled.weighted.scaled(scaled.inputScale, Side::Input), why),
                      name);
    }
    if (!isOne(scaled.outputScale))
      (void)foldIntoWeights(*Weighted::of(op), Affine{scaled.outputScale, {}}, why);
  }
}

/// Of names and factors: who recorded ranges with others has recorded those of another model.
std::string EqualizeRanges::hash() {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Pair &pair : pairs) {
    out << nodeName(pair.producer);
    for (double scale : product(pair.producer).outputScale)
      out << ' ' << int(std::log2(scale));
    out << '\n';
  }
  return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(llvm::arrayRefFromStringRef(text)));
}

void EqualizeRanges::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function->hasAttr(kEqualizedAttr))
    return; // done
  pairs.clear();
  products.clear();
  rt::Ledger ledger(function);
  findPairs();
  bool isChanged = true;
  for (unsigned round = 0; isChanged && round < kMostRounds; ++round) {
    isChanged = false;
    for (const Pair &pair : pairs)
      isChanged |= equalize(pair);
  }
  apply(ledger);
  function->setAttr(kEqualizedAttr, StringAttr::get(&getContext(), hash()));
}

} // namespace cameo
