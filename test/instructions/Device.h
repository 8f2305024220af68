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

struct Outcome {
  enum Kind {
    Ran,
    Refused, // the device has not run this one to its end
    Lost,    // and runs no other any more
    Hung     // this one has not ended in time; the process must end without the driver
  };
  Kind kind = Ran;
  std::string message;
};

class Device {
public:
  virtual ~Device() = default;
  /// Launches the case's kernel with the buffers and reads them back.
  virtual Outcome run(const Case &one, std::vector<Bytes> &buffers) = 0;
};

/// `code` is a simulator image; `checks` as in --sim-checks. Null with `error`.
std::unique_ptr<Device> openSimulator(const Bytes &code, const std::string &checks, uint64_t seed,
                                      std::string &error);
/// `code` is a cubin for the first GPU, on which a kernel may run for `seconds`.
std::unique_ptr<Device> openCuda(const Bytes &code, double seconds, std::string &error);

} // namespace instructions

#endif
