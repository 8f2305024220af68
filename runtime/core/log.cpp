// Levels and formats of messages.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/log.h"

namespace cameo::runtime {

void Log::error(const Status &status) const {
  if (!status.ok() && wants(LogLevel::Error))
    sink({LogLevel::Error, status.code(), status.message().c_str()});
}

void Log::tell(LogLevel level, const char *format, va_list arguments) const {
  if (wants(level))
    sink({level, Code::Ok, formatted(format, arguments).c_str()});
}

void Log::warning(const char *format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  tell(LogLevel::Warning, format, arguments);
  va_end(arguments);
}

void Log::info(const char *format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  tell(LogLevel::Info, format, arguments);
  va_end(arguments);
}

void Log::debug(const char *format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  tell(LogLevel::Debug, format, arguments);
  va_end(arguments);
}

} // namespace cameo::runtime
