// Choice of the device, and the tensors that the command line gives.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/session.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cameo::cli {
namespace {

Status openCuda(int ordinal, Session &session) {
  std::unique_ptr<rt::Device> device;
  CAMEO_RETURN_IF_ERROR(rt::createCudaDevice(ordinal, device));
  session.device = std::move(device);
  return {};
}

Status openSimulator(const Options &options, Session &session) {
  std::unique_ptr<rt::Device> device;
  CAMEO_RETURN_IF_ERROR(rt::createSimDevice(options.sim, device));
  session.device = std::move(device);
  return {};
}

// The simulator is taken unasked only where there is no driver at all: one that fails is an error.
Status openDevice(const Options &options, Session &session) {
  if (options.device == DeviceChoice::Cuda)
    return openCuda(options.ordinal, session);
  if (options.device == DeviceChoice::Simulator)
    return openSimulator(options, session);
  rt::CudaProbe probe = rt::probeCudaDriver();
  switch (probe.state) {
  case rt::CudaProbe::Usable:
    if (options.simOnly)
      return failure(Code::InvalidArgument, "--sim-... and --threads are for --device=sim");
    return openCuda(options.ordinal, session);
  case rt::CudaProbe::Failing:
    return failure(Code::Driver, "%s; --device=sim runs on the simulator", probe.message.c_str());
  default:
    std::fprintf(stderr, "no CUDA driver on this machine: running on the simulator\n");
    return openSimulator(options, session);
  }
}

std::string describeDevice(const rt::DeviceInfo &info) {
  if (info.kind == rt::DeviceKind::Simulator)
    return info.name;
  return info.name + " (cuda:" + std::to_string(info.ordinal) + ", sm_" +
         std::to_string(info.arch) + ")";
}

// What a user must supply, one line a tensor.
std::string listInputs(const std::vector<rt::PlanTensor> &tensors,
                       const std::vector<uint32_t> &indices) {
  std::string text;
  for (uint32_t index : indices) {
    text += std::string("\n  ") + tensors[index].name + ": " + rt::formatType(tensors[index]);
  }
  return text;
}

// Neither a name of the model's with something after it, nor a file or a literal.
Status unknownAssignment(const char *option, const std::string &text,
                         const std::vector<rt::PlanTensor> &tensors) {
  std::string names;
  for (const rt::PlanTensor &tensor : tensors)
    names += (names.empty() ? "" : ", ") + std::string(tensor.name);
  return failure(Code::InvalidArgument,
                 "%s=%s: write NAME=@FILE, @FILE or a literal such as NAME=2x3xf32=...; the names "
                 "are %s",
                 option, text.c_str(), names.empty() ? "none" : names.c_str());
}

Status parseSizes(const std::string &text, Shape &shape) {
  for (const char *at = text.c_str(); *at;) {
    char *end = nullptr;
    errno = 0;
    long long size = std::strtoll(at, &end, 10);
    if (end == at || errno || size < 0 || (*end && *end != 'x'))
      return failure(Code::InvalidArgument, "--shapes: '%s' is no list of sizes such as 1x3x224",
                     text.c_str());
    shape.push_back(size);
    at = *end ? end + 1 : end;
  }
  return {};
}

// SplitMix64 (Steele, Lea, Flood 2014): the same values on every machine.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// Floats in [-1, 1), integers 0 or 1, which are valid as indices of nearly everything.
Status randomTensor(const rt::PlanTensor &wanted, const Shape &shape, uint64_t &state,
                    HostTensor &tensor) {
  tensor.dtype = wanted.dtype;
  tensor.shape = shape;
  uint64_t bytes = 0, count = 0;
  CAMEO_RETURN_IF_ERROR(rt::tensorBytes(shape, wanted.dtype, bytes));
  CAMEO_RETURN_IF_ERROR(rt::elementCount(shape, count));
  CAMEO_RETURN_IF_ERROR(checkHostBytes(bytes));
  tensor.data.assign(bytes, 0);
  bool real = rt::isFloat(wanted.dtype) || rt::isComplex(wanted.dtype);
  if (rt::isComplex(wanted.dtype))
    count *= 2;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bits = nextRandom(state);
    if (real)
      rt::writeFloat(tensor.data.data(), wanted.dtype, i, double(bits >> 40) * 0x1p-23 - 1);
    else
      rt::writeInteger(tensor.data.data(), wanted.dtype, i, int64_t(bits >> 63));
  }
  return {};
}

// Sizes for a random input: --shapes, else the model's own with 1 where they are open.
Status randomShape(const Options &options, const rt::PlanTensor &tensor, Shape &shape) {
  std::string prefix = std::string(tensor.name) + ":";
  for (const std::string &text : options.shapes)
    if (text.compare(0, prefix.size(), prefix) == 0) {
      CAMEO_RETURN_IF_ERROR(parseSizes(text.substr(prefix.size()), shape));
      return rt::checkShape(tensor, shape);
    }
  shape = tensor.dims;
  std::replace(shape.begin(), shape.end(), int64_t(-1), int64_t(1));
  return {};
}

Status checkShapesOption(const Options &options, const std::vector<rt::PlanTensor> &tensors) {
  for (const std::string &text : options.shapes) {
    bool known = std::any_of(tensors.begin(), tensors.end(), [&](const rt::PlanTensor &tensor) {
      return text.compare(0, std::strlen(tensor.name) + 1, std::string(tensor.name) + ":") == 0;
    });
    if (!known)
      return failure(Code::InvalidArgument, "--shapes: '%s' names no input; write NAME:2x3",
                     text.c_str());
  }
  return {};
}

// An npz file without a name stands for all its members: by name where all are inputs, else in
// order.
Status spreadArchive(const std::string &path, const std::vector<rt::PlanTensor> &tensors,
                     std::vector<bool> &taken, std::vector<HostTensor> &inputs) {
  std::vector<HostTensor> members;
  CAMEO_RETURN_IF_ERROR(loadTensors(path, {nullptr, tensors.size()}, members));
  auto indexOf = [&](const std::string &name) {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (name == tensors[i].name)
        return i;
    return tensors.size();
  };
  bool named = std::all_of(members.begin(), members.end(), [&](const HostTensor &member) {
    return indexOf(member.name) < tensors.size();
  });
  size_t next = 0;
  for (HostTensor &member : members) {
    while (!named && next < tensors.size() && taken[next])
      ++next;
    size_t index = named ? indexOf(member.name) : next;
    if (index >= tensors.size() || taken[index])
      return failure(Code::InvalidArgument, "%s: member '%s' is no input of the model that is free",
                     path.c_str(), member.name.c_str());
    taken[index] = true;
    inputs[index] = std::move(member);
  }
  return {};
}

// As in trtexec, what is only measured needs no real inputs.
bool measuresOnly(const Options &options) {
  return (options.benchmark || !options.profile.empty() || options.sim.counters) &&
         options.outputs.empty() && options.expected.empty();
}

bool isArchive(const std::string &text) {
  return text.size() > 5 && text[0] == '@' && text.compare(text.size() - 4, 4, ".npz") == 0;
}

// One tensor of a file: the member of that name, or the only one.
Status loadOne(const std::string &path, const char *name, HostTensor &tensor) {
  std::vector<HostTensor> members;
  CAMEO_RETURN_IF_ERROR(loadTensors(path, {name}, members));
  if (members.empty())
    return failure(Code::InvalidArgument, "%s has no member '%s'", path.c_str(), name);
  tensor = std::move(members[0]);
  return {};
}

} // namespace

Status openSession(const Options &options, std::unique_ptr<rt::Payload> payload, Session &session) {
  CAMEO_RETURN_IF_ERROR(openDevice(options, session));
  const rt::SimOptions &sim = options.sim;
  bool checked = sim.checkBounds || sim.checkUninitialised || sim.checkRaces || sim.counters ||
                 !sim.trace.empty();
  CAMEO_RETURN_IF_ERROR(
      rt::Model::create(std::move(payload), session.device, options.arch, checked, session.model));
  session.place = describeDevice(session.device->info());
  std::fprintf(stderr, "running on %s: %s\n", session.place.c_str(),
               rt::describeCode(*session.model->code()).c_str());
  const auto &entries = session.model->entries();
  for (session.entry = 0; session.entry < entries.size(); ++session.entry)
    if (options.entry.empty() || options.entry == session.plan().name())
      return {};
  return failure(Code::NotFound, "the model has no entry point '%s'", options.entry.c_str());
}

Status assign(const char *option, const std::vector<std::string> &texts,
              const std::vector<rt::PlanTensor> &tensors, std::vector<Assignment> &assignments) {
  std::vector<bool> taken(tensors.size());
  assignments.assign(texts.size(), {UINT32_MAX, "", false});
  for (size_t t = 0; t < texts.size(); ++t) {
    assignments[t].value = texts[t];
    // Names may contain '=': the longest that fits is meant.
    size_t longest = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      std::string prefix = std::string(tensors[i].name) + "=";
      if (texts[t].compare(0, prefix.size(), prefix) == 0 && prefix.size() > longest) {
        longest = prefix.size();
        assignments[t].index = uint32_t(i);
      }
    }
    if (!longest)
      continue;
    if (taken[assignments[t].index])
      return failure(Code::InvalidArgument, "%s: '%s' is given twice", option,
                     tensors[assignments[t].index].name);
    taken[assignments[t].index] = true;
    assignments[t].value = texts[t].substr(longest);
  }
  size_t next = 0;
  for (Assignment &assignment : assignments) {
    bool isFile = assignment.value.size() > 1 && assignment.value[0] == '@';
    if (assignment.index == UINT32_MAX) {
      if (!isFile && !looksLikeLiteral(assignment.value))
        return unknownAssignment(option, assignment.value, tensors);
      while (next < tensors.size() && taken[next])
        ++next;
      if (next == tensors.size())
        return failure(Code::InvalidArgument, "%s=%s: the model has only %zu", option,
                       assignment.value.c_str(), tensors.size());
      taken[next] = true;
      assignment.index = uint32_t(next);
    }
    assignment.isFile = isFile;
    if (isFile)
      assignment.value.erase(0, 1);
  }
  return {};
}

Status readTensor(const Assignment &assignment, const rt::PlanTensor &wanted, HostTensor &tensor) {
  if (assignment.isFile)
    CAMEO_RETURN_IF_ERROR(loadOne(assignment.value, wanted.name, tensor));
  else
    CAMEO_RETURN_IF_ERROR(parseLiteral(assignment.value, tensor));
  return {};
}

Status gatherInputs(const Options &options, const Session &session,
                    std::vector<HostTensor> &inputs) {
  const std::vector<rt::PlanTensor> &tensors = session.plan().inputs();
  inputs.assign(tensors.size(), {});
  std::vector<bool> taken(tensors.size());
  bool archive = options.inputs.size() == 1 && isArchive(options.inputs[0]);
  std::vector<Assignment> assignments;
  if (archive)
    CAMEO_RETURN_IF_ERROR(spreadArchive(options.inputs[0].substr(1), tensors, taken, inputs));
  else
    CAMEO_RETURN_IF_ERROR(assign("--input", options.inputs, tensors, assignments));
  for (const Assignment &assignment : assignments) {
    taken[assignment.index] = true;
    Status status = readTensor(assignment, tensors[assignment.index], inputs[assignment.index]);
    if (!status.ok())
      return failure(status.code(), "input '%s': %s", tensors[assignment.index].name,
                     status.message().c_str());
  }
  CAMEO_RETURN_IF_ERROR(checkShapesOption(options, tensors));
  std::vector<uint32_t> missing;
  uint64_t state = options.randomSeed;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!taken[i] && !options.randomInputs && !measuresOnly(options)) {
      missing.push_back(uint32_t(i));
      continue;
    }
    if (!taken[i]) {
      Shape shape;
      CAMEO_RETURN_IF_ERROR(randomShape(options, tensors[i], shape));
      if (Status status = randomTensor(tensors[i], shape, state, inputs[i]); !status.ok())
        return failure(status.code(), "input '%s': %s", tensors[i].name, status.message().c_str());
      if (!options.randomInputs)
        std::fprintf(stderr, "input '%s' is not given: random values of %s\n", tensors[i].name,
                     rt::formatType(shape, tensors[i].dtype).c_str());
    }
    if (Status status = adaptType(inputs[i], tensors[i].dtype); !status.ok())
      return failure(status.code(), "input '%s': %s", tensors[i].name, status.message().c_str());
    CAMEO_RETURN_IF_ERROR(rt::checkShape(tensors[i], inputs[i].shape));
  }
  if (!missing.empty())
    return failure(
        Code::InvalidArgument, "%zu input%s missing (--input=NAME=@FILE, or --random-inputs):%s",
        missing.size(), missing.size() > 1 ? "s are" : " is", listInputs(tensors, missing).c_str());
  return {};
}

Status bindInputs(rt::Context &context, std::vector<HostTensor> &inputs) {
  // Host memory of no elements still is memory.
  static uint64_t none;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    CAMEO_RETURN_IF_ERROR(context.setInputShape(i, inputs[i].shape));
    void *data = inputs[i].data.empty() ? static_cast<void *>(&none) : inputs[i].data.data();
    CAMEO_RETURN_IF_ERROR(context.bindInput(i, {rt::Binding::Host, data, inputs[i].data.size()}));
  }
  return {};
}

} // namespace cameo::cli
