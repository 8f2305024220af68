// Results of calibration ==> JSON, and back.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/CalibrationCache.h"

#include "passes/precision/RangesFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <map>

using namespace cameo;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace json = llvm::json;

static std::string hex(uint64_t hash) { return llvm::formatv("{0:x-16}", hash); }

//===-- Writing -------------------------------------------------------------------------------===//

/// The fewest digits that are read as this number again, as a float or as a double.
template <typename Number> static std::string shortest(Number number) {
  std::string text;
  for (int digits = 1; digits <= 17; ++digits) {
    text.clear();
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, double(number));
    double read = 0;
    if (llvm::to_float(text, read) && Number(read) == number)
      break;
  }
  return text;
}

static void write(llvm::raw_ostream &out, StringRef name, const Thresholds &thresholds) {
  out << ", \"" << name << "\": {";
  for (CalibrationMethod::Kind kind : CalibrationMethod::kSingle)
    out << (kind ? ", \"" : "\"") << CalibrationMethod::name(kind)
        << "\": " << shortest(thresholds[kind]);
  out << "}";
}

static void write(llvm::raw_ostream &out, const CalibratedValue &value) {
  out << json::Value(json::fixUTF8(value.name)) << ": {\"min\": " << shortest(value.least)
      << ", \"max\": " << shortest(value.most) << ", \"method\": \""
      << CalibrationMethod::name(value.chosen) << "\"";
  write(out, "thresholds", value.thresholds);
  if (value.scaled)
    write(out, "scaled", *value.scaled);
  if (value.nonFinite)
    out << ", \"non_finite\": " << value.nonFinite;
  if (!value.histogram.counts.empty()) {
    out << ", \"histogram\": {\"end\": " << value.histogram.end << ", \"counts\": [";
    llvm::interleaveComma(value.histogram.counts, out);
    out << "]}";
  }
  out << "}";
}

static void writeList(llvm::raw_ostream &out, StringRef name, const std::vector<float> &numbers) {
  out << "\"" << name << "\": [";
  llvm::interleaveComma(numbers, out, [&](float number) { out << shortest(number); });
  out << "]";
}

static void write(llvm::raw_ostream &out, const ProductInput &input) {
  out << json::Value(json::fixUTF8(input.product))
      << ": {\"value\": " << json::Value(json::fixUTF8(input.value))
      << ", \"scale\": " << shortest(input.scale) << ", ";
  writeList(out, "means", input.means);
  writeList(out << ", ", "shifts", input.shifts);
  out << "}";
}

static void write(llvm::raw_ostream &out, const QuantizationChoice &choice) {
  out << ",\n  \"chosen\": {\"bias_correction\": " << json::Value(choice.chosen.correctsBiases)
      << ", \"samples\": " << choice.samples << ", \"trials\": [";
  StringRef before = "\n    ";
  for (const QuantizationChoice::Trial &trial : choice.trials) {
    out << before << "{\"method\": \"" << CalibrationMethod::name(trial.method)
        << "\", \"channel_scales\": " << json::Value(trial.scalesChannels)
        << ", \"bias_correction\": " << json::Value(trial.correctsBiases)
        << ", \"sqnr\": " << llvm::format("%.2f", trial.sqnr)
        << ", \"sqnr_of_all\": " << llvm::format("%.2f", trial.sqnrOfAll) << "}";
    before = ",\n    ";
  }
  out << "]}";
}

/// A member that has an object, an entry a line.
template <typename Entries, typename Write>
static void writeEntries(llvm::raw_ostream &out, StringRef name, const Entries &entries,
                         Write writeOne) {
  out << ",\n  \"" << name << "\": {";
  StringRef before = "\n    ";
  for (const auto &entry : entries) {
    out << before;
    writeOne(entry);
    before = ",\n    ";
  }
  out << (entries.empty() ? "}" : "\n  }");
}

std::string CalibrationCache::text() const {
  std::string result;
  llvm::raw_string_ostream out(result);
  out << "{\n  \"cameo_ranges\": " << RangesFile::kVersion << ",\n  \"model\": \""
      << hex(source.model);
  if (source.weights)
    out << "\",\n  \"weights\": \"" << hex(source.weights);
  out << "\",\n  \"data\": {\"name\": " << json::Value(json::fixUTF8(source.dataName))
      << ", \"files\": " << source.files << ", \"samples\": " << source.samples << ", \"xxh3\": \""
      << hex(source.dataHash) << "\"},\n  \"method\": \"" << CalibrationMethod::name(method.kind)
      << "\",\n  \"percentile\": " << shortest(method.percent);
  if (!source.passes.empty())
    out << ",\n  \"passes\": " << json::Value(json::fixUTF8(source.passes));
  writeEntries(out, "ranges", values, [&](const CalibratedValue &value) { write(out, value); });
  if (channels) {
    std::map<StringRef, const ChannelExponents *> byName;
    for (const auto &entry : *channels)
      byName[entry.first()] = &entry.second;
    writeEntries(out, "channels", byName, [&](const auto &entry) {
      out << json::Value(json::fixUTF8(entry.first)) << ": [";
      llvm::interleaveComma(*entry.second, out, [&](int8_t exponent) { out << int(exponent); });
      out << "]";
    });
  }
  if (inputs)
    writeEntries(out, "inputs", *inputs, [&](const ProductInput &input) { write(out, input); });
  if (choice)
    write(out, *choice);
  out << "\n}\n";
  return result;
}

std::string QuantizationChoice::Trial::text() const {
  return CalibrationMethod::name(method).str() + (scalesChannels ? ", channels scaled" : "") +
         (correctsBiases ? ", biases corrected" : "");
}

bool QuantizationChoice::triedScales() const {
  return llvm::any_of(trials, [](const Trial &trial) { return trial.scalesChannels; });
}

std::string QuantizationChoice::text() const {
  // Beyond the ends of the scale there is no noise, or nothing but noise.
  auto decibels = [](double sqnr) -> std::string {
    if (std::abs(sqnr) >= kMostSqnr)
      return sqnr > 0 ? "no noise" : "outputs that are no numbers";
    return llvm::formatv("{0:f1} dB", sqnr);
  };
  std::string result = llvm::formatv("{0}: {1} on {2} sample{3} (median run: {4})", chosen.text(),
                                     decibels(chosen.sqnrOfAll), samples, samples == 1 ? "" : "s",
                                     decibels(chosen.sqnr));
  const Trial &usual = trials.front();
  if (usual.text() != chosen.text())
    result += llvm::formatv("; {0}: {1} (median run: {2})", usual.text(), decibels(usual.sqnrOfAll),
                            decibels(usual.sqnr));
  return result;
}

//===-- Reading -------------------------------------------------------------------------------===//

static std::optional<uint64_t> hashIn(const json::Object &object, StringRef member) {
  std::optional<StringRef> text = object.getString(member);
  uint64_t hash;
  if (!text || text->size() != 16 || text->getAsInteger(16, hash))
    return std::nullopt;
  return hash;
}

static std::optional<CalibrationMethod::Kind> kindIn(const json::Object &object) {
  Expected<CalibrationMethod> method =
      CalibrationMethod::parse(object.getString("method").value_or(""));
  if (method)
    return method->kind;
  llvm::consumeError(method.takeError());
  return std::nullopt;
}

/// Whether there is none, or one that calibration may have written.
static bool readHistogram(const json::Object &object, CoarseHistogram &histogram) {
  if (!object.get("histogram"))
    return true;
  const json::Object *found = object.getObject("histogram");
  const json::Array *counts = found ? found->getArray("counts") : nullptr;
  std::optional<int64_t> end = found ? found->getInteger("end") : std::nullopt;
  constexpr size_t most = 1 + magnitude::kOctaves * CoarseHistogram::kSteps;
  if (!counts || counts->empty() || counts->size() > most || !end || std::abs(*end) > 128)
    return false;
  histogram.end = int(*end);
  for (const json::Value &count : *counts) {
    if (count.getAsInteger().value_or(-1) < 0)
      return false;
    histogram.counts.push_back(*count.getAsInteger());
  }
  return true;
}

/// Reads the thresholds of all methods; the text says what is wrong with them, and is empty if nothing is.
static std::string readThresholds(const json::Object &object, Thresholds &thresholds) {
  for (CalibrationMethod::Kind single : CalibrationMethod::kSingle) {
    std::optional<double> threshold = object.getNumber(CalibrationMethod::name(single));
    if (!threshold || !(*threshold > 0) || !std::isfinite(*threshold))
      return "has no threshold of method '" + CalibrationMethod::name(single).str() +
             "' that is more than 0";
    thresholds.byKind[single] = float(*threshold);
  }
  return "";
}

/// What is wrong with what calibration has written of a value; empty if nothing is.
static std::string readValue(const RangesFile::Value &range, CalibratedValue &value) {
  const json::Object &object = *range.members;
  const json::Object *thresholds = object.getObject("thresholds");
  std::optional<CalibrationMethod::Kind> kind = kindIn(object);
  if (!kind || *kind == CalibrationMethod::Best || !thresholds)
    return "has no 'method' and 'thresholds' of calibration";
  value.name = range.name;
  value.least = float(range.least);
  value.most = float(range.most);
  value.chosen = *kind;
  value.nonFinite = uint64_t(object.getInteger("non_finite").value_or(0));
  if (std::string what = readThresholds(*thresholds, value.thresholds); !what.empty())
    return what;
  if (const json::Object *scaled = object.getObject("scaled"))
    if (std::string what = readThresholds(*scaled, value.scaled.emplace()); !what.empty())
      return what;
  if (!readHistogram(object, value.histogram))
    return "has a 'histogram' that is none of calibration";
  return "";
}

static std::vector<float> floats(const std::vector<double> &numbers) {
  return {numbers.begin(), numbers.end()};
}

/// In the order of products' names.
static void readInputs(const RangesFile &file, CalibrationCache &cache) {
  if (file.inputs) {
    cache.inputs.emplace();
    for (const auto &entry : *file.inputs) {
      const RecordedRanges::Input &input = entry.second;
      cache.inputs->push_back({entry.first().str(), input.value, float(input.scale),
                               floats(input.means), floats(input.shifts)});
    }
    llvm::sort(*cache.inputs, [](const auto &a, const auto &b) { return a.product < b.product; });
  }
}

/// Reads the choice, if there is one. False where calibration has not written it, or not of what else the cache has.
static bool readChoice(const json::Object &object, CalibrationCache &cache) {
  if (!object.get("chosen"))
    return true;
  const json::Object *found = object.getObject("chosen");
  const json::Array *trials = found ? found->getArray("trials") : nullptr;
  QuantizationChoice &choice = cache.choice.emplace();
  int64_t samples = found ? found->getInteger("samples").value_or(0) : 0;
  if (samples < 0)
    return false;
  choice.samples = uint64_t(samples);
  choice.chosen = {cache.method.kind, cache.channels && !cache.channels->empty(),
                   found && found->getBoolean("bias_correction").value_or(false)};
  bool isKnown = false;
  for (const json::Value &value : trials ? *trials : json::Array()) {
    const json::Object *trial = value.getAsObject();
    std::optional<CalibrationMethod::Kind> kind = trial ? kindIn(*trial) : std::nullopt;
    std::optional<double> sqnr = trial ? trial->getNumber("sqnr") : std::nullopt;
    std::optional<double> ofAll = trial ? trial->getNumber("sqnr_of_all") : std::nullopt;
    std::optional<bool> scales = trial ? trial->getBoolean("channel_scales") : std::nullopt;
    std::optional<bool> corrects = trial ? trial->getBoolean("bias_correction") : std::nullopt;
    if (!kind || !sqnr || !ofAll || !scales || !corrects)
      return false;
    choice.trials.push_back({*kind, *scales, *corrects, *sqnr, *ofAll});
    if (choice.trials.back().text() == choice.chosen.text()) {
      choice.chosen = choice.trials.back();
      isKnown = true;
    }
  }
  return isKnown;
}

Expected<CalibrationCache> CalibrationCache::read(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createStringError("calibration cache '" + path.str() +
                                   "': " + file.getError().message());
  return parse((*file)->getBuffer(), path);
}

Expected<CalibrationCache> CalibrationCache::parse(StringRef text, StringRef path) {
  auto problem = [&](const Twine &what) {
    return llvm::createStringError("calibration cache '" + path.str() + "': " + what.str());
  };
  Expected<RangesFile> file = RangesFile::parse(text);
  if (!file)
    return problem(llvm::toString(file.takeError()));
  const json::Object &object = file->members();
  CalibrationCache cache;
  const json::Object *data = object.getObject("data");
  std::optional<uint64_t> model = hashIn(object, "model");
  std::optional<uint64_t> dataHash = data ? hashIn(*data, "xxh3") : std::nullopt;
  std::optional<CalibrationMethod::Kind> kind = kindIn(object);
  int64_t files = data ? data->getInteger("files").value_or(0) : 0;
  int64_t samples = data ? data->getInteger("samples").value_or(0) : 0;
  if (!model || !dataHash || !kind || files < 0 || samples < 0)
    return problem("calibration has not written it: 'model', 'data' or 'method' is not as it "
                   "should be");
  cache.source = {*model,
                  hashIn(object, "weights").value_or(0),
                  data->getString("name").value_or("").str(),
                  *dataHash,
                  uint64_t(files),
                  uint64_t(samples),
                  object.getString("passes").value_or("").str()};
  cache.method = {*kind, object.getNumber("percentile").value_or(0)};
  for (const RangesFile::Value &range : file->values) {
    CalibratedValue value;
    if (std::string what = readValue(range, value); !what.empty())
      return problem("'" + range.name + "' " + what);
    cache.values.push_back(std::move(value));
  }
  if (object.get("channels"))
    cache.channels = file->channels;
  readInputs(*file, cache);
  if (!readChoice(object, cache))
    return problem("'chosen' has no trials of calibration, or what was chosen is none of them");
  return cache;
}

Error CalibrationCache::checkSource(const CalibrationSource &wanted, StringRef path) const {
  auto described = [](const CalibrationSource &of) {
    return llvm::formatv("{0} samples of '{1}' (xxh3 {2})", of.samples, of.dataName,
                         hex(of.dataHash))
        .str();
  };
  std::string problem = "calibration cache '" + path.str() + "' ";
  if (source.model != wanted.model)
    return llvm::createStringError(problem + "is of another model: of one with the hash " +
                                   hex(source.model) + ", and this one's is " + hex(wanted.model));
  if (source.weights != wanted.weights)
    return llvm::createStringError(problem + "is of a model with other external data");
  if (source.passes != wanted.passes) {
    auto with = [](const std::string &passes) {
      return passes.empty() ? std::string("without --insert-pass") : "with --insert-pass=" + passes;
    };
    return llvm::createStringError(problem + "was made " + with(source.passes) +
                                   ", and this model is compiled " + with(wanted.passes));
  }
  if (source.dataHash != wanted.dataHash)
    return llvm::createStringError(problem + "was made with other data: " + described(source) +
                                   ", not " + described(wanted) +
                                   "; remove it, or name another file");
  return Error::success();
}

void CalibrationCache::chooseForAll(CalibrationMethod::Kind kind) {
  for (CalibratedValue &value : values)
    value.chosen = kind;
}

bool CalibrationCache::adopt(const CalibrationMethod &wanted) {
  if (wanted.kind == CalibrationMethod::Percentile && wanted.percent != method.percent)
    return false;
  if (wanted.kind == method.kind)
    return true;
  if (wanted.kind == CalibrationMethod::Best)
    return false;
  method.kind = wanted.kind;
  chooseForAll(wanted.kind);
  inputs.reset();
  choice.reset();
  return true;
}

//===-- Reports -------------------------------------------------------------------------------===//

static json::Object shown(const CalibratedValue &value) {
  json::Object thresholds;
  for (CalibrationMethod::Kind kind : CalibrationMethod::kSingle)
    thresholds[CalibrationMethod::name(kind)] = value.thresholds[kind];
  json::Object object{{"name", json::fixUTF8(value.name)},
                      {"min", value.least},
                      {"max", value.most},
                      {"method", CalibrationMethod::name(value.chosen)},
                      {"thresholds", std::move(thresholds)}};
  if (!value.histogram.counts.empty())
    object["histogram"] =
        json::Object{{"end", value.histogram.end}, {"counts", json::Array(value.histogram.counts)}};
  return object;
}

static json::Object shown(const QuantizationChoice &choice) {
  json::Array trials;
  for (const QuantizationChoice::Trial &trial : choice.trials)
    trials.push_back(json::Object{{"quantization", trial.text()},
                                  {"sqnr", trial.sqnr},
                                  {"chosen", trial.text() == choice.chosen.text()}});
  return json::Object{{"samples", int64_t(choice.samples)}, {"trials", std::move(trials)}};
}

std::optional<json::Object> cameo::calibrationShown(StringRef text) {
  Expected<CalibrationCache> cache = CalibrationCache::parse(text, "");
  if (!cache) {
    llvm::consumeError(cache.takeError()); // other files have ranges, too
    return std::nullopt;
  }
  json::Array values;
  for (const CalibratedValue &value : cache->values)
    values.push_back(shown(value));
  json::Object object{{"method", CalibrationMethod::name(cache->method.kind)},
                      {"data", json::fixUTF8(cache->source.dataName)},
                      {"samples", int64_t(cache->source.samples)},
                      {"values", std::move(values)}};
  if (cache->choice)
    object["chosen"] = shown(*cache->choice);
  return object;
}

//===-- TensorRT ------------------------------------------------------------------------------===//

bool TensorRtCache::isOne(StringRef text) { return text.starts_with("TRT-"); }

Expected<TensorRtCache> TensorRtCache::parse(StringRef text, StringRef path) {
  TensorRtCache cache;
  auto [header, rest] = text.split('\n');
  size_t number = 1;
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    line = line.rtrim("\r ");
    ++number;
    if (line.empty())
      continue;
    auto problem = [&](const std::string &what) {
      return llvm::createStringError("calibration cache '" + path.str() + "', line " +
                                     std::to_string(number) + ": " + what);
    };
    auto [name, digits] = line.rsplit(": ");
    uint32_t bits;
    if (name.empty() || digits.size() != 8 || digits.getAsInteger(16, bits))
      return problem("'" + line.str() +
                     "' is not a tensor's name and eight digits of its scale, as in "
                     "'conv1: 3c010a14'");
    float scale = llvm::bit_cast<float>(bits);
    if (!std::isfinite(scale) || scale < 0)
      return problem("the scale of '" + name.str() + "' is " + llvm::formatv("{0}", scale).str());
    if (!cache.scales.try_emplace(name, scale).second)
      return problem("a second scale of '" + name.str() + "'");
  }
  return cache;
}
