// cameo-instructions: kernels of single instructions, run on the simulator or on a GPU and
// compared with references.
//
//   --print-kernels=sm_80                     the kernels that sm_80 has, for cameo-translate
//   --list --arch=sm_80                       their names, one a line
//   --device=sim --code=IMAGE --arch=sm_80    runs them: a simulator image, or
//   --device=cuda --code=CUBIN --arch=sm_80   a cubin of theirs
//   --checks=all --seed=N                     of the simulator
//   --timeout=SECONDS                         of the GPU: what a kernel may take; 20 unless given
//   --only=TEXT                               only kernels whose name contains it
//   --only==NAME                              only that one
//
// One line per kernel: `PASS NAME`; `FAIL NAME: INSTRUCTION: WHAT`, of which lines that begin with a
// space tell more; `HANG NAME: ...` for one that does not end in time, and `SKIP NAME` for those
// that come after it, or after an error that loses the GPU's context. The last line is `N passed, N
// failed`, with `, N not run` if there are any.
//
// Exits with 0; with 1 where results are wrong; 2 where it cannot begin; 3 where the device reports
// a fault; 4 where a kernel hangs. The greatest counts.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace instructions;

namespace {

std::vector<Case> casesOf(unsigned architecture, const std::string &only) {
  std::vector<Case> all, chosen;
  addMmaCases(all);
  addWarpCases(all);
  addMemoryCases(all);
  addAtomCases(all);
  addApproxCases(all);
  addConvertCases(all);
  addBarrierCases(all);
  addWgmmaCases(all);
  addTensorCases(all);
  addClusterCases(all);
  addFormCases(all);
  addPipelineCases(all);
  bool exactly = only.rfind('=', 0) == 0;
  auto isChosen = [&](const Case &one, const std::string &name) {
    return one.since <= architecture &&
           (exactly ? "=" + name == only : name.find(only) != std::string::npos);
  };
  // Where the nvvm dialect has the operations, each kernel in that spelling, too.
  std::vector<Case> twins;
  for (const Case &one : all) {
    if (!isChosen(one, one.name + "_nvvm"))
      continue;
    Case twin = one;
    twin.kernel = nvvmSpelling(twin.kernel);
    if (twin.kernel.empty())
      continue;
    twin.name += "_nvvm";
    for (const char *symbol : {"@", "@dynamic_"}) {
      std::string from = symbol + one.name;
      for (size_t at = 0; (at = twin.kernel.find(from, at)) != std::string::npos; at += from.size())
        twin.kernel.insert(at + from.size(), "_nvvm");
    }
    twins.push_back(std::move(twin));
  }
  for (Case &one : all)
    if (isChosen(one, one.name))
      chosen.push_back(std::move(one));
  std::move(twins.begin(), twins.end(), std::back_inserter(chosen));
  return chosen;
}

enum Exit { kGood = 0, kWrong = 1, kUsage = 2, kFault = 3, kHang = 4 };

int usage(const std::string &what) {
  fprintf(stderr, "cameo-instructions: %s\n", what.c_str());
  return kUsage;
}

struct Settings {
  std::string device, code, architecture, only, checks = "none", seed = "0", timeout = "20";
  bool print = false, list = false;
};

/// What is wrong with the arguments, or nothing.
std::string parse(int count, char **arguments, Settings &settings) {
  struct Option {
    const char *name;
    std::string *value;
  };
  const Option options[] = {{"--print-kernels=", &settings.architecture},
                            {"--device=", &settings.device},
                            {"--code=", &settings.code},
                            {"--arch=", &settings.architecture},
                            {"--only=", &settings.only},
                            {"--checks=", &settings.checks},
                            {"--seed=", &settings.seed},
                            {"--timeout=", &settings.timeout}};
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    if (argument == "--list") {
      settings.list = true;
      continue;
    }
    const Option *found = nullptr;
    for (const Option &option : options)
      if (argument.compare(0, strlen(option.name), option.name) == 0)
        found = &option;
    if (!found)
      return "unknown argument " + argument;
    *found->value = argument.substr(strlen(found->name));
    settings.print |= found == options;
  }
  if (settings.architecture.compare(0, 3, "sm_"))
    return "needs an architecture: --arch=sm_80";
  char *end;
  if (!(strtod(settings.timeout.c_str(), &end) > 0) || *end)
    return "not a time in seconds: --timeout=" + settings.timeout;
  return {};
}

std::unique_ptr<Device> open(const Settings &settings, std::string &error) {
  std::ifstream file(settings.code, std::ios::binary);
  Bytes bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty())
    error = "cannot read " + settings.code;
  else if (settings.device == "sim")
    return openSimulator(bytes, settings.checks, strtoull(settings.seed.c_str(), nullptr, 10),
                         error);
  else if (settings.device == "cuda")
    return openCuda(bytes, strtod(settings.timeout.c_str(), nullptr), error);
  else
    error = "no such device: " + settings.device;
  return nullptr;
}

int run(Device &device, const std::vector<Case> &cases) {
  unsigned passed = 0, failed = 0, skipped = 0;
  int result = kGood;
  bool goesOn = true;
  for (const Case &one : cases) {
    if (!goesOn) {
      ++skipped;
      printf("SKIP %s\n", one.name.c_str());
      continue;
    }
    std::vector<Bytes> buffers = one.buffers;
    Outcome outcome = device.run(one, buffers);
    bool ran = outcome.kind == Outcome::Ran, hung = outcome.kind == Outcome::Hung;
    std::string wrong = ran ? one.check(buffers) : outcome.message;
    goesOn = outcome.kind <= Outcome::Refused;
    ++(ran && wrong.empty() ? passed : failed);
    if (ran && wrong.empty())
      printf("PASS %s\n", one.name.c_str());
    else
      printf("%s %s: %s: %s\n", hung ? "HANG" : "FAIL", one.name.c_str(), one.instruction.c_str(),
             wrong.c_str());
    result = std::max<int>(result, hung ? kHang : !ran ? kFault : wrong.empty() ? kGood : kWrong);
    fflush(stdout); // the next one may end the process
  }
  printf("%u passed, %u failed", passed, failed);
  if (skipped)
    printf(", %u not run", skipped);
  printf("\n");
  fflush(stdout);
  if (!goesOn)
    _exit(result); // the driver would wait for the kernel
  return result ? result : passed ? kGood : kWrong;
}

} // namespace

int main(int count, char **arguments) {
  Settings settings;
  if (std::string wrong = parse(count, arguments, settings); !wrong.empty())
    return usage(wrong);
  std::vector<Case> cases =
      casesOf(unsigned(strtoul(settings.architecture.c_str() + 3, nullptr, 10)), settings.only);
  if (settings.print || settings.list) {
    for (const Case &one : cases)
      fputs(settings.list ? (one.name + "\n").c_str() : one.kernel.c_str(), stdout);
    return kGood;
  }
  std::string error;
  std::unique_ptr<Device> device = open(settings, error);
  return device ? run(*device, cases) : usage(error);
}
