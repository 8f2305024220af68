// Two checks of launch plans that together leave no room for a value that is overwritten before its
// last reader: buffers that are in use at the same time are apart, and what a step reads through a
// buffer is what was last written through it.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/VerifyPlan.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>
#include <queue>

using namespace mlir;
using namespace cameo;

static constexpr StringLiteral kOurBug = "; this is a bug in Cameo";

/// A step is what the device does, and where a branch or a loop begins, or one of their parts ends.
static bool isStep(Operation &op) {
  return isa<rt::LaunchOp, rt::CopyOp, rt::WriteOp, rt::TapOp, rt::FetchOp, rt::BranchOp,
             rt::RepeatOp, rt::YieldOp>(op);
}

/// The buffer that a buffer is a part of, or the buffer itself.
static Value wholeOf(Value buffer) {
  while (auto part = buffer.getDefiningOp<rt::BufferPartOp>())
    buffer = part.getBuffer();
  return buffer;
}

/// The name of an ONNX node, in quotes; `other` where there is none.
static std::string quoted(Location location, const Twine &other) {
  std::string name;
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (named)
      name = "'" + named.getName().str() + "'";
    return named ? WalkResult::interrupt() : WalkResult::advance();
  });
  return name.empty() ? other.str() : name;
}

//===-- The arena -----------------------------------------------------------------------------===//

namespace {

/// A buffer of the arena, and the steps that it is in use.
struct ArenaUse {
  mutable rt::ArenaViewOp view; // whose accessors are not const
  Operation *firstOp, *lastOp;
  int64_t first, last;
  int64_t begin = 0, end = 0; // bytes, where they are known

  std::string name() const { return quoted(view.getLoc(), "a value"); }
};

} // namespace

static std::string describeStep(Operation *op, int64_t step) {
  std::string text = "step " + std::to_string(step) + ", ";
  if (auto launch = dyn_cast<rt::LaunchOp>(op))
    return text + "a launch of '" + launch.getKernel().getLeafReference().str() + "'";
  return text + "'" + op->getName().getStringRef().str() + "'";
}

namespace {

/// All buffers that a step has of the arena of each segment, in the order of their first steps.
class ArenaUses {
public:
  void walk(Block &block);
  std::vector<std::vector<ArenaUse>> arenas{1};

private:
  void add(Operation &op);
  llvm::DenseMap<Value, std::pair<size_t, size_t>> numbers; // of the arena, and in it
  int64_t step = 0;
};

} // namespace

/// Whether the part carries nothing and is nothing but a launch: one that is made several times, which is one step of
/// what was planned.
static bool repeatsLaunch(rt::RepeatOp repeat) {
  auto steps = llvm::make_filter_range(repeat.getBody().front().without_terminator(), isStep);
  return repeat.getCarried().empty() && repeat.getCollected().empty() && !repeat.getCondition() &&
         llvm::hasSingleElement(steps) && isa<rt::LaunchOp>(*steps.begin());
}

void ArenaUses::walk(Block &block) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<rt::RepeatOp>(op); repeat && repeatsLaunch(repeat)) {
      for (auto launch : repeat.getBody().getOps<rt::LaunchOp>())
        add(*launch);
      continue;
    }
    if (isa<rt::ArenaSizeOp>(op))
      arenas.emplace_back();
    if (!isStep(op))
      continue;
    add(op);
    for (Region &region : op.getRegions())
      walk(region.front());
  }
}

void ArenaUses::add(Operation &op) {
  for (Value operand : op.getOperands()) {
    if (!isa<rt::BufferType>(operand.getType()))
      continue;
    Value whole = wholeOf(operand);
    auto view = whole.getDefiningOp<rt::ArenaViewOp>();
    if (!view)
      continue;
    auto [number, isNew] = numbers.try_emplace(whole, arenas.size() - 1, arenas.back().size());
    auto [arena, place] = number->second;
    if (isNew)
      arenas.back().push_back({view, &op, &op, step, step});
    ArenaUse &use = arenas[arena][place];
    use.lastOp = &op;
    use.last = step;
  }
  ++step;
}

static LogicalResult reportOverlap(const ArenaUse &live, const ArenaUse &other,
                                   const Twine &places) {
  InFlightDiagnostic error = emitError(other.firstOp->getLoc())
                             << other.name() << " overwrites " << live.name()
                             << ", which is in use later, in the arena: " << places << kOurBug;
  error.attachNote(other.firstOp->getLoc())
      << other.name() << " is in use from " << describeStep(other.firstOp, other.first) << ", to "
      << describeStep(other.lastOp, other.last);
  error.attachNote(live.lastOp->getLoc())
      << live.name() << " is in use from " << describeStep(live.firstOp, live.first) << ", to "
      << describeStep(live.lastOp, live.last);
  return failure();
}

/// Those that have known places: goes through the steps with the ranges that are in use, which are
/// apart, so that only the neighbours of a new one need to be looked at.
static LogicalResult verifyPlaces(ArrayRef<ArenaUse> uses) {
  auto endsLater = [&](size_t a, size_t b) { return uses[a].last > uses[b].last; };
  std::priority_queue<size_t, std::vector<size_t>, decltype(endsLater)> ends(endsLater);
  std::map<int64_t, size_t> live; // by first byte
  for (size_t i = 0; i < uses.size(); ++i) {
    const ArenaUse &use = uses[i];
    for (; !ends.empty() && uses[ends.top()].last < use.first; ends.pop())
      live.erase(uses[ends.top()].begin);
    auto next = live.lower_bound(use.begin);
    const ArenaUse *other = nullptr;
    if (next != live.end() && next->first < use.end)
      other = &uses[next->second];
    else if (next != live.begin() && uses[std::prev(next)->second].end > use.begin)
      other = &uses[std::prev(next)->second];
    if (other) {
      auto range = [](int64_t begin, int64_t end) {
        return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
      };
      return reportOverlap(
          *other, use,
          "they have bytes " + range(use.begin, use.end) + " and " +
              range(other->begin, other->end) + " and share " +
              range(std::max(use.begin, other->begin), std::min(use.end, other->end)));
    }
    live[use.begin] = i;
    ends.push(i);
  }
  return success();
}

static bool areEqual(Value a, Value b) {
  std::optional<int64_t> known = getConstantIntValue(a);
  return a == b || (known && known == getConstantIntValue(b));
}

/// One that is laid out when the plan runs: apart from others as long as it is in use at no step
/// but those that it is laid out for. `before`: the one that had its place before.
static LogicalResult verifyRequest(const ArenaUse &use, const ArenaUse *before) {
  auto offset = cast<OpResult>(use.view.getOffset());
  auto layout = cast<rt::LayOutArenaOp>(offset.getOwner());
  // The offsets are the last results.
  unsigned number = offset.getResultNumber() + layout.getOffsets().size() - layout->getNumResults();
  if (before && before->last >= use.first)
    return reportOverlap(*before, use, "they have one place");
  auto error = [&](Operation *op) {
    return emitError(op->getLoc())
           << use.name() << ", in use from " << describeStep(use.firstOp, use.first) << ", to "
           << describeStep(use.lastOp, use.last) << ", is laid out in the arena ";
  };
  int64_t first = layout.getFirst()[number], last = layout.getLast()[number];
  if (use.first < first || use.last > last)
    return error(use.first < first ? use.firstOp : use.lastOp)
           << "for steps " << first << " to " << last << kOurBug;
  if (!areEqual(use.view.getBytes(), layout.getBytes()[number]))
    return error(use.firstOp) << "with another size than it has" << kOurBug;
  return success();
}

static LogicalResult verifyArena(std::vector<ArenaUse> &uses) {
  std::vector<ArenaUse> placed;
  llvm::DenseMap<Value, const ArenaUse *> requests; // by offset, the last one
  for (ArenaUse &use : uses) {
    std::optional<int64_t> bytes = getConstantIntValue(use.view.getBytes());
    if (bytes == 0)
      continue;
    Value offset = use.view.getOffset();
    if (offset.getDefiningOp<rt::LayOutArenaOp>()) {
      const ArenaUse *&before = requests[offset];
      if (failed(verifyRequest(use, before)))
        return failure();
      before = &use;
      continue;
    }
    std::optional<int64_t> begin = getConstantIntValue(offset);
    if (!begin || !bytes)
      return emitError(use.firstOp->getLoc())
             << use.name() << " is in the arena where nobody can tell: its place is neither known "
             << "nor laid out when the plan runs" << kOurBug;
    use.begin = *begin;
    use.end = *begin + *bytes;
    placed.push_back(use);
  }
  if (!placed.empty() && !requests.empty())
    return emitError(placed.front().firstOp->getLoc())
           << placed.front().name() << " has a known place in an arena that is laid out when the "
           << "plan runs" << kOurBug;
  return verifyPlaces(placed);
}

LogicalResult cameo::verifyArena(func::FuncOp plan) {
  ArenaUses all;
  all.walk(plan.getBody().front());
  for (std::vector<ArenaUse> &uses : all.arenas)
    if (failed(::verifyArena(uses)))
      return failure();
  return success();
}

//===-- Values --------------------------------------------------------------------------------===//

PlannedValues::PlannedValues(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    inputs.push_back(newValue(NameLoc::get(
        StringAttr::get(function.getContext(), "input " + Twine(argument.getArgNumber())))));
    contents[argument] = {inputs.back()};
    if (auto state =
            function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), onnx::kStateAttr))
      outputOf[argument.getArgNumber()] = state.getInt();
  }
  block.walk([&](rt::TapOp) { taps.push_back(kNothing); });
  addBlock(block);
  addReturn(cast<func::ReturnOp>(block.getTerminator()));
  contents.clear();
}

void PlannedValues::addBlock(Block &block) {
  for (Operation &op : block)
    add(op);
}

void PlannedValues::receive(Value tensor) {
  handed.push_back(newValue(tensor.getLoc()));
  contents[tensor] = {handed.back()};
}

void PlannedValues::addBranch(rt::BranchOp branch) {
  auto isTensor = [](Value value) { return isa<TensorType>(value.getType()); };
  for (Region *region : branch.getRegions()) {
    addBlock(region->front());
    for (Value value :
         llvm::make_filter_range(region->front().getTerminator()->getOperands(), isTensor))
      hand(value);
  }
  for (Value result : llvm::make_filter_range(branch.getResults(), isTensor))
    receive(result);
}

void PlannedValues::addRepeat(rt::RepeatOp repeat) {
  Block &body = repeat.getBody().front();
  auto isTensor = [](Value value) { return isa<TensorType>(value.getType()); };
  for (auto [i, value] : llvm::enumerate(repeat.getCarried()))
    if (isTensor(value)) {
      hand(value);
      receive(body.getArgument(1 + i));
    }
  addBlock(body);
  for (Value value : llvm::make_filter_range(body.getTerminator()->getOperands(), isTensor))
    hand(value);
  for (Value result : llvm::make_filter_range(repeat.getOutputs(), isTensor))
    receive(result);
}

void PlannedValues::add(Operation &op) {
  if (auto branch = dyn_cast<rt::BranchOp>(op))
    return addBranch(branch);
  if (auto repeat = dyn_cast<rt::RepeatOp>(op))
    return addRepeat(repeat);
  if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
    addLaunch(launch);
  } else if (auto get = dyn_cast<rt::GetConstantOp>(op)) {
    auto [known, isNew] = constants.try_emplace(get.getConstantAttr(), kNothing);
    if (isNew)
      known->second = newValue(op.getLoc());
    contents[get] = {known->second};
  } else if (auto state = dyn_cast<rt::RandomStateOp>(op)) {
    if (random == kNothing)
      random = newValue(op.getLoc());
    contents[state] = {random};
  } else if (auto from = dyn_cast<rt::FromScalarsOp>(op)) {
    scalars.push_back(newValue(op.getLoc()));
    contents[from] = {scalars.back()};
  } else if (auto fetch = dyn_cast<rt::FetchOp>(op)) {
    fetched.push_back(contents.lookup(fetch.getSource()).value);
  } else if (auto tap = dyn_cast<rt::TapOp>(op)) {
    taps[tap.getNumber()] = contents.lookup(tap.getValue()).value;
  } else if (auto storage = dyn_cast<rt::StorageOp>(op)) {
    contents[storage] = {storage.getState() ? inputs[*storage.getState()] : newValue(op.getLoc()),
                         true};
  } else if (auto state = dyn_cast<rt::StateOp>(op)) {
    contents[state] = {inputs[cast<BlockArgument>(state.getInput()).getArgNumber()]};
  } else if (auto assemble = dyn_cast<rt::AssembleOp>(op)) {
    contents[assemble] = {contents.lookup(assemble.getStorage()).value};
  } else if (isa<rt::ViewOp, rt::ReshapeOp, tensor::CastOp>(op)) {
    // A copy, because inserting may move what it is of.
    Content content = contents.lookup(op.getOperand(0));
    contents[op.getResult(0)] = content;
  }
}

void PlannedValues::addLaunch(rt::LaunchOp launch) {
  Launch &added = launches.emplace_back();
  llvm::SmallDenseMap<int64_t, int> written;
  for (auto [result, position] : llvm::zip(launch.getResults(), launch.getOutputs())) {
    Content before = contents.lookup(launch.getOperands_()[position]);
    Content after = before.isOpen ? before : Content{newValue(launch.getLoc())};
    contents[result] = after;
    written[position] = after.value;
  }
  for (auto [position, operand] : llvm::enumerate(launch.getOperands_())) {
    if (!isa<TensorType>(operand.getType()))
      continue;
    Content content = contents.lookup(operand);
    auto after = written.find(position);
    bool isWritten = after != written.end();
    // A part that is written is there to be written, whatever it holds.
    added.operands.push_back({unsigned(position),
                              isWritten && content.isOpen ? kNothing : content.value,
                              isWritten ? after->second : kNothing});
  }
}

void PlannedValues::addReturn(func::ReturnOp end) {
  for (Value operand : end.getOperands())
    outputs.push_back(contents.lookup(operand).value);
}

std::string PlannedValues::nameOf(int value) const {
  return value == kNothing ? "nothing" : quoted(names[value], "value " + Twine(value));
}

/// Goes through the plan with what is in each of its buffers.
class PlannedValues::Run {
public:
  explicit Run(const PlannedValues &planned) : planned(planned) {}

  LogicalResult steps(Block &block);
  LogicalResult end(func::FuncOp plan);

private:
  LogicalResult step(Operation &op);
  LogicalResult branch(rt::BranchOp op);
  LogicalResult repeat(rt::RepeatOp op);
  /// A buffer has what crosses a region's border next.
  LogicalResult expect(Operation &op, Value buffer);
  LogicalResult receive(Operation &op, Value buffer);
  LogicalResult launch(rt::LaunchOp op);
  LogicalResult read(Operation &op, Value buffer, int value, bool maybeBefore = false);
  LogicalResult write(Operation &op, Value buffer, int value);
  /// The next of a list, whose entries belong to the plan's operations one by one.
  template <typename T> const T *next(const T *begin, size_t count, size_t &index) {
    return index < count ? begin + index++ : nullptr;
  }
  static LogicalResult disagree(Operation *op) {
    return op->emitError() << "is a step of the plan, and none of the function that was planned"
                           << kOurBug;
  }

  const PlannedValues &planned;
  llvm::DenseMap<Value, int> held; // by buffer
  /// Values that buffers held before the last launch wrote to them.
  llvm::SmallDenseMap<Value, int> before;
  llvm::SmallDenseMap<int64_t, Value> outputs;
  size_t launches = 0, scalars = 0, fetches = 0, handed = 0;
};

LogicalResult PlannedValues::Run::read(Operation &op, Value buffer, int value, bool maybeBefore) {
  if (value == kNothing)
    return success();
  Value whole = wholeOf(buffer);
  auto found = held.find(whole);
  int holds = found == held.end() ? kNothing : found->second;
  if (holds == value)
    return success();
  auto earlier = before.find(whole);
  if (maybeBefore && earlier != before.end() && earlier->second == value)
    return success();
  return op.emitError() << "reads " << planned.nameOf(value) << " from a buffer that holds "
                        << planned.nameOf(holds) << kOurBug;
}

LogicalResult PlannedValues::Run::write(Operation &op, Value buffer, int value) {
  Value whole = wholeOf(buffer);
  if (isa_and_nonnull<rt::InputOp, rt::GetConstantOp, rt::RandomStateOp>(whole.getDefiningOp()))
    return op.emitError() << "writes " << planned.nameOf(value)
                          << " to the memory of an input or a weight" << kOurBug;
  int &holds = held.try_emplace(whole, kNothing).first->second;
  before.try_emplace(whole, holds);
  holds = value;
  return success();
}

LogicalResult PlannedValues::Run::launch(rt::LaunchOp op) {
  const Launch *launch = next(planned.launches.data(), planned.launches.size(), launches);
  if (!launch)
    return disagree(op);
  // One of the two runs: what it reads is as it was before both.
  bool isFallback = op->hasAttr(rt::kFallbackAttr);
  for (const Operand &operand : launch->operands)
    if (failed(read(*op, op.getOperands_()[operand.position], operand.read, isFallback)))
      return failure();
  before.clear();
  for (const Operand &operand : launch->operands)
    if (operand.written != kNothing &&
        failed(write(*op, op.getOperands_()[operand.position], operand.written)))
      return failure();
  return success();
}

LogicalResult PlannedValues::Run::expect(Operation &op, Value buffer) {
  const int *value = next(planned.handed.data(), planned.handed.size(), handed);
  return value ? read(op, buffer, *value) : disagree(&op);
}

LogicalResult PlannedValues::Run::receive(Operation &op, Value buffer) {
  const int *value = next(planned.handed.data(), planned.handed.size(), handed);
  if (!value)
    return disagree(&op);
  held[wholeOf(buffer)] = *value;
  return success();
}

LogicalResult PlannedValues::Run::branch(rt::BranchOp op) {
  auto isBuffer = [](Value value) { return isa<rt::BufferType>(value.getType()); };
  for (Region *region : op.getRegions()) {
    if (failed(steps(region->front())))
      return failure();
    Operation *end = region->front().getTerminator();
    for (Value buffer : llvm::make_filter_range(end->getOperands(), isBuffer))
      if (failed(expect(*end, buffer)))
        return failure();
  }
  for (Value buffer : llvm::make_filter_range(op.getResults(), isBuffer))
    if (failed(receive(*op, buffer)))
      return failure();
  return success();
}

LogicalResult PlannedValues::Run::repeat(rt::RepeatOp op) {
  Block &body = op.getBody().front();
  // The first of the buffers of each value has it.
  SmallVector<unsigned> firsts;
  unsigned count = 0;
  for (int64_t places : op.getPlaces()) {
    firsts.push_back(count);
    count += places;
  }
  for (unsigned i : firsts)
    if (failed(expect(*op, op.getCarried()[i])) || failed(receive(*op, body.getArgument(1 + i))))
      return failure();
  if (failed(steps(body)))
    return failure();
  Operation *end = body.getTerminator();
  for (unsigned i : firsts)
    if (failed(expect(*end, end->getOperand(1 + i))))
      return failure();
  for (Value buffer : op.getCollected())
    if (failed(expect(*end, buffer)))
      return failure();
  for (unsigned i : firsts)
    if (failed(receive(*op, op.getOutputs()[i])))
      return failure();
  for (Value buffer : op.getCollected())
    if (failed(receive(*op, buffer)))
      return failure();
  return success();
}

LogicalResult PlannedValues::Run::steps(Block &block) {
  for (Operation &op : block)
    if (failed(step(op)))
      return failure();
  return success();
}

LogicalResult PlannedValues::Run::step(Operation &op) {
  if (auto choice = dyn_cast<rt::BranchOp>(op))
    return branch(choice);
  if (auto loop = dyn_cast<rt::RepeatOp>(op))
    return repeat(loop);
  if (auto input = dyn_cast<rt::InputOp>(op)) {
    held[input] = planned.inputs[input.getIndex()];
  } else if (auto state = dyn_cast<rt::StateBufferOp>(op)) {
    held[state] = planned.inputs[state.getState()];
    outputs[planned.outputOf.lookup(state.getState())] = state;
  } else if (auto get = dyn_cast<rt::GetConstantOp>(op)) {
    held[get] = planned.constants.lookup(get.getConstantAttr());
  } else if (auto state = dyn_cast<rt::RandomStateOp>(op)) {
    held[state] = planned.random;
  } else if (auto output = dyn_cast<rt::OutputOp>(op)) {
    outputs[output.getIndex()] = output;
  } else if (auto launched = dyn_cast<rt::LaunchOp>(op)) {
    return launch(launched);
  } else if (auto copy = dyn_cast<rt::CopyOp>(op)) {
    auto source = held.find(wholeOf(copy.getSource()));
    return write(op, copy.getDest(), source == held.end() ? kNothing : source->second);
  } else if (auto written = dyn_cast<rt::WriteOp>(op)) {
    const int *value = next(planned.scalars.data(), planned.scalars.size(), scalars);
    return value ? write(op, written.getDest(), *value) : disagree(&op);
  } else if (auto tap = dyn_cast<rt::TapOp>(op)) {
    return tap.getNumber() < planned.taps.size()
               ? read(op, tap.getValue(), planned.taps[tap.getNumber()])
               : disagree(&op);
  } else if (auto fetch = dyn_cast<rt::FetchOp>(op)) {
    const int *value = next(planned.fetched.data(), planned.fetched.size(), fetches);
    return value ? read(op, fetch.getSource(), *value) : disagree(&op);
  }
  return success();
}

LogicalResult PlannedValues::Run::end(func::FuncOp plan) {
  if (launches != planned.launches.size() || scalars != planned.scalars.size() ||
      fetches != planned.fetched.size() || handed != planned.handed.size())
    return plan.emitError() << "has " << launches << " launches, " << scalars
                            << " writes of numbers and " << fetches << " fetches, and had "
                            << planned.launches.size() << ", " << planned.scalars.size() << " and "
                            << planned.fetched.size() << " before it was planned" << kOurBug;
  for (auto [i, value] : llvm::enumerate(planned.outputs)) {
    int holds = held.try_emplace(outputs.lookup(i), kNothing).first->second;
    if (value != kNothing && holds != value)
      return plan.emitError() << "output " << i << " is " << planned.nameOf(value)
                              << ", and its memory holds " << planned.nameOf(holds) << kOurBug;
  }
  return success();
}

LogicalResult PlannedValues::verify(func::FuncOp plan) const {
  Run run(*this);
  if (failed(run.steps(plan.getBody().front())))
    return failure();
  return run.end(plan);
}
