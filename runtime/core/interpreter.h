// Runs a plan's code, a segment at a time: from the start, for given shapes and host-read values, or
// from where a value was fetched, to the next fetch or the end. The result is a flat list of work that
// follows from the state at the segment's start alone; it knows places, not addresses.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_INTERPRETER_H
#define CAMEO_RUNTIME_CORE_INTERPRETER_H

#include "runtime/core/plan.h"

namespace cameo::runtime {

// What the plan is run for.
struct PlanInput {
  Shape shape;
  const void *values = nullptr; // host-resident inputs: as many elements as the shape has
};

// A range of device memory, before it has an address.
struct Place {
  enum Space : uint32_t { None, Arena, Weights, Input, Output, State, Random } space = None;
  uint32_t index = 0; // of the input, of a state, too, or output; of the arena's value, from 1 on
  uint64_t offset = 0;
  uint64_t bytes = 0;
  const char *name = ""; // of the value in it, for reports
  uint32_t arena = 0;    // which one

  bool operator==(const Place &other) const {
    return space == other.space && index == other.index && offset == other.offset &&
           bytes == other.bytes && name == other.name && arena == other.arena;
  }
};

// An output, as far as a run has come to know it.
struct OutputShape {
  bool isKnown = false;
  Shape shape;
  Shape
      bound; // the most that each size can be, -1: nothing bounds it; the shape where that is known
  bool operator==(const OutputShape &other) const {
    return isKnown == other.isKnown && shape == other.shape && bound == other.bound;
  }
};

// All that the work of a segment follows from. Equal states give equal work.
struct RunState {
  // A buffer that is read later, and the value in the arena that it is of, where no step has used
  // that value yet.
  struct Buffer {
    Place place, unborn;
    bool operator==(const Buffer &other) const {
      return place == other.place && unborn == other.unborn;
    }
  };

  uint32_t word = 0;              // of the code, where it goes on
  std::vector<int64_t> registers; // these two as Plan::resumeAt(word) lists them; at word 0 none
  std::vector<Buffer> buffers;
  std::vector<Shape> shapes;                // of inputs; of those that nobody reads later: none
  std::vector<std::vector<uint8_t>> values; // the same, of those that are read on the host
  std::vector<OutputShape> outputs;
  // The bytes of each arena, kUnsized before it is sized, and the one that was sized last.
  static constexpr uint64_t kUnsized = UINT64_MAX;
  std::vector<uint64_t> arenas;
  uint32_t arena = 0;
  // Room in the memory of each input that is a state that grows in place; 0 of others.
  std::vector<uint64_t> capacities;

  // Nothing is known of outputs and arenas.
  void begin(const Plan &plan);
  // Values of the arena get numbers by their order, and no names: only reports tell them from others.
  void forgetNames();
  bool operator==(const RunState &other) const;
  uint64_t hash() const;
  uint64_t bytes() const; // about what it takes in memory
};

struct LaunchStep {
  uint32_t kernel;
  const char *onnxNodes; // comma separated; belongs to the plan
  uint32_t grid[3];
  uint32_t sharedDynamic;
  uint32_t firstArg; // into WorkList::args, as many as the kernel has parameters
  double flops = -1; // arithmetic operations; -1: not known
  double bytes = -1; // read and written
};

// A parameter: a place, or a value's bits.
struct ArgValue {
  Place place;
  uint64_t bits = 0;
};

struct CopyStep {
  Place target, source;
  uint64_t bytes;
};

struct WriteStep {
  Place target;
  uint64_t offset; // into WorkList::data
  uint64_t bytes;
};

// A value that is there until the next step.
struct TapStep {
  uint32_t tap; // index among the plan's
  Place source;
  Shape shape;
  Shape trips; // numbers of those around it, outer loops first
  uint64_t bytes;
};

struct Step {
  enum Kind : uint32_t { Launch, Copy, Write, Tap } kind;
  uint32_t index; // into the list of that kind
};

// From a step on, a range of the arena belongs to a new value: what is in it no longer counts.
struct Birth {
  uint32_t step; // index into WorkList::steps
  Place place;
};

// Elements that are read once the steps are done, and where they go in the state that follows.
struct FetchStep {
  Place source;
  uint32_t dtype;
  std::vector<uint32_t> targets; // one an element: in WorkList::next.registers, or kNowhere
  static constexpr uint32_t kNowhere = UINT32_MAX;
};

// An arena that a segment sizes: the most bytes that it takes, and what is in it, at most at one step and all that ever is.
struct SizedArena {
  uint32_t arena = 0;
  bool holdsOlder = false; // what an earlier segment has made in it may be read
  uint64_t bytes = 0, liveBytes = 0, sumBytes = 0;
};

struct WorkList {
  std::vector<Step> steps;
  std::vector<Birth> births; // by step
  std::vector<LaunchStep> launches;
  std::vector<ArgValue> args;
  std::vector<CopyStep> copies;
  std::vector<WriteStep> writes;
  std::vector<TapStep> taps;
  std::vector<uint8_t> data;
  // The outputs as they are at a run's end, else what is known so far.
  std::vector<OutputShape> outputs;
  std::vector<uint64_t> outputBytes; // 0 where the shape is not known
  // The first segment's alone:
  std::vector<uint64_t> inputBytes;
  std::vector<bool> inputUsed; // on the device, by any segment
  // RunState::capacities as they are to be in front of the segment's steps.
  std::vector<uint64_t> capacities;
  // Whether another segment follows, and whether it needs values that are fetched first.
  bool goesOn = false, fetches = false;
  FetchStep fetch;
  RunState next; // but for the values that are fetched
  uint64_t instructions = 0;
  std::vector<SizedArena> arenas; // each once
  bool arenaUseKnown = false;     // where the plan tells what is in them

  // Null where the segment does not size it.
  SizedArena *find(uint32_t arena);
  void sizeArena(uint32_t arena, uint64_t bytes, bool holdsOlder);
  void noteUse(uint32_t arena, uint64_t liveBytes, uint64_t sumBytes);
  // 0 where the segment does not size it.
  uint64_t arenaBytes(uint32_t arena) const;
  // Of all together.
  SizedArena allArenas() const;
};

// No run executes more instructions, in all of its segments together: it ends programs that would not.
constexpr uint64_t kMaxInstructions = uint64_t(1) << 26;

// The state before a run. `inputs` are one a plan input; their shapes must agree with the plan
// (checkShape).
Status startState(const Plan &plan, const std::vector<PlanInput> &inputs, RunState &state);
// Runs the plan to its next FETCH or its end. Where the host has no values for an input, `from` has
// none, and reading them is an error.
Status runSegment(const Plan &plan, const RunState &from, WorkList &work);
// The first segment of a run.
Status runPlan(const Plan &plan, const std::vector<PlanInput> &inputs, WorkList &work);
// The state that follows a segment, with what was fetched.
RunState stateAfter(const WorkList &work, const void *fetched);

// Whether a shape is one that the plan's input takes, sizes of equal name aside.
Status checkShape(const PlanTensor &tensor, const Shape &shape);
// Whether sizes of equal name are equal.
Status checkSymbols(const Plan &plan, const std::vector<Shape> &shapes);

} // namespace cameo::runtime

#endif
