// The target table and the command line's target lists.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/target/Target.h"

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
    result += variant.target->name.str() + (variant.cubin ? " cubin" : "") +
              (variant.ptx ? " ptx" : "") + (variant.sim ? " sim" : "") + ";";
  return result;
}

TEST(Target, TableIsConsistent) { EXPECT_EQ(llvm::toString(checkTargets()), ""); }

TEST(Target, UnknownNameListsTheKnown) {
  llvm::Expected<const Target *> target = findTarget("sm_61");
  ASSERT_FALSE(target);
  EXPECT_EQ(llvm::toString(target.takeError()),
            "unknown GPU architecture 'sm_61'; known: sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, "
            "sm_90a");
}

TEST(Target, DataOfOneArchitecture) {
  const Target *target = llvm::cantFail(findTarget("sm_90a"));
  EXPECT_EQ(target->maxSharedPerBlock, 232448u);
  EXPECT_EQ(target->ptxVersionText(), "8.4");
  EXPECT_EQ(target->features(), "+ptx84");
  EXPECT_EQ(target->archNumber(), 90u | 0x10000u);
  EXPECT_TRUE(target->supportsMma(MmaType::BF16, MmaType::BF16, MmaType::F32));
  EXPECT_NEAR(target->peakFp16MmaFlops(), 989e12, 2e12);
}

TEST(TargetSpec, DefaultList) {
  EXPECT_EQ(describe("sm_80,ptx,sim:sm_80"), "sm_80 cubin ptx sim;");
}

TEST(TargetSpec, PtxOfTheHighestPlainArchitecture) {
  EXPECT_EQ(describe("sm_90a,sm_80,sm_75,ptx"), "sm_75 cubin;sm_80 cubin ptx;sm_90a cubin;");
}

TEST(TargetSpec, PtxAlone) {
  EXPECT_EQ(describe("ptx"), "sm_75 ptx;");
  EXPECT_EQ(describe("sm_90a,ptx"), "sm_75 ptx;sm_90a cubin;");
}

TEST(TargetSpec, SimulatedArchitectureCountsAsListed) {
  EXPECT_EQ(describe("sim:sm_90, ptx"), "sm_90 ptx sim;");
}

TEST(TargetSpec, RepeatedWords) { EXPECT_EQ(describe("sm_80,sm_80,ptx,ptx"), "sm_80 cubin ptx;"); }

TEST(TargetSpec, Errors) {
  EXPECT_EQ(describe(""),
            "error: empty entry in target list ''; expected e.g. sm_80,ptx,sim:sm_80");
  EXPECT_EQ(describe("sm_80,"),
            "error: empty entry in target list 'sm_80,'; expected e.g. sm_80,ptx,sim:sm_80");
  EXPECT_EQ(describe("sim"), "error: 'sim' needs the architecture to simulate, e.g. sim:sm_80");
  EXPECT_NE(describe("sim:gfx90a").find("unknown GPU architecture 'gfx90a'"), std::string::npos);
  EXPECT_NE(describe("sm_99").find("other entries: ptx, native, sim:<architecture>"),
            std::string::npos);
}

} // namespace
