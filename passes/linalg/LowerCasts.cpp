// Cast, CastLike, BitCast and Identity.
//
// SPDX-License-Identifier: Apache-2.0
#include "passes/linalg/Elementwise.h"
#include "passes/linalg/Generics.h"
#include "passes/linalg/NarrowTypes.h"

using namespace mlir;

namespace cameo {

static LogicalResult lowerIdentity(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  l.define(op, 0, l.operand(op, 0));
  return success();
}

/// Whether elements of the type are what bodies compute with.
static bool isPlain(Type type) { return !narrowFloat(type) && !packedBits(type); }

/// Cast and CastLike. `saturate` and `round_mode` concern narrow floats alone.
static LogicalResult lowerCast(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered input = l.operand(op, 0);
  Type from = Lowering::elementType(op->getOperand(0));
  Type to = Lowering::elementType(op->getResult(0));
  if (from == to || (isPlain(from) && isPlain(to) && signless(from) == signless(to))) {
    // Between signed and unsigned of one width the bits stay.
    l.define(op, 0, input.tensor, input.sizes, to);
    return success();
  }
  onnx::NarrowRounding rounding{intAttribute(op, "saturate", 1) != 0};
  if (auto powers = op->getAttrOfType<StringAttr>("round_mode"))
    rounding.powers = powers.getValue();
  Value tensor = elementwiseOf(
      op, l, {0}, input.sizes, to, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        std::optional<onnx::ElementKind> narrow = narrowFloat(to);
        if (!narrow)
          return convertScalar(b, loc, x[0], from, to);
        return encodeNarrow(b, loc, convertScalar(b, loc, x[0], from, b.getF32Type()), *narrow,
                            rounding);
      });
  // Casts that were inserted for the sake of a type say so.
  if (!op->hasAttr(onnx::OnnxDialect::PrecisionAttrHelper::getNameStr()))
    tensor.getDefiningOp()->walk([](linalg::GenericOp generic) {
      setDeclaredAttr<kernel::KernelDialect::CastAttrHelper>(generic,
                                                             UnitAttr::get(generic.getContext()));
    });
  l.define(op, 0, tensor, input.sizes, to);
  return success();
}

static LogicalResult lowerBitCast(Operation *op, Lowering &l) {
  if (failed(l.infer(op)))
    return failure();
  Lowered input = l.operand(op, 0);
  Type from = signless(Lowering::elementType(op->getOperand(0)));
  Type to = Lowering::elementType(op->getResult(0)), plain = signless(to);
  bool isPacked = packedBits(to) != 0; // of which 4 bits are a byte that depends on their sign
  if (from == plain && !isPacked) {
    l.define(op, 0, input.tensor, input.sizes, to);
    return success();
  }
  Value tensor = elementwiseOf(op, l, {0}, input.sizes, to,
                               [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                                 if (isPacked)
                                   return wrapNarrow(b, loc, x[0], to);
                                 if (from.isInteger(1))
                                   return b.create<arith::ExtUIOp>(loc, plain, x[0]);
                                 if (plain.isInteger(1))
                                   return convertScalar(b, loc, x[0], from, plain);
                                 return b.create<arith::BitcastOp>(loc, plain, x[0]);
                               });
  l.define(op, 0, tensor, input.sizes, to);
  return success();
}

void registerCasts(LoweringRows &rows) {
  rows.add<onnx::IdentityOp>({lowerIdentity});
  rows.add<onnx::CastOp>({lowerCast});
  rows.add<onnx::CastLikeOp>({lowerCast});
  rows.add<onnx::BitCastOp>({lowerBitCast});
}

} // namespace cameo
