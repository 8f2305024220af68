// XXH3 by Debian's header, inlined here alone.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cameo::runtime {

uint64_t hash(const void *data, size_t bytes) { return XXH3_64bits(data, bytes); }

} // namespace cameo::runtime
