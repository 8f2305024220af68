// Folds what is affine in the channels into the constant weights of the convolution before it.
//
//   %0 = onnx.Conv(%x, %w, %none)
//   %1 = onnx.BatchNormalization(%0, %scale, %b, %mean, %var)
//     ==>
//   %1 = onnx.Conv(%x, %w', %b')        w' = w * s, b' = (bias - mean) * s + b,
//                                       s = scale / sqrt(var + epsilon)
//
// Mul, Add and Sub with constants of one number a channel go the same way, and ConvTranspose and
// Gemm are convolutions in this. Computed in double, rounded once.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Graph.h"

#include <cmath>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_FOLDBATCHNORMINTOCONV
#include "passes/Passes.h.inc"

namespace {

/// y = scale[c] * x + shift[c]; no scale stands for ones.
struct Affine {
  std::vector<double> scale, shift;
};

/// A convolution with constant weights whose result has one use.
struct Producer {
  Operation *op;
  Elements weight;
  std::optional<Elements> bias;
  int64_t channels;

  static FailureOr<Producer> of(Value value);
  int64_t rank() const { return weight.type.getRank(); }
  /// How many weights after one another belong to one output channel.
  int64_t run() const;
  /// The output channel of a weight.
  int64_t channelOf(int64_t element) const;
};

bool isReal(onnx::ElementKind kind) {
  Computes computes = computesIn(kind);
  return computes == Computes::Float || computes == Computes::Double;
}

int64_t groupsOf(Operation *op) {
  auto group = op->getAttrOfType<IntegerAttr>("group");
  return group ? group.getInt() : 1;
}

FailureOr<Producer> Producer::of(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<onnx::ConvOp, onnx::ConvTransposeOp, onnx::GemmOp>(op) || !value.hasOneUse())
    return failure();
  std::optional<Elements> weight = Elements::of(onnx::constantValue(op->getOperand(1)));
  if (!weight || !isReal(weight->kind) || weight->type.getRank() < 2)
    return failure();
  ArrayRef<int64_t> shape = weight->shape();
  Producer producer{op, *weight, std::nullopt, shape[0]};
  if (isa<onnx::ConvTransposeOp>(op)) {
    int64_t groups = groupsOf(op);
    if (groups < 1 || shape[0] % groups != 0)
      return failure();
    producer.channels = shape[1] * groups;
  } else if (auto gemm = dyn_cast<onnx::GemmOp>(op)) {
    producer.channels = shape[gemm.getTransB() ? 0 : 1];
  }
  if (weight->count() == 0)
    return failure();
  if (op->getNumOperands() < 3 || onnx::isAbsent(op->getOperand(2)))
    return producer;
  producer.bias = Elements::of(onnx::constantValue(op->getOperand(2)));
  // One number, or one a channel in the last dimension.
  if (!producer.bias || producer.bias->kind != weight->kind)
    return failure();
  ArrayRef<int64_t> biasShape = producer.bias->shape();
  int64_t count = producer.bias->count();
  bool perChannel = count == producer.channels && !biasShape.empty() && biasShape.back() == count;
  bool one = isa<onnx::GemmOp>(op) && count == 1 && biasShape.size() <= 2;
  if (!perChannel && !one)
    return failure();
  return producer;
}

int64_t Producer::run() const {
  ArrayRef<int64_t> shape = weight.shape();
  if (auto gemm = dyn_cast<onnx::GemmOp>(op))
    return gemm.getTransB() ? shape[1] : 1;
  int64_t ofFirst = weight.count() / shape[0];
  return isa<onnx::ConvOp>(op) ? ofFirst : ofFirst / shape[1];
}

int64_t Producer::channelOf(int64_t element) const {
  ArrayRef<int64_t> shape = weight.shape();
  if (auto gemm = dyn_cast<onnx::GemmOp>(op))
    return gemm.getTransB() ? element / shape[1] : element % shape[1];
  int64_t inner = weight.count() / shape[0];
  if (isa<onnx::ConvOp>(op))
    return element / inner;
  int64_t input = element / inner, ofGroup = element % inner / (inner / shape[1]);
  return input / (shape[0] / groupsOf(op)) * shape[1] + ofGroup;
}

bool allFinite(ArrayRef<double> numbers) {
  return llvm::all_of(numbers, [](double number) { return std::isfinite(number); });
}

/// A constant of one number a channel of a result of the producer's rank, one each.
std::optional<std::vector<double>> perChannel(Value value, const Producer &producer) {
  std::optional<Elements> constant = Elements::of(onnx::constantValue(value));
  if (!constant || constant->kind != producer.weight.kind ||
      constant->type.getRank() > producer.rank())
    return std::nullopt;
  int64_t first = producer.rank() - constant->type.getRank();
  for (auto [i, size] : llvm::enumerate(constant->shape()))
    if (size != 1 && !(first + static_cast<int64_t>(i) == 1 && size == producer.channels))
      return std::nullopt;
  std::vector<double> numbers = readDoubles(*constant);
  if (!allFinite(numbers))
    return std::nullopt;
  if (numbers.size() == 1)
    numbers.assign(producer.channels, double(numbers[0]));
  return numbers;
}

/// What BatchNormalization does in inference; a reason where it is not affine.
std::optional<Affine> affineOf(onnx::BatchNormalizationOp op, const Producer &producer,
                               std::string &why) {
  if (op.getTrainingMode())
    return std::nullopt;
  std::vector<double> numbers[4]; // scale, B, mean, variance
  for (unsigned i = 0; i < 4; ++i) {
    std::optional<Elements> constant = Elements::of(onnx::constantValue(op->getOperand(i + 1)));
    if (!constant || !isReal(constant->kind) || constant->count() != producer.channels)
      return std::nullopt;
    numbers[i] = readDoubles(*constant);
  }
  double epsilon = op.getEpsilon().convertToDouble();
  Affine affine;
  for (int64_t c = 0; c < producer.channels; ++c) {
    double variance = numbers[3][c] + epsilon;
    if (!(variance > 0) || !std::isfinite(variance)) {
      why = llvm::formatv("variance + epsilon of channel {0} is {1}, not positive and finite", c,
                          variance);
      return std::nullopt;
    }
    double scale = numbers[0][c] / std::sqrt(variance);
    affine.scale.push_back(scale);
    affine.shift.push_back(numbers[1][c] - numbers[2][c] * scale);
  }
  return affine;
}

/// What an operator does with result 0 of the producer, its only user's operand `use`.
std::optional<Affine> affineOf(Operation *user, unsigned use, const Producer &producer,
                               std::string &why) {
  if (auto norm = dyn_cast<onnx::BatchNormalizationOp>(user))
    return use == 0 ? affineOf(norm, producer, why) : std::nullopt;
  bool commutes = isa<onnx::MulOp, onnx::AddOp>(user);
  if (!commutes && !(isa<onnx::SubOp>(user) && use == 0))
    return std::nullopt;
  std::optional<std::vector<double>> constant = perChannel(user->getOperand(1 - use), producer);
  if (!constant)
    return std::nullopt;
  if (isa<onnx::MulOp>(user))
    return Affine{*constant, std::vector<double>(producer.channels, 0.0)};
  if (isa<onnx::SubOp>(user))
    for (double &number : *constant)
      number = -number;
  return Affine{{}, *constant};
}

/// New weights and bias, not yet in the IR.
struct Folded {
  std::vector<char> weight, bias;
};

/// Folds unless that makes a number that is not finite of one that was.
std::optional<Folded> fold(const Producer &producer, const Affine &affine, std::string &why) {
  onnx::ElementKind kind = producer.weight.kind;
  auto real = cast<FloatType>(producer.weight.type.getElementType());
  bool lost;
  APFloat largest = APFloat::getLargest(real.getFloatSemantics());
  largest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  double limit = largest.convertToDouble();
  auto written = [&](ArrayRef<double> numbers, std::vector<char> &bytes) {
    if (!llvm::all_of(numbers, [&](double number) { return std::abs(number) <= limit; })) {
      why = ("the weights would leave the range of " + onnx::elementName(kind)).str();
      return false;
    }
    bytes = writeElements<double>(kind, numbers);
    return true;
  };
  Folded folded;
  if (!affine.scale.empty()) {
    std::vector<double> weight = readDoubles(producer.weight);
    for (int64_t i = 0, e = weight.size(), run = producer.run(); i < e; i += run) {
      double scale = affine.scale[producer.channelOf(i)];
      for (int64_t j = i; j < i + run; ++j)
        weight[j] *= scale;
    }
    if (!written(weight, folded.weight))
      return std::nullopt;
  }
  std::vector<double> bias(producer.channels, 0.0);
  if (producer.bias) {
    std::vector<double> given = readDoubles(*producer.bias);
    auto gemm = dyn_cast<onnx::GemmOp>(producer.op);
    double beta = gemm ? gemm.getBeta().convertToDouble() : 1.0;
    for (int64_t c = 0; c < producer.channels; ++c)
      bias[c] = beta * given[given.size() == 1 ? 0 : c];
  }
  for (int64_t c = 0; c < producer.channels; ++c)
    bias[c] = (affine.scale.empty() ? bias[c] : bias[c] * affine.scale[c]) + affine.shift[c];
  if (!written(bias, folded.bias))
    return std::nullopt;
  return folded;
}

/// The producer before `op` and the operand it comes in by.
FailureOr<std::pair<Producer, unsigned>> producerBefore(Operation *op) {
  if (!isa<onnx::BatchNormalizationOp, onnx::MulOp, onnx::AddOp, onnx::SubOp>(op))
    return failure();
  for (unsigned i = 0; i < std::min(2u, op->getNumOperands()); ++i)
    if (FailureOr<Producer> producer = Producer::of(op->getOperand(i)); succeeded(producer))
      return std::make_pair(*producer, i);
  return failure();
}

struct FoldBatchNormIntoConv : impl::FoldBatchNormIntoConvBase<FoldBatchNormIntoConv> {
  void runOnOperation() override {
    rt::Ledger ledger(getOperation());
    SmallVector<Operation *> candidates;
    getOperation().walk([&](Operation *op) {
      if (isa<onnx::BatchNormalizationOp, onnx::MulOp, onnx::AddOp, onnx::SubOp>(op))
        candidates.push_back(op);
    });
    for (Operation *op : candidates)
      foldIntoProducer(op, ledger);
    updateFunctionType(getOperation());
  }

private:
  void foldIntoProducer(Operation *op, rt::Ledger &ledger) {
    FailureOr<std::pair<Producer, unsigned>> found = producerBefore(op);
    // Statistics that a batch normalization yields beside its result are those of training.
    bool more = llvm::any_of(op->getResults().drop_front(), [](Value v) { return !v.use_empty(); });
    if (failed(found) || more)
      return;
    auto &[producer, use] = *found;
    std::string why;
    std::optional<Affine> affine = affineOf(op, use, producer, why);
    std::optional<Folded> folded = affine ? fold(producer, *affine, why) : std::optional<Folded>();
    if (!folded) {
      if (!why.empty())
        ledger.missed("fold-batch-norm", op->getLoc(), "not folded into the convolution before it",
                      why);
      return;
    }
    Operation *conv = producer.op;
    ledger.applied("fold-batch-norm", op->getLoc(), "folded into the convolution before it");
    if (!folded->weight.empty())
      replaceConstant(conv, 1, producer.weight.type, nodeName(conv).str() + ".weight",
                      folded->weight);
    replaceConstant(
        conv, 2, RankedTensorType::get({producer.channels}, producer.weight.type.getElementType()),
        nodeName(conv).str() + ".bias", folded->bias);
    if (auto gemm = dyn_cast<onnx::GemmOp>(conv))
      gemm.setBeta(APFloat(1.0f));
    conv->setLoc(FusedLoc::get(op->getContext(), {conv->getLoc(), op->getLoc()}));
    replaceResult(op, 0, conv->getResult(0));
    eraseWithConstants(op);
    count(&getContext(), getArgument(), "folded");
  }

  /// Gives an operand another constant, under the name that it had.
  static void replaceConstant(Operation *op, unsigned operand, RankedTensorType type,
                              StringRef name, ArrayRef<char> bytes) {
    OpBuilder b(op);
    Location loc = NameLoc::get(b.getStringAttr(name));
    Operation *old = nullptr;
    if (operand < op->getNumOperands()) {
      old = op->getOperand(operand).getDefiningOp();
      if (isa<onnx::ConstantOp>(old))
        loc = old->getLoc();
    }
    Value constant = createConstant(b, loc, onnx::makeConstant(type, name, bytes));
    if (operand < op->getNumOperands())
      op->setOperand(operand, constant);
    else
      op->insertOperands(operand, constant);
    if (isa_and_nonnull<onnx::ConstantOp>(old) && old->use_empty())
      old->erase();
  }
};

} // namespace

bool foldsIntoConvolution(Operation *op) {
  auto norm = dyn_cast<onnx::BatchNormalizationOp>(op);
  if (!norm)
    return false;
  FailureOr<std::pair<Producer, unsigned>> found = producerBefore(op);
  std::string why;
  if (failed(found) || found->second != 0 ||
      llvm::any_of(op->getResults().drop_front(), [](Value v) { return !v.use_empty(); }))
    return false;
  std::optional<Affine> affine = affineOf(op, 0, found->first, why);
  return affine && fold(found->first, *affine, why);
}

} // namespace cameo
