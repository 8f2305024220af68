// Faults on purpose, by number: a test of the tests (test/mutants.txt, test/e2e/mutants.py).
//
//   if (CAMEO_MUTANT(7, end >= begin, end > begin))
//
// is `if ((end >= begin))` in every build but that of CAMEO_MUTANTS. There the environment variable CAMEO_MUTANT says
// which one number is wrong.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_MUTANT_H
#define CAMEO_RUNTIME_MUTANT_H

#ifdef CAMEO_MUTANTS
#include <cstdlib>

namespace cameo {
/// A number, or an operator and what it does without (dialects/onnx/AttributeMutant.h); empty for no fault.
inline const char *chosenMutant() {
  const char *text = std::getenv("CAMEO_MUTANT");
  return text ? text : "";
}

inline bool isMutant(int number) {
  static const int chosen = std::atoi(chosenMutant());
  return chosen == number;
}
} // namespace cameo
#define CAMEO_MUTANT(number, right, ...) (::cameo::isMutant(number) ? (__VA_ARGS__) : (right))
#else
#define CAMEO_MUTANT(number, right, ...) (right)
#endif

#endif // CAMEO_RUNTIME_MUTANT_H
