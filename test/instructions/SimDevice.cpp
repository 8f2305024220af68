// Instruction tests on the simulator.
//
// SPDX-License-Identifier: Apache-2.0
#include "test/instructions/Device.h"

#include "runtime/sim/engine.h"

namespace instructions {
namespace {

using namespace cameo::sim;

class Simulator : public Device {
public:
  Simulator(std::unique_ptr<Image> image, const Options &options)
      : image_(std::move(image)), engine_(options) {}

  Outcome run(const Case &one, std::vector<Bytes> &buffers) override {
    Launch launch;
    launch.image = &image_->table();
    launch.kernel = image_->find(one.name.c_str());
    if (!launch.kernel)
      return {Outcome::Refused, "the image has no such kernel"};
    launch.grid[0] = one.blocks;
    launch.block[0] = one.threads;
    launch.nonPortableCluster = one.cluster > 8;
    launch.sharedDynamic = one.shared;
    std::vector<void *> memory;
    for (const Bytes &buffer : buffers) {
      memory.push_back(engine_.allocate(buffer.size(), "parameter"));
      memcpy(memory.back(), buffer.data(), buffer.size());
      engine_.markInitialised(memory.back(), buffer.size());
    }
    std::vector<const void *> arguments;
    for (void *&buffer : memory)
      arguments.push_back(&buffer);
    std::vector<EncodedMap> values(one.maps.size());
    for (size_t i = 0; i < one.maps.size(); ++i) {
      const TensorMap &map = one.maps[i];
      TensorMapParameters parameters = map.parameters;
      parameters.address = memory[map.data];
      bool isParameter = map.place == MapPlace::Parameter;
      if (const char *error =
              encodeTensorMap(parameters, isParameter ? values[i].bytes : memory[map.map]))
        return {Outcome::Refused, error};
      if (isParameter)
        arguments[map.map] = values[i].bytes;
    }
    launch.args = arguments.data();
    LaunchResult result = engine_.launch(launch);
    for (size_t i = 0; i < buffers.size(); ++i) {
      memcpy(buffers[i].data(), memory[i], buffers[i].size());
      engine_.release(memory[i]);
    }
    if (result.ok())
      return {};
    return {Outcome::Refused, result.reports.empty() ? result.error : result.reports[0].text};
  }

private:
  std::unique_ptr<Image> image_;
  Engine engine_;
};

} // namespace

std::unique_ptr<Device> openSimulator(const Bytes &code, const std::string &checks, uint64_t seed,
                                      std::string &error) {
  Options options;
  options.seed = seed;
  if (!parseChecks(checks.c_str(), options.checks, error)) {
    error = "no such check: " + error;
    return nullptr;
  }
  std::unique_ptr<Image> image = Image::load(code.data(), code.size(), error);
  return image ? std::make_unique<Simulator>(std::move(image), options) : nullptr;
}

} // namespace instructions
