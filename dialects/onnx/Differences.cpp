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

bool has(Operation *op, StringRef attribute, StringRef value) {
  auto text = op->getAttrOfType<StringAttr>(attribute);
  return text && text.getValue() == value;
}

bool isSet(Operation *op, StringRef attribute) {
  auto number = op->getAttrOfType<IntegerAttr>(attribute);
  return number && number.getInt() != 0;
}

bool isPresent(Operation *op, unsigned operand) {
  return operand < op->getNumOperands() && !isAbsent(op->getOperand(operand));
}

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
bool showsScores(Operation *op) {
  return isSet(op, "qk_matmul_output_mode") && !op->getResult(3).use_empty();
}

struct Difference {
  const char *ops; // separated by spaces
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
    {"Resize", alignsScaled,
     "corners are aligned with the length before it is cut to a whole number, where size times "
     "scale is none",
     kReference},
    {"ReduceMax ReduceMin", isReal, "a NaN makes the result NaN", kReference},
    {"ReduceL1 ReduceProd ReduceSum ReduceSumSquare", isWhole, "sums and products wrap around",
     kReference},
    {"ReduceMean", isReal, "the mean of no elements is NaN", kReference},
    {"MeanVarianceNormalization", always, "elements that are all equal become 0", kReference},
    {"Clip", bounded, "a bound that is NaN makes the result NaN", kReference},
    {"Clip", unbounded, "an infinity is left where there is no bound", kReference},
    {"Pad", reflects, "a pad beyond the size goes back and forth", kReference},
    {"MaxPool", isReal, "the greatest of nothing but -inf is -inf", kReference},
    {"GridSample", isCubicAtBorder, "coordinates outside are moved to the border", kReference},
    {"Attention", hidesKeys, "a query that sees no key makes NaN", kReference},
    {"Attention", hidesKeys, "a mask is broadcast to the queries, and hides the keys it lacks",
     kReference},
    {"Attention", capsMasked, "softcap is applied to scores that are masked", kReference},
    {"Attention", showsScores, "qk_matmul_output is as the specification counts its modes",
     kReference},
    {"Flatten", wasFlattened, "Softmax and its like before opset 13 work on rows of a matrix",
     kText},
    {"Conv", paddedItself, "auto_pad pads as its text says", kText},
    {"AveragePool LpPool MaxPool", windowed,
     "ceil_mode, auto_pad and Indices are as their text says", kText},
    {"GridSample", reflectsCorners, "a dimension of one element is reflected to that element",
     kText},
    {"DeformConv", hasOneElement, "a dimension of one element is sampled as any other", kText},
    {"OneHot", always, "an index outside of the depth is off everywhere", kText},
    {"LRN", always, "squares of the channels around are summed", kText},
    {"ReduceLogSumExp", isReal, "the result of nothing but -inf is -inf", kText},
    {"ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean", isWhole,
     "integers are reduced as floating-point numbers and the result is cut", kText},
    {"QuantizeLinear", isHalf, "quotients are not rounded to 16 bits", kText},
    {"DynamicQuantizeLinear", always, "the scale of nothing but zeros is 1", kText},
    {"Pow", isWhole, "a negative power is cut to a whole number", kText},
    {"Resize", halfPixel, "one element is taken from coordinate 0", kText},
    {"Pad", crops, "negative pads take elements away", kText},
    {"Cast", castsToInteger, "what no integer of the type can hold is undefined", kOpen},
    {"LRN", hasEvenSize, "one channel more is summed behind than before", kOpen},
    {"AveragePool LpPool MaxPool", paddedItself,
     "windows begin at the first element where they are shorter than their stride", kOpen},
    {"ConvTranspose", paddedItself, "what no window reaches is behind the others", kOpen},
    {"ArgMax ArgMin Hardmax", isReal, "a NaN is passed over", kOpen},
    {"GlobalMaxPool MaxPool", isReal, "a NaN makes the result NaN", kOpen},
    {"MaxRoiPool RoiAlign", takesMaximum, "a NaN makes the result NaN", kOpen},
    {"MaxRoiPool RoiAlign", always,
     "images out of range are moved into it, and a region that is no number has no samples", kOpen},
    {"GridSample", always,
     "coordinates far away and infinite ones are outside, NaN is in front of the first element",
     kOpen},
    {"GridSample", interpolatesWhole, "integers are interpolated as floats and cut", kOpen},
    {"Gather GatherElements GatherND", givenAtRunTime,
     "indices out of range are moved into it, not reported", kOpen},
    {"ReverseSequence", givenAtRunTime, "lengths out of range are moved into it, not reported",
     kOpen},
};

struct DifferenceIndex {
  llvm::StringMap<SmallVector<const Difference *, 2>> rowsOf;

  DifferenceIndex() {
    for (const Difference &row : differences) {
      SmallVector<StringRef> names;
      StringRef(row.ops).split(names, ' ');
      for (StringRef name : names)
        rowsOf[name].push_back(&row);
    }
  }
};

} // namespace

void remarkDifferences(ModuleOp module) {
  DifferenceIndex index;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.getOps()) {
      if (!schemaOf(&op))
        continue;
      auto found = index.rowsOf.find(op.getName().stripDialect());
      if (found == index.rowsOf.end())
        continue;
      for (const Difference *row : found->second)
        if (row->applies(&op))
          emitRemark(op.getLoc()) << op.getName().stripDialect() << ": " << row->text
                                  << row->followed << " (docs/onnx.md)";
    }
}

} // namespace cameo::onnx
