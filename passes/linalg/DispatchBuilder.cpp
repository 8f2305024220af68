// Dispatches and tensors of the host plan.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/DispatchBuilder.h"

#include "passes/linalg/NarrowTypes.h"

using namespace mlir;

namespace cameo {

RankedTensorType tensorType(const Sizes &sizes, Type elementType) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes) {
    auto attribute = dyn_cast_if_present<IntegerAttr>(dyn_cast<Attribute>(size));
    shape.push_back(attribute ? attribute.getInt() : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, signless(elementType));
}

/// Those that are values of the plan.
static SmallVector<Value> dynamicSizes(const Sizes &sizes) {
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      dynamic.push_back(value);
  return dynamic;
}

Value emptyTensor(OpBuilder &builder, Location loc, const Sizes &sizes, Type elementType) {
  return builder.create<tensor::EmptyOp>(loc, tensorType(sizes, elementType), dynamicSizes(sizes));
}

//===-- Tensors of the plan -------------------------------------------------------------------===//

/// Signed integers of less than a byte as numbers in bytes; other constants as they are.
static ElementsAttr unpacked(ElementsAttr value) {
  Type element = value.getElementType();
  std::optional<onnx::ConstantBytes> bytes = onnx::constantBytes(value);
  if (!isa<IntegerType>(element) || element.isUnsignedInteger() || !packedBits(element) || !bytes)
    return value;
  auto type = RankedTensorType::get(value.getShapedType().getShape(), signless(element));
  unsigned spare = 8 - packedBits(element);
  std::vector<char> numbers;
  for (char byte : bytes->get())
    numbers.push_back(char(int8_t(uint8_t(byte) << spare) >> spare));
  return bytes->isSplat() ? onnx::makeSplat(type, numbers)
                          : onnx::makeConstant(type, "unpacked", numbers);
}

Value DispatchBuilder::constant(Location loc, ElementsAttr value) {
  value = unpacked(value);
  Type wanted = signless(value.getElementType());
  if (wanted != value.getElementType()) {
    auto type = RankedTensorType::get(value.getShapedType().getShape(), wanted);
    if (ElementsAttr large = onnx::largeConstantAs(type, value))
      value = large;
    else
      value =
          DenseElementsAttr::getFromRawBuffer(type, cast<DenseElementsAttr>(value).getRawData());
  }
  std::string &symbol = constants[value];
  if (symbol.empty()) {
    symbol = "w" + std::to_string(constants.size() - 1);
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    if (lastConstant) // in order of first use
      top.setInsertionPointAfter(lastConstant);
    lastConstant = top.create<rt::ConstantOp>(loc, symbol, value, IntegerAttr());
    if (auto dense = dyn_cast<DenseElementsAttr>(value); dense && dense.isSplat())
      splats[b.getStringAttr(symbol)] = dense.getSplatValue<TypedAttr>();
  }
  return b.create<rt::GetConstantOp>(loc, value.getShapedType(), symbol);
}

Value DispatchBuilder::fill(Location loc, const Sizes &sizes, Type elementType, TypedAttr value) {
  return dispatch(loc, OutputSpec{sizes, elementType},
                  [&](OpBuilder &inner, Location at, ValueRange inits) {
                    Value scalar = inner.create<arith::ConstantOp>(at, value);
                    auto fill = inner.create<linalg::FillOp>(at, scalar, inits[0]);
                    return SmallVector<Value>(fill.getResults());
                  })[0];
}

Lowered DispatchBuilder::reshape(Location loc, const Lowered &source, const Sizes &sizes) {
  RankedTensorType type = tensorType(sizes, source.elementType);
  if (type == source.tensor.getType() && sizes == source.sizes)
    return source;
  Value view = b.create<rt::ReshapeOp>(loc, type, source.tensor, dynamicSizes(sizes));
  return {view, sizes, source.elementType};
}

Lowered DispatchBuilder::concat(Location loc, ArrayRef<Lowered> parts, int64_t dim,
                                const Sizes &sizes) {
  Type elementType = parts.front().elementType;
  SmallVector<Value> tensors;
  for (const Lowered &part : parts)
    tensors.push_back(part.tensor);
  Value whole = b.create<rt::ConcatOp>(loc, tensorType(sizes, elementType), tensors, dim,
                                       dynamicSizes(sizes));
  return {whole, sizes, elementType};
}

Value DispatchBuilder::fromHost(Location loc, ArrayRef<OpFoldResult> elements, const Sizes &sizes,
                                Type elementType) {
  SmallVector<Value> scalars;
  for (OpFoldResult element : elements)
    scalars.push_back(plan.value(element));
  return b.create<rt::FromScalarsOp>(loc, tensorType(sizes, elementType), scalars);
}

//===-- Dispatches ----------------------------------------------------------------------------===//

/// Larger constants of equal elements are one element in the file. Smaller ones are weights like
/// others, which are packed, and read several at once.
static constexpr int64_t kMostSplatBytes = 64 << 10;

/// The element of a tensor of the plan that is a constant of equal ones, or a view of one.
TypedAttr DispatchBuilder::splatOf(Value tensor) const {
  while (auto view = tensor.getDefiningOp<rt::ReshapeOp>())
    tensor = view->getOperand(0);
  auto get = tensor.getDefiningOp<rt::GetConstantOp>();
  return get ? splats.lookup(get.getConstantAttr().getAttr()) : TypedAttr();
}

/// A loop without reductions reads equal elements as a number of its body.
static void scalarizeOperand(linalg::GenericOp generic, OpOperand &use, TypedAttr value) {
  unsigned number = use.getOperandNumber();
  OpBuilder b = OpBuilder::atBlockBegin(generic.getBody());
  generic.getBody()->getArgument(number).replaceAllUsesWith(
      b.create<arith::ConstantOp>(generic.getLoc(), value));
  generic.getBody()->eraseArgument(number);
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  maps.erase(maps.begin() + number);
  generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  generic.getInputsMutable().erase(number);
}

/// Products keep such operands, and windows and scans: they read memory, see `repeated`.
void DispatchBuilder::scalarizeSplats(Region &body) {
  SmallVector<std::pair<Operation *, Value>> reads;
  body.walk([&](Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!isa<tensor::ExtractOp>(op) &&
        !(generic && generic.getNumReductionLoops() == 0 && generic.hasPureTensorSemantics()))
      return;
    llvm::SmallSetVector<Value, 4> tensors(op->operand_begin(), op->operand_end());
    for (Value tensor : tensors)
      if (!body.isAncestor(tensor.getParentRegion()) && splatOf(tensor))
        reads.emplace_back(op, tensor);
  });
  for (auto [op, tensor] : reads) {
    TypedAttr value = splatOf(tensor);
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (int64_t i = generic.getNumDpsInputs(); i-- > 0;)
        if (OpOperand *use = generic.getDpsInputOperand(i); use->get() == tensor)
          scalarizeOperand(generic, *use, value);
      continue;
    }
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(b.create<arith::ConstantOp>(op->getLoc(), value));
    op->erase();
  }
}

bool DispatchBuilder::isLargeSplat(Value tensor, int64_t most) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  return splatOf(tensor) && type.hasStaticShape() &&
         type.getNumElements() * int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8)) > most;
}

/// One element as all of a tensor, which is read with strides of zero.
static Value repeated(OpBuilder &b, Location loc, Value element, RankedTensorType type) {
  MLIRContext *context = b.getContext();
  unsigned rank = type.getRank();
  SmallVector<AffineMap> maps{AffineMap::get(rank, 0, context),
                              AffineMap::getMultiDimIdentityMap(rank, context)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Value all = b.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
  auto generic = b.create<linalg::GenericOp>(loc, type, element, all, maps, loops,
                                             [](OpBuilder &body, Location at, ValueRange values) {
                                               body.create<linalg::YieldOp>(at, values.front());
                                             });
  return generic.getResult(0);
}

Value DispatchBuilder::inMemory(Value tensor, int64_t most) {
  if (!isLargeSplat(tensor, most))
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  TypedAttr value = splatOf(tensor);
  Value &filled = fills[tensor];
  if (!filled) {
    Sizes sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(plan.index(size));
    filled = fill(tensor.getLoc(), sizes, type.getElementType(), value);
  }
  return filled;
}

Value DispatchBuilder::withSizes(Value tensor, const Sizes &sizes) {
  RankedTensorType type = tensorType(sizes, getElementTypeOrSelf(tensor));
  if (tensor.getType() == type)
    return tensor;
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes)
    if (!getConstantIntValue(size))
      dynamic.push_back(plan.value(size));
  return b.create<rt::ReshapeOp>(tensor.getLoc(), type, tensor, dynamic);
}

SmallVector<Value> DispatchBuilder::dispatch(Location loc, ArrayRef<OutputSpec> outputs,
                                             BodyFunction body) {
  SmallVector<Value> inits;
  for (const OutputSpec &output : outputs)
    inits.push_back(emptyTensor(b, loc, output.sizes, output.elementType));

  // The body is first written into a region that sees the plan, then isolated from it.
  Region region;
  Block *block = new Block;
  region.push_back(block);
  OpBuilder inner(b.getContext());
  inner.setInsertionPointToStart(block);
  SmallVector<Value> destinations;
  for (Value init : inits)
    destinations.push_back(block->addArgument(init.getType(), loc));
  SmallVector<Value> results = body(inner, loc, destinations);
  inner.create<kernel::YieldOp>(loc, results);
  scalarizeSplats(region);

  llvm::SetVector<Value> captured;
  block->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Region *scope = operand.getParentRegion(); !region.isAncestor(scope))
        captured.insert(operand);
  });
  SmallVector<Value> inputs, scalars;
  IRMapping mapping;
  OpBuilder front(b.getContext());
  front.setInsertionPointToStart(block);
  for (Value outside : captured) {
    if (Operation *definition = outside.getDefiningOp();
        definition && definition->hasTrait<OpTrait::ConstantLike>())
      mapping.map(outside, front.clone(*definition)->getResult(0));
    else if (isa<RankedTensorType>(outside.getType()))
      inputs.push_back(outside);
    else
      scalars.push_back(outside);
  }
  SmallVector<Value> sources = llvm::map_to_vector(inputs, [&](Value input) -> Value {
    if (!isLargeSplat(input, kMostSplatBytes))
      return input;
    TypedAttr value = splatOf(input);
    return constant(
        input.getLoc(),
        DenseElementsAttr::get(RankedTensorType::get({}, value.getType()), Attribute(value)));
  });
  auto op = b.create<kernel::DispatchOp>(loc, sources, scalars, inits);
  // The op's block has the arguments; the body moves in.
  Block *target = op.getBodyBlock();
  OpBuilder start = OpBuilder::atBlockBegin(target);
  for (auto [outside, source, argument] : llvm::zip(inputs, sources, op.getInputArgs()))
    mapping.map(outside, source == outside ? Value(argument)
                                           : repeated(start, loc, argument,
                                                      cast<RankedTensorType>(outside.getType())));
  for (auto [outside, argument] : llvm::zip(scalars, op.getScalarArgs()))
    mapping.map(outside, argument);
  for (auto [destination, argument] : llvm::zip(destinations, op.getInitArgs()))
    destination.replaceAllUsesWith(argument);
  target->getOperations().splice(target->end(), block->getOperations());
  target->walk([&](Operation *nested) {
    for (OpOperand &use : nested->getOpOperands())
      if (Value replacement = mapping.lookupOrNull(use.get()))
        use.set(replacement);
  });
  // `region` still owns the emptied block.
  return llvm::to_vector(ValueRange(op.getResults()));
}

Value DispatchBuilder::update(Location loc, const Lowered &tensor,
                              function_ref<Value(OpBuilder &, Location, Value)> body) {
  Value before = inMemory(tensor.tensor);
  Value after = dispatch(loc, OutputSpec{tensor.sizes, tensor.elementType},
                         [&](OpBuilder &inner, Location at, ValueRange inits) {
                           return SmallVector<Value>{body(inner, at, inits[0])};
                         })[0];
  auto op = after.getDefiningOp<kernel::DispatchOp>();
  Operation *empty = op.getInits()[0].getDefiningOp();
  op.getInitsMutable().assign(before);
  empty->erase();
  return after;
}

namespace {
/// How an operand is read after broadcasting to `sizes`: by a map or, where a size may be 1 or not
/// at run time, at indices chosen in the body.
class BroadcastOperand {
public:
  BroadcastOperand(const Lowered &operand, const Sizes &sizes, const PlanSizes &plan)
      : operand(operand), sizes(sizes), plan(plan) {}

  bool isChosen() const {
    for (int64_t i = 0; i < operand.rank(); ++i)
      if (isOpen(i))
        return true;
    return false;
  }

  AffineMap map(Builder &b) const {
    SmallVector<AffineExpr> exprs;
    for (int64_t i = 0; i < operand.rank(); ++i)
      exprs.push_back(isRepeated(i) ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(dim(i)));
    return AffineMap::get(sizes.size(), 0, exprs, b.getContext());
  }

  Value read(OpBuilder &b, Location loc) const {
    SmallVector<Value> indices;
    Value zero = indexConstant(b, loc, 0), one = indexConstant(b, loc, 1);
    for (int64_t i = 0; i < operand.rank(); ++i) {
      Value at = b.create<linalg::IndexOp>(loc, dim(i));
      if (isRepeated(i))
        at = zero;
      else if (isOpen(i))
        at = b.create<arith::SelectOp>(loc,
                                       b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                                               bodyValue(b, loc, operand.sizes[i]),
                                                               one),
                                       zero, at);
      indices.push_back(at);
    }
    return b.create<tensor::ExtractOp>(loc, operand.tensor, indices);
  }

private:
  int64_t dim(int64_t i) const { return static_cast<int64_t>(sizes.size()) - operand.rank() + i; }
  bool isRepeated(int64_t i) const {
    return isConstantIntValue(operand.sizes[i], 1) && operand.sizes[i] != sizes[dim(i)];
  }
  /// 1 or the result's size, which is not known before run time.
  bool isOpen(int64_t i) const {
    return operand.sizes[i] != sizes[dim(i)] && !isa<Attribute>(operand.sizes[i]) &&
           !plan.isCapped(operand.sizes[i], sizes[dim(i)]);
  }

  const Lowered &operand;
  const Sizes &sizes;
  const PlanSizes &plan;
};
} // namespace

Value DispatchBuilder::elementwise(Location loc, ArrayRef<Lowered> inputs, const Sizes &sizes,
                                   Type elementType, ScalarFunction fn) {
  OutputSpec output{sizes, elementType};
  return dispatch(loc, output, [&](OpBuilder &inner, Location at, ValueRange inits) {
    SmallVector<AffineMap> maps;
    SmallVector<Value> mapped;
    for (const Lowered &input : inputs)
      if (BroadcastOperand operand(input, sizes, plan); !operand.isChosen()) {
        maps.push_back(operand.map(inner));
        mapped.push_back(input.tensor);
      }
    maps.push_back(inner.getMultiDimIdentityMap(sizes.size()));
    SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
    auto body = [&](OpBuilder &nested, Location place, ValueRange arguments) {
      SmallVector<Value> scalars;
      unsigned next = 0;
      for (const Lowered &input : inputs) {
        BroadcastOperand operand(input, sizes, plan);
        scalars.push_back(operand.isChosen() ? operand.read(nested, place) : arguments[next++]);
      }
      nested.create<linalg::YieldOp>(place, fn(nested, place, scalars));
    };
    auto generic =
        inner.create<linalg::GenericOp>(at, inits.getTypes(), mapped, inits, maps, iterators, body);
    return SmallVector<Value>(generic.getResults());
  })[0];
}

Value DispatchBuilder::compute(Location loc, const Sizes &sizes, Type elementType,
                               IndexFunction fn) {
  OutputSpec output{sizes, elementType};
  return dispatch(loc, output, [&](OpBuilder &inner, Location at, ValueRange inits) {
    int64_t rank = sizes.size();
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    auto generic = inner.create<linalg::GenericOp>(
        at, inits.getTypes(), ValueRange(), inits,
        ArrayRef<AffineMap>{inner.getMultiDimIdentityMap(rank)}, iterators,
        [&](OpBuilder &nested, Location place, ValueRange) {
          SmallVector<Value> indices;
          for (int64_t i = 0; i < rank; ++i)
            indices.push_back(nested.create<linalg::IndexOp>(place, i));
          nested.create<linalg::YieldOp>(place, fn(nested, place, indices));
        });
    return SmallVector<Value>(generic.getResults());
  })[0];
}

} // namespace cameo
