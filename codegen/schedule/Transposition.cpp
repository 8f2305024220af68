// Recognising transpositions, and when tiles pay.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/Transposition.h"

#include "dialects/kernel/form/Places.h"
#include "dialects/kernel/form/Runs.h"
#include "dialects/rt/Layout.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"

using namespace mlir;

namespace cameo {

/// Tensors of fewer bytes stay in caches, and their launches cost more than their accesses.
static constexpr int64_t kSmall = 16 << 10;
/// Bytes that memory is read by.
static constexpr int64_t kSector = 32, kTileLine = 128;
/// What sizes known only at run time are taken for; more than kUnknownSize, so that a tensor of
/// which one is open rather counts as too large for caches.
static constexpr int64_t kUnknown = 256;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

SharedTile::SharedTile(const Transposition &transposition, const TransposedOperand &operand,
                       int64_t vector)
    : tile(transposition.tile), packed(std::max<int64_t>(4 / operand.bytes(), 1)),
      words(tile / packed), skew(std::max<int64_t>(kWarp * vector / tile, 1)) {}

//===-- Operands ------------------------------------------------------------------------------===//

/// Whether all destinations have the same shape, which has at least two dimensions.
static bool haveSameShape(kernel::DispatchOp op) {
  if (op.getInits().empty() || typeOf(op.getInits().front()).getRank() < 2)
    return false;
  Value first = op.getInits().front();
  return llvm::all_of(op.getInits(), [&](Value init) {
    return typeOf(init).getShape() == typeOf(first).getShape() &&
           llvm::all_of(llvm::seq<int64_t>(0, typeOf(init).getRank()), [&](int64_t dim) {
             return rt::sizeOf(init, dim) == rt::sizeOf(first, dim);
           });
  });
}

/// Where results' elements need those of an input, which is at one place; null where they do not,
/// at several, or where more than a map says.
static AffineMap placeOf(const Computation &computation, BlockArgument input) {
  Places places;
  places.set(input, AffineMap::getMultiDimIdentityMap(typeOf(input).getRank(), input.getContext()));
  for (Operation *op : computation.operations)
    if (failed(places.follow(op)))
      return {};
  AffineMap place;
  for (Value result : computation.results) {
    AffineMap map = places.lookup(result);
    if (map && place && map != place)
      return {};
    place = map ? map : place;
  }
  return place;
}

static SmallVector<int64_t> stridesOf(kernel::DispatchOp op, Value argument) {
  OperandLayout layout = operandLayout(op, argument);
  if (!layout.isContiguous())
    return layout.strides;
  RankedTensorType type = typeOf(argument);
  SmallVector<int64_t> strides(type.getRank());
  int64_t stride = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    strides[dim] = stride;
    bool unknown = type.isDynamicDim(dim) || ShapedType::isDynamic(stride);
    stride = unknown ? ShapedType::kDynamic : stride * type.getDimSize(dim);
  }
  return strides;
}

/// Fills in distances; whether they can be told.
static bool measure(kernel::DispatchOp op, TransposedOperand &operand) {
  SmallVector<int64_t> strides = stridesOf(op, operand.tensor);
  AffineMap place = operand.place;
  SmallVector<int64_t> &distances = operand.distances;
  if (llvm::none_of(strides, ShapedType::isDynamic)) {
    // Divisions of dimensions that are one in memory cancel out.
    AffineExpr flat = getAffineConstantExpr(0, place.getContext());
    for (auto [expr, stride] : llvm::zip(place.getResults(), strides))
      flat = flat + expr * stride;
    if (failed(getFlattenedAffineExpr(flat, place.getNumDims(), 0, &distances)))
      return false;
    operand.begin = distances.pop_back_val();
    bool isSum = llvm::all_of(ArrayRef(distances).drop_front(place.getNumDims()),
                              [](int64_t factor) { return factor == 0; });
    distances.resize(place.getNumDims());
    return isSum;
  }
  if (!isLinear(place))
    return false;
  distances.assign(place.getNumDims(), 0);
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    SmallVector<int64_t> factors = *factorsOf(place, dim);
    for (auto [distance, factor] : llvm::zip(distances, factors))
      if (factor != 0)
        distance = ShapedType::isDynamic(stride) || ShapedType::isDynamic(distance)
                       ? ShapedType::kDynamic
                       : distance + factor * stride;
  }
  return true;
}

/// The dimension of the results along which the operand's elements follow one another, if that is
/// not their innermost, `last`, along which they are apart.
static std::optional<unsigned> turned(const TransposedOperand &operand, unsigned last,
                                      ArrayRef<int64_t> shape) {
  if (operand.distances[last] == 0 || operand.distances[last] == 1)
    return std::nullopt;
  for (auto [dim, distance] : llvm::enumerate(operand.distances))
    if (distance == 1 && shape[dim] != 1)
      return dim;
  return std::nullopt;
}

static int64_t bytesOf(const TransposedOperand &operand) {
  int64_t bytes = operand.bytes();
  for (int64_t size : typeOf(operand.tensor).getShape())
    bytes *= ShapedType::isDynamic(size) ? kUnknown : size;
  return bytes;
}

/// Operands that are turned the way the largest of those is.
static SmallVector<TransposedOperand> turnedOperands(const Computation &computation) {
  kernel::DispatchOp op = computation.op;
  ArrayRef<int64_t> shape = typeOf(op.getInits().front()).getShape();
  unsigned last = laneDimension(typeOf(op.getInits().front()));
  SmallVector<TransposedOperand> found;
  SmallVector<unsigned> ways;
  size_t largest = 0;
  for (BlockArgument input : op.getInputArgs()) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type || type.getRank() < 2 || type.getElementType().isInteger(1))
      continue;
    TransposedOperand operand{input, {}, {}};
    if (bytesOf(operand) < kSmall)
      continue;
    operand.place = placeOf(computation, input);
    if (!operand.place || !measure(op, operand))
      continue;
    if (std::optional<unsigned> way = turned(operand, last, shape)) {
      found.push_back(std::move(operand));
      ways.push_back(*way);
      if (bytesOf(found.back()) > bytesOf(found[largest]))
        largest = found.size() - 1;
    }
  }
  SmallVector<TransposedOperand> same;
  for (auto [operand, way] : llvm::zip(found, ways))
    if (way == ways[largest])
      same.push_back(operand);
  return same;
}

//===-- Runs ----------------------------------------------------------------------------------===//

/// Whether index `outer` of the results goes on where `inner` ends, in an operand's memory.
static bool goesOn(kernel::DispatchOp op, const TransposedOperand &operand, unsigned outer,
                   unsigned inner, int64_t extent) {
  int64_t far = operand.distances[outer], near = operand.distances[inner];
  if (!ShapedType::isDynamic(far) && !ShapedType::isDynamic(near))
    return !ShapedType::isDynamic(extent) ? far == near * extent : far == 0 && near == 0;
  // Neighbouring dimensions of memory in one piece do, whatever their sizes.
  AffineMap place = operand.place;
  auto dimension = [&](unsigned index) -> std::optional<unsigned> {
    auto at = place.getResultPosition(getAffineDimExpr(index, place.getContext()));
    for (unsigned i = 0; at && i < place.getNumResults(); ++i)
      if (i != *at && place.getResult(i).isFunctionOfDim(index))
        return std::nullopt;
    return at;
  };
  auto a = dimension(outer), b = dimension(inner);
  return a && b && *a + 1 == *b && operandLayout(op, operand.tensor).isContiguous();
}

/// The same of a destination, whose dimensions they are.
static bool goesOn(kernel::DispatchOp op, BlockArgument init, unsigned outer, unsigned inner,
                   int64_t extent) {
  OperandLayout layout = operandLayout(op, init);
  if (layout.isContiguous())
    return true;
  int64_t far = layout.strides[outer], near = layout.strides[inner];
  return !ShapedType::isDynamic(far) && !ShapedType::isDynamic(near) &&
         !ShapedType::isDynamic(extent) && far == near * extent;
}

static void findRuns(kernel::DispatchOp op, Transposition &result) {
  ArrayRef<int64_t> shape = typeOf(op.getInits().front()).getShape();
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1)
      continue;
    auto goOn = [&](const auto &memory) {
      return goesOn(op, memory, result.runs.back().back(), dim, shape[dim]);
    };
    bool together = !result.runs.empty() && llvm::all_of(result.operands, goOn) &&
                    llvm::all_of(op.getInitArgs(), goOn);
    if (!together) {
      result.runs.emplace_back();
      result.extents.push_back(1);
    }
    result.runs.back().push_back(dim);
    int64_t &extent = result.extents.back();
    bool unknown = ShapedType::isDynamic(shape[dim]) || ShapedType::isDynamic(extent);
    extent = unknown ? ShapedType::kDynamic : extent * shape[dim];
  }
  for (auto [number, run] : llvm::enumerate(result.runs))
    if (result.operands.front().distances[run.back()] == 1)
      result.along = number;
}

/// How many elements are accessed at once.
static void findVectors(kernel::DispatchOp op, Transposition &result) {
  ArrayRef<int64_t> shape = typeOf(op.getInits().front()).getShape();
  MLIRContext *context = op.getContext();
  ArrayRef<unsigned> along = result.runs[result.along];
  for (TransposedOperand &operand : result.operands) {
    RankedTensorType type = typeOf(operand.tensor);
    AffineMap place = operand.place;
    if (llvm::none_of(operand.distances, ShapedType::isDynamic) && type.hasStaticShape()) {
      AffineExpr flat = getAffineConstantExpr(operand.begin, context);
      for (auto [dim, distance] : llvm::enumerate(operand.distances))
        flat = flat + getAffineDimExpr(dim, context) * distance;
      place = AffineMap::get(shape.size(), 0, flat);
      type = RankedTensorType::get({type.getNumElements()}, type.getElementType());
    }
    operand.vector = std::min(vectorAlong(place, type, along, shape, kTileLine / 8),
                              operandLayout(op, operand.tensor).alignment);
  }
  result.vector = kTileLine / 8;
  for (BlockArgument init : op.getInitArgs())
    result.vector = std::min({vectorAlong(AffineMap::getMultiDimIdentityMap(shape.size(), context),
                                          typeOf(init), result.runs.back(), shape, result.vector),
                              operandLayout(op, init).alignment, result.vector});
}

//===-- Costs ---------------------------------------------------------------------------------===//

/// Whether fewer sectors are moved than by threads that read what their elements need, those
/// counted that parts of tiles without elements could have moved.
static bool pays(const Transposition &transposition) {
  auto used = [&](size_t run) {
    int64_t extent = transposition.extents[run], tile = transposition.tile;
    extent = ShapedType::isDynamic(extent) ? kUnknown : extent;
    return double(extent) / llvm::alignTo(extent, tile);
  };
  double tiles = 0, threads = 0;
  for (const TransposedOperand &operand : transposition.operands) {
    double bytes = operand.bytes();
    int64_t distance = operand.distances[transposition.runs.back().back()];
    bool near = !ShapedType::isDynamic(distance) && distance * bytes < kSector;
    tiles += 2 * bytes;
    threads += bytes + (near ? distance * bytes : kSector);
  }
  return tiles < threads * used(transposition.along) * used(transposition.last());
}

std::optional<Transposition> matchTransposition(const Computation &computation,
                                                int64_t sharedBytes) {
  kernel::DispatchOp op = computation.op;
  if (!computation.combining.empty() || !haveSameShape(op))
    return std::nullopt;
  Transposition result;
  result.operands = turnedOperands(computation);
  if (result.operands.empty())
    return std::nullopt;
  int64_t widest = 1;
  for (const TransposedOperand &operand : result.operands)
    widest = std::max(widest, operand.bytes());
  result.tile = kTileLine / widest;
  // What does not fit is read as others are.
  while (!result.operands.empty()) {
    int64_t bytes = 0;
    for (const TransposedOperand &operand : result.operands)
      bytes += SharedTile(result, operand, kTileLine / 8).elements() * operand.bytes();
    if (bytes <= sharedBytes)
      break;
    result.operands.pop_back();
  }
  if (result.operands.empty())
    return std::nullopt;
  findRuns(op, result);
  if (result.along == result.last() || !pays(result))
    return std::nullopt;
  findVectors(op, result);
  return result;
}

} // namespace cameo
