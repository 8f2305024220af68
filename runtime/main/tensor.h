// Tensors of the command line: read from npy, npz and TensorProto files and from literals, written
// to files, printed.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_TENSOR_H
#define CAMEO_RUNTIME_MAIN_TENSOR_H

#include "runtime/core/types.h"

namespace cameo::cli {

using runtime::Code;
using runtime::failure;
using runtime::Shape;
using runtime::Status;

struct HostTensor {
  std::string name; // "" where the source has none
  uint32_t dtype = 0;
  Shape shape;
  std::vector<uint8_t> data; // row-major, packed as cameo.h says
};

// Refuses what this machine cannot hold, before it is allocated: sizes come from files and command
// lines.
Status checkHostBytes(uint64_t bytes);

// Whole files. What is written takes its name when it is whole: until then, and where that fails,
// there is the former file of that name or none.
Status readFile(const std::string &path, std::vector<uint8_t> &bytes);
Status writeFile(const std::string &path, const std::vector<uint8_t> &bytes);

// One array in numpy's format, versions 1 to 3. Types that numpy lacks come as unsigned integers of
// their width; adaptType gives them their meaning.
Status parseNpy(const uint8_t *data, size_t size, HostTensor &tensor);
Status formatNpy(const HostTensor &tensor, std::vector<uint8_t> &bytes);
// What is wanted of an archive; only that is unpacked.
struct Members {
  const char *one = nullptr; // the member of that name, or the only one that there is
  // Else: those of these names. Where no member has one of them, and all have the names that numpy
  // gives to arrays without names (arr_0, arr_1, ...): these, in that order, at most as many as
  // there are names. Without any name all are wanted.
  std::vector<std::string> names;
};
// A zip archive of .npy members, stored or deflated; written stored. Where none is what is wanted,
// the error has the names that there are.
Status parseNpz(const uint8_t *data, size_t size, const Members &wanted,
                std::vector<HostTensor> &tensors);
Status formatNpz(const std::vector<HostTensor> &tensors, std::vector<uint8_t> &bytes);
// ONNX's TensorProto.
Status parseTensorProto(const uint8_t *data, size_t size, HostTensor &tensor);
void formatTensorProto(const HostTensor &tensor, std::vector<uint8_t> &bytes);
// "2x2xf32=1 2 3 4"; one value fills the tensor, none is zero; brackets and commas are spaces.
bool looksLikeLiteral(const std::string &text);
Status parseLiteral(const std::string &text, HostTensor &tensor);

bool endsWith(const std::string &text, const char *end);

// By the file's extension: .npy, .npz, .pb; npz files may hold several.
Status loadTensors(const std::string &path, const Members &wanted,
                   std::vector<HostTensor> &tensors);

// Makes a tensor of a stand-in type one of `dtype`: unsigned integers for bf16 and fp8, bytes for
// packed types. Fails where the types really differ.
Status adaptType(HostTensor &tensor, uint32_t dtype);

// "2x2xf32=[1 2][3 4]" with at most `limit` elements.
std::string formatTensor(const HostTensor &tensor, uint64_t limit);
std::string formatElement(const HostTensor &tensor, uint64_t index);

} // namespace cameo::cli

#endif
