// Weights ==> weights in the order that the schedules of their dispatches want.
//
//   %w = rt.get_constant @w0 : tensor<64x16x3x3xf32>         read at [f, c, y, x]
//   ==>
//   %w = rt.get_constant @w0_2_3_1_0 : tensor<3x3x16x64xf32>  read at [y, x, c, f]
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/schedule/Packing.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Layout.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>

using namespace mlir;

namespace cameo {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace cameo;

/// `bytes` of a row-major tensor of `shape`, its dimensions in `order`. Runs of the innermost
/// result dimension are copied one by one.
static std::vector<char> permuted(ArrayRef<char> bytes, ArrayRef<int64_t> shape,
                                  ArrayRef<unsigned> order, int64_t elementBytes) {
  size_t rank = shape.size();
  SmallVector<int64_t> strides(rank, elementBytes);
  for (size_t dim = rank - 1; dim-- > 0;)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  std::vector<char> result(bytes.size());
  SmallVector<int64_t> index(rank, 0);
  int64_t run = shape[order.back()], step = strides[order.back()], source = 0;
  for (char *out = result.data(), *end = out + result.size(); out != end;) {
    for (int64_t i = 0; i < run; ++i, out += elementBytes)
      std::memcpy(out, bytes.data() + source + i * step, elementBytes);
    for (size_t dim = rank - 1; dim-- > 0;) {
      source += strides[order[dim]];
      if (++index[dim] < shape[order[dim]])
        break;
      source -= index[dim] * strides[order[dim]];
      index[dim] = 0;
    }
  }
  return result;
}

namespace {

struct PackWeights : cameo::impl::PackWeightsBase<PackWeights> {
  void runOnOperation() override {
    for (auto variant : getOperation().getOps<rt::VariantOp>()) {
      rt::Ledger ledger(variant);
      WalkResult result = variant.walk([&](kernel::DispatchOp op) {
        Attribute attribute = op->getAttr(kPackingAttr);
        if (!attribute)
          return WalkResult::advance();
        std::optional<Packing> packing = packingOf(op, attribute);
        if (!packing) {
          op.emitError() << kPackingAttr << " " << attribute
                         << " has no order of the dimensions of each input, or one of an input "
                            "that is not a constant read by maps";
          return WalkResult::interrupt();
        }
        for (auto [input, order] : llvm::enumerate(*packing))
          if (!order.empty() && failed(pack(op, input, order, ledger)))
            return WalkResult::interrupt();
        op->removeAttr(kPackingAttr);
        op->setAttr(kPackedAttr, attribute);
        return WalkResult::advance();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
    eraseReplaced();
  }

private:
  LogicalResult pack(kernel::DispatchOp op, unsigned input, ArrayRef<unsigned> order,
                     rt::Ledger &ledger) {
    Value given = op.getInputs()[input];
    rt::GetConstantOp get = rt::constantOf(given);
    rt::ConstantOp packed = packedConstant(get, cast<RankedTensorType>(given.getType()), order);
    if (!packed)
      return op.emitError() << "the data of constant @" << get.getConstant()
                            << " cannot be read, to be packed";
    std::string dims =
        llvm::join(llvm::map_range(order, [](unsigned dim) { return std::to_string(dim); }), ", ");
    ledger.applied("pack", op.getLoc(),
                   "weights of input " + Twine(input) + " packed, dimensions " + dims);
    Type type = cast<ElementsAttr>(packed.getValue()).getType();
    OpBuilder builder(op);
    op.getInputsMutable()[input].set(
        builder.create<rt::GetConstantOp>(get.getLoc(), type, packed.getSymName()));
    for (Operation *unused = given.getDefiningOp(); unused && unused->use_empty();) {
      Operation *above = unused == get ? nullptr : unused->getOperand(0).getDefiningOp();
      unused->erase();
      unused = above;
    }
    SmallVector<DimOrder> inputs(op.getInputs().size()), results(op.getNumResults());
    inputs[input] = DimOrder(order);
    permuteDispatch(op, inputs, results);
    return success();
  }

  /// The constant, seen as of `type`, with its dimensions in this order; null for one whose data
  /// cannot be read.
  rt::ConstantOp packedConstant(rt::GetConstantOp get, RankedTensorType type,
                                ArrayRef<unsigned> order) {
    std::string symbol = get.getConstant().str();
    if (get.getType() != type)
      for (int64_t size : type.getShape())
        symbol += "x" + std::to_string(size);
    for (unsigned dim : order)
      symbol += "_" + std::to_string(dim);
    auto [entry, isNew] = known.try_emplace(symbol);
    if (!isNew)
      return entry->second;
    auto constant = getOperation().lookupSymbol<rt::ConstantOp>(get.getConstant());
    auto value = cast<ElementsAttr>(constant.getValue());
    std::optional<onnx::ElementKind> kind = onnx::elementKind(type.getElementType());
    std::optional<onnx::ConstantBytes> bytes = onnx::constantBytes(value);
    if (!bytes)
      return {};
    SmallVector<int64_t> shape;
    for (unsigned dim : order)
      shape.push_back(type.getDimSize(dim));
    auto packed = RankedTensorType::get(shape, type.getElementType());
    // Equal elements have every order.
    ElementsAttr data = bytes->isSplat()
                            ? onnx::makeSplat(packed, bytes->get())
                            : onnx::makeConstant(packed, symbol,
                                                 permuted(bytes->get(), type.getShape(), order,
                                                          onnx::elementBytes(*kind)));
    replaced.insert(constant);
    count(&getContext(), getArgument(), "packed");
    OpBuilder builder(constant);
    builder.setInsertionPointAfter(constant);
    return entry->second =
               builder.create<rt::ConstantOp>(constant.getLoc(), symbol, data, IntegerAttr());
  }

  /// Constants that are wanted in another order only, so that their bytes can be freed.
  void eraseReplaced() {
    llvm::StringSet<> used;
    getOperation().walk([&](rt::GetConstantOp get) { used.insert(get.getConstant()); });
    for (rt::ConstantOp constant : replaced)
      if (!used.contains(constant.getSymName()))
        constant.erase();
  }

  llvm::SetVector<rt::ConstantOp> replaced;
  llvm::StringMap<rt::ConstantOp> known; // null: not to be packed
};

} // namespace
