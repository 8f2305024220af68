// Whether the work of a dispatch falls apart along the first dimension of its tensors.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/IndexWidth.h"
#include "codegen/schedule/KernelEmitter.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace cameo {

/// Of tensors whose first dimension is the one in question, elements in the rest.
static int64_t restOf(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape().drop_front())
    elements *= size;
  return elements;
}

/// Whether the tensor has the dimension: no other one is ever known at run time only.
static bool isCut(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && type.getRank() > 0 && type.isDynamicDim(0);
}

namespace {

/// Reads a dispatch's body. Each index along the dimension is computed from the same index of other
/// tensors, or from tensors that do not have it.
class ChunkReader {
public:
  ChunkReader(kernel::DispatchOp op, int64_t bound) : op(op), bound(bound) {}

  std::optional<Chunks> read() {
    for (BlockArgument argument : op.getBodyBlock()->getArguments())
      if (!take(argument) || (isa<RankedTensorType>(argument.getType()) ? !readOperand(argument)
                                                                        : !readScalar(argument)))
        return std::nullopt;
    for (Operation &operation : *op.getBodyBlock())
      if (!readOperation(&operation))
        return std::nullopt;
    linkEqualSizes();
    // One dimension, not several that have nothing to do with one another.
    if (classes.getNumClasses() != 1)
      return std::nullopt;
    // Vectors of up to 16 elements are as aligned in a chunk as in the whole.
    int64_t unit = 1;
    for (auto &[argument, step] : chunks.steps)
      unit = std::max(unit, 16 / std::gcd<int64_t>(16, step));
    chunks.size = (bound - 1) / longest / unit * unit;
    return chunks.size > 0 ? std::optional(chunks) : std::nullopt;
  }

private:
  static const void *key(Value tensor) { return tensor.getAsOpaquePointer(); }

  /// Whether the value is of a type that can be in chunks: nothing but the first dimension is
  /// unknown, and the rest is small enough.
  bool take(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return true;
    if (type.hasStaticShape())
      return type.getNumElements() < bound;
    if (!isCut(value) || llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic))
      return false;
    longest = std::max(longest, restOf(type));
    classes.insert(key(value));
    return true;
  }

  /// The two have the dimension, which is as long in one as in the other, or both do not.
  bool link(Value a, Value c) {
    if (isCut(a) && isCut(c))
      classes.unionSets(key(a), key(c));
    return isCut(a) == isCut(c);
  }

  bool readOperand(BlockArgument argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    OperandLayout layout = operandLayout(op, argument);
    int64_t inside = 1, step = isCut(argument) ? restOf(type) : 1; // of its memory, and a step
    if (!layout.isContiguous()) {
      for (auto [size, stride] : llvm::zip(type.getShape(), layout.strides)) {
        if (ShapedType::isDynamic(stride) || stride < 0)
          return false;
        inside += ShapedType::isDynamic(size) ? 0 : std::max<int64_t>(size - 1, 0) * stride;
      }
      step = layout.strides.empty() ? 1 : layout.strides.front();
    }
    if (isCut(argument))
      chunks.steps[argument] = step;
    longest = std::max({longest, inside, isCut(argument) ? step : 1});
    return inside < bound;
  }

  /// Sizes may be among the plan's scalars, but no other part of an index.
  bool readScalar(BlockArgument argument) {
    if (!isIndex(op, argument.getType()))
      return true;
    chunks.extents.insert(argument);
    return argument.getType().isIndex() &&
           llvm::all_of(argument.getUsers(), llvm::IsaPred<tensor::EmptyOp>);
  }

  bool readOperation(Operation *operation) {
    if (!llvm::all_of(operation->getResults(), [&](Value result) { return take(result); }))
      return false;
    return llvm::TypeSwitch<Operation *, bool>(operation)
        .Case([&](linalg::LinalgOp linalgOp) { return readLoops(linalgOp); })
        .Case([&](kernel::LineOpInterface line) {
          Value result = line->getResult(0);
          return link(line.lineInput(), result) && link(line.lineInit().get(), result) &&
                 (line.lineAxis() != 0 || !isCut(result));
        })
        .Case([&](tensor::EmptyOp empty) {
          return llvm::all_of(empty.getDynamicSizes(), [&](Value size) {
            auto dim = size.getDefiningOp<tensor::DimOp>();
            return dim ? link(dim.getSource(), empty) : isa<BlockArgument>(size);
          });
        })
        .Case([&](tensor::DimOp dim) {
          return isCut(dim.getSource()) && dim.getConstantIndex() == 0 &&
                 llvm::all_of(
                     dim->getUsers(),
                     llvm::IsaPred<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp>);
        })
        .Case([&](tensor::CastOp cast) { return link(cast.getSource(), cast); })
        .Case([&](tensor::PadOp pad) {
          return link(pad.getSource(), pad) &&
                 (!isCut(pad) || (isConstantIntValue(pad.getMixedLowPad()[0], 0) &&
                                  isConstantIntValue(pad.getMixedHighPad()[0], 0)));
        })
        .Case([&](tensor::CollapseShapeOp reshape) {
          return readReshape(reshape.getSrc(), reshape, reshape.getSrcType(),
                             reshape.getReassociationIndices());
        })
        .Case([&](tensor::ExpandShapeOp reshape) {
          return readReshape(reshape.getSrc(), reshape, reshape.getResultType(),
                             reshape.getReassociationIndices());
        })
        .Case([&](tensor::ExtractSliceOp slice) { return readSlice(slice); })
        .Case([&](kernel::YieldOp yield) {
          return llvm::all_of(llvm::zip(yield.getValues(), op.getInitArgs()), [&](auto pair) {
            return link(std::get<0>(pair), std::get<1>(pair));
          });
        })
        .Default([](Operation *other) {
          return isa<arith::ConstantOp>(other) ||
                 llvm::none_of(llvm::concat<const Type>(llvm::to_vector(other->getOperandTypes()),
                                                        llvm::to_vector(other->getResultTypes())),
                               [](Type type) { return type.isIndex() || isa<TensorType>(type); });
        });
  }

  /// The dimension has loop `l` in each operand that has it, and no other place has the loop.
  bool readLoops(linalg::LinalgOp linalgOp) {
    AffineExpr loop;
    Value first;
    for (OpOperand &operand : linalgOp->getOpOperands()) {
      if (!isCut(operand.get()))
        continue;
      AffineExpr expr = linalgOp.getMatchingIndexingMap(&operand).getResult(0);
      if (!isa<AffineDimExpr>(expr) || (loop && loop != expr) ||
          (first && !link(first, operand.get())))
        return false;
      loop = expr;
      first = operand.get();
    }
    for (OpResult result : linalgOp->getResults())
      if (!link(result, linalgOp.getTiedOpOperand(result)->get()))
        return false;
    unsigned position = loop ? cast<AffineDimExpr>(loop).getPosition() : 0;
    if (loop && linalgOp.getIteratorTypesArray()[position] != utils::IteratorType::parallel)
      return false;
    for (OpOperand &operand : linalgOp->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      ArrayRef<AffineExpr> exprs = linalgOp.getMatchingIndexingMap(&operand).getResults();
      for (AffineExpr expr : exprs.drop_front(isCut(operand.get()) ? 1 : 0))
        if (loop && expr.isFunctionOfDim(position))
          return false;
    }
    for (auto [number, range] : llvm::enumerate(linalgOp.getStaticLoopRanges()))
      if (ShapedType::isDynamic(range) ? !loop || number != position : range >= bound)
        return false;
    // What a body reads by itself, and indices that it multiplies, which have no bound.
    return !linalgOp
                ->walk([&](Operation *inner) {
                  auto index = dyn_cast<linalg::IndexOp>(inner);
                  auto extract = dyn_cast<tensor::ExtractOp>(inner);
                  bool isOwn =
                      (index && loop && index.getDim() == position) ||
                      (extract && isCut(extract.getTensor())) || isa<tensor::DimOp>(inner) ||
                      (isa<arith::MulIOp>(inner) && inner->getResult(0).getType().isIndex());
                  return isOwn ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  }

  /// `groups` of the dimensions of `large`, of which a reshape makes one each, or the other way.
  bool readReshape(Value source, Value result, RankedTensorType large,
                   ArrayRef<ReassociationIndices> groups) {
    if (!isCut(source) || !isCut(result))
      return isCut(source) == isCut(result);
    classes.unionSets(key(source), key(result));
    return llvm::all_of(ArrayRef(groups.front()).drop_front(),
                        [&](int64_t dim) { return large.getDimSize(dim) == 1; });
  }

  /// A slice has the whole dimension: what is open otherwise may be any part of it.
  bool readSlice(tensor::ExtractSliceOp slice) {
    if (!slice.getOffsets().empty() || !link(slice.getSource(), slice))
      return false;
    if (!isCut(slice))
      return slice.getSizes().empty();
    auto size = dyn_cast<Value>(slice.getMixedSizes().front());
    auto dim = size ? size.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    return slice.getType().getRank() == slice.getSourceType().getRank() && dim &&
           link(dim.getSource(), slice) && slice.getStaticOffset(0) == 0 &&
           slice.getStaticStride(0) == 1;
  }

  /// Operands whose sizes are one value of the plan.
  void linkEqualSizes() {
    SmallVector<std::pair<rt::Extent, Value>> sizes;
    for (auto [value, argument] : llvm::zip(op->getOperands(), op.getBodyBlock()->getArguments())) {
      if (!isCut(argument))
        continue;
      rt::Extent size = rt::sizeOf(value, 0);
      for (auto &[known, other] : sizes)
        if (known == size)
          classes.unionSets(key(argument), key(other));
      sizes.emplace_back(size, argument);
    }
  }

  kernel::DispatchOp op;
  int64_t bound, longest = 1; // elements that one index along the dimension stands for, at most
  Chunks chunks;
  llvm::EquivalenceClasses<const void *> classes; // tensors in which it is as long
};

} // namespace

std::optional<Chunks> chunksOf(kernel::DispatchOp op, int64_t bound) {
  if (llvm::none_of(op.getInitArgs(), [](Value init) { return isCut(init); }))
    return std::nullopt;
  return ChunkReader(op, bound).read();
}

} // namespace cameo
