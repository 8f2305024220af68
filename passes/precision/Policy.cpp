// Which operators store and multiply in fewer bits: the table, and questions about it.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/Policy.h"

#include "dialects/onnx/Products.h"

#include "passes/precision/QuantizedProduct.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace cameo {

//===-- Precisions ----------------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kNames[] = {"fp32", "tf32", "fp16", "bf16", "int8"};

StringRef precisionName(Precision precision) { return kNames[static_cast<unsigned>(precision)]; }

std::optional<Precision> parsePrecision(StringRef name) {
  for (auto [i, known] : llvm::enumerate(kNames))
    if (name == known)
      return static_cast<Precision>(i);
  return std::nullopt;
}

std::string precisionText(Precision precision) { return precisionName(precision).upper(); }

onnx::ElementKind storedAs(Precision precision) {
  if (precision == Precision::FP16)
    return onnx::ElementKind::F16;
  return precision == Precision::BF16 ? onnx::ElementKind::BF16 : onnx::ElementKind::F32;
}

FloatType storedType(Precision precision, MLIRContext *context) {
  return cast<FloatType>(onnx::elementTypeOf(storedAs(precision), context));
}

//===-- Table ---------------------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kGrows =
    "its result can grow beyond FP16, and its range is not known";
static constexpr llvm::StringLiteral kSensitive = "its result depends on bits that FP16 has not";
static constexpr llvm::StringLiteral kMade = "its values are made in FP32";
static constexpr llvm::StringLiteral kScales = "its scales are FP32";
static constexpr llvm::StringLiteral kRegions =
    "its regions have the type of what it reads, and too few bits in FP16";

bool PolicyRow::isSensitive() const { return why.data() == kSensitive.data(); }

static constexpr uint32_t operand(unsigned number) { return 1u << number; }
static constexpr PolicyRow with(uint32_t PolicyRow::*which, uint32_t operands, PolicyRow row) {
  row.*which = operands;
  return row;
}
static constexpr PolicyRow settles(PolicyRow row) {
  row.settles = true;
  return row;
}

static constexpr PolicyRow kPolicy[] = {
    {"Abs", Role::Elementwise},
    {"Acos", Role::Full, kSensitive},
    {"Acosh", Role::Full, kSensitive},
    {"Add", Role::Elementwise},
    {"ArgMax", Role::Movement},
    {"ArgMin", Role::Movement},
    {"Asin", Role::Full, kSensitive},
    {"Asinh", Role::Elementwise},
    {"Atan", Role::Elementwise},
    {"Atanh", Role::Full, kSensitive},
    with(&PolicyRow::masks, operand(3), {"Attention", Role::Product}),
    {"AveragePool", Role::Sums},
    {"BatchNormalization", Role::Sums},
    {"Cast", Role::Movement},
    {"Ceil", Role::Elementwise},
    {"Celu", Role::Elementwise},
    with(&PolicyRow::bounds, operand(1) | operand(2), {"Clip", Role::Elementwise}),
    {"Concat", Role::Movement},
    {"ConstantOfShape", Role::Full, kMade},
    {"Conv", Role::Product},
    {"ConvTranspose", Role::Product},
    {"Cos", Role::Full, kSensitive},
    {"Cosh", Role::Ranged, kGrows},
    {"CumProd", Role::Ranged, kGrows},
    {"CumSum", Role::Ranged, kGrows},
    {"DeformConv", Role::Product},
    {"DepthToSpace", Role::Movement},
    {"DequantizeLinear", Role::Full, kScales},
    with(&PolicyRow::divisors, operand(1), {"Div", Role::Elementwise}),
    {"Dropout", Role::Movement},
    {"DynamicQuantizeLinear", Role::Full, kScales},
    {"Einsum", Role::Product},
    {"Elu", Role::Elementwise},
    {"Equal", Role::Elementwise},
    settles({"Erf", Role::Elementwise}),
    settles({"Exp", Role::Ranged, kGrows}),
    {"Expand", Role::Movement},
    {"EyeLike", Role::Full, kMade},
    {"Flatten", Role::Movement},
    {"Floor", Role::Elementwise},
    {"Gather", Role::Movement},
    {"GatherElements", Role::Movement},
    {"GatherND", Role::Movement},
    {"Gelu", Role::Elementwise},
    {"Gemm", Role::Product},
    {"GlobalAveragePool", Role::Sums},
    {"GlobalLpPool", Role::Ranged, kGrows},
    {"GlobalMaxPool", Role::Movement},
    {"Greater", Role::Elementwise},
    {"GreaterOrEqual", Role::Elementwise},
    with(&PolicyRow::kept, operand(1), {"GridSample", Role::Sums}), // the grid
    settles({"GroupNormalization", Role::Sums}),
    settles({"HardSigmoid", Role::Elementwise}),
    {"HardSwish", Role::Elementwise},
    settles({"Hardmax", Role::Movement}),
    {"Identity", Role::Movement},
    settles({"InstanceNormalization", Role::Sums}),
    {"IsInf", Role::Elementwise},
    {"IsNaN", Role::Elementwise},
    {"LRN", Role::Sums},
    settles({"LayerNormalization", Role::Sums}),
    {"LeakyRelu", Role::Elementwise},
    {"Less", Role::Elementwise},
    {"LessOrEqual", Role::Elementwise},
    {"Log", Role::Full, kSensitive},
    settles({"LogSoftmax", Role::Sums}),
    settles({"LpNormalization", Role::Sums}),
    {"LpPool", Role::Ranged, kGrows},
    {"MatMul", Role::Product},
    {"Max", Role::Elementwise},
    {"MaxPool", Role::Movement},
    with(&PolicyRow::kept, operand(1), {"MaxRoiPool", Role::Full, kRegions}),
    {"Mean", Role::Elementwise},
    settles({"MeanVarianceNormalization", Role::Sums}),
    {"Min", Role::Elementwise},
    {"Mish", Role::Elementwise},
    {"Mod", Role::Full, kSensitive},
    {"Mul", Role::Elementwise},
    {"Neg", Role::Elementwise},
    {"OneHot", Role::Movement},
    {"PRelu", Role::Elementwise},
    with(&PolicyRow::bounds, operand(2), {"Pad", Role::Movement}),
    {"Pow", Role::Ranged, kGrows},
    {"QLinearConv", Role::Full, kScales},
    {"QLinearMatMul", Role::Full, kScales},
    {"QuantizeLinear", Role::Full, kScales},
    settles({"RMSNormalization", Role::Sums}),
    {"Range", Role::Full, kMade},
    with(&PolicyRow::divisors, operand(0), {"Reciprocal", Role::Ranged, kGrows}),
    {"ReduceL1", Role::Ranged, kGrows},
    {"ReduceL2", Role::Ranged, kGrows},
    {"ReduceLogSum", Role::Full, kSensitive},
    {"ReduceLogSumExp", Role::Sums},
    {"ReduceMax", Role::Movement},
    {"ReduceMean", Role::Sums},
    {"ReduceMin", Role::Movement},
    {"ReduceProd", Role::Ranged, kGrows},
    {"ReduceSum", Role::Ranged, kGrows},
    {"ReduceSumSquare", Role::Ranged, kGrows},
    {"Relu", Role::Elementwise},
    {"Reshape", Role::Movement},
    with(&PolicyRow::kept, operand(1) | operand(2),
         {"Resize", Role::Movement}), // the region, scales
    {"ReverseSequence", Role::Movement},
    with(&PolicyRow::kept, operand(1), {"RoiAlign", Role::Full, kRegions}),
    {"Round", Role::Elementwise},
    {"Selu", Role::Elementwise},
    {"Shape", Role::Movement},
    {"Shrink", Role::Elementwise},
    settles({"Sigmoid", Role::Elementwise}),
    {"Sign", Role::Elementwise},
    {"Sin", Role::Full, kSensitive},
    {"Sinh", Role::Ranged, kGrows},
    {"Size", Role::Movement},
    {"Slice", Role::Movement},
    settles({"Softmax", Role::Sums}),
    {"Softplus", Role::Elementwise},
    settles({"Softsign", Role::Elementwise}),
    {"SpaceToDepth", Role::Movement},
    {"Split", Role::Movement},
    {"Sqrt", Role::Elementwise},
    {"Squeeze", Role::Movement},
    {"Sub", Role::Elementwise},
    {"Sum", Role::Elementwise},
    {"Swish", Role::Elementwise},
    {"Tan", Role::Full, kSensitive},
    settles({"Tanh", Role::Elementwise}),
    {"ThresholdedRelu", Role::Elementwise},
    {"Tile", Role::Movement},
    {"Transpose", Role::Movement},
    {"Trilu", Role::Movement},
    {"Unsqueeze", Role::Movement},
    {"Where", Role::Movement},
};

ArrayRef<PolicyRow> precisionPolicy() { return kPolicy; }

const PolicyRow &policyOf(Operation *op) {
  static constexpr PolicyRow kOther = {"", Role::Full, "nothing is known of it in fewer bits"};
  static constexpr PolicyRow kSquare = {"Mul", Role::Ranged, kGrows};
  if (isa<onnx::MulOp>(op) && op->getOperand(0) == op->getOperand(1))
    return kSquare;
  StringRef name = op->getName().stripDialect();
  const PolicyRow *row = llvm::lower_bound(
      kPolicy, name, [](const PolicyRow &known, StringRef wanted) { return known.name < wanted; });
  return row != std::end(kPolicy) && row->name == name ? *row : kOther;
}

StringRef roleName(Role role) {
  static constexpr llvm::StringLiteral names[] = {"product",  "elementwise", "sums",
                                                  "movement", "ranged",      "full"};
  return names[static_cast<unsigned>(role)];
}

//===-- Types ---------------------------------------------------------------------------------===//

bool isFP32(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && type.getElementType().isF32();
}

static bool allows(const onnx::Formal &formal, onnx::ElementKind kind) {
  return formal.types().tensor >> static_cast<unsigned>(kind) & 1;
}

std::optional<Converted> convertedIn(Operation *op, Precision precision) {
  const onnx::OpSchema *schema = onnx::schemaOf(op);
  if (!schema || op->getNumRegions())
    return std::nullopt;
  const PolicyRow &row = policyOf(op);
  onnx::ElementKind kind = storedAs(precision);
  Converted converted;
  llvm::SmallSet<uint8_t, 4> variables; // that take the type
  for (auto [i, value] : llvm::enumerate(op->getOperands())) {
    if (!isFP32(value) || row.keeps(i) || readsAnyType(op, i))
      continue;
    const onnx::Formal &formal = schema->input(i);
    if (allows(formal, kind)) {
      converted.operands.push_back(i);
      variables.insert(formal.typeVariable);
    } else if (converted.operands.empty()) {
      return std::nullopt; // what it is about has no such type
    }
  }
  for (auto [i, value] : llvm::enumerate(op->getResults())) {
    const onnx::Formal &formal = schema->output(i);
    // Of its own type is what is made of other types.
    bool follows = converted.operands.empty() || variables.contains(formal.typeVariable);
    if (isFP32(value) && follows && allows(formal, kind))
      converted.results.push_back(i);
  }
  if (converted.operands.empty() && converted.results.empty())
    return std::nullopt;
  return converted;
}

bool readsAnyType(Operation *op, unsigned operand) {
  return isa<onnx::ShapeOp, onnx::SizeOp, onnx::CastOp>(op) ||
         (isa<onnx::CastLikeOp>(op) && operand == 0);
}

std::optional<Precision> precisionOf(Operation *op) {
  if (isQuantized(op))
    return Precision::INT8;
  if (auto products = op->getAttrOfType<StringAttr>(onnx::kProductsAttr);
      products && products.getValue() == onnx::kTf32Products)
    return Precision::TF32;
  std::optional<Precision> found;
  for (Value value : llvm::concat<const Value>(llvm::to_vector<4>(op->getOperands()),
                                               llvm::to_vector<4>(op->getResults()))) {
    std::optional<onnx::ElementKind> kind = onnx::innerKind(value.getType());
    for (Precision precision : {Precision::FP16, Precision::BF16, Precision::FP32})
      // The lower one where a node has several: it stores results of FP32 beside others.
      if (kind == storedAs(precision) && (!found || precision == Precision::FP16 ||
                                          (precision == Precision::BF16 && !isLow(*found))))
        found = precision;
  }
  return found;
}

//===-- Documentation -------------------------------------------------------------------------===//

void printPrecisionPolicy(raw_ostream &output) {
  output << "| Operator | Policy | FP16 | BF16 | Stays FP32 |\n|---|---|---|---|---|\n";
  for (const PolicyRow &row : kPolicy) {
    const onnx::OpSchema *schema = onnx::lookupSchema(row.name);
    auto has = [&](onnx::ElementKind kind) {
      return llvm::any_of(schema->inputs,
                          [&](const onnx::Formal &formal) {
                            return allows(formal, onnx::ElementKind::F32) && allows(formal, kind);
                          }) ||
             llvm::any_of(schema->outputs, [&](const onnx::Formal &formal) {
               return allows(formal, onnx::ElementKind::F32) && allows(formal, kind);
             });
    };
    std::string stays = row.why.str();
    for (unsigned i = 0; i < schema->inputs.size(); ++i)
      if (row.keeps(i))
        stays += (stays.empty() ? "`" : ", `") + std::string(schema->inputs[i].name) + "`";
    output << "| " << row.name << " | " << roleName(row.role) << " | "
           << (has(onnx::ElementKind::F16) ? "yes" : "no") << " | "
           << (has(onnx::ElementKind::BF16) ? "yes" : "no") << " | " << stays << " |\n";
  }
}

} // namespace cameo
