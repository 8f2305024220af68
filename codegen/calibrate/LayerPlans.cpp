// Layers that stay ==> operands that are read in 8 bits.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/LayerPlans.h"

#include "codegen/ModelInput.h"
#include "passes/graph/Bodies.h"
#include "passes/graph/Elements.h"
#include "passes/precision/QuantizationPlan.h"
#include "passes/precision/QuantizedValue.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace cameo;

std::string cameo::globOf(StringRef name) {
  std::string glob;
  for (char c : name) {
    // An escape at the beginning says that it is of nodes: one may be called as an operator is.
    if (glob.empty() ? c != ';' : StringRef("*?[]{}\\").contains(c))
      glob += '\\';
    glob += c == ';' ? '?' : c;
  }
  return glob;
}

std::string NodeKeys::of(Operation *op) {
  std::string name = nodeName(op).str();
  unsigned before = seen[name]++;
  return before ? name + "#" + std::to_string(before) : name;
}

void cameo::forEachNode(ModuleOp module, llvm::function_ref<void(Operation *, std::string)> see) {
  NodeKeys keys;
  for (func::FuncOp function : modelFunctions(module))
    for (Operation &op : function.getBody().front())
      see(&op, keys.of(&op));
}

/// On nodes of a copy: the key of that which each is a copy of. What passes add has none.
static constexpr llvm::StringLiteral kKeyAttr = onnx::OnnxDialect::KeyAttrHelper::getNameStr();

/// The pass on a copy, which is gone behind `read`.
template <typename Read> LogicalResult LayerPlans::onCopy(PassManager &passes, Read read) {
  OwningOpRef<ModuleOp> copy(model.module().clone());
  forEachNode(*copy, [&](Operation *op, const std::string &key) {
    op->setAttr(kKeyAttr, StringAttr::get(&model.context(), key));
  });
  if (failed(passes.run(*copy)))
    return failure();
  for (func::FuncOp function : modelFunctions(*copy))
    for (Operation &op : function.getBody().front())
      read(&op);
  copy = nullptr;
  onnx::releaseUnusedConstants({model.module()}); // those of the copy
  return success();
}

FailureOr<std::unique_ptr<LayerPlans>> LayerPlans::create(StringRef path,
                                                          const CompileOptions &options) {
  std::unique_ptr<LayerPlans> plans(new LayerPlans(options));
  if (failed(plans->model.read(path)) || failed(plans->model.runTo(Stage::Normalized)))
    return failure();
  if (failed(plans->attachRanges()) || failed(plans->findLayers()))
    return failure();
  return std::move(plans);
}

LogicalResult LayerPlans::attachRanges() {
  precision.model = hashText(model.hash());
  PassManager attach(&model.context(), ModuleOp::getOperationName());
  populateRanges(attach, precision);
  return attach.run(model.module());
}

LogicalResult LayerPlans::findLayers() {
  llvm::Expected<PrecisionOverrides> overrides = PrecisionOverrides::parse(precision.nodes);
  if (!overrides)
    return model.fail("--precision-of: " + llvm::toString(overrides.takeError()));
  llvm::DenseMap<Operation *, Operation *> callers = callersOf(model.module());
  for (func::FuncOp function : modelFunctions(model.module())) {
    FailureOr<RecordedRanges> ranges = RecordedRanges::of(function);
    if (failed(ranges))
      return failure();
    paths.try_emplace(function, function, ChannelPaths::Names::Recorded);
    channels = ranges->channels;
    QuantizationPlan plan = planQuantization(function, *ranges, *overrides,
                                             {precision.type == precisionName(Precision::INT8),
                                              *parseKeptEnds(precision.keptEnds),
                                              precision.scalesChannels.value_or(true)});
    for (const QuantizationPlan::Product &product : plan.products) {
      const PrecisionOverride *asked = overrides->find(product.op);
      if (product.isInteger() && (!asked || asked->precision != Precision::INT8))
        found.push_back({nodeName(product.op).str(), product.op->getName().stripDialect().str(),
                         Precision::FP16, nodesAround(function, callers)});
    }
  }
  // Their types where they are no products of integers, by the guard of ranges.
  llvm::StringMap<Precision> types;
  PassManager lower(&model.context(), ModuleOp::getOperationName());
  lower.addPass(createLowerPrecision({"fp16", precision.nodes, "fp32"}));
  if (failed(onCopy(lower, [&](Operation *op) {
        if (std::optional<Precision> type = precisionOf(op))
          types[nodeName(op)] = *type;
      })))
    return failure();
  for (QuantizableLayer &layer : found)
    if (auto type = types.find(layer.name); type != types.end())
      layer.otherwise = type->second;
  return success();
}

std::string LayerPlans::overridesOf(const llvm::BitVector &kept) const {
  std::string text;
  for (unsigned i : kept.set_bits())
    text += (text.empty() ? "" : ";") + globOf(found[i].name) + "=" +
            precisionName(found[i].otherwise).str();
  return text;
}

FailureOr<QuantizedOperands> LayerPlans::withKept(const llvm::BitVector &kept) {
  return plan(overridesOf(kept));
}

FailureOr<QuantizedOperands> LayerPlans::with(PrecisionOptions other) {
  precision = std::move(other);
  if (failed(attachRanges()))
    return failure();
  return plan("");
}

FailureOr<QuantizedOperands> LayerPlans::alone(unsigned layer) {
  return plan("*=fp32;" + globOf(found[layer].name) + "=int8");
}

/// What the numbers of a DequantizeLinear of constants stand for.
static std::vector<float> numbersOf(const QuantizedValue &value, ElementsAttr constant) {
  std::optional<Elements> elements = Elements::of(constant);
  if (!elements)
    return {};
  ArrayRef<int64_t> shape = elements->shape();
  int64_t channels = value.isPerTensor() ? 1 : shape[value.axis];
  int64_t inner =
      value.isPerTensor() ? 1 : ShapedType::getNumElements(shape.drop_front(value.axis + 1));
  std::vector<float> numbers;
  for (auto [i, number] : llvm::enumerate(readElements<int64_t>(*elements))) {
    int64_t channel = int64_t(i) / inner % channels;
    numbers.push_back(float(number - value.zero(channel)) * value.scale(channel));
  }
  return numbers;
}

/// The scale and factors by which a copy reads a computed value that it has quantised; nothing for other
/// values, such as those that the model itself quantises.
static std::optional<QuantizedOperands::Scale> scaleOf(Value value) {
  auto isNew = [](Operation *op) { return op && !op->hasAttr(kKeyAttr); };
  if (auto unscaled = value.getDefiningOp<onnx::MulOp>(); isNew(unscaled))
    value = unscaled->getOperand(0);
  std::optional<QuantizedValue> read = QuantizedValue::dequantized(value);
  if (!read || !isNew(read->op) || onnx::constantValue(read->source()))
    return std::nullopt;
  QuantizedOperands::Scale scale{read->scale(0)};
  auto numbers = read->source().getDefiningOp<onnx::QuantizeLinearOp>();
  auto scaled = numbers ? numbers->getOperand(0).getDefiningOp<onnx::MulOp>() : onnx::MulOp();
  if (isNew(scaled)) {
    Elements factors = *Elements::of(onnx::constantValue(scaled->getOperand(1)));
    scale.factors = readElements<float>(factors);
    scale.shape = llvm::to_vector(factors.shape());
  }
  return scale;
}

/// Channels of what a product reads were multiplied where the value was quantised.
static bool isScaled(Value value) {
  while (movesElements(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  std::optional<QuantizedOperands::Scale> scale = scaleOf(value);
  return scale && !scale->shape.empty();
}

/// Weights of a product as they are where channels of what it reads are not scaled. `before` is the
/// product in the model.
static std::vector<float> unscaled(std::vector<float> numbers, Operation *before,
                                   const ChannelExponents &exponents) {
  if (exponents.empty())
    return numbers;
  std::vector<double> scaled = Weighted::of(before)->scaled({numbers.begin(), numbers.end()},
                                                            channelFactors(exponents), Side::Input);
  return {scaled.begin(), scaled.end()};
}

FailureOr<QuantizedOperands> LayerPlans::plan(StringRef overrides) {
  PrecisionOptions options = precision;
  if (!overrides.empty())
    options.nodes += (options.nodes.empty() ? "" : ";") + overrides.str();
  PassManager passes(&model.context(), ModuleOp::getOperationName());
  populateQuantization(passes, options);
  QuantizedOperands operands;
  llvm::StringMap<Operation *> nodes;
  forEachNode(model.module(), [&](Operation *op, const std::string &key) { nodes[key] = op; });
  auto exponentsOf = [&](Operation *product) {
    return paths.find(product->getParentOfType<func::FuncOp>())
        ->second.exponents(product->getOperand(0), channels);
  };
  LogicalResult result = onCopy(passes, [&](Operation *op) {
    auto key = op->getAttrOfType<StringAttr>(kKeyAttr);
    if (!key)
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      if (std::optional<QuantizedOperands::Scale> scale = scaleOf(operand.get()))
        operands.scales[{key.str(), number}] = std::move(*scale);
      std::optional<QuantizedValue> value = QuantizedValue::dequantized(operand.get());
      ElementsAttr constant = value ? onnx::constantValue(value->source()) : ElementsAttr();
      if (!constant || value->op->hasAttr(kKeyAttr))
        continue;
      std::vector<float> numbers = numbersOf(*value, constant);
      if (number == 1 && isScaled(op->getOperand(0)))
        numbers = unscaled(std::move(numbers), nodes[key.str()], exponentsOf(nodes[key.str()]));
      operands.constants[{key.str(), number}] = std::move(numbers);
    }
  });
  if (failed(result))
    return failure();
  return operands;
}
