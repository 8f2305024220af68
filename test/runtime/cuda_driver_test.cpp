// Where the driver is looked for, and when there is none.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.h"
#include "runtime/cuda/driver.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace cameo::runtime;
using namespace cameo::runtime::cuda;

namespace {

class CudaDriver : public testing::Test {
protected:
  void SetUp() override {
    fakecuda::reset();
    std::string name = (std::filesystem::temp_directory_path() / "cameo-driver-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string &name) {
    std::ofstream(folder / name) << "text\n";
    return (folder / name).string();
  }
  // A name that the loader does not find.
  const std::string library = "libcameo-no-such-driver.so.1";
  std::filesystem::path folder;
};

TEST_F(CudaDriver, IsFoundInAKnownFolder) {
  std::filesystem::create_symlink(CAMEO_FAKE_CUDA, folder / library);
  CudaProbe found = probe({library, {"/nonexistent", folder.string()}, {}});
  EXPECT_EQ(found.state, CudaProbe::Usable) << found.message;
  EXPECT_EQ(found.deviceCount, 1);
}

TEST_F(CudaDriver, TooOldIsNamedByItsPath) {
  std::filesystem::create_symlink(CAMEO_FAKE_CUDA_OLD, folder / library);
  CudaProbe found = probe({library, {folder.string()}, {}});
  EXPECT_EQ(found.state, CudaProbe::Failing);
  EXPECT_EQ(found.message, "the CUDA driver " + (folder / library).string() +
                               " is for CUDA 10.2; CUDA 11.0 or newer is needed");
}

TEST_F(CudaDriver, InAKnownFolderThatDoesNotLoad) {
  file(library);
  CudaProbe found = probe({library, {folder.string()}, {}});
  EXPECT_EQ(found.state, CudaProbe::Failing);
  EXPECT_EQ(found.message.rfind("the CUDA driver does not load: " + folder.string(), 0), 0u)
      << found.message;
}

TEST_F(CudaDriver, GpuWithoutTheLibraryIsNoReasonToSimulate) {
  std::string trace = file("nvidiactl");
  CudaProbe found = probe({library, {"/nonexistent/a", "/nonexistent/b"}, {"/nonexistent", trace}});
  EXPECT_EQ(found.state, CudaProbe::Failing);
  EXPECT_EQ(found.message,
            "there is an NVIDIA GPU or its driver (" + trace +
                "), but libcameo-no-such-driver.so.1 is neither in the loader's path nor in "
                "/nonexistent/a and /nonexistent/b; install the driver's CUDA library, or name its "
                "folder in LD_LIBRARY_PATH; a container needs "
                "NVIDIA_DRIVER_CAPABILITIES=compute,utility");
}

TEST_F(CudaDriver, NothingOfAGpuIsNoDriver) {
  CudaProbe found = probe({library, {folder.string()}, {(folder / "nvidiactl").string()}});
  EXPECT_EQ(found.state, CudaProbe::NoDriver);
  EXPECT_EQ(found.message.rfind("no CUDA driver: ", 0), 0u) << found.message;
}

TEST_F(CudaDriver, SystemPlaces) {
  DriverPlaces places = DriverPlaces::of(nullptr);
  EXPECT_EQ(places.name, "libcuda.so.1");
  for (const std::vector<std::string> &paths : {places.folders, places.traces}) {
    EXPECT_FALSE(paths.empty());
    for (const std::string &path : paths)
      EXPECT_EQ(path[0], '/');
  }
}

TEST_F(CudaDriver, ErrorsThatLoseTheContext) {
  Driver driver;
  ASSERT_TRUE(Driver::open(CAMEO_FAKE_CUDA, driver).ok());
  auto isLost = [&](CUresult result) {
    return driver.check(result, "cuStreamSynchronize").message().find("context is lost") !=
           std::string::npos;
  };
  for (CUresult lost : {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911})
    EXPECT_TRUE(isLost(lost)) << lost;
  for (CUresult kept : {1,   2,   201, 209, 218, 221, 400, 500, 600, 701, 703,
                        704, 709, 720, 800, 801, 807, 900, 906, 908, 912, 999})
    EXPECT_FALSE(isLost(kept)) << kept;
}

} // namespace
