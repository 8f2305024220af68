// Numbers that a Loop carries and to which each trip adds the same: they become what the trip's number makes of them.
//
//   onnx.Loop(%n, %c, %k) ({                    onnx.Loop(%n, %c) ({
//   ^bb0(%i, %d, %v):                           ^bb0(%i, %d):
//     %1 = onnx.Add(%v, %one)            ==>      %1 = onnx.Add(onnx.Add(%k, %i), %one)
//     %2 = onnx.Less(%1, %m)                      %2 = onnx.Less(%1, %m)
//     onnx.Yield(%2, %1)                          onnx.Yield(%2)
//   })                                          })
//
// Exporters write `while i < n` so. A number that is carried is memory of the device, for which the run would wait in
// each trip before it knows whether there is another one; the host knows the trip's number.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Statistics.h"
#include "passes/graph/ControlFlow.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace cameo {

static Value behindIdentities(Value value) {
  while (auto same = value.getDefiningOp<onnx::IdentityOp>())
    value = same->getOperand(0);
  return value;
}

/// The constant that each trip adds to an integer of `rank` that is carried at this place; nothing where it does not.
static std::optional<int64_t> stepOf(onnx::LoopOp loop, unsigned carried, int64_t rank) {
  Block &body = loop->getRegion(0).front();
  Value now = body.getArgument(2 + carried);
  Type element = onnx::elementType(loop->getOperand(2 + carried));
  Operation *next = behindIdentities(body.getTerminator()->getOperand(1 + carried)).getDefiningOp();
  if (!next || !isa<onnx::AddOp, onnx::SubOp>(next) ||
      !(element.isSignlessInteger(64) || element.isSignlessInteger(32)))
    return std::nullopt;
  Value left = behindIdentities(next->getOperand(0)), right = behindIdentities(next->getOperand(1));
  if (isa<onnx::AddOp>(next) && right == now)
    std::swap(left, right);
  if (left != now)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(right.getType());
  std::optional<int64_t> step = onnx::constantInt(right);
  if (!step || !type || type.getNumElements() != 1 || type.getRank() > rank)
    return std::nullopt;
  return isa<onnx::SubOp>(next) ? -*step : *step;
}

/// The numbers that the host can count: those that the run gives the loop are known to it, and have one element, of
/// the rank that they keep.
SmallVector<ControlFlow::Counter> ControlFlow::countersOf(onnx::LoopOp loop) {
  SmallVector<Counter> counters;
  for (unsigned i = 0; i < carriedCount(loop, loop->getNumOperands()); ++i) {
    Value first = loop->getOperand(2 + i);
    if (!isa<TensorType>(first.getType()))
      continue;
    std::optional<onnx::Sizes> sizes = walk.shapes.find(first);
    if (!sizes || sizes->size() > 1)
      continue;
    std::optional<int64_t> step = stepOf(loop, i, int64_t(sizes->size()));
    if (!step ||
        llvm::any_of(*sizes, [](OpFoldResult size) { return getConstantIntValue(size) != 1; }) ||
        failed(walk.shapes.host.tryValues(first, 1)))
      continue;
    counters.push_back({i, *step, unsigned(sizes->size())});
  }
  return counters;
}

/// The number in a trip: its first value, and the step for each trip before.
Value ControlFlow::countAt(Expander &e, const Counter &counter, Value first, Value trip) {
  Type element = onnx::elementType(first);
  Value number = e.cast(trip, element);
  if (counter.step != 1)
    number = e.emit("Mul", {number, e.cast(e.table({}, ArrayRef<int64_t>{counter.step}), element)});
  return e.emit("Add", {first, counter.rank ? e.reshape(number, {1}) : number});
}

/// A Loop behind this one that counts by its trips; null where it carries no such numbers. `places` are those of this
/// one's results among the other one's, -1 for what is not carried any more.
onnx::LoopOp ControlFlow::countByTrip(onnx::LoopOp loop, SmallVectorImpl<int64_t> &places) {
  SmallVector<Counter> counters = countersOf(loop);
  if (counters.empty())
    return {};
  unsigned carried = carriedCount(loop, loop->getNumOperands());
  llvm::BitVector isGone(loop->getNumResults());
  for (const Counter &counter : counters)
    if (loop->getResult(counter.carried).use_empty())
      isGone.set(counter.carried);
  SmallVector<Value> operands(loop->getOperands().take_front(2));
  SmallVector<Type> types;
  for (auto [i, type] : llvm::enumerate(loop->getResultTypes())) {
    places.push_back(isGone[i] ? -1 : int64_t(types.size()));
    if (isGone[i])
      continue;
    types.push_back(type);
    if (i < carried)
      operands.push_back(loop->getOperand(2 + i));
  }
  OpBuilder b(loop->getContext());
  b.setInsertionPointAfter(loop);
  OperationState state(loop.getLoc(), loop->getName(), operands, types, loop->getAttrs());
  IRMapping map;
  loop->getRegion(0).cloneInto(state.addRegion(), map);
  auto made = cast<onnx::LoopOp>(b.create(state));
  Block &body = made->getRegion(0).front();
  Expander expander(&body.front(), walk.shapes, none);
  Value trip = body.getArgument(0);
  if (scalarType(trip, b.getI64Type()).getRank())
    trip = expander.reshape(trip, {});
  llvm::BitVector arguments(body.getNumArguments()),
      yielded(body.getTerminator()->getNumOperands());
  for (const Counter &counter : counters) {
    body.getArgument(2 + counter.carried)
        .replaceAllUsesWith(
            countAt(expander, counter, loop->getOperand(2 + counter.carried), trip));
    if (isGone[counter.carried]) {
      arguments.set(2 + counter.carried);
      yielded.set(1 + counter.carried);
    }
  }
  body.getTerminator()->eraseOperands(yielded);
  body.eraseArguments(arguments);
  count(function.getContext(), pass, "counted");
  return made;
}

/// Calls a Loop that counts by its trips in the place of one that carries numbers; null where it carries none.
Operation *ControlFlow::callCounted(onnx::LoopOp loop) {
  SmallVector<int64_t> places;
  onnx::LoopOp counted = countByTrip(loop, places);
  if (!counted)
    return nullptr;
  for (auto [result, place] : llvm::zip(loop->getResults(), places))
    if (place >= 0)
      result.replaceAllUsesWith(counted->getResult(place));
  Operation *first = callLoop(counted);
  if (first != counted) {
    bury(loop);
    return first;
  }
  for (auto [result, place] : llvm::zip(loop->getResults(), places))
    if (place >= 0)
      counted->getResult(place).replaceAllUsesWith(result);
  auto why = counted->getAttrOfType<StringAttr>(kUnexpandedAttr);
  bury(counted);
  return keep(loop, why.getValue());
}

} // namespace cameo
