// Outputs ==> whether a contract is kept.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/AccuracyContract.h"

#include "codegen/calibrate/ArrayFile.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace cameo;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

//===-- What is asked for ---------------------------------------------------------------------===//

Expected<AccuracyContract> AccuracyContract::parse(StringRef text) {
  AccuracyContract contract;
  StringRef number = text;
  bool isNoise = number.consume_back("dB");
  if (!isNoise && !number.consume_back("%"))
    return llvm::createStringError("'" + text + "' is not one of 99%, -0.3% and 30dB");
  double amount = 0;
  if (number.getAsDouble(amount) || !std::isfinite(amount))
    return llvm::createStringError("'" + number + "' in '" + text + "' is no number");
  contract.kind = isNoise ? Noise : number.starts_with("-") ? Absolute : Relative;
  if (contract.kind == Noise) {
    if (amount <= 0)
      return llvm::createStringError(
          "'" + text + "' allows noise as strong as the values; it must be above 0dB");
    contract.amount = amount;
    return contract;
  }
  contract.amount = std::abs(amount) / 100;
  bool isShare = contract.amount <= 1 && (contract.kind == Absolute || contract.amount > 0);
  if (!isShare)
    return llvm::createStringError("'" + text + "' is not between 0% and 100%");
  return contract;
}

std::string cameo::shortText(double number) {
  std::string text = llvm::formatv("{0:f6}", number);
  return StringRef(text).rtrim('0').rtrim('.').str();
}

std::string cameo::noiseText(double decibels) {
  if (std::isinf(decibels))
    return decibels > 0 ? "no noise" : "numbers that are not finite";
  return llvm::formatv("{0:f1} dB", decibels);
}

std::string AccuracyContract::text() const {
  return kind == Noise ? shortText(amount) + "dB"
                       : (kind == Absolute ? "-" : "") + shortText(amount * 100) + "%";
}

//===-- FP32 ----------------------------------------------------------------------------------===//

Error AccuracyMetric::addReference(ArrayRef<TensorPort> ports, ArrayRef<HostTensor> outputs) {
  if (!isOfRows()) {
    reference.resize(outputs.size());
    for (auto [all, output] : llvm::zip(reference, outputs)) {
      if (output.type != CAMEO_DTYPE_F32)
        continue;
      std::vector<double> numbers = toNumbers(output.type, output.bytes);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    if (llvm::none_of(outputs, [](const auto &output) { return output.type == CAMEO_DTYPE_F32; }))
      return llvm::createStringError("no output is of FP32, so none has a signal over noise");
    return Error::success();
  }
  const HostTensor &output = outputs.front();
  std::vector<double> numbers = toNumbers(output.type, output.bytes);
  auto refuse = [&](const llvm::Twine &why) {
    return llvm::createStringError("output '" + ports.front().name + "' " + why +
                                   "; an accuracy such as 30dB compares outputs that are not "
                                   "classes");
  };
  // Along the only axis there are samples.
  if (output.shape.size() < 2)
    return refuse("has no rows, the largest number of which would be its class");
  int64_t length = output.shape.back();
  if (length < 2 || numbers.empty())
    return refuse("has " + llvm::Twine(length) +
                  " numbers a row, the largest of which would be its class");
  if (rowLength && length != rowLength)
    return refuse("has rows of " + llvm::Twine(rowLength) + " and of " + llvm::Twine(length) +
                  " numbers");
  rowLength = length;
  for (size_t at = 0; at < numbers.size(); at += rowLength) {
    if (llvm::any_of(ArrayRef(numbers).slice(at, rowLength),
                     [](double n) { return std::isnan(n); }))
      return llvm::createStringError(
          "row " + llvm::Twine(largest.size()) + " of output '" + ports.front().name +
          "' has NaN with FP32 already, so that it has no class to compare");
    largest.push_back(largestOf(ArrayRef(numbers).slice(at, rowLength)));
    size_t row = largest.size() - 1;
    referenceGood += row < labels.size() ? largest[row] == uint64_t(labels[row]) : labels.empty();
  }
  return Error::success();
}

Error AccuracyMetric::finishReference() {
  if (!hasLabels())
    return Error::success();
  if (labels.size() != largest.size())
    return llvm::createStringError("there are " + llvm::Twine(labels.size()) + " labels for " +
                                   llvm::Twine(largest.size()) + " rows of the first output");
  for (auto [row, label] : llvm::enumerate(labels))
    if (label >= rowLength)
      return llvm::createStringError("label " + llvm::Twine(label) + " of row " + llvm::Twine(row) +
                                     " is beyond the " + llvm::Twine(rowLength) +
                                     " numbers of a row");
  if (referenceGood == 0)
    return llvm::createStringError("FP32 has none of the " + llvm::Twine(largest.size()) +
                                   " rows right by these labels");
  return Error::success();
}

//===-- Others --------------------------------------------------------------------------------===//

void AccuracyMetric::add(AccuracyScore &score, ArrayRef<HostTensor> outputs) const {
  if (!isOfRows()) {
    score.errors.resize(outputs.size());
    for (auto [error, all, output] : llvm::zip(score.errors, reference, outputs)) {
      if (output.type != CAMEO_DTYPE_F32)
        continue;
      std::vector<double> numbers = toNumbers(output.type, output.bytes);
      error.add(ArrayRef(all).slice(error.elements(), numbers.size()), numbers);
    }
    return;
  }
  std::vector<double> numbers = toNumbers(outputs.front().type, outputs.front().bytes);
  for (size_t at = 0; at < numbers.size(); at += rowLength, ++score.rows)
    score.good += largestOf(ArrayRef(numbers).slice(at, rowLength)) == wantedIn(score.rows);
}

uint64_t AccuracyMetric::neededRows() const {
  // What a share of rows comes to is no whole number, and is not exact.
  constexpr double tolerance = 1e-9;
  double rows = contract.kind == AccuracyContract::Relative
                    ? contract.amount * double(referenceGood)
                    : double(referenceGood) - contract.amount * double(largest.size());
  return uint64_t(std::max(0.0, std::ceil(rows - tolerance * double(largest.size()))));
}

std::optional<bool> AccuracyMetric::verdict(const AccuracyScore &score, bool isAll) const {
  if (!isOfRows())
    return isAll ? std::optional(valueOf(score) >= contract.amount) : std::nullopt;
  if (score.good >= neededRows())
    return true;
  if (isAll || score.good + (largest.size() - score.rows) < neededRows())
    return false;
  return std::nullopt;
}

double AccuracyMetric::valueOf(const AccuracyScore &score) const {
  if (isOfRows())
    return score.rows ? double(score.good) / double(score.rows) : 0;
  double least = std::numeric_limits<double>::infinity();
  for (const TensorError &error : score.errors)
    if (error.elements())
      least = std::min(least, error.sqnr());
  return least;
}

double AccuracyMetric::referenceValue() const {
  return isOfRows() ? double(referenceGood) / double(largest.size())
                    : std::numeric_limits<double>::infinity();
}

double AccuracyMetric::needed() const {
  return isOfRows() ? double(neededRows()) / double(largest.size()) : contract.amount;
}

std::string AccuracyMetric::text(double value) const {
  return isOfRows() ? llvm::formatv("{0:f2} %", value * 100).str() : noiseText(value);
}

StringRef AccuracyMetric::what() const {
  return !isOfRows() ? "signal over noise" : hasLabels() ? "right" : "the class of FP32";
}

//===-- Labels --------------------------------------------------------------------------------===//

Expected<std::vector<int64_t>> cameo::readLabels(StringRef path) {
  auto problem = [&](const llvm::Twine &what) {
    return llvm::createStringError("labels '" + path + "': " + what);
  };
  Expected<std::shared_ptr<InputFile>> file = InputFile::open(path);
  if (!file)
    return problem(llvm::toString(file.takeError()));
  Expected<std::vector<ArrayPlace>> places = listArrays(**file);
  if (!places)
    return problem(llvm::toString(places.takeError()));
  if (places->size() != 1)
    return problem("there are " + llvm::Twine(places->size()) + " arrays, not one");
  Expected<std::unique_ptr<ArrayReader>> array = ArrayReader::open(*file, places->front());
  if (!array)
    return problem(llvm::toString(array.takeError()));
  uint64_t count = 1;
  for (int64_t size : (*array)->shape())
    count *= size;
  std::vector<char> bytes(count * (*array)->elementBytes());
  if (Error error = (*array)->read(bytes))
    return problem(llvm::toString(std::move(error)));
  std::vector<double> numbers = toNumbers((*array)->dtype(), bytes);
  if (numbers.empty() ||
      llvm::any_of(numbers, [](double n) { return !(n >= 0 && n < 0x1p53) || n != std::floor(n); }))
    return problem("they are no indices: numbers from 0 on");
  return std::vector<int64_t>(numbers.begin(), numbers.end());
}
