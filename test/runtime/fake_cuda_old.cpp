// A driver from before the oldest that Cameo works with: it lacks most functions.
// SPDX-License-Identifier: Apache-2.0

extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int *version) {
  *version = 10020;
  return 0;
}
