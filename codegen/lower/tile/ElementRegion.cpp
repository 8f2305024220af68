// What tile operations read of other memory, and their regions.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/tile/ElementRegion.h"
#include "codegen/lower/tile/TileExpander.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace cameo;

//===-- Sources -------------------------------------------------------------------------------===//

SourceGroup::SourceGroup(ValueRange memories, ArrayRef<int64_t> widths, int64_t vector) {
  unsigned first = 0;
  for (auto [memory, width] : llvm::zip(memories, widths)) {
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    int64_t pieces = width == 0 ? 1 : vector / width;
    sources.push_back({memory, element, width, pieces, first});
    first += pieces;
  }
}

SmallVector<Type> SourceGroup::types(unsigned number) const {
  const Source &source = sources[number];
  return SmallVector<Type>(source.pieces,
                           source.width <= 1 ? source.element
                                             : Type(VectorType::get(source.width, source.element)));
}

SmallVector<Value>
SourceGroup::load(OpBuilder &builder, Location loc,
                  function_ref<Value(unsigned source, int64_t element)> offset) const {
  SmallVector<Value> loaded;
  for (auto [number, source] : llvm::enumerate(sources)) {
    int64_t width = std::max<int64_t>(source.width, 1);
    for (int64_t piece = 0; piece < source.pieces; ++piece)
      loaded.push_back(loadElements(builder, loc, source.memory, offset(number, piece * width),
                                    width, accessAlignment(width, source.element)));
  }
  return loaded;
}

Value SourceGroup::element(OpBuilder &builder, Location loc, ArrayRef<Value> loaded,
                           unsigned number, int64_t element) const {
  const Source &source = sources[number];
  if (source.width == 0)
    return loaded[source.first];
  return elementOf(builder, loc, loaded[source.first + element / source.width],
                   element % source.width);
}

Value SourceGroup::whole(OpBuilder &builder, Location loc, ArrayRef<Value> loaded, unsigned number,
                         int64_t vector) const {
  const Source &source = sources[number];
  if (source.width == vector)
    return loaded[source.first];
  if (source.width == 0)
    return splat(builder, loc,
                 vector == 1 ? source.element : VectorType::get(vector, source.element),
                 loaded[source.first]);
  SmallVector<Value> elements;
  for (int64_t e = 0; e < vector; ++e)
    elements.push_back(element(builder, loc, loaded, number, e));
  return joinElements(builder, loc, elements);
}

//===-- Element regions ---------------------------------------------------------------------===//

/// The operation of `body` that `value` comes from, if any.
static Operation *definingOpIn(Block &body, Value value) {
  Operation *op = value.getDefiningOp();
  return op ? body.findAncestorOpInBlock(*op) : nullptr;
}

ElementRegion::ElementRegion(Block &body, unsigned condition, unsigned loaded) : body(body) {
  llvm::SmallVector<Operation *> work;
  auto take = [&](Value value) {
    if (Operation *op = definingOpIn(body, value))
      if (conditionSlice.insert(op).second)
        work.push_back(op);
  };
  take(body.getTerminator()->getOperand(condition));
  while (!work.empty())
    work.pop_back_val()->walk([&](Operation *op) { llvm::for_each(op->getOperands(), take); });

  for (Operation &op : body.without_terminator()) {
    bool depends = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (Operation *from = definingOpIn(body, operand))
          depends |= from != &op && guarded.contains(from);
        auto argument = dyn_cast<BlockArgument>(operand);
        depends |= argument && argument.getOwner() == &body && argument.getArgNumber() >= loaded;
      }
    });
    if (depends || !isPure(&op))
      guarded.insert(&op);
  }
}

bool ElementRegion::isGuarded(Operation *op, bool withCondition) const {
  return guarded.contains(op) && !(withCondition && conditionSlice.contains(op));
}

void ElementRegion::inlineUnguarded(OpBuilder &builder, IRMapping &values,
                                    bool withCondition) const {
  for (Operation &op : body.without_terminator())
    if (!isGuarded(&op, withCondition))
      builder.clone(op, values);
}

void ElementRegion::inlineGuarded(OpBuilder &builder, IRMapping &values, bool withCondition) const {
  for (Operation &op : body.without_terminator())
    if (isGuarded(&op, withCondition))
      builder.clone(op, values);
}

bool ElementRegion::isGuarded(unsigned number) const {
  Operation *op = definingOpIn(body, body.getTerminator()->getOperand(number));
  return op && isGuarded(op, /*withCondition=*/true);
}

Value ElementRegion::result(IRMapping &values, unsigned number) const {
  return values.lookupOrDefault(body.getTerminator()->getOperand(number));
}
