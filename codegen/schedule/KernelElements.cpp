// Pulling elements of a dispatch's description into a kernel.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/KernelEmitter.h"

#include "dialects/kernel/form/Movement.h"
#include "runtime/mutant.h"

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

SmallVector<Value> KernelWriter::once(Value tensor, ValueRange indices, Lanes lanes,
                                      function_ref<SmallVector<Value>()> compute) {
  size_t hash = llvm::hash_combine(lanes.count, lanes.along,
                                   llvm::hash_combine_range(indices.begin(), indices.end()));
  std::pair<Value, size_t> key(tensor, hash);
  if (auto found = computed.find(key); found != computed.end())
    for (Computed &known : found->second)
      if (static_cast<int64_t>(known.values.size()) == lanes.count && known.along == lanes.along &&
          llvm::equal(known.indices, indices) &&
          llvm::all_of(known.values, [&](Value value) { return isVisible(value); }))
        return known.values;
  SmallVector<Value> result = compute();
  computed[key].push_back({SmallVector<Value>(indices), result, lanes.along});
  return result;
}

Value KernelWriter::element(Value tensor, ValueRange indices) {
  auto known = kept.find(tensor);
  if (known != kept.end())
    return known->second(indices);
  return once(tensor, indices, {},
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
    return inlineGeneric(cast<OpResult>(tensor), indices, {})[0];
  if (auto fill = dyn_cast<linalg::FillOp>(definition))
    return scalar(fill.getInputs()[0]);
  if (auto pad = dyn_cast<tensor::PadOp>(definition))
    return inlinePad(pad, indices, {})[0];
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

/// The loop along which a result's lanes are, if they are along one.
static std::optional<unsigned> laneLoop(linalg::GenericOp generic, unsigned result, int64_t along) {
  if (along < 0)
    return std::nullopt;
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(result));
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(along));
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

SmallVector<Value> KernelWriter::inlineGeneric(OpResult result, ValueRange indices, Lanes lanes) {
  auto generic = cast<linalg::GenericOp>(result.getOwner());
  if (generic.getNumReductionLoops() == 0)
    return inlineLoops(result, indices, lanes);
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
  return inlineLoops(result, indices, lanes);
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

SmallVector<Value> KernelWriter::inlineLoops(OpResult result, ValueRange indices, Lanes lanes) {
  auto generic = cast<linalg::GenericOp>(result.getOwner());
  unsigned number = result.getResultNumber();
  AffineMap outputMap = generic.getMatchingIndexingMap(generic.getDpsInitOperand(number));
  SmallVector<Value> loops = loopsOf(outputMap, indices);

  // Nested loops over the reduction dimensions, innermost last, carrying every output's lanes.
  SmallVector<SmallVector<Value>> carried;
  for (OpOperand &out : generic.getDpsInitsMutable())
    if (!generic.payloadUsesValueFromOperand(&out))
      carried.push_back({});
    else if (lanes.count == 1)
      carried.push_back({element(out.get(), indices)});
    else
      carried.push_back(elementsAlong(out.get(), indices, lanes));
  SmallVector<unsigned> reductions;
  generic.getReductionDims(reductions);
  SmallVector<Value> extents;
  if (!reductions.empty())
    extents = loopSizes(generic);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> state;
  for (ArrayRef<Value> values : carried)
    llvm::append_range(state, values);
  SmallVector<scf::ForOp> nest;
  for (unsigned dim : reductions) {
    auto loop = b.create<scf::ForOp>(loc, constant(0), extents[dim], constant(1), state);
    nest.push_back(loop);
    loops[dim] = loop.getInductionVar();
    state.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    b.setInsertionPointToStart(loop.getBody());
  }
  std::optional<unsigned> along;
  SmallVector<SmallVector<Value>> inputs;
  if (lanes.count > 1) {
    along = laneLoop(generic, number, lanes.along);
    inputs = this->inputs(generic, loops, *along, lanes.count);
  } else {
    for (Value input : inputsAt(generic, loops))
      inputs.push_back({input});
  }
  SmallVector<SmallVector<Value>> yielded(carried.size());
  (void)forLanes(lanes.count, [&](int64_t lane) {
    SmallVector<Value> arguments, shifted(loops);
    if (along)
      shifted[*along] = add(loops[*along], constant(lane));
    for (ArrayRef<Value> values : inputs)
      arguments.push_back(values.empty() ? Value() : values[lane]);
    auto current = state.begin();
    for (ArrayRef<Value> values : carried) {
      arguments.push_back(values.empty() ? Value() : current[lane]);
      current += values.size();
    }
    SmallVector<Value> results = inlineBody(generic, shifted, arguments);
    for (auto [values, value] : llvm::zip(yielded, results))
      values.push_back(value);
    return results[number];
  });
  if (nest.empty())
    return yielded[number];
  SmallVector<Value> next;
  size_t mine = 0;
  for (auto [index, values] : llvm::enumerate(carried)) {
    if (index == number)
      mine = next.size();
    if (!values.empty())
      llvm::append_range(next, yielded[index]);
  }
  for (scf::ForOp loop : llvm::reverse(nest)) {
    b.setInsertionPointToEnd(loop.getBody());
    b.create<scf::YieldOp>(loc, next);
    next.assign(loop.getResults().begin(), loop.getResults().end());
  }
  return SmallVector<Value>(ArrayRef(next).slice(mine, lanes.count));
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

SmallVector<Value> KernelWriter::inlinePad(tensor::PadOp pad, ValueRange indices, Lanes lanes) {
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
    return lanes.count == 1 ? SmallVector<Value>{element(pad.getSource(), shifted)}
                            : elementsAlong(pad.getSource(), shifted, lanes);
  };
  if (!inside)
    return source();
  SmallVector<Value> otherwise(lanes.count, padding(pad));
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
    // A single value has no groups: the dimensions that it comes of have one element.
    int64_t rank = collapse.getSrcType().getRank();
    result.indices.assign(CAMEO_MUTANT(46, rank, indices.empty() ? 0 : rank), constant(0));
    for (auto [index, group] : llvm::zip(indices, collapse.getReassociationIndices()))
      for (auto [dim, part] : llvm::zip(group, delinearize(index, sizesOf(result.source, group))))
        result.indices[dim] = part;
  } else {
    auto expand = cast<tensor::ExpandShapeOp>(definition);
    for (const ReassociationIndices &group : expand.getReassociationIndices())
      result.indices.push_back(linearize(indices.slice(group.front(), group.size()),
                                         sizesOf(expand.getResult(), group)));
  }
  return result;
}

/// The lanes of what is reshaped, cut out or cast, if they are together there as they are in the
/// result.
static std::optional<Lanes> lanesBelow(Operation *definition, Lanes lanes) {
  if (isa_and_present<tensor::CastOp>(definition))
    return lanes;
  if (!isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(
          definition))
    return std::nullopt;
  auto from = cast<RankedTensorType>(definition->getOperand(0).getType());
  auto to = cast<RankedTensorType>(definition->getResult(0).getType());
  if (lanes.along != laneDimension(to))
    return std::nullopt;
  bool together;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(definition)) {
    int64_t offset = slice.getStaticOffsets().back();
    together = !slice.getDroppedDims().test(from.getRank() - 1) &&
               to.getDimSize(lanes.along) != 1 && lanes.along + 1 == to.getRank() &&
               slice.getStaticStrides().back() == 1 && !ShapedType::isDynamic(offset) &&
               offset % lanes.count == 0;
  } else {
    // The last dimension of the two that is part of the other's.
    RankedTensorType last = isa<tensor::ExpandShapeOp>(definition) ? to : from;
    int64_t part = last.getDimSize(laneDimension(last));
    together = part > 1 && part % lanes.count == 0;
  }
  return together ? std::optional(Lanes{lanes.count, laneDimension(from)}) : std::nullopt;
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
  return inlineBlock(generic.getBody(), loops, arguments);
}

SmallVector<Value> KernelWriter::inlineBlock(Block *body, ValueRange loops, ValueRange arguments) {
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

/// The lanes of an operand along loop `dim`: nothing where they do not follow one another there from
/// a multiple of them on.
static std::optional<Lanes> lanesAt(AffineMap map, unsigned dim, int64_t count) {
  std::optional<Lanes> lanes;
  for (int64_t place = 0; place < map.getNumResults(); ++place) {
    if (!map.getResult(place).isFunctionOfDim(dim))
      continue;
    std::optional<SmallVector<int64_t>> factors = factorsOf(map, place);
    if (lanes || !factors || std::exchange((*factors)[dim], 0) != 1 ||
        llvm::any_of(*factors, [&](int64_t factor) { return factor % count != 0; }))
      return std::nullopt;
    lanes = Lanes{count, place};
  }
  return lanes;
}

/// Whether memory is loaded in vectors for these neighbours.
static bool loadsVectors(Value tensor, Lanes lanes);

/// The same for lanes along loop `dim` of some input.
static bool loadsVectors(linalg::GenericOp generic, unsigned dim, int64_t count) {
  return llvm::any_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
    std::optional<Lanes> lanes = lanesAt(generic.getMatchingIndexingMap(input), dim, count);
    return lanes && loadsVectors(input->get(), *lanes);
  });
}

static bool loadsVectors(Value tensor, Lanes lanes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (isa<BlockArgument>(tensor))
    return lanes.along == laneDimension(type) && !type.isDynamicDim(lanes.along) &&
           type.getDimSize(lanes.along) % lanes.count == 0 && !type.getElementType().isInteger(1);
  Operation *definition = tensor.getDefiningOp();
  if (std::optional<Lanes> below = lanesBelow(definition, lanes))
    return loadsVectors(definition->getOperand(0), *below);
  if (auto pad = dyn_cast_if_present<tensor::PadOp>(definition))
    return !pad.getPaddedDims().test(lanes.along) && loadsVectors(pad.getSource(), lanes);
  auto generic = dyn_cast_if_present<linalg::GenericOp>(definition);
  if (!generic)
    return false;
  std::optional<unsigned> loop =
      laneLoop(generic, cast<OpResult>(tensor).getResultNumber(), lanes.along);
  return loop && loadsVectors(generic, *loop, lanes.count);
}

/// Whether an element of the tensor is computed by a loop.
static bool hasLoop(Value tensor) {
  SmallVector<Value> stack{tensor};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!stack.empty()) {
    Operation *definition = stack.pop_back_val().getDefiningOp();
    if (!definition || !seen.insert(definition).second)
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(definition);
    if (isa<kernel::LineOpInterface, kernel::ChooseOp>(definition) ||
        (generic && generic.getNumReductionLoops() != 0))
      return true;
    llvm::append_range(stack, definition->getOperands());
    definition->walk([&](tensor::ExtractOp extract) { stack.push_back(extract.getTensor()); });
  }
  return false;
}

static bool loopsTogether(Value tensor, Lanes lanes) {
  if (!hasLoop(tensor))
    return true;
  Operation *definition = tensor.getDefiningOp();
  if (std::optional<Lanes> below = lanesBelow(definition, lanes))
    return loopsTogether(definition->getOperand(0), *below);
  auto generic = dyn_cast<linalg::GenericOp>(definition);
  if (!generic)
    return false;
  std::optional<unsigned> loop =
      laneLoop(generic, cast<OpResult>(tensor).getResultNumber(), lanes.along);
  bool reduces = generic.getNumReductionLoops() != 0, extracts = false;
  if (!loop || (reduces && !loadsVectors(generic, *loop, lanes.count)))
    return false;
  generic.getRegion().walk(
      [&](tensor::ExtractOp extract) { extracts |= hasLoop(extract.getTensor()); });
  return !extracts && llvm::all_of(generic->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    if (!isa<RankedTensorType>(operand.get().getType()) || !map.isFunctionOfDim(*loop) ||
        !hasLoop(operand.get()))
      return true; // one for all, or without a loop
    std::optional<Lanes> below = lanesAt(map, *loop, lanes.count);
    return below && loopsTogether(operand.get(), *below);
  });
}

bool loopsTogether(Value tensor, int64_t lanes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return loopsTogether(tensor, Lanes{lanes, laneDimension(type)});
}

SmallVector<Value> KernelWriter::elements(Value tensor, ValueRange indices, int64_t lanes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return elementsAlong(tensor, indices, {lanes, laneDimension(type)});
}

SmallVector<Value> KernelWriter::elementsAlong(Value tensor, ValueRange indices, Lanes lanes) {
  return once(tensor, indices, lanes, [&] { return computeElements(tensor, indices, lanes); });
}

void KernelWriter::forEachLane(int64_t lanes, function_ref<void(int64_t)> visit) {
  // One by itself is for whichever is being computed.
  if (lanes == 1)
    return visit(0);
  for (int64_t i = 0; i < lanes; ++i) {
    llvm::SaveAndRestore current(lane, i);
    visit(i);
  }
}

SmallVector<Value> KernelWriter::forLanes(int64_t lanes, function_ref<Value(int64_t)> compute) {
  SmallVector<Value> result;
  forEachLane(lanes, [&](int64_t lane) { result.push_back(compute(lane)); });
  return result;
}

SmallVector<Value> KernelWriter::computeElements(Value tensor, ValueRange indices, Lanes lanes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto apart = [&] {
    return forLanes(lanes.count, [&](int64_t lane) {
      SmallVector<Value> place(indices);
      if (lanes.along >= 0)
        place[lanes.along] = add(place[lanes.along], constant(lane));
      return element(tensor, place);
    });
  };
  if (lanes.count == 1 || kept.count(tensor) || type.getRank() == 0)
    return apart();
  if (memory(tensor)) {
    int64_t row = type.getDimSize(lanes.along);
    Value size = this->size(tensor, lanes.along);
    bool assume = ShapedType::isDynamic(row) && assumed && isa<BlockArgument>(size);
    if (lanes.along != laneDimension(type) ||
        (ShapedType::isDynamic(row) ? !assume : row % lanes.count != 0) ||
        type.getElementType().isInteger(1)) // has no vectors in memory
      return apart();
    if (assume)
      assumed->insert(size);
    Address at = address(tensor, indices);
    return load(at.memory, at.offset, lanes.count);
  }
  Operation *definition = tensor.getDefiningOp();
  if (std::optional<Lanes> below = lanesBelow(definition, lanes)) {
    Moved from = moved(definition, indices);
    return elementsAlong(from.source, from.indices, *below);
  }
  auto pad = dyn_cast_if_present<tensor::PadOp>(definition);
  if (pad && !lowPad(pad, lanes.along)) // all of the lanes are inside, or none
    return inlinePad(pad, indices, lanes);
  auto generic = dyn_cast_if_present<linalg::GenericOp>(definition);
  if (!generic)
    return apart();
  std::optional<unsigned> loop =
      laneLoop(generic, cast<OpResult>(tensor).getResultNumber(), lanes.along);
  bool reduces = generic.getNumReductionLoops() != 0;
  bool readsFormer = llvm::any_of(generic.getDpsInitsMutable(), [&](OpOperand &out) {
    return generic.payloadUsesValueFromOperand(&out);
  });
  if (!loop || (reduces ? !loadsVectors(generic, *loop, lanes.count) : readsFormer))
    return apart();
  return inlineGeneric(cast<OpResult>(tensor), indices, lanes);
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
  if (std::optional<Lanes> there = lanesAt(map, dim, lanes))
    return elementsAlong(operand->get(), apply(map, loops), *there);
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
