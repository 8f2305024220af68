// What streams of the fake driver do while their work is recorded, and what that forbids.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <algorithm>

using namespace fakecuda;

namespace fakecuda {

namespace {

enum : int { modeGlobal = 0, modeRelaxed = 2 };

void merge(std::vector<uint64_t> &into, const std::vector<uint64_t> &from) {
  for (uint64_t node : from)
    if (std::find(into.begin(), into.end(), node) == into.end())
      into.push_back(node);
}

} // namespace

// cuda.h, cuThreadExchangeStreamCaptureMode.
CUresult forbiddenInCapture() {
  CUresult error = CUDA_SUCCESS;
  for (const std::shared_ptr<Capture> &capture : state().captures)
    if (capture->mode == modeGlobal ||
        (capture->mode != modeRelaxed && capture->thread == std::this_thread::get_id())) {
      capture->invalid = true;
      error = errorCaptureUnsupported;
    }
  return error;
}

void closeCapture(const std::shared_ptr<Capture> &capture) {
  capture->open = false;
  capture->origin = nullptr; // which holds the capture in turn
  for (auto &[stream, owned] : capture->streams) {
    stream->capture = nullptr;
    stream->captureNodes.clear();
  }
  state().captures.erase(capture);
}

CUresult checkImplicit(const Stream &stream, bool invalidates) {
  if (stream.kind != Stream::Legacy)
    return CUDA_SUCCESS;
  CUresult error = CUDA_SUCCESS;
  for (const std::shared_ptr<Capture> &capture : state().captures)
    for (auto &[other, owned] : capture->streams)
      if (other->kind == Stream::Blocking && other->device == stream.device) {
        capture->invalid |= invalidates;
        error = errorCaptureImplicit;
      }
  return error;
}

CUresult capture(const std::shared_ptr<Stream> &stream, Op op, Node::Kind kind) {
  Capture &capture = *stream->capture;
  if (capture.invalid)
    return errorCaptureInvalidated;
  Node node;
  node.kind = kind;
  node.handle = state().nextHandle++;
  node.op = std::move(op);
  node.after = stream->captureNodes;
  stream->captureNodes = {node.handle};
  if (stream != capture.origin)
    capture.unjoined.insert(stream.get());
  capture.graph.nodes.push_back(std::move(node));
  return CUDA_SUCCESS;
}

CUresult waitInCapture(const std::shared_ptr<Stream> &stream, Event &event) {
  if (!event.capture || !event.capture->open) { // the event is of work outside
    stream->capture->invalid = true;
    return event.capture ? errorCapturedEvent : errorCaptureIsolation;
  }
  if (stream->capture && stream->capture != event.capture) {
    stream->capture->invalid = event.capture->invalid = true;
    return errorCaptureMerge;
  }
  Capture &capture = *event.capture;
  if (capture.invalid)
    return errorCaptureInvalidated;
  if (!stream->capture) { // forks: the stream takes part from here on
    if (CUresult error = checkImplicit(*stream, true))
      return error;
    if (stream->kind == Stream::Legacy) {
      capture.invalid = true;
      return errorCaptureImplicit;
    }
    stream->capture = event.capture;
    capture.streams[stream.get()] = stream;
    capture.unjoined.insert(stream.get());
  }
  // Joined, if nothing has been added to that stream since the event was recorded.
  if (event.captureStream != stream.get() && capture.streams.count(event.captureStream) &&
      event.captureStream->captureNodes == event.captureNodes)
    capture.unjoined.erase(event.captureStream);
  merge(stream->captureNodes, event.captureNodes);
  return CUDA_SUCCESS;
}

void recordInCapture(const std::shared_ptr<Stream> &stream, Event &event) {
  event.capture = stream->capture;
  event.captureStream = stream.get();
  event.captureNodes = stream->captureNodes;
}

std::vector<Node> ordered(const std::vector<Node> &nodes) {
  std::vector<Node> result;
  std::set<uint64_t> placed;
  auto ready = [&](const Node &node) {
    return !placed.count(node.handle) &&
           std::all_of(node.after.begin(), node.after.end(),
                       [&](uint64_t other) { return placed.count(other); });
  };
  while (result.size() < nodes.size()) {
    // A graph has no cycles: nodes depend on those that were there before.
    auto next = std::find_if(nodes.rbegin(), nodes.rend(), ready);
    placed.insert(next->handle);
    result.push_back(*next);
  }
  return result;
}

} // namespace fakecuda

extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  ENTER(Context);
  auto found = findStream(stream);
  if (!found)
    return errorInvalidHandle;
  if (mode < modeGlobal || mode > modeRelaxed)
    return CUDA_ERROR_INVALID_VALUE;
  if (found->kind == Stream::Legacy)
    return errorCaptureUnsupported;
  if (found->capture)
    return errorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->origin = found;
  capture->streams[found.get()] = found;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  found->capture = capture;
  state().captures.insert(capture);
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  ENTER_RELEASE(Context);
  State &s = state();
  auto found = findStream(stream);
  *graph = nullptr;
  if (!found)
    return errorInvalidHandle;
  std::shared_ptr<Capture> capture = found->capture;
  if (!capture)
    return errorIllegalState;
  if (capture->origin != found)
    return errorCaptureUnmatched;
  if (capture->mode != modeRelaxed && capture->thread != std::this_thread::get_id())
    return errorCaptureWrongThread;
  closeCapture(capture);
  if (call.error)
    return call.error;
  if (capture->invalid)
    return errorCaptureInvalidated;
  if (!capture->unjoined.empty())
    return errorCaptureUnjoined;
  uint64_t id = s.nextHandle++;
  s.graphs[id] = std::make_shared<Graph>(std::move(capture->graph));
  *graph = handle<CUgraph>(id);
  return CUDA_SUCCESS;
}

} // extern "C"
