// Removes operators that compute nothing, and merges neighbours that are one operator together.
//
//   %0 = onnx.Identity(%x)                        ==>  %x
//   %1 = onnx.Transpose(%0) {perm = [1, 0]}
//   %2 = onnx.Transpose(%1) {perm = [1, 0]}       ==>  %0
//
// Every rule keeps each bit of the result, signs of zeros and NaN included. An operator's rules are a row at the end.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/ConstantFolding.h"

#include "mlir/IR/Iterators.h"

#include "passes/graph/Interfaces.cpp.inc"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_SIMPLIFYOPERATORS
#include "passes/Passes.h.inc"

//===-- Identities ----------------------------------------------------------------------------===//

static bool absent(Operation *op, unsigned index) {
  return index >= op->getNumOperands() || onnx::isAbsent(op->getOperand(index));
}

static bool allAre(Value value, int64_t wanted) {
  std::optional<SmallVector<int64_t>> values = onnx::constantInts(value);
  return values && llvm::all_of(*values, [&](int64_t v) { return v == wanted; });
}

static std::optional<int64_t> rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && hasReliableShape(value) ? std::optional(type.getRank()) : std::nullopt;
}

static Value always(Operation *op) { return op->getOperand(0); }

static Value ifSameShape(Operation *op) {
  return haveSameShape(op->getOperand(0), op->getResult(0)) ? op->getOperand(0) : Value();
}

static Value ifOneOperand(Operation *op) {
  return op->getNumOperands() == 1 ? op->getOperand(0) : Value();
}

/// Without training nothing is dropped; a mask that is used would be all true. A ratio that is
/// given at run time is checked then.
static Value dropout(Operation *op) {
  bool masks = op->getNumResults() > 1 && !op->getResult(1).use_empty();
  bool open = !absent(op, 1) && !onnx::constantValue(op->getOperand(1));
  if (masks || open || !(absent(op, 2) || allAre(op->getOperand(2), 0)))
    return {};
  return op->getOperand(0);
}

static Value sameCast(Operation *op) {
  std::optional<onnx::ElementKind> from = onnx::innerKind(op->getOperand(0).getType());
  return from && from == onnx::innerKind(op->getResult(0).getType()) ? op->getOperand(0) : Value();
}

static Value transpose(Operation *op) {
  auto perm = op->getAttrOfType<DenseI64ArrayAttr>("perm");
  if (!perm) {
    std::optional<int64_t> rank = rankOf(op->getOperand(0));
    return rank && *rank <= 1 ? op->getOperand(0) : Value();
  }
  for (auto [i, from] : llvm::enumerate(perm.asArrayRef()))
    if (from != static_cast<int64_t>(i))
      return {};
  return op->getOperand(0);
}

static bool isView(Operation *op) {
  return isa_and_nonnull<onnx::ReshapeOp, onnx::FlattenOp, onnx::SqueezeOp, onnx::UnsqueezeOp>(op);
}

/// Views of views of a value, back in that value's shape.
static Value view(Operation *op) {
  for (Operation *from = op; isView(from); from = from->getOperand(0).getDefiningOp())
    if (haveSameShape(from->getOperand(0), op->getResult(0)))
      return from->getOperand(0);
  return {};
}

static Value pad(Operation *op) {
  return allAre(op->getOperand(1), 0) ? op->getOperand(0) : Value();
}

static Value slice(Operation *op) {
  if (!absent(op, 4) && !allAre(op->getOperand(4), 1))
    return {};
  if (haveSameShape(op->getOperand(0), op->getResult(0)))
    return op->getOperand(0);
  std::optional<SmallVector<int64_t>> ends = onnx::constantInts(op->getOperand(2));
  bool toTheEnd = ends && llvm::all_of(*ends, [](int64_t end) { return end >= INT32_MAX; });
  return toTheEnd && allAre(op->getOperand(1), 0) ? op->getOperand(0) : Value();
}

/// A size that is given at run time is checked then.
static Value split(Operation *op) {
  bool known = absent(op, 1) || onnx::constantValue(op->getOperand(1));
  return known && op->getNumResults() == 1 ? op->getOperand(0) : Value();
}

static Value clip(Operation *op) {
  return absent(op, 1) && absent(op, 2) ? op->getOperand(0) : Value();
}

/// Operand `x` where the other one is a constant of nothing but `neutral` and broadcasts to x.
static Value unless(Operation *op, unsigned x, double neutral) {
  Value value = op->getOperand(x), other = op->getOperand(1 - x);
  ElementsAttr constant = onnx::constantValue(other);
  std::optional<int64_t> rank = rankOf(value);
  if (!constant || !rank)
    return {};
  auto shape = constant.getShapedType().getShape();
  bool ones = static_cast<int64_t>(shape.size()) <= *rank &&
              llvm::all_of(shape, [](int64_t size) { return size == 1; });
  if (!ones && !haveSameShape(value, op->getResult(0)))
    return {};
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  if (!dense || !dense.isSplat())
    return {};
  if (auto real = dyn_cast<FloatType>(dense.getElementType())) {
    APFloat wanted(neutral);
    bool lost;
    wanted.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return dense.getSplatValue<APFloat>().bitwiseIsEqual(wanted) ? value : Value();
  }
  if (!isa<IntegerType>(dense.getElementType()))
    return {};
  return dense.getSplatValue<APInt>() == static_cast<uint64_t>(neutral) ? value : Value();
}

/// x + 0.0 is +0.0 for x = -0.0, so that only -0.0 is neutral among floats.
static Value add(Operation *op) {
  Value first = unless(op, 0, -0.0);
  return first ? first : unless(op, 1, -0.0);
}
static Value sub(Operation *op) { return unless(op, 0, 0.0); }
static Value mul(Operation *op) {
  Value first = unless(op, 0, 1.0);
  return first ? first : unless(op, 1, 1.0);
}
static Value div(Operation *op) { return unless(op, 0, 1.0); }

//===-- Merges --------------------------------------------------------------------------------===//

/// Transpose(Transpose(x)) is one Transpose.
static LogicalResult mergeTransposes(Operation *op) {
  auto inner = op->getOperand(0).getDefiningOp<onnx::TransposeOp>();
  auto outer = llvm::cast<onnx::TransposeOp>(op);
  if (!inner || !inner.getPermAttr() || !outer.getPermAttr())
    return failure();
  ArrayRef<int64_t> first = inner.getPermAttr(), second = outer.getPermAttr();
  SmallVector<int64_t> perm;
  for (int64_t axis : second) {
    if (axis < 0 || axis >= static_cast<int64_t>(first.size()))
      return failure();
    perm.push_back(first[axis]);
  }
  outer.setPerm(perm);
  op->setOperand(0, inner->getOperand(0));
  return success();
}

/// A view of a view is a view of what the first one saw; sizes of 0 mean sizes of the input.
static LogicalResult mergeReshapes(Operation *op) {
  Operation *inner = op->getOperand(0).getDefiningOp();
  std::optional<SmallVector<int64_t>> shape = onnx::constantInts(op->getOperand(1));
  if (!isView(inner) || !shape || llvm::is_contained(*shape, 0))
    return failure();
  op->setOperand(0, inner->getOperand(0));
  return success();
}

/// Cast(Cast(x, B), C) is Cast(x, C) where B holds every value of x. Between integers by way of
/// floats it is not: what does not fit is undefined there and wraps here.
static LogicalResult mergeCasts(Operation *op) {
  auto inner = op->getOperand(0).getDefiningOp<onnx::CastOp>();
  if (!inner)
    return failure();
  Value source = inner->getOperand(0);
  auto from = dyn_cast<TensorType>(source.getType());
  auto through = dyn_cast<TensorType>(inner->getResult(0).getType());
  auto to = dyn_cast<TensorType>(op->getResult(0).getType());
  if (!from || !through || !to || !holdsValuesOf(through.getElementType(), from.getElementType()))
    return failure();
  bool detour = isa<IntegerType>(from.getElementType()) &&
                isa<FloatType>(through.getElementType()) && isa<IntegerType>(to.getElementType());
  if (detour && from.getElementType() != to.getElementType())
    return failure();
  op->setOperand(0, source);
  return success();
}

//===-- Rows ----------------------------------------------------------------------------------===//

namespace {

struct Simplification {
  Value (*identity)(Operation *) = nullptr;
  LogicalResult (*merge)(Operation *) = nullptr;
};

struct SimplificationModel : SimplificationInterface::FallbackModel<SimplificationModel> {
  Simplification row;
  Value identity(Operation *op) const { return row.identity(op); }
  LogicalResult mergeWithOperand(Operation *op) const {
    return row.merge ? row.merge(op) : failure();
  }
};

} // namespace

void attachSimplifications(MLIRContext &context) {
  onnx::OperatorRows<SimplificationModel> rows(context);
  rows.add<onnx::IdentityOp>({always});
  rows.add<onnx::DropoutOp>({dropout});
  rows.add<onnx::CastOp>({sameCast, mergeCasts});
  rows.add<onnx::CastLikeOp>({sameCast});
  rows.add<onnx::TransposeOp>({transpose, mergeTransposes});
  rows.add<onnx::ReshapeOp>({view, mergeReshapes});
  rows.add<onnx::FlattenOp, onnx::SqueezeOp, onnx::UnsqueezeOp>({view});
  rows.add<onnx::ExpandOp, onnx::TileOp>({ifSameShape});
  rows.add<onnx::PadOp>({pad});
  rows.add<onnx::SliceOp>({slice});
  rows.add<onnx::ConcatOp, onnx::SumOp, onnx::MeanOp, onnx::MaxOp, onnx::MinOp>({ifOneOperand});
  rows.add<onnx::SplitOp>({split});
  rows.add<onnx::ClipOp>({clip});
  rows.add<onnx::AddOp>({add});
  rows.add<onnx::SubOp>({sub});
  rows.add<onnx::MulOp>({mul});
  rows.add<onnx::DivOp, onnx::PowOp>({div});
}

Value identityOf(Operation *op) {
  auto simplified = dyn_cast<SimplificationInterface>(op);
  return simplified ? simplified.identity() : Value();
}

//===-- Pass ----------------------------------------------------------------------------------===//

namespace {

/// Where a value comes from, for sentences.
std::string originOf(func::FuncOp function, Value value) {
  Operation *definition = value.getDefiningOp();
  if (!definition) {
    auto argument = cast<BlockArgument>(value);
    auto name =
        argument.getOwner() == &function.front()
            ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::kNameAttr)
            : StringAttr();
    return name ? "the input '" + name.str() + "'" : "an input";
  }
  StringRef node = rt::firstNode(definition->getLoc());
  return node.empty() ? "what it reads" : "that of '" + node.str() + "'";
}

struct SimplifyOperators : impl::SimplifyOperatorsBase<SimplifyOperators> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    rt::Ledger ledger(function);
    replaced.clear();
    // First, because what is used only by what nothing uses must not keep others.
    eraseUnused(function, ledger);
    // Operators come after their operands, so that one walk sees each of them in its final form.
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<onnx::OnnxDialect>(op->getDialect()))
        return;
      auto simplified = dyn_cast<SimplificationInterface>(op);
      while (simplified) {
        Operation *before = op->getOperand(0).getDefiningOp();
        if (failed(simplified.mergeWithOperand()))
          break;
        StringRef kind = before->getName().stripDialect();
        ledger.merged(before->getLoc(), op->getLoc(), ("the " + kind + " before it").str());
        count(&getContext(), getArgument(), "merged");
      }
      if (Value same = identityOf(op); same && !op->getResult(0).use_empty()) {
        ledger.applied("remove", op->getLoc(), "removed",
                       "its result is " + originOf(function, same));
        replaceResult(op, 0, same);
        replaced.insert(op);
        count(&getContext(), getArgument(), "removed");
      }
    });
    eraseUnused(function, ledger);
    updateFunctionType(function);
  }

private:
  llvm::DenseSet<Operation *> replaced; // by others' results, which the ledger names

  /// Operators of ONNX have no effects but their results.
  void eraseUnused(func::FuncOp function, rt::Ledger &ledger) {
    function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (!isa<onnx::OnnxDialect>(op->getDialect()) || op->hasTrait<OpTrait::IsTerminator>() ||
          !op->use_empty())
        return;
      if (!isa<onnx::ConstantOp, onnx::NoneOp>(op) && !replaced.contains(op))
        ledger.applied("remove", op->getLoc(), "removed", "nothing reads its result");
      op->erase();
      count(&getContext(), getArgument(), "unused");
    });
  }
};

} // namespace

} // namespace cameo
