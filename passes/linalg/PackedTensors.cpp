// Taking bytes apart and putting them together, one dispatch each.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/PackedTensors.h"

#include "passes/linalg/Indexing.h"
#include "passes/linalg/NarrowTypes.h"
#include "passes/linalg/ScalarMath.h"

using namespace mlir;

namespace cameo {

RankedTensorType packedType(RankedTensorType type) {
  int64_t perByte = 8 / packedBits(type.getElementType());
  int64_t bytes = llvm::divideCeil(type.getNumElements(), perByte);
  return RankedTensorType::get({bytes}, IntegerType::get(type.getContext(), 8));
}

/// The bits below a part of a byte.
static Value shiftOf(OpBuilder &b, Location loc, Value part, unsigned bits) {
  Value number = b.create<arith::IndexCastOp>(loc, b.getI8Type(), part);
  return b.create<arith::MulIOp>(loc, number, scalarConstant(b, loc, b.getI8Type(), bits));
}

Lowered unpacked(Lowering &l, Location loc, Value bytes, RankedTensorType type) {
  Type element = type.getElementType();
  unsigned bits = packedBits(element);
  int64_t count = type.getNumElements();
  Sizes flat{l.plan.index(count)}, sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(l.plan.index(size));
  Value tensor = l.build.compute(
      loc, flat, element, [&](OpBuilder &b, Location at, ValueRange indices) -> Value {
        Value perByte = indexConstant(b, at, 8 / bits);
        Value place = b.create<arith::DivUIOp>(at, indices[0], perByte);
        Value part = b.create<arith::RemUIOp>(at, indices[0], perByte);
        Value byte = b.create<tensor::ExtractOp>(at, bytes, place);
        Value shifted = b.create<arith::ShRUIOp>(at, byte, shiftOf(b, at, part, bits));
        return wrapNarrow(b, at, shifted, element);
      });
  return l.build.reshape(loc, Lowered{tensor, flat, element}, sizes);
}

Lowered packed(Lowering &l, Location loc, const Lowered &tensor) {
  auto type = cast<RankedTensorType>(tensor.tensor.getType());
  unsigned bits = packedBits(tensor.elementType);
  int64_t count = type.getNumElements(), perByte = 8 / bits;
  Lowered flat = l.build.reshape(loc, tensor, {l.plan.index(count)});
  Sizes sizes{l.plan.index(llvm::divideCeil(count, perByte))};
  Type byte = IntegerType::get(type.getContext(), 8);
  Value bytes = l.build.compute(
      loc, sizes, byte, [&](OpBuilder &b, Location at, ValueRange indices) -> Value {
        ScalarMath m(b, at, byte, true);
        IndexMath math(b, at);
        Value whole = m.c(0);
        Value first = math.mul(indices[0], b.getIndexAttr(perByte));
        for (int64_t part = 0; part < perByte; ++part) {
          // The last byte may have less.
          Value place = math.add(first, b.getIndexAttr(part));
          Value inside = math.inside(place, b.getIndexAttr(count));
          Value number = b.create<tensor::ExtractOp>(at, flat.tensor,
                                                     math.clamp(place, b.getIndexAttr(count)));
          number = m.binary<arith::AndIOp>(number, m.c((1 << bits) - 1));
          number = m.binary<arith::ShLIOp>(number, m.c(part * bits));
          whole = m.binary<arith::OrIOp>(whole, m.select(inside, number, m.c(0)));
        }
        return whole;
      });
  return {bytes, sizes, byte};
}

} // namespace cameo
