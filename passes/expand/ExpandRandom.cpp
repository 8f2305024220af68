// Writes random operators as draws from a state, which are functions as others are.
//
//   %0 = onnx.Bernoulli(%p)
//   %1 = onnx.Bernoulli(%p)
//     ==>
//   %s = onnx.RandomState()
//   %0 = onnx.Draw(%s, %none, %p) {distribution = "below", stream = 0}
//   %1 = onnx.Draw(%s, %none, %p) {distribution = "below", stream = 1}
//
// No two nodes have one stream, so that equal ones stay two. In the body of a loop a state is derived for each trip, by
// its number, so that copies of the body and calls of it draw the same. A Scan has no number of the trip: it carries the
// state from one to the next; a SequenceMap gets a sequence of numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/expand/Expander.h"
#include "passes/graph/Elements.h"
#include "passes/graph/ShapeWalk.h"

#include <cfloat>
#include <limits>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_EXPANDRANDOM
#include "passes/Passes.h.inc"

//===-- Draws ---------------------------------------------------------------------------------===//

Value Expander::draw(StringRef distribution, Value shape, Value below, Type element,
                     ArrayRef<NamedAttribute> attributes) {
  NamedAttrList list(attributes);
  list.set("distribution", b.getStringAttr(distribution));
  Attribute seed = op->getAttr("seed");
  if (seed)
    list.set("seed", seed);
  list.set("stream", b.getI64IntegerAttr(random->streams[seed]++));
  auto draw = b.create<onnx::DrawOp>(
      op->getLoc(), UnrankedTensorType::get(element),
      ValueRange{random->state, shape ? shape : none, below ? below : none}, list);
  return draw->getResult(0);
}

/// The type that probabilities are compared in, for which 53 bits are drawn of FP64, and 24 otherwise.
static Type comparedIn(Type element) {
  return element.isF64() ? element : Type(Float32Type::get(element.getContext()));
}

static double number(Expander &e, StringRef attribute, double otherwise) {
  auto value = e.op->getAttrOfType<FloatAttr>(attribute);
  return value ? value.getValueAsDouble() : otherwise;
}

static LogicalResult checkFloats(Expander &e, Type type) {
  auto real = dyn_cast<FloatType>(type);
  if (real && real.getWidth() >= 16)
    return success();
  return e.refuse("its type is not float16, bfloat16, float or double");
}

/// The least number of the type in [low, high), if there is one.
static bool hasNumbers(FloatType type, double low, double high) {
  APFloat least(low), bound(high);
  bool isInexact;
  least.convert(type.getFloatSemantics(), APFloat::rmTowardPositive, &isInexact);
  least.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
  return least.isFinite() && (least < bound || (low == high && least == bound));
}

static LogicalResult giveUniform(Expander &e, Value shape) {
  Type type = onnx::elementType(e.op->getResult(0));
  double low = number(e, "low", 0), high = number(e, "high", 1);
  if (failed(checkFloats(e, type)))
    return failure();
  // NaN does not compare.
  if (!(low <= high) || !(high - low <= FLT_MAX))
    return e.refuse("its numbers are from " + onnx::numberText(low) + " to " +
                    onnx::numberText(high) +
                    "; low must not be above high, and their difference a float");
  if (!hasNumbers(cast<FloatType>(type), low, high))
    return e.refuse("its type has no number from " + onnx::numberText(low) + " up to but without " +
                    onnx::numberText(high));
  e.give(0, e.draw("uniform", shape, {}, type,
                   {e.with("low", float(low)), e.with("high", float(high))}));
  return success();
}

static LogicalResult giveNormal(Expander &e, Value shape) {
  Type type = onnx::elementType(e.op->getResult(0));
  if (failed(checkFloats(e, type)))
    return failure();
  float mean = number(e, "mean", 0), scale = number(e, "scale", 1);
  e.give(0, e.draw("normal", shape, {}, type, {e.with("mean", mean), e.with("scale", scale)}));
  return success();
}

//===-- Operators -----------------------------------------------------------------------------===//

static LogicalResult expandRandomUniform(Expander &e) {
  return giveUniform(e, e.ints(*e.integers("shape")));
}
static LogicalResult expandRandomNormal(Expander &e) {
  return giveNormal(e, e.ints(*e.integers("shape")));
}
static LogicalResult expandRandomUniformLike(Expander &e) {
  return giveUniform(e, e.emit("Shape", {e.operand(0)}));
}
static LogicalResult expandRandomNormalLike(Expander &e) {
  return giveNormal(e, e.emit("Shape", {e.operand(0)}));
}

static LogicalResult expandBernoulli(Expander &e) {
  Type type = e.elementType(0);
  if (failed(checkFloats(e, type)))
    return failure();
  Type bit = IntegerType::get(e.op->getContext(), 1);
  Value drawn = e.draw("below", {}, e.cast(e.operand(0), comparedIn(type)), bit);
  e.give(0, e.cast(drawn, onnx::elementType(e.op->getResult(0))));
  return success();
}

/// The first class at which the sum of probabilities up to it is above a share of all of them. Classes of no
/// probability are left out by themselves: sums need not be equal there to the last bit.
static LogicalResult expandMultinomial(Expander &e) {
  MLIRContext *context = e.op->getContext();
  Type type = Float64Type::get(context);
  if (failed(checkFloats(e, e.elementType(0))))
    return failure();
  auto input = dyn_cast<RankedTensorType>(e.operand(0).getType());
  if (input && input.getRank() && input.getShape().back() == 0)
    return e.refuse("its input has no classes to choose from");
  int64_t samples = e.integer("sample_size", 1);
  // Says so where there are not two dimensions.
  Value logs = e.cast(e.transpose(e.operand(0), {0, 1}), type);
  // Classes whose logarithm is no finite number are never chosen, as in ONNX Runtime.
  double infinity = std::numeric_limits<double>::infinity();
  Value isFinite = e.emit("Less", {e.emit("Abs", {logs}), e.scalar(infinity, type)});
  logs = e.emit("Where", {isFinite, logs, e.scalar(-infinity, type)});
  Value greatest = e.emit("ReduceMax", {logs, e.ints({1})});
  Value weights = e.emit("Exp", {e.emit("Sub", {logs, greatest})});
  Value sums = e.emit("CumSum", {weights, e.scalar(1, IntegerType::get(context, 64))});
  Value zero = e.scalar(0, type);
  sums = e.emit("Where", {e.emit("Greater", {weights, zero}), sums, zero});
  Value total = e.emit("ReduceMax", {sums, e.ints({1})});
  Value batch =
      e.emit("Shape", {e.operand(0)}, {e.with("start", int64_t(0)), e.with("end", int64_t(1))});
  Value drawn = e.draw("uniform", e.concat({batch, e.ints({samples})}, 0), {}, type,
                       {e.with("low", 0.0f), e.with("high", 1.0f)});
  Value share = e.unsqueeze(e.emit("Mul", {drawn, total}), {2});
  Value isAbove = e.emit("Greater", {e.unsqueeze(sums, {1}), share});
  Value first = e.emit("ArgMax", {e.cast(isAbove, IntegerType::get(context, 32))},
                       {e.with("axis", 2), e.with("keepdims", int64_t(0))});
  e.give(0, e.cast(first, onnx::elementType(e.op->getResult(0))));
  return success();
}

/// The number of a constant operand of one element.
static std::optional<double> knownNumber(Expander &e, unsigned operand) {
  ElementsAttr value = onnx::constantValue(e.operand(operand));
  std::optional<Elements> elements = value ? Elements::of(value) : std::nullopt;
  if (!elements || elements->count() != 1 || computesIn(elements->kind) == Computes::Not)
    return std::nullopt;
  return readElements<double>(*elements).front();
}

/// True of an operand that is there and is not known to be this number.
static bool mayDiffer(Expander &e, unsigned operand, double number) {
  return e.has(operand) && knownNumber(e, operand) != number;
}

/// output = data * mask / (1 - ratio), in training; as many random bits as FP32 has decide about an element.
static LogicalResult expandDropout(Expander &e) {
  bool hasRatio = e.has(1);
  if (!mayDiffer(e, 2, 0) || (hasRatio && !mayDiffer(e, 1, 0)))
    return e.leave();
  MLIRContext *context = e.op->getContext();
  Type type = e.elementType(0), bit = IntegerType::get(context, 1);
  Type inner = hasRatio ? comparedIn(e.elementType(1)) : Type(Float32Type::get(context));
  if (failed(checkFloats(e, type)) || (hasRatio && failed(checkFloats(e, e.elementType(1)))))
    return failure();
  if (type.isF64())
    inner = type;
  Value ratio = hasRatio ? e.cast(e.operand(1), inner) : e.scalar(0.5, inner);
  std::optional<double> known = hasRatio ? knownNumber(e, 1) : 0.5;
  if (known && !(*known >= 0 && *known < 1))
    return e.refuse("ratio is not 0 or more and less than 1");
  Value data = e.operand(0);
  if (!known) {
    // One that the host knows in a run is checked by the operator itself, another one moved into range: from 1 on all
    // are dropped as it is.
    data = e.emit("Dropout", {data, e.operand(1)});
    ratio = e.emit("Max", {ratio, e.scalar(0, inner)});
  }
  Value isDropped = e.draw("below", e.emit("Shape", {data}), ratio, bit);
  Value one = e.scalar(1, inner);
  Value scale = e.emit("Div", {one, e.emit("Sub", {one, ratio})});
  Value factor = e.emit("Where", {isDropped, e.scalar(0, inner), scale});
  Value kept = e.emit("Not", {isDropped});
  // A dropped element is 0 times what it was, as the text has it.
  Type wide = type.getIntOrFloatBitWidth() < 32 ? inner : type;
  Value output = e.cast(e.emit("Mul", {e.cast(data, wide), e.cast(factor, wide)}), type);
  if (mayDiffer(e, 2, 1)) {
    Value isTraining = e.operand(2);
    output = e.emit("Where", {isTraining, output, data});
    kept = e.emit("Or", {e.emit("Not", {isTraining}), kept});
  }
  e.give(0, output);
  if (e.op->getNumResults() > 1 && !isa<NoneType>(e.op->getResult(1).getType()))
    e.give(1, kept);
  return success();
}

void registerRandomExpansions(ExpansionRows &rows) {
  auto row = [](ExpandFunction function, StringRef limits = "", bool isPartial = false) {
    return ExpansionRow{function, limits, isPartial, /*draws=*/true};
  };
  rows.add<onnx::RandomUniformOp>(row(expandRandomUniform));
  rows.add<onnx::RandomUniformLikeOp>(row(expandRandomUniformLike));
  rows.add<onnx::RandomNormalOp>(row(expandRandomNormal));
  rows.add<onnx::RandomNormalLikeOp>(row(expandRandomNormalLike));
  rows.add<onnx::BernoulliOp>(row(expandBernoulli));
  rows.add<onnx::MultinomialOp>(row(expandMultinomial));
  rows.add<onnx::DropoutOp>(row(expandDropout, "", /*isPartial=*/true));
}

//===-- The pass ------------------------------------------------------------------------------===//

static const ExpansionRow *drawingRow(Operation *op) {
  const ExpansionRow *row = onnx::rowOf<ExpansionModel>(op->getName());
  return row && row->draws ? row : nullptr;
}

namespace {

class RandomExpansion {
public:
  RandomExpansion(func::FuncOp function, StringRef pass)
      : pass(pass), walk(function), ledger(function) {}

  void run(Block &block, Value state);
  RandomDraws draws;
  Value none;

private:
  void expand(Operation *op);
  void enter(Operation *op, Value state);
  Value tripState(Block &body, Value state, Value trip);
  void carryState(onnx::ScanOp scan, Value state);
  void numberTrips(onnx::SequenceMapOp map, Value state);

  StringRef pass;
  ShapeWalk walk;
  rt::Ledger ledger;
};

struct ExpandRandom : impl::ExpandRandomBase<ExpandRandom> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function
             .walk([](Operation *op) {
               return drawingRow(op) ? WalkResult::interrupt() : WalkResult::advance();
             })
             .wasInterrupted())
      return markAllAnalysesPreserved();
    Block &body = function.getBody().front();
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    auto none = b.create<onnx::NoneOp>(function.getLoc(), b.getNoneType(), ValueRange());
    auto state =
        b.create<onnx::RandomStateOp>(function.getLoc(), stateType(&getContext()), ValueRange());
    RandomExpansion expansion(function, getArgument());
    expansion.none = none->getResult(0);
    expansion.run(body, state->getResult(0));
    for (Operation *op : {state.getOperation(), none.getOperation()})
      if (op->use_empty())
        op->erase();
    updateFunctionType(function);
  }

  static Type stateType(MLIRContext *context) {
    return RankedTensorType::get({onnx::kRandomWords}, IntegerType::get(context, 32));
  }
};

} // namespace

static bool hasDraws(Operation *op) {
  for (Region &region : op->getRegions())
    if (region
            .walk([](Operation *inner) {
              return drawingRow(inner) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted())
      return true;
  return false;
}

void RandomExpansion::run(Block &block, Value state) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    draws.state = state;
    if (drawingRow(&op))
      expand(&op);
    else if (hasDraws(&op))
      enter(&op, state);
  }
}

void RandomExpansion::expand(Operation *op) {
  Expander expander(op, walk.shapes, none, &draws);
  op->removeAttr(kUnexpandedAttr);
  if (failed(cast<ExpansionInterface>(op).expand(expander))) {
    expander.undo();
    if (!expander.isLeft())
      op->setAttr(kUnexpandedAttr, StringAttr::get(op->getContext(), expander.problem()));
    return;
  }
  ledger.applied("expand", op->getLoc(), "written as draws of random numbers");
  count(op->getContext(), pass, "expanded");
  expander.finish();
}

void RandomExpansion::enter(Operation *op, Value state) {
  if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
    Block &body = loop.getBody().front();
    return run(body, tripState(body, state, body.getArgument(0)));
  }
  if (auto scan = dyn_cast<onnx::ScanOp>(op))
    return carryState(scan, state);
  if (auto map = dyn_cast<onnx::SequenceMapOp>(op))
    return numberTrips(map, state);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      run(block, state);
}

Value RandomExpansion::tripState(Block &body, Value state, Value trip) {
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  return b
      .create<onnx::RandomTripOp>(body.getParentOp()->getLoc(), state.getType(),
                                  ValueRange{state, trip})
      ->getResult(0);
}

/// The first value that is carried: each trip has the state that the one before has made of its own.
void RandomExpansion::carryState(onnx::ScanOp scan, Value state) {
  Block &body = scan.getBody().front();
  Value own = body.insertArgument(0u, state.getType(), scan.getLoc());
  OpBuilder b(body.getTerminator());
  Value zero =
      createConstant(b, scan.getLoc(),
                     DenseElementsAttr::get(RankedTensorType::get({}, b.getI64Type()), int64_t(0)));
  Value next = b.create<onnx::RandomTripOp>(scan.getLoc(), state.getType(), ValueRange{own, zero})
                   ->getResult(0);
  body.getTerminator()->insertOperands(0, next);
  run(body, own);
  b.setInsertionPoint(scan);
  SmallVector<Value> operands{state};
  llvm::append_range(operands, scan->getOperands());
  SmallVector<Type> types{state.getType()};
  llvm::append_range(types, scan->getResultTypes());
  auto carrying = b.create<onnx::ScanOp>(scan.getLoc(), types, operands, scan->getAttrs());
  carrying.getBody().takeBody(scan.getBody());
  scan->replaceAllUsesWith(carrying->getResults().drop_front());
  scan->erase();
}

/// The numbers of its trips are one more sequence that it goes through.
void RandomExpansion::numberTrips(onnx::SequenceMapOp map, Value state) {
  Block &body = map.getBody().front();
  Expander expander(map, walk.shapes, none);
  Type integer = IntegerType::get(map.getContext(), 64);
  Value count = expander.emit("SequenceLength", {map->getOperand(0)});
  Value numbers =
      expander.emit("Range", {expander.scalar(0, integer), count, expander.scalar(1, integer)});
  Value split =
      expander.emit("SplitToSequence", {numbers}, {expander.with("keepdims", int64_t(0))});
  map->insertOperands(map->getNumOperands(), split);
  Value trip = body.addArgument(RankedTensorType::get({}, integer), map.getLoc());
  run(body, tripState(body, state, trip));
}

} // namespace cameo
