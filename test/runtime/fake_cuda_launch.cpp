// A stand-in for libcuda.so.1: launches, checked against what the code says of its kernels.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <algorithm>
#include <unistd.h>

using namespace fakecuda;

namespace fakecuda {

namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr unsigned mostThreads = 1024, registersOfBlock = 65536, warp = 32, threadsOfSm = 2048;
constexpr unsigned portableCluster = 8, mostCluster = 16;

unsigned product(const unsigned sizes[3]) { return sizes[0] * sizes[1] * sizes[2]; }

// Registers are given to warps, 256 at a time.
unsigned registersOf(const Kernel &kernel, unsigned threads) {
  unsigned perWarp = (kernel.registers * warp + 255) / 256 * 256;
  return perWarp * ((threads + warp - 1) / warp);
}

CUresult checkGeometry(const LaunchConfig &config) {
  for (int i = 0; i < 3; ++i)
    if (!config.grid[i] || !config.block[i] || config.block[i] > mostThreads)
      return CUDA_ERROR_INVALID_VALUE;
  return config.grid[0] > 0x7fffffff || config.grid[1] > 65535 || config.grid[2] > 65535 ||
                 product(config.block) > mostThreads || config.block[2] > 64
             ? CUDA_ERROR_INVALID_VALUE
             : CUDA_SUCCESS;
}

CUresult checkCluster(const Function &function, const LaunchConfig &config) {
  const Kernel &kernel = function.kernel;
  unsigned size = product(kernel.cluster);
  if (!size)
    return CUDA_SUCCESS;
  if (size > (function.nonPortableCluster ? mostCluster : portableCluster))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (size > state().devices[currentDevice()].clusterBlocks)
    return errorOutOfResources;
  for (int i = 0; i < 3; ++i)
    if (config.grid[i] % kernel.cluster[i])
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return CUDA_SUCCESS;
}

// These are found before anything is enqueued, and later calls do not suffer from them.
CUresult checkLaunch(const Function &function, const LaunchConfig &config) {
  const Kernel &kernel = function.kernel;
  if (CUresult error = checkGeometry(config))
    return error;
  unsigned threads = product(config.block);
  if (product(kernel.block) && !std::equal(kernel.block, kernel.block + 3, config.block))
    return CUDA_ERROR_INVALID_VALUE;
  if (kernel.maxThreads && threads > kernel.maxThreads)
    return CUDA_ERROR_INVALID_VALUE;
  if (registersOf(kernel, threads) > registersOfBlock)
    return errorOutOfResources;
  const int allowed = sharedOptin(state().devices[currentDevice()]);
  if (config.sharedBytes > static_cast<unsigned>(function.dynamicShared) ||
      config.sharedBytes + kernel.sharedStatic > static_cast<unsigned>(allowed))
    return CUDA_ERROR_INVALID_VALUE;
  return checkCluster(function, config);
}

double kernelTime(const Launch &launch) {
  State &s = state();
  if (auto found = s.kernelTimes.find(launch.kernel); found != s.kernelTimes.end())
    return found->second;
  double threads = double(launch.grid[0]) * launch.grid[1] * launch.grid[2] * product(launch.block);
  double fullWaves = threads / threadsOfSm / multiprocessors(s.devices[currentDevice()]);
  return s.clock.model.kernel * (1 + static_cast<uint64_t>(fullWaves));
}

CUresult runKernel(const Launch &launch) {
  State &s = state();
  if (auto failing = s.failingKernels.find(launch.kernel); failing != s.failingKernels.end()) {
    while (failing->second == State::hangs)
      pause();
    return failing->second;
  }
  s.fault = CUDA_SUCCESS;
  if (auto found = s.registered.find(launch.kernel); found != s.registered.end())
    found->second.body(launch);
  return s.fault;
}

std::string dims(const unsigned sizes[3]) {
  return std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
}

// The values of the parameters; their sizes are the code's, as the real driver takes them.
CUresult readParameters(const Kernel &kernel, void **parameters, Launch &launch) {
  State &s = state();
  std::vector<size_t> sizes;
  for (const Parameter &parameter : kernel.parameters)
    sizes.push_back(parameter.size);
  if (auto found = s.registered.find(kernel.name);
      !kernel.parametersKnown && found != s.registered.end())
    sizes = found->second.shape.sizes;
  if (!sizes.empty() && !parameters) {
    misuse("launch of " + kernel.name + " without parameters");
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto *value = static_cast<const char *>(parameters[i]);
    launch.arguments.emplace_back(value, value + sizes[i]);
  }
  return CUDA_SUCCESS;
}

} // namespace

std::string compareKernel(const Kernel &code, const KernelShape &plan) {
  if (code.parametersKnown && code.parameters.size() != plan.sizes.size())
    return "the plan passes " + std::to_string(plan.sizes.size()) + " parameters, the code takes " +
           std::to_string(code.parameters.size());
  size_t offset = 0;
  for (size_t i = 0; i < code.parameters.size(); ++i) {
    const Parameter &parameter = code.parameters[i];
    size_t size = plan.sizes[i];
    // Each is aligned to its size, as C has it; arrays say their own alignment.
    offset = size <= 8 ? (offset + size - 1) / size * size : parameter.offset;
    if (size != parameter.size)
      return "parameter " + std::to_string(i) + " has " + bytesOf(size) + " in the plan, " +
             bytesOf(parameter.size) + " in the code";
    if (offset != parameter.offset)
      return "parameter " + std::to_string(i) + " lies at " + std::to_string(offset) +
             " after the plan, at " + std::to_string(parameter.offset) + " in the code";
    offset += size;
  }
  if (product(code.block) && product(plan.block) &&
      !std::equal(code.block, code.block + 3, plan.block))
    return "blocks of " + dims(plan.block) + " in the plan, of " + dims(code.block) +
           " in the code";
  if (plan.sharedStatic >= 0 && code.parametersKnown && plan.sharedStatic != code.sharedStatic)
    return bytesOf(plan.sharedStatic) + " of static shared memory in the plan, " +
           bytesOf(code.sharedStatic) + " in the code";
  if (plan.clusterKnown && std::max(1u, product(plan.cluster)) == 1 && product(code.cluster) <= 1)
    return "";
  if (plan.clusterKnown && !std::equal(code.cluster, code.cluster + 3, plan.cluster))
    return "clusters of " + dims(plan.cluster) + " in the simulator's image, of " +
           dims(code.cluster) + " in the code";
  return "";
}

CUresult prepareLaunch(CUfunction handle, const LaunchConfig &config, void **parameters,
                       void **extra, Op &op) {
  Function *function = find(state().functions, handle, "kernel");
  if (!function || extra || state().modules.at(function->module).device != currentDevice())
    return function && !extra ? errorInvalidHandle : CUDA_ERROR_INVALID_VALUE;
  if (function->mismatch)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = checkLaunch(*function, config))
    return error;
  Launch launch;
  launch.kernel = function->kernel.name;
  std::copy_n(config.grid, 3, launch.grid);
  std::copy_n(config.block, 3, launch.block);
  launch.sharedBytes = config.sharedBytes;
  if (CUresult error = readParameters(function->kernel, parameters, launch))
    return error;
  op.what = launch.kernel;
  op.engine = Engine::Kernels;
  op.duration = kernelTime(launch);
  op.work = [launch = std::move(launch)] { return runKernel(launch); };
  return CUDA_SUCCESS;
}

std::string describe(CUfunction function, const LaunchConfig &config) {
  auto found = state().functions.find(number(function));
  std::string name = found == state().functions.end() ? "?" : found->second.kernel.name;
  return name + " grid " + dims(config.grid) + " block " + dims(config.block) + " shared " +
         std::to_string(config.sharedBytes);
}

} // namespace fakecuda

extern "C" CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                                   unsigned gridZ, unsigned blockX, unsigned blockY,
                                   unsigned blockZ, unsigned sharedBytes, CUstream stream,
                                   void **parameters, void **extra) {
  LaunchConfig config = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
  ENTER(Context, describe(function, config));
  Op op;
  if (CUresult error = prepareLaunch(function, config, parameters, extra, op))
    return error;
  return enqueue(findStream(stream), std::move(op), Node::Kernel);
}
