// The entry point of a tuning bundle: measures its candidates, and writes down what they take.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/main/exit_code.h"
#include "runtime/tune/worker.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace cameo::tune {
namespace {

struct Options {
  bool help = false, version = false, list = false;
  std::string bundle; // "": the executable's own payload
  std::string out = "tuning.json";
  std::string only; // part of a node's name; "": all
  double minutes = 10;
  WorkerOptions worker;
};

constexpr char kHelp[] =
    "Measures schedules of a model's kernels on this machine's GPU, and writes what they take.\n"
    "cameoc --schedules=FILE then compiles the model with the fastest of them.\n"
    "\n"
    "  --out=FILE          results, JSON (tuning.json); one that is there of the same bundle and\n"
    "                      machine is gone on with\n"
    "  --minutes=10        the time available; every kernel has its best of those tried, whenever "
    "it ends\n"
    "  --only=TEXT         kernels of nodes in whose name that is\n"
    "  --device=auto       cuda[:N] or sim, the simulator, whose times say nothing of a GPU\n"
    "  --timeout=10        seconds after which a schedule counts as hung\n"
    "  --bundle=FILE       another bundle than the one in this file\n"
    "  --list              says what would be measured, and ends\n"
    "  --version, --help\n"
    "\n"
    "Exit codes: 0 good, also where time ran out; 1 a schedule was wrong, hung, crashed or was "
    "refused;\n"
    "2 usage; 3 device or driver; 4 damaged or incompatible file.\n";

Status parseSeconds(const std::string &name, const std::string &value, double &number) {
  char *end = nullptr;
  number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end || !(number > 0) || number > 1e6)
    return failure(Code::InvalidArgument, "--%s: '%s' is not a number above 0", name.c_str(),
                   value.c_str());
  return {};
}

Status parseOption(const std::string &name, const std::string &value, bool hasValue,
                   Options &options) {
  for (auto [flag, member] :
       {std::pair("help", &options.help), std::pair("version", &options.version),
        std::pair("list", &options.list)})
    if (name == flag) {
      *member = true;
      return hasValue ? failure(Code::InvalidArgument, "--%s takes no value", flag) : Status();
    }
  for (auto [text, member] : {std::pair("out", &options.out), std::pair("only", &options.only),
                              std::pair("bundle", &options.bundle)})
    if (name == text) {
      *member = value;
      return value.empty() ? failure(Code::InvalidArgument, "--%s=VALUE: no value", text)
                           : Status();
    }
  if (name == "minutes")
    return parseSeconds(name, value, options.minutes);
  if (name == "timeout")
    return parseSeconds(name, value, options.worker.timeout);
  if (name == "device") {
    Status status = cli::parseDevice(value, options.worker.device);
    return status.ok() ? Status()
                       : failure(Code::InvalidArgument, "--device: %s", status.message().c_str());
  }
  return failure(Code::InvalidArgument, "unknown option --%s; --help lists them", name.c_str());
}

Status parseOptions(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.compare(0, 2, "--") != 0)
      return failure(Code::InvalidArgument, "unknown argument '%s'; --help lists the options",
                     argv[i]);
    size_t equals = argument.find('=');
    bool hasValue = equals != std::string::npos;
    CAMEO_RETURN_IF_ERROR(parseOption(argument.substr(2, hasValue ? equals - 2 : equals),
                                      hasValue ? argument.substr(equals + 1) : "", hasValue,
                                      options));
  }
  return {};
}

Status open(const Options &options, Bundle &bundle) {
  std::unique_ptr<runtime::Payload> payload;
  if (!options.bundle.empty()) {
    CAMEO_RETURN_IF_ERROR(runtime::Payload::open(options.bundle.c_str(), payload));
  } else {
    runtime::OwnFile own = runtime::ownFile();
    if (!runtime::Payload::isPresent(own.path))
      return failure(Code::Corrupt,
                     "this executable holds no bundle, or was cut off; --bundle=FILE "
                     "measures another file's");
    CAMEO_RETURN_IF_ERROR(runtime::Payload::open(own.path, payload, own.name));
  }
  return openBundle(std::move(payload), bundle);
}

// The dispatches of one architecture, 0 for all, whose nodes are asked for.
std::vector<uint32_t> chosenDispatches(const Bundle &bundle, const Options &options,
                                       uint32_t arch) {
  std::vector<uint32_t> chosen;
  for (uint32_t i = 0; i < bundle.dispatches.size(); ++i) {
    const Dispatch &dispatch = bundle.dispatches[i];
    if ((!arch || dispatch.arch == arch) && dispatch.nodes.find(options.only) != std::string::npos)
      chosen.push_back(i);
  }
  return chosen;
}

std::string shortened(const std::string &text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

void list(const Bundle &bundle, const std::vector<uint32_t> &dispatches) {
  std::printf("%-12s %5s %10s %12s  nodes\n", "target", "uses", "schedules", "estimate, us");
  for (uint32_t i : dispatches) {
    const Dispatch &dispatch = bundle.dispatches[i];
    std::printf("%-12s %5lld %10zu %12.1f  %s\n", dispatch.target.c_str(), (long long)dispatch.uses,
                dispatch.candidates.size(), dispatch.candidates.front().estimate,
                shortened(dispatch.nodes, 60).c_str());
  }
}

class Tuning {
public:
  Tuning(const Options &options, const Bundle &bundle) : options(options), bundle(bundle) {}

  Status run() {
    Worker worker(bundle, options.worker);
    CAMEO_RETURN_IF_ERROR(worker.start(machine));
    rounds = std::make_unique<Rounds>(bundle, chosenDispatches(bundle, options, machine.arch));
    if (rounds->dispatches().empty())
      return failure(Code::InvalidArgument, "--only=%s: no node has that in its name",
                     options.only.c_str());
    machine.target = bundle.dispatches[rounds->dispatches().front()].target;
    std::vector<Result> former;
    CAMEO_RETURN_IF_ERROR(file.open(options.out, bundle, machine, former));
    for (const Result &result : former)
      take(result);
    std::fprintf(stderr, "%s, driver %u.%u: %zu schedules of %zu kernels; %zu were tried before\n",
                 machine.device.c_str(), machine.driver / 1000, machine.driver % 1000 / 10,
                 rounds->total(), rounds->dispatches().size(), rounds->tried());
    for (Visit visit; !isOver() && rounds->next(visit);) {
      CAMEO_RETURN_IF_ERROR(worker.measure(visit, [&](const Result &result) {
        take(result);
        if (result.outcome != Outcome::Ok)
          report(result);
        return file.add(result);
      }));
      showProgress(visit.round);
    }
    return {};
  }

  void summarise() const {
    double chosen = 0, best = 0;
    size_t better = 0;
    std::printf("%12s %12s %12s  nodes\n", "estimate, us", "measured, us", "fastest, us");
    for (uint32_t dispatch : rounds->dispatches()) {
      int32_t fastest = rounds->best(dispatch);
      if (fastest < 0)
        continue;
      const Dispatch &each = bundle.dispatches[dispatch];
      double first = rounds->microseconds(dispatch, 0);
      double time = rounds->microseconds(dispatch, uint32_t(fastest));
      chosen += double(each.uses) * (first > 0 ? first : time);
      best += double(each.uses) * time;
      better += fastest != 0;
      std::printf("%12.2f %12.2f %12.2f  %s\n", each.candidates.front().estimate, first, time,
                  shortened(each.nodes, 60).c_str());
    }
    std::printf("%zu of %zu schedules tried, in %.0f s\n", rounds->tried(), rounds->total(),
                seconds());
    std::printf(
        "%zu kernels have a faster one than the estimate's: %.1f us instead of %.1f us, all "
        "kernels together\n",
        better, best, chosen);
    std::printf("cameoc --schedules=%s compiles with them\n", options.out.c_str());
  }

  bool allWell() const { return !faults; }

private:
  void take(const Result &result) {
    rounds->add(result);
    faults += result.outcome != Outcome::Ok;
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  }
  bool isOver() const { return seconds() > options.minutes * 60; }

  void report(const Result &result) const {
    const Dispatch &dispatch = bundle.dispatches[result.dispatch];
    std::fprintf(stderr, "%s: %s, of %s: %s\n", outcomeName(result.outcome),
                 dispatch.candidates[result.candidate].schedule.c_str(), dispatch.nodes.c_str(),
                 result.message.c_str());
  }

  // A bar on a terminal, a line every ten seconds elsewhere.
  void showProgress(uint32_t round) {
    bool isTerminal = isatty(STDERR_FILENO);
    double now = seconds();
    if (now < nextProgress)
      return;
    nextProgress = now + (isTerminal ? 0.2 : 10);
    std::fprintf(stderr, "%s%3.0f s: %zu of %zu schedules tried, round %u of %u%s",
                 isTerminal ? "\r" : "", now, rounds->tried(), rounds->total(), round, kRounds,
                 isTerminal ? " " : "\n");
  }

  const Options &options;
  const Bundle &bundle;
  Machine machine;
  ResultsFile file;
  std::unique_ptr<Rounds> rounds;
  size_t faults = 0;
  double nextProgress = 10;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

int start(int argc, char **argv) {
  Options options;
  Bundle bundle;
  Status status = parseOptions(argc, argv, options);
  if (status.ok() && options.help) {
    std::fputs(kHelp, stdout);
    return cli::Good;
  }
  if (status.ok() && options.version) {
    std::printf("cameo %s, payload versions %u to %u\n", CAMEO_VERSION,
                runtime::kOldestPayloadVersion, CAMEO_PAYLOAD_VERSION);
    return cli::Good;
  }
  if (status.ok())
    status = open(options, bundle);
  if (status.ok() && options.list) {
    list(bundle, chosenDispatches(bundle, options, 0));
    return cli::Good;
  }
  Tuning tuning(options, bundle);
  if (status.ok())
    status = tuning.run();
  if (!status.ok()) {
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
    return cli::exitCode(status.code());
  }
  tuning.summarise();
  if (std::fflush(stdout) != 0) {
    std::fprintf(stderr, "error: cannot write the output\n");
    return cli::Usage;
  }
  return tuning.allWell() ? cli::Good : cli::Mismatch;
}

} // namespace
} // namespace cameo::tune

int main(int argc, char **argv) {
  // A limit on the size of files is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return cameo::tune::start(argc, argv);
}
