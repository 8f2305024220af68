// Options of calibration ==> ranges.
// SPDX-License-Identifier: Apache-2.0
#include "tools/Calibration.h"

#include "codegen/ModelInput.h"
#include "codegen/calibrate/ArrayFile.h"
#include "codegen/calibrate/Progress.h"
#include "codegen/emit/Payload.h"
#include "tools/OutputFiles.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cameo;

static LogicalResult say(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return failure();
}

static CompileOptions compileOptions(const CameocOptions &options) {
  CompileOptions result;
  result.shapes = options.shapes;
  result.warningsAreErrors = options.warningsAreErrors;
  result.jobs = options.jobs;
  result.code = codeTools(options);
  result.pipeline.precision.equalizesRanges = options.pipeline.precision.equalizesRanges;
  if (options.time)
    result.onStep = printStep;
  result.onMessage = [](const CompileMessage &message) { llvm::errs() << message; };
  return result;
}

static llvm::Error writeText(StringRef path, StringRef text) {
  return writeFile(path, 0644, [&](llvm::raw_fd_ostream &output) {
    output << text;
    return llvm::Error::success();
  });
}

CalibratedRanges::~CalibratedRanges() {
  if (!temporary.empty())
    llvm::sys::fs::remove(temporary);
}

/// The cache may be there before, and stays as it is or is made anew; nothing else is written over.
static llvm::Error checkFiles(const CameocOptions &options) {
  std::vector<std::string> inputs = {options.input};
  if (!options.calibration.data.empty())
    inputs.push_back(options.calibration.data);
  for (const std::string *file : {&options.accuracy.data, &options.accuracy.labels})
    if (!file->empty())
      inputs.push_back(*file);
  std::vector<OutputName> outputs;
  if (options.output != "-")
    outputs.push_back({"-o", options.output});
  if (!options.calibration.cache.empty())
    outputs.push_back({"--calibration-cache", options.calibration.cache});
  return checkOutputs(inputs, outputs);
}

LogicalResult CalibratedRanges::make(const CameocOptions &options) {
  if (llvm::Error error = checkFiles(options))
    return say(std::move(error));
  const std::string &path = options.calibration.cache;
  if (path.empty() || !llvm::sys::fs::exists(path)) {
    if (options.calibration.data.empty())
      return say(llvm::createStringError("calibration cache '" + path +
                                         "': there is none; --calibration-data makes it"));
    return makeFromData(options);
  }
  auto file = llvm::MemoryBuffer::getFile(path);
  if (file && TensorRtCache::isOne((*file)->getBuffer()))
    return makeFromTensorRt(options, (*file)->getBuffer());
  return options.calibration.data.empty() ? makeFromCache(options) : makeFromData(options);
}

LogicalResult CalibratedRanges::makeFromData(const CameocOptions &options) {
  CalibrationOptions calibration = options.calibration;
  calibration.device = options.device.value_or(RunDevice());
  calibration.threads = options.jobs;
  calibration.countsByKernels =
      options.countsByKernels.value_or(calibration.device.kind == CAMEO_DEVICE_CUDA);
  calibration.correctsBiases = options.pipeline.precision.correctsBiases;
  calibration.learnsRounding = options.pipeline.precision.learnsRounding;
  if (options.time)
    calibration.onStep = printStep;
  llvm::Expected<std::string> targets = calibration.device.targets();
  if (!targets)
    return say(targets.takeError());
  Compiler compiler(calibrationOptions(compileOptions(options), *targets, calibration));
  if (failed(compiler.read(options.input)))
    return failure();
  FailureOr<CalibrationCache> found = failure();
  {
    StepProgress progress(llvm::errs(), llvm::sys::Process::StandardErrIsDisplayed());
    calibration.onProgress = [&](StringRef what, uint64_t done, uint64_t all) {
      progress.update(what, done, all);
    };
    found = calibrate(compiler, calibration);
  }
  if (failed(found))
    return failure();
  ranges = found->text();
  if (calibration.cache.empty())
    return success();
  cache = calibration.cache;
  auto before = llvm::MemoryBuffer::getFile(cache);
  if (before && (*before)->getBuffer() == ranges)
    return success();
  llvm::Error error = writeText(cache, ranges);
  return error ? say(std::move(error)) : success();
}

LogicalResult CalibratedRanges::makeFromCache(const CameocOptions &options) {
  const std::string &path = options.calibration.cache;
  llvm::Expected<CalibrationCache> read = CalibrationCache::read(path);
  if (!read)
    return say(read.takeError());
  CalibrationSource source = read->source;
  source.model = hashFile(options.input);
  if (source.weights != 0) { // of external data, which the model's own hash says nothing of
    Compiler compiler(compileOptions(options));
    if (failed(compiler.read(options.input)))
      return failure();
    llvm::Expected<uint64_t> weights = hashFiles(compiler.filesRead());
    if (!weights)
      return say(weights.takeError());
    source.weights = *weights;
  }
  source.equalized = options.pipeline.precision.equalizesRanges ? "asked for" : "";
  if (llvm::Error error = read->checkSource(source, path))
    return say(std::move(error));
  if (const auto &method = options.calibration.method; method && !read->adopt(*method))
    return say(llvm::createStringError("calibration cache '" + path +
                                       "' has no thresholds by this method; --calibration-data "
                                       "finds them"));
  if (options.pipeline.precision.correctsBiases && !read->inputs)
    return say(llvm::createStringError("calibration cache '" + path +
                                       "' has no means for --bias-correction by this method; "
                                       "--calibration-data finds them"));
  if (options.pipeline.precision.learnsRounding && !read->roundings)
    return say(llvm::createStringError("calibration cache '" + path +
                                       "' has nothing for --learn-rounding by this method; "
                                       "--calibration-data learns it"));
  ranges = read->text();
  return success();
}

LogicalResult CalibratedRanges::makeFromTensorRt(const CameocOptions &options,
                                                 llvm::StringRef content) {
  const std::string &path = options.calibration.cache;
  const PrecisionOptions &precision = options.pipeline.precision;
  StringRef asked = precision.equalizesRanges  ? "--equalize-ranges"
                    : precision.correctsBiases ? "--bias-correction"
                    : precision.learnsRounding ? "--learn-rounding"
                                               : "";
  if (!asked.empty())
    return say(llvm::createStringError("calibration cache '" + path +
                                       "': TensorRT's have nothing for " + asked));
  llvm::Expected<TensorRtCache> read = TensorRtCache::parse(content, path);
  if (!read)
    return say(read.takeError());
  Compiler compiler(compileOptions(options));
  if (failed(compiler.read(options.input)))
    return failure();
  FailureOr<std::string> text = rangesOf(*read, path, compiler);
  if (failed(text))
    return failure();
  ranges = std::move(*text);
  return success();
}

LogicalResult CalibratedRanges::write(StringRef path) const {
  llvm::Error error = writeText(path, ranges);
  return error ? say(std::move(error)) : success();
}

llvm::Expected<std::string> CalibratedRanges::file() {
  if (!cache.empty())
    return cache;
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("cameo-ranges", "json", path))
    return llvm::createStringError("no temporary file: " + error.message());
  temporary = path.str().str();
  if (llvm::Error error = writeText(temporary, ranges))
    return error;
  return temporary;
}
