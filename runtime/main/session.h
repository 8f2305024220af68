// What every mode of the command line shares: the device, the model, the tensors given.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MAIN_SESSION_H
#define CAMEO_RUNTIME_MAIN_SESSION_H

#include "runtime/core/context.h"
#include "runtime/main/json.h"
#include "runtime/main/options.h"
#include "runtime/main/tensor.h"

namespace cameo::sim {
struct LaunchCounters;
}

namespace cameo::cli {

struct Session {
  std::shared_ptr<runtime::Device> device;
  std::shared_ptr<runtime::Model> model;
  uint32_t entry = 0;
  std::string place;      // "NVIDIA H200 (cuda:0, sm_90)", "the simulator"
  uint64_t freeBytes = 0; // of the device's memory before the model was loaded, for --benchmark
  uint64_t seed = 0;      // of random numbers that the model draws
  Json manifest;          // null where it is no JSON

  const runtime::Plan &plan() const { return model->entries()[entry]->plan; }
  bool simulated() const { return device->info().kind == runtime::DeviceKind::Simulator; }
};

// By --device. The simulator is taken unasked only where there is no driver at all, which is said on
// stderr.
Status openDevice(const DeviceOptions &options, std::shared_ptr<runtime::Device> &device);
// Options of a context for the session's entry point, all of whose runs draw one run's random numbers and begin with the same
// states: results are compared.
runtime::ContextOptions contextOptionsOf(const Session &session);
// Opens device and model for a session; says on stderr where it runs.
Status openSession(const Options &options, std::unique_ptr<runtime::Payload> payload,
                   Session &session);

// All inputs of the entry point, in order: those given, or random ones where allowed.
Status gatherInputs(const Options &options, const Session &session,
                    std::vector<HostTensor> &inputs);

// Text such as "name=@file" or "@file", with the name looked up among `tensors`; without one, the
// first that no other text names. The result is parallel to `texts`: index and what follows.
struct Assignment {
  uint32_t index;
  std::string value; // without '@' where it is a file
  bool isFile;
};
Status assign(const char *option, const std::vector<std::string> &texts,
              const std::vector<runtime::PlanTensor> &tensors,
              std::vector<Assignment> &assignments);

// Whether `text` is "name=..." for one of them.
bool beginsWithName(const std::string &text, const std::vector<runtime::PlanTensor> &tensors);

// The tensors that texts give, read: as assign(), and an .npz file without a name stands for all of
// `tensors` that its members have the names of.
struct GivenTensor {
  uint32_t index;
  HostTensor tensor;
};
Status readGiven(const char *option, const std::vector<std::string> &texts,
                 const std::vector<runtime::PlanTensor> &tensors, std::vector<GivenTensor> &given);

// What --expected_output gives, in the outputs' types where that can be.
Status readExpected(const Options &options, const Session &session,
                    std::vector<GivenTensor> &expected);

// Sizes of all inputs: those of --shapes, else the model's own, else those of the same name that
// are given, else 1.
Status chooseShapes(const Options &options, const std::vector<runtime::PlanTensor> &tensors,
                    std::vector<Shape> &shapes);

// Sets shapes and host bindings for `inputs`.
Status bindInputs(runtime::Context &context, std::vector<HostTensor> &inputs);

// Has the context's runs write each tapped value to a file of the folder, which is made if it is
// not there.
Status writeTaps(const std::string &folder, runtime::Context &context);

// The modes. Mismatches are reported through `matched`.
Status runOnce(const Options &options, Session &session, std::vector<HostTensor> &inputs,
               bool &matched);
// A run whose launches are enqueued one by one, with nothing recorded.
Status runEagerly(Session &session, std::vector<HostTensor> &inputs,
                  std::vector<HostTensor> &outputs);
// `interrupted`: the signal that ended it early, whose results are printed too; else unchanged.
Status runBenchmark(const Options &options, Session &session, std::vector<HostTensor> &inputs,
                    bool &matched, int &interrupted);
Status runProfile(const Options &options, Session &session, std::vector<HostTensor> &inputs);
Status runCounters(const Options &options, Session &session, std::vector<HostTensor> &inputs);
Status printInfo(const Options &options, const runtime::Payload &payload);

// "123 B", "1.5 KiB", "97.5 MiB".
std::string bytesText(uint64_t bytes);
// What was counted of a launch, as members of a JSON object.
std::string formatCounters(const sim::LaunchCounters &counters);
// "a,b" ==> ["a","b"]
std::string nodeList(const char *nodes);

// How far results may be from what is expected: by `atol`, and where `share` is given by that part of
// the largest magnitude expected, and by `rtol` of each element.
struct Tolerance {
  const char *precision; // that it is for; null: --atol and --rtol
  double atol, share, rtol;
};
// Of outputs of that type: --atol and --rtol, else by the type and by the precision of the model.
Tolerance toleranceOf(const Options &options, const Session &session, uint32_t dtype);
// How far a floating-point output is from what is expected, whatever the tolerance.
void printErrors(uint32_t index, const HostTensor &actual, const HostTensor &expected);
// Prints IREE's line for the first mismatch and one of statistics; whether all matched.
bool compareOutput(uint32_t index, const HostTensor &actual, const HostTensor &expected,
                   const Options &options, const Session &session);
// Whether two runs gave the same bits; prints where they did not. `what` and `other` name the runs.
bool compareBits(uint32_t index, const HostTensor &actual, const char *what,
                 const HostTensor &reference, const char *other);

} // namespace cameo::cli

#endif
