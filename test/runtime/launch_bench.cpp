// What the runtime itself costs: a run with so many launches and so many tensors bound, on a device
// that does nothing, on the stand-in for the CUDA driver, and on the simulator with a kernel that
// does next to nothing.
//
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.h"
#include "runtime/core/context.h"
#include "test_model.h"

#include <array>
#include <benchmark/benchmark.h>
#include <cstdlib>

using namespace cameo::runtime;
using namespace payload_test;

namespace {

// Takes everything and does nothing.
class IdleDevice : public Device {
public:
  const DeviceInfo &info() const override { return description; }
  Status memoryInfo(uint64_t &available, uint64_t &total) override {
    available = total = uint64_t(1) << 40;
    return {};
  }
  Status allocate(uint64_t bytes, DevicePtr &memory) override {
    next += (bytes + 255) / 256 * 256 + 256;
    memory = next;
    return {};
  }
  Status release(DevicePtr) override { return {}; }
  Status allocateHost(uint64_t bytes, void *&memory) override {
    memory = std::malloc(bytes);
    return {};
  }
  Status releaseHost(void *memory) override {
    std::free(memory);
    return {};
  }
  Status createStream(Stream &stream) override { return handle(stream); }
  Status destroyStream(Stream) override { return {}; }
  Status synchronize(Stream) override { return {}; }
  Status createEvent(Event &event, bool, bool) override { return handle(event); }
  Status destroyEvent(Event) override { return {}; }
  Status record(Event, Stream) override { return {}; }
  Status wait(Stream, Event) override { return {}; }
  Status synchronizeEvent(Event) override { return {}; }
  Status queryEvent(Event, bool &passed) override {
    passed = true;
    return {};
  }
  Status elapsed(Event, Event, float &milliseconds) override {
    milliseconds = 0;
    return {};
  }
  Status copyToDevice(DevicePtr, const void *, uint64_t, Stream) override { return {}; }
  Status copyToHost(void *, DevicePtr, uint64_t, Stream) override { return {}; }
  Status copyOnDevice(DevicePtr, DevicePtr, uint64_t, Stream) override { return {}; }
  Status fill(DevicePtr, uint8_t, uint64_t, Stream) override { return {}; }
  Status loadModule(const CodeSection &, Module &module) override { return handle(module); }
  Status unloadModule(Module) override { return {}; }
  Status findKernel(Module, const KernelInfo &, Kernel &kernel) override { return handle(kernel); }
  Status launch(const Launch &launch, Stream) override {
    benchmark::DoNotOptimize(launch.args[0]);
    return {};
  }

private:
  static Status handle(void *&any) {
    static char something;
    any = &something;
    return {};
  }
  DeviceInfo description{DeviceKind::Cuda, 0, 80, "idle", uint64_t(1) << 40, 1 << 16, 13000};
  DevicePtr next = 1 << 20;
};

enum Kind { Idle, FakeDriver, Simulator };

// As many inputs as outputs, [n, 64] each; every input is copied to its output, then `launches`
// kernels double rows of outputs.
PayloadFile makeModel(int launches, int tensors) {
  PlanBuilder plan;
  for (int i = 0; i < tensors; ++i)
    plan.input("x" + std::to_string(i), CAMEO_FLOAT, {{-1, "n"}, {64}});
  for (int i = 0; i < tensors; ++i)
    plan.output("y" + std::to_string(i), CAMEO_FLOAT, {{-1, "n"}, {64}});
  uint32_t scale = plan.kernel("scale", 64, {CAMEO_ARG_BUFFER});
  uint32_t n = plan.newRegister(), zero = plan.constant(0), one = plan.constant(1);
  uint32_t width = plan.constant(64), rowBytes = plan.constant(256);
  plan.op(CAMEO_OP_DIM, {n, 0, 0});
  uint32_t bytes = plan.compute(CAMEO_OP_MUL, n, rowBytes);
  std::vector<uint32_t> outputs;
  for (uint32_t i = 0; i < uint32_t(tensors); ++i)
    plan.op(CAMEO_OP_OUTPUT_SHAPE, {i, 2, n, width});
  plan.op(CAMEO_OP_ARENA_SIZE, {zero});
  for (uint32_t i = 0; i < uint32_t(tensors); ++i) {
    uint32_t x = plan.newBuffer();
    outputs.push_back(plan.newBuffer());
    plan.op(CAMEO_OP_BUF_INPUT, {x, i});
    plan.op(CAMEO_OP_BUF_OUTPUT, {outputs.back(), i});
    plan.op(CAMEO_OP_COPY, {outputs.back(), x, bytes});
  }
  for (int i = 0; i < launches; ++i)
    plan.op(CAMEO_OP_LAUNCH, {scale, one, one, one, zero, outputs[size_t(i) % outputs.size()]});
  plan.op(CAMEO_OP_END);
  PayloadBuilder builder;
  builder.section(CAMEO_SECTION_PLAN, plan.finish());
  builder.section(CAMEO_SECTION_SIM_IMAGE, readBytes(SIM_TEST_IMAGE), 0, 80);
  builder.ptx(".version 7.5\n.target sm_75\n.address_size 64\n"
              ".visible .entry scale(.param .u64 p)\n{ ret; }\n",
              75);
  return builder.finish();
}

Status makeDevice(Kind kind, std::shared_ptr<Device> &device) {
  std::unique_ptr<Device> made;
  if (kind == Idle) {
    made = std::make_unique<IdleDevice>();
  } else if (kind == FakeDriver) {
    fakecuda::reset();
    fakecuda::registerKernel("scale", {8}, [](const fakecuda::Launch &) {});
    CAMEO_RETURN_IF_ERROR(createCudaDevice(0, made));
  } else {
    SimOptions options;
    options.threads = 1;
    CAMEO_RETURN_IF_ERROR(createSimDevice(options, made));
  }
  device = std::move(made);
  return {};
}

struct Run {
  PayloadFile file;
  std::shared_ptr<Model> model;
  std::unique_ptr<Context> context;
  std::vector<std::vector<float>> memory;

  Status open(Kind kind, int launches, int tensors, bool graphs) {
    file = makeModel(launches, tensors);
    std::shared_ptr<Device> device;
    CAMEO_RETURN_IF_ERROR(makeDevice(kind, device));
    std::unique_ptr<Payload> payload;
    CAMEO_RETURN_IF_ERROR(Payload::fromMemory(file.data(), file.size(), payload));
    CAMEO_RETURN_IF_ERROR(Model::create(std::move(payload), device, 0, false, model));
    ContextOptions options;
    options.useGraphs = graphs;
    CAMEO_RETURN_IF_ERROR(Context::create(model, options, context));
    memory.assign(size_t(tensors) * 2, std::vector<float>(64));
    CAMEO_RETURN_IF_ERROR(bind());
    CAMEO_RETURN_IF_ERROR(run());
    return run(); // what is recorded for replay is recorded now
  }
  Status bind() {
    for (uint32_t i = 0; i < memory.size() / 2; ++i) {
      CAMEO_RETURN_IF_ERROR(context->setInputShape(i, {1, 64}));
      Binding input{Binding::Host, memory[i * 2].data(), 256};
      Binding output{Binding::Host, memory[i * 2 + 1].data(), 256};
      CAMEO_RETURN_IF_ERROR(context->bindInput(i, input));
      CAMEO_RETURN_IF_ERROR(context->bindOutput(i, output));
    }
    return {};
  }
  Status run() {
    CAMEO_RETURN_IF_ERROR(context->enqueue());
    return context->synchronize();
  }
};

// Arguments: launches, tensors, whether inputs are bound anew for each run.
template <Kind Where, bool Graphs> void BM_Run(benchmark::State &state) {
  int launches = int(state.range(0)), tensors = int(state.range(1));
  Run run;
  Status status = run.open(Where, launches, tensors, Graphs);
  for (auto _ : state) {
    if (state.range(2) && status.ok())
      status = run.bind();
    if (status.ok())
      status = run.run();
    if (!status.ok()) {
      state.SkipWithError(status.message().c_str());
      break;
    }
  }
}

// The stand-in keeps every call, so its runs are counted.
void shapes(benchmark::internal::Benchmark *benchmark, int64_t runs) {
  benchmark->ArgNames({"launches", "tensors", "bind"});
  for (auto [launches, tensors, bind] :
       {std::array{0, 1, 0}, {1000, 1, 0}, {0, 100, 0}, {0, 100, 1}})
    benchmark->Args({launches, tensors, bind});
  if (runs)
    benchmark->Iterations(runs);
}

BENCHMARK(BM_Run<Idle, false>)->Name("idle")->Apply([](auto *b) { shapes(b, 0); });
BENCHMARK(BM_Run<FakeDriver, false>)->Name("driver")->Apply([](auto *b) { shapes(b, 100); });
BENCHMARK(BM_Run<FakeDriver, true>)->Name("driver_graph")->Apply([](auto *b) { shapes(b, 100); });
BENCHMARK(BM_Run<Simulator, false>)->Name("simulator")->Apply([](auto *b) { shapes(b, 0); });

// The same launches without the executor: the CUDA device and the stand-in behind it.
void BM_DeviceLaunch(benchmark::State &state) {
  Run run;
  Status status = run.open(FakeDriver, 1, 1, false);
  if (!status.ok())
    return state.SkipWithError(status.message().c_str());
  Device &cuda = *run.model->device();
  Stream stream = nullptr;
  (void)cuda.createStream(stream);
  DevicePtr memory = 0;
  (void)cuda.allocate(256, memory);
  void *args[] = {&memory};
  Launch launch{run.model->entries()[0]->kernels[0], {1, 1, 1}, {64, 1, 1}, 0, args};
  for (auto _ : state) {
    for (int i = 0; i < 1000 && status.ok(); ++i)
      status = cuda.launch(launch, stream);
    if (status.ok())
      status = cuda.synchronize(stream);
  }
  if (!status.ok())
    state.SkipWithError(status.message().c_str());
  (void)cuda.release(memory);
  (void)cuda.destroyStream(stream);
}
BENCHMARK(BM_DeviceLaunch)->Name("driver_device_only/launches:1000")->Iterations(100);

} // namespace
