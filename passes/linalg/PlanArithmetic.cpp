// Plan arithmetic of a Lowering: folding and value numbering of sizes and host values.
//
// Equal expressions must give the same SSA value, because equality of sizes decides whether a
// broadcast needs a run-time check; so every operation goes through one table of expressions.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Lowering.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace cameo {

static std::optional<int64_t> integer(OpFoldResult ofr) {
  if (auto attribute = dyn_cast_if_present<IntegerAttr>(dyn_cast<Attribute>(ofr)))
    return attribute.getInt();
  return std::nullopt;
}

static std::optional<double> real(OpFoldResult ofr) {
  if (auto attribute = dyn_cast_if_present<FloatAttr>(dyn_cast<Attribute>(ofr)))
    return attribute.getValueAsDouble();
  return std::nullopt;
}

OpFoldResult Lowering::index(int64_t value) { return b.getIndexAttr(value); }
OpFoldResult Lowering::floating(double value) { return b.getF64FloatAttr(value); }

Value Lowering::value(OpFoldResult ofr) {
  if (auto value = dyn_cast<Value>(ofr))
    return value;
  auto attribute = cast<TypedAttr>(cast<Attribute>(ofr));
  std::string key;
  llvm::raw_string_ostream(key) << "const " << attribute;
  Value &known = expressions[key];
  if (!known)
    known = b.create<arith::ConstantOp>(hostLoc, attribute);
  return known;
}

/// Folds two known integers; nothing where the result is not defined.
static std::optional<int64_t> foldIntegers(StringRef name, int64_t x, int64_t y) {
  int64_t result;
  if (name == "arith.addi")
    return __builtin_add_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (name == "arith.subi")
    return __builtin_sub_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (name == "arith.muli")
    return __builtin_mul_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (name == "arith.minsi")
    return std::min(x, y);
  if (name == "arith.maxsi")
    return std::max(x, y);
  if (y == 0 || (x == INT64_MIN && y == -1))
    return std::nullopt;
  int64_t quotient = x / y, remainder = x % y;
  if (name == "arith.divsi")
    return quotient;
  if (name == "arith.remsi")
    return remainder;
  if (name == "arith.floordivsi")
    return quotient - (remainder != 0 && (remainder < 0) != (y < 0));
  if (name == "arith.ceildivsi")
    return quotient + (remainder != 0 && (remainder < 0) == (y < 0));
  return std::nullopt;
}

static std::optional<double> foldReals(StringRef name, double x, double y) {
  if (name == "arith.addf")
    return x + y;
  if (name == "arith.subf")
    return x - y;
  if (name == "arith.mulf")
    return x * y;
  if (name == "arith.divf")
    return x / y;
  return std::nullopt;
}

OpFoldResult Lowering::binary(StringRef name, OpFoldResult a, OpFoldResult c) {
  if (auto x = integer(a))
    if (auto y = integer(c))
      if (auto folded = foldIntegers(name, *x, *y))
        return index(*folded);
  if (auto x = real(a))
    if (auto y = real(c))
      if (auto folded = foldReals(name, *x, *y))
        return floating(*folded);
  bool commutes = name == "arith.addi" || name == "arith.muli" || name == "arith.minsi" ||
                  name == "arith.maxsi";
  if (commutes && integer(a))
    std::swap(a, c);
  if (auto y = integer(c)) {
    if (*y == 0 && (name == "arith.addi" || name == "arith.subi"))
      return a;
    if (*y == 1 && (name == "arith.muli" || name == "arith.divsi" || name == "arith.floordivsi" ||
                    name == "arith.ceildivsi"))
      return a;
    if (*y == 0 && name == "arith.muli")
      return index(0);
  }
  if (a == c) {
    if (name == "arith.subi" && a)
      return index(0);
    if (name == "arith.minsi" || name == "arith.maxsi")
      return a;
  }
  Value left = value(a), right = value(c);
  // (a * b) / b, which shapes computed from sizes are full of.
  if (name == "arith.divsi" || name == "arith.floordivsi")
    if (auto product = left.getDefiningOp<arith::MulIOp>()) {
      if (product.getRhs() == right)
        return product.getLhs();
      if (product.getLhs() == right)
        return product.getRhs();
    }
  // The key alone is ordered by addresses, which differ from run to run.
  void *first = left.getAsOpaquePointer(), *second = right.getAsOpaquePointer();
  if (commutes && first > second)
    std::swap(first, second);
  std::string key = llvm::formatv("{0} {1} {2}", name, first, second);
  Value &known = expressions[key];
  if (!known) {
    OperationState state(hostLoc, name);
    state.addOperands({left, right});
    state.addTypes(left.getType());
    known = b.create(state)->getResult(0);
  }
  return known;
}

OpFoldResult Lowering::add(OpFoldResult a, OpFoldResult c) { return binary("arith.addi", a, c); }
OpFoldResult Lowering::sub(OpFoldResult a, OpFoldResult c) { return binary("arith.subi", a, c); }
OpFoldResult Lowering::mul(OpFoldResult a, OpFoldResult c) { return binary("arith.muli", a, c); }
OpFoldResult Lowering::min(OpFoldResult a, OpFoldResult c) { return binary("arith.minsi", a, c); }
OpFoldResult Lowering::max(OpFoldResult a, OpFoldResult c) { return binary("arith.maxsi", a, c); }
OpFoldResult Lowering::floorDiv(OpFoldResult a, OpFoldResult c) {
  return binary("arith.floordivsi", a, c);
}
OpFoldResult Lowering::ceilDiv(OpFoldResult a, OpFoldResult c) {
  return binary("arith.ceildivsi", a, c);
}
OpFoldResult Lowering::divTowardsZero(OpFoldResult a, OpFoldResult c) {
  return binary("arith.divsi", a, c);
}
OpFoldResult Lowering::rem(OpFoldResult a, OpFoldResult c) { return binary("arith.remsi", a, c); }
OpFoldResult Lowering::fadd(OpFoldResult a, OpFoldResult c) { return binary("arith.addf", a, c); }
OpFoldResult Lowering::fsub(OpFoldResult a, OpFoldResult c) { return binary("arith.subf", a, c); }
OpFoldResult Lowering::fmul(OpFoldResult a, OpFoldResult c) { return binary("arith.mulf", a, c); }
OpFoldResult Lowering::fdiv(OpFoldResult a, OpFoldResult c) { return binary("arith.divf", a, c); }

OpFoldResult Lowering::ffloor(OpFoldResult a) {
  if (auto x = real(a))
    return floating(std::floor(*x));
  return b.create<math::FloorOp>(hostLoc, value(a)).getResult();
}

OpFoldResult Lowering::fceil(OpFoldResult a) {
  if (auto x = real(a))
    return floating(std::ceil(*x));
  return b.create<math::CeilOp>(hostLoc, value(a)).getResult();
}

OpFoldResult Lowering::toFloat(OpFoldResult a) {
  if (auto x = integer(a))
    return floating(static_cast<double>(*x));
  Value wide = b.create<arith::IndexCastOp>(hostLoc, b.getI64Type(), value(a));
  return b.create<arith::SIToFPOp>(hostLoc, b.getF64Type(), wide).getResult();
}

OpFoldResult Lowering::toInteger(OpFoldResult a) {
  if (auto x = real(a); x && std::abs(*x) < 9.0e18)
    return index(static_cast<int64_t>(*x));
  Value wide = b.create<arith::FPToSIOp>(hostLoc, b.getI64Type(), value(a));
  return b.create<arith::IndexCastOp>(hostLoc, b.getIndexType(), wide).getResult();
}

/// Compares integers or floats; the i1 becomes an index, so that all host values are of one kind.
OpFoldResult Lowering::compare(arith::CmpIPredicate predicate, OpFoldResult a, OpFoldResult c) {
  bool less = predicate == arith::CmpIPredicate::slt;
  if (auto x = integer(a))
    if (auto y = integer(c))
      return index(less ? *x < *y : *x == *y);
  if (auto x = real(a))
    if (auto y = real(c))
      return index(less ? *x < *y : *x == *y);
  if (a == c)
    return index(less ? 0 : 1);
  Value left = value(a), right = value(c);
  std::string key =
      llvm::formatv("cmp{0} {1} {2}", less, left.getAsOpaquePointer(), right.getAsOpaquePointer());
  Value &known = expressions[key];
  if (!known) {
    Value bit;
    if (isa<FloatType>(left.getType()))
      bit = b.create<arith::CmpFOp>(
          hostLoc, less ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OEQ, left, right);
    else
      bit = b.create<arith::CmpIOp>(hostLoc, predicate, left, right);
    known = b.create<arith::IndexCastUIOp>(hostLoc, b.getIndexType(), bit);
  }
  return known;
}

OpFoldResult Lowering::equal(OpFoldResult a, OpFoldResult c) {
  return compare(arith::CmpIPredicate::eq, a, c);
}

OpFoldResult Lowering::less(OpFoldResult a, OpFoldResult c) {
  return compare(arith::CmpIPredicate::slt, a, c);
}

OpFoldResult Lowering::select(OpFoldResult condition, OpFoldResult a, OpFoldResult c) {
  if (auto known = integer(condition))
    return *known ? a : c;
  if (a == c)
    return a;
  Value zero = value(index(0));
  Value bit = b.create<arith::CmpIOp>(hostLoc, arith::CmpIPredicate::ne, value(condition), zero);
  return b.create<arith::SelectOp>(hostLoc, bit, value(a), value(c)).getResult();
}

OpFoldResult Lowering::product(ArrayRef<OpFoldResult> sizes) {
  // Known factors first: one multiplication by their product.
  OpFoldResult known = index(1), result = index(1);
  for (OpFoldResult size : sizes)
    if (integer(size))
      known = mul(known, size);
  for (OpFoldResult size : sizes)
    if (!integer(size))
      result = mul(result, size);
  return mul(result, known);
}

LogicalResult Lowering::check(Operation *op, OpFoldResult condition, const Twine &message,
                              OpFoldResult a, OpFoldResult c) {
  if (auto known = integer(condition)) {
    if (*known)
      return success();
    std::string text = message.str();
    auto fill = [&](StringRef mark, OpFoldResult with) {
      size_t at = text.find(mark.str());
      if (at != std::string::npos && with && integer(with))
        text.replace(at, mark.size(), std::to_string(*integer(with)));
    };
    fill("{0}", a);
    fill("{1}", c);
    return unsupported(op, text);
  }
  SmallVector<Value> operands;
  std::string text = message.str();
  for (OpFoldResult operand : {a, c}) {
    if (!operand)
      continue;
    std::string mark = "{" + std::to_string(operands.size()) + "}";
    operands.push_back(value(operand));
    StringAttr symbol = symbolOf.lookup(operands.back());
    if (size_t at = text.find(mark); symbol && at != std::string::npos)
      text.insert(at + mark.size(), " ('" + symbol.str() + "')");
  }
  Value bit =
      b.create<arith::CmpIOp>(hostLoc, arith::CmpIPredicate::ne, value(condition), value(index(0)));
  std::string name;
  if (auto loc = op->getLoc()->findInstanceOf<NameLoc>())
    name = "node '" + loc.getName().str() + "': ";
  b.create<rt::CheckOp>(hostLoc, bit, b.getStringAttr(name + text), operands);
  return success();
}

FailureOr<Sizes> Lowering::broadcast(Operation *op, ArrayRef<Sizes> shapes) {
  size_t rank = 0;
  for (const Sizes &shape : shapes)
    rank = std::max(rank, shape.size());
  Sizes result(rank, index(1));
  for (size_t i = 0; i < rank; ++i) {
    for (const Sizes &shape : shapes) {
      if (i + shape.size() < rank)
        continue;
      OpFoldResult size = shape[i + shape.size() - rank], &sofar = result[i];
      if (size == sofar || integer(size) == 1)
        continue;
      if (integer(sofar) == 1) {
        sofar = size;
        continue;
      }
      // Unknown against known: the larger one, if either is 1 or both are equal.
      OpFoldResult merged = select(equal(sofar, index(1)), size, sofar);
      OpFoldResult good = select(equal(size, index(1)), index(1), equal(size, merged));
      if (failed(check(op, good, "sizes {0} and {1} cannot be broadcast together", sofar, size)))
        return failure();
      sofar = integer(size) ? size : integer(sofar) ? sofar : merged;
    }
  }
  return result;
}

} // namespace cameo
