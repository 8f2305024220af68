// Names of temporary files are drawn by arc4random, which glibc has from 2.36 on; this one is for older ones, too.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
  uint32_t drawn;
  if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
    std::abort();
  return drawn;
}
