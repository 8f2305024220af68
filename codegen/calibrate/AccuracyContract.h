// What --accuracy promises, and whether a model's outputs keep it.
//
//   99%     of what FP32 reaches: rows of the first output whose largest element is at the label's
//           index, or without labels where FP32 has it
//   -0.3%   no more than 0.3 points less than FP32 reaches
//   30dB    signal over noise of each output of floats, beside FP32
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Run.h"
#include "codegen/compare/TensorError.h"

namespace cameo {

struct AccuracyContract {
  enum Kind { Relative, Absolute, Noise };
  Kind kind = Relative;
  double amount = 1; // a share, a difference of shares, dB

  static llvm::Expected<AccuracyContract> parse(llvm::StringRef text);
  std::string text() const; // as parse takes it
};

/// As few digits as say it, up to six behind the point.
std::string shortText(double number);
/// Signal over noise in dB, or what an infinite one means.
std::string noiseText(double decibels);

/// How far a model is through the samples, and how it does.
struct AccuracyScore {
  uint64_t rows = 0, good = 0;     // of Relative and Absolute
  std::vector<TensorError> errors; // of Noise: an output each
};

/// Looks at the samples in one order, again for each model: those of FP32 first.
class AccuracyMetric {
public:
  AccuracyMetric(AccuracyContract contract, std::vector<int64_t> labels)
      : contract(contract), labels(std::move(labels)) {}

  /// FP32's outputs for the next samples. An error says what they have not that the contract needs.
  llvm::Error addReference(llvm::ArrayRef<TensorPort> ports, llvm::ArrayRef<HostTensor> outputs);
  /// After the last of them: whether there is a label for each row.
  llvm::Error finishReference();

  /// Another model's outputs for the next samples.
  void add(AccuracyScore &score, llvm::ArrayRef<HostTensor> outputs) const;
  /// Whether the contract is kept, once that is certain; of all samples it always is.
  std::optional<bool> verdict(const AccuracyScore &score, bool isAll) const;

  bool hasLabels() const { return !labels.empty(); }
  const AccuracyContract &asked() const { return contract; }
  uint64_t rows() const { return largest.size(); }
  /// What `verdict` compares: a share of rows, or dB of the worst output.
  double valueOf(const AccuracyScore &score) const;
  double referenceValue() const; // infinite for Noise
  double needed() const;
  /// "97.20 %", "31.4 dB".
  std::string text(double value) const;
  /// "right", "the class of FP32", "signal over noise".
  llvm::StringRef what() const;

private:
  bool isOfRows() const { return contract.kind != AccuracyContract::Noise; }
  uint64_t neededRows() const;
  uint64_t wantedIn(size_t row) const {
    return labels.empty() ? largest[row] : uint64_t(labels[row]);
  }

  AccuracyContract contract;
  std::vector<int64_t> labels;
  int64_t rowLength = 0;
  std::vector<uint64_t> largest; // of FP32's rows: where
  uint64_t referenceGood = 0;
  std::vector<std::vector<double>> reference; // of Noise: each output's elements
};

/// The numbers of an .npy file, or of the one array of an .npz file.
llvm::Expected<std::vector<int64_t>> readLabels(llvm::StringRef path);

} // namespace cameo
