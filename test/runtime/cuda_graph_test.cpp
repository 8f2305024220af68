// The fake driver's graphs: order, parameters, and changes to executable ones.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_testing.h"

using namespace fakecuda;

namespace {

class CudaGraph : public FakeCuda {
protected:
  // A node that adds `amount`, or doubles.
  CUgraphNode addNode(std::vector<CUgraphNode> after, int amount, CUresult expected = 0) {
    CUgraphNode node = nullptr;
    void *arguments[] = {&memory, &amount};
    CUDA_KERNEL_NODE_PARAMS kernel = {
        amount ? add : twice, 1, 1, 1, 32, 1, 1, 0, arguments, nullptr};
    EXPECT_EQ(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &kernel), expected);
    return node;
  }
  int run() {
    if (!executable)
      EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
    *value() = 0;
    EXPECT_EQ(cuGraphLaunch(executable, perThread), 0);
    EXPECT_EQ(cuStreamSynchronize(perThread), 0);
    return *value();
  }
  void open() {
    FakeCuda::open();
    ASSERT_EQ(cuGraphCreate(&graph, 0), 0);
  }
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
};

TEST_F(CudaGraph, DependenciesAreTheOrder) {
  open();
  CUgraphNode first = addNode({}, 1);
  addNode({first}, 0);
  EXPECT_EQ(run(), 2);
}

TEST_F(CudaGraph, WithoutThemThereIsNone) {
  open();
  addNode({}, 1);
  addNode({}, 0);
  EXPECT_EQ(run(), 1) << "the node added last runs first";
}

TEST_F(CudaGraph, CopiesAndFills) {
  open();
  int host = 5, result = 0;
  CUgraphNode node = nullptr;
  CUDA_MEMSET_NODE_PARAMS fill = {memory, 0, 7, 4, 1, 1};
  ASSERT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, nullptr), 0);
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = &result;
  copy.WidthInBytes = 4;
  copy.Height = copy.Depth = 1;
  ASSERT_EQ(cuGraphAddMemcpyNode(&node, graph, &node, 1, &copy, nullptr), 0);
  EXPECT_EQ(run(), 7);
  EXPECT_EQ(result, 7);
  copy.dstHost = &host;
  EXPECT_EQ(cuGraphExecMemcpyNodeSetParams(executable, node, &copy, nullptr), 0);
  run();
  EXPECT_EQ(host, 7);
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory;
  EXPECT_EQ(cuGraphExecMemcpyNodeSetParams(executable, node, &copy, nullptr),
            CUDA_ERROR_INVALID_VALUE)
      << "in another direction";
  copy.WidthInBytes = 0;
  EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  copy.WidthInBytes = 4;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(&host);
  EXPECT_EQ(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaGraph, ChangesAreForLaterLaunches) {
  open();
  CUgraphNode node = addNode({}, 1);
  EXPECT_EQ(run(), 1);
  *value() = 0;
  ASSERT_EQ(cuGraphLaunch(executable, perThread), 0);
  int amount = 10;
  void *arguments[] = {&memory, &amount};
  CUDA_KERNEL_NODE_PARAMS kernel = {add, 1, 1, 1, 32, 1, 1, 0, arguments, nullptr};
  ASSERT_EQ(cuGraphExecKernelNodeSetParams(executable, node, &kernel), 0);
  ASSERT_EQ(cuStreamSynchronize(perThread), 0);
  EXPECT_EQ(*value(), 1) << "was launched before the change";
  EXPECT_EQ(run(), 10);
  CUgraphExec other = executable;
  executable = nullptr;
  EXPECT_EQ(run(), 1) << "the template is as it was";
  EXPECT_NE(executable, other);
}

TEST_F(CudaGraph, LaunchesOfOneGraphFollowEachOther) {
  open();
  addNode({addNode({}, 1)}, 0);
  run();
  *value() = 0;
  CUstream a = stream(), b = stream();
  ASSERT_EQ(cuGraphLaunch(executable, a), 0);
  ASSERT_EQ(cuGraphLaunch(executable, b), 0);
  ASSERT_EQ(cuStreamSynchronize(b), 0);
  EXPECT_EQ(*value(), 6) << "(0 + 1) * 2, twice";
}

TEST_F(CudaGraph, NodesAreCheckedAsLaunchesAre) {
  open();
  CUgraphNode node = nullptr;
  CUDA_KERNEL_NODE_PARAMS kernel = {add, 0, 1, 1, 32, 1, 1, 0, nullptr, nullptr};
  EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), CUDA_ERROR_INVALID_VALUE);
  addNode({handle<CUgraphNode>(5)}, 1, CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaGraph, NodesOfADestroyedGraphAreNone) {
  open();
  CUgraphNode node = addNode({}, 1);
  EXPECT_EQ(run(), 1);
  ASSERT_EQ(cuGraphDestroy(graph), 0);
  CUDA_KERNEL_NODE_PARAMS kernel = {twice, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr};
  void *arguments[] = {&memory};
  kernel.kernelParams = arguments;
  EXPECT_DEATH(cuGraphExecKernelNodeSetParams(executable, node, &kernel),
               "a node of a destroyed graph");
  EXPECT_EQ(run(), 1) << "the executable graph is whole";
}

TEST_F(CudaGraph, ExternalRecordsAreNodes) {
  open();
  CUstream s = stream();
  CUevent begin = event(), end = event();
  EXPECT_EQ(cuEventRecordWithFlags(begin, s, 1), CUDA_ERROR_INVALID_VALUE) << "not recording";
  ASSERT_EQ(cuStreamBeginCapture_v2(s, 1), 0);
  ASSERT_EQ(cuEventRecordWithFlags(begin, s, 1), 0);
  setKernelTime("add", 40);
  ASSERT_EQ(launchAdd(s, 1), 0);
  ASSERT_EQ(cuEventRecordWithFlags(end, s, 1), 0);
  ASSERT_EQ(cuStreamEndCapture(s, &graph), 0);
  EXPECT_EQ(run(), 1);
  EXPECT_EQ(elapsed(begin, end), 40);
}

} // namespace
