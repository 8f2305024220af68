// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_BernoulliOp : ONNX_Op<"Bernoulli", 22, []> {
  let arguments = (ins AnyType:$input, OptionalAttr<I64Attr>:$dtype, OptionalAttr<F32Attr>:$seed);
  let results = (outs AnyType:$output);
}

def ONNX_ConstantOfShapeOp : ONNX_Op<"ConstantOfShape", 25, [Pure]> {
  let arguments = (ins AnyType:$input, OptionalAttr<ElementsAttr>:$value);
  let results = (outs AnyType:$output);
}

def ONNX_EyeLikeOp : ONNX_Op<"EyeLike", 22, [Pure]> {
  let arguments = (ins AnyType:$input, OptionalAttr<I64Attr>:$dtype,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$k);
  let results = (outs AnyType:$output);
}

def ONNX_MultinomialOp : ONNX_Op<"Multinomial", 22, []> {
  let arguments = (ins AnyType:$input, DefaultValuedOptionalAttr<I64Attr, "6">:$dtype,
                       DefaultValuedOptionalAttr<I64Attr, "1">:$sample_size,
                       OptionalAttr<F32Attr>:$seed);
  let results = (outs AnyType:$output);
}

def ONNX_RandomNormalOp : ONNX_Op<"RandomNormal", 22, []> {
  let arguments = (ins DefaultValuedOptionalAttr<I64Attr, "1">:$dtype,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$mean,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale,
                       OptionalAttr<F32Attr>:$seed, DenseI64ArrayAttr:$shape);
  let results = (outs AnyType:$output);
}

def ONNX_RandomNormalLikeOp : ONNX_Op<"RandomNormalLike", 22, []> {
  let arguments = (ins AnyType:$input, OptionalAttr<I64Attr>:$dtype,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$mean,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$scale,
                       OptionalAttr<F32Attr>:$seed);
  let results = (outs AnyType:$output);
}

def ONNX_RandomUniformOp : ONNX_Op<"RandomUniform", 22, []> {
  let arguments = (ins DefaultValuedOptionalAttr<I64Attr, "1">:$dtype,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$high,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$low,
                       OptionalAttr<F32Attr>:$seed, DenseI64ArrayAttr:$shape);
  let results = (outs AnyType:$output);
}

def ONNX_RandomUniformLikeOp : ONNX_Op<"RandomUniformLike", 22, []> {
  let arguments = (ins AnyType:$input, OptionalAttr<I64Attr>:$dtype,
                       DefaultValuedOptionalAttr<F32Attr, "1.0f">:$high,
                       DefaultValuedOptionalAttr<F32Attr, "0.0f">:$low,
                       OptionalAttr<F32Attr>:$seed);
  let results = (outs AnyType:$output);
}

def ONNX_RangeOp : ONNX_Op<"Range", 11, [Pure]> {
  let arguments = (ins AnyType:$start, AnyType:$limit, AnyType:$delta);
  let results = (outs AnyType:$output);
}
