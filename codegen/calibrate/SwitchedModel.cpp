// Operands ==> inputs that switch them.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/SwitchedModel.h"

#include "passes/graph/Bodies.h"
#include "passes/graph/Elements.h"
#include "passes/graph/Graph.h"
#include "passes/graph/Permutations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstring>

using namespace mlir;
using namespace cameo;

void SwitchPlaces::add(const QuantizedOperands &operands) {
  for (const auto &[place, scale] : operands.scales) {
    llvm::SmallVector<int64_t> &shape = computed[place];
    if (shape.empty()) // or one of channels, which are scaled with some layers and not with others
      shape = scale.shape;
  }
  for (const auto &[place, numbers] : operands.constants)
    constant[place] = numbers.size();
}

bool SwitchPlaces::cover(const QuantizedOperands &operands) const {
  return llvm::all_of(operands.scales,
                      [&](const auto &entry) {
                        auto found = computed.find(entry.first);
                        return found != computed.end() &&
                               (entry.second.shape.empty() || found->second == entry.second.shape);
                      }) &&
         llvm::all_of(operands.constants,
                      [&](const auto &entry) { return constant.count(entry.first) != 0; });
}

//===-- Graph ---------------------------------------------------------------------------------===//

static Location named(Location loc, const Twine &name) {
  return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
}

/// Elementwise work has the sizes of what it reads.
static Value withDims(Operation *op, Value from) {
  auto type = dyn_cast<RankedTensorType>(from.getType());
  if (ArrayAttr dims = knownDims(from); dims && type && !type.hasStaticShape())
    setDims(op, dims.getValue());
  return op->getResult(0);
}

/// A further argument; of a body it is one that it captures, of an input of the model in the end.
static Value addInput(func::FuncOp function,
                      const llvm::DenseMap<Operation *, Operation *> &callers, Type type,
                      const Twine &name) {
  Builder b(function.getContext());
  auto add = [&](func::FuncOp to) {
    unsigned number = to.getNumArguments();
    to.insertArgument(number, type,
                      b.getDictionaryAttr(b.getNamedAttr(onnx::kNameAttr, b.getStringAttr(name))),
                      to.getLoc());
    return to.getArgument(number);
  };
  Operation *call = callers.lookup(function);
  if (!call)
    return add(function);
  Value given = addInput(call->getParentOfType<func::FuncOp>(), callers, type, name);
  SmallVector<BodyCall, 2> bodies = bodyCalls(call);
  call->insertOperands(call->getNumOperands(), given);
  for (const BodyCall &body : bodies)
    add(body.callee);
  return function.getArguments().back();
}

/// The operand as 8 bits have it, or as it is; `factors` are null where channels are never scaled.
static Value switched(OpBuilder &b, Value value, Value scale, Value on, Value factors,
                      const std::string &name) {
  Location loc = value.getLoc();
  auto byFactors = [&](auto op, Value of) {
    if (!factors)
      return of;
    return withDims(b.create<decltype(op)>(of.getLoc(), TypeRange{value.getType()},
                                           ValueRange{of, factors}, ArrayRef<NamedAttribute>()),
                    value);
  };
  auto type = cast<TensorType>(value.getType());
  Value zero = createConstant(
      b, named(loc, name + ".zero"),
      DenseElementsAttr::get(RankedTensorType::get({}, b.getI8Type()), b.getI8IntegerAttr(0)));
  Type bytes = type.cloneWith(std::nullopt, b.getI8Type());
  auto numbers = b.create<onnx::QuantizeLinearOp>(
      named(loc, name + ".quantized"), TypeRange{bytes},
      ValueRange{byFactors(onnx::MulOp(), value), scale, zero}, ArrayRef<NamedAttribute>());
  auto back = b.create<onnx::DequantizeLinearOp>(named(loc, name + ".dequantized"), TypeRange{type},
                                                 ValueRange{withDims(numbers, value), scale, zero},
                                                 ArrayRef<NamedAttribute>());
  auto chosen = b.create<onnx::WhereOp>(
      named(loc, name + ".switched"), TypeRange{type},
      ValueRange{on, byFactors(onnx::DivOp(), withDims(back, value)), value},
      ArrayRef<NamedAttribute>());
  return withDims(chosen, value);
}

static std::vector<char> bytesOf(ArrayRef<float> numbers) {
  std::vector<char> bytes(numbers.size() * sizeof(float));
  if (!numbers.empty())
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// What an operand is in FP32, with as many elements as quantisation gives it: it makes a bias of
/// zeros where a product has none, and one a channel of a single one. Nothing for others that
/// differ.
static std::optional<std::vector<float>> givenNumbers(Operation *op, const OperandPlace &place,
                                                      size_t count) {
  bool isBias = isa<onnx::ConvOp, onnx::GemmOp>(op) && place.operand == 2;
  if (isBias && (op->getNumOperands() == 2 || onnx::isAbsent(op->getOperand(2))))
    return std::vector<float>(count, 0.0f);
  std::optional<Elements> elements =
      Elements::of(onnx::constantValue(op->getOperand(place.operand)));
  if (!elements || elements->kind != onnx::ElementKind::F32)
    return std::nullopt;
  std::vector<float> numbers = readElements<float>(*elements);
  if (isBias && numbers.size() == 1)
    numbers.resize(count, numbers.front());
  return numbers.size() == count ? std::optional(std::move(numbers)) : std::nullopt;
}

/// The order in which a kernel reads weights: along the channels of its results, which packing puts last where weights
/// are constants. Kernels that read them in another order take twice the time to compile.
static Permutation readOrder(Operation *op, unsigned operand, int64_t rank) {
  Permutation order = llvm::to_vector<6>(llvm::seq<int64_t>(0, rank));
  if (auto gemm = dyn_cast<onnx::GemmOp>(op); operand == 1 && gemm && gemm.getTransB())
    order = lastExchanged(rank);
  // [filters, channels, window...] => [window..., channels, filters]
  if (operand == 1 && isa<onnx::ConvOp>(op) && rank > 2) {
    std::rotate(order.begin(), order.begin() + 2, order.end());
    std::swap(order[rank - 2], order[rank - 1]);
  }
  return order;
}

/// Numbers of that shape in the order of a Transpose's result.
static std::vector<float> transposed(ArrayRef<float> numbers, ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return numbers.vec();
  SmallVector<int64_t> steps(shape.size(), 1), sizes, stepsThere;
  for (size_t i = shape.size() - 1; i > 0; --i)
    steps[i - 1] = steps[i] * shape[i];
  for (int64_t dim : permutation) {
    sizes.push_back(shape[dim]);
    stepsThere.push_back(steps[dim]);
  }
  std::vector<float> result;
  result.reserve(numbers.size());
  SmallVector<int64_t> at(sizes.size(), 0);
  for (size_t i = 0, from = 0; i < numbers.size(); ++i) {
    result.push_back(numbers[from]);
    for (size_t dim = sizes.size(); dim-- > 0;) {
      from += stepsThere[dim];
      if (++at[dim] < sizes[dim])
        break;
      from -= at[dim] * stepsThere[dim];
      at[dim] = 0;
    }
  }
  return result;
}

LogicalResult SwitchedModel::insert(ModuleOp module, const SwitchPlaces &places) {
  auto function = *module.getOps<func::FuncOp>().begin();
  llvm::StringMap<Operation *> nodes;
  forEachNode(module, [&](Operation *op, const std::string &key) { nodes[key] = op; });
  llvm::DenseMap<Operation *, Operation *> callers = callersOf(module);
  modelInputs = function.getNumArguments();
  inputs.resize(modelInputs);
  auto add = [&](Operation *reader, Type type, const Twine &name, cameo_dtype dtype,
                 std::vector<char> bytes) {
    inputs.push_back({dtype, llvm::SmallVector<int64_t>(cast<RankedTensorType>(type).getShape()),
                      std::move(bytes)});
    return addInput(reader->getParentOfType<func::FuncOp>(), callers, type, name);
  };
  OpBuilder b(module.getContext());
  for (const auto &[place, count] : places.constant) {
    Operation *op = nodes.lookup(place.node);
    std::optional<std::vector<float>> numbers = givenNumbers(op, place, count);
    if (!numbers)
      return op->emitError() << "operand " << place.operand << " is no constant of " << count
                             << " numbers of FP32";
    bool isNew = place.operand == op->getNumOperands();
    Value value = isNew ? Value() : op->getOperand(place.operand);
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    if (!type || type.getNumElements() != int64_t(count))
      type = RankedTensorType::get({int64_t(count)}, b.getF32Type());
    Permutation order = readOrder(op, place.operand, type.getRank());
    std::vector<char> bytes = bytesOf(transposed(*numbers, type.getShape(), order));
    constants.push_back({place, inputs.size(), bytes, llvm::to_vector(type.getShape()),
                         llvm::SmallVector<int64_t>(order)});
    std::string name = place.node + ":" + std::to_string(place.operand);
    Value given =
        add(op, permuted(type, order), name + ".given", CAMEO_DTYPE_F32, std::move(bytes));
    b.setInsertionPoint(op);
    if (!isIdentity(order))
      given = createTranspose(b, named(op->getLoc(), name + ".turned"), given, inverse(order));
    if (isNew)
      op->insertOperands(place.operand, given);
    else
      op->setOperand(place.operand, given);
    if (value && value.use_empty())
      value.getDefiningOp()->erase();
  }
  for (const auto &[place, factorShape] : places.computed) {
    Operation *op = nodes.lookup(place.node);
    std::string name = place.node + ":" + std::to_string(place.operand);
    switches.push_back({place, inputs.size(), inputs.size() + 1, std::nullopt});
    Value scale = add(op, RankedTensorType::get({}, b.getF32Type()), name + ".scale",
                      CAMEO_DTYPE_F32, bytesOf({1.0f}));
    Value on =
        add(op, RankedTensorType::get({}, b.getI1Type()), name + ".on", CAMEO_DTYPE_BOOL, {0});
    Value factors;
    if (auto type = RankedTensorType::get(factorShape, b.getF32Type()); !factorShape.empty()) {
      switches.back().factors = inputs.size();
      factors = add(op, type, name + ".factors", CAMEO_DTYPE_F32,
                    bytesOf(std::vector<float>(type.getNumElements(), 1.0f)));
    }
    b.setInsertionPoint(op);
    op->setOperand(place.operand,
                   switched(b, op->getOperand(place.operand), scale, on, factors, name));
  }
  return success();
}

//===-- Runs ----------------------------------------------------------------------------------===//

CompileOptions SwitchedModel::optionsFor(const CompileOptions &given, StringRef targets) {
  CompileOptions options = given;
  options.pipeline.targets = targets.str();
  options.pipeline.precision.io = "fp32";
  options.pipeline.schedules = options.pipeline.tune = options.pipeline.taps = "";
  options.code.remarks = options.code.simChecks = options.code.simTrace = false;
  options.code.simChecksOnly = false;
  options.code.simForms = SimForms::Warp;
  options.dropAbsentTargets = options.keepGraphs = options.warningsAreErrors = false;
  options.onMessage = [say = given.onMessage](const CompileMessage &message) {
    if (say && message.severity == CompileMessage::Severity::Error)
      say(message);
  };
  return options;
}

FailureOr<std::unique_ptr<SwitchedModel>> SwitchedModel::create(StringRef path,
                                                                CompileOptions options,
                                                                const SwitchPlaces &places,
                                                                const RunOptions &run) {
  // The graph that is quantised otherwise, but with nothing that is.
  std::string &nodes = options.pipeline.precision.nodes;
  nodes += nodes.empty() ? "*=fp32" : ";*=fp32";
  Compiler compiler(std::move(options));
  std::unique_ptr<SwitchedModel> model(new SwitchedModel);
  if (failed(compiler.read(path)) || failed(compiler.runTo(Stage::Normalized)) ||
      failed(model->insert(compiler.module(), places)) || failed(compiler.runTo(Stage::Host)) ||
      failed(compiler.emit()))
    return failure();
  llvm::Expected<std::unique_ptr<Runner>> runner = Runner::create(compiler.artefact(), run);
  if (!runner)
    return compiler.fail("accuracy: " + llvm::toString(runner.takeError()));
  model->runner = std::move(*runner);
  return std::move(model);
}

void SwitchedModel::set(const QuantizedOperands &operands) {
  for (const Constant &constant : constants) {
    auto found = operands.constants.find(constant.place);
    inputs[constant.input].bytes =
        found == operands.constants.end()
            ? constant.original
            : bytesOf(transposed(found->second, constant.shape, constant.order));
  }
  for (const Switch &entry : switches) {
    auto found = operands.scales.find(entry.place);
    bool isOn = found != operands.scales.end();
    inputs[entry.scale].bytes = bytesOf({isOn ? found->second.scale : 1.0f});
    inputs[entry.on].bytes = {char(isOn)};
    if (!entry.factors)
      continue;
    std::vector<char> &factors = inputs[*entry.factors].bytes;
    bool isScaled = isOn && !found->second.shape.empty();
    factors = bytesOf(isScaled ? found->second.factors
                               : std::vector<float>(factors.size() / sizeof(float), 1.0f));
  }
}

llvm::Expected<std::vector<HostTensor>> SwitchedModel::run(DataBatch &batch) {
  for (size_t i = 0; i < modelInputs; ++i)
    std::swap(inputs[i], batch.inputs[i]);
  llvm::Expected<std::vector<HostTensor>> outputs = runner->run(inputs);
  for (size_t i = 0; i < modelInputs; ++i)
    std::swap(inputs[i], batch.inputs[i]);
  return outputs;
}
