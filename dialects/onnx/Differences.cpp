// The differences that there are: to which nodes each can apply, as far as the model says.
// test/e2e/differences.py tries each of them.
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
  const char *text; // of the remark
  const char *followed;
  const char *cells[4]; // of the page: where, the reference, ONNX Runtime, Cameo and why
};

constexpr const char *kReference = "; ONNX's reference is followed";
/// Neither, or neither alone.
constexpr const char *kOpen =
    "; ONNX's reference, ONNX Runtime and Cameo may give different results";
constexpr const char *kText = "; the specification's text and ONNX Runtime are followed";

// In the order of the page.
constexpr Difference differences[] = {
    {of<ResizeOp>,
     alignsScaled,
     "corners are aligned with the length before it is cut to a whole number, where size times "
     "scale is none",
     kReference,
     {"Resize, `align_corners`",
      "with `scales`, the length is size times scale, also where that is not a whole number",
      "the length is that of the result, a whole number",
      "the reference: ONNX's node test `resize_downsample_scales_linear_align_corners` has its "
      "results. Give `sizes` to align the very corners"}},
    {of<ReduceMaxOp, ReduceMinOp>,
     isReal,
     "a NaN makes the result NaN",
     kReference,
     {"ReduceMax, ReduceMin of NaN", "NaN", "passed over or not, by its place",
      "the reference: a NaN is not lost"}},
    {of<ReduceL1Op, ReduceProdOp, ReduceSumOp, ReduceSumSquareOp>,
     isWhole,
     "sums and products wrap around",
     kReference,
     {"ReduceSum, ReduceProd, ReduceL1, ReduceSumSquare of int32",
      "wraps around (ReduceSumSquare: in int64)", "stops at the largest number",
      "the reference: as Add and Mul"}},
    {of<ReduceMeanOp>,
     isReal,
     "the mean of no elements is NaN",
     kReference,
     {"ReduceMean of no elements", "NaN", "0", "the reference: 0 / 0"}},
    {of<MeanVarianceNormalizationOp>,
     always,
     "elements that are all equal become 0",
     kReference,
     {"MeanVarianceNormalization of equal elements", "0", "NaN",
      "the reference: the function's body adds 1e-9"}},
    {of<ClipOp>,
     bounded,
     "a bound that is NaN makes the result NaN",
     kReference,
     {"Clip with a bound that is NaN", "NaN", "passed over", "the reference: Clip is Min of Max"}},
    {of<ClipOp>,
     unbounded,
     "an infinity is left where there is no bound",
     kReference,
     {"Clip without a bound, of infinity", "stays", "becomes the greatest finite number",
      "the reference, though the text has that number for a default: such models are exported from "
      "clips that have no bound. Up to opset 10 the bounds are attributes whose defaults are "
      "finite, and cut"}},
    {of<PadOp>,
     reflects,
     "a pad beyond the size goes back and forth",
     kReference,
     {"Pad, `reflect`, beyond the size", "goes back and forth", "refuses", "the reference"}},
    {of<MaxPoolOp>,
     isReal,
     "the greatest of nothing but -inf is -inf",
     kReference,
     {"MaxPool of nothing but -inf", "-inf", "the lowest finite number",
      "the reference: the greatest is -inf"}},
    {of<GridSampleOp>,
     isCubicAtBorder,
     "coordinates outside are moved to the border",
     kReference,
     {"GridSample, `cubic` with `border`", "a coordinate outside is moved to the border",
      "the elements around it are, so that the second one counts as well",
      "the reference: \"use border values for out-of-bound grid locations\""}},
    {of<AttentionOp>,
     hidesKeys,
     "a mask is broadcast to the queries, and hides the keys it lacks",
     kReference,
     {"Attention, `attn_mask` with one row, or fewer keys",
      "broadcast to all queries; the keys that it lacks are hidden", "refuses",
      "the reference, which is the text. What Cameo writes as ONNX has a row for each query"}},
    {of<BernoulliOp>,
     always,
     "it is true with the probability given, not with the opposite",
     kReference,
     {"Bernoulli", "true with the probability", "true with that of the opposite",
      "the reference, which is the text"}},
    {of<MaxUnpoolOp>,
     hasOutputShape,
     "places are those of the shape that the windows make",
     kReference,
     {"MaxUnpool with an `output_shape` larger than its windows make",
      "places are those of the shape that windows make", "places are those of the larger one",
      "the reference: ONNX's node test has its results"}},
    {of<AttentionOp>,
     hidesKeys,
     "a query that sees no key makes 0",
     kText,
     {"Attention of a query that sees no key", "NaN", "0",
      "ONNX Runtime, and the reference of onnx 1.23. Scores that are all -inf tell such a query. A "
      "softmax of the model's own makes NaN"}},
    {of<AttentionOp>,
     capsMasked,
     "scores are capped before they are masked",
     kText,
     {"Attention, `softcap` beside a mask", "the mask is added first",
      "the scores are capped first",
      "ONNX Runtime, and the text and reference of onnx 1.23: what is hidden stays so"}},
    {of<AttentionOp>,
     showsScores,
     "qk_matmul_output 1 has capped scores, and 2 the mask, too",
     kText,
     {"Attention, `qk_matmul_output_mode` 1 and 2", "the scores with the mask; and capped, too",
      "capped; and with the mask, too", "ONNX Runtime, and the reference of onnx 1.23"}},
    {of<FlattenOp>,
     wasFlattened,
     "Softmax and its like before opset 13 work on rows of a matrix",
     kText,
     {"Softmax, LogSoftmax, Hardmax before opset 13", "along one axis, as since 13",
      "on rows of the matrix to which the input is flattened",
      "ONNX Runtime: as the text of the older versions"}},
    {of<ConvOp>,
     paddedItself,
     "auto_pad pads as its text says",
     kText,
     {"Conv with `auto_pad`",
      "pads also for `VALID`; does not end at the stride's sizes for `SAME_...`", "as the text",
      "ONNX Runtime"}},
    {of<AveragePoolOp, LpPoolOp, MaxPoolOp>,
     windowed,
     "ceil_mode, auto_pad and Indices are as their text says",
     kText,
     {"Pools with `ceil_mode`, `auto_pad` or Indices",
      "other windows and other indices than the text's; refuses some", "as the text",
      "ONNX Runtime"}},
    {of<GridSampleOp>,
     reflectsCorners,
     "a dimension of one element is reflected to that element",
     kText,
     {"GridSample, `reflection` with `align_corners` in a size of 1", "fails", "the one element",
      "ONNX Runtime"}},
    {of<DeformConvOp>,
     hasOneElement,
     "a dimension of one element is sampled as any other",
     kText,
     {"DeformConv of one row or column", "fails", "as the text", "ONNX Runtime"}},
    {of<OneHotOp>,
     always,
     "an index outside of the depth is off everywhere",
     kText,
     {"OneHot of an index out of range", "counted modulo the depth", "off everywhere",
      "ONNX Runtime: \"any entries ... outside the range will result in one-hot representation "
      "with all 'off_value'\""}},
    {of<LRNOp>,
     always,
     "squares of the channels around are summed",
     kText,
     {"LRN", "no channels around are summed", "as the text", "ONNX Runtime"}},
    {of<ReduceLogSumExpOp>,
     isReal,
     "the result of nothing but -inf is -inf",
     kText,
     {"ReduceLogSumExp of nothing but -inf", "NaN", "-inf", "ONNX Runtime: log 0"}},
    {of<ReduceL2Op, ReduceLogSumOp, ReduceLogSumExpOp, ReduceMeanOp>,
     isWhole,
     "integers are reduced as floating-point numbers and the result is cut",
     kText,
     {"ReduceMean, ReduceL2, ReduceLogSum, ReduceLogSumExp of integers", "overflows or fails",
      "computes in floating point and cuts", "ONNX Runtime"}},
    {of<QuantizeLinearOp>,
     isHalf,
     "quotients are not rounded to 16 bits",
     kText,
     {"QuantizeLinear of float16", "rounds the quotient to 16 bits, then to an integer",
      "rounds once",
      "ONNX Runtime: less is lost. With `precision` 10 or 16 the quotient has 16 bits"}},
    {of<SplitToSequenceOp>,
     splitsOnes,
     "parts of one entry lose the axis with keepdims 0",
     "; ONNX Runtime is followed, as torch writes unbind",
     {"SplitToSequence, a scalar `split` of 1 with `keepdims` 0", "the axis stays", "the axis goes",
      "ONNX Runtime: torch writes `unbind` so. By the text a `split` makes `keepdims` mean "
      "nothing, and one of any other size does"}},
    {of<DynamicQuantizeLinearOp>,
     always,
     "the scale of nothing but zeros is 1",
     kText,
     {"DynamicQuantizeLinear of nothing but zeros", "a scale of 0", "a scale of 1",
      "ONNX Runtime: 0 / 0 is not a number"}},
    {of<PowOp>,
     isWhole,
     "a negative power is cut to a whole number",
     kText,
     {"Pow of an integer to a negative power", "refuses", "cut to a whole number", "ONNX Runtime"}},
    {of<ResizeOp>,
     halfPixel,
     "one element is taken from coordinate 0",
     kText,
     {"Resize, `pytorch_half_pixel`, to one element", "the middle", "coordinate 0",
      "ONNX Runtime: as the formula for a length of 1"}},
    {of<PadOp>,
     crops,
     "negative pads take elements away",
     kText,
     {"Pad with negative amounts", "refuses", "takes elements away",
      "ONNX Runtime: \"remove (if negative)\""}},
    {of<TfIdfVectorizerOp>,
     weighsSequences,
     "weights are those of sequences of the pool, not of columns",
     kText,
     {"TfIdfVectorizer with `weights`", "by the number of a column of the result",
      "by the number of a sequence in the pool",
      "ONNX Runtime: \"the weight of the i-th n-gram in pool\""}},
    {of<GRUOp, LSTMOp, RNNOp>,
     hasMoreThanGates,
     "directions, sequence_lens, activations, clip and input_forget are as their text says",
     kText,
     {"LSTM, GRU, RNN with a direction, `sequence_lens`, `activations`, `clip` or `input_forget`",
      "leaves them out, or fails", "as the text", "ONNX Runtime"}},
    {of<CastOp>,
     castsToInteger,
     "what no integer of the type can hold is undefined",
     kOpen,
     {"Cast of what does not fit to int32", "what x86 gives: the least number", "the same",
      "neither: undefined by the text. NaN becomes 0; others the nearest number of 32 bits (64 for "
      "64-bit types), cut to the type's low bits: what GPUs do"}},
    {of<LoopOp>,
     lacksCondition,
     "what the body yields as its condition is ignored",
     kOpen,
     {"Loop without a condition, whose body yields one that is false", "makes no trip", "ends",
      "neither: the text, by which it is ignored"}},
    {of<LRNOp>,
     hasEvenSize,
     "one channel more is summed behind than before",
     kOpen,
     {"LRN of an even size", "no channels around are summed", "refuses",
      "neither: the text, by which one channel more is summed behind than before"}},
    {of<AveragePoolOp, LpPoolOp, MaxPoolOp>,
     paddedItself,
     "windows begin at the first element where they are shorter than their stride",
     kOpen,
     {"Pools, `SAME_...`, with a kernel shorter than its stride",
      "take elements away in front, or fail", "take elements away in front, or refuse",
      "neither: padding is not negative, so that windows begin at the first element"}},
    {of<ConvTransposeOp>,
     paddedItself,
     "what no window reaches is behind the others",
     kOpen,
     {"ConvTranspose, `SAME_...`, with a kernel shorter than its stride",
      "`SAME_UPPER` has zeros in front", "leaves the last zeros out",
      "neither: the size is the input's times the stride, and what no window reaches is behind"}},
    {of<ArgMaxOp, ArgMinOp, HardmaxOp>,
     isReal,
     "a NaN is passed over",
     kOpen,
     {"ArgMax, ArgMin, Hardmax of NaN", "the first NaN (Hardmax, too)",
      "the first NaN (Hardmax: none)", "neither: a NaN is passed over"}},
    {of<GlobalMaxPoolOp, MaxPoolOp>,
     isReal,
     "a NaN makes the result NaN",
     kOpen,
     {"MaxPool, GlobalMaxPool of NaN",
      "passed over; GlobalMaxPool NaN, without the spatial dimensions", "passed over",
      "neither: NaN, as ReduceMax"}},
    {of<MaxRoiPoolOp, RoiAlignOp>,
     takesMaximum,
     "a NaN makes the result NaN",
     kOpen,
     {"RoiAlign with `max`, MaxRoiPool of NaN",
      "passed over or not, by its place (MaxRoiPool: none)", "the same; MaxRoiPool passes over it",
      "neither: NaN, as MaxPool"}},
    {of<MaxRoiPoolOp, RoiAlignOp>,
     always,
     "images out of range are moved into it, and a region that is no number has no samples",
     kOpen,
     {"RoiAlign, MaxRoiPool, an image out of range or a region that is no number, at run time",
      "fails (MaxRoiPool: none)", "fails",
      "neither: images are moved into range, and a region of NaN has no samples. `batch_indices` "
      "that are constant are refused"}},
    {of<GridSampleOp>,
     always,
     "coordinates far away and infinite ones are outside, NaN is in front of the first element",
     kOpen,
     {"GridSample at a coordinate that is infinite, NaN or beyond integers",
      "fails, but for `nearest`", "the lower border",
      "neither: such coordinates are outside, as the text has it; NaN is in front of the first "
      "element"}},
    {of<GridSampleOp>,
     interpolatesWhole,
     "integers are interpolated as floats and cut",
     kOpen,
     {"GridSample of integers, `linear` or `cubic`", "cuts the weights to integers", "refuses",
      "neither: \"computed as floating point and cast to integer at the end\""}},
    {of<GatherOp, GatherElementsOp, GatherNDOp, NegativeLogLikelihoodLossOp, SequenceAtOp,
        SoftmaxCrossEntropyLossOp>,
     givenAtRunTime,
     "indices out of range are moved into it, not reported",
     kOpen,
     {"Gather, GatherElements, GatherND, SequenceAt, classes of losses out of range at run time",
      "wraps around or fails", "fails",
      "neither: indices that only a run knows are moved into range. Constants, and what follows "
      "from sizes alone, are refused"}},
    {of<ScatterElementsOp, ScatterNDOp, MaxUnpoolOp>,
     givenAtRunTime,
     "indices out of range are moved into it, not reported",
     kOpen,
     {"ScatterElements, ScatterND, MaxUnpool out of range at run time", "fails", "fails",
      "neither: indices that only a run knows are moved into range, those of MaxUnpool into the "
      "whole result. Constants, and what follows from sizes alone, are refused"}},
    {of<NonZeroOp>,
     isScalar,
     "places of a scalar have no coordinate, and the result no row",
     kOpen,
     {"NonZero of a scalar", "fails", "one row, of a zero where the scalar is not 0",
      "neither: the text, by which there is no row: (0, N) in place of (1, N)"}},
    {of<ReverseSequenceOp>,
     givenAtRunTime,
     "lengths out of range are moved into it, not reported",
     kOpen,
     {"ReverseSequence of lengths out of range at run time", "negative ones count from the end",
      "fails",
      "neither: lengths that only a run knows are moved into range. Constants are refused"}},
    {of<GRUOp, LSTMOp, RNNOp>,
     hasLengths,
     "a row of length 0 keeps its initial state",
     kOpen,
     {"LSTM, GRU, RNN of a row of length 0", "leaves lengths out", "its last state is 0",
      "neither: it is the initial one, so that a sequence may be given in parts"}},
    {of<GRUOp, LSTMOp, RNNOp>,
     hasOwnLengths,
     "lengths out of range are moved into it, not reported",
     kOpen,
     {"LSTM, GRU, RNN of lengths out of range at run time", "leaves them out", "fails",
      "neither: lengths that only a run knows are moved into range. Constants are refused"}},
    {of<GRUOp, LSTMOp, RNNOp>,
     hasThresholds,
     "the alpha of ThresholdedRelu is 1 where none is given",
     kOpen,
     {"LSTM, GRU, RNN with ThresholdedRelu and no `activation_alpha`", "leaves activations out",
      "an alpha of 0",
      "neither: 1, \"the same as of corresponding ONNX operators\". Affine and ScaledTanh, which "
      "are none, have no default and are refused without"}},
};

} // namespace

void remarkDifferences(ModuleOp module) {
  module.walk([](Operation *op) {
    for (const Difference &row : differences)
      if (row.isOf(op) && row.applies(op))
        emitRemark(op->getLoc()) << op->getName().stripDialect() << ": " << row.text << row.followed
                                 << " (docs/generated/differences.md)";
  });
}

void printDifferences(raw_ostream &output) {
  output << "| Where | ONNX's reference | ONNX Runtime | Cameo, and why |\n|---|---|---|---|\n";
  for (const Difference &row : differences) {
    for (const char *cell : row.cells)
      output << "| " << cell << ' ';
    output << "|\n";
  }
}

} // namespace cameo::onnx
