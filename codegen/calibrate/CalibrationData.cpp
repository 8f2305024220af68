// Files of samples ==> batches.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/CalibrationData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace cameo;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace fs = llvm::sys::fs;

static Error problemOf(StringRef path, const Twine &what) {
  return llvm::createStringError("samples '" + path.str() + "': " + what.str());
}

struct CalibrationData::Part {
  std::unique_ptr<ArrayReader> reader;
  uint64_t samples = 0, sampleBytes = 0;
  llvm::SmallVector<int64_t> sampleSizes;
  bool isWhole = false; // a sample is all of the input, so that a run has one
};

struct CalibrationData::Open {
  std::vector<Part> parts; // an input each
  uint64_t samples = 0, taken = 0;

  bool matches(const Open &other) const {
    return llvm::all_of(llvm::zip(parts, other.parts), [](const auto &pair) {
      return std::get<0>(pair).sampleSizes == std::get<1>(pair).sampleSizes;
    });
  }
};

CalibrationData::CalibrationData() = default;
CalibrationData::CalibrationData(CalibrationData &&) = default;
CalibrationData::~CalibrationData() = default;

void CalibrationData::rewind() {
  nextFile = taken = 0;
  current.reset();
  first = {};
}

//===-- What there is
//-------------------------------------------------------------------------===//

Error CalibrationData::findFiles(StringRef path) {
  if (!fs::is_directory(path)) {
    paths.push_back(path.str());
    return Error::success();
  }
  std::error_code error;
  size_t archives = 0;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    StringRef extension = llvm::sys::path::extension(entry->path());
    if (extension == ".npy" || extension == ".npz")
      paths.push_back(entry->path());
    archives += extension == ".npz";
  }
  if (error)
    return problemOf(path, error.message());
  if (paths.empty())
    return problemOf(path, "the folder has no .npz and no .npy files");
  if (archives && archives < paths.size())
    return problemOf(path, "the folder has " + Twine(archives) + " .npz and " +
                               Twine(paths.size() - archives) + " .npy files; it must be either");
  llvm::sort(paths);
  return Error::success();
}

/// The array of each input: the member of its name; else the only one there is
/// for an only input, or numpy's arr_0, arr_1, ... in the order of the inputs.
static Expected<ArrayPlace> arrayOf(size_t input, ArrayRef<TensorPort> inputs,
                                    ArrayRef<ArrayPlace> places, StringRef path) {
  auto find = [&](const std::string &name) {
    return llvm::find_if(places, [&](const ArrayPlace &place) { return place.name == name; });
  };
  if (auto found = find(inputs[input].name); found != places.end())
    return *found;
  if (inputs.size() == 1 && places.size() == 1)
    return places.front();
  bool areNumbered = places.size() == inputs.size() && llvm::all_of(places, [](const auto &place) {
                       return StringRef(place.name).starts_with("arr_");
                     });
  if (auto found = find("arr_" + std::to_string(input)); areNumbered && found != places.end())
    return *found;
  std::string names;
  for (const ArrayPlace &place : places.take_front(10))
    names += (names.empty() ? "'" : ", '") + place.name + "'";
  if (places.size() > 10)
    names += ", ...";
  return problemOf(path, StringRef(path).ends_with(".npy")
                             ? "the model has " + Twine(inputs.size()) +
                                   " inputs, so it takes .npz files with an array each"
                             : "no array for the input '" + Twine(inputs[input].name) +
                                   "'; it has " + (names.empty() ? "none" : names));
}

/// Which axes of an array are a sample's, and whether these are the input's.
Error CalibrationData::place(const TensorPort &input, Part &part, StringRef path) const {
  ArrayRef<int64_t> found = part.reader->shape(), wanted = input.shape;
  auto fits = [](ArrayRef<int64_t> sizes, ArrayRef<int64_t> limits) {
    return sizes.size() == limits.size() && llvm::all_of(llvm::zip(sizes, limits), [](auto pair) {
             return std::get<1>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair);
           });
  };
  auto problem = [&](const Twine &what) {
    return problemOf(path, "input '" + input.name + "': the array is " +
                               dtypeText(part.reader->dtype()) + " of " + sizesText(found) + "; " +
                               what);
  };
  std::string type = dtypeText(input.type) + " of " + sizesText(wanted);
  if (part.reader->dtype() != input.type)
    return problem("the model takes " + type);
  part.samples = 1;
  if (!wanted.empty() && fits(found, wanted.drop_front())) {
    part.sampleSizes.assign(found.begin(), found.end());
  } else if (!wanted.empty() && !found.empty() && fits(found.drop_front(), wanted.drop_front())) {
    part.samples = uint64_t(found.front());
    part.sampleSizes.assign(found.begin() + 1, found.end());
  } else if (!found.empty() && fits(found.drop_front(), wanted)) {
    part.isWhole = true;
    part.samples = uint64_t(found.front());
    part.sampleSizes.assign(found.begin() + 1, found.end());
  } else {
    return problem("the model takes " + type +
                   (wanted.empty() ? ", of which the array has one a sample, along its one axis"
                                   : ", where the first axis runs over samples"));
  }
  part.sampleBytes = part.reader->elementBytes();
  for (int64_t size : part.sampleSizes)
    part.sampleBytes *= uint64_t(size);
  return Error::success();
}

Expected<std::unique_ptr<CalibrationData::Open>> CalibrationData::openFile(StringRef path) const {
  auto told = [&](Error error) {
    return llvm::createStringError("samples " + llvm::toString(std::move(error)));
  };
  Expected<std::shared_ptr<InputFile>> file = InputFile::open(path);
  if (!file)
    return told(file.takeError());
  Expected<std::vector<ArrayPlace>> places = listArrays(**file);
  if (!places)
    return told(places.takeError());
  auto result = std::make_unique<Open>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    Expected<ArrayPlace> where = arrayOf(i, inputs, *places, path);
    if (!where)
      return where.takeError();
    Expected<std::unique_ptr<ArrayReader>> reader = ArrayReader::open(*file, *where);
    if (!reader)
      return told(reader.takeError());
    Part &part = result->parts.emplace_back();
    part.reader = std::move(*reader);
    if (Error error = place(inputs[i], part, path))
      return error;
    if (i && part.samples != result->samples)
      return problemOf(path, "'" + inputs[i].name + "' has " + Twine(part.samples) +
                                 (part.samples == 1 ? " sample, '" : " samples, '") +
                                 inputs[0].name + "' has " + Twine(result->samples));
    result->samples = part.samples;
  }
  return result;
}

Error CalibrationData::fixRun(uint64_t samples, StringRef path) {
  if (fixedSamples && fixedSamples != samples)
    return problemOf(path, "the model takes " + Twine(fixedSamples) +
                               " samples at a time by one input, and " + Twine(samples) +
                               " by another; give arrays with an axis in front that runs over "
                               "samples");
  fixedSamples = samples;
  return Error::success();
}

Error CalibrationData::count() {
  for (const std::string &path : paths) {
    Expected<std::unique_ptr<Open>> file = openFile(path);
    if (!file)
      return file.takeError();
    for (auto [input, part] : llvm::zip(inputs, (*file)->parts)) {
      int64_t fixed = part.isWhole ? 1 : input.shape.front();
      if (fixed < 0)
        continue;
      if (Error error = fixRun(uint64_t(fixed), path))
        return error;
    }
    sampleCount += (*file)->samples;
  }
  if (sampleCount == 0)
    return problemOf(paths.front(), "there are no samples");
  return Error::success();
}

Expected<CalibrationData> CalibrationData::open(StringRef path, ArrayRef<TensorPort> inputs) {
  CalibrationData data;
  data.inputs = inputs.vec();
  if (inputs.empty())
    return problemOf(path, "the model has no inputs");
  if (Error error = data.findFiles(path))
    return error;
  if (Error error = data.count())
    return error;
  return data;
}

//===-- Samples
//-------------------------------------------------------------------------------===//

/// Opens the next file. False: there is none, or its samples are of another shape than those that
/// the batch has.
Expected<bool> CalibrationData::openNext(DataBatch &batch) {
  if (nextFile == paths.size())
    return false;
  Expected<std::unique_ptr<Open>> file = openFile(paths[nextFile]);
  if (!file)
    return file.takeError();
  bool isOther = current && !current->matches(**file);
  if (isOther && batch.samples)
    complete(batch);
  if (isOther)
    first = {};
  current = std::move(*file);
  ++nextFile;
  return !isOther || !batch.samples;
}

/// Repeats samples until there are as many as a run takes.
void CalibrationData::complete(DataBatch &batch) {
  if (!batch.samples || !fixedSamples || batch.repeated)
    return;
  if (!first.samples)
    first = batch;
  for (; batch.samples + batch.repeated < fixedSamples; ++batch.repeated)
    for (auto [array, from] : llvm::zip_equal(batch.inputs, first.inputs)) {
      size_t bytes = from.bytes.size() / first.samples;
      auto sample = from.bytes.begin() + bytes * (batch.repeated % first.samples);
      array.bytes.insert(array.bytes.end(), sample, sample + bytes);
      ++array.shape.front();
    }
}

Expected<DataBatch> CalibrationData::next(uint64_t most) {
  DataBatch batch;
  batch.inputs.resize(inputs.size());
  uint64_t wanted =
      std::min(fixedSamples ? fixedSamples : std::max<uint64_t>(most, 1), sampleCount - taken);
  while (batch.samples < wanted) {
    if (!current || current->taken == current->samples) {
      Expected<bool> goesOn = openNext(batch);
      if (!goesOn)
        return goesOn.takeError();
      if (!*goesOn)
        break;
      continue; // it may have no samples
    }
    uint64_t count = std::min(wanted - batch.samples, current->samples - current->taken);
    for (auto [part, array] : llvm::zip(current->parts, batch.inputs)) {
      size_t before = array.bytes.size();
      array.bytes.resize(before + count * part.sampleBytes);
      if (Error error = part.reader->read(llvm::MutableArrayRef(array.bytes).drop_front(before)))
        return llvm::createStringError("samples " + llvm::toString(std::move(error)));
      array.type = part.reader->dtype();
      array.shape = part.sampleSizes;
      if (!part.isWhole)
        array.shape.insert(array.shape.begin(), int64_t(batch.samples + count));
    }
    current->taken += count;
    batch.samples += count;
  }
  taken += batch.samples;
  complete(batch);
  return batch;
}

SampleRows cameo::rowsOfSamples(const DataBatch &batch, ArrayRef<int64_t> shape,
                                ArrayRef<char> bytes) {
  SampleRows rows{llvm::SmallVector<int64_t>(shape), bytes};
  auto all = int64_t(batch.samples + batch.repeated);
  if (!batch.repeated || shape.empty() || shape.front() % all || bytes.size() % all)
    return rows;
  rows.shape.front() = shape.front() / all * int64_t(batch.samples);
  rows.bytes = bytes.take_front(bytes.size() / all * batch.samples);
  return rows;
}

void cameo::dropRepeated(const DataBatch &batch, std::vector<HostTensor> &outputs) {
  for (HostTensor &output : outputs) {
    SampleRows rows = rowsOfSamples(batch, output.shape, output.bytes);
    output.shape = rows.shape;
    output.bytes.resize(rows.bytes.size());
  }
}
