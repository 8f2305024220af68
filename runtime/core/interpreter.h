// Runs a plan's code for given shapes and host-read values. The result is a flat list of work that
// holds as long as these stay the same; it knows places, not addresses.
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
  enum Space : uint32_t { None, Arena, Weights, Input, Output } space = None;
  uint32_t index = 0; // of the input or output; of the arena: of the value, from 1 on
  uint64_t offset = 0;
  uint64_t bytes = 0;
  const char *name = ""; // of the value in it, for reports
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

struct WorkList {
  std::vector<Step> steps;
  std::vector<Birth> births; // by step
  std::vector<LaunchStep> launches;
  std::vector<ArgValue> args;
  std::vector<CopyStep> copies;
  std::vector<WriteStep> writes;
  std::vector<TapStep> taps;
  std::vector<uint8_t> data;
  std::vector<Shape> outputShapes;
  std::vector<uint64_t> inputBytes, outputBytes;
  std::vector<bool> inputUsed; // on the device
  uint64_t arenaBytes = 0;
  // What is in the arena: at most at one step, and all that ever is. Where the plan tells.
  bool arenaUseKnown = false;
  uint64_t arenaLiveBytes = 0, arenaSumBytes = 0;
};

// `inputs` are one a plan input; their shapes must agree with the plan (checkShapes).
Status runPlan(const Plan &plan, const std::vector<PlanInput> &inputs, WorkList &work);

// Whether a shape is one that the plan's input takes, sizes of equal name aside.
Status checkShape(const PlanTensor &tensor, const Shape &shape);
// Whether sizes of equal name are equal.
Status checkSymbols(const Plan &plan, const std::vector<PlanInput> &inputs);

} // namespace cameo::runtime

#endif
