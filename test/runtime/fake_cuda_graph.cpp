// A stand-in for libcuda.so.1: graphs. A node has the parameters that it was given when it was
// added; an executable graph has copies of its own, and launches that are enqueued have theirs.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_entry.h"

#include <algorithm>

using namespace fakecuda;

namespace {

LaunchConfig configOf(const CUDA_KERNEL_NODE_PARAMS &p) {
  return {{p.gridDimX, p.gridDimY, p.gridDimZ},
          {p.blockDimX, p.blockDimY, p.blockDimZ},
          p.sharedMemBytes};
}

CUresult launchOf(const CUDA_KERNEL_NODE_PARAMS &p, Op &op) {
  return prepareLaunch(p.func, configOf(p), p.kernelParams, p.extra, op);
}

// One row of bytes.
CUresult copyOf(const CUDA_MEMCPY3D &copy, Op &op) {
  size_t bytes = copy.WidthInBytes;
  if (copy.Height != 1 || copy.Depth != 1 || !bytes || copy.srcY || copy.srcZ || copy.dstY ||
      copy.dstZ)
    return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr target = copy.dstDevice + copy.dstXInBytes;
  CUdeviceptr source = copy.srcDevice + copy.srcXInBytes;
  bool toDevice = copy.dstMemoryType == CU_MEMORYTYPE_DEVICE;
  bool fromDevice = copy.srcMemoryType == CU_MEMORYTYPE_DEVICE;
  if (toDevice && fromDevice)
    return copyAcross(target, source, bytes, op);
  if (toDevice)
    return copyUp(target, static_cast<const char *>(copy.srcHost) + copy.srcXInBytes, bytes, op);
  if (fromDevice)
    return copyDown(static_cast<char *>(copy.dstHost) + copy.dstXInBytes, source, bytes, op);
  return CUDA_ERROR_INVALID_VALUE;
}

std::vector<Node>::iterator findNode(std::vector<Node> &nodes, CUgraphNode handle) {
  return std::find_if(nodes.begin(), nodes.end(),
                      [handle](const Node &node) { return node.handle == number(handle); });
}

CUresult addNode(CUgraphNode *handleOut, CUgraph graph, const CUgraphNode *dependencies,
                 size_t count, Node::Kind kind, Op op) {
  State &s = state();
  std::shared_ptr<Graph> *found = find(s.graphs, graph, "graph");
  if (!found)
    return errorInvalidHandle;
  Node node;
  node.kind = kind;
  node.op = std::move(op);
  for (size_t i = 0; i < count; ++i) {
    if (findNode((*found)->nodes, dependencies[i]) == (*found)->nodes.end())
      return CUDA_ERROR_INVALID_VALUE;
    node.after.push_back(number(dependencies[i]));
  }
  node.handle = s.nextHandle++;
  *handleOut = handle<CUgraphNode>(node.handle);
  (*found)->nodes.push_back(std::move(node));
  return CUDA_SUCCESS;
}

// Changes later launches of the executable graph, not its template.
CUresult setNode(CUgraphExec executable, CUgraphNode handle, Node::Kind kind, Op op) {
  std::shared_ptr<GraphExec> *found = find(state().graphExecs, executable, "executable graph");
  if (!found)
    return errorInvalidHandle;
  if ((*found)->source.expired())
    die("was given a node of a destroyed graph");
  auto node = findNode((*found)->nodes, handle);
  if (node == (*found)->nodes.end() || node->kind != kind)
    return CUDA_ERROR_INVALID_VALUE;
  // A copy keeps its direction (cuda.h, cuGraphExecMemcpyNodeSetParams).
  if (kind == Node::Copy && node->op.what != op.what)
    return CUDA_ERROR_INVALID_VALUE;
  node->op = std::move(op);
  return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  ENTER(Context);
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t id = state().nextHandle++;
  state().graphs[id] = std::make_shared<Graph>();
  *graph = handle<CUgraph>(id);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependencyCount, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  ENTER(Context, describe(parameters->func, configOf(*parameters)));
  Op op;
  CUresult error = launchOf(*parameters, op);
  return error ? error
               : addNode(node, graph, dependencies, dependencyCount, Node::Kernel, std::move(op));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependencyCount, const CUDA_MEMCPY3D *parameters,
                              CUcontext context) {
  ENTER(Context, bytesOf(parameters->WidthInBytes));
  Op op;
  CUresult error = copyOf(*parameters, op);
  return error ? error
               : addNode(node, graph, dependencies, dependencyCount, Node::Copy, std::move(op));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t dependencyCount, const CUDA_MEMSET_NODE_PARAMS *parameters,
                              CUcontext context) {
  ENTER(Context);
  Op op;
  CUresult error = parameters->height == 1 ? fill(parameters->dst, parameters->value,
                                                  parameters->elementSize, parameters->width, op)
                                           : CUDA_ERROR_INVALID_VALUE;
  return error ? error
               : addNode(node, graph, dependencies, dependencyCount, Node::Fill, std::move(op));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t dependencyCount,
                                   CUevent event) {
  ENTER(Context);
  std::shared_ptr<Event> *found = find(state().events, event, "event");
  if (!found)
    return errorInvalidHandle;
  Op op;
  op.what = "event";
  op.event = *found;
  return addNode(node, graph, dependencies, dependencyCount, Node::Record, std::move(op));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph,
                                     unsigned long long flags) {
  ENTER(Context);
  State &s = state();
  std::shared_ptr<Graph> *found = find(s.graphs, graph, "graph");
  if (!found)
    return errorInvalidHandle;
  auto created = std::make_shared<GraphExec>();
  created->nodes = ordered((*found)->nodes);
  created->source = *found;
  uint64_t id = s.nextHandle++;
  s.graphExecs[id] = std::move(created);
  *executable = handle<CUgraphExec>(id);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *parameters) {
  ENTER(Context, describe(parameters->func, configOf(*parameters)));
  Op op;
  CUresult error = launchOf(*parameters, op);
  return error ? error : setNode(executable, node, Node::Kernel, std::move(op));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D *parameters, CUcontext context) {
  ENTER(Context, bytesOf(parameters->WidthInBytes));
  Op op;
  CUresult error = copyOf(*parameters, op);
  return error ? error : setNode(executable, node, Node::Copy, std::move(op));
}

// A graph's nodes run one after the other, with nothing of the host's between them. The graph waits
// for its own previous launch, wherever that was.
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  ENTER(Context);
  std::shared_ptr<GraphExec> *found = find(state().graphExecs, executable, "executable graph");
  auto target = findStream(stream);
  if (!found || !target)
    return errorInvalidHandle;
  GraphExec &graph = **found;
  const bool captured = target->capture != nullptr;
  for (const Node &node : graph.nodes) {
    Op op = node.op;
    if (&node == &graph.nodes.front() && !captured && graph.last.stream)
      op.after.push_back(graph.last);
    if (CUresult error = enqueue(target, std::move(op), node.kind))
      return error;
  }
  if (!captured)
    graph.last = pointOf(target);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  ENTER_RELEASE(Context);
  if (!find(state().graphExecs, executable, "executable graph"))
    return errorInvalidHandle;
  state().graphExecs.erase(number(executable));
  return call.error;
}

CUresult cuGraphDestroy(CUgraph graph) {
  ENTER_RELEASE(Context);
  if (!find(state().graphs, graph, "graph"))
    return errorInvalidHandle;
  state().graphs.erase(number(graph));
  return call.error;
}

} // extern "C"
