// Concatenations ==> storages whose parts are written where they are wanted.
//
//   %a = kernel.dispatch ... outs(%e)           %v = rt.view %s[0, 0], %w = rt.view %s[0, 64]
//   %b = kernel.dispatch ... outs(%f)     ==>   %a = kernel.dispatch ... outs(%v)
//                                               %b = kernel.dispatch ... outs(%w)
//   %y = rt.concat %a, %b dim 1                 %y = rt.assemble %s dim 1 of %a, %b
//
// A part that has no such place is copied. Concatenations are taken in their order, so that one
// that is a part of a later one is a storage by then, and becomes a view of the later one's.
//
// An output that begins with the input whose state it becomes is in the state's own storage, where that input
// is already: only what comes behind it is written.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Layout.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/fuse/CopyDispatch.h"
#include "runtime/mutant.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"

#include <unordered_map>

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_PLACECONCATENATIONS
#include "passes/Passes.h.inc"

namespace {

/// More than any rank.
constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

/// A concatenation that is the next value of its first part, an input.
struct State {
  BlockArgument input;
  OpOperand *output; // of the function's return
};

/// What stands between a tensor and a place in another one's memory.
struct Uses {
  bool isFree = true;  // nothing needs it in memory of its own
  int64_t kept = kAll; // outer dimensions that every reshape of it leaves as they are
};

int64_t keptBy(rt::ReshapeOp reshape) {
  Value source = reshape.getSource(), result = reshape.getResult();
  // Elements of the last dimension follow one another: kernels step over none.
  int64_t most = std::min(cast<RankedTensorType>(source.getType()).getRank(),
                          cast<RankedTensorType>(result.getType()).getRank()) -
                 1;
  int64_t kept = 0;
  while (kept < most && rt::sizeOf(source, kept) == rt::sizeOf(result, kept))
    ++kept;
  return kept;
}

/// `except` is a use that needs no memory of the tensor's own.
Uses findUses(Value tensor, const OpOperand *except = nullptr) {
  Uses uses;
  SmallVector<Value> names{tensor};
  while (!names.empty())
    for (OpOperand &use : names.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (&use == except)
        continue;
      if (auto reshape = dyn_cast<rt::ReshapeOp>(user))
        uses.kept = std::min(uses.kept, keptBy(reshape));
      if (isa<rt::ReshapeOp, tensor::CastOp>(user)) {
        names.push_back(user->getResult(0));
        continue;
      }
      auto dispatch = dyn_cast<kernel::DispatchOp>(user);
      bool reads = dispatch && use.getOperandNumber() < dispatch.getInputs().size();
      uses.isFree &= reads || isa<tensor::DimOp, rt::ConcatOp, rt::ViewOp>(user);
    }
  return uses;
}

/// What several concatenations begin with is concatenated once: the first parts of one that are all
/// those of another one become that one's result.
void sharePrefixes(ArrayRef<rt::ConcatOp> concats) {
  std::unordered_map<size_t, rt::ConcatOp> known; // by hash of all parts as they were
  DenseMap<Operation *, SmallVector<Value>> partsOf;
  for (rt::ConcatOp concat : concats) {
    SmallVector<Value> &parts = partsOf[concat] = SmallVector<Value>(concat.getParts());
    llvm::hash_code hash = llvm::hash_value(concat.getDim());
    rt::ConcatOp longest;
    for (size_t i = 0; i < parts.size(); ++i) {
      hash = llvm::hash_combine(hash, parts[i]);
      auto found = known.find(hash);
      if (i > 0 && i + 1 < parts.size() && found != known.end() &&
          found->second.getDim() == concat.getDim() &&
          ArrayRef(partsOf[found->second]) == ArrayRef(parts).take_front(i + 1))
        longest = found->second;
    }
    known.try_emplace(hash, concat);
    if (!longest)
      continue;
    SmallVector<Value> fewer{longest.getResult()};
    fewer.append(parts.begin() + partsOf[longest].size(), parts.end());
    concat.getPartsMutable().assign(fewer);
  }
}

class Placer {
public:
  Placer(Block &block, rt::Ledger &ledger)
      : block(block), ledger(ledger), b(block.getParentOp()->getContext()) {}

  void place(rt::ConcatOp concat);
  int64_t placedParts = 0, copiedParts = 0, states = 0;

private:
  /// A part, or several that are copied together.
  struct Group {
    SmallVector<Value> parts;
    Value producer;             // what is written in its place; null: parts are copied
    Operation *first = nullptr; // that needs the place
    Value view;
    SmallVector<StringRef> reasons; // why parts are copied, each
  };

  static Group copied(Value part, StringRef why) { return {{part}, {}, nullptr, {}, {why}}; }

  const Uses &usesOf(Value tensor);
  std::optional<State> stateOf(rt::ConcatOp concat);
  StringRef reasonToCopy(const State &state, rt::ConcatOp concat, int64_t outer);
  static Operation *firstOf(ArrayRef<Group> groups, Operation *last);
  Operation *firstReader(BlockArgument input, rt::ConcatOp concat);
  void extend(const State &state, rt::ConcatOp concat);
  static void replace(rt::ConcatOp concat, Value result);
  Value assemble(rt::ConcatOp concat, Value storage, ArrayRef<Group> groups);
  Group decide(Value part, rt::ConcatOp concat, int64_t outer);
  SmallVector<Group> group(rt::ConcatOp concat, ValueRange parts, StringRef whyNone);
  void record(rt::ConcatOp concat, ArrayRef<Group> groups, int64_t number = 0);
  bool hoistSizes(rt::ConcatOp concat, Operation *before);
  bool hoist(Value value, Operation *before);
  void addViews(rt::ConcatOp concat, Value storage, MutableArrayRef<Group> groups);
  void move(const Group &group);
  SmallVector<Value> dynamicSizes(Value tensor);
  Value copy(Location loc, ArrayRef<Value> parts, int64_t dim, Value destination);
  TypedAttr elementOf(Value tensor);

  Block &block;
  rt::Ledger &ledger;
  OpBuilder b;
  llvm::DenseMap<Value, Uses> uses;
  llvm::DenseSet<Value> hasPlace;
  SymbolTableCollection symbols;
  llvm::DenseMap<Value, int64_t> keptInside; // by result of rt.assemble: Uses::kept of its parts
};

const Uses &Placer::usesOf(Value tensor) {
  auto known = uses.find(tensor);
  return known != uses.end() ? known->second
                             : uses.try_emplace(tensor, findUses(tensor)).first->second;
}

/// A part has the whole's sizes beside its dimension. Where it has computed them in another way, nobody can tell that
/// pieces of it are pieces of the whole.
static bool hasSizesOf(Value part, rt::ConcatOp concat) {
  for (int64_t dim = 0; dim < concat.getType().getRank(); ++dim)
    if (dim != int64_t(concat.getDim()) && !(rt::sizeOf(part, dim) == rt::sizeOf(concat, dim)))
      return false;
  return true;
}

/// Whether the part has a place in a concatenation of which `outer` dimensions are outside of the
/// pieces that a part consists of.
Placer::Group Placer::decide(Value part, rt::ConcatOp concat, int64_t outer) {
  Value producer = part;
  while (auto reshape = producer.getDefiningOp<rt::ReshapeOp>())
    producer = reshape.getSource();
  auto result = dyn_cast<OpResult>(producer);
  if (!result || result.getOwner()->getBlock() != &block)
    return copied(part, "it is an input");
  if (result.getDefiningOp<rt::GetConstantOp>())
    return copied(part, "it is a constant");
  if (CAMEO_MUTANT(8, hasPlace.contains(producer), false))
    return copied(part, "it has its place in another concatenation, or in this one");
  Operation *first = result.getOwner();
  if (auto dispatch = dyn_cast<kernel::DispatchOp>(first)) {
    if (!dispatch.getTiedOpOperand(result)->get().getDefiningOp<tensor::EmptyOp>())
      return copied(part, "it is written over a tensor that is there already");
  } else if (auto assemble = dyn_cast<rt::AssembleOp>(first)) {
    first = assemble.getStorage().getDefiningOp();
    if (producer != part || !isa_and_present<rt::StorageOp>(first) || keptInside[producer] < outer)
      return copied(part, "it is a concatenation whose parts lie in another order there");
  } else {
    return copied(part, "no kernel writes it");
  }
  const Uses &found = usesOf(producer);
  if (!found.isFree)
    return copied(part, "it is needed in memory of its own, as outputs are");
  if (CAMEO_MUTANT(9, found.kept < outer, false))
    return copied(part, "it is read in a shape whose elements would not lie at equal steps there");
  if (found.kept < kAll && !hasSizesOf(part, concat))
    return copied(part, "its sizes are not known to be those of the others");
  hasPlace.insert(producer);
  return {{part}, producer, first, {}, {}};
}

/// The dimensions outside of the pieces that a part consists of: where they are all 1, it is one piece.
static int64_t outerOf(rt::ConcatOp concat) {
  auto before = cast<RankedTensorType>(concat.getType()).getShape().take_front(concat.getDim());
  return llvm::all_of(before, [](int64_t size) { return size == 1; }) ? 0 : concat.getDim();
}

/// With a reason why none has a place, all parts are copied.
SmallVector<Placer::Group> Placer::group(rt::ConcatOp concat, ValueRange parts, StringRef whyNone) {
  SmallVector<Group> groups;
  for (Value part : parts) {
    Group next = whyNone.empty() ? decide(part, concat, outerOf(concat)) : copied(part, whyNone);
    if (!next.producer && !groups.empty() && !groups.back().producer &&
        groups.back().parts.size() < kMostCopied) {
      groups.back().parts.push_back(part);
      groups.back().reasons.push_back(next.reasons.front());
    } else {
      groups.push_back(next);
    }
  }
  return groups;
}

/// Each part, from `number` on, before any is moved.
void Placer::record(rt::ConcatOp concat, ArrayRef<Group> groups, int64_t number) {
  StringRef name = rt::firstNode(concat.getLoc());
  std::string into = name.empty() ? "a concatenation" : "'" + name.str() + "'";
  for (const Group &group : groups)
    for (auto [i, part] : llvm::enumerate(group.parts)) {
      auto type = cast<RankedTensorType>(part.getType());
      std::optional<int64_t> bytes; // written by a copy, which reads as much
      if (type.hasStaticShape())
        bytes = 2 * type.getNumElements() * std::max<int64_t>(type.getElementTypeBitWidth(), 8) / 8;
      if (group.producer)
        ledger.record({rt::DecisionKind::Applied,
                       "concat",
                       "written where it belongs in " + into,
                       {},
                       group.producer.getLoc(),
                       concat.getLoc(),
                       bytes});
      else
        ledger.record({rt::DecisionKind::Missed, "concat",
                       "part " + std::to_string(number) + " is copied", group.reasons[i],
                       concat.getLoc(), part.getLoc(), bytes});
      ++number;
    }
}

/// Moves what a size is computed by in front of `before`, if that is nothing but arithmetic that
/// cannot fail.
bool Placer::hoist(Value value, Operation *before) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != &block || op->isBeforeInBlock(before) || needed.contains(op))
      continue;
    bool isTensor = llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
    if (!isPure(op) || op->getNumRegions() || isTensor)
      return false;
    needed.insert(op);
    open.append(op->operand_begin(), op->operand_end());
  }
  auto order = needed.takeVector();
  llvm::sort(order, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : order)
    op->moveBefore(before);
  return true;
}

bool Placer::hoistSizes(rt::ConcatOp concat, Operation *before) {
  for (Value size : concat.getSizes())
    if (!hoist(size, before))
      return false;
  for (Value part : concat.getParts())
    for (int64_t dim = 0; dim < cast<RankedTensorType>(part.getType()).getRank(); ++dim)
      for (const rt::Extent::Size &size : rt::sizeOf(part, dim).sizes)
        if (!hoist(size.value, before))
          return false;
  return true;
}

SmallVector<Value> Placer::dynamicSizes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(getValueOrCreateConstantIndexOp(b, tensor.getLoc(),
                                                      planSize(b, tensor.getLoc(), tensor, dim)));
  return sizes;
}

/// One after another along the concatenation's dimension.
void Placer::addViews(rt::ConcatOp concat, Value storage, MutableArrayRef<Group> groups) {
  Location loc = concat.getLoc();
  int64_t dim = concat.getDim();
  auto whole = cast<RankedTensorType>(concat.getType());
  OpFoldResult start = b.getIndexAttr(0);
  for (Group &group : groups) {
    OpFoldResult extent = b.getIndexAttr(0);
    for (Value part : group.parts)
      extent = planSum(b, loc, extent, planSize(b, loc, part, dim));
    RankedTensorType type = cast<RankedTensorType>(group.parts.front().getType());
    SmallVector<Value> sizes;
    if (group.parts.size() == 1) {
      sizes = dynamicSizes(group.parts.front());
    } else {
      SmallVector<int64_t> shape(whole.getShape());
      shape[dim] = getConstantIntValue(extent).value_or(ShapedType::kDynamic);
      type = RankedTensorType::get(shape, whole.getElementType());
      for (int64_t i = 0; i < whole.getRank(); ++i)
        if (ShapedType::isDynamic(shape[i]))
          sizes.push_back(i == dim ? cast<Value>(extent)
                                   : concat.getSizes()[whole.getDynamicDimIndex(i)]);
    }
    SmallVector<OpFoldResult> offsets(whole.getRank(), b.getIndexAttr(0));
    offsets[dim] = start;
    SmallVector<int64_t> known;
    SmallVector<Value> open;
    dispatchIndexOpFoldResults(offsets, open, known);
    group.view = b.create<rt::ViewOp>(loc, type, storage, open, known, sizes);
    start = planSum(b, loc, start, extent);
  }
}

/// The number that all elements of a constant are; null for other tensors.
TypedAttr Placer::elementOf(Value tensor) {
  while (auto reshape = tensor.getDefiningOp<rt::ReshapeOp>())
    tensor = reshape.getSource();
  auto get = tensor.getDefiningOp<rt::GetConstantOp>();
  auto constant = get ? symbols.lookupNearestSymbolFrom<rt::ConstantOp>(get, get.getConstantAttr())
                      : rt::ConstantOp();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  return splat ? splat.getSplatValue<TypedAttr>() : TypedAttr();
}

Value Placer::copy(Location loc, ArrayRef<Value> parts, int64_t dim, Value destination) {
  SmallVector<TypedAttr> elements =
      llvm::map_to_vector(parts, [&](Value part) { return elementOf(part); });
  return copyParts(b, loc, parts, elements, dim, destination);
}

/// Has the group's producer write its view.
void Placer::move(const Group &group) {
  if (auto assemble = group.producer.getDefiningOp<rt::AssembleOp>()) {
    Operation *storage = assemble.getStorage().getDefiningOp();
    storage->getResult(0).replaceAllUsesWith(group.view);
    storage->erase();
    return;
  }
  auto dispatch = group.producer.getDefiningOp<kernel::DispatchOp>();
  OpOperand *init = dispatch.getTiedOpOperand(cast<OpResult>(group.producer));
  auto empty = init->get().getDefiningOp<tensor::EmptyOp>();
  Value place = group.view;
  if (group.producer != group.parts.front()) {
    b.setInsertionPoint(dispatch);
    place = b.create<rt::ReshapeOp>(dispatch.getLoc(), init->get().getType(), place,
                                    empty.getDynamicSizes());
  }
  init->set(place);
  if (empty->use_empty())
    empty.erase();
}

std::optional<State> Placer::stateOf(rt::ConcatOp concat) {
  auto input = dyn_cast<BlockArgument>(concat.getParts().front());
  auto function = dyn_cast<func::FuncOp>(block.getParentOp());
  if (!input || !function || input.getOwner() != &block)
    return std::nullopt;
  auto state = function.getArgAttrOfType<IntegerAttr>(input.getArgNumber(), onnx::kStateAttr);
  // Elements that share bytes are not apart from each other.
  if (!state || function.getArgAttr(input.getArgNumber(), onnx::kShapeAttr))
    return std::nullopt;
  OpOperand &output = block.getTerminator()->getOpOperand(state.getInt());
  if (output.get() != concat.getResult() || llvm::count(concat.getParts(), Value(input)) != 1)
    return std::nullopt;
  return State{input, &output};
}

/// Why a state is not extended in its place; empty where it is.
StringRef Placer::reasonToCopy(const State &state, rt::ConcatOp concat, int64_t outer) {
  if (!cast<RankedTensorType>(state.input.getType()).isDynamicDim(concat.getDim()))
    return "its length is fixed";
  Uses before = findUses(state.input), after = findUses(concat, state.output);
  if (!before.isFree || !after.isFree)
    return "it is needed in memory of its own, as other outputs and the borders of loops are";
  if (CAMEO_MUTANT(52, before.kept < outer || after.kept < outer, false))
    return "it is read in a shape whose elements would not lie at equal steps there";
  if (before.kept < kAll && !hasSizesOf(state.input, concat))
    return "its sizes are not known to be those of what is added";
  return {};
}

/// The operation that the first of what has a place of its own is computed by.
Operation *Placer::firstOf(ArrayRef<Group> groups, Operation *last) {
  for (const Group &group : groups)
    if (group.producer && group.first->isBeforeInBlock(last))
      last = group.first;
  return last;
}

/// The first that reads the input on the device, or writes what comes behind it.
Operation *Placer::firstReader(BlockArgument input, rt::ConcatOp concat) {
  Operation *first = concat;
  for (Operation *user : input.getUsers())
    if (Operation *here = block.findAncestorOpInBlock(*user);
        !isa<tensor::DimOp>(user) && here->isBeforeInBlock(first))
      first = here;
  for (Value part : concat.getParts().drop_front()) {
    while (auto reshape = part.getDefiningOp<rt::ReshapeOp>())
      part = reshape.getSource();
    Operation *op = part.getDefiningOp();
    if (op && op->getBlock() == &block && op->isBeforeInBlock(first))
      first = op;
  }
  return first;
}

/// Puts the concatenation into the storage of its state, whose sizes are known before anybody needs it.
void Placer::extend(const State &state, rt::ConcatOp concat) {
  Location loc = concat.getLoc();
  auto type = cast<RankedTensorType>(concat.getType());
  unsigned number = state.input.getArgNumber();
  SmallVector<Group> groups = group(concat, concat.getParts().drop_front(), {});
  auto name =
      cast<func::FuncOp>(block.getParentOp()).getArgAttrOfType<StringAttr>(number, onnx::kNameAttr);
  ledger.applied("concat", state.input.getLoc(),
                 name ? "state '" + name.str() + "' stays where it is" : "stays where it is",
                 "it is a state");
  record(concat, groups, 1);
  b.setInsertionPoint(firstReader(state.input, concat));
  SmallVector<Value> sizes(concat.getSizes());
  Value &length = sizes[type.getDynamicDimIndex(concat.getDim())];
  length = b.create<rt::CapacityOp>(loc, b.getIndexType(), number, length);
  Value storage = b.create<rt::StorageOp>(loc, type, sizes, b.getI64IntegerAttr(number));
  SmallVector<int64_t> start(type.getRank(), 0);
  Value whole = b.create<rt::ViewOp>(loc, type, storage, ValueRange(), start, concat.getSizes());
  groups.insert(groups.begin(), Group{{state.input}, nullptr, nullptr, {}, {}});
  addViews(concat, whole, groups);
  Value view = groups.front().view;
  auto value = b.create<rt::StateOp>(loc, view.getType(), state.input, view);
  Value(state.input).replaceUsesWithIf(value, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user != value && user != concat && !isa<tensor::DimOp>(user);
  });
  groups.front().producer = value;
  ++states;
  replace(concat, assemble(concat, whole, groups));
}

void Placer::replace(rt::ConcatOp concat, Value result) {
  concat.replaceAllUsesWith(result);
  concat.erase();
}

/// Has each part written where it belongs, or copied there.
Value Placer::assemble(rt::ConcatOp concat, Value storage, ArrayRef<Group> groups) {
  Location loc = concat.getLoc();
  SmallVector<Value> parts;
  int64_t kept = kAll;
  for (const Group &group : groups) {
    if (group.producer && group.producer.getDefiningOp<rt::StateOp>()) {
      parts.push_back(group.producer);
    } else if (group.producer) {
      move(group);
      parts.push_back(group.parts.front());
      kept = std::min(kept, usesOf(group.producer).kept);
      if (auto inner = keptInside.find(group.producer); inner != keptInside.end())
        kept = std::min(kept, inner->second);
      ++placedParts;
    } else {
      b.setInsertionPoint(concat);
      parts.push_back(copy(loc, group.parts, concat.getDim(), group.view));
      copiedParts += group.parts.size();
    }
  }
  b.setInsertionPoint(concat);
  Value result = b.create<rt::AssembleOp>(loc, concat.getType(), storage, concat.getDim(), parts);
  keptInside[result] = kept;
  return result;
}

void Placer::place(rt::ConcatOp concat) {
  Location loc = concat.getLoc();
  std::optional<State> state = stateOf(concat);
  if (state) {
    StringRef reason = reasonToCopy(*state, concat, outerOf(concat));
    if (reason.empty() && hoistSizes(concat, firstReader(state->input, concat))) {
      extend(*state, concat);
      return;
    }
    ledger.missed("concat", concat.getLoc(), "its state is not extended in place",
                  reason.empty() ? "its length is not known before it is read" : reason);
  }
  SmallVector<Group> groups = group(concat, concat.getParts(), {});
  Operation *first = firstOf(groups, concat);
  if (first != concat && !hoistSizes(concat, first)) {
    for (const Group &group : groups)
      hasPlace.erase(group.producer);
    groups = group(concat, concat.getParts(),
                   "sizes of the whole are not known before its parts are computed");
    first = concat;
  }
  record(concat, groups);
  b.setInsertionPoint(first);
  if (groups.size() == 1 && !groups.front().producer) {
    Value memory = b.create<tensor::EmptyOp>(loc, concat.getType(), concat.getSizes());
    copiedParts += groups.front().parts.size();
    replace(concat, copy(loc, groups.front().parts, concat.getDim(), memory));
    return;
  }
  Value storage = b.create<rt::StorageOp>(loc, concat.getType(), concat.getSizes(), IntegerAttr());
  addViews(concat, storage, groups);
  replace(concat, assemble(concat, storage, groups));
}

struct PlaceConcatenations : impl::PlaceConcatenationsBase<PlaceConcatenations> {
  void runOnOperation() override {
    rt::Ledger ledger(getOperation());
    for (Block &block : getOperation().getBody()) {
      auto concats = llvm::to_vector(block.getOps<rt::ConcatOp>());
      sharePrefixes(concats);
      Placer placer(block, ledger);
      for (rt::ConcatOp concat : concats)
        placer.place(concat);
      count(&getContext(), getArgument(), "placed", placer.placedParts);
      count(&getContext(), getArgument(), "copied", placer.copiedParts);
      count(&getContext(), getArgument(), "states", placer.states);
    }
  }
};

} // namespace

} // namespace cameo
