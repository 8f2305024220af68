// Writes payloads and launch plans for tests, by the letter of runtime/format.h and apart from the
// compiler's own writer.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_RUNTIME_PAYLOAD_BUILDER_H
#define CAMEO_TEST_RUNTIME_PAYLOAD_BUILDER_H

#include "runtime/core/hash.h"
#include "runtime/format.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace payload_test {

using Bytes = std::vector<char>;

/// A plan: tensors and kernels first, then code, in any order.
class PlanBuilder {
public:
  struct Dim {
    int64_t size;
    std::string symbol = "";
  };

  explicit PlanBuilder(const std::string &name = "main") { header.name = string(name); }

  void input(const std::string &name, uint32_t dtype, const std::vector<Dim> &shape,
             uint32_t flags = 0) {
    inputs.push_back(tensor(name, dtype, shape, flags));
  }
  void output(const std::string &name, uint32_t dtype, const std::vector<Dim> &shape) {
    outputs.push_back(tensor(name, dtype, shape, 0));
  }
  void tap(const std::string &name, uint32_t dtype, const std::vector<Dim> &shape) {
    taps.push_back(tensor(name, dtype, shape, 0));
  }
  uint32_t kernel(const std::string &name, uint32_t threads, const std::vector<uint32_t> &types,
                  uint32_t flags = 0) {
    CameoPlanKernel kernel = {};
    kernel.name = string(name);
    kernel.onnx_nodes = string("node_" + name);
    kernel.block[0] = threads;
    kernel.block[1] = kernel.block[2] = 1;
    kernel.first_arg = static_cast<uint32_t>(argTypes.size());
    kernel.arg_count = static_cast<uint32_t>(types.size());
    kernel.flags = flags;
    argTypes.insert(argTypes.end(), types.begin(), types.end());
    kernels.push_back(kernel);
    return static_cast<uint32_t>(kernels.size() - 1);
  }

  /// Records as they will be written, for what no builder would write.
  CameoPlanKernel &kernelRecord(uint32_t index) { return kernels[index]; }
  CameoPlanTensor &inputRecord(uint32_t index) { return inputs[index]; }
  CameoPlanDim &dimRecord(uint32_t index) { return dims[index]; }

  uint32_t newRegister() { return header.register_count++; }
  uint32_t newBuffer() { return header.buffer_count++; }
  uint32_t string(const std::string &text) {
    auto offset = static_cast<uint32_t>(strings.size());
    strings.append(text.c_str(), text.size() + 1);
    return offset;
  }

  /// Adds an instruction; its position, for jumps.
  uint32_t op(uint32_t opcode, const std::vector<uint32_t> &operands = {}) {
    auto position = static_cast<uint32_t>(code.size());
    code.push_back(opcode | static_cast<uint32_t>(operands.size() + 1) << 16);
    code.insert(code.end(), operands.begin(), operands.end());
    return position;
  }
  /// Replaces a word, for jumps forward.
  void patch(uint32_t position, uint32_t word) { code[position] = word; }
  uint32_t constant(uint64_t bits) {
    uint32_t result = newRegister();
    op(CAMEO_OP_CONST, {result, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)});
    return result;
  }
  uint32_t constantDouble(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return constant(bits);
  }
  uint32_t compute(CameoOpcode opcode, uint32_t a, uint32_t b) {
    uint32_t result = newRegister();
    op(opcode, {result, a, b});
    return result;
  }

  Bytes finish() {
    header.magic = CAMEO_PLAN_MAGIC;
    header.input_count = static_cast<uint32_t>(inputs.size());
    header.output_count = static_cast<uint32_t>(outputs.size());
    header.tap_count = static_cast<uint32_t>(taps.size());
    header.dim_count = static_cast<uint32_t>(dims.size());
    header.kernel_count = static_cast<uint32_t>(kernels.size());
    header.arg_count = static_cast<uint32_t>(argTypes.size());
    header.code_words = static_cast<uint32_t>(code.size());
    header.string_bytes = static_cast<uint32_t>(strings.size());
    std::vector<CameoPlanTensor> tensors = inputs;
    tensors.insert(tensors.end(), outputs.begin(), outputs.end());
    tensors.insert(tensors.end(), taps.begin(), taps.end());
    Bytes bytes;
    append(bytes, &header, sizeof(header));
    append(bytes, tensors.data(), tensors.size() * sizeof(CameoPlanTensor));
    append(bytes, dims.data(), dims.size() * sizeof(CameoPlanDim));
    append(bytes, kernels.data(), kernels.size() * sizeof(CameoPlanKernel));
    append(bytes, argTypes.data(), argTypes.size() * sizeof(uint32_t));
    append(bytes, code.data(), code.size() * sizeof(uint32_t));
    append(bytes, strings.data(), strings.size());
    return bytes;
  }

private:
  static void append(Bytes &bytes, const void *data, size_t size) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    auto *begin = static_cast<const char *>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
  CameoPlanTensor tensor(const std::string &name, uint32_t dtype, const std::vector<Dim> &shape,
                         uint32_t flags) {
    CameoPlanTensor tensor = {};
    tensor.name = string(name);
    tensor.dtype = dtype;
    tensor.rank = static_cast<uint32_t>(shape.size());
    tensor.first_dim = static_cast<uint32_t>(dims.size());
    tensor.flags = flags;
    for (const Dim &dim : shape)
      dims.push_back({dim.size, string(dim.symbol), 0});
    return tensor;
  }

  CameoPlanHeader header = {};
  std::vector<CameoPlanTensor> inputs, outputs, taps;
  std::vector<CameoPlanDim> dims;
  std::vector<CameoPlanKernel> kernels;
  std::vector<uint32_t> argTypes, code;
  std::string strings;
};

/// A plan file's bytes, aligned as cameo_model_load_memory wants them.
class PayloadFile {
public:
  PayloadFile() = default;
  explicit PayloadFile(const Bytes &content) : bytes(content.size()) {
    memory.reset(static_cast<char *>(aligned_alloc(CAMEO_PAGE, round(bytes, CAMEO_PAGE))));
    if (bytes)
      memcpy(memory.get(), content.data(), bytes);
  }
  char *data() const { return memory.get(); }
  size_t size() const { return bytes; }

private:
  static size_t round(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }
  struct Free {
    void operator()(char *pointer) const { free(pointer); }
  };
  size_t bytes = 0;
  std::unique_ptr<char, Free> memory;
};

class PayloadBuilder {
public:
  explicit PayloadBuilder(const std::string &manifest = "{}") {
    section(CAMEO_SECTION_MANIFEST, Bytes(manifest.begin(), manifest.end()));
  }

  void section(CameoSectionKind kind, const Bytes &content, uint32_t variant = 0, uint32_t arch = 0,
               uint32_t flags = 0) {
    CameoSection section = {};
    section.kind = kind;
    section.variant = variant;
    section.arch = arch;
    section.flags = flags;
    section.size = content.size();
    section.hash =
        kind == CAMEO_SECTION_WEIGHTS ? 0 : cameo::runtime::hash(content.data(), content.size());
    sections.push_back(section);
    contents.push_back(content);
    if (variants <= variant)
      variants = variant + 1;
  }
  /// PTX text without its NUL, which is added.
  void ptx(const std::string &text, uint32_t arch, uint32_t variant = 0) {
    section(CAMEO_SECTION_PTX, Bytes(text.c_str(), text.c_str() + text.size() + 1), variant, arch);
  }
  void weights(const Bytes &content) {
    std::vector<uint64_t> hashes;
    for (size_t at = 0; at < content.size(); at += CAMEO_WEIGHT_CHUNK) {
      size_t left = content.size() - at;
      hashes.push_back(cameo::runtime::hash(content.data() + at,
                                            left < CAMEO_WEIGHT_CHUNK ? left : CAMEO_WEIGHT_CHUNK));
    }
    section(CAMEO_SECTION_WEIGHTS, content);
    auto *begin = reinterpret_cast<const char *>(hashes.data());
    section(CAMEO_SECTION_WEIGHT_HASHES, Bytes(begin, begin + hashes.size() * sizeof(uint64_t)));
  }

  PayloadFile finish(uint32_t version = CAMEO_PAYLOAD_VERSION) {
    CameoPayloadHeader header = {};
    memcpy(header.magic, CAMEO_PAYLOAD_MAGIC, sizeof(header.magic));
    header.version = version;
    header.section_count = static_cast<uint32_t>(sections.size());
    header.variant_count = variants;
    header.stub_hash = cameo::runtime::hash(nullptr, 0);
    const size_t tableEnd = sizeof(header) + sections.size() * sizeof(CameoSection);
    Bytes bytes(tableEnd);
    for (size_t i = 0; i < sections.size(); ++i) {
      size_t unit = sections[i].kind == CAMEO_SECTION_WEIGHTS ? CAMEO_PAGE : 64;
      bytes.resize((bytes.size() + unit - 1) / unit * unit);
      sections[i].offset = bytes.size();
      bytes.insert(bytes.end(), contents[i].begin(), contents[i].end());
    }
    memcpy(bytes.data(), &header, sizeof(header));
    memcpy(bytes.data() + sizeof(header), sections.data(), sections.size() * sizeof(CameoSection));
    CameoTrailer trailer = {};
    trailer.payload_size = bytes.size();
    trailer.header_hash = cameo::runtime::hash(bytes.data(), tableEnd);
    memcpy(trailer.magic, CAMEO_TRAILER_MAGIC, sizeof(trailer.magic));
    auto *end = reinterpret_cast<const char *>(&trailer);
    bytes.insert(bytes.end(), end, end + sizeof(trailer));
    return PayloadFile(bytes);
  }

private:
  std::vector<CameoSection> sections;
  std::vector<Bytes> contents;
  uint32_t variants = 0;
};

} // namespace payload_test

#endif
