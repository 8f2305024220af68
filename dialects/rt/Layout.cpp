// Following tensors to the memory that they are in.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace cameo::rt {

bool Extent::operator==(const Extent &other) const {
  if (factor != other.factor || sizes.size() != other.sizes.size())
    return false;
  SmallVector<Size> rest(other.sizes);
  for (const Size &size : sizes) {
    auto found = llvm::find(rest, size);
    if (found == rest.end())
      return false;
    rest.erase(found);
  }
  return true;
}

Extent Extent::operator*(const Extent &other) const {
  Extent result = *this;
  result.factor *= other.factor;
  result.sizes.append(other.sizes);
  return result;
}

Value Extent::value(OpBuilder &b, Location loc) const {
  Value result;
  for (const Size &size : sizes) {
    Value next =
        size.dim < 0 ? size.value : b.createOrFold<tensor::DimOp>(loc, size.value, size.dim);
    result = result ? b.createOrFold<arith::MulIOp>(loc, result, next) : next;
  }
  if (result && factor == 1)
    return result;
  Value number = b.create<arith::ConstantIndexOp>(loc, factor);
  return result ? b.createOrFold<arith::MulIOp>(loc, result, number) : number;
}

GetConstantOp constantOf(Value tensor) {
  while (auto reshape = tensor.getDefiningOp<ReshapeOp>())
    tensor = reshape.getSource();
  return tensor.getDefiningOp<GetConstantOp>();
}

Value destinationOf(Value tensor) {
  auto result = dyn_cast<OpResult>(tensor);
  if (!result)
    return {};
  if (auto launch = dyn_cast<LaunchOp>(result.getOwner()))
    return launch.getOperands_()[launch.getOutputs()[result.getResultNumber()]];
  if (auto assemble = dyn_cast<AssembleOp>(result.getOwner()))
    return assemble.getStorage();
  if (auto state = dyn_cast<StateOp>(result.getOwner()))
    return state.getPlace();
  auto style = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
  return style ? style.getTiedOpOperand(result)->get() : Value();
}

/// The operand that says how large dimension `dim` is, of those for dynamic dimensions only.
static Value dynamicSize(RankedTensorType type, ValueRange sizes, int64_t dim) {
  return sizes[type.getDynamicDimIndex(dim)];
}

Extent sizeOf(Value tensor, int64_t dim) {
  while (true) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(dim))
      return {type.getDimSize(dim), {}};
    Value size;
    Operation *op = tensor.getDefiningOp();
    if (auto empty = dyn_cast_if_present<tensor::EmptyOp>(op))
      size = empty.getDynamicSize(dim);
    else if (auto storage = dyn_cast_if_present<StorageOp>(op))
      size = dynamicSize(type, storage.getSizes(), dim);
    else if (auto view = dyn_cast_if_present<ViewOp>(op))
      size = dynamicSize(type, view.getSizes(), dim);
    else if (auto reshape = dyn_cast_if_present<ReshapeOp>(op))
      size = dynamicSize(type, reshape.getSizes(), dim);
    else if (auto concat = dyn_cast_if_present<ConcatOp>(op))
      size = dynamicSize(type, concat.getSizes(), dim);
    if (size) {
      auto of = size.getDefiningOp<tensor::DimOp>();
      if (!of || !of.getConstantIndex()) {
        auto known = getConstantIntValue(size);
        return known ? Extent{*known, {}} : Extent{1, {{size, -1}}};
      }
      dim = *of.getConstantIndex();
      tensor = of.getSource();
      continue;
    }
    auto cast = dyn_cast_if_present<tensor::CastOp>(op);
    Value next = cast && isa<RankedTensorType>(cast.getSource().getType()) ? cast.getSource()
                                                                           : destinationOf(tensor);
    if (!next)
      return {1, {{tensor, dim}}};
    tensor = next;
  }
}

bool hasOwnMemory(Value tensor) {
  while (true) {
    Operation *op = tensor.getDefiningOp();
    if (isa_and_nonnull<ViewOp>(op))
      return false;
    Value next =
        isa_and_nonnull<ReshapeOp, tensor::CastOp>(op) ? op->getOperand(0) : destinationOf(tensor);
    if (!next)
      return true;
    tensor = next;
  }
}

/// Strides of a tensor in one piece.
static SmallVector<Extent> rowMajor(Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<Extent> strides(rank);
  for (int64_t dim = rank - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * sizeOf(tensor, dim);
  return strides;
}

/// Finds out which dimensions of the tensor are one piece.
static void findPiece(Layout &layout, Value tensor) {
  layout.piece = {};
  layout.firstInner = layout.strides.size();
  while (layout.firstInner > 0) {
    Extent size = sizeOf(tensor, layout.firstInner - 1);
    if (size.known() != 1 && !(layout.strides[layout.firstInner - 1] == layout.piece))
      break;
    layout.piece = layout.piece * size;
    --layout.firstInner;
  }
  layout.isContiguous = layout.firstInner == 0;
}

static std::optional<Layout> reshaped(Layout layout, Value source, Value result) {
  if (layout.isContiguous) {
    layout.strides = rowMajor(result);
    findPiece(layout, result);
    return layout;
  }
  // Outer dimensions as they are, the others in one piece.
  SmallVector<Extent> inner = rowMajor(result);
  size_t same = 0;
  while (same < layout.strides.size() && same < inner.size() &&
         sizeOf(source, same) == sizeOf(result, same))
    ++same;
  if (static_cast<int64_t>(same) < layout.firstInner)
    return std::nullopt;
  for (size_t dim = 0; dim < same; ++dim)
    inner[dim] = layout.strides[dim];
  // Kernels step over no elements of the last dimension.
  if (!inner.empty() && sizeOf(result, inner.size() - 1).known() != 1 &&
      !(inner.back() == Extent()))
    return std::nullopt;
  layout.strides = inner;
  findPiece(layout, result);
  return layout;
}

std::optional<Layout> layoutOf(Value tensor) {
  // From the tensor to the memory, and back.
  SmallVector<Value> way;
  Value at = tensor;
  while (true) {
    way.push_back(at);
    Operation *op = at.getDefiningOp();
    Value next = isa_and_nonnull<ReshapeOp, tensor::CastOp, ViewOp>(op) ? op->getOperand(0)
                                                                        : destinationOf(at);
    if (!next)
      break;
    at = next;
  }
  Layout layout;
  layout.root = at;
  layout.strides = rowMajor(at);
  findPiece(layout, at);
  for (size_t i = way.size() - 1; i-- > 0;) {
    Value value = way[i];
    if (value.getDefiningOp<ReshapeOp>()) {
      std::optional<Layout> next = reshaped(layout, way[i + 1], value);
      if (!next)
        return std::nullopt;
      layout = *next;
    } else if (auto view = value.getDefiningOp<ViewOp>()) {
      for (auto [offset, stride] : llvm::zip(view.getMixedOffsets(), layout.strides))
        if (!isConstantIntValue(offset, 0))
          layout.offset.emplace_back(offset, stride);
      findPiece(layout, value);
    }
  }
  return layout;
}

int64_t Layout::alignment(int64_t most) const {
  auto limit = [&](int64_t distance) {
    while (most > 1 && distance % most != 0)
      most /= 2;
  };
  for (auto [index, stride] : offset)
    limit(getConstantIntValue(index).value_or(1) * stride.factor);
  if (!isContiguous)
    limit(piece.factor);
  for (const Extent &stride : ArrayRef(strides).take_front(firstInner))
    limit(stride.factor);
  return most;
}

} // namespace cameo::rt
