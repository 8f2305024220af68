// Which operators store and multiply in fewer bits: the table, and questions about it.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/precision/Policy.h"

#include "dialects/onnx/Products.h"
#include "dialects/onnx/shape/Attention.h"

#include "passes/OperatorInterfaces.h"
#include "passes/precision/QuantizedProduct.h"

#include "llvm/ADT/SmallSet.h"

#include "passes/precision/Interfaces.cpp.inc"

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
static constexpr llvm::StringLiteral kUpdates = "each update would round its result";
static constexpr llvm::StringLiteral kScales = "its scales are FP32";
static constexpr llvm::StringLiteral kRegions =
    "its regions have the type of what it reads, and too few bits in FP16";

bool PolicyRow::isSensitive() const { return why.data() == kSensitive.data(); }

static constexpr PolicyRow kUnknown = {Role::Full, "nothing is known of it in fewer bits"};

static constexpr uint32_t operand(unsigned number) { return 1u << number; }
static constexpr PolicyRow with(uint32_t PolicyRow::*which, uint32_t operands, PolicyRow row) {
  row.*which = operands;
  return row;
}
static constexpr PolicyRow settles(PolicyRow row) {
  row.settles = true;
  return row;
}

static constexpr PolicyRow within(BoundsRule rule, PolicyRow row) {
  row.range = rule;
  return row;
}

void attachPrecisionRoles(MLIRContext &context) {
  onnx::OperatorRows<PrecisionModel> rows(context);
  rows.add<onnx::AbsOp>(within(bounds::absolute, {Role::Elementwise}));
  rows.add<onnx::AcosOp>({Role::Full, kSensitive});

  rows.add<onnx::AcoshOp>({Role::Full, kSensitive});

  rows.add<onnx::AddOp>(within(bounds::add, {Role::Elementwise}));
  rows.add<onnx::ArgMaxOp>({Role::Movement});

  rows.add<onnx::ArgMinOp>({Role::Movement});

  rows.add<onnx::AsinOp>({Role::Full, kSensitive});

  rows.add<onnx::AsinhOp>({Role::Elementwise});

  rows.add<onnx::AtanOp>({Role::Elementwise});

  rows.add<onnx::AtanhOp>({Role::Full, kSensitive});

  rows.add<onnx::AttentionOp>(with(&PolicyRow::masks, operand(3), {Role::Product}));

  rows.add<onnx::AveragePoolOp>({Role::Sums});

  rows.add<onnx::BatchNormalizationOp>({Role::Sums});

  rows.add<onnx::BitCastOp>(kUnknown);

  rows.add<onnx::CastOp>(within(bounds::conversion, {Role::Movement}));
  rows.add<onnx::CastLikeOp>(kUnknown);

  rows.add<onnx::CeilOp>(within(bounds::rounds, {Role::Elementwise}));
  rows.add<onnx::CeluOp>(within(bounds::shrinks, {Role::Elementwise}));
  rows.add<onnx::ClipOp>(
      within(bounds::clip, with(&PolicyRow::bounds, operand(1) | operand(2), {Role::Elementwise})));
  rows.add<onnx::CompressOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::ConcatOp>(within(bounds::any, {Role::Movement}));
  rows.add<onnx::ConstantOfShapeOp>({Role::Full, kMade});

  rows.add<onnx::ConvOp>({Role::Product});

  rows.add<onnx::ConvTransposeOp>({Role::Product});

  rows.add<onnx::CosOp>(within(bounds::signedUnit, {Role::Full, kSensitive}));
  rows.add<onnx::CoshOp>({Role::Ranged, kGrows});

  rows.add<onnx::CumProdOp>({Role::Ranged, kGrows});

  rows.add<onnx::CumSumOp>({Role::Ranged, kGrows});

  rows.add<onnx::DeformConvOp>({Role::Product});

  rows.add<onnx::DepthToSpaceOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::DequantizeLinearOp>(within(bounds::dequantized, {Role::Full, kScales}));
  rows.add<onnx::DivOp>(
      within(bounds::div, with(&PolicyRow::divisors, operand(1), {Role::Elementwise})));
  rows.add<onnx::DropoutOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::DynamicQuantizeLinearOp>({Role::Full, kScales});

  rows.add<onnx::EinsumOp>({Role::Product});

  rows.add<onnx::EluOp>(within(bounds::shrinks, {Role::Elementwise}));
  rows.add<onnx::EqualOp>({Role::Elementwise});

  rows.add<onnx::ErfOp>(within(bounds::signedUnit, settles({Role::Elementwise})));
  rows.add<onnx::ExpOp>(within(bounds::exponential, settles({Role::Ranged, kGrows})));
  rows.add<onnx::ExpandOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::EyeLikeOp>({Role::Full, kMade});

  rows.add<onnx::FlattenOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::FloorOp>(within(bounds::rounds, {Role::Elementwise}));
  rows.add<onnx::GRUOp>({Role::Product});

  rows.add<onnx::GatherOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::GatherElementsOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::GatherNDOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::GeluOp>(within(bounds::shrinks, {Role::Elementwise}));
  rows.add<onnx::GemmOp>({Role::Product});

  rows.add<onnx::GlobalAveragePoolOp>(within(bounds::first, {Role::Sums}));
  rows.add<onnx::GlobalLpPoolOp>({Role::Ranged, kGrows});

  rows.add<onnx::GlobalMaxPoolOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::GreaterOp>({Role::Elementwise});

  rows.add<onnx::GreaterOrEqualOp>({Role::Elementwise});

  rows.add<onnx::GridSampleOp>(
      within(bounds::sampled, with(&PolicyRow::kept, operand(1), {Role::Sums}))); // the grid
  rows.add<onnx::GroupNormalizationOp>(settles({Role::Sums}));

  rows.add<onnx::HardSigmoidOp>(within(bounds::unit, settles({Role::Elementwise})));
  rows.add<onnx::HardSwishOp>(within(bounds::shrinks, {Role::Elementwise}));
  rows.add<onnx::HardmaxOp>(within(bounds::unit, settles({Role::Movement})));
  rows.add<onnx::IdentityOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::InstanceNormalizationOp>(settles({Role::Sums}));

  rows.add<onnx::IsInfOp>({Role::Elementwise});

  rows.add<onnx::IsNaNOp>({Role::Elementwise});

  rows.add<onnx::LRNOp>({Role::Sums});

  rows.add<onnx::LSTMOp>({Role::Product});

  rows.add<onnx::LayerNormalizationOp>(settles({Role::Sums}));

  rows.add<onnx::LeakyReluOp>(within(bounds::shrinks, {Role::Elementwise}));
  rows.add<onnx::LessOp>({Role::Elementwise});

  rows.add<onnx::LessOrEqualOp>({Role::Elementwise});

  rows.add<onnx::LogOp>({Role::Full, kSensitive});

  rows.add<onnx::LogSoftmaxOp>(settles({Role::Sums}));

  rows.add<onnx::LpNormalizationOp>(within(bounds::signedUnit, settles({Role::Sums})));
  rows.add<onnx::LpPoolOp>({Role::Ranged, kGrows});

  rows.add<onnx::MatMulOp>({Role::Product});

  rows.add<onnx::MaxOp>(within(bounds::maximum, {Role::Elementwise}));
  rows.add<onnx::MaxPoolOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::MaxRoiPoolOp>(
      within(bounds::sampled, with(&PolicyRow::kept, operand(1), {Role::Full, kRegions})));
  rows.add<onnx::MeanOp>(within(bounds::any, {Role::Elementwise}));
  rows.add<onnx::MeanVarianceNormalizationOp>(settles({Role::Sums}));

  rows.add<onnx::MinOp>(within(bounds::minimum, {Role::Elementwise}));
  rows.add<onnx::MishOp>(within(bounds::shrinks, {Role::Elementwise}));
  rows.add<onnx::ModOp>({Role::Full, kSensitive});

  rows.add<onnx::MulOp>(within(bounds::mul, {Role::Elementwise}));
  rows.add<onnx::NegOp>(within(bounds::neg, {Role::Elementwise}));
  rows.add<onnx::NonMaxSuppressionOp>({Role::Full, kSensitive});

  rows.add<onnx::NonZeroOp>({Role::Full, kSensitive});

  rows.add<onnx::OneHotOp>({Role::Movement});

  rows.add<onnx::PReluOp>({Role::Elementwise});

  rows.add<onnx::PadOp>(with(&PolicyRow::bounds, operand(2), {Role::Movement}));

  rows.add<onnx::PowOp>(within(bounds::power, {Role::Ranged, kGrows}));
  rows.add<onnx::QLinearConvOp>({Role::Full, kScales});

  rows.add<onnx::QLinearMatMulOp>({Role::Full, kScales});

  rows.add<onnx::QuantizeLinearOp>({Role::Full, kScales});

  rows.add<onnx::RMSNormalizationOp>(settles({Role::Sums}));

  rows.add<onnx::RNNOp>({Role::Product});

  rows.add<onnx::RangeOp>({Role::Full, kMade});

  rows.add<onnx::ReciprocalOp>(
      within(bounds::reciprocal, with(&PolicyRow::divisors, operand(0), {Role::Ranged, kGrows})));
  rows.add<onnx::ReduceL1Op>(within(bounds::sums, {Role::Ranged, kGrows}));
  rows.add<onnx::ReduceL2Op>({Role::Ranged, kGrows});

  rows.add<onnx::ReduceLogSumOp>({Role::Full, kSensitive});

  rows.add<onnx::ReduceLogSumExpOp>({Role::Sums});

  rows.add<onnx::ReduceMaxOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::ReduceMeanOp>(within(bounds::first, {Role::Sums}));
  rows.add<onnx::ReduceMinOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::ReduceProdOp>({Role::Ranged, kGrows});

  rows.add<onnx::ReduceSumOp>(within(bounds::sums, {Role::Ranged, kGrows}));
  rows.add<onnx::ReduceSumSquareOp>(within(bounds::sums, {Role::Ranged, kGrows}));
  rows.add<onnx::ReluOp>(within(bounds::relu, {Role::Elementwise}));
  rows.add<onnx::ReshapeOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::ResizeOp>(
      with(&PolicyRow::kept, operand(1) | operand(2), {Role::Movement})); // the region, scales

  rows.add<onnx::ReverseSequenceOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::RoiAlignOp>(
      within(bounds::sampled, with(&PolicyRow::kept, operand(1), {Role::Full, kRegions})));
  rows.add<onnx::RoundOp>(within(bounds::rounds, {Role::Elementwise}));
  rows.add<onnx::ScatterElementsOp>({Role::Movement});

  rows.add<onnx::ScatterNDOp>({Role::Movement});

  rows.add<onnx::SeluOp>({Role::Elementwise});

  rows.add<onnx::ShapeOp>({Role::Movement});

  rows.add<onnx::ShrinkOp>({Role::Elementwise});

  rows.add<onnx::SigmoidOp>(within(bounds::unit, settles({Role::Elementwise})));
  rows.add<onnx::SignOp>(within(bounds::signedUnit, {Role::Elementwise}));
  rows.add<onnx::SinOp>(within(bounds::signedUnit, {Role::Full, kSensitive}));
  rows.add<onnx::SinhOp>({Role::Ranged, kGrows});

  rows.add<onnx::SizeOp>({Role::Movement});

  rows.add<onnx::SliceOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::SoftmaxOp>(within(bounds::unit, settles({Role::Sums})));
  rows.add<onnx::SoftplusOp>(within(bounds::softplus, {Role::Elementwise}));
  rows.add<onnx::SoftsignOp>(within(bounds::signedUnit, settles({Role::Elementwise})));
  rows.add<onnx::SpaceToDepthOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::SplitOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::SqrtOp>(within(bounds::squareRoot, {Role::Elementwise}));
  rows.add<onnx::SqueezeOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::SubOp>(within(bounds::sub, {Role::Elementwise}));
  rows.add<onnx::SumOp>(within(bounds::add, {Role::Elementwise}));
  rows.add<onnx::SwishOp>(within(bounds::shrinks, {Role::Elementwise}));
  rows.add<onnx::TanOp>({Role::Full, kSensitive});

  rows.add<onnx::TanhOp>(within(bounds::signedUnit, settles({Role::Elementwise})));
  rows.add<onnx::TensorScatterOp>(within(bounds::firstTwo, {Role::Movement}));
  rows.add<onnx::ThresholdedReluOp>({Role::Elementwise});

  rows.add<onnx::TileOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::TopKOp>({Role::Movement});

  rows.add<onnx::TransposeOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::TriluOp>({Role::Movement});

  rows.add<onnx::UniqueOp>({Role::Full, kSensitive});

  rows.add<onnx::UnsqueezeOp>(within(bounds::first, {Role::Movement}));
  rows.add<onnx::WhereOp>(within(bounds::where, {Role::Movement}));
}

/// Updates that are added to others, one after another.
static bool accumulates(Operation *op) {
  auto reduction = isa<onnx::ScatterElementsOp, onnx::ScatterNDOp>(op)
                       ? op->getAttrOfType<StringAttr>("reduction")
                       : StringAttr();
  return reduction && (reduction.getValue() == "add" || reduction.getValue() == "mul");
}

const PolicyRow &policyOf(Operation *op) {
  static constexpr PolicyRow kGrowing = {Role::Ranged, kGrows},
                             kAccumulating = {Role::Full, kUpdates};
  if (isa<onnx::MulOp>(op) && op->getOperand(0) == op->getOperand(1))
    return kGrowing;
  if (accumulates(op))
    return kAccumulating;
  auto known = dyn_cast<PrecisionInterface>(op);
  return known ? known.policy() : kUnknown;
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
    if (!isFP32(value) || row.keeps(i) || readsAnyType(op, i) ||
        (row.isMask(i) && onnx::keepsScores(op)))
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

void printPrecisionPolicy(raw_ostream &output, MLIRContext &context) {
  output << "| Operator | Policy | FP16 | BF16 | Stays FP32 |\n|---|---|---|---|---|\n";
  for (OperationName op : operatorsOf(context)) {
    const PolicyRow *known = onnx::rowOf<PrecisionModel>(op);
    if (!known)
      continue;
    const PolicyRow &row = *known;
    const onnx::OpSchema *schema = onnx::lookupSchema(op.stripDialect());
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
    output << "| " << op.stripDialect() << " | " << roleName(row.role) << " | "
           << (has(onnx::ElementKind::F16) ? "yes" : "no") << " | "
           << (has(onnx::ElementKind::BF16) ? "yes" : "no") << " | " << stays << " |\n";
  }
}

SmallVector<func::FuncOp> untypedFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function->hasAttr(kPrecisionAttr))
      functions.push_back(function);
  return functions;
}

} // namespace cameo
