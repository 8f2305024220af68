// The row schedule: one block a row, its threads reducing together.
//
// For reductions over consecutive elements and for normalisations: every reduction of the dispatch
// has one result an index of the same rows; the block computes them one after the other (partial
// results a thread, then shuffles within warps and shared memory between them), and then the
// elements that depend on them.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cameo {
namespace {

/// A result of the dispatch in terms of rows.
struct Output {
  Value value;
  SmallVector<unsigned> rowDims, columnDims; // of the result
};

struct Rows {
  SmallVector<linalg::GenericOp> reductions; // in order
  SmallVector<Output> outputs;
  RankedTensorType rowType; // of the reductions' results
};

/// The operation that combines partial results: `yield op(accumulator, ...)`.
Operation *combiner(linalg::GenericOp generic) {
  if (generic.getNumDpsInits() != 1)
    return nullptr;
  Value accumulator = generic.getBody()->getArguments().back();
  Operation *op = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!op ||
      !isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp,
           arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp,
           arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp, math::FmaOp>(op))
    return nullptr;
  if (isa<math::FmaOp>(op) ? op->getOperand(2) != accumulator
                           : !llvm::is_contained(op->getOperands(), accumulator))
    return nullptr;
  return accumulator.hasOneUse() ? op : nullptr;
}

/// Whether each thread may start from the initial value: it is neutral, or repeating it is
/// harmless.
bool startsNeutral(linalg::GenericOp generic, Operation *combine) {
  auto fill = generic.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  if (!fill)
    return false;
  Value init = fill.getInputs()[0];
  if (isa<arith::AddFOp, arith::AddIOp, math::FmaOp>(combine))
    return matchPattern(init, m_AnyZeroFloat()) || matchPattern(init, m_Zero());
  if (isa<arith::MulFOp, arith::MulIOp>(combine))
    return matchPattern(init, m_OneFloat()) || matchPattern(init, m_One());
  return true;
}

Value combine(OpBuilder &b, Location loc, Operation *kind, Value left, Value right) {
  if (isa<math::FmaOp>(kind))
    return b.create<arith::AddFOp>(loc, left, right);
  OperationState state(loc, kind->getName());
  state.addOperands({left, right});
  state.addTypes(left.getType());
  return b.create(state)->getResult(0);
}

bool isReduction(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  return generic && generic.getNumReductionLoops() != 0;
}

/// Whether `found` holds for the value or anything it is computed from inside the dispatch.
bool reads(Value value, function_ref<bool(Value)> found) {
  if (found(value))
    return true;
  Operation *definition = value.getDefiningOp();
  return definition && llvm::any_of(definition->getOperands(),
                                    [&](Value operand) { return reads(operand, found); });
}

/// A reduction's result, or elementwise work on such results of the same shape.
bool isRowTensor(Value value) {
  if (isReduction(value))
    return true;
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.hasIndexSemantics())
    return false;
  bool any = false;
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType()) ||
        !reads(input->get(), [](Value v) { return isReduction(v); }))
      continue;
    if (!isRowTensor(input->get()) || !generic.getMatchingIndexingMap(input).isIdentity())
      return false;
    any = true;
  }
  return any;
}

std::optional<Rows> matchRows(kernel::DispatchOp op) {
  Rows rows;
  for (Operation &inner : op.getBodyBlock()->without_terminator()) {
    if (isa<kernel::ScanOp>(inner))
      return std::nullopt;
    auto generic = dyn_cast<linalg::GenericOp>(inner);
    if (generic && generic.getNumReductionLoops() != 0)
      rows.reductions.push_back(generic);
  }
  if (rows.reductions.empty())
    return std::nullopt;
  rows.rowType = cast<RankedTensorType>(rows.reductions.front().getResult(0).getType());
  bool consecutive = false;
  for (linalg::GenericOp generic : rows.reductions) {
    Operation *combine = combiner(generic);
    if (!combine || !startsNeutral(generic, combine))
      return std::nullopt;
    auto type = cast<RankedTensorType>(generic.getResult(0).getType());
    unsigned bits = type.getElementTypeBitWidth();
    if (type.getShape() != rows.rowType.getShape() || (bits != 32 && bits != 64))
      return std::nullopt;
    // Result indices are the parallel loops in order.
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    if (!out.isProjectedPermutation() || out.getNumResults() != generic.getNumParallelLoops())
      return std::nullopt;
    int64_t extent = 1;
    SmallVector<unsigned> reduced;
    generic.getReductionDims(reduced);
    for (unsigned dim : reduced) {
      int64_t range = generic.getStaticLoopRanges()[dim];
      extent = ShapedType::isDynamic(range) ? std::max<int64_t>(extent, 1024) : extent * range;
    }
    if (extent < 32)
      return std::nullopt;
    AffineExpr innermost = getAffineDimExpr(reduced.back(), op.getContext());
    for (OpOperand *input : generic.getDpsInputOperands()) {
      AffineMap map = generic.getMatchingIndexingMap(input);
      consecutive |= map.getNumResults() != 0 && map.getResults().back() == innermost;
    }
  }
  if (!consecutive)
    return std::nullopt;

  auto yield = cast<kernel::YieldOp>(op.getBodyBlock()->getTerminator());
  for (Value value : yield.getValues()) {
    Output output{value, {}, {}};
    auto type = cast<RankedTensorType>(value.getType());
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic)
      return std::nullopt;
    if (generic.getNumReductionLoops() == 0) {
      AffineMap outMap = generic.getMatchingIndexingMap(
          generic.getDpsInitOperand(cast<OpResult>(value).getResultNumber()));
      if (!outMap.isIdentity())
        return std::nullopt;
      std::optional<AffineMap> through;
      for (OpOperand *input : generic.getDpsInputOperands()) {
        if (!isRowTensor(input->get())) {
          // Elementwise work on elements must not hide a reduction.
          if (reads(input->get(), [](Value value) { return isReduction(value); }))
            return std::nullopt;
          continue;
        }
        AffineMap map = generic.getMatchingIndexingMap(input);
        if (through && *through != map)
          return std::nullopt;
        through = map;
      }
      bool extracts = false;
      generic.getBody()->walk([&](tensor::ExtractOp) { extracts = true; });
      if (!through || !through->isProjectedPermutation() || extracts)
        return std::nullopt;
      for (AffineExpr expr : through->getResults())
        output.rowDims.push_back(cast<AffineDimExpr>(expr).getPosition());
    } else {
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        output.rowDims.push_back(dim);
    }
    for (unsigned dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(output.rowDims, dim))
        output.columnDims.push_back(dim);
    rows.outputs.push_back(output);
  }
  return rows;
}

class RowSchedule : public Schedule {
public:
  StringRef family() const override { return "rows"; }

  bool isSupported(kernel::DispatchOp op, const Target &) const override {
    return matchRows(op).has_value();
  }

  DictionaryAttr choose(kernel::DispatchOp op, const Target &) const override {
    Rows rows = *matchRows(op);
    int64_t longest = 32;
    for (linalg::GenericOp generic : rows.reductions) {
      int64_t extent = 1;
      SmallVector<unsigned> reduced;
      generic.getReductionDims(reduced);
      for (unsigned dim : reduced) {
        int64_t range = generic.getStaticLoopRanges()[dim];
        extent *= ShapedType::isDynamic(range) ? 256 : range;
      }
      longest = std::max(longest, extent);
    }
    // Four elements a thread, whole warps.
    int64_t threads = std::clamp<int64_t>(llvm::PowerOf2Ceil(longest / 4), 32, 256);
    Builder b(op.getContext());
    return b.getDictionaryAttr({b.getNamedAttr("threads", b.getI64IntegerAttr(threads))});
  }

  LogicalResult verify(kernel::DispatchOp op, DictionaryAttr params,
                       const Target &target) const override {
    auto threads = intParam(params, "threads");
    if (!threads || *threads < 32 || *threads > target.maxThreadsPerBlock || *threads % 32 != 0)
      return op.emitError() << "schedule 'rows' needs threads, a multiple of 32 up to "
                            << target.maxThreadsPerBlock;
    return success();
  }

  LogicalResult emit(kernel::DispatchOp op, DictionaryAttr params,
                     KernelEmitter &emitter) const override {
    Rows rows = *matchRows(op);
    int64_t threads = *intParam(params, "threads");
    OpBuilder host(op);
    Location loc = op.getLoc();
    const Output &first = rows.outputs.front();
    Value one = host.create<arith::ConstantIndexOp>(loc, 1), count = one;
    for (unsigned dim : first.rowDims)
      count = host.createOrFold<arith::MulIOp>(
          loc, count, host.createOrFold<tensor::DimOp>(loc, op.getInits()[0], dim));
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    auto launched = emitter.launch(op, "", threads, {count, one, one}, outputs,
                                   [&](Kernel &kernel) { return emitBody(kernel, rows, threads); });
    if (failed(launched))
      return failure();
    op.replaceAllUsesWith(*launched);
    op.erase();
    return success();
  }

private:
  /// Combines one value a thread into one that every thread has.
  static Value combineBlock(Kernel &kernel, Operation *kind, Value value, int64_t threads) {
    OpBuilder &b = kernel.b;
    Location loc = kernel.loc;
    kernel.synchronises = true;
    Value width = b.create<arith::ConstantIntOp>(loc, 32, 32);
    for (int64_t distance = 16; distance >= 1; distance /= 2) {
      Value mask = b.create<arith::ConstantIntOp>(loc, distance, 32);
      auto other = b.create<gpu::ShuffleOp>(loc, value, mask, width, gpu::ShuffleMode::XOR);
      value = combine(b, loc, kind, value, other.getShuffleResult());
    }
    if (threads == 32)
      return value;
    int64_t warps = threads / 32;
    Value shared = kernel.sharedMemory(warps, value.getType());
    Value thread = kernel.threadId();
    Value warp = b.create<arith::DivUIOp>(loc, thread, kernel.constant(32));
    Value lane = b.create<arith::RemUIOp>(loc, thread, kernel.constant(32));
    Value leads = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, lane, kernel.constant(0));
    auto branch = b.create<scf::IfOp>(loc, leads, false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      b.create<memref::StoreOp>(loc, value, shared, warp);
    }
    b.create<gpu::BarrierOp>(loc);
    Value total = b.create<memref::LoadOp>(loc, shared, kernel.constant(0));
    for (int64_t i = 1; i < warps; ++i)
      total =
          combine(b, loc, kind, total, b.create<memref::LoadOp>(loc, shared, kernel.constant(i)));
    return total;
  }

  static LogicalResult emitBody(Kernel &kernel, Rows &rows, int64_t threads) {
    OpBuilder &b = kernel.b;
    Location loc = kernel.loc;
    const Output &first = rows.outputs.front();
    Value shape = kernel.op.getInitArgs()[0];
    SmallVector<Value> rowSizes;
    for (unsigned dim : first.rowDims)
      rowSizes.push_back(kernel.size(shape, dim));
    SmallVector<Value> row = kernel.delinearize(kernel.blockId(), rowSizes);
    Value thread = kernel.threadId(), step = kernel.constant(threads);

    for (linalg::GenericOp generic : rows.reductions) {
      Operation *kind = combiner(generic);
      AffineMap outMap = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
      SmallVector<Value> extents = kernel.loopSizes(generic), loops(extents.size());
      for (auto [expr, index] : llvm::zip(outMap.getResults(), row))
        loops[cast<AffineDimExpr>(expr).getPosition()] = index;
      SmallVector<unsigned> reduced;
      generic.getReductionDims(reduced);
      SmallVector<Value> sizes;
      Value count = kernel.constant(1);
      for (unsigned dim : reduced) {
        sizes.push_back(extents[dim]);
        count = kernel.mul(count, extents[dim]);
      }
      Value init = kernel.element(generic.getDpsInitOperand(0)->get(), row);
      auto loop = b.create<scf::ForOp>(loc, thread, count, step, init);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        for (auto [dim, value] :
             llvm::zip(reduced, kernel.delinearize(loop.getInductionVar(), sizes)))
          loops[dim] = value;
        SmallVector<Value> arguments;
        for (OpOperand *input : generic.getDpsInputOperands())
          arguments.push_back(
              isa<RankedTensorType>(input->get().getType())
                  ? kernel.element(input->get(),
                                   kernel.apply(generic.getMatchingIndexingMap(input), loops))
                  : kernel.scalar(input->get()));
        arguments.push_back(loop.getRegionIterArgs()[0]);
        b.create<scf::YieldOp>(loc, kernel.inlineBody(generic, loops, arguments)[0]);
      }
      Value total = combineBlock(kernel, kind, loop.getResult(0), threads);
      kernel.keep(generic.getResult(0), [total](ValueRange) { return total; });
    }

    for (auto [number, output] : llvm::enumerate(rows.outputs)) {
      Value destination = kernel.op.getInitArgs()[number];
      SmallVector<Value> place(cast<RankedTensorType>(destination.getType()).getRank());
      for (auto [dim, index] : llvm::zip(output.rowDims, row))
        place[dim] = index;
      SmallVector<Value> sizes;
      Value count = kernel.constant(1);
      for (unsigned dim : output.columnDims) {
        sizes.push_back(kernel.size(destination, dim));
        count = kernel.mul(count, sizes.back());
      }
      // Rows alone: one element, the first thread's.
      auto loop = b.create<scf::ForOp>(loc, thread, count, step);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      for (auto [dim, value] :
           llvm::zip(output.columnDims, kernel.delinearize(loop.getInductionVar(), sizes)))
        place[dim] = value;
      Value value = kernel.element(output.value, place);
      b.create<memref::StoreOp>(loc, value, kernel.memory(destination),
                                kernel.linearize(place, kernel.sizes(destination)));
    }
    return success();
  }
};

} // namespace

const Schedule *rowSchedule() {
  static const RowSchedule schedule;
  return &schedule;
}

} // namespace cameo
