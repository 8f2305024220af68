// Stores and multiplies FP32 values in fewer bits, where the policy and their ranges allow it.
//
//   %0 = onnx.Conv(%x, %w, %b) : f32   ==>   %c = onnx.Cast(%x) : f32 -> f16
//                                            %0 = onnx.Conv(%c, %w', %b') : f16
//
// Three steps: what the policy, the ranges and the user's overrides settle is decided node by node;
// for the rest, casts are placed where they cost least; then types are changed.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Products.h"
#include "dialects/onnx/shape/Attention.h"
#include "dialects/onnx/shape/NodeText.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/precision/ConvertTypes.h"
#include "passes/precision/NeededBits.h"
#include "passes/precision/Overrides.h"
#include "passes/precision/QuantizedProduct.h"
#include "passes/precision/ScaleScores.h"

#include <map>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_LOWERPRECISION
#include "passes/Passes.h.inc"

namespace {

/// Settles what is no question of casts.
class NodeDecisions {
public:
  NodeDecisions(Precision wanted, PrecisionOverrides &overrides, const NumberRanges &ranges,
                const NeededBits &needed)
      : wanted(wanted), overrides(overrides), ranges(ranges), needed(needed) {}

  PrecisionNode decide(Operation *op) {
    PrecisionNode node{op};
    const PolicyRow &row = policyOf(op);
    // Products of integers were made before, of those that it is asked for.
    if (const PrecisionOverride *override = overrides.find(op);
        override && override->precision != Precision::INT8)
      decideAsAsked(node, *override);
    else if (isQuantized(op))
      node.precision = Precision::INT8;
    else if (row.role == Role::Full)
      keep(node, Precision::FP32, row.why.str());
    else if (std::string why = needed.whyOf(op); !why.empty() && concerns(row))
      keep(node, Precision::FP32, std::move(why));
    else if (wanted == Precision::TF32 && row.role == Role::Product)
      node.precision = Precision::TF32;
    else if (isLow(wanted))
      decideByRange(node, row);
    return node;
  }

private:
  static void keep(PrecisionNode &node, Precision precision, std::string why) {
    node.precision = precision;
    node.why = std::move(why);
  }

  void decideAsAsked(PrecisionNode &node, const PrecisionOverride &override) {
    Precision precision = override.precision;
    std::string asked = kAskedPrecision.str() + override.text;
    bool isProduct = policyOf(node.op).role == Role::Product;
    if (precision == Precision::TF32 && !isProduct) {
      // Of what an override names, TF32 concerns the products.
      keep(node, Precision::FP32, "TF32 is a way to multiply, and it multiplies nothing");
    } else if (isLow(precision) && !convertedIn(node.op, precision)) {
      keep(node, Precision::FP32, hasNone(precision) + ", which " + asked + " wants");
    } else {
      node.precision = precision;
      if (precision != wanted)
        node.why = asked;
    }
  }

  /// TF32 is of products alone.
  bool concerns(const PolicyRow &row) const {
    return isLow(wanted) || (wanted == Precision::TF32 && row.role == Role::Product);
  }

  static std::string hasNone(Precision precision) {
    return "ONNX has no " + precisionText(precision) + " of it";
  }

  void decideByRange(PrecisionNode &node, const PolicyRow &row) {
    std::optional<Converted> converted = convertedIn(node.op, wanted);
    if (!converted)
      return keep(node, Precision::FP32, hasNone(wanted));
    std::string why = ranges.whyNot(node.op, *converted, wanted);
    if (why.empty()) {
      if (row.role == Role::Product)
        node.precision = wanted;
      return;
    }
    // Products stay products of 16 bits, if those of BF16 hold their numbers.
    std::optional<Converted> other = convertedIn(node.op, Precision::BF16);
    bool isWide = row.role == Role::Product && wanted == Precision::FP16 && other &&
                  ranges.whyNot(node.op, *other, Precision::BF16).empty();
    keep(node, isWide ? Precision::BF16 : Precision::FP32, std::move(why));
  }

  Precision wanted;
  PrecisionOverrides &overrides;
  const NumberRanges &ranges;
  const NeededBits &needed;
};

struct LowerPrecision : impl::LowerPrecisionBase<LowerPrecision> {
  using LowerPrecisionBase::LowerPrecisionBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions = untypedFunctions(getOperation());
    if (failed(readOptions()))
      return signalPassFailure();
    if (functions.empty())
      return;
    known = 0;
    RecordedRanges recorded;
    for (func::FuncOp function : functions) {
      FailureOr<RecordedRanges> attached = RecordedRanges::of(function);
      if (failed(attached))
        return signalPassFailure();
      recorded = std::move(*attached);
      lower(function, recorded);
    }
    if (failed(checkRecorded(functions.front(), recorded)) ||
        failed(checkOverrides(functions.front())))
      signalPassFailure();
  }

private:
  void lower(func::FuncOp function, const RecordedRanges &recorded) {
    rt::Ledger ledger(function);
    if (wanted == Precision::FP16)
      scaleScoresEarly(function);
    NumberRanges ranges(function, recorded);
    known += ranges.recordedValues();
    // Values that go into a body and out of it have the model's types.
    Precision io = function.isPublic() ? ioPrecision : Precision::FP32;
    PrecisionPlan plan{function, {}, io, quantizedWork(function)};
    decide(plan, ranges, ledger);
    if (asked == Precision::INT8)
      recordImported(function, ledger);
    if (isLow(wanted))
      placeCasts(plan, wanted, ranges);
    for (Precision other : {Precision::FP16, Precision::BF16})
      if (other != wanted && llvm::any_of(plan.nodes, [&](const PrecisionNode &node) {
            return node.precision == other;
          }))
        placeCasts(plan, other, ranges);
    int64_t casts = convertTypes(plan, ranges);
    record(plan, casts, ledger);
    function->setAttr(kPrecisionAttr, StringAttr::get(&getContext(), precisionName(asked)));
    function->removeAttr(kRangesAttr); // nothing asks for them any more
  }

  LogicalResult readOptions() {
    auto fail = [&](const Twine &what) -> LogicalResult {
      auto functions = getOperation().getOps<func::FuncOp>();
      return emitError(functions.empty() ? getOperation().getLoc() : (*functions.begin()).getLoc())
             << what;
    };
    std::optional<Precision> main = parsePrecision(precision), io = parsePrecision(ioType);
    if (!main)
      return fail("precision '" + precision + "' is not one of fp32, tf32, fp16, bf16 and int8");
    if (!io || *io == Precision::TF32 || *io == Precision::INT8)
      return fail("precision '" + ioType +
                  "' of inputs and outputs is not one of fp32, fp16 and bf16");
    asked = *main;
    wanted = asked == Precision::INT8 ? Precision::FP16 : asked; // what is no product of integers
    ioPrecision = *io;
    llvm::Expected<PrecisionOverrides> given = PrecisionOverrides::parse(overrideList);
    if (!given)
      return fail("--precision-of: " + llvm::toString(given.takeError()));
    overrides = std::move(*given);
    return success();
  }

  /// Another model's ranges say nothing of this one.
  LogicalResult checkRecorded(func::FuncOp function, const RecordedRanges &recorded) const {
    if (recorded.byName.empty() || known > 0)
      return success();
    return emitError(function.getLoc())
           << "ranges in '" << recorded.file << "': none of its " << recorded.byName.size()
           << " names is that of a value of this model";
  }

  LogicalResult checkOverrides(func::FuncOp function) const {
    for (const PrecisionOverride &override : overrides.all())
      if (!override.isUsed)
        return emitError(function.getLoc())
               << "--precision-of: '" << override.text << "' matches no "
               << (override.precision == Precision::INT8 ? "product" : "node")
               << " with values of FP32, neither by name nor by operator";
    return success();
  }

  /// Products that the model has in 16 bits are no question of this pass: of FP32 are those that it
  /// lowers, or that were quantised.
  void recordImported(func::FuncOp function, rt::Ledger &ledger) {
    for (Operation &op : function.getBody().front()) {
      std::optional<Precision> precision = precisionOf(&op);
      if (policyOf(&op).role != Role::Product || !precision || !isLow(*precision) ||
          llvm::any_of(op.getOperands(), isFP32))
        continue;
      std::string why = "the model has it in " + precisionText(*precision) +
                        ", and products of FP32 are quantised";
      op.setAttr(kKeptPrecisionAttr, StringAttr::get(&getContext(), why));
      ledger.missed("precision", op.getLoc(), "kept in " + precisionText(*precision), why);
    }
  }

  void decide(PrecisionPlan &plan, const NumberRanges &ranges, rt::Ledger &ledger) {
    NeededBits needed(plan.function, ranges, wanted);
    NodeDecisions decisions(wanted, overrides, ranges, needed);
    auto isFloat = [](Value value) { return isFP32(value); };
    for (Operation &op : plan.function.getBody().front()) {
      if (!isa<onnx::OnnxDialect>(op.getDialect()) || isa<onnx::ConstantOp>(op) ||
          op.getNumRegions())
        continue;
      if (isLow(wanted) && needed.hasLargeBias(&op)) {
        op.setAttr("softmax_precision",
                   Builder(&op).getI64IntegerAttr(onnx::elementNumber(onnx::ElementKind::F32)));
        ledger.chosen("precision", op.getLoc(),
                      "scores in FP32: " + onnx::inputText(&op, onnx::kMask) +
                          " may have numbers beside which " + precisionText(wanted) +
                          " rounds them");
      }
      bool reads = llvm::any_of(op.getOperands(), isFloat);
      bool writes = llvm::any_of(op.getResults(), isFloat);
      // Casts between floats say which types values have elsewhere; shapes have no precision.
      if (isa<onnx::CastOp>(op) ? writes && !isa<FloatType>(elementOf(op.getOperand(0)))
                                : (reads && !readsAnyType(&op, 0)) || writes)
        plan.nodes.push_back(decisions.decide(&op));
    }
  }

  static Type elementOf(Value value) {
    auto type = dyn_cast<TensorType>(value.getType());
    return type ? type.getElementType() : value.getType();
  }

  void record(PrecisionPlan &plan, int64_t casts, rt::Ledger &ledger) {
    std::map<Precision, int64_t> counts;
    for (PrecisionNode &node : plan.nodes) {
      Precision precision = node.precision.value_or(Precision::FP32);
      ++counts[precision];
      if (precision == Precision::TF32)
        node.op->setAttr(onnx::kProductsAttr, StringAttr::get(&getContext(), onnx::kTf32Products));
      bool isQuantized =
          precision == Precision::INT8 || (node.why.empty() && node.op->getNumResults() == 1 &&
                                           plan.quantized.contains(node.op->getResult(0)));
      if (precision != wanted && !isQuantized)
        recordOther(node, precision, ledger);
    }
    std::string text;
    for (auto [precision, number] : counts) {
      text += (text.empty() ? "" : ", ") + precisionText(precision) + ": " +
              std::to_string(number) + (number == 1 ? " node" : " nodes");
      count(&getContext(), getArgument(), precisionName(precision), number);
    }
    count(&getContext(), getArgument(), "casts", casts);
    ledger.chosen("precision", plan.function.getLoc(),
                  text + "; casts between them: " + std::to_string(casts));
  }

  /// A node that is not of the precision asked for.
  void recordOther(PrecisionNode &node, Precision precision, rt::Ledger &ledger) {
    bool isProduct = policyOf(node.op).role == Role::Product;
    bool isAsked = StringRef(node.why).starts_with(kAskedPrecision);
    // Nobody asked for anything else.
    if (!isLow(wanted) && !isLow(precision) && !isProduct && !isAsked)
      return;
    if (node.why.empty())
      node.why = precision == Precision::FP32
                     ? "its neighbours are, and casts around it would cost more than it saves"
                     : "its neighbours are";
    if (isProduct)
      node.op->setAttr(kKeptPrecisionAttr, StringAttr::get(&getContext(), node.why));
    std::string text = precisionText(precision);
    if (isAsked)
      ledger.chosen("precision", node.op->getLoc(), "in " + text + ", by " + node.why);
    else if (isLow(wanted))
      ledger.missed("precision", node.op->getLoc(), "kept in " + text, node.why);
    else
      ledger.chosen("precision", node.op->getLoc(), "in " + text + ": " + node.why);
  }

  Precision asked = Precision::FP32, wanted = Precision::FP32, ioPrecision = Precision::FP32;
  PrecisionOverrides overrides;
  unsigned known = 0; // values with recorded ranges
};

} // namespace

} // namespace cameo
