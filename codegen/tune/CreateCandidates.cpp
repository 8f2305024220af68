// Candidates of dispatches ==> a variant for each, which computes nothing but the dispatch.
//
//   rt.variant @sm_80 { func.func @main { ... kernel.dispatch ... {kernel.candidates = [#a, #b]} } }
//     ==>
//   rt.variant @d0_0 { func.func @main(%x0, ...) { kernel.dispatch schedule #a } }
//   rt.variant @d0_1 { func.func @main(%x0, ...) { kernel.dispatch schedule #b } }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/NodeNames.h"
#include "codegen/Passes.h"
#include "codegen/schedule/ScheduleFile.h"
#include "codegen/tune/CandidateVariant.h"
#include "codegen/tune/Candidates.h"
#include "codegen/tune/Trial.h"
#include "dialects/onnx/Constants.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Layout.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_CREATECANDIDATES
#include "codegen/Passes.h.inc"

namespace {

/// Equal dispatches of a variant.
struct Group {
  kernel::DispatchOp first;
  int64_t uses = 0;
  llvm::SetVector<StringRef> nodes;
};

/// Whether its grid and its extents are numbers.
bool hasKnownSizes(kernel::DispatchOp op) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isKnown) &&
         llvm::all_of(op.getScalars(), [](Value scalar) {
           return scalar.getDefiningOp<arith::ConstantOp>() != nullptr;
         });
}

struct CreateCandidates : impl::CreateCandidatesBase<CreateCandidates> {
  void runOnOperation() override {
    for (auto variant : llvm::to_vector(getOperation().getOps<rt::VariantOp>()))
      create(variant);
    if (dispatches == 0) {
      getOperation().emitError(
          "there is nothing to measure: the model has no kernels, or sizes of all of "
          "them are known only at run time; --shapes fixes sizes");
      return signalPassFailure();
    }
    for (auto constant : llvm::to_vector(getOperation().getOps<rt::ConstantOp>()))
      if (!placeholders.contains(constant))
        constant.erase();
  }

private:
  void create(rt::VariantOp variant) {
    DispatchHasher hasher;
    llvm::MapVector<DispatchKey, Group> groups;
    variant.walk([&](kernel::DispatchOp op) {
      Group &group = groups[scheduleKey(op, hasher)];
      if (group.uses++ == 0)
        group.first = op;
      collectNodeNames(op.getLoc(), group.nodes);
    });
    for (auto &[key, group] : groups) {
      auto list = group.first->getAttrOfType<ArrayAttr>(kCandidatesAttr);
      if (!list)
        continue;
      if (!hasKnownSizes(group.first)) {
        group.first.emitWarning("its sizes are known only at run time, so that its schedules are "
                                "not measured; --shapes fixes sizes");
        continue;
      }
      for (auto [number, each] : llvm::enumerate(list))
        create(variant, key, group, *candidateOf(each), number);
      count(&getContext(), getArgument(), "candidates", list.size());
      ++dispatches;
    }
    variant.erase();
  }

  void create(rt::VariantOp variant, DispatchKey key, Group &group, const NotedCandidate &candidate,
              size_t number) {
    OpBuilder b(variant);
    kernel::DispatchOp op = group.first;
    Location loc = op.getLoc();
    auto own = b.create<rt::VariantOp>(loc, llvm::formatv("d{0}_{1}", dispatches, number).str(),
                                       variant.getTarget());
    own->setAttr(kCandidateVariantAttr,
                 attributeOf({candidate, textOf(key), group.uses,
                              SmallVector<StringRef>(group.nodes.begin(), group.nodes.end())}));
    b.setInsertionPointToStart(&own.getBody().emplaceBlock());

    SmallVector<Type> types;
    SmallVector<unsigned> given; // positions of inputs that are arguments
    for (auto [position, input] : llvm::enumerate(op.getInputs()))
      if (!rt::constantOf(input)) {
        types.push_back(input.getType());
        given.push_back(position);
      }
    auto function =
        b.create<func::FuncOp>(loc, "main", b.getFunctionType(types, op.getResultTypes()));
    for (auto [argument, position] : llvm::enumerate(given))
      function.setArgAttr(argument, onnx::kNameAttr, inputName(b, position));
    Block *entry = function.addEntryBlock();
    b.setInsertionPointToStart(entry);

    IRMapping mapping;
    auto arguments = entry->getArguments().begin();
    SmallVector<Value> inputs, inits;
    for (Value input : op.getInputs())
      if (rt::GetConstantOp constant = rt::constantOf(input))
        inputs.push_back(
            b.create<rt::GetConstantOp>(input.getLoc(), input.getType(), constant.getConstant()));
      else
        inputs.push_back(*arguments++);
    for (Value scalar : op.getScalars())
      if (!mapping.contains(scalar))
        b.clone(*scalar.getDefiningOp(), mapping);
    for (Value init : op.getInits())
      inits.push_back(
          b.create<tensor::EmptyOp>(loc, cast<RankedTensorType>(init.getType()).getShape(),
                                    cast<RankedTensorType>(init.getType()).getElementType()));
    auto copy = cast<kernel::DispatchOp>(b.clone(*op, mapping));
    copy.getInputsMutable().assign(inputs);
    copy.getInitsMutable().assign(inits);
    copy->removeAttr(kCandidatesAttr);
    copy.setScheduleAttr(candidate.schedule);
    readAsPacked(copy, candidate.packing, candidate.rounding);
    if (candidate.packing)
      copy->setAttr(kPackedAttr, candidate.packing);
    for (auto [position, input] : llvm::enumerate(copy.getInputs()))
      if (auto get = input.getDefiningOp<rt::GetConstantOp>())
        get.setConstantAttr(FlatSymbolRefAttr::get(placeholder(get, position)));
    b.setInsertionPointToEnd(entry);
    b.create<func::ReturnOp>(loc, copy.getResults());
    for (auto get : llvm::to_vector(function.getOps<rt::GetConstantOp>()))
      if (get->use_empty())
        get.erase();
  }

  static StringAttr inputName(OpBuilder &b, unsigned position) {
    return b.getStringAttr("x" + Twine(position));
  }

  /// A constant of that type, without data, for an input of dispatches.
  StringAttr placeholder(rt::GetConstantOp get, unsigned position) {
    auto type = cast<RankedTensorType>(get.getType());
    StringAttr &name = names[{type, position}];
    if (name)
      return name;
    OpBuilder b = OpBuilder::atBlockBegin(getOperation().getBody());
    std::vector<char> zero(onnx::elementBytes(*onnx::elementKind(type.getElementType())), 0);
    ElementsAttr value = onnx::makeSplat(type, zero);
    if (!value)
      value = onnx::makeConstant(type, "zeros",
                                 std::vector<char>(zero.size() * size_t(type.getNumElements()), 0));
    auto constant = b.create<rt::ConstantOp>(
        get.getLoc(), llvm::formatv("placeholder{0}", names.size()).str(), value, IntegerAttr());
    constant->setAttr(onnx::kNameAttr, inputName(b, position));
    placeholders.insert(constant);
    return name = constant.getSymNameAttr();
  }

  int64_t dispatches = 0;
  llvm::DenseMap<std::pair<Type, unsigned>, StringAttr> names;
  llvm::DenseSet<Operation *> placeholders;
};

} // namespace

} // namespace cameo
