// cameo.h: contexts.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/api.h"

using namespace cameo::runtime;
using namespace cameo::runtime::api;

namespace {

// A later version may give them a meaning, which this one would miss.
Status checkReserved(uint32_t value, const char *name) {
  return value ? failure(Code::Unsupported, "%s: reserved is %u; it must be 0", name, value)
               : Status();
}

Status createContext(cameo_model *model, const cameo_context_options *given,
                     cameo_context **result) {
  cameo_context_options options = {};
  if (given)
    CAMEO_RETURN_IF_ERROR(readStruct(given, "cameo_context_options", options));
  if (options.profile != 0)
    return failure(Code::InvalidArgument, "profile %u: the entry point has 1", options.profile);
  if (options.flags & ~(CAMEO_CONTEXT_NO_GRAPH | CAMEO_CONTEXT_NO_STATES))
    return failure(Code::Unsupported, "unknown context flags 0x%x", options.flags);
  CAMEO_RETURN_IF_ERROR(checkReserved(options.reserved, "cameo_context_options"));
  if (!options.arena && options.arena_bytes)
    return failure(Code::InvalidArgument, "an arena of %llu bytes has no memory",
                   (unsigned long long)options.arena_bytes);
  if (!options.allocator.allocate != !options.allocator.release)
    return failure(Code::InvalidArgument, "an allocator needs both allocate and release");
  ContextOptions inner;
  inner.entry = options.entry;
  inner.useGraphs = !(options.flags & CAMEO_CONTEXT_NO_GRAPH);
  inner.keepsStates = !(options.flags & CAMEO_CONTEXT_NO_STATES);
  inner.stream = options.stream;
  inner.arena = reinterpret_cast<DevicePtr>(options.arena);
  inner.arenaBytes = options.arena_bytes;
  inner.allocator = {options.allocator.user, options.allocator.allocate, options.allocator.release};
  auto context = std::make_unique<cameo_context>();
  context->model = model->model;
  CAMEO_RETURN_IF_ERROR(Context::create(model->model, inner, context->context));
  *result = context.release();
  return {};
}

Status readBinding(const cameo_binding *given, Binding &binding) {
  cameo_binding known;
  CAMEO_RETURN_IF_ERROR(readStruct(given, "cameo_binding", known));
  CAMEO_RETURN_IF_ERROR(checkReserved(known.reserved, "cameo_binding"));
  if (!known.data && known.bytes)
    return failure(Code::InvalidArgument, "a binding of %llu bytes has no data",
                   (unsigned long long)known.bytes);
  if (known.memory != CAMEO_MEMORY_HOST && known.memory != CAMEO_MEMORY_DEVICE)
    return failure(Code::InvalidArgument, "memory kind %d is unknown", int(known.memory));
  binding.kind = !known.data                           ? Binding::None
                 : known.memory == CAMEO_MEMORY_DEVICE ? Binding::Device
                                                       : Binding::Host;
  binding.data = known.data;
  binding.bytes = known.bytes;
  return {};
}

Status writeShape(const Shape &shape, uint32_t capacity, int64_t *dims, uint32_t *rank) {
  if (rank)
    *rank = uint32_t(shape.size());
  if (!dims || capacity == 0)
    return {};
  if (capacity < shape.size())
    return failure(Code::InvalidArgument, "room for %u sizes; the shape has %zu", capacity,
                   shape.size());
  std::copy(shape.begin(), shape.end(), dims);
  return {};
}

} // namespace

cameo_status cameo::runtime::api::report(cameo_context *context, const Status &status) {
  if (!status.ok())
    context->error = status.message();
  cameo_status code = report(status);
  context->context->model().device()->log.error(status);
  return code;
}

extern "C" {

cameo_status cameo_context_create(cameo_model *model, const cameo_context_options *options,
                                  cameo_context **context) {
  CAMEO_REQUIRE(model);
  CAMEO_REQUIRE(context);
  return report(model, createContext(model, options, context));
}

void cameo_context_destroy(cameo_context *context) { delete context; }

const char *cameo_context_error(const cameo_context *context) {
  return context ? context->error.c_str() : "";
}

cameo_status cameo_context_set_input_shape(cameo_context *context, uint32_t input, uint32_t rank,
                                           const int64_t *dims) {
  CAMEO_USE(context);
  if (rank)
    CAMEO_REQUIRE(dims);
  if (rank > kMaxRank) // before any of the sizes is read
    return report(context,
                  failure(Code::InvalidArgument, "input %u: rank %u; tensors have %u at most",
                          input, rank, unsigned(kMaxRank)));
  return report(context, context->context->setInputShape(input, Shape(dims, dims + rank)));
}

cameo_status cameo_context_set_symbol(cameo_context *context, const char *symbol, int64_t size) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(symbol);
  return report(context, context->context->setSymbol(symbol, size));
}

cameo_status cameo_context_set_input_value(cameo_context *context, uint32_t input, const void *data,
                                           uint64_t bytes) {
  CAMEO_USE(context);
  return report(context, context->context->setInputValue(input, data, bytes));
}

cameo_status cameo_context_get_input_shape(cameo_context *context, uint32_t input,
                                           uint32_t capacity, int64_t *dims, uint32_t *rank) {
  CAMEO_USE(context);
  Shape shape;
  Status status = context->context->inputShape(input, shape);
  return report(context, status.ok() ? writeShape(shape, capacity, dims, rank) : std::move(status));
}

cameo_status cameo_context_get_output_shape(cameo_context *context, uint32_t output,
                                            uint32_t capacity, int64_t *dims, uint32_t *rank) {
  CAMEO_USE(context);
  Shape shape;
  Status status = context->context->outputShape(output, shape);
  return report(context, status.ok() ? writeShape(shape, capacity, dims, rank) : std::move(status));
}

cameo_status cameo_context_get_output_bound(cameo_context *context, uint32_t output,
                                            uint32_t capacity, int64_t *dims, uint32_t *rank,
                                            int32_t *is_exact) {
  CAMEO_USE(context);
  Shape bound;
  bool isExact = false;
  Status status = context->context->outputBound(output, bound, isExact);
  if (status.ok())
    status = writeShape(bound, capacity, dims, rank);
  if (status.ok() && is_exact)
    *is_exact = isExact;
  return report(context, status);
}

cameo_status cameo_context_get_bytes(cameo_context *context, cameo_tensor_role role, uint32_t index,
                                     uint64_t *bytes) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(bytes);
  if (Status status = checkRole(role); !status.ok())
    return report(context, status);
  if (role == CAMEO_TAP)
    return report(context,
                  failure(Code::InvalidArgument, "tap %u: its size comes with its value", index));
  return report(context, role == CAMEO_INPUT ? context->context->inputBytes(index, *bytes)
                                             : context->context->outputBytes(index, *bytes));
}

cameo_status cameo_context_get_arena_bytes(cameo_context *context, uint64_t *bytes) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(bytes);
  return report(context, context->context->arenaBytes(*bytes));
}

cameo_status cameo_context_bind_input(cameo_context *context, uint32_t input,
                                      const cameo_binding *binding) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(binding);
  Binding known;
  Status status = readBinding(binding, known);
  return report(context,
                status.ok() ? context->context->bindInput(input, known) : std::move(status));
}

cameo_status cameo_context_bind_output(cameo_context *context, uint32_t output,
                                       const cameo_binding *binding) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(binding);
  Binding known;
  Status status = readBinding(binding, known);
  return report(context,
                status.ok() ? context->context->bindOutput(output, known) : std::move(status));
}

cameo_status cameo_context_output_memory(cameo_context *context, uint32_t output, void **data,
                                         uint64_t *bytes) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(data);
  DevicePtr memory = 0;
  uint64_t size = 0;
  Status status = context->context->outputMemory(output, memory, size);
  if (status.ok()) {
    *data = reinterpret_cast<void *>(memory);
    if (bytes)
      *bytes = size;
  }
  return report(context, status);
}

cameo_status cameo_context_set_state(cameo_context *context, uint32_t input, uint32_t output) {
  CAMEO_USE(context);
  return report(context, context->context->setState(input, output));
}

cameo_status cameo_context_reserve_state(cameo_context *context, uint32_t input,
                                         uint64_t capacity) {
  CAMEO_USE(context);
  return report(context, context->context->reserveState(input, capacity));
}

cameo_status cameo_context_reset_states(cameo_context *context) {
  CAMEO_USE(context);
  context->context->resetStates();
  return CAMEO_STATUS_OK;
}

cameo_status cameo_context_read_state(cameo_context *context, uint32_t input, void *data,
                                      uint64_t bytes) {
  CAMEO_USE(context);
  if (bytes)
    CAMEO_REQUIRE(data);
  return report(context, context->context->readState(input, data, bytes));
}

cameo_status cameo_context_set_arena(cameo_context *context, void *arena, uint64_t bytes) {
  CAMEO_USE(context);
  return report(context, context->context->setArena(reinterpret_cast<DevicePtr>(arena), bytes));
}

cameo_status cameo_context_set_stream(cameo_context *context, void *stream) {
  CAMEO_USE(context);
  return report(context, context->context->setStream(stream));
}

cameo_status cameo_context_get_stream(cameo_context *context, void **stream) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(stream);
  *stream = context->context->stream();
  return CAMEO_STATUS_OK;
}

cameo_status cameo_context_set_seed(cameo_context *context, uint64_t seed) {
  CAMEO_USE(context);
  context->context->setSeed(seed);
  return CAMEO_STATUS_OK;
}

cameo_status cameo_context_enqueue(cameo_context *context) {
  CAMEO_USE(context);
  return report(context, context->context->enqueue());
}

cameo_status cameo_context_synchronize(cameo_context *context) {
  CAMEO_USE(context);
  return report(context, context->context->synchronize());
}

cameo_status cameo_context_query(cameo_context *context, int32_t *done) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(done);
  bool isDone = false;
  Status status = context->context->isDone(isDone);
  if (status.ok())
    *done = isDone;
  return report(context, status);
}

cameo_status cameo_context_notify(cameo_context *context, void (*callback)(void *user),
                                  void *user) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(callback);
  return report(context, context->context->callWhenDone(callback, user));
}

cameo_status cameo_context_run(cameo_context *context) {
  CAMEO_USE(context);
  Status status = context->context->enqueue();
  return report(context, status.ok() ? context->context->synchronize() : std::move(status));
}

cameo_status cameo_context_set_taps(cameo_context *context, cameo_memory memory,
                                    cameo_tap_callback callback, void *user) {
  CAMEO_USE(context);
  if (memory != CAMEO_MEMORY_HOST && memory != CAMEO_MEMORY_DEVICE)
    return report(context,
                  failure(Code::InvalidArgument, "memory kind %d is unknown", int(memory)));
  TapCallback inner;
  if (callback)
    inner = [=, &plan = context->context->plan()](const TapValue &value) {
      const PlanTensor &tensor = plan.taps()[value.tap];
      cameo_tap shown = {};
      shown.struct_size = sizeof shown;
      shown.index = value.tap;
      shown.rank = uint32_t(value.shape.size());
      shown.name = tensor.name;
      shown.dims = value.shape.data();
      shown.dtype = cameo_dtype(tensor.dtype);
      shown.memory = memory;
      shown.data =
          memory == CAMEO_MEMORY_HOST ? value.data : reinterpret_cast<void *>(value.memory);
      shown.bytes = value.bytes;
      shown.trips = value.trips.data();
      shown.trip_count = uint32_t(value.trips.size());
      cameo_status status = callback(user, &shown);
      return status == CAMEO_STATUS_OK ? Status()
                                       : failure(Code(status), "the callback ended the run");
    };
  context->context->setTaps(std::move(inner), memory == CAMEO_MEMORY_HOST);
  return CAMEO_STATUS_OK;
}

cameo_status cameo_context_read_tap(cameo_context *context, void *data, uint64_t bytes) {
  CAMEO_REQUIRE(context);
  if (bytes)
    CAMEO_REQUIRE(data);
  return report(context, context->context->readTap(data, bytes));
}

cameo_status cameo_context_write_tap(cameo_context *context, const void *data, uint64_t bytes) {
  CAMEO_REQUIRE(context);
  if (bytes)
    CAMEO_REQUIRE(data);
  return report(context, context->context->writeTap(data, bytes));
}

cameo_status cameo_context_run_timed(cameo_context *context, cameo_timing_callback callback,
                                     void *user) {
  CAMEO_USE(context);
  CAMEO_REQUIRE(callback);
  return report(context, context->context->runTimed([&](const LaunchTiming &timing) {
    cameo_launch_timing filled = {};
    filled.struct_size = sizeof filled;
    filled.kernel = timing.kernel->name;
    filled.onnx_nodes = timing.step->onnxNodes;
    std::copy(timing.step->grid, timing.step->grid + 3, filled.grid);
    std::copy(timing.kernel->block, timing.kernel->block + 3, filled.block);
    filled.start = timing.start;
    filled.duration = timing.duration;
    callback(user, &filled);
  }));
}

} // extern "C"
