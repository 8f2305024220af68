// Shapes of LSTM, GRU and RNN.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Recurrence.h"

#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/Attributes.h"
#include "dialects/onnx/shape/ShapeRules.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace cameo::onnx {

//===-- Activations ---------------------------------------------------------------------------===//

namespace {
/// A function of the specification, whether it takes one of `activation_alpha` and of
/// `activation_beta`, and what these are else: the defaults of the operator of its name.
struct KnownFunction {
  StringLiteral name;
  CellFunction function;
  bool takesAlpha = false, takesBeta = false, hasDefaults = true;
  float alpha = 0, beta = 0;
};
} // namespace

static constexpr KnownFunction kFunctions[] = {
    {"Affine", CellFunction::Affine, true, true, false},
    {"Elu", CellFunction::Elu, true, false, true, 1},
    {"HardSigmoid", CellFunction::HardSigmoid, true, true, true, 0.2F, 0.5F},
    {"LeakyRelu", CellFunction::LeakyRelu, true, false, true, 0.01F},
    {"Relu", CellFunction::Relu},
    {"ScaledTanh", CellFunction::ScaledTanh, true, true, false},
    {"Sigmoid", CellFunction::Sigmoid},
    {"Softplus", CellFunction::Softplus},
    {"Softsign", CellFunction::Softsign},
    {"Tanh", CellFunction::Tanh},
    {"ThresholdedRelu", CellFunction::ThresholdedRelu, true, false, true, 1},
};

/// The functions of all directions, one after another; numbers go to those that take them, in order.
static FailureOr<SmallVector<Activation>>
activationsOf(SizeBuilder &s, Operation *op, ArrayRef<StringRef> defaults, int64_t directions) {
  SmallVector<StringRef> names;
  if (auto given = op->getAttrOfType<ArrayAttr>("activations"))
    for (auto name : given.getAsRange<StringAttr>())
      names.push_back(name.getValue());
  else
    for (int64_t i = 0; i < directions; ++i)
      llvm::append_range(names, defaults);
  if (names.size() != directions * defaults.size())
    return s.refuse(op, Twine(names.size()) + " activations; there must be " +
                            Twine(directions * defaults.size()) + ", " + Twine(defaults.size()) +
                            " a direction");
  auto numbers = [&](StringRef attribute) {
    auto given = op->getAttrOfType<DenseF32ArrayAttr>(attribute);
    return given ? given.asArrayRef() : ArrayRef<float>();
  };
  ArrayRef<float> alphas = numbers("activation_alpha"), betas = numbers("activation_beta");
  auto next = [](ArrayRef<float> &list, bool isTaken, float otherwise) {
    if (!isTaken || list.empty())
      return otherwise;
    float number = list.front();
    list = list.drop_front();
    return number;
  };
  SmallVector<Activation> result;
  for (StringRef name : names) {
    const KnownFunction *known = llvm::find_if(
        kFunctions, [&](const KnownFunction &f) { return name.equals_insensitive(f.name); });
    if (known == std::end(kFunctions))
      return s.refuse(op, "activations has '" + name +
                              "', which is none of the specification's; nearest "
                              "supported: Sigmoid, Tanh, HardSigmoid");
    if (!known->hasDefaults && (alphas.empty() || betas.empty()))
      return s.refuse(op, "activations has '" + known->name +
                              "' without numbers of its own, which has no defaults; nearest "
                              "supported: one of activation_alpha and one of activation_beta");
    float alpha = next(alphas, known->takesAlpha, known->alpha);
    float beta = next(betas, known->takesBeta, known->beta);
    result.push_back({known->function, alpha, beta});
  }
  return result;
}

//===-- Shapes --------------------------------------------------------------------------------===//

namespace {
/// What the operators differ in.
struct Kind {
  int64_t gates;
  SmallVector<StringRef, 3> activations;
};
} // namespace

static Kind kindOf(Operation *op) {
  if (isa<LSTMOp>(op))
    return {4, {"Sigmoid", "Tanh", "Tanh"}};
  if (isa<GRUOp>(op))
    return {3, {"Sigmoid", "Tanh"}};
  return {1, {"Tanh"}};
}

/// That an operand that is there has these sizes.
static LogicalResult checkSizes(Shapes &shapes, Operation *op, unsigned operand, StringRef name,
                                ArrayRef<OpFoldResult> wanted) {
  if (isAbsent(op, operand))
    return success();
  SizeBuilder &s = shapes.sizes;
  Sizes sizes = shapes.of(op, operand);
  if (sizes.size() != wanted.size())
    return s.refuse(op, name + " has rank " + Twine(sizes.size()) + "; it must have " +
                            Twine(wanted.size()));
  auto units = op->getAttrOfType<IntegerAttr>("hidden_size");
  std::string said = units ? " with hidden_size " + std::to_string(units.getInt()) : "";
  for (auto [dim, size, want] : llvm::enumerate(sizes, wanted))
    if (size != want &&
        failed(s.check(op, s.equal(size, want),
                       "dimension " + Twine(dim) + " of " + name + " is {0}; it must be {1}" + said,
                       size, want)))
      return failure();
  return success();
}

/// Refuses or checks constant lengths that are not 0 to the steps.
static LogicalResult checkLengths(Shapes &shapes, Operation *op, OpFoldResult steps) {
  if (isAbsent(op, kSequenceLengths))
    return success();
  constexpr StringLiteral kOutside = "sequence_lens has {0}; there are {1} steps";
  std::optional<SmallVector<int64_t>> lengths =
      constantInts(op->getOperand(kSequenceLengths), std::numeric_limits<int64_t>::max());
  if (!lengths || lengths->empty())
    return success();
  SizeBuilder &s = shapes.sizes;
  OpFoldResult least = s.index(*llvm::min_element(*lengths));
  OpFoldResult most = s.index(*llvm::max_element(*lengths));
  if (failed(s.check(op, s.less(s.index(-1), least), kOutside, least, steps)))
    return failure();
  return s.check(op, s.equal(s.less(steps, most), s.index(0)), kOutside, most, steps);
}

/// How many units there are, by the attribute or the operands, the weights of the state first.
static FailureOr<int64_t> unitsOf(Shapes &shapes, Operation *op, const Sizes &weights) {
  SizeBuilder &s = shapes.sizes;
  std::optional<int64_t> units;
  if (auto given = op->getAttrOfType<IntegerAttr>("hidden_size"))
    units = given.getInt();
  else if (weights.size() == 3)
    units = getConstantIntValue(weights[2]);
  if (!units)
    return s.refuse(op, "a number of units known only at run time; nearest supported: hidden_size, "
                        "or R of known sizes");
  if (*units < 1)
    return s.refuse(op, Twine(*units) + " units, as hidden_size or R says; nearest supported: 1");
  return *units;
}

FailureOr<RecurrenceShape> inferRecurrence(Shapes &shapes, Operation *op) {
  SizeBuilder &s = shapes.sizes;
  Kind kind = kindOf(op);
  auto direction = op->getAttrOfType<StringAttr>("direction");
  RecurrenceShape shape;
  shape.gates = kind.gates;
  shape.rowsFirst = intAttribute(op, "layout", 0) != 0;
  shape.startsReversed = direction && direction.getValue() == "reverse";
  shape.isBidirectional = direction && direction.getValue() == "bidirectional";
  Sizes input = shapes.of(op, kStepInput);
  if (input.size() != 3)
    return s.refuse(op, "X has rank " + Twine(input.size()) + "; it must have 3");
  shape.steps = input[shape.rowsFirst ? 1 : 0];
  shape.rows = input[shape.rowsFirst ? 0 : 1];
  shape.inputs = input[2];
  if (auto clip = op->getAttrOfType<FloatAttr>("clip"); clip && !(clip.getValueAsDouble() > 0)) {
    llvm::SmallString<16> text;
    clip.getValue().toString(text);
    return s.refuse(op, "clip of " + text +
                            "; it must be above 0, as sums are between minus that and that");
  }
  FailureOr<int64_t> units = unitsOf(shapes, op, shapes.of(op, kStateWeights));
  if (failed(units))
    return failure();
  shape.units = *units;
  FailureOr<SmallVector<Activation>> activations =
      activationsOf(s, op, kind.activations, shape.directions());
  if (failed(activations))
    return failure();
  for (int64_t i = 0; i < shape.directions(); ++i)
    shape.activations.emplace_back(
        ArrayRef(*activations).slice(i * kind.activations.size(), kind.activations.size()));
  auto number = [&](int64_t value) { return s.index(value); };
  OpFoldResult directions = number(shape.directions()), unit = number(*units),
               sums = number(kind.gates * *units);
  Sizes state{directions, shape.rows, unit};
  if (shape.rowsFirst)
    std::swap(state[0], state[1]);
  if (failed(checkSizes(shapes, op, kInputWeights, "W", {directions, sums, shape.inputs})) ||
      failed(checkSizes(shapes, op, kStateWeights, "R", {directions, sums, unit})) ||
      failed(checkSizes(shapes, op, kBias, "B", {directions, number(2 * kind.gates * *units)})) ||
      failed(checkSizes(shapes, op, kSequenceLengths, "sequence_lens", shape.rows)) ||
      failed(checkSizes(shapes, op, kInitialHidden, "initial_h", state)) ||
      failed(checkLengths(shapes, op, shape.steps)))
    return failure();
  if (isa<LSTMOp>(op) &&
      (failed(checkSizes(shapes, op, kInitialCell, "initial_c", state)) ||
       failed(checkSizes(shapes, op, kPeepholes, "P", {directions, number(3 * *units)}))))
    return failure();
  shape.state = state;
  shape.sequence = shape.rowsFirst ? Sizes{shape.rows, shape.steps, directions, unit}
                                   : Sizes{shape.steps, directions, shape.rows, unit};
  return shape;
}

static FailureOr<SmallVector<Sizes>> inferRecurrenceResults(Shapes &shapes, Operation *op) {
  FailureOr<RecurrenceShape> shape = inferRecurrence(shapes, op);
  if (failed(shape))
    return failure();
  SmallVector<Sizes> results{shape->sequence, shape->state};
  if (isa<LSTMOp>(op))
    results.push_back(shape->state);
  return results;
}

void registerRecurrenceRules(ShapeRows &rows) {
  rows.add<LSTMOp, GRUOp, RNNOp>(inferRecurrenceResults);
}

} // namespace cameo::onnx
