// The C library's functions by their older names give the same bits as by their newer ones.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>

namespace {

// Of the version that programs that are linked today get.
template <typename Function> Function *newest(const char *name) {
  return reinterpret_cast<Function *>(dlvsym(dlopen("libm.so.6", RTLD_NOW), name, "GLIBC_2.29"));
}

uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::vector<double> numbers() {
  std::vector<double> list = {0.0,    -0.0,   1.0,  -1.0,  0.5,    -0.5,   2.0,
                              3.0,    -3.0,   1e9,  -1e9,  1e300,  709.8,  745.2,
                              -745.2, -746.0, 1024, -1080, 5e-324, -5e-324};
  for (double special : {double(INFINITY), double(NAN)})
    list.insert(list.end(), {special, -special});
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    list.insert(list.end(), {value, double(int64_t(bits)) * 0x1p-55});
  }
  return list;
}

} // namespace

// Pointers that are read each time, so that the compiler computes nothing itself.
TEST(Glibc, SameBits) {
  using One = double(double);
  One *volatile mine[] = {std::exp, std::exp2, std::log, std::log2};
  const char *names[] = {"exp", "exp2", "log", "log2"};
  for (int i = 0; i < 4; ++i) {
    One *theirs = newest<One>(names[i]);
    ASSERT_TRUE(theirs);
    ASSERT_NE(reinterpret_cast<void *>(mine[i]), reinterpret_cast<void *>(theirs));
    for (double x : numbers())
      EXPECT_EQ(bitsOf(mine[i](x)), bitsOf(theirs(x))) << names[i] << " " << x;
  }
  using Two = double(double, double);
  Two *volatile power = std::pow;
  Two *theirs = newest<Two>("pow");
  ASSERT_TRUE(theirs);
  std::vector<double> list = numbers();
  for (size_t i = 0; i < list.size(); ++i)
    for (size_t j : {i % 24, (i * 7) % list.size()})
      EXPECT_EQ(bitsOf(power(list[i], list[j])), bitsOf(theirs(list[i], list[j])))
          << list[i] << " ^ " << list[j];
}
