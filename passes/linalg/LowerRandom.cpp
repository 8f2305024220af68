// Random numbers ==> elementwise arithmetic on the place of an element.
//
//   %0 = onnx.Draw(%state, %shape) {distribution = "uniform", stream = 3, low = 0.0, high = 1.0}
//     ==>
//   kernel.dispatch of %state {
//     block of the element = philox(key = state[0..1], counter = (index / 4, state[2] ^ 3, state[3]))
//     (block[index % 4] >> 8) * 2^-24
//   }
//
// A number is a function of the state, the stream and the element's place, so that neither schedules nor devices change
// it, and whoever computes it again has the same. There is no arithmetic here that rounds otherwise on another device:
// logarithms are sums and products of their own.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Families.h"
#include "passes/linalg/FloatMath.h"
#include "passes/linalg/Indexing.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace cameo {

namespace {

/// Four words of 32 bits.
using Words = std::array<Value, 4>;

/// Integers of a body.
class WordMath {
public:
  WordMath(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value word(uint32_t number) { return integer(b.getI32Type(), number); }
  Value integer(Type type, uint64_t number) {
    return b.create<arith::ConstantOp>(
        loc, b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), number)));
  }
  template <typename Op> Value op(Value x, Value y) { return b.create<Op>(loc, x, y); }
  Value flip(Value x, Value y) { return op<arith::XOrIOp>(x, y); }
  Value shiftRight(Value x, unsigned by) {
    return by ? op<arith::ShRUIOp>(x, integer(x.getType(), by)) : x;
  }
  Value low(Value wide) { return b.create<arith::TruncIOp>(loc, b.getI32Type(), wide); }
  Value high(Value wide) { return low(shiftRight(wide, 32)); }
  Value wide(Value word) { return b.create<arith::ExtUIOp>(loc, b.getI64Type(), word); }

  /// The ten rounds of Philox 4x32.
  Words philox(Value key0, Value key1, Words counter);
  /// One of the words, by the lower bits of a number.
  Value choose(ArrayRef<Value> words, Value number);

private:
  OpBuilder &b;
  Location loc;
};

} // namespace

Words WordMath::philox(Value key0, Value key1, Words counter) {
  Value first = integer(b.getI64Type(), 0xd2511f53u), second = integer(b.getI64Type(), 0xcd9e8d57u);
  for (int round = 0; round < 10; ++round) {
    Value a = op<arith::MulIOp>(first, wide(counter[0]));
    Value c = op<arith::MulIOp>(second, wide(counter[2]));
    counter = {flip(flip(high(c), counter[1]), key0), low(c), flip(flip(high(a), counter[3]), key1),
               low(a)};
    key0 = op<arith::AddIOp>(key0, word(0x9e3779b9u));
    key1 = op<arith::AddIOp>(key1, word(0xbb67ae85u));
  }
  return counter;
}

Value WordMath::choose(ArrayRef<Value> words, Value number) {
  if (words.size() == 1)
    return words.front();
  size_t half = words.size() / 2;
  Value bit = op<arith::AndIOp>(number, integer(number.getType(), half));
  Value isHigh =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bit, integer(number.getType(), 0));
  return b.create<arith::SelectOp>(loc, isHigh, choose(words.drop_front(half), number),
                                   choose(words.take_front(half), number));
}

//===-- Bits ----------------------------------------------------------------------------------===//

/// All elements of a node have this in common: a key, and the upper words of the counter.
static Words streamOf(onnx::DrawOp op, IndexMath &math, WordMath &words, OpBuilder &b, Location loc,
                      const Lowered &state) {
  std::optional<Attribute> seed = op.getSeed();
  Words result;
  for (auto [i, word] : llvm::enumerate(result))
    word = math.element(state, indexConstant(b, loc, i + (seed ? 4 : 0)));
  // No two nodes of a model have one stream: those with a seed have a number among those with the same one.
  result[2] = words.flip(result[2], words.word(uint32_t(op.getStream())));
  if (!seed)
    return result;
  uint64_t key = 0;
  if (auto integer = dyn_cast<IntegerAttr>(*seed))
    key = integer.getValue().getSExtValue();
  else
    key = cast<FloatAttr>(*seed).getValue().bitcastToAPInt().getZExtValue();
  result[0] = words.flip(result[0], words.word(uint32_t(key)));
  result[1] = words.flip(result[1], words.word(uint32_t(key >> 32)));
  return result;
}

/// Random bits of an element, 32 or 64 of them.
static Value bitsAt(WordMath &words, OpBuilder &b, Location loc, const Words &stream, Value index,
                    bool isWide) {
  Value place = b.create<arith::IndexCastOp>(loc, b.getI64Type(), index);
  Value block = words.shiftRight(place, isWide ? 1 : 2);
  // The block's number has 48 bits, more than memory has.
  Words random = words.philox(stream[0], stream[1],
                              {words.low(block), words.high(block), stream[2], stream[3]});
  Value number = words.low(place);
  if (!isWide)
    return words.choose(random, number);
  auto pair = [&](Value low, Value high) {
    Value upper = words.op<arith::ShLIOp>(words.wide(high), words.integer(b.getI64Type(), 32));
    return words.op<arith::OrIOp>(upper, words.wide(low));
  };
  return words.choose({pair(random[0], random[1]), pair(random[2], random[3])}, number);
}

//===-- Distributions -------------------------------------------------------------------------===//

/// A number of [0, 1), of as many bits as the type's numbers have.
static Value unit(WordMath &words, FloatMath &math, OpBuilder &b, Location loc, Value bits,
                  Type compute, unsigned precision) {
  Value kept = words.shiftRight(bits, bits.getType().getIntOrFloatBitWidth() - precision);
  Value number = b.create<arith::UIToFPOp>(loc, compute, kept);
  return math.mul(number, math.number(std::ldexp(1.0, -int(precision))));
}

namespace {
/// The numbers of a type that a draw may give: the least that is not below `low`, and the greatest below `high`, or
/// `low` itself where there is nothing between them.
struct Interval {
  double least, most;
};
} // namespace

static Interval intervalOf(const llvm::fltSemantics &semantics, double low, double high) {
  auto rounded = [&](double number, APFloat::roundingMode mode) {
    APFloat result(number);
    bool isInexact;
    result.convert(semantics, mode, &isInexact);
    return result;
  };
  auto toDouble = [](APFloat number) {
    bool isInexact;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
    return number.convertToDouble();
  };
  double least = toDouble(rounded(low, APFloat::rmTowardPositive));
  APFloat most = rounded(high, APFloat::rmTowardNegative);
  if (toDouble(most) == high && high > low)
    most.next(/*nextDown=*/true);
  return {least, toDouble(most)};
}

static Value uniform(onnx::DrawOp op, WordMath &words, FloatMath &math, OpBuilder &b, Location loc,
                     Value bits, Type compute, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  Value result = unit(words, math, b, loc, bits, compute, APFloat::semanticsPrecision(semantics));
  double low = op.getLowAttr().getValueAsDouble(), high = op.getHighAttr().getValueAsDouble();
  if (low == 0 && high == 1)
    return result;
  Interval interval = intervalOf(semantics, low, high);
  result = math.add(math.mul(result, math.number(high - low)), math.number(low));
  // The rounded number is in the interval, too.
  return math.lesser(math.greater(result, math.number(interval.least)), math.number(interval.most));
}

/// The natural logarithm of a positive number that is not denormal, to an ulp: with x = 2^k (1 + f), f around 0, and
/// s = f / (2 + f), log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)). The coefficients are those of FreeBSD's e_log.c and
/// e_logf.c.
static Value logarithm(WordMath &words, FloatMath &math, OpBuilder &b, Location loc, Value x,
                       Type type) {
  bool isDouble = type.isF64();
  unsigned mantissa = isDouble ? 52 : 23, width = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  uint64_t one = isDouble ? 0x3ff0000000000000u : 0x3f800000u;
  uint64_t root = isDouble ? 0x3fe6a09e667f3bcdu : 0x3f3504f3u; // of 1/2
  Value bits = b.create<arith::BitcastOp>(loc, integer, x);
  // So that f is from sqrt(1/2) - 1 to sqrt(2) - 1.
  Value moved = words.op<arith::AddIOp>(bits, words.integer(integer, one - root));
  Value exponent = words.op<arith::SubIOp>(words.shiftRight(moved, mantissa),
                                           words.integer(integer, one >> mantissa));
  Value rest =
      words.op<arith::AndIOp>(moved, words.integer(integer, (uint64_t(1) << mantissa) - 1));
  Value fraction = b.create<arith::BitcastOp>(
      loc, type, words.op<arith::AddIOp>(rest, words.integer(integer, root)));
  Value k = b.create<arith::SIToFPOp>(loc, type, exponent);
  Value f = math.sub(fraction, math.number(1));
  Value s = math.div(f, math.add(math.number(2), f));
  Value z = math.mul(s, s);
  static constexpr double kDouble[] = {1.479819860511658591e-01, 1.531383769920937332e-01,
                                       1.818357216161805012e-01, 2.222219843214978396e-01,
                                       2.857142874366239149e-01, 3.999999999940941908e-01,
                                       6.666666666666735130e-01};
  static constexpr double kFloat[] = {0xf89e26p-26, 0x91e9eep-25, 0xccce13p-25, 0xaaaaaap-24};
  Value series = math.number(0);
  for (auto [i, coefficient] : llvm::enumerate(isDouble ? ArrayRef(kDouble) : ArrayRef(kFloat)))
    series = i ? math.add(math.mul(series, z), math.number(coefficient)) : math.number(coefficient);
  series = math.mul(series, z);
  Value half = math.mul(math.mul(math.number(0.5), f), f);
  Value high = math.number(isDouble ? 6.93147180369123816490e-01 : 6.9313812256e-01);
  Value low = math.number(isDouble ? 1.90821492927058770002e-10 : 9.0580006145e-06);
  Value small = math.add(math.mul(s, math.add(half, series)), math.mul(k, low));
  return math.add(math.mul(k, high), math.sub(f, math.sub(half, small)));
}

/// A quotient of polynomials, whose coefficients begin with that of the highest power.
static Value quotient(FloatMath &math, Value x, ArrayRef<double> above, ArrayRef<double> below) {
  auto polynomial = [&](ArrayRef<double> coefficients) {
    Value result = math.number(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      result = math.add(math.mul(result, x), math.number(coefficient));
    return result;
  };
  return math.div(polynomial(above), polynomial(below));
}

/// The normal distribution's inverse: algorithm AS 241 (Wichura, Applied Statistics 37, 1988), PPND7 for f32 and PPND16
/// for f64. The first bit is the sign; the others, r, the half of the distribution: a tail of (r + 1/2) / 2^32, or 2^64.
static Value normal(WordMath &words, FloatMath &math, OpBuilder &b, Location loc, Value bits,
                    Type type) {
  bool isDouble = type.isF64();
  unsigned width = bits.getType().getIntOrFloatBitWidth();
  uint64_t mask = ~uint64_t(0) >> (65 - width);
  Value most = words.integer(bits.getType(), mask);
  auto share = [&](Value number) {
    Value real = b.create<arith::UIToFPOp>(loc, type, number);
    return math.mul(math.add(real, math.number(0.5)), math.number(std::ldexp(1.0, -int(width))));
  };
  Value rest = words.op<arith::AndIOp>(bits, most);
  Value tail = share(rest), middle = share(words.flip(rest, most)); // their sum is 1/2
  Value near = math.sub(math.number(0.180625), math.mul(middle, middle));
  Value root = b.create<math::SqrtOp>(
      loc, math.sub(math.number(0), logarithm(words, math, b, loc, tail, type)));
  Value central, far;
  if (isDouble) {
    central =
        quotient(math, near,
                 {2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
                  4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
                  1.3314166789178437745e+2, 3.3871328727963666080e0},
                 {5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
                  2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
                  4.2313330701600911252e+1, 1.0});
    Value beyond =
        quotient(math, math.sub(root, math.number(5)),
                 {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                  2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
                  5.46378491116411436990e0, 6.65790464350110377720e0},
                 {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
                  7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
                  5.99832206555887937690e-1, 1.0});
    Value within =
        quotient(math, math.sub(root, math.number(1.6)),
                 {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                  1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
                  4.63033784615654529590e0, 1.42343711074968357734e0},
                 {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
                  1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
                  2.05319162663775882187e0, 1.0});
    far =
        math.select(math.compare(arith::CmpFPredicate::OGT, root, math.number(5)), beyond, within);
  } else {
    central = quotient(math, near, {59.109374720, 159.29113202, 50.434271938, 3.3871327179},
                       {67.187563600, 78.757757664, 17.895169469, 1.0});
    // The root of 32 bits is less than 5.
    far = quotient(math, math.sub(root, math.number(1.6)),
                   {0.17023821103, 1.3067284816, 2.7568153900, 1.4234372777},
                   {0.12021132975, 0.73700164250, 1.0});
  }
  Value isCentral = math.compare(arith::CmpFPredicate::OLE, middle, math.number(0.425));
  Value size = math.select(isCentral, math.mul(middle, central), far);
  Value isNegative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, bits,
                                             words.integer(bits.getType(), 0));
  return math.select(isNegative, b.create<arith::NegFOp>(loc, size), size);
}

//===-- Operators -----------------------------------------------------------------------------===//

static LogicalResult lowerDraw(Operation *op, Lowering &l) {
  auto draw = cast<onnx::DrawOp>(op);
  FailureOr<Sizes> sizes = l.infer(op);
  if (failed(sizes))
    return failure();
  Lowered state = l.operand(op, 0), below;
  Type type = Lowering::elementType(op->getResult(0));
  StringRef how = draw.getDistribution();
  // One dimension: an element's place is its index. What reads it sees the other sizes.
  Sizes flat{l.plan.product(*sizes)};
  bool isShared = !l.absent(op, 1);
  if (how == "below") {
    below = l.operand(op, 2);
    if (!isShared)
      below = l.build.reshape(op->getLoc(), below, flat);
  }
  Type source = below.tensor ? below.elementType : type;
  bool isWide = source.isF64();
  Value drawn = l.build.compute(
      op->getLoc(), flat, type, [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Type compute = isWide ? b.getF64Type() : Type(b.getF32Type());
        IndexMath indices(b, loc);
        WordMath words(b, loc);
        FloatMath math(b, loc, compute);
        Words stream = streamOf(draw, indices, words, b, loc, state);
        Value bits = bitsAt(words, b, loc, stream, at[0], isWide);
        if (how == "below") {
          Value bound = isShared ? indices.only(below) : indices.element(below, at);
          bound = convertScalar(b, loc, bound, source, compute);
          Value number = unit(words, math, b, loc, bits, compute, isWide ? 53 : 24);
          return math.compare(arith::CmpFPredicate::OLT, number, bound);
        }
        Value number;
        if (how == "uniform") {
          number = uniform(draw, words, math, b, loc, bits, compute, cast<FloatType>(type));
        } else {
          number = normal(words, math, b, loc, bits, compute);
          double scale = draw.getScaleAttr().getValueAsDouble(),
                 mean = draw.getMeanAttr().getValueAsDouble();
          if (scale != 1 || mean != 0)
            number = math.add(math.mul(number, math.number(scale)), math.number(mean));
        }
        return convertScalar(b, loc, number, compute, type);
      });
  l.define(op, 0, l.build.reshape(op->getLoc(), {drawn, flat, type}, *sizes));
  return success();
}

static LogicalResult lowerState(Operation *op, Lowering &l) {
  Sizes sizes{l.plan.index(onnx::kRandomWords)};
  Type word = l.builder().getI32Type();
  Value state = l.builder().create<rt::RandomStateOp>(op->getLoc(), tensorType(sizes, word));
  l.define(op, 0, state, sizes, word);
  return success();
}

/// Each block is a counter, for which the number of the trip is the key.
static LogicalResult lowerTrip(Operation *op, Lowering &l) {
  Lowered state = l.operand(op, 0);
  FailureOr<Sizes> known = l.shapes.host.tryValues(op->getOperand(1), 1);
  Lowered trip;
  if (failed(known) || known->size() != 1)
    trip = l.operand(op, 1);
  Value next = l.build.compute(
      op->getLoc(), state.sizes, state.elementType,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        IndexMath indices(b, loc);
        WordMath words(b, loc);
        Value number = trip.tensor ? indices.only(trip)
                                   : b.create<arith::IndexCastOp>(loc, b.getI64Type(),
                                                                  bodyValue(b, loc, known->front()))
                                         .getResult();
        Value place = words.low(b.create<arith::IndexCastOp>(loc, b.getI64Type(), at[0]));
        Value isSecond =
            b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, place, words.word(4));
        Words counter;
        for (auto [i, word] : llvm::enumerate(counter))
          word = b.create<arith::SelectOp>(loc, isSecond,
                                           indices.element(state, indexConstant(b, loc, 4 + i)),
                                           indices.element(state, indexConstant(b, loc, i)));
        // A node's number in place of the mark would have to be as large.
        counter[2] = words.flip(counter[2], words.word(0x80000000u));
        return words.choose(words.philox(words.low(number), words.high(number), counter), place);
      });
  l.define(op, 0, next, state.sizes, state.elementType);
  return success();
}

void registerRandomLowerings(LoweringRows &rows) {
  rows.add<onnx::DrawOp>({lowerDraw});
  rows.add<onnx::RandomStateOp>({lowerState});
  rows.add<onnx::RandomTripOp>({lowerTrip});
}

} // namespace cameo
