// Loop, Scan and SequenceMap whose trips are known when the model is compiled: a copy of the body
// for each trip.
//
//   %0:2 = onnx.Loop(%two, %none, %x) ({
//   ^bb0(%i: tensor<i64>, %c: tensor<i1>, %v: tensor<3xf32>):
//     %1 = onnx.Exp(%v)
//     onnx.Yield(%c, %1, %1)
//   })
//     ==>
//   %1 = onnx.Exp(%x)
//   %2 = onnx.Exp(%1)
//   %3 = onnx.Concat(onnx.Unsqueeze(%1, %zero), onnx.Unsqueeze(%2, %zero)) {axis = 0}
//
// The loop is visited again after each copy: what its condition has become decides whether there is
// another trip. A loop of which that is not known, or that goes beyond the limits, becomes what it
// was.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "passes/graph/ControlFlow.h"

#include "dialects/onnx/OpsetConversion.h"
#include "dialects/onnx/ResultTypes.h"
#include "passes/graph/Elements.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace cameo {

static constexpr StringLiteral kNearestLoop =
    "a loop of at most 16 trips, or the work of all trips by operators on tensors that have a "
    "dimension for them";

static constexpr StringLiteral kNothingKnown =
    "makes no trip, and the sizes of what it would collect are not known; nearest supported: sizes "
    "fixed with --shapes";

static Block &bodyOf(Operation *op) { return op->getRegion(0).front(); }

unsigned ControlFlow::carriedFrom(Operation *op) { return isa<onnx::LoopOp>(op) ? 2 : 0; }

unsigned ControlFlow::carriedCount(Operation *op, size_t operands) {
  if (auto scan = dyn_cast<onnx::ScanOp>(op))
    return operands - scan.getNumScanInputs();
  return isa<onnx::LoopOp>(op) ? operands - 2 : 0;
}

int64_t ControlFlow::countNodes(Block &body) {
  int64_t nodes = 0;
  body.walk(
      [&](Operation *op) { nodes += !isa<onnx::ConstantOp, onnx::NoneOp, onnx::YieldOp>(op); });
  return nodes;
}

/// Graphs in graphs, itself among them.
static unsigned depthOf(Operation *op) {
  unsigned inner = 0;
  for (Region &region : op->getRegions())
    for (Operation &each : region.getOps())
      inner = std::max(inner, depthOf(&each));
  return op->getNumRegions() ? 1 + inner : 0;
}

bool ControlFlow::isDeep(Operation *op) { return depthOf(op) > kMostTriedDepth; }

Value ControlFlow::yielded(Operation *op, const Unrolled &loop, int64_t trip, unsigned number) {
  unsigned each = bodyOf(op).getTerminator()->getNumOperands();
  return op->getOperand(loop.given.size() + trip * each + number);
}

//===-- Whether there is another trip ---------------------------------------------------------===//

ControlFlow::Next ControlFlow::refuse(Operation *op, Unrolled &loop, const Twine &why) {
  std::string text = why.str(); // what it is made of may be taken back
  takeBack(op, loop);
  keep(op, text);
  return Next::Kept;
}

ControlFlow::Next ControlFlow::leave(Operation *op, Unrolled &loop, const Twine &why) {
  return refuse(op, loop, why) == Next::Kept && isa<onnx::LoopOp, onnx::ScanOp>(op) ? Next::Called
                                                                                    : Next::Kept;
}

/// A trip, or none where there are limits for copies. `trips` is how many there will be, where that is known.
ControlFlow::Next ControlFlow::limited(Operation *op, Unrolled &loop,
                                       std::optional<int64_t> trips) {
  if (trips && *trips > kMostTrips)
    return leave(op, loop,
                 "makes " + Twine(*trips) + " trips; at most " + Twine(kMostTrips) +
                     " are unrolled; nearest supported: " + kNearestLoop);
  if (loop.trips == kMostTrips)
    return leave(op, loop,
                 "makes more than " + Twine(kMostTrips) +
                     " trips, the most that are unrolled; nearest supported: " + kNearestLoop);
  if (!loop.trips && trips.value_or(2) > 1 && isDeep(op)) {
    LoopCall call{op};
    if (!isa<onnx::SequenceMapOp>(op) && describeLoop(call).empty())
      return leave(op, loop,
                   "holds graphs in graphs, more than " + Twine(kMostTriedDepth) +
                       " deep; nearest supported: " + kNearestLoop);
  }
  int64_t each = countNodes(bodyOf(op));
  int64_t ahead = trips ? *trips - loop.trips : 1;
  if (unrolledNodes + ahead * each > kMostUnrolledNodes) {
    std::string others = loop.othersNodes == 0
                             ? ""
                             : ", beside " + std::to_string(loop.othersNodes) + " of other loops";
    return leave(op, loop,
                 "makes " + Twine(trips ? "" : "at least ") +
                     Twine(trips ? *trips : loop.trips + 1) + " trips of " + Twine(each) +
                     " nodes" + others + "; copies of at most " + Twine(kMostUnrolledNodes) +
                     " nodes in all are made; nearest supported: " + kNearestLoop);
  }
  return Next::Trip;
}

bool ControlFlow::alwaysGoesOn(Operation *op) {
  Block &body = bodyOf(op);
  Value condition = body.getTerminator()->getOperand(0);
  while (auto same = condition.getDefiningOp<onnx::IdentityOp>())
    condition = same->getOperand(0);
  return condition == body.getArgument(1) || onnx::constantInt(condition) == 1;
}

ControlFlow::Next ControlFlow::nextOfLoop(Operation *op, Unrolled &loop) {
  Value count = loop.given[0], first = loop.given[1];
  // The condition that a body yields counts only where the loop was given one.
  bool hasCount = !onnx::isAbsent(count), hasCondition = !onnx::isAbsent(first);
  if (!hasCount && !hasCondition)
    return refuse(op, loop,
                  "has neither a trip count nor a condition, so that it never ends; "
                  "nearest supported: a trip count");
  Value condition = loop.trips && hasCondition ? yielded(op, loop, loop.trips - 1, 0) : first;
  std::optional<int64_t> goesOn = hasCondition ? known(condition) : 1;
  std::optional<int64_t> trips = hasCount ? known(count) : std::nullopt;
  if (goesOn == 0 || (trips && loop.trips >= *trips))
    return Next::End;
  StringRef nearest = "a constant, or a loop that is unrolled in the model";
  if (hasCount && !trips)
    return leave(op, loop, whyUnknown(count, "its trip count", nearest));
  if (!goesOn)
    return leave(op, loop,
                 whyUnknown(condition,
                            loop.trips ? "its condition after trip " + Twine(loop.trips)
                                       : Twine("its condition"),
                            nearest));
  return limited(op, loop, !hasCondition || alwaysGoesOn(op) ? trips : std::nullopt);
}

ControlFlow::Next ControlFlow::nextOfScan(Operation *op, Unrolled &loop) {
  auto scan = cast<onnx::ScanOp>(op);
  unsigned states = carriedCount(op, loop.given.size());
  auto axes = scan.getScanInputAxes();
  std::optional<int64_t> trips;
  bool isOpen = false;
  for (auto [i, value] : llvm::enumerate(ArrayRef(loop.given).drop_front(states))) {
    std::optional<onnx::Sizes> sizes = walk.shapes.find(value);
    if (!sizes)
      return refuse(op, loop, "");
    auto rank = static_cast<int64_t>(sizes->size());
    int64_t axis = axes ? (*axes)[i] : 0;
    if (axis < -rank || axis >= rank)
      return refuse(op, loop,
                    "scans axis " + Twine(axis) + " of input " + Twine(states + i) +
                        ", which has rank " + Twine(rank));
    std::optional<int64_t> size = getConstantIntValue((*sizes)[axis < 0 ? axis + rank : axis]);
    isOpen |= !size;
    if (size && trips && *trips != *size)
      return refuse(op, loop,
                    "scans " + Twine(*trips) + " and " + Twine(*size) +
                        " entries; all scanned inputs must have as many");
    trips = size ? size : trips;
  }
  if (isOpen)
    return leave(op, loop,
                 "scans an axis whose size only a run knows; nearest supported: sizes fixed with "
                 "--shapes");
  return loop.trips == *trips ? Next::End : limited(op, loop, trips);
}

ControlFlow::Next ControlFlow::nextOfMap(Operation *op, Unrolled &loop) {
  std::optional<int64_t> trips;
  for (Value value : loop.given) {
    if (!isa<onnx::SeqType>(value.getType()))
      continue;
    const List *list = listOf(value);
    if (!list)
      return refuse(op, loop, "");
    auto size = static_cast<int64_t>(list->size());
    if (trips && *trips != size)
      return refuse(op, loop,
                    "maps sequences of " + Twine(*trips) + " and " + Twine(size) +
                        " tensors; all must have as many");
    trips = size;
  }
  return loop.trips == *trips ? Next::End : limited(op, loop, trips);
}

ControlFlow::Next ControlFlow::next(Operation *op, Unrolled &loop) {
  if (isa<onnx::LoopOp>(op))
    return nextOfLoop(op, loop);
  return isa<onnx::ScanOp>(op) ? nextOfScan(op, loop) : nextOfMap(op, loop);
}

//===-- A trip --------------------------------------------------------------------------------===//

RankedTensorType ControlFlow::scalarType(Value argument, Type element) {
  auto declared = dyn_cast<RankedTensorType>(argument.getType());
  bool isList = declared && declared.getRank() == 1;
  return RankedTensorType::get(isList ? ArrayRef<int64_t>{1} : ArrayRef<int64_t>(), element);
}

/// Zeros in the shape of an entry along an axis; null where that is not known.
static Value emptyEntry(Operation *op, Value scanned, ArrayRef<OpFoldResult> sizes, int64_t axis) {
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (static_cast<int64_t>(i) != axis)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  if (llvm::is_contained(shape, ShapedType::kDynamic))
    return {};
  Type element = onnx::elementType(scanned);
  SmallVector<char> zero(onnx::elementBytes(*onnx::elementKind(element)), 0);
  OpBuilder b(op);
  return createConstant(b, op->getLoc(),
                        onnx::makeSplat(RankedTensorType::get(shape, element), zero));
}

SmallVector<Value> ControlFlow::arguments(Operation *op, Unrolled &loop) {
  SmallVector<Value> result;
  OpBuilder b(op);
  Block &body = bodyOf(op);
  unsigned from = carriedFrom(op), carried = carriedCount(op, loop.given.size());
  if (from) {
    result.push_back(constantOf(op, loop.trips, scalarType(body.getArgument(0), b.getI64Type())));
    bool isGiven = loop.trips || !onnx::isAbsent(loop.given[1]);
    Value condition = loop.trips ? yielded(op, loop, loop.trips - 1, 0) : loop.given[1];
    result.push_back(isGiven ? condition
                             : constantOf(op, 1, scalarType(body.getArgument(1), b.getI1Type())));
  }
  for (unsigned i = 0; i < carried; ++i)
    result.push_back(loop.trips ? yielded(op, loop, loop.trips - 1, i + (from ? 1 : 0))
                                : loop.given[from + i]);
  Expander expander(op, walk.shapes, none);
  if (auto scan = dyn_cast<onnx::ScanOp>(op)) {
    auto axes = scan.getScanInputAxes(), directions = scan.getScanInputDirections();
    for (auto [i, value] : llvm::enumerate(ArrayRef(loop.given).drop_front(carried))) {
      std::optional<onnx::Sizes> sizes = walk.shapes.find(value);
      auto rank = static_cast<int64_t>(sizes->size());
      int64_t axis = axes ? (*axes)[i] : 0;
      axis += axis < 0 ? rank : 0;
      if (loop.isTrial) { // there is no entry
        result.push_back(emptyEntry(op, value, *sizes, axis));
        continue;
      }
      int64_t at = directions && (*directions)[i]
                       ? *getConstantIntValue((*sizes)[axis]) - 1 - loop.trips
                       : loop.trips;
      result.push_back(expander.squeeze(expander.slice(value, axis, at, at + 1), axis));
    }
  } else if (isa<onnx::SequenceMapOp>(op)) {
    for (Value value : loop.given) {
      const List *list = listOf(value);
      result.push_back(list ? (*list)[loop.trips] : value);
    }
  }
  return result;
}

Location ControlFlow::numbered(Location location, int64_t trip) {
  auto name = location->findInstanceOf<NameLoc>();
  if (!name)
    return location;
  std::string wanted = (name.getName().getValue() + "/" + Twine(trip)).str(), unique = wanted;
  for (unsigned i = 1; !names.insert(unique).second; ++i)
    unique = wanted + "_" + std::to_string(i);
  return NameLoc::get(StringAttr::get(function.getContext(), unique), name.getChildLoc());
}

void ControlFlow::inferTypes(Operation *op) {
  const onnx::OpSchema *schema = onnx::schemaOf(op);
  if (!schema || llvm::none_of(op->getResultTypes(), llvm::IsaPred<onnx::AnyType>))
    return;
  SmallVector<Region *> regions;
  for (Region &region : op->getRegions())
    regions.push_back(&region);
  SmallVector<Type> types = onnx::inferElementTypes(
      *schema, op->getOperands(), op->getAttrDictionary(), regions, op->getNumResults());
  for (auto [result, type] : llvm::zip(op->getResults(), types))
    if (isa<onnx::AnyType>(result.getType()))
      result.setType(type);
}

bool ControlFlow::copyBody(Operation *op, Unrolled &loop) {
  Block &body = bodyOf(op);
  SmallVector<Value> given = arguments(op, loop);
  if (llvm::is_contained(given, Value())) {
    refuse(op, loop, kNothingKnown);
    return false;
  }
  IRMapping map;
  map.map(body.getArguments(), given);
  OpBuilder b(op);
  for (Operation &inner : body.without_terminator()) {
    Operation *copy = b.clone(inner, map);
    copy->walk([&](Operation *each) { each->setLoc(numbered(each->getLoc(), loop.trips)); });
    inferTypes(copy);
  }
  SmallVector<Value> operands(op->getOperands());
  for (Value value : body.getTerminator()->getOperands())
    operands.push_back(map.lookupOrDefault(value));
  op->setOperands(operands);
  ++loop.trips;
  unrolledNodes += countNodes(body);
  return true;
}

/// True of a loop that joins results of all trips, so that it needs the shape of one if there is
/// none.
static bool collects(Operation *op, unsigned carried) {
  return !isa<onnx::SequenceMapOp>(op) &&
         llvm::any_of(op->getResults().drop_front(carried),
                      [](Value result) { return !result.use_empty(); });
}

//===-- How it ends ---------------------------------------------------------------------------===//

void ControlFlow::takeBack(Operation *op, Unrolled &loop) {
  op->setOperands(loop.given);
  while (op->getPrevNode() != loop.before)
    bury(op->getPrevNode());
  unrolledNodes = loop.othersNodes;
  discardCallees(loop.othersCallees);
  loop.trips = 0;
}

Value ControlFlow::collect(Operation *op, Unrolled &loop, unsigned result, unsigned number,
                           int64_t axis, bool backwards) {
  if (!loop.trips || loop.isTrial)
    return collectNothing(op, loop, result, number, axis);
  Expander expander(op, walk.shapes, none);
  SmallVector<Value> parts;
  for (int64_t trip = 0; trip < loop.trips; ++trip)
    parts.push_back(expander.unsqueeze(yielded(op, loop, trip, number), axis));
  if (backwards)
    std::reverse(parts.begin(), parts.end());
  return parts.size() == 1 ? parts.front() : expander.concat(parts, axis);
}

/// The parts of no trip: nothing, in the shape that they have in the trip that is not made.
Value ControlFlow::collectNothing(Operation *op, Unrolled &loop, unsigned result, unsigned number,
                                  int64_t axis) {
  Type element;
  if (auto tensor = dyn_cast<TensorType>(op->getResult(result).getType()))
    element = tensor.getElementType();
  std::optional<onnx::ElementKind> kind = element ? onnx::elementKind(element) : std::nullopt;
  if (!kind || *kind == onnx::ElementKind::String)
    return {};
  SmallVector<int64_t> shape;
  if (std::optional<onnx::Sizes> sizes = walk.shapes.find(yielded(op, loop, 0, number))) {
    for (OpFoldResult size : *sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto rank = static_cast<int64_t>(shape.size()) + 1;
    if (axis < -rank || axis >= rank)
      return {};
    shape.insert(shape.begin() + (axis < 0 ? axis + rank : axis), 0);
  }
  if (shape.empty() || llvm::is_contained(shape, ShapedType::kDynamic))
    return {};
  OpBuilder b(op);
  return createConstant(
      b, op->getLoc(),
      onnx::makeConstant(RankedTensorType::get(shape, element), nodeName(op), ArrayRef<char>()));
}

void ControlFlow::record(Operation *op, int64_t trips) {
  ledger.applied("unroll", op->getLoc(), "unrolled",
                 Twine(trips) + (trips == 1 ? " trip" : " trips"));
  count(function.getContext(), pass, "unrolled");
}

/// The lists that a SequenceMap makes.
Operation *ControlFlow::finishMap(Operation *op, Unrolled &loop) {
  SmallVector<List> made;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    List &list = made.emplace_back();
    for (int64_t trip = 0; trip < loop.trips; ++trip)
      list.push_back(yielded(op, loop, trip, i));
  }
  op->setOperands(loop.given);
  for (auto [result, list] : llvm::zip(op->getResults(), made))
    lists[result] = list;
  markDeclared(loop.before, op);
  record(op, loop.trips);
  return op;
}

Operation *ControlFlow::finish(Operation *op, Unrolled &loop) {
  int64_t trips = loop.isTrial ? 0 : loop.trips;
  unsigned carried = carriedCount(op, loop.given.size()), from = carriedFrom(op);
  unsigned first = isa<onnx::LoopOp>(op) ? 1 : 0;
  auto scan = dyn_cast<onnx::ScanOp>(op);
  Operation *before = op->getPrevNode();
  SmallVector<Value> values;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    if (i < carried) {
      values.push_back(trips ? yielded(op, loop, trips - 1, first + i) : loop.given[from + i]);
      continue;
    }
    auto axes = scan ? scan.getScanOutputAxes() : std::nullopt;
    auto directions = scan ? scan.getScanOutputDirections() : std::nullopt;
    int64_t axis = axes ? (*axes)[i - carried] : 0;
    bool isBackwards = directions && (*directions)[i - carried];
    bool isUsed = !op->getResult(i).use_empty();
    values.push_back(isUsed ? collect(op, loop, i, first + i, axis, isBackwards) : none);
    if (!values.back()) {
      refuse(op, loop, kNothingKnown);
      return op;
    }
  }
  record(op, trips);
  markDeclared(loop.before, op);
  if (loop.isTrial) {
    op->setOperands(loop.given);
    // Constants for what is empty stand behind it.
    while (before != loop.before) {
      Operation *copy = before;
      before = copy->getPrevNode();
      bury(copy);
    }
    unrolledNodes = loop.othersNodes;
    discardCallees(loop.othersCallees);
  }
  return replace(op, values, before);
}

Operation *ControlFlow::unroll(Operation *op) {
  op->removeAttr(kUnexpandedAttr);
  if (auto why = op->getAttrOfType<StringAttr>(kInChunksAttr)) {
    keep(op, why.getValue());
    return callLoop(op);
  }
  auto [entry, isNew] = loops.try_emplace(op);
  Unrolled &loop = entry->second;
  if (isNew)
    loop = {SmallVector<Value>(op->getOperands()), op->getPrevNode(), unrolledNodes, made.size()};
  while (!loop.isTrial) {
    Next way = next(op, loop);
    if (way == Next::Called)
      return callLoop(op);
    if (way == Next::Kept)
      break;
    if (way == Next::End && (loop.trips || !collects(op, carriedCount(op, loop.given.size()))))
      break;
    loop.isTrial = way == Next::End;
    Operation *before = op->getPrevNode();
    if (!copyBody(op, loop))
      break;
    Operation *first = before ? before->getNextNode() : &op->getBlock()->front();
    if (first != op)
      return first;
  }
  Operation *now = op->hasAttr(kUnexpandedAttr)   ? op
                   : isa<onnx::SequenceMapOp>(op) ? finishMap(op, loop)
                                                  : finish(op, loop);
  // The run knows the sizes of what a loop without a trip collects.
  if (loop.isTrial && now == op && isa<onnx::LoopOp, onnx::ScanOp>(op))
    return callLoop(op);
  loops.erase(op);
  return now;
}

} // namespace cameo
