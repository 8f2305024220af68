// cameo-instructions: kernels of single instructions, run on the simulator or on a GPU and
// compared with references.
//
//   --print-kernels=sm_80                     the kernels that sm_80 has, for cameo-translate
//   --device=sim --code=IMAGE --arch=sm_80    runs them: a simulator image, or
//   --device=cuda --code=CUBIN --arch=sm_80   a cubin of theirs
//   --checks=all --seed=N                     of the simulator
//   --only=TEXT                               only kernels whose name contains it
//   --only==NAME                              only that one
//
// Exits with 0, with 1 where results are wrong, with 3 where the device reports a fault.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Device.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace instructions;

namespace {

std::vector<Case> casesOf(unsigned architecture, const std::string &only) {
  std::vector<Case> all, chosen;
  addMmaCases(all);
  addWarpCases(all);
  addMemoryCases(all);
  addAtomCases(all);
  addApproxCases(all);
  addBarrierCases(all);
  addWgmmaCases(all);
  addTensorCases(all);
  addClusterCases(all);
  addFormCases(all);
  addPipelineCases(all);
  // Where the nvvm dialect has the operations, each kernel in that spelling, too.
  for (size_t i = 0, count = all.size(); i < count; ++i) {
    Case twin = all[i];
    twin.kernel = nvvmSpelling(twin.kernel);
    if (twin.kernel.empty())
      continue;
    twin.name += "_nvvm";
    for (const char *symbol : {"@", "@dynamic_"}) {
      std::string from = symbol + all[i].name;
      for (size_t at = 0; (at = twin.kernel.find(from, at)) != std::string::npos; at += from.size())
        twin.kernel.insert(at + from.size(), "_nvvm");
    }
    all.push_back(std::move(twin));
  }
  bool exactly = only.rfind('=', 0) == 0;
  for (Case &one : all)
    if (one.since <= architecture &&
        (exactly ? "=" + one.name == only : one.name.find(only) != std::string::npos))
      chosen.push_back(std::move(one));
  return chosen;
}

int usage(const char *what) {
  fprintf(stderr, "cameo-instructions: %s\n", what);
  return 2;
}

} // namespace

int main(int count, char **arguments) {
  std::string device, code, architecture, only, checks = "none", seed = "0";
  bool print = false;
  struct Option {
    const char *name;
    std::string *value;
  };
  const Option options[] = {{"--print-kernels=", &architecture},
                            {"--device=", &device},
                            {"--code=", &code},
                            {"--arch=", &architecture},
                            {"--only=", &only},
                            {"--checks=", &checks},
                            {"--seed=", &seed}};
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    const Option *found = nullptr;
    for (const Option &option : options)
      if (argument.compare(0, strlen(option.name), option.name) == 0)
        found = &option;
    if (!found)
      return usage(("unknown argument " + argument).c_str());
    *found->value = argument.substr(strlen(found->name));
    print |= found == options;
  }
  if (architecture.compare(0, 3, "sm_"))
    return usage("needs an architecture: --arch=sm_80");
  std::vector<Case> cases = casesOf(unsigned(strtoul(architecture.c_str() + 3, nullptr, 10)), only);
  if (print) {
    for (const Case &one : cases)
      fputs(one.kernel.c_str(), stdout);
    return 0;
  }
  std::ifstream file(code, std::ios::binary);
  Bytes bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty())
    return usage(("cannot read " + code).c_str());
  std::string error;
  std::unique_ptr<Device> runner;
  if (device == "sim")
    runner = openSimulator(bytes, checks, strtoull(seed.c_str(), nullptr, 10), error);
  else if (device == "cuda")
    runner = openCuda(bytes, error);
  else
    error = "no such device: " + device;
  if (!runner)
    return usage(error.c_str());
  unsigned passed = 0, failed = 0;
  bool refused = false; // the device did not run one to its end
  for (const Case &one : cases) {
    std::vector<Bytes> buffers = one.buffers;
    std::string wrong = runner->run(one, buffers);
    refused |= !wrong.empty();
    if (wrong.empty())
      wrong = one.check(buffers);
    ++(wrong.empty() ? passed : failed);
    if (!wrong.empty())
      printf("%s: %s: %s\n", one.name.c_str(), one.instruction.c_str(), wrong.c_str());
  }
  printf("%u passed, %u failed\n", passed, failed);
  return refused ? 3 : failed || !passed;
}
