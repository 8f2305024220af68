// Conversions of integers of 4 and 8 bits to floats ==> bits of f16, two at once.
//
//   %a = arith.sitofp (bits 0 to 3 of %w) : i32 to f32
//   %b = arith.sitofp (bits 16 to 19 of %w) : i32 to f32
//   ==>
//   %p = (%w & 0x000f000f ^ 0x64086408 : vector<2xf16>) - 1032
//   %a = arith.extf %p[0], %b = arith.extf %p[1]
//
// An f16 from 1024 to 2047 has an integer in its lower ten bits, so that nothing is rounded; a sign
// becomes an offset of half the range. What is then done to both in the same way, and rounds as f16
// does, stays in pairs: zero points that are taken off, and products with scales of f16.
// A GPU converts integers at a quarter or less of the rate of such arithmetic.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace cameo {
#define GEN_PASS_DEF_REPLACEINTEGERCONVERSIONS
#include "codegen/Passes.h.inc"

namespace {

constexpr unsigned kWordBits = 32, kHalfBits = 16, kByteBits = 8;
/// An f16 of this value has an integer in its lower bits, which these are.
constexpr unsigned kMagic = 0x6400;
constexpr double kMagicValue = 1024;

/// Some bits of a word of 32 bits, and what they stand for.
struct Field {
  Value source;    // an i32, or a vector of bytes
  unsigned number; // of the word among those of the vector
  unsigned offset, bits;
  bool isSigned;
};

std::optional<uint64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getZExtValue())
                                                     : std::nullopt;
}

/// Of an element of bytes that were loaded at once.
std::optional<Field> byteOf(Value value) {
  Operation *extension = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension))
    return std::nullopt;
  auto extract = extension->getOperand(0).getDefiningOp<vector::ExtractOp>();
  if (!extract || extract.hasDynamicPosition() || extract.getStaticPosition().size() != 1)
    return std::nullopt;
  auto type = cast<VectorType>(extract.getVector().getType());
  if (!type.getElementType().isInteger(kByteBits) ||
      type.getNumElements() * kByteBits % kWordBits != 0)
    return std::nullopt;
  unsigned bit = extract.getStaticPosition()[0] * kByteBits;
  return Field{extract.getVector(), bit / kWordBits, bit % kWordBits, kByteBits,
               isa<arith::ExtSIOp>(extension)};
}

/// Of four bits, as cameo-expand-nibbles writes their extension.
std::optional<Field> nibbleOf(Value value) {
  constexpr uint64_t kNibble = 4, kUpper = kWordBits - kNibble;
  if (!value.getType().isInteger(kWordBits))
    return std::nullopt;
  Value shifted;
  bool isSigned = false;
  if (auto right = value.getDefiningOp<arith::ShRSIOp>()) {
    auto left = right.getLhs().getDefiningOp<arith::ShLIOp>();
    if (!left || constantOf(left.getRhs()) != kUpper || constantOf(right.getRhs()) != kUpper)
      return std::nullopt;
    shifted = left.getLhs(), isSigned = true;
  } else if (auto mask = value.getDefiningOp<arith::AndIOp>()) {
    if (constantOf(mask.getRhs()) != (1 << kNibble) - 1)
      return std::nullopt;
    shifted = mask.getLhs();
  } else {
    return std::nullopt;
  }
  Field field{shifted, 0, 0, kNibble, isSigned};
  if (auto shift = shifted.getDefiningOp<arith::ShRUIOp>())
    if (std::optional<uint64_t> offset = constantOf(shift.getRhs());
        offset && *offset % kNibble == 0 && *offset < kWordBits)
      field.source = shift.getLhs(), field.offset = *offset;
  return field;
}

std::optional<Field> fieldOf(Value value) {
  std::optional<Field> byte = byteOf(value);
  return byte ? byte : nibbleOf(value);
}

/// Whether it is from -256 to 255: differences of such numbers are exact in f16.
bool isNarrow(Value value) {
  Operation *definition = value.getDefiningOp();
  return fieldOf(value) ||
         (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(definition) &&
          definition->getOperand(0).getType().getIntOrFloatBitWidth() <= kByteBits);
}

/// A conversion to a float, of an integer that is not negative or is signed.
Value convertedBy(Operation *op) {
  if (auto conversion = dyn_cast<arith::SIToFPOp>(op))
    return conversion.getIn();
  auto conversion = dyn_cast<arith::UIToFPOp>(op);
  std::optional<Field> field = conversion ? fieldOf(conversion.getIn()) : std::nullopt;
  return field && !field->isSigned ? conversion.getIn() : Value();
}

class PairWriter {
public:
  explicit PairWriter(Operation *function) : function(function), dominance(function) {}

  /// How many conversions were replaced.
  int64_t write() {
    convertDifferences();
    collect();
    int64_t replaced = 0;
    for (auto &[key, halves] : words)
      if (!halves.low.empty() && !halves.high.empty()) {
        replaced += halves.low.size() + halves.high.size();
        writePair(halves);
      }
    return replaced;
  }

private:
  struct Halves {
    Field field; // of the lower half
    SmallVector<Operation *> low, high;
  };

  /// sitofp(a - b) ==> sitofp(a) - sitofp(b), in f16.
  void convertDifferences() {
    SmallVector<arith::SIToFPOp> differences;
    function->walk([&](arith::SIToFPOp op) {
      auto difference = op.getIn().getDefiningOp<arith::SubIOp>();
      if (difference && isResult(op.getType()) && fieldOf(difference.getLhs()) &&
          isNarrow(difference.getRhs()))
        differences.push_back(op);
    });
    for (arith::SIToFPOp op : differences) {
      auto difference = op.getIn().getDefiningOp<arith::SubIOp>();
      OpBuilder b(op);
      Location loc = op.getLoc();
      Value left = b.create<arith::SIToFPOp>(loc, b.getF16Type(), difference.getLhs());
      Value right = difference.getRhs();
      right = fieldOf(right) ? b.create<arith::SIToFPOp>(loc, b.getF16Type(), right).getResult()
                             : convertedSource(right);
      replace(op, b.create<arith::SubFOp>(loc, left, right));
    }
  }

  /// What `value` extends as an f16, for all that it is taken off from: where it is known first, so
  /// that pairs may have it.
  Value convertedSource(Value value) {
    Operation *extension = value.getDefiningOp();
    Value source = extension->getOperand(0);
    auto [known, isNew] = sources[isa<arith::ExtSIOp>(extension)].try_emplace(source);
    if (isNew) {
      OpBuilder b(extension);
      b.setInsertionPointAfterValue(source);
      Location loc = extension->getLoc();
      known->second = isa<arith::ExtSIOp>(extension)
                          ? b.create<arith::SIToFPOp>(loc, b.getF16Type(), source).getResult()
                          : b.create<arith::UIToFPOp>(loc, b.getF16Type(), source).getResult();
    }
    return known->second;
  }

  static bool isResult(Type type) { return type.isF32() || type.isF16() || type.isBF16(); }

  void collect() {
    function->walk([&](Operation *op) {
      Value converted = convertedBy(op);
      if (!converted || !isResult(op->getResult(0).getType()))
        return;
      std::optional<Field> field = fieldOf(converted);
      if (!field)
        return;
      bool isHigh = field->offset >= kHalfBits;
      field->offset %= kHalfBits;
      unsigned kind = field->offset * 64 + field->bits * 2 + field->isSigned;
      Halves &halves =
          words[{{op->getBlock(), field->source.getAsOpaquePointer()}, {field->number, kind}}];
      halves.field = *field;
      (isHigh ? halves.high : halves.low).push_back(op);
    });
  }

  static Operation *firstOf(ArrayRef<Operation *> ops) {
    return *llvm::min_element(ops,
                              [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  void writePair(const Halves &halves) {
    Operation *first = firstOf({firstOf(halves.low), firstOf(halves.high)});
    OpBuilder b(first);
    Location loc = first->getLoc();
    Value pair = numbersOf(b, loc, halves.field);
    Value low = b.create<vector::ExtractOp>(loc, pair, 0);
    Value high = b.create<vector::ExtractOp>(loc, pair, 1);
    for (Operation *op : halves.low)
      replace(op, low);
    for (Operation *op : halves.high)
      replace(op, high);
    continuePair(pair);
  }

  /// `number` in place of the float that `op` makes, which it is exactly.
  static void replace(Operation *op, Value number) {
    OpBuilder b(op);
    Type type = op->getResult(0).getType();
    if (!type.isF16())
      number = b.create<arith::ExtFOp>(op->getLoc(), b.getF32Type(), number);
    if (type.isBF16())
      number = b.create<arith::TruncFOp>(op->getLoc(), type, number);
    op->replaceAllUsesWith(ValueRange{number});
    op->erase();
  }

  /// Both halves' numbers: what is at the field's place of each.
  Value numbersOf(OpBuilder &b, Location loc, const Field &field) {
    Type i32 = b.getI32Type();
    auto halves = VectorType::get({2}, b.getF16Type());
    auto integer = [&](uint64_t value) {
      return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(i32, APInt(kWordBits, value)));
    };
    auto both = [&](double value) {
      return b.create<arith::ConstantOp>(
          loc, DenseElementsAttr::get(halves, b.getF16FloatAttr(value).getValue()));
    };
    auto inBoth = [](uint64_t half) { return half << kHalfBits | half; };
    Value word = field.source;
    if (isa<VectorType>(word.getType())) {
      int64_t count = cast<VectorType>(word.getType()).getNumElements() * kByteBits / kWordBits;
      word = b.create<vector::BitCastOp>(loc, VectorType::get({count}, i32), word);
      word = b.create<vector::ExtractOp>(loc, word, field.number);
    }
    // What fits into the ten bits stays where it is, and is that many times as large.
    unsigned place = field.offset % kByteBits;
    if (field.offset != place)
      word = b.create<arith::ShRUIOp>(loc, word, integer(field.offset - place));
    uint64_t mask = ((uint64_t(1) << field.bits) - 1) << place;
    uint64_t sign = field.isSigned ? uint64_t(1) << (field.bits - 1) : 0;
    word = b.create<arith::AndIOp>(loc, word, integer(inBoth(mask)));
    word = b.create<arith::XOrIOp>(loc, word, integer(inBoth(kMagic | sign << place)));
    Value bits = b.create<vector::FromElementsOp>(loc, VectorType::get({1}, i32), word);
    Value raised = b.create<vector::BitCastOp>(loc, halves, bits);
    double times = 1 << place;
    if (place == 0)
      return b.create<arith::SubFOp>(loc, raised, both(kMagicValue + double(sign)));
    return b.create<math::FmaOp>(loc, raised, both(1 / times),
                                 both(-(kMagicValue / times + double(sign))));
  }

  //===-- What is done to both ----------------------------------------------------------------===//

  /// What is done to an f16: arithmetic, as f16 rounds it, or a choice between it and another one.
  struct Step {
    enum Kind { Difference, Product, Choice } kind;
    Operation *first, *last; // what computes it; the same, or the extension and the truncation
    Value other;
    Value condition = {}; // of a choice

    bool isLike(const Step &step) const {
      return kind == step.kind && condition == step.condition &&
             last->getBlock() == step.last->getBlock();
    }
  };

  static Operation *onlyUser(Value value) {
    return value.hasOneUse() ? *value.user_begin() : nullptr;
  }

  /// The one thing that is done to `value`; nothing where it is anything else.
  static std::optional<Step> stepOn(Value value) {
    Operation *user = onlyUser(value);
    if (auto difference = dyn_cast_or_null<arith::SubFOp>(user);
        difference && difference.getLhs() == value)
      return Step{Step::Difference, user, user, difference.getRhs()};
    if (auto choice = dyn_cast_or_null<arith::SelectOp>(user);
        choice && choice.getTrueValue() == value && choice.getType().isF16())
      return Step{Step::Choice, user, user, choice.getFalseValue(), choice.getCondition()};
    // A product of two f16 is exact in f32, so that it is rounded once.
    auto wide = dyn_cast_or_null<arith::ExtFOp>(user);
    auto product = wide && wide.getType().isF32()
                       ? dyn_cast_or_null<arith::MulFOp>(onlyUser(wide.getResult()))
                       : arith::MulFOp();
    auto rounded = product ? dyn_cast_or_null<arith::TruncFOp>(onlyUser(product.getResult()))
                           : arith::TruncFOp();
    if (!rounded || !rounded.getType().isF16())
      return std::nullopt;
    Value other = product.getLhs() == wide ? product.getRhs() : product.getLhs();
    auto narrow = other.getDefiningOp<arith::ExtFOp>();
    if (!narrow || !narrow.getIn().getType().isF16())
      return std::nullopt;
    return Step{Step::Product, wide, rounded, narrow.getIn()};
  }

  /// Does to a pair what is done to both of its elements, as long as it is the same.
  void continuePair(Value pair) {
    while (true) {
      SmallVector<Value, 2> elements;
      for (Operation *user : pair.getUsers())
        elements.push_back(user->getResult(0));
      if (elements.size() != 2)
        return;
      if (cast<vector::ExtractOp>(elements[0].getDefiningOp()).getStaticPosition()[0] != 0)
        std::swap(elements[0], elements[1]);
      std::optional<Step> low = stepOn(elements[0]), high = stepOn(elements[1]);
      if (!low || !high || !low->isLike(*high))
        return;
      Operation *place = firstOf({low->last, high->last});
      if (!isKnownAt(place, low->other) || !isKnownAt(place, high->other))
        return;
      OpBuilder b(place);
      Location loc = place->getLoc();
      Value others = b.create<vector::FromElementsOp>(
          loc, cast<VectorType>(pair.getType()),
          ValueRange{knownAt(b, low->other), knownAt(b, high->other)});
      Value next = doneTo(pair, *low, others, b);
      Value results[] = {b.create<vector::ExtractOp>(loc, next, 0),
                         b.create<vector::ExtractOp>(loc, next, 1)};
      Step steps[] = {*low, *high};
      for (auto [step, element, result] : llvm::zip(steps, elements, results)) {
        step.last->replaceAllUsesWith(ValueRange{result});
        erase(step);
        element.getDefiningOp()->erase();
      }
      pair = next;
    }
  }

  /// Constants may come later: they can be anywhere.
  bool isKnownAt(Operation *place, Value value) {
    return dominance.properlyDominates(value, place) || matchPattern(value, m_Constant());
  }
  Value knownAt(OpBuilder &b, Value value) {
    return dominance.properlyDominates(value, &*b.getInsertionPoint())
               ? value
               : b.clone(*value.getDefiningOp())->getResult(0);
  }

  static Value doneTo(Value pair, const Step &step, Value others, OpBuilder &b) {
    Location loc = step.last->getLoc();
    switch (step.kind) {
    case Step::Difference:
      return b.create<arith::SubFOp>(loc, pair, others);
    case Step::Product:
      return b.create<arith::MulFOp>(loc, pair, others);
    case Step::Choice:
      return b.create<arith::SelectOp>(loc, step.condition, pair, others);
    }
    llvm_unreachable("all kinds are above");
  }

  /// Each of them reads the one before.
  static void erase(const Step &step) {
    Operation *product = step.first == step.last ? nullptr : onlyUser(step.first->getResult(0));
    step.last->erase();
    if (product) {
      product->erase();
      step.first->erase();
    }
  }

  using Key = std::pair<std::pair<Block *, const void *>, std::pair<unsigned, unsigned>>;

  Operation *function;
  DominanceInfo dominance;
  llvm::DenseMap<Value, Value> sources[2]; // unsigned ones, signed ones
  llvm::MapVector<Key, Halves> words;
};

struct ReplaceIntegerConversions : impl::ReplaceIntegerConversionsBase<ReplaceIntegerConversions> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (int64_t replaced = PairWriter(kernel).write())
        count(&getContext(), getArgument(), "conversions", replaced);
  }
};

} // namespace

} // namespace cameo
