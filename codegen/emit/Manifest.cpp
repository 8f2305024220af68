// Attributes of plans and kernels ==> JSON.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Manifest.h"

#include "codegen/NodeNames.h"
#include "dialects/onnx/Schema.h"
#include "passes/host/BufferPlanner.h"
#include "passes/host/WeightPool.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace cameo;
namespace json = llvm::json;

static json::Array tensors(func::FuncOp function, StringRef attribute) {
  json::Array list;
  auto entries = function->getAttrOfType<ArrayAttr>(attribute);
  for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>()) {
    auto dictionary = cast<DictionaryAttr>(entry);
    json::Array dims;
    for (Attribute dim : dictionary.getAs<ArrayAttr>("dims")) {
      if (auto size = dyn_cast<IntegerAttr>(dim))
        dims.push_back(size.getInt());
      else
        dims.push_back(json::fixUTF8(cast<StringAttr>(dim).getValue()));
    }
    auto kind = onnx::elementKind(dictionary.getAs<TypeAttr>("element").getValue());
    list.push_back(json::Object{
        {"name", json::fixUTF8(dictionary.getAs<StringAttr>("name").getValue())},
        {"type", kind ? onnx::elementName(*kind) : "?"},
        {"dims", std::move(dims)},
        {"on_host", dictionary.contains("host")},
    });
  }
  return list;
}

static Operation *kernelOf(rt::LaunchOp launch) {
  return SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr());
}

static std::string nodesOf(Operation *kernel) {
  auto nodes = kernel ? kernel->getAttrOfType<StringAttr>("kernel.nodes") : StringAttr();
  return nodes ? json::fixUTF8(nodes.getValue()) : "";
}

/// Of the launch itself: kernels serve several nodes.
static std::string nodesOf(rt::LaunchOp launch) {
  std::string nodes = nodeNames(launch.getLoc());
  return nodes.empty() ? nodesOf(kernelOf(launch)) : json::fixUTF8(nodes);
}

static std::string hex(uint64_t hash) { return llvm::formatv("{0:x-16}", hash); }

static StringRef kindName(CameoSectionKind kind) {
  switch (kind) {
  case CAMEO_SECTION_PTX:
    return "ptx";
  case CAMEO_SECTION_CUBIN:
    return "cubin";
  case CAMEO_SECTION_SIM_IMAGE:
    return "simulator image";
  default:
    return "";
  }
}

std::string cameo::makeManifest(ModuleOp module, ArrayRef<CodeVariant> variants,
                                ArrayRef<PayloadSection> sections, const ManifestInfo &info) {
  json::Array targets, entries, code;
  json::Object manifest{{"name", json::fixUTF8(info.modelName)},
                        {"compiler", "cameo " + info.compilerVersion},
                        {"precision", info.precision}};
  unsigned ptxVersion = 0;
  for (const CodeVariant &variant : variants) {
    targets.push_back(variant.target.target->name);
    if (variant.target.ptx || variant.target.cubin)
      ptxVersion = ptxVersion ? std::min(ptxVersion, variant.target.target->ptxVersion)
                              : variant.target.target->ptxVersion;
  }
  // PTX ISA, "Release Notes": PTX 7.x came with CUDA 11.x, 8.x with 12.x, and a driver takes the
  // PTX of its CUDA version and of those before.
  if (ptxVersion)
    manifest["driver_minimum"] =
        llvm::formatv("CUDA {0}.{1}", ptxVersion / 10 + 4, ptxVersion % 10).str();
  if (!variants.empty()) {
    for (auto function : rt::VariantOp(variants.front().op).getOps<func::FuncOp>()) {
      json::Array kernels;
      llvm::DenseSet<Operation *> seen;
      function.walk([&](rt::LaunchOp launch) {
        Operation *kernel = launch->hasAttr("kernel.fallback") ? nullptr : kernelOf(launch);
        if (kernel && seen.insert(kernel).second)
          kernels.push_back(json::Object{
              {"name", launch.getKernel().getLeafReference().getValue()},
              {"onnx_nodes", nodesOf(kernel)},
          });
      });
      entries.push_back(json::Object{{"name", function.getName()},
                                     {"inputs", tensors(function, kPlanInputsAttr)},
                                     {"outputs", tensors(function, kPlanOutputsAttr)},
                                     {"kernels", std::move(kernels)}});
    }
  }
  json::Array hashes;
  for (const PayloadSection &section : sections)
    if (StringRef kind = kindName(section.kind); !kind.empty())
      code.push_back(json::Object{
          {"kind", kind},
          {"target", llvm::formatv("sm_{0}{1}", section.arch & ~CAMEO_ARCH_A,
                                   section.arch & CAMEO_ARCH_A ? "a" : "")
                         .str()},
          {"bytes", static_cast<int64_t>(section.bytes.size())},
          {"variant", section.variant},
          {"checked", (section.flags & CAMEO_SIM_IMAGE_CHECKED) != 0},
          {"xxh3",
           hex(llvm::xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(section.bytes.data()),
                                          section.bytes.size())))},
      });
  manifest["targets"] = std::move(targets);
  manifest["entries"] = std::move(entries);
  manifest["code"] = std::move(code);
  manifest["weight_bytes"] = static_cast<int64_t>(weightSectionBytes(module));
  manifest["model_xxh3"] = hex(info.modelHash);
  return llvm::formatv("{0}", json::Value(std::move(manifest)));
}

/// Attributes that earlier stages leave on launches, by the report's names.
static void addAttributes(json::Object &object, Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName().strref();
    if (!name.consume_front("kernel.") || name == "nodes" || name == "block" || name == "no_sync")
      continue;
    if (auto number = dyn_cast<IntegerAttr>(attribute.getValue()))
      object[name] = number.getInt();
    else if (auto text = dyn_cast<StringAttr>(attribute.getValue()))
      object[name] = json::fixUTF8(text.getValue());
    else
      object[name] = json::fixUTF8([&] {
        std::string printed;
        llvm::raw_string_ostream(printed) << attribute.getValue();
        return printed;
      }());
  }
}

/// Bytes of a buffer where the plan states them as constants.
static std::optional<int64_t> bytesOf(Value buffer, func::FuncOp function) {
  auto tensorBytes = [&](StringRef attribute, uint64_t index) -> std::optional<int64_t> {
    auto dictionary = cast<DictionaryAttr>(function->getAttrOfType<ArrayAttr>(attribute)[index]);
    auto kind = onnx::elementKind(dictionary.getAs<TypeAttr>("element").getValue());
    int64_t bytes = kind ? onnx::elementBytes(*kind) : 0;
    for (Attribute dim : dictionary.getAs<ArrayAttr>("dims")) {
      auto size = dyn_cast<IntegerAttr>(dim);
      if (!size)
        return std::nullopt;
      bytes *= size.getInt();
    }
    return bytes;
  };
  if (auto view = buffer.getDefiningOp<rt::ArenaViewOp>())
    return getConstantIntValue(view.getBytes());
  if (auto part = buffer.getDefiningOp<rt::BufferPartOp>())
    return getConstantIntValue(part.getBytes());
  if (auto input = buffer.getDefiningOp<rt::InputOp>())
    return tensorBytes(kPlanInputsAttr, input.getIndex());
  if (auto output = buffer.getDefiningOp<rt::OutputOp>())
    return tensorBytes(kPlanOutputsAttr, output.getIndex());
  if (auto get = buffer.getDefiningOp<rt::GetConstantOp>()) {
    auto module = function->getParentOfType<ModuleOp>();
    auto constant = module.lookupSymbol<rt::ConstantOp>(get.getConstant());
    if (FailureOr<int64_t> bytes = weightBytes(constant); succeeded(bytes))
      return *bytes;
  }
  return std::nullopt;
}

/// Where in the arena a buffer begins, where the plan states that as a constant.
static std::optional<int64_t> arenaOffset(Value buffer) {
  if (auto view = buffer.getDefiningOp<rt::ArenaViewOp>())
    return getConstantIntValue(view.getOffset());
  auto part = buffer.getDefiningOp<rt::BufferPartOp>();
  if (!part)
    return std::nullopt;
  std::optional<int64_t> begin = arenaOffset(part.getBuffer());
  std::optional<int64_t> offset = getConstantIntValue(part.getOffset());
  return begin && offset ? std::optional(*begin + *offset) : std::nullopt;
}

/// What a launch moves at least, each of its buffers once, and where in the arena they are; only
/// where all of it is known.
static void addMemory(json::Object &object, rt::LaunchOp launch, func::FuncOp function) {
  int64_t total = 0;
  json::Array arena;
  llvm::DenseSet<Value> seen;
  for (Value operand : launch.getOperands_()) {
    if (!isa<rt::BufferType>(operand.getType()) || !seen.insert(operand).second)
      continue;
    std::optional<int64_t> bytes = bytesOf(operand, function);
    if (!bytes)
      return;
    total += *bytes;
    if (std::optional<int64_t> offset = arenaOffset(operand))
      arena.push_back(json::Object{{"offset", *offset}, {"bytes", *bytes}});
  }
  object["bytes_min"] = total;
  object["arena"] = std::move(arena);
}

/// `resources`: one object a kernel and cubin; `warnings`: what else ptxas said.
static void addAssembled(json::Object &report, ArrayRef<Assembled> assembled) {
  json::Array resources, warnings;
  for (const Assembled &cubin : assembled) {
    for (const KernelResources &kernel : cubin.kernels)
      resources.push_back(
          json::Object{{"target", cubin.target->name},
                       {"name", kernel.name},
                       {"registers", kernel.registers},
                       {"stack_bytes", kernel.stackBytes},
                       {"spill_bytes", kernel.spillStoreBytes + kernel.spillLoadBytes},
                       {"shared_bytes", kernel.sharedBytes},
                       {"constant_bytes", kernel.constantBytes},
                       {"barriers", kernel.barriers}});
    SmallVector<StringRef> lines;
    StringRef(cubin.warnings).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      warnings.push_back((cubin.target->name + ": " + line.trim()).str());
  }
  report["resources"] = std::move(resources);
  report["warnings"] = std::move(warnings);
}

std::string cameo::makeReport(ArrayRef<CodeVariant> variants, ArrayRef<Assembled> assembled) {
  json::Array kernels;
  json::Object memory, report;
  if (!variants.empty()) {
    rt::VariantOp variant = variants.front().op;
    report["target"] = variant.getTarget();
    for (auto function : variant.getOps<func::FuncOp>()) {
      function.walk([&](rt::LaunchOp launch) {
        if (launch->hasAttr("kernel.fallback"))
          return;
        Operation *kernel = kernelOf(launch);
        json::Object object{{"name", launch.getKernel().getLeafReference().getValue()},
                            {"onnx_nodes", nodesOf(launch)},
                            {"stream", 0}};
        if (kernel)
          addAttributes(object, kernel);
        addAttributes(object, launch);
        addMemory(object, launch, function);
        kernels.push_back(std::move(object));
      });
      if (auto attributes = function->getAttrOfType<DictionaryAttr>(kPlanMemoryAttr))
        for (NamedAttribute attribute : attributes)
          memory[attribute.getName().strref()] = cast<IntegerAttr>(attribute.getValue()).getInt();
    }
  }
  report["kernels"] = std::move(kernels);
  report["memory"] = std::move(memory);
  addAssembled(report, assembled);
  return llvm::formatv("{0:2}\n", json::Value(std::move(report)));
}
