// What kernels take whose threads go through elements one by one, or through rows and windows of
// them: their estimate is of what they move and how many instructions that takes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codegen/schedule/AccessPattern.h"
#include "codegen/schedule/TimeModel.h"
#include "dialects/kernel/form/Computation.h"

namespace cameo {

/// What a description asks for, each value computed once. Sizes known only at run time count as
/// kUnknownSize.
struct ElementWork {
  double operations = 0;   // of threads: arithmetic, loads and stores
  double bytes = 0;        // of operands, each element once that is asked for
  double reducedBytes = 0; // read in steps of reductions, each time that they are
  double longest = 0;      // steps of a reduction
  double scanSteps = 0;    // of scans, where each element goes through the line up to it
};
ElementWork elementWork(const Computation &computation);

/// Loads of a loop that a thread has on their way at once: those of the steps that LLVM unrolls.
inline constexpr double kLoadsTogether = 4;

/// Neighbours of a row that a thread computes at once, `most` at most: a power of two that divides the
/// row, and so few that there are threads to fill the GPU, which comes before wide accesses.
int64_t neighborsOfThread(int64_t most, int64_t row, double elements, const Target &target);

/// How a class spreads it.
struct ElementKernel {
  double blocks;
  int64_t threads;
  double trips = 1; // see KernelWork
  int64_t sharedBytes = 0;
  double sectors = 1; // bytes that are moved for one that is asked for
  double reused = 1;  // steps of reductions that an element serves which was read once
};
KernelWork kernelWork(const ElementWork &work, const ElementKernel &kernel);

} // namespace cameo
