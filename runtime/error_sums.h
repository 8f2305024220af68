/* How far numbers are from those of a reference: one definition for the compiler and the executable,
 * in plain C. SPDX-License-Identifier: Apache-2.0 */
#ifndef CAMEO_RUNTIME_ERROR_SUMS_H
#define CAMEO_RUNTIME_ERROR_SUMS_H

#include <math.h>
#include <stdint.h>

/* Summed over any number of pairs; begins with zeros. A NaN is equal to nothing, an infinity to
 * itself. */
typedef struct CameoErrorSums {
  uint64_t elements;
  /* Pairs of which one or both are not a finite number, two equal infinities apart. They are in
   * nothing else. */
  uint64_t incomparable;
  double references, values, differences;       /* sums of squares */
  double products;                              /* their sum */
  double largest_difference, largest_reference; /* magnitudes */
} CameoErrorSums;

static inline void cameoAddError(CameoErrorSums *sums, double expected, double value) {
  double difference = value - expected;
  ++sums->elements;
  if (!isfinite(expected) || !isfinite(value)) {
    sums->incomparable += expected != value;
    return;
  }
  sums->references += expected * expected;
  sums->values += value * value;
  sums->products += expected * value;
  sums->differences += difference * difference;
  sums->largest_difference = fmax(sums->largest_difference, fabs(difference));
  sums->largest_reference = fmax(sums->largest_reference, fabs(expected));
}

/* Signal over noise in dB: the sum of the reference's squares over that of the differences'.
 * Infinite where nothing differs, minus infinity with an incomparable pair. */
static inline double cameoSqnr(const CameoErrorSums *sums) {
  if (sums->incomparable)
    return -(double)INFINITY;
  return sums->differences == 0 ? (double)INFINITY
                                : 10 * log10(sums->references / sums->differences);
}

/* Of the angle between all elements as vectors; 1 where both are zeros. */
static inline double cameoCosine(const CameoErrorSums *sums) {
  if (sums->references == 0 || sums->values == 0)
    return sums->references == sums->values ? 1 : 0;
  return sums->products / sqrt(sums->references * sums->values);
}

#endif
