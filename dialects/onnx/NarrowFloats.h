// Floats of 8 and 4 bits: their formats, and their numbers on the host.
//
// Kernels convert by the same arithmetic (passes/linalg/NarrowTypes.cpp), so that what the compiler
// folds has the bits that a kernel would give.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dialects/onnx/Schema.h"

namespace cameo::onnx {

/// Whether it is a float below 16 bits.
bool isNarrowFloat(ElementKind kind);

/// A format with a sign, exponent and mantissa, as ONNX's "Float stored in 8 bits" tables them:
/// any narrow float but f8E8M0, which is an exponent alone.
struct NarrowFormat {
  int mantissa, bias, bits;
  uint32_t most;                    // the code of the greatest number
  std::optional<uint32_t> infinity; // its code
  std::optional<uint32_t> nan;      // its code; with a sign bit set it may be the only one
  bool signedZero;

  static NarrowFormat of(ElementKind kind);
};

/// How Cast rounds what a narrow float does not have.
struct NarrowRounding {
  bool saturate = true;          // beyond the greatest number: that, else infinity or NaN
  llvm::StringRef powers = "up"; // of f8E8M0: "up", "down" or "nearest"
};

/// The number of a code, and the code of the nearest number, ties to even.
float decodeNarrow(ElementKind kind, uint8_t code);
uint8_t encodeNarrow(ElementKind kind, float x, NarrowRounding rounding = {});

} // namespace cameo::onnx
