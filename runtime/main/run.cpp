// One run: outputs printed, written or compared.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/session.h"

#include <algorithm>
#include <cstdio>

namespace cameo::cli {
namespace {

constexpr uint64_t kPrintedElements = 1000;

// Outputs whose shapes the run decides have no memory before it: takeOutputs() copies them.
Status prepareOutputs(runtime::Context &context, std::vector<HostTensor> &outputs) {
  static uint64_t none;
  const std::vector<runtime::PlanTensor> &tensors = context.plan().outputs();
  outputs.resize(tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    HostTensor &output = outputs[i];
    output.name = tensors[i].name;
    output.dtype = tensors[i].dtype;
    uint64_t bytes = 0;
    bool isExact = false;
    CAMEO_RETURN_IF_ERROR(context.outputBound(i, output.shape, isExact));
    if (!isExact)
      continue;
    CAMEO_RETURN_IF_ERROR(context.outputBytes(i, bytes));
    if (Status status = checkHostBytes(bytes); !status.ok())
      return failure(status.code(), "output '%s': %s", tensors[i].name, status.message().c_str());
    output.data.resize(bytes);
    void *data = bytes ? static_cast<void *>(output.data.data()) : &none;
    CAMEO_RETURN_IF_ERROR(context.bindOutput(i, {runtime::Binding::Host, data, bytes}));
  }
  return {};
}

// Takes the outputs whose shapes a run that is done has decided.
Status takeOutputs(runtime::Context &context, std::vector<HostTensor> &outputs) {
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    HostTensor &output = outputs[i];
    bool isExact = false;
    CAMEO_RETURN_IF_ERROR(context.outputBound(i, output.shape, isExact));
    if (isExact)
      continue;
    runtime::DevicePtr memory = 0;
    uint64_t bytes = 0;
    CAMEO_RETURN_IF_ERROR(context.outputShape(i, output.shape));
    CAMEO_RETURN_IF_ERROR(context.outputMemory(i, memory, bytes));
    if (Status status = checkHostBytes(bytes); !status.ok())
      return failure(status.code(), "output '%s': %s", output.name.c_str(),
                     status.message().c_str());
    output.data.resize(bytes);
    if (!bytes)
      continue;
    runtime::Device &device = *context.model().device();
    CAMEO_RETURN_IF_ERROR(device.copyToHost(output.data.data(), memory, bytes, context.stream()));
    CAMEO_RETURN_IF_ERROR(device.synchronize(context.stream()));
  }
  return {};
}

Status runAndTake(runtime::Context &context, std::vector<HostTensor> &outputs) {
  CAMEO_RETURN_IF_ERROR(context.enqueue());
  CAMEO_RETURN_IF_ERROR(context.synchronize());
  return takeOutputs(context, outputs);
}

Status writeTensor(const HostTensor &tensor, const std::string &path) {
  std::vector<uint8_t> bytes;
  if (endsWith(path, ".npy"))
    CAMEO_RETURN_IF_ERROR(formatNpy(tensor, bytes));
  else
    formatTensorProto(tensor, bytes);
  return writeFile(path, bytes);
}

// Outputs for the same npz file go into it together; one given without a name takes all of them.
Status writeOutputs(const Options &options, const std::vector<runtime::PlanTensor> &tensors,
                    const std::vector<HostTensor> &outputs) {
  if (options.outputs.size() == 1 && options.outputs[0][0] == '@' &&
      endsWith(options.outputs[0], ".npz") && !beginsWithName(options.outputs[0], tensors)) {
    std::vector<uint8_t> bytes;
    CAMEO_RETURN_IF_ERROR(formatNpz(outputs, bytes));
    return writeFile(options.outputs[0].substr(1), bytes);
  }
  std::vector<Assignment> assignments;
  CAMEO_RETURN_IF_ERROR(assign("--output", options.outputs, tensors, assignments));
  std::vector<bool> written(assignments.size());
  for (size_t i = 0; i < assignments.size(); ++i) {
    const std::string &path = assignments[i].value;
    if (written[i])
      continue;
    if (!endsWith(path, ".npz")) {
      CAMEO_RETURN_IF_ERROR(writeTensor(outputs[assignments[i].index], path));
      continue;
    }
    std::vector<HostTensor> members;
    for (size_t j = i; j < assignments.size(); ++j)
      if (assignments[j].value == path) {
        members.push_back(outputs[assignments[j].index]);
        written[j] = true;
      }
    std::vector<uint8_t> bytes;
    CAMEO_RETURN_IF_ERROR(formatNpz(members, bytes));
    CAMEO_RETURN_IF_ERROR(writeFile(path, bytes));
  }
  return {};
}

// Before anything runs: a misspelt name or extension is found at once.
Status checkOutputs(const Options &options, const std::vector<runtime::PlanTensor> &tensors) {
  std::vector<Assignment> assignments;
  CAMEO_RETURN_IF_ERROR(assign("--output", options.outputs, tensors, assignments));
  for (const Assignment &assignment : assignments)
    if (!assignment.isFile ||
        !(endsWith(assignment.value, ".npy") || endsWith(assignment.value, ".npz") ||
          endsWith(assignment.value, ".pb")))
      return failure(Code::InvalidArgument, "--output=%s: write @FILE.npy, @FILE.npz or @FILE.pb",
                     assignment.value.c_str());
  return {};
}

void printOutputs(const std::vector<HostTensor> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    std::printf("result[%zu]: %s\n%s\n", i, outputs[i].name.c_str(),
                formatTensor(outputs[i], kPrintedElements).c_str());
}

// The same context again and again: what it replays must give what its first run gave.
Status repeat(uint32_t runs, runtime::Context &context, std::vector<HostTensor> &outputs,
              bool &matched) {
  std::vector<HostTensor> first = outputs;
  for (uint32_t run = 2; run <= runs; ++run) {
    for (HostTensor &output : outputs)
      std::fill(output.data.begin(), output.data.end(), uint8_t(0xa5));
    CAMEO_RETURN_IF_ERROR(runAndTake(context, outputs));
    std::string what = "run " + std::to_string(run);
    bool same = true;
    for (uint32_t i = 0; i < outputs.size(); ++i)
      same = compareBits(i, outputs[i], what.c_str(), first[i], "run 1") && same;
    if (!same) {
      matched = false;
      return {};
    }
  }
  std::printf("%u runs gave the same results, bit for bit\n", runs);
  return {};
}

} // namespace

Status readExpected(const Options &options, const Session &session,
                    std::vector<GivenTensor> &expected) {
  const std::vector<runtime::PlanTensor> &tensors = session.plan().outputs();
  CAMEO_RETURN_IF_ERROR(readGiven("--expected_output", options.expected, tensors, expected));
  for (GivenTensor &given : expected)
    // A type that differs is a mismatch, and reported as one.
    (void)adaptType(given.tensor, tensors[given.index].dtype);
  return {};
}

Status runEagerly(Session &session, std::vector<HostTensor> &inputs,
                  std::vector<HostTensor> &outputs) {
  std::unique_ptr<runtime::Context> context;
  runtime::ContextOptions options = contextOptionsOf(session);
  options.useGraphs = false;
  CAMEO_RETURN_IF_ERROR(runtime::Context::create(session.model, options, context));
  CAMEO_RETURN_IF_ERROR(bindInputs(*context, inputs));
  CAMEO_RETURN_IF_ERROR(prepareOutputs(*context, outputs));
  return runAndTake(*context, outputs);
}

Status runOnce(const Options &options, Session &session, std::vector<HostTensor> &inputs,
               bool &matched) {
  const std::vector<runtime::PlanTensor> &tensors = session.plan().outputs();
  std::vector<GivenTensor> expected;
  CAMEO_RETURN_IF_ERROR(checkOutputs(options, tensors));
  CAMEO_RETURN_IF_ERROR(readExpected(options, session, expected));
  // The outputs outlive the context, whose work writes them.
  std::vector<HostTensor> outputs;
  std::unique_ptr<runtime::Context> context;
  runtime::ContextOptions contextOptions = contextOptionsOf(session);
  CAMEO_RETURN_IF_ERROR(runtime::Context::create(session.model, contextOptions, context));
  CAMEO_RETURN_IF_ERROR(bindInputs(*context, inputs));
  CAMEO_RETURN_IF_ERROR(prepareOutputs(*context, outputs));
  if (!options.taps.empty())
    CAMEO_RETURN_IF_ERROR(writeTaps(options.taps, *context));
  CAMEO_RETURN_IF_ERROR(runAndTake(*context, outputs));
  context->setTaps(nullptr, false);

  if (options.outputs.empty() && options.expected.empty())
    printOutputs(outputs);
  if (!options.outputs.empty())
    CAMEO_RETURN_IF_ERROR(writeOutputs(options, tensors, outputs));
  for (const GivenTensor &given : expected) {
    printErrors(given.index, outputs[given.index], given.tensor);
    if (!compareOutput(given.index, outputs[given.index], given.tensor, options, session))
      matched = false;
  }
  if (!matched && session.simulated())
    std::fprintf(stderr, "to see it again: %s\n", runtime::simCommandLine(options.sim).c_str());
  if (!expected.empty() && matched)
    std::printf("[SUCCESS] all outputs matched the expected values\n");
  return options.runs > 1 ? repeat(options.runs, *context, outputs, matched) : Status();
}

} // namespace cameo::cli
