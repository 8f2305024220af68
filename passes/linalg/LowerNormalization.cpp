// Normalizations by statistics of rows: Batch, Instance, Group, Layer, RMS, MeanVariance and Lp.
//
//   "onnx.LayerNormalization"(%x, %s, %b)
//     ==>   kernel.dispatch { mean of rows; mean of squared differences; (x - mean) / deviation }
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/shape/Axes.h"
#include "passes/graph/Elements.h"
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"

#include <cmath>

using namespace mlir;

namespace cameo {

namespace {
/// A tensor whose rows are normalized: some of its dimensions are one row.
struct Rows {
  Lowered x;
  Type compute;
  SmallVector<bool> reduced;
  AffineMap element, row;
  Sizes sizes;        // of the rows
  OpFoldResult count; // elements a row
};
} // namespace

static Rows rowsOf(Lowering &l, const Lowered &x, Type compute, ArrayRef<bool> reduced) {
  MLIRContext *context = compute.getContext();
  // Not to_vector: its braces would make a list of two bools of the iterators.
  SmallVector<bool> flags(reduced.begin(), reduced.end());
  Rows rows{x, compute, flags, identityMap(context, x.rank()), {}, {}, {}};
  SmallVector<int64_t> kept;
  rows.count = l.plan.index(1);
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (reduced[i])
      rows.count = l.plan.mul(rows.count, x.sizes[i]);
    else
      kept.push_back(i);
  }
  rows.row = selectDims(context, x.rank(), kept);
  rows.sizes = keptSizes(x.sizes, reduced);
  return rows;
}

/// The dimensions from `axis` on.
static SmallVector<bool> trailing(int64_t rank, int64_t axis) {
  SmallVector<bool> reduced(rank, false);
  for (int64_t i = axis; i < rank; ++i)
    reduced[i] = true;
  return reduced;
}

static Value wideElement(OpBuilder &b, Location loc, const Rows &rows, Value scalar) {
  return widen(b, loc, scalar, rows.x.elementType, rows.compute);
}

static Value divideByCount(OpBuilder &b, Location loc, const Rows &rows, Value sum) {
  Value number = bodyValue(b, loc, rows.count);
  return b.create<arith::DivFOp>(loc, sum, fromIndex(b, loc, number, rows.compute));
}

/// The sums of rows; `fn` makes a summand of an element (in the compute type) and the scalars read
/// at `more`.
static Value sumRows(Lowering &l, OpBuilder &b, Location loc, const Rows &rows, ArrayRef<Read> more,
                     ReduceFunction fn, Value init = {}) {
  SmallVector<Read> reads = {{rows.x.tensor, rows.element}};
  llvm::append_range(reads, more);
  return reduceGeneric(
      l, b, loc, rows.x.sizes, rows.reduced, Combine::Add, rows.compute, reads,
      [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
        SmallVector<Value> wide(scalars.begin(), scalars.end());
        wide[0] = wideElement(nested, at, rows, scalars[0]);
        return fn(nested, at, accumulator, wide);
      },
      init);
}

static Value mapRows(Lowering &l, OpBuilder &b, Location loc, const Rows &rows, Value source,
                     DispatchBuilder::ScalarFunction fn, Type type = {}, Value init = {}) {
  return mapGeneric(l, b, loc, rows.sizes, type ? type : rows.compute,
                    Read{source, identityMap(b.getContext(), rows.sizes.size())}, fn, init);
}

static Value meanOfRows(Lowering &l, OpBuilder &b, Location loc, const Rows &rows) {
  Value sum =
      sumRows(l, b, loc, rows, {},
              [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) {
                return combine(nested, at, Combine::Add, rows.compute, accumulator, scalars[0]);
              });
  return mapRows(l, b, loc, rows, sum, [&](OpBuilder &nested, Location at, ValueRange scalars) {
    return divideByCount(nested, at, rows, scalars[0]);
  });
}

/// Mean of squared differences from `mean`, of squares without it.
static Value varianceOfRows(Lowering &l, OpBuilder &b, Location loc, const Rows &rows, Value mean) {
  SmallVector<Read> more;
  if (mean)
    more.push_back({mean, rows.row});
  Value sum =
      sumRows(l, b, loc, rows, more,
              [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) -> Value {
                Value x = scalars[0];
                if (mean)
                  x = nested.create<arith::SubFOp>(at, x, scalars[1]);
                return nested.create<math::FmaOp>(at, x, x, accumulator);
              });
  return mapRows(l, b, loc, rows, sum, [&](OpBuilder &nested, Location at, ValueRange scalars) {
    return divideByCount(nested, at, rows, scalars[0]);
  });
}

static Value deviation(OpBuilder &b, Location loc, Value variance, double epsilon) {
  Value shifted =
      b.create<arith::AddFOp>(loc, variance, scalarConstant(b, loc, variance.getType(), epsilon));
  return b.create<math::SqrtOp>(loc, shifted);
}

/// 1 / sqrt(variance + epsilon), as one value per row.
static Value inverseDeviation(Lowering &l, OpBuilder &b, Location loc, const Rows &rows,
                              Value variance, double epsilon) {
  return mapRows(
      l, b, loc, rows, variance, [&](OpBuilder &nested, Location at, ValueRange scalars) -> Value {
        return nested.create<arith::DivFOp>(at, scalarConstant(nested, at, rows.compute, 1),
                                            deviation(nested, at, scalars[0], epsilon));
      });
}

static Type wider(Type a, Type b) {
  return a.getIntOrFloatBitWidth() >= b.getIntOrFloatBitWidth() ? a : b;
}

namespace {
/// Scale and bias of a normalization and where they are read.
struct Affine {
  std::optional<Read> scale, bias;
  Type scaleType, biasType;
};
} // namespace

/// (x - mean) * inverse * scale + bias; mean, scale and bias may be missing.
static Value normalize(Lowering &l, OpBuilder &b, Location loc, const Rows &rows, Value mean,
                       Value inverse, const Affine &affine, Type resultType, Value init) {
  SmallVector<Read> reads = {{rows.x.tensor, rows.element}, {inverse, rows.row}};
  if (mean)
    reads.push_back({mean, rows.row});
  if (affine.scale)
    reads.push_back(*affine.scale);
  if (affine.bias)
    reads.push_back(*affine.bias);
  return mapGeneric(
      l, b, loc, rows.x.sizes, resultType, reads,
      [&](OpBuilder &nested, Location at, ValueRange scalars) {
        Type compute = rows.compute;
        Value x = wideElement(nested, at, rows, scalars[0]);
        unsigned next = 2;
        if (mean)
          x = nested.create<arith::SubFOp>(at, x, scalars[next++]);
        x = nested.create<arith::MulFOp>(at, x, scalars[1]);
        Value scale, bias;
        if (affine.scale)
          scale = widen(nested, at, scalars[next++], affine.scaleType, compute);
        if (affine.bias)
          bias = widen(nested, at, scalars[next++], affine.biasType, compute);
        if (scale && bias)
          x = nested.create<math::FmaOp>(at, x, scale, bias);
        else if (scale)
          x = nested.create<arith::MulFOp>(at, x, scale);
        else if (bias)
          x = nested.create<arith::AddFOp>(at, x, bias);
        return widen(nested, at, x, compute, resultType);
      },
      init);
}

//===-- BatchNormalization --------------------------------------------------------------------===//

/// A list of C values, one a channel of loops whose channel is dimension 1.
static Read channelRead(Lowering &l, Operation *op, unsigned operand, const Sizes &loops) {
  AffineMap map = loops.size() > 1
                      ? selectDims(op->getContext(), loops.size(), {1})
                      : AffineMap::get(loops.size(), 0, getAffineConstantExpr(0, op->getContext()));
  return Read{l.operand(op, operand).tensor, map};
}

/// By statistics of the batch, which also move the running ones.
static LogicalResult lowerTrainingBatchNormalization(Operation *op, Lowering &l, const Lowered &x,
                                                     ArrayRef<Read> channels, Type compute) {
  float epsilon = floatAttribute(op, "epsilon", 1e-5f);
  float momentum = floatAttribute(op, "momentum", 0.9f);
  SmallVector<bool> reduced(x.rank(), true);
  reduced[1] = false;
  Rows rows = rowsOf(l, x, compute, reduced);
  Type runningType = Lowering::elementType(op->getOperand(3));
  SmallVector<Value> results = l.build.dispatch(
      op->getLoc(),
      {OutputSpec{x.sizes, x.elementType}, OutputSpec{rows.sizes, runningType},
       OutputSpec{rows.sizes, runningType}},
      [&](OpBuilder &b, Location loc, ValueRange inits) {
        Value mean = meanOfRows(l, b, loc, rows);
        Value variance = varianceOfRows(l, b, loc, rows, mean);
        Value inverse = inverseDeviation(l, b, loc, rows, variance, epsilon);
        Affine affine{channels[0], channels[1], Lowering::elementType(op->getOperand(1)),
                      Lowering::elementType(op->getOperand(2))};
        SmallVector<Value> all = {
            normalize(l, b, loc, rows, mean, inverse, affine, x.elementType, inits[0])};
        AffineMap row = identityMap(b.getContext(), 1);
        for (unsigned i : {0u, 1u})
          all.push_back(mapGeneric(
              l, b, loc, rows.sizes, runningType,
              {Read{channels[2 + i].tensor, row}, Read{i == 0 ? mean : variance, row}},
              [&](OpBuilder &nested, Location at, ValueRange scalars) {
                Value old = widen(nested, at, scalars[0], runningType, compute);
                Value kept = nested.create<arith::MulFOp>(
                    at, old, scalarConstant(nested, at, compute, momentum));
                Value moved = nested.create<math::FmaOp>(
                    at, scalars[1], scalarConstant(nested, at, compute, 1.0f - momentum), kept);
                return widen(nested, at, moved, compute, runningType);
              },
              inits[1 + i]));
        return all;
      });
  l.define(op, 0, results[0], x.sizes, x.elementType);
  for (unsigned i : {1u, 2u})
    l.define(op, i, results[i], rows.sizes, runningType);
  return success();
}

/// A constant of floats of up to 32 bits.
static std::optional<std::vector<float>> floatsOf(Value value) {
  std::optional<Elements> elements = Elements::of(onnx::constantValue(value));
  if (!elements || computesIn(elements->kind) != Computes::Float)
    return std::nullopt;
  return readElements<float>(*elements);
}

/// Scale / sqrt(variance + epsilon) of each channel where that is known, with the same roundings as
/// in a kernel; null where it is not, or is not finite.
static Value constantFactor(Operation *op, Lowering &l, Type compute, float epsilon) {
  std::optional<std::vector<float>> factors = floatsOf(op->getOperand(1));
  std::optional<std::vector<float>> variances = floatsOf(op->getOperand(4));
  if (!compute.isF32() || !factors || !variances || factors->size() != variances->size())
    return {};
  for (auto [factor, variance] : llvm::zip(*factors, *variances)) {
    factor /= std::sqrt(variance + epsilon);
    if (!std::isfinite(factor))
      return {};
  }
  auto type = RankedTensorType::get({static_cast<int64_t>(factors->size())}, compute);
  return l.build.constant(op->getLoc(), DenseElementsAttr::get(type, ArrayRef(*factors)));
}

static LogicalResult lowerBatchNormalization(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered x = l.operand(op, 0);
  SmallVector<Read> channels;
  SmallVector<Type> types;
  Type compute = accumulatorType(x.elementType);
  for (unsigned i = 1; i <= 4; ++i) {
    channels.push_back(channelRead(l, op, i, x.sizes));
    types.push_back(Lowering::elementType(op->getOperand(i)));
    compute = wider(compute, types.back());
  }
  if (intAttribute(op, "training_mode", 0) != 0)
    return lowerTrainingBatchNormalization(op, l, x, channels, compute);
  float epsilon = floatAttribute(op, "epsilon", 1e-5f);
  Type type = x.elementType;
  Value known = constantFactor(op, l, compute, epsilon);
  if (known) {
    channels[0].tensor = known;
    types[0] = compute;
    channels.pop_back();
  }
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{x.sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        SmallVector<Read> reads = {{x.tensor, identityMap(b.getContext(), x.rank())}};
        llvm::append_range(reads, channels);
        return SmallVector<Value>{mapGeneric(
            l, b, loc, x.sizes, type, reads,
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              auto wide = [&](unsigned i) {
                return widen(nested, at, scalars[i], i == 0 ? type : types[i - 1], compute);
              };
              Value factor = wide(1);
              if (!known)
                factor = nested.create<arith::DivFOp>(at, factor,
                                                      deviation(nested, at, wide(4), epsilon));
              Value centred = nested.create<arith::SubFOp>(at, wide(0), wide(3));
              Value value = nested.create<math::FmaOp>(at, centred, factor, wide(2));
              return widen(nested, at, value, compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, result, x.sizes, type);
  return success();
}

//===-- InstanceNormalization, GroupNormalization ---------------------------------------------===//

static Value normalizeByMean(Lowering &l, Location loc, const Rows &rows, double epsilon,
                             const Affine &affine) {
  return l.build.dispatch(loc, OutputSpec{rows.x.sizes, rows.x.elementType},
                          [&](OpBuilder &b, Location at, ValueRange inits) {
                            Value mean = meanOfRows(l, b, at, rows);
                            Value variance = varianceOfRows(l, b, at, rows, mean);
                            Value inverse = inverseDeviation(l, b, at, rows, variance, epsilon);
                            return SmallVector<Value>{normalize(l, b, at, rows, mean, inverse,
                                                                affine, rows.x.elementType,
                                                                inits[0])};
                          })[0];
}

static LogicalResult lowerInstanceNormalization(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered x = l.operand(op, 0);
  // [N, C, ...] as [N, C, the rest]
  Lowered lines = l.build.reshape(
      op->getLoc(), x, {x.sizes[0], x.sizes[1], l.plan.product(ArrayRef(x.sizes).drop_front(2))});
  Read scale = channelRead(l, op, 1, lines.sizes), bias = channelRead(l, op, 2, lines.sizes);
  Type type = x.elementType;
  Rows rows = rowsOf(l, lines, accumulatorType(type), trailing(3, 2));
  Value result = normalizeByMean(l, op->getLoc(), rows, floatAttribute(op, "epsilon", 1e-5f),
                                 Affine{scale, bias, type, type});
  l.define(op, 0, l.build.reshape(op->getLoc(), Lowered{result, lines.sizes, type}, x.sizes));
  return success();
}

static LogicalResult lowerGroupNormalization(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered x = l.operand(op, 0);
  OpFoldResult channels = x.sizes[1], group = l.plan.index(intAttribute(op, "num_groups", 0));
  // [N, C, ...] as [N, groups, C / groups, the rest]
  Sizes sizes = {x.sizes[0], group, l.plan.floorDiv(channels, group),
                 l.plan.product(ArrayRef(x.sizes).drop_front(2))};
  Lowered grouped = l.build.reshape(op->getLoc(), x, sizes);
  AffineMap perChannel = selectDims(op->getContext(), 4, {1, 2});
  SmallVector<Read> reads;
  for (unsigned i : {1u, 2u}) {
    Lowered list = l.build.reshape(op->getLoc(), l.operand(op, i), {sizes[1], sizes[2]});
    reads.push_back({list.tensor, perChannel});
  }
  Type type = x.elementType;
  Rows rows = rowsOf(l, grouped, accumulatorType(type), trailing(4, 2));
  Value result = normalizeByMean(l, op->getLoc(), rows, floatAttribute(op, "epsilon", 1e-5f),
                                 Affine{reads[0], reads[1], type, type});
  l.define(op, 0, l.build.reshape(op->getLoc(), Lowered{result, sizes, type}, x.sizes));
  return success();
}

//===-- LayerNormalization, RMSNormalization --------------------------------------------------===//

static Affine rowAffine(Lowering &l, Operation *op, const Lowered &x) {
  auto read = [&](unsigned number) {
    Lowered operand = l.operand(op, number);
    ArrayRef<OpFoldResult> whole = ArrayRef(x.sizes).take_back(operand.rank());
    return broadcastRead(certain(l, op->getLoc(), operand, whole), x.sizes);
  };
  Affine affine;
  affine.scale = read(1);
  affine.scaleType = Lowering::elementType(op->getOperand(1));
  if (l.absent(op, 2))
    return affine;
  affine.bias = read(2);
  affine.biasType = Lowering::elementType(op->getOperand(2));
  return affine;
}

template <bool hasMean> static LogicalResult lowerRowNormalization(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered x = l.operand(op, 0);
  int64_t axis = *onnx::normalizedAxis(intAttribute(op, "axis", -1), x.rank());
  Affine affine = rowAffine(l, op, x);
  Type compute = accumulatorType(x.elementType);
  compute = wider(compute, affine.scaleType);
  Rows rows = rowsOf(l, x, compute, trailing(x.rank(), axis));
  float epsilon = floatAttribute(op, "epsilon", 1e-5f);
  Type type = Lowering::elementType(op->getResult(0));
  bool statistics[2] = {false, false};
  SmallVector<OutputSpec> outputs = {{x.sizes, type}};
  for (unsigned i = 1; i < op->getNumResults(); ++i)
    if (!op->getResult(i).use_empty()) {
      statistics[i - 1] = true;
      outputs.push_back({rows.sizes, Lowering::elementType(op->getResult(i))});
    }
  SmallVector<Value> results =
      l.build.dispatch(op->getLoc(), outputs, [&](OpBuilder &b, Location loc, ValueRange inits) {
        Value mean = hasMean ? meanOfRows(l, b, loc, rows) : Value();
        Value variance = varianceOfRows(l, b, loc, rows, mean);
        Value inverse = inverseDeviation(l, b, loc, rows, variance, epsilon);
        SmallVector<Value> all = {
            normalize(l, b, loc, rows, mean, inverse, affine, type, inits[0])};
        for (unsigned i : {0u, 1u}) {
          if (!statistics[i])
            continue;
          Type wanted = outputs[all.size()].elementType;
          all.push_back(mapRows(
              l, b, loc, rows, i == 0 ? mean : inverse,
              [&](OpBuilder &nested, Location at, ValueRange scalars) {
                return widen(nested, at, scalars[0], compute, wanted);
              },
              wanted, inits[all.size()]));
        }
        return all;
      });
  l.define(op, 0, results[0], x.sizes, type);
  Sizes kept = x.sizes;
  for (int64_t i = axis; i < x.rank(); ++i)
    kept[i] = l.plan.index(1);
  unsigned next = 1;
  for (unsigned i : {0u, 1u})
    if (statistics[i]) {
      Lowered value{results[next], rows.sizes, outputs[next].elementType};
      ++next;
      l.define(op, i + 1, l.build.reshape(op->getLoc(), value, kept));
    }
  return success();
}

//===-- MeanVarianceNormalization, LpNormalization --------------------------------------------===//

static LogicalResult lowerMeanVarianceNormalization(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered x = l.operand(op, 0);
  auto given = op->getAttrOfType<DenseI64ArrayAttr>("axes");
  SmallVector<int64_t> axes = {0, 2, 3};
  if (given)
    axes = llvm::to_vector(given.asArrayRef());
  SmallVector<bool> reduced(x.rank(), false);
  for (int64_t axis : axes)
    reduced[*onnx::normalizedAxis(axis, x.rank())] = true;
  Type type = x.elementType;
  Rows rows = rowsOf(l, x, accumulatorType(type), reduced);
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{x.sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        Value mean = meanOfRows(l, b, loc, rows);
        Value variance = varianceOfRows(l, b, loc, rows, mean);
        // The epsilon is part of the operator's definition and is added to the deviation.
        Value inverse = mapRows(l, b, loc, rows, variance,
                                [&](OpBuilder &nested, Location at, ValueRange scalars) -> Value {
                                  Value shifted = nested.create<arith::AddFOp>(
                                      at, nested.create<math::SqrtOp>(at, scalars[0]),
                                      scalarConstant(nested, at, rows.compute, 1e-9));
                                  return nested.create<arith::DivFOp>(
                                      at, scalarConstant(nested, at, rows.compute, 1), shifted);
                                });
        return SmallVector<Value>{
            normalize(l, b, loc, rows, mean, inverse, Affine(), type, inits[0])};
      })[0];
  l.define(op, 0, result, x.sizes, type);
  return success();
}

static LogicalResult lowerLpNormalization(Operation *op, Lowering &l) {
  Lowered x = l.operand(op, 0);
  FailureOr<int64_t> axis = onnx::axisAttribute(l.plan, op, -1, x.rank());
  if (failed(axis))
    return failure();
  int64_t p = intAttribute(op, "p", 2);
  SmallVector<bool> reduced(x.rank(), false);
  reduced[*axis] = true;
  Type type = x.elementType;
  Rows rows = rowsOf(l, x, accumulatorType(type), reduced);
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{x.sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        Value sum = sumRows(
            l, b, loc, rows, {},
            [&](OpBuilder &nested, Location at, Value accumulator, ValueRange scalars) -> Value {
              if (p == 2)
                return nested.create<math::FmaOp>(at, scalars[0], scalars[0], accumulator);
              return nested.create<arith::AddFOp>(at, accumulator,
                                                  nested.create<math::AbsFOp>(at, scalars[0]));
            });
        return SmallVector<Value>{mapGeneric(
            l, b, loc, x.sizes, type, {Read{x.tensor, rows.element}, Read{sum, rows.row}},
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              Value zero = scalarConstant(nested, at, rows.compute, 0);
              Value isZero =
                  nested.create<arith::CmpFOp>(at, arith::CmpFPredicate::OEQ, scalars[1], zero);
              Value norm = scalars[1];
              if (p == 2)
                norm = nested.create<math::SqrtOp>(at, norm);
              Value quotient =
                  nested.create<arith::DivFOp>(at, wideElement(nested, at, rows, scalars[0]), norm);
              Value value = nested.create<arith::SelectOp>(at, isZero, zero, quotient);
              return widen(nested, at, value, rows.compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, result, x.sizes, type);
  return success();
}

//===-- LRN -----------------------------------------------------------------------------------===//

/// x / (bias + alpha / size * sum of squares of the channels around) ^ beta
static LogicalResult lowerLrn(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered x = l.operand(op, 0);
  int64_t size = intAttribute(op, "size", 0);
  double alpha = floatAttribute(op, "alpha", 1e-4f), beta = floatAttribute(op, "beta", 0.75f);
  double bias = floatAttribute(op, "bias", 1.0f);
  int64_t rank = x.rank();
  Type type = x.elementType, compute = accumulatorType(type);
  // Channels outside of the tensor add nothing: very many of them are left out.
  OpFoldResult before = l.plan.index((size - 1) / 2), taps = l.plan.index(size);
  if (size > 1024) {
    before = l.plan.min(before, x.sizes[1]);
    taps = l.plan.add(l.plan.add(before, l.plan.index(1)),
                      l.plan.min(l.plan.index(size / 2), x.sizes[1]));
  }
  Sizes loops = x.sizes;
  loops.push_back(taps);
  SmallVector<bool> reduced(rank, false);
  reduced.push_back(true);
  Value result = l.build.dispatch(
      op->getLoc(), OutputSpec{x.sizes, type}, [&](OpBuilder &b, Location loc, ValueRange inits) {
        Value sum = reduceGeneric(
            l, b, loc, loops, reduced, Combine::Add, compute, {},
            [&](OpBuilder &nested, Location at, Value accumulator, ValueRange) -> Value {
              SmallVector<Value> indices;
              for (int64_t i = 0; i < rank; ++i)
                indices.push_back(nested.create<linalg::IndexOp>(at, i));
              Value channel = nested.create<arith::AddIOp>(
                  at, indices[1], nested.create<linalg::IndexOp>(at, rank));
              channel = nested.create<arith::SubIOp>(at, channel, bodyValue(nested, at, before));
              Value inside = isInside(nested, at, channel, bodyValue(nested, at, x.sizes[1]));
              indices[1] = channel;
              Value square =
                  guarded(nested, at, inside, compute, 0, [&](OpBuilder &then, Location in) {
                    Value element = then.create<tensor::ExtractOp>(in, x.tensor, indices);
                    element = widen(then, in, element, type, compute);
                    return then.create<arith::MulFOp>(in, element, element).getResult();
                  });
              return nested.create<arith::AddFOp>(at, accumulator, square);
            });
        AffineMap identity = identityMap(b.getContext(), rank);
        return SmallVector<Value>{mapGeneric(
            l, b, loc, x.sizes, type, {Read{x.tensor, identity}, Read{sum, identity}},
            [&](OpBuilder &nested, Location at, ValueRange scalars) {
              Value base = nested.create<math::FmaOp>(
                  at, scalars[1], scalarConstant(nested, at, compute, alpha / size),
                  scalarConstant(nested, at, compute, bias));
              Value power =
                  nested.create<math::PowFOp>(at, base, scalarConstant(nested, at, compute, beta));
              Value value = nested.create<arith::DivFOp>(
                  at, widen(nested, at, scalars[0], type, compute), power);
              return widen(nested, at, value, compute, type);
            },
            inits[0])};
      })[0];
  l.define(op, 0, result, x.sizes, type);
  return success();
}

void registerNormalizationOperators(LoweringRows &rows) {
  rows.add<onnx::BatchNormalizationOp>({lowerBatchNormalization});
  rows.add<onnx::InstanceNormalizationOp>({lowerInstanceNormalization});
  rows.add<onnx::GroupNormalizationOp>({lowerGroupNormalization});
  rows.add<onnx::LayerNormalizationOp>({lowerRowNormalization<true>});
  rows.add<onnx::RMSNormalizationOp>({lowerRowNormalization<false>});
  rows.add<onnx::MeanVarianceNormalizationOp>({lowerMeanVarianceNormalization});
  rows.add<onnx::LpNormalizationOp>({lowerLpNormalization});
  rows.add<onnx::LRNOp>({lowerLrn});
}

} // namespace cameo
