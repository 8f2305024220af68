// Passes that cameoc loads, for tests of --insert-pass.
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;
using namespace cameo;

namespace {

/// Relu(x) ==> Mul(Relu(x), by), called "scaled".
struct ScaleRelus : PassWrapper<ScaleRelus, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScaleRelus)

  ScaleRelus() = default;
  ScaleRelus(const ScaleRelus &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "test-scale-relus"; }
  StringRef getDescription() const override { return "multiply what each Relu gives"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<onnx::OnnxDialect>();
  }

  void runOnOperation() override {
    SmallVector<onnx::ReluOp> relus;
    getOperation().walk([&](onnx::ReluOp op) { relus.push_back(op); });
    for (onnx::ReluOp op : relus) {
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      Location loc = NameLoc::get(b.getStringAttr("scaled"));
      auto type = RankedTensorType::get({}, b.getF32Type());
      Value factor = b.create<onnx::ConstantOp>(
          loc, type, ValueRange(),
          b.getNamedAttr("value", DenseElementsAttr::get(type, APFloat(float(by)))));
      Value result = op->getResult(0);
      auto scaled =
          b.create<onnx::MulOp>(loc, result.getType(), ValueRange{result, factor}, op->getAttrs());
      result.replaceAllUsesExcept(scaled, scaled);
    }
  }

  Option<unsigned> by{*this, "by", llvm::cl::desc("the factor"), llvm::cl::init(2)};
};

struct Break : PassWrapper<Break, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Break)

  Break() = default;
  Break(const Break &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "test-break"; }
  StringRef getDescription() const override { return "go wrong in one of several ways"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (how == "fail")
      signalPassFailure();
    else if (how == "invalid") // a function of types that it does not have
      function.setType(FunctionType::get(&getContext(), {}, {}));
    else if (how == "stage") // early stages are in the onnx dialect
      OpBuilder::atBlockBegin(&function.front())
          .create<arith::ConstantOp>(function.getLoc(), BoolAttr::get(&getContext(), true));
    else
      abort();
  }

  Option<std::string> how{*this, "how", llvm::cl::desc("fail, invalid, stage; else: crash")};
};

/// Says what it runs on.
struct Visit : PassWrapper<Visit, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Visit)

  StringRef getArgument() const override { return "test-visit"; }
  StringRef getDescription() const override { return "say which kernels there are"; }
  void runOnOperation() override {
    emitRemark(UnknownLoc::get(&getContext())) << "visits " << getOperation().getName();
    markAllAnalysesPreserved();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "CameoTest", "1", [] {
            PassRegistration<ScaleRelus>();
            PassRegistration<Break>();
            PassRegistration<Visit>();
            registerPass([] { return createLowerAffinePass(); }); // of MLIR, and not in cameoc
          }};
}
