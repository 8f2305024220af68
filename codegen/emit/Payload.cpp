// Everything is written once, front to back; only the header with its hashes is filled in last.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit/Payload.h"

#include "dialects/onnx/OutputFile.h"
#include "passes/host/WeightPool.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
#include <unistd.h>

using namespace mlir;
using namespace cameo;

// The runtime's hash is XXH3 with 64 bits and seed 0; so is LLVM's.
static uint64_t hashOf(const void *data, size_t bytes) {
  return llvm::xxh3_64bits(ArrayRef(static_cast<const uint8_t *>(data), bytes));
}

namespace {

/// Collects bytes into chunks, hashes them and passes them on.
class WeightStream {
public:
  explicit WeightStream(raw_ostream &output) : output(output) { chunk.reserve(CAMEO_WEIGHT_CHUNK); }

  void write(ArrayRef<char> bytes) {
    total += bytes.size();
    while (!bytes.empty()) {
      size_t room = std::min<size_t>(bytes.size(), CAMEO_WEIGHT_CHUNK - chunk.size());
      chunk.insert(chunk.end(), bytes.begin(), bytes.begin() + room);
      bytes = bytes.drop_front(room);
      if (chunk.size() == CAMEO_WEIGHT_CHUNK)
        flush();
    }
  }
  void pad(uint64_t offset) {
    static const char zeros[256] = {};
    while (total < offset)
      write(ArrayRef(zeros, std::min<uint64_t>(sizeof zeros, offset - total)));
  }
  std::vector<uint64_t> finish() {
    if (!chunk.empty())
      flush();
    return hashes;
  }

private:
  void flush() {
    hashes.push_back(hashOf(chunk.data(), chunk.size()));
    output.write(chunk.data(), chunk.size());
    chunk.clear();
  }
  raw_ostream &output;
  std::vector<char> chunk;
  std::vector<uint64_t> hashes;
  uint64_t total = 0;
};

class PayloadWriter {
public:
  /// Payloads of all forms of artefacts differ in `stubHash` alone.
  PayloadWriter(llvm::raw_pwrite_stream &output, const PayloadContents &contents, uint64_t stubHash)
      : output(output), contents(contents), start(output.tell()), stubHash(stubHash) {}

  void run() {
    ArrayRef<char> manifest(contents.manifest.data(), contents.manifest.size());
    uint64_t weightBytes = weightSectionBytes(contents.module);
    size_t count = 1 + contents.sections.size() + (weightBytes ? 2 : 0);
    output.write_zeros(sizeof(CameoPayloadHeader) + count * sizeof(CameoSection));
    add({CAMEO_SECTION_MANIFEST, 0, 0, 0, 0, 0, 0}, manifest);
    for (const PayloadSection &section : contents.sections)
      add({section.kind, section.variant, section.arch, section.flags, 0, 0, 0}, section.bytes);
    if (weightBytes)
      addWeights(weightBytes);
    finish();
  }

private:
  void align(uint64_t unit) {
    output.write_zeros(llvm::offsetToAlignment(output.tell() - start, llvm::Align(unit)));
  }
  void add(CameoSection section, ArrayRef<char> bytes) {
    align(64);
    section.offset = output.tell() - start;
    section.size = bytes.size();
    section.hash = hashOf(bytes.data(), bytes.size());
    output.write(bytes.data(), bytes.size());
    table.push_back(section);
  }
  void addWeights(uint64_t bytes) {
    align(CAMEO_PAGE);
    table.push_back({CAMEO_SECTION_WEIGHTS, 0, 0, 0, output.tell() - start, bytes, 0});
    WeightStream stream(output);
    for (rt::ConstantOp constant : weightSectionOrder(contents.module)) {
      stream.pad(*constant.getOffset());
      forEachPiece(constant, [&](ArrayRef<char> piece) { stream.write(piece); });
    }
    std::vector<uint64_t> hashes = stream.finish();
    add({CAMEO_SECTION_WEIGHT_HASHES, 0, 0, 0, 0, 0, 0},
        ArrayRef(reinterpret_cast<const char *>(hashes.data()), hashes.size() * sizeof(uint64_t)));
  }
  void finish() {
    CameoPayloadHeader header = {};
    std::memcpy(header.magic, CAMEO_PAYLOAD_MAGIC, sizeof header.magic);
    header.version = CAMEO_PAYLOAD_VERSION;
    header.section_count = table.size();
    header.variant_count = contents.variantCount;
    header.flags = contents.flags;
    header.stub_hash = stubHash;
    std::vector<char> head(sizeof header + table.size() * sizeof(CameoSection));
    std::memcpy(head.data(), &header, sizeof header);
    std::memcpy(head.data() + sizeof header, table.data(), table.size() * sizeof(CameoSection));
    CameoTrailer trailer = {};
    trailer.payload_offset = start;
    trailer.payload_size = output.tell() - start;
    trailer.header_hash = hashOf(head.data(), head.size());
    std::memcpy(trailer.magic, CAMEO_TRAILER_MAGIC, sizeof trailer.magic);
    output.write(reinterpret_cast<const char *>(&trailer), sizeof trailer);
    output.pwrite(head.data(), head.size(), start);
  }

  llvm::raw_pwrite_stream &output;
  const PayloadContents &contents;
  uint64_t start;
  uint64_t stubHash;
  std::vector<CameoSection> table;
};

} // namespace

uint64_t cameo::weightSectionBytes(ModuleOp module) {
  SmallVector<rt::ConstantOp> order = weightSectionOrder(module);
  if (order.empty())
    return 0;
  FailureOr<int64_t> bytes = weightBytes(order.back());
  return *order.back().getOffset() + (succeeded(bytes) ? *bytes : 0);
}

llvm::Error cameo::writeFile(StringRef path, unsigned mode,
                             function_ref<llvm::Error(llvm::raw_fd_ostream &)> write) {
  llvm::Expected<std::unique_ptr<onnx::OutputFile>> file = onnx::OutputFile::create(path, mode);
  if (!file)
    return file.takeError();
  if (llvm::Error error = write((*file)->stream()))
    return error;
  if (llvm::Error error = (*file)->close())
    return error;
  return (*file)->keep();
}

void cameo::writeArtefact(llvm::raw_pwrite_stream &output, StringRef stub,
                          const PayloadContents &contents) {
  std::string padded = stub.str();
  padded.resize(llvm::alignTo(stub.size(), CAMEO_PAGE));
  output << padded;
  PayloadWriter(output, contents, hashOf(padded.data(), padded.size())).run();
}
