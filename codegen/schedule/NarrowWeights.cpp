// Weights whose numbers need four bits ==> two of them a byte.
//
//   %w = rt.get_constant @w0 : tensor<64x32xi8>       extended by arith.extsi %in : i8 to i32
//   ==>
//   %w = rt.get_constant @w0_i4 : tensor<64x32xi4>    extended by arith.extsi %in : i4 to i32
//
// The type says it all: memory of i4 has two elements a byte, and estimates, orders of packing and
// kernels go by the type. What a model declares to be of four bits is one byte per element up to here,
// so that everything before need not know of it; it is told by the numbers, and weights that only
// happen to be small are taken, too.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/schedule/Packing.h"
#include "codegen/schedule/ProductSchedule.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Layout.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace cameo {
#define GEN_PASS_DEF_NARROWWEIGHTS
#include "codegen/Passes.h.inc"

namespace {

/// How bodies extend the elements of an input to more bits.
enum class Extension { Signed, Unsigned };

/// Nothing where they do anything else with them.
std::optional<Extension> extensionOf(BlockArgument argument) {
  std::optional<Extension> found;
  for (OpOperand &use : argument.getUses()) {
    auto generic = cast<linalg::GenericOp>(use.getOwner());
    for (Operation *user : generic.getMatchingBlockArgument(&use).getUsers()) {
      if (!isa<arith::ExtSIOp, arith::ExtUIOp>(user))
        return std::nullopt;
      Extension mine = isa<arith::ExtSIOp>(user) ? Extension::Signed : Extension::Unsigned;
      if (found && *found != mine)
        return std::nullopt;
      found = mine;
    }
  }
  return found;
}

/// The lower four bits of each byte; nothing where a number needs more.
std::optional<std::vector<char>> nibblesOf(ArrayRef<char> bytes, Extension extension) {
  std::vector<char> result;
  result.reserve(bytes.size());
  for (char byte : bytes) {
    int number = extension == Extension::Signed ? int(int8_t(byte)) + 8 : int(uint8_t(byte));
    if (number < 0 || number > 15)
      return std::nullopt;
    result.push_back(char(byte & 15));
  }
  return result;
}

struct NarrowWeights : impl::NarrowWeightsBase<NarrowWeights> {
  void runOnOperation() override {
    known.clear(), replaced.clear();
    for (auto variant : getOperation().getOps<rt::VariantOp>()) {
      llvm::Expected<const Target *> target = findTarget(variant.getTarget());
      if (!target) {
        variant.emitError(llvm::toString(target.takeError()));
        return signalPassFailure();
      }
      rt::Ledger ledger(variant);
      variant.walk([&](kernel::DispatchOp op) {
        for (unsigned input : weightsOf(op, **target))
          narrow(op, input, ledger);
      });
    }
    eraseReplaced();
  }

private:
  /// Inputs that operands of a product are computed from, an element for each of the operand's.
  /// What is multiplied as it is has the type that its instruction takes.
  static llvm::SmallSetVector<unsigned, 4> weightsOf(kernel::DispatchOp op, const Target &target) {
    llvm::SmallSetVector<unsigned, 4> inputs;
    Computation computation(op);
    const std::optional<Product> &product = matchProduct(computation, /*mayBeVector=*/true);
    bool isTaken = product && llvm::any_of(schedules(), [&](const Schedule *schedule) {
                     return schedule->isOfProducts() && schedule->match(computation, target);
                   });
    if (!isTaken)
      return inputs;
    for (bool isRow : {true, false}) {
      const Operand &operand = isRow ? product->row : product->column;
      for (const Access &read : operand.value.reads) {
        auto argument = dyn_cast<BlockArgument>(read.source);
        if (!operand.value.isMemory() && argument &&
            argument.getArgNumber() < op.getInputs().size() &&
            getElementTypeOrSelf(argument).isInteger(8) &&
            isPackable(op, argument.getArgNumber()) && isOfEachElement(*product, read, isRow))
          inputs.insert(argument.getArgNumber());
      }
    }
    return inputs;
  }

  void narrow(kernel::DispatchOp op, unsigned input, rt::Ledger &ledger) {
    BlockArgument argument = op.getInputArgs()[input];
    std::optional<Extension> extension = extensionOf(argument);
    rt::ConstantOp constant =
        extension ? narrowedConstant(op.getInputs()[input], *extension) : rt::ConstantOp();
    if (!constant)
      return;
    ledger.applied("narrow", op.getLoc(),
                   "weights of input " + Twine(input) + " stored in four bits");
    Type type = cast<ElementsAttr>(constant.getValue()).getType();
    Value given = op.getInputs()[input];
    OpBuilder builder(op);
    op.getInputsMutable()[input].set(
        builder.create<rt::GetConstantOp>(given.getLoc(), type, constant.getSymName()));
    argument.setType(type);
    for (OpOperand &use : argument.getUses())
      cast<linalg::GenericOp>(use.getOwner())
          .getMatchingBlockArgument(&use)
          .setType(getElementTypeOrSelf(type));
    for (Operation *unused = given.getDefiningOp(); unused && unused->use_empty();) {
      Operation *above =
          isa<rt::GetConstantOp>(unused) ? nullptr : unused->getOperand(0).getDefiningOp();
      unused->erase();
      unused = above;
    }
  }

  /// Null where the numbers need more than four bits, and for equal ones, which take no memory.
  rt::ConstantOp narrowedConstant(Value given, Extension extension) {
    rt::GetConstantOp get = rt::constantOf(given);
    auto seen = cast<RankedTensorType>(given.getType());
    std::string symbol = get.getConstant().str();
    if (get.getType() != seen)
      for (int64_t size : seen.getShape())
        symbol += "x" + std::to_string(size);
    symbol += extension == Extension::Signed ? "_i4" : "_u4";
    auto [entry, isNew] = known.try_emplace(symbol);
    if (!isNew)
      return entry->second;
    auto constant = getOperation().lookupSymbol<rt::ConstantOp>(get.getConstant());
    std::optional<onnx::ConstantBytes> bytes =
        onnx::constantBytes(cast<ElementsAttr>(constant.getValue()));
    if (!bytes || bytes->isSplat())
      return {};
    std::optional<std::vector<char>> numbers = nibblesOf(bytes->get(), extension);
    if (!numbers)
      return {};
    auto type = RankedTensorType::get(seen.getShape(), IntegerType::get(&getContext(), 4));
    replaced.insert(constant);
    count(&getContext(), getArgument(), "narrowed");
    OpBuilder builder(constant);
    builder.setInsertionPointAfter(constant);
    return entry->second = builder.create<rt::ConstantOp>(
               constant.getLoc(), symbol,
               onnx::makeConstant(type, symbol, ArrayRef<char>(*numbers)), IntegerAttr());
  }

  void eraseReplaced() {
    llvm::StringMap<bool> used;
    getOperation().walk([&](rt::GetConstantOp get) { used[get.getConstant()] = true; });
    for (rt::ConstantOp constant : replaced)
      if (!used.contains(constant.getSymName()))
        constant.erase();
  }

  llvm::StringMap<rt::ConstantOp> known; // null: not to be narrowed
  llvm::SetVector<rt::ConstantOp> replaced;
};

} // namespace

} // namespace cameo
