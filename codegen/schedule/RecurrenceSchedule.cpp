// The recurrence schedule: one block, or a cluster, for a direction and a few rows, which does all
// steps; or a launch of many blocks for each step.
//
// For kernel.recurrence. Threads share the product of the state before with the weights. Where all
// steps are one launch, they keep states in registers; the state that the next step multiplies goes
// through shared memory. Where weights are too many for registers, a few blocks read them from the L2
// cache slowly: then all blocks of the GPU share a step, and states go through global memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ElementWork.h"
#include "codegen/schedule/RecurrenceKernel.h"
#include "codegen/schedule/Schedule.h"
#include "dialects/kernel/form/Form.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace cameo {
namespace {

/// Threads of a block: each may have a quarter of the registers that one can have at most.
constexpr int64_t kThreads = 512;
/// Elements of the state that a thread multiplies at once, where these are as many for all.
constexpr int64_t kDeepest = 4;
/// Rows of a block at most.
constexpr int64_t kMostRows = 8;
/// Blocks of a cluster that share weights which they read from the L2 cache.
constexpr int64_t kMostReading = 8;
/// Sums of a thread at most, of all gates.
constexpr int64_t kMostSums = 32;
/// Instructions of a warp for a cell, its exchange apart: three or more functions of an exponential.
constexpr double kCellSlots = 150;
/// Cycles that they take behind one another.
constexpr double kCellChain = 250;
/// Cycles until what blocks of a cluster store in one another is seen, beside a barrier's: an
/// assumption.
constexpr double kClusterChain = 400;
/// Threads of a block that does one step: there are many of them, one for a few units each.
constexpr int64_t kStepThreads = 128;
/// Warps at most that share the depth of a step's products on Tensor Cores.
constexpr int64_t kMostSharing = 8;
/// Steps by which the two ways are compared.
constexpr double kComparedSteps = 64;

class RecurrenceMatch : public ScheduleMatch {
public:
  RecurrenceMatch(kernel::DispatchOp op, const Target &target, kernel::RecurrenceOp recurrence)
      : ScheduleMatch(op, target), recurrence(recurrence) {}

  /// What threads read together is together: all but the depth of the weights, gates, then units.
  SmallVector<unsigned> packing(unsigned input) const override {
    if (isByStep() || usesMatrices())
      return {};
    auto byDepth = recurrence.getWeights().getDefiningOp<linalg::GenericOp>();
    if (!byDepth || byDepth.getNumDpsInputs() != 1 ||
        byDepth.getInputs()[0] != op.getInputArgs()[input])
      return {};
    AffineMap read = byDepth.getMatchingIndexingMap(byDepth.getDpsInitOperand(0));
    AffineMap map = byDepth.getMatchingIndexingMap(byDepth.getDpsInputOperand(0));
    SmallVector<unsigned> order;
    for (AffineExpr expr : read.getResults())
      if (std::optional<unsigned> dim = map.getResultPosition(expr))
        order.push_back(*dim);
    return order.size() == map.getNumResults() ? order : SmallVector<unsigned>();
  }

  SmallVector<Candidate, 0> candidates(size_t most) const override {
    SmallVector<Candidate, 0> found;
    for (int64_t rows = 1; rows <= kMostRows; rows *= 2) {
      std::optional<RecurrenceForm> form = isByStep() ? stepForm(rows) : sequenceForm(rows);
      if (!form)
        continue;
      Candidate candidate = candidateOf(attributes(*form));
      found.insert(llvm::upper_bound(found, candidate,
                                     [](const Candidate &a, const Candidate &b) {
                                       return a.microseconds < b.microseconds;
                                     }),
                   candidate);
    }
    found.truncate(std::min(found.size(), most));
    return found;
  }

  KernelWork workOf(DictionaryAttr params) const override;
  LogicalResult verify(DictionaryAttr params) const override;

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    RecurrenceForm form = *formOf(params);
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value one = host.create<arith::ConstantIndexOp>(loc, 1);
    auto constant = [&](int64_t value) {
      return host.create<arith::ConstantIndexOp>(loc, value).getResult();
    };
    // The last states have the rows.
    unsigned output = op.getNumResults() - 1;
    if (form.isStep)
      emitter.begin(op, /*mayBeInChunks=*/false);
    Value rows = emitter.gridSize(host, op, output, recurrence.getRowsFirst() ? 0 : 1);
    Value blocks = host.createOrFold<arith::CeilDivSIOp>(loc, rows, constant(form.rows));
    blocks = host.createOrFold<arith::MulIOp>(loc, blocks,
                                              constant(recurrence.getDirections() * form.blocks));
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    Value workspace = form.isStep ? repeatSteps(host, emitter, rows) : Value();
    return emitter.launch(op, "", form.threads, {blocks, one, one}, outputs,
                          [&](KernelWriter &kernel) {
                            if (form.isStep)
                              emitRecurrenceStep(kernel, recurrence, form, workspace);
                            else
                              emitRecurrence(kernel, recurrence, form);
                            return success();
                          });
  }

private:
  /// A launch for each step and phase, one where there is no step; what they share, null for one launch.
  Value repeatSteps(OpBuilder &host, KernelEmitter &emitter, Value rows) const;
  int64_t weightBits() const {
    return getElementTypeOrSelf(recurrence.getWeights()).getIntOrFloatBitWidth();
  }
  int64_t widestPhase() const { return *llvm::max_element(recurrence.getPhases()); }

  /// Whether products are on Tensor Cores: weights stay as they are then.
  bool usesMatrices() const {
    return target.capability() >= 80 && matrixWeights(recurrence) && fits(matrixForm());
  }
  /// Of a direction and `rows` rows that have all steps; nothing where a block has no room.
  std::optional<RecurrenceForm> sequenceForm(int64_t rows) const {
    if (usesMatrices())
      return rows == kMatrixRows ? std::optional(matrixForm()) : std::nullopt;
    RecurrenceForm form = formFor(rows);
    return fits(form) ? std::optional(form) : std::nullopt;
  }
  /// Of one step. `parts`, `deep` and `splits` say in which order sums are added up: they go by the
  /// units alone.
  std::optional<RecurrenceForm> stepForm(int64_t rows) const;
  /// Whether steps are launches. That goes by the units alone, too: by one row's time.
  bool isByStep() const;
  struct Extents {
    double steps, rows, directions;
  };
  Extents extents() const;
  KernelWork workOf(const RecurrenceForm &form, const Extents &of) const;
  KernelWork stepWork(const RecurrenceForm &form, const Extents &of) const;
  /// Blocks that a cluster may have.
  int64_t mostBlocks() const { return target.clusterBlocks(); }
  /// More blocks as long as each has at least `least` units, in groups of `group`.
  int64_t blocksFor(int64_t least, int64_t group) const {
    int64_t units = recurrence.getUnits(), blocks = 1;
    while (blocks < std::min(mostBlocks(), kMostReading) && units % (2 * blocks * group) == 0 &&
           units / (2 * blocks) >= least)
      blocks *= 2;
    return blocks;
  }

  /// With as few blocks as have all weights in registers, if any number has, else with as many as the
  /// GPU's caches are read faster by.
  RecurrenceForm matrixForm() const {
    int64_t units = recurrence.getUnits();
    auto formOf = [&](int64_t blocks, int64_t splits) {
      RecurrenceForm form{kMatrixRows, /*vector=*/1,      /*parts=*/4, kMatrixDepth,
                          0,           /*isMatrix=*/true, blocks};
      form.splits = splits;
      form.threads = std::min(form.places(units), kThreads);
      return form;
    };
    for (int64_t blocks = 1; blocks <= mostBlocks() && units % (blocks * 8) == 0; blocks *= 2)
      for (int64_t splits = 1; splits <= kMostSharing && units % (splits * kMatrixDepth) == 0;
           splits *= 2) {
        RecurrenceForm form = formOf(blocks, splits);
        if ((splits == 1 || form.placesOfThread(units) == 1) && keepsWeights(recurrence, form))
          return form;
      }
    return formOf(blocksFor(/*least=*/64, /*group=*/8), /*splits=*/1);
  }

  RecurrenceForm formFor(int64_t rows) const {
    int64_t units = recurrence.getUnits();
    RecurrenceForm form = formOfOneRow();
    form.rows = rows;
    while (form.vector > 1 && form.vector * rows * widestPhase() > kMostSums)
      form.vector /= 2;
    form.threads = std::min(int64_t(llvm::alignTo(form.places(units), kWarp)), kThreads);
    return form;
  }

  /// `parts` and `deep` say in which order sums are added up: they go by the units alone.
  RecurrenceForm formOfOneRow() const {
    int64_t units = recurrence.getUnits(), widest = 128 / weightBits();
    auto dividing = [&](int64_t number) {
      return std::min(widest, int64_t(1) << llvm::countr_zero(uint64_t(number)));
    };
    for (int64_t blocks = 1; blocks <= mostBlocks() && units % blocks == 0; blocks *= 2)
      for (int64_t vector = dividing(units / blocks); vector >= 1; vector /= 2)
        for (int64_t deep : {4, 8, 2, 1}) {
          int64_t parts = units / deep;
          if (units % deep != 0 || parts > kWarp || !llvm::isPowerOf2_64(parts))
            continue;
          RecurrenceForm form{1, vector, parts, deep, 0, /*isMatrix=*/false, blocks};
          form.threads = llvm::alignTo(form.places(units), kWarp);
          if (form.threads <= kThreads && keepsWeights(recurrence, form))
            return form;
        }
    RecurrenceForm form{1, 1, 1, kDeepest, kThreads, /*isMatrix=*/false, 1};
    form.blocks = blocksFor(/*least=*/32, dividing(units));
    form.vector = dividing(units / form.blocks);
    while (form.parts < kWarp && 2 * kDeepest * form.parts <= units &&
           2 * form.places(units) <= kThreads)
      form.parts *= 2;
    while (form.deep > 1 && units % (form.parts * form.deep) != 0)
      form.deep /= 2;
    return form;
  }

  bool fits(const RecurrenceForm &form) const {
    return sharedBytes(form) <= int64_t(target.staticSharedPerBlock) &&
           form.rows * widestPhase() <= kMostSums;
  }
  int64_t sharedBytes(const RecurrenceForm &form) const {
    return recurrenceShared(recurrence, form);
  }

  DictionaryAttr attributes(const RecurrenceForm &form) const {
    Builder b(op.getContext());
    auto number = [&](StringRef name, int64_t value) {
      return b.getNamedAttr(name, b.getI64IntegerAttr(value));
    };
    auto instruction = b.getNamedAttr(
        "instruction", b.getDenseI64ArrayAttr({kMatrixSums, kMatrixRows, kMatrixDepth}));
    if (form.isStep && form.isMatrix)
      return b.getDictionaryAttr({instruction, number("splits", form.splits), number("steps", 1)});
    if (form.isStep)
      return b.getDictionaryAttr({number("deep", form.deep), number("parts", form.parts),
                                  number("rows", form.rows), number("steps", 1),
                                  number("threads", form.threads)});
    if (form.isMatrix) {
      SmallVector<NamedAttribute> all{number("blocks", form.blocks), instruction,
                                      number("threads", form.threads)};
      if (form.splits > 1)
        all.push_back(number("splits", form.splits));
      return b.getDictionaryAttr(all);
    }
    return b.getDictionaryAttr({number("blocks", form.blocks), number("deep", form.deep),
                                number("parts", form.parts), number("rows", form.rows),
                                number("threads", form.threads), number("vector", form.vector)});
  }
  std::optional<RecurrenceForm> formOf(DictionaryAttr params) const {
    auto blocks = intParam(params, "blocks"), deep = intParam(params, "deep"),
         parts = intParam(params, "parts"), rows = intParam(params, "rows"),
         threads = intParam(params, "threads"), vector = intParam(params, "vector");
    auto instruction = params.getAs<DenseI64ArrayAttr>("instruction");
    bool isMatrix = instruction && instruction.asArrayRef() ==
                                       ArrayRef<int64_t>{kMatrixSums, kMatrixRows, kMatrixDepth};
    auto splits = intParam(params, "splits");
    if (intParam(params, "steps") == 1) {
      if (isMatrix && splits)
        return matrixStep(*splits);
      if (instruction || !deep || !parts || !rows || !threads)
        return std::nullopt;
      return laneStep(*rows, *parts, *deep, *threads);
    }
    if (isMatrix && blocks && threads) {
      RecurrenceForm form = matrixForm();
      form.blocks = *blocks;
      form.splits = splits.value_or(1);
      form.threads = *threads;
      return form;
    }
    if (!blocks || !deep || !parts || !rows || !threads || !vector)
      return std::nullopt;
    return RecurrenceForm{*rows, *vector, *parts, *deep, *threads, /*isMatrix=*/false, *blocks};
  }
  RecurrenceForm matrixStep(int64_t splits) const {
    RecurrenceForm form{kMatrixRows,  /*vector=*/1,   /*parts=*/4,
                        kMatrixDepth, splits * kWarp, /*isMatrix=*/true};
    form.splits = splits;
    return byStep(form);
  }
  RecurrenceForm laneStep(int64_t rows, int64_t parts, int64_t deep, int64_t threads) const {
    return byStep({rows, /*vector=*/1, parts, deep, threads});
  }
  RecurrenceForm byStep(RecurrenceForm form) const {
    form.isStep = true;
    int64_t each = std::max<int64_t>(unitsOfStep(form), 1);
    form.blocks = int64_t(llvm::divideCeil(recurrence.getUnits(), each));
    return form;
  }
  LogicalResult verifyThreads(int64_t threads) const;
  /// Of all steps on Tensor Cores.
  LogicalResult verifySplits(const RecurrenceForm &form) const;
  LogicalResult verifyShared(const RecurrenceForm &form) const;
  LogicalResult verifyStep(const RecurrenceForm &form) const;
  InFlightDiagnostic error() const { return op.emitError() << "schedule 'recurrence': "; }

  mutable kernel::RecurrenceOp recurrence;
};

Value RecurrenceMatch::repeatSteps(OpBuilder &host, KernelEmitter &emitter, Value rows) const {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) { return host.create<arith::ConstantIndexOp>(loc, value); };
  int64_t phases = recurrence.getPhases().size(), stepDim = recurrence.getRowsFirst() ? 1 : 0;
  Value steps = planSize(host, op, recurrence.getInput(), stepDim);
  if (isConstantIntValue(steps, 1) && phases == 1)
    return {};
  Value times = host.createOrFold<arith::MaxSIOp>(loc, steps, constant(1));
  times = host.createOrFold<arith::MulIOp>(loc, times, constant(phases));
  SmallVector<int64_t> shape{recurrenceSlots(recurrence), recurrence.getDirections(),
                             ShapedType::kDynamic, recurrence.getUnits()};
  SmallVector<Value> open{rows};
  if (std::optional<int64_t> known = getConstantIntValue(rows)) {
    shape[2] = *known;
    open.clear();
  }
  Value workspace = host.create<tensor::EmptyOp>(loc, shape, recurrence.getComputeType(), open);
  emitter.repeat(times, workspace);
  return workspace;
}

std::optional<RecurrenceForm> RecurrenceMatch::stepForm(int64_t rows) const {
  int64_t units = recurrence.getUnits();
  if (target.capability() >= 80 && matrixWeights(recurrence)) {
    int64_t splits = kMostSharing;
    while (units % (splits * kMatrixDepth) != 0)
      splits /= 2;
    return rows == kMatrixRows ? std::optional(matrixStep(splits)) : std::nullopt;
  }
  if (rows * widestPhase() > kMostSums)
    return std::nullopt;
  int64_t deep = 128 / weightBits(), parts = kWarp;
  while (units % deep != 0)
    deep /= 2;
  while (parts > 1 && (parts / 2) * deep >= units)
    parts /= 2;
  return laneStep(rows, parts, deep, kStepThreads);
}

bool RecurrenceMatch::isByStep() const {
  TimeModel model(target);
  auto least = [&](bool byStep) {
    double found = std::numeric_limits<double>::infinity();
    for (int64_t rows : {int64_t(1), kMatrixRows})
      if (auto form = byStep ? stepForm(rows) : sequenceForm(rows))
        found = std::min(found, model.microseconds(workOf(*form, {kComparedSteps, 1, 1})));
    return found;
  };
  return least(/*byStep=*/true) < least(/*byStep=*/false);
}

RecurrenceMatch::Extents RecurrenceMatch::extents() const {
  auto extent = [&](unsigned dim) {
    int64_t size = cast<RankedTensorType>(recurrence.getInput().getType()).getDimSize(dim);
    return ShapedType::isDynamic(size) ? kUnknownSize : double(size);
  };
  bool isSwapped = recurrence.getRowsFirst();
  return {extent(isSwapped ? 1 : 0), extent(isSwapped ? 0 : 1), double(recurrence.getDirections())};
}

KernelWork RecurrenceMatch::workOf(DictionaryAttr params) const {
  return workOf(*formOf(params), extents());
}

/// Of one launch.
KernelWork RecurrenceMatch::stepWork(const RecurrenceForm &form, const Extents &of) const {
  TimeModel model(target);
  double units = double(recurrence.getUnits()), gates = double(widestPhase()),
         ofBlock = double(unitsOfStep(form)), warps = double(form.threads) / kWarp,
         weights = gates * units * ofBlock;
  unsigned bits = recurrence.getComputeType().getIntOrFloatBitWidth();
  KernelWork work;
  work.launches = std::max(of.steps, 1.0) * double(recurrence.getPhases().size());
  work.blocks = std::ceil(of.rows / double(form.rows)) * of.directions * double(form.blocks);
  work.threads = form.threads;
  work.sharedBytes = sharedBytes(form);
  BlockWork &once = work.once;
  double cells = double(form.rows) * ofBlock;
  if (form.isMatrix) {
    double tiles = double(llvm::divideCeil(widestPhase(), 2)),
           deep = units / double(kMatrixDepth * form.splits), instructions = tiles * deep;
    work.registers = 64 + 8 * widestPhase();
    work.onMatrix = true;
    once.matrix = model.matrixCycles(
        instructions * warps * double(kMatrixSums * kMatrixRows * kMatrixDepth), weightBits());
    once.products = deep;
    once.slots = warps * (instructions * 9 + deep * 12);
    once.sharedBytes = 2 * warps * tiles * 4 * kWarp * 4;
    once.barriers = form.splits > 1 ? 1 : 0;
  } else {
    int64_t sums = form.rows * widestPhase();
    work.registers =
        std::min<int64_t>(40 + sums + form.deep * (widestPhase() * weightBits() / 32 + form.rows),
                          target.maxRegistersPerThread);
    once.arithmetic = model.laneCycles(weights * double(form.rows), bits);
    double loaded = weights / kWarp / double(form.deep);
    once.slots = weights / kWarp * (double(form.rows) + (weightBits() < 32 ? 1 : 0)) +
                 loaded * (2 + double(form.rows) / gates * 3) + double(sums) * 3 * warps;
    once.chain = units / double(form.parts) * 4 + 30 * std::log2(double(form.parts) * 2);
  }
  once.slots += std::max(cells / kWarp, 1.0) * kCellSlots;
  once.chain += kCellChain;
  double weightBytes = weights * weightBits() / 8;
  once.l2Bytes =
      weightBytes + double(form.rows) * units * bits / 8 + cells * (gates + 3) * bits / 8;
  // Weights stay in the L2 cache from one step to the next where they fit.
  double all =
      weightBytes * double(form.blocks) * of.directions * double(recurrence.getGates()) / gates;
  work.dramBytes =
      of.directions * of.rows * units * (gates + 1) * bits / 8 +
      (all > double(target.board->l2_kib) * 1024 ? all * gates / double(recurrence.getGates()) : 0);
  return work;
}

/// Of the launch.
KernelWork RecurrenceMatch::workOf(const RecurrenceForm &form, const Extents &of) const {
  if (form.isStep)
    return stepWork(form, of);
  TimeModel model(target);
  double steps = of.steps, rows = of.rows;
  double units = double(recurrence.getUnits()), gates = double(recurrence.getGates());
  double weights = gates * units * units / double(form.blocks),
         warps = double(form.threads) / kWarp;
  double cells =
      double(form.isMatrix ? 4 * matrixCells(recurrence) : form.rows) * units / double(form.blocks);
  unsigned bits = recurrence.getComputeType().getIntOrFloatBitWidth();
  KernelWork work;
  work.blocks = std::ceil(rows / double(form.rows)) * of.directions * double(form.blocks);
  work.threads = form.threads;
  work.sharedBytes = sharedBytes(form);
  work.steps = steps;
  int64_t places = form.placesOfThread(recurrence.getUnits());
  double phases = double(recurrence.getPhases().size()), weightBytes = weights * weightBits() / 8;
  bool keeps = keepsWeights(recurrence, form);
  if (form.isMatrix) {
    double tiles = 0; // instructions of a warp for eight units and a step along the depth
    for (int64_t phase : recurrence.getPhases())
      tiles += double(llvm::divideCeil(phase, 2));
    double deep = units / double(kMatrixDepth * form.splits) * double(places),
           instructions = tiles * deep;
    work.registers =
        std::min<int64_t>(64 + 8 * widestPhase() + (keeps ? int64_t(instructions) * 4 : 16),
                          target.registersPerSm / form.threads);
    work.onMatrix = true;
    work.step.matrix = model.matrixCycles(
        instructions * warps * double(kMatrixSums * kMatrixRows * kMatrixDepth), weightBits());
    work.step.products = deep * phases;
    work.step.slots = warps * (instructions * (keeps ? 1 : 9) + deep * phases * 4);
    work.step.sharedBytes = warps * deep * phases * 256;
    if (form.splits > 1) {
      double sums = warps * tiles * 4;
      work.step.slots += sums * double(1 + form.splits);
      work.step.sharedBytes += sums * double(1 + form.splits) * kWarp * 4;
      work.step.barriers += phases;
    }
  } else {
    int64_t sums = form.rows * form.vector * widestPhase();
    int64_t loaded = form.deep * form.vector * widestPhase() * weightBits() / 32;
    work.registers = std::min<int64_t>(40 + sums + loaded, target.maxRegistersPerThread);
    work.step.arithmetic = model.laneCycles(weights * double(form.rows), bits);
    // Multiply-adds, loads of weights and of what they multiply, conversions, exchanges.
    double products = weights / kWarp;
    work.step.slots = products * (double(form.rows) + (keeps ? 0.25 : 1.5) / double(form.vector) +
                                  (weightBits() < 32 && !keeps ? 1 : 0)) +
                      double(sums * places) * 3 * warps;
    work.step.sharedBytes = products * double(form.rows) / double(form.vector) * 16;
    work.step.chain =
        phases * (units / double(form.parts) * 4 + 30 * std::log2(double(form.parts) * 2));
  }
  work.step.slots += std::max(cells / kWarp, 1.0) * kCellSlots * double(form.splits);
  work.step.l2Bytes = (keeps ? 0 : weightBytes) + cells * (gates + 1) * bits / 8;
  work.once.l2Bytes = weightBytes;
  work.step.barriers += phases;
  // A phase waits for memory, for its sums one after another, and for cells.
  work.step.chain += kCellChain + (form.blocks > 1 ? phases * kClusterChain : 0);
  work.step.loads = keeps ? 0 : phases;
  work.dramBytes = tensorBytes(cast<RankedTensorType>(recurrence.getInput().getType())) +
                   weights * double(recurrence.getDirections() * form.blocks) * weightBits() / 8;
  for (Value result : recurrence.getResults())
    work.dramBytes += tensorBytes(cast<RankedTensorType>(result.getType()));
  return work;
}

LogicalResult RecurrenceMatch::verifyThreads(int64_t threads) const {
  if (threads < kWarp || threads > int64_t(target.maxThreadsPerBlock) || threads % kWarp != 0)
    return error() << "threads of " << threads << " must be a multiple of " << kWarp << " up to "
                   << target.maxThreadsPerBlock;
  return success();
}

static bool isPower(int64_t value, int64_t most) {
  return value >= 1 && value <= most && llvm::isPowerOf2_64(value);
}

LogicalResult RecurrenceMatch::verifySplits(const RecurrenceForm &form) const {
  int64_t units = recurrence.getUnits();
  if (!isPower(form.splits, kMostSharing) || units % (form.splits * kMatrixDepth) != 0)
    return error() << "splits of " << form.splits << " must be a power of two, at most "
                   << kMostSharing << ", by which " << units << " units are steps of "
                   << kMatrixDepth;
  if (form.splits > 1 && form.threads != form.places(units))
    return error() << "with splits of " << form.splits << " a block must have "
                   << form.places(units) << " threads, not " << form.threads;
  return success();
}

LogicalResult RecurrenceMatch::verifyShared(const RecurrenceForm &form) const {
  if (sharedBytes(form) > int64_t(target.staticSharedPerBlock))
    return error() << "requires " << sharedBytes(form) << " B of shared memory; at most "
                   << target.staticSharedPerBlock;
  return success();
}

LogicalResult RecurrenceMatch::verifyStep(const RecurrenceForm &form) const {
  int64_t units = recurrence.getUnits();
  if (form.isMatrix) {
    if (target.capability() < 80 || !matrixWeights(recurrence))
      return error() << "its weights are not what matrix instructions take";
    if (!isPower(form.splits, kWarp) || units % (form.splits * kMatrixDepth) != 0)
      return error() << "splits of " << form.splits << " must be a power of two, at most " << kWarp
                     << ", by which " << units << " units are steps of " << kMatrixDepth;
    return verifyThreads(form.threads);
  }
  if (!isPower(form.rows, kMostRows) || !isPower(form.parts, kWarp) || !isPower(form.deep, 8))
    return error() << "rows of " << form.rows << ", parts of " << form.parts << " and deep of "
                   << form.deep << " must be powers of two, at most " << kMostRows << ", " << kWarp
                   << " and 8";
  if (units % form.deep != 0)
    return error() << units << " units must be a multiple of deep, " << form.deep;
  if (form.rows * widestPhase() > 2 * kMostSums)
    return error() << "a thread would have " << form.rows * widestPhase() << " sums; at most "
                   << 2 * kMostSums;
  return verifyThreads(form.threads);
}

LogicalResult RecurrenceMatch::verify(DictionaryAttr params) const {
  std::optional<RecurrenceForm> form = formOf(params);
  if (!form)
    return error()
           << "needs blocks, deep, parts, rows, threads and vector, or blocks, an instruction "
              "of [16, 8, 16] and threads; with steps of 1 deep, parts, rows and threads, or an "
              "instruction and splits";
  if (form->isStep)
    return verifyStep(*form);
  if (form->isMatrix != usesMatrices())
    return error() << (form->isMatrix ? "its weights are not what matrix instructions take"
                                      : "its products are for matrix instructions; it needs one");
  int64_t units = recurrence.getUnits(), group = form->isMatrix ? 8 : form->vector;
  if (form->blocks < 1 || form->blocks > mostBlocks() || !llvm::isPowerOf2_64(form->blocks) ||
      units % form->blocks != 0)
    return error() << "blocks of " << form->blocks << " must be a power of two, at most "
                   << mostBlocks() << ", that divides " << units << " units";
  if (form->isMatrix && units / form->blocks % group != 0)
    return error() << units / form->blocks << " units of a block must be a multiple of " << group;
  if (form->isMatrix)
    return failure(failed(verifyThreads(form->threads)) || failed(verifySplits(*form)) ||
                   failed(verifyShared(*form)));
  if (!isPower(form->rows, kMostRows) || !isPower(form->parts, kWarp) || !isPower(form->deep, 8))
    return error() << "rows of " << form->rows << ", parts of " << form->parts << " and deep of "
                   << form->deep << " must be powers of two, at most " << kMostRows << ", " << kWarp
                   << " and 8";
  int64_t widest = 128 / weightBits();
  if (!isPower(form->vector, widest) || units / form->blocks % form->vector != 0)
    return error() << "vector of " << form->vector << " must be a power of two, at most " << widest
                   << ", that divides " << units / form->blocks << " units";
  if (form->deep > 1 && units % (form->parts * form->deep) != 0)
    return error() << units << " units must be a multiple of parts times deep, "
                   << form->parts * form->deep;
  if (failed(verifyThreads(form->threads)))
    return failure();
  if (form->rows * form->vector * widestPhase() > 2 * kMostSums)
    return error() << "a thread would have " << form->rows * form->vector * widestPhase()
                   << " sums; at most " << 2 * kMostSums;
  return verifyShared(*form);
}

class RecurrenceSchedule : public Schedule {
public:
  StringRef family() const override { return "recurrence"; }

protected:
  bool takesEmpty() const override { return true; }
  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    kernel::RecurrenceOp recurrence = matchRecurrence(computation);
    return recurrence ? std::make_unique<RecurrenceMatch>(computation.op, target, recurrence)
                      : nullptr;
  }
};

} // namespace

const Schedule *recurrenceSchedule() {
  static const RecurrenceSchedule schedule;
  return &schedule;
}

} // namespace cameo
