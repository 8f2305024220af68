// The map schedule: one thread per group of `vector` consecutive elements of the result.
//
// Reductions become loops inside the thread. Good for pointwise and layout work, and the fallback
// of everything else, but for dispatches of which threads would compute long reductions repeatedly.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ElementWork.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/kernel/form/WastedWork.h"
#include "dialects/rt/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace cameo {
namespace {

/// Positions of destinations, grouped by shape: each group has threads of its own.
SmallVector<SmallVector<int64_t>> groupOutputs(kernel::DispatchOp op) {
  SmallVector<SmallVector<int64_t>> groups;
  for (int64_t i = 0, e = op.getInits().size(); i < e; ++i) {
    auto same = [&](SmallVector<int64_t> &group) {
      auto type = cast<RankedTensorType>(op.getInits()[i].getType());
      auto first = op.getInits()[group.front()];
      if (cast<RankedTensorType>(first.getType()).getShape() != type.getShape())
        return false;
      return llvm::all_of(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t dim) {
        return rt::sizeOf(op.getInits()[i], dim) == rt::sizeOf(first, dim);
      });
    };
    auto found = llvm::find_if(groups, same);
    if (found == groups.end())
      groups.push_back({i});
    else
      found->push_back(i);
  }
  return groups;
}

int64_t bits(Type type) { return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth(); }

/// Whether the generic computes each element from single values and from elements at the same place
/// of tensors of its own shape, which it adds to `read`.
bool isFlat(linalg::GenericOp generic, ArrayRef<int64_t> shape, llvm::SetVector<Value> &read) {
  if (generic.getNumReductionLoops() != 0 || generic.hasIndexSemantics())
    return false;
  bool asks = false;
  generic.getBody()->walk(
      [&](Operation *inner) { asks |= isa<tensor::ExtractOp, tensor::DimOp>(inner); });
  if (asks)
    return false;
  for (OpOperand &operand : generic->getOpOperands()) {
    auto tensor = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!tensor)
      continue;
    bool isInput = generic.isDpsInput(&operand);
    if (tensor.getRank() == 0) {
      if (isInput && !isa<BlockArgument>(operand.get()))
        return false;
      continue;
    }
    // Same static shape, or dynamic and then equal by the description's own rules.
    if (!generic.getMatchingIndexingMap(&operand).isIdentity() || tensor.getShape() != shape)
      return false;
    if (isInput)
      read.insert(operand.get());
  }
  return true;
}

/// Whether the value is an elementwise function of memory of its own shape and of single values, so
/// that the shape does not matter.
bool isFlat(Value value) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  llvm::SetVector<Value> read;
  read.insert(value);
  for (size_t i = 0; i < read.size(); ++i) { // grows meanwhile
    if (isa<BlockArgument>(read[i]))
      continue;
    auto generic = read[i].getDefiningOp<linalg::GenericOp>();
    if (!generic || !isFlat(generic, shape, read))
      return false;
  }
  return true;
}

/// Evaluates flat values at consecutive places of their row-major order, each once.
class FlatElements {
public:
  FlatElements(KernelWriter &kernel, Value offset, int64_t lanes)
      : kernel(kernel), b(kernel.b), offset(offset), lanes(lanes) {}

  SmallVector<Value> of(Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    SmallVector<Value> result = compute(value);
    known[value] = result;
    return result;
  }

private:
  SmallVector<Value> compute(Value value) {
    // A single value may be computed in any way, by a reduction too.
    if (cast<RankedTensorType>(value.getType()).getRank() == 0)
      return SmallVector<Value>(lanes, kernel.element(value, {}));
    if (Value memory = kernel.memory(value)) {
      if (lanes == 1)
        return {b.create<memref::LoadOp>(kernel.loc, memory, offset)};
      Value vector = kernel.loadVector(memory, offset, lanes);
      SmallVector<Value> result;
      for (int64_t lane = 0; lane < lanes; ++lane)
        result.push_back(b.create<vector::ExtractOp>(kernel.loc, vector, lane));
      return result;
    }
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    SmallVector<SmallVector<Value>> inputs;
    for (OpOperand *input : generic.getDpsInputOperands())
      inputs.push_back(isa<RankedTensorType>(input->get().getType())
                           ? of(input->get())
                           : SmallVector<Value>(lanes, kernel.scalar(input->get())));
    SmallVector<Value> results, loops(generic.getNumLoops());
    for (int64_t lane = 0; lane < lanes; ++lane) {
      SmallVector<Value> arguments;
      for (auto &values : inputs)
        arguments.push_back(values[lane]);
      results.push_back(
          kernel.inlineBody(generic, loops, arguments)[cast<OpResult>(value).getResultNumber()]);
    }
    return results;
  }

  KernelWriter &kernel;
  OpBuilder &b;
  Value offset;
  int64_t lanes;
  llvm::DenseMap<Value, SmallVector<Value>> known;
};

/// Of a block.
constexpr int64_t kMapThreads = 256;

class MapMatch : public ScheduleMatch {
public:
  MapMatch(const Computation &computation, const Target &target)
      : ScheduleMatch(computation.op, target), work(elementWork(computation)) {}

  /// The shape does not matter where no operand is in several pieces either.
  bool isFlat() const {
    auto yield = cast<kernel::YieldOp>(op.getBodyBlock()->getTerminator());
    return llvm::all_of(yield.getValues(), [](Value value) { return cameo::isFlat(value); }) &&
           llvm::all_of(op.getBodyBlock()->getArguments(), [&](BlockArgument argument) {
             return !isa<RankedTensorType>(argument.getType()) ||
                    operandLayout(op, argument).isContiguous();
           });
  }

  SmallVector<Candidate, 0> candidates(size_t) const override {
    Builder b(op.getContext());
    int64_t vector = 16;
    bool flat = isFlat();
    auto limit = [&](Value argument) {
      auto tensor = cast<RankedTensorType>(argument.getType());
      vector = std::min(vector, operandLayout(op, argument).alignment);
      if (tensor.getElementType().isInteger(1))
        vector = 1;
      vector = std::min<int64_t>(vector, 128 / bits(tensor.getElementType()));
    };
    for (Value input : op.getInputArgs())
      limit(input);
    for (Value init : op.getInitArgs()) {
      auto type = cast<RankedTensorType>(init.getType());
      limit(init);
      if (type.getRank() == 0) {
        vector = 1;
        continue;
      }
      int64_t row = flat && type.hasStaticShape() ? type.getNumElements() : type.getShape().back();
      if (ShapedType::isDynamic(row) && !flat)
        vector = 1;
      // Open sizes are taken to be long enough.
      double elements = type.hasStaticShape() ? double(type.getNumElements())
                                              : std::numeric_limits<double>::infinity();
      vector = neighborsOfThread(vector, ShapedType::isDynamic(row) ? 0 : row, elements, target);
    }
    vector = std::max<int64_t>(vector, 1);
    // A loop for each lane would read memory as often, and no wider.
    auto yield = cast<kernel::YieldOp>(op.getBodyBlock()->getTerminator());
    while (vector > 1 && !llvm::all_of(yield.getValues(),
                                       [&](Value value) { return loopsTogether(value, vector); }))
      vector /= 2;
    auto params = b.getDictionaryAttr({b.getNamedAttr("flat", b.getBoolAttr(flat)),
                                       b.getNamedAttr("threads", b.getI64IntegerAttr(kMapThreads)),
                                       b.getNamedAttr("vector", b.getI64IntegerAttr(vector))});
    return {candidateOf(params)};
  }

  KernelWork workOf(DictionaryAttr params) const override {
    int64_t threads = *intParam(params, "threads"), vector = *intParam(params, "vector");
    double elements = 0;
    for (ArrayRef<int64_t> group : groupOutputs(op)) {
      auto type = cast<RankedTensorType>(op.getInits()[group.front()].getType());
      elements += tensorBytes(type) * 8 / std::max(type.getElementTypeBitWidth(), 8u);
    }
    // A thread's reductions wait for memory step by step, but for those that are unrolled.
    ElementKernel kernel{elements / double(threads * vector), threads,
                         1 + std::ceil(work.longest / kLoadsTogether)};
    if (!params.getAs<BoolAttr>("flat").getValue()) {
      AccessPattern pattern(op);
      SmallVector<DimOrder> orders(pattern.types.size());
      double once = 0;
      for (RankedTensorType type : pattern.types)
        once += tensorBytes(type);
      double moved = pattern.bytesMoved(orders, readApart(), /*mayGoAlongReduced=*/false,
                                        /*mayTurn=*/false);
      kernel.sectors = once > 0 ? std::max(moved / once, 1.0) : 1;
    }
    // Each element of a scan adds up what is before it: a load and an addition a step.
    ElementWork all = work;
    all.operations += 2 * work.scanSteps;
    all.reducedBytes += 4 * work.scanSteps;
    return kernelWork(all, kernel);
  }

  LogicalResult verify(DictionaryAttr params) const override {
    auto threads = intParam(params, "threads"), vector = intParam(params, "vector");
    auto flat = params.getAs<BoolAttr>("flat");
    if (!threads || !vector || !flat)
      return op.emitError("schedule 'map' needs threads, vector and flat");
    if (*threads < 1 || *threads > target.maxThreadsPerBlock)
      return op.emitError() << "schedule 'map' asks for " << *threads << " threads; " << target.name
                            << " allows 1 to " << target.maxThreadsPerBlock;
    if (*vector < 1 || *vector > 16 || !llvm::isPowerOf2_64(*vector))
      return op.emitError() << "schedule 'map': vector " << *vector << " is not 1, 2, 4, 8 or 16";
    if (flat.getValue() && !isFlat())
      return op.emitError("schedule 'map': the description is not flat");
    auto yield = cast<kernel::YieldOp>(op.getBodyBlock()->getTerminator());
    for (Value value : yield.getValues()) {
      auto type = cast<RankedTensorType>(value.getType());
      if (*vector > 1 && !flat.getValue() &&
          (type.getRank() == 0 || type.isDynamicDim(type.getRank() - 1) ||
           type.getShape().back() % *vector != 0))
        return op.emitError() << "schedule 'map': vector " << *vector
                              << " does not divide the last dimension";
    }
    return success();
  }

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    int64_t threads = *intParam(params, "threads"), vector = *intParam(params, "vector");
    bool flat = params.getAs<BoolAttr>("flat").getValue();
    OpBuilder host(op);
    Location loc = op.getLoc();
    auto groups = groupOutputs(op);
    Value one = host.create<arith::ConstantIndexOp>(loc, 1), blocks;
    for (ArrayRef<int64_t> group : groups) {
      Value some = blocksOf(host, emitter, group.front(), threads * vector);
      blocks = blocks ? host.createOrFold<arith::AddIOp>(loc, blocks, some) : some;
    }
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", threads, {blocks, one, one}, outputs, [&](KernelWriter &kernel) {
      emitGroups(kernel, groups, threads, vector, flat);
      return success();
    });
  }

private:
  /// Blocks of so many elements that a result takes.
  Value blocksOf(OpBuilder &host, KernelEmitter &emitter, int64_t output, int64_t perBlock) const {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getInits()[output].getType());
    if (type.hasStaticShape())
      return host.create<arith::ConstantIndexOp>(loc,
                                                 llvm::divideCeil(type.getNumElements(), perBlock));
    Value count = host.create<arith::ConstantIndexOp>(loc, 1);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      count = host.createOrFold<arith::MulIOp>(loc, count, emitter.gridSize(host, op, output, dim));
    return host.create<arith::CeilDivSIOp>(loc, count,
                                           host.create<arith::ConstantIndexOp>(loc, perBlock));
  }

  /// Of results of several shapes the first blocks are for the first shape, and so on.
  void emitGroups(KernelWriter &kernel, ArrayRef<SmallVector<int64_t>> groups, int64_t threads,
                  int64_t vector, bool flat) const {
    kernel.storesOnce = true;
    OpBuilder &b = kernel.b;
    auto yield = cast<kernel::YieldOp>(op.getBodyBlock()->getTerminator());
    Value block = kernel.blockId();
    for (auto [number, group] : llvm::enumerate(groups)) {
      SmallVector<Value> values, destinations;
      for (int64_t output : group) {
        values.push_back(yield.getValues()[output]);
        destinations.push_back(op.getInitArgs()[output]);
      }
      SmallVector<Value> sizes = kernel.sizes(destinations.front());
      Value count = kernel.constant(1);
      for (Value size : sizes)
        count = kernel.mul(count, size);
      if (number + 1 == groups.size())
        return emitBody(kernel, block, sizes, count, values, destinations, threads, vector, flat);
      Value last = kernel.add(count, kernel.constant(threads * vector - 1));
      Value blocks =
          b.createOrFold<arith::DivUIOp>(kernel.loc, last, kernel.constant(threads * vector));
      Value mine = b.create<arith::CmpIOp>(kernel.loc, arith::CmpIPredicate::ult, block, blocks);
      auto branch = b.create<scf::IfOp>(kernel.loc, mine, true);
      b.setInsertionPointToStart(branch.thenBlock());
      emitBody(kernel, block, sizes, count, values, destinations, threads, vector, flat);
      b.setInsertionPointToStart(branch.elseBlock());
      block = b.create<arith::SubIOp>(kernel.loc, block, blocks);
    }
  }

  static void emitBody(KernelWriter &kernel, Value block, ArrayRef<Value> sizes, Value count,
                       ArrayRef<Value> values, ArrayRef<Value> destinations, int64_t threads,
                       int64_t vector, bool flat) {
    Value shape = destinations.front();
    OpBuilder &b = kernel.b;
    Location loc = kernel.loc;
    Value thread = kernel.add(kernel.mul(block, kernel.constant(threads)), kernel.threadId());
    Value base = kernel.mul(thread, kernel.constant(vector));
    auto group = [&](Value offset, int64_t lanes) {
      SmallVector<SmallVector<Value>> results;
      SmallVector<Value> indices;
      FlatElements elements(kernel, offset, lanes);
      if (!flat)
        indices = kernel.placeOf(offset, sizes);
      for (Value value : values) {
        if (flat)
          results.push_back(elements.of(value));
        else if (lanes > 1)
          results.push_back(kernel.elements(value, indices, lanes));
        else
          results.push_back({kernel.element(value, indices)});
      }
      for (auto [destination, lane] : llvm::zip(destinations, results))
        kernel.storeVector(kernel.memory(destination),
                           kernel.layout(destination).isContiguous()
                               ? offset
                               : kernel.offset(destination, indices),
                           lane);
    };
    Value inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, base, count);
    auto guard = b.create<scf::IfOp>(loc, inside, false);
    b.setInsertionPointToStart(guard.thenBlock());
    int64_t divisor = 1; // of the count, whatever the sizes known only at run time
    for (int64_t size : cast<RankedTensorType>(shape.getType()).getShape())
      divisor *= ShapedType::isDynamic(size) ? 1 : size;
    if (divisor % vector == 0)
      return group(base, vector);
    // The last group may be cut: then one by one.
    Value end = kernel.add(base, kernel.constant(vector));
    Value whole = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, end, count);
    auto branch = b.create<scf::IfOp>(loc, whole, true);
    b.setInsertionPointToStart(branch.thenBlock());
    group(base, vector);
    b.setInsertionPointToStart(branch.elseBlock());
    auto rest = b.create<scf::ForOp>(loc, base, count, kernel.constant(1));
    b.setInsertionPointToStart(rest.getBody());
    group(rest.getInductionVar(), 1);
  }

  ElementWork work;
};

class MapSchedule : public Schedule {
public:
  StringRef family() const override { return "map"; }

protected:
  bool takesEmpty() const override { return true; }
  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    if (wastesWork(computation))
      return nullptr;
    return std::make_unique<MapMatch>(computation, target);
  }
};

} // namespace

const Schedule *mapSchedule() {
  static const MapSchedule schedule;
  return &schedule;
}

} // namespace cameo
