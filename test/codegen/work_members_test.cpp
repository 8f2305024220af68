// A kernel's work as JSON and as numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/tune/WorkMembers.h"

#include <gtest/gtest.h>

using namespace cameo;
using namespace llvm;

namespace {

/// Each number another one, so that none can stand in another's place.
KernelWork distinct(unsigned beside) {
  SmallVector<double> numbers;
  for (size_t i = 0; i < workNumbers({}).size() * (1 + beside); ++i)
    numbers.push_back(double(i + 1));
  std::optional<KernelWork> work = workOfNumbers(numbers);
  EXPECT_TRUE(work);
  return *work;
}

TEST(WorkMembers, NumbersAreReadBack) {
  KernelWork work;
  work.blocks = 3, work.threads = 128, work.registers = 77, work.sharedBytes = 1024;
  work.steps = 5, work.step.matrix = 7, work.step.ahead = 2, work.once.chain = 8.5;
  work.onMatrix = true, work.ahead = 3;
  work.beside.emplace_back().once.l2Bytes = 11;
  std::optional<KernelWork> read = workOfNumbers(workNumbers(work));
  ASSERT_TRUE(read);
  EXPECT_EQ(json::Value(workJson(*read)), json::Value(workJson(work)));
  EXPECT_EQ(read->threads, 128);
  EXPECT_EQ(read->once.chain, 8.5);
  EXPECT_TRUE(read->onMatrix);
  ASSERT_EQ(read->beside.size(), 1u);
  EXPECT_EQ(read->beside[0].once.l2Bytes, 11);
}

TEST(WorkMembers, AnotherCountIsNoWork) {
  SmallVector<double> numbers = workNumbers({});
  EXPECT_FALSE(workOfNumbers({}));
  EXPECT_FALSE(workOfNumbers(ArrayRef(numbers).drop_back()));
  numbers.push_back(0);
  EXPECT_FALSE(workOfNumbers(numbers));
}

/// All that the estimate goes by: what is missing in one of the two forms would be the default there.
TEST(WorkMembers, JsonHasAllMembers) {
  json::Object object = workJson(distinct(/*beside=*/2));
  for (StringRef name : {"blocks", "threads", "registers", "shared_bytes", "steps", "trips",
                         "dram_bytes", "multiply_adds", "loads", "ahead"})
    EXPECT_TRUE(object.getNumber(name)) << name.str();
  EXPECT_EQ(object.getBoolean("on_matrix"), true);
  for (StringRef part : {"step", "once"}) {
    const json::Object *block = object.getObject(part);
    ASSERT_TRUE(block) << part.str();
    for (StringRef name :
         {"matrix", "arithmetic", "slots", "shared_bytes", "l2_bytes", "turns", "conversions",
          "places", "checks", "results", "chain", "products", "barriers", "loads", "ahead", "idle"})
      EXPECT_TRUE(block->getNumber(name)) << name.str();
    EXPECT_EQ(block->size(), 16u);
  }
  ASSERT_TRUE(object.getArray("beside"));
  EXPECT_EQ(object.getArray("beside")->size(), 2u);
  EXPECT_EQ(object.size(), 14u);
}

} // namespace
