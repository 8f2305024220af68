// The elements of constants as numbers: rounded once, whatever they were computed in.
// SPDX-License-Identifier: Apache-2.0
#include "passes/graph/Elements.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <random>

using namespace cameo;
using cameo::onnx::ElementKind;
using llvm::APFloat;

namespace {

/// What LLVM makes of a number in a type of 16 bits.
uint16_t expected(ElementKind kind, APFloat number) {
  bool lost;
  number.convert(kind == ElementKind::F16 ? APFloat::IEEEhalf() : APFloat::BFloat(),
                 APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

APFloat exact(double value) { return APFloat(value); }
APFloat exact(float value) { return APFloat(value); }
template <typename Integer> APFloat exact(Integer value) {
  APFloat number(APFloat::IEEEquad());
  number.convertFromAPInt(llvm::APInt(64, value), std::is_signed_v<Integer>,
                          APFloat::rmNearestTiesToEven);
  return number;
}

template <typename C> void expectRoundedOnce(llvm::ArrayRef<C> numbers) {
  for (ElementKind kind : {ElementKind::F16, ElementKind::BF16}) {
    std::vector<char> bytes = writeElements<C>(kind, numbers);
    for (auto [i, number] : llvm::enumerate(numbers)) {
      uint16_t bits;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      ASSERT_EQ(bits, expected(kind, exact(number)))
          << std::hexfloat << +number << " as " << onnx::elementName(kind).str();
    }
  }
}

TEST(Elements, SixteenBitsAreRoundedOnce) {
  std::mt19937_64 random(7);
  std::vector<double> doubles{
      0.0,    -0.0,   65504,  65519.999999999,       65520,    0x1p-24,  0x1p-25, 1e300,
      -1e300, 1e-300, 5e-324, 0x1.fffffffffffffp127, HUGE_VAL, -HUGE_VAL};
  for (int i = 0; i < 200'000; ++i) {
    // Halfway between two numbers of 16 bits and next to that, from denormal numbers to overflow.
    double half =
        std::ldexp(static_cast<double>(random() % 4096), static_cast<int>(random() % 46) - 30);
    for (double number : {half, std::nextafter(half, 1e9), std::nextafter(half, -1.0)})
      doubles.push_back(random() % 2 ? number : -number);
  }
  expectRoundedOnce<double>(doubles);
  std::vector<float> floats(doubles.begin(), doubles.end());
  expectRoundedOnce<float>(floats);

  std::vector<int64_t> integers{0, 1, -1, INT64_MAX, INT64_MIN};
  std::vector<uint64_t> naturals{0, UINT64_MAX};
  for (int i = 0; i < 200'000; ++i) {
    uint64_t half = (random() % 4096) << (random() % 52);
    for (uint64_t number : {half, half + 1, half - 1}) {
      naturals.push_back(number);
      integers.push_back(static_cast<int64_t>(number));
    }
  }
  expectRoundedOnce<int64_t>(integers);
  expectRoundedOnce<uint64_t>(naturals);
}

} // namespace
