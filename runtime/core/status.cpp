// Formatting of messages.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/status.h"

#include <cstdio>

namespace cameo::runtime {

std::string formatted(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(nullptr, 0, format, arguments);
  std::string message(length > 0 ? length : 0, '\0');
  if (length > 0)
    vsnprintf(message.data(), message.size() + 1, format, again);
  va_end(again);
  return message;
}

Status failure(Code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string message = formatted(format, arguments);
  va_end(arguments);
  return Status(code, std::move(message));
}

} // namespace cameo::runtime
