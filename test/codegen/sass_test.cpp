// Machine code read back: instructions, loops, counts, bounds.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Sass.h"

#include <gtest/gtest.h>

using namespace cameo;
using namespace cameo::sass;

namespace {

/// As nvdisasm prints it; stall counts are 1, 2, 3, ... 15, 1, ... in order.
std::string listing(llvm::ArrayRef<const char *> lines) {
  std::string text = "\t.headerflags\t@\"EF_CUDA_SM80\"\n";
  uint64_t address = 0;
  for (const char *line : lines) {
    char buffer[256];
    unsigned long long stall = address / 16 % 15 + 1;
    snprintf(buffer, sizeof buffer,
             "        /*%04llx*/  %-40s /* 0x00000a0000017a02 */\n%60s/* 0x%016llx */\n",
             static_cast<unsigned long long>(address), line, "", stall << 41 | 0x000fc00000000000);
    text += buffer;
    address += 16;
  }
  return text;
}

std::vector<Instruction> parsed(llvm::ArrayRef<const char *> lines) {
  return llvm::cantFail(parse(listing(lines)));
}

Instruction one(const char *line) { return parsed({line}).front(); }

TEST(Sass, InstructionsAreParsed) {
  auto instructions = parsed(
      {"MOV R1, c[0x0][0x28] ;", "@!P0 LDS.128 R4, [R2+0x10] ;", "@P1 BRA 0x10 ;", "BRA 0x30;"});
  ASSERT_EQ(instructions.size(), 4u);
  EXPECT_EQ(instructions[0].opcode, "MOV");
  EXPECT_EQ(instructions[0].stall, 1u);
  EXPECT_EQ(instructions[1].address, 0x10u);
  EXPECT_EQ(instructions[1].text, "@!P0 LDS.128 R4, [R2+0x10]");
  EXPECT_EQ(instructions[1].opcode, "LDS.128");
  EXPECT_EQ(instructions[1].stall, 2u);
  EXPECT_EQ(instructions[2].target, 0x10u);
  EXPECT_EQ(instructions[3].target, 0x30u);
}

TEST(Sass, DamagedTextIsRefused) {
  for (const char *text :
       {"        /*xyz*/  NOP ;  /* 0x0 */\n", "      /* 0x0000000000000000 */\n"}) {
    auto instructions = parse(text);
    EXPECT_FALSE(instructions);
    llvm::consumeError(instructions.takeError());
  }
}

TEST(Sass, Kinds) {
  std::pair<const char *, Kind> cases[] = {
      {"HMMA.16816.F32 R8, R4, R2, R8 ;", Kind::Matrix},
      {"HGMMA.64x128x16.F32 R24, gdesc[UR8], R24 ;", Kind::Matrix},
      {"FFMA R4, R8, R12, R4 ;", Kind::MultiplyAdd},
      {"HFMA2.MMA R22, -RZ, RZ, 0, 0 ;", Kind::Integer},
      {"LDSM.16.M88.4 R4, [R2] ;", Kind::LoadMatrix},
      {"LDGSTS.E.BYPASS.128 [R2], [R4.64] ;", Kind::AsyncCopy},
      {"LDGDEPBAR ;", Kind::Barrier},
      {"DEPBAR.LE SB0, 0x1 ;", Kind::Barrier},
      {"BAR.SYNC 0x0 ;", Kind::Barrier},
      {"LDG.E.128 R4, [R2.64] ;", Kind::LoadGlobal},
      {"STG.E R4, [R2.64] ;", Kind::StoreGlobal},
      {"STS.64 [R2], R4 ;", Kind::StoreShared},
      {"LDL R2, [R1] ;", Kind::Local},
      {"UIADD3 UR4, UR4, 0x1, URZ ;", Kind::Uniform},
      {"R2UR UR17, R6 ;", Kind::Uniform},
      {"UTMALDG.2D [UR8], [UR4] ;", Kind::AsyncCopy},
      {"I2F R3, R2 ;", Kind::Float},
      {"FADD R3, R2, R1 ;", Kind::Float},
      {"ISETP.LT.AND P0, PT, R2, R3, PT ;", Kind::Integer},
      {"@!PT LDS RZ, [RZ] ;", Kind::Nop},
      {"CALL.REL.NOINC 0x10 ;", Kind::Branch},
      {"MUFU.EX2 R3, R3 ;", Kind::Float},
  };
  for (auto [text, kind] : cases)
    EXPECT_EQ(kindName(one(text).kind), kindName(kind)) << text;
}

TEST(Sass, WhatOpcodesSay) {
  EXPECT_EQ(one("LDS.128 R4, [R2] ;").accessBytes(), 16u);
  EXPECT_EQ(one("LDG.E.64 R4, [R2.64] ;").accessBytes(), 8u);
  EXPECT_EQ(one("STG.E R4, [R2.64] ;").accessBytes(), 4u);
  EXPECT_EQ(one("LDG.E.U8 R4, [R2.64] ;").accessBytes(), 1u);
  EXPECT_EQ(one("LDSM.16.M88.4 R4, [R2] ;").accessBytes(), 16u);
  EXPECT_EQ(one("LDSM.16.MT88.2 R4, [R2] ;").accessBytes(), 8u);
  EXPECT_EQ(one("IADD3 R4, R2, R3, R5 ;").accessBytes(), 0u);
  EXPECT_EQ(one("HMMA.16816.F32 R8, R4, R2, R8 ;").matrixMultiplyAdds(), 2048u);
  EXPECT_EQ(one("HMMA.1688.F32.TF32 R8, R4, R2, R8 ;").matrixMultiplyAdds(), 1024u);
  EXPECT_EQ(one("IMMA.16832.S8.S8 R8, R4, R2, R8 ;").matrixMultiplyAdds(), 4096u);
  EXPECT_EQ(one("IMMA.8816.S8.S8 R8, R4, R2, R8 ;").matrixMultiplyAdds(), 1024u);
  EXPECT_EQ(one("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24 ;").matrixMultiplyAdds(), 32768u);
  EXPECT_EQ(one("FFMA R4, R8, R12, R4 ;").matrixMultiplyAdds(), 0u);
}

TEST(Sass, TheMainLoopIsTheInnermostThatMultipliesMost) {
  auto instructions = parsed({
      "FFMA R0, R1, R2, R0 ;",                    // 0x00: an outer loop from here to 0xa0
      "FFMA R0, R1, R2, R0 ;",                    // 0x10: a loop of one multiply-add
      "@P0 BRA 0x10 ;",                           // 0x20
      "FFMA R0, R1, R2, R0 ;",                    // 0x30: one of two
      "FFMA R0, R1, R2, R0 ;", "BRA 0x30 ;",      // 0x40, 0x50
      "IADD3 R4, R2, R3, R5 ;", "@P2 BRA 0x60 ;", // 0x60, 0x70: one of none
      "FFMA R0, R1, R2, R0 ;", "FFMA R0, R1, R2, R0 ;", "BRA 0x0 ;", // 0x80 to 0xa0
      "BRA 0xb0 ;",                                                  // the end
  });
  std::optional<Loop> loop = mainLoop(instructions);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->begin, 3u);
  EXPECT_EQ(loop->end, 6u);
}

TEST(Sass, MatrixInstructionsComeFirst) {
  auto instructions = parsed({"FFMA R0, R1, R2, R0 ;", "FFMA R0, R1, R2, R0 ;", "BRA 0x0 ;",
                              "HMMA.16816.F32 R8, R4, R2, R8 ;", "BRA 0x30 ;"});
  EXPECT_EQ(mainLoop(instructions)->begin, 3u);
  EXPECT_FALSE(mainLoop(parsed({"IADD3 R4, R2, R3, R5 ;", "BRA 0x0 ;", "BRA 0x20 ;"})));
}

TEST(Sass, LoopsAreCounted) {
  auto instructions = parsed({"LDS.128 R4, [R2] ;", "LDS.64 R8, [R2] ;", "LDG.E.128 R12, [R2.64] ;",
                              "STS.128 [R2], R12 ;", "FFMA R0, R4, R8, R0 ;", "BRA 0x0 ;"});
  LoopCounts counts = count(instructions, {0, 6});
  EXPECT_EQ(counts.slots, 6u);
  EXPECT_EQ(counts.stall, 1u + 2 + 3 + 4 + 5 + 6);
  EXPECT_EQ(counts.of(Kind::LoadShared), 2u);
  EXPECT_EQ(counts.wideOfKind[size_t(Kind::LoadShared)], 1u);
  EXPECT_EQ(counts.wideOfKind[size_t(Kind::LoadGlobal)], 1u);
  EXPECT_EQ(counts.sharedWavefronts, 4u + 2 + 4);
}

TEST(Sass, BlocksOfAMultiprocessor) {
  const Target &sm80 = *llvm::cantFail(findTarget("sm_80"));
  const Target &sm75 = *llvm::cantFail(findTarget("sm_75"));
  EXPECT_EQ(blocksPerMultiprocessor(sm80, 256, 32, 0), 8u);     // 2048 threads
  EXPECT_EQ(blocksPerMultiprocessor(sm80, 32, 32, 0), 32u);     // 32 blocks
  EXPECT_EQ(blocksPerMultiprocessor(sm80, 256, 128, 0), 2u);    // 65536 registers
  EXPECT_EQ(blocksPerMultiprocessor(sm80, 256, 129, 0), 1u);    // in units of 256 a warp
  EXPECT_EQ(blocksPerMultiprocessor(sm80, 128, 32, 81920), 2u); // 164 KiB, 1 of each block's lost
  EXPECT_EQ(blocksPerMultiprocessor(sm80, 128, 32, 82944), 2u);
  EXPECT_EQ(blocksPerMultiprocessor(sm80, 128, 32, 82945), 1u);
  EXPECT_EQ(blocksPerMultiprocessor(sm75, 128, 32, 32768), 2u); // 64 KiB
  EXPECT_EQ(blocksPerMultiprocessor(sm75, 1024, 32, 0), 1u);
}

TEST(Sass, Bounds) {
  const Target &sm80 = *llvm::cantFail(findTarget("sm_80"));
  std::vector<const char *> lines(16, "FFMA R0, R1, R2, R0 ;");
  auto bound = [&](unsigned warps) {
    auto instructions = parsed(lines);
    Loop loop{0, instructions.size()};
    return *boundOf(count(instructions, loop), instructions, loop, sm80, warps);
  };
  lines.push_back("BRA 0x0 ;");
  // 16 multiply-adds of 32 threads at 64 a cycle are 8 cycles a warp; stalls are of 123.
  EXPECT_EQ(bound(16).resource, "arithmetic");
  EXPECT_EQ(bound(16).percent, 100);
  EXPECT_EQ(bound(8).resource, "stalls");
  EXPECT_NEAR(bound(8).percent, 100 * 64 / 123.0, 1e-9);
  lines.insert(lines.begin(), 4, "LDS.128 R4, [R2] ;"); // 16 wavefronts
  EXPECT_EQ(bound(16).resource, "shared memory");
  EXPECT_EQ(bound(16).percent, 50);
  lines = {"HMMA.16816.F32 R8, R4, R2, R8 ;", "IADD3 R4, R2, R3, R5 ;", "BRA 0x0 ;"};
  EXPECT_EQ(bound(32).resource, "arithmetic"); // 2 cycles a warp against 3 slots a quarter
  lines.insert(lines.begin(), 10, "IADD3 R4, R2, R3, R5 ;");
  EXPECT_EQ(bound(64).resource, "issue");
  EXPECT_NEAR(bound(64).percent, 100 * 2 / (13 / 4.0), 1e-9);
}

TEST(Sass, WhatMultipliesNothingHasNoBound) {
  auto instructions = parsed({"IADD3 R4, R2, R3, R5 ;", "BRA 0x0 ;"});
  EXPECT_FALSE(boundOf(count(instructions, {0, 2}), instructions, {0, 2},
                       *llvm::cantFail(findTarget("sm_80")), 8));
}

} // namespace
