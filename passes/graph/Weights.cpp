// Operators that multiply by constant weights.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/Weights.h"

#include <cmath>

using namespace mlir;

namespace cameo {

/// Numbers of a weight that takes memory only once it is folded into, at most.
static constexpr int64_t kMostEqual = 1 << 26;

static bool isReal(onnx::ElementKind kind) {
  Computes computes = computesIn(kind);
  return computes == Computes::Float || computes == Computes::Double;
}

static int64_t groupsOf(Operation *op) {
  auto group = op->getAttrOfType<IntegerAttr>("group");
  return group ? group.getInt() : 1;
}

//===-- Channels ------------------------------------------------------------------------------===//

/// The dimensions of weights seen as [group, first channels, second channels, elements], and which
/// of both channels are the outputs'.
namespace {
struct WeightShape {
  int64_t groups, first, second, inner;
  bool outputsFirst;
};
} // namespace

static std::optional<WeightShape> shapeOf(Operation *op, ArrayRef<int64_t> shape) {
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(2))
    inner *= size;
  if (isa<onnx::MatMulOp>(op))
    return shape.size() == 2 ? std::optional(WeightShape{1, shape[0], shape[1], 1, false})
                             : std::nullopt;
  if (auto gemm = dyn_cast<onnx::GemmOp>(op))
    return WeightShape{1, shape[0], shape[1], 1, gemm.getTransB() != 0};
  int64_t groups = groupsOf(op);
  if (groups < 1 || shape[0] % groups != 0)
    return std::nullopt;
  return WeightShape{groups, shape[0] / groups, shape[1], inner, isa<onnx::ConvOp>(op)};
}

FailureOr<Weighted> Weighted::of(Operation *op) {
  if (!isa_and_nonnull<onnx::ConvOp, onnx::ConvTransposeOp, onnx::GemmOp, onnx::MatMulOp>(op))
    return failure();
  std::optional<Elements> weight = Elements::of(onnx::constantValue(op->getOperand(1)));
  if (!weight || !isReal(weight->kind) || weight->type.getRank() < 2 || weight->count() == 0)
    return failure();
  std::optional<WeightShape> shape = shapeOf(op, weight->shape());
  if (!shape)
    return failure();
  int64_t first = shape->groups * shape->first, second = shape->groups * shape->second;
  Weighted weighted{op, *weight, std::nullopt, shape->outputsFirst ? second : first,
                    shape->outputsFirst ? first : second};
  // Equal weights take no memory, however many they are, until their factors differ.
  if (weight->isSplat() && weight->count() > kMostEqual)
    return failure();
  if (op->getNumOperands() < 3 || onnx::isAbsent(op->getOperand(2)))
    return weighted;
  weighted.bias = Elements::of(onnx::constantValue(op->getOperand(2)));
  // One number, or one a channel in the last dimension.
  if (!weighted.bias || weighted.bias->kind != weight->kind)
    return failure();
  ArrayRef<int64_t> biasShape = weighted.bias->shape();
  int64_t count = weighted.bias->count();
  bool perChannel = count == weighted.outputs && !biasShape.empty() && biasShape.back() == count;
  bool one = isa<onnx::GemmOp>(op) && count == 1 && biasShape.size() <= 2;
  if (!perChannel && !one)
    return failure();
  return weighted;
}

bool Weighted::canHaveBias() const { return !isa<onnx::MatMulOp>(op); }

std::optional<std::vector<double>> Weighted::perChannel(Value value, Side side,
                                                        int64_t rank) const {
  std::optional<Elements> constant = Elements::of(onnx::constantValue(value));
  if (!constant || constant->kind != weight.kind || constant->type.getRank() > rank)
    return std::nullopt;
  int64_t channel = isa<onnx::ConvOp, onnx::ConvTransposeOp>(op) ? 1 : rank - 1;
  int64_t first = rank - constant->type.getRank();
  for (auto [i, size] : llvm::enumerate(constant->shape()))
    if (size != 1 && !(first + static_cast<int64_t>(i) == channel && size == channels(side)))
      return std::nullopt;
  std::vector<double> numbers = readDoubles(*constant);
  if (!llvm::all_of(numbers, [](double number) { return std::isfinite(number); }))
    return std::nullopt;
  if (numbers.size() == 1)
    numbers.assign(channels(side), double(numbers[0]));
  return numbers;
}

//===-- New weights ---------------------------------------------------------------------------===//

static bool allEqual(ArrayRef<double> numbers) {
  return llvm::all_of(numbers, [&](double number) { return number == numbers.front(); });
}

std::vector<double> Weighted::scaled(ArrayRef<double> scale, Side side) const {
  // Equal weights with equal factors remain one number.
  if (weight.isSplat() && allEqual(scale)) {
    Elements one = weight;
    one.type = RankedTensorType::get({}, weight.type.getElementType());
    return {readDoubles(one)[0] * scale[0]};
  }
  return scaled(readDoubles(weight), scale, side);
}

std::vector<double> Weighted::scaled(std::vector<double> numbers, ArrayRef<double> scale,
                                     Side side) const {
  WeightShape shape = *shapeOf(op, weight.shape());
  bool byFirst = shape.outputsFirst == (side == Side::Output);
  double *at = numbers.data();
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t i = 0; i < shape.first; ++i)
      for (int64_t j = 0; j < shape.second; ++j) {
        double factor = scale[byFirst ? group * shape.first + i : group * shape.second + j];
        for (double *end = at + shape.inner; at != end; ++at)
          *at *= factor;
      }
  return numbers;
}

std::vector<double> Weighted::magnitudes(Side side) const {
  WeightShape shape = *shapeOf(op, weight.shape());
  Elements read = weight;
  if (weight.isSplat())
    read.type = RankedTensorType::get({1}, weight.type.getElementType());
  std::vector<double> numbers = readDoubles(read);
  std::vector<double> most(channels(side), 0.0);
  bool byFirst = shape.outputsFirst == (side == Side::Output);
  const double *at = numbers.data();
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t i = 0; i < shape.first; ++i)
      for (int64_t j = 0; j < shape.second; ++j) {
        double &channel = most[byFirst ? group * shape.first + i : group * shape.second + j];
        for (int64_t k = 0; k < (weight.isSplat() ? 1 : shape.inner); ++k)
          channel = std::max(channel, std::abs(at[k]));
        at += weight.isSplat() ? 0 : shape.inner;
      }
  return most;
}

void Weighted::forEach(function_ref<void(double, int64_t, int64_t)> call) const {
  WeightShape shape = *shapeOf(op, weight.shape());
  std::vector<double> numbers = readDoubles(weight);
  const double *at = numbers.data();
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t i = 0; i < shape.first; ++i)
      for (int64_t j = 0; j < shape.second; ++j) {
        int64_t first = group * shape.first + i, second = group * shape.second + j;
        for (const double *end = at + shape.inner; at != end; ++at)
          call(*at, shape.outputsFirst ? first : second, shape.outputsFirst ? second : first);
      }
}

std::vector<double> Weighted::biases() const {
  std::vector<double> result(outputs, 0.0);
  if (!bias)
    return result;
  std::vector<double> given = readDoubles(*bias);
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  double beta = gemm ? gemm.getBeta().convertToDouble() : 1.0;
  for (int64_t c = 0; c < outputs; ++c)
    result[c] = beta * given[given.size() == 1 ? 0 : c];
  return result;
}

static double asDouble(APFloat number) {
  bool lost;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

double leastNormal(FloatType type) {
  return asDouble(APFloat::getSmallestNormalized(type.getFloatSemantics()));
}

ElementsAttr roundedConstant(RankedTensorType type, StringRef name, ArrayRef<double> numbers,
                             std::string &why) {
  auto real = cast<FloatType>(type.getElementType());
  onnx::ElementKind kind = *onnx::elementKind(real);
  double limit = asDouble(APFloat::getLargest(real.getFloatSemantics()));
  if (!llvm::all_of(numbers, [&](double number) { return std::abs(number) <= limit; })) {
    why = ("the weights would leave the range of " + onnx::elementName(kind)).str();
    return nullptr;
  }
  std::vector<char> bytes = writeElements<double>(kind, numbers);
  if (static_cast<int64_t>(numbers.size()) != type.getNumElements())
    return onnx::makeSplat(type, bytes);
  return onnx::makeConstant(type, name, bytes);
}

std::string weightName(Operation *op, unsigned operand) {
  return nodeName(op).str() + (operand == 1 ? ".weight" : ".bias");
}

/// Whether no channel is left with denormal weights alone.
static bool keepsDigits(const Weighted &weighted, ArrayRef<double> scale, Side side) {
  double normal = leastNormal(cast<FloatType>(weighted.weight.type.getElementType()));
  for (auto [factor, before] : llvm::zip_equal(scale, weighted.magnitudes(side))) {
    double after = std::abs(factor) * before;
    if (factor != 0 && before != 0 && after < std::min(normal, before))
      return false;
  }
  return true;
}

ElementsAttr scaledWeights(const Weighted &weighted, ArrayRef<double> scale, Side side,
                           std::string &why) {
  if (!keepsDigits(weighted, scale, side)) {
    why = "the weights of a channel would be denormal";
    return nullptr;
  }
  return roundedConstant(weighted.weight.type, weightName(weighted.op, 1),
                         weighted.scaled(scale, side), why);
}

namespace {
/// New weights and bias, not yet in the IR; null where they stay.
struct NewWeights {
  ElementsAttr weight, bias;
};
} // namespace

static std::optional<NewWeights> newWeights(const Weighted &weighted, const Affine &affine,
                                            std::string &why) {
  NewWeights result;
  if (!affine.scale.empty()) {
    result.weight = scaledWeights(weighted, affine.scale, Side::Output, why);
    if (!result.weight)
      return std::nullopt;
  }
  if (!weighted.canHaveBias())
    return result;
  std::vector<double> bias = weighted.biases();
  for (int64_t c = 0; c < weighted.outputs; ++c)
    bias[c] = (affine.scale.empty() ? bias[c] : bias[c] * affine.scale[c]) +
              (affine.shift.empty() ? 0.0 : affine.shift[c]);
  auto type = RankedTensorType::get({weighted.outputs}, weighted.weight.type.getElementType());
  if (!affine.shift.empty() || weighted.bias) {
    result.bias = roundedConstant(type, weightName(weighted.op, 2), bias, why);
    if (!result.bias)
      return std::nullopt;
  }
  return result;
}

bool canFoldIntoWeights(const Weighted &weighted, const Affine &affine, std::string &why) {
  return newWeights(weighted, affine, why).has_value();
}

bool foldIntoWeights(const Weighted &weighted, const Affine &affine, std::string &why) {
  std::optional<NewWeights> made = newWeights(weighted, affine, why);
  if (!made)
    return false;
  if (made->weight)
    replaceConstant(weighted.op, 1, made->weight, weightName(weighted.op, 1));
  if (made->bias) {
    replaceConstant(weighted.op, 2, made->bias, weightName(weighted.op, 2));
    if (auto gemm = dyn_cast<onnx::GemmOp>(weighted.op))
      gemm.setBeta(APFloat(1.0f));
  }
  return true;
}

void replaceConstant(Operation *op, unsigned operand, ElementsAttr value, StringRef name) {
  OpBuilder b(op);
  Location loc = NameLoc::get(b.getStringAttr(name));
  Operation *old = nullptr;
  if (operand < op->getNumOperands()) {
    old = op->getOperand(operand).getDefiningOp();
    if (isa<onnx::ConstantOp>(old))
      loc = old->getLoc();
  }
  Value constant = createConstant(b, loc, value);
  if (operand < op->getNumOperands())
    op->setOperand(operand, constant);
  else
    op->insertOperands(operand, constant);
  if (isa_and_nonnull<onnx::ConstantOp>(old) && old->use_empty())
    old->erase();
}

} // namespace cameo
