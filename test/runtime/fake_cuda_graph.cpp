// A stand-in for libcuda.so.1: graphs. SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <algorithm>
#include <cstring>

using namespace fakecuda;

namespace {

LaunchConfig configOf(const CUDA_KERNEL_NODE_PARAMS &p) {
  return {p.gridDimX,  p.gridDimY,  p.gridDimZ,      p.blockDimX,
          p.blockDimY, p.blockDimZ, p.sharedMemBytes};
}

// One row of bytes, between host and device or on the device.
CUresult makeCopy(const CUDA_MEMCPY3D &copy, Op &op) {
  if (copy.Height != 1 || copy.Depth != 1 || !copy.WidthInBytes)
    return CUDA_ERROR_INVALID_VALUE;
  auto *to = copy.dstMemoryType == CU_MEMORYTYPE_HOST ? copy.dstHost
                                                      : reinterpret_cast<void *>(copy.dstDevice);
  auto *from = copy.srcMemoryType == CU_MEMORYTYPE_HOST
                   ? copy.srcHost
                   : reinterpret_cast<const void *>(copy.srcDevice);
  op.work = [to, from, bytes = copy.WidthInBytes]() -> CUresult {
    memmove(to, from, bytes);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

// Nodes run in the order in which they are added: each must depend on the one before.
CUresult addNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                 Op op) {
  State &s = state();
  auto found = s.graphs.find(number(graph));
  if (found == s.graphs.end())
    return 400;
  Graph &g = *found->second;
  bool chained =
      g.nodes.empty() ? count == 0 : count == 1 && number(dependencies[0]) == g.nodes.back();
  if (!chained)
    misuse("a graph's node does not depend on the one before it");
  g.ops.push_back(std::move(op));
  g.nodes.push_back(s.nextHandle++);
  *node = handle<CUgraphNode>(g.nodes.back());
  return CUDA_SUCCESS;
}

// Launches that are enqueued keep the executable as it was.
CUresult setNode(CUgraphExec executable, CUgraphNode node, Op op) {
  State &s = state();
  auto found = s.graphExecs.find(number(executable));
  if (found == s.graphExecs.end())
    return 400;
  auto changed = std::make_shared<Graph>(*found->second);
  auto at = std::find(changed->nodes.begin(), changed->nodes.end(), number(node));
  if (at == changed->nodes.end())
    return CUDA_ERROR_INVALID_VALUE;
  changed->ops[size_t(at - changed->nodes.begin())] = std::move(op);
  found->second = changed;
  return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  ENTER(Context);
  uint64_t id = state().nextHandle++;
  state().graphs[id] = std::make_shared<Graph>();
  *graph = handle<CUgraph>(id);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependencyCount, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  ENTER(Context, describe(configOf(*parameters), parameters->func));
  Op op;
  CUresult error =
      makeLaunch(configOf(*parameters), parameters->func, parameters->kernelParams, op);
  return error ? error : addNode(node, graph, dependencies, dependencyCount, std::move(op));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependencyCount, const CUDA_MEMCPY3D *parameters,
                              CUcontext context) {
  ENTER(Context, bytesOf(parameters->WidthInBytes));
  Op op;
  CUresult error = makeCopy(*parameters, op);
  return error ? error : addNode(node, graph, dependencies, dependencyCount, std::move(op));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t dependencyCount,
                                   CUevent event) {
  ENTER(Context);
  auto found = state().events.find(number(event));
  if (found == state().events.end())
    return 400;
  Op op;
  op.kind = Op::Record;
  op.event = found->second;
  return addNode(node, graph, dependencies, dependencyCount, std::move(op));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph,
                                     unsigned long long flags) {
  ENTER(Context);
  auto found = state().graphs.find(number(graph));
  if (found == state().graphs.end())
    return 400;
  uint64_t id = state().nextHandle++;
  state().graphExecs[id] = std::make_shared<Graph>(*found->second);
  *executable = handle<CUgraphExec>(id);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *parameters) {
  ENTER(Context, describe(configOf(*parameters), parameters->func));
  Op op;
  CUresult error =
      makeLaunch(configOf(*parameters), parameters->func, parameters->kernelParams, op);
  return error ? error : setNode(executable, node, std::move(op));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D *parameters, CUcontext context) {
  ENTER(Context, bytesOf(parameters->WidthInBytes));
  Op op;
  CUresult error = makeCopy(*parameters, op);
  return error ? error : setNode(executable, node, std::move(op));
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  ENTER(Context);
  State &s = state();
  auto found = s.graphExecs.find(number(executable));
  if (found == s.graphExecs.end())
    return 400;
  std::vector<Op> ops = found->second->ops;
  for (Op &op : ops)
    if (op.kind == Op::Record) {
      op.ticket = op.event->recorded = s.nextTicket++;
      op.event->stream = streamId(stream);
    }
  return enqueueWork(stream, [ops = std::move(ops)]() -> CUresult {
    for (const Op &op : ops)
      if (CUresult error = runOp(op))
        return error;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  ENTER_RELEASE(Context);
  return state().graphExecs.erase(number(executable)) ? call.error : 400;
}

CUresult cuGraphDestroy(CUgraph graph) {
  ENTER_RELEASE(Context);
  return state().graphs.erase(number(graph)) ? call.error : 400;
}

} // extern "C"
