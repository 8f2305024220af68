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
  endSegment(branch);
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
    endSegment(end);
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

/// True of a value that is carried and whose sizes trips change.
static bool grows(rt::RepeatOp repeat, unsigned number) {
  ArrayRef<int64_t> open = repeat.getOpen();
  for (size_t i = 0; i < open.size(); i += 2)
    if (open[i] == int64_t(number))
      return true;
  return false;
}

static unsigned carriedTensors(rt::RepeatOp repeat) {
  return repeat.getCarried().size() - repeat.getOpen().size() / 2;
}

/// Values that keep their sizes have two places: that of the trip before and that of this one. Others are where they
/// are, and each trip gives them memory anew.
LogicalResult BufferPlanner::collectCarried(rt::RepeatOp repeat, Step &begin) {
  unsigned carried = carriedTensors(repeat);
  Block &body = repeat.getBody().front();
  for (auto [i, value] : llvm::enumerate(repeat.getCarried().take_front(carried))) {
    FailureOr<Sizes> known = sizesOf(value);
    if (failed(known))
      return failure();
    sizes[body.getArgument(1 + i)] = *known;
    sizes[repeat.getOutputs()[i]] = *known;
    FailureOr<unsigned> source = placeToCopy(value, "a value that a loop carries");
    if (failed(source))
      return failure();
    if (grows(repeat, i)) {
      begin.places.push_back(*source);
      continue;
    }
    FailureOr<unsigned> first = newMemory(Memory::Arena, value);
    FailureOr<unsigned> second = newMemory(Memory::Arena, value);
    if (failed(first) || failed(second))
      return failure();
    addCopy(repeat.getLoc(), *first, *source);
    begin.places.append({int(*first), int(*second)});
  }
  ArrayRef<int64_t> open = repeat.getOpen();
  unsigned results = repeat.getOutputs().size() - open.size() / 2;
  for (size_t i = 0; i < open.size(); i += 2) {
    sizes[body.getArgument(1 + open[i])][open[i + 1]] = body.getArgument(1 + carried + i / 2);
    sizes[repeat.getOutputs()[open[i]]][open[i + 1]] = repeat.getOutputs()[results + i / 2];
  }
  return success();
}

/// All of what is collected has memory for as many trips as there may be.
LogicalResult BufferPlanner::collectParts(rt::RepeatOp repeat, Step &begin,
                                          SmallVectorImpl<unsigned> &collected) {
  ValueRange given = repeat.getSizes();
  unsigned parts = repeat.getOutputs().size() - repeat.getCarried().size();
  for (Value result : repeat.getOutputs().slice(carriedTensors(repeat), parts)) {
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
    // The result has nothing of trips that were not made.
    if (!repeat.getUnconditional() && type.isDynamicDim(0))
      sizes[result].front() = repeat.getTrips();
  }
  return success();
}

LogicalResult BufferPlanner::collectRepeat(rt::RepeatOp repeat) {
  Block &body = repeat.getBody().front();
  Step begin{repeat, repeat.getLoc(), {}};
  SmallVector<unsigned> collected;
  if (failed(collectCarried(repeat, begin)) || failed(collectParts(repeat, begin, collected)))
    return failure();
  for (int place : begin.places)
    useAt(place, steps.size());
  steps.push_back(begin);
  endSegment(repeat);
  SmallVector<unsigned>
      next; // of each value that is carried: where a trip has it, hands it on, and the loop gives it
  for (unsigned i = 0; i < carriedTensors(repeat); ++i) {
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
  endSegment(body.getTerminator());
  return success();
}

/// Brings a value that keeps its sizes to its second place.
LogicalResult BufferPlanner::handOn(rt::RepeatOp repeat, unsigned number, ArrayRef<unsigned> next,
                                    Step &last) {
  Operation *end = repeat.getBody().front().getTerminator();
  FailureOr<unsigned> source =
      placeToCopy(end->getOperand(1 + number), "a value that a trip hands on");
  if (failed(source))
    return failure();
  unsigned target = next[3 * number + 1];
  Memory &memory = memoryOf(*source);
  if (memory.kind == Memory::Arena && memory.region == region && !memory.isKept &&
      !places[*source].view && memory.first >= 0) {
    // It is made in its place.
    memory.kind = Memory::Given;
    places[target].memory = places[*source].memory;
  } else {
    addCopy(end->getLoc(), target, *source);
  }
  last.places[3 * number + 1] = target;
  return success();
}

/// Gives what has another size than before memory of that size, in an arena of its own at the end of the trip.
LogicalResult BufferPlanner::handOnGrown(rt::RepeatOp repeat, ArrayRef<unsigned> next, Step &last) {
  Operation *end = repeat.getBody().front().getTerminator();
  SmallVector<std::pair<unsigned, unsigned>> sources; // by number
  for (unsigned i = 0; i < carriedTensors(repeat); ++i) {
    if (!grows(repeat, i))
      continue;
    Value tensor = end->getOperand(1 + i);
    FailureOr<unsigned> source = placeToCopy(tensor, "a value that a trip hands on");
    if (failed(source))
      return failure();
    if (memoryOf(*source).kind == Memory::Given) {
      // It may be in the memory that becomes another one.
      FailureOr<unsigned> copy = newMemory(Memory::Arena, tensor);
      if (failed(copy))
        return failure();
      addCopy(end->getLoc(), *copy, *source);
      source = copy;
    }
    sources.push_back({i, *source});
  }
  if (sources.empty())
    return success();
  endSegment(end);
  for (auto [i, source] : sources) {
    FailureOr<unsigned> target = newMemory(Memory::Arena, end->getOperand(1 + i));
    if (failed(target))
      return failure();
    addCopy(end->getLoc(), *target, source);
    last.places[3 * i + 1] = *target;
  }
  for (auto [i, source] : sources)
    useAt(last.places[3 * i + 1], steps.size());
  return success();
}

/// The end of a trip: what it hands on gets to its place.
LogicalResult BufferPlanner::collectTrip(rt::RepeatOp repeat, ArrayRef<unsigned> next,
                                         ArrayRef<unsigned> collected) {
  Block &body = repeat.getBody().front();
  Operation *end = body.getTerminator();
  unsigned carried = carriedTensors(repeat);
  Step last{end, end->getLoc(), SmallVector<int>(next.begin(), next.end())};
  for (unsigned i = 0; i < carried; ++i)
    if (!grows(repeat, i) && failed(handOn(repeat, i, next, last)))
      return failure();
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
  if (failed(handOnGrown(repeat, next, last)))
    return failure();
  steps.push_back(last);
  return success();
}

/// All of a place's bytes, under a name of their own.
Value BufferPlanner::aliasOf(unsigned place, Location loc) {
  Value whole = bufferAt(place, loc), bytes = value(bytesOf(place));
  return builder.create<rt::BufferPartOp>(loc, whole.getType(), whole, value(constant(0)), bytes);
}

void BufferPlanner::openRepeat(const Step &step, rt::RepeatOp repeat) {
  unsigned carried = carriedTensors(repeat);
  SmallVector<Value> values;
  SmallVector<int64_t> counts;
  ArrayRef<int> given = step.places;
  for (unsigned i = 0; i < carried; ++i) {
    counts.push_back(grows(repeat, i) ? 1 : 2);
    for (int place : given.take_front(counts.back()))
      values.push_back(counts.back() == 1 ? aliasOf(place, step.loc) : bufferAt(place, step.loc));
    given = given.drop_front(counts.back());
  }
  unsigned buffersOfValues = values.size();
  for (Value size : repeat.getCarried().drop_front(carried))
    values.push_back(value(getAsOpFoldResult(size)));
  SmallVector<Value> collected;
  for (int place : given)
    collected.push_back(bufferAt(place, step.loc));
  SmallVector<Type> types{builder.getIndexType()};
  for (Value carriedValue : values)
    types.push_back(carriedValue.getType());
  auto made = builder.create<rt::RepeatOp>(
      step.loc, types, repeat.getCount(), repeat.getCondition(), values, ValueRange(), collected,
      DenseI64ArrayAttr(), builder.getDenseI64ArrayAttr(counts), repeat.getUnconditionalAttr());
  made.getBody().takeBody(repeat.getBody());
  repeat.getTrips().replaceAllUsesWith(made.getTrips());
  planned[repeat.getTrips()] = made.getTrips();
  unsigned sizesOfValues = values.size() - buffersOfValues;
  for (auto [old, result] : llvm::zip(repeat.getOutputs().take_back(sizesOfValues),
                                      made.getOutputs().take_back(sizesOfValues))) {
    old.replaceAllUsesWith(result);
    planned[old] = result;
  }
  open.push_back({made, {}, buffers, buffersOfViews});
  // In front of the tensors, which are there until the end.
  Block &body = made.getBody().front();
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < buffersOfValues; ++i)
    arguments.push_back(body.insertArgument(1 + i, values[i].getType(), step.loc));
  Operation *end = body.getTerminator();
  auto last = llvm::find_if(steps, [&](const Step &later) { return later.op == end; });
  ArrayRef<Value> rest = arguments;
  for (unsigned i = 0; i < carried; ++i) {
    buffers[places[last->places[3 * i]].memory] = rest.front();
    if (counts[i] == 2)
      buffers[places[last->places[3 * i + 1]].memory] = rest[1];
    rest = rest.drop_front(counts[i]);
  }
}

/// Ends a branch or a trip with buffers in place of tensors.
void BufferPlanner::closePart(const Step &step, rt::YieldOp end) {
  Open &around = open.back();
  SmallVector<Value> values;
  auto repeat = dyn_cast<rt::RepeatOp>(around.op);
  if (repeat) {
    values.push_back(end.getValues().front());
    for (auto [i, count] : llvm::enumerate(repeat.getPlaces())) {
      int from = step.places[3 * i], to = step.places[3 * i + 1];
      if (count == 1)
        values.push_back(aliasOf(to, step.loc));
      else
        values.append({bufferAt(to, step.loc), bufferAt(from, step.loc)});
    }
    size_t sizes = repeat.getCarried().size() + 1 - values.size();
    llvm::append_range(values, end.getValues().take_back(sizes));
  } else {
    for (int place : step.places)
      values.push_back(aliasOf(place, step.loc));
    llvm::append_range(values, end.getValues().drop_front(step.places.size()));
  }
  end->setOperands(values);
  buffers = around.buffers;
  buffersOfViews = around.buffersOfViews;
  if (repeat) {
    ValueRange results = repeat.getOutputs();
    for (auto [i, count] : llvm::enumerate(repeat.getPlaces())) {
      buffers[places[step.places[3 * i + 2]].memory] = results.front();
      results = results.drop_front(count);
    }
    open.pop_back();
  } else if (end->getParentRegion() == &around.op->getRegion(1)) {
    for (auto [place, result] : llvm::zip(around.places, around.op->getResults()))
      buffers[places[place].memory] = result;
    open.pop_back();
  }
}
