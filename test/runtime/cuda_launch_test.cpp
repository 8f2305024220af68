// What the fake driver finds wrong with launches, and with plans that do not fit their code.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_testing.h"

using namespace fakecuda;

namespace {

class CudaLaunch : public FakeCuda {
protected:
  DeviceSpec hopper() {
    DeviceSpec device;
    device.major = 9;
    return device;
  }
  CUresult start(CUfunction f, unsigned gridX, unsigned blockX, unsigned shared = 0,
                 unsigned blockY = 1) {
    return cuLaunchKernel(f, gridX, 1, 1, blockX, blockY, 1, shared, legacy, nullptr, nullptr);
  }
  CUfunction only(const CubinKernel &kernel) {
    EXPECT_EQ(load({kernel}), 0);
    return function(kernel.name.c_str());
  }
  // The errors of a launch are not errors of later calls.
  void TearDown() override {
    EXPECT_EQ(cuStreamSynchronize(legacy), 0);
    FakeCuda::TearDown();
  }
};

TEST_F(CudaLaunch, BlockThatIsRequired) {
  open();
  CubinKernel kernel = {"k"};
  kernel.block[0] = 64;
  kernel.block[1] = 2;
  kernel.block[2] = 1;
  CUfunction k = only(kernel);
  EXPECT_EQ(start(k, 1, 64, 0, 2), 0);
  EXPECT_EQ(start(k, 1, 128), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(start(k, 1, 64), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaLaunch, MostThreads) {
  open();
  CubinKernel kernel = {"k"};
  kernel.maxThreads = 256;
  CUfunction k = only(kernel);
  EXPECT_EQ(start(k, 1, 256), 0);
  EXPECT_EQ(start(k, 1, 257), CUDA_ERROR_INVALID_VALUE);
  int most = 0;
  EXPECT_EQ(cuFuncGetAttribute(&most, 0, k), 0);
  EXPECT_EQ(most, 256);
}

TEST_F(CudaLaunch, Registers) {
  open();
  CubinKernel kernel = {"k"};
  kernel.registers = 128;
  CUfunction k = only(kernel);
  EXPECT_EQ(start(k, 1, 512), 0);
  EXPECT_EQ(start(k, 1, 513), errorOutOfResources);
  EXPECT_EQ(start(k, 1, 1025), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaLaunch, SharedMemory) {
  open();
  CubinKernel kernel = {"k"};
  kernel.sharedStatic = 1000;
  CUfunction k = only(kernel);
  int bytes = 0;
  EXPECT_EQ(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k), 0);
  EXPECT_EQ(bytes, 1000);
  EXPECT_EQ(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k), 0);
  EXPECT_EQ(bytes, 49152 - 1000) << "48 KiB are static and dynamic together";
  EXPECT_EQ(start(k, 1, 32, 49152 - 1000), 0);
  EXPECT_EQ(start(k, 1, 32, 49152), CUDA_ERROR_INVALID_VALUE);
  const int most = (163 << 10) - 1000;
  EXPECT_EQ(cuFuncSetAttribute(k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(k, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most), 0);
  EXPECT_EQ(start(k, 1, 32, most), 0);
  EXPECT_EQ(start(k, 1, 32, most + 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaLaunch, SharedMemoryOfGenerations) {
  const std::pair<int, int> expected[] = {{75, 64}, {80, 163}, {86, 99},
                                          {89, 99}, {90, 227}, {120, 99}};
  for (auto &[arch, kib] : expected) {
    DeviceSpec device;
    device.major = arch / 10;
    device.minor = arch % 10;
    EXPECT_EQ(sharedOptin(device), kib << 10) << "sm_" << arch;
  }
  open();
  int reserved = 0;
  EXPECT_EQ(cuDeviceGetAttribute(&reserved, 111, 0), 0);
  EXPECT_EQ(reserved, 1024);
}

TEST_F(CudaLaunch, Clusters) {
  open(hopper());
  CubinKernel kernel = {"k"};
  kernel.cluster[0] = 4;
  kernel.cluster[1] = kernel.cluster[2] = 1;
  CUfunction k = only(kernel);
  EXPECT_EQ(start(k, 8, 32), 0);
  EXPECT_EQ(start(k, 6, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  int width = 0;
  EXPECT_EQ(cuFuncGetAttribute(&width, 11, k), 0);
  EXPECT_EQ(width, 4);

  kernel.cluster[0] = 16;
  k = only(kernel);
  EXPECT_EQ(start(k, 16, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE)
      << "more than 8 must be allowed first";
  ASSERT_EQ(cuFuncSetAttribute(k, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), 0);
  EXPECT_EQ(start(k, 16, 32), 0);
}

TEST_F(CudaLaunch, ParametersAreOfTheCodesSizes) {
  open();
  registerKernel("k", {8, 4, 2}, [](const Launch &) {});
  ASSERT_EQ(load({{"k", {8, 4, 128, 8}}}), 0);
  const std::vector<Parameter> &parameters =
      state().modules[number(module)].kernels["k"].parameters;
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[1].offset, 8u);
  EXPECT_EQ(parameters[2].offset, 16u);
  EXPECT_EQ(parameters[2].size, 128u);
  EXPECT_EQ(parameters[3].offset, 144u);
}

// ---- Plan against code --------------------------------------------------------------------------

struct Mismatch {
  const char *name;
  void (*plant)(CubinKernel &code);
  const char *text;
};

const Mismatch mismatches[] = {
    {"Count", [](CubinKernel &code) { code.sizes.pop_back(); },
     "the plan passes 4 parameters, the code takes 3"},
    {"Size", [](CubinKernel &code) { code.sizes[3] = 4; },
     "parameter 3 has 8 B in the plan, 4 B in the code"},
    {"Order", [](CubinKernel &code) { std::swap(code.sizes[0], code.sizes[1]); },
     "parameter 0 has 8 B in the plan, 4 B in the code"},
    {"Block", [](CubinKernel &code) { code.block[0] = 128; },
     "blocks of 256x1x1 in the plan, of 128x1x1 in the code"},
    {"Cluster", [](CubinKernel &code) { code.cluster[0] = 2; },
     "clusters of 4x1x1 in the simulator's image, of 2x1x1 in the code"}};

// In real cubins and plans: test/e2e/cuda_artefacts.py.
TEST_F(CudaLaunch, MismatchesOfPlanAndCode) {
  open(hopper());
  KernelShape plan;
  plan.sizes = {8, 4, 4, 8};
  for (int i = 0; i < 3; ++i) {
    plan.block[i] = i ? 1 : 256;
    plan.cluster[i] = i ? 1 : 4;
  }
  plan.clusterKnown = true;
  registerKernel("k", plan, [](const Launch &) {});
  CubinKernel code = {"k", plan.sizes, {256, 1, 1}, {4, 1, 1}};
  CUfunction k = only(code);
  int values[4] = {};
  std::vector<void *> arguments(4, values);
  EXPECT_EQ(launch(k, legacy, arguments, 4, 256), 0);
  EXPECT_EQ(misuses(), std::vector<std::string>());
  for (const Mismatch &mismatch : mismatches) {
    CubinKernel planted = code;
    mismatch.plant(planted);
    k = only(planted);
    EXPECT_EQ(misuses().back(), std::string("kernel k: ") + mismatch.text) << mismatch.name;
    EXPECT_EQ(launch(k, legacy, arguments, 4, 256), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(misuses().size(), std::size(mismatches));
}

// ---- Images -------------------------------------------------------------------------------------

class CudaImage : public FakeCuda {
protected:
  CUresult loadOn(int gpu, const std::vector<char> &image) {
    DeviceSpec device;
    device.major = gpu / 10;
    device.minor = gpu % 10;
    Module loaded;
    std::string log;
    return readImage(image.data(), device, 13000, loaded, log);
  }
};

TEST_F(CudaImage, PtxSaysAsMuch) {
  open();
  const char *ptx = ".version 8.5\n.target sm_80\n.address_size 64\n"
                    ".shared .align 16 .b8 tile[4096];\n"
                    ".extern .shared .align 16 .b8 dynamic[];\n"
                    ".visible .entry k(\n"
                    "  .param .u64 .ptr .global .align 16 p0,\n"
                    "  .param .f32 p1,\n"
                    "  .param .align 64 .b8 p2[128],\n"
                    "  .param .u64 p3\n"
                    ")\n.reqntid 128, 2\n{ .reg .b32 %r<2>; mov.u32 %r1, tile; ret; }\n"
                    ".visible .entry other()\n.maxntid 64, 1, 1\n{ ret; }\n";
  ASSERT_EQ(cuModuleLoadDataEx(&module, ptx, 0, nullptr, nullptr), 0);
  std::map<std::string, Kernel> &kernels = state().modules[number(module)].kernels;
  const Kernel &k = kernels["k"];
  ASSERT_EQ(k.parameters.size(), 4u);
  const size_t offsets[] = {0, 8, 64, 192}, sizes[] = {8, 4, 128, 8};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(k.parameters[i].offset, offsets[i]);
    EXPECT_EQ(k.parameters[i].size, sizes[i]);
  }
  EXPECT_EQ(k.block[0], 128u);
  EXPECT_EQ(k.block[1], 2u);
  EXPECT_EQ(k.block[2], 1u);
  EXPECT_EQ(k.sharedStatic, 4096);
  EXPECT_EQ(kernels["other"].maxThreads, 64u);
  EXPECT_EQ(kernels["other"].sharedStatic, 0);
}

TEST_F(CudaImage, CubinsOfOtherGpus) {
  const std::vector<CubinKernel> kernels = {{"k"}};
  EXPECT_EQ(loadOn(89, makeCubin(86, kernels, false)), 0);
  EXPECT_EQ(loadOn(80, makeCubin(86, kernels, false)), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(loadOn(100, makeCubin(90, kernels, false)), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(loadOn(103, makeCubin(100, kernels, false)), 0);
  EXPECT_EQ(loadOn(103, makeCubin(100, kernels, true)), CUDA_ERROR_NO_BINARY_FOR_GPU)
      << "sm_100a is for 10.0 alone";
  EXPECT_EQ(loadOn(90, makeCubin(90, kernels, true)), 0);
  EXPECT_EQ(describeImage(makeCubin(90, kernels, true).data()), "cubin sm_90a");
  EXPECT_EQ(describeImage(makeCubin(90, kernels, false).data()), "cubin sm_90");
  // Jetson and desktop GPUs do not run each other's.
  EXPECT_EQ(loadOn(87, makeCubin(86, kernels, false)), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(loadOn(87, makeCubin(87, kernels, false)), 0);
  EXPECT_EQ(loadOn(89, makeCubin(87, kernels, false)), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(CudaImage, Refusals) {
  open();
  refuseImages("cubin sm_90:200,PTX sm_75:221,ptx:222,cubin sm_80");
  EXPECT_EQ(refusal("cubin sm_90"), 200);
  EXPECT_EQ(refusal("cubin sm_90a"), 0);
  EXPECT_EQ(refusal("PTX sm_75"), 221);
  EXPECT_EQ(refusal("PTX sm_90a"), 222);
  EXPECT_EQ(load({{"k"}}), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(live().modules, 1) << "of open()";
  refuseImages("ptx");
  EXPECT_EQ(refusal("PTX sm_80"), errorInvalidPtx);
  EXPECT_EQ(load({{"k"}}), 0);
}

TEST_F(CudaImage, EveryErrorHasAName) {
  for (CUresult error :
       {1,   2,   3,   100, 101, 200, 201, 209, 218, 221, 222, 400, 401, 500, 600,
        700, 701, 719, 800, 900, 901, 902, 903, 904, 905, 906, 907, 908, 912, 999}) {
    const char *name = nullptr, *text = nullptr;
    EXPECT_EQ(cuGetErrorName(error, &name), 0) << error;
    EXPECT_EQ(cuGetErrorString(error, &text), 0) << error;
  }
}

} // namespace
