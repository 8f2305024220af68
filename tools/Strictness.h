// Whether tools hold the compiler to its promises of quality where no option says so: in tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace cameo {

/// $CAMEO_STRICT, of which compilers that scripts start in a test are told, too.
inline bool isStrictByEnvironment() {
  const char *value = std::getenv("CAMEO_STRICT");
  return value && *value;
}

} // namespace cameo
