// One candidate after the other: loaded, bound, run, compared, timed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cameo::tune {
namespace {

// A replay is to take so long at least, so that neither its launch nor the clock's resolution counts;
// and has so many runs at most, each of which takes time to put into its graph.
constexpr double kReplayMicroseconds = 200;
constexpr uint32_t kMostTogether = 40;

// An operand's number, which is what its input is called after: "x3".
uint32_t operandNumber(const char *name) {
  return name[0] == 'x' ? uint32_t(std::strtoul(name + 1, nullptr, 10)) : 0;
}

// A failure of enqueued work leaves the device unusable; one before it does not.
bool isDeviceLost(Code code) { return code == Code::Driver || code == Code::KernelFault; }

} // namespace

Bench::Bench(const Bundle &bundle, std::shared_ptr<runtime::Device> device)
    : bundle(bundle), device(std::move(device)) {
  if (this->device->info().kind == runtime::DeviceKind::Cuda)
    (void)runtime::cuda::Nvml::open(this->device->info().pciBus, nvml); // clocks may be missing
}

Bench::~Bench() {
  for (auto &[number, buffer] : inputs)
    (void)device->release(buffer.memory);
  for (Buffer &buffer : outputs)
    (void)device->release(buffer.memory);
}

Status Bench::load(const Candidate &candidate, std::unique_ptr<runtime::Context> &context) {
  std::shared_ptr<runtime::Model> model;
  CAMEO_RETURN_IF_ERROR(runtime::Model::create(runtime::Payload::ofSections(candidate.sections),
                                               device, /*arch=*/0, /*checked=*/false, model));
  return runtime::Context::create(model, {}, context);
}

Status Bench::chooseArch(uint32_t &arch) {
  std::vector<uint32_t> archs;
  for (const Dispatch &dispatch : bundle.dispatches)
    archs.push_back(dispatch.arch);
  auto rank = [](uint32_t each) { return std::pair(each & ~CAMEO_ARCH_A, each & CAMEO_ARCH_A); };
  std::sort(archs.begin(), archs.end(), [&](uint32_t a, uint32_t b) { return rank(a) > rank(b); });
  archs.erase(std::unique(archs.begin(), archs.end()), archs.end());
  Status refused = failure(Code::NoCode, "the bundle has no candidates");
  // One candidate's code may be at fault where the others' is not.
  constexpr unsigned kTries = 3;
  for (uint32_t each : archs) {
    unsigned tries = 0;
    for (const Dispatch &dispatch : bundle.dispatches) {
      if (dispatch.arch != each || tries++ == kTries)
        continue;
      std::unique_ptr<runtime::Context> context;
      refused = load(dispatch.candidates.front(), context);
      if (refused.ok()) {
        arch = each;
        return {};
      }
    }
  }
  return refused;
}

Status Bench::grow(Buffer &buffer, uint64_t bytes) {
  if (bytes <= buffer.bytes)
    return {};
  if (buffer.memory)
    CAMEO_RETURN_IF_ERROR(device->release(buffer.memory));
  buffer = {};
  CAMEO_RETURN_IF_ERROR(device->allocate(bytes, buffer.memory));
  buffer.bytes = bytes;
  return {};
}

Status Bench::bind(runtime::Context &context, const Candidate &candidate, Values values) {
  const std::vector<runtime::PlanTensor> &tensors = context.plan().inputs();
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    uint32_t number = operandNumber(tensors[i].name);
    Content content{{}, {}, values};
    CAMEO_RETURN_IF_ERROR(context.inputShape(i, content.shape));
    if (number < candidate.orders.size())
      content.order = candidate.orders[number];
    uint64_t bytes = 0;
    CAMEO_RETURN_IF_ERROR(context.inputBytes(i, bytes));
    Buffer &buffer = inputs[number];
    auto held = contents.find(number);
    if (held == contents.end() || !(held->second == content)) {
      CAMEO_RETURN_IF_ERROR(grow(buffer, bytes));
      std::vector<uint8_t> data =
          makeOperand(content.shape, tensors[i].dtype, content.order, number, values);
      CAMEO_RETURN_IF_ERROR(
          device->copyToDevice(buffer.memory, data.data(), bytes, context.stream()));
      CAMEO_RETURN_IF_ERROR(device->synchronize(context.stream()));
      contents[number] = std::move(content);
    }
    CAMEO_RETURN_IF_ERROR(context.bindInput(
        i, {runtime::Binding::Device, reinterpret_cast<void *>(buffer.memory), bytes}));
  }
  outputs.resize(std::max(outputs.size(), context.plan().outputs().size()));
  for (uint32_t i = 0; i < context.plan().outputs().size(); ++i) {
    uint64_t bytes = 0;
    CAMEO_RETURN_IF_ERROR(context.outputBytes(i, bytes));
    CAMEO_RETURN_IF_ERROR(grow(outputs[i], bytes));
    CAMEO_RETURN_IF_ERROR(context.bindOutput(
        i, {runtime::Binding::Device, reinterpret_cast<void *>(outputs[i].memory), bytes}));
  }
  return {};
}

// Outputs are overwritten first, so that an earlier result is not taken for this one.
Status Bench::run(runtime::Context &context, Outputs &result) {
  result.bytes.resize(context.plan().outputs().size());
  for (uint32_t i = 0; i < result.bytes.size(); ++i) {
    uint64_t bytes = 0;
    CAMEO_RETURN_IF_ERROR(context.outputBytes(i, bytes));
    result.bytes[i].resize(bytes);
    CAMEO_RETURN_IF_ERROR(device->fill(outputs[i].memory, 0xff, bytes, context.stream()));
  }
  CAMEO_RETURN_IF_ERROR(context.enqueue());
  CAMEO_RETURN_IF_ERROR(context.synchronize());
  for (uint32_t i = 0; i < result.bytes.size(); ++i)
    CAMEO_RETURN_IF_ERROR(device->copyToHost(result.bytes[i].data(), outputs[i].memory,
                                             result.bytes[i].size(), context.stream()));
  return device->synchronize(context.stream());
}

Status Bench::time(runtime::Context &context, uint32_t replays, Result &result) {
  if (!device->hasGraphs()) // a simulator, whose times say nothing
    replays = 1;
  std::vector<float> times;
  uint32_t together = 1;
  CAMEO_RETURN_IF_ERROR(context.timeTogether(together, 1, times));
  if (device->hasGraphs()) {
    double once = std::max(double(times[0]) * 1000, 1.0);
    together =
        uint32_t(std::clamp(std::ceil(kReplayMicroseconds / once), 1.0, double(kMostTogether)));
    CAMEO_RETURN_IF_ERROR(context.timeTogether(together, replays, times));
  }
  if (nvml)
    result.clock = nvml->read().smClock;
  std::sort(times.begin(), times.end());
  size_t count = times.size();
  double median = (double(times[(count - 1) / 2]) + times[count / 2]) / 2;
  result.microseconds = median * 1000 / together;
  result.spread =
      median > 0 ? (double(times[count - 1 - count / 4]) - times[count / 4]) / median : 0;
  result.replays = replays;
  result.together = together;
  return {};
}

Status Bench::measure(const Visit &visit, Result &result) {
  const Candidate &candidate = bundle.dispatches[visit.dispatch].candidates[result.candidate];
  std::unique_ptr<runtime::Context> context;
  Status loaded = load(candidate, context);
  if (!loaded.ok()) {
    result.outcome = Outcome::Refused;
    return loaded;
  }
  // Only the first round compares: values are exact there.
  Values values = visit.round == 1 ? Values::Exact : Values::Rich;
  CAMEO_RETURN_IF_ERROR(bind(*context, candidate, values));
  if (visit.round == 1) {
    Outputs found;
    CAMEO_RETURN_IF_ERROR(run(*context, found));
    if (!reference)
      reference = std::make_unique<Outputs>(found);
    result.sameBits = true;
    for (uint32_t i = 0; i < found.bytes.size(); ++i) {
      uint32_t dtype = context->plan().outputs()[i].dtype;
      Deviation deviation =
          compareOutputs(found.bytes[i], reference->bytes[i], dtype,
                         found.bytes[i].size() * 8 / std::max(runtime::dtypeBits(dtype), 1U));
      result.sameBits &= deviation.sameBits;
      if (deviation.isWrong()) {
        result.outcome = Outcome::Wrong;
        return failure(Code::Internal,
                       "output %u is %.3g off the first candidate's, of its largest magnitude; "
                       "%.3g is allowed",
                       i, deviation.error, deviation.bound);
      }
    }
  }
  return time(*context, visit.replays, result);
}

Status Bench::prepareReference(const Visit &visit) {
  if (visit.round != 1 || visit.reference < 0 || reference)
    return {};
  const Candidate &candidate =
      bundle.dispatches[visit.dispatch].candidates[size_t(visit.reference)];
  std::unique_ptr<runtime::Context> context;
  CAMEO_RETURN_IF_ERROR(load(candidate, context));
  CAMEO_RETURN_IF_ERROR(bind(*context, candidate, Values::Exact));
  reference = std::make_unique<Outputs>();
  return run(*context, *reference);
}

bool Bench::visit(const Visit &visit, const std::function<void(uint32_t)> &begin,
                  const std::function<void(const Result &)> &end) {
  if (current != visit.dispatch) {
    contents.clear();
    reference.reset();
    current = visit.dispatch;
  }
  for (uint32_t candidate : visit.candidates) {
    begin(candidate);
    Result result;
    result.dispatch = visit.dispatch;
    result.candidate = candidate;
    result.round = visit.round;
    Status status = prepareReference(visit);
    if (status.ok())
      status = measure(visit, result);
    if (!status.ok()) {
      if (result.outcome == Outcome::Ok)
        result.outcome = Outcome::Failed;
      result.message = status.message();
    }
    end(result);
    if (isDeviceLost(status.code()))
      return false;
  }
  return true;
}

} // namespace cameo::tune
