// Words: how often sequences of them stand in a text.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/expand/Expander.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace cameo {

namespace {
/// Sequences of one length, one behind the other.
struct Grams {
  int64_t length, first; // `first` is the number of the first one of them in the pool
  ArrayRef<int64_t> words;
  int64_t count() const { return int64_t(words.size()) / length; }
  ArrayRef<int64_t> gram(int64_t i) const { return words.slice(i * length, length); }
};
} // namespace

/// Counts each sequence in each row, [N, G], with `distance` words from one to the next.
static Value countGrams(Expander &e, Value x, const Grams &grams, int64_t distance) {
  Value found;
  for (int64_t word = 0; word < grams.length; ++word) {
    int64_t behind = (grams.length - 1 - word) * distance;
    Value at = e.slice(x, 1, word * distance, behind ? -behind : INT64_MAX);
    SmallVector<int64_t> wanted;
    for (int64_t i = 0; i < grams.count(); ++i)
      wanted.push_back(grams.gram(i)[word]);
    Value same = e.emit("Equal", {e.unsqueeze(at, {2}), e.table({1, 1, grams.count()}, wanted)});
    found = found ? e.emit("And", {found, same}) : same;
  }
  Type integer = onnx::elementTypeOf(onnx::ElementKind::I32, e.op->getContext());
  return e.emit("ReduceSum", {e.cast(found, integer), e.ints({1})}, {e.with("keepdims", 0)});
}

/// The pool's sequences of the lengths that are counted.
static FailureOr<SmallVector<Grams>> gramsOf(Expander &e, ArrayRef<int64_t> pool,
                                             ArrayRef<int64_t> starts) {
  auto refuse = [&](const Twine &why) {
    (void)e.refuse(why);
    return failure();
  };
  int64_t least = e.integer("min_gram_length", 1), most = e.integer("max_gram_length", 1);
  if (least > most || most > int64_t(starts.size()))
    return refuse("'min_gram_length' = " + Twine(least) +
                  " and 'max_gram_length' = " + Twine(most) + " are no lengths of the " +
                  Twine(starts.size()) + " that 'ngram_counts' has");
  SmallVector<Grams> result;
  int64_t first = 0;
  for (auto [i, start] : llvm::enumerate(starts)) {
    int64_t end = i + 1 < starts.size() ? starts[i + 1] : int64_t(pool.size());
    int64_t length = int64_t(i) + 1;
    if (start < 0 || end < start || end > int64_t(pool.size()) || (end - start) % length)
      return refuse("'ngram_counts' has " + Twine(start) + " to " + Twine(end) +
                    " for sequences of " + Twine(length) + "; 'pool_int64s' has " +
                    Twine(pool.size()) + " numbers");
    Grams grams{length, first, pool.slice(start, end - start)};
    first += grams.count();
    if (length >= least && length <= most && grams.count())
      result.push_back(grams);
  }
  std::optional<SmallVector<int64_t>> columns = e.integers("ngram_indexes");
  if (!columns || int64_t(columns->size()) != first)
    return refuse("'ngram_indexes' must have a number for each of the " + Twine(first) +
                  " sequences of 'pool_int64s'");
  if (result.empty())
    return refuse("the pool has no sequence of the lengths that are counted");
  for (const Grams &grams : result) {
    std::vector<ArrayRef<int64_t>> sorted;
    for (int64_t i = 0; i < grams.count(); ++i)
      sorted.push_back(grams.gram(i));
    auto isLess = [](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    };
    llvm::sort(sorted, isLess);
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return refuse("the pool has a sequence twice");
  }
  return result;
}

/// Sums of sequences by column, [N, grams] to [N, columns]: several may share a column, and one may have none.
static Value columnsOf(Expander &e, Value grams, ArrayRef<SmallVector<int64_t>> from,
                       size_t turns) {
  Type boolean = IntegerType::get(e.op->getContext(), 1);
  Value sum;
  for (size_t turn = 0; turn < turns; ++turn) {
    SmallVector<int64_t> gathered;
    std::vector<double> isThere;
    for (ArrayRef<int64_t> own : from) {
      gathered.push_back(turn < own.size() ? own[turn] : 0);
      isThere.push_back(turn < own.size());
    }
    Value own = e.emit("Gather", {grams, e.ints(gathered)}, {e.with("axis", 1)});
    if (llvm::is_contained(isThere, 0.0))
      own = e.emit("Where", {e.table({int64_t(from.size())}, isThere, boolean), own,
                             e.scalar(0, onnx::elementType(grams))});
    sum = sum ? e.emit("Add", {sum, own}) : own;
  }
  return sum;
}

static LogicalResult expandTfIdfVectorizer(Expander &e) {
  int64_t rank = e.rank(0);
  if (rank != 1 && rank != 2)
    return e.refuse("the input has " + Twine(rank) + " dimensions, neither 1 nor 2");
  std::optional<SmallVector<int64_t>> pool = e.integers("pool_int64s");
  if (!pool || e.op->hasAttr("pool_strings"))
    return e.refuse("words are text; nearest supported: numbers of words, and 'pool_int64s'");
  SmallVector<int64_t> starts = e.integers("ngram_counts").value_or(SmallVector<int64_t>());
  SmallVector<int64_t> indexes = e.integers("ngram_indexes").value_or(SmallVector<int64_t>());
  FailureOr<SmallVector<Grams>> lengths = gramsOf(e, *pool, starts);
  if (failed(lengths))
    return failure();
  constexpr int64_t kMostColumns = 1 << 20, kMostDistances = 64;
  int64_t columns = *llvm::max_element(indexes) + 1;
  int64_t distances = e.integer("max_skip_count", 0) + 1;
  if (*llvm::min_element(indexes) < 0 || columns > kMostColumns)
    return e.refuse("'ngram_indexes' has numbers outside of 0 to " + Twine(kMostColumns - 1));
  if (distances < 1 || distances > kMostDistances)
    return e.refuse("'max_skip_count' = " + Twine(distances - 1) + "; 0 to " +
                    Twine(kMostDistances - 1) + " are supported");

  Type integer = onnx::elementTypeOf(onnx::ElementKind::I64, e.op->getContext());
  Value x = e.cast(rank == 1 ? e.unsqueeze(e.operand(0), {0}) : e.operand(0), integer);
  SmallVector<Value> parts;
  SmallVector<SmallVector<int64_t>> from(columns); // places in what is counted, by column
  SmallVector<int64_t> counted;                    // numbers of sequences, by that place
  for (const Grams &grams : *lengths) {
    for (int64_t i = 0; i < grams.count(); ++i) {
      from[indexes[grams.first + i]].push_back(int64_t(counted.size()));
      counted.push_back(grams.first + i);
    }
    Value sum;
    // Single words have no distance.
    for (int64_t distance = 1; distance <= (grams.length == 1 ? 1 : distances); ++distance) {
      Value own = countGrams(e, x, grams, distance);
      sum = sum ? e.emit("Add", {sum, own}) : own;
    }
    parts.push_back(sum);
  }
  constexpr size_t kMostTurns = 16;
  StringRef mode = e.text("mode", "TF");
  size_t turns = 0;
  for (ArrayRef<int64_t> own : from)
    turns = std::max(turns, own.size());
  if (turns > (mode == "IDF" ? 1 : kMostTurns))
    return e.refuse("'ngram_indexes' has a number " + Twine(turns) + " times; supported are " +
                    Twine(kMostTurns) + ", and one with 'mode' = 'IDF'");

  Value counts = parts.size() == 1 ? parts[0] : e.concat(parts, 1);
  Type element = onnx::elementTypeOf(onnx::ElementKind::F32, e.op->getContext());
  Value weights = e.scalar(1, element);
  if (auto given = e.op->getAttrOfType<DenseF32ArrayAttr>("weights"); given && !given.empty()) {
    if (size_t(given.size()) != indexes.size())
      return e.refuse("'weights' has " + Twine(given.size()) + " numbers for " +
                      Twine(indexes.size()) + " sequences of 'pool_int64s'");
    std::vector<double> own;
    for (int64_t gram : counted)
      own.push_back(given[gram]);
    weights = e.table({int64_t(own.size())}, own, element);
  }
  Value result;
  if (mode == "IDF") {
    Value none = e.scalar(0, onnx::elementType(counts));
    result = e.emit("Where", {e.emit("Greater", {counts, none}), weights, e.scalar(0, element)});
  } else {
    result = e.cast(counts, element);
    if (mode == "TFIDF")
      result = e.emit("Mul", {result, weights});
  }
  result = columnsOf(e, result, from, turns);
  e.give(0, rank == 1 ? e.squeeze(result, 0) : result);
  return success();
}

void registerWordExpansions(ExpansionRows &rows) {
  rows.add<onnx::TfIdfVectorizerOp>(
      {expandTfIdfVectorizer, "text; a pool that has a sequence twice"});
}

} // namespace cameo
