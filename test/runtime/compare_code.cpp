// cameo-compare-code ARTEFACT...: whether plans and GPU code of artefacts fit each other, as the
// fake driver sees to before it launches anything. Exits with 1 where they do not.
// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.h"

#include <cstdio>

int main(int count, char **arguments) {
  bool good = true;
  for (int i = 1; i < count; ++i) {
    int kernels = 0;
    std::vector<std::string> differences;
    good &= fakecuda::compareCode(arguments[i], kernels, differences);
    for (const std::string &difference : differences)
      std::printf("error: %s\n", difference.c_str());
    std::printf("%s: %d kernels\n", arguments[i], kernels);
  }
  return good ? 0 : 1;
}
