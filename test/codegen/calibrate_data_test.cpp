// Samples from .npy and .npz files: which they are, in pieces, and what is
// refused.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/CalibrationData.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <numeric>
#include <zlib.h>

using namespace cameo;
using llvm::StringRef;

namespace {

std::string little(uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i)
    text += i < sizeof value ? char(value >> 8 * i) : 0;
  return text;
}

/// An array of numpy: 0, 1, 2, ... as floats, from `start` on.
std::string npy(const std::string &shape, size_t count, float start = 0,
                const std::string &descr = "<f4", const std::string &order = "False") {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }\n";
  std::string text = std::string("\x93NUMPY\x01\x00", 8) + little(header.size(), 2) + header;
  for (size_t i = 0; i < count; ++i) {
    float value = start + float(i);
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  return text;
}

std::string deflated(const std::string &bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = uInt(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

using Members = std::vector<std::pair<std::string, std::string>>;

std::string npz(const Members &members, bool packs = false, bool is64 = false) {
  std::string archive, directory;
  for (const auto &[name, bytes] : members) {
    std::string file = name + ".npy", packed = packs ? deflated(bytes) : bytes;
    uint64_t crc = crc32(0, reinterpret_cast<const Bytef *>(bytes.data()), uInt(bytes.size()));
    std::string extra = is64 ? little(1, 2) + little(24, 2) + little(bytes.size(), 8) +
                                   little(packed.size(), 8) + little(archive.size(), 8)
                             : "";
    auto narrow = [&](uint64_t value) { return little(is64 ? 0xffffffff : value, 4); };
    std::string common = little(20, 2) + little(0, 2) + little(packs ? 8 : 0, 2) + little(0, 4) +
                         little(crc, 4) + narrow(packed.size()) + narrow(bytes.size()) +
                         little(file.size(), 2);
    directory += little(0x02014b50, 4) + little(20, 2) + common + little(extra.size(), 2) +
                 little(0, 10) + narrow(archive.size()) + file + extra;
    archive += little(0x04034b50, 4) + common + little(0, 2) + file + packed;
  }
  uint64_t start = archive.size();
  archive += directory;
  if (is64) {
    uint64_t end = archive.size();
    archive += little(0x06064b50, 4) + little(44, 8) + little(45, 4) + little(0, 8) +
               little(members.size(), 8) + little(members.size(), 8) + little(directory.size(), 8) +
               little(start, 8);
    archive += little(0x07064b50, 4) + little(0, 4) + little(end, 8) + little(1, 4);
  }
  auto last = [&](uint64_t value, unsigned bytes) {
    return little(is64 ? ~uint64_t(0) : value, bytes);
  };
  return archive + little(0x06054b50, 4) + little(0, 4) + last(members.size(), 2) +
         last(members.size(), 2) + last(directory.size(), 4) + last(start, 4) + little(0, 2);
}

class CalibrateDataTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cameo-data-test", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(StringRef name) { return (folder + "/" + name).str(); }
  std::string put(StringRef name, const std::string &bytes) {
    std::error_code error;
    llvm::raw_fd_ostream(path(name), error) << bytes;
    return path(name);
  }
  /// What opening says, without the folder's name.
  std::string refusal(StringRef name, llvm::ArrayRef<TensorPort> inputs) {
    std::string text = llvm::toString(CalibrationData::open(path(name), inputs).takeError());
    size_t at = text.find(folder.str());
    return at == std::string::npos ? text : text.replace(at, folder.size() + 1, "");
  }
  llvm::SmallString<128> folder;
};

TensorPort image(int64_t batch = -1) { return {"image", CAMEO_DTYPE_F32, {batch, 2, 3}}; }

std::vector<float> floatsOf(const HostTensor &array) {
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

/// All values of an input, batch by batch.
std::vector<float> readAll(CalibrationData &data, uint64_t most, size_t input = 0,
                           std::vector<uint64_t> *batches = nullptr) {
  std::vector<float> all;
  while (true) {
    DataBatch batch = llvm::cantFail(data.next(most));
    if (batch.samples == 0)
      return all;
    if (batches)
      batches->push_back(batch.samples);
    std::vector<float> values = floatsOf(batch.inputs[input]);
    all.insert(all.end(), values.begin(), values.end());
  }
}

std::vector<float> rising(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST_F(CalibrateDataTest, BatchesOfAnArchive) {
  for (bool packs : {false, true})
    for (bool is64 : {false, true}) {
      put("a.npz", npz({{"image", npy("10, 2, 3", 60)}}, packs, is64));
      CalibrationData data = llvm::cantFail(CalibrationData::open(path("a.npz"), {image()}));
      EXPECT_EQ(data.samples(), 10u);
      std::vector<uint64_t> batches;
      EXPECT_EQ(readAll(data, 4, 0, &batches), rising(60));
      EXPECT_EQ(batches, (std::vector<uint64_t>{4, 4, 2}));
      data.rewind();
      EXPECT_EQ(readAll(data, 100), rising(60));
    }
}

TEST_F(CalibrateDataTest, FilesInTheOrderOfTheirNames) {
  put("b.npy", npy("3, 2, 3", 18, 6));
  put("a.npy", npy("2, 3", 6)); // one sample without its axis
  put("c.npy", npy("1, 2, 3", 6, 24));
  put("notes.txt", "not an array");
  CalibrationData data = llvm::cantFail(CalibrationData::open(folder, {image()}));
  EXPECT_EQ(data.samples(), 5u);
  EXPECT_EQ(data.files(), 3u);
  std::vector<uint64_t> batches;
  EXPECT_EQ(readAll(data, 4, 0, &batches), rising(30));
  EXPECT_EQ(batches, (std::vector<uint64_t>{4, 1}));
}

TEST_F(CalibrateDataTest, SamplesOfOtherShapesAreOtherRuns) {
  TensorPort tokens = {"tokens", CAMEO_DTYPE_F32, {-1, -1}};
  put("a.npy", npy("5", 5));
  put("b.npy", npy("5", 5, 5));
  put("c.npy", npy("7", 7, 10));
  CalibrationData data = llvm::cantFail(CalibrationData::open(folder, {tokens}));
  DataBatch first = llvm::cantFail(data.next(32)), second = llvm::cantFail(data.next(32));
  EXPECT_EQ(first.inputs[0].shape, (llvm::SmallVector<int64_t>{2, 5}));
  EXPECT_EQ(second.inputs[0].shape, (llvm::SmallVector<int64_t>{1, 7}));
  EXPECT_EQ(llvm::cantFail(data.next(32)).samples, 0u);
}

TEST_F(CalibrateDataTest, AsManySamplesAsTheModelTakes) {
  put("a.npz", npz({{"image", npy("6, 2, 3", 36)}}));
  CalibrationData data = llvm::cantFail(CalibrationData::open(path("a.npz"), {image(3)}));
  std::vector<uint64_t> batches;
  EXPECT_EQ(readAll(data, 32, 0, &batches), rising(36));
  EXPECT_EQ(batches, (std::vector<uint64_t>{3, 3}));
}

/// The numbers of samples that have one element each.
std::vector<float> samplesOf(const DataBatch &batch) { return floatsOf(batch.inputs[0]); }

TEST_F(CalibrateDataTest, FirstSamplesCompleteTheLastRun) {
  TensorPort four = {"x", CAMEO_DTYPE_F32, {4}};
  put("a.npz", npz({{"x", npy("6", 6)}}));
  CalibrationData data = llvm::cantFail(CalibrationData::open(path("a.npz"), {four}));
  for (int round = 0; round < 2; ++round) {
    DataBatch first = llvm::cantFail(data.next(1)), last = llvm::cantFail(data.next(1));
    EXPECT_EQ(first.repeated, 0u);
    EXPECT_EQ(samplesOf(first), (std::vector<float>{0, 1, 2, 3}));
    EXPECT_EQ(last.samples, 2u);
    EXPECT_EQ(last.repeated, 2u);
    EXPECT_EQ(samplesOf(last), (std::vector<float>{4, 5, 0, 1}));
    EXPECT_EQ(last.inputs[0].shape, (llvm::SmallVector<int64_t>{4}));
    EXPECT_EQ(llvm::cantFail(data.next(1)).samples, 0u);
    data.rewind();
  }
  data.takeFirst(5);
  (void)llvm::cantFail(data.next(1));
  EXPECT_EQ(samplesOf(llvm::cantFail(data.next(1))), (std::vector<float>{4, 0, 1, 2}));
  EXPECT_EQ(llvm::cantFail(data.next(1)).samples, 0u);

  // Fewer than one run takes.
  TensorPort eight = {"x", CAMEO_DTYPE_F32, {8}};
  put("b.npz", npz({{"x", npy("3", 3)}}));
  CalibrationData few = llvm::cantFail(CalibrationData::open(path("b.npz"), {eight}));
  EXPECT_EQ(samplesOf(llvm::cantFail(few.next(1))), (std::vector<float>{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST_F(CalibrateDataTest, SamplesOfTheSameShapeCompleteARun) {
  TensorPort tokens = {"tokens", CAMEO_DTYPE_F32, {2, -1}};
  put("a.npy", npy("3, 1", 3));
  put("b.npy", npy("1, 2", 2, 10));
  put("c.npy", npy("3, 2", 6, 12));
  put("d.npy", npy("1, 1", 1, 20));
  CalibrationData data = llvm::cantFail(CalibrationData::open(folder, {tokens}));
  EXPECT_EQ(samplesOf(llvm::cantFail(data.next(1))), (std::vector<float>{0, 1}));
  EXPECT_EQ(samplesOf(llvm::cantFail(data.next(1))), (std::vector<float>{2, 0}));
  EXPECT_EQ(samplesOf(llvm::cantFail(data.next(1))), (std::vector<float>{10, 11, 12, 13}));
  EXPECT_EQ(samplesOf(llvm::cantFail(data.next(1))), (std::vector<float>{14, 15, 16, 17}));
  EXPECT_EQ(samplesOf(llvm::cantFail(data.next(1))), (std::vector<float>{20, 20}));
  EXPECT_EQ(llvm::cantFail(data.next(1)).samples, 0u);
}

TEST_F(CalibrateDataTest, RowsOfRepeatedSamplesAreLeftOut) {
  DataBatch batch;
  batch.samples = 1;
  batch.repeated = 3;
  std::vector<char> bytes(96);
  auto rows = [&](llvm::ArrayRef<int64_t> shape) {
    SampleRows found = rowsOfSamples(batch, shape, bytes);
    return std::pair(found.shape, found.bytes.size());
  };
  using Shape = llvm::SmallVector<int64_t>;
  EXPECT_EQ(rows({4, 24}), std::pair(Shape{1, 24}, size_t(24)));
  EXPECT_EQ(rows({8, 12}), std::pair(Shape{2, 12}, size_t(24))); // two rows a sample
  EXPECT_EQ(rows({6, 16}), std::pair(Shape{6, 16}, size_t(96)));
  EXPECT_EQ(rows({}), std::pair(Shape{}, size_t(96)));
  batch.samples = 4;
  batch.repeated = 0;
  EXPECT_EQ(rows({4, 24}), std::pair(Shape{4, 24}, size_t(96)));
}

TEST_F(CalibrateDataTest, AnAxisInFrontOfTheInputs) {
  put("a.npz", npz({{"image", npy("3, 4, 2, 3", 72)}, {"gain", npy("3", 3)}}));
  std::vector<TensorPort> inputs = {image(4), {"gain", CAMEO_DTYPE_F32, {}}};
  CalibrationData data = llvm::cantFail(CalibrationData::open(path("a.npz"), inputs));
  DataBatch batch = llvm::cantFail(data.next(32));
  EXPECT_EQ(batch.samples, 1u);
  EXPECT_EQ(batch.inputs[0].shape, (llvm::SmallVector<int64_t>{4, 2, 3}));
  EXPECT_TRUE(batch.inputs[1].shape.empty());
  data.rewind();
  EXPECT_EQ(readAll(data, 1, 1), rising(3));
}

TEST_F(CalibrateDataTest, AnArrayMayHaveNoElements) {
  for (bool packs : {false, true}) {
    put("a.npz", npz({{"image", npy("1, 2, 3", 6)}, {"past", npy("1, 0, 16", 0)}}, packs));
    std::vector<TensorPort> inputs = {image(), {"past", CAMEO_DTYPE_F32, {-1, -1, 16}}};
    CalibrationData data = llvm::cantFail(CalibrationData::open(path("a.npz"), inputs));
    DataBatch batch = llvm::cantFail(data.next(8));
    EXPECT_EQ(batch.samples, 1u);
    EXPECT_EQ(batch.inputs[1].shape, (llvm::SmallVector<int64_t>{1, 0, 16}));
    EXPECT_TRUE(batch.inputs[1].bytes.empty());
  }
}

TEST_F(CalibrateDataTest, NamesOfArrays) {
  put("only.npz", npz({{"x", npy("1, 2, 3", 6)}}));
  EXPECT_EQ(llvm::cantFail(CalibrationData::open(path("only.npz"), {image()})).samples(), 1u);
  std::vector<TensorPort> two = {image(), {"gain", CAMEO_DTYPE_F32, {-1}}};
  put("numbered.npz", npz({{"arr_1", npy("2", 2)}, {"arr_0", npy("2, 2, 3", 12)}}));
  EXPECT_EQ(llvm::cantFail(CalibrationData::open(path("numbered.npz"), two)).samples(), 2u);
  put("other.npz", npz({{"x", npy("1, 2, 3", 6)}, {"gain", npy("1", 1)}}));
  EXPECT_EQ(refusal("other.npz", two), "samples 'other.npz': no array for the input 'image'; it "
                                       "has 'x', 'gain'");
  put("one.npy", npy("1, 2, 3", 6));
  EXPECT_EQ(refusal("one.npy", two), "samples 'one.npy': the model has 2 inputs, so it "
                                     "takes .npz files with an array each");
  put("uneven.npz", npz({{"image", npy("2, 2, 3", 12)}, {"gain", npy("3", 3)}}));
  EXPECT_EQ(refusal("uneven.npz", two),
            "samples 'uneven.npz': 'gain' has 3 samples, 'image' has 2");
}

TEST_F(CalibrateDataTest, WhatDoesNotFitIsRefused) {
  put("shape.npy", npy("5, 4, 3", 60));
  EXPECT_EQ(refusal("shape.npy", {image()}),
            "samples 'shape.npy': input 'image': the array is float32 "
            "of 5x4x3; the model "
            "takes float32 of ?x2x3, where the first axis runs over samples");
  TensorPort number = {"n", CAMEO_DTYPE_F32, {}};
  put("number.npy", npy("", 1));
  EXPECT_EQ(refusal("number.npy", {number}),
            "samples 'number.npy': input 'n': the array is float32 of scalar; the model takes "
            "float32 of scalar, "
            "of which the array has one a sample, along its one axis");
  put("type.npy", npy("1, 2, 3", 12, 0, "<f8"));
  EXPECT_EQ(refusal("type.npy", {image()}),
            "samples 'type.npy': input 'image': the array is float64 "
            "of 1x2x3; the model "
            "takes float32 of ?x2x3");
  put("none.npy", npy("0, 2, 3", 0));
  EXPECT_EQ(refusal("none.npy", {image()}), "samples 'none.npy': there are no samples");
  put("order.npy", npy("1, 2, 3", 6, 0, "<f4", "True"));
  EXPECT_EQ(refusal("order.npy", {image()}), "samples 'order.npy': in column-major order; "
                                             "numpy.ascontiguousarray makes it "
                                             "row-major");
  put("end.npy", npy("1, 2, 3", 5));
  EXPECT_EQ(refusal("end.npy", {image()}), "samples 'end.npy': float32 of 1x2x3 takes 24 "
                                           "bytes, but it has 20");
  put("big.npy", npy("1, 2, 3", 6, 0, ">f4"));
  EXPECT_EQ(refusal("big.npy", {image()}),
            "samples 'big.npy': element type '>f4' is not supported");
  EXPECT_EQ(refusal("absent.npz", {image()}), "samples 'absent.npz': No such file or directory");
  put("text.npz", "no archive");
  EXPECT_EQ(refusal("text.npz", {image()}), "samples 'text.npz': not a zip archive");
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("empty")));
  EXPECT_EQ(refusal("empty", {image()}),
            "samples 'empty': the folder has no .npz and no .npy files");
  put("empty/a.npy", npy("1, 2, 3", 6));
  put("empty/a.npz", npz({{"image", npy("1, 2, 3", 6)}}));
  EXPECT_EQ(refusal("empty", {image()}), "samples 'empty': the folder has 1 .npz and 1 "
                                         ".npy files; it must be either");
}

TEST_F(CalibrateDataTest, DamageIsFound) {
  for (bool packs : {false, true}) {
    std::string bytes = npz({{"image", npy("100, 2, 3", 600)}}, packs);
    bytes[packs ? 300 : 1000] ^= 1;
    put("a.npz", bytes);
    CalibrationData data = llvm::cantFail(CalibrationData::open(path("a.npz"), {image()}));
    llvm::Expected<DataBatch> batch = data.next(100);
    ASSERT_FALSE(batch);
    std::string text = llvm::toString(batch.takeError());
    EXPECT_TRUE(StringRef(text).contains("'image': the checksum does not match") ||
                StringRef(text).contains("'image': damaged deflate data"))
        << text;
  }
  // Every truncation says something.
  std::string whole = npz({{"image", npy("4, 2, 3", 24)}}, true);
  for (size_t size = 0; size < whole.size(); ++size) {
    put("b.npz", whole.substr(0, size));
    EXPECT_FALSE(refusal("b.npz", {image()}).empty());
  }
}

TEST_F(CalibrateDataTest, HashesOfContents) {
  put("a.npz", npz({{"image", npy("1, 2, 3", 6)}}));
  put("b.npz", npz({{"image", npy("1, 2, 3", 6)}}));
  put("c.npz", npz({{"image", npy("1, 2, 3", 6, 1)}}));
  auto hash = [&](StringRef name) {
    return llvm::cantFail(llvm::cantFail(CalibrationData::open(path(name), {image()})).hash());
  };
  EXPECT_EQ(hash("a.npz"), hash("b.npz"));
  EXPECT_NE(hash("a.npz"), hash("c.npz"));
}

} // namespace
