// What an artefact says of itself ==> JSON.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Manifest.h"

#include "codegen/NodeNames.h"
#include "codegen/PieceHash.h"
#include "codegen/emit/LaunchTotals.h"
#include "dialects/onnx/Schema.h"
#include "dialects/rt/InPlace.h"
#include "passes/host/BufferPlanner.h"
#include "passes/host/WeightPool.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/xxhash.h"

#include <tuple>

using namespace mlir;
using namespace cameo;
namespace json = llvm::json;

/// Names the output that becomes an input, and says whether both are in one memory.
static void describeState(func::FuncOp function, DictionaryAttr input, json::Object &object) {
  auto state = input.getAs<IntegerAttr>("state");
  if (!state)
    return;
  auto outputs = function->getAttrOfType<ArrayAttr>(kPlanOutputsAttr);
  auto output = cast<DictionaryAttr>(outputs[state.getInt()]);
  object["state"] = json::fixUTF8(output.getAs<StringAttr>("name").getValue());
  object["in_place"] = input.contains("in_place");
  if (auto grows = input.getAs<IntegerAttr>("grows"))
    object["grows"] = grows.getInt();
}

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
    json::Object object{
        {"name", json::fixUTF8(dictionary.getAs<StringAttr>("name").getValue())},
        {"type", kind ? onnx::elementName(*kind) : "?"},
        {"dims", std::move(dims)},
        {"on_host", dictionary.contains("host")},
    };
    describeState(function, dictionary, object);
    list.push_back(std::move(object));
  }
  return list;
}

/// Of each kernel, those for sizes beyond 32 bits included.
static json::Object kernelPrecisions(rt::VariantOp variant) {
  json::Object precisions;
  for (auto function : variant.getOps<func::FuncOp>())
    function.walk([&](rt::LaunchOp launch) {
      if (StringRef precision = precisionOf(launch); !precision.empty())
        precisions[json::fixUTF8(launch.getKernel().getLeafReference().getValue())] = precision;
    });
  return precisions;
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

/// The first section and those behind it that are code of the same program.
static ArrayRef<PayloadSection> piecesFrom(ArrayRef<PayloadSection> sections) {
  auto program = [](const PayloadSection &section) {
    return std::tuple(section.kind, section.variant, section.arch, section.flags);
  };
  return sections.take_while(
      [&](const PayloadSection &section) { return program(section) == program(sections.front()); });
}

/// What is in several pieces has the hash of their hashes.
static json::Object describeCode(StringRef kind, ArrayRef<PayloadSection> pieces) {
  const PayloadSection &first = pieces.front();
  int64_t bytes = 0;
  PieceHash hashes;
  for (const PayloadSection &piece : pieces) {
    bytes += piece.bytes.size();
    hashes.add(StringRef(piece.bytes.data(), piece.bytes.size()));
  }
  uint64_t hash = pieces.size() > 1
                      ? hashes.hash()
                      : llvm::xxh3_64bits(StringRef(first.bytes.data(), first.bytes.size()));
  return json::Object{
      {"kind", kind},
      {"target",
       llvm::formatv("sm_{0}{1}", first.arch & ~CAMEO_ARCH_A, first.arch & CAMEO_ARCH_A ? "a" : "")
           .str()},
      {"bytes", bytes},
      {"pieces", static_cast<int64_t>(pieces.size())},
      {"variant", first.variant},
      {"checked", (first.flags & CAMEO_SIM_IMAGE_CHECKED) != 0},
      {"xxh3", hex(hash)},
  };
}

json::Object cameo::fixedInputs(ModuleOp module) {
  json::Object object;
  if (auto fixed = module->getAttrOfType<DictionaryAttr>(onnx::kFixedAttr))
    for (NamedAttribute input : fixed)
      object[json::fixUTF8(input.getName())] =
          json::fixUTF8(cast<StringAttr>(input.getValue()).getValue());
  return object;
}

std::string cameo::makeManifest(ModuleOp module, ArrayRef<CodeVariant> variants,
                                ArrayRef<PayloadSection> sections, const ManifestInfo &info) {
  json::Array targets, totals, entries, code;
  json::Object manifest{{"name", json::fixUTF8(info.modelName)},
                        {"compiler", "cameo " + info.compilerVersion},
                        {"precision", info.precision},
                        {"least_precision", info.leastPrecision}};
  unsigned cudaVersion = 0;
  for (const CodeVariant &variant : variants) {
    targets.push_back(variant.target.target->name);
    json::Object each = totalsJson(totalsOf(variant.op));
    each["precision_of"] = kernelPrecisions(variant.op);
    totals.push_back(std::move(each));
    if (nvptxBackend.isWanted(variant.target))
      cudaVersion = cudaVersion ? std::min(cudaVersion, variant.target.target->cudaVersion())
                                : variant.target.target->cudaVersion();
  }
  if (cudaVersion)
    manifest["driver_minimum"] =
        llvm::formatv("CUDA {0}.{1}", cudaVersion / 10, cudaVersion % 10).str();
  if (!variants.empty()) {
    for (auto function : rt::VariantOp(variants.front().op).getOps<func::FuncOp>()) {
      json::Array kernels;
      llvm::DenseSet<Operation *> seen;
      function.walk([&](rt::LaunchOp launch) {
        Operation *kernel = launch->hasAttr(rt::kFallbackAttr) ? nullptr : kernelOf(launch);
        if (kernel && seen.insert(kernel).second)
          kernels.push_back(json::Object{
              {"name", launch.getKernel().getLeafReference().getValue()},
              {"onnx_nodes", json::fixUTF8(kernelNodes(kernel))},
          });
      });
      json::Object entry{{"name", function.getName()},
                         {"inputs", tensors(function, kPlanInputsAttr)},
                         {"outputs", tensors(function, kPlanOutputsAttr)},
                         {"kernels", std::move(kernels)}};
      if (function->hasAttr(kPlanTapsAttr))
        entry["taps"] = tensors(function, kPlanTapsAttr);
      entries.push_back(std::move(entry));
    }
  }
  for (size_t next = 0; next < sections.size();) {
    ArrayRef<PayloadSection> pieces = piecesFrom(sections.drop_front(next));
    if (StringRef kind = kindName(pieces.front().kind); !kind.empty())
      code.push_back(describeCode(kind, pieces));
    next += pieces.size();
  }
  if (json::Object fixed = fixedInputs(module); !fixed.empty())
    manifest["fixed_inputs"] = std::move(fixed);
  manifest["targets"] = std::move(targets);
  manifest["variants"] = std::move(totals);
  manifest["entries"] = std::move(entries);
  manifest["code"] = std::move(code);
  manifest["weight_bytes"] = static_cast<int64_t>(weightSectionBytes(module));
  manifest["model_xxh3"] = hex(info.modelHash);
  return llvm::formatv("{0}", json::Value(std::move(manifest)));
}
