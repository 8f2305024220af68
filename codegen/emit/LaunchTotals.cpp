// Counting launches and adding up their estimates.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/LaunchTotals.h"

#include "codegen/NodeNames.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/kernel/form/UnknownSizes.h"
#include "dialects/rt/InPlace.h"
#include "passes/host/BufferPlanner.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace cameo;
namespace json = llvm::json;

StringRef cameo::precisionOf(rt::LaunchOp launch) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> types[] = {
      {"i8", "int8"},  {"ui8", "int8"}, {"bf16", "bf16"},
      {"f16", "fp16"}, {"f32", "fp32"}, {"f64", "fp64"}};
  auto shapes = launch->getAttrOfType<ArrayAttr>(kLaunchShapesAttr);
  for (auto [type, name] : types)
    for (Attribute shape : shapes ? shapes.getValue() : ArrayRef<Attribute>())
      if (auto text = dyn_cast<StringAttr>(shape);
          text && (text.getValue() == type || text.getValue().rsplit('x').second == type))
        return name;
  return {};
}

bool cameo::isOnTensorCores(rt::LaunchOp launch) {
  Operation *kernel = kernelOf(launch);
  auto schedule = kernel ? kernel->getAttrOfType<kernel::ScheduleAttr>("kernel.schedule") : nullptr;
  return schedule && schedule.getFamily() == "mma";
}

namespace {

/// Adds up estimates: a loop's times the trips that it is known to make, or as many as a size is likely to be where a
/// run says how many; once where the device decides after each; and the longer one of two branches.
class RunTime {
public:
  int64_t of(Block &block);
  bool isKnown = true, isAssumed = false;
};

} // namespace

int64_t RunTime::of(Block &block) {
  int64_t nanoseconds = 0;
  for (Operation &op : block) {
    if (auto branch = dyn_cast<rt::BranchOp>(op)) {
      int64_t taken = of(branch.getTaken().front()), other = of(branch.getOther().front());
      nanoseconds += std::max(taken, other);
      isAssumed |= taken != other;
    } else if (auto repeat = dyn_cast<rt::RepeatOp>(op)) {
      std::optional<int64_t> trips =
          repeat.getCount() ? getConstantIntValue(repeat.getCount()) : std::nullopt;
      bool isCounted = repeat.getCount() && repeat.getUnconditional() && !repeat.getCondition();
      bool isCertain = trips && isCounted;
      int64_t each = of(repeat.getBody().front());
      nanoseconds += each * (isCertain ? *trips : isCounted ? int64_t(kUnknownSize) : 1);
      isAssumed |= !isCertain && each;
    } else if (auto launch = dyn_cast<rt::LaunchOp>(op);
               launch && !launch->hasAttr(rt::kFallbackAttr)) {
      rt::EstimateAttr estimate = launch.getEstimateAttr();
      isKnown &= estimate != nullptr;
      nanoseconds += estimate ? estimate.getNanoseconds() : 0;
      isAssumed |= estimate && estimate.getAssumed();
    }
  }
  return nanoseconds;
}

LaunchTotals cameo::totalsOf(rt::VariantOp variant) {
  LaunchTotals totals;
  totals.target = variant.getTarget().spelling();
  RunTime time;
  int64_t nanoseconds = 0;
  variant.walk([&](rt::FetchOp fetch) {
    ++totals.waits;
    totals.repeatedWaits += bool(fetch->getParentOfType<rt::RepeatOp>());
  });
  for (auto function : variant.getOps<func::FuncOp>()) {
    nanoseconds += time.of(function.getBody().front());
    function.walk([&](rt::LaunchOp launch) {
      if (launch->hasAttr(rt::kFallbackAttr))
        return;
      ++totals.launches;
      totals.repeated += bool(launch->getParentOfType<rt::RepeatOp>());
      totals.chosen += bool(launch->getParentOfType<rt::BranchOp>());
      totals.matrixLaunches += isOnTensorCores(launch);
      if (StringRef precision = precisionOf(launch); !precision.empty())
        ++totals.byPrecision[precision.str()];
    });
  }
  if (time.isKnown)
    totals.estimate = {variant.getTarget().getBoard().str(), double(nanoseconds) / 1000,
                       time.isAssumed};
  return totals;
}

json::Object cameo::estimateJson(const TotalEstimate &estimate) {
  json::Object object{{"board", estimate.board}, {"microseconds", estimate.microseconds}};
  if (estimate.isAssumed)
    object["sizes_assumed"] = true;
  return object;
}

json::Object cameo::totalsJson(const LaunchTotals &totals) {
  json::Object kernels;
  for (const auto &[precision, count] : totals.byPrecision)
    kernels[precision] = count;
  json::Object object{{"target", totals.target},
                      {"launches", totals.launches},
                      {"kernels", std::move(kernels)},
                      {"tensor_core_kernels", totals.matrixLaunches}};
  if (totals.repeated)
    object["launches_in_loops"] = totals.repeated;
  if (totals.chosen)
    object["launches_in_branches"] = totals.chosen;
  if (totals.waits)
    object["waits"] = totals.waits;
  if (totals.repeatedWaits)
    object["waits_in_loops"] = totals.repeatedWaits;
  if (totals.estimate)
    object["estimate"] = estimateJson(*totals.estimate);
  return object;
}

static LaunchTotals readVariant(const json::Object &object) {
  LaunchTotals totals;
  totals.target = object.getString("target").value_or("").str();
  totals.launches = object.getInteger("launches").value_or(0);
  totals.matrixLaunches = object.getInteger("tensor_core_kernels").value_or(0);
  totals.repeated = object.getInteger("launches_in_loops").value_or(0);
  totals.chosen = object.getInteger("launches_in_branches").value_or(0);
  totals.waits = object.getInteger("waits").value_or(0);
  totals.repeatedWaits = object.getInteger("waits_in_loops").value_or(0);
  if (const json::Object *kernels = object.getObject("kernels"))
    for (const auto &[precision, count] : *kernels)
      totals.byPrecision[precision.str()] = count.getAsInteger().value_or(0);
  if (const json::Object *estimate = object.getObject("estimate"))
    totals.estimate = {estimate->getString("board").value_or("").str(),
                       estimate->getNumber("microseconds").value_or(0),
                       estimate->getBoolean("sizes_assumed").value_or(false)};
  return totals;
}

std::vector<LaunchTotals> cameo::readTotals(StringRef manifest) {
  std::vector<LaunchTotals> list;
  llvm::Expected<json::Value> read = json::parse(manifest);
  if (!read) {
    llvm::consumeError(read.takeError()); // whoever loads the artefact says so
    return list;
  }
  const json::Object *object = read->getAsObject();
  if (const json::Array *variants = object ? object->getArray("variants") : nullptr)
    for (const json::Value &variant : *variants)
      if (const json::Object *each = variant.getAsObject())
        list.push_back(readVariant(*each));
  return list;
}
