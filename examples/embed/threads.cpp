// Runs a model of one input and one output from C++, by two threads at once, on the device named:
//
//   threads sim|cuda MODEL INPUT.raw
//
// INPUT.raw holds float samples of the model's first input, whose first size is open. Each thread has a context, and gives it
// batches of another size each time: one binds host memory, the other memory of the device. Prints, of each thread,
// where the largest value of each sample's output is.
//
// SPDX-License-Identifier: Apache-2.0
#include <cameo.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>

using Samples = std::vector<float>;

static Samples readFloats(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Samples numbers(bytes.size() / sizeof(float));
  if (!numbers.empty())
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

// Batches of 1, 2, 3, ... samples, as far as they go.
template <typename Run> static std::string classify(const Samples &samples, size_t size, Run run) {
  std::string text;
  size_t at = 0, batch = 1;
  for (; at < samples.size(); at += batch++ * size) {
    size_t count = std::min(batch, (samples.size() - at) / size);
    std::vector<float> logits = run(cameo::Span(samples.data() + at, count * size), int64_t(count));
    size_t width = logits.size() / count;
    for (auto row = logits.begin(); row != logits.end(); row += width)
      text += " " + std::to_string(std::max_element(row, row + width) - row);
  }
  return text;
}

int main(int argc, char **argv) try {
  if (argc != 4) {
    std::cerr << "usage: threads sim|cuda MODEL INPUT.raw\n";
    return 2;
  }
  cameo::Device device =
      argv[1] == std::string("sim") ? cameo::Device::simulator() : cameo::Device::cuda();
  cameo::Model model = cameo::Model::load(argv[2], device);
  Samples samples = readFloats(argv[3]);
  std::vector<int64_t> shape = model.inputs().at(0).shape;
  size_t size = 1; // of a sample
  for (size_t i = 1; i < shape.size(); ++i)
    size *= size_t(shape[i]);

  auto shaped = [&](cameo::Context &context, int64_t count) {
    std::vector<int64_t> sizes = shape;
    sizes[0] = count;
    context.setShape(0, sizes);
  };
  // Errors of a thread are thrown by its get().
  auto onHost = std::async(std::launch::async, [&] {
    cameo::Context context(model);
    return classify(samples, size, [&](cameo::Span<const float> images, int64_t count) {
      shaped(context, count);
      context.bindInput(0, images);
      context.run();
      return context.read<float>(0);
    });
  });
  auto onDevice = std::async(std::launch::async, [&] {
    cameo::Context context(model);
    cameo::Memory input(device, samples.size() * sizeof(float));
    context.bindInput(0, input);
    return classify(samples, size, [&](cameo::Span<const float> images, int64_t count) {
      shaped(context, count);
      input.write(images);
      context.enqueue();
      return context.read<float>(0);
    });
  });
  for (auto *thread : {&onHost, &onDevice})
    std::cout << model.outputs().at(0).name << ":" << thread->get() << "\n";
  return 0;
} catch (const cameo::Error &error) {
  std::cerr << cameo_status_name(error.status()) << ": " << error.what() << "\n";
  return 1;
}
