// The CUDA device: graphs. They are put together node by node rather than recorded from a stream:
// recording would restrict what the caller's other threads may do meanwhile, and has no handles of
// nodes, whose arguments change with the caller's memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/device.h"

namespace cameo::runtime::cuda {

namespace {

CUDA_KERNEL_NODE_PARAMS nodeParameters(CUfunction function, const Launch &launch) {
  return {function,        launch.grid[0],  launch.grid[1],       launch.grid[2], launch.block[0],
          launch.block[1], launch.block[2], launch.sharedDynamic, launch.args,    nullptr};
}

// One row of bytes.
CUDA_MEMCPY3D copyParameters(DevicePtr target, uint64_t bytes) {
  CUDA_MEMCPY3D copy = {};
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = target;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = bytes;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
  return copy;
}

CUDA_MEMCPY3D copyFromDevice(DevicePtr target, DevicePtr source, uint64_t bytes) {
  CUDA_MEMCPY3D copy = copyParameters(target, bytes);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = source;
  return copy;
}

CUDA_MEMCPY3D copyFromHost(DevicePtr target, const void *source, uint64_t bytes) {
  CUDA_MEMCPY3D copy = copyParameters(target, bytes);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = source;
  return copy;
}

} // namespace

Status CudaDevice::createGraph(Graph &graph) {
  if (!driver.hasGraphs())
    return failure(Code::Unsupported, "no graphs: the driver is for CUDA %s, 11.4 has them",
                   versionText(static_cast<int>(deviceInfo.driverVersion)).c_str());
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  auto built = std::make_unique<BuiltGraph>();
  CAMEO_RETURN_IF_ERROR(checkEarlier(driver.cuGraphCreate(&built->graph, 0), "cuGraphCreate"));
  graph = built.release();
  return Status();
}

Status CudaDevice::addLaunch(Graph graph, const Launch &launch, GraphNode &node) {
  CAMEO_RETURN_IF_ERROR(checkLaunch(launch));
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  auto *built = static_cast<BuiltGraph *>(graph);
  auto *kernel = static_cast<LoadedKernel *>(launch.kernel);
  CUDA_KERNEL_NODE_PARAMS parameters = nodeParameters(kernel->function, launch);
  CUgraphNode added = nullptr;
  CAMEO_RETURN_IF_ERROR(checkEarlier(driver.cuGraphAddKernelNode(&added, built->graph, &built->last,
                                                                 built->last ? 1 : 0, &parameters),
                                     "cuGraphAddKernelNode", launchText(*kernel->name, launch)));
  node = built->last = added;
  built->lastKernel = kernel->name;
  return Status();
}

Status CudaDevice::addMemcpy(Graph graph, const CUDA_MEMCPY3D &copy, GraphNode &node) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  auto *built = static_cast<BuiltGraph *>(graph);
  CUgraphNode added = nullptr;
  CAMEO_RETURN_IF_ERROR(
      checkEarlier(driver.cuGraphAddMemcpyNode(&added, built->graph, &built->last,
                                               built->last ? 1 : 0, &copy, context),
                   "cuGraphAddMemcpyNode"));
  node = built->last = added;
  return Status();
}

Status CudaDevice::addCopy(Graph graph, DevicePtr target, DevicePtr source, uint64_t bytes,
                           GraphNode &node) {
  return addMemcpy(graph, copyFromDevice(target, source, bytes), node);
}

Status CudaDevice::addWrite(Graph graph, DevicePtr target, const void *source, uint64_t bytes,
                            GraphNode &node) {
  return addMemcpy(graph, copyFromHost(target, source, bytes), node);
}

Status CudaDevice::addRecord(Graph graph, Event event) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  auto *built = static_cast<BuiltGraph *>(graph);
  CUgraphNode added = nullptr;
  CAMEO_RETURN_IF_ERROR(checkEarlier(
      driver.cuGraphAddEventRecordNode(&added, built->graph, &built->last, built->last ? 1 : 0,
                                       static_cast<CUevent>(event)),
      "cuGraphAddEventRecordNode"));
  built->last = added;
  return Status();
}

Status CudaDevice::instantiate(Graph graph) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  auto *built = static_cast<BuiltGraph *>(graph);
  return checkEarlier(driver.cuGraphInstantiateWithFlags(&built->executable, built->graph, 0),
                      "cuGraphInstantiateWithFlags");
}

Status CudaDevice::setLaunch(Graph graph, GraphNode node, const Launch &launch) {
  CAMEO_RETURN_IF_ERROR(checkLaunch(launch));
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  auto *kernel = static_cast<LoadedKernel *>(launch.kernel);
  CUDA_KERNEL_NODE_PARAMS parameters = nodeParameters(kernel->function, launch);
  return checkEarlier(
      driver.cuGraphExecKernelNodeSetParams(static_cast<BuiltGraph *>(graph)->executable,
                                            static_cast<CUgraphNode>(node), &parameters),
      "cuGraphExecKernelNodeSetParams", launchText(*kernel->name, launch));
}

Status CudaDevice::setMemcpy(Graph graph, GraphNode node, const CUDA_MEMCPY3D &copy) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  return checkEarlier(
      driver.cuGraphExecMemcpyNodeSetParams(static_cast<BuiltGraph *>(graph)->executable,
                                            static_cast<CUgraphNode>(node), &copy, context),
      "cuGraphExecMemcpyNodeSetParams");
}

Status CudaDevice::setCopy(Graph graph, GraphNode node, DevicePtr target, DevicePtr source,
                           uint64_t bytes) {
  return setMemcpy(graph, node, copyFromDevice(target, source, bytes));
}

Status CudaDevice::setWrite(Graph graph, GraphNode node, DevicePtr target, const void *source,
                            uint64_t bytes) {
  return setMemcpy(graph, node, copyFromHost(target, source, bytes));
}

Status CudaDevice::launchGraph(Graph graph, Stream stream) {
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  auto *built = static_cast<BuiltGraph *>(graph);
  CAMEO_RETURN_IF_ERROR(checkEarlier(
      driver.cuGraphLaunch(built->executable, static_cast<CUstream>(stream)), "cuGraphLaunch"));
  if (built->lastKernel)
    lastKernel.store(built->lastKernel, std::memory_order_relaxed);
  lastIsGraph.store(built->lastKernel != nullptr, std::memory_order_relaxed);
  return Status();
}

Status CudaDevice::destroyGraph(Graph graph) {
  std::unique_ptr<BuiltGraph> built(static_cast<BuiltGraph *>(graph));
  Current current(*this);
  CAMEO_RETURN_IF_ERROR(std::move(current.status));
  Status status;
  if (built->executable)
    status = checkEarlier(driver.cuGraphExecDestroy(built->executable), "cuGraphExecDestroy");
  Status ofTemplate = checkEarlier(driver.cuGraphDestroy(built->graph), "cuGraphDestroy");
  return status.ok() ? std::move(ofTemplate) : std::move(status);
}

} // namespace cameo::runtime::cuda
