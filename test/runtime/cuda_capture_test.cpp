// The fake driver's rules of recording streams, after cuda.h.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_testing.h"

using namespace fakecuda;

namespace {

enum : int { globally = 0, inThread = 1, relaxed = 2 }; // CUstreamCaptureMode

class CudaCapture : public FakeCuda {
protected:
  CUresult begin(CUstream stream, int mode = inThread) {
    return cuStreamBeginCapture_v2(stream, mode);
  }
  CUresult end(CUstream stream) { return cuStreamEndCapture(stream, &graph); }
  CUresult replay() {
    CUgraphExec executable = nullptr;
    if (CUresult error = cuGraphInstantiateWithFlags(&executable, graph, 0))
      return error;
    if (CUresult error = cuGraphLaunch(executable, perThread))
      return error;
    return cuStreamSynchronize(perThread);
  }
  CUgraph graph = nullptr;
};

TEST_F(CudaCapture, RecordsAndReplays) {
  open();
  CUstream s = stream();
  ASSERT_EQ(begin(s), 0);
  ASSERT_EQ(launchAdd(s, 3), 0);
  ASSERT_EQ(launchTwice(s), 0);
  ASSERT_EQ(end(s), 0);
  ASSERT_EQ(cuStreamSynchronize(s), 0);
  EXPECT_EQ(*value(), 0);
  ASSERT_EQ(replay(), 0);
  EXPECT_EQ(*value(), 6);
}

TEST_F(CudaCapture, WhatCannotBegin) {
  open();
  CUstream s = stream();
  EXPECT_EQ(begin(legacy), errorCaptureUnsupported);
  EXPECT_EQ(begin(legacyHandle), errorCaptureUnsupported);
  EXPECT_EQ(begin(s, 7), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(begin(s), 0);
  EXPECT_EQ(begin(s), errorIllegalState);
  EXPECT_EQ(end(s), 0) << "a second beginning does no harm to the first";
  EXPECT_EQ(end(s), errorIllegalState);
}

TEST_F(CudaCapture, ForkAndJoin) {
  open();
  CUstream a = stream(), b = stream();
  CUevent fork = event(), join = event();
  ASSERT_EQ(begin(a), 0);
  ASSERT_EQ(launchAdd(a, 1), 0);
  ASSERT_EQ(cuEventRecord(fork, a), 0);
  ASSERT_EQ(cuStreamWaitEvent(b, fork, 0), 0);
  ASSERT_EQ(launchTwice(b), 0);
  EXPECT_EQ(cuStreamEndCapture(b, &graph), errorCaptureUnmatched);
  ASSERT_EQ(cuEventRecord(join, b), 0);
  ASSERT_EQ(cuStreamWaitEvent(a, join, 0), 0);
  ASSERT_EQ(launchAdd(a, 10), 0);
  ASSERT_EQ(end(a), 0);
  ASSERT_EQ(replay(), 0);
  EXPECT_EQ(*value(), 12);
}

TEST_F(CudaCapture, Unjoined) {
  open();
  CUstream a = stream(), b = stream();
  CUevent fork = event(), join = event();
  ASSERT_EQ(begin(a), 0);
  ASSERT_EQ(cuEventRecord(fork, a), 0);
  ASSERT_EQ(cuStreamWaitEvent(b, fork, 0), 0);
  ASSERT_EQ(cuEventRecord(join, b), 0);
  ASSERT_EQ(cuStreamWaitEvent(a, join, 0), 0);
  ASSERT_EQ(launchTwice(b), 0) << "after the join";
  EXPECT_EQ(end(a), errorCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(launchAdd(b, 1), 0) << "both streams work again";
  EXPECT_EQ(cuStreamSynchronize(b), 0);
}

TEST_F(CudaCapture, DependenciesDoNotCross) {
  open();
  CUstream a = stream(), b = stream();
  CUevent outside = event(), ofA = event();
  ASSERT_EQ(cuEventRecord(outside, b), 0);
  ASSERT_EQ(begin(a), 0);
  EXPECT_EQ(cuStreamWaitEvent(a, outside, 0), errorCaptureIsolation);
  EXPECT_EQ(launchAdd(a, 1), errorCaptureInvalidated);
  EXPECT_EQ(end(a), errorCaptureInvalidated);

  ASSERT_EQ(begin(a), 0);
  ASSERT_EQ(begin(b), 0);
  ASSERT_EQ(cuEventRecord(ofA, a), 0);
  EXPECT_EQ(cuStreamWaitEvent(b, ofA, 0), errorCaptureMerge);
  EXPECT_EQ(end(a), errorCaptureInvalidated);
  EXPECT_EQ(end(b), errorCaptureInvalidated);
}

TEST_F(CudaCapture, LegacyStreamMeanwhile) {
  open();
  CUstream blocking = stream(), other = stream(CU_STREAM_NON_BLOCKING);
  int status = -1;
  ASSERT_EQ(begin(other), 0);
  EXPECT_EQ(launchAdd(legacy, 1), 0) << "is not ordered with that stream";
  EXPECT_EQ(end(other), 0);

  ASSERT_EQ(begin(blocking), 0);
  EXPECT_EQ(cuStreamIsCapturing(blocking, &status), 0);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(cuStreamIsCapturing(legacy, &status), errorCaptureImplicit);
  EXPECT_EQ(cuStreamIsCapturing(blocking, &status), 0);
  EXPECT_EQ(status, 1) << "asking does no harm";
  EXPECT_EQ(launchAdd(legacyHandle, 1), errorCaptureImplicit);
  EXPECT_EQ(cuStreamIsCapturing(blocking, &status), 0);
  EXPECT_EQ(status, 2);
  EXPECT_EQ(end(blocking), errorCaptureInvalidated);
}

TEST_F(CudaCapture, CapturedEvents) {
  open();
  CUstream s = stream();
  CUevent e = event();
  ASSERT_EQ(begin(s), 0);
  ASSERT_EQ(cuEventRecord(e, s), 0);
  EXPECT_EQ(cuEventSynchronize(e), errorCapturedEvent);
  EXPECT_EQ(cuEventQuery(e), errorCapturedEvent);
  EXPECT_EQ(end(s), errorCaptureInvalidated);
  EXPECT_EQ(cuEventQuery(e), errorCapturedEvent) << "of a recording that is over";
  ASSERT_EQ(cuEventRecord(e, s), 0);
  EXPECT_EQ(cuEventSynchronize(e), 0);
}

TEST_F(CudaCapture, ForbiddenCallsSpoilIt) {
  open();
  CUstream s = stream(), other = stream();
  CUevent e = event();
  void *host = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&host, 16, 0), 0);
  ASSERT_EQ(cuEventRecord(e, other), 0);
  CUdeviceptr allocated = 0;
  std::vector<char> image = makeCubin(80, {"k"});
  const std::function<CUresult()> calls[] = {
      [&] { return cuMemAlloc_v2(&allocated, 16); },
      [&] { return cuMemFree_v2(memory); },
      [&] { return cuMemHostAlloc(&host, 16, 0); },
      [&] { return cuMemFreeHost(host); },
      [&] { return cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr); },
      [&] { return cuModuleUnload(module); },
      [&] { return cuStreamSynchronize(s); },
      [&] { return cuStreamSynchronize(other); },
      [&] { return cuStreamQuery(other); },
      [&] { return cuEventSynchronize(e); },
      [&] { return cuEventQuery(e); }};
  for (size_t i = 0; i < std::size(calls); ++i) {
    SCOPED_TRACE("call " + std::to_string(i));
    ASSERT_EQ(begin(s), 0);
    EXPECT_EQ(calls[i](), errorCaptureUnsupported);
    EXPECT_EQ(launchAdd(s, 1), errorCaptureInvalidated);
    EXPECT_EQ(end(s), errorCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
  }
  EXPECT_EQ(live().allocations, 1);
  EXPECT_EQ(live().hostAllocations, 1);
  EXPECT_EQ(live().modules, 1);
}

TEST_F(CudaCapture, ModesAndThreads) {
  open();
  CUstream s = stream();
  size_t free = 0, total = 0;
  auto inOtherThread = [&](const std::function<CUresult()> &call) {
    CUresult result = -1;
    std::thread([&] {
      CUcontext context = handle<CUcontext>(1);
      cuCtxPushCurrent_v2(context);
      result = call();
      cuCtxPopCurrent_v2(&context);
    }).join();
    return result;
  };
  CUdeviceptr allocated = 0;
  auto allocate = [&] { return cuMemAlloc_v2(&allocated, 16); };
  ASSERT_EQ(begin(s, inThread), 0);
  EXPECT_EQ(inOtherThread(allocate), 0);
  EXPECT_EQ(inOtherThread([&] { return end(s); }), errorCaptureWrongThread);
  EXPECT_EQ(end(s), 0);
  ASSERT_EQ(begin(s, globally), 0);
  EXPECT_EQ(inOtherThread(allocate), errorCaptureUnsupported);
  EXPECT_EQ(end(s), errorCaptureInvalidated);
  ASSERT_EQ(begin(s, relaxed), 0);
  EXPECT_EQ(allocate(), 0);
  EXPECT_EQ(cuMemGetInfo_v2(&free, &total), 0);
  EXPECT_EQ(inOtherThread([&] { return end(s); }), 0);
}

TEST_F(CudaCapture, DestroyedStream) {
  open();
  CUstream s = stream();
  ASSERT_EQ(begin(s), 0);
  ASSERT_EQ(cuStreamDestroy_v2(s), 0);
  EXPECT_EQ(misuses(), std::vector<std::string>{"stream destroyed while it captures"});
  CUdeviceptr allocated = 0;
  EXPECT_EQ(cuMemAlloc_v2(&allocated, 16), 0) << "its recording has gone with it";
}

} // namespace
