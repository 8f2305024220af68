// Composing orders of dimensions into descriptions.
//
//   kernel.dispatch ins(%x : tensor<1x64x7x7xf32>) outs(..)    x read at (n, c, y, x)
//     ==>
//   kernel.dispatch ins(%x : tensor<1x7x7x64xf32>) outs(..)    x read at (n, y, x, c)
//
// Values inside are not memory. Their orders are chosen so that elementwise work on a result walks
// all that it reads as it walks the result, which is how forms know it.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/PermuteDispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cameo {

bool keepsElements(ArrayRef<unsigned> order, RankedTensorType type) {
  SmallVector<unsigned> moving;
  for (unsigned dim : order)
    if (type.getDimSize(dim) != 1)
      moving.push_back(dim);
  return llvm::is_sorted(moving);
}

RankedTensorType permuted(RankedTensorType type, ArrayRef<unsigned> order) {
  if (order.empty())
    return type;
  SmallVector<int64_t> shape;
  for (unsigned dim : order)
    shape.push_back(type.getDimSize(dim));
  return RankedTensorType::get(shape, type.getElementType());
}

int64_t placeOfDim(int64_t dim, ArrayRef<unsigned> order) {
  return order.empty() ? dim : llvm::find(order, dim) - order.begin();
}

SmallVector<Value> permuteDynamic(ValueRange values, RankedTensorType type,
                                  ArrayRef<unsigned> order) {
  if (order.empty())
    return llvm::to_vector(values);
  SmallVector<Value> result;
  for (unsigned dim : order)
    if (type.isDynamicDim(dim))
      result.push_back(values[type.getDynamicDimIndex(dim)]);
  return result;
}

template <typename Element>
static SmallVector<Element> permutedList(ArrayRef<Element> list, ArrayRef<unsigned> order) {
  if (order.empty())
    return SmallVector<Element>(list);
  SmallVector<Element> result;
  for (unsigned dim : order)
    result.push_back(list[dim]);
  return result;
}

/// The order of dimensions of which `groups` become one each, given that of what they become.
static DimOrder apart(ArrayRef<unsigned> order, ArrayRef<ReassociationIndices> groups) {
  DimOrder result;
  for (unsigned group : order)
    llvm::append_range(result, groups[group]);
  return result;
}

/// The opposite; empty where dimensions of a group are not together any more.
static DimOrder together(ArrayRef<unsigned> order, ArrayRef<ReassociationIndices> groups) {
  DimOrder result;
  for (ArrayRef<unsigned> rest = order; !rest.empty();) {
    auto group = llvm::find_if(groups, [&](const ReassociationIndices &dims) {
      return !dims.empty() && dims.front() == rest.front();
    });
    if (group == groups.end() || !llvm::equal(*group, rest.take_front(group->size())))
      return {};
    result.push_back(group - groups.begin());
    rest = rest.drop_front(group->size());
  }
  return result;
}

namespace {

/// An operation whose result has the elements of its source, perhaps with others around them, along
/// the same dimensions or with some of them joined or split.
struct Movement {
  Value source;
  /// Of a reshape, none of a single value; nothing: along the same dimensions.
  std::optional<SmallVector<ReassociationIndices>> groups = {};
  bool splits = false;

  DimOrder orderOfResult(ArrayRef<unsigned> order) const {
    return !groups || order.empty() ? DimOrder(order)
           : splits                 ? apart(order, *groups)
                                    : together(order, *groups);
  }
  DimOrder orderOfSource(ArrayRef<unsigned> order) const {
    return !groups || order.empty() ? DimOrder(order)
           : splits                 ? together(order, *groups)
                                    : apart(order, *groups);
  }
};

class Permuter {
public:
  Permuter(kernel::DispatchOp op, ArrayRef<DimOrder> inputs, ArrayRef<DimOrder> results)
      : op(op), block(*op.getBodyBlock()), b(op.getContext()), results(results) {
    for (auto [argument, order] : llvm::zip(op.getInputArgs(), inputs))
      setOrder(argument, order);
    for (auto [argument, order] : llvm::zip(op.getInitArgs(), results))
      setOrder(argument, order);
    // Types as they were say how large the dimensions of a value are until it is rewritten.
    findWanted();
    chooseOrders();
  }

  void run() {
    for (BlockArgument argument : block.getArguments())
      setType(argument);
    for (Operation &inner : llvm::make_early_inc_range(block.without_terminator()))
      rewrite(&inner);
    Operation *yield = block.getTerminator();
    b.setInsertionPoint(yield);
    for (auto [operand, order, result] :
         llvm::zip(yield->getOpOperands(), results, op.getResults())) {
      operand.set(inOrder(operand.get(), order));
      result.setType(permuted(cast<RankedTensorType>(result.getType()), order));
    }
    SmallVector<Operation *> operations;
    for (Operation &inner : block.without_terminator())
      operations.push_back(&inner);
    for (Operation *inner : llvm::reverse(operations))
      if (isOpTriviallyDead(inner))
        inner->erase();
  }

private:
  //===-- Choosing ----------------------------------------------------------------------------===//

  ArrayRef<unsigned> orderOf(Value value) const {
    auto known = orders.find(value);
    return known == orders.end() ? ArrayRef<unsigned>() : known->second;
  }
  void setOrder(Value value, ArrayRef<unsigned> order) {
    if (!llvm::is_sorted(order))
      orders[value] = DimOrder(order);
  }

  /// Dimensions that `map` gives indices of, in the order of the loops that they are indexed by;
  /// those without a loop stay behind the one before them.
  static DimOrder sorted(AffineMap map, ArrayRef<unsigned> placeOfLoop) {
    SmallVector<unsigned> key;
    for (AffineExpr expr : map.getResults()) {
      unsigned place = key.empty() ? 0 : key.back();
      for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
        if (expr.isFunctionOfDim(loop)) {
          place = placeOfLoop[loop];
          break;
        }
      key.push_back(place);
    }
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, map.getNumResults()));
    llvm::sort(order,
               [&](unsigned x, unsigned y) { return std::pair(key[x], x) < std::pair(key[y], y); });
    return order;
  }

  /// Where an operand's elements are as `order` has them: by loop. Others come last, as they were.
  static SmallVector<unsigned> placesOfLoops(AffineMap map, ArrayRef<unsigned> order) {
    SmallVector<unsigned> places(map.getNumDims());
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop) {
      places[loop] = map.getNumResults() + loop;
      for (unsigned dim = map.getNumResults(); dim-- > 0;)
        if (map.getResult(dim).isFunctionOfDim(loop))
          places[loop] = placeOfDim(dim, order);
    }
    return places;
  }

  static std::optional<Movement> movementBy(Operation *inner) {
    if (auto pad = dyn_cast<tensor::PadOp>(inner); pad && pad.getConstantPaddingValue())
      return Movement{pad.getSource()};
    if (auto cast = dyn_cast<tensor::CastOp>(inner);
        cast && isa<RankedTensorType>(cast.getSource().getType()))
      return Movement{cast.getSource()};
    if (auto line = dyn_cast<kernel::LineOpInterface>(inner))
      return Movement{line.lineInput()};
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(inner);
        slice && slice.getType().getRank() == slice.getSourceType().getRank())
      return Movement{slice.getSource()};
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(inner))
      return Movement{expand.getSrc(), expand.getReassociationIndices(), true};
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(inner))
      return Movement{collapse.getSrc(), collapse.getReassociationIndices(), false};
    return std::nullopt;
  }

  /// Values that elementwise work on results reads are wanted as that walks them, those of steps of recurrent networks
  /// as they are.
  void findWanted() {
    for (auto [value, order] : llvm::zip(block.getTerminator()->getOperands(), results))
      if (value.getDefiningOp())
        wanted.try_emplace(value, order);
    for (Operation &inner : llvm::reverse(block.without_terminator())) {
      if (std::optional<Movement> moved = movementBy(&inner)) {
        auto known = wanted.find(inner.getResult(0));
        if (known != wanted.end() && moved->source.getDefiningOp())
          wanted.try_emplace(moved->source, moved->orderOfSource(known->second));
        continue;
      }
      if (isa<kernel::RecurrenceOp>(inner))
        for (Value operand : inner.getOperands())
          if (operand.getDefiningOp())
            wanted.try_emplace(operand);
      auto generic = dyn_cast<linalg::GenericOp>(inner);
      if (!generic || generic.getNumReductionLoops() != 0)
        continue;
      for (auto [number, result] : llvm::enumerate(generic.getResults())) {
        auto known = wanted.find(result);
        if (known == wanted.end())
          continue;
        DimOrder order = known->second;
        AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(number));
        SmallVector<unsigned> places = placesOfLoops(out, order);
        for (OpOperand *input : generic.getDpsInputOperands())
          if (AffineMap map = generic.getMatchingIndexingMap(input);
              input->get().getDefiningOp() && isa<RankedTensorType>(input->get().getType()) &&
              map.isProjectedPermutation(/*allowZeroInResults=*/true))
            wanted.try_emplace(input->get(), order.empty() ? DimOrder() : sorted(map, places));
        break;
      }
    }
  }

  static bool goesThroughResult(linalg::GenericOp generic, OpOperand *input) {
    SmallVector<unsigned> parallel;
    generic.getParallelDims(parallel);
    AffineMap map = generic.getMatchingIndexingMap(input);
    return llvm::all_of(parallel, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  }

  /// As wanted, else as what it is computed from.
  void chooseOrders() {
    for (Operation &inner : block.without_terminator()) {
      if (isa<linalg::FillOp>(inner)) {
        setOrder(inner.getResult(0), orderOf(cast<linalg::FillOp>(inner).getOutputs()[0]));
        continue;
      }
      if (std::optional<Movement> moved = movementBy(&inner)) {
        setOrder(inner.getResult(0), moved->orderOfResult(orderOf(moved->source)));
        continue;
      }
      auto generic = dyn_cast<linalg::GenericOp>(inner);
      if (!generic)
        continue;
      SmallVector<unsigned> places;
      for (OpOperand *input : generic.getDpsInputOperands())
        if (ArrayRef<unsigned> order = orderOf(input->get());
            !order.empty() && places.empty() && goesThroughResult(generic, input))
          places = placesOfLoops(generic.getMatchingIndexingMap(input), order);
      for (auto [number, result] : llvm::enumerate(generic.getResults())) {
        if (auto known = wanted.find(result); known != wanted.end())
          setOrder(result, known->second);
        else if (!places.empty())
          setOrder(result, sorted(generic.getMatchingIndexingMap(generic.getDpsInitOperand(number)),
                                  places));
      }
    }
  }

  //===-- Rewriting ---------------------------------------------------------------------------===//

  void setType(Value value) {
    if (ArrayRef<unsigned> order = orderOf(value); !order.empty())
      value.setType(permuted(cast<RankedTensorType>(value.getType()), order));
  }

  Value constant(int64_t value) { return b.create<arith::ConstantIndexOp>(op.getLoc(), value); }

  /// A size of what has been rewritten, by its dimension as it was.
  Value dynamicSize(Value tensor, unsigned dim) {
    while (auto fill = tensor.getDefiningOp<linalg::FillOp>())
      tensor = fill.getOutputs()[0];
    if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
      return empty.getDynamicSize(dim);
    return b.create<tensor::DimOp>(op.getLoc(), tensor, constant(placeOfDim(dim, orderOf(tensor))));
  }

  /// The type of what has been rewritten, as it was.
  RankedTensorType formerType(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    ArrayRef<unsigned> order = orderOf(value);
    if (order.empty())
      return type;
    SmallVector<int64_t> shape(order.size());
    for (auto [position, dim] : llvm::enumerate(order))
      shape[dim] = type.getDimSize(position);
    return RankedTensorType::get(shape, type.getElementType());
  }

  Value emptyLike(Value tensor, ArrayRef<unsigned> order) {
    RankedTensorType type = formerType(tensor);
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(dynamicSize(tensor, dim));
    return b.create<tensor::EmptyOp>(op.getLoc(), permuted(type, order),
                                     permuteDynamic(sizes, type, order));
  }

  /// A copy of the value in this order, or itself.
  Value inOrder(Value value, ArrayRef<unsigned> order) {
    DimOrder from(orderOf(value));
    if (ArrayRef(from) == order || (from.empty() && llvm::is_sorted(order)))
      return value;
    MLIRContext *context = b.getContext();
    Value init = emptyLike(value, order);
    unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
    SmallVector<AffineExpr> at;
    for (unsigned position = 0; position < rank; ++position)
      at.push_back(
          getAffineDimExpr(placeOfDim(from.empty() ? position : from[position], order), context));
    SmallVector<AffineMap> maps{AffineMap::get(rank, 0, at, context),
                                AffineMap::getMultiDimIdentityMap(rank, context)};
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    auto copy =
        b.create<linalg::GenericOp>(op.getLoc(), init.getType(), value, init, maps, iterators,
                                    [](OpBuilder &inner, Location loc, ValueRange arguments) {
                                      inner.create<linalg::YieldOp>(loc, arguments[0]);
                                    });
    setOrder(copy.getResult(0), order);
    return copy.getResult(0);
  }

  /// What takes the place of an operation's destination for a result in this order.
  Value destination(Value init, ArrayRef<unsigned> order, bool isRead) {
    if (orderOf(init) == order)
      return init;
    if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
      auto other = b.create<linalg::FillOp>(fill.getLoc(), fill.getInputs(),
                                            ValueRange(emptyLike(init, order)));
      setOrder(other.getResult(0), order);
      return other.getResult(0);
    }
    return isRead ? inOrder(init, order) : emptyLike(init, order);
  }

  void rewrite(Operation *inner) {
    b.setInsertionPoint(inner);
    inner->walk([&](Operation *asking) {
      if (auto dim = dyn_cast<tensor::DimOp>(asking); dim && !orderOf(dim.getSource()).empty()) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(asking);
        dim.getIndexMutable().set(
            constant(placeOfDim(*dim.getConstantIndex(), orderOf(dim.getSource()))));
      }
      if (auto extract = dyn_cast<tensor::ExtractOp>(asking))
        extract.getIndicesMutable().assign(permutedList<Value>(
            llvm::to_vector(extract.getIndices()), orderOf(extract.getTensor())));
    });
    if (isa<tensor::DimOp, tensor::ExtractOp, tensor::EmptyOp>(inner))
      return;
    if (auto generic = dyn_cast<linalg::GenericOp>(inner))
      return rewriteGeneric(generic);
    if (isa<linalg::FillOp>(inner))
      return setType(inner->getResult(0));
    std::optional<Movement> moved = movementBy(inner);
    if (moved && orderOf(moved->source).empty()) {
      if (auto line = dyn_cast<kernel::LineOpInterface>(inner))
        line.lineInit().set(destination(line.lineInit().get(), {}, /*isRead=*/false));
      return;
    }
    if (moved && !moved->orderOfResult(orderOf(moved->source)).empty())
      return rewriteMovement(inner, *moved);
    // Dimensions that are joined are apart, or the like.
    for (OpOperand &operand : inner->getOpOperands())
      if (!orderOf(operand.get()).empty())
        operand.set(inOrder(operand.get(), {}));
  }

  void rewriteMovement(Operation *inner, const Movement &moved) {
    Value result = inner->getResult(0);
    DimOrder from(orderOf(moved.source)), order = moved.orderOfResult(from);
    auto type = permuted(cast<RankedTensorType>(result.getType()), order);
    auto list = [&](ArrayRef<OpFoldResult> values) {
      return permutedList<OpFoldResult>(values, order);
    };
    Operation *replacement = inner;
    if (auto pad = dyn_cast<tensor::PadOp>(inner)) {
      Value padding = pad.getConstantPaddingValue();
      if (padding.getParentRegion() == &pad.getRegion())
        padding = b.clone(*padding.getDefiningOp())->getResult(0);
      replacement =
          b.create<tensor::PadOp>(pad.getLoc(), type, pad.getSource(), list(pad.getMixedLowPad()),
                                  list(pad.getMixedHighPad()), padding);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(inner)) {
      replacement = b.create<tensor::ExtractSliceOp>(
          slice.getLoc(), type, slice.getSource(), list(slice.getMixedOffsets()),
          list(slice.getMixedSizes()), list(slice.getMixedStrides()));
    } else if (moved.groups) {
      replacement = rewriteReshape(inner, moved, type, moved.splits ? from : order, list);
    } else {
      if (auto line = dyn_cast<kernel::LineOpInterface>(inner)) {
        line.lineInit().set(destination(line.lineInit().get(), order, /*isRead=*/false));
        line.setLineAxis(placeOfDim(line.lineAxis(), order));
      }
      result.setType(type);
    }
    if (replacement == inner)
      return;
    setOrder(replacement->getResult(0), order);
    result.replaceAllUsesWith(replacement->getResult(0));
    inner->erase();
  }

  /// `order` is that of the fewer dimensions.
  Operation *rewriteReshape(Operation *inner, const Movement &moved, RankedTensorType type,
                            ArrayRef<unsigned> order,
                            function_ref<SmallVector<OpFoldResult>(ArrayRef<OpFoldResult>)> list) {
    SmallVector<ReassociationIndices> groups;
    int64_t next = 0;
    for (unsigned group : order) {
      groups.emplace_back();
      for (size_t i = 0; i < (*moved.groups)[group].size(); ++i)
        groups.back().push_back(next++);
    }
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(inner))
      return b.create<tensor::ExpandShapeOp>(
          expand.getLoc(), type, expand.getSrc(), groups,
          list(getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), b)));
    return b.create<tensor::CollapseShapeOp>(inner->getLoc(), type, moved.source, groups);
  }

  void rewriteGeneric(linalg::GenericOp generic) {
    MLIRContext *context = b.getContext();
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    bool changes = false;
    auto compose = [&](OpOperand &operand, ArrayRef<unsigned> order) {
      AffineMap &map = maps[operand.getOperandNumber()];
      map = AffineMap::get(map.getNumDims(), 0, permutedList(map.getResults(), order), context);
      changes |= !order.empty();
    };
    for (OpOperand *input : generic.getDpsInputOperands())
      compose(*input, orderOf(input->get()));
    for (auto [number, result] : llvm::enumerate(generic.getResults())) {
      OpOperand *init = generic.getDpsInitOperand(number);
      DimOrder order(orderOf(result));
      compose(*init, order);
      if (orderOf(init->get()) != ArrayRef(order))
        init->set(destination(init->get(), order, generic.payloadUsesValueFromOperand(init)));
      setType(result);
    }
    if (!changes)
      return;
    generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
    if (!orderOf(generic.getResult(0)).empty())
      interchange(generic);
  }

  /// Has parallel loops go through the first result as it is stored.
  void interchange(linalg::GenericOp generic) {
    MLIRContext *context = b.getContext();
    SmallVector<utils::IteratorType> iterators = generic.getIteratorTypesArray();
    SmallVector<unsigned> loops; // parallel ones as they come
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    for (AffineExpr expr : out.getResults())
      for (unsigned loop = 0; loop < iterators.size(); ++loop)
        if (expr.isFunctionOfDim(loop) && iterators[loop] == utils::IteratorType::parallel &&
            !llvm::is_contained(loops, loop))
          loops.push_back(loop);
    for (unsigned loop = 0; loop < iterators.size(); ++loop)
      if (iterators[loop] == utils::IteratorType::parallel && !llvm::is_contained(loops, loop))
        loops.push_back(loop);
    SmallVector<unsigned> placeOf(iterators.size());
    SmallVector<AffineExpr> exprs(iterators.size());
    for (unsigned loop = 0, next = 0; loop < iterators.size(); ++loop) {
      unsigned old = iterators[loop] == utils::IteratorType::parallel ? loops[next++] : loop;
      placeOf[old] = loop;
      exprs[old] = getAffineDimExpr(loop, context);
    }
    // Parallel loops take the places of parallel loops, so that iterator types stay.
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    for (AffineMap &map : maps)
      map = map.replaceDimsAndSymbols(exprs, {}, iterators.size(), 0);
    generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
    generic.getRegion().walk([&](linalg::IndexOp index) { index.setDim(placeOf[index.getDim()]); });
  }

  kernel::DispatchOp op;
  Block &block;
  OpBuilder b;
  ArrayRef<DimOrder> results;
  llvm::DenseMap<Value, DimOrder> orders; // of values of the body; none: as they were
  llvm::DenseMap<Value, DimOrder> wanted;
};

} // namespace

void permuteDispatch(kernel::DispatchOp op, ArrayRef<DimOrder> inputs, ArrayRef<DimOrder> results) {
  Permuter(op, inputs, results).run();
}

} // namespace cameo
