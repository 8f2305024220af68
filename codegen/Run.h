// An artefact run in the compiler's own process, by the runtime that it carries: on the simulator,
// which is where there is no GPU, or on a GPU.
//
//   options.pipeline.taps = "*";
//   cameo::Compiler compiler(std::move(options));    // as in codegen/Compile.h, up to emit()
//   auto runner = cameo::Runner::create(compiler.artefact());
//   auto outputs = (*runner)->run({image}, [&](const cameo::TappedValue &value) {
//     return look(value.name, value.type, value.shape, value.bytes);
//   });
//
// Taps are the values of PipelineOptions::taps. Each is there for one call and gone afterwards, so
// that all values of a network can be looked at in little more memory than a run takes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cameo.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace cameo {

/// A tensor on the host, row-major.
struct HostTensor {
  cameo_dtype type = CAMEO_DTYPE_UNDEFINED;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> bytes;
};

/// An input, an output or a tap of a model.
struct TensorPort {
  std::string name;
  cameo_dtype type;
  llvm::SmallVector<int64_t> shape; // -1 where it is open
};

/// An intermediate value, as long as the call lasts that it is given to.
struct TappedValue {
  unsigned tap; // index into Runner::taps()
  llvm::StringRef name;
  cameo_dtype type; // as it is stored
  llvm::ArrayRef<int64_t> shape;
  llvm::ArrayRef<char> bytes;
  /// Numbers of the trips around a value in bodies of loops, those of outer loops first.
  llvm::ArrayRef<int64_t> trips = {};
};

/// Where a model runs.
struct RunDevice {
  cameo_device_kind kind = CAMEO_DEVICE_SIMULATOR;
  int ordinal = 0; // of a GPU

  /// "sim", "cuda" or "cuda:1".
  static llvm::Expected<RunDevice> parse(llvm::StringRef text);
  std::string text() const;
  /// What a model is compiled for to run there, as PipelineOptions::targets: for the simulator
  /// sm_80, for a GPU what its driver says that it is. An error says why the GPU cannot be used.
  llvm::Expected<std::string> targets() const;
};

struct RunOptions {
  RunDevice device;
  /// Threads of the simulator, 0: one a core. Results are the same, bit for bit, for any number.
  unsigned threads = 0;
};

/// Runs a model again and again, for any shapes. Used by one thread at a time; a process may have
/// several.
class Runner {
public:
  /// `artefact` is what Compiler::artefact() gives, or any file that cameo_model_load takes,
  /// aligned to 64 bytes.
  static llvm::Expected<std::unique_ptr<Runner>>
  create(std::unique_ptr<llvm::MemoryBuffer> artefact, const RunOptions &options = {});
  ~Runner();

  llvm::ArrayRef<TensorPort> inputs() const { return inputPorts; }
  llvm::ArrayRef<TensorPort> outputs() const { return outputPorts; }
  llvm::ArrayRef<TensorPort> taps() const { return tapPorts; }
  /// What the artefact says of itself, as JSON.
  llvm::StringRef manifest() const;

  using TapFunction = llvm::function_ref<llvm::Error(const TappedValue &)>;
  /// The outputs for such inputs, which are in the order of inputs(). `onTap` is called with each
  /// tapped value in the order of computation; its error ends the run and is returned.
  llvm::Expected<std::vector<HostTensor>> run(llvm::ArrayRef<HostTensor> given,
                                              TapFunction onTap = nullptr);
  /// The same for those taps alone that `isWanted` says: the others, of which it is told the bytes
  /// as well, stay where they are.
  using WantFunction = llvm::function_ref<bool(unsigned tap, uint64_t bytes)>;
  llvm::Expected<std::vector<HostTensor>> runWatched(llvm::ArrayRef<HostTensor> given,
                                                     WantFunction isWanted, TapFunction onTap);
  using ChangeFunction =
      llvm::function_ref<bool(const TappedValue &value, llvm::MutableArrayRef<char> bytes)>;
  /// `change` may write over each tapped value, in the order of computation, and says whether it
  /// has. What reads it behind its tap reads what was written; of a model compiled with -O0, all
  /// does.
  llvm::Expected<std::vector<HostTensor>> runChanged(llvm::ArrayRef<HostTensor> given,
                                                     ChangeFunction change);
  /// What intermediate values took together in the last run.
  uint64_t arenaBytes() const { return arena; }

private:
  Runner() = default;
  llvm::Error load(const RunOptions &options);
  std::vector<TensorPort> ports(cameo_tensor_role role) const;
  llvm::Expected<std::vector<HostTensor>> runWith(llvm::ArrayRef<HostTensor> given,
                                                  cameo_memory memory, TapFunction onTap);
  llvm::Error bindInputs(llvm::ArrayRef<HostTensor> given);
  llvm::Error bindOutputs(std::vector<HostTensor> &results);
  /// Those whose shapes the run has decided.
  llvm::Error readOutputs(std::vector<HostTensor> &results);
  static cameo_status showTap(void *user, const cameo_tap *tap);

  std::unique_ptr<llvm::MemoryBuffer> artefact;
  std::vector<TensorPort> inputPorts, outputPorts, tapPorts;
  bool isSimulated = true;
  uint64_t arena = 0;
  cameo_device *device = nullptr;
  cameo_model *model = nullptr;
  cameo_context *context = nullptr;
};

} // namespace cameo
