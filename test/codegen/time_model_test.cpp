// What the estimate of a kernel says, and what it says that the time goes to.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/TimeModel.h"

#include "codegen/schedule/ContractionModel.h"
#include "codegen/schedule/MmaModel.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace cameo;
using rt::Limit;

namespace {

const Target &a100() {
  static const Target &target = *llvm::cantFail(findTarget("sm_80"));
  return target;
}

/// Four blocks a multiprocessor, a thousand steps each.
KernelWork work() {
  KernelWork work;
  work.blocks = 4.0 * a100().board->sm_count;
  work.steps = 1000;
  return work;
}

/// With each resource in turn at a thousand cycles a step, and those beside it at half of that.
TEST(TimeModel, LimitIsWhatTakesLongest) {
  using Member = double BlockWork::*;
  struct {
    Member member;
    double perCycle;
    Limit limit;
  } const resources[] = {
      {&BlockWork::matrix, 1, Limit::TensorCores},
      {&BlockWork::arithmetic, 1, Limit::Arithmetic},
      {&BlockWork::slots, 4, Limit::Issue},
      {&BlockWork::sharedBytes, 128, Limit::SharedMemory},
      {&BlockWork::l2Bytes, a100().timing().l2_rate, Limit::L2Cache},
  };
  for (const auto &most : resources) {
    KernelWork kernel = work();
    for (const auto &each : resources)
      kernel.step.*each.member = (each.member == most.member ? 1000 : 500) * each.perCycle;
    TimeEstimate estimate = TimeModel(a100()).estimate(kernel);
    EXPECT_EQ(estimate.limit, most.limit) << stringifyLimit(most.limit).str();
    // Two trips to memory, and a thousand steps of four blocks: the longest, a tenth of the others.
    double cycles = 2 * a100().timing().global_latency + 1000 * 4 * (1000 + 0.1 * 4 * 500);
    EXPECT_NEAR(estimate.microseconds, cycles / a100().board->clock_mhz + 2, 1e-6);
  }
}

TEST(TimeModel, BlocksThatCannotOverlapWaitForLatency) {
  KernelWork kernel = work();
  kernel.step.matrix = 10;
  kernel.step.chain = 1000;
  EXPECT_EQ(TimeModel(a100()).estimate(kernel).limit, Limit::Latency);
  KernelWork trips;
  trips.blocks = 1;
  trips.trips = 1000;
  EXPECT_EQ(TimeModel(a100()).estimate(trips).limit, Limit::Latency);
}

/// Instructions and turns of shared memory that the architecture's timing counts, on one of which it
/// says nothing and on one that was measured.
TEST(TimeModel, TimingCountsWhatIsApart) {
  for (const char *name : {"sm_80", "sm_90a"}) {
    const Target &target = *llvm::cantFail(findTarget(name));
    const CameoTiming &timing = target.timing();
    BlockWork step;
    step.slots = 400;
    step.conversions = 7, step.places = 11, step.checks = 13, step.results = 17;
    double slots =
        400 + 7 * timing.conversion + 11 * timing.place + 13 * timing.check + 17 * timing.result;
    EXPECT_DOUBLE_EQ(TimeModel(target).cycles(step, 256, 2), 2 * slots / 4) << name;
    BlockWork shared;
    shared.sharedBytes = 1280, shared.turns = 5;
    EXPECT_DOUBLE_EQ(TimeModel(target).cycles(shared, 256, 1), 10 + 5 * timing.turn) << name;
  }
}

/// What tiles' works have that timing counts.
TEST(TimeModel, TilesHaveWhatIsCountedApart) {
  MmaWork work{1024, 1024, 1, 1, 1024, /*bytes=*/2, 2, 0, {8, 8, 0, 0, 0}, {8, 8, 0, 0, 0},
               true, 32};
  auto stepOf = [&](const MmaTile &tile) { return mmaKernel(tile, work, a100()).step; };
  MmaTile even{128, 128, 32, 2, 2, 3}, odd{128, 96, 32, 2, 2, 3};
  BlockWork plain = stepOf(even);
  EXPECT_EQ(plain.turns + plain.conversions + plain.places + plain.checks, 0);
  EXPECT_EQ(stepOf(odd).places, 0); // lines go along depth
  work.column.isAcross = true;
  EXPECT_EQ(stepOf(even).places, 0);
  EXPECT_EQ(stepOf(odd).places, 96 * 32 / (32 * 8.0));
  EXPECT_EQ(mmaKernel(even, work, a100()).once.places, 0);
  EXPECT_EQ(mmaKernel(odd, work, a100()).once.places, 128 * 96 / 32.0);
  EXPECT_EQ(mmaKernel(even, work, a100()).once.results, 128 * 128 / 32.0);
  work.column.isPadded = true;
  EXPECT_EQ(stepOf(even).checks, 128 * 32 / (32 * 8.0));
  work.async = false;
  // Loads of both operands by registers; single elements take a turn each, where 64 bytes are half
  // of one.
  EXPECT_EQ(stepOf(even).turns, 2 * 128 * 32 * 2 / 128.0);
  work.column.vector = work.column.group = 1;
  EXPECT_EQ(stepOf(even).turns, 64 + 128 + 128 - 64);
  work = {1024, 1024, 1, 1, 1024, /*bytes=*/4, 4, 0, {4, 4, 0, 0, 0}, {4, 4, 0, 0, 0}, true, 32};
  double fragments = 128 * 2 * 32 / 32.0;
  EXPECT_EQ(stepOf(even).conversions, 2 * 2 * fragments);
  work.row.isRounded = work.column.isRounded = true;
  double slots = stepOf(even).slots;
  // Each by an instruction of its own, where ldmatrix has four.
  work.column.isAcross = true;
  EXPECT_EQ(stepOf(even).conversions, 0);
  EXPECT_EQ(stepOf(even).slots - slots, fragments * 3 / 4);
}

/// What is loaded along depth, four elements at once, is stored to a tile one by one.
TEST(TimeModel, TurnedCopiesAreStoredOneByOne) {
  mlir::MLIRContext context;
  ContractionWork work{1024, 1024, 1, 1024, mlir::Float32Type::getF32(&context), 4, 4, 4, 4, 4, 0};
  ContractionTile tile{64, 128, kContractionDepth, 8, 8};
  EXPECT_EQ(contractionKernel(tile, work, a100()).step.conversions, 0);
  work.isRowTurned = true;
  EXPECT_EQ(contractionKernel(tile, work, a100()).step.conversions, 64 * 16 * 0.75 / 32);
  work.isColumnTurned = true;
  EXPECT_EQ(contractionKernel(tile, work, a100()).step.conversions, (64 + 128) * 16 * 0.75 / 32);
}

/// Of a block by itself: its own instructions, and what is asked for too late.
TEST(TimeModel, WaitsAreOfParts) {
  TimeModel model(a100());
  const CameoTiming &timing = a100().timing();
  BlockWork step;
  step.chain = 10;
  step.barriers = 2;
  double own = 10 + 2 * timing.barrier;
  EXPECT_EQ(model.cycles(step, 256, 1), own);
  step.products = 4; // of eight warps, each of which has a quarter of the Tensor Cores
  own += 4 * timing.matrix_latency;
  EXPECT_EQ(model.cycles(step, 256, 1), own);
  step.matrix = 8 * timing.matrix_latency;
  EXPECT_EQ(model.cycles(step, 256, 1), step.matrix); // all Tensor Cores at work take longer
  step.matrix = 12 * timing.matrix_latency;
  EXPECT_EQ(model.cycles(step, 128, 1), 10 + 2 * timing.barrier + 12 * timing.matrix_latency);
  step.loads = 1;
  step.ahead = 1;
  step.matrix = 0;
  EXPECT_EQ(model.cycles(step, 256, 1), (timing.global_latency + own) / 2);
  EXPECT_EQ(model.waitCycles(1, 3), timing.global_latency / 4);
  BlockWork lanes;
  lanes.arithmetic = 100;
  lanes.idle = 4;
  EXPECT_EQ(model.cycles(lanes, 64, 1), 400);
  EXPECT_EQ(model.cycles(lanes, 64, 6), 600);
}

TEST(TimeModel, MemoryIsALimitOfItsOwn) {
  KernelWork kernel;
  kernel.dramBytes = 1555e6; // a millisecond of the first A100's
  TimeEstimate estimate = TimeModel(a100()).estimate(kernel);
  EXPECT_EQ(estimate.limit, Limit::Memory);
  EXPECT_NEAR(estimate.microseconds, 1002, 1e-6);
}

TEST(TimeModel, SmallKernelsAreLaunches) {
  EXPECT_EQ(TimeModel(a100()).estimate(KernelWork()).limit, Limit::Launch);
}

/// What is launched beside it is no part of a launch's own time.
TEST(TimeModel, OthersAreBeside) {
  KernelWork kernel = work();
  double alone = TimeModel(a100()).estimate(kernel).microseconds;
  kernel.beside = {work(), work()};
  EXPECT_EQ(TimeModel(a100()).estimate(kernel).microseconds, alone);
  EXPECT_EQ(TimeModel(a100()).microseconds(kernel), 3 * alone);
}

TEST(TimeModel, NoBlockFits) {
  KernelWork kernel = work();
  kernel.sharedBytes = 1 << 20;
  EXPECT_TRUE(std::isinf(TimeModel(a100()).estimate(kernel).microseconds));
}

} // namespace
