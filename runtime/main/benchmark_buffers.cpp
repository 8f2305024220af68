// The memory of a benchmark's runs, and the transfers. SPDX-License-Identifier: Apache-2.0
#include "runtime/main/benchmark_buffers.h"

#include <algorithm>
#include <cstring>

namespace cameo::cli {

BenchmarkMemory::~BenchmarkMemory() {
  for (runtime::DevicePtr block : blocks)
    (void)device.release(block);
  for (void *block : pinned)
    (void)device.releaseHost(block);
}

Status BenchmarkMemory::allocate(uint64_t bytes, const char *name, uint64_t MemoryUse::*kind,
                                 runtime::DevicePtr &memory) {
  uint64_t asked = std::max<uint64_t>(bytes, 1);
  if (Status status = device.allocate(asked, memory); !status.ok())
    return failure(status.code(), "%llu bytes of device memory for %s: %s",
                   (unsigned long long)asked, name, status.message().c_str());
  blocks.push_back(memory);
  if (kind)
    use.*kind += bytes;
  device.nameMemory(memory, name);
  return {};
}

Status BenchmarkMemory::allocatePinned(uint64_t bytes, void *&memory) {
  CAMEO_RETURN_IF_ERROR(device.allocateHost(std::max<uint64_t>(bytes, 1), memory));
  pinned.push_back(memory);
  use.pinned += bytes;
  return {};
}

Status BufferSet::create(const std::vector<HostTensor> &given,
                         const std::vector<HostTensor> &reference, runtime::Stream stream) {
  runtime::ContextOptions options = contextOptionsOf(session);
  options.stream = stream;
  CAMEO_RETURN_IF_ERROR(runtime::Context::create(session.model, options, context));
  CAMEO_RETURN_IF_ERROR(bindInputs(given));
  return bindOutputs(reference);
}

Status BufferSet::bindInputs(const std::vector<HostTensor> &given) {
  const std::vector<runtime::PlanTensor> &tensors = session.plan().inputs();
  for (uint32_t i = 0; i < given.size(); ++i) {
    CAMEO_RETURN_IF_ERROR(context->setInputShape(i, given[i].shape));
    Tensor &input = inputs.emplace_back();
    input.bytes = given[i].data.size();
    CAMEO_RETURN_IF_ERROR(memory.allocatePinned(input.bytes, input.host));
    if (input.bytes)
      std::memcpy(input.host, given[i].data.data(), input.bytes);
  }
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (tensors[i].flags & CAMEO_TENSOR_HOST)
      CAMEO_RETURN_IF_ERROR(context->setInputValue(i, inputs[i].host, inputs[i].bytes));
  const runtime::WorkList *work = nullptr;
  CAMEO_RETURN_IF_ERROR(context->workList(work));
  std::vector<bool> used = work->inputUsed;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    Tensor &input = inputs[i];
    // What no kernel reads is not transferred.
    if (!used[i]) {
      CAMEO_RETURN_IF_ERROR(
          context->bindInput(i, {runtime::Binding::Host, input.host, input.bytes}));
      continue;
    }
    CAMEO_RETURN_IF_ERROR(
        memory.allocate(input.bytes, tensors[i].name, &MemoryUse::tensors, input.device));
    CAMEO_RETURN_IF_ERROR(context->bindInput(
        i, {runtime::Binding::Device, reinterpret_cast<void *>(input.device), input.bytes}));
  }
  return {};
}

// As large as they are for these inputs, which may be less than what bounds them.
Status BufferSet::bindOutputs(const std::vector<HostTensor> &reference) {
  const std::vector<runtime::PlanTensor> &tensors = session.plan().outputs();
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    Tensor &output = outputs.emplace_back();
    output.bytes = reference[i].data.size();
    CAMEO_RETURN_IF_ERROR(memory.allocatePinned(output.bytes, output.host));
    CAMEO_RETURN_IF_ERROR(
        memory.allocate(output.bytes, tensors[i].name, &MemoryUse::tensors, output.device));
    CAMEO_RETURN_IF_ERROR(context->bindOutput(
        i, {runtime::Binding::Device, reinterpret_cast<void *>(output.device), output.bytes}));
  }
  return {};
}

Status BufferSet::upload(runtime::Stream stream) {
  for (const Tensor &input : inputs)
    if (input.device && input.bytes)
      CAMEO_RETURN_IF_ERROR(
          session.device->copyToDevice(input.device, input.host, input.bytes, stream));
  return {};
}

Status BufferSet::compute() {
  for (const Tensor &output : outputs)
    session.device->discard(output.device, output.bytes);
  return context->enqueue();
}

Status BufferSet::download(runtime::Stream stream) {
  for (const Tensor &output : outputs)
    if (output.bytes)
      CAMEO_RETURN_IF_ERROR(
          session.device->copyToHost(output.host, output.device, output.bytes, stream));
  return {};
}

Status BufferSet::clearOutputs(runtime::Stream stream) {
  for (const Tensor &output : outputs) {
    if (!output.bytes)
      continue;
    std::memset(output.host, 0xa5, output.bytes);
    CAMEO_RETURN_IF_ERROR(session.device->fill(output.device, 0xa5, output.bytes, stream));
  }
  return {};
}

Status BufferSet::takeOutput(uint32_t index, HostTensor &output) {
  output.name = session.plan().outputs()[index].name;
  output.dtype = session.plan().outputs()[index].dtype;
  CAMEO_RETURN_IF_ERROR(context->outputShape(index, output.shape));
  const auto *bytes = static_cast<const uint8_t *>(outputs[index].host);
  output.data.assign(bytes, bytes + outputs[index].bytes);
  return {};
}

} // namespace cameo::cli
