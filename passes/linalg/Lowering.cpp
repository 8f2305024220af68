// The Lowering class: operands, host values and the dispatches operators are lowered to.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Lowering.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace cameo {

Lowering::Lowering(ModuleOp module) : module(module), b(module.getContext()), plan(b, refusals) {}

//===-- Types ---------------------------------------------------------------------------------===//

Type Lowering::signless(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

Type Lowering::elementType(Value onnxValue) {
  return cast<TensorType>(onnxValue.getType()).getElementType();
}

RankedTensorType Lowering::tensorType(const Sizes &sizes, Type elementType) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes) {
    auto attribute = dyn_cast_if_present<IntegerAttr>(dyn_cast<Attribute>(size));
    shape.push_back(attribute ? attribute.getInt() : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, signless(elementType));
}

Value Lowering::empty(OpBuilder &builder, Location loc, const Sizes &sizes, Type elementType) {
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      dynamic.push_back(value);
  return builder.create<tensor::EmptyOp>(loc, tensorType(sizes, elementType), dynamic);
}

//===-- Operands and results ------------------------------------------------------------------===//

bool Lowering::absent(Operation *op, unsigned index) {
  return index >= op->getNumOperands() || onnx::isAbsent(op->getOperand(index));
}

Lowered Lowering::operand(Operation *op, unsigned index) { return lowered(op->getOperand(index)); }

Lowered Lowering::lowered(Value onnxValue) {
  auto found = values.find(onnxValue);
  if (found != values.end())
    return found->second;
  // Constants join the pool with their first use on the device: most of the small ones have none.
  ElementsAttr value = onnx::constantValue(onnxValue);
  assert(value && "operators are lowered after their operands");
  Lowered result;
  result.tensor = constant(onnxValue.getLoc(), value);
  result.elementType = value.getElementType();
  for (int64_t size : value.getShapedType().getShape())
    result.sizes.push_back(plan.index(size));
  values[onnxValue] = result;
  return result;
}

std::optional<Lowered> Lowering::tryLowered(Value onnxValue) {
  auto found = values.find(onnxValue);
  return found == values.end() ? std::nullopt : std::optional<Lowered>(found->second);
}

void Lowering::define(Operation *op, unsigned result, Lowered lowered) {
  assert(lowered.tensor.getType() == tensorType(lowered.sizes, lowered.elementType));
  values[op->getResult(result)] = std::move(lowered);
}

void Lowering::define(Operation *op, unsigned result, Value tensor, const Sizes &sizes,
                      Type elementType) {
  define(op, result, Lowered{tensor, sizes, elementType});
}

//===-- Host values ---------------------------------------------------------------------------===//

static FailureOr<Sizes> hostConstant(OpBuilder &b, ElementsAttr value, int64_t limit) {
  int64_t count = value.getNumElements();
  if (count > limit || !value.getElementType().isIntOrFloat())
    return failure();
  auto bytes = onnx::constantBytes(value);
  if (!bytes)
    return failure();
  onnx::ConstantBytes all = bytes->expanded(count);
  Type type = value.getElementType();
  unsigned width = type.isInteger(1) ? 1 : type.getIntOrFloatBitWidth() / 8;
  if (width == 0)
    return failure();
  Sizes result;
  for (int64_t i = 0; i < count; ++i) {
    const char *at = all.get().data() + i * width;
    uint64_t raw = 0;
    std::memcpy(&raw, at, width);
    if (auto real = dyn_cast<FloatType>(type)) {
      APFloat number(real.getFloatSemantics(), APInt(width * 8, raw));
      bool lost;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      result.push_back(b.getF64FloatAttr(number.convertToDouble()));
    } else if (type.isUnsignedInteger() || type.isInteger(1)) {
      result.push_back(b.getIndexAttr(static_cast<int64_t>(raw)));
    } else {
      result.push_back(b.getIndexAttr(llvm::SignExtend64(raw, width * 8)));
    }
  }
  return result;
}

/// Reads an input of the model on the host: only what is shaped like a list of sizes.
FailureOr<Sizes> Lowering::readInput(BlockArgument argument, int64_t limit) {
  auto found = values.find(argument);
  if (found == values.end() || found->second.rank() > 2)
    return failure();
  const Lowered &input = found->second;
  auto type = cast<RankedTensorType>(input.tensor.getType());
  if (!type.hasStaticShape() || type.getNumElements() > std::min<int64_t>(limit, kMostRead))
    return failure();
  bool real = isa<FloatType>(type.getElementType());
  Sizes result;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value position = plan.value(plan.index(i));
    Value read = b.create<rt::ReadOp>(plan.location(), real ? Type(b.getF64Type()) : b.getI64Type(),
                                      input.tensor, position);
    if (!real)
      read = b.create<arith::IndexCastOp>(plan.location(), b.getIndexType(), read);
    result.push_back(read);
  }
  return result;
}

/// The operator's host function; null where it has none.
static HostFunction hostFunction(Value value) {
  Operation *op = value.getDefiningOp();
  const OperatorTable &table = supportedOperators();
  auto entry = op ? table.find(op->getName().stripDialect()) : table.end();
  return entry == table.end() ? nullptr : entry->second.host;
}

bool Lowering::isHostValueKnown(Value value, int64_t limit) const {
  if (hostCache.count(value))
    return true;
  auto failure = hostFailures.find(value);
  return failure != hostFailures.end() && limit <= failure->second;
}

/// What a value is, if what it is made from was asked for before.
void Lowering::evaluateOnHost(Value value, int64_t limit) {
  FailureOr<Sizes> result = failure();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool small = !type || !type.hasStaticShape() || type.getNumElements() <= limit;
  if (ElementsAttr constant = onnx::constantValue(value))
    result = hostConstant(b, constant, limit);
  else if (auto argument = dyn_cast<BlockArgument>(value))
    result = readInput(argument, limit);
  else if (HostFunction host = hostFunction(value); host && small)
    result = host(value.getDefiningOp(), cast<OpResult>(value).getResultNumber(), *this);
  if (succeeded(result) && static_cast<int64_t>(result->size()) <= limit)
    hostCache[value] = *result;
  else
    hostFailures[value] = limit;
}

FailureOr<Sizes> Lowering::tryHostValues(Value onnxValue, int64_t limit) {
  // In order, without recursion: there may be any number of operators in a row.
  SmallVector<Value> pending{onnxValue};
  llvm::DenseSet<Value> entered;
  while (!pending.empty()) {
    Value value = pending.back();
    size_t before = pending.size();
    // The operands of these two need not be known for their results to be.
    bool ofShape = value.getDefiningOp<onnx::ShapeOp>() || value.getDefiningOp<onnx::SizeOp>();
    if (!isHostValueKnown(value, limit) && hostFunction(value) && !ofShape &&
        entered.insert(value).second)
      for (Value operand : value.getDefiningOp()->getOperands())
        if (!onnx::isAbsent(operand) && !isHostValueKnown(operand, limit))
          pending.push_back(operand);
    if (pending.size() > before)
      continue;
    pending.pop_back();
    if (!isHostValueKnown(value, limit))
      evaluateOnHost(value, limit);
  }
  auto known = hostCache.find(onnxValue);
  if (known == hostCache.end() || static_cast<int64_t>(known->second.size()) > limit)
    return failure();
  return known->second;
}

//===-- Tensors of the plan -------------------------------------------------------------------===//

Value Lowering::constant(Location loc, ElementsAttr value) {
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
  }
  return b.create<rt::GetConstantOp>(loc, value.getShapedType(), symbol);
}

Lowered Lowering::reshape(Location loc, const Lowered &source, const Sizes &sizes) {
  RankedTensorType type = tensorType(sizes, source.elementType);
  if (type == source.tensor.getType() && sizes == source.sizes)
    return source;
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes)
    if (auto value = dyn_cast<Value>(size))
      dynamic.push_back(value);
  Value view = b.create<rt::ReshapeOp>(loc, type, source.tensor, dynamic);
  return {view, sizes, source.elementType};
}

Value Lowering::fromHost(Location loc, ArrayRef<OpFoldResult> elements, const Sizes &sizes,
                         Type elementType) {
  SmallVector<Value> scalars;
  for (OpFoldResult element : elements)
    scalars.push_back(plan.value(element));
  return b.create<rt::FromScalarsOp>(loc, tensorType(sizes, elementType), scalars);
}

//===-- Dispatches ----------------------------------------------------------------------------===//

SmallVector<Value> Lowering::dispatch(Location loc, ArrayRef<OutputSpec> outputs,
                                      BodyFunction body) {
  SmallVector<Value> inits;
  for (const OutputSpec &output : outputs)
    inits.push_back(empty(b, loc, output.sizes, output.elementType));

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
    else
      (isa<RankedTensorType>(outside.getType()) ? inputs : scalars).push_back(outside);
  }
  auto op = b.create<kernel::DispatchOp>(loc, inputs, scalars, inits);
  // The op's block has the arguments; the body moves in.
  Block *target = op.getBodyBlock();
  for (auto [outside, argument] : llvm::zip(inputs, op.getInputArgs()))
    mapping.map(outside, argument);
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

Value Lowering::elementwise(Location loc, ArrayRef<Lowered> inputs, const Sizes &sizes,
                            Type elementType, ScalarFunction fn) {
  OutputSpec output{sizes, elementType};
  return dispatch(loc, output, [&](OpBuilder &inner, Location at, ValueRange inits) {
    int64_t rank = sizes.size();
    SmallVector<AffineMap> maps;
    SmallVector<Value> operands;
    // Sizes that are 1 or not at run time: the index is chosen in the body.
    SmallVector<std::pair<unsigned, SmallVector<bool>>> chosen;
    for (auto [number, input] : llvm::enumerate(inputs)) {
      SmallVector<AffineExpr> exprs;
      SmallVector<bool> open(input.rank(), false);
      for (int64_t i = 0; i < input.rank(); ++i) {
        int64_t dim = rank - input.rank() + i;
        OpFoldResult size = input.sizes[i];
        bool one = isConstantIntValue(size, 1);
        bool same = size == sizes[dim];
        open[i] = !one && !same && !isa<Attribute>(size);
        exprs.push_back(one && !same ? inner.getAffineConstantExpr(0)
                                     : inner.getAffineDimExpr(dim));
      }
      if (llvm::is_contained(open, true)) {
        chosen.push_back({static_cast<unsigned>(number), open});
        continue;
      }
      maps.push_back(AffineMap::get(rank, 0, exprs, inner.getContext()));
      operands.push_back(input.tensor);
    }
    maps.push_back(inner.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    auto generic = inner.create<linalg::GenericOp>(
        at, inits.getTypes(), operands, inits, maps, iterators,
        [&](OpBuilder &nested, Location place, ValueRange arguments) {
          SmallVector<Value> scalars;
          unsigned next = 0;
          for (auto [number, input] : llvm::enumerate(inputs)) {
            const auto *choice = llvm::find_if(
                chosen, [number = number](const auto &entry) { return entry.first == number; });
            if (choice == chosen.end()) {
              scalars.push_back(arguments[next++]);
              continue;
            }
            SmallVector<Value> indices;
            Value zero = indexConstant(nested, place, 0), one = indexConstant(nested, place, 1);
            for (int64_t i = 0; i < input.rank(); ++i) {
              int64_t dim = rank - input.rank() + i;
              Value at = nested.create<linalg::IndexOp>(place, dim);
              if (isConstantIntValue(input.sizes[i], 1) && input.sizes[i] != sizes[dim])
                at = zero;
              else if (choice->second[i])
                at = nested.create<arith::SelectOp>(
                    place,
                    nested.create<arith::CmpIOp>(place, arith::CmpIPredicate::eq,
                                                 bodyValue(nested, place, input.sizes[i]), one),
                    zero, at);
              indices.push_back(at);
            }
            scalars.push_back(nested.create<tensor::ExtractOp>(place, input.tensor, indices));
          }
          nested.create<linalg::YieldOp>(place, fn(nested, place, scalars));
        });
    return SmallVector<Value>(generic.getResults());
  })[0];
}

Value Lowering::compute(Location loc, const Sizes &sizes, Type elementType, IndexFunction fn) {
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

Value indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return b.create<arith::ConstantIndexOp>(loc, value);
}

Value bodyValue(OpBuilder &b, Location loc, OpFoldResult ofr) {
  if (auto value = dyn_cast<Value>(ofr))
    return value;
  return b.create<arith::ConstantOp>(loc, cast<TypedAttr>(cast<Attribute>(ofr)));
}

} // namespace cameo
