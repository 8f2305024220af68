// The plan's interpreter. Numbers of registers, buffers and the like were validated with the plan;
// what depends on values is checked here: arithmetic, definedness, ranges of memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/interpreter.h"

#include "runtime/arena.h"
#include "runtime/core/arithmetic.h"
#include "runtime/mutant.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace cameo::runtime {
namespace {

// Limit of the work that a loop over launches may make of a small file.
constexpr uint64_t kMaxWorkBytes = uint64_t(1) << 28;
// A state that grows has room for a multiple of this.
constexpr uint64_t kCapacityStep = 64;
constexpr int64_t kMaxGridX = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxGridYZ = 65535;

class Interpreter {
public:
  Interpreter(const Plan &plan, const RunState &from, WorkList &work)
      : plan(plan), from(from), work(work), registers(plan.registerCount()),
        buffers(plan.bufferCount()), values(2 * size_t(plan.bufferCount()) + 1), at(from.word) {}

  Status run();

private:
  // In the arena, by its number. A buffer has two numbers to give, so that a loop's value and that of
  // the trip before it differ.
  struct Value {
    Place place;
    bool isUnborn = false; // no step has used it yet
    uint32_t holders = 0;  // buffers that are it or a part of it
  };

  void restore();
  Status finish();
  Status execute(uint32_t opcode, const uint32_t *o);
  Status load(const uint32_t *o);
  Status check(const uint32_t *o) const;
  Status outputShape(const uint32_t *o);
  Status outputBound(const uint32_t *o);
  Status arenaSize(const uint32_t *o);
  Status arenaRequest(const uint32_t *o);
  Status layOutArena(const uint32_t *o);
  Status arenaUse(const uint32_t *o);
  Status arenaBuffer(const uint32_t *o);
  Status bufferPart(const uint32_t *o);
  Status inputBuffer(const uint32_t *o);
  Status outputBuffer(const uint32_t *o);
  Status capacity(const uint32_t *o);
  Status stateBuffer(const uint32_t *o);
  void nameBuffer(const uint32_t *o);
  Status launch(const uint32_t *o);
  Status copy(const uint32_t *o);
  Status write(const uint32_t *o);
  Status tap(const uint32_t *o);
  Status fetch(const uint32_t *o);
  void keepState(uint32_t next);
  Status place(uint32_t buffer, Place &result);
  void define(uint32_t buffer, const Place &place);
  Status size(int64_t value, const char *what, uint64_t &result) const;
  // Counts memory of the work before it is taken.
  Status charge(uint64_t bytes, const char *nodes = nullptr);
  Status fail(Code code, const char *what) const {
    return failure(code, "launch plan, word %u: %s", at, what);
  }

  const Plan &plan;
  const RunState &from;
  WorkList &work;
  std::vector<int64_t> registers;
  std::vector<Place> buffers;
  std::vector<Value> values;
  std::vector<CameoArenaRequest> requests;
  std::vector<uint32_t> requestOffsets; // registers
  std::vector<uint64_t> arenas;         // RunState::arenas
  uint32_t arena = 0;                   // the one that was sized last
  const char *nextNodes = nullptr;      // of the launch to come
  double nextFlops = -1, nextBytes = -1;
  uint64_t workBytes = 0;
  uint32_t at;
};

void Interpreter::restore() {
  work.outputs = from.outputs;
  arenas = from.arenas;
  arena = from.arena;
  work.capacities = from.capacities;
  if (from.word == 0)
    return;
  const ResumePoint &point = plan.resumeAt(from.word);
  for (size_t i = 0; i < point.registers.size(); ++i)
    registers[point.registers[i]] = from.registers[i];
  for (size_t i = 0; i < point.buffers.size(); ++i) {
    const RunState::Buffer &buffer = from.buffers[i];
    define(point.buffers[i], buffer.place);
    if (buffer.unborn.space == Place::None)
      continue;
    values[buffer.place.index].place = buffer.unborn;
    values[buffer.place.index].isUnborn = true;
  }
}

Status Interpreter::run() {
  work = {};
  restore();
  work.outputBytes.resize(plan.outputs().size());
  for (size_t i = 0; i < work.outputs.size(); ++i)
    if (work.outputs[i].isKnown)
      CAMEO_RETURN_IF_ERROR(
          tensorBytes(work.outputs[i].shape, plan.outputs()[i].dtype, work.outputBytes[i]));
  work.inputUsed = plan.deviceInputs();
  work.inputUsed.resize(plan.inputs().size());
  if (from.word == 0)
    for (size_t i = 0; i < from.shapes.size(); ++i)
      CAMEO_RETURN_IF_ERROR(
          tensorBytes(from.shapes[i], plan.inputs()[i].dtype, work.inputBytes.emplace_back()));
  const uint32_t *code = plan.code();
  for (uint64_t &executed = work.instructions;; ++executed) {
    if (executed == kMaxInstructions)
      return fail(Code::Corrupt, "the plan does not end");
    uint32_t opcode = code[at] & 0xffff, length = code[at] >> 16;
    const uint32_t *operands = code + at + 1;
    if (opcode == CAMEO_OP_END)
      return finish();
    if (opcode == CAMEO_OP_JUMP) {
      at = operands[0];
      continue;
    }
    if (opcode == CAMEO_OP_BRANCH_ZERO && registers[operands[0]] == 0) {
      at = operands[1];
      continue;
    }
    CAMEO_RETURN_IF_ERROR(execute(opcode, operands));
    if (work.goesOn && !work.fetches) {
      keepState(at);
      return {};
    }
    at += length;
    // A conditional jump may be the last instruction, and an END not reached by it.
    if (at >= plan.codeWords())
      return fail(Code::Corrupt, "the plan runs past its end");
    if (opcode == CAMEO_OP_FETCH) {
      ++executed;
      keepState(at);
      return {};
    }
  }
}

Status Interpreter::finish() {
  for (size_t i = 0; i < work.outputs.size(); ++i)
    if (!work.outputs[i].isKnown)
      return failure(Code::Corrupt, "the launch plan gives output '%s' no shape",
                     plan.outputs()[i].name);
  return {};
}

// Keeps what is live at the word where the run goes on.
void Interpreter::keepState(uint32_t next) {
  const ResumePoint &point = plan.resumeAt(next);
  RunState &state = work.next;
  state.word = next;
  for (uint32_t live : point.registers)
    state.registers.push_back(registers[live]);
  for (uint32_t live : point.buffers) {
    const Place &place = buffers[live];
    bool isUnborn = place.space == Place::Arena && values[place.index].isUnborn;
    state.buffers.push_back({place, isUnborn ? values[place.index].place : Place()});
  }
  state.shapes.resize(point.shapes.size());
  state.values.resize(point.values.size());
  for (size_t i = 0; i < point.shapes.size(); ++i) {
    if (point.shapes[i])
      state.shapes[i] = from.shapes[i];
    if (point.values[i])
      state.values[i] = from.values[i];
  }
  state.outputs = work.outputs;
  state.arenas = arenas;
  state.arena = arena;
  state.capacities = work.capacities;
  // The elements that are fetched, by the registers that they go to.
  for (uint32_t &target : work.fetch.targets) {
    auto found = std::lower_bound(point.registers.begin(), point.registers.end(), target);
    bool isLive = found != point.registers.end() && *found == target;
    target = isLive ? uint32_t(found - point.registers.begin()) : FetchStep::kNowhere;
  }
}

Status Interpreter::execute(uint32_t opcode, const uint32_t *o) {
  if (opcode >= CAMEO_OP_ADD && opcode <= CAMEO_OP_LE)
    return integerOf(opcode, registers[o[1]], registers[o[2]], registers[o[0]]);
  if (opcode >= CAMEO_OP_WRAP_ADD && opcode <= CAMEO_OP_REM_UNSIGNED)
    return wrappingOf(opcode, uint64_t(registers[o[1]]), uint64_t(registers[o[2]]),
                      registers[o[0]]);
  if (opcode >= CAMEO_OP_FADD && opcode <= CAMEO_OP_FLE) {
    registers[o[0]] = floatingOf(opcode, asDouble(registers[o[1]]), asDouble(registers[o[2]]));
    return {};
  }
  switch (opcode) {
  case CAMEO_OP_CONST:
    registers[o[0]] = int64_t(o[1] | uint64_t(o[2]) << 32);
    return {};
  case CAMEO_OP_MOVE:
    registers[o[0]] = registers[o[1]];
    return {};
  case CAMEO_OP_DIM:
    registers[o[0]] = from.shapes[o[1]][o[2]];
    return {};
  case CAMEO_OP_LOAD:
    return load(o);
  case CAMEO_OP_BRANCH_ZERO:
    return {};
  case CAMEO_OP_SELECT:
    registers[o[0]] = CAMEO_MUTANT(23, registers[o[1]] != 0, registers[o[1]] == 0)
                          ? registers[o[2]]
                          : registers[o[3]];
    return {};
  case CAMEO_OP_FFLOOR:
    registers[o[0]] = asBits(std::floor(asDouble(registers[o[1]])));
    return {};
  case CAMEO_OP_FCEIL:
    registers[o[0]] = asBits(CAMEO_MUTANT(27, std::ceil(asDouble(registers[o[1]])),
                                          std::floor(asDouble(registers[o[1]]))));
    return {};
  case CAMEO_OP_FROUND_EVEN:
    registers[o[0]] = asBits(std::nearbyint(asDouble(registers[o[1]])));
    return {};
  case CAMEO_OP_FROUND_F32:
    registers[o[0]] = asBits(double(float(asDouble(registers[o[1]]))));
    return {};
  case CAMEO_OP_INT_TO_FLOAT:
    registers[o[0]] = asBits(double(CAMEO_MUTANT(28, registers[o[1]], int32_t(registers[o[1]]))));
    return {};
  case CAMEO_OP_FLOAT_TO_INT:
    return toInteger(asDouble(registers[o[1]]), registers[o[0]]);
  case CAMEO_OP_CHECK:
    return check(o);
  case CAMEO_OP_OUTPUT_SHAPE:
    return outputShape(o);
  case CAMEO_OP_OUTPUT_BOUND:
    return outputBound(o);
  case CAMEO_OP_ARENA_SIZE:
    return arenaSize(o);
  case CAMEO_OP_ARENA_REQUEST:
    return arenaRequest(o);
  case CAMEO_OP_ARENA_LAYOUT:
    return layOutArena(o);
  case CAMEO_OP_ARENA_USE:
    return arenaUse(o);
  case CAMEO_OP_BUF_ARENA:
    return arenaBuffer(o);
  case CAMEO_OP_BUF_PART:
    return bufferPart(o);
  case CAMEO_OP_BUF_WEIGHT:
    define(o[0], {Place::Weights, 0, o[1] | uint64_t(o[2]) << 32, o[3] | uint64_t(o[4]) << 32, ""});
    return {};
  case CAMEO_OP_BUF_INPUT:
    return inputBuffer(o);
  case CAMEO_OP_BUF_RANDOM:
    define(o[0], {Place::Random, 0, 0, CAMEO_RANDOM_BYTES, "random state"});
    return {};
  case CAMEO_OP_BUF_OUTPUT:
    return outputBuffer(o);
  case CAMEO_OP_CAPACITY:
    return capacity(o);
  case CAMEO_OP_BUF_STATE:
    return stateBuffer(o);
  case CAMEO_OP_LAUNCH:
    return launch(o);
  case CAMEO_OP_COPY:
    return copy(o);
  case CAMEO_OP_WRITE:
    return write(o);
  case CAMEO_OP_TAP:
    return tap(o);
  case CAMEO_OP_NODES:
    nextNodes = plan.string(o[0]);
    return {};
  case CAMEO_OP_WORK:
    nextFlops = asDouble(registers[o[0]]);
    nextBytes = asDouble(registers[o[1]]);
    return {};
  case CAMEO_OP_FETCH:
    return fetch(o);
  case CAMEO_OP_BUF_NAME:
    nameBuffer(o);
    return {};
  default:
    return fail(Code::Internal, "instruction not implemented");
  }
}

Status Interpreter::load(const uint32_t *o) {
  const PlanTensor &tensor = plan.inputs()[o[1]];
  const std::vector<uint8_t> &given = from.values[o[1]];
  uint64_t count = 0;
  CAMEO_RETURN_IF_ERROR(elementCount(from.shapes[o[1]], count));
  int64_t index = registers[o[2]];
  if (index < 0 || uint64_t(index) >= count)
    return failure(Code::OutOfRange, "input '%s' has %llu elements; the model reads element %lld",
                   tensor.name, (unsigned long long)count, (long long)index);
  if (given.empty())
    return failure(Code::InvalidArgument, "input '%s' is read on the host and has no values there",
                   tensor.name);
  registers[o[0]] = isFloat(tensor.dtype)
                        ? asBits(readFloat(given.data(), tensor.dtype, uint64_t(index)))
                        : readInteger(given.data(), tensor.dtype, uint64_t(index));
  return {};
}

Status Interpreter::check(const uint32_t *o) const {
  if (registers[o[0]])
    return {};
  std::string message;
  for (const char *c = plan.string(o[1]); *c;) {
    if (c[0] == '{' && (c[1] == '0' || c[1] == '1') && c[2] == '}') {
      message += std::to_string(registers[c[1] == '0' ? o[2] : o[3]]);
      c += 3;
    } else {
      message += *c++;
    }
  }
  return Status(Code::OutOfRange, std::move(message));
}

Status Interpreter::size(int64_t value, const char *what, uint64_t &result) const {
  if (value < 0)
    return failure(Code::OutOfRange, "launch plan, word %u: %s is negative: %lld", at, what,
                   (long long)value);
  result = uint64_t(value);
  return {};
}

Status Interpreter::outputShape(const uint32_t *o) {
  const PlanTensor &tensor = plan.outputs()[o[0]];
  Shape shape;
  for (uint32_t i = 0; i < o[1]; ++i)
    shape.push_back(registers[o[2 + i]]);
  uint64_t bytes = 0;
  if (Status status = tensorBytes(shape, tensor.dtype, bytes); !status.ok())
    return failure(Code::OutOfRange, "output '%s' would be %s: %s", tensor.name,
                   formatType(shape, tensor.dtype).c_str(), status.message().c_str());
  OutputShape &output = work.outputs[o[0]];
  if (output.isKnown && output.shape != shape)
    return failure(Code::Corrupt,
                   "launch plan, word %u: output '%s' is given two shapes: %s and %s", at,
                   tensor.name, formatType(output.shape, tensor.dtype).c_str(),
                   formatType(shape, tensor.dtype).c_str());
  for (size_t i = 0; i < shape.size(); ++i)
    if (output.bound[i] >= 0 && shape[i] > output.bound[i])
      return failure(Code::OutOfRange, "output '%s' would be %s; it is at most %s", tensor.name,
                     formatType(shape, tensor.dtype).c_str(),
                     formatBound(tensor, output.bound).c_str());
  output = {true, shape, shape};
  work.outputBytes[o[0]] = bytes;
  return {};
}

Status Interpreter::outputBound(const uint32_t *o) {
  if (from.word)
    return fail(Code::Corrupt, "an output's bound is given after a fetch");
  OutputShape &output = work.outputs[o[0]];
  if (output.isKnown)
    return fail(Code::Corrupt, "an output is given a bound after its shape");
  for (uint32_t i = 0; i < o[1]; ++i) {
    output.bound[i] = registers[o[2 + i]];
    if (output.bound[i] < -1)
      return failure(Code::OutOfRange, "output '%s': a size of at most %lld",
                     plan.outputs()[o[0]].name, (long long)output.bound[i]);
  }
  return {};
}

Status Interpreter::arenaSize(const uint32_t *o) {
  uint64_t bytes = 0;
  CAMEO_RETURN_IF_ERROR(size(registers[o[0]], "the arena's size", bytes));
  uint32_t number = plan.arenaAt(at);
  bool comesBack = arenas[number] != RunState::kUnsized;
  if (comesBack && bytes > arenas[number] && !work.steps.empty()) {
    // Steps that are put down already have the memory that is too small now.
    work.goesOn = true;
    return {};
  }
  arena = number;
  // What the trip before has made in it is gone.
  for (uint32_t i = 0; comesBack && i < buffers.size(); ++i)
    if (buffers[i].space == Place::Arena && buffers[i].arena == arena)
      define(i, {});
  // It does not shrink, and grows by half at least: a loop whose values grow waits for it seldom.
  if (comesBack)
    bytes = bytes > arenas[arena] ? std::max(bytes, arenas[arena] / 2 * 3) : arenas[arena];
  arenas[arena] = bytes;
  work.sizeArena(arena, bytes, from.arenas[arena] != RunState::kUnsized);
  return {};
}

Status Interpreter::arenaRequest(const uint32_t *o) {
  // Memory and time stay in proportion to the file, whatever loops are in it: a request has five
  // words.
  if (5 * (requests.size() + 1) > plan.codeWords())
    return fail(Code::Corrupt, "the plan requests more buffers than it has instructions for that");
  CameoArenaRequest request{0, o[2], o[3]};
  CAMEO_RETURN_IF_ERROR(size(registers[o[1]], "a buffer's size", request.bytes));
  if (request.last < request.first)
    return fail(Code::Corrupt, "a buffer's last step is before its first");
  requests.push_back(request);
  requestOffsets.push_back(o[0]);
  return {};
}

Status Interpreter::layOutArena(const uint32_t *o) {
  std::vector<uint64_t> offsets(requests.size());
  CameoArenaUse use;
  if (cameoLayOutArena(requests.data(), uint32_t(requests.size()), offsets.data(), &use))
    return fail(Code::OutOfRange, "the buffers of the arena take more than 2^63 bytes");
  for (size_t i = 0; i < offsets.size(); ++i)
    registers[requestOffsets[i]] = int64_t(offsets[i]);
  registers[o[0]] = int64_t(use.arena_bytes);
  registers[o[1]] = int64_t(use.live_bytes);
  registers[o[2]] = int64_t(use.sum_bytes);
  requests.clear();
  requestOffsets.clear();
  return {};
}

Status Interpreter::arenaUse(const uint32_t *o) {
  uint64_t live = 0, sum = 0;
  CAMEO_RETURN_IF_ERROR(size(registers[o[0]], "the arena's largest live set", live));
  CAMEO_RETURN_IF_ERROR(size(registers[o[1]], "the sum of the arena's buffers", sum));
  work.noteUse(arena, live, sum);
  return {};
}

Status Interpreter::arenaBuffer(const uint32_t *o) {
  uint64_t offset = 0, bytes = 0;
  CAMEO_RETURN_IF_ERROR(size(registers[o[1]], "a buffer's offset", offset));
  CAMEO_RETURN_IF_ERROR(size(registers[o[2]], "a buffer's size", bytes));
  define(o[0], {});
  // A number that no other buffer holds: the value of the trip before may still be read.
  uint32_t number = o[0] + 1;
  if (values[number].holders)
    number += plan.bufferCount();
  define(o[0], {Place::Arena, number, offset, bytes, "", arena});
  values[number].place = buffers[o[0]];
  values[number].isUnborn = true;
  return {};
}

void Interpreter::define(uint32_t buffer, const Place &place) {
  Place former = buffers[buffer];
  if (former.space == Place::Arena)
    --values[former.index].holders;
  if (place.space == Place::Arena)
    ++values[place.index].holders;
  buffers[buffer] = place;
}

void Interpreter::nameBuffer(const uint32_t *o) {
  Place &place = buffers[o[0]];
  place.name = plan.string(o[1]);
  // Not that of a part.
  if (place.space == Place::Arena && (place.index - 1) % plan.bufferCount() == o[0])
    values[place.index].place.name = place.name;
}

Status Interpreter::inputBuffer(const uint32_t *o) {
  const PlanTensor &tensor = plan.inputs()[o[1]];
  uint64_t bytes = 0;
  CAMEO_RETURN_IF_ERROR(tensorBytes(from.shapes[o[1]], tensor.dtype, bytes));
  define(o[0], {Place::Input, o[1], 0, bytes, tensor.name});
  work.inputUsed[o[1]] = true;
  return {};
}

Status Interpreter::outputBuffer(const uint32_t *o) {
  if (!work.outputs[o[1]].isKnown)
    return fail(Code::Corrupt, "an output is used before it has a shape");
  define(o[0], {Place::Output, o[1], 0, work.outputBytes[o[1]], plan.outputs()[o[1]].name});
  return {};
}

// Room that grows does so by half at least, and in steps: what goes by it stays the same for many runs.
Status Interpreter::capacity(const uint32_t *o) {
  uint64_t least = 0, &room = work.capacities[o[1]];
  CAMEO_RETURN_IF_ERROR(size(registers[o[2]], "a state's length", least));
  if (least > kMostCapacity)
    return failure(Code::OutOfRange, "state '%s' would be %llu long; at most %llu",
                   plan.inputs()[o[1]].name, (unsigned long long)least,
                   (unsigned long long)kMostCapacity);
  if (room < least)
    room = (std::max(least, room + room / 2) + kCapacityStep - 1) / kCapacityStep * kCapacityStep;
  registers[o[0]] = int64_t(room);
  return {};
}

Status Interpreter::stateBuffer(const uint32_t *o) {
  const PlanTensor &tensor = plan.inputs()[o[1]];
  uint64_t bytes = 0, all = 0;
  CAMEO_RETURN_IF_ERROR(size(registers[o[2]], "a buffer's size", bytes));
  CAMEO_RETURN_IF_ERROR(stateBytes(tensor, from.shapes[o[1]], work.capacities[o[1]], all));
  if (bytes > all)
    return failure(Code::Corrupt, "launch plan, word %u: %llu bytes of state '%s', which has %llu",
                   at, (unsigned long long)bytes, tensor.name, (unsigned long long)all);
  define(o[0], {Place::State, o[1], 0, bytes, tensor.name});
  return {};
}

Status Interpreter::bufferPart(const uint32_t *o) {
  uint64_t offset = 0, bytes = 0;
  CAMEO_RETURN_IF_ERROR(size(registers[o[2]], "a buffer's offset", offset));
  CAMEO_RETURN_IF_ERROR(size(registers[o[3]], "a buffer's size", bytes));
  Place place = buffers[o[1]];
  if (place.space == Place::None)
    return fail(Code::Corrupt, "a part of a buffer that is not defined");
  if (offset > place.bytes || bytes > place.bytes - offset)
    return failure(
        Code::Corrupt, "launch plan, word %u: %llu bytes at %llu exceed a buffer of %llu bytes", at,
        (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)place.bytes);
  place.offset += offset;
  place.bytes = bytes;
  define(o[0], place);
  return {};
}

// The buffer, which must be defined and, in the arena, lie within it: its size may be given after
// its views.
Status Interpreter::place(uint32_t buffer, Place &result) {
  result = buffers[buffer];
  if (result.space == Place::None)
    return fail(Code::Corrupt, "a buffer is used before it is defined");
  if (result.space != Place::Arena)
    return {};
  uint64_t all = arenas[result.arena];
  if (all == RunState::kUnsized)
    return fail(Code::Corrupt, "the arena is used before its size is given");
  if (result.offset > all || result.bytes > all - result.offset)
    return failure(Code::Corrupt,
                   "launch plan, word %u: %llu bytes at %llu exceed the arena of %llu bytes", at,
                   (unsigned long long)result.bytes, (unsigned long long)result.offset,
                   (unsigned long long)all);
  Value &value = values[result.index];
  if (value.isUnborn) {
    value.isUnborn = false;
    work.births.push_back({uint32_t(work.steps.size()), value.place});
  }
  return {};
}

Status Interpreter::charge(uint64_t bytes, const char *nodes) {
  workBytes += bytes;
  if (workBytes > kMaxWorkBytes)
    return failure(Code::OutOfRange,
                   "launch plan, word %u%s%s: loops make more work of it than %llu bytes hold", at,
                   nodes ? ", of " : "", nodes ? nodes : "", (unsigned long long)kMaxWorkBytes);
  return {};
}

Status Interpreter::launch(const uint32_t *o) {
  const PlanKernel &kernel = plan.kernels()[o[0]];
  const char *nodes = nextNodes ? nextNodes : kernel.onnxNodes;
  LaunchStep step{o[0], nodes, {0, 0, 0}, 0, uint32_t(work.args.size()), nextFlops, nextBytes};
  nextNodes = nullptr;
  nextFlops = nextBytes = -1;
  for (int i = 0; i < 3; ++i) {
    int64_t extent = registers[o[1 + i]], limit = i ? kMaxGridYZ : kMaxGridX;
    if (extent < 0 || extent > limit)
      return failure(Code::OutOfRange, "kernel '%s' (%s) needs a grid of %lld in %c; at most %lld",
                     kernel.name, nodes, (long long)extent, "xyz"[i], (long long)limit);
    if (extent == 0)
      return {};
    step.grid[i] = uint32_t(extent);
  }
  int64_t shared = registers[o[4]];
  if (shared < 0 || shared > std::numeric_limits<int32_t>::max())
    return failure(Code::OutOfRange, "kernel '%s' (%s) needs %lld bytes of shared memory",
                   kernel.name, nodes, (long long)shared);
  step.sharedDynamic = uint32_t(shared);
  CAMEO_RETURN_IF_ERROR(
      charge(sizeof(Step) + sizeof(LaunchStep) + kernel.argCount * sizeof(ArgValue), nodes));
  for (uint32_t i = 0; i < kernel.argCount; ++i) {
    ArgValue arg;
    int64_t value = 0;
    if (kernel.argTypes[i] == CAMEO_ARG_BUFFER)
      CAMEO_RETURN_IF_ERROR(place(o[5 + i], arg.place));
    else
      value = registers[o[5 + i]];
    if (kernel.argTypes[i] == CAMEO_ARG_F32) {
      float narrow = float(asDouble(value));
      std::memcpy(&arg.bits, &narrow, sizeof narrow);
    } else {
      arg.bits = uint64_t(value);
    }
    work.args.push_back(arg);
  }
  work.steps.push_back({Step::Launch, uint32_t(work.launches.size())});
  work.launches.push_back(step);
  return {};
}

Status Interpreter::copy(const uint32_t *o) {
  CopyStep step;
  CAMEO_RETURN_IF_ERROR(place(o[0], step.target));
  CAMEO_RETURN_IF_ERROR(place(o[1], step.source));
  CAMEO_RETURN_IF_ERROR(size(registers[o[2]], "a copy's size", step.bytes));
  if (step.bytes > step.target.bytes || step.bytes > step.source.bytes)
    return failure(Code::Corrupt,
                   "launch plan, word %u: copies %llu bytes from %llu to a buffer of %llu", at,
                   (unsigned long long)step.bytes, (unsigned long long)step.source.bytes,
                   (unsigned long long)step.target.bytes);
  if (!step.bytes)
    return {};
  CAMEO_RETURN_IF_ERROR(charge(sizeof(Step) + sizeof(CopyStep)));
  work.steps.push_back({Step::Copy, uint32_t(work.copies.size())});
  work.copies.push_back(step);
  return {};
}

Status Interpreter::write(const uint32_t *o) {
  uint32_t dtype = o[1], count = o[2];
  WriteStep step;
  CAMEO_RETURN_IF_ERROR(place(o[0], step.target));
  step.offset = (work.data.size() + 15) / 16 * 16;
  step.bytes = (uint64_t(count) * dtypeBits(dtype) + 7) / 8;
  if (step.bytes > step.target.bytes)
    return failure(Code::Corrupt, "launch plan, word %u: writes %llu bytes to a buffer of %llu", at,
                   (unsigned long long)step.bytes, (unsigned long long)step.target.bytes);
  if (!count)
    return {};
  CAMEO_RETURN_IF_ERROR(charge(sizeof(Step) + sizeof(WriteStep) + step.bytes));
  work.data.resize(step.offset + step.bytes);
  for (uint32_t i = 0; i < count; ++i) {
    if (isFloat(dtype))
      writeFloat(work.data.data() + step.offset, dtype, i, asDouble(registers[o[3 + i]]));
    else
      writeInteger(work.data.data() + step.offset, dtype, i, registers[o[3 + i]]);
  }
  work.steps.push_back({Step::Write, uint32_t(work.writes.size())});
  work.writes.push_back(step);
  return {};
}

Status Interpreter::tap(const uint32_t *o) {
  const PlanTensor &tensor = plan.taps()[o[0]];
  TapStep step{o[0], {}, {}, {}, 0};
  CAMEO_RETURN_IF_ERROR(place(o[1], step.source));
  for (uint32_t i = 0; i < o[2]; ++i)
    (i < tensor.dims.size() ? step.shape : step.trips).push_back(registers[o[3 + i]]);
  if (Status status = tensorBytes(step.shape, tensor.dtype, step.bytes); !status.ok())
    return failure(Code::OutOfRange, "tap '%s' would be %s: %s", tensor.name,
                   formatType(step.shape, tensor.dtype).c_str(), status.message().c_str());
  if (step.bytes > step.source.bytes)
    return failure(
        Code::Corrupt, "launch plan, word %u: tap '%s' of %llu bytes in a buffer of %llu", at,
        tensor.name, (unsigned long long)step.bytes, (unsigned long long)step.source.bytes);
  CAMEO_RETURN_IF_ERROR(charge(sizeof(Step) + sizeof(TapStep) + o[2] * sizeof(int64_t)));
  work.steps.push_back({Step::Tap, uint32_t(work.taps.size())});
  work.taps.push_back(std::move(step));
  return {};
}

Status Interpreter::fetch(const uint32_t *o) {
  uint32_t dtype = o[1], count = o[3];
  int64_t first = registers[o[2]];
  Place source = buffers[o[0]];
  if (source.space == Place::Arena && values[source.index].isUnborn)
    return fail(Code::Corrupt, "fetches from a buffer that nothing has written");
  CAMEO_RETURN_IF_ERROR(place(o[0], source));
  uint64_t each = dtypeBits(dtype) / 8, elements = source.bytes / each;
  if (first < 0 || count > elements || uint64_t(first) > elements - count)
    return failure(Code::OutOfRange,
                   "launch plan, word %u: fetches %u elements from number %lld of %llu", at, count,
                   (long long)first, (unsigned long long)elements);
  source.offset += uint64_t(first) * each;
  source.bytes = count * each;
  work.goesOn = work.fetches = true;
  work.fetch = {source, dtype, {o + 4, o + 4 + count}};
  return {};
}

} // namespace

Status runSegment(const Plan &plan, const RunState &from, WorkList &work) {
  if (from.word == 0)
    CAMEO_RETURN_IF_ERROR(checkSymbols(plan, from.shapes));
  return Interpreter(plan, from, work).run();
}

Status runPlan(const Plan &plan, const std::vector<PlanInput> &inputs, WorkList &work) {
  RunState state;
  CAMEO_RETURN_IF_ERROR(startState(plan, inputs, state));
  return runSegment(plan, state, work);
}

} // namespace cameo::runtime
