// What is compared: a model at a precision, an artefact, or numbers that were recorded.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/Compile.h"
#include "codegen/Run.h"
#include "codegen/calibrate/CalibrationData.h"
#include "codegen/emit/LaunchTotals.h"

namespace cameo {

/// What is known of a side beside its numbers.
struct SideFacts {
  std::string name; // "fp16"; a file's
  uint64_t bytes = 0;
  /// Of the first variant, without the taps of a model; nothing where they are not known.
  std::optional<LaunchTotals> launches;
  /// A board at most once.
  std::vector<TotalEstimate> estimates;
  /// Operators by the names of values.
  llvm::StringMap<std::string> operators;
  /// The nodes that take or repeat the bodies that values are in, outer ones first.
  llvm::StringMap<std::vector<std::string>> around;
};

/// A value of one run; bytes and shape live as long as the call that it is given to.
struct SeenValue {
  llvm::StringRef name;
  cameo_dtype type;
  llvm::ArrayRef<int64_t> shape;
  llvm::ArrayRef<char> bytes;
  llvm::ArrayRef<int64_t> trips = {}; // as of TappedValue
};

/// The launches of a model that is compiled for these targets and sizes, but not to code. Messages
/// go to options.onMessage.
llvm::Expected<std::vector<LaunchTotals>> countLaunches(llvm::StringRef path,
                                                        CompileOptions options);

class Side {
public:
  explicit Side(SideFacts facts) : facts(std::move(facts)) {}
  virtual ~Side() = default;

  using ValueFunction = llvm::function_ref<llvm::Error(const SeenValue &)>;
  /// Calls `onValue` with the intermediate values of a run over a batch, in the order of
  /// computation, and `onOutput` with its outputs.
  virtual llvm::Error run(const DataBatch &batch, ValueFunction onValue,
                          ValueFunction onOutput) = 0;

  SideFacts facts;
};

/// A model that runs.
class RunningSide : public Side {
public:
  /// `tapped` has the same model with taps; null where `model` has them.
  RunningSide(SideFacts facts, std::unique_ptr<Runner> model, std::unique_ptr<Runner> tapped)
      : Side(std::move(facts)), model(std::move(model)), tapped(std::move(tapped)) {}

  /// Compiles a model for where `run` runs it, once as it is and once with taps on the values that match
  /// `taps`, if there are any. Messages go to options.onMessage; an error says only that there was
  /// one.
  static llvm::Expected<std::unique_ptr<RunningSide>>
  compile(llvm::StringRef path, llvm::StringRef name, const CompileOptions &options,
          llvm::StringRef taps, const RunOptions &run);
  /// An artefact, with what taps it was compiled with.
  static llvm::Expected<std::unique_ptr<RunningSide>> load(llvm::StringRef path,
                                                           const RunOptions &run);

  llvm::Error run(const DataBatch &batch, ValueFunction onValue, ValueFunction onOutput) override;

  llvm::ArrayRef<TensorPort> inputs() const { return model->inputs(); }
  llvm::ArrayRef<TensorPort> outputs() const { return model->outputs(); }
  llvm::ArrayRef<TensorPort> values() const { return withTaps().taps(); }

private:
  Runner &withTaps() const { return tapped ? *tapped : *model; }

  std::unique_ptr<Runner> model, tapped;
};

/// Numbers that another program has recorded, for the samples that the models run over: arrays of
/// an .npz file, or of a folder of them, by the names of values and outputs.
class RecordedSide : public Side {
public:
  /// Those of `values` are read that the file has; none is an error. The first `outputs` of them
  /// are a model's outputs.
  static llvm::Expected<std::unique_ptr<RecordedSide>>
  open(llvm::StringRef path, llvm::ArrayRef<TensorPort> outputs, llvm::ArrayRef<TensorPort> values);

  llvm::Error run(const DataBatch &batch, ValueFunction onValue, ValueFunction onOutput) override;

private:
  RecordedSide(SideFacts facts, std::vector<TensorPort> arrays, size_t outputs,
               CalibrationData data)
      : Side(std::move(facts)), arrays(std::move(arrays)), outputs(outputs), data(std::move(data)) {
  }

  std::vector<TensorPort> arrays; // outputs first
  size_t outputs;
  CalibrationData data;
};

} // namespace cameo
