// Control flow that only a run knows: branches and bodies become private functions of the module, which one operator
// calls.
//
//   %0 = onnx.If(%c) ({ onnx.Yield(%x) }, { %1 = onnx.Concat(%x, %x) {axis = 0}; onnx.Yield(%1) })
//     ==>
//   %0 = onnx.CallIf(%c, %x) {then_branch = @main.then, else_branch = @main.else, ...}
//
// A function has a block, and passes on functions see it as any other. What its graph reads of the graphs around it are
// arguments behind the graph's own; constants are copied. Sizes are inferred with the names that the caller has for
// them, so that a size of a result may be told by that of an argument. A Scan becomes the Loop that reads its entries.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/shape/Calls.h"
#include "dialects/onnx/shape/NodeText.h"
#include "passes/Statistics.h"
#include "passes/graph/ControlFlow.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace cameo {

constexpr StringLiteral kNotFolded = "; it is not folded: ";
constexpr StringLiteral kNotUnrolled = "; it is not unrolled: ";

/// The parts at most for which there is memory in front of the first trip where a condition may end the loop earlier.
static constexpr int64_t kMostReservedParts = 1024;

/// Stands for a reason that a node before it tells.
static constexpr StringLiteral kRefusedBefore = "a node before it is refused";

/// The name of a value in messages.
static StringAttr nameOfValue(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name =
        function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::kNameAttr)
                 : StringAttr();
    return name ? name : StringAttr::get(value.getContext());
  }
  std::optional<StringRef> name = onnx::nodeName(value.getDefiningOp());
  return StringAttr::get(value.getContext(), name.value_or(""));
}

/// The name that the model has for a graph's argument; null without one.
static StringAttr ownName(BlockArgument argument) {
  auto named = dyn_cast<NameLoc>(argument.getLoc());
  return named ? named.getName() : StringAttr();
}

//===-- Functions -----------------------------------------------------------------------------===//

/// The values around graphs that they read. Constants are none of them, nor are numbers that the host makes of sizes:
/// what makes these is copied, too, so that a graph knows of its sizes what the graph around it does.
ControlFlow::Captures ControlFlow::capturesOf(MutableArrayRef<Region> regions) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(regions, used);
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> copied;
  SmallVector<std::pair<Value, bool>> pending; // and whether its operands have been looked at
  for (Value value : llvm::reverse(used))
    pending.push_back({value, false});
  while (!pending.empty()) {
    auto [value, isDone] = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (isDone) {
      copied.insert(op);
    } else if (op && (onnx::isAbsent(value) || onnx::constantValue(value) || isOfSizes(value))) {
      pending.push_back({value, true});
      if (!copied.contains(op))
        for (Value operand : op->getOperands())
          pending.push_back({operand, false});
    } else {
      values.insert(value);
    }
  }
  return {values.takeVector(), copied.takeVector()};
}

/// True of a few numbers that the host computes from sizes.
bool ControlFlow::isOfSizes(Value value) {
  if (!value.getDefiningOp<onnx::HostValueInterface>())
    return false;
  FailureOr<onnx::Sizes> numbers = walk.shapes.host.tryValues(value, kMostCopiedNumbers);
  return succeeded(numbers) && llvm::none_of(*numbers, [&](OpFoldResult number) {
           return walk.sizes.readsInput(number);
         });
}

/// True if an argument has a size of that name. Names that are made here may have come in from a function around it.
bool ControlFlow::isDeclared(StringAttr name) {
  return llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned i) {
    auto dims = function.getArgAttrOfType<ArrayAttr>(i, onnx::kDimsAttr);
    return dims && llvm::is_contained(dims, name);
  });
}

StringAttr ControlFlow::sizeName(OpFoldResult size) {
  MLIRContext *context = function.getContext();
  if (StringAttr given = walk.sizes.nameOf(size))
    return given;
  StringAttr &name = unnamed[size.getOpaqueValue()];
  if (name)
    return name;
  std::string text = sizeNames.of(size);
  name = StringAttr::get(context, text);
  while (text.empty() || isDeclared(name)) {
    text = "#" + std::to_string(++lastNumber);
    name = StringAttr::get(context, text);
  }
  return name;
}

std::optional<ControlFlow::Formal> ControlFlow::formalOf(Value value) {
  std::optional<onnx::Sizes> sizes = walk.shapes.find(value);
  if (!sizes || !isa<TensorType>(value.getType()))
    return std::nullopt;
  return Formal{inferredType(value, *sizes), nameOfValue(value), *sizes};
}

func::FuncOp ControlFlow::createCallee(Operation *op, StringRef suffix, ArrayRef<Formal> formals) {
  auto module = function->getParentOfType<ModuleOp>();
  OpBuilder b(op->getContext());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (const Formal &formal : formals) {
    types.push_back(formal.type);
    SmallVector<Attribute> dims;
    for (OpFoldResult size : formal.sizes) {
      std::optional<int64_t> known = getConstantIntValue(size);
      dims.push_back(known ? Attribute(b.getI64IntegerAttr(*known)) : sizeName(size));
    }
    NamedAttrList list;
    list.set(onnx::kNameAttr, formal.name);
    list.set(onnx::kDimsAttr, b.getArrayAttr(dims));
    attributes.push_back(list.getDictionary(op->getContext()));
  }
  StringRef entry = function.getName().split('.').first;
  auto callee = func::FuncOp::create(op->getLoc(), (entry + "." + suffix).str(),
                                     b.getFunctionType(types, {}));
  callee.setPrivate();
  SymbolTable(module).insert(callee, module.getBody()->end());
  callee.setAllArgAttrs(attributes);
  b.setInsertionPointToStart(callee.addEntryBlock());
  b.create<func::ReturnOp>(op->getLoc());
  return callee;
}

/// Copies a graph to the end of a function, which returns what the graph yields.
void ControlFlow::fillCallee(func::FuncOp callee, Block &graph, const Captures &captures,
                             IRMapping &map) {
  Operation *end = callee.getBody().front().getTerminator();
  OpBuilder b(end);
  for (Operation *op : captures.copied)
    b.clone(*op, map);
  for (Operation &inner : graph.without_terminator())
    inferTypes(b.clone(inner, map));
  SmallVector<Value> yielded;
  for (Value value : graph.getTerminator()->getOperands())
    yielded.push_back(map.lookupOrDefault(value));
  end->setOperands(yielded);
}

/// Folds control flow in a function, and infers its sizes. Gives those of its results, or says why they are not known.
FailureOr<SmallVector<onnx::Sizes>> ControlFlow::inferCallee(func::FuncOp callee,
                                                             std::string &problem) {
  updateFunctionType(callee);
  ControlFlow inside(callee, pass);
  inside.opened = opened;
  inside.run();
  llvm::append_range(made, inside.made);
  for (const onnx::Refusals::Problem &found : inside.walk.refusals.problems()) {
    // Why a graph in the body stays is of no more interest where the body cannot be a function.
    StringRef reason = found.reason;
    for (StringRef why : {kNotFolded, kNotUnrolled})
      reason = reason.split(why).first;
    problem = "node '" + onnx::nodeText(found.op).str() + "' (" + onnx::operatorText(found.op) +
              ") in it: " + reason.str();
    return failure();
  }
  SmallVector<onnx::Sizes> results;
  for (Value value : callee.getBody().front().getTerminator()->getOperands()) {
    std::optional<onnx::Sizes> sizes = inside.walk.shapes.find(value);
    if (!sizes) {
      problem = "what it yields is not a tensor of known rank";
      return failure();
    }
    results.push_back(*sizes);
  }
  return results;
}

void ControlFlow::discardCallees(size_t kept) {
  while (made.size() > kept) {
    made.back().erase();
    made.pop_back();
  }
}

/// The value and its dimension, among those of the caller, that a size of a result is equal to; -1, -1 where none is.
std::pair<int64_t, int64_t> ControlFlow::origin(OpFoldResult size, ArrayRef<Formal> formals) {
  StringAttr name = walk.sizes.nameOf(size);
  for (auto [i, formal] : llvm::enumerate(formals))
    for (auto [dim, given] : llvm::enumerate(formal.sizes))
      if (name && !getConstantIntValue(given) && sizeName(given) == name)
        return {i, dim};
  return {-1, -1};
}

//===-- If ------------------------------------------------------------------------------------===//

static bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

/// The one element of a value.
static Value scalarOf(Value value, Operation *reader) {
  if (isScalar(value))
    return value;
  OpBuilder b(reader);
  auto none = RankedTensorType::get({0}, b.getI64Type());
  Value sizes =
      createConstant(b, value.getLoc(), DenseElementsAttr::get(none, ArrayRef<int64_t>()));
  OperationState state(value.getLoc(), onnx::ReshapeOp::getOperationName(), {value, sizes},
                       {RankedTensorType::get({}, onnx::elementType(value))});
  return b.create(state)->getResult(0);
}

bool ControlFlow::isOpen(const onnx::Sizes &sizes) {
  return llvm::any_of(sizes, [](OpFoldResult size) { return !getConstantIntValue(size); });
}

/// Takes back what scalarOf has made of a scalar, which could not be told from another value then.
static void readScalarItself(Operation *reader, unsigned operand) {
  auto reshape = reader->getOperand(operand).getDefiningOp<onnx::ReshapeOp>();
  if (!reshape || !isScalar(reshape.getOperand(0)) || !isScalar(reshape.getResult()))
    return;
  Operation *sizes = reshape.getOperand(1).getDefiningOp();
  reader->setOperand(operand, reshape.getOperand(0));
  for (Operation *op : {reshape.getOperation(), sizes})
    if (op && op->use_empty())
      op->erase();
}

Operation *ControlFlow::readScalar(Operation *op, unsigned operand) {
  Operation *before = op->getPrevNode();
  op->setOperand(operand, scalarOf(op->getOperand(operand), op));
  return behind(before, op->getBlock());
}

/// True if all that becomes of a value is that it decides on a branch or on another trip, for which it has one element.
static bool isOnlyCondition(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<onnx::IfOp>(user))
      return true;
    if (isa<onnx::LoopOp>(user))
      return use.getOperandNumber() == 1;
    if (isa<onnx::YieldOp>(user))
      return isa<onnx::LoopOp>(user->getParentOp()) && use.getOperandNumber() == 0;
    if (isa<onnx::ReshapeOp>(user))
      return isScalar(user->getResult(0));
    return isa<onnx::CastOp, onnx::IdentityOp, onnx::NotOp>(user) &&
           isOnlyCondition(user->getResult(0));
  });
}

/// Says why the branches cannot be functions, as far as their graphs need not be looked at; an empty string where
/// nothing is against it so far.
std::string ControlFlow::describeBranches(onnx::IfOp op, Captures &captures,
                                          SmallVectorImpl<Formal> &formals) {
  captures = capturesOf(op->getRegions());
  for (Value value : captures.values) {
    std::optional<Formal> formal = formalOf(value);
    if (!formal)
      return isa<TensorType>(value.getType())
                 ? kRefusedBefore.str()
                 : "its branches read a sequence or an optional of the graph around them";
    formals.push_back(*formal);
  }
  for (Region &region : op->getRegions())
    if (llvm::any_of(region.front().getTerminator()->getOperandTypes(),
                     llvm::IsaPred<onnx::SeqType, onnx::OptType>))
      return "its branches make a sequence or an optional; nearest supported: tensors, or a "
             "condition that is known when the model is compiled";
  return "";
}

Operation *ControlFlow::callBranches(onnx::IfOp op, const Twine &otherwise) {
  std::string why = otherwise.str(); // why it is not folded
  size_t before = made.size();
  auto refuse = [&](const Twine &more) {
    std::string text = more.str();
    discardCallees(before);
    return keep(op, text == kRefusedBefore ? "" : text + (why.empty() ? "" : kNotFolded) + why);
  };
  Captures captures;
  SmallVector<Formal> formals;
  if (std::string problem = describeBranches(op, captures, formals); !problem.empty())
    return refuse(problem);
  SmallVector<func::FuncOp> callees;
  SmallVector<SmallVector<onnx::Sizes>> results;
  std::pair<Region *, StringRef> branches[] = {{&op.getThenBranch(), "then"},
                                               {&op.getElseBranch(), "else"}};
  for (auto [region, suffix] : branches) {
    func::FuncOp callee = createCallee(op, suffix, formals);
    made.push_back(callee);
    IRMapping map;
    map.map(captures.values, callee.getArguments());
    fillCallee(callee, region->front(), captures, map);
    std::string problem;
    FailureOr<SmallVector<onnx::Sizes>> sizes = inferCallee(callee, problem);
    if (failed(sizes))
      return refuse("its " + suffix + "-branch cannot be a function: " + problem);
    callees.push_back(callee);
    results.push_back(*sizes);
  }
  SmallVector<Type> types;
  SmallVector<int64_t> known;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    onnx::Sizes &taken = results[0][i], &other = results[1][i];
    // Exporters write `a and b` as a scalar in one branch and a tensor of one element in the other.
    if (taken.size() != other.size() && isOnlyCondition(op->getResult(i)))
      for (auto [callee, sizes] : llvm::zip(callees, results))
        if (!sizes[i].empty()) {
          readScalar(callee.getBody().front().getTerminator(), i);
          updateFunctionType(callee);
          sizes[i].clear();
        }
    if (taken.size() != other.size())
      return refuse("its branches make output " + Twine(i) + " of rank " + Twine(taken.size()) +
                    " and " + Twine(other.size()) +
                    "; nearest supported: one rank, or a condition that is known when the model is "
                    "compiled, by --shapes or --shape-values");
    SmallVector<int64_t> shape;
    for (auto [a, b] : llvm::zip(taken, other)) {
      std::optional<int64_t> size = a == b ? getConstantIntValue(a) : std::nullopt;
      shape.push_back(size.value_or(ShapedType::kDynamic));
      auto [value, dim] = a == b ? origin(a, formals) : std::pair<int64_t, int64_t>{-1, -1};
      known.append({value, dim});
    }
    Type element = onnx::elementType(callees[0].getBody().front().getTerminator()->getOperand(i));
    types.push_back(RankedTensorType::get(shape, element));
  }
  OpBuilder b(op);
  SmallVector<Value> operands{op.getCond()};
  llvm::append_range(operands, captures.values);
  Operation *last = op->getPrevNode();
  auto call = b.create<onnx::CallIfOp>(
      op.getLoc(), types, operands,
      ArrayRef<NamedAttribute>{b.getNamedAttr("then_branch", FlatSymbolRefAttr::get(callees[0])),
                               b.getNamedAttr("else_branch", FlatSymbolRefAttr::get(callees[1])),
                               b.getNamedAttr("sizes", b.getDenseI64ArrayAttr(known))});
  ledger.chosen("fold", op.getLoc(),
                "a run takes one of its branches: the condition is known when the model runs");
  count(function.getContext(), pass, "outlined");
  return replace(op, call.getResults(), last);
}

//===-- Loop and Scan -------------------------------------------------------------------------===//

/// The axis that an entry of the list names, counted from the front; 0 where there is no list.
static int64_t axisIn(std::optional<ArrayRef<int64_t>> axes, unsigned i, int64_t rank) {
  int64_t axis = axes ? (*axes)[i] : 0;
  return axis < 0 ? axis + rank : axis;
}

/// Says why a loop cannot be called; an empty string where nothing is against it so far.
std::string ControlFlow::describeLoop(LoopCall &call) {
  Operation *op = call.op;
  auto loop = dyn_cast<onnx::LoopOp>(op);
  auto scan = dyn_cast<onnx::ScanOp>(op);
  call.carried = carriedCount(op, op->getNumOperands());
  llvm::append_range(call.values, op->getOperands().drop_front(carriedFrom(op)));
  call.given = call.values.size();
  call.captures = capturesOf(op->getRegions());
  llvm::append_range(call.values, call.captures.values);
  auto number = RankedTensorType::get({}, IntegerType::get(op->getContext(), 64));
  call.formals.push_back({number, StringAttr::get(op->getContext(), "number of the trip"), {}});
  for (Value value : call.values) {
    std::optional<Formal> formal = formalOf(value);
    if (!formal)
      return isa<TensorType>(value.getType()) ? kRefusedBefore.str()
                                              : "it goes through a sequence or an optional";
    call.formals.push_back(*formal);
  }
  unsigned first = loop ? 2 : 0; // in front of what is carried, in the graph
  for (unsigned i = 0; i < call.carried; ++i) {
    call.open.emplace_back(call.formals[1 + i].sizes.size());
    // It is another value in each trip, and not the one that the loop is given.
    if (StringAttr own = ownName(op->getRegion(0).getArgument(first + i)))
      call.formals[1 + i].name = own;
  }
  for (size_t i = call.carried + 1; scan && i < call.given; ++i) {
    auto sizeAt = [&](size_t number) {
      const onnx::Sizes &sizes = call.formals[1 + number].sizes;
      return sizes[axisIn(scan.getScanInputAxes(), number - call.carried, sizes.size())];
    };
    if (sizeAt(i) != sizeAt(call.carried))
      return "it scans axes that are not known to be of one size; nearest supported: sizes of one "
             "name, or fixed with --shapes";
  }
  call.isUnconditional =
      !loop || onnx::isAbsent(loop.getCond()) || (known(loop.getCond()) == 1 && alwaysGoesOn(op));
  if (loop && !onnx::isAbsent(loop.getM()))
    call.count = loop.getM();
  for (unsigned i = call.carried; i < op->getNumResults(); ++i)
    if (!op->getResult(i).use_empty())
      call.parts.push_back({i, i + (loop ? 1 : 0)});
  if (!loop || call.parts.empty() || op->hasAttr(kInChunksAttr))
    return "";
  std::optional<int64_t> most = call.count ? known(call.count) : std::nullopt;
  if (call.isUnconditional && !call.count)
    return "it collects a part in each trip, and nothing ends it; nearest supported: a trip count";
  if (call.isUnconditional && most.value_or(0) > onnx::kMostParts)
    return "it collects a part in each of " + std::to_string(*most) +
           " trips; nearest supported: " + std::to_string(onnx::kMostParts) + " trips";
  call.growsParts = !call.isUnconditional && (!most || *most > kMostReservedParts);
  return "";
}

/// Gives a graph's arguments their values: the function's own, and the entries of what a Scan goes through.
void ControlFlow::mapArguments(const LoopCall &call, IRMapping &map) {
  Block &graph = call.op->getRegion(0).front();
  func::FuncOp callee = call.callee;
  Operation *end = callee.getBody().front().getTerminator();
  OpBuilder b(end);
  Value absent = b.create<onnx::NoneOp>(end->getLoc(), b.getNoneType(), ValueRange());
  Expander expander(end, walk.shapes, absent);
  Value trip = callee.getArgument(0);
  unsigned first = 0;
  if (isa<onnx::LoopOp>(call.op)) {
    bool isList = scalarType(graph.getArgument(0), b.getI64Type()).getRank() == 1;
    map.map(graph.getArgument(0), isList ? expander.reshape(trip, {1}) : trip);
    map.map(graph.getArgument(1),
            constantOf(end, 1, scalarType(graph.getArgument(1), b.getI1Type())));
    first = 2;
  }
  for (unsigned i = 0; i < call.carried; ++i)
    map.map(graph.getArgument(first + i), callee.getArgument(1 + i));
  map.map(ArrayRef(call.values).drop_front(call.given),
          callee.getArguments().drop_front(1 + call.given));
  auto scan = dyn_cast<onnx::ScanOp>(call.op);
  for (unsigned i = 0; scan && i < call.given - call.carried; ++i) {
    unsigned number = call.carried + i;
    const Formal &formal = call.formals[1 + number];
    int64_t axis = axisIn(scan.getScanInputAxes(), i, formal.type.getRank());
    auto directions = scan.getScanInputDirections();
    Value scanned = callee.getArgument(1 + number), at = trip;
    if (directions && (*directions)[i])
      at = expander.emit("Sub", {expander.emit("Sub", {expander.sizeOf(scanned, axis),
                                                       expander.table({}, ArrayRef<int64_t>{1})}),
                                 trip});
    Value entry = expander.emit("Gather", {scanned, at}, {expander.with("axis", axis)});
    if (StringAttr own = ownName(graph.getArgument(number)))
      entry.getDefiningOp()->setLoc(NameLoc::get(own, entry.getLoc()));
    map.map(graph.getArgument(number), entry);
  }
}

/// Makes the function return whether there is another trip, what is carried, and the parts that are used.
void ControlFlow::returnParts(const LoopCall &call) {
  func::FuncOp callee = call.callee;
  Operation *end = callee.getBody().front().getTerminator();
  unsigned first = isa<onnx::LoopOp>(call.op) ? 1 : 0;
  SmallVector<Value> yielded(end->getOperands()), results;
  auto flag = RankedTensorType::get({}, IntegerType::get(end->getContext(), 1));
  results.push_back(call.isUnconditional ? constantOf(end, 1, flag)
                                         : scalarOf(yielded.front(), end));
  for (unsigned i = 0; i < call.carried; ++i)
    results.push_back(yielded[first + i]);
  for (const Part &part : call.parts)
    results.push_back(yielded[part.yielded]);
  end->setOperands(results);
}

/// Why a value cannot be carried from trip to trip; an empty string where it can.
std::string ControlFlow::whyNotCarried(const Formal &given, Type element, const onnx::Sizes &made) {
  if (made.size() == given.sizes.size() && element == given.type.getElementType())
    return "";
  SmallVector<int64_t> shape;
  for (OpFoldResult size : made)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return "it carries '" + given.name.str() + "' of type " + onnx::typeText(given.type) +
         ", which a trip makes " + onnx::typeText(RankedTensorType::get(shape, element)) +
         "; nearest supported: values that keep type and rank";
}

/// Has trips change a size of what is carried.
void ControlFlow::openSize(LoopCall &call, unsigned carried, unsigned dim) {
  call.open[carried].set(dim);
  Formal &formal = call.formals[1 + carried];
  // A size of its own, which no other is known to be equal to.
  formal.sizes[dim] = walk.sizes.size(StringAttr::get(function.getContext()));
  SmallVector<int64_t> shape(formal.type.getShape());
  shape[dim] = ShapedType::kDynamic;
  formal.type = formal.type.clone(shape);
}

/// Opens the sizes that a trip changes of what it is given; true where there are such.
bool ControlFlow::openSizes(LoopCall &call, ArrayRef<onnx::Sizes> made) {
  bool changes = false;
  for (unsigned i = 0; i < call.carried; ++i) {
    Formal &formal = call.formals[1 + i];
    for (auto [dim, size] : llvm::enumerate(made[1 + i])) {
      std::optional<int64_t> before = getConstantIntValue(formal.sizes[dim]);
      std::optional<int64_t> after = getConstantIntValue(size);
      if (call.open[i][dim] || (before && before == after) ||
          (!before && !after && walk.sizes.nameOf(size) == sizeName(formal.sizes[dim])))
        continue;
      openSize(call, i, dim);
      changes = true;
    }
  }
  return changes;
}

/// Makes a function of the body, for sizes that hold in each trip; gives those of its results.
FailureOr<SmallVector<onnx::Sizes>> ControlFlow::outlineLoop(LoopCall &call, std::string &problem) {
  size_t before = made.size();
  // Loops in loops would each be made anew for each size that those around them open.
  std::vector<llvm::BitVector> *known =
      isDeep(call.op) ? &(*opened)[call.op->getLoc().getAsOpaquePointer()] : nullptr;
  if (known && known->size() == call.open.size())
    for (unsigned i = 0; i < call.carried; ++i)
      for (unsigned dim : (*known)[i].set_bits())
        if (dim < call.open[i].size())
          openSize(call, i, dim);
  while (true) {
    call.callee = createCallee(call.op, "body", call.formals);
    made.push_back(call.callee);
    IRMapping map;
    mapArguments(call, map);
    fillCallee(call.callee, call.op->getRegion(0).front(), call.captures, map);
    returnParts(call);
    FailureOr<SmallVector<onnx::Sizes>> results = inferCallee(call.callee, problem);
    if (failed(results)) {
      problem = "its body cannot be a function: " + problem;
      return failure();
    }
    Operation *end = call.callee.getBody().front().getTerminator();
    readScalarItself(end, 0);
    for (unsigned i = 0; i < call.carried && problem.empty(); ++i)
      problem = whyNotCarried(call.formals[1 + i], onnx::elementType(end->getOperand(1 + i)),
                              (*results)[1 + i]);
    if (!problem.empty())
      return failure();
    if (!openSizes(call, *results))
      return results;
    if (known)
      known->assign(call.open.begin(), call.open.end());
    discardCallees(before);
  }
}

/// The types of the results, and where their sizes come from; says what is against it.
std::string ControlFlow::typeLoop(LoopCall &call, ArrayRef<onnx::Sizes> made) {
  func::FuncOp callee = call.callee;
  Operation *end = callee.getBody().front().getTerminator();
  auto scan = dyn_cast<onnx::ScanOp>(call.op);
  for (unsigned i = 0; i < call.carried; ++i) {
    RankedTensorType type = call.formals[1 + i].type;
    call.types.push_back(type);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool isOpen = call.open[i][dim];
      call.sizes.append({isOpen ? -1 : int64_t(i), isOpen ? -1 : dim});
    }
  }
  for (unsigned i = 0; i < call.parts.size(); ++i) {
    std::optional<int64_t> trips =
        call.count && call.isUnconditional ? known(call.count) : std::nullopt;
    SmallVector<int64_t> shape{trips ? std::max<int64_t>(*trips, 0) : ShapedType::kDynamic};
    SmallVector<int64_t> origins{-1, -1};
    if (scan) {
      RankedTensorType scanned = call.formals[1 + call.carried].type;
      int64_t axis = axisIn(scan.getScanInputAxes(), 0, scanned.getRank());
      shape = {scanned.getDimSize(axis)};
      origins = {int64_t(call.carried), axis};
    }
    unsigned number = 1 + call.carried + i;
    for (OpFoldResult size : made[number]) {
      auto [value, dim] = origin(size, ArrayRef(call.formals).drop_front());
      if (value >= 0 && value < call.carried && call.open[value][dim])
        value = dim = -1; // of one trip alone
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
      origins.append({value, dim});
      if (value < 0 && ShapedType::isDynamic(shape.back()))
        return "it collects parts of a size that only its trips know; nearest supported: parts as "
               "large as a value from outside of the loop";
    }
    call.types.push_back(RankedTensorType::get(shape, onnx::elementType(end->getOperand(number))));
    call.sizes.append(origins);
  }
  return "";
}

/// A result of a Scan as it is wanted: parts along another axis, or the last one first.
Value ControlFlow::arrangeParts(const LoopCall &call, const Part &part, Value collected) {
  auto scan = dyn_cast<onnx::ScanOp>(call.op);
  if (!scan)
    return collected;
  Expander expander(call.op, walk.shapes, none);
  unsigned number = part.result - call.carried;
  int64_t rank = cast<RankedTensorType>(collected.getType()).getRank();
  if (auto directions = scan.getScanOutputDirections(); directions && (*directions)[number])
    collected = expander.slice(collected, 0, -1, std::numeric_limits<int64_t>::min(), -1);
  int64_t axis = axisIn(scan.getScanOutputAxes(), number, rank);
  if (axis == 0)
    return collected;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(1, rank));
  order.insert(order.begin() + axis, 0);
  return expander.transpose(collected, order);
}

/// Makes a function of a loop's body, and calls it.
Operation *ControlFlow::callLoop(Operation *op) {
  loops.erase(op);
  std::string why = op->getAttrOfType<StringAttr>(kUnexpandedAttr).str(); // why it is not unrolled
  if (why.empty())
    return op; // a node before it is refused
  if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
    if (Operation *first = callStacked(loop))
      return first;
    if (Operation *first = callCounted(loop))
      return first;
  }
  if (auto loop = dyn_cast<onnx::LoopOp>(op); loop && !onnx::isAbsent(loop.getCond()))
    if (auto sizes = walk.shapes.find(loop.getCond()); sizes && isOpen(*sizes))
      return readScalar(op, 1);
  size_t before = made.size();
  auto refuse = [&](StringRef more) {
    discardCallees(before);
    return keep(op, more == kRefusedBefore ? "" : more + (why.empty() ? "" : kNotUnrolled) + why);
  };
  LoopCall call{op};
  if (std::string problem = describeLoop(call); !problem.empty())
    return refuse(problem);
  std::string problem;
  FailureOr<SmallVector<onnx::Sizes>> results = outlineLoop(call, problem);
  if (failed(results))
    return refuse(problem);
  if (problem = typeLoop(call, *results); !problem.empty())
    return refuse(problem);
  if (call.growsParts) {
    discardCallees(before);
    return growParts(call);
  }
  op->removeAttr(kUnexpandedAttr);
  OpBuilder b(op);
  Operation *last = op->getPrevNode();
  SmallVector<Value> operands{none, none};
  if (auto loop = dyn_cast<onnx::LoopOp>(op)) {
    operands = {loop.getM(), loop.getCond()};
  } else {
    Expander expander(op, walk.shapes, none);
    RankedTensorType scanned = call.formals[1 + call.carried].type;
    int64_t axis = axisIn(cast<onnx::ScanOp>(op).getScanInputAxes(), 0, scanned.getRank());
    operands[0] = expander.sizeOf(call.values[call.carried], axis);
  }
  llvm::append_range(operands, call.values);
  SmallVector<NamedAttribute> attributes{
      b.getNamedAttr("body", FlatSymbolRefAttr::get(call.callee)),
      b.getNamedAttr("carried", b.getI64IntegerAttr(call.carried)),
      b.getNamedAttr("sizes", b.getDenseI64ArrayAttr(call.sizes))};
  if (call.isUnconditional)
    attributes.push_back(b.getNamedAttr("unconditional", b.getUnitAttr()));
  auto called = b.create<onnx::CallLoopOp>(op->getLoc(), call.types, operands, attributes);
  SmallVector<Value> values(op->getNumResults(), none);
  for (unsigned i = 0; i < call.carried; ++i)
    values[i] = called->getResult(i);
  for (auto [i, part] : llvm::enumerate(call.parts))
    values[part.result] = arrangeParts(call, part, called->getResult(call.carried + i));
  ledger.chosen(
      "unroll", op->getLoc(),
      ("a run makes its trips: " + StringRef(why).split("; nearest supported").first).str());
  count(function.getContext(), pass, "outlined");
  return replace(op, values, last);
}

} // namespace cameo
