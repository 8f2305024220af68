// Loading of simulator images from memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/check/report.h"
#include "runtime/sim/engine.h"
#include "runtime/sim/object.h"

#include <cpuid.h>
#include <cstring>

namespace cameo::sim {
namespace {

/// Images are compiled for x86-64-v3. Returns the names of what this CPU lacks of it.
std::string missingFeatures() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  unsigned leaf1 = 0, leaf7 = 0, extended = 0;
  uint64_t enabled = 0;
  if (__get_cpuid(1, &a, &b, &c, &d))
    leaf1 = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
    leaf7 = b;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d))
    extended = c;
  if (leaf1 >> 27 & 1) { // xgetbv is there: does the operating system save the wide registers?
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    enabled = low;
  }
  const struct {
    const char *name;
    bool there;
  } features[] = {{"AVX", (leaf1 >> 28 & 1) && (enabled & 6) == 6},
                  {"AVX2", bool(leaf7 >> 5 & 1)},
                  {"FMA", bool(leaf1 >> 12 & 1)},
                  {"F16C", bool(leaf1 >> 29 & 1)},
                  {"MOVBE", bool(leaf1 >> 22 & 1)},
                  {"BMI1", bool(leaf7 >> 3 & 1)},
                  {"BMI2", bool(leaf7 >> 8 & 1)},
                  {"LZCNT", bool(extended >> 5 & 1)}};
  std::string missing;
  for (const auto &feature : features)
    if (!feature.there)
      missing += (missing.empty() ? "" : ", ") + std::string(feature.name);
  return missing;
}

} // namespace

std::unique_ptr<Image> Image::load(const void *bytes, size_t size, std::string &error,
                                   bool *machineLacks) {
  bool lacks = false;
  if (!machineLacks)
    machineLacks = &lacks;
  std::string missing = missingFeatures();
  *machineLacks = !missing.empty();
  if (*machineLacks) {
    error = "the simulator needs a CPU with the x86-64-v3 instructions; this one lacks " + missing;
    return nullptr;
  }
  if (size < 64 || memcmp(bytes, "\177ELF\2\1", 6) != 0) {
    error = "the simulator image is not an ELF file";
    return nullptr;
  }
  std::unique_ptr<Image> image(new Image());
  image->object_ = Object::load(bytes, size, error, *machineLacks);
  if (!image->object_) {
    error = "cannot load the simulator image: " + error;
    return nullptr;
  }
  image->table_ = static_cast<const CameoSimImage *>(
      image->object_->find("cameo_sim_image", sizeof(CameoSimImage), alignof(CameoSimImage)));
  if (!image->table_) {
    error = "the simulator image has no table of kernels";
    return nullptr;
  }
  if (image->table_->version != CAMEO_SIM_ABI_VERSION) {
    error = format("the simulator image is of version %u; this runtime runs version %u",
                   image->table_->version, CAMEO_SIM_ABI_VERSION);
    return nullptr;
  }
  return image;
}

Image::~Image() = default;

const CameoSimKernelInfo *Image::find(const char *kernel) const {
  for (uint32_t i = 0; i < table_->kernel_count; ++i)
    if (strcmp(table_->kernels[i].name, kernel) == 0)
      return &table_->kernels[i];
  return nullptr;
}

} // namespace cameo::sim
