// States: inputs that outputs become after each run. Those in place have one memory for both, which the context owns;
// one that grows has room there for more along a dimension, so that its value may be in several pieces.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/context.h"

#include "runtime/mutant.h"

#include <algorithm>
#include <cstring>

namespace cameo::runtime {

bool Context::ownsState(uint32_t index) const {
  const InputState &input = inputs[index];
  return input.state != PlanTensor::kNone &&
         (isInPlace(index) || input.binding.kind != Binding::Device);
}

Status Context::setState(uint32_t index, uint32_t output) {
  advanceStates();
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  const PlanTensor &to = plan().inputs()[index];
  if (output != PlanTensor::kNone) {
    if (output >= outputs.size())
      return badIndex("output", output, outputs.size());
    const PlanTensor &from = plan().outputs()[output];
    bool agrees = from.dtype == to.dtype && from.dims.size() == to.dims.size();
    for (size_t i = 0; agrees && i < to.dims.size(); ++i)
      agrees = from.dims[i] < 0 || to.dims[i] < 0 || from.dims[i] == to.dims[i];
    if (!agrees)
      return failure(Code::InvalidArgument,
                     "output '%s' of type %s cannot become input '%s' of type %s", from.name,
                     formatType(from).c_str(), to.name, formatType(to).c_str());
    if (to.flags & CAMEO_TENSOR_HOST)
      return failure(Code::Unsupported, "input '%s' is read on the host and cannot be a state",
                     to.name);
    if (to.isInPlace() && output != to.state)
      return failure(Code::Unsupported,
                     "input '%s' has the memory of output '%s', and output '%s' cannot become it",
                     to.name, plan().outputs()[to.state].name, from.name);
  }
  inputs[index].state = output;
  inputs[index].stateIsSet = false;
  listStates();
  return {};
}

void Context::listStates() {
  stateInputs.clear();
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].state != PlanTensor::kNone)
      stateInputs.push_back(i);
}

Status Context::reserveState(uint32_t index, uint64_t capacity) {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  const PlanTensor &tensor = plan().inputs()[index];
  if (!tensor.isInPlace() || tensor.growing == PlanTensor::kNone)
    return failure(Code::InvalidArgument, "input '%s' is not a state that grows in place",
                   tensor.name);
  if (capacity > kMostCapacity)
    return failure(Code::InvalidArgument,
                   "room for %llu along dimension %u of state '%s'; at most %llu",
                   (unsigned long long)capacity, tensor.growing, tensor.name,
                   (unsigned long long)kMostCapacity);
  advanceStates();
  inputs[index].reserved = capacity;
  invalidate();
  return {};
}

void Context::resetStates() {
  for (uint32_t i : stateInputs) {
    InputState &input = inputs[i];
    input.swaps = input.advances = input.stateIsSet = false;
    if (!input.shaped || input.shape == input.first)
      continue;
    input.shape = input.first;
    input.shaped = std::find(input.shape.begin(), input.shape.end(), -1) == input.shape.end();
    invalidate();
  }
}

// A state that nobody has given a shape has those sizes that other inputs have by the same name, and begins with
// nothing along the dimension that grows.
void Context::shapeStates() {
  for (uint32_t i : stateInputs) {
    InputState &input = inputs[i];
    const PlanTensor &tensor = plan().inputs()[i];
    if (input.shaped)
      continue;
    Shape shape = input.shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      for (uint32_t other = 0; shape[d] < 0 && *tensor.symbols[d] && other < inputs.size(); ++other)
        shape[d] = inputs[other].shaped ? sizeNamed(other, tensor.symbols[d]) : -1;
      if (shape[d] < 0 && d == tensor.growing)
        shape[d] = 0;
    }
    if (std::find(shape.begin(), shape.end(), -1) != shape.end())
      continue;
    input.shape = shape;
    input.shaped = true;
    invalidate();
  }
}

// The size that an input has by that name; -1 where it has none.
int64_t Context::sizeNamed(uint32_t index, const char *symbol) const {
  const PlanTensor &tensor = plan().inputs()[index];
  for (size_t d = 0; d < tensor.dims.size(); ++d)
    if (tensor.dims[d] < 0 && std::strcmp(tensor.symbols[d], symbol) == 0)
      return inputs[index].shape[d];
  return -1;
}

Status Context::checkStates() const {
  for (uint32_t i : stateInputs)
    CAMEO_RETURN_IF_ERROR(checkState(i));
  return {};
}

Status Context::checkState(uint32_t index) const {
  const InputState &input = inputs[index];
  const PlanTensor &tensor = plan().inputs()[index];
  const OutputShape &known = shapes[input.state];
  bool changes = known.isKnown && known.shape != input.shape;
  if (capturing && ownsState(index) && (!isInPlace(index) || changes))
    return failure(Code::Unsupported,
                   "input '%s' is a state that changes places from run to run, which a recording "
                   "of the stream cannot; bind device memory to it",
                   tensor.name);
  if (!changes)
    return {};
  if (!checkShape(tensor, known.shape).ok())
    return failure(
        Code::InvalidArgument, "output '%s' of shape %s cannot become input '%s', which takes %s",
        plan().outputs()[input.state].name, formatType(known.shape, tensor.dtype).c_str(),
        tensor.name, formatType(tensor).c_str());
  if (!ownsState(index) && input.binding.bytes < sizes[input.state])
    return failure(Code::InvalidArgument,
                   "input '%s': %llu bytes are bound, and the output that becomes it has %llu",
                   tensor.name, (unsigned long long)input.binding.bytes,
                   (unsigned long long)sizes[input.state]);
  return {};
}

// ---- Memory of states in place --------------------------------------------------------------------

namespace {

// A range of a value's bytes that is in one piece in the state's memory, too.
struct Piece {
  uint64_t inValue, inMemory, bytes;
};

// All pieces of a value of that shape, where there is room for `capacity`.
std::vector<Piece> piecesOf(const PlanTensor &tensor, const Shape &shape, uint64_t capacity,
                            uint64_t bytes) {
  uint64_t outer = 1;
  for (size_t d = 0; d < tensor.growing && tensor.growing != PlanTensor::kNone; ++d)
    outer *= uint64_t(shape[d]);
  if (!bytes)
    return {};
  uint64_t length = tensor.growing == PlanTensor::kNone ? 1 : uint64_t(shape[tensor.growing]);
  if (outer == 1 || length == capacity || tensor.growing == PlanTensor::kNone)
    return {{0, 0, bytes}};
  std::vector<Piece> pieces;
  uint64_t each = bytes / outer, pitch = each / length * capacity;
  for (uint64_t i = 0; i < outer; ++i)
    pieces.push_back({i * each, i * pitch, each});
  return pieces;
}

} // namespace

Status Context::fitStates(const WorkList &work) {
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (isInPlace(i))
      CAMEO_RETURN_IF_ERROR(fitState(i, work.capacities[i]));
  return {};
}

// Makes room for `capacity`, and keeps the value.
Status Context::fitState(uint32_t index, uint64_t capacity) {
  InputState &input = inputs[index];
  const PlanTensor &tensor = plan().inputs()[index];
  if (tensor.growing != PlanTensor::kNone)
    capacity = std::max(capacity, uint64_t(input.shape[tensor.growing]));
  uint64_t bytes = 0, held = 0;
  CAMEO_RETURN_IF_ERROR(stateBytes(tensor, input.shape, capacity, bytes));
  CAMEO_RETURN_IF_ERROR(tensorBytes(input.shape, tensor.dtype, held));
  if (!input.stateIsSet)
    held = 0;
  if (bytes <= input.device.bytes && (capacity == input.capacity || !held)) {
    input.capacity = capacity;
    return {};
  }
  Buffer old = input.device;
  input.device = {};
  if (Status status = grow(input.device, bytes, tensor.name); !status.ok()) {
    input.device = old;
    return status;
  }
  std::vector<Piece> from =
      piecesOf(tensor, input.shape, CAMEO_MUTANT(49, input.capacity, capacity), held);
  std::vector<Piece> to = piecesOf(tensor, input.shape, capacity, held);
  // One of the two may be in one piece, and the other one not.
  const std::vector<Piece> &more = from.size() > to.size() ? from : to;
  for (size_t i = 0; i < more.size(); ++i) {
    uint64_t source = from.size() == more.size() ? from[i].inMemory : more[i].inValue;
    uint64_t target = to.size() == more.size() ? to[i].inMemory : more[i].inValue;
    CAMEO_RETURN_IF_ERROR(device().copyOnDevice(input.device.memory + target, old.memory + source,
                                                more[i].bytes, current));
  }
  input.capacity = capacity;
  if (old.memory)
    CAMEO_RETURN_IF_ERROR(device().synchronize(current));
  return releaseBuffer(old);
}

// The first value of a state in place, or that of each run where the caller holds it.
Status Context::copyIntoState(uint32_t index) {
  InputState &input = inputs[index];
  bool owned = ownsState(index);
  uint64_t bytes = work().inputBytes[index];
  if (owned && input.stateIsSet)
    return {};
  input.stateIsSet = owned;
  std::vector<Piece> pieces = piecesOf(plan().inputs()[index], input.shape, input.capacity, bytes);
  DevicePtr target = input.device.memory;
  const void *source = nullptr;
  if (bytes && input.binding.kind == Binding::Host)
    CAMEO_RETURN_IF_ERROR(stageInput(index, source));
  for (const Piece &piece : pieces) {
    DevicePtr at = target + piece.inMemory;
    if (input.binding.kind == Binding::Device)
      CAMEO_RETURN_IF_ERROR(
          device().copyOnDevice(at, reinterpret_cast<DevicePtr>(input.binding.data) + piece.inValue,
                                piece.bytes, current));
    else if (input.binding.kind == Binding::Host)
      CAMEO_RETURN_IF_ERROR(device().copyToDevice(
          at, static_cast<const uint8_t *>(source) + piece.inValue, piece.bytes, current));
    else
      CAMEO_RETURN_IF_ERROR(device().fill(at, 0, piece.bytes, current));
  }
  return {};
}

// The value that a run has left: to `target` in host memory or, without one, to the output's own.
Status Context::copyFromState(uint32_t output, void *target) {
  auto bound = reinterpret_cast<DevicePtr>(outputs[output].binding.data);
  return copyPieces(outputs[output].inPlace, shapes[output].shape, bound, target);
}

// A value of that shape out of the memory of a state in place, to the host or, without memory there, on the device.
Status Context::copyPieces(uint32_t index, const Shape &shape, DevicePtr target, void *host) {
  const PlanTensor &tensor = plan().inputs()[index];
  uint64_t bytes = 0;
  CAMEO_RETURN_IF_ERROR(tensorBytes(shape, tensor.dtype, bytes));
  for (const Piece &piece : piecesOf(tensor, shape, inputs[index].capacity, bytes)) {
    DevicePtr from = inputs[index].device.memory + piece.inMemory;
    CAMEO_RETURN_IF_ERROR(
        host ? device().copyToHost(static_cast<uint8_t *>(host) + piece.inValue, from, piece.bytes,
                                   current)
             : device().copyOnDevice(target + piece.inValue, from, piece.bytes, current));
  }
  return {};
}

Status Context::readState(uint32_t index, void *data, uint64_t bytes) {
  if (index >= inputs.size())
    return badIndex("input", index, inputs.size());
  const InputState &input = inputs[index];
  const char *name = plan().inputs()[index].name;
  if (input.state == PlanTensor::kNone)
    return failure(Code::InvalidArgument, "input '%s' is no state that a run has left", name);
  if (!(input.stateIsSet || input.advances))
    return failure(Code::InvalidArgument,
                   "state '%s': no run has left a value; the next one begins anew", name);
  const Shape &shape = nextShape(index);
  uint64_t needed = 0;
  CAMEO_RETURN_IF_ERROR(tensorBytes(shape, plan().inputs()[index].dtype, needed));
  if (bytes != needed)
    return failure(Code::InvalidArgument, "state '%s' has %llu bytes, not %llu", name,
                   (unsigned long long)needed, (unsigned long long)bytes);
  if (isInPlace(index))
    CAMEO_RETURN_IF_ERROR(copyPieces(index, shape, 0, data));
  else if (bytes)
    CAMEO_RETURN_IF_ERROR(device().copyToHost(
        data, input.swaps ? outputAddress(input.state) : inputAddress(index), bytes, current));
  return device().synchronize(current);
}

Status Context::stateMemory(uint32_t output, DevicePtr &memory) const {
  uint32_t index = outputs[output].inPlace;
  const PlanTensor &tensor = plan().inputs()[index];
  size_t pieces =
      piecesOf(tensor, shapes[output].shape, inputs[index].capacity, sizes[output]).size();
  if (pieces > 1)
    return failure(Code::Unsupported,
                   "output '%s' is in the memory of state '%s', in %zu pieces with room between "
                   "them; bind memory to it",
                   plan().outputs()[output].name, tensor.name, pieces);
  memory = inputs[index].device.memory;
  return {};
}

// ---- From run to run ------------------------------------------------------------------------------

// The value of a state's output becomes the input's: by a copy where one of them is in the caller's
// memory, else the two memories change places before the next run, unless they are one.
Status Context::keepStates() {
  if (stateInputs.empty())
    return {};
  std::vector<bool> taken(outputs.size());
  for (uint32_t i : stateInputs) {
    InputState &input = inputs[i];
    input.advances =
        CAMEO_MUTANT(50, shapes[input.state].shape != input.shape, sizes[input.state] == 0);
    input.stateIsSet |= ownsState(i);
    uint64_t bytes = sizes[input.state];
    if (isInPlace(i) || (!bytes && !work().inputBytes[i]))
      continue;
    if (ownsState(i) && outputs[input.state].binding.kind != Binding::Device &&
        outputs[input.state].inPlace == PlanTensor::kNone && !taken[input.state]) {
      input.swaps = taken[input.state] = true;
      continue;
    }
    if (ownsState(i) && bytes > input.device.bytes) {
      // The run may not be done with what it begins with.
      CAMEO_RETURN_IF_ERROR(device().synchronize(current));
      CAMEO_RETURN_IF_ERROR(grow(input.device, bytes, plan().inputs()[i].name));
      resolved = false;
    }
    DevicePtr target = inputAddress(i), source = outputAddress(input.state);
    if (outputs[input.state].inPlace != PlanTensor::kNone)
      CAMEO_RETURN_IF_ERROR(stateMemory(input.state, source));
    if (target != source && bytes)
      CAMEO_RETURN_IF_ERROR(device().copyOnDevice(target, source, bytes, current));
  }
  return {};
}

void Context::advanceStates() {
  for (uint32_t i : stateInputs) {
    InputState &input = inputs[i];
    if (input.swaps) {
      std::swap(input.device, outputs[input.state].device);
      resolved = false;
      ++placed;
    }
    if (input.advances) {
      input.shape = shapes[input.state].shape;
      invalidate();
    }
    input.swaps = input.advances = false;
  }
}

} // namespace cameo::runtime
