// The differences of docs/onnx.md: to which nodes each can apply, as far as the model says.
// test/e2e/differences.py holds both against each other.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Differences.h"

#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
namespace cameo::onnx {
namespace {

/// The element type of a node's first input, where that is known.
Type elementOf(Operation *op) {
  auto tensor = op->getNumOperands() ? dyn_cast<TensorType>(op->getOperand(0).getType()) : nullptr;
  return tensor ? tensor.getElementType() : Type();
}

bool isReal(Operation *op) { return isa_and_nonnull<FloatType>(elementOf(op)); }
bool isWhole(Operation *op) { return isa_and_nonnull<IntegerType>(elementOf(op)); }
bool isHalf(Operation *op) {
  Type type = elementOf(op);
  return type && (type.isF16() || type.isBF16());
}
bool always(Operation *) { return true; }
bool isScalar(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  return type && type.getRank() == 0;
}

bool has(Operation *op, StringRef attribute, StringRef value) {
  auto text = op->getAttrOfType<StringAttr>(attribute);
  return text && text.getValue() == value;
}

bool isSet(Operation *op, StringRef attribute) {
  auto number = op->getAttrOfType<IntegerAttr>(attribute);
  return number && number.getInt() != 0;
}

bool lacksCondition(Operation *op) { return isAbsent(op->getOperand(1)); }

bool isPresent(Operation *op, unsigned operand) {
  return operand < op->getNumOperands() && !isAbsent(op->getOperand(operand));
}

bool hasOutputShape(Operation *op) { return isPresent(op, 2); }

bool alignsScaled(Operation *op) {
  return has(op, "coordinate_transformation_mode", "align_corners") && isPresent(op, 2);
}

bool halfPixel(Operation *op) {
  return has(op, "coordinate_transformation_mode", "pytorch_half_pixel");
}

bool isCubicAtBorder(Operation *op) {
  return has(op, "mode", "cubic") && has(op, "padding_mode", "border");
}
/// As far as is known, a spatial dimension of one element.
bool hasOneElement(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  return !type || type.getRank() < 3 ||
         llvm::any_of(
             type.getShape().drop_front(2),
             [](int64_t n) { return n == 1 || ShapedType::isDynamic(n); });
}
bool reflectsCorners(Operation *op) {
  return has(op, "padding_mode", "reflection") && isSet(op, "align_corners") && hasOneElement(op);
}
bool interpolatesWhole(Operation *op) { return isWhole(op) && !has(op, "mode", "nearest"); }
bool takesMaximum(Operation *op) { return isa<MaxRoiPoolOp>(op) || has(op, "mode", "max"); }

bool castsToInteger(Operation *op) {
  auto result = dyn_cast<TensorType>(op->getResult(0).getType());
  return isReal(op) && result && isa<IntegerType>(result.getElementType()) &&
         !result.getElementType().isInteger(1);
}

bool reflects(Operation *op) { return has(op, "mode", "reflect"); }

bool crops(Operation *op) {
  std::optional<SmallVector<int64_t>> pads = constantInts(op->getOperand(1));
  return !pads || llvm::any_of(*pads, [](int64_t pad) { return pad < 0; });
}

bool windowed(Operation *op) {
  auto autoPad = op->getAttrOfType<StringAttr>("auto_pad");
  return isSet(op, "ceil_mode") || (autoPad && autoPad.getValue() != "NOTSET") ||
         (isa<MaxPoolOp>(op) && !op->getResult(1).use_empty());
}

bool paddedItself(Operation *op) {
  auto autoPad = op->getAttrOfType<StringAttr>("auto_pad");
  return autoPad && autoPad.getValue() != "NOTSET";
}

bool hasEvenSize(Operation *op) {
  auto size = op->getAttrOfType<IntegerAttr>("size");
  return size && size.getInt() % 2 == 0;
}

bool unbounded(Operation *op) { return isReal(op) && (!isPresent(op, 1) || !isPresent(op, 2)); }
bool bounded(Operation *op) { return isReal(op) && (isPresent(op, 1) || isPresent(op, 2)); }
bool wasFlattened(Operation *op) { return op->hasAttr(kRowsAttr); }
bool givenAtRunTime(Operation *op) { return !constantValue(op->getOperand(1)); }

bool hidesKeys(Operation *op) { return isPresent(op, 3); }
bool capsMasked(Operation *op) {
  auto cap = op->getAttrOfType<FloatAttr>("softcap");
  return cap && cap.getValueAsDouble() > 0 && (isPresent(op, 3) || isSet(op, "is_causal"));
}
bool hasLengths(Operation *op) { return isPresent(op, 4); }
bool hasOwnLengths(Operation *op) { return hasLengths(op) && !constantValue(op->getOperand(4)); }
bool hasThresholds(Operation *op) {
  auto names = op->getAttrOfType<ArrayAttr>("activations");
  auto alphas = op->getAttrOfType<DenseF32ArrayAttr>("activation_alpha");
  auto isThreshold = [](StringAttr name) {
    return name.getValue().equals_insensitive("ThresholdedRelu");
  };
  return names && (!alphas || alphas.size() < int64_t(names.size())) &&
         llvm::any_of(names.getAsRange<StringAttr>(), isThreshold);
}
/// Has what ONNX's reference leaves out.
bool hasMoreThanGates(Operation *op) {
  return hasLengths(op) || op->hasAttr("activations") || op->hasAttr("clip") ||
         isSet(op, "input_forget") || has(op, "direction", "reverse") ||
         has(op, "direction", "bidirectional");
}
/// As far as is known, a scalar `split` of 1.
bool splitsOnes(Operation *op) {
  auto keeps = op->getAttrOfType<IntegerAttr>("keepdims");
  auto split = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  std::optional<SmallVector<int64_t>> size = constantInts(op->getOperand(1));
  return keeps && keeps.getInt() == 0 && split && split.getRank() == 0 &&
         (!size || size->front() == 1);
}
bool weighsSequences(Operation *op) { return op->hasAttr("weights") && !has(op, "mode", "TF"); }
bool showsScores(Operation *op) {
  return isSet(op, "qk_matmul_output_mode") && !op->getResult(3).use_empty();
}

template <typename... Ops> bool of(Operation *op) { return isa<Ops...>(op); }

struct Difference {
  bool (*isOf)(Operation *);
  bool (*applies)(Operation *);
  const char *text;
  const char *followed;
};

constexpr const char *kReference = "; ONNX's reference is followed";
/// Neither, or neither alone.
constexpr const char *kOpen =
    "; ONNX's reference, ONNX Runtime and Cameo may give different results";
constexpr const char *kText = "; the specification's text and ONNX Runtime are followed";

// In the order of the page.
constexpr Difference differences[] = {
    {of<ResizeOp>, alignsScaled,
     "corners are aligned with the length before it is cut to a whole number, where size times "
     "scale is none",
     kReference},
    {of<ReduceMaxOp, ReduceMinOp>, isReal, "a NaN makes the result NaN", kReference},
    {of<ReduceL1Op, ReduceProdOp, ReduceSumOp, ReduceSumSquareOp>, isWhole,
     "sums and products wrap around", kReference},
    {of<ReduceMeanOp>, isReal, "the mean of no elements is NaN", kReference},
    {of<MeanVarianceNormalizationOp>, always, "elements that are all equal become 0", kReference},
    {of<ClipOp>, bounded, "a bound that is NaN makes the result NaN", kReference},
    {of<ClipOp>, unbounded, "an infinity is left where there is no bound", kReference},
    {of<PadOp>, reflects, "a pad beyond the size goes back and forth", kReference},
    {of<MaxPoolOp>, isReal, "the greatest of nothing but -inf is -inf", kReference},
    {of<GridSampleOp>, isCubicAtBorder, "coordinates outside are moved to the border", kReference},
    {of<AttentionOp>, hidesKeys, "a mask is broadcast to the queries, and hides the keys it lacks",
     kReference},
    {of<BernoulliOp>, always, "it is true with the probability given, not with the opposite",
     kReference},
    {of<MaxUnpoolOp>, hasOutputShape, "places are those of the shape that the windows make",
     kReference},
    {of<AttentionOp>, hidesKeys, "a query that sees no key makes 0", kText},
    {of<AttentionOp>, capsMasked, "scores are capped before they are masked", kText},
    {of<AttentionOp>, showsScores, "qk_matmul_output 1 has capped scores, and 2 the mask, too",
     kText},
    {of<FlattenOp>, wasFlattened, "Softmax and its like before opset 13 work on rows of a matrix",
     kText},
    {of<ConvOp>, paddedItself, "auto_pad pads as its text says", kText},
    {of<AveragePoolOp, LpPoolOp, MaxPoolOp>, windowed,
     "ceil_mode, auto_pad and Indices are as their text says", kText},
    {of<GridSampleOp>, reflectsCorners, "a dimension of one element is reflected to that element",
     kText},
    {of<DeformConvOp>, hasOneElement, "a dimension of one element is sampled as any other", kText},
    {of<OneHotOp>, always, "an index outside of the depth is off everywhere", kText},
    {of<LRNOp>, always, "squares of the channels around are summed", kText},
    {of<ReduceLogSumExpOp>, isReal, "the result of nothing but -inf is -inf", kText},
    {of<ReduceL2Op, ReduceLogSumOp, ReduceLogSumExpOp, ReduceMeanOp>, isWhole,
     "integers are reduced as floating-point numbers and the result is cut", kText},
    {of<QuantizeLinearOp>, isHalf, "quotients are not rounded to 16 bits", kText},
    {of<SplitToSequenceOp>, splitsOnes, "parts of one entry lose the axis with keepdims 0",
     "; ONNX Runtime is followed, as torch writes unbind"},
    {of<DynamicQuantizeLinearOp>, always, "the scale of nothing but zeros is 1", kText},
    {of<PowOp>, isWhole, "a negative power is cut to a whole number", kText},
    {of<ResizeOp>, halfPixel, "one element is taken from coordinate 0", kText},
    {of<PadOp>, crops, "negative pads take elements away", kText},
    {of<TfIdfVectorizerOp>, weighsSequences,
     "weights are those of sequences of the pool, not of columns", kText},
    {of<GRUOp, LSTMOp, RNNOp>, hasMoreThanGates,
     "directions, sequence_lens, activations, clip and input_forget are as their text says", kText},
    {of<CastOp>, castsToInteger, "what no integer of the type can hold is undefined", kOpen},
    {of<LoopOp>, lacksCondition, "what the body yields as its condition is ignored", kOpen},
    {of<LRNOp>, hasEvenSize, "one channel more is summed behind than before", kOpen},
    {of<AveragePoolOp, LpPoolOp, MaxPoolOp>, paddedItself,
     "windows begin at the first element where they are shorter than their stride", kOpen},
    {of<ConvTransposeOp>, paddedItself, "what no window reaches is behind the others", kOpen},
    {of<ArgMaxOp, ArgMinOp, HardmaxOp>, isReal, "a NaN is passed over", kOpen},
    {of<GlobalMaxPoolOp, MaxPoolOp>, isReal, "a NaN makes the result NaN", kOpen},
    {of<MaxRoiPoolOp, RoiAlignOp>, takesMaximum, "a NaN makes the result NaN", kOpen},
    {of<MaxRoiPoolOp, RoiAlignOp>, always,
     "images out of range are moved into it, and a region that is no number has no samples", kOpen},
    {of<GridSampleOp>, always,
     "coordinates far away and infinite ones are outside, NaN is in front of the first element",
     kOpen},
    {of<GridSampleOp>, interpolatesWhole, "integers are interpolated as floats and cut", kOpen},
    {of<GatherOp, GatherElementsOp, GatherNDOp, NegativeLogLikelihoodLossOp, SequenceAtOp,
        SoftmaxCrossEntropyLossOp>,
     givenAtRunTime, "indices out of range are moved into it, not reported", kOpen},
    {of<ScatterElementsOp, ScatterNDOp, MaxUnpoolOp>, givenAtRunTime,
     "indices out of range are moved into it, not reported", kOpen},
    {of<NonZeroOp>, isScalar, "places of a scalar have no coordinate, and the result no row",
     kOpen},
    {of<ReverseSequenceOp>, givenAtRunTime, "lengths out of range are moved into it, not reported",
     kOpen},
    {of<GRUOp, LSTMOp, RNNOp>, hasLengths, "a row of length 0 keeps its initial state", kOpen},
    {of<GRUOp, LSTMOp, RNNOp>, hasOwnLengths,
     "lengths out of range are moved into it, not reported", kOpen},
    {of<GRUOp, LSTMOp, RNNOp>, hasThresholds,
     "the alpha of ThresholdedRelu is 1 where none is given", kOpen},
};

} // namespace

void remarkDifferences(ModuleOp module) {
  module.walk([](Operation *op) {
    for (const Difference &row : differences)
      if (row.isOf(op) && row.applies(op))
        emitRemark(op->getLoc()) << op->getName().stripDialect() << ": " << row.text << row.followed
                                 << " (docs/onnx.md)";
  });
}

} // namespace cameo::onnx
