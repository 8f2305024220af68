// Transposes as permutations, and the new ones that passes make.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/Permutations.h"

using namespace mlir;

namespace cameo {

Permutation composed(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  Permutation result;
  for (int64_t axis : second)
    result.push_back(first[axis]);
  return result;
}

Permutation inverse(ArrayRef<int64_t> permutation) {
  Permutation result(permutation.size());
  for (auto [i, axis] : llvm::enumerate(permutation))
    result[axis] = i;
  return result;
}

bool isIdentity(ArrayRef<int64_t> permutation) {
  return llvm::all_of(llvm::enumerate(permutation), [](auto entry) {
    return entry.value() == static_cast<int64_t>(entry.index());
  });
}

Permutation lastExchanged(int64_t rank) {
  Permutation result;
  llvm::append_range(result, llvm::seq<int64_t>(0, rank));
  std::swap(result[rank - 1], result[rank - 2]);
  return result;
}

std::optional<Permutation> permutationOf(Operation *op) {
  auto transpose = dyn_cast_or_null<onnx::TransposeOp>(op);
  auto type = transpose ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : nullptr;
  if (!type || !hasReliableShape(op->getOperand(0)) || !hasReliableShape(op->getResult(0)) ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return std::nullopt;
  if (!transpose.getPermAttr())
    return Permutation(llvm::reverse(llvm::seq<int64_t>(0, type.getRank())));
  Permutation permutation(transpose.getPermAttr().asArrayRef());
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (static_cast<int64_t>(sorted.size()) != type.getRank() || !isIdentity(sorted))
    return std::nullopt;
  return permutation;
}

RankedTensorType permuted(Type type, ArrayRef<int64_t> permutation) {
  auto ranked = cast<RankedTensorType>(type);
  return RankedTensorType::get(composed(ranked.getShape(), permutation), ranked.getElementType());
}

void setDims(Operation *op, ArrayRef<Attribute> dims) {
  Builder b(op->getContext());
  Attribute all = b.getArrayAttr(dims);
  op->setAttr(onnx::kDimsAttr, b.getArrayAttr(llvm::ArrayRef(all)));
}

void permuteDims(Operation *op, ArrayRef<int64_t> permutation) {
  auto all = op->getAttrOfType<ArrayAttr>(onnx::kDimsAttr);
  auto dims = all && !all.empty() ? dyn_cast<ArrayAttr>(all[0]) : ArrayAttr();
  if (!dims || dims.size() != permutation.size())
    return;
  SmallVector<Attribute> moved;
  for (int64_t axis : permutation)
    moved.push_back(dims[axis]);
  setDims(op, moved);
}

Value createTranspose(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> permutation) {
  auto transpose =
      b.create<onnx::TransposeOp>(loc, permuted(x.getType(), permutation), x,
                                  b.getNamedAttr("perm", b.getDenseI64ArrayAttr(permutation)));
  if (ArrayAttr dims = knownDims(x)) {
    setDims(transpose, dims.getValue());
    permuteDims(transpose, permutation);
  }
  return transpose->getResult(0);
}

} // namespace cameo
