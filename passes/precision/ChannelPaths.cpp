// Channels of what products read ==> channels of what is computed.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/ChannelPaths.h"

#include "passes/precision/Policy.h"
#include "passes/precision/QuantizedProduct.h"
#include "passes/precision/QuantizedValue.h"
#include "passes/precision/QuantizedWeights.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <cmath>

using namespace mlir;

namespace cameo {

static RankedTensorType shapeOf(Value value) {
  return hasReliableShape(value) ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
}

/// The operands that a value is moved from; none where it is computed.
static MutableArrayRef<OpOperand> movedFrom(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? movedOperands(op) : MutableArrayRef<OpOperand>();
}

/// The axis along which a product counts its input channels.
static std::optional<int64_t> inputAxis(Operation *product) {
  if (isa<onnx::ConvOp>(product))
    return 1;
  auto gemm = dyn_cast<onnx::GemmOp>(product);
  int64_t rank = rankOf(product->getOperand(0));
  if (rank < 1 || (gemm && gemm.getTransA()))
    return std::nullopt;
  return rank - 1;
}

//===-- Movement ------------------------------------------------------------------------------===//

const ChannelPaths::Channels *ChannelPaths::keep(Value value, Channels found) {
  return (channels[value] = std::make_unique<Channels>(std::move(found))).get();
}

const ChannelPaths::Channels *ChannelPaths::source(Value value, int64_t axis) {
  RankedTensorType type = shapeOf(value);
  if (!type || type.isDynamicDim(axis) || valueName(value).empty())
    return nullptr;
  Channels own{axis, {}};
  for (int64_t channel = 0; channel < type.getDimSize(axis); ++channel)
    own.origins.push_back({unsigned(allSources.size()), channel});
  allSources.push_back({value, type.getDimSize(axis), axis});
  return keep(value, std::move(own));
}

/// The elements inside of an axis; negative where a size is open.
static int64_t inside(RankedTensorType type, int64_t axis) {
  int64_t count = 1;
  for (int64_t size : type.getShape().drop_front(axis + 1))
    count = ShapedType::isDynamic(size) || count < 0 ? -1 : count * size;
  return count;
}

/// Channels that are one axis of what is reshaped, perhaps with all that is inside of them.
static std::optional<std::pair<int64_t, int64_t>> reshapedAxis(RankedTensorType from,
                                                               RankedTensorType to, int64_t axis) {
  int64_t inner = inside(to, axis), all = inner * to.getDimSize(axis);
  for (int64_t at = 0; inner > 0 && at < from.getRank(); ++at) {
    int64_t within = inside(from, at);
    if (within > 0 && within % inner == 0 && !from.isDynamicDim(at) && from.getDimSize(at) > 1 &&
        from.getDimSize(at) * within == all)
      return std::pair(at, within / inner);
  }
  return std::nullopt;
}

/// Channels that are the inner part of an axis, with as many others around them: patches that are joined.
static std::optional<std::pair<int64_t, int64_t>> innerAxis(RankedTensorType from,
                                                            RankedTensorType to, int64_t axis) {
  for (int64_t at = from.getRank() - 1; at >= 0 && !from.isDynamicDim(at); --at) {
    if (inside(from, at) != inside(to, axis) || from.getDimSize(at) < 2)
      continue;
    int64_t times = 1;
    for (int64_t around = at - 1; times * from.getDimSize(at) < to.getDimSize(axis); --around) {
      if (around < 0 || from.isDynamicDim(around))
        return std::nullopt;
      times *= from.getDimSize(around);
    }
    if (times * from.getDimSize(at) == to.getDimSize(axis))
      return std::pair(at, times);
  }
  return std::nullopt;
}

std::optional<ChannelPaths::Channels> ChannelPaths::throughMovement(Operation *op, int64_t axis) {
  RankedTensorType to = shapeOf(op->getResult(0)), from = shapeOf(op->getOperand(0));
  if (!to || !from || to.isDynamicDim(axis))
    return std::nullopt;
  auto same = [&](Value value, int64_t at) -> std::optional<Channels> {
    const Channels *found = trace(value, at);
    return found ? std::optional(Channels{axis, found->origins}) : std::nullopt;
  };
  if (isa<onnx::MaxPoolOp>(op))
    return axis == 1 ? same(op->getOperand(0), 1) : std::nullopt;
  if (auto concat = dyn_cast<onnx::ConcatOp>(op)) {
    int64_t joined = concat.getAxis() < 0 ? concat.getAxis() + to.getRank() : concat.getAxis();
    Channels all{axis, {}};
    for (Value part : op->getOperands()) {
      const Channels *found = joined == axis ? trace(part, axis) : nullptr;
      if (!found)
        return std::nullopt;
      all.origins.insert(all.origins.end(), found->origins.begin(), found->origins.end());
    }
    return all;
  }
  if (auto transpose = dyn_cast<onnx::TransposeOp>(op)) {
    std::optional<ArrayRef<int64_t>> order = transpose.getPerm();
    return same(op->getOperand(0), order ? (*order)[axis] : to.getRank() - 1 - axis);
  }
  if (!isa<onnx::FlattenOp, onnx::ReshapeOp, onnx::SqueezeOp, onnx::UnsqueezeOp>(op))
    return std::nullopt;
  Channels all{axis, {}};
  if (auto at = reshapedAxis(from, to, axis))
    if (const Channels *found = trace(op->getOperand(0), at->first)) {
      for (const Channel &channel : found->origins)
        all.origins.insert(all.origins.end(), at->second, channel);
      return all;
    }
  if (auto at = innerAxis(from, to, axis))
    if (const Channels *found = trace(op->getOperand(0), at->first)) {
      for (int64_t i = 0; i < at->second; ++i)
        all.origins.insert(all.origins.end(), found->origins.begin(), found->origins.end());
      return all;
    }
  return std::nullopt;
}

/// Null where channels are not whole on the way, or are others for another product.
const ChannelPaths::Channels *ChannelPaths::trace(Value value, int64_t axis) {
  if (const Channels *known = of(value))
    return known->axis == axis ? known : nullptr;
  if (!isFP32(value) || onnx::constantValue(value))
    return nullptr;
  if (movedFrom(value).empty())
    return source(value, axis);
  std::optional<Channels> found = throughMovement(value.getDefiningOp(), axis);
  return found ? keep(value, std::move(*found)) : nullptr;
}

//===-- Classes -------------------------------------------------------------------------------===//

ChannelPaths::ChannelPaths(func::FuncOp function, Names names) {
  llvm::EquivalenceClasses<void *> joined;
  llvm::MapVector<void *, std::string> blocked; // members of classes, and why
  llvm::MapVector<Operation *, Value> readers;
  llvm::StringMap<SmallVector<void *, 1>> named;
  auto name = [&](Value value) { named[valueName(value)].push_back(value.getAsOpaquePointer()); };
  llvm::for_each(function.getArguments(), name);
  function.walk([&](Operation *op) { llvm::for_each(op->getResults(), name); });
  auto join = [&](Value value) {
    SmallVector<Value> open{value};
    llvm::SmallPtrSet<void *, 8> seen;
    while (!open.empty()) {
      Value at = open.pop_back_val();
      if (!seen.insert(at.getAsOpaquePointer()).second)
        continue;
      joined.unionSets(value.getAsOpaquePointer(), at.getAsOpaquePointer());
      for (OpOperand &operand : movedFrom(at))
        open.push_back(operand.get());
    }
  };
  for (Operation &op : function.getBody().front()) {
    if (!isa<onnx::ConvOp, onnx::GemmOp, onnx::MatMulOp>(op))
      continue;
    for (OpOperand &operand : op.getOpOperands().take_front(2)) {
      Value value = operand.get();
      if (onnx::constantValue(value))
        continue;
      join(value);
      std::optional<int64_t> axis = inputAxis(&op);
      FailureOr<Weighted> weighted = Weighted::of(&op);
      const Channels *found = nullptr;
      if (operand.getOperandNumber() == 0 && axis && succeeded(weighted) &&
          weighted->weight.kind == onnx::ElementKind::F32)
        found = trace(value, *axis);
      if (found && int64_t(found->origins.size()) == weighted->inputs)
        readers[&op] = value;
      else
        blocked.insert(
            {value.getAsOpaquePointer(),
             onnx::constantValue(op.getOperand(1)) && operand.getOperandNumber() == 0
                 ? "'" + nodeName(&op).str() + "' reads channels that movement has divided"
                 : "'" + nodeName(&op).str() + "' has no constant weights to divide"});
    }
  }
  // Values that cross the border of a body are as its caller has them.
  if (function.isPrivate())
    for (Value argument : function.getArguments())
      if (of(argument))
        blocked.insert({argument.getAsOpaquePointer(),
                        "'" + valueName(argument) + "' comes from around the graph"});
  auto sharesName = [&](Value value) {
    void *own = value.getAsOpaquePointer();
    return !llvm::all_of(named[valueName(value)], [&](void *other) {
      return other == own || (names == Names::Recorded && joined.isEquivalent(other, own));
    });
  };
  auto block = [&](Value value) {
    if (of(value) && sharesName(value))
      blocked.insert(
          {value.getAsOpaquePointer(), "another value is called '" + valueName(value) + "', too"});
  };
  llvm::for_each(function.getArguments(), block);
  function.walk([&](Operation *op) { llvm::for_each(op->getResults(), block); });
  llvm::DenseMap<void *, std::string> blockedClasses;
  for (auto &[member, why] : blocked)
    blockedClasses.try_emplace(joined.getLeaderValue(member), why);
  for (auto &member : joined)
    if (auto why = blockedClasses.find(joined.getLeaderValue(member.getData()));
        why != blockedClasses.end())
      reasons[member.getData()] = why->second;
  for (auto &[value, found] : channels)
    if (!whyNot(value).empty())
      found = nullptr;
  llvm::MapVector<void *, Class> byLeader;
  for (auto [i, source] : llvm::enumerate(allSources))
    if (of(source.value))
      byLeader[joined.getLeaderValue(source.value.getAsOpaquePointer())].sources.push_back(i);
  for (auto [product, value] : readers)
    if (auto found = byLeader.find(joined.getLeaderValue(value.getAsOpaquePointer()));
        found != byLeader.end())
      found->second.products.push_back(product);
  for (auto &[leader, found] : byLeader)
    allClasses.push_back(std::move(found));
  addSummed(function, [&](Value value) {
    return sharesName(value) || joined.findValue(value.getAsOpaquePointer()) != joined.end();
  });
}

/// The axis of channels that a value has from the product that it is computed of, element by element or by pooling.
static std::optional<int64_t> madeAxis(Value value, const llvm::DenseMap<Value, int64_t> &axes) {
  Operation *op = value.getDefiningOp();
  if (policyOf(op).role == Role::Product && rankOf(value) >= 2)
    return isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::DeformConvOp>(op) ? 1 : rankOf(value) - 1;
  bool isPool = isa<onnx::AveragePoolOp, onnx::GlobalAveragePoolOp>(op);
  if (!isPool && policyOf(op).role != Role::Elementwise)
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (auto found = axes.find(operand);
        found != axes.end() && (isPool || haveSameShape(operand, value)))
      return found->second;
  return std::nullopt;
}

/// Adds values that are stored in 8 bits for sums and gates alone: nothing divides weights by their factors.
void ChannelPaths::addSummed(func::FuncOp function, llvm::function_ref<bool(Value)> isMultiplied) {
  llvm::DenseMap<Value, int64_t> axes;
  for (Operation &op : function.getBody().front()) {
    if (op.getNumResults() == 0 || !isFP32(op.getResult(0)))
      continue;
    Value result = op.getResult(0);
    if (std::optional<int64_t> axis = madeAxis(result, axes))
      axes[result] = *axis;
    if (!isa<onnx::AddOp, onnx::SumOp, onnx::SubOp, onnx::MulOp>(op))
      continue;
    for (Value operand : op.getOperands())
      if (auto axis = axes.find(operand);
          axis != axes.end() && !of(operand) && !isMultiplied(operand) &&
          haveSameShape(operand, result) && source(operand, axis->second))
        allClasses.push_back({{unsigned(allSources.size() - 1)}, {}});
  }
}

StringRef ChannelPaths::whyNot(Value value) const {
  auto found = reasons.find(value.getAsOpaquePointer());
  return found == reasons.end() ? StringRef() : StringRef(found->second);
}

const ChannelPaths::Channels *ChannelPaths::of(Value value) const {
  auto found = channels.find(value);
  return found == channels.end() ? nullptr : found->second.get();
}

ChannelExponents ChannelPaths::exponents(Value value,
                                         const llvm::StringMap<ChannelExponents> &bySource) const {
  const Channels *found = of(value);
  if (!found)
    return {};
  ChannelExponents exponents;
  bool isScaled = false;
  for (const Channel &channel : found->origins) {
    const Source &from = allSources[channel.source];
    auto known = bySource.find(valueName(from.value));
    bool isKnown = known != bySource.end() && int64_t(known->second.size()) == from.channels;
    exponents.push_back(isKnown ? known->second[channel.channel] : 0);
    isScaled |= exponents.back() != 0;
  }
  return isScaled ? exponents : ChannelExponents();
}

//===-- Factors -------------------------------------------------------------------------------===//

std::vector<double> channelFactors(const ChannelExponents &exponents, bool isInverse) {
  std::vector<double> factors;
  for (int8_t exponent : exponents)
    factors.push_back(std::ldexp(1.0, isInverse ? -exponent : exponent));
  return factors;
}

Value createChannelFactors(OpBuilder &b, Location loc, int64_t rank, int64_t axis,
                           const ChannelExponents &exponents, bool isInverse) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = int64_t(exponents.size());
  std::vector<double> factors = channelFactors(exponents, isInverse);
  return createScales(b, loc, std::vector<float>(factors.begin(), factors.end()), shape);
}

void divideWeights(Operation *product, const ChannelExponents &exponents) {
  FailureOr<Weighted> weighted = Weighted::of(product);
  std::string name = weightName(product, 1), why; // none: powers of two round nothing
  replaceConstant(product, 1,
                  roundedConstant(weighted->weight.type, name,
                                  weighted->scaled(channelFactors(exponents, true), Side::Input),
                                  why),
                  name);
}

} // namespace cameo
