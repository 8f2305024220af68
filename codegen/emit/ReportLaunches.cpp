// Kernels and memory of a variant's plan, for the report.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/NodeNames.h"
#include "codegen/emit/AssumedSizes.h"
#include "codegen/emit/LaunchTotals.h"
#include "codegen/emit/Report.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/onnx/Schema.h"
#include "dialects/rt/InPlace.h"
#include "passes/host/BufferPlanner.h"
#include "passes/host/WeightPool.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace cameo;
namespace json = llvm::json;

static std::string printed(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return json::fixUTF8(text);
}

template <typename Helper>
static void addNumber(json::Object &object, StringRef name, Operation *op) {
  if (IntegerAttr number = declaredAttr<Helper>(op))
    object[name] = number.getInt();
}

/// What earlier stages leave on a kernel, and on a launch.
static void addKernel(json::Object &object, Operation *kernel) {
  addNumber<kernel::KernelDialect::DynamicSharedAttrHelper>(object, "dynamic_shared", kernel);
  if (auto schedule = declaredAttr<kernel::KernelDialect::ScheduleAttrHelper>(kernel))
    object["schedule"] = printed(schedule);
}

/// Adds a launch's work and traffic: known, or by sizes that are assumed.
static void addWork(json::Object &object, json::Object &likely, rt::LaunchOp launch,
                    const AssumedSizes &sizes) {
  addNumber<kernel::KernelDialect::FlopsAttrHelper>(object, "flops", launch);
  addNumber<kernel::KernelDialect::BytesAttrHelper>(object, "bytes", launch);
  for (auto [name, value] :
       {std::pair("flops", launch.getFlops()), std::pair("bytes", launch.getBytes())})
    if (std::optional<double> number = value ? sizes.numberOf(value) : std::nullopt)
      likely[name] = int64_t(*number);
}

static bool isWritten(rt::LaunchOp launch, int64_t operand) {
  return llvm::is_contained(launch.getOutputs(), operand);
}

/// "1x64x56x56xf32" for each tensor that the launch reads, and for each that it writes.
static void addShapes(json::Object &object, rt::LaunchOp launch) {
  auto shapes = launch->getAttrOfType<ArrayAttr>(kLaunchShapesAttr);
  if (!shapes)
    return;
  json::Array inputs, outputs;
  size_t next = 0;
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
    if (!isa<rt::BufferType>(operand.getType()) || next == shapes.size())
      continue;
    if (auto shape = dyn_cast<StringAttr>(shapes[next++]))
      (isWritten(launch, i) ? outputs : inputs).push_back(json::fixUTF8(shape.getValue()));
  }
  if (StringRef precision = precisionOf(launch); !precision.empty())
    object["precision"] = precision;
  object["inputs"] = std::move(inputs);
  object["outputs"] = std::move(outputs);
}

/// The range of the arena that a buffer is, or is a part of; null where it is elsewhere.
static rt::ArenaViewOp arenaBehind(Value buffer) {
  while (auto part = buffer.getDefiningOp<rt::BufferPartOp>())
    buffer = part.getBuffer();
  return buffer.getDefiningOp<rt::ArenaViewOp>();
}

/// How a size is found that the plan states, or computes.
using SizeFunction = llvm::function_ref<std::optional<int64_t>(Value)>;

/// Bytes of an input or output; `sizeOf` finds those of its sizes that are open.
static std::optional<int64_t>
tensorBytes(func::FuncOp function, StringRef attribute, uint64_t index,
            llvm::function_ref<std::optional<int64_t>(size_t)> sizeOf) {
  auto dictionary = cast<DictionaryAttr>(function->getAttrOfType<ArrayAttr>(attribute)[index]);
  auto kind = onnx::elementKind(dictionary.getAs<TypeAttr>("element").getValue());
  int64_t bytes = kind ? onnx::elementBytes(*kind) : 0;
  for (auto [i, dim] : llvm::enumerate(dictionary.getAs<ArrayAttr>("dims"))) {
    auto known = dyn_cast<IntegerAttr>(dim);
    std::optional<int64_t> size = known ? known.getInt() : sizeOf(i);
    if (!size)
      return std::nullopt;
    bytes *= *size;
  }
  return bytes;
}

/// Bytes of a buffer. `openInput` is what sizes of inputs are taken for that only a run knows.
static std::optional<int64_t> bytesOf(Value buffer, func::FuncOp function, SizeFunction sizeOf,
                                      std::optional<int64_t> openInput) {
  if (auto view = buffer.getDefiningOp<rt::ArenaViewOp>())
    return sizeOf(view.getBytes());
  if (auto part = buffer.getDefiningOp<rt::BufferPartOp>())
    return sizeOf(part.getBytes());
  if (auto input = buffer.getDefiningOp<rt::InputOp>())
    return tensorBytes(function, kPlanInputsAttr, input.getIndex(),
                       [&](size_t) { return openInput; });
  if (auto output = buffer.getDefiningOp<rt::OutputOp>())
    return tensorBytes(
        function, kPlanOutputsAttr, output.getIndex(), [&](size_t i) -> std::optional<int64_t> {
          for (auto shape : function.getOps<rt::OutputShapeOp>())
            if (shape.getOutput() == output.getIndex() && i < shape.getSizes().size())
              return sizeOf(shape.getSizes()[i]);
          return std::nullopt;
        });
  if (buffer.getDefiningOp<rt::RandomStateOp>())
    return CAMEO_RANDOM_BYTES;
  if (auto get = buffer.getDefiningOp<rt::GetConstantOp>()) {
    auto module = function->getParentOfType<ModuleOp>();
    auto constant = module.lookupSymbol<rt::ConstantOp>(get.getConstant());
    if (FailureOr<int64_t> bytes = weightBytes(constant); succeeded(bytes))
      return *bytes;
  }
  return std::nullopt;
}

namespace {

/// What a plan does, in order, and from which step to which a range of the arena is in use.
class PlanSteps {
public:
  explicit PlanSteps(func::FuncOp function) : function(function), sizes(function) {
    function.walk([&](Operation *op) {
      if (!isa<rt::LaunchOp, rt::CopyOp, rt::WriteOp>(op))
        return;
      // The same step for sizes beyond 32 bits.
      if (!op->hasAttr(rt::kFallbackAttr))
        ++count;
      numbers[op] = count - 1;
      for (Value operand : op->getOperands())
        if (rt::ArenaViewOp view = arenaBehind(operand))
          use(view, count - 1);
    });
  }

  int64_t numberOf(Operation *op) const { return numbers.lookup(op); }
  int64_t size() const { return count; }

  struct Slot {
    std::optional<int64_t> offset, bytes; // where they are known, or can be stated
    int64_t first, last;
    Location loc;
    json::Object describe() const {
      auto value = [](std::optional<int64_t> number) {
        return number ? json::Value(*number) : json::Value(nullptr);
      };
      return json::Object{
          {"offset", value(offset)}, {"bytes", value(bytes)}, {"steps", json::Array{first, last}}};
    }
  };
  ArrayRef<Slot> slots() const { return list; }
  const Slot &slotOf(rt::ArenaViewOp view) const { return list[places.lookup(view)]; }

  func::FuncOp function;
  AssumedSizes sizes;

private:
  void use(rt::ArenaViewOp view, int64_t step) {
    auto [place, isNew] = places.try_emplace(view, list.size());
    if (isNew)
      list.push_back(
          {sizes.of(view.getOffset()), sizes.of(view.getBytes()), step, step, view.getLoc()});
    list[place->second].last = step;
  }

  int64_t count = 0;
  DenseMap<Operation *, int64_t> numbers;
  DenseMap<Operation *, size_t> places;
  std::vector<Slot> list;
};

} // namespace

/// What a launch moves at least, each of its buffers read once and written once, where all of them
/// are known; nothing where not.
static std::optional<int64_t> leastBytes(rt::LaunchOp launch, func::FuncOp function,
                                         SizeFunction sizeOf, std::optional<int64_t> openInput) {
  int64_t total = 0;
  llvm::DenseSet<Value> read, written;
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
    if (!isa<rt::BufferType>(operand.getType()) ||
        !(isWritten(launch, i) ? written : read).insert(operand).second)
      continue;
    std::optional<int64_t> bytes = bytesOf(operand, function, sizeOf, openInput);
    if (!bytes)
      return std::nullopt;
    total += *bytes;
  }
  return total;
}

/// Of its traffic and of where its buffers are in the arena.
static void addMemory(json::Object &object, json::Object &likely, rt::LaunchOp launch,
                      const PlanSteps &steps) {
  auto constant = [](Value value) { return getConstantIntValue(value); };
  auto assumed = [&](Value value) { return steps.sizes.of(value); };
  if (std::optional<int64_t> bytes = leastBytes(launch, steps.function, constant, std::nullopt))
    object["bytes_min"] = *bytes;
  else if (std::optional<int64_t> bytes =
               leastBytes(launch, steps.function, assumed, int64_t(kUnknownSize)))
    likely["bytes_min"] = *bytes;
  json::Array arena;
  llvm::DenseSet<Operation *> placed;
  for (Value operand : launch.getOperands_()) {
    if (!isa<rt::BufferType>(operand.getType()))
      continue;
    if (rt::ArenaViewOp view = arenaBehind(operand);
        view && placed.insert(view.getOperation()).second)
      arena.push_back(steps.slotOf(view).describe());
  }
  object["arena"] = std::move(arena);
}

/// How many blocks it has, where that is known or can be stated.
static void addBlocks(json::Object &object, rt::LaunchOp launch, const PlanSteps &steps) {
  int64_t blocks = 1;
  for (Value size : launch.getGrid()) {
    std::optional<int64_t> known = steps.sizes.of(size);
    if (!known)
      return;
    blocks *= *known;
  }
  object["blocks"] = blocks;
}

static void addEstimate(json::Object &object, rt::LaunchOp launch) {
  std::optional<rt::EstimateAttr> estimate = launch.getEstimate();
  if (!estimate)
    return;
  json::Object found{{"microseconds", double(estimate->getNanoseconds()) / 1000},
                     {"limit", rt::stringifyLimit(estimate->getLimit())}};
  if (estimate->getAssumed())
    found["sizes_assumed"] = true;
  object["estimate"] = std::move(found);
}

/// The loops and branches that a step is in, outer ones first.
static void addAround(json::Object &object, Operation *step) {
  SmallVector<json::Value> around;
  for (Operation *op = step->getParentOp(); isa<rt::RepeatOp, rt::BranchOp>(op);
       op = op->getParentOp())
    around.push_back(json::fixUTF8(nodeNames(op->getLoc())));
  if (!around.empty())
    object["in"] = json::Array(llvm::reverse(around));
}

json::Array cameo::waitsOf(rt::VariantOp variant) {
  json::Array waits;
  variant.walk([&](rt::FetchOp fetch) {
    json::Object object{{"value", json::fixUTF8(nodeNames(fetch.getLoc()))},
                        {"numbers", int64_t(fetch.getValues().size())}};
    addAround(object, fetch);
    waits.push_back(std::move(object));
  });
  return waits;
}

json::Array cameo::launchesOf(rt::VariantOp variant) {
  json::Array kernels;
  for (auto function : variant.getOps<func::FuncOp>()) {
    PlanSteps steps(function);
    function.walk([&](rt::LaunchOp launch) {
      if (launch->hasAttr(rt::kFallbackAttr))
        return;
      json::Object object{{"name", launch.getKernel().getLeafReference().getValue()},
                          {"onnx_nodes", json::fixUTF8(launchNodes(launch))},
                          {"stream", 0},
                          {"step", steps.numberOf(launch)}};
      addAround(object, launch);
      if (std::optional<SymbolRefAttr> parts = launch.getFinishes())
        object["finishes"] = parts->getLeafReference().getValue();
      if (Operation *kernel = kernelOf(launch))
        addKernel(object, kernel);
      json::Object likely;
      addWork(object, likely, launch, steps.sizes);
      addShapes(object, launch);
      addBlocks(object, launch, steps);
      addEstimate(object, launch);
      addMemory(object, likely, launch, steps);
      if (!likely.empty()) {
        likely["symbolic_sizes"] = int64_t(kUnknownSize);
        object["likely"] = std::move(likely);
      }
      kernels.push_back(std::move(object));
    });
  }
  return kernels;
}

json::Object cameo::memorySumsOf(rt::VariantOp variant) {
  json::Object memory;
  for (auto function : variant.getOps<func::FuncOp>()) {
    AssumedSizes sizes(function);
    for (auto arena : function.getOps<rt::ArenaSizeOp>()) {
      auto add = [&](StringRef name, Value value) {
        if (std::optional<int64_t> bytes = value ? sizes.of(value) : std::nullopt)
          memory[name] = *bytes;
      };
      add("arena_bytes", arena.getBytes());
      add("live_max_bytes", arena.getLive());
      add("tensor_sum_bytes", arena.getSum());
    }
    if (sizes.areAssumed() && !memory.empty())
      memory["symbolic_sizes"] = int64_t(kUnknownSize);
  }
  return memory;
}

json::Object cameo::memoryOf(rt::VariantOp variant) {
  json::Object memory = memorySumsOf(variant);
  json::Array slots, live;
  bool known = true; // all sizes
  for (auto function : variant.getOps<func::FuncOp>()) {
    PlanSteps steps(function);
    std::vector<int64_t> change(steps.size() + 1);
    for (const PlanSteps::Slot &slot : steps.slots()) {
      json::Object object = slot.describe();
      object["onnx_nodes"] = json::fixUTF8(nodeNames(slot.loc));
      slots.push_back(std::move(object));
      known &= slot.bytes.has_value();
      change[slot.first] += slot.bytes.value_or(0);
      change[slot.last + 1] -= slot.bytes.value_or(0);
    }
    int64_t bytes = 0;
    for (int64_t step = 0; step < steps.size(); ++step)
      live.push_back(bytes += change[step]);
  }
  memory["slots"] = std::move(slots);
  if (known)
    memory["live_bytes"] = std::move(live);
  return memory;
}
