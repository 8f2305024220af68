// Constants of candidates ==> inputs, whose numbers whoever measures them makes up.
//
//   func.func @main(%x0: ...) { %w = rt.get_constant @placeholder0 ... }
//     ==>
//   func.func @main(%x0: ..., %x1: ...) { ... }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/tune/CandidateVariant.h"
#include "dialects/onnx/Onnx.h"
#include "passes/Statistics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace cameo {

#define GEN_PASS_DEF_REPLACEPLACEHOLDERS
#include "codegen/Passes.h.inc"

namespace {

struct ReplacePlaceholders : impl::ReplacePlaceholdersBase<ReplacePlaceholders> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto variant : getOperation().getOps<rt::VariantOp>())
      if (variant->hasAttr(kCandidateVariantAttr))
        for (auto function : variant.getOps<func::FuncOp>())
          passAll(function, symbols);
    llvm::DenseSet<StringAttr> used;
    getOperation().walk(
        [&](rt::GetConstantOp get) { used.insert(get.getConstantAttr().getAttr()); });
    for (auto constant : llvm::to_vector(getOperation().getOps<rt::ConstantOp>()))
      if (!used.contains(constant.getSymNameAttr()))
        constant.erase();
  }

private:
  void passAll(func::FuncOp function, SymbolTable &symbols) {
    llvm::DenseMap<Attribute, Value> passed;
    for (auto get : llvm::to_vector(function.getOps<rt::GetConstantOp>())) {
      Value &argument = passed[get.getConstantAttr()];
      if (!argument) {
        auto constant = symbols.lookup<rt::ConstantOp>(get.getConstant());
        Builder b(&getContext());
        unsigned number = function.getNumArguments();
        function.insertArgument(number, get.getType(),
                                b.getDictionaryAttr(b.getNamedAttr(
                                    onnx::kNameAttr, constant->getAttr(onnx::kNameAttr))),
                                get.getLoc());
        argument = function.getArgument(number);
        count(&getContext(), getArgument(), "passed");
      }
      get.replaceAllUsesWith(argument);
      get.erase();
    }
  }
};

} // namespace

} // namespace cameo
