// Products of the same operand with different weights ==> one product with all of the weights.
//
//   %q = kernel.dispatch ins(%x, %wq, %bq) {...}       %qkv:3 = kernel.dispatch ins(%x, %w, ...) {
//   %k = kernel.dispatch ins(%x, %wk, %bk) {...}  ==>    %wide = linalg.generic %x, %w
//   %v = kernel.dispatch ins(%x, %wv, %bv) {...}         each result from its slice of %wide }
//
// The operand is read once instead of once a product, and one large launch fills more of a GPU than
// several small ones: projections of attention, 1x1 convolutions of parallel branches. Every sum is
// the one it was.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/Passes.h"
#include "passes/fuse/FusionLimits.h"

#include "dialects/kernel/form/Form.h"
#include "dialects/onnx/Constants.h"
#include "dialects/rt/Ledger.h"
#include "dialects/rt/Rt.h"
#include "passes/Statistics.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_MERGEPRODUCTS
#include "passes/Passes.h.inc"

namespace {

/// A dispatch of a product with a weight, as far as it may join others.
struct Branch {
  // Of these, because their accessors are not const.
  mutable kernel::DispatchOp op;
  mutable linalg::GenericOp product;
  unsigned shared, weight;            // operands of the product
  Value source;                       // of the plan: what the shared operand is, or is padded from
  mutable rt::GetConstantOp constant; // the weight
  unsigned loop;                      // in the weight and the result alone
  unsigned weightDim, resultDim;      // where that loop is
  int64_t extent;
};

/// The dimension that a map indexes with `loop` alone; nothing where it is not one.
std::optional<unsigned> dimensionOf(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

/// The operand outside that a value of the body is, or is padded from.
Value sourceOf(kernel::DispatchOp op, Value value) {
  if (auto pad = value.getDefiningOp<tensor::PadOp>()) {
    if (!pad.getConstantPaddingValue() || !pad.getLow().empty() || !pad.getHigh().empty())
      return {};
    value = pad.getSource();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBodyBlock()
             ? op->getOperand(argument.getArgNumber())
             : Value();
}

/// The product that a dispatch is, with elementwise work on it; null where it is none.
linalg::GenericOp productIn(kernel::DispatchOp op) {
  Computation computation(op);
  if (op.getSchedule() || formOf(computation) != DispatchForm::Product)
    return {};
  return computation.root.getDefiningOp<linalg::GenericOp>();
}

/// What a product multiplies, without constants.
SmallVector<Value> sourcesOf(kernel::DispatchOp op, linalg::GenericOp product) {
  SmallVector<Value> sources;
  for (Value input : product.getInputs())
    if (Value source = sourceOf(op, input); source && !source.getDefiningOp<rt::GetConstantOp>() &&
                                            !llvm::is_contained(sources, source))
      sources.push_back(source);
  return sources;
}

std::optional<Branch> matchBranch(kernel::DispatchOp op, linalg::GenericOp product) {
  Branch branch;
  branch.op = op;
  branch.product = product;
  for (unsigned weight : {1u, 0u}) {
    Value outside = sourceOf(op, product.getInputs()[weight]);
    auto constant = outside ? outside.getDefiningOp<rt::GetConstantOp>() : rt::GetConstantOp();
    if (!constant || !isa<BlockArgument>(product.getInputs()[weight]))
      continue;
    branch.weight = weight, branch.shared = 1 - weight, branch.constant = constant;
    branch.source = sourceOf(op, product.getInputs()[branch.shared]);
    AffineMap mine = product.getIndexingMapsArray()[weight];
    AffineMap other = product.getIndexingMapsArray()[branch.shared];
    AffineMap result = product.getIndexingMapsArray().back();
    for (unsigned loop = 0; loop < product.getNumLoops(); ++loop) {
      auto weightDim = dimensionOf(mine, loop), resultDim = dimensionOf(result, loop);
      int64_t extent = product.getStaticLoopRanges()[loop];
      if (!weightDim || !resultDim || other.isFunctionOfDim(loop) ||
          ShapedType::isDynamic(extent) || extent == 1)
        continue;
      branch.loop = loop, branch.weightDim = *weightDim, branch.resultDim = *resultDim;
      branch.extent = extent;
      if (branch.source && mine.isProjectedPermutation() &&
          !branch.source.getDefiningOp<rt::GetConstantOp>())
        return branch;
    }
  }
  return std::nullopt;
}

/// The same for branches that are alike.
size_t hashOf(const Branch &branch) {
  auto type = cast<RankedTensorType>(branch.constant.getType());
  return llvm::hash_combine(branch.source, branch.loop, branch.weight,
                            branch.product.getIndexingMaps(), branch.product.getIteratorTypes(),
                            type.getElementType(), type.getNumElements() / branch.extent);
}

/// Why the products differ in more than their weights, and in how many rows these have; empty where
/// they do not.
StringRef whyUnlike(Branch &a, Branch &b) {
  auto shapeBut = [](Value value, unsigned dim) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = 0;
    return std::pair(shape, type.getElementType());
  };
  if (a.source != b.source || a.loop != b.loop || a.weight != b.weight ||
      a.product.getIndexingMaps() != b.product.getIndexingMaps() ||
      a.product.getIteratorTypes() != b.product.getIteratorTypes() ||
      a.product->getDiscardableAttrDictionary() != b.product->getDiscardableAttrDictionary())
    return "they go through it in different ways or steps";
  if (shapeBut(a.constant, a.weightDim) != shapeBut(b.constant, b.weightDim))
    return "their weights are of different shapes or types";
  if (shapeBut(a.product.getResult(0), a.resultDim) !=
      shapeBut(b.product.getResult(0), b.resultDim))
    return "their results are of different shapes or types";
  Value left = a.product.getInputs()[a.shared], right = b.product.getInputs()[b.shared];
  auto padA = left.getDefiningOp<tensor::PadOp>(), padB = right.getDefiningOp<tensor::PadOp>();
  if (left.getType() != right.getType() || bool(padA) != bool(padB) ||
      (padA && (CAMEO_MUTANT(3, padA.getStaticLow() != padB.getStaticLow(), false) ||
                padA.getConstantPaddingValue().getDefiningOp()->getAttrs() !=
                    padB.getConstantPaddingValue().getDefiningOp()->getAttrs())))
    return "they pad it differently";
  bool alike = OperationEquivalence::isRegionEquivalentTo(
      &a.product.getRegion(), &b.product.getRegion(), OperationEquivalence::IgnoreLocations);
  return alike ? "" : "they multiply and add in different ways";
}

/// Rows of several constants one after the other along a dimension.
class JoinedWeights {
public:
  explicit JoinedWeights(ModuleOp module) : module(module) {}

  /// Null where the bytes of one of them cannot be read.
  rt::ConstantOp join(ArrayRef<Branch> branches) {
    std::string name;
    std::vector<onnx::ConstantBytes> parts;
    SmallVector<int64_t> shape;
    int64_t total = 0;
    rt::ConstantOp last;
    for (const Branch &branch : branches) {
      StringRef symbol = branch.constant.getConstant();
      last = lookup(symbol);
      auto value = cast<ElementsAttr>(last.getValue());
      auto bytes = onnx::constantBytes(value);
      auto kind = onnx::elementKind(value.getElementType());
      if (!bytes || bytes->isSplat() || !kind || onnx::elementBytes(*kind) == 0)
        return {};
      name += (name.empty() ? "" : "_") + symbol.str();
      parts.push_back(std::move(*bytes));
      shape = llvm::to_vector(value.getShapedType().getShape());
      total += shape[branch.weightDim];
    }
    rt::ConstantOp &joined = constants[name];
    if (joined)
      return joined;
    shape[branches[0].weightDim] = total;
    Type element = cast<ElementsAttr>(last.getValue()).getElementType();
    auto type = RankedTensorType::get(shape, element);
    OpBuilder builder(last);
    builder.setInsertionPointAfter(last);
    return joined = builder.create<rt::ConstantOp>(
               last.getLoc(), name, onnx::makeConstant(type, name, interleaved(parts, branches)),
               IntegerAttr());
  }

private:
  rt::ConstantOp lookup(StringRef symbol) {
    if (symbols.empty())
      for (auto constant : module.getOps<rt::ConstantOp>())
        symbols[constant.getSymName()] = constant;
    return symbols.lookup(symbol);
  }

  /// Their bytes in the joined constant's row-major order.
  static std::vector<char> interleaved(ArrayRef<onnx::ConstantBytes> parts,
                                       ArrayRef<Branch> branches) {
    int64_t outer = 1;
    auto type = cast<RankedTensorType>(branches[0].constant.getType());
    for (int64_t size : type.getShape().take_front(branches[0].weightDim))
      outer *= size;
    std::vector<char> result;
    for (int64_t i = 0; i < outer; ++i)
      for (const onnx::ConstantBytes &part : parts) {
        ArrayRef<char> bytes = part.get();
        int64_t run = bytes.size() / outer;
        result.insert(result.end(), bytes.begin() + i * run, bytes.begin() + (i + 1) * run);
      }
    return result;
  }

  ModuleOp module;
  llvm::StringMap<rt::ConstantOp> symbols, constants;
};

/// Writes the dispatch of several branches.
class WideProduct {
public:
  WideProduct(ArrayRef<Branch> branches, rt::ConstantOp weight)
      : branches(branches), weight(weight), body(weight.getContext()) {}

  /// Where the first branch stands, before which all operands of the others have been moved.
  kernel::DispatchOp build() {
    kernel::DispatchOp first = branches.front().op;
    OpBuilder builder(first);
    SmallVector<Location> locations;
    llvm::SetVector<Value> inputs, scalars;
    SmallVector<Value> inits;
    for (const Branch &branch : branches) {
      kernel::DispatchOp op = branch.op;
      locations.push_back(op.getLoc());
      for (Value input : op.getInputs())
        if (input.getDefiningOp() != branch.constant.getOperation())
          inputs.insert(input);
      scalars.insert(op.getScalars().begin(), op.getScalars().end());
      llvm::append_range(inits, op.getInits());
    }
    Value constant = builder.create<rt::GetConstantOp>(
        weight.getLoc(), cast<ElementsAttr>(weight.getValue()).getType(), weight.getSymName());
    inputs.insert(constant);
    merged = builder.create<kernel::DispatchOp>(builder.getFusedLoc(locations),
                                                inputs.getArrayRef(), scalars.getArrayRef(), inits);
    for (auto [outside, argument] :
         llvm::zip(merged->getOperands(), merged.getBody().getArguments()))
      inside.try_emplace(outside, argument);
    body = OpBuilder::atBlockEnd(merged.getBodyBlock());
    Value wide = buildProduct(inside[constant]);
    SmallVector<Value> results;
    int64_t offset = 0;
    unsigned nextInit = inputs.size() + scalars.size();
    for (const Branch &branch : branches) {
      IRMapping mapping = argumentsOf(branch.op, nextInit);
      nextInit += branch.op.getNumResults();
      mapping.map(branch.product.getResult(0), slice(branch, wide, offset));
      offset += branch.extent;
      copyBody(branch, mapping, results);
    }
    body.create<kernel::YieldOp>(merged.getLoc(), results);
    return merged;
  }

private:
  IRMapping argumentsOf(kernel::DispatchOp op, unsigned firstInit) {
    IRMapping mapping;
    for (auto [outside, argument] : llvm::zip(op->getOperands(), op.getBody().getArguments()))
      if (auto found = inside.find(outside); found != inside.end())
        mapping.map(argument, found->second);
    for (auto [i, argument] : llvm::enumerate(op.getInitArgs()))
      mapping.map(argument, merged.getBody().getArgument(firstInit + i));
    return mapping;
  }

  Value buildProduct(Value constant) {
    const Branch &first = branches.front();
    linalg::GenericOp product = first.product;
    IRMapping mapping =
        argumentsOf(first.op, merged.getInputs().size() + merged.getScalars().size());
    for (Operation &inner : first.op.getBodyBlock()->without_terminator()) {
      if (&inner == product.getOperation())
        break;
      body.clone(inner, mapping);
    }
    int64_t total = 0;
    for (const Branch &branch : branches)
      total += branch.extent;
    auto narrow = cast<RankedTensorType>(product.getResult(0).getType());
    SmallVector<int64_t> shape(narrow.getShape());
    shape[first.resultDim] = total;
    auto type = RankedTensorType::get(shape, narrow.getElementType());
    auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    Location loc = merged.getLoc();
    SmallVector<Value> sizes;
    for (Value size : empty.getDynamicSizes())
      sizes.push_back(mapping.lookupOrDefault(size));
    Value init = body.create<tensor::EmptyOp>(loc, type, sizes);
    init = body.create<linalg::FillOp>(loc, mapping.lookup(fill.getInputs()[0]), init).getResult(0);
    SmallVector<Value> operands(2);
    operands[first.weight] = constant;
    operands[first.shared] = mapping.lookup(product.getInputs()[first.shared]);
    auto wide = body.create<linalg::GenericOp>(loc, TypeRange{type}, operands, ValueRange{init},
                                               product.getIndexingMapsArray(),
                                               product.getIteratorTypesArray());
    wide->setDiscardableAttrs(product->getDiscardableAttrDictionary());
    product.getRegion().cloneInto(&wide.getRegion(), mapping);
    return wide.getResult(0);
  }

  /// The part of the wide product that is the branch's.
  Value slice(const Branch &branch, Value wide, int64_t offset) {
    Location loc = merged.getLoc();
    auto type = cast<RankedTensorType>(branch.product.getResult(0).getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), body.getIndexAttr(0)), sizes;
    SmallVector<OpFoldResult> strides(type.getRank(), body.getIndexAttr(1));
    offsets[branch.resultDim] = body.getIndexAttr(offset);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      sizes.push_back(type.isDynamicDim(dim)
                          ? OpFoldResult(body.create<tensor::DimOp>(loc, wide, dim).getResult())
                          : OpFoldResult(body.getIndexAttr(type.getDimSize(dim))));
    return body.create<tensor::ExtractSliceOp>(loc, type, wide, offsets, sizes, strides);
  }

  /// What a branch does with its product; what led to it has no other user, and is left out.
  void copyBody(const Branch &branch, IRMapping &mapping, SmallVector<Value> &results) {
    Block *block = branch.op.getBodyBlock();
    llvm::SmallPtrSet<Operation *, 8> needed;
    for (Value value : block->getTerminator()->getOperands())
      if (Operation *definition = value.getDefiningOp())
        needed.insert(definition);
    for (Operation &inner : llvm::reverse(block->without_terminator()))
      if (needed.contains(&inner) && &inner != branch.product.getOperation())
        inner.walk([&](Operation *nested) {
          for (Value operand : nested->getOperands())
            if (Operation *definition = operand.getDefiningOp())
              needed.insert(block->findAncestorOpInBlock(*definition));
        });
    for (Operation &inner : block->without_terminator())
      if (needed.contains(&inner) && &inner != branch.product.getOperation())
        body.clone(inner, mapping);
    for (Value value : block->getTerminator()->getOperands())
      results.push_back(mapping.lookup(value));
  }

  ArrayRef<Branch> branches;
  rt::ConstantOp weight;
  kernel::DispatchOp merged;
  llvm::DenseMap<Value, Value> inside;
  OpBuilder body;
};

struct MergeProducts : impl::MergeProductsBase<MergeProducts> {
  using MergeProductsBase::MergeProductsBase;

  void runOnOperation() override {
    JoinedWeights weights(getOperation());
    rt::Ledger ledger(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        mergeIn(block, weights, ledger);
  }

private:
  void mergeIn(Block &block, JoinedWeights &weights, rt::Ledger &ledger) {
    // Those that may be alike, in order; a group that can take no more is followed by another one.
    llvm::MapVector<size_t, SmallVector<SmallVector<Branch>>> groups;
    llvm::MapVector<Value, int64_t> readers; // products
    for (auto op : block.getOps<kernel::DispatchOp>()) {
      linalg::GenericOp product = productIn(op);
      if (!product)
        continue;
      for (Value source : sourcesOf(op, product))
        ++readers[source];
      if (std::optional<Branch> branch = matchBranch(op, product)) {
        auto &alike = groups[hashOf(*branch)];
        if (alike.empty() || !whyApart(alike.back(), *branch).empty())
          alike.emplace_back();
        alike.back().push_back(*branch);
      }
    }
    for (auto &[hash, alike] : groups)
      for (SmallVector<Branch> &group : alike)
        if (group.size() > 1) {
          for (Branch &branch : group)
            branch.source = replacementOf(branch.source);
          merge(group, weights, ledger);
        }
    for (auto [source, count] : readers)
      if (count > 1)
        recordMissed(block, replacementOf(source), ledger);
    for (Operation *op : replaced)
      op->destroy();
    replaced.clear();
    replacements.clear();
  }

  /// The value in the place of one whose dispatch became one with others.
  Value replacementOf(Value value) const {
    auto found = replacements.find(value);
    return CAMEO_MUTANT(42, found == replacements.end(), true) ? value
                                                               : replacementOf(found->second);
  }

  /// Why the branch cannot be computed with these, where the first of them stands; empty where it
  /// can.
  std::string whyApart(ArrayRef<Branch> group, Branch &branch) {
    Branch first = group.front();
    if (StringRef why = whyUnlike(first, branch); !why.empty())
      return why.str();
    int64_t results = branch.op.getNumResults(), tensors = branch.op.getInputs().size();
    for (const Branch &member : group) {
      results += member.op.getNumResults();
      tensors += member.op.getInputs().size();
    }
    auto beyond = [](int64_t count, StringRef what, int64_t most) {
      return ("one kernel would have " + Twine(count) + " " + what + "; at most " + Twine(most))
          .str();
    };
    if (results > maxResults)
      return beyond(results, "results", maxResults);
    if (tensors + results > maxTensors)
      return beyond(tensors + results, "tensors", maxTensors);
    llvm::SetVector<Operation *> moved;
    for (Value operand : branch.op->getOperands())
      if (!isAvailable(operand, first.op, moved))
        return "one of them reads what is not computed before the other";
    return {};
  }

  /// Says of each product of `source` that is not one with the first of them why.
  void recordMissed(Block &block, Value source, rt::Ledger &ledger) {
    llvm::MapVector<Operation *, linalg::GenericOp> products;
    for (Operation *user : source.getUsers()) {
      auto op = dyn_cast<kernel::DispatchOp>(user);
      linalg::GenericOp product =
          op && op->getBlock() == &block ? productIn(op) : linalg::GenericOp();
      if (product && llvm::is_contained(sourcesOf(op, product), source))
        products[op] = product;
    }
    auto order = llvm::to_vector(llvm::make_first_range(products));
    llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    std::optional<Branch> first;
    for (Operation *op : order) {
      std::optional<Branch> branch = matchBranch(cast<kernel::DispatchOp>(op), products[op]);
      if (op == order.front()) {
        first = branch;
        continue;
      }
      std::string why = first && branch
                            ? whyApart(*first, *branch)
                            : "the weight of one of them is not a constant, or its rows "
                              "are not columns of the result";
      if (!why.empty())
        notMerged(order.front()->getLoc(), op->getLoc(), why, source, ledger);
    }
  }

  static void notMerged(Location first, Location at, StringRef why, Value source,
                        rt::Ledger &ledger) {
    StringRef node = rt::firstNode(first);
    std::string text = "not merged with " + (node.empty() ? "" : "'" + node.str() + "', ") +
                       "a product of the same operand";
    ledger.record({rt::DecisionKind::Missed, "merge", text, why, at, first, bytesOf(source)});
  }

  /// Nothing where sizes are known only at run time.
  static std::optional<int64_t> bytesOf(Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.hasStaticShape())
      return std::nullopt;
    return type.getNumElements() * std::max<int64_t>(type.getElementTypeBitWidth(), 8) / 8;
  }

  /// Whether the value is there before `op`, or can be: cheap, free of effects, and its operands
  /// can be, too. Those operations are added to `moved`, each behind those that it needs.
  static bool isAvailable(Value value, Operation *op, llvm::SetVector<Operation *> &moved) {
    Operation *definition = value.getDefiningOp();
    if (!definition || moved.contains(definition) || definition->isBeforeInBlock(op))
      return true;
    if (isa<kernel::DispatchOp>(definition) || !isMemoryEffectFree(definition) ||
        !llvm::all_of(definition->getOperands(),
                      [&](Value operand) { return isAvailable(operand, op, moved); }))
      return false;
    moved.insert(definition);
    return true;
  }

  void merge(ArrayRef<Branch> group, JoinedWeights &weights, rt::Ledger &ledger) {
    rt::ConstantOp weight = weights.join(group);
    if (!weight)
      return keep(group, "a weight has equal elements alone, and is not memory", ledger);
    kernel::DispatchOp first = group.front().op;
    llvm::SetVector<Operation *> moved;
    for (const Branch &branch : group)
      for (Value operand : branch.op->getOperands())
        (void)isAvailable(operand, first, moved);
    for (Operation *op : moved)
      op->moveBefore(first);
    kernel::DispatchOp merged = WideProduct(group, weight).build();
    if (formOf(Computation(merged)) != DispatchForm::Product) {
      merged.erase();
      return keep(group, "together they would not be a product any more", ledger);
    }
    // The shared operand is read once.
    std::optional<int64_t> bytes = bytesOf(group.front().source);
    for (const Branch &branch : group.drop_front())
      ledger.merged(first.getLoc(), branch.op.getLoc(), "a product of the same operand", bytes);
    unsigned next = 0;
    for (const Branch &branch : group) {
      kernel::DispatchOp op = branch.op;
      for (Value result : op.getResults()) {
        replacements[result] = merged.getResult(next);
        result.replaceAllUsesWith(merged.getResult(next++));
      }
      op->remove();
      op->dropAllReferences();
      CAMEO_MUTANT(42, replaced.push_back(op), op->destroy());
      if (branch.constant->use_empty())
        branch.constant->erase();
    }
    count(&getContext(), getArgument(), "merged", group.size());
  }

  static void keep(ArrayRef<Branch> group, StringRef why, rt::Ledger &ledger) {
    kernel::DispatchOp first = group.front().op;
    for (const Branch &branch : group.drop_front())
      notMerged(first.getLoc(), branch.op.getLoc(), why, branch.source, ledger);
  }

  // Dispatches that became one with others are kept until a block is done, because later groups read
  // their results, and a new one must not get the address of one of these.
  SmallVector<Operation *> replaced;
  llvm::DenseMap<Value, Value> replacements;
};

} // namespace

} // namespace cameo
