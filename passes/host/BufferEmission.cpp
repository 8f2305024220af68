// Second half of buffer planning: the arena's layout, and the plan itself. Host arithmetic stays
// where it is; shapes of outputs, the arena's size and what the device does follow it.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/BufferPlanner.h"
#include "runtime/arena.h"

using namespace mlir;
using namespace cameo;

static std::optional<int64_t> known(OpFoldResult size) { return getConstantIntValue(size); }

Value BufferPlanner::value(OpFoldResult size) {
  if (auto dynamic = dyn_cast<Value>(size))
    return dynamic;
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

/// Gives everything in the arena its offset: as constants where all sizes are known, else by an
/// instruction of the plan.
LogicalResult BufferPlanner::layOut() {
  builder.setInsertionPoint(block.getTerminator());
  SmallVector<unsigned> members;
  SmallVector<OpFoldResult> bytes;
  for (auto [i, memory] : llvm::enumerate(memories))
    if (memory.kind == Memory::Arena && memory.first >= 0) {
      members.push_back(i);
      bytes.push_back(bytesOf(memory));
    }
  auto isKnown = [](OpFoldResult size) { return known(size).has_value(); };
  if (llvm::all_of(bytes, isKnown))
    return layOutNow(members, bytes);
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
  arenaUse = {op.getArena(), op.getLive(), op.getSum()};
  return success();
}

LogicalResult BufferPlanner::layOutNow(ArrayRef<unsigned> members, ArrayRef<OpFoldResult> bytes) {
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
  arenaUse = {constant(use.arena_bytes), constant(use.live_bytes), constant(use.sum_bytes)};
  auto number = [&](StringRef name, uint64_t bytes) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(bytes));
  };
  function->setAttr(kPlanMemoryAttr,
                    builder.getDictionaryAttr({number("arena_bytes", use.arena_bytes),
                                               number("live_max_bytes", use.live_bytes),
                                               number("tensor_sum_bytes", use.sum_bytes)}));
  return success();
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
  case Memory::Output:
    return result = builder.create<rt::OutputOp>(loc, type, memory.index);
  case Memory::Constant:
    return result = builder.create<rt::GetConstantOp>(loc, type, memory.constant);
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

void BufferPlanner::emit() {
  Operation *end = block.getTerminator();
  builder.setInsertionPoint(end);
  for (auto [i, list] : llvm::enumerate(outputSizes)) {
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
  builder.create<rt::ArenaSizeOp>(end->getLoc(), value(arenaUse[0]), value(arenaUse[1]),
                                  value(arenaUse[2]));
  for (const Step &step : steps) {
    if (!step.op) {
      Value target = bufferAt(step.places[0], step.loc);
      Value source = bufferAt(step.places[1], step.loc);
      Value bytes = value(bytesOf(memoryOf(step.places[0])));
      builder.create<rt::CopyOp>(step.loc, source, target, bytes);
      continue;
    }
    if (auto from = dyn_cast<rt::FromScalarsOp>(step.op)) {
      builder.create<rt::WriteOp>(
          step.loc, bufferAt(step.places[0], step.loc),
          TypeAttr::get(cast<RankedTensorType>(from.getType()).getElementType()), from.getValues());
      continue;
    }
    if (auto tap = dyn_cast<rt::TapOp>(step.op)) {
      SmallVector<Value> sizes;
      for (OpFoldResult size : tapSizes[tap.getNumber()])
        sizes.push_back(value(size));
      builder.create<rt::TapOp>(step.loc, tap.getNumber(), bufferAt(step.places[0], step.loc),
                                sizes);
      continue;
    }
    auto launch = cast<rt::LaunchOp>(step.op);
    SmallVector<Value> operands;
    for (auto [place, operand] : llvm::zip(step.places, launch.getOperands_()))
      operands.push_back(place < 0 ? operand : bufferAt(place, step.loc));
    auto planned = builder.create<rt::LaunchOp>(
        step.loc, TypeRange(), launch.getKernelAttr(), launch.getGrid(), launch.getShared(),
        operands, launch.getOutputsAttr(), launch.getFlops(), launch.getBytes(),
        launch.getFinishesAttr(), launch.getEstimateAttr());
    planned->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
    if (step.inPlace.empty())
      planned->removeAttr(rt::kInPlaceAttr);
    else
      planned->setAttr(rt::kInPlaceAttr, builder.getDenseI64ArrayAttr(step.inPlace));
    planned->setAttr(kLaunchShapesAttr, shapesOf(launch));
  }
  erase();
}

/// Takes the tensors away.
void BufferPlanner::erase() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    if (auto end = dyn_cast<func::ReturnOp>(op))
      end->setOperands({});
    else if (llvm::any_of(op.getOperandTypes(), isTensor) ||
             llvm::any_of(op.getResultTypes(), isTensor))
      op.erase();
  }
  block.eraseArguments(0, block.getNumArguments());
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  function.setFunctionType(builder.getFunctionType({}, {}));
  function->setAttr(kPlanInputsAttr, builder.getArrayAttr(inputs));
  function->setAttr(kPlanOutputsAttr, builder.getArrayAttr(outputs));
  if (!taps.empty())
    function->setAttr(kPlanTapsAttr, builder.getArrayAttr(taps));
}
