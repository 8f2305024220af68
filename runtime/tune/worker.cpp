// Lines through two pipes: visits one way; what is begun, and what came of it, the other.
//
//   to the process      visit DISPATCH ROUND REPLAYS REFERENCE CANDIDATE...
//   from the process    machine ARCH DRIVER NAME
//                       error MESSAGE
//                       begin CANDIDATE
//                       end CANDIDATE OUTCOME MICROSECONDS SPREAD CLOCK REPLAYS TOGETHER BITS MESSAGE
//                       done
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/worker.h"

#include "runtime/main/session.h"
#include "runtime/tune/bench.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cameo::tune {
namespace {

// Opening a driver and its first image may take longer than any candidate.
constexpr double kStartSeconds = 60;

std::string oneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// The process's own side.
class Process {
public:
  Process(const Bundle &bundle, const WorkerOptions &options, int in, int out)
      : bundle(bundle), options(options), in(in), out(out) {}

  int run() {
    std::shared_ptr<runtime::Device> device;
    uint32_t arch = 0;
    Status status = cli::openDevice(options.device, device);
    std::unique_ptr<Bench> bench;
    if (status.ok()) {
      bench = std::make_unique<Bench>(bundle, device);
      status = bench->chooseArch(arch);
    }
    if (!status.ok()) {
      say("error " + oneLine(status.message()));
      return 1;
    }
    say("machine " + std::to_string(arch) + " " + std::to_string(device->info().driverVersion) +
        " " + oneLine(device->info().name));
    for (std::string line; readLine(line);)
      measure(*bench, line);
    return 0;
  }

private:
  void measure(Bench &bench, const std::string &line) {
    std::istringstream words(line);
    std::string word;
    Visit visit;
    words >> word >> visit.dispatch >> visit.round >> visit.replays >> visit.reference;
    for (uint32_t candidate; words >> candidate;)
      visit.candidates.push_back(candidate);
    bool isWhole = bench.visit(
        visit, [&](uint32_t candidate) { say("begin " + std::to_string(candidate)); },
        [&](const Result &result) {
          char numbers[160];
          std::snprintf(numbers, sizeof numbers, "end %u %s %.9g %.9g %u %u %u %d ",
                        result.candidate, outcomeName(result.outcome), result.microseconds,
                        result.spread, result.clock, result.replays, result.together,
                        int(result.sameBits));
          say(numbers + oneLine(result.message));
        });
    if (!isWhole)
      _exit(0); // the device is lost: another process opens it anew
    say("done");
  }

  void say(const std::string &line) {
    std::string text = line + "\n";
    for (size_t at = 0; at < text.size();) {
      ssize_t written = write(out, text.data() + at, text.size() - at);
      if (written < 0 && errno != EINTR)
        _exit(1); // nobody listens
      at += written > 0 ? size_t(written) : 0;
    }
  }
  bool readLine(std::string &line) {
    line.clear();
    for (char c; read(in, &c, 1) == 1; line += c)
      if (c == '\n')
        return true;
    return false;
  }

  const Bundle &bundle;
  const WorkerOptions &options;
  int in, out;
};

} // namespace

Worker::~Worker() { stop(); }

void Worker::stop() {
  if (process > 0) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  for (int *end : {&toProcess, &fromProcess}) {
    if (*end >= 0)
      close(*end);
    *end = -1;
  }
  process = -1;
  pending.clear();
}

Status Worker::spawn() {
  stop();
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0)
    return failure(Code::Io, "cannot start a process: %s", strerror(errno));
  std::fflush(nullptr);
  process = fork();
  if (process < 0)
    return failure(Code::Io, "cannot start a process: %s", strerror(errno));
  if (process == 0) {
    close(to[1]);
    close(from[0]);
    int code = Process(bundle, options, to[0], from[1]).run();
    std::fflush(nullptr);
    _exit(code);
  }
  close(to[0]);
  close(from[1]);
  toProcess = to[1];
  fromProcess = from[0];
  bool hung = false;
  std::string line;
  double patience = options.timeout;
  options.timeout = std::max(patience, kStartSeconds);
  bool answered = readLine(line, hung);
  options.timeout = patience;
  if (!answered)
    return failure(Code::Driver,
                   hung ? "the device does not open within %g s"
                        : "the process that opens the device ends without a word",
                   kStartSeconds);
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "machine")
    return failure(Code::Driver, "%s", line.substr(line.find(' ') + 1).c_str());
  words >> machine.arch >> machine.driver;
  std::getline(words >> std::ws, machine.device);
  return {};
}

Status Worker::start(Machine &result) {
  std::signal(SIGPIPE, SIG_IGN);
  CAMEO_RETURN_IF_ERROR(spawn());
  result = machine;
  return {};
}

bool Worker::readLine(std::string &line, bool &hung) {
  hung = false;
  for (;;) {
    if (size_t end = pending.find('\n'); end != std::string::npos) {
      line = pending.substr(0, end);
      pending.erase(0, end + 1);
      return true;
    }
    struct pollfd waited = {fromProcess, POLLIN, 0};
    int ready = poll(&waited, 1, int(options.timeout * 1000));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0) {
      hung = true;
      return false;
    }
    char buffer[4096];
    ssize_t got = read(fromProcess, buffer, sizeof buffer);
    if (got <= 0)
      return false;
    pending.append(buffer, size_t(got));
  }
}

Status Worker::measure(const Visit &visit, const std::function<Status(const Result &)> &callback) {
  std::vector<uint32_t> left = visit.candidates;
  while (!left.empty()) {
    if (process < 0)
      CAMEO_RETURN_IF_ERROR(spawn());
    std::ostringstream line;
    line << "visit " << visit.dispatch << " " << visit.round << " " << visit.replays << " "
         << visit.reference;
    for (uint32_t candidate : left)
      line << " " << candidate;
    line << "\n";
    // Where the process is gone, reading tells.
    (void)!write(toProcess, line.str().data(), line.str().size());
    bool isBegun = false, hung = false;
    std::string answer;
    while (readLine(answer, hung) && answer != "done") {
      std::istringstream words(answer);
      std::string word, outcome;
      words >> word;
      isBegun = word == "begin";
      if (word != "end")
        continue;
      Result result;
      int bits = 0;
      result.dispatch = visit.dispatch;
      result.round = visit.round;
      words >> result.candidate >> outcome >> result.microseconds >> result.spread >>
          result.clock >> result.replays >> result.together >> bits;
      result.sameBits = bits != 0;
      std::getline(words >> std::ws, result.message);
      if (!parseOutcome(outcome, result.outcome))
        return failure(Code::Internal, "'%s' is no answer", answer.c_str());
      CAMEO_RETURN_IF_ERROR(callback(result));
      left.erase(std::remove(left.begin(), left.end(), result.candidate), left.end());
    }
    if (answer == "done")
      return {};
    stop();
    if (!isBegun)
      continue;
    Result result;
    result.dispatch = visit.dispatch;
    result.round = visit.round;
    result.candidate = left.front();
    result.outcome = hung ? Outcome::Hung : Outcome::Crashed;
    char text[80];
    std::snprintf(text, sizeof text, "no answer within %g s", options.timeout);
    result.message = hung ? text : "the process that measured it is gone";
    CAMEO_RETURN_IF_ERROR(callback(result));
    left.erase(left.begin());
  }
  return {};
}

} // namespace cameo::tune
