// The process that measures, seen from the one that says what: a candidate that hangs, or takes the
// process with it, is named, and another process goes on behind it.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_TUNE_WORKER_H
#define CAMEO_RUNTIME_TUNE_WORKER_H

#include "runtime/main/options.h"
#include "runtime/tune/results.h"

#include <functional>

#include <sys/types.h>

namespace cameo::tune {

struct WorkerOptions {
  cli::DeviceOptions device;
  double timeout = 10; // seconds of one candidate
};

class Worker {
public:
  // The bundle lives longer.
  Worker(const Bundle &bundle, const WorkerOptions &options) : bundle(bundle), options(options) {}
  ~Worker();
  Worker(const Worker &) = delete;
  void operator=(const Worker &) = delete;

  // Starts the process, and tells on what it measures.
  Status start(Machine &machine);
  // Calls back with what came of each candidate of the visit.
  Status measure(const Visit &visit, const std::function<Status(const Result &)> &callback);

private:
  Status spawn();
  void stop();
  // The next line of the process; false: it has ended, or said nothing for too long (`hung`).
  bool readLine(std::string &line, bool &hung);

  const Bundle &bundle;
  WorkerOptions options;
  pid_t process = -1;
  int toProcess = -1, fromProcess = -1;
  std::string pending; // read, and no whole line yet
  Machine machine;
};

} // namespace cameo::tune

#endif
