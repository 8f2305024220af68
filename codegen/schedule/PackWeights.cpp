// Weights ==> weights in the order that the schedules of their dispatches want, rounded where these
// multiply them as TF32.
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

/// Rounds numbers of 32 bits to the 10 bits behind the leading one that TF32 has, to nearest, ties
/// away from zero, as PTX's cvt.rna.tf32.f32 does. Every NaN becomes one of all bits; of one whose
/// payload is in the 13 bits that TF32 does not have the instruction may make an infinity (measured
/// on an H200, driver 580).
static void roundToTf32(std::vector<char> &bytes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint32_t)) {
    uint32_t bits;
    std::memcpy(&bits, &bytes[at], sizeof bits);
    bool isNan = (bits & 0x7fffffffU) > 0x7f800000U;
    bits = isNan ? 0x7fffffffU : (bits + 0x1000U) & ~0x1fffU;
    std::memcpy(&bytes[at], &bits, sizeof bits);
  }
}

namespace {

struct PackWeights : cameo::impl::PackWeightsBase<PackWeights> {
  void runOnOperation() override {
    for (auto variant : getOperation().getOps<rt::VariantOp>()) {
      rt::Ledger ledger(variant);
      WalkResult result = variant.walk([&](kernel::DispatchOp op) {
        return failed(pack(op, ledger)) ? WalkResult::interrupt() : WalkResult::advance();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
    eraseReplaced();
  }

private:
  /// Does what the dispatch's attributes ask for, and says there that it is done.
  LogicalResult pack(kernel::DispatchOp op, rt::Ledger &ledger) {
    Attribute orders = op->getAttr(kPackingAttr);
    auto rounding = op->getAttrOfType<DenseI64ArrayAttr>(kRoundingAttr);
    Packing packing(op.getInputs().size());
    if (orders) {
      std::optional<Packing> given = packingOf(op, orders);
      if (!given)
        return op.emitError() << kPackingAttr << " " << orders
                              << " has no order of the dimensions of each input, or one of an "
                                 "input that is not a constant read by maps";
      packing = *given;
    }
    std::optional<SmallVector<int64_t>> rounded = roundedOf(op, rounding);
    if (!rounded)
      return op.emitError() << kRoundingAttr << " " << rounding
                            << " lists an input that is not a constant of f32 read by maps";
    for (auto [input, order] : llvm::enumerate(packing)) {
      bool isRounded = llvm::is_contained(*rounded, int64_t(input));
      if ((isRounded || !order.empty()) && failed(pack(op, input, order, isRounded, ledger)))
        return failure();
    }
    op->removeAttr(kPackingAttr);
    op->removeAttr(kRoundingAttr);
    if (orders)
      op->setAttr(kPackedAttr, orders);
    if (rounding)
      op->setAttr(kRoundedAttr, rounding);
    return success();
  }

  /// With an order of none, one of its dimensions stays as it is.
  LogicalResult pack(kernel::DispatchOp op, unsigned input, ArrayRef<unsigned> order,
                     bool isRounded, rt::Ledger &ledger) {
    Value given = op.getInputs()[input];
    rt::GetConstantOp get = rt::constantOf(given);
    auto type = cast<RankedTensorType>(given.getType());
    rt::ConstantOp packed = packedConstant(get, type, order, isRounded);
    if (!packed)
      return op.emitError() << "the data of constant @" << get.getConstant()
                            << " cannot be read, to be packed";
    std::string done;
    if (!order.empty())
      done = " packed, dimensions " + llvm::join(llvm::map_range(order, toString), ", ");
    if (isRounded)
      done += std::string(order.empty() ? "" : ",") + " rounded to TF32";
    ledger.applied("pack", op.getLoc(), "weights of input " + Twine(input) + done);
    OpBuilder builder(op);
    op.getInputsMutable()[input].set(builder.create<rt::GetConstantOp>(
        get.getLoc(), cast<ElementsAttr>(packed.getValue()).getType(), packed.getSymName()));
    for (Operation *unused = given.getDefiningOp(); unused && unused->use_empty();) {
      Operation *above = unused == get ? nullptr : unused->getOperand(0).getDefiningOp();
      unused->erase();
      unused = above;
    }
    if (order.empty())
      return success();
    SmallVector<DimOrder> inputs(op.getInputs().size()), results(op.getNumResults());
    inputs[input] = DimOrder(order);
    permuteDispatch(op, inputs, results);
    return success();
  }

  static std::string toString(unsigned dim) { return std::to_string(dim); }

  /// The constant, seen as of `type`, with its dimensions in this order, if there is one, and
  /// rounded or not; null for one whose data cannot be read.
  rt::ConstantOp packedConstant(rt::GetConstantOp get, RankedTensorType type,
                                ArrayRef<unsigned> order, bool isRounded) {
    std::string symbol = get.getConstant().str();
    if (get.getType() != type)
      for (int64_t size : type.getShape())
        symbol += "x" + std::to_string(size);
    for (unsigned dim : order)
      symbol += "_" + toString(dim);
    if (isRounded)
      symbol += "_tf32";
    auto [entry, isNew] = known.try_emplace(symbol);
    if (!isNew)
      return entry->second;
    auto constant = getOperation().lookupSymbol<rt::ConstantOp>(get.getConstant());
    auto value = cast<ElementsAttr>(constant.getValue());
    std::optional<onnx::ElementKind> kind = onnx::elementKind(type.getElementType());
    std::optional<onnx::ConstantBytes> bytes = onnx::constantBytes(value);
    if (!bytes)
      return {};
    RankedTensorType packed = order.empty() ? type : permuted(type, order);
    // Equal elements have every order.
    std::vector<char> stored =
        bytes->isSplat() || order.empty()
            ? std::vector<char>(bytes->get().begin(), bytes->get().end())
            : permuted(bytes->get(), type.getShape(), order, onnx::elementBytes(*kind));
    if (isRounded)
      roundToTf32(stored);
    ElementsAttr data = bytes->isSplat() ? onnx::makeSplat(packed, stored)
                                         : onnx::makeConstant(packed, symbol, stored);
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
  llvm::StringMap<rt::ConstantOp> known; // by name; null: its data cannot be read
};

} // namespace
