// Options of calibration ==> ranges.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Calibration.h"

#include "codegen/ModelInput.h"
#include "codegen/calibrate/ArrayFile.h"
#include "codegen/emit/Payload.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cameo;

static llvm::Error writeText(StringRef path, StringRef text) {
  return writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) {
    output << text;
    return llvm::Error::success();
  });
}

LogicalResult CalibratedRanges::take(std::string content, StringRef path) {
  text = std::move(content);
  llvm::Expected<RecordedRanges> parsed = RecordedRanges::parse(text, path);
  if (!parsed)
    return messages.fail(parsed.takeError());
  found = std::make_shared<const RecordedRanges>(std::move(*parsed));
  return success();
}

LogicalResult CalibratedRanges::read(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return messages.fail(
        llvm::createStringError("ranges in '" + path + "': " + file.getError().message()));
  return take((*file)->getBuffer().str(), path);
}

bool cameo::isDevice(StringRef path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) &&
         status.type() == llvm::sys::fs::file_type::character_file;
}

llvm::Error cameo::checkCalibrationCache(const CalibrationOptions &options) {
  StringRef path = options.cache;
  if (path.empty())
    return llvm::Error::success();
  auto fail = [&](const Twine &what) {
    return llvm::createStringError("calibration cache '" + path + "': " + what);
  };
  if (llvm::sys::fs::exists(path))
    return isDevice(path) || llvm::sys::fs::is_directory(path) ? fail("not a regular file")
                                                               : llvm::Error::success();
  if (options.data.empty())
    return fail("there is none; --calibration-data makes it");
  StringRef folder = llvm::sys::path::parent_path(path);
  if (std::error_code error =
          llvm::sys::fs::access(folder.empty() ? "." : folder, llvm::sys::fs::AccessMode::Write))
    return fail("cannot write it: " + error.message());
  return llvm::Error::success();
}

/// The cache may be there before, and stays as it is or is made anew; nothing else is written over.
static llvm::Error checkFiles(const CalibrationRequest &request) {
  std::vector<std::string> inputs = request.inputs;
  inputs.push_back(request.model);
  if (!request.calibration.data.empty())
    inputs.push_back(request.calibration.data);
  std::vector<OutputName> outputs = request.outputs;
  if (!request.calibration.cache.empty())
    outputs.push_back({"--calibration-cache", request.calibration.cache});
  return checkOutputs(inputs, outputs);
}

LogicalResult CalibratedRanges::make(const CalibrationRequest &request) {
  if (llvm::Error error = checkFiles(request))
    return messages.fail(std::move(error));
  if (llvm::Error error = checkCalibrationCache(request.calibration))
    return messages.fail(std::move(error));
  const std::string &path = request.calibration.cache, &data = request.calibration.data;
  if (path.empty() || !llvm::sys::fs::exists(path))
    return makeFromData(request);
  auto file = llvm::MemoryBuffer::getFile(path);
  if (file && TensorRtCache::isOne((*file)->getBuffer()))
    return makeFromTensorRt(request, (*file)->getBuffer());
  return data.empty() ? makeFromCache(request) : makeFromData(request);
}

/// Prints the choice, unless options ask for something else.
static void sayChoice(const Messages &messages, const CalibrationRequest &request,
                      const std::optional<QuantizationChoice> &choice) {
  if (!choice || !request.isForInt8 || request.isQuiet)
    return;
  const CalibrationOptions &asked = request.calibration;
  const QuantizationChoice::Trial &chosen = choice->chosen;
  if ((!asked.method || asked.method->kind == chosen.method) &&
      asked.scalesChannels.value_or(chosen.scalesChannels) == chosen.scalesChannels &&
      asked.correctsBiases.value_or(chosen.correctsBiases) == chosen.correctsBiases)
    messages.summary("INT8: " + choice->text() + "\n");
}

LogicalResult CalibratedRanges::makeFromData(const CalibrationRequest &request) {
  CalibrationOptions calibration = request.calibration;
  if (request.isForInt8)
    calibration.model = request.model;
  calibration.compile = request.compile;
  llvm::Expected<std::string> targets = calibration.device.targets();
  if (!targets)
    return messages.fail(targets.takeError());
  Compiler compiler(calibrationOptions(request.compile, *targets, calibration));
  if (failed(compiler.read(request.model)))
    return failure();
  FailureOr<CalibrationCache> calibrated = failure();
  {
    MessageProgress progress(messages);
    calibration.onProgress = [&](StringRef what, uint64_t done, uint64_t all) {
      progress.update(what, done, all);
    };
    calibrated = calibrate(compiler, calibration);
  }
  if (failed(calibrated))
    return failure();
  sayChoice(messages, request, calibrated->choice);
  const std::string &cache = calibration.cache;
  if (failed(take(calibrated->text(), cache.empty() ? calibration.data : cache)))
    return failure();
  if (cache.empty())
    return success();
  auto before = llvm::MemoryBuffer::getFile(cache);
  if (before && (*before)->getBuffer() == text)
    return success();
  llvm::Error error = writeText(cache, text);
  return error ? messages.fail(std::move(error)) : success();
}

LogicalResult CalibratedRanges::makeFromCache(const CalibrationRequest &request) {
  const std::string &path = request.calibration.cache;
  llvm::Expected<CalibrationCache> read = CalibrationCache::read(path);
  if (!read)
    return messages.fail(read.takeError());
  CalibrationSource source = read->source;
  source.model = hashFile(request.model);
  if (source.weights != 0) { // of external data, which the model's own hash says nothing of
    Compiler compiler(request.compile);
    if (failed(compiler.read(request.model)))
      return failure();
    llvm::Expected<uint64_t> weights = hashFiles(compiler.filesRead());
    if (!weights)
      return messages.fail(weights.takeError());
    source.weights = *weights;
  }
  source.passes = insertedUpTo(Stage::Normalized, request.compile.pipeline);
  if (llvm::Error error = read->checkSource(source, path))
    return messages.fail(std::move(error));
  if (const auto &method = request.calibration.method; method && !read->adopt(*method))
    return messages.fail(
        llvm::createStringError("calibration cache '" + path +
                                "' has no thresholds by this method; --calibration-data "
                                "finds them"));
  if (request.calibration.correctsBiases.value_or(false) && !read->inputs)
    return messages.fail(
        llvm::createStringError("calibration cache '" + path +
                                "' has no means for --bias-correction by this method; "
                                "--calibration-data finds them"));
  sayChoice(messages, request, read->choice);
  if (request.calibration.scalesChannels.value_or(false) && !read->channels)
    return messages.fail(llvm::createStringError("calibration cache '" + path +
                                                 "' has no factors for --channel-scales=on; "
                                                 "--calibration-data finds them"));
  return take(read->text(), path);
}

LogicalResult CalibratedRanges::makeFromTensorRt(const CalibrationRequest &request,
                                                 llvm::StringRef content) {
  const std::string &path = request.calibration.cache;
  StringRef asked = request.calibration.correctsBiases.value_or(false)   ? "--bias-correction"
                    : request.calibration.scalesChannels.value_or(false) ? "--channel-scales=on"
                                                                         : "";
  if (!asked.empty())
    return messages.fail(llvm::createStringError("calibration cache '" + path +
                                                 "': TensorRT's have nothing for " + asked));
  llvm::Expected<TensorRtCache> read = TensorRtCache::parse(content, path);
  if (!read)
    return messages.fail(read.takeError());
  Compiler compiler(request.compile);
  if (failed(compiler.read(request.model)))
    return failure();
  FailureOr<std::string> ranges = rangesOf(*read, path, compiler);
  return failed(ranges) ? failure() : take(std::move(*ranges), path);
}

LogicalResult CalibratedRanges::write(StringRef path) const {
  llvm::Error error = writeText(path, text);
  return error ? messages.fail(std::move(error)) : success();
}
