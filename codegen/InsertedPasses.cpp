// STAGE:PASS ==> PASS nested in the operations around those that it runs on.
//
//   normalized:replace-divisions   ==>   func.func(replace-divisions)
//   tiled:count-loads{by=warp}     ==>   rt.variant(gpu.module(count-loads{by=warp}))
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Pipeline.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace cameo;

namespace {
/// Operations that passes run on, and the operations around them from one stage to another.
struct Place {
  StringRef op;
  Stage first, last;
  SmallVector<StringRef> around; // the outermost first, without the module
};
} // namespace

static SmallVector<Place> knownPlaces() {
  StringRef module = ModuleOp::getOperationName(), function = func::FuncOp::getOperationName(),
            variant = rt::VariantOp::getOperationName(),
            kernels = gpu::GPUModuleOp::getOperationName();
  return {{module, Stage::Imported, Stage::Host, {}},
          {function, Stage::Imported, Stage::Precision, {}},
          {variant, Stage::Dispatched, Stage::Host, {}},
          {function, Stage::Dispatched, Stage::Host, {variant}},
          {kernel::DispatchOp::getOperationName(),
           Stage::Dispatched,
           Stage::Scheduled,
           {variant, function}},
          {kernels, Stage::Tiled, Stage::Host, {variant}},
          {gpu::GPUFuncOp::getOperationName(), Stage::Tiled, Stage::Tiled, {variant, kernels}},
          {LLVM::LLVMFuncOp::getOperationName(), Stage::Device, Stage::Host, {variant, kernels}}};
}

/// Adds the passes of a text to a pass manager; an error has MLIR's words.
static llvm::Error parsePasses(StringRef text, OpPassManager &passes) {
  std::string said;
  llvm::raw_string_ostream stream(said);
  if (succeeded(parsePassPipeline(text, passes, stream)))
    return llvm::Error::success();
  // "MLIR Textual PassPipeline Parser:1:1: error: TEXT", then the pipeline and a mark below it.
  StringRef first = StringRef(said).split('\n').first;
  StringRef error = first.split("error: ").second;
  return llvm::createStringError(error.empty() ? first : error);
}

/// The operation that the passes of a text run on; empty if they run on any.
static llvm::Expected<StringRef> anchorOf(StringRef text) {
  OpPassManager any;
  if (llvm::Error error = parsePasses(text, any))
    return std::move(error);
  StringRef anchor;
  for (Pass &pass : any.getPasses()) {
    StringRef op = pass.getOpName().value_or("");
    if (!op.empty() && !anchor.empty() && op != anchor)
      return llvm::createStringError("its passes run on '" + anchor + "' and on '" + op +
                                     "': insert them one by one");
    if (!op.empty())
      anchor = op;
  }
  return anchor;
}

llvm::Expected<InsertedPass> cameo::parseInsertedPass(StringRef text) {
  auto [stageName, pass] = text.split(':');
  if (stageName.empty() || pass.empty())
    return llvm::createStringError("'" + text +
                                   "' is not of the form STAGE:PASS, as normalized:cse is");
  llvm::Expected<Stage> stage = findStage(stageName);
  if (!stage)
    return stage.takeError();
  StringRef name = pass.take_until([](char c) { return StringRef("{(,").contains(c); });
  if (!pass.drop_front(name.size()).starts_with("(") && !PassInfo::lookup(name) &&
      !PassPipelineInfo::lookup(name))
    return llvm::createStringError("no pass is called '" + name + "'");
  llvm::Expected<StringRef> anchor = anchorOf(pass);
  if (!anchor)
    return llvm::createStringError("'" + pass + "': " + llvm::toString(anchor.takeError()));
  InsertedPass result{*stage, text.str(), pass.str()};
  if (anchor->empty())
    return result;
  SmallVector<Place> places = knownPlaces();
  const Place *place = llvm::find_if(places, [&](const Place &known) {
    return known.op == *anchor && known.first <= *stage && *stage <= known.last;
  });
  if (place == places.end())
    return llvm::createStringError("pass '" + name + "' runs on '" + *anchor +
                                   "', of which a model has none at stage " + stageName);
  if (*anchor != ModuleOp::getOperationName()) {
    result.pipeline = anchor->str() + "(" + result.pipeline + ")";
    for (StringRef around : llvm::reverse(place->around))
      result.pipeline = around.str() + "(" + result.pipeline + ")";
  }
  return result;
}

std::string cameo::insertedUpTo(Stage stage, const PipelineOptions &options) {
  std::string list;
  for (const InsertedPass &inserted : options.insertedPasses)
    if (inserted.stage <= stage)
      list += (list.empty() ? "" : ",") + inserted.text;
  return list;
}
