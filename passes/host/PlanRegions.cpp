// Buffer planning of branches and loops. What a region makes is in arenas of its own, so that what it reads from around
// it stays where it is.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/BufferPlanner.h"

using namespace mlir;
using namespace cameo;

/// The place of a value that leaves a region, all of it in one piece.
FailureOr<unsigned> BufferPlanner::placeToCopy(Value tensor, const char *what) {
  auto known = placeOf.find(tensor);
  // Nobody has written it: its values may be anything.
  if (known == placeOf.end())
    return newMemory(Memory::Arena, tensor);
  if (places[known->second].view && !rt::layoutOf(tensor)->isContiguous)
    return emitError(tensor.getLoc()) << what << " is in several pieces of another tensor";
  return known->second;
}

//===-- Branches ------------------------------------------------------------------------------===//

LogicalResult BufferPlanner::collectBranch(rt::BranchOp branch) {
  // Tensors come first, then the sizes of all of them.
  unsigned tensors = llvm::count_if(branch.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  ValueRange given = branch.getResults().drop_front(tensors);
  for (Value result : branch.getResults().take_front(tensors)) {
    Sizes &known = sizes[result];
    for (int64_t size : cast<RankedTensorType>(result.getType()).getShape()) {
      if (given.empty())
        return branch.emitError("does not give the sizes of its results");
      known.push_back(ShapedType::isDynamic(size) ? OpFoldResult(given.front()) : constant(size));
      given = given.drop_front();
    }
  }
  Step begin{branch, branch.getLoc(), {}};
  for (Value result : branch.getResults().take_front(tensors)) {
    FailureOr<unsigned> place = newMemory(Memory::Given, result);
    if (failed(place))
      return failure();
    begin.places.push_back(*place);
    bind(result, *place);
  }
  steps.push_back(begin);
  segments.push_back({branch});
  unsigned outer = region;
  for (Region *part : branch.getRegions()) {
    region = ++regions;
    if (failed(collectBlock(part->front())))
      return failure();
    Operation *end = part->front().getTerminator();
    Step last{end, end->getLoc(), {}};
    for (Value tensor : end->getOperands().take_front(tensors)) {
      FailureOr<unsigned> place = placeToCopy(tensor, "a branch's result");
      if (failed(place))
        return failure();
      useAt(*place, steps.size());
      last.places.push_back(*place);
    }
    steps.push_back(last);
    segments.push_back({end});
  }
  region = outer;
  return success();
}

void BufferPlanner::openBranch(const Step &step, rt::BranchOp branch) {
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    types.push_back(isa<TensorType>(type) ? Type(rt::BufferType::get(type.getContext())) : type);
  auto made = builder.create<rt::BranchOp>(step.loc, types, branch.getCondition());
  made.getTaken().takeBody(branch.getTaken());
  made.getOther().takeBody(branch.getOther());
  for (auto [old, result] : llvm::zip(branch.getResults(), made.getResults()))
    if (!isa<TensorType>(old.getType())) {
      old.replaceAllUsesWith(result);
      planned[old] = result;
    }
  open.push_back({made, step.places, buffers, buffersOfViews});
}

//===-- Loops ---------------------------------------------------------------------------------===//

LogicalResult BufferPlanner::collectRepeat(rt::RepeatOp repeat) {
  unsigned carried = repeat.getCarried().size();
  Block &body = repeat.getBody().front();
  Operation *end = body.getTerminator();
  // Two places for each value that is carried: that of the trip before and that of this one.
  Step begin{repeat, repeat.getLoc(), {}};
  for (auto [i, value] : llvm::enumerate(repeat.getCarried())) {
    FailureOr<Sizes> known = sizesOf(value);
    if (failed(known))
      return failure();
    sizes[body.getArgument(1 + i)] = sizes[repeat.getOutputs()[i]] = *known;
    FailureOr<unsigned> source = placeToCopy(value, "a value that a loop carries");
    FailureOr<unsigned> first = newMemory(Memory::Arena, value);
    FailureOr<unsigned> second = newMemory(Memory::Arena, value);
    if (failed(source) || failed(first) || failed(second))
      return failure();
    addCopy(repeat.getLoc(), *first, *source);
    begin.places.append({int(*first), int(*second)});
  }
  // All of what is collected: of as many trips as there may be.
  SmallVector<unsigned> collected;
  ValueRange given = repeat.getSizes();
  for (OpResult result : repeat.getOutputs().drop_front(carried)) {
    auto type = cast<RankedTensorType>(result.getType());
    if (!repeat.getCount())
      return repeat.emitError("collects parts of trips that nothing bounds");
    Sizes &known = sizes[result];
    known.push_back(type.isDynamicDim(0) ? getAsOpFoldResult(repeat.getCount())
                                         : OpFoldResult(constant(type.getDimSize(0))));
    for (int64_t size : type.getShape().drop_front()) {
      if (ShapedType::isDynamic(size) && given.empty())
        return repeat.emitError("does not have the sizes of its parts");
      known.push_back(ShapedType::isDynamic(size) ? getAsOpFoldResult(given.front())
                                                  : OpFoldResult(constant(size)));
      if (ShapedType::isDynamic(size))
        given = given.drop_front();
    }
    FailureOr<unsigned> place = newMemory(Memory::Arena, result);
    if (failed(place))
      return failure();
    memoryOf(*place).isKept = !repeat.getUnconditional();
    collected.push_back(*place);
    begin.places.push_back(*place);
    bind(result, *place);
    // Of trips that there were not it has nothing.
    if (!repeat.getUnconditional() && type.isDynamicDim(0))
      sizes[result].front() = repeat.getTrips();
  }
  for (int place : begin.places)
    useAt(place, steps.size());
  steps.push_back(begin);
  segments.push_back({repeat});
  SmallVector<unsigned> next;
  for (unsigned i = 0; i < carried; ++i) {
    FailureOr<unsigned> from = newMemory(Memory::Given, body.getArgument(1 + i));
    FailureOr<unsigned> to = newMemory(Memory::Given, body.getArgument(1 + i));
    FailureOr<unsigned> result = newMemory(Memory::Given, repeat.getOutputs()[i]);
    if (failed(from) || failed(to) || failed(result))
      return failure();
    bind(body.getArgument(1 + i), *from);
    bind(repeat.getOutputs()[i], *result);
    next.append({*from, *to, *result});
  }
  unsigned outer = region;
  region = ++regions;
  if (failed(collectBlock(body)) || failed(collectTrip(repeat, next, collected)))
    return failure();
  region = outer;
  segments.push_back({end});
  return success();
}

/// The end of a trip: what it hands on gets to its place.
LogicalResult BufferPlanner::collectTrip(rt::RepeatOp repeat, ArrayRef<unsigned> next,
                                         ArrayRef<unsigned> collected) {
  Block &body = repeat.getBody().front();
  Operation *end = body.getTerminator();
  unsigned carried = repeat.getCarried().size();
  Step last{end, end->getLoc(), {}};
  for (unsigned i = 0; i < carried; ++i) {
    Value tensor = end->getOperand(1 + i);
    unsigned target = next[3 * i + 1];
    FailureOr<unsigned> source = placeToCopy(tensor, "a value that a trip hands on");
    if (failed(source))
      return failure();
    Memory &memory = memoryOf(*source);
    if (memory.kind == Memory::Arena && memory.region == region && !memory.isKept &&
        !places[*source].view && memory.first >= 0) {
      // It is made in its place.
      memory.kind = Memory::Given;
      places[target].memory = places[*source].memory;
    } else {
      addCopy(end->getLoc(), target, *source);
    }
    last.places.append({int(next[3 * i]), int(target), int(next[3 * i + 2])});
  }
  builder.setInsertionPoint(end);
  for (auto [tensor, whole] : llvm::zip(end->getOperands().drop_front(1 + carried), collected)) {
    FailureOr<unsigned> source = placeToCopy(tensor, "a part that a loop collects");
    if (failed(source))
      return failure();
    FailureOr<Memory> part = memoryFor(Memory::Arena, tensor);
    if (failed(part))
      return failure();
    Place place = places[whole];
    place.view = tensor;
    place.bytes = bytesOf(*part);
    place.offset = mul(body.getArgument(0), place.bytes);
    places.push_back(place);
    addCopy(end->getLoc(), places.size() - 1, *source);
  }
  steps.push_back(last);
  return success();
}

void BufferPlanner::openRepeat(const Step &step, rt::RepeatOp repeat) {
  unsigned carried = repeat.getCarried().size();
  SmallVector<Value> values;
  for (int place : step.places)
    values.push_back(bufferAt(place, step.loc));
  Type buffer = rt::BufferType::get(builder.getContext());
  SmallVector<Type> types(1 + 2 * carried, buffer);
  types.front() = builder.getIndexType();
  auto made = builder.create<rt::RepeatOp>(
      step.loc, types, repeat.getCount(), repeat.getCondition(),
      ValueRange(values).take_front(2 * carried), ValueRange(),
      ValueRange(values).drop_front(2 * carried), repeat.getUnconditionalAttr());
  made.getBody().takeBody(repeat.getBody());
  repeat.getTrips().replaceAllUsesWith(made.getTrips());
  planned[repeat.getTrips()] = made.getTrips();
  open.push_back({made, {}, buffers, buffersOfViews});
  // Behind those of tensors, which are there until the end.
  for (unsigned i = 0; i < 2 * carried; ++i)
    made.getBody().addArgument(buffer, step.loc);
  Operation *end = made.getBody().front().getTerminator();
  for (const Step &later : steps)
    if (later.op == end)
      for (unsigned i = 0; i < carried; ++i)
        for (unsigned place : {0, 1})
          buffers[places[later.places[3 * i + place]].memory] =
              made.getBody().getArgument(1 + carried + 2 * i + place);
}

/// Ends a branch or a trip with buffers in place of tensors.
void BufferPlanner::closePart(const Step &step, rt::YieldOp end) {
  Open &around = open.back();
  SmallVector<Value> values;
  auto repeat = dyn_cast<rt::RepeatOp>(around.op);
  if (repeat) {
    values.push_back(end.getValues().front());
    for (size_t i = 0; i < step.places.size(); i += 3)
      values.append({bufferAt(step.places[i + 1], step.loc), bufferAt(step.places[i], step.loc)});
  } else {
    // A name of its own for each, whatever it is in.
    for (int place : step.places) {
      Value whole = bufferAt(place, step.loc), bytes = value(bytesOf(place));
      values.push_back(builder.create<rt::BufferPartOp>(step.loc, whole.getType(), whole,
                                                        value(constant(0)), bytes));
    }
    llvm::append_range(values, end.getValues().drop_front(step.places.size()));
  }
  end->setOperands(values);
  buffers = around.buffers;
  buffersOfViews = around.buffersOfViews;
  if (repeat) {
    for (size_t i = 0; i < step.places.size(); i += 3)
      buffers[places[step.places[i + 2]].memory] = repeat.getOutputs()[2 * (i / 3)];
    open.pop_back();
  } else if (end->getParentRegion() == &around.op->getRegion(1)) {
    for (auto [place, result] : llvm::zip(around.places, around.op->getResults()))
      buffers[places[place].memory] = result;
    open.pop_back();
  }
}
