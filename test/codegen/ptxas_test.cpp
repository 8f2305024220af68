// Properties of a ptxas: its CUDA version, and the place of libdevice beside it.
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Assemble.h"
#include "codegen/emit/Ptx.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <fstream>

using namespace cameo;

namespace {

class PtxasTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ptxas", folder)); }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string put(llvm::StringRef name, llvm::StringRef text) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    EXPECT_FALSE(llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)));
    std::ofstream(path.c_str()) << text.str();
    EXPECT_FALSE(llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all));
    return std::string(path);
  }
  std::string ptxas(llvm::StringRef says) {
    return put("bin/ptxas", ("#!/bin/sh\necho '" + says + "'\n").str());
  }
  std::string libdevice() {
    return llvm::cantFail(findLibdevice("", folder.str().str() + "/bin/ptxas"));
  }

  llvm::SmallString<128> folder;
};

TEST_F(PtxasTest, SaysItsVersion) {
  EXPECT_EQ(ptxasCudaVersion(ptxas("Cuda compilation tools, release 11.8, V11.8.89")), 118u);
  EXPECT_EQ(ptxasCudaVersion(ptxas("Cuda compilation tools, release 13.0, V13.0.88")), 130u);
  EXPECT_EQ(ptxasCudaVersion(ptxas("another program")), std::nullopt);
  EXPECT_EQ(ptxasCudaVersion(folder.str().str() + "/none"), std::nullopt);
}

TEST_F(PtxasTest, LibdeviceIsWhereToolkitsHaveIt) {
  ptxas("");
  EXPECT_EQ(libdevice(), "");
  for (llvm::StringRef place :
       {"libdevice", "lib/nvidia-cuda-toolkit/libdevice", "nvvm/libdevice"}) {
    std::string file = put((place + "/libdevice.10.bc").str(), "");
    llvm::SmallString<128> real;
    ASSERT_FALSE(llvm::sys::fs::real_path(file, real));
    EXPECT_EQ(libdevice(), real.str().str());
  }
}

} // namespace
