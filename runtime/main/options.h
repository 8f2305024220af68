// The command line of an artefact.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_OPTIONS_H
#define CAMEO_RUNTIME_MAIN_OPTIONS_H

#include "runtime/core/device.h"

#include <string>
#include <vector>

namespace cameo::cli {

using runtime::Code;
using runtime::failure;
using runtime::Status;

enum class Report { None, Text, Json };
enum class DeviceChoice { Auto, Cuda, Simulator };

// The device to run on.
struct DeviceOptions {
  DeviceChoice device = DeviceChoice::Auto;
  int ordinal = 0;
  bool simOnly = false; // an option was given that only the simulator knows
  runtime::SimOptions sim;
};

struct Options : DeviceOptions {
  bool help = false, version = false;
  Report info = Report::None;
  std::string model; // "": the executable's own payload
  std::string entry; // "": the first
  uint32_t arch = 0; // 0: the best code there is

  // What follows the option's "=", in order.
  std::vector<std::string> inputs, outputs, expected, shapes;
  double atol = -1, rtol = -1; // negative: by type
  bool equalNan = false;
  const char *comparison = nullptr; // the last of these options that was given
  bool randomInputs = false;
  uint64_t randomSeed = 0;
  uint64_t seed = 0; // of random numbers that the model draws

  double timeout = 0;   // seconds; 0: none
  std::string counters; // file for what is counted; "": none

  Report benchmark = Report::None;
  uint32_t iterations = 10; // at least
  double warmUp = 200;      // milliseconds
  double duration = 3;      // seconds, at least
  uint32_t averageRuns = 0; // 0: no averages are printed
  std::vector<double> percentiles = {90, 95, 99};
  uint32_t streams = 1;
  bool transfers = true; // between host and device, in each run
  bool spin = false;     // waiting for the device spins, whatever there is of processors
  bool cold = false;     // caches hold nothing of a run when it begins
  bool profiled = false; // times of kernels are shown
  std::string profile;   // file for them; "": none
  uint32_t profileRuns = 20;

  uint32_t runs = 1; // plain ones
  std::string taps;  // folder for tapped values; "": none
};

// "auto", "cuda", "cuda:1", "sim".
Status parseDevice(const std::string &value, DeviceOptions &options);
Status parseOptions(int argc, char **argv, Options &options);
void printHelp(const char *program);

} // namespace cameo::cli

#endif
