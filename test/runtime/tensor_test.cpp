// Tensor files and literals of the command line.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/tensor.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace cameo::cli;
using cameo::runtime::dtypeBits;
using cameo::runtime::dtypeName;
using cameo::runtime::isComplex;
using cameo::runtime::isFloat;
using cameo::runtime::readFloat;
using cameo::runtime::readInteger;
using cameo::runtime::writeFloat;

namespace {

using Bytes = std::vector<uint8_t>;

HostTensor literal(const std::string &text) {
  HostTensor tensor;
  Status status = parseLiteral(text, tensor);
  EXPECT_TRUE(status.ok()) << text << ": " << status.message();
  return tensor;
}

std::string literalError(const std::string &text) {
  HostTensor tensor;
  return parseLiteral(text, tensor).message();
}

Bytes npyFile(const std::string &header, const Bytes &data) {
  Bytes bytes = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, uint8_t(header.size()), uint8_t(header.size() >> 8)};
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::string npyError(const std::string &header, size_t bytes) {
  HostTensor tensor;
  Bytes file = npyFile(header, Bytes(bytes));
  return parseNpy(file.data(), file.size(), tensor).message();
}

uint32_t code(uint32_t dtype, double value) {
  uint32_t bits = 0;
  writeFloat(&bits, dtype, 0, value);
  return bits;
}

} // namespace

TEST(Tensor, Literals) {
  HostTensor t = literal("2x2xf32=1 2 3 4");
  EXPECT_EQ(t.shape, (Shape{2, 2}));
  EXPECT_EQ(readFloat(t.data.data(), CAMEO_FLOAT, 3), 4);
  EXPECT_EQ(formatTensor(t, 100), "2x2xf32=[1 2][3 4]");
  EXPECT_EQ(formatTensor(literal("2x1x2xi8=[[1,2]],[[3,-4]]"), 100), "2x1x2xi8=[[1 2]][[3 -4]]");
  EXPECT_EQ(formatTensor(literal("i64=-9223372036854775808"), 9), "i64=-9223372036854775808");
  EXPECT_EQ(formatTensor(literal("u64=18446744073709551615"), 9), "u64=18446744073709551615");
  EXPECT_EQ(formatTensor(literal("3xi32=7"), 9), "3xi32=7 7 7");
  EXPECT_EQ(formatTensor(literal("2xbool=true 0"), 9), "2xbool=1 0");
  EXPECT_EQ(formatTensor(literal("3xi4=-8 7 -1"), 9), "3xi4=-8 7 -1");
  EXPECT_EQ(formatTensor(literal("2xf16=nan -inf"), 9), "2xf16=nan -inf");
  EXPECT_EQ(formatTensor(literal("2xcomplex64=1 2 3 -4"), 9), "2xc64=1+2i 3-4i");
  EXPECT_EQ(formatTensor(literal("4xf32=1 2 3 4"), 2), "4xf32=1 2 ...");
  EXPECT_EQ(literal("2xf32").data, Bytes(8));
  EXPECT_EQ(literal("0xf32=").data, Bytes());
}

TEST(Tensor, BadLiterals) {
  EXPECT_EQ(literalError("2xf32=1 2 3"), "more than 2 values for 2xf32");
  EXPECT_EQ(literalError("3xf32=1 2"), "2 values for 3xf32 of 3");
  EXPECT_EQ(literalError("2xi8=1 200"), "200 is out of the range of i8");
  EXPECT_EQ(literalError("2xi8=1 x"), "'x' is not a value of type i8");
  EXPECT_EQ(literalError("2xi8=1 1.5"), "'1.5' is not a value of type i8");
  EXPECT_EQ(literalError("2xq8=1"), "'2xq8' is not a type such as 2x3xf32");
  EXPECT_NE(literalError("4294967296x4294967296xf32=1"), "");
  EXPECT_NE(literalError("99999999999xf32=1"), "");
  EXPECT_FALSE(looksLikeLiteral("image"));
}

TEST(Tensor, SmallFloatsRoundTrip) {
  for (uint32_t dtype :
       {CAMEO_FLOAT16, CAMEO_BFLOAT16, CAMEO_FLOAT8E4M3FN, CAMEO_FLOAT8E4M3FNUZ, CAMEO_FLOAT8E5M2,
        CAMEO_FLOAT8E5M2FNUZ, CAMEO_FLOAT4E2M1, CAMEO_FLOAT8E8M0})
    for (uint32_t bits = 0; bits < 1u << dtypeBits(dtype); ++bits) {
      double value = readFloat(&bits, dtype, 0);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan([&] {
          uint32_t again = code(dtype, value);
          return readFloat(&again, dtype, 0);
        }()))
            << dtypeName(dtype) << " " << bits;
      else
        EXPECT_EQ(code(dtype, value), bits) << dtypeName(dtype) << " " << value;
    }
}

TEST(Tensor, SmallFloatsRoundToEven) {
  EXPECT_EQ(code(CAMEO_FLOAT16, 65519), 0x7bffu);
  EXPECT_EQ(code(CAMEO_FLOAT16, 65520), 0x7c00u);
  EXPECT_EQ(code(CAMEO_FLOAT16, 1 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(code(CAMEO_FLOAT16, 1 + 3 * 0x1p-11), 0x3c02u);
  EXPECT_EQ(code(CAMEO_FLOAT16, 0x1p-25), 0u);
  EXPECT_EQ(code(CAMEO_FLOAT16, 0x1.8p-25), 1u);
  EXPECT_EQ(code(CAMEO_BFLOAT16, 1 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(code(CAMEO_FLOAT8E4M3FN, 1e9), 0x7eu);
  EXPECT_EQ(code(CAMEO_FLOAT8E4M3FNUZ, -0.0), 0u);
  EXPECT_EQ(code(CAMEO_FLOAT8E5M2, 1e9), 0x7cu);
  EXPECT_EQ(code(CAMEO_FLOAT4E2M1, 100), 7u);
}

// Every type written in each format is read back bit for bit.
TEST(Tensor, FilesRoundTrip) {
  std::mt19937 random(3);
  for (uint32_t dtype = 1; dtype <= CAMEO_INT2; ++dtype) {
    if (!dtypeBits(dtype))
      continue;
    for (const Shape &shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, Shape{1, 2, 3, 4}}) {
      HostTensor tensor;
      tensor.name = "t";
      tensor.dtype = dtype;
      tensor.shape = shape;
      uint64_t bytes = 0, count = 0;
      ASSERT_TRUE(cameo::runtime::tensorBytes(shape, dtype, bytes).ok());
      ASSERT_TRUE(cameo::runtime::elementCount(shape, count).ok());
      tensor.data.assign(bytes, 0);
      for (uint8_t &byte : tensor.data)
        byte = dtype == CAMEO_BOOL ? random() & 1 : uint8_t(random());
      if (uint32_t used = count * dtypeBits(dtype) % 8) // padding is zero
        tensor.data.back() &= uint8_t((1u << used) - 1);
      std::string what = cameo::runtime::formatType(shape, dtype);

      Bytes file;
      HostTensor read;
      ASSERT_TRUE(formatNpy(tensor, file).ok());
      ASSERT_TRUE(parseNpy(file.data(), file.size(), read).ok()) << what;
      ASSERT_TRUE(adaptType(read, dtype).ok()) << what;
      EXPECT_EQ(read.shape, shape);
      // One byte per element leaves no way to tell how many there were beyond the shape.
      EXPECT_EQ(read.data, tensor.data) << what;

      file.clear();
      read = {};
      formatTensorProto(tensor, file);
      ASSERT_TRUE(parseTensorProto(file.data(), file.size(), read).ok()) << what;
      EXPECT_EQ(read.dtype, dtype);
      EXPECT_EQ(read.name, "t");
      EXPECT_EQ(read.data, tensor.data) << what;

      file.clear();
      std::vector<HostTensor> members;
      HostTensor second = tensor;
      second.name = "u";
      ASSERT_TRUE(formatNpz({tensor, second}, file).ok());
      ASSERT_TRUE(parseNpz(file.data(), file.size(), {}, members).ok()) << what;
      ASSERT_EQ(members.size(), 2u);
      EXPECT_EQ(members[1].name, "u");
      ASSERT_TRUE(adaptType(members[1], dtype).ok());
      EXPECT_EQ(members[1].data, tensor.data) << what;
    }
  }
}

TEST(Tensor, NpyHeaders) {
  HostTensor tensor;
  Bytes file = npyFile("{'shape': (2, 1,), 'fortran_order': False, 'descr': '<i2'}\n", Bytes(4));
  ASSERT_TRUE(parseNpy(file.data(), file.size(), tensor).ok());
  EXPECT_EQ(tensor.shape, (Shape{2, 1}));
  // As ml_dtypes' float8_e5m2 is written: bits, which the model's type says the meaning of.
  Bytes narrow = npyFile("{'descr': '<f1', 'fortran_order': False, 'shape': (2,), }\n", {60, 188});
  ASSERT_TRUE(parseNpy(narrow.data(), narrow.size(), tensor).ok());
  ASSERT_TRUE(adaptType(tensor, CAMEO_FLOAT8E5M2).ok());
  EXPECT_EQ(formatTensor(tensor, 9), "2xf8e5m2=1 -1");
  EXPECT_EQ(npyError("{'descr': '>q4', 'fortran_order': False, 'shape': (2,), }", 8),
            "npy: element type '>q4' is not supported");
  EXPECT_EQ(npyError("{'descr': '<U4', 'fortran_order': False, 'shape': (2,), }", 8),
            "npy: element type '<U4' is not supported");
  EXPECT_EQ(npyError("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7),
            "npy: 2xf32 needs 8 bytes, the file has 7");
  EXPECT_NE(npyError("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8), "");
  EXPECT_NE(npyError("{'descr': '<f4', 'fortran_order': False, 'shape': (2", 8), "");
  EXPECT_NE(npyError("{'descr': ", 8), "");
  EXPECT_NE(npyError("{'descr': '<f4', 'shape': (4611686018427387904, 4), }", 8), "");
}

// The first index runs fastest, and the last byte comes first.
TEST(Tensor, NpyOrders) {
  HostTensor tensor;
  Bytes columns = npyFile("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n",
                          {1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0});
  ASSERT_TRUE(parseNpy(columns.data(), columns.size(), tensor).ok());
  EXPECT_EQ(formatTensor(tensor, 9), "2x3xi16=[1 2 3][4 5 6]");
  Bytes both = npyFile("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 1, 2), }\n",
                       {0, 1, 0, 3, 0, 2, 0, 4});
  ASSERT_TRUE(parseNpy(both.data(), both.size(), tensor).ok());
  EXPECT_EQ(formatTensor(tensor, 9), "2x1x2xi16=[[1 2]][[3 4]]");
  Bytes complex = npyFile("{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }\n",
                          {0x3f, 0x80, 0, 0, 0x40, 0, 0, 0});
  ASSERT_TRUE(parseNpy(complex.data(), complex.size(), tensor).ok());
  EXPECT_EQ(formatTensor(tensor, 9), "1xc64=1+2i");
  Bytes empty = npyFile("{'descr': '>f8', 'fortran_order': True, 'shape': (2, 0, 3), }\n", {});
  ASSERT_TRUE(parseNpy(empty.data(), empty.size(), tensor).ok());
  EXPECT_EQ(tensor.shape, (Shape{2, 0, 3}));
}

// By name, by numpy's numbers, and only where that is clear.
TEST(Tensor, NpzMembers) {
  auto member = [](const char *name, const char *value) {
    HostTensor tensor = literal(value);
    tensor.name = name;
    return tensor;
  };
  auto names = [](const std::vector<HostTensor> &archive, const Members &wanted) {
    Bytes file;
    std::vector<HostTensor> found;
    EXPECT_TRUE(formatNpz(archive, file).ok());
    Status status = parseNpz(file.data(), file.size(), wanted, found);
    std::string text = status.message();
    for (const HostTensor &tensor : found)
      text += tensor.name + " ";
    return text;
  };
  std::vector<HostTensor> pair = {member("label", "i64=1"), member("x", "f32=2")};
  std::vector<HostTensor> nameless = {member("arr_1", "i64=1"), member("arr_0", "f32=2")};
  EXPECT_EQ(names(pair, {nullptr, {"x", "y"}}), "x ");
  EXPECT_EQ(names(pair, {nullptr, {"y", "z"}}), "npz: it has 'label', 'x', but not 'y', 'z'");
  EXPECT_EQ(names({pair[0]}, {nullptr, {"x"}}), "npz: it has 'label', but not 'x'");
  EXPECT_EQ(names(nameless, {nullptr, {"x", "y"}}), "arr_0 arr_1 ");
  EXPECT_EQ(names(nameless, {nullptr, {"x"}}),
            "npz: 2 arrays without names; at most 1 are expected");
  EXPECT_EQ(names({pair[0]}, {"x", {}}), "label ");
  EXPECT_EQ(names(pair, {"x", {}}), "x ");
  EXPECT_EQ(names(pair, {"y", {}}), "npz: it has 'label', 'x', but not 'y'");
  EXPECT_EQ(names({}, {nullptr, {"x"}}), "npz: it has no arrays, not even 'x'");
}

TEST(Tensor, ProtoTypedFields) {
  HostTensor tensor;
  // float_data, packed: dims 2, data_type 1.
  Bytes floats = {0x08, 2, 0x10, 1, 0x22, 8, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40};
  ASSERT_TRUE(parseTensorProto(floats.data(), floats.size(), tensor).ok());
  EXPECT_EQ(formatTensor(tensor, 9), "2xf32=1 2");
  // int32_data, not packed, of float16 bits.
  Bytes halves = {0x08, 1, 0x10, 10, 0x28, 0x80, 0x78};
  ASSERT_TRUE(parseTensorProto(halves.data(), halves.size(), tensor).ok());
  EXPECT_EQ(formatTensor(tensor, 9), "1xf16=1");
  // int32_data of -1 in ten bytes, as int8.
  Bytes negative = {0x08, 1,    0x10, 3,    0x2a, 10,   0xff, 0xff,
                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
  ASSERT_TRUE(parseTensorProto(negative.data(), negative.size(), tensor).ok());
  EXPECT_EQ(formatTensor(tensor, 9), "1xi8=-1");
  // A scalar double.
  Bytes number = {0x10, 11, 0x52, 8, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
  ASSERT_TRUE(parseTensorProto(number.data(), number.size(), tensor).ok());
  EXPECT_EQ(formatTensor(tensor, 9), "f64=1");
  // Too few values; strings; segments.
  Bytes few = {0x08, 5, 0x10, 7, 0x3a, 1, 9};
  EXPECT_FALSE(parseTensorProto(few.data(), few.size(), tensor).ok());
  Bytes text = {0x08, 1, 0x10, 8, 0x32, 1, 'a'};
  EXPECT_EQ(parseTensorProto(text.data(), text.size(), tensor).message(),
            "pb: string tensors are not supported");
}

// Damaged files give errors, not crashes; run under sanitizers by the asan preset.
TEST(Tensor, DamagedFiles) {
  HostTensor tensor = literal("3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12");
  tensor.name = "name";
  Bytes npy, npz, proto;
  ASSERT_TRUE(formatNpy(tensor, npy).ok());
  ASSERT_TRUE(formatNpz({tensor, tensor}, npz).ok());
  formatTensorProto(tensor, proto);
  std::mt19937 random(5);
  for (int round = 0; round < 30000; ++round) {
    for (Bytes bytes : {npy, npz, proto}) {
      for (int i = int(random() % 4); i >= 0; --i)
        bytes[random() % bytes.size()] = uint8_t(random());
      if (random() % 4 == 0)
        bytes.resize(random() % bytes.size());
      HostTensor read;
      std::vector<HostTensor> members;
      (void)parseNpy(bytes.data(), bytes.size(), read);
      (void)parseNpz(bytes.data(), bytes.size(), {}, members);
      (void)parseTensorProto(bytes.data(), bytes.size(), read);
    }
  }
}

TEST(Tensor, StandInTypes) {
  HostTensor bits = literal("2xu16=16256 0");
  ASSERT_TRUE(adaptType(bits, CAMEO_BFLOAT16).ok());
  EXPECT_EQ(formatTensor(bits, 9), "2xbf16=1 0");
  HostTensor nibbles = literal("3xi8=1 -1 7");
  ASSERT_TRUE(adaptType(nibbles, CAMEO_INT4).ok());
  EXPECT_EQ(formatTensor(nibbles, 9), "3xi4=1 -1 7");
  HostTensor wide = literal("1xf64=1");
  EXPECT_EQ(adaptType(wide, CAMEO_FLOAT).message(), "element type f64 given; f32 expected");
}
