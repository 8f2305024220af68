// Parts of pipelines: what their kernels and references share.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_TEST_INSTRUCTIONS_PIPELINE_H
#define CAMEO_TEST_INSTRUCTIONS_PIPELINE_H

#include "test/instructions/Case.h"

namespace instructions {

/// Pipelines of copies by cp.async, and by bulk copies through global memory.
void addCopyPipelines(std::vector<Case> &cases);

/// `count` rows of `depth` small integers in f16: sums of products are exact.
Bytes smallNumbers(unsigned count, unsigned depth, uint64_t seed);
/// What is wrong with `got` as the product of f16 matrices a (m x k) and b (n x k) transposed.
std::string checkProduct(const uint8_t *a, const uint8_t *b, unsigned m, unsigned n, unsigned k,
                         const Bytes &got);
/// %n5 and the like, for each of the values.
std::string numbers(const std::vector<unsigned> &values);
/// A loop until the phase of an mbarrier that has this parity is over; `name` is of its value and
/// block.
std::string waitFor(const char *name, const char *barrier, const char *parity);

} // namespace instructions

#endif
