// Registers and local arrays that are read before they have a value, on the simulator: what must be
// seen, in either form of a kernel alike, and what must not.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include <gtest/gtest.h>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A kernel of one block of 64 threads whose checks find the same in both forms: the reports'
/// texts.
struct Launched {
  explicit Launched(const std::string &body, const char *target = "sm_80", unsigned threads = 64)
      : threads(threads) {
    for (sim::Form form : {sim::Form::Warp, sim::Form::Thread}) {
      std::string before = std::exchange(text, "");
      launch(body, target, form);
      if (form == sim::Form::Thread)
        EXPECT_EQ(before, text) << "the forms differ";
    }
  }

  void launch(const std::string &body, const char *target, sim::Form form) {
    SimKernels kernels(R"(gpu.module @k {
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, kernel.nodes = "Node_1", nvvm.reqntid = array<i32: )" +
                           std::to_string(threads) +
                           R"(, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c65535 = llvm.mlir.constant(65535 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %fzero = llvm.mlir.constant(0.0 : f32) : f32
    %undef = llvm.mlir.undef : f32
    %iundef = llvm.mlir.undef : i32
    %odd_bit = llvm.and %lane, %c1 : i32
    %odd = llvm.icmp "eq" %odd_bit, %c1 : i32
    %shared = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    %from = llvm.getelementptr %in[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %x = llvm.load %from : !llvm.ptr<1> -> f32
    %n = llvm.fptosi %x : f32 to i32
)" + body + R"(
    llvm.return
  }
}
)",
                       /*checked=*/true, target, form);
    if (!kernels.error.empty()) {
      text = kernels.error;
      return;
    }
    std::vector<float> input(256), output(256 * 4);
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = float(i);
    float *in = kernels.share(input, "in"), *out = kernels.share(output, "out");
    sim::LaunchResult result = kernels.launch("k", 1, threads, {&in, &out}, 16384);
    text = result.error.empty() || !result.reports.empty() ? "" : result.error;
    for (const sim::Report &report : result.reports) {
      EXPECT_EQ(report.kind, sim::FaultKind::UninitialisedRegister) << report.text;
      text += report.text + "\n";
    }
  }

  unsigned threads;
  std::string text;
};

#define EXPECT_HAS(TEXT, PART) EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)

TEST(SimUndefined, TellsAll) {
  Launched run(R"(
    llvm.store %undef, %to : f32, !llvm.ptr<1>
)");
  EXPECT_HAS(run.text,
             "read of an uninitialised register: the value of a store of 4 B to parameter "
             "1 (test.mlir:");
  EXPECT_HAS(run.text, "\n  in kernel k, node Node_1, block (0,0,0), warp 0, lanes 0-31; 64 times");
}

TEST(SimUndefined, SumThatStartsFromGarbage) {
  auto sum = [](const char *start) {
    return std::string("    llvm.br ^loop(%c0, ") + start + R"( : i32, f32)
  ^loop(%i: i32, %sum: f32):
    %next = llvm.fadd %sum, %x : f32
    %j = llvm.add %i, %c1 : i32
    %more = llvm.icmp "slt" %j, %n : i32
    llvm.cond_br %more, ^loop(%j, %next : i32, f32), ^done
  ^done:
    llvm.store %next, %to : f32, !llvm.ptr<1>
)";
  };
  EXPECT_HAS(Launched(sum("%undef")).text, "the value of a store of 4 B to parameter 1");
  EXPECT_EQ(Launched(sum("%fzero")).text, "");
}

TEST(SimUndefined, LanesThatHaveNoValue) {
  auto merged = [](const char *store) {
    return std::string(R"(
    llvm.cond_br %odd, ^end(%undef : f32), ^even
  ^even:
    %y = llvm.fadd %x, %x : f32
    llvm.br ^end(%y : f32)
  ^end(%merged: f32):
    %twice = llvm.fmul %merged, %merged : f32
)") + store;
  };
  Launched all(merged("    llvm.store %twice, %to : f32, !llvm.ptr<1>"));
  EXPECT_HAS(all.text,
             "warp 0, lanes 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31; 32");
  // Only lanes that have one use it.
  EXPECT_EQ(Launched(merged(R"(
    llvm.cond_br %odd, ^return, ^store
  ^store:
    llvm.store %twice, %to : f32, !llvm.ptr<1>
    llvm.br ^return
  ^return:)"))
                .text,
            "");
  EXPECT_EQ(Launched(merged(R"(
    %chosen = llvm.select %odd, %x, %twice : i1, f32
    llvm.store %chosen, %to : f32, !llvm.ptr<1>)"))
                .text,
            "");
  // A condition that does not matter where the other one is false.
  EXPECT_EQ(Launched(merged(R"(
    %large = llvm.fcmp "ogt" %twice, %x : f32
    %true = llvm.mlir.constant(true) : i1
    %even = llvm.xor %odd, %true : i1
    %both = llvm.and %even, %large : i1
    llvm.cond_br %both, ^store, ^return
  ^store:
    llvm.store %twice, %to : f32, !llvm.ptr<1>
    llvm.br ^return
  ^return:)"))
                .text,
            "");
}

TEST(SimUndefined, BranchAndAddress) {
  Launched branch(R"(
    %odd_or_none = llvm.icmp "sgt" %iundef, %c0 : i32
    llvm.cond_br %odd_or_none, ^store, ^return
  ^store:
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.br ^return
  ^return:
)");
  EXPECT_HAS(branch.text, "uninitialised register: the condition of a branch");
  Launched address(R"(
    %place = llvm.getelementptr %in[%iundef] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %y = llvm.load %place : !llvm.ptr<1> -> f32
    llvm.store %y, %to : f32, !llvm.ptr<1>
)");
  EXPECT_HAS(address.text, "uninitialised register: the address of a load of 4 B from parameter 0");
}

/// A vector of which one element stays undefined, or none.
std::string vectorOf(const char *last, const char *use) {
  return std::string(R"(
    %v = llvm.mlir.poison : vector<4xf32>
    %v0 = llvm.insertelement %x, %v[%c0 : i32] : vector<4xf32>
    %v1 = llvm.insertelement %x, %v0[%c1 : i32] : vector<4xf32>
    %v2 = llvm.insertelement %x, %v1[%c2 : i32] : vector<4xf32>
    %v3 = llvm.insertelement )") +
         last + R"(, %v2[%c3 : i32] : vector<4xf32>
    %rows = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
)" + use;
}

TEST(SimUndefined, ElementsOfVectors) {
  const char *whole = "    llvm.store %v3, %rows : vector<4xf32>, !llvm.ptr<1>";
  EXPECT_EQ(Launched(vectorOf("%x", whole)).text, "");
  EXPECT_HAS(Launched(vectorOf("%undef", whole)).text, "the value of a store of 16 B");
  // Arithmetic goes element by element, and a shuffle takes those that have a value.
  const char *partly = R"(
    %square = llvm.fmul %v3, %v3 : vector<4xf32>
    %pair = llvm.shufflevector %square, %square [0, 2] : vector<4xf32>
    llvm.store %pair, %rows {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>)";
  EXPECT_EQ(Launched(vectorOf("%undef", partly)).text, "");
  const char *wrong = R"(
    %square = llvm.fmul %v3, %v3 : vector<4xf32>
    %pair = llvm.shufflevector %square, %square [0, 3] : vector<4xf32>
    llvm.store %pair, %rows {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>)";
  EXPECT_HAS(Launched(vectorOf("%undef", wrong)).text, "the value of a store of 8 B");
  // An element by a number of run time.
  const char *some = R"(
    %which = llvm.select %odd, %c3, %c1 : i1, i32
    %element = llvm.extractelement %v3[%which : i32] : vector<4xf32>
    llvm.store %element, %to : f32, !llvm.ptr<1>)";
  EXPECT_HAS(Launched(vectorOf("%undef", some)).text, "lanes 1, 3, 5, 7, 9, 11, 13,");
}

/// Fields of structs, through the arguments of a switch's blocks and through a local variable.
TEST(SimUndefined, Structs) {
  auto fields = [](const char *use) {
    return std::string(R"(
    %none = llvm.mlir.undef : !llvm.struct<(f32, array<2 x i16>)>
    %short = llvm.trunc %n : i32 to i16
    %s0 = llvm.insertvalue %x, %none[0] : !llvm.struct<(f32, array<2 x i16>)>
    %s1 = llvm.insertvalue %short, %s0[1, 1] : !llvm.struct<(f32, array<2 x i16>)>
    %local = llvm.alloca %c1 x !llvm.struct<(f32, array<2 x i16>)> : (i32) -> !llvm.ptr
    llvm.switch %odd_bit : i32, ^end(%s1 : !llvm.struct<(f32, array<2 x i16>)>) [
      1: ^other(%s1 : !llvm.struct<(f32, array<2 x i16>)>)
    ]
  ^other(%o: !llvm.struct<(f32, array<2 x i16>)>):
    llvm.store %o, %local : !llvm.struct<(f32, array<2 x i16>)>, !llvm.ptr
    %read = llvm.load %local : !llvm.ptr -> !llvm.struct<(f32, array<2 x i16>)>
    llvm.br ^end(%read : !llvm.struct<(f32, array<2 x i16>)>)
  ^end(%s: !llvm.struct<(f32, array<2 x i16>)>):
)") + use;
  };
  EXPECT_EQ(Launched(fields(R"(
    %f = llvm.extractvalue %s[0] : !llvm.struct<(f32, array<2 x i16>)>
    llvm.store %f, %to : f32, !llvm.ptr<1>)"))
                .text,
            "");
  EXPECT_EQ(Launched(fields(R"(
    %h = llvm.extractvalue %s[1, 1] : !llvm.struct<(f32, array<2 x i16>)>
    llvm.store %h, %to : i16, !llvm.ptr<1>)"))
                .text,
            "");
  Launched run(fields(R"(
    %h = llvm.extractvalue %s[1, 0] : !llvm.struct<(f32, array<2 x i16>)>
    llvm.store %h, %to : i16, !llvm.ptr<1>)"));
  EXPECT_HAS(run.text, "the value of a store of 2 B to parameter 1");
  EXPECT_HAS(run.text, "lanes 0-31; 64 times");
  Launched whole(fields(R"(
    %pair = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    llvm.store %s, %pair {alignment = 4 : i64} : !llvm.struct<(f32, array<2 x i16>)>, !llvm.ptr<1>)"));
  EXPECT_HAS(whole.text, "the value of a store of 8 B to parameter 1");
}

TEST(SimUndefined, HalvesOfWords) {
  auto halves = [](const char *use) {
    return std::string(R"(
    %v = llvm.mlir.undef : vector<2xf16>
    %h = llvm.fptrunc %x : f32 to f16
    %v0 = llvm.insertelement %h, %v[%c0 : i32] : vector<2xf16>
    %w = llvm.bitcast %v0 : vector<2xf16> to i32
)") + use + "\n    llvm.store %r, %to : i32, !llvm.ptr<1>";
  };
  EXPECT_EQ(Launched(halves("    %r = llvm.and %w, %c65535 : i32")).text, "");
  EXPECT_EQ(Launched(halves("    %r = llvm.shl %w, %c16 : i32")).text, "");
  EXPECT_HAS(Launched(halves("    %r = llvm.lshr %w, %c16 : i32")).text,
             "the value of a store of 4 B");
  EXPECT_HAS(Launched(halves("    %r = llvm.add %w, %c1 : i32")).text,
             "the value of a store of 4 B");
  EXPECT_EQ(Launched(halves("    %r = llvm.freeze %w : i32")).text, "");
}

TEST(SimUndefined, LocalArrays) {
  // Each thread writes `count` of four places, and reads the one with its own number.
  auto array = [](const char *count) {
    return std::string(R"(
    %array = llvm.alloca %c4 x f32 : (i32) -> !llvm.ptr
    llvm.br ^fill(%c0 : i32)
  ^fill(%i: i32):
    %place = llvm.getelementptr %array[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %x, %place : f32, !llvm.ptr
    %j = llvm.add %i, %c1 : i32
    %more = llvm.icmp "slt" %j, )") +
           count + R"( : i32
    llvm.cond_br %more, ^fill(%j : i32), ^read
  ^read:
    %own = llvm.and %tid, %c3 : i32
    %element = llvm.getelementptr %array[%own] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %y = llvm.load %element : !llvm.ptr -> f32
    llvm.store %y, %to : f32, !llvm.ptr<1>
)";
  };
  EXPECT_EQ(Launched(array("%c4")).text, "");
  Launched partly(array("%c3"));
  EXPECT_HAS(partly.text, "the value of a store of 4 B to parameter 1");
  EXPECT_HAS(partly.text, "\n  which comes from: (local array, test.mlir:");
  EXPECT_HAS(partly.text, "lanes 3, 7, 11, 15, 19, 23, 27, 31; 16 times in all");
}

/// One of two arrays, by a condition of run time, is not followed.
TEST(SimUndefined, ChosenArrays) {
  Launched run(R"(
    %a = llvm.alloca %c4 x f32 : (i32) -> !llvm.ptr
    %b = llvm.alloca %c4 x f32 : (i32) -> !llvm.ptr
    %chosen = llvm.select %odd, %a, %b : i1, !llvm.ptr
    llvm.store %x, %chosen : f32, !llvm.ptr
    %y = llvm.load %chosen : !llvm.ptr -> f32
    llvm.store %y, %to : f32, !llvm.ptr<1>
)");
  EXPECT_EQ(run.text, "");
}

TEST(SimUndefined, LocalArrayByPieces) {
  // Two halves are written, a word is read; an undefined place stays inside of the array.
  auto halves = [](const char *second, const char *index) {
    return std::string(R"(
    %array = llvm.alloca %c4 x f32 : (i32) -> !llvm.ptr
    %h = llvm.fptrunc %x : f32 to f16
    llvm.store %h, %array : f16, !llvm.ptr
    %other = llvm.getelementptr %array[1] : (!llvm.ptr) -> !llvm.ptr, f16
)") + second +
           R"(
    %element = llvm.getelementptr %array[)" +
           index + R"(] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %y = llvm.load %element : !llvm.ptr -> f32
    llvm.store %y, %to : f32, !llvm.ptr<1>
)";
  };
  const char *store = "    llvm.store %h, %other : f16, !llvm.ptr";
  EXPECT_EQ(Launched(halves(store, "%c0")).text, "");
  EXPECT_HAS(Launched(halves("", "%c0")).text, "the value of a store");
  Launched lost(halves(store, "%iundef"));
  EXPECT_HAS(lost.text, "the address of a load of 4 B from local memory");
}

TEST(SimUndefined, Shuffle) {
  Launched run(R"(
    %y = llvm.select %odd, %undef, %x : i1, f32
    %z = nvvm.shfl.sync bfly %all, %y, %c1, %c0 : f32 -> f32
    llvm.store %z, %to : f32, !llvm.ptr<1>
)");
  EXPECT_HAS(run.text, "uninitialised register: operand #1 of shfl.sync");
  EXPECT_HAS(run.text, "lanes 1, 3, 5,");
}

std::string mma(const char *sum) {
  std::string operands = "%n, %n, %n, %n, %n, %n", types = "i32, i32, i32, i32, i32, i32";
  for (int i = 0; i < 4; ++i) {
    operands += i == 2 ? std::string(", ") + sum : std::string(", %fzero");
    types += ", f32";
  }
  return "    %d:4 = kernel.ptx \"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\"(" + operands +
         ") : (" + types + ") -> (f32, f32, f32, f32)\n" +
         "    llvm.store %d#2, %to : f32, !llvm.ptr<1>\n";
}

TEST(SimUndefined, Mma) {
  EXPECT_EQ(Launched(mma("%fzero")).text, "");
  Launched run(mma("%undef"));
  EXPECT_HAS(run.text,
             "operand #8 of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 (test.mlir:");
  // What it computes counts as defined.
  EXPECT_EQ(run.text.find("store"), std::string::npos) << run.text;
}

TEST(SimUndefined, Approximations) {
  Launched run(R"(
    %y = kernel.ptx "ex2.approx.ftz.f32"(%undef) : (f32) -> f32
    %z = llvm.select %odd, %y, %x : i1, f32
    llvm.store %z, %to : f32, !llvm.ptr<1>
)");
  EXPECT_HAS(run.text, "the value of a store");
  EXPECT_HAS(run.text, "lanes 1, 3, 5,");
}

/// The addresses of a matrix's rows come from the first eight lanes.
TEST(SimUndefined, RowsOfMatrices) {
  auto rows = [](const char *bound) {
    return std::string(R"(
    %word = llvm.getelementptr %shared[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %x, %word : f32, !llvm.ptr<3>
    nvvm.barrier0
    %limit = llvm.mlir.constant()") +
           bound + R"( : i32) : i32
    %has_row = llvm.icmp "slt" %lane, %limit : i32
    %number = llvm.select %has_row, %lane, %iundef : i1, i32
    %row = llvm.getelementptr %shared[%number] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xf32>
    %m = kernel.ptx "ldmatrix.sync.aligned.m8n8.x1.shared.b16"(%row) : (!llvm.ptr<3>) -> i32
)";
  };
  EXPECT_EQ(Launched(rows("8")).text, "");
  Launched run(rows("7"));
  EXPECT_HAS(run.text, "operand #0 of ldmatrix");
  EXPECT_HAS(run.text, "lane 7; 2 times");
}

/// Accumulators are read if the instruction says so.
TEST(SimUndefined, Wgmma) {
  auto wgmma = [](const char *scale) {
    return std::string(R"(
    %scale = llvm.mlir.constant()") +
           scale + R"() : i1
    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    %desc = llvm.mlir.constant(0 : i64) : i64
    %d:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0"(%n, %n, %n, %n, %desc, %scale, %fzero, %undef, %fzero, %fzero) : (i32, i32, i32, i32, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    llvm.store %d#1, %to : f32, !llvm.ptr<1>
)";
  };
  auto find = [](const std::string &text) { return text.find("uninitialised register"); };
  SCOPED_TRACE("wgmma");
  std::string fill = R"(
    llvm.br ^fill(%tid : i32)
  ^fill(%i: i32):
    %word = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %fzero, %word : f32, !llvm.ptr<3>
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %j = llvm.add %i, %c128 : i32
    %c4096 = llvm.mlir.constant(4096 : i32) : i32
    %more = llvm.icmp "slt" %j, %c4096 : i32
    llvm.cond_br %more, ^fill(%j : i32), ^filled
  ^filled:
    kernel.ptx "fence.proxy.async.shared::cta"() : () -> ()
    nvvm.barrier0
)";
  Launched unread(fill + wgmma("false"), "sm_90a", 128);
  EXPECT_EQ(unread.text, "");
  Launched read(fill + wgmma("true"), "sm_90a", 128);
  EXPECT_NE(find(read.text), std::string::npos) << read.text;
  EXPECT_HAS(read.text, "operand #7 of wgmma.mma_async");
}

} // namespace
