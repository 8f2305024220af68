// A stand-in for libcuda.so.1: copies, streams, events, launches and graphs. Work runs when
// something waits for it. SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <cstring>

using namespace fakecuda;

namespace {

bool inMemory(CUdeviceptr pointer, size_t bytes) {
  auto &memory = state().memory;
  auto after = memory.upper_bound(pointer);
  if (after == memory.begin())
    return false;
  auto &[begin, extent] = *--after;
  return pointer - begin <= extent.first && bytes <= extent.first - (pointer - begin);
}

int deviceOf(CUdeviceptr pointer) {
  return std::prev(state().memory.upper_bound(pointer))->second.second;
}

bool isPinned(const void *pointer, size_t bytes) {
  auto &pinned = state().pinned;
  auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = pinned.upper_bound(address);
  if (after == pinned.begin())
    return false;
  auto &[begin, size] = *--after;
  return address - begin <= size && bytes <= size - (address - begin);
}

std::shared_ptr<Stream> findStream(CUstream stream) {
  State &s = state();
  uint64_t id = streamId(stream);
  if ((id == 0 || id == 2) && !s.streams.count(id))
    s.streams[id] = std::make_shared<Stream>();
  auto found = s.streams.find(id);
  return found == s.streams.end() ? nullptr : found->second;
}

// Runs the stream's work up to and with the recording of `event` under `ticket`, or all of it.
// After a sticky error nothing runs any more.
CUresult drain(Stream &stream, const Event *event = nullptr, uint64_t ticket = 0) {
  if (state().sticky)
    stream.pending.clear();
  while (!stream.pending.empty() && !(event && event->done >= ticket)) {
    Op op = std::move(stream.pending.front());
    stream.pending.pop_front();
    if (CUresult error = runOp(op)) {
      stream.pending.clear();
      return state().sticky = error;
    }
  }
  return state().sticky;
}

CUresult enqueue(CUstream handle, Op op) {
  auto stream = findStream(handle);
  if (!stream)
    return 400; // CUDA_ERROR_INVALID_HANDLE
  if (stream->capture) {
    if (stream->capture->invalid)
      return 901; // CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    stream->capture->ops.push_back(std::move(op));
    if (!stream->origin)
      stream->capture->unjoined.insert(number(handle));
    return CUDA_SUCCESS;
  }
  stream->pending.push_back(std::move(op));
  return CUDA_SUCCESS;
}

} // namespace

namespace fakecuda {

CUresult runOp(const Op &op) {
  State &s = state();
  s.clock += 10;
  switch (op.kind) {
  case Op::Work:
    return op.work();
  case Op::Record:
    op.event->done = std::max(op.event->done, op.ticket);
    op.event->microseconds = s.clock;
    return CUDA_SUCCESS;
  case Op::Wait:
    if (op.event->done >= op.ticket)
      return CUDA_SUCCESS;
    if (auto other = s.streams.find(op.event->stream); other != s.streams.end())
      return drain(*other->second, op.event.get(), op.ticket);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_UNKNOWN;
}

CUresult enqueueWork(CUstream stream, std::function<CUresult()> work) {
  Op op;
  op.work = std::move(work);
  return enqueue(stream, std::move(op));
}

CUresult makeLaunch(const LaunchConfig &config, CUfunction function, void **parameters, Op &op) {
  State &s = state();
  auto found = s.functions.find(number(function));
  if (found == s.functions.end() || !s.modules.count(found->second.module))
    return 400;
  const Function &f = found->second;
  const DeviceSpec &device = s.devices[currentDevice()];
  uint64_t threads = uint64_t(config.blockDimX) * config.blockDimY * config.blockDimZ;
  if (!config.gridDimX || !config.gridDimY || !config.gridDimZ || !threads || threads > 1024 ||
      config.gridDimX > 0x7fffffff || config.gridDimY > 65535 || config.gridDimZ > 65535 ||
      config.sharedMemBytes + f.kernel.sharedStatic > static_cast<unsigned>(device.sharedOptin) ||
      config.sharedMemBytes > static_cast<unsigned>(f.dynamicShared))
    return CUDA_ERROR_INVALID_VALUE;
  Launch launch = {f.kernel.name,
                   {config.gridDimX, config.gridDimY, config.gridDimZ},
                   {config.blockDimX, config.blockDimY, config.blockDimZ},
                   config.sharedMemBytes,
                   {}};
  auto registered = s.registered.find(launch.kernel);
  std::vector<size_t> sizes = f.kernel.parameters;
  if (registered != s.registered.end()) {
    if (f.kernel.parametersKnown && sizes != registered->second.sizes)
      misuse("parameters of " + launch.kernel + " are not those registered");
    sizes = registered->second.sizes;
  }
  if (!sizes.empty() && !parameters) {
    misuse("launch of " + launch.kernel + " without parameters");
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto *value = static_cast<const char *>(parameters[i]);
    launch.arguments.emplace_back(value, value + sizes[i]);
  }
  op.work = [launch]() -> CUresult {
    State &s = state();
    if (auto failing = s.failingKernels.find(launch.kernel); failing != s.failingKernels.end())
      return failing->second;
    if (auto found = s.registered.find(launch.kernel); found != s.registered.end())
      found->second.body(launch);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

std::string describe(const LaunchConfig &config, CUfunction function) {
  auto found = state().functions.find(number(function));
  std::string name = found == state().functions.end() ? "?" : found->second.kernel.name;
  return name + " grid " + std::to_string(config.gridDimX) + "x" + std::to_string(config.gridDimY) +
         "x" + std::to_string(config.gridDimZ) + " block " + std::to_string(config.blockDimX) +
         "x" + std::to_string(config.blockDimY) + "x" + std::to_string(config.blockDimZ) +
         " shared " + std::to_string(config.sharedMemBytes);
}

CUresult drainAll() {
  for (auto &[id, stream] : state().streams)
    if (CUresult error = drain(*stream))
      return error;
  return CUDA_SUCCESS;
}

CUresult forbiddenInCapture() {
  CUresult error = CUDA_SUCCESS;
  for (auto &[id, stream] : state().streams)
    if (stream->capture && stream->captureThread == std::this_thread::get_id()) {
      stream->capture->invalid = true;
      error = 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    }
  return error;
}

} // namespace fakecuda

extern "C" {

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes,
                              CUstream stream) {
  ENTER(Context, bytesOf(bytes));
  if (!inMemory(destination, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  auto *to = reinterpret_cast<void *>(destination);
  if (isPinned(source, bytes) || (findStream(stream) && findStream(stream)->capture))
    return enqueueWork(stream, [=]() -> CUresult {
      memcpy(to, source, bytes);
      return CUDA_SUCCESS;
    });
  // Pageable memory has been read when the call returns.
  auto *begin = static_cast<const char *>(source);
  return enqueueWork(stream, [to, copy = std::vector<char>(begin, begin + bytes)]() -> CUresult {
    memcpy(to, copy.data(), copy.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  ENTER(Context, bytesOf(bytes));
  if (!inMemory(source, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  auto *from = reinterpret_cast<const void *>(source);
  CUresult error = enqueueWork(stream, [=]() -> CUresult {
    memcpy(destination, from, bytes);
    return CUDA_SUCCESS;
  });
  auto target = findStream(stream);
  if (error || target->capture || isPinned(destination, bytes))
    return error;
  return drain(*target); // pageable memory: the call waits
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  ENTER(Context, bytesOf(bytes));
  if (!inMemory(destination, bytes) || !inMemory(source, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return enqueueWork(stream, [=]() -> CUresult {
    memmove(reinterpret_cast<void *>(destination), reinterpret_cast<void *>(source), bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t bytes,
                         CUstream stream) {
  ENTER(Context, bytesOf(bytes));
  if (!inMemory(destination, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  return enqueueWork(stream, [=]() -> CUresult {
    memset(reinterpret_cast<void *>(destination), value, bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  ENTER(Context, flags & CU_STREAM_NON_BLOCKING ? "non-blocking" : "blocking");
  uint64_t id = state().nextHandle++;
  state().streams[id] = std::make_shared<Stream>();
  *stream = handle<CUstream>(id);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER_RELEASE(Context);
  auto found = findStream(stream);
  if (!found || !stream)
    return 400;
  if (found->capture && found->origin)
    misuse("stream destroyed while it captures");
  drain(*found);
  state().streams.erase(number(stream));
  return call.error;
}

CUresult cuStreamSynchronize(CUstream stream) {
  ENTER(Context);
  auto found = findStream(stream);
  if (!found)
    return 400;
  if (found->capture) {
    found->capture->invalid = true;
    return 900;
  }
  return drain(*found);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  ENTER(Context);
  State &s = state();
  auto found = s.events.find(number(event));
  auto target = findStream(stream);
  if (found == s.events.end() || !target)
    return 400;
  Event &e = *found->second;
  if (e.capture && e.capture->open) {
    if (!target->capture) { // forks: the stream takes part in the capture from here on
      target->capture = e.capture;
      target->captureThread = std::this_thread::get_id();
      e.capture->streams.insert(number(stream));
      e.capture->unjoined.insert(number(stream));
    } else if (target->origin) {
      e.capture->unjoined.erase(e.stream);
    }
    return CUDA_SUCCESS; // the graph's operations are in a valid order as they stand
  }
  Op op;
  op.kind = Op::Wait;
  op.event = found->second;
  op.ticket = e.recorded;
  return enqueue(stream, std::move(op));
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  ENTER(Context);
  uint64_t id = state().nextHandle++;
  state().events[id] = std::make_shared<Event>();
  *event = handle<CUevent>(id);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  ENTER_RELEASE(Context);
  if (!state().events.erase(number(event)))
    return 400;
  return call.error;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER(Context);
  State &s = state();
  auto found = s.events.find(number(event));
  auto target = findStream(stream);
  if (found == s.events.end() || !target)
    return 400;
  Event &e = *found->second;
  e.stream = streamId(stream);
  e.capture = target->capture;
  if (target->capture)
    return target->capture->invalid ? 901 : CUDA_SUCCESS;
  Op op;
  op.kind = Op::Record;
  op.event = found->second;
  op.ticket = e.recorded = s.nextTicket++;
  return enqueue(stream, std::move(op));
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER(Context);
  State &s = state();
  auto found = s.events.find(number(event));
  if (found == s.events.end())
    return 400;
  Event &e = *found->second;
  if (e.capture && e.capture->open)
    return 907; // CUDA_ERROR_CAPTURED_EVENT
  if (auto stream = s.streams.find(e.stream); stream != s.streams.end())
    return drain(*stream->second, &e, e.recorded);
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  ENTER(Context);
  State &s = state();
  auto first = s.events.find(number(start)), last = s.events.find(number(end));
  if (first == s.events.end() || last == s.events.end() || !first->second->recorded ||
      !last->second->recorded)
    return 400;
  if (first->second->done < first->second->recorded || last->second->done < last->second->recorded)
    return CUDA_ERROR_NOT_READY;
  *milliseconds =
      static_cast<float>((last->second->microseconds - first->second->microseconds) / 1000);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                        CUstream stream, void **parameters, void **extra) {
  LaunchConfig config = {gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes};
  ENTER(Context, describe(config, function));
  Op op;
  CUresult error = makeLaunch(config, function, parameters, op);
  return error ? error : enqueue(stream, std::move(op));
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  ENTER(Context);
  auto found = findStream(stream);
  if (!found || number(stream) < 2)
    return found ? 900 : 400;
  if (found->capture)
    return 1;
  found->capture = std::make_shared<Graph>();
  found->capture->streams.insert(number(stream));
  found->origin = true;
  found->captureThread = std::this_thread::get_id();
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  ENTER_RELEASE(Context);
  State &s = state();
  auto found = findStream(stream);
  *graph = nullptr;
  if (!found || !found->capture || !found->origin)
    return 903; // CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
  std::shared_ptr<Graph> captured = found->capture;
  captured->open = false;
  for (uint64_t id : captured->streams)
    if (auto other = s.streams.find(id); other != s.streams.end()) {
      other->second->capture = nullptr;
      other->second->origin = false;
    }
  if (call.error)
    return call.error;
  if (captured->invalid)
    return 901;
  if (!captured->unjoined.empty())
    return 904;
  uint64_t id = s.nextHandle++;
  s.graphs[id] = captured;
  *graph = handle<CUgraph>(id);
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, int *status) {
  ENTER(Context);
  auto found = findStream(stream);
  if (!found)
    return 400;
  *status = !found->capture ? 0 : found->capture->invalid ? 2 : 1;
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  ENTER(Context);
  auto found = state().events.find(number(event));
  if (found == state().events.end())
    return 400;
  return found->second->done < found->second->recorded ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
  ENTER(Context);
  return enqueueWork(stream, [=]() -> CUresult {
    function(user);
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer) {
  ENTER(Context);
  bool pinned = isPinned(reinterpret_cast<void *>(pointer), 1);
  if (!pinned && !inMemory(pointer, 1))
    return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
    *static_cast<int *>(value) = pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
    *static_cast<int *>(value) = pinned ? 0 : deviceOf(pointer);
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

} // extern "C"
