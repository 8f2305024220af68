// The artefact's entry point: from a command line to an exit code.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/exit_code.h"
#include "runtime/main/session.h"
#include "runtime/main/watchdog.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

#include <unistd.h>

namespace cameo::cli {
namespace {

// Besides errors.
struct Outcome {
  bool matched = true;
  int interrupted = 0; // the signal that ended a benchmark early
};

Status runModes(const Options &options, Session &session, Outcome &outcome) {
  std::vector<HostTensor> inputs;
  CAMEO_RETURN_IF_ERROR(gatherInputs(options, session, inputs));
  bool measures = options.benchmark != Report::None || options.profiled || options.sim.counters;
  if (!measures || !options.outputs.empty() || !options.expected.empty() || options.runs > 1)
    CAMEO_RETURN_IF_ERROR(runOnce(options, session, inputs, outcome.matched));
  if (options.profiled)
    CAMEO_RETURN_IF_ERROR(runProfile(options, session, inputs));
  if (options.sim.counters)
    CAMEO_RETURN_IF_ERROR(runCounters(options, session, inputs));
  if (options.benchmark != Report::None)
    CAMEO_RETURN_IF_ERROR(
        runBenchmark(options, session, inputs, outcome.matched, outcome.interrupted));
  return {};
}

Status openPayload(const Options &options, std::unique_ptr<runtime::Payload> &payload) {
  if (!options.model.empty())
    return runtime::Payload::open(options.model.c_str(), payload);
  runtime::OwnFile own = runtime::ownFile();
  if (access(own.path, R_OK) != 0)
    return failure(Code::Io,
                   "this executable cannot read its own file, neither as /proc/self/exe nor as "
                   "'%s': %s",
                   own.name, strerror(errno));
  if (!runtime::Payload::isPresent(own.path))
    return failure(Code::Corrupt, "this executable holds no model, or was cut off; --model=FILE "
                                  "runs another file's");
  return runtime::Payload::open(own.path, payload, own.name);
}

Status run(const Options &options, Outcome &outcome) {
  std::unique_ptr<runtime::Payload> payload;
  CAMEO_RETURN_IF_ERROR(openPayload(options, payload));
  if (options.info != Report::None)
    return printInfo(options, *payload);
  Watchdog watchdog(options.timeout, DeviceFailure);
  Session session;
  CAMEO_RETURN_IF_ERROR(openSession(options, std::move(payload), session));
  watchdog.watch(session.device);
  return runModes(options, session, outcome);
}

// trtexec's last line, which scripts look for.
void printVerdict(int argc, char **argv, bool good) {
  std::printf("&&&& %s cameo.benchmark #", good ? "PASSED" : "FAILED");
  for (int i = 0; i < argc; ++i)
    std::printf(" %s", argv[i]);
  std::printf("\n");
}

int start(int argc, char **argv) {
  Options options;
  Status status = parseOptions(argc, argv, options);
  if (status.ok() && options.help) {
    printHelp(argv[0]);
    return Good;
  }
  if (status.ok() && options.version) {
    std::printf("cameo %s, payload versions %u to %u\n", CAMEO_VERSION,
                runtime::kOldestPayloadVersion, CAMEO_PAYLOAD_VERSION);
    return Good;
  }
  Outcome outcome;
  if (status.ok())
    status = run(options, outcome);
  if (!status.ok())
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
  if (options.benchmark == Report::Text)
    printVerdict(argc, argv, status.ok() && outcome.matched && !outcome.interrupted);
  // A full disk shows when the last of the output is written.
  if (std::fflush(stdout) != 0 && status.ok()) {
    std::fprintf(stderr, "error: cannot write the output\n");
    return Usage;
  }
  // Shells and scripts want to know that it was a signal.
  if (outcome.interrupted) {
    std::signal(outcome.interrupted, SIG_DFL);
    raise(outcome.interrupted);
  }
  return status.ok() ? outcome.matched ? Good : Mismatch : exitCode(status.code());
}

} // namespace
} // namespace cameo::cli

int main(int argc, char **argv) {
  // There are no exceptions to tell of it.
  std::set_new_handler([] {
    static const char message[] = "error: out of memory\n";
    (void)!write(STDERR_FILENO, message, sizeof message - 1);
    _exit(cameo::cli::DeviceFailure);
  });
  return cameo::cli::start(argc, argv);
}
