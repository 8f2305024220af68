// The payload's reader: what is whole loads, what is damaged in any byte does not.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/model.h"
#include "test_model.h"

#include <gtest/gtest.h>

using namespace cameo::runtime;
using namespace payload_test;

namespace {

Code load(const PayloadFile &file, std::string *message = nullptr) {
  std::unique_ptr<Payload> payload;
  Status status = Payload::fromMemory(file.data(), file.size(), payload);
  if (message)
    *message = status.message();
  return status.code();
}

// Loads it as a program does, weights included.
Code loadWholly(const PayloadFile &file, std::shared_ptr<Device> device) {
  std::unique_ptr<Payload> payload;
  Status status = Payload::fromMemory(file.data(), file.size(), payload);
  std::shared_ptr<Model> model;
  if (status.ok())
    status = Model::create(std::move(payload), std::move(device), 0, false, model);
  return status.code();
}

std::shared_ptr<Device> simulator() {
  std::unique_ptr<Device> device;
  SimOptions options;
  options.threads = 1;
  EXPECT_TRUE(createSimDevice(options, device).ok());
  return device;
}

CameoTrailer *trailerOf(const PayloadFile &file) {
  return reinterpret_cast<CameoTrailer *>(file.data() + file.size() - sizeof(CameoTrailer));
}

// Changes the header or section table and makes their hash right again.
void rehash(const PayloadFile &file) {
  auto *header = reinterpret_cast<CameoPayloadHeader *>(file.data());
  trailerOf(file)->header_hash =
      hash(file.data(), sizeof *header + header->section_count * sizeof(CameoSection));
}

CameoSection *sectionsOf(const PayloadFile &file) {
  return reinterpret_cast<CameoSection *>(file.data() + sizeof(CameoPayloadHeader));
}

} // namespace

TEST(Payload, Loads) {
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  std::unique_ptr<Payload> payload;
  ASSERT_TRUE(Payload::fromMemory(file.data(), file.size(), payload).ok());
  EXPECT_EQ(payload->sections().size(), 6u);
  EXPECT_EQ(payload->weightBytes(), 32u);
  EXPECT_EQ(payload->manifest().substr(0, 12), "{\"compiler\":");
}

TEST(Payload, EveryByteCounts) {
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  std::shared_ptr<Device> device = simulator();
  ASSERT_EQ(loadWholly(file, device), Code::Ok);
  for (size_t i = 0; i < file.size(); ++i)
    for (char flip : {char(1), char(0x80)}) {
      file.data()[i] ^= flip;
      Code code = loadWholly(file, device);
      // Only the version's bytes make it another version.
      EXPECT_TRUE(code == Code::Corrupt || (code == Code::Incompatible && i >= 8 && i < 12))
          << "byte " << i << " of " << file.size() << ": code " << int(code);
      file.data()[i] ^= flip;
    }
}

TEST(Payload, EveryByteOfTheStubCounts) {
  Bytes stub;
  for (int i = 0; i < 5000; ++i)
    stub.push_back(char(i * i));
  // Its padding to the payload too.
  PayloadFile file(appended(stub, testModel(SIM_TEST_IMAGE)));
  ASSERT_EQ(load(file), Code::Ok);
  for (size_t i = 0; i < 2 * CAMEO_PAGE; ++i) {
    file.data()[i] ^= char(1 << i % 8);
    EXPECT_EQ(load(file), Code::Corrupt) << "byte " << i;
    file.data()[i] ^= char(1 << i % 8);
  }
}

TEST(Payload, InsertedAndAppendedBytes) {
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  Bytes whole(file.data(), file.data() + file.size());
  std::string message;
  Bytes twice = whole;
  twice.insert(twice.end(), whole.begin(), whole.end());
  EXPECT_EQ(load(PayloadFile(twice), &message), Code::Corrupt);
  size_t bytes = whole.size() - sizeof(CameoTrailer);
  EXPECT_EQ(message, "damaged model file: it has " + std::to_string(twice.size()) +
                         " bytes; when it was written it had " + std::to_string(whole.size()) +
                         " (0 in front of the payload, " + std::to_string(bytes) +
                         " of payload, 32 behind it); was something cut off, inserted or "
                         "appended?");
}

TEST(Payload, EveryTruncation) {
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  for (size_t size = 0; size < file.size(); size += size < 256 ? 1 : 97) {
    Bytes cut(file.data(), file.data() + size);
    // A file that does not even begin as a model may be anything.
    EXPECT_EQ(load(PayloadFile(cut)), size < 8 ? Code::NotAModel : Code::Corrupt) << size;
  }
}

TEST(Payload, OtherVersionIsNamed) {
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  reinterpret_cast<CameoPayloadHeader *>(file.data())->version = 7;
  rehash(file);
  std::string message;
  EXPECT_EQ(load(file, &message), Code::Incompatible);
  EXPECT_EQ(message, "the model file has payload version 7; this runtime reads 2 to 5");
  // The former versions have nothing that this one reads otherwise.
  for (uint32_t version : {2, 3, 4}) {
    reinterpret_cast<CameoPayloadHeader *>(file.data())->version = version;
    rehash(file);
    EXPECT_EQ(load(file, &message), Code::Ok) << version;
  }
}

TEST(Payload, UnknownFlagsOfSections) {
  for (uint32_t version : {4u, CAMEO_PAYLOAD_VERSION}) {
    PayloadBuilder builder;
    builder.section(CAMEO_SECTION_PLAN, testPlan(), 0, 0, 1);
    std::string message;
    EXPECT_EQ(load(builder.finish(version), &message), Code::Incompatible);
    EXPECT_EQ(message, "section 1 (plan) has unknown flags 0x1");
    PayloadBuilder image;
    image.section(CAMEO_SECTION_SIM_IMAGE, readBytes(SIM_TEST_IMAGE), 0, 80, 6);
    EXPECT_EQ(load(image.finish(version), &message), Code::Incompatible);
    EXPECT_EQ(message, "section 1 (simulator image) has unknown flags 0x6");
  }
}

TEST(Payload, HostileTables) {
  auto damaged = [](auto change) {
    PayloadFile file = testModel(SIM_TEST_IMAGE);
    change(file);
    rehash(file);
    return load(file);
  };
  using File = const PayloadFile &;
  EXPECT_EQ(damaged([](File f) { sectionsOf(f)[1].offset = ~0ull - 63; }), Code::Corrupt);
  EXPECT_EQ(damaged([](File f) { sectionsOf(f)[1].size = ~0ull; }), Code::Corrupt);
  EXPECT_EQ(damaged([](File f) { sectionsOf(f)[1].offset += 8; }), Code::Corrupt);
  EXPECT_EQ(damaged([](File f) { sectionsOf(f)[1].variant = 1; }), Code::Corrupt);
  EXPECT_EQ(damaged([](File f) { sectionsOf(f)[1].kind = 99; }), Code::Incompatible);
  EXPECT_EQ(damaged([](File f) { sectionsOf(f)[0].kind = CAMEO_SECTION_CUBIN; }), Code::Corrupt);
  // Two sections in one place.
  EXPECT_EQ(damaged([](File f) { sectionsOf(f)[2] = sectionsOf(f)[1]; }), Code::Corrupt);
}

TEST(Payload, ManySectionsDoNotWrap) {
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  reinterpret_cast<CameoPayloadHeader *>(file.data())->section_count = 0xffffffff;
  EXPECT_EQ(load(file), Code::Corrupt);
}

TEST(Payload, MisalignedMemory) {
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  std::unique_ptr<Payload> payload;
  EXPECT_EQ(Payload::fromMemory(file.data() + 8, file.size() - 8, payload).code(),
            Code::InvalidArgument);
}

TEST(Payload, Files) {
  std::string folder = testing::TempDir();
  std::unique_ptr<Payload> payload;
  EXPECT_EQ(Payload::open((folder + "none").c_str(), payload).code(), Code::NotFound);
  EXPECT_EQ(Payload::open(folder.c_str(), payload).code(), Code::Io);
  writeBytes(folder + "empty", "", 0);
  EXPECT_EQ(Payload::open((folder + "empty").c_str(), payload).code(), Code::NotAModel);
  PayloadFile file = testModel(SIM_TEST_IMAGE);
  Bytes whole = appended(Bytes(5000, 'x'), file);
  writeBytes(folder + "whole", whole.data(), whole.size());
  Status status = Payload::open((folder + "whole").c_str(), payload);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(Payload::isPresent((folder + "whole").c_str()));
  EXPECT_FALSE(Payload::isPresent((folder + "empty").c_str()));
}
