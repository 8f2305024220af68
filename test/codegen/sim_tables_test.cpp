// The tables of simulator images: what the compiler writes lies where the runtime reads it.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/sim/SimTables.h"
#include "runtime/sim/engine.h"
#include "test/codegen/SimHarness.h"

#include "llvm/IR/DataLayout.h"

using namespace cameo;
using namespace cameo::test;

namespace {

struct Member {
  const char *name;
  size_t offset, bytes;
};

/// Whether a row is laid out as a structure of abi.h, whose `members` image.def lists.
void expectLayout(llvm::Constant *row, size_t bytes, llvm::ArrayRef<Member> members) {
  auto *type = llvm::cast<llvm::StructType>(row->getType());
  llvm::DataLayout layout("e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:"
                          "64-S128"); // of x86-64
  EXPECT_EQ(layout.getTypeAllocSize(type).getFixedValue(), bytes);
  ASSERT_EQ(type->getNumElements(), members.size());
  for (auto [index, member] : llvm::enumerate(members)) {
    EXPECT_EQ(layout.getStructLayout(type)->getElementOffset(index).getFixedValue(), member.offset)
        << member.name;
    EXPECT_EQ(layout.getTypeAllocSize(type->getElementType(index)).getFixedValue(), member.bytes)
        << member.name;
  }
  // abi.h has nothing behind or between them: the members fill it but for its alignment.
  size_t end = 0;
  for (const Member &member : members) {
    EXPECT_LT(member.offset - end, 8u) << member.name;
    end = member.offset + member.bytes;
  }
  EXPECT_LT(bytes - end, 8u);
}

#define MEMBER(STRUCTURE, NAME) {#NAME, offsetof(STRUCTURE, NAME), sizeof(STRUCTURE::NAME)},

TEST(SimTables, RowsAreLaidOutAsTheRuntimeReadsThem) {
  llvm::LLVMContext context;
  llvm::Module module("rows", context);
  SimTables tables(module);
  const uint32_t counts[CAMEO_SIM_COUNTS] = {};
  const std::array<uint32_t, 3> sizes = {};
  {
    const Member members[] = {
#define CAMEO_SIM_ACCESS_SITE(KIND, NAME) MEMBER(CameoSimAccessSite, NAME)
#include "runtime/sim/image.def"
    };
    expectLayout(tables.row(SimAccessSiteRow{0, 0, 0, 0, 0, 0, 0, 0}), sizeof(CameoSimAccessSite),
                 members);
  }
  {
    const Member members[] = {
#define CAMEO_SIM_SITE(KIND, NAME) MEMBER(CameoSimSite, NAME)
#include "runtime/sim/image.def"
    };
    expectLayout(tables.row(SimSiteRow{"", "", ""}), sizeof(CameoSimSite), members);
  }
  {
    const Member members[] = {
#define CAMEO_SIM_KERNEL_INFO(KIND, NAME) MEMBER(CameoSimKernelInfo, NAME)
#include "runtime/sim/image.def"
    };
    expectLayout(tables.row(SimKernelInfoRow{"", nullptr, 0, 0, nullptr, 0, 0, 0, sizes, 0, 0, 0}),
                 sizeof(CameoSimKernelInfo), members);
  }
  {
    const Member members[] = {
#define CAMEO_SIM_BASIC_BLOCK(KIND, NAME) MEMBER(CameoSimBasicBlock, NAME)
#include "runtime/sim/image.def"
    };
    expectLayout(tables.row(SimBasicBlockRow{llvm::ArrayRef(counts)}), sizeof(CameoSimBasicBlock),
                 members);
  }
  {
    const Member members[] = {
#define CAMEO_SIM_TARGET(KIND, NAME) MEMBER(CameoSimTarget, NAME)
#include "runtime/sim/image.def"
    };
    expectLayout(tables.row(SimTargetRow{"", "", 0, 0}), sizeof(CameoSimTarget), members);
  }
  {
    const Member members[] = {
#define CAMEO_SIM_IMAGE(KIND, NAME, ...) MEMBER(CameoSimImage, NAME)
#include "runtime/sim/image.def"
    };
    expectLayout(tables.row(SimImageRow{0, 0, 0, 0, nullptr, nullptr, nullptr, nullptr, 0}),
                 sizeof(CameoSimImage), members);
  }
}

constexpr const char *kKernels = R"mlir(
gpu.module @kernels {
  gpu.func @copy(%x: memref<?xf32, #gpu.address_space<global>>,
                 %y: memref<?xf32, #gpu.address_space<global>>) kernel
      attributes {kernel.block = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
    memref.store %v, %y[%i] : memref<?xf32, #gpu.address_space<global>>
    gpu.return
  }
}
)mlir";

TEST(SimTables, ImageSaysWhatTheCompilerKnows) {
  SimKernels kernels(kKernels, /*checked=*/true);
  ASSERT_EQ(kernels.error, "");
  const CameoSimImage &image = kernels.image->table();
  EXPECT_EQ(image.version, CAMEO_SIM_ABI_VERSION);
  EXPECT_EQ(image.checked, 1u);
  EXPECT_EQ(image.traced, 0u);
  EXPECT_EQ(image.target, nullptr);
  ASSERT_EQ(image.kernel_count, 1u);
  const CameoSimKernelInfo &kernel = image.kernels[0];
  EXPECT_STREQ(kernel.name, "copy");
  EXPECT_NE(kernel.thread_entry, nullptr);
  EXPECT_NE(kernel.warp_entry, nullptr);
  EXPECT_NE(kernel.thread_entry, kernel.warp_entry);
  EXPECT_EQ(kernel.shared_static, 0u);
  EXPECT_GT(kernel.thread_stack_bytes, 0u);
  EXPECT_EQ(kernel.thread_stack_bytes, kernel.warp_stack_bytes);
  EXPECT_EQ(kernel.first_block, 0u);
  EXPECT_EQ(kernel.block_count, 1u);
  EXPECT_GT(image.blocks[0].counts[CAMEO_SIM_COUNT_INTEGER], 0u);
  EXPECT_EQ(image.blocks[0].counts[CAMEO_SIM_COUNT_F64], 0u);
  EXPECT_EQ(kernel.cluster[0], 0u);
  EXPECT_EQ(kernel.read_only_parameters, ~2u);
  EXPECT_EQ(kernel.generic_proxy_only, 1u);
  EXPECT_EQ(kernel.map_parameters, 0u);
  ASSERT_EQ(image.site_count, 2u);
  EXPECT_STREQ(image.sites[0].what, "load of 4 B from parameter 0");
  EXPECT_STREQ(image.sites[1].what, "store of 4 B to parameter 1");
  EXPECT_STREQ(image.sites[1].location, "test.mlir:8:5");
  EXPECT_STREQ(image.sites[1].node, "");
}

} // namespace
