// Counting what descriptions ask for.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ElementWork.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {

/// Instructions that take an element's place in memory and its bounds, beside its access.
static constexpr double kPlace = 2;

static double elementBytesOf(Value value) {
  return double(llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 8));
}

static double extentOf(int64_t range) {
  return ShapedType::isDynamic(range) ? kUnknownSize : double(range);
}

static double elementsOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return tensorBytes(type) * 8 / std::max<double>(type.getElementTypeBitWidth(), 8);
}

/// Elements of the dispatch's operands that are asked for.
using Asked = llvm::SmallDenseMap<Value, double>;

static void addGeneric(linalg::GenericOp generic, ElementWork &work, Asked &asked) {
  double iterations = 1, steps = 1;
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  for (auto [loop, range] : llvm::enumerate(generic.getStaticLoopRanges())) {
    iterations *= extentOf(range);
    if (llvm::is_contained(reduced, loop))
      steps *= extentOf(range);
  }
  double each = double(llvm::range_size(generic.getBody()->without_terminator()));
  double bytes = 0;
  for (OpOperand *input : generic.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType())) {
      each += 1 + kPlace;
      bytes += elementBytesOf(input->get());
      asked[input->get()] += iterations;
    }
  generic.getRegion().walk(
      [&](tensor::ExtractOp extract) { asked[extract.getTensor()] += iterations; });
  work.operations += iterations * each;
  if (reduced.empty())
    return;
  work.reducedBytes += iterations * bytes;
  work.longest = std::max(work.longest, steps);
}

/// Slices are read and written, and nothing else of the destination.
static void addInsertion(kernel::InsertOp insert, ElementWork &work, Asked &asked) {
  double elements = elementsOf(insert.getValues());
  for (Value operand : {insert.getValues(), insert.getPlaces()}) {
    work.operations += (1 + kPlace) * elements;
    asked[operand] += elements;
  }
}

ElementWork elementWork(const Computation &computation) {
  ElementWork work;
  Asked asked;
  for (Operation *inner : computation.operations) {
    if (auto insert = dyn_cast<kernel::InsertOp>(inner)) {
      addInsertion(insert, work, asked);
      continue;
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(inner)) {
      addGeneric(generic, work, asked);
      continue;
    }
    if (auto scan = dyn_cast<kernel::ScanOp>(inner)) {
      int64_t length = cast<RankedTensorType>(scan.getType()).getDimSize(scan.getAxis());
      work.scanSteps += elementsOf(scan.getResult()) * extentOf(length) / 2;
      work.longest = std::max(work.longest, extentOf(length));
    }
    for (Value result : inner->getResults())
      if (isa<RankedTensorType>(result.getType())) {
        work.operations += kPlace * elementsOf(result);
        for (Value operand : inner->getOperands())
          if (isa<RankedTensorType>(operand.getType()))
            asked[operand] += elementsOf(result);
      }
  }
  for (Value result : computation.results) {
    auto insert = result.getDefiningOp<kernel::InsertOp>();
    Value written = insert ? insert.getValues() : result;
    work.operations += elementsOf(written);
    work.bytes += elementsOf(written) * elementBytesOf(written);
    if (isa<BlockArgument>(result))
      asked[result] += elementsOf(result);
  }
  kernel::DispatchOp op = computation.op;
  for (Value input : op.getInputArgs())
    if (auto found = asked.find(input); found != asked.end())
      work.bytes += std::min(found->second, elementsOf(input)) * elementBytesOf(input);
  return work;
}

int64_t neighborsOfThread(int64_t most, int64_t row, double elements, const Target &target) {
  constexpr int64_t kThreadsOfSm = 256;
  int64_t vector = most;
  while (vector > 1 && (row % vector != 0 ||
                        elements / double(vector) < double(target.board->sm_count * kThreadsOfSm)))
    vector /= 2;
  return vector;
}

KernelWork kernelWork(const ElementWork &work, const ElementKernel &kernel) {
  KernelWork result;
  result.blocks = std::max(kernel.blocks, 1.0);
  result.threads = kernel.threads;
  result.sharedBytes = kernel.sharedBytes;
  result.trips = kernel.trips;
  result.dramBytes = work.bytes * kernel.sectors;
  result.once.slots = work.operations / 32 / result.blocks;
  result.once.l2Bytes =
      std::max(result.dramBytes, work.reducedBytes / kernel.reused) / result.blocks;
  return result;
}

} // namespace cameo
