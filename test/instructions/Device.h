// Where instruction tests run.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_INSTRUCTIONS_DEVICE_H
#define CAMEO_TEST_INSTRUCTIONS_DEVICE_H

#include "test/instructions/Case.h"

#include <memory>

namespace instructions {

/// A tensor map as a launch hands it over.
struct EncodedMap {
  alignas(64) unsigned char bytes[128];
};

class Device {
public:
  virtual ~Device() = default;
  /// Launches the case's kernel with the buffers and reads them back. What went wrong, or empty.
  virtual std::string run(const Case &one, std::vector<Bytes> &buffers) = 0;
};

/// `code` is a simulator image; `checks` as in --sim-checks. Null with `error`.
std::unique_ptr<Device> openSimulator(const Bytes &code, const std::string &checks, uint64_t seed,
                                      std::string &error);
/// `code` is a cubin for the first GPU.
std::unique_ptr<Device> openCuda(const Bytes &code, std::string &error);

} // namespace instructions

#endif
