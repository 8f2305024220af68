// The Cameo runtime in C++17: what cameo.h offers, with owners that release what they own, views of memory that know
// their size and type, and errors as exceptions. Everything is in this header; link with libcameo.so or with a
// library of cameoc --emit=lib.
//
//   cameo::Device device = cameo::Device::simulator();        or cameo::Device::cuda(0)
//   cameo::Model model = cameo::Model::load("model", device);
//   cameo::Context context(model);
//   std::vector<float> image(4 * 784);
//   context.setShape("image", {4, 1, 28, 28});                where the model leaves sizes open
//   context.bindInput("image", image);                        host memory, which must stay where it is
//   context.run();
//   std::vector<float> logits = context.read<float>("logits");
//
// Errors are cameo::Error, with a cameo_status and the message that cameo.h has for it. Who has no use for exceptions
// calls tryRun, tryEnqueue and trySynchronize, which return the status, or cameo.h with the handles of get(); without
// exceptions in the compiler (-fno-exceptions) any other error ends the program with its message.
//
// Copies of a device or a model are the same one; contexts and memory are moved. All may be destroyed in any order: each
// keeps alive what it needs. Any number of threads use a device or a model at once, a context one at a time.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_HPP
#define CAMEO_HPP

#include "cameo.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cameo {

class Error : public std::runtime_error {
public:
  Error(cameo_status status, const std::string &message)
      : std::runtime_error(message), code(status) {}
  cameo_status status() const { return code; }

private:
  cameo_status code;
};

namespace detail {

[[noreturn]] inline void fail(cameo_status status, const std::string &message) {
#if defined(__cpp_exceptions)
  throw Error(status, message);
#else
  std::fprintf(stderr, "%s: %s\n", cameo_status_name(status), message.c_str());
  std::abort();
#endif
}

// Fails with the calling thread's message.
inline void check(cameo_status status) {
  if (status != CAMEO_STATUS_OK)
    fail(status, cameo_last_error());
}

template <typename T> constexpr cameo_dtype typeOf() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "no element type of ONNX: bind bytes");
  if (std::is_same_v<T, bool>)
    return CAMEO_DTYPE_BOOL;
  if (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? CAMEO_DTYPE_F32 : CAMEO_DTYPE_F64;
  constexpr cameo_dtype bySize[][2] = {{CAMEO_DTYPE_U8, CAMEO_DTYPE_I8},
                                       {CAMEO_DTYPE_U16, CAMEO_DTYPE_I16},
                                       {CAMEO_DTYPE_U32, CAMEO_DTYPE_I32},
                                       {CAMEO_DTYPE_U64, CAMEO_DTYPE_I64}};
  constexpr int row = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return bySize[row][std::is_signed_v<T>];
}

} // namespace detail

// Elements that lie one behind the other, of somebody else's: of a std::vector, std::array, std::span or array, or
// of a pointer and their number.
template <typename T> class Span {
public:
  constexpr Span() = default;
  constexpr Span(T *data, size_t size) : first(data), count(size) {}
  template <typename Container, typename = std::enable_if_t<std::is_convertible_v<
                                    decltype(std::declval<Container &>().data()), T *>>>
  constexpr Span(Container &container) : first(container.data()), count(container.size()) {}
  template <size_t N> constexpr Span(T (&array)[N]) : first(array), count(N) {}

  constexpr T *data() const { return first; }
  constexpr size_t size() const { return count; }
  constexpr T *begin() const { return first; }
  constexpr T *end() const { return first + count; }
  constexpr T &operator[](size_t i) const { return first[i]; }

private:
  T *first = nullptr;
  size_t count = 0;
};
template <typename T, size_t N> Span(T (&)[N]) -> Span<T>;
template <typename Container>
Span(Container &) -> Span<std::remove_pointer_t<decltype(std::declval<Container &>().data())>>;

// An input, an output or a tap; -1 is an open size.
struct Tensor {
  std::string name;
  cameo_dtype type = CAMEO_DTYPE_UNDEFINED;
  std::vector<int64_t> shape;
  std::vector<std::string> symbols; // names of open sizes, "" where there is none
  bool onHost = false;              // its values are read on the host
  // The output that becomes an input after each run, and the dimension along which it grows.
  std::optional<uint32_t> state, stateDim;
  bool inPlace = false; // in one memory with that output
};

// A logger is told what there is to say of a device, of models that are loaded for it, and of their contexts: by every
// thread that uses them, and so by several at once. It must not throw, and must not use them.
using Logger = std::function<void(cameo_log_level level, const std::string &text)>;

class Device {
public:
  // A GPU. Without a driver, or with one that fails, an error: nothing else is taken instead. A logger is told what is
  // as severe as `least`, or more so.
  static Device cuda(int ordinal = 0, Logger logger = nullptr,
                     cameo_log_level least = CAMEO_LOG_INFO) {
    CAMEO_INIT(cameo_device_options, options);
    options.kind = CAMEO_DEVICE_CUDA;
    options.ordinal = ordinal;
    options.log_level = least;
    return Device(options, std::move(logger));
  }
  // `threads` of the host; 0: one a core.
  static Device simulator(unsigned threads = 0, Logger logger = nullptr,
                          cameo_log_level least = CAMEO_LOG_INFO) {
    CAMEO_INIT(cameo_device_options, options);
    options.kind = CAMEO_DEVICE_SIMULATOR;
    options.sim_threads = threads;
    options.log_level = least;
    return Device(options, std::move(logger));
  }
  explicit Device(const cameo_device_options &options) { create(options, nullptr); }
  Device(cameo_device_options options, Logger logger) {
    auto owned = logger ? std::make_shared<Logger>(std::move(logger)) : nullptr;
    if (owned) {
      options.log_user = owned.get();
      options.log = [](void *user, const cameo_log_message *message) {
        (*static_cast<Logger *>(user))(message->level, message->text);
      };
    }
    create(options, std::move(owned));
  }

  cameo_device_info info() const {
    CAMEO_INIT(cameo_device_info, info);
    detail::check(cameo_device_get_info(get(), &info));
    return info;
  }
  cameo_device *get() const { return handle.get(); }

private:
  friend class Memory;
  friend class Model;
  // The logger lives as long as the handle, which models, and with them contexts, share.
  void create(const cameo_device_options &options, std::shared_ptr<Logger> logger) {
    cameo_device *made = nullptr;
    detail::check(cameo_device_create(&options, &made));
    handle.reset(
        made, [logger = std::move(logger)](cameo_device *device) { cameo_device_destroy(device); });
  }

  std::shared_ptr<cameo_device> handle;
};

// Memory of a device, or page-locked memory of the host, for bindings.
class Memory {
public:
  Memory() = default;
  Memory(const Device &device, uint64_t bytes, cameo_memory kind = CAMEO_MEMORY_DEVICE)
      : size(bytes), where(kind) {
    void *made = nullptr;
    detail::check(cameo_device_allocate(device.get(), kind, bytes, &made));
    owned = {made, Release{device.handle, kind}};
  }

  void *data() const { return owned.get(); }
  uint64_t bytes() const { return owned ? size : 0; }
  cameo_memory kind() const { return where; }

  // Copies from and to memory of the host, and waits.
  template <typename T> void write(Span<T> from) {
    copy(data(), where, from.data(), CAMEO_MEMORY_HOST, from.size() * sizeof(T));
  }
  template <typename Container> void write(const Container &from) { write(Span(from)); }
  template <typename T> void read(Span<T> to) const {
    copy(to.data(), CAMEO_MEMORY_HOST, data(), where, to.size() * sizeof(T));
  }
  template <typename Container> void read(Container &to) const { read(Span(to)); }

private:
  struct Release {
    std::shared_ptr<cameo_device> device;
    cameo_memory kind;
    void operator()(void *data) const { cameo_device_release(device.get(), kind, data); }
  };
  void copy(void *to, cameo_memory toKind, const void *from, cameo_memory fromKind,
            uint64_t wanted) const {
    if (wanted > size)
      detail::fail(CAMEO_STATUS_INVALID_ARGUMENT,
                   std::to_string(wanted) + " bytes of memory that has " + std::to_string(size));
    detail::check(
        cameo_device_copy(owned.get_deleter().device.get(), to, toKind, from, fromKind, wanted));
  }

  std::unique_ptr<void, Release> owned;
  uint64_t size = 0;
  cameo_memory where = CAMEO_MEMORY_DEVICE;
};

class Model {
public:
  // An executable, a library or a plan that cameoc has written.
  static Model load(const std::string &path, const Device &device) {
    return Model(device, [&](const cameo_model_options *options, cameo_model **model) {
      return cameo_model_load(path.c_str(), options, model);
    });
  }
  // Loads from its bytes, aligned to 64, which stay where they are as long as the model lives.
  static Model fromMemory(Span<const char> bytes, const Device &device) {
    return Model(device, [&](const cameo_model_options *options, cameo_model **model) {
      return cameo_model_load_memory(bytes.data(), bytes.size(), options, model);
    });
  }
  // The model of the executable or library that the program is linked with.
  static Model self(const Device &device) { return Model(device, cameo_model_load_self); }

  // The model of one of several such libraries, by its file name, as "libmodel.so".
  static Model linked(const std::string &library, const Device &device) {
    return Model(device, [&](const cameo_model_options *options, cameo_model **model) {
      return cameo_model_load_linked(library.c_str(), options, model);
    });
  }

  std::vector<Tensor> inputs(uint32_t entry = 0) const { return tensors(entry, CAMEO_INPUT); }
  std::vector<Tensor> outputs(uint32_t entry = 0) const { return tensors(entry, CAMEO_OUTPUT); }
  std::string manifest() const {
    const char *json = nullptr;
    size_t size = 0;
    detail::check(cameo_model_manifest(get(), &json, &size));
    return {json, size};
  }
  cameo_model *get() const { return handle.get(); }

private:
  friend class Context;
  template <typename Load> Model(const Device &device, Load load) : device(device.handle) {
    CAMEO_INIT(cameo_model_options, options);
    options.device = device.get();
    cameo_model *made = nullptr;
    detail::check(load(&options, &made));
    handle.reset(made, cameo_model_destroy);
  }

  Tensor tensor(uint32_t entry, cameo_tensor_role role, uint32_t index) const {
    CAMEO_INIT(cameo_tensor_info, info);
    detail::check(cameo_model_tensor_info(get(), entry, role, index, &info));
    Tensor tensor{info.name, info.dtype, {}, {}, (info.flags & CAMEO_TENSOR_ON_HOST) != 0, {}, {}};
    if (info.state != UINT32_MAX)
      tensor.state = info.state;
    if (info.state_dim != UINT32_MAX)
      tensor.stateDim = info.state_dim;
    tensor.inPlace = (info.flags & CAMEO_TENSOR_IN_PLACE) != 0;
    tensor.shape.assign(info.dims, info.dims + info.rank);
    tensor.symbols.assign(info.symbols, info.symbols + info.rank);
    return tensor;
  }
  std::vector<Tensor> tensors(uint32_t entry, cameo_tensor_role role) const {
    std::vector<Tensor> list;
    for (uint32_t i = 0, count = cameo_model_tensor_count(get(), entry, role); i < count; ++i)
      list.push_back(tensor(entry, role, i));
    return list;
  }

  std::shared_ptr<cameo_device> device;
  std::shared_ptr<cameo_model> handle; // the first to go
};

// An input or an output, by its number or its name.
class Which {
public:
  Which(int index) : index(uint32_t(index)) {}
  Which(size_t index) : index(uint32_t(index)) {}
  Which(const char *name) : name(name), isNamed(true) {}
  Which(const std::string &name) : name(name), isNamed(true) {}

private:
  friend class Context;
  uint32_t index = 0;
  std::string name;
  bool isNamed = false;
};

// Runs a model, by one thread at a time.
class Context {
public:
  explicit Context(const Model &model, uint32_t entry = 0) : model(model), entry(entry) {
    CAMEO_INIT(cameo_context_options, options);
    options.entry = entry;
    create(options);
  }
  Context(const Model &model, const cameo_context_options &options)
      : model(model), entry(options.entry) {
    create(options);
  }

  //===-- Shapes ------------------------------------------------------------------------------===//

  void setShape(const Which &input, Span<const int64_t> shape) {
    check(cameo_context_set_input_shape(get(), index(CAMEO_INPUT, input), uint32_t(shape.size()),
                                        shape.data()));
  }
  void setShape(const Which &input, std::initializer_list<int64_t> shape) {
    setShape(input, Span<const int64_t>(shape.begin(), shape.size()));
  }
  // Sets every size of that name, e.g. "batch".
  void setSize(const std::string &symbol, int64_t size) {
    check(cameo_context_set_symbol(get(), symbol.c_str(), size));
  }
  std::vector<int64_t> inputShape(const Which &input) const {
    return shape(cameo_context_get_input_shape, index(CAMEO_INPUT, input));
  }
  // Known before a run, once all inputs have shapes and the host knows what it reads of them, or, where values
  // decide it that a run computes, after it.
  std::vector<int64_t> outputShape(const Which &output) const {
    return shape(cameo_context_get_output_shape, index(CAMEO_OUTPUT, output));
  }

  // The most that each size can be in the next run, -1 where nothing bounds it.
  std::vector<int64_t> outputBound(const Which &output) const {
    uint32_t number = index(CAMEO_OUTPUT, output), rank = 0;
    check(cameo_context_get_output_bound(get(), number, 0, nullptr, &rank, nullptr));
    std::vector<int64_t> dims(rank);
    check(cameo_context_get_output_bound(get(), number, rank, dims.data(), &rank, nullptr));
    return dims;
  }
  // True where that is its shape; false where values decide it that a run computes.
  bool isExact(const Which &output) const {
    int32_t exact = 0;
    check(cameo_context_get_output_bound(get(), index(CAMEO_OUTPUT, output), 0, nullptr, nullptr,
                                         &exact));
    return exact != 0;
  }

  //===-- Memory ------------------------------------------------------------------------------===//

  // Host memory, which is read at each run, and written once a run is done. Elements are of the tensor's type; those
  // of types that C++ does not have are bound as bytes, by bindInputBytes.
  template <typename T> void bindInput(const Which &input, Span<T> from) {
    checkType(CAMEO_INPUT, input, detail::typeOf<std::remove_const_t<T>>());
    bindInputBytes(input, from.data(), from.size() * sizeof(T));
  }
  template <typename Container> void bindInput(const Which &input, const Container &from) {
    bindInput(input, Span(from));
  }
  // Elements that nobody keeps until the run.
  template <typename T> void bindInput(const Which &input, std::vector<T> &&from) = delete;
  template <typename T> void bindOutput(const Which &output, Span<T> to) {
    checkType(CAMEO_OUTPUT, output, detail::typeOf<T>());
    bindOutputBytes(output, to.data(), to.size() * sizeof(T));
  }
  template <typename Container> void bindOutput(const Which &output, Container &to) {
    bindOutput(output, Span(to));
  }
  void bindInput(const Which &input, const Memory &memory) {
    bindInputBytes(input, memory.data(), memory.bytes(), memory.kind());
  }
  void bindOutput(const Which &output, Memory &memory) {
    bindOutputBytes(output, memory.data(), memory.bytes(), memory.kind());
  }
  void bindInputBytes(const Which &input, const void *data, uint64_t bytes,
                      cameo_memory kind = CAMEO_MEMORY_HOST) {
    cameo_binding binding = {sizeof(cameo_binding), kind, 0, const_cast<void *>(data), bytes};
    check(cameo_context_bind_input(get(), index(CAMEO_INPUT, input), &binding));
  }
  void bindOutputBytes(const Which &output, void *data, uint64_t bytes,
                       cameo_memory kind = CAMEO_MEMORY_HOST) {
    cameo_binding binding = {sizeof(cameo_binding), kind, 0, data, bytes};
    check(cameo_context_bind_output(get(), index(CAMEO_OUTPUT, output), &binding));
  }
  // The output's value becomes the input's after each run.
  void setState(const Which &input, const Which &output) {
    check(cameo_context_set_state(get(), index(CAMEO_INPUT, input), index(CAMEO_OUTPUT, output)));
  }

  // Room along the dimension along which a state grows in place.
  void reserveState(const Which &input, uint64_t capacity) {
    check(cameo_context_reserve_state(get(), index(CAMEO_INPUT, input), capacity));
  }
  // Reads the value that the next run begins with; waits.
  template <typename T> std::vector<T> readState(const Which &input) {
    checkRead<T>(CAMEO_INPUT, input);
    return copyOfState<T>(index(CAMEO_INPUT, input));
  }
  // Reads one whose elements C++ has no type for.
  std::vector<unsigned char> readStateBytes(const Which &input) {
    return copyOfState<unsigned char>(index(CAMEO_INPUT, input));
  }
  // States begin anew at the next run.
  void resetStates() { check(cameo_context_reset_states(get())); }

  // Reads an output after a run, wherever it is; waits.
  template <typename T> std::vector<T> read(const Which &output) {
    checkRead<T>(CAMEO_OUTPUT, output);
    return copyOfOutput<T>(index(CAMEO_OUTPUT, output));
  }
  // Reads one whose elements C++ has no type for.
  std::vector<unsigned char> readBytes(const Which &output) {
    return copyOfOutput<unsigned char>(index(CAMEO_OUTPUT, output));
  }

  //===-- Running -----------------------------------------------------------------------------===//

  void run() { check(tryRun()); }
  void enqueue() { check(tryEnqueue()); }
  void synchronize() { check(trySynchronize()); }
  cameo_status tryRun() noexcept { return cameo_context_run(get()); }
  cameo_status tryEnqueue() noexcept { return cameo_context_enqueue(get()); }
  cameo_status trySynchronize() noexcept { return cameo_context_synchronize(get()); }
  // The message of the last call that failed.
  std::string error() const { return cameo_context_error(get()); }

  // True once the runs that were enqueued are done.
  bool isDone() {
    int32_t done = 0;
    check(cameo_context_query(get(), &done));
    return done != 0;
  }
  // Calls back once they are: see cameo_context_notify. The callback must not throw.
  void notify(std::function<void()> callback) {
    if (!callback)
      throw Error(CAMEO_STATUS_INVALID_ARGUMENT, "notify: there is no function to call");
    auto *owned = new std::function<void()>(std::move(callback));
    cameo_status status = cameo_context_notify(
        get(),
        [](void *user) {
          std::unique_ptr<std::function<void()>> call(static_cast<std::function<void()> *>(user));
          (*call)();
        },
        owned);
    if (status != CAMEO_STATUS_OK)
      delete owned;
    check(status);
  }
  void setStream(void *stream) { check(cameo_context_set_stream(get(), stream)); }
  void setSeed(uint64_t seed) { check(cameo_context_set_seed(get(), seed)); }

  cameo_context *get() const { return handle.get(); }

private:
  struct Destroy {
    void operator()(cameo_context *context) const { cameo_context_destroy(context); }
  };
  void create(const cameo_context_options &options) {
    cameo_context *made = nullptr;
    detail::check(cameo_context_create(model.get(), &options, &made));
    handle.reset(made);
  }
  static void check(cameo_status status) { detail::check(status); }

  uint32_t index(cameo_tensor_role role, const Which &which) const {
    uint32_t found = which.index;
    if (which.isNamed)
      check(cameo_model_find_tensor(model.get(), entry, role, which.name.c_str(), &found));
    return found;
  }
  void checkType(cameo_tensor_role role, const Which &which, cameo_dtype given) const {
    Tensor tensor = model.tensor(entry, role, index(role, which));
    if (tensor.type != given)
      detail::fail(CAMEO_STATUS_INVALID_ARGUMENT, "'" + tensor.name + "' has elements of " +
                                                      cameo_dtype_name(tensor.type) + ", not of " +
                                                      cameo_dtype_name(given));
  }
  template <typename T> void checkRead(cameo_tensor_role role, const Which &which) const {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no bytes: read uint8_t");
    bool isByte = std::is_same_v<T, uint8_t> &&
                  model.tensor(entry, role, index(role, which)).type == CAMEO_DTYPE_BOOL;
    if (!isByte)
      checkType(role, which, detail::typeOf<T>());
  }
  template <typename T> std::vector<T> copyOfState(uint32_t number) {
    uint64_t bytes = 0;
    check(cameo_context_get_bytes(get(), CAMEO_INPUT, number, &bytes));
    std::vector<T> values(bytes / sizeof(T));
    check(cameo_context_read_state(get(), number, values.data(), bytes));
    return values;
  }
  template <typename T> std::vector<T> copyOfOutput(uint32_t number) {
    synchronize();
    void *data = nullptr;
    uint64_t bytes = 0;
    check(cameo_context_output_memory(get(), number, &data, &bytes));
    std::vector<T> values(bytes / sizeof(T));
    check(cameo_device_copy(model.device.get(), values.data(), CAMEO_MEMORY_HOST, data,
                            CAMEO_MEMORY_DEVICE, values.size() * sizeof(T)));
    return values;
  }
  template <typename Get> std::vector<int64_t> shape(Get getShape, uint32_t number) const {
    uint32_t rank = 0;
    check(getShape(get(), number, 0, nullptr, &rank));
    std::vector<int64_t> sizes(rank);
    check(getShape(get(), number, rank, sizes.data(), &rank));
    return sizes;
  }

  Model model;
  uint32_t entry;
  std::unique_ptr<cameo_context, Destroy> handle;
};

} // namespace cameo

#endif
