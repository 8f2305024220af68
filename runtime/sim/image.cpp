// Loading of simulator images from memory.
//
// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/engine.h"
#include "runtime/sim/report.h"

#include <cerrno>
#include <cpuid.h>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

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

constexpr char kDescriptors[] = "/proc/self/fd/";

// A file in memory, which stays open as long as the image: the loader knows objects by path, and a
// number used again would give the former image. Without /proc a temporary file.
int openImageFile(std::string &path) {
  if (access(kDescriptors, X_OK) == 0) {
    int file = memfd_create("cameo-sim-image", MFD_CLOEXEC);
    path = kDescriptors + std::to_string(file);
    return file;
  }
  path = "/tmp/cameo-sim-image-XXXXXX";
  return mkostemp(path.data(), O_CLOEXEC);
}

bool writeAll(int file, const void *bytes, size_t size) {
  const char *at = static_cast<const char *>(bytes);
  while (size) {
    ssize_t written = write(file, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    at += written;
    size -= size_t(written);
  }
  return true;
}

} // namespace

std::unique_ptr<Image> Image::load(const void *bytes, size_t size, std::string &error) {
  if (std::string missing = missingFeatures(); !missing.empty()) {
    error = "the simulator needs a CPU with the x86-64-v3 instructions; this one lacks " + missing;
    return nullptr;
  }
  if (size < 64 || memcmp(bytes, "\177ELF\2\1", 6) != 0) {
    error = "the simulator image is not an ELF file";
    return nullptr;
  }
  std::unique_ptr<Image> image(new Image());
  std::string path;
  image->file_ = openImageFile(path);
  if (image->file_ < 0 || !writeAll(image->file_, bytes, size)) {
    error = format("cannot put the simulator image (%zu B) into memory: %s", size, strerror(errno));
    return nullptr;
  }
  image->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (path.compare(0, strlen(kDescriptors), kDescriptors) != 0)
    unlink(path.c_str());
  if (!image->handle_) {
    const char *reason = dlerror();
    error = format("cannot load the simulator image: %s", reason ? reason : "unknown reason");
    return nullptr;
  }
  image->table_ = static_cast<const CameoSimImage *>(dlsym(image->handle_, "cameo_sim_image"));
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

Image::~Image() {
  if (handle_)
    dlclose(handle_);
  if (file_ >= 0)
    close(file_);
}

const CameoSimKernelInfo *Image::find(const char *kernel) const {
  for (uint32_t i = 0; i < table_->kernel_count; ++i)
    if (strcmp(table_->kernels[i].name, kernel) == 0)
      return &table_->kernels[i];
  return nullptr;
}

} // namespace cameo::sim
