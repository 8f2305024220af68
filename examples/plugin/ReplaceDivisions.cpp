// A pass outside of Cameo, on Cameo's onnx dialect: division by a power of two is multiplication
// by its reciprocal, to the last bit, as long as that is a normal number.
//
//   %1 = onnx.Div(%x, %four)   ==>   %1 = onnx.Mul(%x, %quarter)
//
// SPDX-License-Identifier: Apache-2.0
#include "dialects/onnx/Onnx.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;
using namespace cameo;

namespace {

/// The reciprocal of a single float of this type, if dividing by it and multiplying with that are
/// the same for every number.
std::optional<APFloat> exactReciprocal(Value divisor) {
  ElementsAttr value = onnx::constantValue(divisor);
  std::optional<double> number = onnx::constantScalar(divisor);
  if (!value || !number)
    return std::nullopt;
  auto type = dyn_cast<FloatType>(value.getElementType());
  if (!type)
    return std::nullopt;
  bool losesInfo;
  APFloat exact(*number), inverse(0.0);
  exact.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (!exact.getExactInverse(&inverse))
    return std::nullopt;
  return inverse;
}

struct ReplaceDivisions : PassWrapper<ReplaceDivisions, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReplaceDivisions)

  StringRef getArgument() const override { return "replace-divisions"; }
  StringRef getDescription() const override {
    return "replace divisions by powers of two by multiplications";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<onnx::OnnxDialect>();
  }

  void runOnOperation() override {
    SmallVector<onnx::DivOp> divisions;
    getOperation().walk([&](onnx::DivOp op) { divisions.push_back(op); });
    for (onnx::DivOp op : divisions)
      if (std::optional<APFloat> inverse = exactReciprocal(op->getOperand(1)))
        replace(op, *inverse);
  }

  static void replace(onnx::DivOp op, const APFloat &inverse) {
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(onnx::constantValue(op->getOperand(1)).getType());
    Value factor =
        b.create<onnx::ConstantOp>(op->getOperand(1).getLoc(), type, ValueRange(),
                                   b.getNamedAttr("value", DenseElementsAttr::get(type, inverse)));
    // Shapes that were inferred, and the node's name, stay as they are.
    auto product = b.create<onnx::MulOp>(op.getLoc(), op->getResultTypes(),
                                         ValueRange{op->getOperand(0), factor}, op->getAttrs());
    op->replaceAllUsesWith(product);
    op->erase();
  }
};

} // namespace

/// The entry point that --load-pass-plugin calls.
extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ReplaceDivisions", "1",
          [] { PassRegistration<ReplaceDivisions>(); }};
}
