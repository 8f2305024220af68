// Main loops in the place of the estimate's steps.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune/SassTime.h"

namespace cameo {

/// Of a shared wavefront: all 32 banks.
static constexpr double kWavefrontBytes = 128;

SassTime sassTime(const sass::Kernel &kernel, const KernelWork &work, unsigned dynamicSharedBytes,
                  unsigned spilledBytes, const Target &target) {
  SassTime result;
  result.registers = kernel.registers;
  result.spilledBytes = spilledBytes;
  unsigned shared = kernel.sharedBytes + dynamicSharedBytes;
  result.blocksPerSm =
      sass::blocksPerMultiprocessor(target, kernel.threads, kernel.registers, shared);
  std::optional<sass::Loop> loop = sass::mainLoop(kernel.instructions);
  if (!loop || result.blocksPerSm == 0)
    return result;
  sass::LoopCounts counts = sass::count(kernel.instructions, *loop);
  double warps = double((kernel.threads + 31) / 32);
  auto bound = sass::boundOf(counts, kernel.instructions, *loop, target,
                             unsigned(warps) * result.blocksPerSm);
  if (!bound)
    return result;
  result.resource = bound->resource;
  double turn = counts.matrixMultiplyAdds ? double(counts.matrixMultiplyAdds)
                                          : 32.0 * counts.of(sass::Kind::MultiplyAdd);
  KernelWork real = work;
  real.threads = kernel.threads;
  real.registers = std::max(kernel.registers, 1u);
  real.sharedBytes = shared;
  real.steps = work.multiplyAdds / (turn * warps);
  double stepsOfTurn = work.steps / real.steps;
  real.step = {};
  (counts.matrixMultiplyAdds ? real.step.matrix : real.step.arithmetic) = bound->arithmetic * warps;
  // Spills are instructions of the loop, too, if they are there.
  real.step.slots = counts.slots * warps;
  real.step.sharedBytes = counts.sharedWavefronts * kWavefrontBytes * warps;
  real.step.l2Bytes = work.step.l2Bytes * stepsOfTurn;
  TimeModel model(target);
  real.step.chain =
      std::max(double(counts.stall), model.waitCycles(work.loads, work.ahead) * stepsOfTurn);
  // Of what is done once, memory alone: what it issues and waits for was never compared with code.
  real.once = {};
  real.once.sharedBytes = work.once.sharedBytes;
  real.once.l2Bytes = work.once.l2Bytes;
  result.microseconds = model.microseconds(real);
  return result;
}

} // namespace cameo
