// A context on the fake driver: its caller's streams, replay over changes of shapes and memory,
// states, and memory that is not what the caller says.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_test_program.h"

#include "fake_cuda_entry.h"

#include <algorithm>

using namespace cuda_test;
using namespace payload_test;

namespace {

// Device memory as a caller allocates it, in the primary context.
struct CallersMemory {
  explicit CallersMemory(size_t count) { cuMemAlloc_v2(&pointer, count * sizeof(float)); }
  ~CallersMemory() { cuMemFree_v2(pointer); }
  float *data() const { return reinterpret_cast<float *>(pointer); }
  CUdeviceptr pointer = 0;
};

class CudaStreams : public CudaModel {
protected:
  void open(void *stream = nullptr) {
    CAMEO_INIT(cameo_context_options, options);
    options.stream = stream;
    ASSERT_EQ(program.open(file, &options), CAMEO_STATUS_OK) << cameo_last_error();
    context = program.context;
  }
  // The caller has made the primary context current, as the CUDA runtime does.
  void SetUp() override {
    CudaModel::SetUp();
    CUcontext primary = nullptr;
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    ASSERT_EQ(cuCtxPushCurrent_v2(primary), 0);
  }
  void TearDown() override {
    CUcontext primary = nullptr;
    program.close();
    EXPECT_EQ(cuCtxPopCurrent_v2(&primary), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), 0);
    CudaModel::TearDown();
  }
  std::string error() const { return cameo_context_error(context); }
  void runAndCheck(size_t count, float value) {
    std::vector<float> x(count, value), y;
    ASSERT_EQ(Program::run(context, x, y), CAMEO_STATUS_OK) << error();
    EXPECT_EQ(y, expected(x));
  }
  void setLength(int64_t count) {
    ASSERT_EQ(cameo_context_set_input_shape(context, 0, 1, &count), CAMEO_STATUS_OK) << error();
  }
  void bindDevice(bool input, const CallersMemory &memory, size_t count) {
    cameo_binding binding =
        Program::binding(memory.data(), count * sizeof(float), CAMEO_MEMORY_DEVICE);
    ASSERT_EQ(input ? cameo_context_bind_input(context, 0, &binding)
                    : cameo_context_bind_output(context, 0, &binding),
              CAMEO_STATUS_OK)
        << error();
  }

  PayloadFile file = makeModel();
  Program program;
  cameo_context *context = nullptr;
};

TEST_F(CudaStreams, DefaultStreams) {
  for (uintptr_t stream : {1, 2}) {
    open(reinterpret_cast<void *>(stream));
    for (int run = 0; run < 5; ++run)
      runAndCheck(10, float(run));
    EXPECT_EQ(fakecuda::callCount("cuGraphInstantiateWithFlags"), int(stream));
    program.close();
  }
}

TEST_F(CudaStreams, OwnStreamIsOrderedWithTheDefaultStream) {
  open();
  std::vector<std::string> calls = fakecuda::calls();
  EXPECT_NE(std::find(calls.begin(), calls.end(), "cuStreamCreate blocking"), calls.end());
}

// The default stream, as PyTorch's, produces what the context reads, and goes on with what it
// writes; a stream that is not ordered with it shows that the fake would show a race.
TEST_F(CudaStreams, DataFlowsThroughTheDefaultStream) {
  CallersMemory produced(50), in(50), out(50), taken(50);
  std::vector<float> values(50, 4), old(50, 9);
  std::copy(values.begin(), values.end(), produced.data());
  CUstream unordered = nullptr;
  ASSERT_EQ(cuStreamCreate(&unordered, CU_STREAM_NON_BLOCKING), 0);
  for (CUstream stream : {CUstream(nullptr), unordered}) {
    open(stream);
    setLength(50);
    bindDevice(true, in, 50);
    bindDevice(false, out, 50);
    for (int run = 0; run < 3; ++run) {
      for (const CallersMemory *memory : {&in, &out, &taken})
        std::copy(old.begin(), old.end(), memory->data());
      ASSERT_EQ(cuMemcpyDtoDAsync_v2(in.pointer, produced.pointer, 200, nullptr), 0);
      ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << error();
      ASSERT_EQ(cuMemcpyDtoDAsync_v2(taken.pointer, out.pointer, 200, nullptr), 0);
      ASSERT_EQ(cuStreamSynchronize(nullptr), 0);
      std::vector<float> seen(taken.data(), taken.data() + 50);
      EXPECT_EQ(seen == expected(values), stream == nullptr) << "run " << run;
      ASSERT_EQ(cameo_context_synchronize(context), CAMEO_STATUS_OK) << error();
    }
    program.close();
  }
  ASSERT_EQ(cuStreamDestroy_v2(unordered), 0);
}

TEST_F(CudaStreams, CallersStreamMayGo) {
  CallersMemory in(300), out(300);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
  open(stream);
  std::vector<float> x(100, 3), y;
  ASSERT_EQ(Program::bind(context, x, y), CAMEO_STATUS_OK) << error();
  ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << error();
  // The caller waits in his own way, and is done with the stream.
  ASSERT_EQ(cuStreamSynchronize(stream), 0);
  EXPECT_EQ(y, expected(x));
  ASSERT_EQ(cuStreamDestroy_v2(stream), 0);
  int before = fakecuda::callCount("cuStreamSynchronize");
  ASSERT_EQ(cameo_context_set_stream(context, nullptr), CAMEO_STATUS_OK) << error();
  runAndCheck(300, 2);
  program.close();
  EXPECT_EQ(fakecuda::callCount("cuStreamSynchronize"), before);
}

TEST_F(CudaStreams, ReplaysAlternatingShapesAndHostMemory) {
  open();
  std::vector<std::vector<float>> inputs, outputs(6);
  for (size_t i = 0; i < 6; ++i)
    inputs.emplace_back(i < 3 ? 7 : i < 5 ? 100 : 300, float(i));
  int allocations = 0;
  for (int run = 0; run < 1000; ++run) {
    size_t i = size_t(run + run / 6) % 6;
    ASSERT_EQ(Program::run(context, inputs[i], outputs[i]), CAMEO_STATUS_OK) << error();
    ASSERT_EQ(outputs[i], expected(inputs[i])) << "run " << run;
    if (run == 100)
      allocations = fakecuda::callCount("cuMemAlloc_v2");
  }
  EXPECT_EQ(fakecuda::callCount("cuGraphInstantiateWithFlags"), 3) << "one a shape";
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 1000 - 3);
  EXPECT_EQ(fakecuda::callCount("cuMemAlloc_v2"), allocations);
}

// Work is kept by what it takes: of small models that of very many shapes.
TEST_F(CudaStreams, KeepsTheGraphsOfManyShapes) {
  open();
  for (int round = 0; round < 3; ++round)
    for (size_t count = 1; count <= 40; ++count) {
      runAndCheck(count, 1);
      runAndCheck(1, 2);
    }
  EXPECT_EQ(fakecuda::live().graphExecs, 40);
  EXPECT_EQ(fakecuda::callCount("cuGraphInstantiateWithFlags"), 40) << "one a shape";
}

// Shapes of which none comes twice have one graph, which each takes over from the one before.
TEST_F(CudaStreams, NewShapesTakeTheGraphOver) {
  open();
  for (size_t count = 1; count <= 60; ++count)
    runAndCheck(count, 1);
  EXPECT_EQ(fakecuda::callCount("cuGraphInstantiateWithFlags"), 1);
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 60 - 2);
  EXPECT_EQ(fakecuda::live().graphExecs, 1);
  // The second time each has one of its own, as long as there is none that it could take.
  for (int round = 0; round < 2; ++round)
    for (size_t count = 1; count <= 60; ++count)
      runAndCheck(count, 1);
  EXPECT_LE(fakecuda::callCount("cuGraphInstantiateWithFlags"), 61);
}

TEST_F(CudaStreams, ReplaysWithOtherDeviceMemory) {
  open();
  setLength(50);
  CallersMemory in[2] = {CallersMemory(50), CallersMemory(50)},
                out[3] = {CallersMemory(50), CallersMemory(50), CallersMemory(50)};
  for (int run = 0; run < 12; ++run) {
    const CallersMemory &x = in[run % 2], &y = out[run % 3];
    std::vector<float> values(50, float(run));
    std::copy(values.begin(), values.end(), x.data());
    bindDevice(true, x, 50);
    bindDevice(false, y, 50);
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << error();
    EXPECT_EQ(std::vector<float>(y.data(), y.data() + 50), expected(values)) << "run " << run;
  }
  EXPECT_EQ(fakecuda::callCount("cuGraphInstantiateWithFlags"), 1);
  EXPECT_EQ(fakecuda::callCount("cuGraphLaunch"), 11);
  EXPECT_GT(fakecuda::callCount("cuGraphExecKernelNodeSetParams"), 0);
  EXPECT_GT(fakecuda::callCount("cuGraphExecMemcpyNodeSetParams"), 0);
}

TEST_F(CudaStreams, EnqueueDoesNotWaitForPageableMemory) {
  open();
  std::vector<float> x(20, 4), y;
  ASSERT_EQ(Program::bind(context, x, y), CAMEO_STATUS_OK) << error();
  ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << error();
  EXPECT_EQ(y[1], 0) << "nothing has waited yet";
  std::fill(x.begin(), x.end(), -1); // read already
  ASSERT_EQ(cameo_context_synchronize(context), CAMEO_STATUS_OK) << error();
  EXPECT_EQ(y, expected(std::vector<float>(20, 4)));
}

TEST_F(CudaStreams, RunsInFlightKeepWhatTheyRead) {
  open();
  std::vector<float> x(20);
  std::vector<std::vector<float>> results(4);
  for (size_t run = 0; run < results.size(); ++run) {
    std::fill(x.begin(), x.end(),
              float(run + 1)); // that of the run before, which nothing has waited for
    ASSERT_EQ(Program::bind(context, x, results[run]), CAMEO_STATUS_OK) << error();
    ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << error();
  }
  ASSERT_EQ(cameo_context_synchronize(context), CAMEO_STATUS_OK) << error();
  for (size_t run = 0; run < results.size(); ++run)
    EXPECT_EQ(results[run], expected(std::vector<float>(20, float(run + 1)))) << run;
}

TEST_F(CudaStreams, CallersRecording) {
  CallersMemory in(30), out(30);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
  open(stream);
  setLength(30);
  bindDevice(true, in, 30);
  bindDevice(false, out, 30);
  for (int run = 0; run < 3; ++run)
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << error();
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 1), 0);
  ASSERT_EQ(cameo_context_enqueue(context), CAMEO_STATUS_OK) << error();
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), 0);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  std::vector<float> x(30, 9);
  std::copy(x.begin(), x.end(), in.data());
  ASSERT_EQ(cuGraphLaunch(executable, stream), 0);
  ASSERT_EQ(cuStreamSynchronize(stream), 0);
  EXPECT_EQ(std::vector<float>(out.data(), out.data() + 30), expected(x));
  // And on without recording.
  std::fill(in.data(), in.data() + 30, 5.f);
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << error();
  EXPECT_EQ(out.data()[0], 10);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  program.close();
  cuStreamDestroy_v2(stream);
}

TEST_F(CudaStreams, StateChangesPlacesInsteadOfBeingCopied) {
  open();
  setLength(4);
  const std::vector<float> first = {1, 2, 3, 4};
  cameo_binding binding = Program::binding(first.data(), 16);
  ASSERT_EQ(cameo_context_bind_input(context, 0, &binding), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_set_state(context, 0, 0), CAMEO_STATUS_OK);
  std::vector<float> value = first;
  for (int run = 0; run < 8; ++run) {
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << error();
    value = expected(value);
    void *data = nullptr;
    ASSERT_EQ(cameo_context_output_memory(context, 0, &data, nullptr), CAMEO_STATUS_OK);
    EXPECT_EQ(std::vector<float>(static_cast<float *>(data), static_cast<float *>(data) + 4), value)
        << "run " << run;
  }
  // The model copies x once a run itself, which is in the graph from the second run on.
  EXPECT_EQ(fakecuda::callCount("cuMemcpyDtoDAsync_v2"), 1);
  EXPECT_EQ(fakecuda::callCount("cuGraphInstantiateWithFlags"), 1);
  // Binding a first value again begins anew.
  ASSERT_EQ(cameo_context_bind_input(context, 0, &binding), CAMEO_STATUS_OK);
  std::vector<float> y(4);
  cameo_binding output = Program::binding(y.data(), 16);
  ASSERT_EQ(cameo_context_bind_output(context, 0, &output), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << error();
  EXPECT_EQ(y, expected(first));
  ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << error();
  EXPECT_EQ(y, expected(expected(first)));
}

TEST_F(CudaStreams, StateWithoutFirstValueIsZero) {
  open();
  setLength(3);
  ASSERT_EQ(cameo_context_set_state(context, 0, 0), CAMEO_STATUS_OK);
  std::vector<float> y(3), value(3);
  cameo_binding output = Program::binding(y.data(), 12);
  ASSERT_EQ(cameo_context_bind_output(context, 0, &output), CAMEO_STATUS_OK);
  for (int run = 0; run < 4; ++run) {
    ASSERT_EQ(cameo_context_run(context), CAMEO_STATUS_OK) << error();
    value = expected(value);
    EXPECT_EQ(y, value);
  }
}

TEST_F(CudaStreams, HostMemoryIsNoDeviceMemory) {
  open();
  setLength(4);
  alignas(16) float values[4] = {};
  cameo_binding binding = Program::binding(values, sizeof values, CAMEO_MEMORY_DEVICE);
  EXPECT_EQ(cameo_context_bind_input(context, 0, &binding), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(error().find("input 'x': 0x"), std::string::npos) << error();
  EXPECT_NE(error().find(" is not memory that Fake GPU can reach"), std::string::npos) << error();
}

TEST_F(CudaStreams, ArenaIsNoOutput) {
  open();
  setLength(4);
  CallersMemory memory(1024);
  std::vector<float> x(4);
  cameo_binding input = Program::binding(x.data(), 16);
  ASSERT_EQ(cameo_context_bind_input(context, 0, &input), CAMEO_STATUS_OK);
  ASSERT_EQ(cameo_context_set_arena(context, memory.data(), 4096), CAMEO_STATUS_OK) << error();
  bindDevice(false, memory, 4);
  EXPECT_EQ(cameo_context_run(context), CAMEO_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(error().find("output 'y' and the caller's 'arena' overlap"), 0u) << error();
}

TEST_F(CudaStreams, FaultInAReplay) {
  open();
  for (int run = 0; run < 3; ++run)
    runAndCheck(10, 1);
  fakecuda::failKernel("scale", CUDA_ERROR_ILLEGAL_ADDRESS);
  std::vector<float> x(10), y;
  EXPECT_EQ(Program::run(context, x, y), CAMEO_STATUS_DRIVER);
  EXPECT_NE(error().find("(700): an illegal memory access was encountered; the last graph launched "
                         "ends with add; the GPU's context is lost"),
            std::string::npos)
      << error();
}

TEST_F(CudaStreams, MemoryGrowsSeldom) {
  open();
  int before = fakecuda::callCount("cuMemAlloc_v2");
  for (size_t count = 1; count <= weightCount; count += 500)
    runAndCheck(count, 1);
  // Three buffers, from a page to 59: half as much again each time, not a page.
  EXPECT_LT(fakecuda::callCount("cuMemAlloc_v2") - before, 3 * 13);
}

} // namespace
