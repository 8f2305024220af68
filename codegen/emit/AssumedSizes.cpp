// Folds a plan's host arithmetic, with symbolic sizes as constants.
//
//   %n = rt.dim 0, 0           64
//   %c = arith.constant 16     16
//   %b = arith.muli %n, %c     1024
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/AssumedSizes.h"

#include "dialects/rt/Rt.h"
#include "runtime/arena.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace cameo;

AssumedSizes::AssumedSizes(func::FuncOp plan) {
  for (Operation &op : plan.getBody().front())
    evaluate(op);
}

std::optional<int64_t> AssumedSizes::of(Value value) const {
  auto number = dyn_cast_or_null<IntegerAttr>(known.lookup(value));
  // A negative one is a size that the model cannot have.
  if (refused || !number || number.getValue().isNegative())
    return std::nullopt;
  return number.getInt();
}

std::optional<double> AssumedSizes::numberOf(Value value) const {
  auto number = dyn_cast_or_null<FloatAttr>(known.lookup(value));
  if (refused || !number)
    return std::nullopt;
  return number.getValueAsDouble();
}

void AssumedSizes::set(Value value, int64_t number) {
  known[value] = Builder(value.getContext()).getIndexAttr(number);
}

void AssumedSizes::evaluate(Operation &op) {
  if (auto dim = dyn_cast<rt::DimOp>(op)) {
    assumed = true;
    return set(dim, int64_t(kUnknownSize));
  }
  if (auto fetch = dyn_cast<rt::FetchOp>(op)) {
    assumed = true;
    for (Value value : fetch.getValues())
      if (value.getType().isInteger(64))
        known[value] = Builder(op.getContext()).getI64IntegerAttr(kUnknownSize);
    return;
  }
  if (auto check = dyn_cast<rt::CheckOp>(op)) {
    auto holds = dyn_cast_or_null<IntegerAttr>(known.lookup(check.getCondition()));
    refused |= holds && holds.getValue().isZero();
    return;
  }
  if (isa<rt::LayOutArenaOp>(op))
    return layOut(op);
  if (Attribute constant; matchPattern(&op, m_Constant(&constant))) {
    known[op.getResult(0)] = constant;
    return;
  }
  SmallVector<Attribute> operands;
  for (Value operand : op.getOperands())
    operands.push_back(known.lookup(operand));
  // With all of them known, folding gives results and changes nothing in place.
  SmallVector<OpFoldResult> results;
  if (operands.empty() || !llvm::all_of(operands, [](Attribute a) { return bool(a); }) ||
      failed(op.fold(operands, results)))
    return;
  for (auto [result, folded] : llvm::zip(op.getResults(), results)) {
    auto same = dyn_cast<Value>(folded);
    if (Attribute constant = same ? known.lookup(same) : cast<Attribute>(folded))
      known[result] = constant;
  }
}

void AssumedSizes::layOut(Operation &op) {
  auto layout = cast<rt::LayOutArenaOp>(op);
  std::vector<CameoArenaRequest> requests;
  for (auto [bytes, first, last] :
       llvm::zip(layout.getBytes(), layout.getFirst(), layout.getLast())) {
    std::optional<int64_t> size = of(bytes);
    if (!size)
      return;
    requests.push_back(
        {static_cast<uint64_t>(*size), static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
  }
  std::vector<uint64_t> offsets(requests.size());
  CameoArenaUse use;
  if (cameoLayOutArena(requests.data(), requests.size(), offsets.data(), &use))
    return;
  set(layout.getArena(), use.arena_bytes);
  set(layout.getLive(), use.live_bytes);
  set(layout.getSum(), use.sum_bytes);
  for (auto [result, offset] : llvm::zip(layout.getOffsets(), offsets))
    set(result, offset);
}
