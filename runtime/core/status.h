// What every call of the runtime returns: a stable code and a message, never an abort.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_STATUS_H
#define CAMEO_RUNTIME_CORE_STATUS_H

#include <cstdarg>
#include <memory>
#include <string>

namespace cameo::runtime {

// The values are those of cameo_status in cameo.h.
enum class Code : int {
  Ok = 0,
  InvalidArgument = 1, // the caller's mistake: a name, a shape, a pointer, an order of calls
  OutOfRange = 2,      // a model's own check failed for these inputs
  Unsupported = 3,     // known, not available in this version or on this device
  OutOfMemory = 4,     // host or device memory
  NotFound = 5,        // a file, an entry point, an input
  Io = 6,              // the operating system refused to read or write
  Corrupt = 7,         // the payload is damaged
  Incompatible = 8,    // the payload is of another version
  NoDriver = 9,        // there is no CUDA driver at all
  Driver = 10,         // the driver or the device failed
  KernelFault = 11,    // a kernel did what it must not: a finding of the simulator's checks
  Internal = 12,       // our own bug
  NoCode = 13,         // the payload has no code for this device and its driver
  Busy = 14,           // a context is in use by another call
  NotAModel = 15,      // the file is something else
  NotKnownYet = 16,    // a run decides it, and none has
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message)
      : failure(std::make_unique<Failure>(Failure{code, std::move(message)})) {}

  bool ok() const { return !failure; }
  Code code() const { return failure ? failure->code : Code::Ok; }
  const std::string &message() const {
    static const std::string none;
    return failure ? failure->message : none;
  }

private:
  struct Failure {
    Code code;
    std::string message;
  };
  // Null where all is well, so that success costs one pointer.
  std::unique_ptr<Failure> failure;
};

// vsprintf into a string.
std::string formatted(const char *format, va_list arguments);
// printf into a status.
Status failure(Code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define CAMEO_RETURN_IF_ERROR(EXPRESSION)                                                          \
  do {                                                                                             \
    if (::cameo::runtime::Status status_ = (EXPRESSION); !status_.ok())                            \
      return status_;                                                                              \
  } while (false)

} // namespace cameo::runtime

#endif
