// Products of a graph ==> what they read.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/ProductReads.h"

#include "dialects/onnx/Onnx.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/precision/RecordedRanges.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cameo;

int64_t ReadWindow::places() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

int64_t ReadWindow::results(unsigned axis, int64_t size) const {
  int64_t reach = dilations[axis] * (sizes[axis] - 1) + 1;
  int64_t room = size + padsBefore[axis] + padsAfter[axis] - reach;
  return room < 0 ? 0 : room / strides[axis] + 1;
}

bool ProductRead::reads(ArrayRef<int64_t> shape) const {
  if (!window)
    return !shape.empty() && shape.back() == channels;
  return shape.size() == window->sizes.size() + 2 && shape[1] == channels;
}

static SmallVector<int64_t> numbersOf(Operation *op, StringRef name, size_t count,
                                      int64_t without) {
  auto given = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return given ? SmallVector<int64_t>(given.asArrayRef()) : SmallVector<int64_t>(count, without);
}

static bool readWindow(Operation *op, ProductRead &read) {
  auto weights = cast<RankedTensorType>(op->getOperand(1).getType());
  auto mode = op->getAttrOfType<StringAttr>("auto_pad");
  if (mode && mode.getValue() != "NOTSET" && mode.getValue() != "VALID")
    return false;
  auto group = op->getAttrOfType<IntegerAttr>("group");
  read.groups = group ? group.getInt() : 1;
  read.channels = weights.getDimSize(1) * read.groups;
  size_t rank = weights.getRank() - 2;
  ReadWindow &window = read.window.emplace();
  window.sizes.assign(weights.getShape().begin() + 2, weights.getShape().end());
  window.strides = numbersOf(op, "strides", rank, 1);
  window.dilations = numbersOf(op, "dilations", rank, 1);
  SmallVector<int64_t> pads = numbersOf(op, "pads", 2 * rank, 0);
  if (mode && mode.getValue() == "VALID")
    pads.assign(2 * rank, 0);
  window.padsBefore.assign(pads.begin(), pads.begin() + rank);
  window.padsAfter.assign(pads.begin() + rank, pads.end());
  return true;
}

/// Nothing for other operators, and where weights are not constant.
static std::optional<ProductRead> readOf(Operation *op) {
  if (!isa<onnx::ConvOp, onnx::GemmOp, onnx::MatMulOp>(op))
    return std::nullopt;
  auto gemm = dyn_cast<onnx::GemmOp>(op);
  auto weights = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  if (!weights || !weights.hasStaticShape() || !onnx::constantValue(op->getOperand(1)) ||
      (gemm && gemm.getTransA()) || (isa<onnx::MatMulOp>(op) && weights.getRank() != 2))
    return std::nullopt;
  ProductRead read;
  read.product = op;
  read.name = onnx::nodeName(op).value_or("").str();
  read.value = valueName(op->getOperand(0));
  if (isa<onnx::ConvOp>(op))
    return readWindow(op, read) ? std::optional(read) : std::nullopt;
  read.channels = weights.getDimSize(gemm && gemm.getTransB() ? 1 : 0);
  return read;
}

std::vector<ProductRead> cameo::productReads(ModuleOp module) {
  std::vector<ProductRead> reads;
  llvm::StringMap<unsigned> named;
  module.walk([&](Operation *op) { ++named[onnx::nodeName(op).value_or("")]; });
  module.walk([&](Operation *op) {
    std::optional<ProductRead> read = readOf(op);
    // Of several values of one name a tap shows the last.
    if (read && !read->name.empty() && named.lookup(read->value) <= 1)
      reads.push_back(std::move(*read));
  });
  return reads;
}

std::vector<ProductRead> cameo::tappedReads(std::vector<ProductRead> reads,
                                            ArrayRef<TensorPort> taps,
                                            ArrayRef<CalibratedValue> values) {
  llvm::erase_if(reads, [&](ProductRead &read) {
    auto isIt = [&](const auto &at) { return at.name == read.value; };
    auto tap = llvm::find_if(taps, isIt);
    auto value = llvm::find_if(values, isIt);
    if (tap == taps.end() || value == values.end())
      return true;
    read.threshold = value->operandThresholds()[value->chosen];
    read.tap = tap - taps.begin();
    return false;
  });
  return reads;
}
