// Models side by side: what they compute for the same samples, value by value.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/compare/Side.h"
#include "codegen/compare/TensorError.h"

namespace cameo {

/// A value of a side beside the reference's.
struct ComparedValue {
  std::string name, op;                     // op: of ONNX, empty where it is not known
  std::vector<std::string> around;          // of a value in bodies: the nodes that have these
  cameo_dtype type = CAMEO_DTYPE_UNDEFINED; // as this side stores it
  TensorError error;
};

struct SideResult {
  /// In the order in which the reference computes them; those that both have.
  std::vector<ComparedValue> values, outputs;
  /// Values of the reference that this side has not, or has in integers where the reference has
  /// floats.
  std::vector<std::string> missing;
  /// Of the first output: the largest of its last axis, beside the reference's and the labels'.
  Agreement agreement;
  uint64_t correct = 0;
};

class Comparison {
public:
  /// The first side is the reference. `labels` has the index of the right element for each row of
  /// the first output, over all samples; empty: none are known.
  Comparison(std::vector<std::unique_ptr<Side>> sides, std::vector<int64_t> labels)
      : sides(std::move(sides)), labels(std::move(labels)), results(this->sides.size()),
        positions(this->sides.size()) {}

  /// Runs all sides over a batch.
  llvm::Error add(const DataBatch &batch);
  /// Fails where there were more labels than rows.
  llvm::Error finish();

  size_t size() const { return sides.size(); }
  const SideFacts &facts(size_t side) const { return sides[side]->facts; }
  const SideResult &result(size_t side) const { return results[side]; }
  uint64_t samples() const { return sampleCount; }
  uint64_t rows() const { return results.front().agreement.rows(); }
  bool hasLabels() const { return !labels.empty(); }

  /// The first value in the order of computation whose SQNR is below `decibels`: all that it is
  /// computed from are at least that good. Outputs come last. Null: there is none.
  const ComparedValue *firstBeyond(size_t side, double decibels) const;
  /// Values with the lowest SQNR, the lowest first; of equal ones the earliest.
  std::vector<const ComparedValue *> worst(size_t side, size_t count) const;

private:
  /// A value of the reference for the batch at hand.
  struct Kept {
    cameo_dtype type = CAMEO_DTYPE_UNDEFINED;
    llvm::SmallVector<int64_t> shape;
    std::vector<double> numbers;
  };
  using KeptValues = llvm::StringMap<Kept>;
  llvm::Error runReference(const DataBatch &batch, KeptValues &values, KeptValues &outputs);
  llvm::Error runSide(size_t side, const DataBatch &batch, const KeptValues &values,
                      const KeptValues &outputs);
  llvm::Error compare(size_t side, const SeenValue &value, const KeptValues &kept,
                      llvm::StringMap<size_t> &at, std::vector<ComparedValue> &list);
  llvm::Error judge(size_t side, const std::vector<double> &reference,
                    const std::vector<double> &values, llvm::ArrayRef<int64_t> shape);

  std::vector<std::unique_ptr<Side>> sides;
  std::vector<int64_t> labels;
  std::vector<SideResult> results;
  /// In the results' lists; of the reference, in the order of its first run.
  struct Positions {
    llvm::StringMap<size_t> values, outputs;
  };
  std::vector<Positions> positions;
  std::vector<std::string> order, outputOrder; // names of the reference's
  uint64_t sampleCount = 0;
};

} // namespace cameo
