// Compiles kernels of the tiled stage for the simulator and runs them on its engine.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/sim/engine.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace cameo::test {

/// An image in memory with an engine to run it on. `error` tells what went wrong while compiling.
class SimKernels {
public:
  /// Of kernels of the tiled stage, or of dispatches in an rt.variant, with or without schedules.
  SimKernels(llvm::StringRef text, bool checked, llvm::StringRef target = "sm_80",
             sim::Form form = sim::Form::Warp);

  /// Launches with parameters given by address, as cuLaunchKernel has them.
  sim::LaunchResult launch(const char *kernel, unsigned blocks, unsigned threads,
                           std::vector<const void *> parameters, unsigned sharedDynamic = 0,
                           std::vector<sim::BufferRange> buffers = {});

  /// Launches what dispatches became, by number, as planned; `blocks` where that is known only at
  /// run time.
  sim::LaunchResult launchPlanned(size_t number, std::vector<const void *> parameters,
                                  unsigned blocks = 0);

  /// Makes host memory known to the checks.
  template <typename T> T *share(std::vector<T> &data, const char *name) {
    engine.adopt(data.data(), data.size() * sizeof(T), name);
    return data.data();
  }

  std::string error;
  sim::Engine engine;
  std::unique_ptr<sim::Image> image;
  llvm::SmallVector<char> code; // what the image was loaded from

  /// Launches of the dispatches.
  struct Planned {
    std::string kernel, schedule; // the schedule's family
    unsigned blocks, threads;     // 0 blocks: known only at run time
    unsigned shared;              // dynamic, in bytes
  };
  std::vector<Planned> planned;
};

/// The variant of that name in a lit test of this folder that is split by "// -----".
std::string variantOf(const std::string &file, const std::string &name);

/// From `least` to 2, the same in every run.
std::vector<float> randomFloats(size_t count, float least = 0.5f);
/// What no kernel has written yet: never near anything.
std::vector<float> unwritten(size_t count);
void expectNear(const std::vector<float> &got, const std::vector<double> &wanted,
                double absolute = 0);

} // namespace cameo::test
