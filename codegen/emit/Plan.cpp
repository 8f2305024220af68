// rt ops and host arithmetic ==> the plan's instructions, one op after the other.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Plan.h"
#include "dialects/kernel/Kernel.h"

#include "codegen/NodeNames.h"
#include "codegen/emit/PlanScalars.h"
#include "codegen/emit/PlanWriter.h"
#include "codegen/lower/DevicePatterns.h"
#include "dialects/onnx/Schema.h"
#include "passes/host/BufferPlanner.h"
#include "passes/host/WeightPool.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace cameo;

namespace {

/// Static shared memory of a kernel: its variables in their order, each at its alignment.
uint32_t sharedBytes(Operation *module) {
  DataLayout layout = DataLayout::closest(module);
  uint64_t bytes = 0;
  for (auto global : module->getRegion(0).getOps<LLVM::GlobalOp>())
    if (global.getAddrSpace() == NVVM::kSharedMemorySpace)
      bytes = llvm::alignTo(bytes, global.getAlignment().value_or(1)) +
              layout.getTypeSize(global.getType());
  return bytes;
}

class PlanEmitter {
public:
  explicit PlanEmitter(func::FuncOp function)
      : function(function), scalars(plan), variant(function->getParentOfType<rt::VariantOp>()) {}

  FailureOr<std::vector<char>> run();

private:
  LogicalResult addTensors(StringRef attribute, std::vector<CameoPlanTensor> &tensors);
  LogicalResult emit(Operation &op);
  LogicalResult emitWeight(rt::GetConstantOp op);
  LogicalResult emitWrite(rt::WriteOp op);
  void emitSizes(CameoOpcode opcode, uint64_t output, ValueRange sizes);
  LogicalResult emitFetch(rt::FetchOp op);
  LogicalResult emitLaunch(rt::LaunchOp op);
  LogicalResult emitBlock(Block &block);
  LogicalResult emitBranch(rt::BranchOp op);
  LogicalResult emitRepeat(rt::RepeatOp op);
  LogicalResult emitMoves(rt::RepeatOp op, ValueRange values, ArrayRef<uint32_t> to);
  void emitAlias(uint32_t buffer, uint32_t whole, Value bytes);
  void emitWork(rt::LaunchOp launch);
  void emitArena(rt::LayOutArenaOp op);
  FailureOr<uint32_t> kernelOf(rt::LaunchOp launch);
  FailureOr<uint32_t> dataType(Operation *op, Type element);
  uint32_t newBuffer(Value value) { return buffers[value] = plan.newBuffer(); }
  void nameBuffer(uint32_t buffer, StringRef name) {
    plan.op(CAMEO_OP_BUF_NAME, {buffer, plan.string(name)});
  }

  func::FuncOp function;
  PlanWriter plan;
  PlanScalars scalars;
  rt::VariantOp variant;
  llvm::DenseMap<Value, uint32_t> buffers;
  llvm::DenseMap<Attribute, uint32_t> kernels;
};

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

/// The name of an ONNX node or value, or "".
StringRef nameOf(Location location) {
  StringRef name;
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (named)
      name = named.getName();
    return named ? WalkResult::interrupt() : WalkResult::advance();
  });
  return name;
}

} // namespace

FailureOr<uint32_t> PlanEmitter::dataType(Operation *op, Type element) {
  std::optional<onnx::ElementKind> kind = onnx::elementKind(element);
  if (!kind)
    return op->emitError() << "ONNX has no element type " << element;
  return onnx::elementNumber(*kind);
}

LogicalResult PlanEmitter::addTensors(StringRef attribute, std::vector<CameoPlanTensor> &tensors) {
  auto list = function->getAttrOfType<ArrayAttr>(attribute);
  if (!list)
    return function.emitError() << "is not a launch plan: attribute '" << attribute
                                << "' is missing; cameo-plan-buffers sets it";
  for (Attribute entry : list) {
    auto dictionary = dyn_cast<DictionaryAttr>(entry);
    auto name = dictionary ? dictionary.getAs<StringAttr>("name") : StringAttr();
    auto element = dictionary ? dictionary.getAs<TypeAttr>("element") : TypeAttr();
    auto dims = dictionary ? dictionary.getAs<ArrayAttr>("dims") : ArrayAttr();
    if (!name || !element || !dims)
      return function.emitError() << "attribute '" << attribute
                                  << "' lacks a name, an element type or dims";
    FailureOr<uint32_t> type = dataType(function, element.getValue());
    if (failed(type))
      return failure();
    CameoPlanTensor tensor = {};
    tensor.name = plan.string(name);
    tensor.dtype = *type;
    tensor.rank = dims.size();
    tensor.first_dim = plan.dims.size();
    tensor.flags = dictionary.contains("host") ? CAMEO_TENSOR_HOST : 0;
    if (auto state = dictionary.getAs<IntegerAttr>("state")) {
      auto growing = dictionary.getAs<IntegerAttr>("grows");
      bool inPlace = dictionary.contains("in_place");
      tensor.flags |= CAMEO_TENSOR_STATE | (inPlace ? CAMEO_TENSOR_IN_PLACE : 0);
      tensor.state = state.getInt() | (growing ? growing.getInt() : CAMEO_STATE_FIXED) << 24;
    }
    for (Attribute dim : dims) {
      auto size = dyn_cast<IntegerAttr>(dim);
      auto symbol = dyn_cast<StringAttr>(dim);
      plan.dims.push_back(
          {size ? size.getInt() : -1, plan.string(symbol ? symbol.getValue() : ""), 0});
    }
    tensors.push_back(tensor);
  }
  return success();
}

FailureOr<uint32_t> PlanEmitter::kernelOf(rt::LaunchOp launch) {
  SymbolRefAttr symbol = launch.getKernelAttr();
  if (auto known = kernels.find(symbol); known != kernels.end())
    return known->second;
  auto kernel =
      dyn_cast_or_null<LLVM::LLVMFuncOp>(SymbolTable::lookupNearestSymbolFrom(launch, symbol));
  if (!kernel)
    return launch.emitError() << "launches " << symbol
                              << ", which is not a kernel of the device stage";
  auto block = kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName());
  if (!block || block.size() > 3)
    return kernel.emitError("needs its block's size in 'kernel.block' to be launched");
  CameoPlanKernel entry = {};
  entry.name = plan.string(kernel.getName());
  auto nodes = declaredAttr<kernel::KernelDialect::NodesAttrHelper>(kernel);
  entry.onnx_nodes = plan.string(nodes ? nodes.getValue() : "");
  for (int i = 0; i < 3; ++i)
    entry.block[i] = i < block.size() ? block[i] : 1;
  entry.shared_static = sharedBytes(kernel->getParentOp());
  entry.first_arg = plan.argTypes.size();
  entry.arg_count = kernel.getNumArguments();
  entry.flags =
      declaredAttr<kernel::KernelDialect::NoSyncAttrHelper>(kernel) ? CAMEO_KERNEL_NO_SYNC : 0;
  if (auto cluster = kernel->getAttrOfType<DenseI32ArrayAttr>(kClusterAttribute))
    if (cluster[0] * cluster[1] * cluster[2] > int32_t(CAMEO_PORTABLE_CLUSTER_BLOCKS))
      entry.cluster = cluster[0] | cluster[1] << 8 | cluster[2] << 16;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (isa<LLVM::LLVMPointerType>(type))
      plan.argTypes.push_back(CAMEO_ARG_BUFFER);
    else if (type.isInteger(32))
      plan.argTypes.push_back(CAMEO_ARG_I32);
    else if (type.isInteger(64))
      plan.argTypes.push_back(CAMEO_ARG_I64);
    else if (type.isF32())
      plan.argTypes.push_back(CAMEO_ARG_F32);
    else if (type.isF64())
      plan.argTypes.push_back(CAMEO_ARG_F64);
    else
      return kernel.emitError() << "parameter " << i << " is of type " << type
                                << "; launches pass buffers, i32, i64, f32 and f64";
  }
  plan.kernels.push_back(entry);
  return kernels[symbol] = plan.kernels.size() - 1;
}

void PlanEmitter::emitWork(rt::LaunchOp launch) {
  if (launch.getFlops() && launch.getBytes()) {
    plan.op(CAMEO_OP_WORK, {scalars.get(launch.getFlops()), scalars.get(launch.getBytes())});
    return;
  }
  auto flops = declaredAttr<kernel::KernelDialect::FlopsAttrHelper>(launch);
  auto bytes = declaredAttr<kernel::KernelDialect::BytesAttrHelper>(launch);
  if (flops && bytes)
    plan.op(CAMEO_OP_WORK,
            {plan.constantDouble(flops.getInt()), plan.constantDouble(bytes.getInt())});
}

LogicalResult PlanEmitter::emitLaunch(rt::LaunchOp launch) {
  FailureOr<uint32_t> kernel = kernelOf(launch);
  if (failed(kernel))
    return failure();
  const CameoPlanKernel entry = plan.kernels[*kernel];
  if (launch.getOperands_().size() != entry.arg_count)
    return launch.emitError() << "passes " << launch.getOperands_().size()
                              << " arguments to a kernel with " << entry.arg_count << " parameters";
  SmallVector<uint32_t> words = {*kernel};
  for (Value size : launch.getGrid())
    words.push_back(scalars.get(size));
  words.push_back(launch.getShared() ? scalars.get(launch.getShared()) : plan.constant(0));
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
    uint32_t type = plan.argTypes[entry.first_arg + i];
    if (isa<rt::BufferType>(operand.getType()) != (type == CAMEO_ARG_BUFFER))
      return launch.emitError() << "argument " << i << " of type " << operand.getType()
                                << " does not fit the kernel's parameter";
    if (type == CAMEO_ARG_BUFFER) {
      words.push_back(buffers.lookup(operand));
      continue;
    }
    bool isFloat = type == CAMEO_ARG_F32 || type == CAMEO_ARG_F64;
    if (isa<FloatType>(operand.getType()) != isFloat)
      return launch.emitError() << "argument " << i << " of type " << operand.getType()
                                << " does not fit the kernel's parameter";
    words.push_back(scalars.get(operand));
  }
  if (std::string nodes = nodeNames(launch.getLoc()); !nodes.empty())
    plan.op(CAMEO_OP_NODES, {plan.string(nodes)});
  emitWork(launch);
  plan.op(CAMEO_OP_LAUNCH, words);
  return success();
}

LogicalResult PlanEmitter::emitWeight(rt::GetConstantOp op) {
  rt::ConstantOp constant;
  for (Operation *scope = variant->getParentOp(); scope && !constant; scope = scope->getParentOp())
    if (scope->hasTrait<OpTrait::SymbolTable>())
      constant = dyn_cast_or_null<rt::ConstantOp>(
          SymbolTable::lookupSymbolIn(scope, op.getConstantAttr()));
  if (!constant || !constant.getOffset())
    return op.emitError() << "constant " << op.getConstantAttr()
                          << " has no place; cameo-lay-out-weights gives it one";
  FailureOr<int64_t> bytes = weightBytes(constant);
  if (failed(bytes))
    return failure();
  // Nothing can be asked of an empty buffer, and the section may end before its offset.
  uint64_t offset = *bytes ? *constant.getOffset() : 0;
  plan.op(CAMEO_OP_BUF_WEIGHT,
          {newBuffer(op), low(offset), high(offset), low(*bytes), high(*bytes)});
  StringRef name = nameOf(constant.getLoc());
  nameBuffer(buffers.lookup(op), name.empty() ? constant.getSymName() : name);
  return success();
}

LogicalResult PlanEmitter::emitWrite(rt::WriteOp op) {
  FailureOr<uint32_t> type = dataType(op, op.getElement());
  if (failed(type))
    return failure();
  SmallVector<uint32_t> words = {buffers.lookup(op.getDest()), *type,
                                 static_cast<uint32_t>(op.getValues().size())};
  bool isFloat = isa<FloatType>(op.getElement());
  for (Value value : op.getValues())
    words.push_back(scalars.convert(value, isFloat));
  if (words.size() > UINT16_MAX - 1)
    return op.emitError() << "writes " << op.getValues().size() << " values; at most "
                          << UINT16_MAX - 4 << " are possible";
  plan.op(CAMEO_OP_WRITE, words);
  return success();
}

void PlanEmitter::emitSizes(CameoOpcode opcode, uint64_t output, ValueRange sizes) {
  SmallVector<uint32_t> words = {low(output), low(sizes.size())};
  for (Value size : sizes)
    words.push_back(scalars.get(size));
  plan.op(opcode, words);
}

LogicalResult PlanEmitter::emitFetch(rt::FetchOp op) {
  FailureOr<uint32_t> type = dataType(op, op.getElement());
  if (failed(type))
    return failure();
  SmallVector<uint32_t> words = {buffers.lookup(op.getSource()), *type, plan.constant(0),
                                 static_cast<uint32_t>(op.getValues().size())};
  for (Value value : op.getValues()) {
    words.push_back(plan.newRegister());
    scalars.set(value, words.back());
  }
  plan.op(CAMEO_OP_FETCH, words);
  return success();
}

void PlanEmitter::emitArena(rt::LayOutArenaOp op) {
  for (auto [bytes, offset, first, last] :
       llvm::zip(op.getBytes(), op.getOffsets(), op.getFirst(), op.getLast()))
    scalars.set(offset,
                plan.compute(CAMEO_OP_ARENA_REQUEST, {scalars.get(bytes), low(first), low(last)}));
  uint32_t arena = plan.newRegister(), live = plan.newRegister(), sum = plan.newRegister();
  plan.op(CAMEO_OP_ARENA_LAYOUT, {arena, live, sum});
  scalars.set(op.getArena(), arena);
  scalars.set(op.getLive(), live);
  scalars.set(op.getSum(), sum);
}

/// Another number for all of a buffer.
void PlanEmitter::emitAlias(uint32_t buffer, uint32_t whole, Value bytes) {
  plan.op(CAMEO_OP_BUF_PART, {buffer, whole, plan.constant(0), scalars.get(bytes)});
}

LogicalResult PlanEmitter::emitBranch(rt::BranchOp op) {
  SmallVector<uint32_t> results;
  for (Value result : op.getResults()) {
    bool isBuffer = isa<rt::BufferType>(result.getType());
    results.push_back(isBuffer ? plan.newBuffer() : plan.newRegister());
  }
  uint32_t toOther = plan.branchZero(scalars.get(op.getCondition())), toEnd = 0;
  for (Region &region : op->getRegions()) {
    Block &block = region.front();
    if (failed(emitBlock(block)))
      return failure();
    for (auto [value, result] : llvm::zip(block.getTerminator()->getOperands(), results)) {
      if (!isa<rt::BufferType>(value.getType())) {
        plan.op(CAMEO_OP_MOVE, {result, scalars.get(value)});
        continue;
      }
      auto part = value.getDefiningOp<rt::BufferPartOp>();
      if (!part)
        return op.emitError("yields a buffer that is no part of another");
      emitAlias(result, buffers.lookup(part), part.getBytes());
    }
    if (&region == &op.getTaken()) {
      toEnd = plan.jump();
      plan.land(toOther);
    }
  }
  plan.land(toEnd);
  for (auto [value, result] : llvm::zip(op.getResults(), results)) {
    if (isa<rt::BufferType>(value.getType()))
      buffers[value] = result;
    else
      scalars.set(value, result);
  }
  return success();
}

/// The bytes of a buffer that goes round; null where they are not known. An argument has those of what the loop is given
/// for it.
static Value bytesOf(rt::RepeatOp op, Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    buffer = op.getCarried()[argument.getArgNumber() - 1];
  if (auto view = buffer.getDefiningOp<rt::ArenaViewOp>())
    return view.getBytes();
  auto part = buffer.getDefiningOp<rt::BufferPartOp>();
  return part ? part.getBytes() : Value();
}

/// Registers and buffers that go round: values of the plan, and what holds them in each trip.
LogicalResult PlanEmitter::emitMoves(rt::RepeatOp op, ValueRange values, ArrayRef<uint32_t> to) {
  for (auto [i, value] : llvm::enumerate(values)) {
    if (!isa<rt::BufferType>(value.getType())) {
      plan.op(CAMEO_OP_MOVE, {to[i], scalars.get(value)});
      continue;
    }
    Value bytes = bytesOf(op, value);
    if (!bytes)
      return op.emitError("carries a buffer that is neither in the arena nor a part of another");
    emitAlias(to[i], buffers.lookup(value), bytes);
  }
  return success();
}

LogicalResult PlanEmitter::emitRepeat(rt::RepeatOp op) {
  Block &body = op.getBody().front();
  Operation *end = body.getTerminator();
  uint32_t trip = plan.newRegister(), goesOn = plan.newRegister(), one = plan.constant(1);
  SmallVector<uint32_t> carried, turned;
  for (auto [i, value] : llvm::enumerate(op.getCarried())) {
    bool isBuffer = isa<rt::BufferType>(value.getType());
    carried.push_back(isBuffer ? plan.newBuffer() : plan.newRegister());
    turned.push_back(isBuffer ? plan.newBuffer() : plan.newRegister());
    if (isBuffer)
      buffers[body.getArgument(1 + i)] = carried.back();
    else
      scalars.set(body.getArgument(1 + i), carried.back());
  }
  if (failed(emitMoves(op, op.getCarried(), carried)))
    return failure();
  plan.op(CAMEO_OP_MOVE, {trip, plan.constant(0)});
  scalars.set(body.getArgument(0), trip);
  bool asks = op.getCondition() || !op.getUnconditional();
  if (asks)
    plan.op(CAMEO_OP_MOVE,
            {goesOn, op.getCondition() ? scalars.get(op.getCondition()) : plan.constant(1)});
  uint32_t again = plan.here();
  SmallVector<uint32_t> exits;
  if (asks)
    exits.push_back(plan.branchZero(goesOn));
  if (op.getCount())
    exits.push_back(plan.branchZero(plan.compute(CAMEO_OP_LT, {trip, scalars.get(op.getCount())})));
  if (failed(emitBlock(body)))
    return failure();
  if (asks)
    plan.op(CAMEO_OP_MOVE, {goesOn, scalars.get(end->getOperand(0))});
  // They go by way of others, because they may change places.
  if (failed(emitMoves(op, end->getOperands().drop_front(), turned)))
    return failure();
  for (auto [i, value] : llvm::enumerate(end->getOperands().drop_front())) {
    if (!isa<rt::BufferType>(value.getType())) {
      plan.op(CAMEO_OP_MOVE, {carried[i], turned[i]});
      continue;
    }
    emitAlias(carried[i], turned[i], bytesOf(op, value));
  }
  plan.op(CAMEO_OP_ADD, {trip, trip, one});
  plan.jump(again);
  for (uint32_t exit : exits)
    plan.land(exit);
  scalars.set(op.getTrips(), trip);
  for (auto [result, number] : llvm::zip(op.getOutputs(), carried)) {
    if (isa<rt::BufferType>(result.getType()))
      buffers[result] = number;
    else
      scalars.set(result, number);
  }
  return success();
}

LogicalResult PlanEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(emit(op)))
      return failure();
  return success();
}

LogicalResult PlanEmitter::emit(Operation &op) {
  if (auto branch = dyn_cast<rt::BranchOp>(op))
    return emitBranch(branch);
  if (auto repeat = dyn_cast<rt::RepeatOp>(op))
    return emitRepeat(repeat);
  if (auto dim = dyn_cast<rt::DimOp>(op)) {
    scalars.set(dim, plan.compute(CAMEO_OP_DIM, {low(dim.getInput()), low(dim.getDimension())}));
  } else if (auto read = dyn_cast<rt::ReadInputOp>(op)) {
    scalars.set(
        read, plan.compute(CAMEO_OP_LOAD, {low(read.getInput()), scalars.get(read.getPosition())}));
  } else if (auto check = dyn_cast<rt::CheckOp>(op)) {
    SmallVector<uint32_t> words = {scalars.get(check.getCondition()),
                                   plan.string(check.getMessage())};
    if (check.getValues().size() > 2)
      return op.emitError() << "has " << check.getValues().size() << " values; at most 2";
    for (Value value : check.getValues())
      words.push_back(scalars.get(value));
    words.resize(4, plan.constant(0));
    plan.op(CAMEO_OP_CHECK, words);
  } else if (auto shape = dyn_cast<rt::OutputShapeOp>(op)) {
    emitSizes(CAMEO_OP_OUTPUT_SHAPE, shape.getOutput(), shape.getSizes());
  } else if (auto bound = dyn_cast<rt::OutputBoundOp>(op)) {
    emitSizes(CAMEO_OP_OUTPUT_BOUND, bound.getOutput(), bound.getSizes());
  } else if (auto size = dyn_cast<rt::ArenaSizeOp>(op)) {
    plan.op(CAMEO_OP_ARENA_SIZE, {scalars.get(size.getBytes())});
    if (size.getLive())
      plan.op(CAMEO_OP_ARENA_USE, {scalars.get(size.getLive()), scalars.get(size.getSum())});
  } else if (auto layout = dyn_cast<rt::LayOutArenaOp>(op)) {
    emitArena(layout);
  } else if (auto view = dyn_cast<rt::ArenaViewOp>(op)) {
    uint32_t offset = scalars.get(view.getOffset()), bytes = scalars.get(view.getBytes());
    plan.op(CAMEO_OP_BUF_ARENA, {newBuffer(view), offset, bytes});
    if (StringRef name = nameOf(view.getLoc()); !name.empty())
      nameBuffer(buffers.lookup(view), name);
  } else if (auto part = dyn_cast<rt::BufferPartOp>(op)) {
    uint32_t offset = scalars.get(part.getOffset()), bytes = scalars.get(part.getBytes());
    uint32_t whole = buffers.lookup(part.getBuffer());
    plan.op(CAMEO_OP_BUF_PART, {newBuffer(part), whole, offset, bytes});
  } else if (auto input = dyn_cast<rt::InputOp>(op)) {
    plan.op(CAMEO_OP_BUF_INPUT, {newBuffer(input), low(input.getIndex())});
  } else if (auto state = dyn_cast<rt::StateBufferOp>(op)) {
    uint32_t bytes = scalars.get(state.getBytes());
    plan.op(CAMEO_OP_BUF_STATE, {newBuffer(state), low(state.getState()), bytes});
  } else if (auto capacity = dyn_cast<rt::CapacityOp>(op)) {
    scalars.set(capacity, plan.compute(CAMEO_OP_CAPACITY, {low(capacity.getState()),
                                                           scalars.get(capacity.getLeast())}));
  } else if (auto output = dyn_cast<rt::OutputOp>(op)) {
    plan.op(CAMEO_OP_BUF_OUTPUT, {newBuffer(output), low(output.getIndex())});
  } else if (auto state = dyn_cast<rt::RandomStateOp>(op)) {
    plan.op(CAMEO_OP_BUF_RANDOM, {newBuffer(state)});
  } else if (auto get = dyn_cast<rt::GetConstantOp>(op)) {
    return emitWeight(get);
  } else if (auto copy = dyn_cast<rt::CopyOp>(op)) {
    plan.op(CAMEO_OP_COPY, {buffers.lookup(copy.getDest()), buffers.lookup(copy.getSource()),
                            scalars.get(copy.getBytes())});
  } else if (auto write = dyn_cast<rt::WriteOp>(op)) {
    return emitWrite(write);
  } else if (auto tap = dyn_cast<rt::TapOp>(op)) {
    SmallVector<uint32_t> sizes, trips;
    for (Value size : tap.getSizes())
      sizes.push_back(scalars.get(size));
    for (auto loop = tap->getParentOfType<rt::RepeatOp>(); loop;
         loop = loop->getParentOfType<rt::RepeatOp>())
      trips.insert(trips.begin(), scalars.get(loop.getBody().getArgument(0)));
    SmallVector<uint32_t> words = {low(tap.getNumber()), buffers.lookup(tap.getValue()),
                                   low(sizes.size() + trips.size())};
    llvm::append_range(words, sizes);
    llvm::append_range(words, trips);
    plan.op(CAMEO_OP_TAP, words);
  } else if (auto fetch = dyn_cast<rt::FetchOp>(op)) {
    return emitFetch(fetch);
  } else if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
    return emitLaunch(launch);
  } else if (!isa<func::ReturnOp, rt::YieldOp>(op)) {
    return scalars.emit(op);
  }
  return success();
}

FailureOr<std::vector<char>> PlanEmitter::run() {
  if (!variant)
    return function.emitError("a launch plan stands in an rt.variant");
  if (failed(addTensors(kPlanInputsAttr, plan.inputs)) ||
      failed(addTensors(kPlanOutputsAttr, plan.outputs)) ||
      (function->hasAttr(kPlanTapsAttr) && failed(addTensors(kPlanTapsAttr, plan.taps))))
    return failure();
  if (failed(emitBlock(function.getBody().front())))
    return failure();
  return plan.finish(function.getName());
}

FailureOr<std::vector<char>> cameo::emitPlan(func::FuncOp function) {
  return PlanEmitter(function).run();
}
