// Where tiled tensor copies may start, and where they end, as measured on an H200 (driver 580).
//
// SPDX-License-Identifier: Apache-2.0
#include "sim_async_testing.h"

using namespace simtest;

namespace {

constexpr uint32_t kLines = 8, kLine = 14, kStride = 16; // words; two pad each line
constexpr uint32_t kBox = 8, kBoxLines = 4, kBoxWords = kBox * kBoxLines;
constexpr uint32_t kPadding = 1000, kElement = 1; // what the tensor holds

/// A box of 4 lines of 8 words.
Map mapOfLines(uint32_t *tensor, uint32_t type = 2) {
  uint32_t perWord = type == 0 ? 4 : 1; // u8, u32
  TensorMapParameters parameters;
  parameters.type = type;
  parameters.rank = 2;
  parameters.address = tensor;
  parameters.sizes[0] = kLine * perWord;
  parameters.sizes[1] = kLines;
  parameters.strides[0] = 4 * kStride;
  parameters.box[0] = kBox * perWord;
  parameters.box[1] = kBoxLines;
  Map map;
  EXPECT_EQ(encodeTensorMap(parameters, map.bytes), nullptr);
  return map;
}

/// One thread copies the box at (x, y); `combine` of kLoad: to shared memory, and from there to the
/// third argument.
constexpr uint32_t kLoad = ~0u;
void copyBody(Gpu gpu) {
  auto *map = gpu.args[0];
  auto *out = gpu.arg<uint32_t *>(1);
  auto x = gpu.arg<uint32_t>(2), y = gpu.arg<uint32_t>(3), combine = gpu.arg<uint32_t>(4);
  auto *box = gpu.shared<uint32_t>();
  auto *barrier = gpu.shared<uint64_t>(kBarrierAt);
  if (combine != kLoad) {
    for (uint32_t i = 0; i < kBoxWords; ++i)
      gpu.store(box + i, 10 + i, 1);
    run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 2);
    run(gpu, code(CAMEO_SIM_OP_TENSOR_STORE, 2, combine),
        Words().address(map).number(x).number(y).address(box), 3);
    run(gpu, CAMEO_SIM_OP_BULK_COMMIT, 4);
    run(gpu, code(CAMEO_SIM_OP_BULK_WAIT, 0), Words(), 5);
    return;
  }
  initialise(gpu, barrier, 1, 6);
  run(gpu, CAMEO_SIM_OP_PROXY_FENCE, 7);
  expect(gpu, barrier, 4 * kBoxWords, 8);
  run(gpu, code(CAMEO_SIM_OP_TENSOR_LOAD, 2, 0, 0),
      Words().address(box).address(map).number(x).number(y).address(barrier), 9);
  waitFor(gpu, barrier, 0, 10);
  for (uint32_t i = 0; i < kBoxWords; ++i)
    gpu.store(out + i, gpu.load(box + i, 11), 12);
}

struct Copy {
  TestDevice device{kCheckAll, 0, /*threads=*/1};
  uint32_t *tensor = nullptr, *out = nullptr;

  std::string run(int32_t x, int32_t y, uint32_t combine, uint32_t type = 2,
                  uint32_t words = kLines * kStride) {
    std::vector<uint32_t> values(words);
    for (uint32_t i = 0; i < words; ++i)
      values[i] = i % kStride < kLine ? kElement : kPadding;
    tensor = device.upload(values, "tensor");
    out = device.buffer<uint32_t>(kBoxWords, "out");
    Shape shape{1, 1, 2048};
    shape.maps = 1;
    return texts(device.run(kernel<copyBody>, shape, mapOfLines(tensor, type), out, uint32_t(x),
                            uint32_t(y), combine));
  }
};

TEST(SimTensorCopy, StartsAtMultiplesOf16Bytes) {
  for (uint32_t combine : {kLoad, uint32_t(CAMEO_SIM_EXCH), uint32_t(CAMEO_SIM_ADD)})
    for (int32_t x = 0; x < 20; ++x) {
      std::string found = Copy().run(x, 2, combine);
      EXPECT_EQ(found.empty(), x % 4 == 0) << x << "\n" << found;
      EXPECT_EQ(found.find("deadlock"), std::string::npos) << found;
      std::string text = "illegal instruction: the copy starts at coordinate " + std::to_string(x) +
                         " of dimension 0, " + std::to_string(4 * x) +
                         " B into its line, which must be a multiple of 16 B (op " +
                         (combine == kLoad ? "9" : "3");
      EXPECT_EQ(found.find(text) != std::string::npos, x % 4 != 0) << x << "\n" << found;
    }
  // The same of elements of one byte.
  EXPECT_EQ(Copy().run(16, 2, kLoad, /*type=*/0), "");
  EXPECT_NE(Copy().run(20, 2, kLoad, /*type=*/0).find("coordinate 20 of dimension 0, 20 B into"),
            std::string::npos);
}

TEST(SimTensorCopy, LoadsAloneStartBelowZero) {
  for (auto [x, y] : {std::pair(-4, 0), std::pair(0, -1), std::pair(-16, -5), std::pair(-4, 6)}) {
    Copy load;
    ASSERT_EQ(load.run(x, y, kLoad), "");
    for (uint32_t i = 0; i < kBoxWords; ++i) {
      int32_t column = x + int32_t(i % kBox), line = y + int32_t(i / kBox);
      bool inside = column >= 0 && column < int32_t(kLine) && line >= 0 && line < int32_t(kLines);
      EXPECT_EQ(load.out[i], inside ? kElement : 0) << x << " " << y << " " << i;
    }
    for (uint32_t combine : {CAMEO_SIM_EXCH, CAMEO_SIM_ADD}) {
      std::string found = Copy().run(x, y, combine);
      std::string text =
          "illegal instruction: the store or reduction starts at coordinate " +
          (x < 0 ? std::to_string(x) + " of dimension 0" : std::to_string(y) + " of dimension 1") +
          ", which must be 0 or greater (op 3";
      EXPECT_NE(found.find(text), std::string::npos) << found;
    }
  }
  // A start that no copy may have is reported as that.
  EXPECT_NE(Copy().run(-2, 0, kLoad).find("coordinate -2 of dimension 0, -8 B into its line"),
            std::string::npos);
}

TEST(SimTensorCopy, StoresWriteWholeChunks) {
  for (uint32_t combine : {uint32_t(CAMEO_SIM_EXCH), uint32_t(CAMEO_SIM_ADD)})
    for (uint32_t x : {8u, 12u, 16u}) {
      constexpr uint32_t y = 6; // two of four lines are outside
      Copy copy;
      ASSERT_EQ(copy.run(int32_t(x), y, combine), "");
      for (uint32_t i = 0; i < kLines * kStride; ++i) {
        uint32_t column = i % kStride, line = i / kStride;
        uint32_t before = column < kLine ? kElement : kPadding;
        // Words 12 to 15 are a chunk of 16 bytes, of which 12 and 13 are elements.
        bool written = line >= y && column >= x && column < x + kBox;
        uint32_t value = 10 + (line - y) * kBox + column - x;
        uint32_t wanted = !written ? before : value + (combine == CAMEO_SIM_ADD ? before : 0);
        EXPECT_EQ(copy.tensor[i], wanted) << "x " << x << " word " << i;
      }
    }
  // Loads end with the elements.
  Copy load;
  ASSERT_EQ(load.run(12, 0, kLoad), "");
  for (uint32_t i = 0; i < kBoxWords; ++i)
    EXPECT_EQ(load.out[i], i % kBox < 2 ? kElement : 0) << i;
}

TEST(SimTensorCopy, PaddingThatIsNotThereIsOutOfBounds) {
  // The buffer ends with the last element.
  constexpr uint32_t words = kLines * kStride - (kStride - kLine);
  EXPECT_EQ(Copy().run(12, 4, kLoad, 2, words), "");
  EXPECT_EQ(Copy().run(4, 4, CAMEO_SIM_EXCH, 2, words), "");
  EXPECT_NE(Copy()
                .run(12, 4, CAMEO_SIM_EXCH, 2, words)
                .find("out-of-bounds access of global memory: write of 4 B at tensor+0x1f8"),
            std::string::npos);
}

} // namespace
