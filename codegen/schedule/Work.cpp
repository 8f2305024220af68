// Counting the arithmetic and the bytes of descriptions: numbers where sizes are known, else
// arithmetic of the plan. In doubles, which cannot overflow: a report must not make a run fail.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Work.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {

/// Operations an element's body does on elements: not on indices, no comparisons, no conversions.
static int64_t arithmeticOf(Region &body) {
  int64_t count = 0;
  body.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
        op->getResult(0).getType().isIndex() ||
        isa<arith::CmpFOp, arith::CmpIOp, arith::SelectOp, CastOpInterface>(op))
      return;
    if (isa<math::FmaOp>(op))
      count += 2;
    else if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      count += 1;
  });
  return count;
}

namespace {

/// A number, or a value of the plan, or unknown.
struct Amount {
  double known = 0;
  Value value = {};
  bool unknown = false;
};

/// Arithmetic on amounts, emitted into the plan where it has to be.
class SymbolicCosts {
public:
  SymbolicCosts(OpBuilder &host, Location loc, PlanSize planSize)
      : host(host), loc(loc), planSize(planSize) {}

  Amount add(Amount a, Amount b) {
    return a.unknown || b.unknown ? Amount{0, {}, true}
           : !a.value && !b.value ? Amount{a.known + b.known}
           : isZero(a)            ? b
           : isZero(b)            ? a
                                  : of(host.create<arith::AddFOp>(loc, valueOf(a), valueOf(b)));
  }
  Amount multiply(Amount a, Amount b) {
    return isZero(a) || isZero(b)   ? Amount{}
           : a.unknown || b.unknown ? Amount{0, {}, true}
           : !a.value && !b.value   ? Amount{a.known * b.known}
           : isOne(a)               ? b
           : isOne(b)               ? a
                                    : of(host.create<arith::MulFOp>(loc, valueOf(a), valueOf(b)));
  }
  Amount least(Amount a, Amount b) {
    return a.unknown || b.unknown ? Amount{0, {}, true}
           : !a.value && !b.value ? Amount{std::min(a.known, b.known)}
           : a.value == b.value   ? a
                                  : of(host.create<arith::MinimumFOp>(loc, valueOf(a), valueOf(b)));
  }
  Value valueOf(Amount amount) {
    return amount.value ? amount.value
                        : host.create<arith::ConstantOp>(loc, host.getF64FloatAttr(amount.known))
                              .getResult();
  }
  Amount divide(Amount a, Amount b) {
    return a.unknown || b.unknown ? Amount{0, {}, true}
           : !a.value && !b.value ? Amount{a.known / b.known}
                                  : of(host.create<arith::DivFOp>(loc, valueOf(a), valueOf(b)));
  }
  /// A number of the plan.
  Amount numberOf(Value index) {
    if (std::optional<int64_t> known = getConstantIntValue(index))
      return {double(*known)};
    Value &number = numbers[index];
    if (!number)
      number = host.create<arith::SIToFPOp>(
          loc, host.getF64Type(), host.create<arith::IndexCastOp>(loc, host.getI64Type(), index));
    return of(number);
  }
  Amount size(Value tensor, int64_t dim) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(dim))
      return {double(type.getDimSize(dim))};
    Value index = planSize(tensor, dim);
    return index ? numberOf(index) : Amount{0, {}, true};
  }
  Amount elements(Value tensor) {
    Amount count{1};
    for (int64_t dim = 0, rank = cast<RankedTensorType>(tensor.getType()).getRank(); dim < rank;
         ++dim)
      count = multiply(count, size(tensor, dim));
    return count;
  }
  /// How often a generic's body runs.
  Amount iterations(linalg::GenericOp generic) {
    Amount count{1};
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    for (auto [loop, range] : llvm::enumerate(generic.getStaticLoopRanges())) {
      Amount extent{double(range)};
      if (ShapedType::isDynamic(range)) {
        extent = {0, {}, true};
        AffineExpr wanted = getAffineDimExpr(loop, generic.getContext());
        for (auto [map, operand] : llvm::zip(maps, generic->getOperands()))
          for (auto [dim, result] : llvm::enumerate(map.getResults()))
            if (extent.unknown && result == wanted)
              extent = size(operand, dim);
      }
      count = multiply(count, extent);
    }
    return count;
  }

private:
  static Amount of(Value value) { return {0, value}; }
  static bool isZero(const Amount &amount) {
    return !amount.unknown && !amount.value && amount.known == 0;
  }
  static bool isOne(const Amount &amount) {
    return !amount.unknown && !amount.value && amount.known == 1;
  }

  OpBuilder &host;
  Location loc;
  PlanSize planSize;
  llvm::DenseMap<Value, Value> numbers; // sizes as doubles
};

/// As they lie in memory: of four bits two a byte.
double elementBytes(Value tensor) {
  Type type = getElementTypeOrSelf(tensor);
  return type.isInteger(1) ? 1 : type.getIntOrFloatBitWidth() / 8.0;
}

/// Of all steps: the products, and what cells do on elements.
Amount operationsOf(kernel::RecurrenceOp recurrence, SymbolicCosts &amounts) {
  double ofUnit = 2.0 * double(recurrence.getGates() * recurrence.getUnits());
  for (Region &cell : recurrence.getCells())
    ofUnit += double(arithmeticOf(cell));
  Amount count{ofUnit * double(recurrence.getUnits() * recurrence.getDirections())};
  for (int64_t dim : {0, 1})
    count = amounts.multiply(count, amounts.size(recurrence.getInput(), dim));
  return count;
}

} // namespace

void annotateCost(OpBuilder &host, rt::LaunchOp launch, kernel::DispatchOp op,
                  ArrayRef<Described> computed, PlanSize size) {
  SymbolicCosts amounts(host, op.getLoc(), size);
  Amount flops, bytes, again;
  llvm::SetVector<Operation *> described;
  llvm::MapVector<Value, Amount> asked; // elements of the dispatch's operands, counted as asked for
  for (auto [value, parts] : computed) {
    if (Operation *definition = value.getDefiningOp())
      described.insert(definition);
    else
      asked[value] = amounts.elements(value);
    auto insert = value.getDefiningOp<kernel::InsertOp>();
    Value written = insert ? insert.getValues() : value;
    bytes = amounts.add(bytes, amounts.multiply(amounts.elements(written),
                                                {double(parts) * elementBytes(written)}));
  }
  for (size_t i = 0; i < described.size(); ++i) { // grows meanwhile
    Operation *definition = described[i];
    auto generic = dyn_cast<linalg::GenericOp>(definition);
    Amount count; // of elements that it asks each of its operands for, where that is known
    if (generic) {
      count = amounts.iterations(generic);
      flops =
          amounts.add(flops, amounts.multiply({double(arithmeticOf(generic.getRegion()))}, count));
    } else if (auto line = dyn_cast<kernel::LineOpInterface>(definition)) {
      flops = amounts.add(flops, amounts.elements(line->getResult(0)));
    } else if (auto recurrence = dyn_cast<kernel::RecurrenceOp>(definition)) {
      flops = amounts.add(flops, operationsOf(recurrence, amounts));
      // Each launch reads the weights.
      again = amounts.multiply(amounts.elements(recurrence.getWeights()),
                               {elementBytes(recurrence.getWeights())});
    }
    auto choose = dyn_cast<kernel::ChooseOp>(definition);
    auto read = [&](Value value) {
      // How many conflicts are asked for, only a run knows.
      if (!isa<RankedTensorType>(value.getType()) || (choose && value == choose.getConflicts()))
        return;
      if (Operation *source = value.getDefiningOp()) {
        described.insert(source);
      } else if (cast<BlockArgument>(value).getOwner() == op.getBodyBlock()) {
        Amount &total = asked[value];
        total = amounts.add(total, generic ? count : amounts.elements(value));
      }
    };
    // What is written as a whole is not read: a destination gives its shape only.
    auto style = dyn_cast<DestinationStyleOpInterface>(definition);
    for (OpOperand &operand : definition->getOpOperands()) {
      bool onlyShape = isa<tensor::DimOp>(definition) ||
                       (style && style.isDpsInit(&operand) &&
                        !(generic && generic.payloadUsesValueFromOperand(&operand)));
      if (!onlyShape)
        read(operand.get());
    }
    if (generic)
      generic.getRegion().walk([&](tensor::ExtractOp extract) { read(extract.getTensor()); });
  }
  for (auto &[value, count] : asked)
    bytes = amounts.add(bytes, amounts.multiply(amounts.least(count, amounts.elements(value)),
                                                {elementBytes(value)}));
  if (Value times = launch.getTimes()) {
    Amount count = amounts.numberOf(times);
    flops = amounts.divide(flops, count);
    bytes = amounts.divide(amounts.add(bytes, amounts.multiply(again, amounts.add(count, {-1}))),
                           count);
  }
  if (flops.unknown || bytes.unknown)
    return;
  if (!flops.value && !bytes.value) {
    setDeclaredAttr<kernel::KernelDialect::FlopsAttrHelper>(
        launch, host.getI64IntegerAttr(int64_t(flops.known)));
    setDeclaredAttr<kernel::KernelDialect::BytesAttrHelper>(
        launch, host.getI64IntegerAttr(int64_t(bytes.known)));
    return;
  }
  launch.getFlopsMutable().assign(amounts.valueOf(flops));
  launch.getBytesMutable().assign(amounts.valueOf(bytes));
}

} // namespace cameo
