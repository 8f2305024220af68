// Taking numbers out of descriptions.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/Skeleton.h"

#include "dialects/kernel/form/Movement.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace cameo {

/// The constant of a map's result; 0 for what has divisions, whose constants are left in.
static int64_t constantOf(AffineMap map, unsigned result) {
  std::optional<SmallVector<int64_t>> factors = factorsOf(map, result);
  return factors ? factors->back() : 0;
}

SmallVector<int64_t> numbersOf(Operation *op) {
  SmallVector<int64_t> numbers;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    for (AffineMap map : generic.getIndexingMapsArray())
      for (unsigned result = 0; result < map.getNumResults(); ++result)
        numbers.push_back(constantOf(map, result));
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    for (int64_t offset : slice.getStaticOffsets())
      numbers.push_back(ShapedType::isDynamic(offset) ? 0 : offset);
  }
  return numbers;
}

namespace {

class Writer {
public:
  Skeleton write(kernel::DispatchOp op) {
    skeleton.tokens = {op.getInputs().size(), op.getScalars().size(), op.getInits().size()};
    for (Value scalar : op.getScalars())
      add(scalar.getAsOpaquePointer());
    addRegion(op.getBody());
    return std::move(skeleton);
  }

private:
  void add(const void *pointer) { skeleton.tokens.push_back(reinterpret_cast<uintptr_t>(pointer)); }

  void addRegion(Region &region) {
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments()) {
        values.try_emplace(argument, values.size());
        add(argument.getType().getAsOpaquePointer());
      }
      for (Operation &op : block)
        addOperation(&op);
    }
  }

  void addOperation(Operation *op) {
    add(op->getName().getAsOpaquePointer());
    for (Value operand : op->getOperands())
      skeleton.tokens.push_back(values.lookup(operand));
    for (Type type : op->getResultTypes())
      add(type.getAsOpaquePointer());
    addAttributes(op);
    for (Value result : op->getResults())
      values.try_emplace(result, values.size());
    skeleton.tokens.push_back(op->getNumRegions());
    for (Region &region : op->getRegions())
      addRegion(region);
  }

  void addAttributes(Operation *op) {
    SmallVector<int64_t> numbers = numbersOf(op);
    skeleton.numbers.append(numbers);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool isSlice = isa<tensor::ExtractSliceOp>(op);
    if (!generic && !isSlice)
      return add(op->getAttrDictionary().getAsOpaquePointer());
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (attribute.getName() != (isSlice ? "static_offsets" : "indexing_maps"))
        add(attribute.getValue().getAsOpaquePointer());
    if (isSlice) {
      for (int64_t offset : cast<tensor::ExtractSliceOp>(op).getStaticOffsets())
        skeleton.tokens.push_back(ShapedType::isDynamic(offset));
      return;
    }
    unsigned next = 0;
    for (AffineMap map : generic.getIndexingMapsArray())
      for (AffineExpr expr : map.getResults()) {
        AffineExpr rest = simplifyAffineExpr(expr - numbers[next++], map.getNumDims(), 0);
        add(rest.getAsOpaquePointer());
      }
  }

  Skeleton skeleton;
  llvm::DenseMap<Value, uintptr_t> values; // by order of definition
};

} // namespace

Skeleton skeletonOf(kernel::DispatchOp op) { return Writer().write(op); }

} // namespace cameo
