// Devices, models and contexts, as Python's classes hold them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/src/arrays.h"
#include "python/src/lock.h"
#include "python/src/status.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cameo::python {

/// A whole number from 0 to `most`: a TypeError or a ValueError that begins with `what`, where it is none.
uint64_t wholeNumber(nanobind::handle value, const char *what, uint64_t most);

template <typename T> T whole(nanobind::handle value, const char *what) {
  return T(wholeNumber(value, what, uint64_t(std::numeric_limits<T>::max())));
}

class Device {
public:
  Device(cameo_device_kind kind, int ordinal, unsigned threads, unsigned checks, uint64_t seed);

  bool isCuda() const { return info.kind == CAMEO_DEVICE_CUDA; }
  int ordinal() const { return info.ordinal; }
  std::string name() const { return info.name; }
  unsigned arch() const { return info.arch; }
  uint64_t totalMemory() const { return info.total_memory; }
  /// "cuda:0" or "simulator".
  std::string text() const;
  cameo_device *get() const { return handle.get(); }

private:
  std::shared_ptr<cameo_device> handle;
  cameo_device_info info = {};
};

/// An input, an output or a tap; -1 is an open size.
struct Tensor {
  std::string name;
  cameo_dtype type = CAMEO_DTYPE_UNDEFINED;
  std::vector<int64_t> dims;
  std::vector<std::string> symbols;
  bool isOnHost = false;
  std::optional<uint32_t> state; // the output that becomes it after each run
};

/// A model's file, loaded for a device or, without one, to be asked about.
class Model {
public:
  Model(const std::string &path, std::shared_ptr<Device> device);
  Model(nanobind::bytes bytes, std::shared_ptr<Device> device);

  const std::shared_ptr<Device> &device() const { return on; }
  std::vector<std::string> entries() const;
  std::vector<Tensor> tensors(uint32_t entry, cameo_tensor_role role) const;
  std::string manifest() const;
  cameo_model *get() const { return handle.get(); }

private:
  std::shared_ptr<char> bytes; // aligned, where the model was loaded from memory
  std::shared_ptr<cameo_model> handle;
  std::shared_ptr<Device> on;
};

/// Device memory that is an output of a run, until somebody takes it by DLPack.
nanobind::object makeDeviceArray(const Device &device, cameo_dtype type,
                                 const std::vector<int64_t> &shape, void *&data);

class Context {
public:
  /// Without `keepsStates` the model's states are inputs and outputs like others.
  Context(std::shared_ptr<Model> model, uint32_t entry, bool useGraphs, bool keepsStates);

  /// Runs with an array for each input, or None for one that is a state. `outputs` has an array for each, to be
  /// written to, or None where one is to be made: by `make`, of numpy's name of its elements and its shape, or where
  /// that is None as device memory if `onDevice`, else by numpy. With a stream, a CUstream, that is where it runs; 0 is
  /// the context's own. Waits unless `isAsynchronous`, no output is on the host, and the shapes of all are known
  /// before. Returns the outputs, None for one that only becomes a state.
  nanobind::list run(nanobind::list inputs, nanobind::list outputs, nanobind::object make,
                     bool onDevice, uint64_t stream, bool isAsynchronous);
  /// The same, and a tuple (kernel, nodes, grid, block, start, duration) a launch.
  nanobind::list profile(nanobind::list inputs);
  /// Shapes of outputs, for inputs of which each is an array or a shape. Sizes that a run decides are None, unless the
  /// model has fixed them.
  nanobind::list outputShapes(nanobind::list inputs);

  void setState(uint32_t input, std::optional<uint32_t> output);
  /// The value that the next run begins with, as an array of numpy's.
  nanobind::object state(uint32_t input);
  void reserveState(uint32_t input, uint64_t capacity);
  void resetStates();
  void setSeed(uint64_t seed);
  void setTaps(nanobind::object callback);
  /// What the garbage collector asks for: the function that taps call, or none; and that it goes.
  nanobind::handle callback() const { return tapCallback; }
  void forgetCallback() { tapCallback.reset(); }
  void synchronize();
  bool isDone();
  uint64_t arenaBytes();

private:
  struct Bound {
    std::optional<Array> array;
    std::vector<char> staged; // elements as Cameo has them, where the array's are not
    bool isStaged = false;    // of an output: its array gets its elements after the run
    bool isState = false;     // of an output: the model's own, which nobody asks for
  };

  /// The one call that there may be: the interface below asks for as much of each of its own calls, but between those of
  /// one method another thread may come in.
  class Call {
  public:
    explicit Call(Context &context) : isUnderWay(context.isInUse) {
      if (isUnderWay)
        throw StatusError(CAMEO_STATUS_BUSY, "the context is in use by another call");
      isUnderWay = true;
    }
    ~Call() { isUnderWay = false; }
    Call(const Call &) = delete;
    void operator=(const Call &) = delete;

  private:
    bool &isUnderWay; // under the interpreter's lock
  };

  nanobind::list runOnce(nanobind::list inputs, nanobind::list outputs, nanobind::object make,
                         bool onDevice, uint64_t stream, bool isAsynchronous);
  void withdrawFirstValues();
  cameo_status showTap(const cameo_tap &tap);
  void check(cameo_status status);
  void bindInputs(nanobind::list inputs);
  void bindInput(uint32_t index, nanobind::handle given);
  /// The shape of an input, which is given as that or as an array, and its values where shapes go by them.
  void takeShape(uint32_t index, nanobind::handle given);
  std::vector<nanobind::object> bindOutputs(nanobind::list outputs, nanobind::object make,
                                            bool onDevice);
  void setShape(uint32_t index, const std::vector<int64_t> &shape);
  std::vector<int64_t> outputShape(uint32_t index);
  /// True if that is known before the run: else values decide it that the run computes.
  bool isExact(uint32_t output);
  /// The array for an output of that shape, the one given or one that is made, and its memory.
  nanobind::object chooseOutput(uint32_t index, nanobind::handle given, nanobind::object make,
                                bool onDevice, const std::vector<int64_t> &shape,
                                cameo_binding &memory);
  /// After the run: an output whose shape it has decided, from the context's own memory.
  nanobind::object takeOutput(uint32_t index, nanobind::handle given, nanobind::object make,
                              bool onDevice);
  void checkDevice(const Array &array, const std::string &what) const;
  /// Whether the array of an output is written to after the run, as kernels cannot write to it as it lies.
  /// True of an output that becomes a state and of which nothing else is wanted.
  bool isOnlyState(uint32_t output, nanobind::handle given) const;
  bool isWrittenLater(uint32_t output, const std::string &what) const;

  std::shared_ptr<Model> model;
  std::vector<Tensor> inputs, outputs;
  std::vector<Bound> boundInputs, boundOutputs;
  std::vector<std::vector<int64_t>> shapes; // of inputs, as they were set last
  std::vector<uint32_t> firstValues;        // states that the call under way has bound
  bool isInUse = false;
  nanobind::object tapCallback;
  std::optional<nanobind::python_error> raised; // by that callback
  struct Destroy {
    void operator()(cameo_context *context) const { cameo_context_destroy(context); }
  };
  std::unique_ptr<cameo_context, Destroy> handle; // the first to go, as it waits
};

} // namespace cameo::python
