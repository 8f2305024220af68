// Finds the payload by the file's trailer and verifies it: every offset before it is followed, the
// stub and every section against their hashes, padding against zero, so that no single changed byte
// goes unnoticed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/payload.h"

#include "runtime/core/hash.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cameo::runtime {
namespace {

constexpr uint64_t kSectionAlignment = 64;
// Far above what any model has; bounds the table's size.
constexpr uint32_t kMaxSections = 1u << 20;

Status corrupt(const char *what, uint64_t value, uint64_t limit) {
  return failure(Code::Corrupt, "damaged model file: %s is %llu; at most %llu", what,
                 (unsigned long long)value, (unsigned long long)limit);
}

const char *sectionName(uint32_t kind) {
  static const char *const names[] = {"?",     "manifest",        "plan",    "ptx",
                                      "cubin", "simulator image", "weights", "weight hashes"};
  return kind < sizeof names / sizeof *names ? names[kind] : "?";
}

// True where a payload begins anywhere that one might: behind a stub, which is small, on a page.
bool hasPayload(const uint8_t *file, uint64_t size) {
  constexpr uint64_t kMostBefore = 64 << 20;
  constexpr size_t kMagicBytes = sizeof CameoPayloadHeader::magic;
  for (uint64_t at = 0; at <= kMostBefore && at + kMagicBytes <= size; at += CAMEO_PAGE)
    if (std::memcmp(file + at, CAMEO_PAYLOAD_MAGIC, kMagicBytes) == 0)
      return true;
  return false;
}

bool isCode(uint32_t kind) {
  return kind == CAMEO_SECTION_PTX || kind == CAMEO_SECTION_CUBIN ||
         kind == CAMEO_SECTION_SIM_IMAGE;
}

} // namespace

OwnFile ownFile() {
  static const char link[] = "/proc/self/exe";
  auto *started = reinterpret_cast<const char *>(getauxval(AT_EXECFN));
  if (!started)
    return {link, link};
  return {access(link, R_OK) == 0 ? link : started, started};
}

Payload::~Payload() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

bool Payload::isPresent(const char *path) {
  int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe is refused, not waited for
  if (file < 0)
    return false;
  CameoTrailer trailer;
  off_t end = lseek(file, 0, SEEK_END);
  bool found = end >= off_t(sizeof trailer) &&
               pread(file, &trailer, sizeof trailer, end - off_t(sizeof trailer)) ==
                   ssize_t(sizeof trailer) &&
               std::memcmp(trailer.magic, CAMEO_TRAILER_MAGIC, sizeof trailer.magic) == 0;
  close(file);
  return found;
}

Status Payload::open(const char *path, std::unique_ptr<Payload> &result, const char *name) {
  if (!name)
    name = path;
  int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe is refused, not waited for
  if (file < 0)
    return failure(errno == ENOENT ? Code::NotFound : Code::Io, "cannot open '%s': %s", name,
                   strerror(errno));
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return failure(Code::Io, "'%s' is not a regular file", name);
  }
  if (uint64_t(info.st_size) < sizeof(CameoTrailer)) {
    close(file);
    return failure(Code::NotAModel, "'%s' is not a model file: %lld bytes", name,
                   (long long)info.st_size);
  }
  void *mapping = mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  int error = errno;
  close(file);
  if (mapping == MAP_FAILED)
    return failure(Code::Io, "cannot map '%s' (%lld bytes): %s", name, (long long)info.st_size,
                   strerror(error));
  std::unique_ptr<Payload> payload(new Payload);
  payload->fileName = name;
  payload->mapping = mapping;
  payload->mappedBytes = uint64_t(info.st_size);
  Status status = payload->parse(static_cast<const uint8_t *>(mapping), payload->mappedBytes);
  if (!status.ok())
    return payload->named(status);
  result = std::move(payload);
  return {};
}

Status Payload::named(const Status &status) const {
  return Status(status.code(), fileName + ": " + status.message());
}

Status Payload::fromMemory(const void *data, uint64_t size, std::unique_ptr<Payload> &result) {
  if (!data || reinterpret_cast<uintptr_t>(data) % kSectionAlignment)
    return failure(Code::InvalidArgument, "a model in memory must be aligned to 64 bytes");
  if (size > UINTPTR_MAX - reinterpret_cast<uintptr_t>(data))
    return failure(Code::InvalidArgument, "no memory has %llu bytes from there on",
                   (unsigned long long)size);
  std::unique_ptr<Payload> payload(new Payload);
  CAMEO_RETURN_IF_ERROR(payload->parse(static_cast<const uint8_t *>(data), size));
  result = std::move(payload);
  return {};
}

std::unique_ptr<Payload> Payload::ofSections(std::vector<Section> sections) {
  std::unique_ptr<Payload> payload(new Payload);
  payload->list = std::move(sections);
  payload->variants = 1;
  return payload;
}

Status Payload::parse(const uint8_t *file, uint64_t size) {
  CameoTrailer trailer;
  CameoPayloadHeader header;
  bool isLarge = size >= sizeof trailer + sizeof header;
  if (isLarge)
    std::memcpy(&trailer, file + size - sizeof trailer, sizeof trailer);
  if (!isLarge || std::memcmp(trailer.magic, CAMEO_TRAILER_MAGIC, sizeof trailer.magic) != 0)
    return hasPayload(file, size)
               ? failure(Code::Corrupt,
                         "damaged model file: it does not end in '%s'; was "
                         "something cut off or appended?",
                         CAMEO_TRAILER_MAGIC)
               : failure(Code::NotAModel, "not a model file: it does not end in '%s'",
                         CAMEO_TRAILER_MAGIC);
  uint64_t room = size - sizeof trailer;
  if (trailer.payload_offset % CAMEO_PAGE || trailer.payload_offset > room ||
      trailer.payload_size != room - trailer.payload_offset || trailer.payload_size < sizeof header)
    return failure(
        Code::Corrupt,
        "damaged model file: it has %llu bytes; when it was written it had %llu (%llu in front of "
        "the payload, %llu of payload, %zu behind it); was something cut off, inserted or "
        "appended?",
        (unsigned long long)size,
        (unsigned long long)(trailer.payload_offset + trailer.payload_size + sizeof trailer),
        (unsigned long long)trailer.payload_offset, (unsigned long long)trailer.payload_size,
        sizeof trailer);
  payloadSize = trailer.payload_size;
  CAMEO_RETURN_IF_ERROR(parseHeader(file, trailer, header));
  const uint8_t *payload = file + trailer.payload_offset;
  variants = header.variant_count;
  fileVersion = header.version;
  CAMEO_RETURN_IF_ERROR(readSections(payload, header));
  CAMEO_RETURN_IF_ERROR(
      checkPadding(payload, sizeof header + header.section_count * sizeof(CameoSection)));
  return checkWeights();
}

// The header and what it vouches for directly: the table behind it, the stub in front of it.
Status Payload::parseHeader(const uint8_t *file, const CameoTrailer &trailer,
                            CameoPayloadHeader &header) {
  const uint8_t *payload = file + trailer.payload_offset;
  std::memcpy(&header, payload, sizeof header);
  if (std::memcmp(header.magic, CAMEO_PAYLOAD_MAGIC, sizeof header.magic) != 0)
    return failure(Code::Corrupt, "damaged model file: the payload does not begin with '%s'",
                   CAMEO_PAYLOAD_MAGIC);
  uint64_t tableBytes = uint64_t(header.section_count) * sizeof(CameoSection);
  uint64_t tableEnd = sizeof header + tableBytes;
  bool tableFits = header.section_count <= kMaxSections && tableEnd <= payloadSize;
  // A newer version may lay its table out otherwise, so this comes before the hash.
  if (header.version < kOldestPayloadVersion || header.version > CAMEO_PAYLOAD_VERSION)
    return failure(Code::Incompatible,
                   "the model file has payload version %u; this runtime reads %u to %u",
                   header.version, kOldestPayloadVersion, CAMEO_PAYLOAD_VERSION);
  if (!tableFits)
    return corrupt("the number of sections", header.section_count, kMaxSections);
  if (hash(payload, tableEnd) != trailer.header_hash)
    return failure(Code::Corrupt, "damaged model file: the header's hash does not match");
  bundle = header.flags & CAMEO_PAYLOAD_TUNING;
  if (header.flags & ~CAMEO_PAYLOAD_TUNING)
    return failure(Code::Incompatible, "the model file asks for unknown features (flags 0x%x)",
                   header.flags);
  if (hash(file, trailer.payload_offset) != header.stub_hash)
    return failure(
        Code::Corrupt,
        "damaged model file: the hash of the %llu bytes in front of the payload does not "
        "match",
        (unsigned long long)trailer.payload_offset);
  return {};
}

Status Payload::readSections(const uint8_t *payload, const CameoPayloadHeader &header) {
  list.reserve(header.section_count);
  for (uint32_t i = 0; i < header.section_count; ++i) {
    CameoSection section;
    std::memcpy(&section, payload + sizeof header + i * sizeof section, sizeof section);
    CAMEO_RETURN_IF_ERROR(readSection(payload, i, section));
  }
  if (!manifestText.data())
    return failure(Code::Corrupt, "damaged model file: it has no manifest");
  return {};
}

Status Payload::readSection(const uint8_t *payload, uint32_t index, const CameoSection &section) {
  if (section.kind < CAMEO_SECTION_MANIFEST || section.kind > CAMEO_SECTION_WEIGHT_HASHES)
    return failure(Code::Incompatible, "section %u is of unknown kind %u", index, section.kind);
  const char *name = sectionName(section.kind);
  bool isWeights = section.kind == CAMEO_SECTION_WEIGHTS;
  if (section.offset > payloadSize || section.size > payloadSize - section.offset)
    return failure(Code::Corrupt,
                   "damaged model file: section %u (%s) of %llu bytes at %llu exceeds the payload "
                   "of %llu bytes",
                   index, name, (unsigned long long)section.size,
                   (unsigned long long)section.offset, (unsigned long long)payloadSize);
  if (section.offset % (isWeights ? CAMEO_PAGE : kSectionAlignment))
    return failure(Code::Corrupt, "damaged model file: section %u (%s) is misaligned at %llu",
                   index, name, (unsigned long long)section.offset);
  if ((isCode(section.kind) || section.kind == CAMEO_SECTION_PLAN) && section.variant >= variants)
    return corrupt("a section's variant", section.variant, variants);
  uint32_t known = section.kind == CAMEO_SECTION_SIM_IMAGE ? CAMEO_SIM_IMAGE_CHECKED : 0;
  if (section.flags & ~known)
    return failure(Code::Incompatible, "section %u (%s) has unknown flags 0x%x", index, name,
                   section.flags);
  const uint8_t *data = payload + section.offset;
  if (isWeights ? section.hash != 0 : hash(data, section.size) != section.hash)
    return failure(Code::Corrupt, "damaged model file: the hash of section %u (%s) does not match",
                   index, name);

  switch (section.kind) {
  case CAMEO_SECTION_MANIFEST:
    if (manifestText.data())
      return failure(Code::Corrupt, "damaged model file: it has two manifests");
    manifestText = std::string_view(reinterpret_cast<const char *>(data), section.size);
    while (!manifestText.empty() && manifestText.back() == '\0')
      manifestText.remove_suffix(1);
    break;
  case CAMEO_SECTION_PTX:
    if (!section.size || data[section.size - 1] != 0)
      return failure(Code::Corrupt, "damaged model file: section %u (ptx) has no final NUL", index);
    break;
  case CAMEO_SECTION_WEIGHTS:
    if (weightData)
      return failure(Code::Corrupt, "damaged model file: it has two weight sections");
    weightData = data;
    weightSize = section.size;
    break;
  case CAMEO_SECTION_WEIGHT_HASHES:
    if (weightHashes || section.size % sizeof(uint64_t))
      return failure(Code::Corrupt, "damaged model file: section %u (%s) is malformed", index,
                     name);
    weightHashes = reinterpret_cast<const uint64_t *>(data);
    weightHashCount = section.size / sizeof(uint64_t);
    break;
  default:
    break;
  }
  list.push_back({CameoSectionKind(section.kind), section.variant, section.arch, section.flags,
                  data, section.size});
  return {};
}

// Sections do not overlap, and what lies between them is zero.
Status Payload::checkPadding(const uint8_t *payload, uint64_t tableEnd) const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  ranges.reserve(list.size());
  for (const Section &section : list)
    if (section.size)
      ranges.emplace_back(uint64_t(section.data - payload), section.size);
  std::sort(ranges.begin(), ranges.end());
  ranges.emplace_back(payloadSize, 0);
  uint64_t end = tableEnd;
  for (auto [offset, bytes] : ranges) {
    if (offset < end)
      return failure(Code::Corrupt, "damaged model file: two sections overlap at byte %llu",
                     (unsigned long long)offset);
    for (uint64_t i = end; i < offset; ++i)
      if (payload[i])
        return failure(Code::Corrupt, "damaged model file: byte %llu between sections is not zero",
                       (unsigned long long)i);
    end = offset + bytes;
  }
  return {};
}

Status Payload::checkWeights() const {
  uint64_t chunks = (weightSize + CAMEO_WEIGHT_CHUNK - 1) / CAMEO_WEIGHT_CHUNK;
  if (chunks != weightHashCount)
    return failure(Code::Corrupt, "damaged model file: %llu weight hashes for %llu chunks",
                   (unsigned long long)weightHashCount, (unsigned long long)chunks);
  return {};
}

Status Payload::verifyWeightChunk(uint64_t index, const void *copy, uint64_t bytes) const {
  if (index >= weightHashCount || hash(copy, bytes) != weightHashes[index])
    return named(failure(Code::Corrupt,
                         "damaged model file: the hash of weight chunk %llu (bytes %llu to %llu) "
                         "does not match",
                         (unsigned long long)index,
                         (unsigned long long)(index * CAMEO_WEIGHT_CHUNK),
                         (unsigned long long)(index * CAMEO_WEIGHT_CHUNK + bytes)));
  return {};
}

} // namespace cameo::runtime
