// The samples that a model is calibrated with: an .npz file, or a folder of .npz files or, for a
// model of one input, of .npy files, which are taken in the order of their names.
//
// A file has one array per input. Its first axis runs over samples: it takes the place of the input's
// first axis, whose size the model leaves open or fixes to how many samples it wants at a time, or
// stands in front of all of them. An array without that axis is one sample. Only the samples of
// one run are in memory at a time, and where the model fixes their number those of the first run.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Run.h"
#include "codegen/calibrate/ArrayFile.h"

namespace cameo {

/// What one run takes, one tensor per input.
struct DataBatch {
  uint64_t samples = 0;
  /// Samples behind these that an earlier place has had already: a model that fixes how many a run
  /// takes gets as many where fewer are left, too.
  uint64_t repeated = 0;
  std::vector<HostTensor> inputs;
};

/// Rows of a tensor of such a run without those of repeated samples: where its first axis runs over
/// the samples, each in as many rows, the rows in front; else the whole tensor.
struct SampleRows {
  llvm::SmallVector<int64_t> shape;
  llvm::ArrayRef<char> bytes; // of the tensor's
};
SampleRows rowsOfSamples(const DataBatch &batch, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<char> bytes);
/// Drops the rows of repeated samples from a run's outputs, in place.
void dropRepeated(const DataBatch &batch, std::vector<HostTensor> &outputs);

class CalibrationData {
public:
  /// For such inputs of a model. Looks at the headers of all files; `path` stands in messages as it
  /// is given.
  static llvm::Expected<CalibrationData> open(llvm::StringRef path,
                                              llvm::ArrayRef<TensorPort> inputs);

  uint64_t samples() const { return sampleCount; }
  size_t files() const { return paths.size(); }
  /// Of the files' bytes.
  llvm::Expected<uint64_t> hash() const { return hashFiles(paths); }

  /// Has no more than the first `count` samples from now on.
  void takeFirst(uint64_t count) { sampleCount = std::min(sampleCount, count); }

  /// The next `most` samples or fewer: a run has samples of one shape, as many as the model fixes.
  /// Where fewer are left, samples of that shape are repeated from the first on. A batch without
  /// samples is the end.
  llvm::Expected<DataBatch> next(uint64_t most);
  /// Back to the first sample.
  void rewind();

private:
  struct Part; // an array of the file that is being read
  struct Open; // that file
  CalibrationData();

public:
  CalibrationData(CalibrationData &&);
  ~CalibrationData();

private:
  llvm::Error findFiles(llvm::StringRef path);
  llvm::Error count();
  llvm::Expected<std::unique_ptr<Open>> openFile(llvm::StringRef path) const;
  llvm::Error place(const TensorPort &input, Part &part, llvm::StringRef path) const;
  llvm::Error fixRun(uint64_t samples, llvm::StringRef what);
  llvm::Expected<bool> openNext(DataBatch &batch);
  void complete(DataBatch &batch);

  std::vector<TensorPort> inputs;
  std::vector<std::string> paths;
  uint64_t sampleCount = 0;
  uint64_t fixedSamples = 0; // of each run; 0: any number
  size_t nextFile = 0;
  uint64_t taken = 0; // samples
  std::unique_ptr<Open> current;
  DataBatch first; // of the shape at hand, where the model fixes how many a run takes
};

} // namespace cameo
