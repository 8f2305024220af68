// What fusion asks of dispatches.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/FusionCost.h"

#include "dialects/kernel/form/Places.h"
#include "dialects/kernel/form/Product.h"
#include "dialects/kernel/form/Rows.h"
#include "dialects/kernel/form/Windows.h"
#include "passes/fuse/Merge.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

#include <cmath>

using namespace mlir;

namespace cameo {
namespace {

/// What the length of rows that is known only at run time is taken for, and how many elements may
/// be computed for each one that is reduced: the threads of a row are as many as its reduction
/// needs.
constexpr int64_t kLongRow = 4096, kRowElements = 4;

double known(int64_t size) { return ShapedType::isDynamic(size) ? kUnknownSize : double(size); }

double elementsOf(Type type) {
  double count = 1;
  for (int64_t size : cast<RankedTensorType>(type).getShape())
    count *= known(size);
  return count;
}

double iterationsOf(linalg::GenericOp generic) {
  double count = 1;
  for (int64_t range : generic.getStaticLoopRanges())
    count *= known(range);
  return count;
}

/// Operations on elements in a generic's body, in additions: a division is some, a function of the
/// math dialect many, a conversion part of the load or the store beside it.
double workOf(linalg::GenericOp generic) {
  double work = 0;
  generic.getBody()->walk([&](Operation *op) {
    if (isa<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp>(op))
      work += 8;
    else if (isa<math::FmaOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::RoundEvenOp>(op))
      work += 1;
    else if (isa<math::MathDialect>(op->getDialect()))
      work += 16;
    else if (isa<arith::ArithDialect>(op->getDialect()) &&
             !isa<arith::ConstantOp, CastOpInterface>(op))
      work += 1;
  });
  return work;
}

/// Whether the operation gives nothing but elements of its operands.
bool movesOnly(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumReductionLoops() == 0 && generic.getNumDpsInputs() == 1 &&
           generic.getBody()->getTerminator()->getOperand(0) == generic.getBody()->getArgument(0);
  return !isa<kernel::LineOpInterface, kernel::ChooseOp, kernel::InsertOp, kernel::RecurrenceOp,
              linalg::FillOp>(op);
}

/// The arguments of a dispatch's body that stand for results of another one, perhaps reshaped, and
/// which results.
SmallVector<std::pair<BlockArgument, unsigned>> readResults(kernel::DispatchOp producer,
                                                            kernel::DispatchOp consumer) {
  SmallVector<std::pair<BlockArgument, unsigned>> found;
  for (auto [input, argument] : llvm::zip(consumer.getInputs(), consumer.getInputArgs()))
    if (OpResult result = resultBehind(input, producer))
      found.push_back({argument, result.getResultNumber()});
  return found;
}

/// How a body reads one of its arguments.
struct Reads {
  double count = 0;      // of elements
  bool isMapped = true;  // by maps of linalg operations alone
  bool isAligned = true; // neighbours of what is computed are neighbours of what is read
};

/// With `once`, what several operations read at one place is read once.
Reads readsOf(BlockArgument argument, bool once) {
  Reads reads;
  llvm::DenseSet<std::pair<AffineMap, int64_t>> places;
  for (OpOperand &use : argument.getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (generic && generic.isDpsInput(&use)) {
      AffineMap map = generic.getMatchingIndexingMap(&use);
      double iterations = iterationsOf(generic);
      if (!once || places.insert({map, int64_t(iterations)}).second)
        reads.count += iterations;
      unsigned loops = map.getNumDims();
      if (map.getNumResults() != 0 && loops != 0)
        for (AffineExpr expr : map.getResults().drop_back())
          reads.isAligned &= !expr.isFunctionOfDim(loops - 1);
    } else if (auto line = dyn_cast<kernel::LineOpInterface>(use.getOwner())) {
      Type type = line.lineInput().getType();
      reads.count += elementsOf(type);
      ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
      reads.isAligned &= llvm::all_of(shape.drop_front(line.lineAxis() + 1),
                                      [](int64_t size) { return size == 1; });
    } else if (isa<tensor::PadOp, tensor::ExtractSliceOp>(use.getOwner())) {
      reads.count += elementsOf(use.getOwner()->getResult(0).getType());
    } else if (auto around = use.getOwner()->getParentOfType<linalg::GenericOp>()) {
      reads.count += iterationsOf(around);
      reads.isMapped = false;
    } else {
      reads.count += elementsOf(argument.getType());
    }
  }
  return reads;
}

/// With its article, for sentences.
std::string nameOf(DispatchForm form) {
  switch (form) {
  case DispatchForm::Product:
    return "a product";
  case DispatchForm::ProductOfRows:
    return "a product whose rows are reduced";
  case DispatchForm::Window:
    return "a sliding window";
  case DispatchForm::Rows:
    return "a reduction of rows";
  case DispatchForm::Scan:
    return "a scan";
  case DispatchForm::Recurrence:
    return "a recurrent network";
  case DispatchForm::Sort:
    return "a sort";
  case DispatchForm::Choice:
    return "a choice";
  case DispatchForm::Insertion:
    return "an insertion";
  case DispatchForm::Pointwise:
    return "elementwise work";
  case DispatchForm::Other:
    return "a reduction";
  }
  llvm_unreachable("all forms are above");
}

std::string beyond(int64_t count, StringRef what, int64_t most) {
  return ("one kernel would have " + Twine(count) + " " + what + "; at most " + Twine(most)).str();
}

} // namespace

double estimatedBytes(Type type) {
  int64_t bits = cast<RankedTensorType>(type).getElementTypeBitWidth();
  return elementsOf(type) * std::max<int64_t>(bits, 8) / 8;
}

double estimatedBytes(const Description &description) {
  double bytes = 0;
  for (Value operand : description.op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      bytes += estimatedBytes(operand.getType());
  return bytes;
}

bool readsAlongRows(const Description &description) {
  return llvm::all_of(description.op.getInputArgs(), [](BlockArgument argument) {
    return readsOf(argument, /*once=*/false).isAligned;
  });
}

/// Operations on elements behind reductions that lead to a result of rows. What there is one of a
/// row is computed before the loops along it.
static double workBehindReductions(const Computation &computation, const RowOutput &output) {
  if (output.columns.empty())
    return 0;
  double work = 0;
  llvm::SmallPtrSet<Operation *, 16> needed{output.value.getDefiningOp()};
  for (Operation *inner : llvm::reverse(computation.operations)) {
    if (!needed.contains(inner) || llvm::is_contained(computation.combining, inner))
      continue;
    if (auto generic = dyn_cast<linalg::GenericOp>(inner))
      work += workOf(generic) * iterationsOf(generic);
    forEachRead(inner, [&](OpOperand &operand) {
      if (Operation *definition = operand.get().getDefiningOp())
        needed.insert(definition);
    });
  }
  return work;
}

Description::Description(kernel::DispatchOp op)
    : op(op), computation(op), form(formOf(computation)) {
  for (Type type : op.getResultTypes())
    elements.push_back(elementsOf(type));
  for (Operation *inner : computation.operations) {
    movement &= movesOnly(inner);
    if (auto generic = dyn_cast<linalg::GenericOp>(inner))
      work += workOf(generic) * iterationsOf(generic);
  }
  again.assign(elements.size(), work);
  if (form != DispatchForm::Rows)
    return;
  const std::optional<Rows> &rows = matchRows(computation);
  int64_t longest = 0;
  for (const RowReduction &reduction : rows->reductions)
    longest = std::max(longest, rowLength(reduction, kLongRow));
  mostOfRows = elementsOf(rows->rowType) * double(longest) * kRowElements;
  for (auto [output, work] : llvm::zip(rows->outputs, again))
    work = workBehindReductions(computation, output);
}

/// The product that a dispatch of one of these forms is.
static const Product &productIn(const Description &description) {
  return description.form == DispatchForm::Product ? *matchProduct(description.computation)
                                                   : *matchProductOfRows(description.computation);
}

/// Why rows of a product cannot be reduced by the block that has them; empty where they may.
static std::string whyRowsApart(const Description &producer, const FusionLimits &limits) {
  const Product &product = productIn(producer);
  int64_t columns = product.extent(product.columns);
  if (ShapedType::isDynamic(columns))
    return "how long rows of the product are is known only at run time";
  if (columns > limits.productRow)
    return "rows of " + std::to_string(columns) +
           " elements do not lie in one block's tile; at most " +
           std::to_string(limits.productRow) + " do";
  return {};
}

/// What it costs, in bytes, that blocks have whole rows of a product: where there are few of them,
/// multiprocessors are idle that other tiles would have work for.
static double costOfWholeRows(const Description &producer, const FusionLimits &limits) {
  // Rows and columns of the smallest tiles; how much faster matrix instructions are.
  constexpr double kLeastRows = 16, kLeastTile = 32, kMatrixRate = 8;
  const Product &product = productIn(producer);
  auto extent = [&](ArrayRef<unsigned> loops) {
    double steps = 1;
    for (unsigned loop : loops)
      steps *= known(product.ranges[loop]);
    return steps;
  };
  double batch = extent(product.batch), rows = extent(product.rows),
         columns = extent(product.columns), depth = extent(product.depth);
  auto busy = [&](double blocks) { return std::min(1.0, blocks / double(2 * limits.rows)); };
  double whole = batch * std::ceil(rows / kLeastRows);
  double apart = batch * std::ceil(rows / kLeastTile) * std::ceil(columns / kLeastTile);
  double work = batch * rows * columns * depth / double(limits.operationsPerByte);
  if (getElementTypeOrSelf(product.row.source).getIntOrFloatBitWidth() <= 16 ||
      product.mayRoundToTf32)
    work /= kMatrixRate;
  return work * std::max(0.0, 1 / busy(whole) - 1 / busy(apart));
}

/// Whether the consumer, a recurrent network, reads of the producer nothing but weights, which that one
/// makes of constants with fewer bits: then as few bytes are read in each step.
static bool dequantizesWeights(const Description &producer, const Description &consumer) {
  kernel::DispatchOp from = producer.op, to = consumer.op;
  kernel::RecurrenceOp recurrence;
  to.getBody().walk([&](kernel::RecurrenceOp op) { recurrence = op; });
  Operation *byDepth = recurrence.getWeights().getDefiningOp();
  auto isWeight = [&](std::pair<BlockArgument, unsigned> found) {
    return byDepth &&
           llvm::all_of(found.first.getUsers(), [&](Operation *user) { return user == byDepth; });
  };
  unsigned bits = getElementTypeOrSelf(recurrence.getWeights()).getIntOrFloatBitWidth();
  auto isSmaller = [&](Value input) {
    return getElementTypeOrSelf(input).getIntOrFloatBitWidth() < bits;
  };
  return llvm::all_of(readResults(from, to), isWeight) && llvm::any_of(from.getInputs(), isSmaller);
}

std::string whyApart(const Description &producer, const Description &consumer,
                     const FusionLimits &limits) {
  using Form = DispatchForm;
  int64_t operations =
      producer.computation.operations.size() + consumer.computation.operations.size();
  if (operations > limits.operations)
    return beyond(operations, "operations", limits.operations);
  bool isElementwise = producer.form == Form::Pointwise;
  if (producer.form == Form::Recurrence)
    return "a recurrent network's steps are done by blocks that do nothing else";
  if (consumer.form == Form::Pointwise ||
      (consumer.form == Form::Rows && (isElementwise || producer.form == Form::Rows)) ||
      ((consumer.form == Form::Window || consumer.form == Form::Product ||
        consumer.form == Form::Scan || consumer.form == Form::Sort ||
        consumer.form == Form::Insertion) &&
       isElementwise))
    return {};
  bool isOfProduct = producer.form == Form::Product || producer.form == Form::ProductOfRows;
  if (consumer.form == Form::Rows && isOfProduct && limits.productRow > 0)
    return whyRowsApart(producer, limits);
  if (consumer.form == Form::Recurrence && isElementwise && dequantizesWeights(producer, consumer))
    return {};
  // What is not elementwise is computed where its elements are needed, once.
  if (isElementwise)
    return nameOf(consumer.form) + " would compute its elements again for each use";
  return nameOf(consumer.form) + " needs what many blocks of " + nameOf(producer.form) + " compute";
}

bool keepsResults(const Description &producer, const Description &consumer) {
  // A product's blocks compute elements of its operands in no order that results have.
  if (consumer.form == DispatchForm::Product)
    return false;
  // One launch writes results of one shape.
  Type type = consumer.op.getResult(0).getType();
  auto shape = cast<RankedTensorType>(type).getShape();
  if (producer.form == DispatchForm::Rows || consumer.form == DispatchForm::Rows)
    return true;
  return llvm::all_of(producer.op.getInits(), [&](Value init) {
    auto mine = init.getDefiningOp<tensor::EmptyOp>();
    auto other = consumer.op.getInits()[0].getDefiningOp<tensor::EmptyOp>();
    return mine && other && mine.getType().getShape() == shape &&
           mine.getDynamicSizes() == other.getDynamicSizes();
  });
}

/// Operations on elements that loading a result in tiles takes: indices that elements are gathered
/// by are computed once a row of a tile.
static double workOfLoading(const Description &producer) {
  double work = producer.work;
  for (Operation *inner : producer.computation.operations)
    if (auto generic = dyn_cast<linalg::GenericOp>(inner);
        generic && generic.getNumResults() == 1 && gathered(generic->getResult(0)))
      work -= workOf(generic) * iterationsOf(generic);
  return work;
}

/// What it costs, in bytes, to compute an operand of a product as its elements are loaded: once for
/// each tile of the other operand, and where windows overlap for each of them, in loops that would
/// multiply instead.
static double costOfLoading(const Description &producer, unsigned result,
                            const Description &consumer, BlockArgument argument,
                            const FusionLimits &limits) {
  auto generic = consumer.computation.root.getDefiningOp<linalg::GenericOp>();
  Product product = *matchProduct(consumer.computation);
  double cost = 0;
  for (const Operand *operand : {&product.row, &product.column}) {
    if (llvm::none_of(operand->value.reads,
                      [&](const Access &read) { return read.source == argument; }))
      continue;
    double others = 1;
    for (unsigned loop : operand == &product.row ? product.columns : product.rows)
      others *= known(product.ranges[loop]);
    double tiles = std::ceil(others / limits.productTile);
    double loads = iterationsOf(generic) / others * tiles;
    double count = producer.elements[result];
    cost += loads * workOfLoading(producer) / count / limits.operationsPerByte;
    // Each of several inputs of the same size, or wider elements, are loaded in place of one: by
    // each block, and again by the same one where windows overlap.
    double bytes = -estimatedBytes(argument.getType());
    for (Value input : ValueRange(producer.op.getInputs())) {
      double width = estimatedBytes(input.getType()) / elementsOf(input.getType());
      bytes += std::min(estimatedBytes(input.getType()), count * width); // a part may be all
    }
    double overlaps = std::max(0.0, loads / tiles / count - 1);
    cost += std::max(0.0, bytes) * tiles * (1 / limits.rereading + overlaps / limits.overlapping);
  }
  return cost;
}

/// Of the reads of what windows slide over, how many a thread makes that computes several
/// neighbours.
static double sharedByWindows(const Description &consumer, BlockArgument argument,
                              const FusionLimits &limits) {
  std::optional<Windows> windows = matchWindows(consumer.computation);
  if (!windows || windows->slid.source != argument)
    return 1;
  llvm::SmallSet<int64_t, 16> places;
  for (int64_t lane = 0; lane < limits.windowRun; ++lane)
    for (int64_t tap = 0; tap < windows->count; ++tap)
      places.insert(lane * windows->stride + tap * windows->dilation);
  return double(places.size()) / (limits.windowRun * windows->count);
}

/// Whether threads keep what they have read or computed of an operand for other operations.
static bool readsOnce(const Description &consumer, const FusionLimits &limits) {
  if (consumer.form == DispatchForm::Pointwise)
    return true;
  if (consumer.form != DispatchForm::Rows)
    return false;
  std::optional<Rows> rows = matchRows(consumer.computation);
  return rows->alongRows && llvm::all_of(rows->reductions, [&](const RowReduction &reduction) {
           return rowLength(reduction, limits.keptRow + 1) <= limits.keptRow;
         });
}

/// What it costs, in bytes, that a producer's result is asked for across its rows: each of several
/// inputs would be read so, where now the result alone is. Of a product that is what is read beside
/// its operands, which tiles have in any order.
static double costOfTurning(const Description &producer) {
  double bytes = 0;
  bool isProduct = producer.form == DispatchForm::Product;
  for (auto [i, argument] : llvm::enumerate(producer.op.getInputArgs())) {
    if (i == 0 && !isProduct)
      continue; // in place of the result
    auto isIn = [&, argument = argument](const Operand &operand) {
      return llvm::any_of(operand.value.reads,
                          [&](const Access &read) { return read.source == argument; });
    };
    if (isProduct && (isIn(productIn(producer).row) || isIn(productIn(producer).column)))
      continue;
    bytes += 3 * estimatedBytes(argument.getType());
  }
  return bytes;
}

std::string whyDearer(const Description &producer, const Description &consumer,
                      const FusionLimits &limits, bool repeats) {
  double saved = limits.launchBytes, repeated = 0, scattered = 0;
  double idle = consumer.form == DispatchForm::Rows && producer.form == DispatchForm::Product
                    ? costOfWholeRows(producer, limits)
                    : 0;
  bool once = readsOnce(consumer, limits);
  for (auto [argument, result] : readResults(producer.op, consumer.op)) {
    Reads reads = readsOf(argument, once);
    if (consumer.form == DispatchForm::Window)
      reads.count *= sharedByWindows(consumer, argument, limits);
    double bytes = estimatedBytes(argument.getType()), count = producer.elements[result];
    saved += repeats ? 0 : 2 * bytes;
    if (consumer.form == DispatchForm::Product && !producer.isMovement()) {
      repeated += costOfLoading(producer, result, consumer, argument, limits);
      continue;
    }
    // Elements that are asked for again are computed again, and read again what they come from.
    double again = std::max(0.0, reads.count / count - 1);
    // Threads of a scan or a sort go along its line alone, whatever gives its elements.
    bool hasLines = consumer.form == DispatchForm::Scan || consumer.form == DispatchForm::Sort;
    if (hasLines && reads.isAligned && !readsAlongRows(producer))
      return "lines of the " + std::string(consumer.form == DispatchForm::Scan ? "scan" : "sort") +
             " would be read across rows";
    if (!producer.isMovement() && !reads.isMapped && again > 0)
      return "its elements would be computed again where an index asks for them";
    bool isOfRows = producer.form == DispatchForm::Rows && reads.count <= producer.mostOfRows;
    repeated += again * (isOfRows ? producer.again[result] : producer.work) /
                double(limits.operationsPerByte);
    if (!reads.isAligned)
      scattered += costOfTurning(producer);
  }
  if (idle > saved)
    return "blocks with whole rows would leave most of a GPU idle";
  if (repeated + scattered < saved)
    return {};
  return repeated < scattered ? "several inputs would be read across their rows, not one"
                              : "computing its elements again would cost more than it saves";
}

/// Whether neighbours in an operand's memory are neighbours in the product: copied to shared memory
/// as they lie.
static bool isReadInOrder(const Product &product) {
  for (const Operand *operand : {&product.row, &product.column})
    for (const Access &read : operand->value.reads) {
      AffineMap place = read.place();
      if (place.getNumResults() == 0)
        continue;
      AffineExpr last = place.getResults().back();
      ArrayRef<unsigned> across = operand == &product.row ? product.rows : product.columns;
      auto moves = [&](unsigned loop) { return last.isFunctionOfDim(loop); };
      if (!isa<AffineConstantExpr>(last) && llvm::none_of(across, moves) &&
          llvm::none_of(product.depth, moves))
        return false;
    }
  return true;
}

bool isSurelyWellFormed(const Description &producer, const Description &consumer,
                        const FusionLimits &limits) {
  if (producer.form != DispatchForm::Pointwise || consumer.form != DispatchForm::Pointwise)
    return false;
  auto within = [](size_t a, size_t b, int64_t limit) { return int64_t(a + b) <= limit; };
  // Sizes of values between the two become scalars, too.
  size_t sizes = 0;
  for (kernel::DispatchOp op : {producer.op, consumer.op})
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
        sizes += type.getNumDynamicDims();
  size_t results = producer.op.getNumResults() + consumer.op.getNumResults();
  return within(producer.op.getInputs().size() + consumer.op.getInputs().size(), results,
                limits.tensors) &&
         within(producer.op.getScalars().size() + consumer.op.getScalars().size(), sizes,
                limits.scalars) &&
         within(results, 0, limits.results);
}

/// True of a product of several rows and columns, though perhaps too few for tiles.
static bool isMatrixProduct(const Description &description) {
  std::optional<Product> product = matchProduct(description.computation);
  return product && llvm::all_of(ArrayRef{ArrayRef(product->rows), ArrayRef(product->columns)},
                                 [&](ArrayRef<unsigned> loops) {
                                   return llvm::any_of(loops, [&](unsigned loop) {
                                     return product->ranges[loop] != 1;
                                   });
                                 });
}

std::string whyMalformed(const Description &producer, const Description &consumer,
                         const Description &merged, const FusionLimits &limits) {
  using Form = DispatchForm;
  kernel::DispatchOp op = merged.op;
  auto tensors = static_cast<int64_t>(op.getInputs().size() + op.getNumResults());
  auto scalars = static_cast<int64_t>(op.getScalars().size());
  auto results = static_cast<int64_t>(op.getNumResults());
  if (tensors > limits.tensors)
    return beyond(tensors, "tensors", limits.tensors);
  if (scalars > limits.scalars)
    return beyond(scalars, "sizes", limits.scalars);
  if (results > limits.results)
    return beyond(results, "results", limits.results);
  Form expected = producer.form == Form::Pointwise ? consumer.form : producer.form;
  if (producer.form == Form::Product && consumer.form == Form::Rows)
    expected = Form::ProductOfRows;
  if (CAMEO_MUTANT(4, merged.form != expected, false))
    return "together they would not be " + nameOf(expected) + " any more";
  // A small product that is taken for a window would gather each element once for each row.
  if (producer.form == Form::Pointwise && consumer.form == Form::Window &&
      isMatrixProduct(consumer) && !isMatrixProduct(merged))
    return "together they would not be " + nameOf(Form::Product) + " any more";
  bool isOfProduct = merged.form == Form::Product || merged.form == Form::ProductOfRows;
  if (isOfProduct && !isReadInOrder(productIn(merged)))
    return "neighbours of the product would not lie side by side in its operand";
  if (merged.form == Form::Rows) {
    std::optional<Rows> rows = matchRows(merged.computation);
    // Elements of rows that one block each computes need enough rows.
    double count = elementsOf(rows->rowType);
    bool grows = consumer.form == Form::Pointwise && consumer.elements[0] > count;
    if (grows && count < limits.rows && rowLength(rows->reductions[0], 64) > limits.keptRow)
      return "its few long rows would leave most of a GPU idle";
  }
  return {};
}

} // namespace cameo
