// Views and transposes on both sides of operators that do not need them.
//
//   %0 = onnx.Reshape(%x, %a)                    %0 = onnx.Transpose(%x)
//   %1 = onnx.Relu(%0)                           %1 = onnx.Transpose(%y)
//   %2 = onnx.Reshape(%1, %b)  ==> Relu(%x)      %2 = onnx.MatMul(%0, %1)
//                                                %3 = onnx.Transpose(%2)  ==> MatMul(%y, %x)
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/DataMovement.h"

using namespace mlir;

namespace cameo {

//===-- Views ---------------------------------------------------------------------------------===//

static bool isView(Operation *op) {
  return isa_and_nonnull<onnx::ReshapeOp, onnx::FlattenOp, onnx::SqueezeOp, onnx::UnsqueezeOp>(op);
}

namespace {
/// Elementwise operators between views from one shape and to it.
class ViewedGroup {
public:
  explicit ViewedGroup(Operation *last) : shape(last->getResult(0)), inner(last->getOperand(0)) {}

  /// Whether all around what the last view reads are views of the shape.
  bool collect();
  /// Computes them in the shape. `views` are those that they do not read any more.
  void rewrite(llvm::SetVector<Operation *> &views);
  int64_t size() const { return members.size(); }

private:
  bool add(Operation *op);

  Value shape, inner; // values of the shape, and of that between the views
  llvm::SetVector<Operation *> members;
};
} // namespace

/// More operators than that between two views are no form that a model has; and so a sweep stays
/// linear in the nodes.
static constexpr size_t kMostMembers = 32;

bool ViewedGroup::add(Operation *op) {
  if (!op || !isElementwise(op) || !haveSameShape(op->getResult(0), inner))
    return false;
  members.insert(op);
  return members.size() <= kMostMembers;
}

bool ViewedGroup::collect() {
  int64_t rank = cast<RankedTensorType>(shape.getType()).getRank();
  if (!add(inner.getDefiningOp()))
    return false;
  for (size_t i = 0; i < members.size(); ++i) {
    bool hasRank = false; // of single elements alone the result would have theirs
    for (Value operand : members[i]->getOperands()) {
      Operation *before = operand.getDefiningOp();
      if (isPlain(operand)) {
        auto type = dyn_cast<RankedTensorType>(operand.getType());
        if (type && type.getRank() > rank)
          return false;
        hasRank |= type && type.getRank() == rank;
        continue;
      }
      hasRank = true;
      if (isView(before) ? !haveSameShape(before->getOperand(0), shape) : !add(before))
        return false;
    }
    if (!hasRank)
      return false;
    for (Operation *user : members[i]->getUsers())
      if (isView(user) ? !haveSameShape(user->getResult(0), shape) : !add(user))
        return false;
  }
  return true;
}

void ViewedGroup::rewrite(llvm::SetVector<Operation *> &views) {
  auto type = cast<RankedTensorType>(shape.getType());
  ArrayAttr dims = knownDims(shape);
  for (Operation *member : members) {
    for (OpOperand &operand : member->getOpOperands())
      if (Operation *before = operand.get().getDefiningOp();
          isView(before) && !isPlain(operand.get())) {
        views.insert(before);
        operand.set(before->getOperand(0));
      }
    Value result = member->getResult(0);
    result.setType(RankedTensorType::get(
        type.getShape(), cast<RankedTensorType>(result.getType()).getElementType()));
    if (type.hasStaticShape())
      member->removeAttr(onnx::kDimsAttr);
    else
      setDims(member, dims.getValue());
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (isView(user)) {
        user->getResult(0).replaceAllUsesWith(result);
        views.insert(user);
      }
  }
}

int64_t cancelViews(Block &block, rt::Ledger &ledger) {
  int64_t computed = 0;
  SmallVector<Operation *> candidates;
  for (Operation &op : block)
    if (isView(&op) && reliable(op.getResult(0)) && !isView(op.getOperand(0).getDefiningOp()))
      candidates.push_back(&op);
  llvm::SetVector<Operation *> views;
  for (Operation *last : candidates) {
    // One that was between others has gone with them.
    if (last->use_empty())
      continue;
    ViewedGroup group(last);
    if (!group.collect())
      continue;
    computed += group.size();
    ledger.applied("sink", last->getLoc(), "not computed",
                   "what is between it and a view to the same shape is computed in that shape");
    group.rewrite(views);
  }
  for (Operation *view : views)
    if (view->use_empty())
      eraseWithConstants(view);
  return computed;
}

//===-- Products ------------------------------------------------------------------------------===//

/// How the result of a MatMul is a transpose of the product of what its operands are transposes of;
/// with the last two dimensions exchanged, of that product the other way round.
static std::optional<Permutation> aroundProduct(Operation *product) {
  std::optional<Permutation> left = permutationOf(product->getOperand(0).getDefiningOp());
  std::optional<Permutation> right = permutationOf(product->getOperand(1).getDefiningOp());
  // Only where nothing is broadcast does each result's dimension come from one of each operand.
  if (!left || !right || left->size() < 3 || *left != *right || !reliable(product->getResult(0)))
    return std::nullopt;
  int64_t batches = left->size() - 2;
  if ((*left)[batches] < batches || (*left)[batches + 1] < batches)
    return std::nullopt;
  ArrayAttr a = knownDims(product->getOperand(0)), b = knownDims(product->getOperand(1));
  for (int64_t i = 0; i < batches; ++i)
    if (a[i] != b[i] || a[i] == StringAttr::get(product->getContext(), ""))
      return std::nullopt;
  return left;
}

int64_t cancelAroundProducts(Block &block, rt::Ledger &ledger) {
  int64_t count = 0;
  SmallVector<onnx::MatMulOp> products;
  llvm::append_range(products, block.getOps<onnx::MatMulOp>());
  for (Operation *product : products) {
    std::optional<Permutation> own = aroundProduct(product);
    auto cancels = [&](Operation *user) {
      std::optional<Permutation> behind = permutationOf(user);
      return behind && isIdentity(composed(*own, *behind));
    };
    if (!own || product->use_empty() || !llvm::all_of(product->getUsers(), cancels))
      continue;
    ledger.applied("sink", product->getLoc(), "computed in another order of dimensions",
                   "the transposes on both sides of it do nothing together");
    Operation *left = product->getOperand(0).getDefiningOp();
    Operation *right = product->getOperand(1).getDefiningOp();
    bool isExchanged = own->back() != static_cast<int64_t>(own->size()) - 1;
    product->setOperands(
        {(isExchanged ? right : left)->getOperand(0), (isExchanged ? left : right)->getOperand(0)});
    Permutation back = inverse(*own);
    Value result = product->getResult(0);
    result.setType(permuted(result.getType(), back));
    permuteDims(product, back);
    for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
      user->getResult(0).replaceAllUsesWith(result);
      user->erase();
    }
    if (left->use_empty())
      left->erase();
    if (right != left && right->use_empty())
      right->erase();
    ++count;
  }
  return count;
}

} // namespace cameo
