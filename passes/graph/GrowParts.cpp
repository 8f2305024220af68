// Parts that a Loop collects in as many trips as nothing bounds, or as a condition ends long before its trip count:
// memory for all of them cannot be taken in front of the first trip.
//
//   %p = onnx.Loop(%m, %c) ({ ... onnx.Yield(%goes_on, %part) })
//     ==>
//   %p = onnx.Loop(%none, %c, %empty) ({
//   ^bb0(%i, %c, %collected):
//     %n = onnx.Max(%few, Shape(%collected)[0])
//     %last, %some = onnx.Loop(%n, %true, %true) ({ ... onnx.Yield(%goes_on, %goes_on, %part) })
//     %all = onnx.Concat(%collected, %some) {axis = 0}
//     onnx.Yield(%last and Shape(%all)[0] < %m, %all)
//   })
//
// The Loop inside makes as many trips as all before it, so that each part is copied a constant number of times on average.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Calls.h"
#include "passes/graph/ControlFlow.h"

using namespace mlir;

namespace cameo {

/// The trips of the first Loop inside.
static constexpr int64_t kFirstParts = 32;

/// A part in no trip: nothing, in the sizes that the call of the body has found.
static Value nothingCollected(Expander &expander, RankedTensorType type, ValueRange values,
                              ArrayRef<int64_t> origins) {
  SmallVector<Value> sizes{expander.ints({0})};
  for (auto [dim, size] : llvm::enumerate(type.getShape().drop_front())) {
    ArrayRef<int64_t> origin = origins.slice(2 * (dim + 1), 2);
    sizes.push_back(ShapedType::isDynamic(size)
                        ? expander.reshape(expander.sizeOf(values[origin[0]], origin[1]), {1})
                        : expander.ints({size}));
  }
  Type element = type.getElementType();
  SmallVector<char> zero(onnx::elementBytes(*onnx::elementKind(element)), 0);
  Builder b(type.getContext());
  return expander.emit(
      "ConstantOfShape", {expander.concat(sizes, 0)},
      {b.getNamedAttr("value", onnx::makeSplat(RankedTensorType::get({1}, element), zero))});
}

/// Builds the Loop inside from the one that is there, whose body it takes over; gives it.
static onnx::LoopOp takeOver(OpBuilder &b, onnx::LoopOp loop, ArrayRef<Value> operands,
                             unsigned carried, Type flag) {
  SmallVector<Type> types(loop->getResultTypes());
  types.insert(types.begin() + carried, flag);
  OperationState state(loop.getLoc(), loop->getName(), operands, types, loop->getAttrs());
  state.addRegion()->takeBody(loop->getRegion(0));
  return cast<onnx::LoopOp>(b.create(state));
}

Operation *ControlFlow::growParts(const LoopCall &call) {
  auto loop = cast<onnx::LoopOp>(call.op);
  Location location = loop.getLoc();
  Operation *last = loop->getPrevNode();
  OpBuilder b(loop);
  auto number = RankedTensorType::get({}, b.getI64Type());
  auto flag = RankedTensorType::get({}, b.getI1Type());
  unsigned carried = call.carried;
  auto values = ArrayRef(call.values);

  // The first condition counts the trips, too, and what is collected begins as nothing.
  Expander around(loop, walk.shapes, none);
  bool isCounted = call.count && known(call.count) != std::numeric_limits<int64_t>::max();
  Value most = isCounted ? around.reshape(call.count, {}) : Value();
  Value first = around.reshape(loop.getCond(), {});
  if (most)
    first = around.emit(
        "And", {first, around.emit("Greater", {most, around.table({}, ArrayRef<int64_t>{0})})});
  SmallVector<Value> operands{none, first};
  llvm::append_range(operands, values.take_front(carried));
  SmallVector<Type> types = llvm::to_vector(ArrayRef(call.types).take_front(carried));
  ArrayRef<int64_t> origins(call.sizes);
  for (Type type : ArrayRef(call.types).take_front(carried))
    origins = origins.drop_front(2 * cast<RankedTensorType>(type).getRank());
  for (Type type : ArrayRef(call.types).drop_front(carried)) {
    auto part = cast<RankedTensorType>(type);
    operands.push_back(nothingCollected(around, part, values, origins));
    origins = origins.drop_front(2 * part.getRank());
    SmallVector<int64_t> shape(part.getShape());
    shape.front() = ShapedType::kDynamic;
    types.push_back(part.clone(shape));
  }
  OperationState state(location, loop->getName(), operands, types);
  Block &outer = state.addRegion()->emplaceBlock();
  auto outside = cast<onnx::LoopOp>(b.create(state));
  outside->setAttr(kInChunksAttr, loop->getAttr(kUnexpandedAttr));

  // The body of the Loop around has the same arguments, the parts so far, and the Loop inside.
  outer.addArgument(number, location);
  outer.addArgument(flag, location);
  Block &body = loop->getRegion(0).front();
  for (unsigned i = 0; i < carried; ++i)
    outer.addArgument(body.getArgument(2 + i).getType(), body.getArgument(2 + i).getLoc());
  SmallVector<Value> collected;
  for (Type type : ArrayRef(types).drop_front(carried))
    collected.push_back(outer.addArgument(type, location));
  b.setInsertionPointToStart(&outer);
  auto end = b.create<onnx::YieldOp>(location, TypeRange(), ValueRange());
  Expander before(end, walk.shapes, none);
  Value done = before.sizeOf(collected.front(), 0);
  Value chunk = before.emit("Max", {done, before.table({}, ArrayRef{kFirstParts})});
  chunk = before.emit("Min", {chunk, before.table({}, ArrayRef{onnx::kMostParts})});
  if (most)
    chunk = before.emit("Min", {chunk, before.emit("Sub", {most, done})});
  SmallVector<Value> given{chunk, constantOf(end, 1, flag)};
  llvm::append_range(given, outer.getArguments().slice(2, carried));
  given.push_back(constantOf(end, 1, flag));
  b.setInsertionPoint(end);
  loop->removeAttr(kUnexpandedAttr);
  onnx::LoopOp inside = takeOver(b, loop, given, carried, flag);
  inside->setAttr(
      kInChunksAttr,
      b.getStringAttr("its parts are collected in chunks, since a condition may end it early"));

  // The body of the Loop inside counts trips from those before it, and carries whether there is another one.
  Block &inner = inside->getRegion(0).front();
  inner.insertArgument(2 + carried, flag, location);
  if (BlockArgument trip = inner.getArgument(0); !trip.use_empty()) {
    Expander counting(&inner.front(), walk.shapes, none);
    Value sum = counting.emit("Add", {trip, done});
    trip.replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
  Operation *yield = inner.getTerminator();
  Expander ending(yield, walk.shapes, none);
  yield->insertOperands(1 + carried, ending.reshape(yield->getOperand(0), {}));

  // The Loop around yields whether it goes on, what is carried, and all parts so far.
  Expander behind(end, walk.shapes, none);
  Value goesOn = inside->getResult(carried);
  SmallVector<Value> yielded(inside->getResults().take_front(carried));
  for (auto [part, all] : llvm::zip(call.parts, collected))
    yielded.push_back(behind.concat({all, inside->getResult(part.result + 1)}, 0));
  if (most)
    goesOn = behind.emit("And",
                         {goesOn, behind.emit("Less", {behind.sizeOf(yielded[carried], 0), most})});
  yielded.insert(yielded.begin(), goesOn);
  end->setOperands(yielded);

  SmallVector<Value> results(outside->getResults().take_front(carried));
  results.resize(loop->getNumResults(), none);
  for (auto [i, part] : llvm::enumerate(call.parts))
    results[part.result] = outside->getResult(carried + i);
  count(function.getContext(), pass, "in-chunks");
  return replace(loop, results, last);
}

} // namespace cameo
