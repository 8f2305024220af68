// First half of buffer planning: which memory each tensor is in, and what the plan does in which
// order. Launches update tensors in place where nobody reads the old value afterwards; elsewhere
// the value is copied first. A tensor.empty is new memory wherever it is used, or that of an
// operand that the launch may overwrite (rt.in_place) and nobody reads afterwards; a rt.storage is
// one memory, whose parts are written and read each by itself.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/host/BufferPlanner.h"

#include "passes/host/Taps.h"

#include "runtime/mutant.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cameo;

LogicalResult BufferPlanner::run() {
  if (!function.getBody().hasOneBlock())
    return function.emitError("an entry function needs exactly one block to become a plan");
  numberTaps(function);
  describeTaps();
  builder.setInsertionPointToStart(&block);
  if (failed(collect()))
    return failure();
  for (unsigned input : hostInputs)
    if (stateOf(input))
      return function.emitError() << "input '" << nameOfInput(input)
                                  << "' cannot be a state: the plan reads its values on the host";
  setMetadata();
  return emit();
}

LogicalResult BufferPlanner::collect() {
  for (BlockArgument argument : block.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType()))
      return function.emitError() << "input " << argument.getArgNumber()
                                  << " is not a ranked tensor";
    FailureOr<unsigned> place = newMemory(Memory::Input, argument, argument.getArgNumber());
    if (failed(place))
      return failure();
    bind(argument, *place);
  }
  return collectBlock(block);
}

LogicalResult BufferPlanner::collectBlock(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(collect(*op)))
      return failure();
  return success();
}

LogicalResult BufferPlanner::collect(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](rt::LaunchOp launch) { return collectLaunch(launch); })
      .Case([&](func::ReturnOp end) { return collectReturn(end); })
      // A tensor.empty has no memory of its own; each use of it gets some.
      .Case([](tensor::EmptyOp) { return success(); })
      .Case([&](rt::GetConstantOp get) { return collectConstant(get); })
      .Case([&](rt::RandomStateOp state) { return bindNew(state, Memory::Random); })
      .Case([&](rt::FromScalarsOp from) { return collectScalars(from); })
      .Case([&](rt::StorageOp storage) { return collectStorage(storage); })
      .Case([&](rt::StateOp state) {
        bind(state, placeOf.at(state.getPlace()));
        return success();
      })
      .Case([&](rt::ViewOp view) { return collectView(view); })
      .Case([&](rt::TapOp tap) { return collectTap(tap); })
      .Case([&](rt::FetchOp fetch) { return collectFetch(fetch); })
      .Case([&](rt::BranchOp branch) { return collectBranch(branch); })
      .Case([&](rt::RepeatOp repeat) { return collectRepeat(repeat); })
      // The operation that the part belongs to walks through it.
      .Case([](rt::YieldOp) { return success(); })
      .Case([&](rt::AssembleOp assemble) {
        bind(assemble, placeOf.at(assemble.getStorage()));
        return success();
      })
      .Case([&](rt::ReshapeOp reshape) { return bindSame(reshape); })
      .Case(
          [&](tensor::CastOp cast) { return failed(checkCast(cast)) ? failure() : bindSame(cast); })
      .Case([&](tensor::DimOp dim) { return collectDim(dim); })
      .Case([&](rt::ReadOp read) { return collectRead(read); })
      .Default([](Operation *other) {
        auto isTensor = [](Type type) { return isa<TensorType>(type); };
        bool hasTensors = llvm::any_of(other->getOperandTypes(), isTensor) ||
                          llvm::any_of(other->getResultTypes(), isTensor);
        return other->getNumRegions() || hasTensors
                   ? other->emitError("cannot be part of a launch plan")
                   : success();
      });
}

/// Memory of its own.
LogicalResult BufferPlanner::bindNew(Value tensor, Memory::Kind kind) {
  FailureOr<unsigned> place = newMemory(kind, tensor);
  if (failed(place))
    return failure();
  bind(tensor, *place);
  return success();
}

/// A state's is the context's.
LogicalResult BufferPlanner::collectStorage(rt::StorageOp storage) {
  std::optional<uint64_t> state = storage.getState();
  if (!state)
    return bindNew(storage);
  FailureOr<unsigned> place = newMemory(Memory::State, storage, *state);
  if (failed(place))
    return failure();
  bind(storage, *place);
  statesInPlace.insert(*state);
  return success();
}

/// Of an operation that has the elements of its operand.
LogicalResult BufferPlanner::bindSame(Operation *op) {
  auto source = placeOf.find(op->getOperand(0));
  if (source != placeOf.end())
    bind(op->getResult(0), source->second);
  return success();
}

LogicalResult BufferPlanner::collectConstant(rt::GetConstantOp get) {
  if (!isa<RankedTensorType>(get.getType()))
    return get.emitError("is planned already");
  FailureOr<unsigned> place = newMemory(Memory::Constant, get.getResult());
  if (failed(place))
    return failure();
  memoryOf(*place).constant = get.getConstantAttr();
  bind(get.getResult(), *place);
  return success();
}

LogicalResult BufferPlanner::collectScalars(rt::FromScalarsOp from) {
  if (failed(bindNew(from)))
    return failure();
  unsigned place = placeOf.at(from);
  useAt(place, steps.size());
  steps.push_back({from, from.getLoc(), {int(place)}});
  return success();
}

LogicalResult BufferPlanner::collectDim(tensor::DimOp dim) {
  std::optional<int64_t> index = dim.getConstantIndex();
  FailureOr<Sizes> known = sizesOf(dim.getSource());
  if (failed(known))
    return failure();
  if (!index || *index < 0 || *index >= static_cast<int64_t>(known->size()))
    return dim.emitError() << "needs a constant dimension in [0, " << known->size() << ")";
  builder.setInsertionPoint(dim);
  dim.replaceAllUsesWith(value((*known)[*index]));
  dim.erase();
  return success();
}

LogicalResult BufferPlanner::collectRead(rt::ReadOp read) {
  Value source = read.getInput();
  while (source.getDefiningOp<rt::ReshapeOp>() || source.getDefiningOp<tensor::CastOp>())
    source = source.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(source);
  if (!argument)
    return read.emitError("reads a tensor that is not an input; only inputs are on the host");
  hostInputs.insert(argument.getArgNumber());
  builder.setInsertionPoint(read);
  Value replacement = builder.create<rt::ReadInputOp>(read.getLoc(), read.getType(),
                                                      argument.getArgNumber(), read.getPosition());
  read.replaceAllUsesWith(replacement);
  read.erase();
  return success();
}

LogicalResult BufferPlanner::collectLaunch(rt::LaunchOp launch) {
  Step record{launch, launch.getLoc(), {}};
  SmallVector<std::pair<unsigned, unsigned>> copies; // target, source
  DenseMap<unsigned, unsigned> written;              // operand -> place
  SmallVector<int64_t> taken;                        // operands that are written over
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
    if (!isa<RankedTensorType>(operand.getType())) {
      record.places.push_back(-1);
      continue;
    }
    unsigned first = launch.getOperands_().getBeginOperandIndex();
    bool isWritten = llvm::is_contained(launch.getOutputs(), static_cast<int64_t>(i));
    auto known = placeOf.find(operand);
    bool isOwn =
        known != placeOf.end() &&
        llvm::is_contained({Memory::Arena, Memory::State}, memoryOf(known->second).kind) &&
        memoryOf(known->second).region == region &&
        (isUnwritten(operand) ||
         CAMEO_MUTANT(22, !isUsedAfter(places[known->second].part, launch, first + i), true));
    if (known != placeOf.end() && (!isWritten || isOwn)) {
      record.places.push_back(known->second);
    } else {
      // The kernel has the view's strides.
      if (!rt::hasOwnMemory(operand))
        return launch.emitError() << "updates operand " << i
                                  << ", a part of another tensor that is read later";
      if (known == placeOf.end())
        if (std::optional<int64_t> source = sourceInPlace(launch, i, taken)) {
          taken.push_back(*source);
          record.places.push_back(placeOf.at(launch.getOperands_()[*source]));
          written[i] = record.places.back();
          continue;
        }
      FailureOr<unsigned> place = newMemory(Memory::Arena, operand);
      if (failed(place))
        return failure();
      if (known != placeOf.end())
        copies.emplace_back(*place, known->second);
      record.places.push_back(*place);
    }
    if (isWritten)
      written[i] = record.places.back();
  }
  for (auto [target, source] : copies)
    addCopy(launch.getLoc(), target, source);
  for (auto [result, position] : llvm::zip(launch.getResults(), launch.getOutputs())) {
    FailureOr<Sizes> known = sizesOf(launch.getOperands_()[position]);
    if (failed(known))
      return failure();
    sizes[result] = *known;
    auto place = written.find(position);
    if (place == written.end())
      return launch.emitError() << "writes operand " << position << ", which is not a tensor";
    parts[places[place->second].part].tensors.clear();
    bind(result, place->second);
  }
  for (int place : record.places)
    useAt(place, steps.size());
  record.inPlace = pairsInPlace(launch, record.places);
  steps.push_back(record);
  return success();
}

/// Whether the tensor, or it in another shape, is an output of the model, which has memory of its
/// own.
static bool isReturned(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user) ||
           (isa<rt::ReshapeOp, tensor::CastOp>(user) && isReturned(user->getResult(0)));
  });
}

static ArrayRef<int64_t> pairsOf(rt::LaunchOp launch) {
  auto pairs = launch->getAttrOfType<DenseI64ArrayAttr>(rt::kInPlaceAttr);
  return pairs ? pairs.asArrayRef() : ArrayRef<int64_t>();
}

static bool hasPair(rt::LaunchOp launch, int64_t target, int64_t source) {
  ArrayRef<int64_t> pairs = pairsOf(launch);
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i] == target && pairs[i + 1] == source)
      return true;
  return false;
}

/// The launch that runs where this one does not; null where there is none.
static rt::LaunchOp fallbackOf(rt::LaunchOp launch) {
  for (Operation *user : launch.getResults().front().getUsers())
    if (auto other = dyn_cast<rt::LaunchOp>(user);
        other && other->hasAttr(rt::kFallbackAttr) && other.getOutputs() == launch.getOutputs() &&
        llvm::all_of_zip(other.getOutputs(), launch.getResults(), [&](int64_t position, Value old) {
          return other.getOperands_()[position] == old;
        }))
      return other;
  return {};
}

std::optional<int64_t> BufferPlanner::sourceInPlace(rt::LaunchOp launch, int64_t target,
                                                    ArrayRef<int64_t> taken) {
  ArrayRef<int64_t> pairs = pairsOf(launch);
  if (pairs.empty() || launch.getResults().empty())
    return std::nullopt;
  rt::LaunchOp fallback = fallbackOf(launch);
  size_t output = llvm::find(launch.getOutputs(), target) - launch.getOutputs().begin();
  if (isReturned((fallback ? fallback : launch).getResults()[output]))
    return std::nullopt;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    int64_t source = pairs[i + 1];
    Value tensor = launch.getOperands_()[source];
    auto place = placeOf.find(tensor);
    if (pairs[i] != target || (fallback && !hasPair(fallback, target, source)) ||
        CAMEO_MUTANT(21, llvm::is_contained(taken, source), false) || place == placeOf.end() ||
        places[place->second].view || isUnwritten(tensor))
      continue;
    const Memory &memory = memoryOf(place->second);
    FailureOr<Memory> wanted = memoryFor(Memory::Arena, launch.getOperands_()[target]);
    unsigned number = launch.getOperands_().getBeginOperandIndex() + source;
    if (memory.kind == Memory::Arena && memory.region == region && succeeded(wanted) &&
        wanted->factor == memory.factor && wanted->dims == memory.dims &&
        !isUsedAfter(places[place->second].part, launch, number, fallback))
      return source;
  }
  return std::nullopt;
}

SmallVector<int64_t> BufferPlanner::pairsInPlace(rt::LaunchOp launch, ArrayRef<int> places) {
  ArrayRef<int64_t> pairs = pairsOf(launch);
  SmallVector<int64_t> result;
  for (size_t i = 0; i < pairs.size(); i += 2)
    if (places[pairs[i]] == places[pairs[i + 1]])
      result.append({pairs[i], pairs[i + 1]});
  return result;
}

/// Taps are steps, of this block and of regions.
void BufferPlanner::describeTaps() {
  SmallVector<rt::TapOp> found;
  block.walk([&](rt::TapOp tap) { found.push_back(tap); });
  llvm::sort(found, [](rt::TapOp a, rt::TapOp b) { return a.getNumber() < b.getNumber(); });
  for (rt::TapOp tap : found)
    addTap(tap->getDiscardableAttrDictionary(), tap.getValue().getType());
}

void BufferPlanner::addTap(DictionaryAttr attributes, Type type) {
  taps.push_back(describe("tap" + std::to_string(taps.size()), attributes,
                          cast<RankedTensorType>(type), false));
  tapSizes.emplace_back();
  // Elements that share bytes are counted by the bytes.
  if (auto shape =
          attributes ? attributes.getAs<DenseI64ArrayAttr>(onnx::kShapeAttr) : DenseI64ArrayAttr())
    for (int64_t size : shape.asArrayRef())
      tapSizes.back().push_back(constant(size));
}

LogicalResult BufferPlanner::collectTap(rt::TapOp tap) {
  FailureOr<Sizes> known = sizesOf(tap.getValue());
  if (failed(known))
    return failure();
  if (tapSizes[tap.getNumber()].empty())
    tapSizes[tap.getNumber()] = *known;
  auto source = placeOf.find(tap.getValue());
  // Nobody has written it: its values may be anything.
  FailureOr<unsigned> place =
      source == placeOf.end() ? newMemory(Memory::Arena, tap.getValue()) : source->second;
  if (failed(place))
    return failure();
  if (places[*place].view && !rt::layoutOf(tap.getValue())->isContiguous)
    return tap.emitError() << "tap " << tap.getNumber()
                           << " is in several pieces of another tensor";
  useAt(*place, steps.size());
  steps.push_back({tap, tap.getLoc(), {int(*place)}});
  return success();
}

LogicalResult BufferPlanner::collectFetch(rt::FetchOp fetch) {
  auto source = placeOf.find(fetch.getSource());
  // Nobody has written it: its values may be anything.
  FailureOr<unsigned> place =
      source == placeOf.end() ? newMemory(Memory::Arena, fetch.getSource()) : source->second;
  if (failed(place))
    return failure();
  if (places[*place].view && !rt::layoutOf(fetch.getSource())->isContiguous)
    return fetch.emitError("reads several pieces of another tensor");
  useAt(*place, steps.size());
  // Reports name the value, not who asks for it.
  steps.push_back({fetch, fetch.getSource().getLoc(), {int(*place)}});
  endSegment(fetch);
  return success();
}

LogicalResult BufferPlanner::collectReturn(func::ReturnOp op) {
  // The last segment copies results, too.
  segments.push_back({op});
  for (auto [i, result] : llvm::enumerate(op.getOperands())) {
    if (!isa<RankedTensorType>(result.getType()))
      return op.emitError() << "output " << i << " is not a ranked tensor";
    FailureOr<Sizes> known = sizesOf(result);
    if (failed(known))
      return failure();
    outputSizes.push_back(*known);
    auto source = placeOf.find(result);
    // Nobody has written it: its values may be anything.
    if (source == placeOf.end())
      continue;
    Memory &memory = memoryOf(source->second);
    if (memory.kind == Memory::State && stateOf(memory.index) == i)
      continue;
    if (places[source->second].view && !rt::layoutOf(result)->isContiguous)
      return op.emitError() << "output " << i << " is in several pieces of another tensor";
    if (memory.kind == Memory::Arena && !memory.isKept && !places[source->second].view) {
      memory.kind = Memory::Output;
      memory.index = i;
    } else {
      FailureOr<unsigned> target = newMemory(Memory::Output, result, i);
      if (failed(target))
        return failure();
      addCopy(op.getLoc(), *target, source->second);
    }
  }
  // Behind the copies, which may be of inputs.
  for (unsigned input = 0; input < function.getNumArguments(); ++input)
    if (std::optional<unsigned> output = stateOf(input))
      updateInPlace(input, op.getOperand(*output));
  return success();
}

StringRef BufferPlanner::nameOfInput(unsigned input) {
  auto name = function.getArgAttrOfType<StringAttr>(input, onnx::kNameAttr);
  return name ? name.getValue() : "";
}

std::optional<unsigned> BufferPlanner::stateOf(unsigned input) {
  auto state = function.getArgAttrOfType<IntegerAttr>(input, onnx::kStateAttr);
  return state ? std::optional<unsigned>(state.getInt()) : std::nullopt;
}

/// The one dimension along which sizes of a state and of what it becomes are not the same value.
std::optional<int64_t> BufferPlanner::growingDim(unsigned input, unsigned output) {
  std::optional<int64_t> found;
  Sizes before = *sizesOf(block.getArgument(input));
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(before, outputSizes[output]))) {
    auto [size, next] = sizes;
    if (size == next || isa<Attribute>(size))
      continue;
    if (found)
      return std::nullopt;
    found = dim;
  }
  return found;
}

/// Has a state that keeps its size written where it is read, where nothing reads the old value afterwards.
void BufferPlanner::updateInPlace(unsigned input, Value result) {
  auto place = placeOf.find(result);
  if (place == placeOf.end() || memoryOf(place->second).kind != Memory::Output)
    return;
  unsigned from = placeOf.at(block.getArgument(input)), to = place->second;
  if (!mayUpdate(from, to))
    return;
  for (Step &step : steps) {
    for (int &number : step.places)
      if (number >= 0 && unsigned(number) == to)
        number = from;
    if (auto launch = dyn_cast_or_null<rt::LaunchOp>(step.op))
      step.inPlace = pairsInPlace(launch, step.places);
  }
  int64_t begin = memoryOf(to).first;
  if (const Step &step = steps[begin]; !step.op && step.places[0] == step.places[1])
    removeStep(begin);
  memoryOf(from).kind = Memory::State;
  statesInPlace.insert(input);
}

void BufferPlanner::removeStep(int64_t number) {
  steps.erase(steps.begin() + number);
  auto shift = [&](auto &later) { later -= int64_t(later) > number; };
  for (Memory &memory : memories) {
    shift(memory.first);
    shift(memory.last);
  }
  llvm::for_each(borders, shift);
}

bool BufferPlanner::mayUpdate(unsigned from, unsigned to) {
  const Memory &before = memoryOf(from), &after = memoryOf(to);
  bool isOne = llvm::none_of(places, [&](const Place &place) {
    return place.view && memories[place.memory].kind == Memory::Output &&
           place.memory == places[to].memory;
  });
  if (!isOne || before.factor != after.factor || before.dims != after.dims || after.first < 0 ||
      CAMEO_MUTANT(51, before.last > after.first, false))
    return false;
  // The step that writes it first may be the last one that reads the old value.
  if (before.last < after.first)
    return true;
  ArrayRef<int> operands = steps[after.first].places;
  // A copy of the old value needs none where a part of it is written over.
  if (!steps[after.first].op)
    return operands[0] == int(to) && operands[1] == int(from);
  auto launch = dyn_cast<rt::LaunchOp>(steps[after.first].op);
  if (!launch)
    return false;
  for (auto [source, number] : llvm::enumerate(operands))
    for (auto [target, other] : llvm::enumerate(operands))
      if (number >= 0 && places[number].memory == places[from].memory && other == int(to) &&
          (number != int(from) || !hasPair(launch, target, source)))
        return false;
  return true;
}

bool BufferPlanner::isUsedAfter(unsigned part, Operation *writer, unsigned operand,
                                Operation *twin) {
  auto isAnyUsed = [&](ArrayRef<Value> tensors) {
    for (Value tensor : tensors)
      for (OpOperand &use : tensor.getUses()) {
        Operation *user = use.getOwner();
        // Other names for the same memory are in the list themselves, once they are reached.
        if (isa<rt::ReshapeOp, rt::ViewOp, rt::AssembleOp, tensor::CastOp>(user) &&
            CAMEO_MUTANT(
                17, user->getBlock() == writer->getBlock() && user->isBeforeInBlock(writer), true))
          continue;
        // Each trip of a region may read a value that one of them reads.
        if (Operation *around = writer->getBlock()->findAncestorOpInBlock(*user);
            around && around != user) {
          if (around == writer || writer->isBeforeInBlock(around))
            return true;
          continue;
        } else if (!around) {
          return true;
        }
        if (user == writer || user == twin
                ? CAMEO_MUTANT(19, use.getOperandNumber() != operand, false)
                : writer->isBeforeInBlock(user))
          if (!isa<tensor::DimOp>(user))
            return true;
      }
    return false;
  };
  // What is in the part, in what it is a part of, and in its parts.
  for (auto around = parts[part].around; around; around = parts[*around].around)
    if (CAMEO_MUTANT(20, isAnyUsed(parts[*around].tensors), false))
      return true;
  SmallVector<unsigned> inside{part};
  while (!inside.empty()) {
    const Part &next = parts[inside.pop_back_val()];
    if (isAnyUsed(next.tensors))
      return true;
    inside.append(next.inside);
  }
  return false;
}

FailureOr<BufferPlanner::Memory> BufferPlanner::memoryFor(Memory::Kind kindOfMemory, Value tensor,
                                                          unsigned index) {
  auto type = cast<RankedTensorType>(tensor.getType());
  FailureOr<Sizes> known = sizesOf(tensor);
  if (failed(known))
    return failure();
  std::optional<onnx::ElementKind> kind = onnx::elementKind(type.getElementType());
  if (!kind || !onnx::elementBytes(*kind))
    return emitError(tensor.getLoc())
           << "a buffer cannot hold elements of type " << type.getElementType();
  Memory memory{kindOfMemory, index};
  memory.region = region;
  memory.factor = onnx::elementBytes(*kind);
  for (OpFoldResult size : *known) {
    if (auto dynamic = dyn_cast<Value>(size)) {
      memory.dims.push_back(dynamic);
      continue;
    }
    int64_t number = cast<IntegerAttr>(cast<Attribute>(size)).getInt();
    if (llvm::MulOverflow(memory.factor, number, memory.factor))
      return emitError(tensor.getLoc()) << type << " takes more than 2^63 bytes";
  }
  llvm::sort(memory.dims, [&](Value a, Value b) { return numberOf(a) < numberOf(b); });
  return memory;
}

FailureOr<unsigned> BufferPlanner::newMemory(Memory::Kind kind, Value tensor, unsigned index) {
  FailureOr<Memory> memory = memoryFor(kind, tensor, index);
  if (failed(memory))
    return failure();
  memories.push_back(*memory);
  parts.emplace_back();
  places.push_back({unsigned(memories.size() - 1), unsigned(parts.size() - 1), {}, {}, {}});
  return places.size() - 1;
}

void BufferPlanner::bind(Value tensor, unsigned place) {
  placeOf[tensor] = place;
  if (isUnwritten(tensor))
    return;
  parts[places[place].part].tensors.push_back(tensor);
}

void BufferPlanner::useAt(int place, int64_t step) {
  if (place < 0)
    return;
  Memory &used = memoryOf(place);
  if (used.first < 0) {
    used.first = step;
    used.segment = segments.size();
  }
  used.last = step;
}

void BufferPlanner::addCopy(Location loc, unsigned target, unsigned source) {
  useAt(target, steps.size());
  useAt(source, steps.size());
  steps.push_back({nullptr, loc, {int(target), int(source)}});
}

//===-- Sizes ---------------------------------------------------------------------------------===//

FailureOr<BufferPlanner::Sizes> BufferPlanner::sizesOf(Value tensor) {
  if (auto known = sizes.find(tensor); known != sizes.end())
    return known->second;
  auto type = cast<RankedTensorType>(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  ValueRange dynamic;
  Sizes result;
  if (!op) {
    result = argumentSizes(cast<BlockArgument>(tensor));
  } else if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    return checkCast(cast);
  } else {
    if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      dynamic = empty.getDynamicSizes();
    else if (auto reshape = dyn_cast<rt::ReshapeOp>(op))
      dynamic = reshape.getSizes();
    else if (auto storage = dyn_cast<rt::StorageOp>(op))
      dynamic = storage.getSizes();
    else if (auto view = dyn_cast<rt::ViewOp>(op))
      dynamic = view.getSizes();
    else if (auto assemble = dyn_cast<rt::AssembleOp>(op))
      return sizesOf(assemble.getStorage());
    else if (auto state = dyn_cast<rt::StateOp>(op))
      return sizesOf(state.getPlace());
    if (static_cast<int64_t>(dynamic.size()) != type.getNumDynamicDims())
      return op->emitError() << "has a result of unknown size: " << type;
    for (int64_t size : type.getShape()) {
      if (!ShapedType::isDynamic(size)) {
        result.push_back(constant(size));
        continue;
      }
      // A size that has folded to a constant is one.
      result.push_back(getAsOpFoldResult(dynamic.front()));
      dynamic = dynamic.drop_front();
    }
  }
  sizes[tensor] = result;
  return result;
}

/// What a cast promises of sizes is checked when the plan runs, and may be relied on after that.
FailureOr<BufferPlanner::Sizes> BufferPlanner::checkCast(tensor::CastOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || !isa<RankedTensorType>(op.getSource().getType()))
    return op.emitError("cannot be part of a launch plan: a tensor has no rank");
  if (auto known = sizes.find(op); known != sizes.end())
    return known->second;
  FailureOr<Sizes> result = sizesOf(op.getSource());
  if (failed(result))
    return failure();
  std::string subject = "a tensor";
  for (OpOperand &use : op.getResult().getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      if (auto name =
              function.getResultAttrOfType<StringAttr>(use.getOperandNumber(), onnx::kNameAttr))
        subject = "output '" + name.str() + "'";
  builder.setInsertionPoint(op);
  for (auto [i, promised] : llvm::enumerate(type.getShape())) {
    if (isa<Attribute>((*result)[i]) || ShapedType::isDynamic(promised))
      continue;
    Value found = cast<Value>((*result)[i]), expected = value(constant(promised));
    Value equal =
        builder.create<arith::CmpIOp>(op.getLoc(), arith::CmpIPredicate::eq, found, expected);
    builder.create<rt::CheckOp>(op.getLoc(), equal,
                                subject + ": dimension " + std::to_string(i) +
                                    " is {0}, the model declares {1}",
                                ValueRange{found, expected});
    (*result)[i] = constant(promised);
  }
  sizes[op] = *result;
  return result;
}

/// Sizes of inputs with one name are one value: the runtime compares them before the plan runs.
BufferPlanner::Sizes BufferPlanner::argumentSizes(BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  auto dims = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), onnx::kDimsAttr);
  OpBuilder::InsertionGuard guard(builder);
  Sizes result;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      result.push_back(constant(size));
      continue;
    }
    auto name = dims && i < dims.size() ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
    bool isNamed = name && !name.empty();
    Value known = isNamed ? symbols.lookup(name) : Value();
    if (!known) {
      if (firstOp)
        builder.setInsertionPointAfter(firstOp);
      else
        builder.setInsertionPointToStart(&block);
      auto dim = builder.create<rt::DimOp>(function.getLoc(), builder.getIndexType(),
                                           argument.getArgNumber(), i);
      firstOp = dim;
      known = dim;
    }
    if (isNamed)
      symbols[name] = known;
    result.push_back(known);
  }
  return result;
}

/// A number for a value, the same in every run of the compiler.
int64_t BufferPlanner::numberOf(Value value) {
  return numbers.try_emplace(value, numbers.size()).first->second;
}

//===-- Metadata ------------------------------------------------------------------------------===//

DictionaryAttr BufferPlanner::describe(StringRef fallback, DictionaryAttr attributes,
                                       RankedTensorType type, bool host) {
  auto get = [&](StringRef name) { return attributes ? attributes.get(name) : Attribute(); };
  NamedAttrList result;
  auto name = dyn_cast_or_null<StringAttr>(get(onnx::kNameAttr));
  result.set("name", name ? name : builder.getStringAttr(fallback));
  auto element = dyn_cast_or_null<TypeAttr>(get(onnx::kTypeAttr));
  result.set("element", element ? element : TypeAttr::get(type.getElementType()));
  auto names = dyn_cast_or_null<ArrayAttr>(get(onnx::kDimsAttr));
  SmallVector<Attribute> dims;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    bool isNamed = names && i < names.size() && isa<StringAttr>(names[i]);
    if (!ShapedType::isDynamic(size))
      dims.push_back(builder.getI64IntegerAttr(size));
    else
      dims.push_back(isNamed ? names[i] : builder.getStringAttr(""));
  }
  // Of elements that share bytes the tensor has the bytes.
  if (auto shape = dyn_cast_or_null<DenseI64ArrayAttr>(get(onnx::kShapeAttr))) {
    dims.clear();
    for (int64_t size : shape.asArrayRef())
      dims.push_back(builder.getI64IntegerAttr(size));
  }
  result.set("dims", builder.getArrayAttr(dims));
  if (host)
    result.set("host", builder.getUnitAttr());
  return result.getDictionary(builder.getContext());
}

void BufferPlanner::setMetadata() {
  for (BlockArgument argument : block.getArguments()) {
    unsigned i = argument.getArgNumber();
    NamedAttrList described(describe("input" + std::to_string(i), function.getArgAttrDict(i),
                                     cast<RankedTensorType>(argument.getType()),
                                     hostInputs.contains(i)));
    if (std::optional<unsigned> output = stateOf(i)) {
      described.set("state", builder.getI64IntegerAttr(*output));
      if (std::optional<int64_t> dim = growingDim(i, *output))
        described.set("grows", builder.getI64IntegerAttr(*dim));
      if (statesInPlace.contains(i))
        described.set("in_place", builder.getUnitAttr());
    }
    inputs.push_back(described.getDictionary(builder.getContext()));
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    outputs.push_back(describe("output" + std::to_string(i), function.getResultAttrDict(i),
                               cast<RankedTensorType>(type), false));
}
