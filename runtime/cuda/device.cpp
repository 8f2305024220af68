// The CUDA device: its context, memory, streams, events and copies.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/device.h"

namespace cameo::runtime {

Status createCudaDevice(int ordinal, std::unique_ptr<Device> &device, const char *library) {
  using namespace cuda;
  Driver driver;
  CAMEO_RETURN_IF_ERROR(Driver::open(library, driver));
  int count = 0, version = 0;
  CAMEO_RETURN_IF_ERROR(initialise(driver, count, version));
  if (ordinal < 0 || ordinal >= count)
    return failure(Code::InvalidArgument,
                   "there is no CUDA device %d: the driver shows %d, "
                   "counted from 0",
                   ordinal, count);
  DeviceInfo info;
  CAMEO_RETURN_IF_ERROR(readDeviceInfo(driver, ordinal, info));
  return CudaDevice::create(driver, info, device);
}

namespace cuda {

namespace {

CUstream nativeStream(Stream stream) { return static_cast<CUstream>(stream); }
CUevent nativeEvent(Event event) { return static_cast<CUevent>(event); }

std::string bytesText(uint64_t bytes) { return std::to_string(bytes) + " B"; }

} // namespace

thread_local CudaDevice::Calls CudaDevice::calls;

CudaDevice::Current::Current(const CudaDevice &device) : driver(device.driver) {
  if (calls.device == &device)
    return;
  CUcontext current = nullptr;
  status = CAMEO_CUDA(driver, cuCtxGetCurrent, &current);
  if (!status.ok() || current == device.context)
    return;
  status = CAMEO_CUDA(driver, cuCtxPushCurrent_v2, device.context);
  pushed = status.ok();
}

CudaDevice::Current::~Current() {
  // What this could report is a failure of earlier work, which the next call reports as well; what
  // this call has done stands.
  CUcontext ours;
  if (pushed)
    (void)driver.cuCtxPopCurrent_v2(&ours);
}

// Finding and pushing the context takes about as long as a short call, and a run makes hundreds.
Status CudaDevice::beginCalls() {
  if (calls.depth == 0) {
    Current current(*this);
    CAMEO_RETURN_IF_ERROR(std::move(current.status));
    calls = {this, current.release(), 0};
  }
  ++calls.depth;
  return Status();
}

void CudaDevice::endCalls() {
  if (--calls.depth > 0)
    return;
  CUcontext ours;
  if (calls.pushed)
    (void)driver.cuCtxPopCurrent_v2(&ours); // as in ~Current
  calls = {};
}

bool CudaDevice::Current::release() {
  bool result = pushed;
  pushed = false;
  return result;
}

Status CudaDevice::create(const Driver &driver, const DeviceInfo &info,
                          std::unique_ptr<Device> &device) {
  CUdevice native = 0;
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGet, &native, info.ordinal));
  CUcontext context = nullptr;
  if (CUresult result = driver.cuDevicePrimaryCtxRetain(&context, native))
    return driver.check(result, "cuDevicePrimaryCtxRetain",
                        "on CUDA device " + std::to_string(info.ordinal) + ", " + info.name);
  device.reset(new CudaDevice(driver, info, native, context));
  return Status();
}

CudaDevice::~CudaDevice() {
  // Nobody is left to tell of a failure.
  (void)driver.cuDevicePrimaryCtxRelease_v2(native);
}

Status CudaDevice::checkEarlier(CUresult result, const char *call,
                                const std::string &context) const {
  if (result == CUDA_SUCCESS)
    return Status();
  std::string more = context, last = lastLaunched();
  if (!last.empty())
    more += (more.empty() ? "" : "; ") + last;
  return driver.check(result, call, more);
}

std::string CudaDevice::lastLaunched() const {
  const std::string *name = lastKernel.load(std::memory_order_relaxed);
  if (!name)
    return "";
  return (lastIsGraph.load(std::memory_order_relaxed) ? "the last graph launched ends with "
                                                      : "the last kernel launched was ") +
         *name;
}

Status CudaDevice::memoryInfo(uint64_t &available, uint64_t &total) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  size_t freeBytes = 0, totalBytes = 0;
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuMemGetInfo_v2, &freeBytes, &totalBytes));
  available = freeBytes;
  total = totalBytes;
  return Status();
}

Status CudaDevice::allocate(uint64_t bytes, DevicePtr &memory) {
  memory = 0;
  if (bytes == 0)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  CUdeviceptr pointer = 0;
  if (CUresult result = driver.cuMemAlloc_v2(&pointer, bytes)) {
    std::string asked = "asked for " + bytesText(bytes);
    size_t available = 0, total = 0;
    if (driver.cuMemGetInfo_v2(&available, &total) == CUDA_SUCCESS)
      asked += " where " + bytesText(available) + " of " + bytesText(total) + " are free";
    return checkEarlier(result, "cuMemAlloc_v2", asked);
  }
  memory = pointer;
  return Status();
}

Status CudaDevice::release(DevicePtr memory) {
  if (!memory)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuMemFree_v2(memory), "cuMemFree_v2");
}

Status CudaDevice::allocateHost(uint64_t bytes, void *&memory) {
  memory = nullptr;
  if (bytes == 0)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE),
                      "cuMemHostAlloc",
                      "asked for " + bytesText(bytes) + " of page-locked host memory");
}

Status CudaDevice::releaseHost(void *memory) {
  if (!memory)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuMemFreeHost(memory), "cuMemFreeHost");
}

Status CudaDevice::createStream(Stream &stream) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  CUstream created = nullptr;
  CAMEO_RETURN_IF_ERROR(
      checkEarlier(driver.cuStreamCreate(&created, CU_STREAM_DEFAULT), "cuStreamCreate"));
  stream = created;
  return Status();
}

Status CudaDevice::destroyStream(Stream stream) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuStreamDestroy_v2(nativeStream(stream)), "cuStreamDestroy_v2");
}

Status CudaDevice::synchronize(Stream stream) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuStreamSynchronize(nativeStream(stream)), "cuStreamSynchronize");
}

Status CudaDevice::createEvent(Event &event, bool timed, bool blocking) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  CUevent created = nullptr;
  unsigned flags = (timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING) |
                   (blocking ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_DEFAULT);
  CAMEO_RETURN_IF_ERROR(checkEarlier(driver.cuEventCreate(&created, flags), "cuEventCreate"));
  event = created;
  return Status();
}

Status CudaDevice::destroyEvent(Event event) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuEventDestroy_v2(nativeEvent(event)), "cuEventDestroy_v2");
}

Status CudaDevice::record(Event event, Stream stream) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuEventRecord(nativeEvent(event), nativeStream(stream)),
                      "cuEventRecord");
}

Status CudaDevice::wait(Stream stream, Event event) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuStreamWaitEvent(nativeStream(stream), nativeEvent(event), 0),
                      "cuStreamWaitEvent");
}

Status CudaDevice::synchronizeEvent(Event event) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuEventSynchronize(nativeEvent(event)), "cuEventSynchronize");
}

Status CudaDevice::queryEvent(Event event, bool &passed) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  CUresult result = driver.cuEventQuery(nativeEvent(event));
  passed = result == CUDA_SUCCESS;
  return result == CUDA_ERROR_NOT_READY ? Status() : checkEarlier(result, "cuEventQuery");
}

Status CudaDevice::elapsed(Event start, Event stop, float &milliseconds) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(
      driver.cuEventElapsedTime(&milliseconds, nativeEvent(start), nativeEvent(stop)),
      "cuEventElapsedTime");
}

Status CudaDevice::copyToDevice(DevicePtr target, const void *source, uint64_t bytes,
                                Stream stream) {
  if (bytes == 0)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuMemcpyHtoDAsync_v2(target, source, bytes, nativeStream(stream)),
                      "cuMemcpyHtoDAsync_v2", "copying " + bytesText(bytes) + " to the GPU");
}

Status CudaDevice::copyToHost(void *target, DevicePtr source, uint64_t bytes, Stream stream) {
  if (bytes == 0)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuMemcpyDtoHAsync_v2(target, source, bytes, nativeStream(stream)),
                      "cuMemcpyDtoHAsync_v2", "copying " + bytesText(bytes) + " from the GPU");
}

Status CudaDevice::copyOnDevice(DevicePtr target, DevicePtr source, uint64_t bytes, Stream stream) {
  if (bytes == 0)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuMemcpyDtoDAsync_v2(target, source, bytes, nativeStream(stream)),
                      "cuMemcpyDtoDAsync_v2", "copying " + bytesText(bytes) + " on the GPU");
}

Status CudaDevice::fill(DevicePtr target, uint8_t value, uint64_t bytes, Stream stream) {
  if (bytes == 0)
    return Status();
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuMemsetD8Async(target, value, bytes, nativeStream(stream)),
                      "cuMemsetD8Async", "filling " + bytesText(bytes) + " on the GPU");
}

// Memory that no driver call made has no attributes. A kernel that reads it loses the context, and
// with the primary context all that other users of it in this process have.
Status CudaDevice::checkDeviceMemory(DevicePtr memory) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  int kind = 0, owner = -1, reachable = 0;
  CUresult result = driver.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuDeviceGetAttribute, &reachable,
                                     CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
                                     deviceInfo.ordinal));
    return reachable ? Status()
                     : failure(Code::InvalidArgument, "0x%llx is not memory that %s can reach",
                               (unsigned long long)memory, deviceInfo.name.c_str());
  }
  CAMEO_RETURN_IF_ERROR(checkEarlier(result, "cuPointerGetAttribute"));
  if (kind != CU_MEMORYTYPE_DEVICE)
    return Status();
  CAMEO_RETURN_IF_ERROR(CAMEO_CUDA(driver, cuPointerGetAttribute, &owner,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
  return owner == deviceInfo.ordinal
             ? Status()
             : failure(Code::InvalidArgument,
                       "0x%llx is memory of CUDA device %d; the model is on %d",
                       (unsigned long long)memory, owner, deviceInfo.ordinal);
}

Status CudaDevice::isPageable(const void *memory, bool &pageable) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  int kind = 0;
  CUresult result = driver.cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                 reinterpret_cast<CUdeviceptr>(memory));
  pageable = result == CUDA_ERROR_INVALID_VALUE;
  return pageable ? Status() : checkEarlier(result, "cuPointerGetAttribute");
}

Status CudaDevice::isCapturing(Stream stream, bool &capturing) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  int state = 0;
  CUresult result = driver.cuStreamIsCapturing(nativeStream(stream), &state);
  capturing = state != 0;
  return checkEarlier(result, "cuStreamIsCapturing");
}

Status CudaDevice::callHost(Stream stream, void (*function)(void *), void *user) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(driver.cuLaunchHostFunc(nativeStream(stream), function, user),
                      "cuLaunchHostFunc");
}

} // namespace cuda

} // namespace cameo::runtime
