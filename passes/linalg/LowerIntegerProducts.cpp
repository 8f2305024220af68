// MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv: products of 8-bit integers with 32-bit
// sums, exact modulo 2^32. Those of 8-bit floats, which QLinearMatMul has as well, are summed in f32;
// their zero points are zero.
//
//   sum((x - zx) * (w - zw))  ==>  sum(x * w') - zx * sum(w')     w' = w - zw
//
// Where weights are constant, w' and its sums are computed here; so the product has the operands
// that are in memory, and what zero points add is elementwise work on sums. What is around x is
// then zx. Elsewhere zero points are subtracted before the product.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Quantization.h"
#include "passes/linalg/Contraction.h"
#include "passes/linalg/Convolution.h"
#include "passes/linalg/Families.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/NarrowTypes.h"
#include "passes/linalg/Quantization.h"
#include "passes/linalg/ScalarMath.h"

using namespace mlir;

namespace cameo {

namespace {

/// Which operand a scale or zero point belongs to.
enum class Of { Left, Right };

/// Lowers one operator.
class IntegerProduct {
public:
  IntegerProduct(Operation *op, Lowering &l)
      : op(op), l(l), b(op->getContext()), loc(op->getLoc()),
        places(onnx::integerProductOperands(op)), x(l.operand(op, places.x)),
        w(l.operand(op, places.w)) {}

  LogicalResult lowerMatMul();
  LogicalResult lowerConv();

private:
  /// What is done with a sum: the elements of `operands` at `maps` are given with it.
  struct Finish {
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    void add(Read read) {
      operands.push_back(read.tensor);
      maps.push_back(read.map);
    }
  };

  bool isConvolution() const { return conv.has_value(); }
  bool absent(std::optional<unsigned> operand) { return !operand || l.absent(op, *operand); }
  std::optional<SmallVector<int64_t>> known(std::optional<unsigned> operand);
  std::optional<SmallVector<float>> knownScale(unsigned operand);
  bool isZero(unsigned operand);
  int64_t channelOf(int64_t element) const;
  void subtractFromWeights();
  void foldIntoWeights(ArrayRef<int64_t> numbers, ArrayRef<int64_t> zeros);
  void subtractFromInput();
  Lowered less(const Lowered &data, unsigned zero, Of side);
  Lowered batched(const Lowered &operand);
  Read parameterRead(Lowered parameter, Of side);
  Lowered constant(ArrayRef<char> bytes, ArrayRef<int64_t> shape, Type type);
  void addCorrection();
  void addScales();
  Value finished(OpBuilder &nested, Location at, ValueRange args);
  Value product(const Lowered &left, AffineMap leftMap, const Lowered &right, AffineMap rightMap,
                const Sizes &out, AffineMap outMap, ArrayRef<utils::IteratorType> iterators);

  Operation *op;
  Lowering &l;
  Builder b;
  Location loc;
  onnx::IntegerProductOperands places;
  Lowered x, w;
  std::optional<Convolution> conv;
  Sizes out; // loops of the sums

  /// What w' sums up to over the product's depth, where it is constant: of the sizes of w without
  /// its depth, or one number per filter.
  std::optional<SmallVector<int64_t>> weightSums;
  SmallVector<int64_t> sumShape;
  int64_t padding = 0; // zx where it is around x

  Finish finish;
  bool hasCorrection = false, hasProduct = false; // constants to add; zx and sums to multiply
  bool hasBias = false;
  bool oneScale = false; // all of a QLinear operator's scales in one number per channel
};

} // namespace

static bool isNarrow(const Lowered &tensor) { return narrowFloat(tensor.elementType).has_value(); }

/// Inside a dispatch: the sum of products in 32 bits.
static Value sumOf(OpBuilder &b, Location loc, const Lowered &left, AffineMap leftMap,
                   const Lowered &right, AffineMap rightMap, const Sizes &sizes, AffineMap outMap,
                   ArrayRef<utils::IteratorType> iterators) {
  Type type = isNarrow(left) ? Type(b.getF32Type()) : b.getI32Type();
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
  Value init = emptyTensor(b, loc, sizes, type);
  init = b.create<linalg::FillOp>(loc, zero, init).getResult(0);
  auto generic = b.create<linalg::GenericOp>(
      loc, TypeRange{init.getType()}, ValueRange{left.tensor, right.tensor}, ValueRange{init},
      ArrayRef<AffineMap>{leftMap, rightMap, outMap}, iterators,
      [&](OpBuilder &nested, Location at, ValueRange args) {
        Value x = convertScalar(nested, at, args[0], left.elementType, type);
        Value w = convertScalar(nested, at, args[1], right.elementType, type);
        nested.create<linalg::YieldOp>(at, multiplyAccumulate(nested, at, x, w, args[2], type));
      });
  return generic.getResult(0);
}

//===-- What is known -------------------------------------------------------------------------===//

/// The numbers of a constant, 0 where it is absent.
std::optional<SmallVector<int64_t>> IntegerProduct::known(std::optional<unsigned> operand) {
  if (absent(operand))
    return SmallVector<int64_t>{0};
  return onnx::constantInts(op->getOperand(*operand), std::numeric_limits<int64_t>::max());
}

std::optional<SmallVector<float>> IntegerProduct::knownScale(unsigned operand) {
  ElementsAttr value = onnx::constantValue(op->getOperand(operand));
  auto dense = dyn_cast_if_present<DenseFPElementsAttr>(value);
  if (!dense)
    return std::nullopt;
  SmallVector<float> numbers;
  for (APFloat number : dense.getValues<APFloat>()) {
    bool lost;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    numbers.push_back(number.convertToFloat());
  }
  return numbers;
}

bool IntegerProduct::isZero(unsigned operand) {
  if (isNarrow(x))
    return true;
  std::optional<SmallVector<int64_t>> numbers = known(operand);
  return numbers && llvm::all_of(*numbers, [](int64_t number) { return number == 0; });
}

Lowered IntegerProduct::constant(ArrayRef<char> bytes, ArrayRef<int64_t> shape, Type type) {
  ElementsAttr value = onnx::makeConstant(RankedTensorType::get(shape, type), "product", bytes);
  Sizes sizes;
  for (int64_t size : shape)
    sizes.push_back(l.plan.index(size));
  return {l.build.constant(loc, value), sizes, type};
}

//===-- Zero points ---------------------------------------------------------------------------===//

/// A parameter of a tensor in a shape that broadcasts to it.
static Lowered alongTensor(Lowering &l, Location loc, Lowered parameter, int64_t rank,
                           int64_t axis) {
  if (onnx::isOneNumber(parameter.sizes))
    return l.build.reshape(loc, parameter, {});
  if (parameter.rank() != 1 || axis == rank - 1)
    return parameter;
  Sizes sizes(rank - axis, l.plan.index(1));
  sizes.front() = parameter.sizes[0];
  return l.build.reshape(loc, parameter, sizes);
}

/// Numbers less their zero point: 16 bits hold any such difference of two bytes.
Lowered IntegerProduct::less(const Lowered &data, unsigned zero, Of side) {
  int64_t axis = isConvolution() ? 0 : data.rank() - (side == Of::Left ? 2 : 1);
  Lowered parameter =
      alongTensor(l, loc, l.operand(op, zero), data.rank(), std::max<int64_t>(axis, 0));
  Type from = data.elementType, to = b.getI16Type();
  Type zeroType = parameter.elementType;
  Value tensor = l.build.elementwise(loc, {data, parameter}, data.sizes, to,
                                     [&](OpBuilder &nested, Location at, ValueRange args) -> Value {
                                       return nested.create<arith::SubIOp>(
                                           at, convertScalar(nested, at, args[0], from, to),
                                           convertScalar(nested, at, args[1], zeroType, to));
                                     });
  return {tensor, data.sizes, to};
}

/// The channel of the result that a constant weight is for.
int64_t IntegerProduct::channelOf(int64_t element) const {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(w.tensor.getType()).getShape();
  if (isConvolution())
    return element / std::max<int64_t>(ShapedType::getNumElements(shape.drop_front()), 1);
  return shape.size() == 1 ? 0 : element % shape.back();
}

/// w' as bytes where they hold it, and its sums.
void IntegerProduct::foldIntoWeights(ArrayRef<int64_t> numbers, ArrayRef<int64_t> zeros) {
  auto shape = llvm::to_vector(cast<RankedTensorType>(w.tensor.getType()).getShape());
  SmallVector<int64_t> differences;
  int64_t least = 0, most = 0;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    int64_t channel = channelOf(i);
    differences.push_back(number - zeros[zeros.size() == 1 ? 0 : channel]);
    least = std::min(least, differences.back());
    most = std::max(most, differences.back());
  }
  if (llvm::any_of(zeros, [](int64_t zero) { return zero != 0; })) {
    bool isByte = (least >= -128 && most <= 127) || (least >= 0 && most <= 255);
    Type type = !isByte     ? b.getI16Type()
                : least < 0 ? b.getI8Type()
                            : b.getIntegerType(8, /*isSigned=*/false);
    std::vector<char> bytes;
    for (int64_t number : differences) {
      bytes.push_back(char(number));
      if (!isByte)
        bytes.push_back(char(number >> 8));
    }
    w = constant(bytes, shape, type);
  }
  // Over the depth: the last but one dimension of a matrix, the only one of a vector, all but the
  // first of a filter.
  sumShape = isConvolution() ? SmallVector<int64_t>{shape[0]} : shape;
  if (!isConvolution())
    sumShape.erase(shape.size() == 1 ? sumShape.begin() : sumShape.end() - 2);
  int64_t depth = isConvolution() || shape.size() == 1 ? 1 : shape[shape.size() - 2];
  int64_t columns = isConvolution() || shape.size() == 1 ? 1 : shape.back();
  weightSums.emplace(ShapedType::getNumElements(sumShape), 0);
  for (auto [i, number] : llvm::enumerate(differences)) {
    int64_t place = isConvolution()     ? channelOf(i)
                    : shape.size() == 1 ? 0
                                        : i / (depth * columns) * columns + i % columns;
    (*weightSums)[place] += number;
  }
}

void IntegerProduct::subtractFromWeights() {
  std::optional<SmallVector<int64_t>> zeros = known(places.wZero);
  std::optional<SmallVector<int64_t>> numbers = known(places.w);
  bool isVector = absent(places.wZero) || l.operand(op, places.wZero).rank() <= 1 ||
                  onnx::isOneNumber(l.operand(op, places.wZero).sizes);
  if (numbers && zeros && isVector)
    return foldIntoWeights(*numbers, *zeros);
  if (!isZero(places.wZero))
    w = less(w, places.wZero, Of::Right);
}

/// Leaves x as it is where its zero point can be taken from the sums.
void IntegerProduct::subtractFromInput() {
  if (isZero(places.xZero))
    return;
  std::optional<SmallVector<int64_t>> zeros = known(places.xZero);
  bool isOne = zeros && zeros->size() == 1;
  bool isPadded =
      isConvolution() && llvm::any_of(conv->windows, [](const Window &window) {
        return !isConstantIntValue(window.before, 0) || !isConstantIntValue(window.after, 0);
      });
  if (!weightSums || (isPadded && !isOne)) {
    x = less(x, places.xZero, Of::Left);
    return;
  }
  if (isOne) {
    padding = zeros->front();
    for (int64_t &sum : *weightSums)
      sum *= -padding;
    hasCorrection = true;
  } else {
    hasProduct = true;
  }
}

//===-- What is done with sums ----------------------------------------------------------------===//

/// Where a parameter of an operand, or the sums of w', is read for an element of the result.
Read IntegerProduct::parameterRead(Lowered parameter, Of side) {
  MLIRContext *context = op->getContext();
  unsigned rank = out.size();
  auto dim = [&](unsigned i) { return getAffineDimExpr(i, context); };
  AffineExpr zero = getAffineConstantExpr(0, context);
  SmallVector<AffineExpr> place;
  if (onnx::isOneNumber(parameter.sizes)) {
    place.assign(parameter.rank(), zero);
  } else if (isConvolution()) {
    place.push_back(dim(1));
    if (conv->isGrouped()) {
      parameter = l.build.reshape(loc, parameter, {l.plan.index(conv->groups), out[2]});
      place.push_back(dim(2));
    }
  } else {
    bool hasN = l.operand(op, places.w).rank() > 1;
    bool hasM = x.rank() > 1;
    unsigned batches = rank - hasM - hasN, rows = batches, columns = batches + hasM;
    if (parameter.rank() == 1) {
      place.push_back(dim(side == Of::Left ? rows : columns));
    } else {
      int64_t own = parameter.rank() - 2;
      for (int64_t i = 0; i < own; ++i)
        place.push_back(isConstantIntValue(parameter.sizes[i], 1) ? zero : dim(batches - own + i));
      if (side == Of::Left)
        place.append({dim(rows), zero});
      else
        place.append({zero, dim(columns)});
    }
  }
  return {parameter.tensor, AffineMap::get(rank, 0, place, context)};
}

/// Constants to add, or sums to multiply by the zero point, and the bias.
void IntegerProduct::addCorrection() {
  if (!absent(places.bias)) {
    std::optional<SmallVector<int64_t>> bias = known(places.bias);
    if (bias && weightSums && (hasCorrection || isZero(places.xZero))) {
      // One vector has both.
      for (auto [i, sum] : llvm::enumerate(*weightSums))
        sum = (hasCorrection ? sum : 0) + (*bias)[i];
      hasCorrection = true;
    } else {
      hasBias = true;
    }
  }
  if (hasCorrection || hasProduct) {
    SmallVector<int32_t> sums(weightSums->begin(), weightSums->end()); // modulo 2^32
    Lowered numbers = constant({reinterpret_cast<const char *>(sums.data()), sums.size() * 4},
                               sumShape, b.getI32Type());
    if (!isConvolution() && numbers.rank() > 1) { // with a batch: as if there were rows
      Sizes sizes(numbers.sizes);
      sizes.insert(sizes.end() - 1, l.plan.index(1));
      numbers = l.build.reshape(loc, numbers, sizes);
    }
    finish.add(parameterRead(numbers, Of::Right));
  }
  if (hasProduct)
    finish.add(parameterRead(l.operand(op, places.xZero), Of::Left));
  if (hasBias)
    finish.add(parameterRead(l.operand(op, *places.bias), Of::Right));
}

/// Scales that are known are one number, or one a channel, rounded as ONNX Runtime does.
void IntegerProduct::addScales() {
  std::optional<SmallVector<float>> ofX = knownScale(*places.xScale);
  std::optional<SmallVector<float>> ofW = knownScale(*places.wScale);
  std::optional<SmallVector<float>> ofY = knownScale(*places.yScale);
  Lowered scale = l.operand(op, *places.wScale);
  oneScale = ofX && ofW && ofY && ofX->size() == 1 && ofY->size() == 1 && scale.rank() <= 1;
  if (oneScale) {
    SmallVector<float> numbers;
    for (float number : *ofW)
      numbers.push_back(ofX->front() * number / ofY->front());
    auto shape = cast<RankedTensorType>(scale.tensor.getType()).getShape();
    Lowered all = constant({reinterpret_cast<const char *>(numbers.data()), numbers.size() * 4},
                           shape, b.getF32Type());
    finish.add(parameterRead(all, Of::Right));
  } else {
    finish.add(parameterRead(l.operand(op, *places.xScale), Of::Left));
    finish.add(parameterRead(scale, Of::Right));
    finish.add(parameterRead(l.operand(op, *places.yScale), Of::Left));
  }
  if (!isZero(*places.yZero))
    finish.add(parameterRead(l.operand(op, *places.yZero), Of::Left));
}

/// The result's element of a sum and the elements of `finish.operands`.
Value IntegerProduct::finished(OpBuilder &nested, Location at, ValueRange args) {
  Value sum = args[0];
  ScalarMath m(nested, at, sum.getType(), false);
  args = args.drop_front();
  auto next = [&] {
    Value first = args.front();
    args = args.drop_front();
    return first;
  };
  if (hasCorrection)
    sum = m.add(sum, next());
  if (hasProduct) {
    Value sums = next();
    Type type = Lowering::elementType(op->getOperand(places.xZero));
    sum = m.sub(sum, m.mul(convertScalar(nested, at, next(), type, m.type), sums));
  }
  if (hasBias)
    sum = m.add(sum, next());
  if (!places.xScale)
    return sum;
  ScalarMath real(nested, at, nested.getF32Type(), false);
  auto scaleOf = [&](unsigned operand) {
    return convertScalar(nested, at, next(), Lowering::elementType(op->getOperand(operand)),
                         real.type);
  };
  Value scale;
  if (oneScale) {
    scale = next();
  } else {
    Value ofX = scaleOf(*places.xScale), ofW = scaleOf(*places.wScale);
    scale = real.div(real.mul(ofX, ofW), scaleOf(*places.yScale));
  }
  Value number = real.mul(convertScalar(nested, at, sum, m.type, real.type), scale);
  return quantizedScalar(nested, at, number, args.empty() ? Value() : next(),
                         Lowering::elementType(op->getResult(0)));
}

/// A dispatch of the sums and what is done with them.
Value IntegerProduct::product(const Lowered &left, AffineMap leftMap, const Lowered &right,
                              AffineMap rightMap, const Sizes &sizes, AffineMap outMap,
                              ArrayRef<utils::IteratorType> iterators) {
  Type type = Lowering::elementType(op->getResult(0));
  return l.build.dispatch(
      loc, OutputSpec{sizes, type}, [&](OpBuilder &inner, Location at, ValueRange inits) {
        Lowered padded = left;
        if (isConvolution()) {
          Sizes before, after;
          for (const Window &window : conv->windows) {
            before.push_back(window.before);
            after.push_back(window.after);
          }
          auto element = inner.getIntegerAttr(
              signless(left.elementType),
              APInt(64, padding).trunc(left.elementType.getIntOrFloatBitWidth()));
          padded.tensor = padWith(l, inner, at, left, before, after, element);
        }
        Value sum = sumOf(inner, at, padded, leftMap, right, rightMap, sizes, outMap, iterators);
        if (finish.operands.empty() && !places.xScale)
          return SmallVector<Value>{sum};
        auto body = [&](OpBuilder &nested, Location where, ValueRange args) {
          return finished(nested, where, args);
        };
        return SmallVector<Value>{
            epilogue(inner, at, sum, inits[0], finish.operands, finish.maps, type, body)};
      })[0];
}

//===-- Operators -----------------------------------------------------------------------------===//

/// An operand whose batch sizes are 1 or the result's for certain.
Lowered IntegerProduct::batched(const Lowered &operand) {
  int64_t own = std::max<int64_t>(operand.rank() - 2, 0);
  int64_t batches = static_cast<int64_t>(out.size()) - (x.rank() > 1) - (w.rank() > 1);
  Sizes whole = operand.sizes;
  for (int64_t i = 0; i < own; ++i)
    whole[i] = out[batches - own + i];
  return certain(l, loc, operand, whole);
}

LogicalResult IntegerProduct::lowerMatMul() {
  FailureOr<Sizes> sizes = onnx::inferIntegerMatMul(l.plan, op, l.shapes.operands(op));
  if (failed(sizes))
    return failure();
  out = *sizes;
  x = batched(x);
  w = batched(w);
  subtractFromWeights();
  subtractFromInput();
  addCorrection();
  if (places.xScale)
    addScales();
  ProductLoops loops = productLoops(op->getContext(), x, w, out);
  Value result = product(x, loops.left, w, loops.right, out, loops.out, loops.iterators);
  l.define(op, 0, result, out, Lowering::elementType(op->getResult(0)));
  return success();
}

LogicalResult IntegerProduct::lowerConv() {
  FailureOr<onnx::WindowShape> shape = onnx::inferIntegerConv(l.plan, op, l.shapes.operands(op));
  if (failed(shape))
    return failure();
  conv = Convolution{x, w, {}, intAttribute(op, "group", 1), shape->windows, shape->result};
  subtractFromWeights();
  subtractFromInput();
  conv->x = x;
  conv->w = w;
  GroupedOperands operands = groupedOperands(l, loc, *conv);
  out = operands.out;
  addCorrection();
  if (places.xScale)
    addScales();
  ConvolutionLoops loops = convolutionLoops(op->getContext(), *conv);
  Value result = product(operands.input, loops.input, operands.weight, loops.weight, out, loops.out,
                         loops.iterators);
  Type type = Lowering::elementType(op->getResult(0));
  l.define(op, 0, l.build.reshape(loc, Lowered{result, out, type}, conv->result));
  return success();
}

static LogicalResult lowerIntegerMatMul(Operation *op, Lowering &l) {
  return IntegerProduct(op, l).lowerMatMul();
}

static LogicalResult lowerIntegerConv(Operation *op, Lowering &l) {
  return IntegerProduct(op, l).lowerConv();
}

void registerIntegerProducts(LoweringRows &rows) {
  rows.add<onnx::MatMulIntegerOp>({lowerIntegerMatMul});
  rows.add<onnx::QLinearMatMulOp>({lowerIntegerMatMul});
  rows.add<onnx::ConvIntegerOp>({lowerIntegerConv});
  rows.add<onnx::QLinearConvOp>({lowerIntegerConv});
}

} // namespace cameo
