// The target table and the command line's target lists.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/target/GpuTargets.h"
#include "codegen/target/Target.h"
#include "dialects/rt/Rt.h"

#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

using namespace cameo;

namespace {

std::string describe(llvm::StringRef text) {
  llvm::Expected<llvm::SmallVector<TargetVariant>> variants = parseTargetSpec(text);
  if (!variants)
    return "error: " + llvm::toString(variants.takeError());
  std::string result;
  for (const TargetVariant &variant : *variants)
    result += variant.target->spelling() + (variant.cubin ? " cubin" : "") +
              (variant.ptx ? " ptx" : "") + (variant.sim ? " sim" : "") + ";";
  return result;
}

TEST(Target, TableIsConsistent) { EXPECT_EQ(llvm::toString(checkTargets()), ""); }

TEST(Target, UnknownNameListsTheKnown) {
  llvm::Expected<const Target *> target = findTarget("sm_61");
  ASSERT_FALSE(target);
  EXPECT_EQ(llvm::toString(target.takeError()),
            "unknown GPU architecture 'sm_61'; known: sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, "
            "sm_90a, sm_100, sm_103, sm_110, sm_120, sm_121");
}

TEST(Target, DataOfOneArchitecture) {
  const Target *target = llvm::cantFail(findTarget("sm_90a"));
  EXPECT_EQ(target->maxSharedPerBlock, 232448u);
  EXPECT_EQ(target->ptxVersionText(), "8.4");
  EXPECT_EQ(target->features(), "+ptx84");
  EXPECT_EQ(target->archNumber(), 90u | 0x10000u);
  EXPECT_STREQ(target->board->name, "h100-sxm");
  EXPECT_EQ(target->spelling(), "sm_90a");
}

TEST(Target, MatrixShapes) {
  auto has = [](const char *name, unsigned m, uint8_t a, uint8_t b, uint8_t accumulator) {
    return llvm::any_of(
        llvm::cantFail(findTarget(name))->matrixShapes(), [&](const kernel::MatrixShape &shape) {
          return shape.m == m && shape.a == a && shape.b == b && shape.accumulator == accumulator;
        });
  };
  EXPECT_TRUE(has("sm_75", 16, CAMEO_SIM_F16, CAMEO_SIM_F16, CAMEO_SIM_F32));
  EXPECT_TRUE(has("sm_75", 8, CAMEO_SIM_U8, CAMEO_SIM_S8, CAMEO_SIM_S32));
  EXPECT_FALSE(has("sm_75", 16, CAMEO_SIM_BF16, CAMEO_SIM_BF16, CAMEO_SIM_F32));
  EXPECT_TRUE(has("sm_80", 16, CAMEO_SIM_BF16, CAMEO_SIM_BF16, CAMEO_SIM_F32));
  EXPECT_FALSE(has("sm_86", 16, CAMEO_SIM_E4M3, CAMEO_SIM_E5M2, CAMEO_SIM_F32));
  EXPECT_TRUE(has("sm_89", 16, CAMEO_SIM_E4M3, CAMEO_SIM_E5M2, CAMEO_SIM_F32));
  EXPECT_FALSE(has("sm_90", 64, CAMEO_SIM_F16, CAMEO_SIM_F16, CAMEO_SIM_F32));
  EXPECT_TRUE(has("sm_90a", 64, CAMEO_SIM_F16, CAMEO_SIM_F16, CAMEO_SIM_F32));
}

TEST(Target, OnANamedBoard) {
  const Target *target = llvm::cantFail(findTarget("sm_90a:h200"));
  EXPECT_EQ(target->name, "sm_90a");
  EXPECT_EQ(target->board->memory_gbps, 4800u);
  EXPECT_EQ(target->spelling(), "sm_90a:h200");
  EXPECT_EQ(llvm::cantFail(findTarget("sm_90:h100-sxm"))->spelling(), "sm_90");
  EXPECT_EQ(llvm::cantFail(findTarget("sm_80:a100"))->spelling(), "sm_80");
  for (const char *name : {"sm_80:h200", "sm_80:"}) {
    llvm::Expected<const Target *> unknown = findTarget(name);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(llvm::toString(unknown.takeError()),
              "unknown board '" + std::string(name + 6) +
                  "' of sm_80; known: a100-40, a100-80-sxm, a100-80-pcie, a30");
  }
}

TEST(Target, OfAnAttribute) {
  mlir::MLIRContext context;
  context.loadDialect<rt::RtDialect>();
  for (const char *name : {"sm_75", "sm_90a:h200", "sm_80:a100-80-sxm"}) {
    const Target *target = llvm::cantFail(findTarget(name));
    rt::TargetAttr attribute = target->attribute(&context);
    EXPECT_EQ(llvm::cantFail(findTarget(attribute)), target);
    EXPECT_EQ(attribute.spelling(), name);
    EXPECT_EQ(target->spelling(), name);
  }
}

TEST(Target, RatesAreOfTheArchitecture) {
  EXPECT_EQ(llvm::cantFail(findTarget("sm_80:a30"))->rates().fp16_mma, 1024u);
  EXPECT_EQ(llvm::cantFail(findTarget("sm_90a"))->rates().arch, 90u);
}

// LLVM 19 knows none of them: it writes code as for sm_90, and the text is named behind that.
TEST(Target, ArchitecturesAfterLlvms) {
  struct {
    const char *name, *ptx, *board;
    unsigned warps;
  } later[] = {{"sm_100", "8.6", "b200", 64},
               {"sm_103", "8.8", "b300", 64},
               {"sm_110", "9.0", "thor", 48},
               {"sm_120", "8.7", "rtx5090", 48},
               {"sm_121", "8.8", "gb10", 48}};
  for (const auto &[name, ptx, board, warps] : later) {
    const Target *target = llvm::cantFail(findTarget(name));
    EXPECT_EQ(target->ptxVersionText(), ptx);
    EXPECT_EQ(target->llvmName(), "sm_90");
    EXPECT_EQ(target->features(), "+ptx85");
    EXPECT_STREQ(target->board->name, board);
    EXPECT_EQ(target->maxWarpsPerSm, warps);
    EXPECT_TRUE(target->tma && target->asyncCopy && target->bf16 && !target->wgmma) << name;
    // Rates of mma.sync are not known, so that schedules are those of sm_89.
    const CameoRates &known = llvm::cantFail(findTarget("sm_89"))->rates();
    EXPECT_EQ(target->rates().mma_of, 89u);
    EXPECT_EQ(target->rates().fp16_mma, known.fp16_mma);
    EXPECT_EQ(target->rates().int8_mma, known.int8_mma);
    EXPECT_EQ(target->rates().sync_thirds, known.sync_thirds);
    EXPECT_EQ(target->matrixShapes().size(),
              llvm::cantFail(findTarget("sm_89"))->matrixShapes().size());
  }
  EXPECT_EQ(llvm::cantFail(findTarget("sm_90a"))->llvmName(), "sm_90a");
  EXPECT_EQ(llvm::cantFail(findTarget("sm_120:rtx5080"))->spelling(), "sm_120:rtx5080");
}

TEST(TargetSpec, DefaultList) {
  EXPECT_EQ(describe("sm_80,sm_90a,ptx,sim:sm_80"), "sm_80 cubin ptx sim;sm_90a cubin;");
}

TEST(TargetSpec, PtxOfTheHighestPlainArchitecture) {
  EXPECT_EQ(describe("sm_90a,sm_80,sm_75,ptx"), "sm_75 cubin;sm_80 cubin ptx;sm_90a cubin;");
}

TEST(TargetSpec, PtxAlone) { EXPECT_EQ(describe("ptx"), "sm_75 ptx;"); }

TEST(TargetSpec, PtxBesideSpecificArchitectures) {
  EXPECT_EQ(describe("sm_90a,sm_120,ptx"), "sm_90a cubin;sm_120 cubin ptx;");
  EXPECT_EQ(describe("sm_90a,ptx"), "sm_90 ptx;sm_90a cubin;");
  EXPECT_EQ(describe("sm_90a:h200,ptx"), "sm_90 ptx;sm_90a:h200 cubin;");
  EXPECT_EQ(describe("sm_90a,sm_90,ptx"), "sm_90 cubin ptx;sm_90a cubin;");
}

TEST(TargetSpec, PtxOfANamedArchitecture) {
  EXPECT_EQ(describe("sm_80,ptx:sm_90"), "sm_80 cubin;sm_90 ptx;");
  EXPECT_EQ(describe("sm_90a,ptx:sm_90a"), "sm_90a cubin ptx;");
  EXPECT_EQ(describe("sm_80,ptx,ptx:sm_75"), "sm_75 ptx;sm_80 cubin ptx;");
}

TEST(TargetSpec, SimulatedArchitectureCountsAsListed) {
  EXPECT_EQ(describe("sim:sm_90, ptx"), "sm_90 ptx sim;");
}

TEST(TargetSpec, RepeatedWords) { EXPECT_EQ(describe("sm_80,sm_80,ptx,ptx"), "sm_80 cubin ptx;"); }

TEST(TargetSpec, Boards) {
  EXPECT_EQ(describe("sm_90a:h200,sim:sm_90a"), "sm_90a:h200 cubin sim;");
  EXPECT_EQ(describe("sim:sm_90a,sm_90a:h200"), "sm_90a:h200 cubin sim;");
  EXPECT_EQ(describe("sim:sm_80:a30,sm_75,ptx"), "sm_75 cubin;sm_80:a30 ptx sim;");
  EXPECT_EQ(describe("sm_90:h200,sm_90a:gh200"), "sm_90:h200 cubin;sm_90a:gh200 cubin;");
  EXPECT_EQ(describe("sm_90a:h200,sim:sm_90a:gh200"),
            "error: sm_90a is listed for two boards, h200 and gh200");
  EXPECT_EQ(describe("sm_90a:h100-sxm,sim:sm_90a:gh200"),
            "error: sm_90a is listed for two boards, h100-sxm and gh200");
}

TEST(TargetSpec, OfAGpu) {
  auto targetsOf = [](unsigned major, unsigned minor) {
    llvm::Expected<std::string> targets = targetsOfGpu(major, minor);
    return targets ? *targets : "error: " + llvm::toString(targets.takeError());
  };
  EXPECT_EQ(targetsOf(7, 5), "sm_75,ptx:sm_75");
  EXPECT_EQ(targetsOf(8, 0), "sm_80,ptx:sm_80");
  EXPECT_EQ(targetsOf(8, 6), "sm_86,ptx:sm_86");
  EXPECT_EQ(targetsOf(8, 7), "sm_87,ptx:sm_87");
  EXPECT_EQ(targetsOf(8, 9), "sm_89,ptx:sm_89");
  EXPECT_EQ(targetsOf(9, 0), "sm_90a,ptx:sm_90a");
  EXPECT_EQ(targetsOf(10, 0), "sm_100,ptx:sm_100");
  EXPECT_EQ(targetsOf(10, 3), "sm_103,ptx:sm_103");
  EXPECT_EQ(targetsOf(11, 0), "sm_110,ptx:sm_110");
  EXPECT_EQ(targetsOf(12, 0), "sm_120,ptx:sm_120");
  EXPECT_EQ(targetsOf(12, 1), "sm_121,ptx:sm_121");
  EXPECT_EQ(targetsOf(13, 0), "ptx:sm_121");
  EXPECT_EQ(targetsOf(7, 0), "error: no code for compute capability 7.0; the oldest is sm_75");
}

TEST(TargetSpec, Errors) {
  EXPECT_EQ(describe(""),
            "error: empty entry in target list ''; expected e.g. sm_80,ptx,sim:sm_80");
  EXPECT_EQ(describe("sm_80,"),
            "error: empty entry in target list 'sm_80,'; expected e.g. sm_80,ptx,sim:sm_80");
  EXPECT_EQ(describe("sim"), "error: 'sim' needs the architecture to simulate, e.g. sim:sm_80");
  EXPECT_NE(describe("sim:gfx90a").find("unknown GPU architecture 'gfx90a'"), std::string::npos);
  EXPECT_NE(
      describe("sm_99").find("other entries: ptx, ptx:<architecture>, native, sim:<architecture>, "
                             "<architecture>:<board>"),
      std::string::npos);
}

} // namespace
