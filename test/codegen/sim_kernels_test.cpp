// Kernels with threads that work together, compiled and run on the simulator: results, and faults
// that must be seen.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/codegen/SimHarness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

using namespace cameo;
using namespace cameo::test;

namespace {

/// Each block sums 256 numbers: within warps by shuffles, then through shared memory. BARRIER is
/// where the barrier between the two goes.
std::string sumKernel(bool withBarrier) {
  std::string text = R"(
#g = #gpu.address_space<global>
#ws = #gpu.address_space<workgroup>
gpu.module @sum attributes {kernel.index_bits = 32 : i32} {
  gpu.func @sum(%in: memref<?xf32, #g> {llvm.noalias}, %out: memref<?xf32, #g>, %n: index)
      workgroup(%unused : memref<64xf32, #ws>, %part : memref<8xf32, #ws>)
      kernel attributes {kernel.block = array<i32: 256, 1, 1>, kernel.nodes = "Sum_1"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %w = arith.constant 32 : i32
    %s1 = arith.constant 1 : i32
    %s2 = arith.constant 2 : i32
    %s4 = arith.constant 4 : i32
    %s8 = arith.constant 8 : i32
    %s16 = arith.constant 16 : i32
    %zero = arith.constant 0.0 : f32
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %size = gpu.block_dim x
    %base = arith.muli %b, %size : index
    %i = arith.addi %base, %t : index
    %in_range = arith.cmpi ult, %i, %n : index
    %v = scf.if %in_range -> f32 {
      %x = memref.load %in[%i] : memref<?xf32, #g>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    %o1, %p1 = gpu.shuffle xor %v, %s1, %w : f32
    %v1 = arith.addf %v, %o1 : f32
    %o2, %p2 = gpu.shuffle xor %v1, %s2, %w : f32
    %v2 = arith.addf %v1, %o2 : f32
    %o3, %p3 = gpu.shuffle down %v2, %s4, %w : f32
    %v3 = arith.addf %v2, %o3 : f32
    %o4, %p4 = gpu.shuffle down %v3, %s8, %w : f32
    %v4 = arith.addf %v3, %o4 : f32
    %o5, %p5 = gpu.shuffle down %v4, %s16, %w : f32
    %v5 = arith.addf %v4, %o5 : f32
    %lane = arith.remui %t, %c32 : index
    %warp = arith.divui %t, %c32 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %v5, %part[%warp] : memref<8xf32, #ws>
    }
    BARRIER
    %leader = arith.cmpi eq, %t, %c0 : index
    scf.if %leader {
      %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> f32 {
        %x = memref.load %part[%k] : memref<8xf32, #ws>
        %next = arith.addf %acc, %x : f32
        scf.yield %next : f32
      }
      memref.store %sum, %out[%b] : memref<?xf32, #g>
    }
    gpu.return
  }
}
)";
  size_t at = text.find("BARRIER");
  text.replace(at, std::strlen("BARRIER"), withBarrier ? "gpu.barrier" : "");
  return text;
}

struct Sum {
  Sum(bool withBarrier, bool checked) : kernels(sumKernel(withBarrier), checked) {}

  sim::LaunchResult run(uint32_t count) {
    std::iota(input.begin(), input.end(), 1.0f);
    const float *in = kernels.share(input, "in");
    float *out = kernels.share(output, "out");
    return kernels.launch("sum", 4, 256, {&in, &out, &count});
  }

  SimKernels kernels;
  std::vector<float> input = std::vector<float>(1024), output = std::vector<float>(4);
};

TEST(SimKernels, Sum) {
  for (bool checked : {false, true}) {
    Sum sum(/*withBarrier=*/true, checked);
    ASSERT_EQ(sum.kernels.error, "");
    sim::LaunchResult result = sum.run(1000);
    ASSERT_TRUE(result.ok()) << result.error;
    for (unsigned block = 0; block < 4; ++block) {
      float expected = 0;
      for (unsigned i = 0; i < 256 && block * 256 + i < 1000; ++i)
        expected += block * 256 + i + 1;
      EXPECT_EQ(sum.output[block], expected);
    }
  }
}

TEST(SimKernels, SharedMemoryThatIsUnusedTakesNoRoom) {
  Sum sum(/*withBarrier=*/true, /*checked=*/false);
  ASSERT_EQ(sum.kernels.error, "");
  EXPECT_EQ(sum.kernels.image->find("sum")->shared_static, 32u);
  EXPECT_LT(sum.kernels.image->find("sum")->warp_stack_bytes, 4096u);
}

TEST(SimKernels, MissingBarrierIsARace) {
  Sum sum(/*withBarrier=*/false, /*checked=*/true);
  ASSERT_EQ(sum.kernels.error, "");
  sim::LaunchResult result = sum.run(1000);
  ASSERT_EQ(result.outcome, sim::Outcome::Fault);
  bool race = false;
  for (const sim::Report &report : result.reports)
    if (report.kind == sim::FaultKind::SharedRace) {
      race = true;
      EXPECT_EQ(report.node, "Sum_1");
    }
  EXPECT_TRUE(race);
}

TEST(SimKernels, OutOfBoundsIsReportedWithItsPlace) {
  Sum sum(/*withBarrier=*/true, /*checked=*/true);
  ASSERT_EQ(sum.kernels.error, "");
  sum.input.resize(512);
  sim::LaunchResult result = sum.run(1000);
  ASSERT_EQ(result.outcome, sim::Outcome::Fault);
  EXPECT_EQ(result.reports.front().kind, sim::FaultKind::GlobalOutOfBounds);
  EXPECT_EQ(result.reports.front().what, "load of 4 B from parameter 0");
  EXPECT_EQ(result.reports.front().location.substr(0, 10), "test.mlir:");
}

TEST(SimKernels, WideShufflesAndSegments) {
  SimKernels kernels(R"(
#g = #gpu.address_space<global>
gpu.module @m {
  gpu.func @shuffles(%wide: memref<?xf64, #g>, %valid: memref<?xi1, #g>) kernel
      attributes {kernel.block = array<i32: 32, 1, 1>} {
    %w = arith.constant 8 : i32
    %three = arith.constant 3 : i32
    %t = gpu.thread_id x
    %v = memref.load %wide[%t] : memref<?xf64, #g>
    %o, %p = gpu.shuffle down %v, %three, %w : f64
    %q, %r = gpu.shuffle up %o, %three, %w : f64
    memref.store %q, %wide[%t] : memref<?xf64, #g>
    memref.store %p, %valid[%t] : memref<?xi1, #g>
    gpu.return
  }
})",
                     /*checked=*/true);
  ASSERT_EQ(kernels.error, "");
  std::vector<double> wide(32);
  for (unsigned i = 0; i < 32; ++i)
    wide[i] = 1.0 / (i + 1);
  std::vector<char> valid(32, 7);
  double *widePointer = kernels.share(wide, "wide");
  char *validPointer = kernels.share(valid, "valid");
  sim::LaunchResult result = kernels.launch("shuffles", 1, 32, {&widePointer, &validPointer});
  ASSERT_TRUE(result.ok()) << result.error;
  for (unsigned i = 0; i < 32; ++i) {
    auto down = [](unsigned lane) { return lane % 8 + 3 < 8 ? lane + 3 : lane; };
    unsigned up = i % 8 >= 3 ? i - 3 : i;
    EXPECT_EQ(wide[i], 1.0 / (down(up) + 1)) << i;
    EXPECT_EQ(valid[i], i % 8 + 3 < 8) << i;
  }
}

TEST(SimKernels, Atomics) {
  SimKernels kernels(R"(
#g = #gpu.address_space<global>
gpu.module @m {
  gpu.func @atomics(%f: memref<?xf32, #g>, %i: memref<?xi32, #g>, %l: memref<?xi64, #g>) kernel
      attributes {kernel.block = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %ti = arith.index_cast %t : index to i32
    %tl = arith.index_cast %t : index to i64
    %0 = memref.atomic_rmw addf %one, %f[%c0] : (f32, memref<?xf32, #g>) -> f32
    %tf = arith.uitofp %ti : i32 to f32
    %1 = memref.atomic_rmw maxnumf %tf, %f[%c1] : (f32, memref<?xf32, #g>) -> f32
    %2 = memref.atomic_rmw addi %ti, %i[%c0] : (i32, memref<?xi32, #g>) -> i32
    %3 = memref.atomic_rmw maxs %ti, %i[%c1] : (i32, memref<?xi32, #g>) -> i32
    %4 = memref.atomic_rmw minu %tl, %l[%c0] : (i64, memref<?xi64, #g>) -> i64
    gpu.return
  }
})",
                     /*checked=*/true);
  ASSERT_EQ(kernels.error, "");
  std::vector<float> f = {0, -1};
  std::vector<int32_t> i = {0, -5};
  std::vector<int64_t> l = {99};
  float *fp = kernels.share(f, "f");
  int32_t *ip = kernels.share(i, "i");
  int64_t *lp = kernels.share(l, "l");
  sim::LaunchResult result = kernels.launch("atomics", 3, 64, {&fp, &ip, &lp});
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(f, (std::vector<float>{192, 63}));
  EXPECT_EQ(i, (std::vector<int32_t>{3 * 63 * 32, 63}));
  EXPECT_EQ(l, (std::vector<int64_t>{0}));
}

TEST(SimKernels, UnknownOperationIsNamed) {
  SimKernels kernels(R"(
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.clock : i32
    llvm.store %t, %p : i32, !llvm.ptr<1>
    llvm.return
  }
})",
                     /*checked=*/false);
  EXPECT_NE(kernels.error.find("kernel k: the simulator does not know nvvm.read.ptx.sreg.clock"),
            std::string::npos)
      << kernels.error;
}

} // namespace
