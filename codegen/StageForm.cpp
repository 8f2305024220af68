// A stage is recognized by the operations that only come with it, or are gone by it.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/StageForm.h"

#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Onnx.h"
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace cameo;

namespace {
struct Signs {
  bool operators = false, variants = false, planned = false;
  bool scheduled = false, unscheduled = false; // dispatches
  bool tiledKernels = false, deviceKernels = false;
};
} // namespace

static Signs signsOf(ModuleOp module) {
  Signs signs;
  module.walk([&](Operation *op) {
    signs.operators |= isa<onnx::OnnxDialect>(op->getDialect());
    signs.variants |= isa<rt::VariantOp>(op);
    signs.planned |= isa<rt::ArenaSizeOp>(op);
    signs.tiledKernels |= isa<gpu::GPUFuncOp>(op);
    signs.deviceKernels |= isa<LLVM::LLVMFuncOp>(op);
    if (auto dispatch = dyn_cast<kernel::DispatchOp>(op))
      (dispatch.getSchedule() ? signs.scheduled : signs.unscheduled) = true;
  });
  return signs;
}

std::optional<std::pair<Stage, Stage>> cameo::stageForm(ModuleOp module) {
  Signs signs = signsOf(module);
  auto range = [](Stage first, Stage last) { return std::pair(first, last); };
  if (signs.planned)
    return range(Stage::Host, Stage::Host);
  if (signs.tiledKernels) // which may have functions of LLVM beside them
    return range(Stage::Tiled, Stage::Tiled);
  if (signs.deviceKernels)
    return range(Stage::Device, Stage::Device);
  // Some schedules can have been given by hand.
  if (signs.variants && (signs.scheduled || signs.unscheduled))
    return range(Stage::Dispatched, signs.unscheduled ? Stage::Dispatched : Stage::Scheduled);
  if (signs.variants) // a model without device work
    return range(Stage::Dispatched, Stage::Device);
  if (signs.operators || llvm::hasSingleElement(module.getOps<func::FuncOp>()))
    return range(Stage::Imported, Stage::Precision);
  return std::nullopt;
}

llvm::Error cameo::checkStageForm(ModuleOp module, Stage stage, StringRef file) {
  std::optional<std::pair<Stage, Stage>> form = stageForm(module);
  if (form && form->first <= stage && stage <= form->second)
    return llvm::Error::success();
  std::string text = "'" + file.str() + "' is not at stage " + stageName(stage).str() + ": it ";
  if (!form)
    return llvm::createStringError(text + "is not a model");
  text += "looks like " + stageName(form->first).str();
  if (form->first != form->second)
    text += " to " + stageName(form->second).str();
  return llvm::createStringError(text);
}
