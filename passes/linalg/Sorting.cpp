// Sorting lines: runs by one block each, then merged.
//
//   a line of N numbers  ==>  2^q runs of ceil(N / 2^q), each sorted in shared memory (kernel.sort)
//                        ==>  q times: two runs become one, each element found by a search in both
//
// Runs are equally long, so that two of them always make one. Where N is known only at run time there are as many
// merges as the longest line needs, and those that the run's lines do not need have nothing to compute: they come
// first, and the first one behind them reads the sorted runs.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Sorting.h"

#include "dialects/kernel/Kernel.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/Indexing.h"

using namespace mlir;

namespace cameo {

/// Numbers that one block sorts: 16 KiB of shared memory.
static constexpr int64_t kLongestRun = 2048;

//===-- Numbers -------------------------------------------------------------------------------===//

static Value wideConstant(OpBuilder &b, Location loc, int64_t value) {
  return b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(value));
}

Value packKey(OpBuilder &b, Location loc, Value key, Value place) {
  Value front = b.create<arith::ShLIOp>(loc, key, wideConstant(b, loc, 32));
  return b.create<arith::OrIOp>(loc, front,
                                b.create<arith::IndexCastUIOp>(loc, b.getI64Type(), place));
}

Value keyOf(OpBuilder &b, Location loc, Value packed) {
  return b.create<arith::ShRSIOp>(loc, packed, wideConstant(b, loc, 32));
}

Value placeOf(OpBuilder &b, Location loc, Value packed) {
  Value place = b.create<arith::AndIOp>(loc, packed, wideConstant(b, loc, kLongestSortedLine));
  return b.create<arith::IndexCastUIOp>(loc, b.getIndexType(), place);
}

/// A float's bits as an integer that is less where the number is.
static Value orderedBits(OpBuilder &b, Location loc, Value scalar) {
  auto type = cast<FloatType>(scalar.getType());
  unsigned width = type.getWidth();
  Type bits = b.getIntegerType(width);
  Value zero = b.create<arith::ConstantOp>(loc, b.getFloatAttr(type, 0));
  APFloat nan = APFloat::getNaN(type.getFloatSemantics());
  Value quiet = b.create<arith::ConstantOp>(loc, b.getFloatAttr(type, nan));
  Value isZero = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, scalar, zero);
  Value isNan = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, scalar, scalar);
  scalar = b.create<arith::SelectOp>(loc, isZero, zero, scalar);
  scalar = b.create<arith::SelectOp>(loc, isNan, quiet, scalar);
  Value number = b.create<arith::BitcastOp>(loc, bits, scalar);
  // Magnitudes of negative numbers, which have the sign bit, count down.
  APInt magnitude = APInt::getSignedMaxValue(width);
  Value mask = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(bits, magnitude));
  Value none = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(bits, 0));
  Value isNegative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, number, none);
  Value turned = b.create<arith::XOrIOp>(loc, number, mask);
  return b.create<arith::SelectOp>(loc, isNegative, turned, number);
}

Value sortKey(OpBuilder &b, Location loc, Value scalar, Type type, bool isDescending) {
  bool isUnsigned = Lowering::isUnsigned(type) || type.isInteger(1);
  if (isa<FloatType>(type)) {
    if (type.getIntOrFloatBitWidth() < 32)
      scalar = convertScalar(b, loc, scalar, type, b.getF32Type());
    scalar = orderedBits(b, loc, scalar);
  }
  unsigned width = scalar.getType().getIntOrFloatBitWidth();
  Value key = scalar;
  if (width < 64) {
    key = isUnsigned ? b.create<arith::ExtUIOp>(loc, b.getI64Type(), scalar).getResult()
                     : b.create<arith::ExtSIOp>(loc, b.getI64Type(), scalar).getResult();
    if (isUnsigned && width == 32)
      key = b.create<arith::SubIOp>(loc, key, wideConstant(b, loc, int64_t(1) << 31));
  } else if (isUnsigned) {
    key = b.create<arith::XOrIOp>(loc, key,
                                  wideConstant(b, loc, std::numeric_limits<int64_t>::min()));
  }
  return isDescending ? b.create<arith::XOrIOp>(loc, key, wideConstant(b, loc, -1)) : key;
}

Value searchIndex(OpBuilder &b, Location loc, Value low, Value high,
                  function_ref<Value(OpBuilder &, Location, Value)> isBefore) {
  Type index = b.getIndexType();
  auto loop = b.create<scf::WhileOp>(
      loc, TypeRange{index, index}, ValueRange{low, high},
      [&](OpBuilder &b, Location loc, ValueRange range) {
        Value goesOn = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, range[0], range[1]);
        b.create<scf::ConditionOp>(loc, goesOn, range);
      },
      [&](OpBuilder &b, Location loc, ValueRange range) {
        Value one = indexConstant(b, loc, 1);
        Value rest = b.create<arith::SubIOp>(loc, range[1], range[0]);
        Value half = b.create<arith::ShRUIOp>(loc, rest, one);
        Value middle = b.create<arith::AddIOp>(loc, range[0], half);
        Value before = isBefore(b, loc, middle);
        Value behind = b.create<arith::AddIOp>(loc, middle, one);
        Value from = b.create<arith::SelectOp>(loc, before, behind, range[0]);
        Value to = b.create<arith::SelectOp>(loc, before, range[1], middle);
        b.create<scf::YieldOp>(loc, ValueRange{from, to});
      });
  return loop.getResult(0);
}

//===-- Lines ---------------------------------------------------------------------------------===//

/// `yes` where the number of the plan is not 0, else `no`; one of them alone where it is known.
static Value chosen(OpBuilder &b, Location loc, OpFoldResult condition,
                    function_ref<Value(OpBuilder &, Location)> yes,
                    function_ref<Value(OpBuilder &, Location)> no) {
  if (std::optional<int64_t> known = getConstantIntValue(condition))
    return *known ? yes(b, loc) : no(b, loc);
  IndexMath math(b, loc);
  Value holds = math.compare(arith::CmpIPredicate::ne, math.of(condition), b.getIndexAttr(0));
  return math.choose(holds, yes, no);
}

Value SortedLines::at(OpBuilder &b, Location loc, Value line, Value place) const {
  auto read = [&](const Lowered &tensor) {
    return [&, line, place](OpBuilder &b, Location loc) {
      return IndexMath(b, loc).element(tensor, ValueRange{line, indexConstant(b, loc, 0), place});
    };
  };
  return chosen(b, loc, isMerged, read(merged), read(sorted));
}

class LineSorter {
public:
  LineSorter(Lowering &l, Location loc, OpFoldResult lines, OpFoldResult length, OpFoldResult kept)
      : l(l), loc(loc), lines(lines), length(length), kept(kept), wide(l.builder().getI64Type()) {}

  SortedLines sort(LineFunction number) {
    Sizes isNeeded; // by how often the runs were merged before, from the last merge on
    int64_t longest = getConstantIntValue(length).value_or(kLongestSortedLine);
    OpFoldResult runs = l.plan.index(1);
    for (int64_t reach = kLongestRun; reach < longest; reach *= 2) {
      OpFoldResult needed = l.plan.less(l.plan.index(reach), length);
      runs = l.plan.add(runs, l.plan.mul(needed, l.plan.index(reach / kLongestRun)));
      isNeeded.push_back(needed);
    }
    SortedLines result;
    result.isMerged = isNeeded.empty() ? l.plan.index(0) : isNeeded.front();
    result.sorted = sortRuns(runs, number);
    OpFoldResult wasNeeded = l.plan.index(0), run = l.plan.index(0);
    for (size_t i = isNeeded.size(); i-- > 0;) {
      OpFoldResult isFirst = l.plan.sub(isNeeded[i], wasNeeded);
      run = l.plan.select(isFirst, shortened(result.sorted.sizes[2]), run);
      OpFoldResult count = l.plan.mul(isNeeded[i], l.plan.index(int64_t(1) << i));
      result.merged = mergeRuns(result.sorted, result.merged, isFirst, run, count);
      run = result.merged.sizes[2];
      wasNeeded = isNeeded[i];
    }
    return result;
  }

private:
  OpFoldResult shortened(OpFoldResult run) { return kept == length ? run : l.plan.min(run, kept); }

  /// [lines, runs, numbers of a run]; behind the line's end there is the greatest number.
  Lowered sortRuns(OpFoldResult runs, LineFunction number) {
    OpFoldResult run = l.plan.ceilDiv(length, runs);
    Sizes sizes{lines, runs, run};
    bool isWhole = isConstantIntValue(runs, 1);
    auto element = [&](OpBuilder &b, Location loc, ValueRange) -> Value {
      IndexMath math(b, loc);
      Value line = b.create<linalg::IndexOp>(loc, 0);
      Value place = b.create<linalg::IndexOp>(loc, 2);
      if (isWhole)
        return number(b, loc, line, place);
      place = math.add(math.mul(b.create<linalg::IndexOp>(loc, 1), run), place);
      Value exists = math.compare(arith::CmpIPredicate::slt, place, length);
      return math.choose(
          exists, [&](OpBuilder &b, Location loc) { return number(b, loc, line, place); },
          [&](OpBuilder &b, Location loc) {
            return wideConstant(b, loc, std::numeric_limits<int64_t>::max());
          });
    };
    Value sorted = l.build.dispatch(
        loc, OutputSpec{sizes, wide}, [&](OpBuilder &b, Location loc, ValueRange inits) {
          Value numbers = mapGeneric(l, b, loc, sizes, wide, {}, element);
          int64_t most = std::max<int64_t>(getConstantIntValue(run).value_or(kLongestRun), 1);
          Value result = b.create<kernel::SortOp>(loc, inits[0].getType(), numbers, inits[0],
                                                  /*axis=*/2, most);
          return SmallVector<Value>{result};
        })[0];
    return {sorted, sizes, wide};
  }

  /// `count` runs, each of two that are `run` long: of `first` where `isFirst`, else of `before`.
  Lowered mergeRuns(const Lowered &first, const Lowered &before, OpFoldResult isFirst,
                    OpFoldResult run, OpFoldResult count) {
    Sizes sizes{lines, count, shortened(l.plan.mul(run, l.plan.index(2)))};
    auto element = [&](OpBuilder &b, Location loc, ValueRange at) {
      auto ofSource = [&](const Lowered &source) {
        return [&](OpBuilder &b, Location loc) { return mergedAt(b, loc, source, run, at); };
      };
      if (!before.tensor)
        return mergedAt(b, loc, first, run, at);
      return chosen(b, loc, isFirst, ofSource(first), ofSource(before));
    };
    return {l.build.compute(loc, sizes, wide, element), sizes, wide};
  }

  /// Number `at[2]` of two runs together: as many numbers of the first run are before it as make its own number with
  /// those of the second one.
  Value mergedAt(OpBuilder &b, Location loc, const Lowered &source, OpFoldResult run,
                 ValueRange at) {
    IndexMath math(b, loc);
    Value left = math.mul(at[1], b.getIndexAttr(2)), right = math.add(left, b.getIndexAttr(1));
    Value place = at[2], length = math.of(run), zero = indexConstant(b, loc, 0);
    auto number = [&](OpBuilder &b, Location loc, Value which, Value i) {
      return IndexMath(b, loc).element(source, ValueRange{at[0], which, i});
    };
    auto isLess = [](OpBuilder &b, Location loc, Value x, Value y) {
      return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
    };
    Value low = b.create<arith::MaxSIOp>(loc, math.sub(place, run), zero);
    Value high = b.create<arith::MinSIOp>(loc, place, length);
    Value i =
        searchIndex(b, loc, low, high, [&](OpBuilder &b, Location loc, Value middle) -> Value {
          IndexMath math(b, loc);
          Value other = math.sub(math.sub(place, b.getIndexAttr(1)), middle);
          return isLess(b, loc, number(b, loc, left, middle), number(b, loc, right, other));
        });
    Value j = math.sub(place, i);
    auto isInside = [&](Value index) {
      return math.compare(arith::CmpIPredicate::slt, index, run);
    };
    Value x = number(b, loc, left, math.clamp(i, run));
    Value y = number(b, loc, right, math.clamp(j, run));
    Value isAll =
        b.create<arith::XOrIOp>(loc, isInside(j), scalarConstant(b, loc, b.getI1Type(), 1));
    Value comesFirst = b.create<arith::OrIOp>(loc, isAll, isLess(b, loc, x, y));
    return math.select(math.both(isInside(i), comesFirst), x, y);
  }

  Lowering &l;
  Location loc;
  OpFoldResult lines, length, kept;
  Type wide;
};

SortedLines sortLines(Lowering &l, Location loc, OpFoldResult lines, OpFoldResult length,
                      OpFoldResult kept, LineFunction number) {
  return LineSorter(l, loc, lines, length, kept).sort(number);
}

//===-- Order ---------------------------------------------------------------------------------===//

Value LineOrder::at(OpBuilder &b, Location loc, Value line, Value place) const {
  Value found = placeOf(b, loc, sorted.at(b, loc, line, place));
  return byLowBits ? placeOf(b, loc, byLowBits->at(b, loc, line, found)) : found;
}

LineOrder orderLines(Lowering &l, Location loc, OpFoldResult lines, OpFoldResult length,
                     OpFoldResult kept, bool hasWideKeys, LineFunction key) {
  LineOrder order;
  if (!hasWideKeys) {
    order.sorted = sortLines(l, loc, lines, length, kept,
                             [&](OpBuilder &b, Location loc, Value line, Value place) {
                               return packKey(b, loc, key(b, loc, line, place), place);
                             });
    return order;
  }
  // By the lower half, then by the upper one, which leaves equal ones in that order.
  order.byLowBits = sortLines(
      l, loc, lines, length, length, [&](OpBuilder &b, Location loc, Value line, Value place) {
        Value low = b.create<arith::AndIOp>(loc, key(b, loc, line, place),
                                            wideConstant(b, loc, 0xffffffff));
        low = b.create<arith::SubIOp>(loc, low, wideConstant(b, loc, int64_t(1) << 31));
        return packKey(b, loc, low, place);
      });
  order.sorted = sortLines(
      l, loc, lines, length, kept, [&](OpBuilder &b, Location loc, Value line, Value place) {
        Value source = placeOf(b, loc, order.byLowBits->at(b, loc, line, place));
        return packKey(b, loc, keyOf(b, loc, key(b, loc, line, source)), place);
      });
  return order;
}

} // namespace cameo
