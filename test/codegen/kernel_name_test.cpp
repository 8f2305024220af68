// Texts and cubins of one kernel without its name.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/KernelName.h"

#include <gtest/gtest.h>

using namespace cameo;

namespace {

constexpr const char *kText = ".visible .entry k12_Conv_7(\n\t.param .u64 k12_Conv_7_param_0\n)\n"
                              "{\n\t.shared .b8 k12_Conv_7$shared0[64];\n\tret;\n}\n";

TEST(KernelName, NumberedNamesAreNeutralised) {
  KernelName name = KernelName::find(kText);
  EXPECT_EQ(name.own, "k12_Conv_7");
  EXPECT_EQ(name.neutral, "k$$$$$$$$$");
  std::string neutral = name.neutralised(kText);
  EXPECT_EQ(neutral.find("Conv"), std::string::npos);
  EXPECT_NE(neutral.find("\tret;"), std::string::npos);
  EXPECT_EQ(name.restored(neutral), kText);
}

TEST(KernelName, EqualTextsOfOtherNamesAreEqual) {
  std::string other = kText;
  for (size_t at; (at = other.find("12_Conv_7")) != std::string::npos;)
    other.replace(at, 9, "99_Gemm_1");
  EXPECT_EQ(KernelName::find(other).neutralised(other), KernelName::find(kText).neutralised(kText));
}

TEST(KernelName, OtherNamesAreKept) {
  // A kernel may be called like an instruction or a part of one.
  for (const char *kept :
       {".entry add(", ".entry k(", ".entry k1(", ".entry kernel_1(", ".func k1_a(", "",
        ".entry k1_a(\n.entry k2_a(", ".entry k1_a(\n\tk$$$"}) {
    KernelName name = KernelName::find(kept);
    EXPECT_TRUE(name.empty()) << kept;
    EXPECT_EQ(name.neutralised(kept), kept);
    EXPECT_EQ(name.restored(kept), kept);
  }
}

TEST(KernelName, WhatIsNoElfFileIsRefused) {
  KernelName name = KernelName::find(kText);
  std::vector<char> cubin(100, 'x');
  EXPECT_FALSE(name.restore(cubin));
  EXPECT_TRUE(KernelName().restore(cubin));
}

} // namespace
