// See SplitDepth.h.
//
//   %y = kernel.dispatch ins(%x, %w, %b) {product of x and w, sum with b} schedule {splits = 4}
//     ==>
//   %e = tensor.empty() : tensor<4x...>
//   %s = rt.launch @product_parts(%x, %w) -> %e
//   %y = kernel.dispatch ins(%b, %s) {sum of the parts, sum with b}, launched in turn as
//   %y = rt.launch @sum finishes @product_parts(%b, %s)
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/SplitDepth.h"

#include "codegen/schedule/ElementWork.h"
#include "codegen/schedule/Epilogues.h"
#include "codegen/schedule/ProductSchedule.h"
#include "codegen/schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;

namespace cameo {

/// Elements of depth that are worth a split at least, and of a part.
static constexpr int64_t kLongDepth = 1024, kLeastPart = 256;
/// Of the time without, what it takes with a split at most.
static constexpr double kWorthSplitting = 0.9;

SplitWork::SplitWork(kernel::DispatchOp op, const Product &product, int64_t splits)
    : results(likelyExtent(product, product.rows, 512) *
              likelyExtent(product, product.columns, 512) *
              likelyExtent(product, product.batch, 8)),
      sumBytes(product.sumType.getIntOrFloatBitWidth() / 8.0),
      operandBytes(cameo::operandBytes(op, product)),
      dramBytes(operandBytes + double(splits) * results * sumBytes), splits(splits) {
  auto type = cast<RankedTensorType>(product.sums().getType());
  for (unsigned dim : orderOfParts(product)) // up to the innermost one that has several
    row = type.getDimSize(dim) == 1 ? row : type.getDimSize(dim);
}

KernelWork SplitWork::fixUp(const Target &target, double wholeBytes) const {
  constexpr int64_t kThreads = 256;
  ElementWork work;
  work.longest = double(splits);
  work.operations = results * double(splits + 3); // loads and additions; a place and a store
  work.reducedBytes = results * double(splits) * sumBytes;
  work.bytes = work.reducedBytes + std::max(wholeBytes - operandBytes, 0.0);
  // As class `map` does it.
  int64_t vector = ShapedType::isDynamic(row)
                       ? 1
                       : neighborsOfThread(int64_t(16 / sumBytes), row, results, target);
  ElementKernel kernel{results / double(kThreads * vector), kThreads,
                       1 + std::ceil(double(splits) / kLoadsTogether)};
  return kernelWork(work, kernel);
}

int64_t workspaceBytes(const Product &product, int64_t splits) {
  if (splits == 1) // as of all products with open sizes
    return 0;
  int64_t results = product.extent(product.rows) * product.extent(product.columns) *
                    product.extent(product.batch);
  return splits * results * product.sumType.getIntOrFloatBitWidth() / 8;
}

int64_t chooseSplits(const Product &product, function_ref<double(int64_t)> microseconds) {
  int64_t depth = product.extent(product.depth), best = 1;
  if (llvm::is_contained(product.ranges, ShapedType::kDynamic) || depth < kLongDepth)
    return best;
  double least = kWorthSplitting * microseconds(1);
  for (int64_t splits = 2; splits <= std::min(kMostSplits, depth / kLeastPart); splits *= 2)
    if (double time = microseconds(splits); time < least)
      best = splits, least = time;
  return best;
}

bool canSplit(const Product &product, int64_t steps, int64_t splits) {
  if (splits < 1 || splits > kMostSplits)
    return false;
  if (splits == 1 || ShapedType::isDynamic(product.extent(product.depth)))
    return true;
  int64_t most = llvm::divideCeil(steps, splits), used = llvm::divideCeil(steps, most);
  return used == splits;
}

namespace {

/// What of a dispatch's body is computed behind its product.
class BehindProduct {
public:
  BehindProduct(kernel::DispatchOp op, const Product &product) : op(op), product(product.generic) {
    for (Value value : op.getBodyBlock()->getTerminator()->getOperands())
      need(value);
    need(this->product.getDpsInitOperand(0)->get()); // zeros
  }

  /// A dispatch of that, which reads the parts of the product's sums, in front of the former one.
  kernel::DispatchOp make(Value sums, unsigned dim, ArrayRef<unsigned> order) {
    OpBuilder host(op);
    SmallVector<Value> inputs, inputArgs, scalars, scalarArgs;
    for (auto [outside, argument] : llvm::zip(op.getInputs(), op.getInputArgs()))
      if (needed.contains(argument))
        inputs.push_back(outside), inputArgs.push_back(argument);
    inputs.push_back(sums);
    for (auto [outside, argument] : llvm::zip(op.getScalars(), op.getScalarArgs()))
      if (needed.contains(argument))
        scalars.push_back(outside), scalarArgs.push_back(argument);
    auto made = host.create<kernel::DispatchOp>(op.getLoc(), inputs, scalars, op.getInits());
    IRMapping mapping;
    mapping.map(inputArgs, made.getInputArgs().drop_back());
    for (auto [argument, scalar] : llvm::zip(scalarArgs, made.getScalarArgs()))
      mapping.map(argument, scalar);
    mapping.map(op.getInitArgs(), made.getInitArgs());
    OpBuilder inside = OpBuilder::atBlockBegin(made.getBodyBlock());
    for (Operation &inner : *op.getBodyBlock()) {
      if (&inner == product)
        mapping.map(product.getResult(0),
                    sumOf(inside, made.getInputArgs().back(),
                          mapping.lookup(product.getDpsInitOperand(0)->get()), dim, order));
      else if (operations.contains(&inner) || &inner == op.getBodyBlock()->getTerminator())
        inside.clone(inner, mapping);
    }
    return made;
  }

private:
  void need(Value value) {
    SmallVector<Value> stack{value};
    while (!stack.empty()) {
      Value next = stack.pop_back_val();
      Operation *definition = next.getDefiningOp();
      if (!needed.insert(next).second || !definition || definition == product ||
          !operations.insert(definition).second)
        continue;
      definition->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentBlock() == op.getBodyBlock())
            stack.push_back(operand);
      });
    }
  }

  /// The sum of a tensor along one dimension, whose others are the result's in this order.
  Value sumOf(OpBuilder &b, Value parts, Value zeros, unsigned dim, ArrayRef<unsigned> order) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(zeros.getType());
    unsigned rank = type.getRank();
    SmallVector<AffineExpr> read;
    for (unsigned loop : order)
      read.push_back(b.getAffineDimExpr(loop));
    AffineMap written =
        AffineMap::getMultiDimIdentityMap(rank + 1, b.getContext()).dropResult(rank);
    read.insert(read.begin() + dim, b.getAffineDimExpr(rank));
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators.push_back(utils::IteratorType::reduction);
    auto sum = [&](OpBuilder &body, Location loc, ValueRange arguments) {
      Value value = isa<FloatType>(type.getElementType())
                        ? body.create<arith::AddFOp>(loc, arguments[1], arguments[0]).getResult()
                        : body.create<arith::AddIOp>(loc, arguments[1], arguments[0]).getResult();
      body.create<linalg::YieldOp>(loc, value);
    };
    AffineMap maps[] = {AffineMap::get(rank + 1, 0, read, b.getContext()), written};
    return b.create<linalg::GenericOp>(loc, type, parts, zeros, maps, iterators, sum).getResult(0);
  }

  kernel::DispatchOp op;
  linalg::GenericOp product;
  llvm::DenseSet<Value> needed;
  llvm::SmallPtrSet<Operation *, 16> operations;
};

} // namespace

/// Memory for the sums. Parts are in front, but for a dimension of which only a run knows the size:
/// so the second launch can be in chunks of that.
static std::pair<Value, unsigned> workspaceOf(OpBuilder &host, KernelEmitter &emitter,
                                              kernel::DispatchOp op, const Product &product,
                                              int64_t splits) {
  Value root = linalg::GenericOp(product.generic).getResult(0);
  auto type = cast<RankedTensorType>(root.getType());
  SmallVector<unsigned> order = orderOfParts(product);
  unsigned dim = type.getRank() > 1 && type.isDynamicDim(order.front()) ? 1 : 0;
  SmallVector<Value> all = gridSizesOfRoot(host, emitter, op, product.epilogues.front(), root);
  SmallVector<Value> open;
  SmallVector<int64_t> shape;
  for (unsigned from : order) {
    shape.push_back(type.getDimSize(from));
    if (type.isDynamicDim(from))
      open.push_back(all[from]);
  }
  shape.insert(shape.begin() + dim, splits);
  return {host.create<tensor::EmptyOp>(op.getLoc(), shape, type.getElementType(), open), dim};
}

FailureOr<SmallVector<Value>>
launchSplit(kernel::DispatchOp op, const Target &target, KernelEmitter &emitter,
            const Product &product, const Reach &reach, int64_t threads,
            function_ref<void(KernelWriter &, const DepthParts &)> write) {
  emitter.begin(op, /*mayBeInChunks=*/false);
  reachByTiles(emitter, op, product, reach);
  int64_t splits = reach.splits;
  OpBuilder host(op);
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) { return host.create<arith::ConstantIndexOp>(loc, value); };
  Value tiles = productBlocks(host, emitter, op, product, reach.rows, reach.columns);
  Value blocks = host.createOrFold<arith::MulIOp>(loc, tiles, constant(splits)), one = constant(1);
  auto [workspace, dim] = workspaceOf(host, emitter, op, product, splits);
  DepthParts parts{splits, workspace, dim};
  FailureOr<Value> sums =
      emitter.launchParts(workspace, linalg::GenericOp(product.generic).getResult(0), splits, op,
                          threads, {blocks, one, one}, [&](KernelWriter &kernel) {
                            write(kernel, parts);
                            return success();
                          });
  if (failed(sums))
    return failure();
  kernel::DispatchOp rest = BehindProduct(op, product).make(*sums, dim, orderOfParts(product));
  std::vector<RankedSchedule> ranked = rankSchedules(Computation(rest), target);
  if (ranked.empty())
    return rest.emitError("no schedule class takes the sum of its parts");
  const RankedSchedule &best = ranked.front();
  rest.setScheduleAttr(best.attribute());
  emitter.begin(rest);
  emitter.finish(*sums);
  emitter.setEstimate(best.match->estimate(best.best.params));
  FailureOr<SmallVector<Value>> results = best.match->emit(best.best.params, emitter);
  rest.erase();
  return results;
}

} // namespace cameo
