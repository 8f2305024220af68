// Messages of the runtime, besides what its calls return, for whoever wants to hear them.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_LOG_H
#define CAMEO_RUNTIME_CORE_LOG_H

#include "runtime/core/status.h"

#include <functional>

namespace cameo::runtime {

// The values are those of cameo_log_level in cameo.h.
enum class LogLevel : int {
  Error = 1,   // a call that failed, or work that nobody waited for
  Warning = 2, // another way was taken than the better one
  Info = 3,    // what was loaded
  Debug = 4,   // what was prepared for new shapes, and memory taken for it
};

struct LogMessage {
  LogLevel level;
  Code code; // of an error
  const char *text;
};

class Log {
public:
  using Sink = std::function<void(const LogMessage &message)>;

  Log() = default;
  // `least` is the least severe level that is told.
  Log(Sink sink, LogLevel least) : sink(std::move(sink)), least(least) {}

  bool wants(LogLevel level) const { return sink && level <= least; }
  void error(const Status &status) const;
  void warning(const char *format, ...) const __attribute__((format(printf, 2, 3)));
  void info(const char *format, ...) const __attribute__((format(printf, 2, 3)));
  void debug(const char *format, ...) const __attribute__((format(printf, 2, 3)));

private:
  void tell(LogLevel level, const char *format, va_list arguments) const;

  Sink sink;
  LogLevel least = LogLevel::Error;
};

} // namespace cameo::runtime

#endif
