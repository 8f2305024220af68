// Following one step of neighbouring threads from the results to the memory that is read.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/AccessPattern.h"

#include "dialects/kernel/form/Movement.h"
#include "dialects/kernel/form/Places.h"

#include <cmath>

using namespace mlir;

namespace cameo {

/// Different steps with which a value is read that are told apart.
static constexpr size_t kMostSteps = 4;
/// Operands of fewer bytes are not turned (Transposition.cpp).
static constexpr double kSmall = 16 << 10;
/// How many times as long as reading them takes to turn operands.
static constexpr double kTurned = 1.25;
/// Bytes of a line of a tile in which operands are turned.
static constexpr double kTileLine = 128;

static double sizeOf(RankedTensorType type, unsigned dim) {
  return type.isDynamicDim(dim) ? kUnknownSize : double(type.getDimSize(dim));
}

static double elementBytes(RankedTensorType type) {
  unsigned bits = type.getElementTypeBitWidth();
  return bits == 1 ? 1 : bits / 8.0;
}

double tensorBytes(RankedTensorType type) {
  double bytes = elementBytes(type);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    bytes *= sizeOf(type, dim);
  return bytes;
}

SmallVector<double> stridesIn(RankedTensorType type, ArrayRef<unsigned> order) {
  SmallVector<double> strides(type.getRank());
  double stride = 1;
  for (unsigned position = type.getRank(); position-- > 0;) {
    unsigned dim = order.empty() ? position : order[position];
    strides[dim] = stride;
    stride *= sizeOf(type, dim);
  }
  return strides;
}

double sectorFactor(double distance, RankedTensorType type) {
  double bytes = elementBytes(type);
  // What neighbours share is read once.
  return distance == 0 ? bytes / kSectorBytes
                       : std::min(distance, std::max(1.0, kSectorBytes / bytes));
}

static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = evaluate(binary.getLHS(), dims), right = evaluate(binary.getRHS(), dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(left, right);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(left, right);
  default:
    return llvm::mod(left, right);
  }
}

/// From the place of index 0 on; so that divisions count as far as they matter there.
static SmallVector<int64_t> stepThrough(AffineMap map, ArrayRef<int64_t> step) {
  SmallVector<int64_t> zero(step.size()), result;
  for (AffineExpr expr : map.getResults())
    result.push_back(evaluate(expr, step) - evaluate(expr, zero));
  return result;
}

/// Of the loops, where one goes on by `step` in a result.
static SmallVector<int64_t> loopStep(AffineMap out, ArrayRef<int64_t> step) {
  SmallVector<int64_t> loops(out.getNumDims());
  for (auto [expr, distance] : llvm::zip(out.getResults(), step))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = distance;
  return loops;
}

AccessPattern::Walk AccessPattern::walkFrom(kernel::DispatchOp op, Value value,
                                            ArrayRef<int64_t> step, Operation *loopsOf) {
  Walk walk(types.size());
  llvm::DenseMap<Value, SmallVector<SmallVector<int64_t>, 1>> steps;
  auto reach = [&](Value read, SmallVector<int64_t> by) {
    auto argument = dyn_cast<BlockArgument>(read);
    if (argument && argument.getArgNumber() >= inputs)
      return;
    auto &known = argument ? walk[argument.getArgNumber()] : steps[read];
    if (known.size() < kMostSteps && !llvm::is_contained(known, by))
      known.push_back(std::move(by));
  };
  if (value)
    reach(value, SmallVector<int64_t>(step));
  for (Operation &inner : llvm::reverse(op.getBodyBlock()->without_terminator())) {
    auto generic = dyn_cast<linalg::GenericOp>(inner);
    for (OpResult result : inner.getResults()) {
      auto found = steps.find(result);
      SmallVector<SmallVector<int64_t>, 1> here;
      if (found != steps.end())
        here = found->second;
      if (&inner == loopsOf && result.getResultNumber() == 0)
        here.push_back(SmallVector<int64_t>(step));
      for (auto &by : here) {
        if (auto pad = dyn_cast<tensor::PadOp>(inner)) {
          reach(pad.getSource(), by);
        } else if (auto line = dyn_cast<kernel::LineOpInterface>(inner)) {
          reach(line.lineInput(), by);
        } else if (generic) {
          SmallVector<int64_t> loops(by);
          if (&inner != loopsOf)
            loops = loopStep(
                generic.getMatchingIndexingMap(generic.getDpsInitOperand(result.getResultNumber())),
                by);
          for (OpOperand *input : generic.getDpsInputOperands())
            if (isa<RankedTensorType>(input->get().getType()))
              reach(input->get(), stepThrough(generic.getMatchingIndexingMap(input), loops));
          generic.getRegion().walk([&](tensor::ExtractOp extract) {
            if (AffineMap at = extractedAt(generic, extract))
              reach(extract.getTensor(), stepThrough(at, loops));
          });
        } else if (std::optional<Read> moved = movement(result)) {
          reach(moved->tensor, stepThrough(moved->map, by));
        }
      }
    }
  }
  return walk;
}

AccessPattern::AccessPattern(kernel::DispatchOp op) : inputs(op.getInputs().size()) {
  for (Value input : op.getInputs())
    types.push_back(cast<RankedTensorType>(input.getType()));
  for (Value result : op.getResults())
    types.push_back(cast<RankedTensorType>(result.getType()));
  RankedTensorType first = types[inputs];
  Value yielded = op.getBodyBlock()->getTerminator()->getOperand(0);
  alike.resize(first.getRank());
  for (unsigned dim = 0; dim < first.getRank(); ++dim) {
    SmallVector<int64_t> step(first.getRank());
    step[dim] = 1;
    Walk walk = walkFrom(op, yielded, step, nullptr);
    for (unsigned operand = 0; operand < inputs; ++operand)
      for (auto &by : walk[operand])
        if (llvm::count_if(by, [](int64_t distance) { return distance != 0; }) == 1)
          alike[dim].push_back(
              {operand,
               unsigned(llvm::find_if(by, [](int64_t d) { return d != 0; }) - by.begin())});
    // Results of one shape are computed together.
    for (unsigned operand = inputs; operand < types.size(); ++operand)
      if (types[operand].getShape() == first.getShape()) {
        walk[operand].push_back(step);
        if (operand != inputs)
          alike[dim].push_back({operand, dim});
      }
    alongResult.push_back(std::move(walk));
  }
  isElementwise =
      llvm::none_of(op.getBodyBlock()->without_terminator(),
                    llvm::IsaPred<kernel::LineOpInterface, kernel::ChooseOp, kernel::InsertOp>);
  for (auto generic : op.getBodyBlock()->getOps<linalg::GenericOp>()) {
    SmallVector<unsigned> reduced;
    generic.getReductionDims(reduced);
    isElementwise &= reduced.empty();
    SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
    for (unsigned loop : reduced) {
      if (ranges[loop] == 1 || alongReduced.size() >= 2 * kMostSteps)
        continue;
      SmallVector<int64_t> step(generic.getNumLoops());
      step[loop] = 1;
      alongReduced.push_back(walkFrom(op, Value(), step, generic));
    }
  }
}

SmallVector<unsigned> AccessPattern::dimensionsOfResult(unsigned operand,
                                                        ArrayRef<unsigned> order) const {
  SmallVector<unsigned> found;
  for (int64_t position = 0; position < types[operand].getRank(); ++position) {
    unsigned dim = order.empty() ? position : order[position];
    if (types[operand].getDimSize(dim) == 1)
      continue;
    auto is = llvm::find_if(alike, [&](ArrayRef<Place> places) {
      return operand == inputs || llvm::is_contained(places, Place{operand, dim});
    });
    if (is == alike.end())
      return {};
    found.push_back(operand == inputs ? dim : is - alike.begin());
  }
  return found;
}

/// The product of the sizes of the innermost dimensions that are together in both.
static double innermostRun(ArrayRef<unsigned> dims, ArrayRef<unsigned> others,
                           RankedTensorType type) {
  const unsigned *other = llvm::find(others, dims.back());
  if (other == others.end())
    return 1;
  double run = 1;
  for (size_t i = dims.size();; --other) {
    run *= sizeOf(type, dims[--i]);
    if (i == 0 || other == others.begin() || dims[i - 1] != *(other - 1))
      return run;
  }
}

std::optional<double> AccessPattern::turned(unsigned operand, OperandOrders orders) const {
  if (!isElementwise || tensorBytes(types[operand]) < kSmall)
    return std::nullopt;
  auto given = dimensionsOfResult(operand, orders[operand]);
  auto result = dimensionsOfResult(inputs, orders[inputs]);
  if (given.empty() || result.empty() || given.back() == result.back())
    return std::nullopt;
  // What is empty in tiles could have moved, too.
  double tile = kTileLine / elementBytes(types[operand]);
  auto used = [&](double run) { return run / (std::ceil(run / tile) * tile); };
  return kTurned / (used(innermostRun(given, result, types[inputs])) *
                    used(innermostRun(result, given, types[inputs])));
}

/// Where these steps lead, of the furthest.
static double furthest(ArrayRef<SmallVector<int64_t>> steps, ArrayRef<double> strides) {
  double most = 0;
  for (ArrayRef<int64_t> by : steps) {
    double distance = 0;
    for (auto [step, stride] : llvm::zip(by, strides))
      distance += step * stride;
    most = std::max(most, std::abs(distance));
  }
  return most;
}

double AccessPattern::bytesMoved(OperandOrders orders, const llvm::BitVector &apart,
                                 const Walk &walk, bool mayTurn) const {
  std::optional<unsigned> along = innermost(orders);
  double bytes = 0;
  for (auto [operand, type] : llvm::enumerate(types)) {
    if (apart.test(operand))
      continue;
    // What is reduced moves some operands; threads go through the others as through results.
    bool isReached = !along || !walk[operand].empty();
    double distance = furthest(isReached ? walk[operand] : alongResult[*along][operand],
                               stridesIn(type, orders[operand]));
    // What all neighbours share is still read once.
    double factor = std::max(sectorFactor(distance, type), 1.0);
    if (factor > 1 && mayTurn)
      if (std::optional<double> other = turned(operand, orders))
        factor = std::min(factor, *other);
    bytes += tensorBytes(type) * factor;
  }
  return bytes;
}

std::optional<unsigned> AccessPattern::innermost(OperandOrders orders) const {
  RankedTensorType first = types[inputs];
  SmallVector<double> strides = stridesIn(first, orders[inputs]);
  std::optional<unsigned> found;
  for (int64_t dim = 0; dim < first.getRank(); ++dim)
    if (first.getDimSize(dim) != 1 && (!found || strides[dim] < strides[*found]))
      found = dim;
  return found;
}

double AccessPattern::bytesMoved(OperandOrders orders, const llvm::BitVector &apart,
                                 bool mayGoAlongReduced, bool mayTurn) const {
  std::optional<double> least;
  auto consider = [&](const Walk &walk) {
    double bytes = bytesMoved(orders, apart, walk, mayTurn);
    least = std::min(least.value_or(bytes), bytes);
  };
  if (std::optional<unsigned> dim = innermost(orders))
    consider(alongResult[*dim]);
  if (mayGoAlongReduced)
    for (const Walk &walk : alongReduced)
      consider(walk);
  return least.value_or(0);
}

double AccessPattern::distance(unsigned input, OperandOrders orders) const {
  std::optional<unsigned> dim = innermost(orders);
  return dim ? furthest(alongResult[*dim][input], stridesIn(types[input], orders[input])) : 0;
}

} // namespace cameo
