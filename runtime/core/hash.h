// The payload's hash: XXH3, 64 bits.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_HASH_H
#define CAMEO_RUNTIME_CORE_HASH_H

#include <cstddef>
#include <cstdint>

namespace cameo::runtime {

uint64_t hash(const void *data, size_t bytes);

} // namespace cameo::runtime

#endif
