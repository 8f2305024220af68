// Reading elementwise work.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/kernel/form/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cameo {
namespace {

using Term = Elementwise::Term;

/// Visits each tensor at each place once, so that the terms are no more than the operations.
class Reader {
public:
  Reader(ArrayRef<int64_t> extents, ArrayRef<Value> given, bool mayGather)
      : extents(extents), given(given), mayGather(mayGather) {}

  /// The term of what `access` reads; nothing where it is no elementwise work.
  std::optional<unsigned> visit(Access access) {
    follow(access, extents, given);
    AffineMap place = access.pad ? access.beneath : access.map;
    Term term{Term::Kind::Computed, access.source, {}, 0, {}, access.elementType};
    std::tuple key(access.source, place, access.elementType);
    if (auto known = terms.find(key); known != terms.end())
      return known->second;
    if (!fill(term, access))
      return std::nullopt;
    result.terms.push_back(std::move(term));
    return terms[key] = result.terms.size() - 1;
  }

  Elementwise result;

private:
  bool fill(Term &term, const Access &access) {
    Operation *definition = access.source.getDefiningOp();
    if (llvm::is_contained(given, access.source)) {
      term.kind = Term::Kind::Given;
      term.place = access.place();
      return true;
    }
    if (!definition) {
      term.kind = Term::Kind::Read;
      term.read = numberOf(access);
      return true;
    }
    if (auto filled = dyn_cast<linalg::FillOp>(definition)) {
      term.kind = Term::Kind::Scalar;
      term.value = filled.getInputs()[0];
      return true;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(definition)) {
      term.kind = Term::Kind::Scalar;
      return isa<SplatElementsAttr>(constant.getValue());
    }
    auto generic = dyn_cast<linalg::GenericOp>(definition);
    return generic && (fillGathered(term, access) || fill(term, access, generic));
  }

  /// The same of an element of memory one of whose indices is read, too.
  bool fillGathered(Term &term, const Access &access) {
    std::optional<Gathered> found;
    if (mayGather && !access.pad)
      found = gathered(cast<OpResult>(access.source));
    if (!found || !isa<BlockArgument>(found->tensor))
      return false;
    Access read = inputOf(access, found->tensor, found->map.compose(access.map));
    found->index.loops = simplifiedWithin(found->index.loops.compose(access.map), extents);
    read.index = std::make_shared<const ReadIndex>(found->index);
    term.kind = Term::Kind::Read;
    term.read = numberOf(read);
    return true;
  }

  /// The same of a result of `generic`.
  bool fill(Term &term, const Access &access, linalg::GenericOp generic) {
    AffineMap loops = loopsOfResult(generic, cast<OpResult>(access.source).getResultNumber());
    if (!loops || !isSameForAll(generic))
      return false;
    AffineMap place = loops.compose(access.pad ? access.beneath : access.map);
    for (OpOperand *input : generic.getDpsInputOperands()) {
      if (!generic.payloadUsesValueFromOperand(input)) {
        term.inputs.push_back(Elementwise::kUnused);
        continue;
      }
      std::optional<unsigned> number =
          isa<RankedTensorType>(input->get().getType())
              ? visit(inputOf(access, input->get(),
                              generic.getMatchingIndexingMap(input).compose(place)))
              : scalar(input->get());
      if (!number)
        return false;
      term.inputs.push_back(*number);
    }
    return true;
  }

  /// Whether the body computes on its inputs alone, wherever they are.
  static bool isSameForAll(linalg::GenericOp generic) {
    if (llvm::any_of(generic.getDpsInitsMutable(),
                     [&](OpOperand &out) { return generic.payloadUsesValueFromOperand(&out); }))
      return false;
    WalkResult result = generic.getBody()->walk([](Operation *op) {
      bool isPlace = isa<linalg::IndexOp>(op) || isa<tensor::TensorDialect>(op->getDialect());
      bool hasEffects = !op->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(op);
      return isPlace || hasEffects ? WalkResult::interrupt() : WalkResult::advance();
    });
    return !result.wasInterrupted();
  }

  Access inputOf(const Access &from, Value tensor, AffineMap place) {
    Access access = from;
    access.source = tensor;
    access.elementType = getElementTypeOrSelf(tensor);
    ArrayRef<int64_t> within = extents;
    if (access.pad)
      within = access.pad.getSourceType().getShape();
    place = simplifiedWithin(place, within);
    (access.pad ? access.beneath : access.map) = place;
    if (!access.pad)
      access.tensor = tensor;
    return access;
  }

  std::optional<unsigned> scalar(Value value) {
    result.terms.push_back({Term::Kind::Scalar, value, {}, 0, {}, value.getType()});
    return result.terms.size() - 1;
  }

  unsigned numberOf(const Access &access) {
    AffineMap place = access.place();
    auto isSameIndex = [&](const Access &read) {
      return !read.index && !access.index; // indices that are read are not compared
    };
    for (auto [number, read] : llvm::enumerate(result.reads))
      if (read.source == access.source && read.place() == place && isSameIndex(read))
        return number;
    result.reads.push_back(access);
    return result.reads.size() - 1;
  }

  ArrayRef<int64_t> extents;
  ArrayRef<Value> given;
  bool mayGather;
  llvm::DenseMap<std::tuple<Value, AffineMap, Type>, unsigned> terms;
};

} // namespace

std::optional<Elementwise> elementwiseOf(const Access &access, ArrayRef<int64_t> extents,
                                         ArrayRef<Value> given, bool mayGather) {
  Reader reader(extents, given, mayGather);
  if (!reader.visit(access))
    return std::nullopt;
  return std::move(reader.result);
}

int64_t sameAlong(AffineMap map, ArrayRef<unsigned> loops, ArrayRef<int64_t> ranges) {
  int64_t run = 1;
  for (unsigned loop : llvm::reverse(loops)) {
    if (ranges[loop] == 1)
      continue;
    if (map.isFunctionOfDim(loop))
      return run;
    if (ShapedType::isDynamic(ranges[loop]))
      return llvm::none_of(loops, [&](unsigned other) { return map.isFunctionOfDim(other); })
                 ? ShapedType::kDynamic
                 : run;
    run *= ranges[loop];
  }
  return ShapedType::kDynamic;
}

} // namespace cameo
