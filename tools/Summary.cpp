// Manifest and counts ==> three lines.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Summary.h"

#include "codegen/calibrate/AccuracyContract.h"
#include "codegen/emit/LaunchTotals.h"
#include "dialects/kernel/form/UnknownSizes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace cameo;
using llvm::StringRef;
namespace json = llvm::json;

/// Inputs that a line names; the others are counted.
static constexpr size_t kNamedInputs = 3;

void Summary::readProducts(mlir::ModuleOp module, PassStatistics &statistics) {
  scaled = unsigned(statistics.get("cameo-insert-quantization", "scaled"));
  module.walk([&](mlir::Operation *op) {
    if (policyOf(op).role != Role::Product)
      return;
    if (std::optional<Precision> precision = precisionOf(op))
      ++products[*precision];
  });
}

/// "11 fp16, 2 fp32".
template <typename Map, typename Name> static std::string countsText(const Map &counts, Name name) {
  std::string text;
  for (const auto &[key, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + StringRef(name(key)).str();
  return text;
}

static std::string plural(unsigned count, StringRef what) {
  return llvm::formatv("{0} {1}{2}", count, what,
                       count == 1             ? ""
                       : what.ends_with("ch") ? "es"
                                              : "s");
}

static void addOnce(std::vector<std::string> &list, std::string text) {
  if (!llvm::is_contained(list, text))
    list.push_back(std::move(text));
}

/// "cubin for sm_80, simulator image for sm_80".
static std::string codeText(const json::Object &manifest) {
  std::vector<std::string> pieces;
  if (const json::Array *code = manifest.getArray("code"))
    for (const json::Value &value : *code)
      if (const json::Object *piece = value.getAsObject())
        addOnce(pieces, (piece->getString("kind").value_or("") + " for " +
                         piece->getString("target").value_or(""))
                            .str());
  return llvm::join(pieces, ", ");
}

/// "; waits once for numbers of the device, and once in each trip of a loop"; empty where nothing does.
static std::string waitsText(const LaunchTotals &totals) {
  auto often = [](int64_t count) {
    return count == 1 ? std::string("once") : std::to_string(count) + " times";
  };
  int64_t inLoops = totals.repeatedWaits, outside = totals.waits - inLoops;
  if (totals.waits == 0)
    return "";
  std::string inTrips = often(inLoops) + " in each trip of a loop";
  return "; waits " + (outside ? often(outside) : inTrips) + " for numbers of the device" +
         (outside && inLoops ? ", and " + inTrips : "");
}

/// Of targets whose launches are alike, once.
static std::string launchesText(StringRef manifest) {
  struct Alike {
    std::vector<std::string> targets, times;
  };
  llvm::MapVector<std::string, Alike, std::map<std::string, unsigned>> kinds;
  for (const LaunchTotals &totals : readTotals(manifest)) {
    std::string text = plural(totals.launches, "launch");
    if (!totals.byPrecision.empty())
      text += ": " + countsText(totals.byPrecision, [](StringRef name) { return name; });
    if (totals.matrixLaunches)
      text += llvm::formatv("; {0} on Tensor Cores", totals.matrixLaunches);
    if (totals.repeated)
      text += llvm::formatv("; {0} in each trip of a loop", totals.repeated);
    if (totals.chosen)
      text += llvm::formatv("; {0} in branches, of which a run takes one", totals.chosen);
    text += waitsText(totals);
    Alike &alike = kinds[text];
    alike.targets.push_back(totals.target);
    if (totals.estimate)
      alike.times.push_back(
          llvm::formatv("{0:f1} us on {1}", totals.estimate->microseconds, totals.estimate->board));
  }
  std::vector<std::string> texts;
  for (const auto &[text, alike] : kinds)
    texts.push_back((kinds.size() > 1 ? llvm::join(alike.targets, ", ") + ": " : "") + text +
                    (alike.times.empty() ? "" : "; estimated " + llvm::join(alike.times, ", ")));
  return llvm::join(texts, "; ");
}

static std::string accuracyText(const AccuracyResult &accuracy) {
  auto figure = [&](double value) -> std::string {
    return accuracy.measure == "sqnr" ? noiseText(value)
                                      : llvm::formatv("{0:f2} %", value * 100).str();
  };
  return llvm::formatv("; accuracy {0}, {1} needed ({2})", figure(accuracy.reached),
                       figure(accuracy.needed), accuracy.measure);
}

/// Of the inputs: which sizes are open, or all sizes.
static std::string sizesText(const json::Object &manifest) {
  std::vector<std::string> open, inputs;
  std::string fix; // what --shapes takes to fix the first of them
  const json::Array *entries = manifest.getArray("entries");
  const json::Object *entry =
      entries && !entries->empty() ? entries->front().getAsObject() : nullptr;
  const json::Array *list = entry ? entry->getArray("inputs") : nullptr;
  for (const json::Value &value : list ? *list : json::Array()) {
    const json::Object *input = value.getAsObject();
    const json::Array *dims = input ? input->getArray("dims") : nullptr;
    std::vector<std::string> sizes, fixed;
    for (const json::Value &dim : dims ? *dims : json::Array()) {
      std::optional<int64_t> number = dim.getAsInteger();
      StringRef name = dim.getAsString().value_or("");
      sizes.push_back(number ? std::to_string(*number) : name.empty() ? "?" : name.str());
      fixed.push_back(number ? sizes.back() : "8");
      if (!number && !name.empty())
        addOnce(open, sizes.back());
      if (!number && fix.empty() && !name.empty())
        fix = sizes.back() + ":8";
    }
    if (!input)
      continue;
    std::string name = input->getString("name").value_or("").str();
    inputs.push_back(name + " " + llvm::join(sizes, "x"));
    // A size without a name is fixed with all of its input's.
    if (llvm::is_contained(sizes, "?")) {
      addOnce(open, inputs.back());
      if (fix.empty())
        fix = name + ":" + llvm::join(fixed, "x");
    }
  }
  if (open.empty()) {
    size_t named = std::min(inputs.size(), kNamedInputs);
    std::string text =
        "sizes of inputs: " + llvm::join(inputs.begin(), inputs.begin() + named, ", ");
    if (inputs.size() > named)
      text += llvm::formatv(" and {0} more", inputs.size() - named);
    return inputs.empty() ? "no inputs" : text;
  }
  std::string text = "open sizes: " + llvm::join(open, ", ") +
                     llvm::formatv("; schedules and estimates take {0} for {1}",
                                   int64_t(kUnknownSize), open.size() == 1 ? "it" : "each")
                         .str();
  return text + "; --shapes=" + fix + " fixes " + (open.size() == 1 ? "it" : "one");
}

void Summary::print(llvm::raw_ostream &output, StringRef path, StringRef manifest, double seconds,
                    const PrecisionOptions &asked, const AccuracyResult *accuracy) const {
  uint64_t bytes = 0;
  llvm::sys::fs::file_size(path, bytes);
  llvm::Expected<json::Value> read = json::parse(manifest);
  if (!read) {
    llvm::consumeError(read.takeError());
    return;
  }
  const json::Object *object = read->getAsObject();
  output << llvm::formatv("{0}: {1:f2} MB in {2:f1} s: {3}\n", path, double(bytes) / 1e6, seconds,
                          codeText(*object));
  std::string text = launchesText(manifest);
  unsigned all = 0;
  for (auto [precision, count] : products)
    all += count;
  if (all)
    text += "; " + plural(all, "product") + ": " + countsText(products, precisionName);
  if (scaled)
    text += "; channels of " + plural(scaled, "value") + " scaled";
  if (accuracy)
    text += accuracyText(*accuracy);
  if (asked.type == precisionName(Precision::INT8) && !products.count(Precision::INT8))
    text +=
        all ? "; none is INT8, --remarks says why" : "; no products, and nothing else becomes INT8";
  if (products.count(Precision::FP16) && !asked.hasRanges())
    text += "; taken to fit FP16, as there are no --ranges";
  output << text << "\n" << sizesText(*object) << "\n";
}
