// The fake driver's streams as queues: what waits for what, and when it is run.
//
// Work is run when something waits for it, and then only what that needs, unless setOrder() says
// otherwise. The legacy default stream waits for all earlier work of blocking streams, and their
// later work for it (CUDA Driver API, "Stream synchronization behavior").
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <algorithm>
#include <atomic>

namespace fakecuda {

namespace {

// The values of CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
constexpr uint64_t legacyHandle = 1, perThreadHandle = 2;

uint64_t threadNumber() {
  static std::atomic<uint64_t> threads{0};
  thread_local uint64_t number = perThreadHandle + threads++;
  return number;
}

bool hasRun(const Point &point) { return !point.stream || point.stream->done >= point.count; }

// Runs the first piece of work of the stream, whatever it waits for having run.
CUresult runFirst(Stream &stream) {
  State &s = state();
  Op op = std::move(stream.pending.front());
  stream.pending.pop_front();
  ++stream.done;
  double ready = std::max(op.submitted, stream.end);
  for (const Point &point : op.after)
    ready = std::max(ready, point.mark ? point.mark->end : 0);
  CUresult error = op.work ? op.work() : CUDA_SUCCESS;
  op.mark->end = stream.end = s.clock.run(op.engine, ready, op.duration);
  if (op.event) {
    op.event->done = std::max(op.event->done, op.ticket);
    op.event->microseconds = s.clock.quantised(stream.end);
  }
  if (error)
    s.sticky = error;
  return s.sticky;
}

// The stream whose first piece of work can be run and is needed to get to the point.
Stream *runnable(const Point &point) {
  Stream *stream = point.stream.get();
  for (bool waits = true; waits;) {
    waits = false;
    for (const Point &other : stream->pending.front().after)
      if (!hasRun(other)) {
        stream = other.stream.get();
        waits = true;
        break;
      }
  }
  return stream;
}

std::vector<std::shared_ptr<Stream>> allStreams() {
  State &s = state();
  std::vector<std::shared_ptr<Stream>> all = s.retired;
  for (auto &[key, stream] : s.defaultStreams)
    all.push_back(stream);
  for (auto &[id, stream] : s.streams)
    all.push_back(stream);
  return all;
}

// Now and then, some work that nothing needs yet.
void runSome() {
  State &s = state();
  for (uint64_t steps = s.random() % 3; steps && !s.sticky; --steps) {
    std::vector<std::shared_ptr<Stream>> streams = allStreams();
    streams.erase(std::remove_if(streams.begin(), streams.end(),
                                 [](const auto &stream) { return stream->pending.empty(); }),
                  streams.end());
    if (streams.empty())
      return;
    advance(pointOf(streams[s.random() % streams.size()]));
  }
}

void addOrder(const std::shared_ptr<Stream> &stream, Op &op) {
  if (stream->kind == Stream::NonBlocking)
    return;
  for (const std::shared_ptr<Stream> &other : allStreams())
    if (other != stream && other->device == stream->device && other->enqueued &&
        other->kind == (stream->kind == Stream::Legacy ? Stream::Blocking : Stream::Legacy))
      op.after.push_back(pointOf(other));
}

} // namespace

std::shared_ptr<Stream> findStream(CUstream handle) {
  State &s = state();
  uint64_t id = number(handle);
  if (id > perThreadHandle) {
    std::shared_ptr<Stream> *found = find(s.streams, handle, "stream");
    return (*found)->device == currentDevice() ? *found : nullptr;
  }
  int device = currentDevice();
  uint64_t key = id == perThreadHandle ? threadNumber() : legacyHandle;
  std::shared_ptr<Stream> &stream = s.defaultStreams[{device, key}];
  if (!stream) {
    stream = std::make_shared<Stream>();
    stream->device = device;
    stream->kind = id == perThreadHandle ? Stream::Blocking : Stream::Legacy;
  }
  return stream;
}

Point pointOf(const std::shared_ptr<Stream> &stream) {
  return {stream, stream->enqueued, stream->last};
}

CUresult enqueue(const std::shared_ptr<Stream> &stream, Op op, Node::Kind kind) {
  State &s = state();
  if (!stream)
    return errorInvalidHandle;
  if (stream->capture)
    return capture(stream, std::move(op), kind);
  if (CUresult error = checkImplicit(*stream, true))
    return error;
  addOrder(stream, op);
  op.submitted = s.clock.host();
  op.mark = std::make_shared<Mark>();
  if (op.event) {
    op.ticket = op.event->recorded = s.nextTicket++;
    op.event->point = {stream, stream->enqueued + 1, op.mark};
    op.event->capture = nullptr;
  }
  stream->last = op.mark;
  ++stream->enqueued;
  stream->pending.push_back(std::move(op));
  return CUDA_SUCCESS;
}

bool advance(const Point &point) {
  if (hasRun(point) || state().sticky)
    return false;
  runFirst(*runnable(point));
  return true;
}

CUresult drain(const Point &point) {
  while (advance(point))
    if (state().order == Order::Seeded)
      runSome();
  return state().sticky;
}

CUresult drainAll() {
  State &s = state();
  for (const std::shared_ptr<Stream> &stream : allStreams())
    if (CUresult error = waitFor(pointOf(stream)))
      return error;
  s.retired.clear();
  return CUDA_SUCCESS;
}

CUresult waitFor(const Point &point) {
  CUresult error = drain(point);
  double &host = state().clock.host();
  if (point.mark)
    host = std::max(host, point.mark->end);
  return error;
}

CUresult poll(const Point &point) {
  State &s = state();
  double &host = s.clock.host();
  if (advance(point) || s.sticky)
    return s.sticky ? s.sticky : CUDA_ERROR_NOT_READY;
  if (!point.mark || point.mark->end <= host)
    return CUDA_SUCCESS;
  // As if the caller had done something else meanwhile: it comes to an end in some ten calls.
  host += std::max(1.0, (point.mark->end - host) / 2);
  return CUDA_ERROR_NOT_READY;
}

void runAhead() {
  if (state().order == Order::Seeded)
    runSome();
  else if (state().order == Order::Eager)
    for (const std::shared_ptr<Stream> &stream : allStreams())
      drain(pointOf(stream));
}

void dropStreams(int device) {
  State &s = state();
  auto isGone = [device](const Stream &stream) { return device < 0 || stream.device == device; };
  for (const std::shared_ptr<Stream> &stream : allStreams())
    if (isGone(*stream))
      stream->pending.clear(); // whose events in turn hold the stream
  auto drop = [&](auto &streams) {
    for (auto it = streams.begin(); it != streams.end();)
      it = isGone(*it->second) ? streams.erase(it) : std::next(it);
  };
  drop(s.streams);
  drop(s.defaultStreams);
  s.retired.clear();
}

} // namespace fakecuda
