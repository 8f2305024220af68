// Moves transposes through operators that compute element by element, where fewer are left.
//
//   %0 = onnx.Transpose(%x) {perm = [0, 2, 3, 1]}
//   %1 = onnx.Relu(%0)
//   %2 = onnx.Transpose(%1) {perm = [0, 3, 1, 2]}   ==>   onnx.Relu(%x)
//
// Operators that are connected are one group, computed either as it stands or with all dimensions
// permuted. What that costs is counted in transposes at the group's boundary, so that a sweep is
// linear in the nodes; sweeps are repeated while they take transposes away.
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"
#include "passes/graph/ConstantFolding.h"
#include "passes/graph/DataMovement.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_SINKDATAMOVEMENT
#include "passes/Passes.h.inc"

//===-- Operators that compute element by element ---------------------------------------------===//

bool isElementwise(Operation *op) {
  if (!isa<onnx::OnnxDialect>(op->getDialect()) || op->getNumResults() != 1)
    return false;
  return llvm::StringSwitch<bool>(op->getName().stripDialect())
      .Cases("Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", true)
      .Cases("BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "Ceil",
             "Celu", "Clip", true)
      .Cases("Cos", "Cosh", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", true)
      .Cases("Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "IsInf", "IsNaN", "LeakyRelu",
             "Less", "LessOrEqual", true)
      .Cases("Log", "Max", "Mean", "Min", "Mish", "Mod", "Mul", "Neg", "Not", true)
      .Cases("Or", "PRelu", "Pow", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", true)
      .Cases("Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", true)
      .Cases("Tan", "Tanh", "ThresholdedRelu", "Where", "Xor", true)
      .Default(false);
}

RankedTensorType reliable(Value value) {
  return hasReliableShape(value) ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
}

bool isPlain(Value operand) {
  RankedTensorType type = reliable(operand);
  return onnx::isAbsent(operand) || (type && type.hasStaticShape() && type.getNumElements() == 1);
}

/// Constants that are permuted when compiling: at most as many bytes as a fold may add.
static bool isMovable(Value operand, int64_t rank) {
  std::optional<Elements> elements = Elements::of(onnx::constantValue(operand));
  return elements && elements->type.getRank() <= rank &&
         (elements->isSplat() || elements->count() * elements->elementBytes() <= kFoldedBytes);
}

/// Whether permuting the result's dimensions and those of the operands is the same.
static bool canPermute(Operation *op) {
  RankedTensorType result = isElementwise(op) ? reliable(op->getResult(0)) : RankedTensorType();
  if (!result || result.getRank() < 2)
    return false;
  bool found = false;
  for (Value operand : op->getOperands()) {
    if (isPlain(operand) || isMovable(operand, result.getRank()))
      continue;
    RankedTensorType type = reliable(operand);
    if (!type || type.getRank() != result.getRank())
      return false;
    found = true;
  }
  return found;
}

//===-- Groups --------------------------------------------------------------------------------===//

namespace {

/// Operators that are permuted together, or not at all.
class Group {
public:
  explicit Group(ArrayRef<Operation *> members) : members(members) {
    inside.insert(members.begin(), members.end());
    collectBoundary();
  }

  /// The permutation P with which the fewest transposes are left, where that are fewer than now:
  /// each value of the group then is Transpose(value computed instead, P).
  std::optional<Permutation> best() const;
  /// Whether it stays as it is although transposes stand at its boundary; why.
  StringRef whyKept() const;
  /// Computes everything in the form that is best.
  void permute(ArrayRef<int64_t> permutation);

private:
  void collectBoundary();
  void addCandidate(ArrayRef<int64_t> permutation) {
    // More kinds at one group's boundary are no form that a model has.
    if (candidates.size() < 8 && !isIdentity(permutation) &&
        !llvm::is_contained(candidates, Permutation(permutation)))
      candidates.emplace_back(permutation);
  }
  bool isInside(Operation *op) const { return inside.contains(op); }
  int64_t costNow() const;
  int64_t cost(ArrayRef<int64_t> permutation) const;
  Value enter(Value operand, ArrayRef<int64_t> permutation);
  Value enterConstant(Value operand, ArrayRef<int64_t> back);
  void leave(Operation *member, ArrayRef<int64_t> permutation);

  ArrayRef<Operation *> members;
  llvm::DenseSet<Operation *> inside;
  llvm::MapVector<Value, std::optional<Permutation>> inputs; // and how it was transposed
  SmallVector<Permutation> outputs;                          // Transposes of members
  bool readsItself = false;                                  // transposed
  int64_t otherOutputs = 0;                                  // members that others read
  SmallVector<Permutation> candidates;
  llvm::DenseMap<Value, Value> entered;
};

void Group::collectBoundary() {
  for (Operation *member : members) {
    int64_t rank = cast<RankedTensorType>(member->getResult(0).getType()).getRank();
    for (Value operand : member->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (isPlain(operand) || isMovable(operand, rank) || (op && isInside(op)) ||
          inputs.contains(operand))
        continue;
      inputs[operand] = permutationOf(op);
      if (!inputs[operand])
        continue;
      addCandidate(*inputs[operand]);
      Operation *source = op->getOperand(0).getDefiningOp();
      readsItself |= source && isInside(source);
    }
    bool isRead = false;
    for (Operation *user : member->getUsers()) {
      if (isInside(user))
        continue;
      if (std::optional<Permutation> permutation = permutationOf(user)) {
        outputs.push_back(*permutation);
        addCandidate(inverse(*permutation));
      } else {
        isRead = true;
      }
    }
    otherOutputs += isRead;
  }
}

int64_t Group::costNow() const {
  int64_t cost = outputs.size();
  for (auto &[value, permutation] : inputs)
    // Others need it anyway.
    cost += permutation &&
            llvm::all_of(value.getUsers(), [&](Operation *user) { return isInside(user); });
  return cost;
}

int64_t Group::cost(ArrayRef<int64_t> permutation) const {
  int64_t cost = otherOutputs;
  for (auto &[value, own] : inputs)
    cost += !own || ArrayRef<int64_t>(*own) != permutation;
  for (const Permutation &own : outputs)
    cost += !isIdentity(composed(permutation, own));
  return cost;
}

std::optional<Permutation> Group::best() const {
  std::optional<Permutation> result;
  // A transpose from the group to itself would be another one afterwards.
  if (readsItself)
    return result;
  int64_t least = costNow();
  for (const Permutation &candidate : candidates)
    if (int64_t with = cost(candidate); with < least) {
      least = with;
      result = candidate;
    }
  return result;
}

StringRef Group::whyKept() const {
  if (candidates.empty())
    return {};
  return readsItself ? "they would read what they compute in two orders either way"
                     : "as many transposes would be left around them";
}

Value Group::enterConstant(Value operand, ArrayRef<int64_t> back) {
  Elements elements = *Elements::of(onnx::constantValue(operand));
  // Missing dimensions come first, and are 1.
  SmallVector<int64_t> shape(back.size() - elements.type.getRank(), 1);
  llvm::append_range(shape, elements.shape());
  SmallVector<int64_t> strides(back.size(), 1);
  for (size_t i = back.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * shape[i + 1];
  auto type = RankedTensorType::get(composed(shape, back), elements.type.getElementType());
  OpBuilder b(operand.getDefiningOp());
  if (elements.isSplat())
    if (ElementsAttr splat = onnx::makeSplat(type, elements.bytes.get()))
      return createConstant(b, operand.getLoc(), splat);
  unsigned width = elements.elementBytes();
  std::vector<char> bytes(elements.count() * width);
  forEachOffset(type.getShape(), composed(strides, back), 0, [&](int64_t i, int64_t at) {
    std::memcpy(bytes.data() + i * width, elements.at(at), width);
  });
  return createConstant(
      b, operand.getLoc(),
      onnx::makeConstant(type, nodeName(operand.getDefiningOp()), ArrayRef<char>(bytes)));
}

/// The operand as the group reads it when it is permuted.
Value Group::enter(Value operand, ArrayRef<int64_t> permutation) {
  Value &value = entered[operand];
  if (value)
    return value;
  Permutation back = inverse(permutation);
  if (onnx::constantValue(operand))
    return value = enterConstant(operand, back);
  std::optional<Permutation> own = inputs[operand];
  Value source = own ? operand.getDefiningOp()->getOperand(0) : operand;
  Permutation needed = own ? composed(*own, back) : back;
  if (isIdentity(needed))
    return value = source;
  OpBuilder b(operand.getContext());
  b.setInsertionPointAfterValue(operand);
  return value = createTranspose(b, operand.getLoc(), source, needed);
}

/// Those outside of the group see what they saw.
void Group::leave(Operation *member, ArrayRef<int64_t> permutation) {
  Value result = member->getResult(0);
  SmallVector<OpOperand *> others;
  SmallVector<Operation *> transposes;
  for (OpOperand &use : result.getUses()) {
    if (isInside(use.getOwner()))
      continue;
    if (permutationOf(use.getOwner()))
      transposes.push_back(use.getOwner());
    else
      others.push_back(&use);
  }
  SmallVector<Permutation> owned;
  for (Operation *transpose : transposes)
    owned.push_back(composed(permutation, *permutationOf(transpose)));
  OpBuilder b(member->getContext());
  Type type = result.getType();
  ArrayAttr dims = knownDims(result);
  Permutation back = inverse(permutation);
  result.setType(permuted(type, back));
  permuteDims(member, back);
  for (auto [transpose, own] : llvm::zip(transposes, owned)) {
    transpose->setAttr("perm", b.getDenseI64ArrayAttr(own));
    if (!isIdentity(own))
      continue;
    replaceResult(transpose, 0, result);
    transpose->erase();
  }
  if (others.empty())
    return;
  // Only now: a transpose that is gone may have stood right behind.
  b.setInsertionPointAfter(member);
  auto shown = b.create<onnx::TransposeOp>(
      member->getLoc(), type, result, b.getNamedAttr("perm", b.getDenseI64ArrayAttr(permutation)));
  if (dims)
    setDims(shown, dims.getValue());
  for (OpOperand *use : others)
    use->set(shown->getResult(0));
}

void Group::permute(ArrayRef<int64_t> permutation) {
  llvm::SetVector<Operation *> replaced;
  for (Operation *member : members)
    for (OpOperand &operand : member->getOpOperands()) {
      Operation *op = operand.get().getDefiningOp();
      if (isPlain(operand.get()) || (op && isInside(op)))
        continue;
      if (op)
        replaced.insert(op);
      operand.set(enter(operand.get(), permutation));
    }
  for (Operation *member : members)
    leave(member, permutation);
  for (Operation *op : replaced)
    if (op->use_empty() && isa<onnx::TransposeOp, onnx::ConstantOp>(op))
      op->erase();
}

//===-- Pass ----------------------------------------------------------------------------------===//

constexpr StringLiteral kWhat = "sink";

struct SinkDataMovement : impl::SinkDataMovementBase<SinkDataMovement> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Block &block = function.getBody().front();
    // What was permuted, now or in an earlier run, is not kept because there is no more to gain.
    for (const rt::Decision &decision : rt::decisionsOn(function))
      if (decision.what == kWhat && decision.kind == rt::DecisionKind::Applied)
        permuted.insert(decision.at);
    rt::Ledger ledger(function);
    while (sweep(block, ledger) || cancel(block, ledger)) {
    }
    for (auto [at, why] : kept)
      ledger.missed(kWhat, at, "not computed in another order of dimensions", why);
    function.walk([&](Operation *op) { sinkIntoProduct(op, ledger); });
    updateFunctionType(function);
  }

private:
  /// Whether there was a group to permute.
  bool sweep(Block &block, rt::Ledger &ledger) {
    llvm::EquivalenceClasses<Operation *> classes;
    SmallVector<Operation *> operators;
    for (Operation &op : block) {
      if (!canPermute(&op))
        continue;
      operators.push_back(&op);
      classes.insert(&op);
      for (Value operand : op.getOperands())
        if (Operation *before = operand.getDefiningOp();
            before && classes.findValue(before) != classes.end())
          classes.unionSets(before, &op);
    }
    llvm::MapVector<Operation *, SmallVector<Operation *>> groups;
    for (Operation *op : operators)
      groups[classes.getLeaderValue(op)].push_back(op);
    bool changed = false;
    kept.clear();
    for (auto &[leader, members] : groups) {
      Group group(members);
      std::optional<Permutation> permutation = group.best();
      if (!permutation) {
        if (StringRef why = group.whyKept();
            !why.empty() && !permuted.contains(members.front()->getLoc()))
          kept.emplace_back(members.front()->getLoc(), why);
        continue;
      }
      ledger.applied(kWhat, members.front()->getLoc(),
                     "computed in another order of dimensions, with all that is connected to it",
                     "fewer transposes are left around them");
      permuted.insert(members.front()->getLoc());
      group.permute(*permutation);
      count(&getContext(), getArgument(), "permuted", members.size());
      changed = true;
    }
    return changed;
  }

  /// Whether there was something without effect around operators.
  bool cancel(Block &block, rt::Ledger &ledger) {
    int64_t viewed = cancelViews(block, ledger), products = cancelAroundProducts(block, ledger);
    if (viewed)
      count(&getContext(), getArgument(), "unviewed", viewed);
    if (products)
      count(&getContext(), getArgument(), "into-products", products);
    return viewed + products > 0;
  }

  /// A transposed matrix is read by columns: Gemm has attributes for that, and MatMul of matrices
  /// is a Gemm.
  void sinkIntoProduct(Operation *op, rt::Ledger &ledger) {
    if (!isa<onnx::GemmOp, onnx::MatMulOp>(op))
      return;
    for (unsigned i : {0u, 1u}) {
      Operation *transpose = op->getOperand(i).getDefiningOp();
      std::optional<Permutation> permutation = permutationOf(transpose);
      if (!permutation || permutation->size() != 2 || isIdentity(*permutation))
        continue;
      if (isa<onnx::MatMulOp>(op)) {
        Operation *gemm = asGemm(op);
        if (!gemm)
          return;
        op = gemm;
      }
      StringRef name = i == 0 ? "transA" : "transB";
      auto now = op->getAttrOfType<IntegerAttr>(name);
      Builder b(op->getContext());
      op->setAttr(name, b.getIntegerAttr(b.getIntegerType(64), !now || now.getInt() == 0));
      op->setOperand(i, transpose->getOperand(0));
      ledger.applied(kWhat, transpose->getLoc(), "not computed",
                     "the product that reads it goes through its operand's columns");
      if (transpose->use_empty())
        transpose->erase();
      count(&getContext(), getArgument(), "into-products");
    }
  }

  static Operation *asGemm(Operation *op) {
    for (Value operand : op->getOperands()) {
      RankedTensorType type = reliable(operand);
      if (!type || type.getRank() != 2 || !isa<FloatType>(type.getElementType()))
        return nullptr;
    }
    OpBuilder b(op);
    Value none = b.create<onnx::NoneOp>(op->getLoc(), b.getNoneType(), ValueRange());
    auto gemm = b.create<onnx::GemmOp>(op->getLoc(), op->getResultTypes(),
                                       ValueRange{op->getOperand(0), op->getOperand(1), none},
                                       op->getAttrs());
    op->replaceAllUsesWith(gemm);
    op->erase();
    return gemm;
  }

  SmallVector<std::pair<Location, StringRef>> kept; // in the last sweep, and why
  llvm::DenseSet<Attribute> permuted;               // where the first member of each is
};

} // namespace

} // namespace cameo
