// Formatting of status messages.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/status.h"

#include <cstdarg>
#include <cstdio>

namespace cameo::runtime {

Status failure(Code code, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(nullptr, 0, format, args);
  va_end(args);
  std::string message(length > 0 ? length : 0, '\0');
  if (length > 0)
    vsnprintf(message.data(), message.size() + 1, format, again);
  va_end(again);
  return Status(code, std::move(message));
}

} // namespace cameo::runtime
