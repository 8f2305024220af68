// LSTM, GRU and RNN: one product for the inputs of all steps and directions, then the steps.
//
//   onnx.LSTM  ==>  linalg.generic
//     sums[t * B + b, d, g * H + j] = X[t, b, i] * W[d, g * H + j, i] + Wb + Rb
//                   kernel.recurrence, whose cell computes a unit from its gates' sums
//
// Sums and cells are in FP32 of types of 16 bits. States are rounded to the type of X in each step,
// as those are that a caller carries from one run to the next.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Recurrence.h"
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Elementwise.h"
#include "passes/linalg/Generics.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace cameo {

//===-- Cells ---------------------------------------------------------------------------------===//

static Value activate(ScalarMath &m, Value x, const onnx::Activation &of) {
  using Function = onnx::CellFunction;
  switch (of.function) {
  case Function::Affine:
    return m.add(m.mul(m.c(of.alpha), x), m.c(of.beta));
  case Function::Elu:
    return elu(m, x, of.alpha);
  case Function::HardSigmoid:
    return clampedLine(m, x, of.alpha, of.beta);
  case Function::LeakyRelu:
    return leakyRelu(m, x, of.alpha);
  case Function::Relu:
    return relu(m, x);
  case Function::ScaledTanh:
    return m.mul(m.c(of.alpha), m.tanh(m.mul(m.c(of.beta), x)));
  case Function::Sigmoid:
    return m.sigmoid(x);
  case Function::Softplus:
    return m.softplus(x);
  case Function::Softsign:
    return softsign(m, x);
  case Function::Tanh:
    return m.tanh(x);
  case Function::ThresholdedRelu:
    return thresholdedRelu(m, x, of.alpha);
  }
  llvm_unreachable("all functions are above");
}

namespace {
/// The cells of an operator, on scalars of the type that is computed in.
class Cell {
public:
  Cell(Operation *op, const onnx::RecurrenceShape &shape, Type parameterType)
      : op(op), shape(shape), parameterType(parameterType) {
    if (auto given = op->getAttrOfType<FloatAttr>("clip"))
      clip = given.getValueAsDouble();
    resetsLast = intAttribute(op, "linear_before_reset", 0) != 0;
    couplesForget = intAttribute(op, "input_forget", 0) != 0;
  }

  /// Gates of each product; the candidate of a GRU that resets the state first has one of its own.
  SmallVector<int64_t> phases() const {
    if (isa<onnx::GRUOp>(op) && !resetsLast)
      return {2, 1};
    return {shape.gates};
  }
  /// Whether the bias of the state is added to the product of the state, not to that of the inputs.
  bool keepsStateBias() const { return isa<onnx::GRUOp>(op) && resetsLast; }

  /// The cell of a phase: its values from its arguments, as kernel.recurrence has them.
  void build(OpBuilder &b, Location loc, unsigned phase, int64_t parameters, Block &block) {
    Type type = block.getArgument(1).getType();
    ScalarMath math(b, loc, type, /*isUnsigned=*/false);
    m = &math;
    direction = block.getArgument(0);
    int64_t gates = phases()[phase];
    ValueRange all(block.getArguments().drop_front());
    x = SmallVector<Value>(all.take_front(gates));
    sums = SmallVector<Value>(all.slice(gates, gates));
    this->parameters.clear();
    for (Value value : all.slice(2 * gates, parameters))
      this->parameters.push_back(convertScalar(b, loc, value, parameterType, type));
    rest = SmallVector<Value>(all.drop_front(2 * gates + parameters));
    SmallVector<Value> results = isa<onnx::LSTMOp>(op)  ? lstm()
                                 : isa<onnx::GRUOp>(op) ? gru(phase)
                                                        : SmallVector<Value>{rnn()};
    b.create<kernel::YieldOp>(loc, results);
  }

private:
  /// The direction's function of number `number` of the clipped value.
  Value gate(unsigned number, Value value) {
    if (clip)
      value = m->max(m->c(-*clip), m->min(m->c(*clip), value));
    return function(number, value);
  }
  Value function(unsigned number, Value value) {
    const onnx::Activation &first = shape.activations[0][number];
    if (!shape.isBidirectional || first == shape.activations[1][number])
      return activate(*m, value, first);
    OpBuilder &b = m->b;
    Value isSecond = b.create<arith::CmpIOp>(m->loc, arith::CmpIPredicate::ne, direction,
                                             indexConstant(b, m->loc, 0));
    // Blocks are of one direction each, so that threads do not diverge.
    auto branch = b.create<scf::IfOp>(m->loc, TypeRange{m->type}, isSecond, true);
    for (unsigned i : {0, 1}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(i == 0 ? branch.elseBlock() : branch.thenBlock());
      Value result = activate(*m, value, shape.activations[i][number]);
      b.create<scf::YieldOp>(m->loc, result);
    }
    return branch.getResult(0);
  }
  Value sum(unsigned gate) { return m->add(x[gate], sums[gate]); }
  Value peephole(unsigned number, Value sum, Value cell) {
    return parameters.empty() ? sum : m->fma(parameters[number], cell, sum);
  }

  SmallVector<Value> lstm() {
    enum { Input, Output, Forget, Candidate };
    Value before = rest[1];
    Value in = gate(0, peephole(0, sum(Input), before));
    Value forget = couplesForget ? m->sub(m->c(1), in) : gate(0, peephole(2, sum(Forget), before));
    Value candidate = gate(1, sum(Candidate));
    Value cell = m->fma(forget, before, m->mul(in, candidate));
    Value out = gate(0, peephole(1, sum(Output), cell));
    return {m->mul(out, function(2, cell)), cell};
  }

  SmallVector<Value> gru(unsigned phase) {
    Value before = rest[0], update, candidate;
    if (phase == 0) {
      // Biases of the state are parameters where the candidate's is added before the reset.
      auto biased = [&](unsigned gate) {
        return resetsLast && !parameters.empty() ? m->add(sums[gate], parameters[gate])
                                                 : sums[gate];
      };
      update = gate(0, m->add(x[0], biased(0)));
      Value reset = gate(0, m->add(x[1], biased(1)));
      if (!resetsLast)
        return {m->mul(reset, before), update};
      candidate = gate(1, m->fma(reset, biased(2), x[2]));
    } else {
      update = rest[2];
      candidate = gate(1, sum(0));
    }
    Value kept = m->mul(update, before);
    return {m->fma(m->sub(m->c(1), update), candidate, kept)};
  }

  Value rnn() { return gate(0, sum(0)); }

  Operation *op;
  const onnx::RecurrenceShape &shape;
  Type parameterType;
  std::optional<double> clip;
  bool resetsLast, couplesForget;
  // Of the cell that is built.
  ScalarMath *m = nullptr;
  Value direction;
  SmallVector<Value> x, sums, parameters, rest;
};

//===-- Operator ------------------------------------------------------------------------------===//

/// An operator's two parts.
class RecurrenceSteps {
public:
  RecurrenceSteps(Operation *op, Lowering &l, const onnx::RecurrenceShape &shape)
      : op(op), l(l), shape(shape), loc(op->getLoc()),
        type(Lowering::elementType(op->getOperand(onnx::kStepInput))),
        computeType(accumulatorType(type)), cell(op, shape, type) {}

  void lower();

private:
  bool isUsed(unsigned result) const {
    return result < op->getNumResults() && !op->getResult(result).use_empty();
  }
  OpFoldResult index(int64_t value) { return l.plan.index(value); }
  /// What does not depend on states: [steps, rows, directions, gates, units], or rows first.
  Lowered inputSums();
  std::optional<Lowered> parameters();

  Operation *op;
  Lowering &l;
  const onnx::RecurrenceShape &shape;
  Location loc;
  Type type, computeType;
  Cell cell;
};
} // namespace

Lowered RecurrenceSteps::inputSums() {
  MLIRContext *context = op->getContext();
  Lowered x = l.operand(op, onnx::kStepInput), w = l.operand(op, onnx::kInputWeights);
  OpFoldResult rows = l.plan.mul(x.sizes[0], x.sizes[1]), directions = index(shape.directions());
  OpFoldResult sums = index(shape.gates * shape.units);
  x = l.build.reshape(loc, x, {rows, shape.inputs});
  AffineExpr m, d, n, k;
  bindDims(context, m, d, n, k);
  auto map = [&](unsigned dims, ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(dims, 0, exprs, context);
  };
  SmallVector<Value> biases;
  SmallVector<AffineMap> biasMaps;
  if (!l.absent(op, onnx::kBias)) {
    Lowered bias = l.build.reshape(loc, l.operand(op, onnx::kBias), {directions, index(2), sums});
    for (int64_t part = 0; part < (cell.keepsStateBias() ? 1 : 2); ++part) {
      biases.push_back(bias.tensor);
      biasMaps.push_back(map(3, {d, getAffineConstantExpr(part, context), n}));
    }
  }
  auto addBiases = [&](OpBuilder &b, Location at, ValueRange args) {
    Value sum = args[0], bias;
    for (Value part : args.drop_front()) {
      Value wide = convertScalar(b, at, part, type, computeType);
      bias = bias ? b.create<arith::AddFOp>(at, bias, wide).getResult() : wide;
    }
    sum = convertScalar(b, at, sum, sum.getType(), computeType);
    return bias ? b.create<arith::AddFOp>(at, sum, bias).getResult() : sum;
  };
  Sizes sizes{rows, directions, sums};
  auto parallel = utils::IteratorType::parallel;
  Value product = l.build.dispatch(
      loc, OutputSpec{sizes, computeType}, [&](OpBuilder &b, Location at, ValueRange inits) {
        Value sum = contract(b, at, x.tensor, map(4, {m, k}), w.tensor, map(4, {d, n, k}), sizes,
                             map(4, {m, d, n}), type,
                             {parallel, parallel, parallel, utils::IteratorType::reduction}, l);
        return SmallVector<Value>{
            epilogue(b, at, sum, inits[0], biases, biasMaps, computeType,
                     biases.empty() ? nullptr : DispatchBuilder::ScalarFunction(addBiases))};
      })[0];
  Sizes apart{shape.steps, shape.rows, directions, index(shape.gates), index(shape.units)};
  if (shape.rowsFirst)
    std::swap(apart[0], apart[1]);
  return l.build.reshape(loc, {product, sizes, computeType}, apart);
}

/// Numbers of each unit that cells read: peepholes, or biases of the state.
std::optional<Lowered> RecurrenceSteps::parameters() {
  OpFoldResult directions = index(shape.directions()), units = index(shape.units);
  if (isa<onnx::LSTMOp>(op) && !l.absent(op, onnx::kPeepholes))
    return l.build.reshape(loc, l.operand(op, onnx::kPeepholes), {directions, index(3), units});
  if (cell.keepsStateBias() && !l.absent(op, onnx::kBias))
    return l.build.reshape(loc, l.operand(op, onnx::kBias),
                           {directions, index(2 * shape.gates), units});
  return std::nullopt;
}

void RecurrenceSteps::lower() {
  MLIRContext *context = op->getContext();
  bool isLstm = isa<onnx::LSTMOp>(op);
  unsigned states = isLstm ? 2 : 1;
  bool hasSequence = isUsed(0);
  Lowered input = inputSums();
  OpFoldResult directions = index(shape.directions()), units = index(shape.units);
  Sizes weightSizes{directions, index(shape.gates), units, units};
  Lowered weights = l.build.reshape(loc, l.operand(op, onnx::kStateWeights), weightSizes);
  std::optional<Lowered> parameter = parameters();
  int64_t parameterCount = parameter ? 3 : 0; // peepholes of an LSTM, or biases of a GRU's gates
  SmallVector<OutputSpec> outputs;
  if (hasSequence)
    outputs.push_back({shape.sequence, type});
  outputs.append(states, OutputSpec{shape.state, type});
  SmallVector<Value> results =
      l.build.dispatch(loc, outputs, [&](OpBuilder &b, Location at, ValueRange inits) {
        AffineExpr d, k, g, j;
        bindDims(context, d, k, g, j);
        // Depth comes before gates and units: threads that share a unit's sums read neighbours.
        Value byDepth =
            mapGeneric(l, b, at, {directions, units, index(shape.gates), units}, type,
                       {Read{weights.tensor, AffineMap::get(4, 0, {d, g, j, k}, context)}},
                       [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; });
        Value ofUnits;
        if (parameter) {
          AffineExpr direction, number, unit;
          bindDims(context, direction, number, unit);
          // Biases of the state are behind those of the input.
          number = number + (cell.keepsStateBias() ? shape.gates : 0);
          ofUnits = mapGeneric(
              l, b, at, {directions, index(parameterCount), units}, type,
              {Read{parameter->tensor, AffineMap::get(3, 0, {direction, number, unit}, context)}},
              [](OpBuilder &, Location, ValueRange scalars) { return scalars[0]; });
        }
        Value lengths = l.absent(op, onnx::kSequenceLengths)
                            ? Value()
                            : l.operand(op, onnx::kSequenceLengths).tensor;
        SmallVector<Value> initial;
        for (unsigned state = 0; state < states; ++state) {
          unsigned operand = state == 0 ? onnx::kInitialHidden : onnx::kInitialCell;
          if (!l.absent(op, operand)) {
            initial.push_back(l.operand(op, operand).tensor);
            continue;
          }
          Value zero = b.create<arith::ConstantOp>(at, b.getZeroAttr(type));
          Value empty = emptyTensor(b, at, shape.state, type);
          initial.push_back(b.create<linalg::FillOp>(at, zero, empty).getResult(0));
        }
        SmallVector<bool> reverse{shape.startsReversed};
        if (shape.isBidirectional)
          reverse = {false, true};
        SmallVector<int64_t> phases = cell.phases();
        auto recurrence = b.create<kernel::RecurrenceOp>(
            at, inits.getTypes(), input.tensor, byDepth, ofUnits, lengths, initial, inits,
            b.getDenseI64ArrayAttr(phases), b.getDenseBoolArrayAttr(reverse),
            shape.rowsFirst ? b.getUnitAttr() : UnitAttr(), phases.size());
        int64_t passed = 0;
        for (auto [phase, gates] : llvm::enumerate(phases)) {
          Block &block = recurrence.getCells()[phase].emplaceBlock();
          block.addArgument(b.getIndexType(), at);
          for (int64_t i = 0; i < 2 * gates; ++i)
            block.addArgument(computeType, at);
          for (int64_t i = 0; i < parameterCount; ++i)
            block.addArgument(type, at);
          for (int64_t i = 0; i < states + passed; ++i)
            block.addArgument(computeType, at);
          OpBuilder inside = OpBuilder::atBlockBegin(&block);
          cell.build(inside, at, phase, parameterCount, block);
          passed = block.getTerminator()->getNumOperands();
        }
        return SmallVector<Value>(recurrence.getResults());
      });
  unsigned next = 0;
  if (hasSequence)
    l.define(op, 0, results[next++], shape.sequence, type);
  for (unsigned state = 0; state < states; ++state, ++next)
    if (state + 1 < op->getNumResults() && isa<TensorType>(op->getResult(state + 1).getType()))
      l.define(op, state + 1, results[next], shape.state, type);
}

static LogicalResult lowerRecurrence(Operation *op, Lowering &l) {
  FailureOr<onnx::RecurrenceShape> shape = onnx::inferRecurrence(l.shapes, op);
  if (failed(shape))
    return failure();
  RecurrenceSteps(op, l, *shape).lower();
  return success();
}

void registerRecurrence(LoweringRows &rows) {
  llvm::StringRef limits = "a number of units known at compile time";
  rows.add<onnx::LSTMOp>({lowerRecurrence, limits});
  rows.add<onnx::GRUOp>({lowerRecurrence, limits});
  rows.add<onnx::RNNOp>({lowerRecurrence, limits});
}

} // namespace cameo
