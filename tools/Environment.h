// Environment variables that stand in for options which are not given.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace cameo {

/// $CAMEO_STRICT: tools hold the compiler to its promises of quality. Compilers that scripts start in a test are
/// told by it, too.
inline bool isStrictByEnvironment() {
  const char *value = std::getenv("CAMEO_STRICT");
  return value && *value;
}

/// $CAMEO_SIM_QUICK: kernels of the simulator are compiled for few runs.
inline bool isSimQuickByEnvironment() {
  const char *value = std::getenv("CAMEO_SIM_QUICK");
  return value && *value;
}

/// $CAMEO_CACHE_DIR, the folder of compiled kernels; else empty.
inline const char *cacheFolderByEnvironment() {
  const char *folder = std::getenv("CAMEO_CACHE_DIR");
  return folder ? folder : "";
}

} // namespace cameo
