// Recognising products whose rows are reduced.
//
//   p = product, x = p * scale + mask              kept: x
//   m = max of x along columns                     kept: m
//   s = sum of exp(x - m) along columns            kept: s
//   result: exp(x - m) / s
//
// Everything is seen from the product's loops: reductions read its elements, and give one value to
// all elements of a row.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Places.h"
#include "dialects/kernel/form/Product.h"
#include "dialects/kernel/form/Rows.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cameo {
namespace {

/// Fills a product's steps and results.
class StepReader {
public:
  StepReader(const Computation &computation, Product &product)
      : computation(computation), product(product),
        root(cast<RankedTensorType>(product.sums().getType())) {}

  bool read() {
    places.set(product.sums(),
               simplifiedWithin(AffineMap::getMultiDimIdentityMap(root.getRank(), context()),
                                root.getShape()));
    known[product.sums()] = simplifiedWithin(product.outMap, product.ranges);
    for (Operation *op : computation.operations) {
      if (op == product.generic)
        continue;
      bool isReduction = llvm::is_contained(computation.combining, op);
      if (isReduction ? !readReduction(op) : failed(places.follow(op)))
        return false;
    }
    return readResults();
  }

private:
  MLIRContext *context() { return root.getContext(); }

  /// Elementwise work at `place` of the product's loops; nothing where it reads what rows are reduced
  /// to of other rows, or must not be done for elements that are not there. What has places in the
  /// product is read at one.
  std::optional<Elementwise> workAt(Value tensor, AffineMap place) {
    SmallVector<Value> given;
    for (auto [value, of] : known)
      given.push_back(value);
    Access access{tensor, {}, tensor, place, {}, getElementTypeOrSelf(tensor)};
    std::optional<Elementwise> work = elementwiseOf(access, product.ranges, given);
    bool isGood = work && llvm::all_of(work->terms, [&](const Elementwise::Term &term) {
                    if (term.kind == Elementwise::Term::Kind::Given)
                      return places.contains(term.value) || term.place == known.lookup(term.value);
                    return term.kind != Elementwise::Term::Kind::Computed ||
                           mayBeOutside(cast<linalg::GenericOp>(term.value.getDefiningOp()));
                  });
    return isGood ? work : std::nullopt;
  }

  /// Whether the body can be run for elements that there are none of in the product.
  static bool mayBeOutside(linalg::GenericOp generic) {
    return llvm::all_of(generic.getBody()->without_terminator(),
                        [](Operation &op) { return isSpeculatable(&op); });
  }

  /// A reduction along columns: what it reads is kept where that is computed, and what it gives.
  bool readReduction(Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    Operation *combiner = generic ? combinerOfPartials(generic) : nullptr;
    FailureOr<AffineMap> read = places.placeRead(op);
    if (!combiner || failed(read) || !*read || !mayBeOutside(generic))
      return false;
    SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
    std::optional<Epilogue> solved = solvedFor(withJoinedDigits(*read, ranges), ranges, root);
    if (!solved || !solved->bounds.empty())
      return false;
    AffineMap loops = solved->place.compose(product.outMap);
    if (!isAlongColumns(generic, loops))
      return false;
    RowStep step{generic.getResult(0), {}, {}, generic, combiner};
    for (OpOperand *input : generic.getDpsInputOperands()) {
      step.works.emplace_back();
      if (!generic.payloadUsesValueFromOperand(input))
        continue;
      auto place =
          simplifiedWithin(generic.getMatchingIndexingMap(input).compose(loops), product.ranges);
      if (!isa<RankedTensorType>(input->get().getType()) || !keep(input->get(), place))
        return false;
      step.works.back() = workAt(input->get(), place);
      if (!step.works.back())
        return false;
    }
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    step.place = simplifiedWithin(out.compose(loops), product.ranges);
    add(std::move(step));
    return true;
  }

  /// Whether a row is what the reduction goes along: its other loops are the same for all columns.
  bool isAlongColumns(linalg::GenericOp generic, AffineMap loops) {
    int64_t length = 1;
    for (auto [loop, kind] : llvm::enumerate(generic.getIteratorTypesArray())) {
      bool isReduced = kind == utils::IteratorType::reduction;
      int64_t range = generic.getStaticLoopRanges()[loop];
      if (isReduced)
        length = ShapedType::isDynamic(range) ? ShapedType::kDynamic : length * range;
      if (isReduced && ShapedType::isDynamic(length))
        return false;
      AffineMap index = simplifiedWithin(loops.getSubMap({unsigned(loop)}), product.ranges);
      for (unsigned of = 0; of < product.ranges.size(); ++of)
        if (index.isFunctionOfDim(of) && llvm::is_contained(product.columns, of) != isReduced)
          return false;
    }
    return length == product.extent(product.columns);
  }

  /// Keeps what is read at a place, unless it is kept already, or in memory.
  bool keep(Value tensor, AffineMap place) {
    SmallVector<Value> given;
    for (auto [value, of] : known)
      given.push_back(value);
    Access access{tensor, {}, tensor, place, {}, getElementTypeOrSelf(tensor)};
    follow(access, product.ranges, given);
    if (known.contains(access.source) || !access.source.getDefiningOp<linalg::GenericOp>())
      return true;
    std::optional<Elementwise> work = workAt(access.source, access.map);
    if (!work)
      return false;
    RowStep step{access.source, access.map, {}, {}, nullptr};
    step.works.push_back(std::move(*work));
    add(std::move(step));
    return true;
  }

  void add(RowStep step) {
    known[step.value] = step.place;
    product.steps.push_back(std::move(step));
  }

  bool readResults() {
    for (Value result : computation.results) {
      auto shape = cast<RankedTensorType>(result.getType()).getShape();
      AffineMap map = places.lookup(result);
      std::optional<Epilogue> epilogue =
          map ? solvedFor(withJoinedDigits(map, shape), shape, root) : std::nullopt;
      if (!epilogue)
        return false;
      epilogue->value = result;
      if (!workAt(result,
                  simplifiedWithin(epilogue->place.compose(product.outMap), product.ranges)))
        return false;
      product.epilogues.push_back(std::move(*epilogue));
    }
    // The plan takes sizes known only at run time from the first result.
    return llvm::all_of(llvm::seq<unsigned>(0, root.getRank()), [&](unsigned dim) {
      return !root.isDynamicDim(dim) || sameDimension(product.epilogues.front(), dim);
    });
  }

  const Computation &computation;
  Product &product;
  RankedTensorType root;
  Places places;
  llvm::MapVector<Value, AffineMap> known; // what is kept, and where it is read
};

} // namespace

static std::optional<Product> readProductOfRows(const Computation &computation) {
  if (computation.combining.size() < 2)
    return std::nullopt;
  std::optional<Product> found;
  for (Operation *op : computation.combining) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (std::optional<Product> product = generic ? productOf(generic) : std::nullopt) {
      if (found)
        return std::nullopt;
      found = std::move(product);
    }
  }
  if (!found || !found->row.findValue(found->ranges, found->depth) ||
      !found->column.findValue(found->ranges, found->depth) ||
      !StepReader(computation, *found).read())
    return std::nullopt;
  return found;
}

const std::optional<Product> &matchProductOfRows(const Computation &computation) {
  if (!computation.productOfRows)
    computation.productOfRows =
        std::make_shared<const std::optional<Product>>(readProductOfRows(computation));
  return *computation.productOfRows;
}

} // namespace cameo
