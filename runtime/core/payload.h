// The payload as it lies in a file or in memory: found, checked, taken apart. Nothing here knows of
// devices.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_PAYLOAD_H
#define CAMEO_RUNTIME_CORE_PAYLOAD_H

#include "runtime/core/status.h"
#include "runtime/format.h"

#include <memory>
#include <string_view>
#include <vector>

namespace cameo::runtime {

// The oldest payload version that can be read; the newest is CAMEO_PAYLOAD_VERSION.
constexpr uint32_t kOldestPayloadVersion = 2;

struct Section {
  CameoSectionKind kind;
  uint32_t variant;
  uint32_t arch;
  uint32_t flags;
  const uint8_t *data;
  uint64_t size;

  // Whether both hold kernels of one program: code may be in several pieces.
  bool isCodeOf(const Section &other) const {
    return kind == other.kind && variant == other.variant && arch == other.arch &&
           flags == other.flags;
  }
};

// The file of the running executable.
struct OwnFile {
  const char *path; // /proc/self/exe, or, without /proc, the path that the program was started by
  const char *name; // the path that the program was started by
};
OwnFile ownFile();

class Payload {
public:
  // Maps the file. Every byte of it but the weights is verified before this returns. Messages call
  // it `name`, or by its path.
  static Status open(const char *path, std::unique_ptr<Payload> &payload,
                     const char *name = nullptr);
  // `data` are a whole file's bytes, 64-byte aligned, and stay valid.
  static Status fromMemory(const void *data, uint64_t size, std::unique_ptr<Payload> &payload);
  // Of sections of another payload, which lives longer.
  static std::unique_ptr<Payload> ofSections(std::vector<Section> sections);
  // Whether the file ends in a payload's trailer; false where it cannot be read.
  static bool isPresent(const char *path);

  ~Payload();
  Payload(const Payload &) = delete;
  Payload &operator=(const Payload &) = delete;

  const std::vector<Section> &sections() const { return list; }
  uint32_t version() const { return fileVersion; }
  uint32_t variantCount() const { return variants; }
  // Whether it is a tuning bundle, and no model.
  bool isBundle() const { return bundle; }
  uint64_t size() const { return payloadSize; }
  // The file as messages call it.
  const std::string &name() const { return fileName; }
  std::string_view manifest() const { return manifestText; }
  const uint8_t *weights() const { return weightData; }
  uint64_t weightBytes() const { return weightSize; }

  // Checks chunk `index` (of CAMEO_WEIGHT_CHUNK bytes, the last one shorter) against `copy`, so
  // that what was checked is what is used.
  Status verifyWeightChunk(uint64_t index, const void *copy, uint64_t bytes) const;

private:
  Payload() = default;
  Status parse(const uint8_t *file, uint64_t size);
  Status parseHeader(const uint8_t *file, const CameoTrailer &trailer, CameoPayloadHeader &header);
  Status readSections(const uint8_t *payload, const CameoPayloadHeader &header);
  Status readSection(const uint8_t *payload, uint32_t index, const CameoSection &section);
  Status checkPadding(const uint8_t *payload, uint64_t tableEnd) const;
  Status checkWeights() const;
  // A failure whose message begins with the file's name.
  Status named(const Status &status) const;

  std::string fileName = "a model in memory";
  void *mapping = nullptr;
  uint64_t mappedBytes = 0;

  std::vector<Section> list;
  uint32_t fileVersion = CAMEO_PAYLOAD_VERSION;
  uint32_t variants = 0;
  bool bundle = false;
  uint64_t payloadSize = 0;
  std::string_view manifestText;
  const uint8_t *weightData = nullptr;
  uint64_t weightSize = 0;
  const uint64_t *weightHashes = nullptr;
  uint64_t weightHashCount = 0;
};

} // namespace cameo::runtime

#endif
