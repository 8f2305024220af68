// Second half of buffer planning: the arena's layout, and the plan itself. Host arithmetic stays
// where it is; shapes of outputs, the arena's size and what the device does follow it.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/BufferPlanner.h"
#include "passes/host/SizeBounds.h"
#include "runtime/arena.h"

using namespace mlir;
using namespace cameo;

static std::optional<int64_t> known(OpFoldResult size) { return getConstantIntValue(size); }

Value BufferPlanner::value(OpFoldResult size) {
  if (auto dynamic = dyn_cast<Value>(size)) {
    Value now = planned.lookup(dynamic);
    return now ? now : dynamic;
  }
  int64_t number = cast<IntegerAttr>(cast<Attribute>(size)).getInt();
  Value &result = constants[number];
  if (!result) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    result = builder.create<arith::ConstantIndexOp>(function.getLoc(), number);
  }
  return result;
}

OpFoldResult BufferPlanner::mul(OpFoldResult a, OpFoldResult b) {
  if (known(a) == 1 || known(b) == 0)
    return b;
  if (known(b) == 1 || known(a) == 0)
    return a;
  if (known(a) && known(b))
    return constant(*known(a) * *known(b));
  return builder.create<arith::MulIOp>(function.getLoc(), value(a), value(b)).getResult();
}

OpFoldResult BufferPlanner::bytesOf(const Memory &memory) {
  OpFoldResult bytes = constant(1);
  for (Value dim : memory.dims)
    bytes = mul(bytes, dim);
  return mul(bytes, constant(memory.factor));
}

OpFoldResult BufferPlanner::bytesOf(unsigned place) {
  return places[place].view ? places[place].bytes : bytesOf(memoryOf(place));
}

/// Gives everything in the segment's arena its offset: as constants where all sizes are known, else by an
/// instruction of the plan.
LogicalResult BufferPlanner::layOut(unsigned number) {
  Segment &segment = segments[number];
  SmallVector<unsigned> members;
  SmallVector<OpFoldResult> bytes;
  for (auto [i, memory] : llvm::enumerate(memories))
    if (memory.kind == Memory::Arena && memory.first >= 0 && memory.segment == number) {
      members.push_back(i);
      bytes.push_back(bytesOf(memory));
    }
  if (members.empty() && number > 0)
    return success();
  auto isKnown = [](OpFoldResult size) { return known(size).has_value(); };
  if (llvm::all_of(bytes, isKnown))
    return layOutNow(segment, members, bytes);
  SmallVector<Value> sizes;
  SmallVector<int64_t> first, last;
  for (auto [i, size] : llvm::zip(members, bytes)) {
    sizes.push_back(value(size));
    first.push_back(memories[i].first);
    last.push_back(memories[i].last);
  }
  auto op = builder.create<rt::LayOutArenaOp>(function.getLoc(), sizes, first, last);
  for (auto [i, offset] : llvm::zip(members, op.getOffsets()))
    memories[i].offset = offset;
  segment.arenaUse = {op.getArena(), op.getLive(), op.getSum()};
  return success();
}

LogicalResult BufferPlanner::layOutNow(Segment &segment, ArrayRef<unsigned> members,
                                       ArrayRef<OpFoldResult> bytes) {
  std::vector<CameoArenaRequest> requests;
  for (auto [i, size] : llvm::zip(members, bytes))
    requests.push_back({static_cast<uint64_t>(*known(size)),
                        static_cast<uint32_t>(memories[i].first),
                        static_cast<uint32_t>(memories[i].last)});
  std::vector<uint64_t> offsets(requests.size());
  CameoArenaUse use;
  if (cameoLayOutArena(requests.data(), requests.size(), offsets.data(), &use))
    return function.emitError("its intermediate values take more than 2^63 bytes");
  for (auto [i, offset] : llvm::zip(members, offsets))
    memories[i].offset = constant(offset);
  segment.arenaUse = {constant(use.arena_bytes), constant(use.live_bytes), constant(use.sum_bytes)};
  return success();
}

/// Sums up what the arenas hold, if all of them are of known size.
void BufferPlanner::setMemory() {
  constexpr StringLiteral kNames[] = {"arena_bytes", "live_max_bytes", "tensor_sum_bytes"};
  std::array<int64_t, 3> bytes = {};
  for (const Segment &segment : segments)
    for (auto [sum, part] : llvm::zip(bytes, segment.arenaUse)) {
      if (part && !known(part))
        return;
      sum += part ? *known(part) : 0;
    }
  NamedAttrList list;
  for (auto [name, number] : llvm::zip(kNames, bytes))
    list.set(name, builder.getI64IntegerAttr(number));
  function->setAttr(kPlanMemoryAttr, list.getDictionary(builder.getContext()));
}

/// The buffer of a memory, made at `user`, the first step that uses it.
Value BufferPlanner::buffer(unsigned number, Location user) {
  Value &result = buffers[number];
  if (result)
    return result;
  const Memory &memory = memories[number];
  Location loc = function.getLoc();
  auto type = rt::BufferType::get(builder.getContext());
  switch (memory.kind) {
  case Memory::Input:
    return result = builder.create<rt::InputOp>(loc, type, memory.index);
  case Memory::State:
    return result =
               builder.create<rt::StateBufferOp>(loc, type, memory.index, value(bytesOf(memory)));
  case Memory::Output:
    return result = builder.create<rt::OutputOp>(loc, type, memory.index);
  case Memory::Constant:
    return result = builder.create<rt::GetConstantOp>(loc, type, memory.constant);
  case Memory::Random:
    return result = builder.create<rt::RandomStateOp>(loc, type);
  case Memory::Given:
    llvm_unreachable("given with its region");
  case Memory::Arena:
    return result = builder.create<rt::ArenaViewOp>(user, type, value(memory.offset),
                                                    value(bytesOf(memory)));
  }
  return result;
}

/// For reports: buffers have no shapes.
static ArrayAttr shapesOf(rt::LaunchOp launch) {
  SmallVector<std::string> shapes;
  for (Type type : launch.getOperands_().getTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    llvm::raw_string_ostream out(shapes.emplace_back());
    for (int64_t size : tensor.getShape())
      ShapedType::isDynamic(size) ? out << "?x" : out << size << "x";
    out << tensor.getElementType();
  }
  SmallVector<StringRef> texts(shapes.begin(), shapes.end());
  return Builder(launch.getContext()).getStrArrayAttr(texts);
}

/// True if a number is there at `end`, in front of which arithmetic is brought that could have been there all along: a
/// loop may write an output whose sizes are those of what reads the loop's result.
static bool isThere(Value number, Operation *end) {
  Operation *op = number.getDefiningOp();
  if (!op || op->isBeforeInBlock(end))
    return true;
  if (op->getNumRegions() || !isPure(op) ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return isThere(operand, end); }))
    return false;
  op->moveBefore(end);
  return true;
}

/// Sets the shapes of outputs whose sizes are there at `end`.
void BufferPlanner::emitShapes(Operation *end) {
  for (auto [i, list] : llvm::enumerate(outputSizes)) {
    if (shaped[i] || !llvm::all_of(list, [&](OpFoldResult size) {
          auto dynamic = dyn_cast<Value>(size);
          return !dynamic || isThere(dynamic, end);
        }))
      continue;
    shaped.set(i);
    SmallVector<Value> values;
    // Of elements that share bytes the tensor has the bytes.
    if (auto shape = function.getResultAttrOfType<DenseI64ArrayAttr>(i, onnx::kShapeAttr))
      for (int64_t size : shape.asArrayRef())
        values.push_back(value(builder.getIndexAttr(size)));
    else
      for (OpFoldResult size : list)
        values.push_back(value(size));
    builder.create<rt::OutputShapeOp>(end->getLoc(), i, values);
  }
}

/// The most that outputs can be whose sizes a fetch decides.
void BufferPlanner::emitBounds() {
  SizeBounds bounds(builder);
  for (auto [i, list] : llvm::enumerate(outputSizes)) {
    if (shaped[i])
      continue;
    SmallVector<Value> values;
    for (OpFoldResult size : list) {
      Value bound = bounds.of(value(size));
      values.push_back(
          bound ? builder.createOrFold<arith::MaxSIOp>(bound.getLoc(), bound, value(constant(0)))
                : value(constant(-1)));
    }
    builder.create<rt::OutputBoundOp>(function.getLoc(), i, values);
  }
}

/// Emits the layout and the shapes in front of a segment's steps.
LogicalResult BufferPlanner::emitBeginning(unsigned number) {
  Operation *end = segments[number].end;
  builder.setInsertionPoint(end);
  if (failed(layOut(number)))
    return failure();
  if (end->getBlock() == &block)
    emitShapes(end);
  if (number == 0)
    emitBounds();
  const std::array<OpFoldResult, 3> &use = segments[number].arenaUse;
  if (use[0])
    builder.create<rt::ArenaSizeOp>(end->getLoc(), value(use[0]), value(use[1]), value(use[2]));
  return success();
}

void BufferPlanner::emitStep(const Step &step) {
  if (!step.op) {
    Value target = bufferAt(step.places[0], step.loc);
    Value source = bufferAt(step.places[1], step.loc);
    Value bytes = value(bytesOf(step.places[0]));
    builder.create<rt::CopyOp>(step.loc, source, target, bytes);
    return;
  }
  if (auto from = dyn_cast<rt::FromScalarsOp>(step.op)) {
    builder.create<rt::WriteOp>(
        step.loc, bufferAt(step.places[0], step.loc),
        TypeAttr::get(cast<RankedTensorType>(from.getType()).getElementType()), from.getValues());
    return;
  }
  if (auto tap = dyn_cast<rt::TapOp>(step.op)) {
    SmallVector<Value> sizes;
    for (OpFoldResult size : tapSizes[tap.getNumber()])
      sizes.push_back(value(size));
    builder.create<rt::TapOp>(step.loc, tap.getNumber(), bufferAt(step.places[0], step.loc), sizes);
    return;
  }
  if (auto fetch = dyn_cast<rt::FetchOp>(step.op)) {
    auto planned =
        builder.create<rt::FetchOp>(step.loc, fetch.getResultTypes(),
                                    bufferAt(step.places[0], step.loc), fetch.getElementAttr());
    fetch.replaceAllUsesWith(planned.getResults());
    return;
  }
  if (auto branch = dyn_cast<rt::BranchOp>(step.op))
    return openBranch(step, branch);
  if (auto repeat = dyn_cast<rt::RepeatOp>(step.op))
    return openRepeat(step, repeat);
  if (auto end = dyn_cast<rt::YieldOp>(step.op))
    return closePart(step, end);
  emitLaunch(step);
}

/// Begins the part that is done as often as the launch is made; returns the number of the launch.
Value BufferPlanner::openLaunches(rt::LaunchOp launch) {
  Location loc = launch.getLoc();
  auto repeat = builder.create<rt::RepeatOp>(
      loc, TypeRange{builder.getIndexType()}, launch.getTimes(), Value(), ValueRange(),
      ValueRange(), ValueRange(), DenseI64ArrayAttr(), DenseI64ArrayAttr(), builder.getUnitAttr());
  Block &body = repeat.getBody().emplaceBlock();
  Value number = body.addArgument(builder.getIndexType(), loc);
  builder.setInsertionPointToStart(&body);
  Value goesOn = builder.create<arith::ConstantIntOp>(loc, 1, 1);
  auto end = builder.create<rt::YieldOp>(loc, goesOn);
  builder.setInsertionPoint(end);
  return number;
}

void BufferPlanner::emitLaunch(const Step &step) {
  auto launch = cast<rt::LaunchOp>(step.op);
  SmallVector<Value> operands;
  for (auto [place, operand] : llvm::zip(step.places, launch.getOperands_()))
    operands.push_back(place < 0 ? operand : bufferAt(place, step.loc));
  OpBuilder::InsertionGuard guard(builder);
  if (launch.getTimes())
    operands.push_back(openLaunches(launch));
  auto planned = builder.create<rt::LaunchOp>(
      step.loc, TypeRange(), launch.getKernelAttr(), launch.getGrid(), launch.getShared(), Value(),
      operands, launch.getOutputsAttr(), launch.getFlops(), launch.getBytes(),
      launch.getFinishesAttr(), launch.getEstimateAttr());
  planned->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
  if (step.inPlace.empty())
    planned->removeAttr(rt::kInPlaceAttr);
  else
    planned->setAttr(rt::kInPlaceAttr, builder.getDenseI64ArrayAttr(step.inPlace));
  planned->setAttr(kLaunchShapesAttr, shapesOf(launch));
}

LogicalResult BufferPlanner::emit() {
  shaped.resize(outputSizes.size());
  unsigned segment = 0;
  if (failed(emitBeginning(segment)))
    return failure();
  for (size_t i = 0; i < steps.size(); ++i) {
    for (; segment < borders.size() && borders[segment] == i; ++segment)
      if (failed(emitBeginning(segment + 1)))
        return failure();
    emitStep(steps[i]);
  }
  for (; segment < borders.size(); ++segment)
    if (failed(emitBeginning(segment + 1)))
      return failure();
  setMemory();
  erase();
  return success();
}

/// Takes the tensors away.
void BufferPlanner::erase(Block &block) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (Region &region : op.getRegions())
      if (!region.empty())
        erase(region.front());
    if (auto end = dyn_cast<func::ReturnOp>(op))
      end->setOperands({});
    else if (llvm::any_of(op.getOperandTypes(), isTensor) ||
             llvm::any_of(op.getResultTypes(), isTensor))
      op.erase();
  }
  block.eraseArguments([&](BlockArgument argument) { return isTensor(argument.getType()); });
}

void BufferPlanner::erase() {
  erase(block);
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  function.setFunctionType(builder.getFunctionType({}, {}));
  function->setAttr(kPlanInputsAttr, builder.getArrayAttr(inputs));
  function->setAttr(kPlanOutputsAttr, builder.getArrayAttr(outputs));
  if (!taps.empty())
    function->setAttr(kPlanTapsAttr, builder.getArrayAttr(taps));
}
