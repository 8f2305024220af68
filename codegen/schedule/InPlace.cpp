// Reading from a kernel which of its operands may be overwritten by its results.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/InPlace.h"

#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cameo {
namespace {

/// `lanes` elements of a parameter from an offset on, accessed by `op`, of a block; at that block's
/// end where `op` is null. The offset counts from `start`, from the parameter's begin where that is
/// null.
struct Touch {
  Value start, offset;
  int64_t lanes;
  Block *block;
  Operation *op;
};

struct Touches {
  SmallVector<Touch> loads, stores;
};

} // namespace

static int64_t lanesOf(Value value) { return cast<VectorType>(value.getType()).getNumElements(); }

static bool readsMemory(Value value) {
  llvm::SmallVector<Value> work{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (!isPure(op))
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Adds all accesses of a parameter, or of memory that begins at `start` in it; false where it is
/// used in other ways.
static bool addAccesses(Value parameter, Value start, Touches &result) {
  for (Operation *user : parameter.getUsers()) {
    Block *block = user->getBlock();
    if (auto load = dyn_cast<memref::LoadOp>(user)) {
      result.loads.push_back({start, load.getIndices()[0], 1, block, user});
    } else if (auto load = dyn_cast<vector::LoadOp>(user)) {
      result.loads.push_back({start, load.getIndices()[0], lanesOf(load), block, user});
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      result.stores.push_back({start, store.getIndices()[0], 1, block, user});
    } else if (auto store = dyn_cast<vector::StoreOp>(user)) {
      result.stores.push_back(
          {start, store.getIndices()[0], lanesOf(store.getValueToStore()), block, user});
    } else if (auto store = dyn_cast<kernel::StoreFragmentOp>(user)) {
      // Its sources are loaded where it stores.
      Operation *reads =
          store.getSources().empty() ? nullptr : store.getReads().front().getTerminator();
      for (auto [number, source] : llvm::enumerate(store.getSources()))
        if (source == parameter)
          result.loads.push_back(
              {start, reads->getOperand(number), 1, &store.getReads().front(), user});
      if (store.getDest() != parameter)
        continue;
      // Stores what its region yields, element by element; the region's loads run where it stores.
      Operation *yield = store.getBody().front().getTerminator();
      if (readsMemory(yield->getOperand(2)))
        return false;
      result.stores.push_back({start, yield->getOperand(1), 1, &store.getBody().front(), nullptr});
    } else if (auto advance = dyn_cast<kernel::AdvanceOp>(user); advance && !start) {
      if (!addAccesses(advance, advance.getOffset(), result))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

/// All accesses of a parameter; nothing where it is used in other ways.
static std::optional<Touches> accessesOf(Value parameter) {
  Touches result;
  return addAccesses(parameter, {}, result) ? std::optional(result) : std::nullopt;
}

/// Whether two values are computed alike, of the same values; `same` are pairs that are.
static bool isSame(Value a, Value b, llvm::SmallDenseSet<std::pair<Value, Value>> &same) {
  if (a == b || same.contains({a, b}))
    return true;
  auto x = dyn_cast<OpResult>(a), y = dyn_cast<OpResult>(b);
  if (!x || !y || x.getResultNumber() != y.getResultNumber())
    return false;
  Operation *left = x.getOwner(), *right = y.getOwner();
  if (left->getName() != right->getName() || left->getNumRegions() != 0 || !isPure(left) ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getResultTypes() != right->getResultTypes() ||
      left->getNumOperands() != right->getNumOperands())
    return false;
  for (auto [x, y] : llvm::zip(left->getOperands(), right->getOperands()))
    if (!isSame(x, y, same))
      return false;
  same.insert({a, b});
  return true;
}

/// Whether the thread that loads stores to the same elements later, without a loop between the two:
/// what the offset is computed of is then the same for both.
static bool isOverwritten(const Touch &load, const Touch &store) {
  llvm::SmallDenseSet<std::pair<Value, Value>> same;
  bool fromOnePlace =
      load.start && store.start ? isSame(load.start, store.start, same) : load.start == store.start;
  if (load.lanes > store.lanes || !fromOnePlace)
    return false;
  auto fragment = dyn_cast<kernel::StoreFragmentOp>(load.op);
  if (fragment && store.block == &fragment.getBody().front()) {
    for (auto [ofLoad, ofStore] :
         llvm::zip(load.block->getArguments(), store.block->getArguments()))
      same.insert({ofLoad, ofStore}); // row and column
    return isSame(load.offset, store.offset, same);
  }
  Operation *before = store.block->findAncestorOpInBlock(*load.op);
  return before && (!store.op || before->isBeforeInBlock(store.op)) &&
         isSame(load.offset, store.offset, same);
}

static bool mayShare(const Touches &written, const Touches &read) {
  return !read.loads.empty() && llvm::all_of(read.loads, [&](const Touch &load) {
    return llvm::any_of(written.stores,
                        [&](const Touch &store) { return isOverwritten(load, store); });
  });
}

SmallVector<std::pair<unsigned, unsigned>>
inPlacePairs(gpu::GPUFuncOp function, ArrayRef<unsigned> written, ArrayRef<unsigned> tensors) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  SmallVector<std::optional<Touches>> accesses(function.getNumArguments());
  for (unsigned number : tensors)
    accesses[number] = accessesOf(function.getArgument(number));
  for (unsigned target : written)
    for (unsigned source : tensors)
      if (accesses[target] && accesses[source] && accesses[target]->loads.empty() &&
          accesses[source]->stores.empty() &&
          function.getArgument(target).getType() == function.getArgument(source).getType() &&
          mayShare(*accesses[target], *accesses[source]))
        pairs.emplace_back(target, source);
  return pairs;
}

} // namespace cameo
