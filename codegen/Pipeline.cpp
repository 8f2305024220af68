// THE order of passes.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Pipeline.h"

#include "codegen/Passes.h"
#include "codegen/StagePromises.h"
#include "codegen/schedule/Schedule.h"
#include "codegen/target/Target.h"
#include "dialects/kernel/Kernel.h"
#include "passes/Passes.h"
#include "passes/fuse/FusionLimits.h"
#include "passes/precision/AttachRanges.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace cameo;

static void populateNormalized(OpPassManager &passes, const PipelineOptions &options) {
  OpPassManager &entry = passes.nest<func::FuncOp>();
  // First of all, while loops are loops: each trip draws numbers of its own, whatever becomes of it.
  entry.addPass(createExpandRandom());
  // Before all others, because what the model declares of shapes is not to be relied on.
  entry.addPass(createInferShapes());
  entry.addPass(createFoldConstants());
  // After folding, which makes conditions and trip counts known that shapes alone do not; before all others, which see
  // graphs that have become functions.
  passes.addPass(createFoldControlFlow());
  OpPassManager &functions = passes.nest<func::FuncOp>();
  // After branches are gone, which may have such operators, and before shapes of what stands for them are inferred.
  functions.addPass(createExpandOperators());
  // Of branches, and where a shape is computed by operators that only folding knows.
  functions.addPass(createInferShapes({/*missingOnly=*/true}));
  functions.addPass(createFoldConstants());
  // After folding, which makes much of what is given at run time known; before anything else, since
  // from here on nodes are changed and become one with others.
  if (options.reportUnsupported)
    functions.addPass(createReportUnsupported());
  functions.addPass(createSimplifyOperators());
  const PrecisionOptions &precision = options.precision;
  if (options.level >= 1)
    // Before folding into products, which transposes would stand in the way of.
    functions.addPass(createSinkDataMovement());
  // After simplifying, which leaves no Pad by nothing.
  functions.addPass(createFoldPadIntoWindow());
  // After operators that differed only in what they were called are gone, and before folding into
  // convolutions, which needs to see that a value has one use.
  functions.addPass(createMergeNodes());
  if (options.level >= 2 || options.isCalibration || precision.isQuantized()) {
    // Where ranges are recorded or used, at any level: a product that takes a factor has other
    // results, and calibration has another level.
    functions.addPass(createFoldScalesIntoWeights());
    // Factors that cancel are 1 now, and what stood between a Pad and its window may be gone.
    functions.addPass(createSimplifyOperators());
    functions.addPass(createFoldPadIntoWindow());
  }
  // After all that may stand between a convolution and its batch normalization.
  functions.addPass(createFoldBatchNormIntoConv());
  if (options.level >= 1 && !precision.isQuantized())
    // Last: what others take from between the products (transposes, scales that weights take over)
    // is not hidden from them, and what remains is what attention is made of. Not where products
    // are to be quantised, each of them by what it reads.
    functions.addPass(createRecognizeAttention());
  // Last: captured values are called as what callers hand over in the end.
  passes.addPass(createAssignBodyNames());
}

void cameo::populateRanges(OpPassManager &passes, const PrecisionOptions &precision) {
  if (precision.recorded)
    passes.addPass(createAttachRanges(precision.recorded, precision.model));
  else if (!precision.ranges.empty())
    passes.addPass(createAttachRanges({precision.ranges, precision.model}));
}

void cameo::populateQuantization(OpPassManager &passes, const PrecisionOptions &precision) {
  const std::optional<bool> &corrects = precision.correctsBiases;
  passes.addPass(createInsertQuantization({precision.type, precision.nodes, precision.keptEnds,
                                           precision.scalesChannels.value_or(true),
                                           !corrects   ? "recorded"
                                           : *corrects ? "on"
                                                       : "off"}));
}

static void populatePrecision(OpPassManager &passes, const PipelineOptions &options) {
  const PrecisionOptions &precision = options.precision;
  // Before all that asks for them. What goes by options is of modules: a pattern is to match in one of the functions.
  populateRanges(passes, precision);
  if (precision.isQuantized())
    // First: what is quantised here goes the way of what models quantise themselves.
    populateQuantization(passes, precision);
  if (!precision.weights.empty())
    // Of what is left in floats.
    passes.addPass(createInsertWeightQuantization({precision.weights, precision.weightBlock}));
  OpPassManager &functions = passes.nest<func::FuncOp>();
  // Before products are looked at, because weights are multiplied as their transposes and reshapes
  // leave them.
  functions.addPass(createHoistQuantization());
  functions.addPass(createFoldConstants());
  functions.addPass(createFoldQuantizedConstants({/*maxElements=*/0, /*keepDequantized=*/true}));
  functions.addPass(createSplitQuantizedBlocks());
  // After everything that computes with weights, which are rounded here once, and after products
  // are all those of dequantised tensors that they can be, which have their types.
  if (precision.isAsked())
    passes.addPass(createLowerPrecision({precision.type, precision.nodes, precision.io}));
  // Last, so that graphs and types are what they are without taps, and values as they are stored.
  if (!options.taps.empty())
    passes.addPass(createPlaceTaps({options.taps}));
}

/// Registers that a tensor takes in a kernel: an address, and elements of it that are worked on.
static constexpr int64_t kRegistersPerTensor = 10;
/// Parameters that a tensor takes: an address, and sizes and strides known only at run time.
static constexpr int64_t kParametersPerTensor = 9;

/// What all targets of the list allow, and no less than all need.
static FusionLimits fusionLimits(StringRef targets) {
  FusionLimits limits;
  auto variants = parseTargetSpec(targets);
  if (!variants) { // said by the pass that makes variants
    llvm::consumeError(variants.takeError());
    return limits;
  }
  limits.productRow = kLongestProductRow;
  bool isFirst = true;
  auto least = [&](auto &limit, int64_t value) {
    limit = isFirst ? value : std::min<int64_t>(limit, value);
  };
  for (const TargetVariant &variant : *variants) {
    const Target &target = *variant.target;
    const CameoBoard &board = *target.board;
    limits.tensors =
        std::min<int64_t>(limits.tensors, target.maxRegistersPerThread / kRegistersPerTensor);
    limits.scalars = std::min<int64_t>(limits.scalars, target.maxParameterBytes() / 8 -
                                                           limits.tensors * kParametersPerTensor);
    least(limits.launchBytes, target.launchBytes());
    int64_t operations = int64_t(target.rates().fp32) * board.sm_count * board.clock_mhz;
    least(limits.operationsPerByte, operations / int64_t(target.memoryRate()));
    least(limits.rows, board.sm_count / 2);
    isFirst = false;
  }
  return limits;
}

/// A list for a pass's option, which commas would end in the pipeline's text.
static std::string withoutCommas(std::string list) {
  std::replace(list.begin(), list.end(), ',', ';');
  return list;
}

static void populateDispatched(OpPassManager &passes, const PipelineOptions &options) {
  // Only now, because what is quantised is the same for everybody up to here: QuantizeLinear and
  // DequantizeLinear, which other programs read, too.
  OpPassManager &graph = passes.nest<func::FuncOp>();
  graph.addPass(createFoldDequantizeIntoProducts());
  // After products, which read weights and biases as integers; casts of the others are constants.
  graph.addPass(createFoldQuantizedConstants());
  graph.addPass(createFoldConstants());
  passes.addPass(createLowerOnnxToDispatches());
  // Before there are several copies of everything, because the work is done once then. Bodies come
  // first, because dispatches are equal only where theirs are.
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.nest<kernel::DispatchOp>().addPass(createCSEPass());
  functions.addPass(createMergeDispatches());
  FusionLimits limits = fusionLimits(options.targets);
  if (options.level >= 1) {
    // After equal dispatches are one, because those that had several readers may have one now.
    // Reductions of a product's rows are in another order than alone.
    int64_t productRow = options.level >= 2 ? limits.productRow : 0;
    functions.addPass(createFuseDispatches({limits.tensors, limits.operations, limits.scalars,
                                            limits.results, limits.launchBytes,
                                            limits.operationsPerByte, limits.rows, productRow}));
  }
  if (options.level >= 2) {
    // After fusion, which it would take readers of single members from, and before products become
    // columns of one, a few results each, which no batch could be made of.
    passes.addPass(createBatchDispatches({limits.launchBytes, limits.results}));
    // After fusion, so that what is done with each product goes along.
    passes.addPass(createMergeProducts({limits.results, limits.tensors}));
  }
  if (options.level >= 1)
    passes.nest<func::FuncOp>().nest<kernel::DispatchOp>().addPass(createCSEPass());
  // After equal dispatches are one, because a result that is two parts has a place for one of them,
  // and after fusion, which a part's place would end.
  passes.nest<func::FuncOp>().addPass(createPlaceConcatenations());
  // After all that is for a single result or reader, and after the copies that concatenations need.
  if (options.level >= 2)
    passes.nest<func::FuncOp>().addPass(createMergePointwise(
        {limits.tensors, limits.operations, limits.scalars, limits.results, limits.launchBytes}));
  if (options.level >= 1)
    // Last: what is fused is in one dispatch by now, and dispatches are compared and batched by their types before.
    passes.nest<func::FuncOp>().addPass(createRemoveRoundings());
  passes.addPass(createCreateVariants({withoutCommas(options.targets)}));
}

/// Candidates of a dispatch of which machine code is looked at. The estimate is seldom so wrong
/// that it has the best one behind these, and each costs a run of ptxas.
static constexpr unsigned kTunedCandidates = 5;

static void populateScheduled(OpPassManager &passes, const PipelineOptions &options) {
  // First, because what follows goes by types: costs of layouts, estimates, orders of weights. Not
  // earlier, because products are merged and batched whatever their weights' numbers are.
  passes.addPass(createNarrowWeights());
  std::string layout = options.layout;
  if (layout.empty())
    layout = options.level >= 2 ? "tensor-cores" : "as-imported";
  if (layout != "as-imported") {
    // Because layouts are a question to the class that takes a dispatch. Without it, dispatches are
    // split where it turns out that none does.
    passes.nest<rt::VariantOp>().addPass(createSplitDispatches());
    // Before weights are packed, which are wanted in an order that goes with what they are
    // multiplied with, and which cost nothing to store in any.
    passes.nest<rt::VariantOp>().addPass(createAssignLayouts({layout}));
  }
  bool tunes = options.tune == "static";
  unsigned noted = options.tuningCandidates ? options.tuningCandidates
                   : tunes                  ? kTunedCandidates
                                            : 1;
  passes.nest<rt::VariantOp>().addPass(createAssignSchedules(
      {withoutCommas(options.schedules), noted, options.tuningCandidates > 0}));
  if (options.tuningCandidates)
    // In the place of packing, which each candidate has an order of its own for.
    return passes.addPass(createCreateCandidates());
  if (tunes)
    passes.addPass(createTuneSchedules(
        {options.ptxas, options.nvdisasm, options.libdevice, options.cacheDir}));
  // After schedules, which are chosen for weights in the order that this puts them in.
  passes.addPass(createPackWeights());
}

static void populateTiled(OpPassManager &passes, const PipelineOptions &options) {
  OpPassManager &variants = passes.nest<rt::VariantOp>();
  // After schedules are chosen, because dispatches share a kernel only if they share a schedule.
  variants.addPass(createHoistConstants());
  variants.addPass(createLowerDispatches());
  variants.nest<gpu::GPUModuleOp>().addPass(createExpandTiles());
  // After tiles, whose fragments have elements of four bits, too.
  variants.nest<gpu::GPUModuleOp>().addPass(createExpandNibbles());
  // After both, because it goes by words, and by the vectors that they were loaded in.
  variants.nest<gpu::GPUModuleOp>().addPass(createReplaceIntegerConversions());
  if (options.tuningCandidates)
    // After kernels are written, which read constants otherwise than inputs.
    passes.addPass(createReplacePlaceholders());
  if (options.countsMagnitudes)
    // Last, because what they count is in memory only where nobody fuses with its readers any more.
    variants.addPass(createInsertHistograms());
}

static void populateDevice(OpPassManager &passes, const PipelineOptions &) {
  OpPassManager &kernels = passes.nest<rt::VariantOp>().nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerToDevice());
}

static void populateHost(OpPassManager &passes, const PipelineOptions &) {
  // First, because the plan is one function, whose buffers live through parts that are repeated.
  passes.nest<rt::VariantOp>().addPass(createReplaceCalls());
  OpPassManager &functions = passes.nest<rt::VariantOp>().nest<func::FuncOp>();
  // Before buffers are planned, because buffers with equal sizes share memory best when equal sizes
  // are one value. (That CSE makes one of all tensor.empty does no harm: each use is new memory.)
  functions.addPass(createCSEPass());
  // Before buffers are planned, because there the order of host values and launches becomes the plan's.
  functions.addPass(createHoistChecks());
  functions.addPass(createPlanBuffers());
  // Offsets and sizes in bytes are arithmetic again. Simplified only now: before, a canonicalizer
  // would take away casts of tensors, whose promises the plan checks.
  functions.addPass(createCSEPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  // After the plans, because weights that no plan uses are not stored.
  passes.addPass(createLayOutWeights());
}

static constexpr StageInfo kStages[] = {
    {Stage::Imported, "imported", "the ONNX model as it was, at the newest opset", nullptr,
     verifyImported},
    {Stage::Normalized, "normalized", "constants folded, shapes inferred, identities gone",
     populateNormalized, verifyNormalized},
    {Stage::Precision, "precision", "each value has its final type", populatePrecision,
     verifyPrecision},
    {Stage::Dispatched, "dispatched", "units of device work, a variant for each architecture",
     populateDispatched, verifyDispatched},
    {Stage::Scheduled, "scheduled", "how each unit is computed is decided", populateScheduled,
     verifyScheduled},
    {Stage::Tiled, "tiled", "launches of kernels written in tiles and loops", populateTiled,
     verifyTiled},
    {Stage::Device, "device", "kernels in llvm and nvvm", populateDevice, verifyDevice},
    {Stage::Host, "host", "the launch plan: every buffer has a place", populateHost, verifyHost},
    {Stage::Binary, "binary", "PTX, cubins, simulator images, plan, weights, manifest", nullptr,
     nullptr},
};

ArrayRef<StageInfo> cameo::stages() { return kStages; }

StringRef cameo::stageName(Stage stage) { return kStages[static_cast<unsigned>(stage)].name; }

llvm::Expected<Stage> cameo::findStage(StringRef name) {
  std::string known;
  for (const StageInfo &info : kStages) {
    if (info.name == name)
      return info.stage;
    known += (known.empty() ? "" : ", ") + info.name.str();
  }
  return llvm::createStringError("unknown stage '" + name.str() + "'; the stages are " + known);
}

void cameo::populateStage(OpPassManager &passes, Stage stage, const PipelineOptions &options) {
  const StageInfo &info = kStages[static_cast<unsigned>(stage)];
  if (info.populate)
    info.populate(passes, options);
  auto verify = [&] {
    if (options.verifyStages && info.verify)
      passes.addPass(createVerifyStage({info.name.str(), options.strict}));
  };
  verify();
  for (const InsertedPass &inserted : options.insertedPasses) {
    if (inserted.stage != stage)
      continue;
    if (failed(parsePassPipeline(inserted.pipeline, passes)))
      llvm::report_fatal_error(llvm::Twine("parseInsertedPass has not read ") + inserted.pipeline,
                               /*gen_crash_diag=*/false);
    // An inserted pass is to keep the stage's promises; PassWatch.h names one that does not.
    verify();
  }
}
