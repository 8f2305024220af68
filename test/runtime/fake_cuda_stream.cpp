// A stand-in for libcuda.so.1: streams and events.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

using namespace fakecuda;

namespace {

enum : unsigned { recordExternal = 1 }; // CUevent_record_flags

// An event of the current device.
std::shared_ptr<Event> findEvent(CUevent handle) {
  std::shared_ptr<Event> *found = find(state().events, handle, "event");
  return found && (*found)->device == currentDevice() ? *found : nullptr;
}

// Waiting is a use of the stream.
CUresult checkWait(Stream &stream) {
  if (CUresult error = forbiddenInCapture())
    return error;
  if (stream.capture) {
    stream.capture->invalid = true;
    return errorCaptureUnsupported;
  }
  return checkImplicit(stream, true);
}

CUresult checkWait(const Event &event) {
  if (event.capture) {
    event.capture->invalid = true;
    return errorCapturedEvent;
  }
  return forbiddenInCapture();
}

// An external record is a node of what is captured.
CUresult record(CUevent event, CUstream stream, bool external) {
  auto found = findEvent(event);
  auto target = findStream(stream);
  if (!found || !target)
    return errorInvalidHandle;
  if (external && !target->capture)
    return CUDA_ERROR_INVALID_VALUE;
  if (target->capture && !external) {
    if (target->capture->invalid)
      return errorCaptureInvalidated;
    recordInCapture(target, *found);
    return CUDA_SUCCESS;
  }
  Op op;
  op.what = "event";
  op.event = found;
  return enqueue(target, std::move(op), Node::Record);
}

} // namespace

extern "C" {

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  ENTER(Context, flags & CU_STREAM_NON_BLOCKING ? "non-blocking" : "blocking");
  if (flags & ~CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t id = state().nextHandle++;
  auto created = std::make_shared<Stream>();
  created->device = currentDevice();
  created->kind = flags == CU_STREAM_NON_BLOCKING ? Stream::NonBlocking : Stream::Blocking;
  state().streams[id] = created;
  *stream = handle<CUstream>(id);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER_RELEASE(Context);
  if (number(stream) < State::firstHandle)
    return errorInvalidHandle;
  auto found = findStream(stream);
  if (!found)
    return errorInvalidHandle;
  if (found->capture) {
    misuse("stream destroyed while it captures");
    found->capture->invalid = true;
    if (found->capture->origin == found)
      closeCapture(std::shared_ptr<Capture>(found->capture));
  }
  // The call does not wait: the work is done when it would have been.
  if (!found->pending.empty())
    state().retired.push_back(found);
  state().streams.erase(number(stream));
  return call.error;
}

CUresult cuStreamSynchronize(CUstream stream) {
  ENTER(Context);
  auto found = findStream(stream);
  if (!found)
    return errorInvalidHandle;
  if (CUresult error = checkWait(*found))
    return error;
  return state().deaf ? CUDA_SUCCESS : waitFor(pointOf(found));
}

CUresult cuStreamQuery(CUstream stream) {
  ENTER(Context);
  auto found = findStream(stream);
  if (!found)
    return errorInvalidHandle;
  if (CUresult error = checkWait(*found))
    return error;
  return poll(pointOf(found));
}

CUresult cuStreamIsCapturing(CUstream stream, int *status) {
  ENTER(Context);
  auto found = findStream(stream);
  if (!found)
    return errorInvalidHandle;
  if (CUresult error = checkImplicit(*found, false))
    return error;
  *status = !found->capture ? 0 : found->capture->invalid ? 2 : 1;
  return CUDA_SUCCESS;
}

// The function may not call the driver.
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
  ENTER(Context);
  Op op;
  op.what = "host function";
  op.work = [=]() -> CUresult {
    state().inHostFunction = std::this_thread::get_id();
    function(user);
    state().inHostFunction = std::thread::id();
    return CUDA_SUCCESS;
  };
  return enqueue(findStream(stream), std::move(op), Node::Host);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  ENTER(Context);
  auto target = findStream(stream);
  // Other devices' streams may wait for an event.
  std::shared_ptr<Event> *found = find(state().events, event, "event");
  if (!found || !target)
    return errorInvalidHandle;
  Event &e = **found;
  if (target->capture || (e.capture && e.capture->open))
    return waitInCapture(target, e);
  if (e.capture)
    return errorCapturedEvent;
  Op op;
  op.what = "wait";
  if (e.point.stream)
    op.after.push_back(e.point);
  return enqueue(target, std::move(op), Node::Empty);
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  ENTER(Context);
  uint64_t id = state().nextHandle++;
  auto created = std::make_shared<Event>();
  created->device = currentDevice();
  created->timed = !(flags & CU_EVENT_DISABLE_TIMING);
  state().events[id] = created;
  *event = handle<CUevent>(id);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  ENTER_RELEASE(Context);
  if (!findEvent(event))
    return errorInvalidHandle;
  state().events.erase(number(event));
  return call.error;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER(Context);
  return record(event, stream, false);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  ENTER(Context);
  return flags & ~recordExternal ? CUDA_ERROR_INVALID_VALUE
                                 : record(event, stream, flags & recordExternal);
}

CUresult cuEventQuery(CUevent event) {
  ENTER(Context);
  auto found = findEvent(event);
  if (!found)
    return errorInvalidHandle;
  if (CUresult error = checkWait(*found))
    return error;
  return poll(found->point);
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER(Context);
  auto found = findEvent(event);
  if (!found)
    return errorInvalidHandle;
  if (CUresult error = checkWait(*found))
    return error;
  return waitFor(found->point);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  ENTER(Context);
  auto first = findEvent(start), last = findEvent(end);
  if (!first || !last || !first->timed || !last->timed || !first->recorded || !last->recorded)
    return errorInvalidHandle;
  if (first->capture || last->capture)
    return errorCapturedEvent;
  if (first->done < first->recorded || last->done < last->recorded)
    return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>((last->microseconds - first->microseconds) / 1000);
  return CUDA_SUCCESS;
}

} // extern "C"
