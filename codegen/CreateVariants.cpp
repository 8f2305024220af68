// func.func @main ==> rt.variant @sm_80 { func.func @main }, rt.variant @sm_90 { ... }
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Passes.h"
#include "codegen/target/Target.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Ledger.h"
#include "passes/Statistics.h"

namespace cameo {
#define GEN_PASS_DEF_CREATEVARIANTS
#include "codegen/Passes.h.inc"
} // namespace cameo

using namespace mlir;
using namespace cameo;

namespace {
struct CreateVariants : cameo::impl::CreateVariantsBase<CreateVariants> {
  using CreateVariantsBase::CreateVariantsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    if (functions.empty())
      return;
    for (func::FuncOp function : functions)
      if (failed(verifyLowered(function)))
        return signalPassFailure();
    // Commas end an option in a textual pipeline.
    std::string list = targets;
    std::replace(list.begin(), list.end(), ';', ',');
    llvm::Expected<SmallVector<TargetVariant>> variants = parseTargetSpec(list);
    if (!variants) {
      emitError(module.getLoc()) << llvm::toString(variants.takeError());
      return signalPassFailure();
    }
    // What was decided so far was decided for all variants.
    for (func::FuncOp function : functions)
      rt::moveLedger(function, module);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    for (const TargetVariant &variant : *variants) {
      if (module.lookupSymbol(variant.target->name)) {
        emitError(module.getLoc()) << "the symbol @" << variant.target->name << " is taken";
        return signalPassFailure();
      }
      auto op = builder.create<rt::VariantOp>(module.getLoc(), variant.target->name,
                                              variant.target->attribute(&getContext()));
      Block &body = op.getBody().emplaceBlock();
      for (func::FuncOp function : functions)
        body.push_back(function->clone());
      count(&getContext(), getArgument(), "variants");
    }
    for (func::FuncOp function : functions)
      function.erase();
  }

  /// What becomes of an operator is decided once, not once an architecture.
  static LogicalResult verifyLowered(func::FuncOp function) {
    WalkResult found =
        function.walk(
            [](Operation *op) {
              if (!isa<onnx::OnnxDialect>(op->getDialect()))
                return WalkResult::advance();
              emitError(op->getLoc())
                  << "'" << op->getName()
                  << "' is not a dispatch yet; operators are lowered before variants are "
                     "created";
              return WalkResult::interrupt();
            });
    return failure(found.wasInterrupted());
  }
};
} // namespace
