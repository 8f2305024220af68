// Quantises what products read, by ranges that were recorded.
//
//   %1 = onnx.Conv(%x, %w, %b)   ==>   %q = onnx.QuantizeLinear(%x, %s, %zero)
//                                      %d = onnx.DequantizeLinear(%q, %s, %zero)
//                                      %e = onnx.DequantizeLinear(%w', %t, %none)   by channel
//                                      %c = onnx.DequantizeLinear(%b', %st, %none)  of 32 bits
//                                      %1 = onnx.Conv(%d, %e, %c)
//
// Symmetric: zero points are 0, scales have few bits (QuantizedValue.h), and clip neither a threshold
// nor a channel's greatest weight. Scales of weights grow where the bias of a channel would leave 32
// bits otherwise.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Permutations.h"
#include "passes/precision/BiasCorrection.h"
#include "passes/precision/QuantizationPlan.h"
#include "passes/precision/QuantizedProduct.h"
#include "passes/precision/QuantizedWeights.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_INSERTQUANTIZATION
#include "passes/Passes.h.inc"

namespace {

struct InsertQuantization : impl::InsertQuantizationBase<InsertQuantization> {
  using InsertQuantizationBase::InsertQuantizationBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions = untypedFunctions(getOperation());
    if (functions.empty())
      return;
    if (failed(readOptions(functions)))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      if (failed(quantizeFunction(function)))
        return signalPassFailure();
  }

private:
  /// Values that cross the border of a function are floats.
  LogicalResult quantizeFunction(func::FuncOp function) {
    FailureOr<RecordedRanges> attached = RecordedRanges::of(function);
    if (failed(attached))
      return failure();
    recorded = std::move(*attached);
    dequantized.clear();
    inputNames.clear();
    divided.clear();
    rt::Ledger ledger(function);
    plan = planQuantization(function, recorded, overrides, {all, *keptEnds, scaleChannels});
    for (const QuantizationPlan::Product &product : plan.products)
      inputNames[product.op] = valueName(product.op->getOperand(0));
    std::map<std::pair<void *, float>, Value> parts;
    for (auto [part, scale] : plan.apart) {
      Value value = part->get(), &known = parts[{value.getAsOpaquePointer(), scale}];
      if (!known)
        known = quantize(value, scale, ".part");
      part->set(known);
      ledger.chosen("precision", part->getOwner()->getLoc(),
                    "'" + valueName(value) +
                        "' quantised once more: others read it in a scale of its own");
    }
    for (auto &[value, scale] : plan.scales)
      dequantized[value] = quantize(value, scale);
    readQuantized();
    recordScaled(ledger);
    if (!plan.channels.empty())
      llvm::cantFail(recorded.attach(function, /*modelHash=*/""));
    for (const QuantizationPlan::Product &product : plan.products)
      finish(product, ledger);
    return success();
  }

  LogicalResult readOptions(ArrayRef<func::FuncOp> functions);
  Value quantize(Value value, float scale, StringRef suffix = "");
  Value multiply(Value value, const QuantizationPlan::Scaled &scaled, const Twine &name,
                 bool isInverse);
  void readQuantized();
  void recordScaled(rt::Ledger &ledger);
  const QuantizationPlan::Scaled *scaledOf(Value value) const;
  void finish(const QuantizationPlan::Product &product, rt::Ledger &ledger);
  void quantizeConstants(Operation *product, rt::Ledger &ledger);
  void correctBias(Operation *product, const Elements &weights, const QuantizedWeights &quantized,
                   std::optional<std::vector<double>> &bias, rt::Ledger &ledger);

  bool all = false, correctsBiases = false;
  std::optional<KeptEnds> keptEnds;
  PrecisionOverrides overrides;
  RecordedRanges recorded;
  QuantizationPlan plan;
  llvm::DenseMap<Value, Value> dequantized;
  llvm::DenseMap<Operation *, std::string> inputNames;   // of products, before they are quantised
  llvm::DenseMap<Operation *, ChannelExponents> divided; // by what weights of products are
};

} // namespace

LogicalResult InsertQuantization::readOptions(ArrayRef<func::FuncOp> functions) {
  auto fail = [&](const Twine &what) -> LogicalResult {
    return emitError(func::FuncOp(functions.front()).getLoc()) << what;
  };
  all = precision == precisionName(Precision::INT8);
  keptEnds = parseKeptEnds(keptEndsName);
  if (!keptEnds)
    return fail("--keep-ends: '" + keptEndsName + "' is not one of none, first, last and both");
  if (!llvm::is_contained({"on", "off", "recorded"}, StringRef(correctBiases)))
    return fail("--correct-biases: '" + correctBiases + "' is not one of on, off and recorded");
  llvm::Expected<PrecisionOverrides> given = PrecisionOverrides::parse(overrideList);
  if (!given)
    return fail("--precision-of: " + llvm::toString(given.takeError()));
  overrides = std::move(*given);
  bool isAsked = all || llvm::any_of(overrides.all(), [](const PrecisionOverride &override) {
                   return override.precision == Precision::INT8;
                 });
  if (!isAsked)
    return success();
  // All have those of one file.
  FailureOr<RecordedRanges> attached = RecordedRanges::of(functions.front());
  if (failed(attached))
    return failure();
  if (attached->file.empty())
    return fail("INT8 needs the ranges of the model's values, recorded while it runs on sample "
                "data, and there are none");
  correctsBiases = correctBiases == "recorded" ? attached->correctsBiases : correctBiases == "on";
  if (correctsBiases && !attached->inputs)
    return fail("bias correction needs means of what products read, and '" + attached->file +
                "' has none: calibration records them where it is asked for");
  return success();
}

//===-- Values --------------------------------------------------------------------------------===//

static Operation *withDims(Operation *op, Value from) {
  auto type = dyn_cast<RankedTensorType>(from.getType());
  if (ArrayAttr dims = knownDims(from); dims && type && !type.hasStaticShape())
    setDims(op, dims.getValue());
  return op;
}

/// Multiplies channels by their powers of two, or by the inverses.
Value InsertQuantization::multiply(Value value, const QuantizationPlan::Scaled &scaled,
                                   const Twine &name, bool isInverse) {
  OpBuilder b(&getContext());
  b.setInsertionPointAfterValue(value);
  Location loc = namedLocation(value.getLoc(), name);
  Value factors = createChannelFactors(b, namedLocation(loc, name + ".factors"), rankOf(value),
                                       scaled.axis, scaled.exponents, isInverse);
  Operation *product = b.create<onnx::MulOp>(
      loc, TypeRange{value.getType()}, ValueRange{value, factors}, ArrayRef<NamedAttribute>());
  return withDims(product, value)->getResult(0);
}

const QuantizationPlan::Scaled *InsertQuantization::scaledOf(Value value) const {
  auto found = plan.channels.find(value);
  return found == plan.channels.end() ? nullptr : &found->second;
}

/// Products take over the factors of channels that are scaled, and all others multiply them away.
void InsertQuantization::readQuantized() {
  llvm::DenseMap<Value, Value> unscaled;
  auto withoutFactors = [&](Value value, Value scaled) {
    Value &known = unscaled[value];
    if (!known)
      known = multiply(scaled, *scaledOf(value), valueName(value) + ".unscaled", true);
    return known;
  };
  for (OpOperand *reader : plan.readers) {
    Value value = reader->get(), now = dequantized.lookup(value);
    Operation *user = reader->getOwner();
    if (const QuantizationPlan::Scaled *scaled = scaledOf(value)) {
      if (policyOf(user).role == Role::Product)
        divideWeights(user, divided[user] = scaled->exponents);
      else if (now && !(movesElements(user) && scaledOf(user->getResult(0))))
        now = withoutFactors(value, now);
    }
    if (now) // none of what is moved on the way
      reader->set(now);
  }
  auto isOfMoved = [&](OpOperand &operand) {
    return plan.readers.contains(&operand) || plan.apart.contains(&operand);
  };
  for (auto &[value, scaled] : plan.channels) {
    Operation *op = value.getDefiningOp();
    // Movement of floats has no factors to undo.
    if (dequantized.contains(value) || !op || !movesElements(op) ||
        !llvm::any_of(op->getOpOperands(), isOfMoved))
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses()))
      if (!plan.readers.contains(&use))
        use.set(withoutFactors(value, value));
  }
}

void InsertQuantization::recordScaled(rt::Ledger &ledger) {
  for (auto &[value, scaled] : plan.channels) {
    if (!dequantized.contains(value))
      continue;
    auto [least, most] = std::minmax_element(scaled.exponents.begin(), scaled.exponents.end());
    ledger.chosen("precision", value.getLoc(),
                  "channels of '" + valueName(value) + "' scaled, by factors from 2^" +
                      Twine(int(*least)) + " to 2^" + Twine(int(*most)));
    count(&getContext(), getArgument(), "scaled");
  }
  for (auto &[value, why] : plan.unscaled)
    ledger.missed("precision", value.getLoc(), "channels not scaled", why);
}

/// The value behind a pair, which is inserted right behind what makes it.
Value InsertQuantization::quantize(Value value, float number, StringRef suffix) {
  OpBuilder b(&getContext());
  Location loc = value.getLoc();
  std::string name = valueName(value) + suffix.str();
  if (const QuantizationPlan::Scaled *scaled = scaledOf(value)) {
    value = multiply(value, *scaled, name + ".scaled", /*isInverse=*/false);
    // Numbers beyond are clipped, so that nothing has to be kept wide for them.
    double most = number * kLastQuantum;
    recorded.byName[name + ".scaled"] = {-most, most, number};
  }
  b.setInsertionPointAfterValue(value);
  Value scale = createScales(b, namedLocation(loc, name + ".scale"), number > 0 ? number : 1.0f,
                             /*shape=*/{});
  auto zeroType = RankedTensorType::get({}, b.getI8Type());
  Value zero = createConstant(b, namedLocation(loc, name + ".zero"),
                              DenseElementsAttr::get(zeroType, b.getI8IntegerAttr(0)));
  auto type = cast<TensorType>(value.getType());
  Operation *numbers = withDims(
      b.create<onnx::QuantizeLinearOp>(namedLocation(loc, name + ".quantized"),
                                       TypeRange{type.cloneWith(std::nullopt, b.getI8Type())},
                                       ValueRange{value, scale, zero}, ArrayRef<NamedAttribute>()),
      value);
  Operation *back =
      withDims(b.create<onnx::DequantizeLinearOp>(
                   namedLocation(loc, name + ".dequantized"), TypeRange{type},
                   ValueRange{numbers->getResult(0), scale, zero}, ArrayRef<NamedAttribute>()),
               value);
  count(&getContext(), getArgument(), "values");
  return back->getResult(0);
}

//===-- Weights -------------------------------------------------------------------------------===//

static Value dequantize(OpBuilder &b, Operation *product, StringRef what, ElementsAttr numbers,
                        ArrayRef<float> scales, std::optional<int64_t> axis) {
  std::string name = (nodeName(product) + "." + what).str();
  SmallVector<int64_t> shape;
  if (axis)
    shape.push_back(scales.size());
  return dequantizeConstant(b, product->getLoc(), name, numbers, scales, shape, axis);
}

/// The scale of an operand that is dequantised, and moved after that.
static double scaleOf(Value operand) {
  while (movesElements(operand.getDefiningOp()))
    operand = operand.getDefiningOp()->getOperand(0);
  std::optional<QuantizedValue> value = QuantizedValue::dequantized(operand);
  return value ? value->scale(0) : 1;
}

/// A bias that is added to sums of integers as they are: one number per channel, in their scale.
static std::optional<std::vector<double>> biasOf(Operation *product) {
  auto gemm = dyn_cast<onnx::GemmOp>(product);
  if (product->getNumOperands() < 3 || rankOf(product->getOperand(2)) != 1 ||
      (gemm && !(gemm.getAlpha().isExactlyValue(1.0f) && gemm.getBeta().isExactlyValue(1.0f))))
    return std::nullopt;
  std::optional<Elements> elements = Elements::of(onnx::constantValue(product->getOperand(2)));
  if (!elements || elements->kind != onnx::ElementKind::F32)
    return std::nullopt;
  return readDoubles(*elements);
}

/// Gives a product that may have a bias one of zeros where it has none.
static void addBias(Operation *product, int64_t channels) {
  if (!isa<onnx::ConvOp, onnx::GemmOp>(product) ||
      (product->getNumOperands() > 2 && !onnx::isAbsent(product->getOperand(2))))
    return;
  OpBuilder b(product);
  auto type = RankedTensorType::get({channels}, b.getF32Type());
  Value zeros = createConstant(b, namedLocation(product->getLoc(), nodeName(product) + ".bias"),
                               DenseElementsAttr::get(type, 0.0f));
  if (product->getNumOperands() > 2)
    product->setOperand(2, zeros);
  else
    product->insertOperands(2, zeros);
}

/// Takes what quantisation adds to the mean of each channel from the bias.
void InsertQuantization::correctBias(Operation *product, const Elements &weights,
                                     const QuantizedWeights &quantized,
                                     std::optional<std::vector<double>> &bias, rt::Ledger &ledger) {
  std::string why;
  if (!bias)
    why = "it has no bias of one number per channel";
  std::optional<std::vector<double>> error;
  if (bias)
    error = meanError(
        product, {readElements<float>(weights), quantized.numbers, quantized.scales}, recorded,
        {inputNames[product], float(scaleOf(product->getOperand(0))), divided.lookup(product)},
        why);
  if (!error) {
    ledger.missed("precision", product->getLoc(), "bias not corrected", why);
    return;
  }
  if (bias->size() == 1)
    bias->assign(error->size(), double(bias->front()));
  for (auto [number, difference] : llvm::zip(*bias, *error))
    number -= difference;
  count(&getContext(), getArgument(), "corrected");
}

void InsertQuantization::quantizeConstants(Operation *product, rt::Ledger &ledger) {
  OpBuilder b(product);
  bool isCorrected = correctsBiases && onnx::constantValue(product->getOperand(1));
  if (std::optional<int64_t> axis = channelAxis(product); isCorrected && axis)
    addBias(product, cast<RankedTensorType>(product->getOperand(1).getType()).getDimSize(*axis));
  std::optional<std::vector<double>> bias = biasOf(product);
  SmallVector<Operation *> before;
  std::vector<float> scales{1};
  std::optional<int64_t> axis;
  for (unsigned i : {0, 1}) {
    Value operand = product->getOperand(i);
    std::optional<Elements> elements = Elements::of(onnx::constantValue(operand));
    if (!elements)
      continue;
    bool isRight = i == 1;
    QuantizedWeights weights =
        quantizeWeights(*elements, isRight ? channelAxis(product) : std::nullopt,
                        isRight && bias ? ArrayRef(*bias) : ArrayRef<double>(),
                        isRight ? scaleOf(product->getOperand(0)) : 1);
    if (isRight && isCorrected)
      correctBias(product, *elements, weights, bias, ledger);
    auto type = RankedTensorType::get(elements->shape(), b.getI8Type());
    ArrayRef<char> bytes(reinterpret_cast<const char *>(weights.numbers.data()),
                         weights.numbers.size());
    StringRef what = isRight ? "weights" : "left";
    std::string name = (nodeName(product) + "." + what).str();
    product->setOperand(i, dequantize(b, product, what, onnx::makeConstant(type, name, bytes),
                                      weights.scales, weights.axis));
    before.push_back(operand.getDefiningOp());
    if (weights.widened)
      ledger.chosen("precision", product->getLoc(),
                    "scales of weights widened for " + Twine(weights.widened) +
                        " channels, whose biases would leave 32 bits");
    if (isRight) {
      scales = weights.scales;
      axis = weights.axis;
    }
  }
  if (bias && onnx::constantValue(product->getOperand(2)) && axis) {
    std::vector<int64_t> integers;
    for (auto [i, scale] : llvm::enumerate(scales)) {
      scale = float(scale * scaleOf(product->getOperand(0)));
      double number = std::nearbyint((*bias)[bias->size() == 1 ? 0 : i] / scale);
      integers.push_back(int64_t(std::clamp(number, -0x1p31, 0x1p31 - 1)));
    }
    std::vector<char> bytes = writeElements<int64_t>(onnx::ElementKind::I32, integers);
    auto type = RankedTensorType::get({int64_t(integers.size())}, b.getI32Type());
    std::string name = (nodeName(product) + ".bias").str();
    before.push_back(product->getOperand(2).getDefiningOp());
    product->setOperand(2, dequantize(b, product, "bias",
                                      onnx::makeConstant(type, name, ArrayRef<char>(bytes)), scales,
                                      0));
  }
  for (Operation *constant : before)
    if (constant->use_empty())
      constant->erase();
}

//===-- Products ------------------------------------------------------------------------------===//

void InsertQuantization::finish(const QuantizationPlan::Product &product, rt::Ledger &ledger) {
  Operation *op = product.op;
  if (product.isInteger()) {
    quantizeConstants(op, ledger);
    count(&getContext(), getArgument(), "products");
    return;
  }
  op->setAttr(kKeptPrecisionAttr, StringAttr::get(&getContext(), product.why));
  count(&getContext(), getArgument(), "kept");
  if (StringRef(product.why).starts_with(kAskedPrecision))
    return; // recorded by cameo-lower-precision, with what it is then
  ledger.missed("precision", op->getLoc(), "not quantised", product.why);
}

} // namespace cameo
