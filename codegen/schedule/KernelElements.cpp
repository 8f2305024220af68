// Pulling elements of a dispatch's description into a kernel.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/KernelEmitter.h"

#include "dialects/kernel/form/Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace cameo {

//===-- Elements ------------------------------------------------------------------------------===//

void KernelWriter::keep(Value tensor, std::function<Value(ValueRange)> fn) {
  kept[tensor] = std::move(fn);
  computed.clear(); // some of it from that tensor
}

void KernelWriter::keepLanes(Value tensor, ArrayRef<Value> lanes) {
  keep(tensor, [this, values = SmallVector<Value>(lanes)](ValueRange) { return values[lane]; });
}

bool KernelWriter::isVisible(Value value) {
  Block *block = value.getParentBlock(), *here = b.getInsertionBlock();
  Operation *definition = value.getDefiningOp();
  if (block == here)
    return !definition || b.getInsertionPoint() == here->end() ||
           definition->isBeforeInBlock(&*b.getInsertionPoint());
  Operation *around = block->findAncestorOpInBlock(*here->getParentOp());
  return around && (!definition || definition->isBeforeInBlock(around));
}

SmallVector<Value> KernelWriter::once(Value tensor, ValueRange indices, int64_t lanes,
                                      function_ref<SmallVector<Value>()> compute) {
  size_t hash = llvm::hash_combine(lanes, llvm::hash_combine_range(indices.begin(), indices.end()));
  std::pair<Value, size_t> key(tensor, hash);
  if (auto found = computed.find(key); found != computed.end())
    for (Computed &known : found->second)
      if (static_cast<int64_t>(known.lanes.size()) == lanes &&
          llvm::equal(known.indices, indices) &&
          llvm::all_of(known.lanes, [&](Value value) { return isVisible(value); }))
        return known.lanes;
  SmallVector<Value> result = compute();
  computed[key].push_back({SmallVector<Value>(indices), result});
  return result;
}

Value KernelWriter::element(Value tensor, ValueRange indices) {
  auto known = kept.find(tensor);
  if (known != kept.end())
    return known->second(indices);
  return once(tensor, indices, 1,
              [&] { return SmallVector<Value>{computeElement(tensor, indices)}; })[0];
}

Value KernelWriter::computeElement(Value tensor, ValueRange indices) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (memory(tensor)) {
    Address at = address(tensor, indices);
    return b.create<memref::LoadOp>(loc, at.memory, at.offset);
  }
  Operation *definition = tensor.getDefiningOp();
  if (!definition || isa<tensor::EmptyOp>(definition)) // a destination's former content
    return b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
  if (isa<linalg::GenericOp>(definition))
    return inlineGeneric(cast<OpResult>(tensor), indices);
  if (auto fill = dyn_cast<linalg::FillOp>(definition))
    return scalar(fill.getInputs()[0]);
  if (auto pad = dyn_cast<tensor::PadOp>(definition))
    return inlinePad(pad, indices, 1)[0];
  if (auto scan = dyn_cast<kernel::ScanOp>(definition))
    return inlineScan(scan, indices);
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(
          definition)) {
    Moved from = moved(definition, indices);
    return element(from.source, from.indices);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(definition))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return b.create<arith::ConstantOp>(loc, splat.getSplatValue<TypedAttr>());
  definition->emitError("cannot be computed in a kernel");
  broken = true;
  return b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
}

/// Loop indices of a generic for an element of a result; reduction loops stay null.
static SmallVector<Value> loopsOf(AffineMap outputMap, ValueRange indices) {
  SmallVector<Value> loops(outputMap.getNumDims());
  for (auto [expr, index] : llvm::zip(outputMap.getResults(), indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
  return loops;
}

Value KernelWriter::inlineGeneric(OpResult result, ValueRange indices) {
  auto generic = cast<linalg::GenericOp>(result.getOwner());
  if (generic.getNumReductionLoops() == 0)
    return inlineLoops(result, indices);
  // A reduction inside another one's loop mostly does not depend on that loop: it is computed
  // before it, once. Not out of conditions, which may guard its loads.
  auto definedIn = [](Value value, Operation *scope) {
    return scope->isAncestor(value.getParentBlock()->getParentOp());
  };
  OpBuilder::InsertionGuard guard(b);
  while (auto loop = dyn_cast<scf::ForOp>(b.getInsertionBlock()->getParentOp())) {
    if (llvm::any_of(indices, [&](Value index) { return definedIn(index, loop); }))
      break;
    b.setInsertionPoint(loop);
  }
  return inlineLoops(result, indices);
}

/// What a generic's body has as its inputs at an index of the loops; null for what it does not use.
SmallVector<Value> KernelWriter::inputsAt(linalg::GenericOp generic, ValueRange loops) {
  SmallVector<Value> arguments;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (!generic.payloadUsesValueFromOperand(input))
      arguments.push_back(Value());
    else if (isa<RankedTensorType>(input->get().getType()))
      arguments.push_back(
          element(input->get(), apply(generic.getMatchingIndexingMap(input), loops)));
    else
      arguments.push_back(scalar(input->get()));
  }
  return arguments;
}

Value KernelWriter::inlineLoops(OpResult result, ValueRange indices) {
  auto generic = cast<linalg::GenericOp>(result.getOwner());
  unsigned number = result.getResultNumber();
  OpOperand *init = generic.getDpsInitOperand(number);
  SmallVector<Value> loops = loopsOf(generic.getMatchingIndexingMap(init), indices);

  // Nested loops over the reduction dimensions, innermost last, carrying every output.
  SmallVector<Value> carried;
  for (OpOperand &out : generic.getDpsInitsMutable())
    carried.push_back(generic.payloadUsesValueFromOperand(&out) ? element(out.get(), indices)
                                                                : Value());
  SmallVector<unsigned> reductions;
  generic.getReductionDims(reductions);
  SmallVector<Value> extents;
  if (!reductions.empty())
    extents = loopSizes(generic);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> state;
  for (Value value : carried)
    if (value)
      state.push_back(value);
  scf::ForOp outermost;
  SmallVector<scf::ForOp> nest;
  for (unsigned dim : reductions) {
    auto loop = b.create<scf::ForOp>(loc, constant(0), extents[dim], constant(1), state);
    if (!outermost)
      outermost = loop;
    nest.push_back(loop);
    loops[dim] = loop.getInductionVar();
    state.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    b.setInsertionPointToStart(loop.getBody());
  }
  SmallVector<Value> arguments = inputsAt(generic, loops);
  auto current = state.begin();
  for (Value value : carried)
    arguments.push_back(value ? *current++ : Value());
  SmallVector<Value> yielded = inlineBody(generic, loops, arguments);
  if (nest.empty())
    return yielded[number];
  SmallVector<Value> next;
  unsigned position = 0, mine = 0;
  for (auto [index, value] : llvm::enumerate(carried)) {
    if (!value)
      continue;
    if (index == number)
      mine = position;
    next.push_back(yielded[index]);
    ++position;
  }
  for (scf::ForOp loop : llvm::reverse(nest)) {
    b.setInsertionPointToEnd(loop.getBody());
    b.create<scf::YieldOp>(loc, next);
    next.assign(loop.getResults().begin(), loop.getResults().end());
  }
  return outermost.getResult(mine);
}

Value KernelWriter::padding(tensor::PadOp pad) {
  Value value = scalar(pad.getConstantPaddingValue());
  Operation *definition = value.getDefiningOp();
  return definition && definition->getParentOfType<kernel::DispatchOp>()
             ? b.clone(*definition)->getResult(0)
             : value;
}

Value KernelWriter::lowPad(tensor::PadOp pad, int64_t dim) {
  OpFoldResult low = pad.getMixedLowPad()[dim];
  if (isConstantIntValue(low, 0) && isConstantIntValue(pad.getMixedHighPad()[dim], 0))
    return {};
  auto known = getConstantIntValue(low);
  return known ? constant(*known) : scalar(cast<Value>(low));
}

SmallVector<Value> KernelWriter::inlinePad(tensor::PadOp pad, ValueRange indices, int64_t lanes) {
  Value inside;
  SmallVector<Value> shifted;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value amount = lowPad(pad, dim);
    if (!amount) {
      shifted.push_back(index);
      continue;
    }
    Value at = isConstantIntValue(amount, 0)
                   ? index
                   : b.create<arith::SubIOp>(loc, index, amount).getResult();
    // One unsigned comparison says that it is neither negative nor too large.
    Value good =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, at, size(pad.getSource(), dim));
    inside = inside ? b.create<arith::AndIOp>(loc, inside, good) : good;
    shifted.push_back(at);
  }
  auto source = [&] {
    return lanes == 1 ? SmallVector<Value>{element(pad.getSource(), shifted)}
                      : elements(pad.getSource(), shifted, lanes);
  };
  if (!inside)
    return source();
  SmallVector<Value> otherwise(lanes, padding(pad));
  auto branch = b.create<scf::IfOp>(loc, ValueRange(otherwise).getTypes(), inside, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  b.create<scf::YieldOp>(loc, source());
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(loc, otherwise);
  return llvm::to_vector_of<Value>(branch.getResults());
}

KernelWriter::Moved KernelWriter::moved(Operation *definition, ValueRange indices) {
  Moved result{definition->getOperand(0), {}};
  auto sizesOf = [&](Value tensor, ArrayRef<int64_t> dims) {
    SmallVector<Value> sizes;
    for (int64_t dim : dims)
      sizes.push_back(size(tensor, dim));
    return sizes;
  };
  if (isa<tensor::CastOp>(definition)) {
    result.indices.assign(indices.begin(), indices.end());
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(definition)) {
    auto part = [&](OpFoldResult ofr) {
      auto known = getConstantIntValue(ofr);
      return known ? constant(*known) : scalar(cast<Value>(ofr));
    };
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [dim, offset, stride] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
      Value index = dropped.test(dim) ? constant(0) : indices.front();
      indices = indices.drop_front(dropped.test(dim) ? 0 : 1);
      result.indices.push_back(add(mul(index, part(stride)), part(offset)));
    }
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(definition)) {
    for (auto [index, group] : llvm::zip(indices, collapse.getReassociationIndices()))
      llvm::append_range(result.indices, delinearize(index, sizesOf(result.source, group)));
  } else {
    auto expand = cast<tensor::ExpandShapeOp>(definition);
    for (const ReassociationIndices &group : expand.getReassociationIndices())
      result.indices.push_back(linearize(indices.slice(group.front(), group.size()),
                                         sizesOf(expand.getResult(), group)));
  }
  return result;
}

std::optional<KernelWriter::Moved> KernelWriter::movedTogether(Operation *definition,
                                                               ValueRange indices, int64_t lanes) {
  auto last = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getDimSize(laneDimension(type));
  };
  bool together = isa_and_present<tensor::CastOp>(definition);
  if (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(definition)) {
    // The last dimension of the two that is part of the other's.
    Value from = definition->getOperand(0), to = definition->getResult(0);
    int64_t part = last(isa<tensor::ExpandShapeOp>(definition) ? to : from);
    together = part > 1 && part % lanes == 0;
  } else if (auto slice = dyn_cast_if_present<tensor::ExtractSliceOp>(definition)) {
    int64_t rank = slice.getSourceType().getRank(), offset = slice.getStaticOffsets().back();
    together = !slice.getDroppedDims().test(rank - 1) && last(definition->getResult(0)) != 1 &&
               laneDimension(slice.getType()) + 1 == slice.getType().getRank() &&
               slice.getStaticStrides().back() == 1 && !ShapedType::isDynamic(offset) &&
               offset % lanes == 0;
  }
  return together ? std::optional(moved(definition, indices)) : std::nullopt;
}

Value KernelWriter::inlineScan(kernel::ScanOp scan, ValueRange indices) {
  int64_t axis = scan.getAxis();
  Type type = cast<RankedTensorType>(scan.getType()).getElementType();
  bool real = isa<FloatType>(type), product = scan.getKind() == kernel::CombineKind::Mul;
  auto one = real ? TypedAttr(b.getFloatAttr(type, 1)) : TypedAttr(b.getIntegerAttr(type, 1));
  Value neutral = b.create<arith::ConstantOp>(loc, product ? one : TypedAttr(b.getZeroAttr(type)));
  Value at = indices[axis], zero = constant(0), step = constant(1);
  Value past = b.create<arith::AddIOp>(loc, at, step);
  Value low = zero, high = scan.getExclusive() ? at : past;
  if (scan.getReverse()) {
    low = scan.getExclusive() ? past : at;
    high = size(scan.getInput(), axis);
  }
  auto loop = b.create<scf::ForOp>(loc, low, high, step, neutral);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> place(indices);
  place[axis] = loop.getInductionVar();
  Value next = element(scan.getInput(), place), sofar = loop.getRegionIterArgs()[0];
  Value combined;
  if (product)
    combined = real ? b.create<arith::MulFOp>(loc, sofar, next).getResult()
                    : b.create<arith::MulIOp>(loc, sofar, next).getResult();
  else
    combined = real ? b.create<arith::AddFOp>(loc, sofar, next).getResult()
                    : b.create<arith::AddIOp>(loc, sofar, next).getResult();
  b.create<scf::YieldOp>(loc, combined);
  return loop.getResult(0);
}

/// What an operation that only a description has becomes in a kernel; null for others.
Value KernelWriter::replacement(Operation *operation) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(operation)) {
    SmallVector<Value> indices;
    for (Value index : extract.getIndices())
      indices.push_back(scalar(index));
    return element(extract.getTensor(), indices);
  }
  if (auto dim = dyn_cast<tensor::DimOp>(operation))
    if (auto index = dim.getConstantIndex())
      return size(dim.getSource(), *index);
  return {};
}

/// One of a linalg.generic's body, whose loops are these.
void KernelWriter::inlineOperation(Operation &operation, ValueRange loops) {
  // A nested linalg.index belongs to the same one.
  auto convert = [&](Operation *inner) -> Value {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      return loops[index.getDim()];
    return replacement(inner);
  };
  if (Value value = convert(&operation)) {
    mapping.map(operation.getResult(0), value);
    return;
  }
  // Arguments of blocks that have been copied before, for another element, would be left out.
  operation.walk([&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      mapping.erase(argument);
  });
  Operation *copy = b.clone(operation, mapping);
  SmallVector<Operation *> nested;
  copy->walk([&](Operation *inner) {
    if (inner != copy && isa<linalg::IndexOp, tensor::ExtractOp, tensor::DimOp>(inner))
      nested.push_back(inner);
  });
  for (Operation *inner : nested) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(inner);
    if (Value value = convert(inner)) {
      inner->getResult(0).replaceAllUsesWith(value);
      inner->erase();
    }
  }
}

SmallVector<Value> KernelWriter::inlineBody(linalg::GenericOp generic, ValueRange loops,
                                            ValueRange arguments) {
  Block *body = generic.getBody();
  for (auto [argument, value] : llvm::zip(body->getArguments(), arguments))
    if (value)
      mapping.map(argument, value);
  for (Operation &operation : body->without_terminator())
    inlineOperation(operation, loops);
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(scalar(value));
  return results;
}

Value KernelWriter::bodyValue(linalg::GenericOp generic, ValueRange loops, Value value) {
  llvm::SmallPtrSet<Operation *, 8> needed{value.getDefiningOp()};
  for (Operation &operation : llvm::reverse(generic.getBody()->without_terminator()))
    if (needed.contains(&operation))
      for (Value operand : operation.getOperands())
        needed.insert(operand.getDefiningOp());
  for (Operation &operation : generic.getBody()->without_terminator())
    if (needed.contains(&operation))
      inlineOperation(operation, loops);
  return scalar(value);
}

/// Operations of the dispatch's body on scalars go to the function's start, in order.
void KernelWriter::copyScalarOps() {
  for (Operation &operation : op.getBodyBlock()->without_terminator()) {
    if (llvm::any_of(operation.getResultTypes(), llvm::IsaPred<TensorType>))
      continue;
    if (Value value = replacement(&operation))
      mapping.map(operation.getResult(0), value);
    else
      b.clone(operation, mapping);
  }
}

//===-- Several elements at once --------------------------------------------------------------===//

int64_t laneDimension(RankedTensorType type) {
  int64_t dim = std::max<int64_t>(type.getRank() - 1, 0);
  while (dim > 0 && type.getDimSize(dim) == 1)
    --dim;
  return type.getRank() != 0 && type.getDimSize(dim) != 1 ? dim : type.getRank() - 1;
}

SmallVector<Value> KernelWriter::elements(Value tensor, ValueRange indices, int64_t lanes) {
  return once(tensor, indices, lanes, [&] { return computeElements(tensor, indices, lanes); });
}

SmallVector<Value> KernelWriter::forLanes(int64_t lanes, function_ref<Value(int64_t)> compute) {
  SmallVector<Value> result;
  for (int64_t i = 0; i < lanes; ++i) {
    llvm::SaveAndRestore current(lane, i);
    result.push_back(compute(i));
  }
  return result;
}

SmallVector<Value> KernelWriter::computeElements(Value tensor, ValueRange indices, int64_t lanes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t along = laneDimension(type);
  auto apart = [&] {
    return forLanes(lanes, [&](int64_t lane) {
      SmallVector<Value> place(indices);
      if (along >= 0)
        place[along] = add(place[along], constant(lane));
      return element(tensor, place);
    });
  };
  if (lanes == 1 || kept.count(tensor) || type.getRank() == 0)
    return apart();
  if (memory(tensor)) {
    int64_t row = type.getDimSize(along);
    Value size = this->size(tensor, along);
    bool assume = ShapedType::isDynamic(row) && assumed && isa<BlockArgument>(size);
    if ((ShapedType::isDynamic(row) ? !assume : row % lanes != 0) ||
        type.getElementType().isInteger(1)) // has no vectors in memory
      return apart();
    if (assume)
      assumed->insert(size);
    Address at = address(tensor, indices);
    return load(at.memory, at.offset, lanes);
  }
  if (std::optional<Moved> moved = movedTogether(tensor.getDefiningOp(), indices, lanes))
    return elements(moved->source, moved->indices, lanes);
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  if (pad && !lowPad(pad, along)) // all of the lanes are inside, or none
    return inlinePad(pad, indices, lanes);
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() != 0)
    return apart();
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  AffineMap outputMap = generic.getMatchingIndexingMap(generic.getDpsInitOperand(number));
  auto lastDim = dyn_cast<AffineDimExpr>(outputMap.getResult(along));
  if (!lastDim || llvm::any_of(generic.getDpsInitsMutable(), [&](OpOperand &out) {
        return generic.payloadUsesValueFromOperand(&out);
      }))
    return apart();
  unsigned last = lastDim.getPosition();
  SmallVector<Value> loops = loopsOf(outputMap, indices);
  SmallVector<SmallVector<Value>> scalars = inputs(generic, loops, last, lanes);
  return forLanes(lanes, [&](int64_t lane) {
    SmallVector<Value> arguments, shifted(loops);
    shifted[last] = add(loops[last], constant(lane));
    for (auto &values : scalars)
      arguments.push_back(values.empty() ? Value() : values[lane]);
    return inlineBody(generic, shifted, arguments)[number];
  });
}

SmallVector<SmallVector<Value>> KernelWriter::inputs(linalg::GenericOp generic,
                                                     ArrayRef<Value> loops, unsigned dim,
                                                     int64_t lanes) {
  SmallVector<SmallVector<Value>> result;
  for (OpOperand *operand : generic.getDpsInputOperands())
    result.push_back(generic.payloadUsesValueFromOperand(operand)
                         ? input(operand, loops, dim, lanes)
                         : SmallVector<Value>());
  return result;
}

SmallVector<Value> KernelWriter::input(OpOperand *operand, ArrayRef<Value> loops, unsigned dim,
                                       int64_t lanes) {
  auto type = dyn_cast<RankedTensorType>(operand->get().getType());
  if (!type)
    return SmallVector<Value>(lanes, scalar(operand->get()));
  // The same for all lanes, consecutive, or neither.
  AffineMap map = cast<linalg::GenericOp>(operand->getOwner()).getMatchingIndexingMap(operand);
  if (!map.isFunctionOfDim(dim))
    return SmallVector<Value>(lanes, element(operand->get(), apply(map, loops)));
  int64_t along = laneDimension(type);
  // Whether lanes follow one another, from a multiple of them on.
  auto follow = [&] {
    std::optional<SmallVector<int64_t>> factors = factorsOf(map, along);
    return factors && std::exchange((*factors)[dim], 0) == 1 &&
           llvm::all_of(*factors, [&](int64_t factor) { return factor % lanes == 0; });
  };
  auto isElsewhere = [&](int64_t place) {
    return place != along && map.getResult(place).isFunctionOfDim(dim);
  };
  if (follow() && llvm::none_of(llvm::seq<int64_t>(0, map.getNumResults()), isElsewhere))
    return elements(operand->get(), apply(map, loops), lanes);
  return forLanes(lanes, [&](int64_t lane) {
    SmallVector<Value> shifted(loops);
    shifted[dim] = add(loops[dim], constant(lane));
    return element(operand->get(), apply(map, shifted));
  });
}

llvm::SetVector<Value> KernelWriter::assumingMultiples(function_ref<void()> emit) {
  llvm::SetVector<Value> used;
  assumed = &used;
  emit();
  assumed = nullptr;
  return used;
}

} // namespace cameo
