// Failures of the C interface, as exceptions that cameo/_errors.py turns into Python's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/cameo.h"

#include <exception>
#include <string>

namespace cameo::python {

class StatusError : public std::exception {
public:
  StatusError(cameo_status status, std::string message)
      : code(status), message(std::move(message)) {}
  cameo_status status() const { return code; }
  const char *what() const noexcept override { return message.c_str(); }

private:
  cameo_status code;
  std::string message;
};

inline void check(cameo_status status) {
  if (status != CAMEO_STATUS_OK)
    throw StatusError(status, cameo_last_error());
}

} // namespace cameo::python
