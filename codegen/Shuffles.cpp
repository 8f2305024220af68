// See Shuffles.h.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/Shuffles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace cameo {

/// Lanes of a warp.
static constexpr int64_t kLanes = 32;

Value packed(OpBuilder &builder, Location loc, Value value) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  if (bits >= 32)
    return value;
  if (isa<FloatType>(value.getType()))
    value = builder.create<arith::BitcastOp>(loc, builder.getIntegerType(bits), value);
  return builder.create<arith::ExtUIOp>(loc, builder.getI32Type(), value);
}

Value unpacked(OpBuilder &builder, Location loc, Value value, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits >= 32)
    return value;
  value = builder.create<arith::TruncIOp>(loc, builder.getIntegerType(bits), value);
  return isa<FloatType>(type) ? builder.create<arith::BitcastOp>(loc, type, value).getResult()
                              : value;
}

Value fromOtherLane(OpBuilder &builder, Location loc, Value value, int64_t bits) {
  Value mask = builder.create<arith::ConstantIntOp>(loc, bits, 32);
  Value width = builder.create<arith::ConstantIntOp>(loc, kLanes, 32);
  auto moved = builder.create<gpu::ShuffleOp>(loc, packed(builder, loc, value), mask, width,
                                              gpu::ShuffleMode::XOR);
  return unpacked(builder, loc, moved.getShuffleResult(), value.getType());
}

} // namespace cameo
