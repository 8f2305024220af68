// SPDX-License-Identifier: Apache-2.0
// Written by tools/gen-onnx-ops.py from onnx 1.21.0; run it again instead of editing.

def ONNX_RegexFullMatchOp : ONNX_Op<"RegexFullMatch", 20, [Pure]> {
  let arguments = (ins AnyType:$X, OptionalAttr<StrAttr>:$pattern);
  let results = (outs AnyType:$Y);
}

def ONNX_StringConcatOp : ONNX_Op<"StringConcat", 20, [Pure]> {
  let arguments = (ins AnyType:$X, AnyType:$Y);
  let results = (outs AnyType:$Z);
}

def ONNX_StringNormalizerOp : ONNX_Op<"StringNormalizer", 10, [Pure]> {
  let arguments = (ins AnyType:$X,
                       DefaultValuedOptionalAttr<StrAttr, "\"NONE\"">:$case_change_action,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$is_case_sensitive,
                       OptionalAttr<StrAttr>:$locale, OptionalAttr<StrArrayAttr>:$stopwords);
  let results = (outs AnyType:$Y);
}

def ONNX_StringSplitOp : ONNX_Op<"StringSplit", 20, [Pure]> {
  let arguments = (ins AnyType:$X, OptionalAttr<StrAttr>:$delimiter,
                       OptionalAttr<I64Attr>:$maxsplit);
  let results = (outs AnyType:$Y, AnyType:$Z);
}
