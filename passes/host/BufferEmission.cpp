// Second half of buffer planning: the arena's layout, and the plan itself. Host arithmetic stays
// where it is; shapes of outputs, the arena's size and what the device does follow it.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/ArenaLayout.h"
#include "passes/host/BufferPlanner.h"

#include "llvm/ADT/MapVector.h"

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

OpFoldResult BufferPlanner::add(OpFoldResult a, OpFoldResult b) {
  if (known(a) == 0)
    return b;
  if (known(b) == 0)
    return a;
  if (known(a) && known(b))
    return constant(*known(a) + *known(b));
  return builder.create<arith::AddIOp>(function.getLoc(), value(a), value(b)).getResult();
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

OpFoldResult BufferPlanner::alignUp(OpFoldResult a) {
  if (known(a))
    return constant(llvm::alignTo(*known(a), kBufferAlignment));
  Value units = builder.create<arith::CeilDivSIOp>(function.getLoc(), value(a),
                                                   value(constant(kBufferAlignment)));
  return mul(units, constant(kBufferAlignment));
}

OpFoldResult BufferPlanner::bytesOf(const Memory &memory) {
  OpFoldResult bytes = constant(1);
  for (Value dim : memory.dims)
    bytes = mul(bytes, dim);
  return mul(bytes, constant(memory.factor));
}

/// Buffers whose sizes are multiples of the same run-time sizes are laid out together, in units of
/// those sizes' product; each group has a region of its own.
void BufferPlanner::layOut() {
  builder.setInsertionPoint(block.getTerminator());
  using Group = SmallVector<unsigned>;
  llvm::MapVector<SmallVector<int64_t>, Group, std::map<SmallVector<int64_t>, unsigned>> groups;
  // The group without run-time sizes comes first: its offsets are constants then.
  groups[{}];
  for (auto [i, memory] : llvm::enumerate(memories)) {
    if (memory.kind != Memory::Arena || memory.first < 0)
      continue;
    SmallVector<int64_t> key;
    for (Value dim : memory.dims)
      key.push_back(numberOf(dim));
    groups[key].push_back(i);
  }
  arenaBytes = constant(0);
  for (auto &[key, members] : groups) {
    if (members.empty())
      continue;
    SmallVector<ArenaRequest> requests;
    for (unsigned i : members)
      requests.push_back({memories[i].factor, memories[i].first, memories[i].last});
    ArenaLayout layout = layOutArena(requests, key.empty() ? kBufferAlignment : 1);
    OpFoldResult unit = constant(1);
    for (Value dim : memories[members.front()].dims)
      unit = mul(unit, dim);
    for (auto [i, offset, level] : llvm::zip(members, layout.offsets, layout.levels)) {
      OpFoldResult place = alignUp(mul(unit, constant(offset)));
      if (!key.empty())
        place = add(place, constant(level * kBufferAlignment));
      memories[i].offset = add(arenaBytes, place);
    }
    OpFoldResult bytes = alignUp(mul(unit, constant(layout.extent)));
    if (!key.empty())
      bytes = add(bytes, constant(layout.levelCount * kBufferAlignment));
    arenaBytes = add(arenaBytes, bytes);
    if (key.empty() && groups.size() == 1) {
      int64_t sum = 0;
      for (const ArenaRequest &request : requests)
        sum += request.size;
      function->setAttr(
          kPlanMemoryAttr,
          builder.getDictionaryAttr(
              {builder.getNamedAttr("arena_bytes", builder.getI64IntegerAttr(*known(bytes))),
               builder.getNamedAttr("live_max_bytes",
                                    builder.getI64IntegerAttr(maxLiveUnits(requests))),
               builder.getNamedAttr("tensor_sum_bytes", builder.getI64IntegerAttr(sum))}));
    }
  }
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

void BufferPlanner::emit() {
  Operation *end = block.getTerminator();
  builder.setInsertionPoint(end);
  for (auto [i, list] : llvm::enumerate(outputSizes)) {
    SmallVector<Value> values;
    for (OpFoldResult size : list)
      values.push_back(value(size));
    builder.create<rt::OutputShapeOp>(end->getLoc(), i, values);
  }
  builder.create<rt::ArenaSizeOp>(end->getLoc(), value(arenaBytes));
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
    auto launch = cast<rt::LaunchOp>(step.op);
    SmallVector<Value> operands;
    for (auto [place, operand] : llvm::zip(step.places, launch.getOperands_()))
      operands.push_back(place < 0 ? operand : bufferAt(place, step.loc));
    auto planned = builder.create<rt::LaunchOp>(
        step.loc, TypeRange(), launch.getKernelAttr(), launch.getGrid(), launch.getShared(),
        operands, launch.getOutputsAttr(), launch.getFlops(), launch.getBytes());
    planned->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
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
}
