// Prints each message that a logger of cameo.hpp is told:
//
//   log_checks MODEL IMAGE_BYTES
//
// The logger is held by nobody but the device, which goes before the model and the context do.
// SPDX-License-Identifier: Apache-2.0
#include <cameo.hpp>

#include <cstdio>
#include <optional>

static const char *nameOf(cameo_log_level level) {
  constexpr const char *kNames[] = {"?", "error", "warning", "info", "debug"};
  return kNames[level];
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  cameo::Logger print = [](cameo_log_level level, const std::string &text) {
    std::printf("%s: %s\n", nameOf(level), text.c_str());
  };
  {
    std::optional<cameo::Device> device = cameo::Device::simulator(1, print, CAMEO_LOG_DEBUG);
    try {
      cameo::Model::load("none", *device);
    } catch (const cameo::Error &error) {
      std::printf("caught: %s\n", error.what());
    }
    std::optional<cameo::Model> model = cameo::Model::load(argv[1], *device);
    cameo::Context context(*model);
    device.reset();
    model.reset();
    context.setSize("N", 2);
    std::vector<char> image(std::stoul(argv[2]) * 2);
    context.bindInputBytes(0, image.data(), image.size());
    context.run();
    context.run();
    try {
      context.notify({});
    } catch (const cameo::Error &error) {
      std::printf("caught: %s\n", error.what());
    }
  }
  std::printf("by default\n");
  cameo::Device device = cameo::Device::simulator(1, print);
  cameo::Context context(cameo::Model::load(argv[1], device));
  context.setSize("N", 2);
  context.outputShape(0);
  std::printf("without\n");
  cameo::Device silent = cameo::Device::simulator(1);
  cameo::Model::load(argv[1], silent);
  return 0;
}
