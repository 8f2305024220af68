// The skinny schedule: a matrix times a vector or up to eight, at the speed of memory.
//
// How many indices of the large operand a thread and a block have is chosen by an estimate. How the
// depth is shared, and so the order in which products are summed, follows from the depth alone, and
// in how many parts blocks have it from the product: sums are the same whatever else is computed
// beside them.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/ProductLayout.h"
#include "codegen/schedule/ProductSchedule.h"
#include "codegen/schedule/Schedule.h"
#include "codegen/schedule/SkinnyKernel.h"
#include "codegen/schedule/SplitDepth.h"
#include "codegen/schedule/TileReach.h"
#include "dialects/kernel/form/Runs.h"
#include "dialects/rt/Layout.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace cameo {
namespace {

/// The wide side and depth are this long at least: shorter ones are rows or tiles.
constexpr int64_t kLeastWide = 32, kLeastDepth = 32;
constexpr int64_t kMostWarps = 16;
/// Elements of the wide side and of depth that a thread may have at once.
constexpr int64_t kMostOfThread = 16;

/// Lanes of a warp that share the depth, the others go across: 64 bytes at least are together in
/// memory, be it along depth or across, where 16 are loaded at once.
constexpr int64_t kLanesAlong = 8;
/// Steps of depth that a lane has beside one another: those of 16 bytes with two bytes each.
constexpr int64_t kDeep = 8;
/// Warps that share the depth, at most, each of which does two rounds of that at least.
constexpr int64_t kMostWarpsAlong = 8, kRounds = 2;
/// Cycles of a shuffle and an addition that depend on one another.
constexpr double kShuffleLatency = 30;
/// Registers of places, counters and what ptxas keeps.
constexpr double kPlaceRegisters = 32;
/// What a thread may take by this count, with room for what it does not know.
constexpr double kMostRegisters = 176;

/// Whether the thin side is of weights that tiles could have, too. Those of other products with the
/// same input may stand beside them (MergeProducts), which makes sums of tiles of them.
bool hasThinWeights(kernel::DispatchOp op, const Product &product) {
  const Operand &few = thinIsRows(product) ? product.row : product.column;
  return product.fillsTiles() && llvm::any_of(few.value.reads, [&](const Access &read) {
           auto argument = dyn_cast<BlockArgument>(read.source);
           return argument && argument.getArgNumber() < op.getInputs().size() &&
                  rt::constantOf(op.getInputs()[argument.getArgNumber()]);
         });
}

class SkinnyMatch : public ScheduleMatch {
public:
  SkinnyMatch(kernel::DispatchOp op, const Target &target, Product product)
      : ScheduleMatch(op, target), product(std::move(product)),
        thinIsRow(thinIsRows(this->product)) {}

  /// Depth innermost, where the large operand is not loaded 16 bytes at a time as it is.
  SmallVector<unsigned> packing(unsigned input) const override {
    const Operand &operand = wide();
    if (!operand.value.isMemory())
      return productPacking(op, product, input, kDeep);
    if (operand.source != op.getInputArgs()[input] ||
        !operand.map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        std::max(vectorOf(!thinIsRow, wideLoops()), vectorOf(!thinIsRow, product.depth)) ==
            widestVector(!thinIsRow))
      return {};
    auto rank = [&](unsigned dim) {
      auto expr = dyn_cast<AffineDimExpr>(operand.map.getResult(dim));
      if (!expr || llvm::is_contained(product.batch, expr.getPosition()))
        return 0;
      return llvm::is_contained(product.depth, expr.getPosition()) ? 2 : 1;
    };
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, operand.map.getNumResults()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(rank(a), a) < std::pair(rank(b), b);
    });
    return order;
  }

  llvm::BitVector readApart() const override { return inputsOfOperands(op, product); }

  void setPacking(Packing orders) override {
    ScheduleMatch::setPacking(std::move(orders));
    orderDepthAsPacked(product, packed);
    splits.reset();
  }

  SmallVector<Candidate, 0> candidates(size_t most) const override {
    TimeModel model(target);
    SmallVector<Candidate, 0> found;
    if (hasThinWeights(op, product))
      return found;
    Loads given = loads();
    // Where steps are too long for so many parts it is not split.
    for (int64_t parts : {chosenSplits(), int64_t(1)}) {
      forEachForm(given, parts, [&](const SkinnyForm &form) {
        KernelWork work = kernelOf(given, form);
        Candidate candidate{attributes(form), model.microseconds(work),
                            workspaceBytes(product, parts), work};
        found.insert(llvm::upper_bound(found, candidate,
                                       [](const Candidate &a, const Candidate &b) {
                                         return a.microseconds < b.microseconds;
                                       }),
                     candidate);
      });
      if (!found.empty())
        break;
    }
    found.truncate(std::min(found.size(), most));
    return found;
  }

  KernelWork workOf(DictionaryAttr params) const override {
    return kernelOf(loads(), *formOf(params));
  }

  LogicalResult verify(DictionaryAttr params) const override;

  FailureOr<SmallVector<Value>> emit(DictionaryAttr params, KernelEmitter &emitter) const override {
    SkinnyForm form = *formOf(params);
    int64_t rows = thinIsRow ? thin() : form.blockWide();
    int64_t columns = thinIsRow ? form.blockWide() : thin();
    if (form.splits > 1)
      return launchSplit(op, target, emitter, product, {rows, columns, form.deep, form.splits},
                         form.threads(), [&](KernelWriter &kernel, const DepthParts &parts) {
                           emitSkinny(kernel, product, form, parts);
                         });
    reachByTiles(emitter, op, product, {rows, columns, form.deep});
    OpBuilder host(op);
    Value blocks = productBlocks(host, emitter, op, product, rows, columns);
    Value one = host.create<arith::ConstantIndexOp>(op.getLoc(), 1);
    auto outputs = llvm::to_vector(llvm::seq<int64_t>(0, op.getNumResults()));
    return emitter.launch(op, "", form.threads(), {blocks, one, one}, outputs,
                          [&](KernelWriter &kernel) {
                            emitSkinny(kernel, product, form, {});
                            return success();
                          });
  }

private:
  /// Elements in the widest load.
  int64_t widestVector(bool isRow) const { return 128 / streamedBits(product, isRow); }
  double bytesOf(bool isRow) const { return streamedBits(product, isRow) / 8.0; }

  const Operand &wide() const { return thinIsRow ? product.column : product.row; }
  const Operand &few() const { return thinIsRow ? product.row : product.column; }
  ArrayRef<unsigned> wideLoops() const { return thinIsRow ? product.columns : product.rows; }
  int64_t thin() const { return product.extent(thinIsRow ? product.rows : product.columns); }

  int64_t vectorOf(bool isRow, ArrayRef<unsigned> loops) const {
    return copyVector(op, product, isRow, loops, widestVector(isRow), packed);
  }
  /// Neighbours of the result that a block's threads may store at once.
  int64_t widestStore() const {
    auto type = cast<RankedTensorType>(linalg::GenericOp(product.generic).getResult(0).getType());
    int64_t vector = vectorAlong(product.outMap, type, product.columns, product.ranges, 4);
    return thinIsRow ? vector : std::gcd(vector, thin());
  }

  /// How operands are loaded.
  struct Loads {
    bool alongDepth;                // the large one; else across
    int64_t wideVector, thinVector; // elements at once at most
    int64_t deep;                   // steps of a thread
    double wideBytes, thinBytes;    // of an element
    double wideReads, thinReads;    // places that it is computed from
  };
  Loads loads() const;
  /// All forms that may be the best one, with the depth in so many parts.
  void forEachForm(const Loads &loads, int64_t parts,
                   function_ref<void(const SkinnyForm &)> visit) const;
  double registers(const Loads &loads, const SkinnyForm &form) const;
  KernelWork kernelOf(const Loads &loads, const SkinnyForm &form) const;
  /// The same without a split; `resultBytes` of each sum.
  KernelWork wholeKernel(const Loads &loads, const SkinnyForm &form, double resultBytes,
                         double dramBytes) const;
  /// Of parts, with the launch that adds them; `wholeBytes` are moved without a split.
  KernelWork partKernel(const Loads &loads, const SkinnyForm &form, double wholeBytes) const;
  int64_t chosenSplits() const;
  int64_t findSplits() const;
  bool canSplit(const SkinnyForm &form) const;
  DictionaryAttr attributes(const SkinnyForm &form) const;
  std::optional<SkinnyForm> formOf(DictionaryAttr params) const;
  InFlightDiagnostic error() const { return op.emitError() << "schedule 'skinny': "; }

  Product product;
  bool thinIsRow;
  mutable std::optional<int64_t> splits; // chosen ones, when they were asked for
};

SkinnyMatch::Loads SkinnyMatch::loads() const {
  int64_t down = vectorOf(!thinIsRow, product.depth);
  int64_t over = vectorOf(!thinIsRow, wideLoops());
  AffineMap place = placeAsPacked(wide().value.reads.front(), packed).first;
  bool inDepth = down != over ? down > over : llvm::any_of(product.depth, [&](unsigned loop) {
    return place.getResults().back().isFunctionOfDim(loop);
  });
  // Weights of less than two bytes have more steps in 16. Of integers any order of sums gives the
  // same one.
  bool isNarrow = streamedBits(product, !thinIsRow) < 16;
  int64_t deep =
      inDepth && (isNarrow || !isa<FloatType>(product.sumType)) ? std::max(kDeep, down) : kDeep;
  return {inDepth,
          inDepth ? std::min(down, deep) : over,
          vectorOf(thinIsRow, product.depth),
          deep,
          bytesOf(!thinIsRow),
          bytesOf(thinIsRow),
          double(wide().value.reads.size()),
          double(few().value.reads.size())};
}

void SkinnyMatch::forEachForm(const Loads &loads, int64_t parts,
                              function_ref<void(const SkinnyForm &)> visit) const {
  auto extent = likelyExtent(product, wideLoops(), 512);
  auto depth = likelyExtent(product, product.depth, 512) / double(parts);
  bool inDepth = loads.alongDepth;
  SkinnyForm form{};
  form.splits = parts;
  form.alongDepth = inDepth;
  form.storeVector = widestStore();
  form.deep = loads.deep;
  form.wideVector = loads.wideVector;
  form.laneAlong = kLanesAlong, form.laneAcross = kWarp / kLanesAlong;
  form.warpAlong = 1;
  while (form.warpAlong < kMostWarpsAlong &&
         double(2 * kRounds * form.warpAlong * kLanesAlong * kDeep) <= depth)
    form.warpAlong *= 2;
  if (!canSplit(form))
    return;
  auto fits = [&] {
    int64_t shared = form.sums(thin()) * product.sumType.getIntOrFloatBitWidth() / 8;
    double each = registers(loads, form);
    return shared <= int64_t(target.staticSharedPerBlock) && each <= kMostRegisters &&
           each * double(form.threads()) <= double(target.registersPerSm);
  };
  int64_t least = inDepth ? 1 : form.wideVector, shallowest = inDepth ? form.wideVector : 1;
  for (form.wide = least; form.wide <= std::max<int64_t>(least, 8); form.wide *= 2)
    for (form.warpAcross = 1; form.warpAcross * form.warpAlong <= kMostWarps;
         form.warpAcross *= 2) {
      // Pieces of 64 bytes at least of what lies together across: two sectors.
      int64_t line = form.laneAcross * form.wide;
      bool isTogether = inDepth || double(line) * loads.wideBytes >= 64 || double(line) >= extent;
      if (!isTogether || double(form.blockWide()) / 2 >= extent ||
          form.wide * form.deep > 8 * kMostOfThread)
        continue;
      // As many loads on their way as there are registers for.
      form.together = form.deep;
      auto setVector = [&] { form.thinVector = std::min(loads.thinVector, form.together); };
      for (setVector(); !fits() && form.together > shallowest; setVector())
        form.together /= 2;
      if (fits())
        visit(form);
    }
}

/// Of a thread: sums, what is loaded at once, and that again as it is multiplied.
double SkinnyMatch::registers(const Loads &loads, const SkinnyForm &form) const {
  double sumWords = product.sumType.getIntOrFloatBitWidth() / 32.0;
  double loaded = double(form.wide * form.together) * loads.wideBytes * loads.wideReads / 4 +
                  double(thin() * form.together) * loads.thinBytes * loads.thinReads / 4;
  double sums = double(form.wide * thin()) * sumWords;
  return sums + loaded + double(form.wide + thin()) * sumWords * 2 + kPlaceRegisters;
}

KernelWork SkinnyMatch::kernelOf(const Loads &loads, const SkinnyForm &form) const {
  double bytes = productBytes(op, product);
  return form.splits > 1 ? partKernel(loads, form, bytes)
                         : wholeKernel(loads, form, resultBytes(product), bytes);
}

KernelWork SkinnyMatch::partKernel(const Loads &loads, const SkinnyForm &form,
                                   double wholeBytes) const {
  SplitWork split(op, product, form.splits);
  KernelWork kernel = wholeKernel(loads, form, split.sumBytes, split.dramBytes);
  kernel.beside = {split.fixUp(target, wholeBytes)};
  return kernel;
}

KernelWork SkinnyMatch::wholeKernel(const Loads &loads, const SkinnyForm &form, double resultBytes,
                                    double dramBytes) const {
  TimeModel model(target);
  unsigned sumBits = product.sumType.getIntOrFloatBitWidth();
  double few = double(thin()), wideBytes = loads.wideBytes, thinBytes = loads.thinBytes;
  double extent = likelyExtent(product, wideLoops(), 512), parts = double(form.splits);
  double depth = likelyExtent(product, product.depth, 512) / parts;
  double threads = double(form.threads()), warps = threads / kWarp;
  KernelWork kernel;
  kernel.blocks = likelyExtent(product, product.batch, 8) * parts *
                  std::ceil(extent / double(form.blockWide()));
  kernel.threads = form.threads();
  kernel.registers = int64_t(registers(loads, form));
  kernel.sharedBytes = form.sums(thin()) * sumBits / 8;
  kernel.steps = std::ceil(depth / double(form.blockDeep()));
  // A warp's loads, conversions, products; what the thin side is read of comes from a cache.
  double elements = double(form.wide * form.deep), thinElements = few * double(form.deep);
  double loaded = elements / double(form.wideVector) + thinElements / double(form.thinVector);
  double converted = wideBytes < 4 ? elements + thinElements : 0;
  kernel.step.slots = (loaded + converted + elements * few + 8) * warps;
  kernel.step.arithmetic = model.laneCycles(elements * few * threads, sumBits);
  kernel.step.l2Bytes =
      (elements * wideBytes * kWarp + thinElements * thinBytes * double(form.laneAlong)) * warps;
  kernel.step.loads = 1;
  // Sums of lanes, of warps, results.
  double sums = double(form.wide) * few, stages = std::log2(double(form.laneAlong));
  kernel.once.slots = (stages + 2) * sums * warps * 2;
  kernel.once.sharedBytes = 2 * double(kernel.sharedBytes);
  kernel.once.l2Bytes = double(form.blockWide()) * few * resultBytes;
  kernel.once.chain = stages * kShuffleLatency;
  kernel.once.barriers = 1;
  kernel.trips = 1;
  kernel.dramBytes = dramBytes;
  kernel.multiplyAdds = elements * few * threads * kernel.steps;
  kernel.loads = kernel.step.loads;
  return kernel;
}

/// By what the product alone is, with operands of the sums' type that are loaded 16 bytes at a time,
/// in the better direction: so that it is the same wherever the product stands.
int64_t SkinnyMatch::findSplits() const {
  double bytes = product.sumType.getIntOrFloatBitWidth() / 8.0;
  auto vector = int64_t(16 / bytes);
  double wholeBytes = SplitWork(op, product, /*splits=*/1).dramBytes;
  TimeModel model(target);
  return chooseSplits(product, [&](int64_t parts) {
    double least = std::numeric_limits<double>::infinity();
    for (bool alongDepth : {true, false}) {
      Loads loads{alongDepth, vector, vector, kDeep, bytes, bytes, 1, 1};
      forEachForm(loads, parts, [&](const SkinnyForm &form) {
        KernelWork work = parts > 1 ? partKernel(loads, form, wholeBytes)
                                    : wholeKernel(loads, form, bytes, wholeBytes);
        least = std::min(least, model.microseconds(work));
      });
    }
    return least;
  });
}

int64_t SkinnyMatch::chosenSplits() const {
  if (!splits)
    splits = findSplits();
  return *splits;
}

bool SkinnyMatch::canSplit(const SkinnyForm &form) const {
  int64_t depth = product.extent(product.depth);
  return cameo::canSplit(product, llvm::divideCeil(depth - depth % form.deep, form.blockDeep()),
                         form.splits);
}

DictionaryAttr SkinnyMatch::attributes(const SkinnyForm &form) const {
  Builder b(op.getContext());
  auto list = [&](ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); };
  auto number = [&](int64_t value) { return b.getI64IntegerAttr(value); };
  SmallVector<NamedAttribute> attributes{
      b.getNamedAttr("lanes", list({form.laneAcross, form.laneAlong})),
      b.getNamedAttr("store_vector", number(form.storeVector)),
      b.getNamedAttr("thin_vector", number(form.thinVector)),
      b.getNamedAttr("tile", list({form.wide, form.deep})),
      b.getNamedAttr("warps", list({form.warpAcross, form.warpAlong})),
      b.getNamedAttr("wide_lines", b.getStringAttr(form.alongDepth ? "depth" : "across")),
      b.getNamedAttr("wide_vector", number(form.wideVector))};
  if (form.together != form.deep)
    attributes.push_back(b.getNamedAttr("together", number(form.together)));
  if (form.splits != 1)
    attributes.push_back(b.getNamedAttr("splits", number(form.splits)));
  return b.getDictionaryAttr(attributes);
}

std::optional<SkinnyForm> SkinnyMatch::formOf(DictionaryAttr params) const {
  auto pair = [&](StringRef name) {
    auto values = params.getAs<DenseI64ArrayAttr>(name);
    return values && values.size() == 2 ? values : DenseI64ArrayAttr();
  };
  DenseI64ArrayAttr tile = pair("tile"), lanes = pair("lanes"), warps = pair("warps");
  auto lines = params.getAs<StringAttr>("wide_lines");
  std::optional<int64_t> wide = intParam(params, "wide_vector");
  std::optional<int64_t> few = intParam(params, "thin_vector");
  std::optional<int64_t> store = intParam(params, "store_vector");
  if (!tile || !lanes || !warps || !wide || !few || !store || !lines ||
      (lines.getValue() != "depth" && lines.getValue() != "across"))
    return std::nullopt;
  return SkinnyForm{tile[0],
                    tile[1],
                    lanes[0],
                    lanes[1],
                    warps[0],
                    warps[1],
                    lines.getValue() == "depth",
                    *wide,
                    *few,
                    *store,
                    intParam(params, "together").value_or(tile[1]),
                    intParam(params, "splits").value_or(1)};
}

LogicalResult SkinnyMatch::verify(DictionaryAttr params) const {
  std::optional<SkinnyForm> form = formOf(params);
  if (!form)
    return op.emitError(
        "schedule 'skinny' needs tile = [wide, depth], lanes and warps = [across, "
        "along], wide_lines = \"depth\" or \"across\", wide_vector, thin_vector and "
        "store_vector");
  if (form->laneAcross < 1 || form->laneAlong < 1 || form->laneAcross * form->laneAlong != kWarp ||
      !llvm::isPowerOf2_64(form->laneAcross))
    return error() << form->laneAcross << "x" << form->laneAlong << " lanes are not a warp";
  if (form->warpAcross < 1 || form->warpAlong < 1 ||
      form->threads() > int64_t(target.maxThreadsPerBlock))
    return error() << form->warpAcross << "x" << form->warpAlong << " warps; " << target.name
                   << " allows 1 to " << target.maxThreadsPerBlock / kWarp;
  if (form->wide < 1 || form->deep < 1 || form->wide * form->deep > 8 * kMostOfThread)
    return error() << "a tile of " << form->wide << "x" << form->deep << "; 1 to "
                   << 8 * kMostOfThread << " elements are possible";
  auto check = [&](StringRef name, int64_t vector, int64_t most, int64_t tile) {
    if (vector >= 1 && most % vector == 0 && tile % vector == 0)
      return success();
    error() << name << " " << vector << " is not possible; at most " << std::gcd(most, tile);
    return failure();
  };
  ArrayRef<unsigned> along = form->alongDepth ? ArrayRef(product.depth) : wideLoops();
  if (failed(check("together", form->together, form->deep, form->deep)) ||
      failed(check("wide_vector", form->wideVector, vectorOf(!thinIsRow, along),
                   form->alongDepth ? form->together : form->wide)) ||
      failed(check("thin_vector", form->thinVector, vectorOf(thinIsRow, product.depth),
                   form->together)) ||
      failed(check("store_vector", form->storeVector, widestStore(),
                   thinIsRow ? form->blockWide() : thin())))
    return failure();
  if (!canSplit(*form))
    return error() << "the depth is not split into " << form->splits << " parts; 1 to "
                   << kMostSplits << " of a step or more each are possible";
  int64_t shared = form->sums(thin()) * product.sumType.getIntOrFloatBitWidth() / 8;
  if (shared > int64_t(target.staticSharedPerBlock))
    return error() << "requires " << shared << " B of shared memory; " << target.name << " allows "
                   << target.staticSharedPerBlock << " B";
  return success();
}

/// Whether steps of several loops, by these distances, lead to one index: to none twice where each
/// loop's steps are longer than all the shorter ones together.
bool overlap(SmallVector<std::pair<int64_t, int64_t>> &distancesAndRanges) {
  llvm::sort(distancesAndRanges);
  int64_t reach = 0;
  for (auto [distance, range] : distancesAndRanges) {
    if (ShapedType::isDynamic(reach) || distance <= reach)
      return true;
    reach = ShapedType::isDynamic(range) ? range : reach + distance * (range - 1);
  }
  return false;
}

/// Whether a window slides over the operand: what several threads need of it would be read again.
/// Depth that is a digit of an index, such as that of a head among those of all heads, slides not.
bool slides(const Operand &operand, const Product &product) {
  return llvm::any_of(operand.value.reads, [&](const Access &read) {
    AffineMap place = read.place();
    return llvm::any_of(llvm::seq<unsigned>(0, place.getNumResults()), [&](unsigned dim) {
      SmallVector<int64_t> factors = *factorsOf(place, dim);
      SmallVector<std::pair<int64_t, int64_t>> steps;
      bool isReduced = false;
      for (auto [loop, range] : llvm::enumerate(product.ranges))
        if (factors[loop] != 0 && range != 1) {
          steps.push_back({std::abs(factors[loop]), range});
          isReduced |= llvm::is_contained(product.depth, loop);
        }
      return isReduced && overlap(steps);
    });
  });
}

class SkinnySchedule : public Schedule {
public:
  StringRef family() const override { return "skinny"; }
  bool isOfProducts() const override { return true; }

  std::unique_ptr<ScheduleMatch> tryMatch(const Computation &computation,
                                          const Target &target) const override {
    const std::optional<Product> &product = matchProduct(computation, /*mayBeVector=*/true);
    if (!product || product->row.pad || product->column.pad || product->row.isGathered() ||
        product->column.isGathered() || slides(product->row, *product) ||
        slides(product->column, *product))
      return nullptr;
    // Operands of equal elements are in no memory to be streamed from.
    if (CAMEO_MUTANT(41, hasEqualElements(product->row) || hasEqualElements(product->column),
                     false))
      return nullptr;
    auto isLong = [&](ArrayRef<unsigned> loops, int64_t least) {
      int64_t extent = product->extent(loops);
      return ShapedType::isDynamic(extent) || extent >= least;
    };
    auto isThin = [&](ArrayRef<unsigned> loops) {
      int64_t extent = product->extent(loops);
      return !ShapedType::isDynamic(extent) && extent <= kMostThin;
    };
    bool fits = (isThin(product->rows) && isLong(product->columns, kLeastWide)) ||
                (isThin(product->columns) && isLong(product->rows, kLeastWide));
    unsigned bits = product->sumType.getIntOrFloatBitWidth(); // as shuffles have them
    if (!fits || !isLong(product->depth, kLeastDepth) || (bits != 32 && bits != 64))
      return nullptr;
    return std::make_unique<SkinnyMatch>(computation.op, target, *product);
  }
};

} // namespace

const Schedule *skinnySchedule() {
  static const SkinnySchedule schedule;
  return &schedule;
}

} // namespace cameo
