// Element types and shapes on the host: names, sizes, values.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_TYPES_H
#define CAMEO_RUNTIME_CORE_TYPES_H

#include "runtime/core/status.h"
#include "runtime/format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cameo::runtime {

using Shape = std::vector<int64_t>;

// Bits of an element; 0 for strings and unknown types.
uint32_t dtypeBits(uint32_t dtype);
const char *dtypeName(uint32_t dtype); // "f32", ...; "?" for unknown types
// Accepts the names above, their usual synonyms ("float", "int64", "u8", "i1") and IREE's ("ui8").
bool parseDtype(const std::string &name, uint32_t &dtype);
bool isFloat(uint32_t dtype);    // real floating-point types of any width
bool isComplex(uint32_t dtype);  // values are read as two floats or doubles each
bool isUnsigned(uint32_t dtype); // bool too

// Fails on negative sizes and on overflow; sub-byte elements are packed.
Status elementCount(const Shape &shape, uint64_t &count);
Status tensorBytes(const Shape &shape, uint32_t dtype, uint64_t &bytes);

// "1x3x224x224xf32"; "f32" for scalars.
std::string formatType(const Shape &shape, uint32_t dtype);

// Element `index` of packed data. Complex types are read by component: index counts floats.
double readFloat(const void *data, uint32_t dtype, uint64_t index);
int64_t readInteger(const void *data, uint32_t dtype, uint64_t index);
// Rounds to nearest even; NaN stays NaN.
void writeFloat(void *data, uint32_t dtype, uint64_t index, double value);
// Truncates to the type's width.
void writeInteger(void *data, uint32_t dtype, uint64_t index, int64_t value);

} // namespace cameo::runtime

#endif
