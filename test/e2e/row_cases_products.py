"""Rows of products: MatMul, Gemm, Einsum, convolutions, attention."""
# SPDX-License-Identifier: Apache-2.0

import numpy
from onnx import TensorProto

from difference import Difference, differs, floats, ramp
from row_cases import F16, F32, F64, I32, I64, Case, Fixed, normal, operator, whole, same_label
from runtime_check import Check, checks, given, tensor


@operator("MatMul")
def matmul(name, version):
    yield Case("matrices", [normal(5, 19), normal(19, 33)])
    yield Case("weight", [normal(70, 40), Fixed(normal(40, 66))])
    yield Case("batched", [normal(2, 3, 4, 5), normal(2, 3, 5, 6)])
    yield Case("broadcast", [normal(3, 1, 4, 5), normal(2, 5, 6)])
    yield Case("vectors", [normal(7), normal(7)])
    yield Case("vector-matrix", [normal(7), normal(2, 7, 3)])
    yield Case("matrix-vector", [normal(2, 3, 7), normal(7)])
    yield Case("float64", [normal(5, 7, dtype=F64), normal(7, 3, dtype=F64)])
    if version >= 9:
        yield Case("int32", [whole(-9, 9, 5, 7, dtype=I32), whole(-9, 9, 7, 3, dtype=I32)])


@operator("Attention")
def attention(name, version):
    query, key, value = normal(2, 3, 4, 6), normal(2, 3, 5, 6), normal(2, 3, 5, 7)
    yield Case("heads", [query, key, value])
    yield Case("mask", [query, key, value, normal(3, 4, 5)], {"scale": 0.25})
    packed = {"q_num_heads": 4, "kv_num_heads": 2}
    past = [normal(2, 2, 3, 6), normal(2, 2, 3, 7)]
    yield Case("packed-past", [normal(2, 4, 24), normal(2, 5, 12), normal(2, 5, 14), None, *past],
               {**packed, "is_causal": 1}, outputs=3)
    hidden = whole(0, 2, 2, 1, 4, 5).astype(bool)
    hidden[..., 0] = True
    yield Case("boolean", [query, key, value, hidden], {"is_causal": 1})
    yield Case("one-head-of-keys", [query, normal(2, 1, 5, 6), normal(2, 1, 5, 7)],
               {"softcap": 2.0})
    yield Case("causal", [normal(1, 2, 70, 16), normal(1, 2, 70, 16), normal(1, 2, 70, 16)],
               {"is_causal": 1, "softmax_precision": TensorProto.DOUBLE})
    for mode in (0, 3):
        yield Case(f"scores-{mode}", [query, key, value], {"qk_matmul_output_mode": mode},
                   outputs=4)
    for label, dtype in same_label([F16, F64]):
        yield Case(label, [x.astype(dtype) for x in (query, key, value)])
    halves = [x.astype(F16) for x in (query, key, value)]
    yield Case("mask-of-another-type", [*halves, normal(3, 4, 5)], {"softmax_precision": TensorProto.FLOAT})
    if version >= 24:
        yield Case("lengths", [query, key, value, None, None, None, numpy.array([5, 2])])


@operator("Gemm")
def gemm(name, version):
    yield Case("plain", [normal(5, 7), normal(7, 3), normal(5, 3)])
    yield Case("transposed", [normal(7, 5), Fixed(normal(3, 7)), Fixed(normal(3))],
               {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0})
    yield Case("column-bias", [normal(5, 7), normal(7, 3), normal(5, 1)])
    yield Case("no-beta", [normal(5, 7), normal(7, 3), Fixed(numpy.full(3, numpy.nan, F32))],
               {"beta": 0.0})
    yield Case("float64", [normal(5, 7, dtype=F64), normal(7, 3, dtype=F64), normal(3, dtype=F64)])
    if version >= 11:
        yield Case("no-bias", [normal(70, 40), normal(40, 65)])


@operator("Einsum")
def einsum(name, version):
    yield Case("matmul", [normal(3, 4), normal(4, 5)], {"equation": "ij,jk->ik"})
    yield Case("implicit", [normal(3, 4), normal(4, 5)], {"equation": "ij,jk"})
    yield Case("batched", [normal(2, 3, 4), normal(2, 5, 4)], {"equation": "bij,bkj->bik"})
    yield Case("ellipsis", [normal(2, 3, 4), normal(2, 4, 5)], {"equation": "...ij,...jk->...ik"})
    yield Case("transpose", [normal(2, 3, 4)], {"equation": "ijk->kji"})
    yield Case("diagonal", [normal(2, 4, 4)], {"equation": "bii->bi"})
    yield Case("sum", [normal(2, 3, 4)], {"equation": "ijk->j"})
    yield Case("inner", [normal(5), normal(5)], {"equation": "i,i->"})
    yield Case("three", [normal(2, 3), normal(3, 4), normal(4, 2)], {"equation": "ab,bc,cd->ad"})


@operator("Conv")
def conv(name, version):
    x, w = normal(2, 4, 9, 10), normal(6, 4, 3, 3)
    yield Case("plain", [x, Fixed(w)])
    yield Case("bias", [x, Fixed(w), Fixed(normal(6))], {"pads": [1, 1, 1, 1]})
    yield Case("weight-given", [x, w])
    yield Case("strides", [x, Fixed(w)], {"strides": [2, 3], "pads": [0, 1, 2, 1]})
    yield Case("dilations", [x, Fixed(w)], {"dilations": [2, 3], "pads": [2, 2, 2, 2]})
    yield Case("groups", [x, Fixed(normal(6, 2, 3, 3))], {"group": 2})
    yield Case("depthwise", [x, Fixed(normal(4, 1, 3, 3))], {"group": 4, "pads": [1, 1, 1, 1]})
    yield Case("depth-multiplier", [x, Fixed(normal(8, 1, 3, 3))], {"group": 4})
    yield Case("pointwise", [x, Fixed(normal(6, 4, 1, 1))])
    for auto in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        yield Case(auto.lower(), [x, Fixed(w)], {"auto_pad": auto, "strides": [2, 2]})
    yield Case("1-d", [normal(2, 3, 20), Fixed(normal(4, 3, 5))], {"strides": [2]})
    yield Case("3-d", [normal(1, 2, 5, 6, 7), Fixed(normal(3, 2, 2, 3, 3))])


@operator("ConvTranspose")
def conv_transpose(name, version):
    x, w = normal(2, 4, 5, 6), normal(4, 3, 3, 3)
    yield Case("plain", [x, Fixed(w)])
    yield Case("bias", [x, Fixed(w), Fixed(normal(3))], {"pads": [1, 1, 1, 1]})
    yield Case("strides", [x, Fixed(w)], {"strides": [2, 3], "output_padding": [1, 1]})
    yield Case("dilations", [x, Fixed(w)], {"dilations": [2, 2]})
    yield Case("groups", [x, Fixed(w)], {"group": 2})
    yield Case("output-shape", [x, Fixed(w)], {"strides": [2, 2], "output_shape": [10, 12]})
    yield Case("same-upper", [x, Fixed(w)], {"strides": [2, 2], "auto_pad": "SAME_UPPER"})
    yield Case("1-d", [normal(2, 3, 9), Fixed(normal(3, 4, 3))], {"strides": [2]})
    yield Case("3-d", [normal(1, 2, 3, 4, 3), Fixed(normal(2, 3, 2, 2, 2))])
    # Channels enough for products: in phases, and of taps.
    x = normal(2, 16, 5, 6)
    yield Case("phases", [x, Fixed(normal(16, 4, 2, 2)), Fixed(normal(4))], {"strides": [2, 2]})
    yield Case("phases-given", [x, normal(16, 4, 2, 4)], {"strides": [2, 4]})
    yield Case("phases-part", [x, Fixed(normal(16, 4, 4, 6))],
               {"strides": [2, 3], "pads": [1, 2, 0, 1], "output_padding": [0, 2]})
    yield Case("phases-groups", [x, Fixed(normal(16, 4, 4, 4)), Fixed(normal(8))],
               {"strides": [2, 2], "group": 2, "auto_pad": "SAME_LOWER"})
    yield Case("stride-1", [x, Fixed(normal(16, 3, 3, 2))],
               {"dilations": [2, 1], "pads": [2, 0, 1, 1]})
    yield Case("phases-3-d", [normal(1, 8, 3, 4, 3), Fixed(normal(8, 3, 2, 1, 3))],
               {"strides": [2, 1, 3]})
    yield Case("taps", [x, Fixed(normal(16, 4, 3, 3)), Fixed(normal(4))],
               {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]})
    yield Case("taps-groups", [x, normal(16, 2, 3, 4)], {"strides": [2, 3], "group": 2})
    yield Case("taps-dilations", [x, Fixed(normal(16, 4, 2, 2))],
               {"strides": [2, 3], "dilations": [2, 2]})


@differs
def attention_differences():
    query, key, value = (ramp(1, 1, rows, 4) / 8 for rows in (2, 3, 3))
    hidden = numpy.array([[False, False, False], [True, False, True]])
    yield Difference("Attention of a query that sees no key", "Attention",
                     [query, key, value, hidden], "onnxruntime", opset=24)
    for mask in (floats(0, 1, 2, shape=[1, 3]), floats(0, 1, 2, 3, shape=[2, 2])):
        yield Difference("Attention, `attn_mask` with one row, or fewer keys", "Attention",
                         [query, key, value, mask], "reference", opset=24)
    mask = floats(0, 1, -2, 3, 1, 0, shape=[2, 3])
    yield Difference("Attention, `softcap` beside a mask", "Attention", [query, key, value, mask],
                     "onnxruntime", {"softcap": 0.5}, opset=24)
    for mode, cap in ((1, 0.0), (2, 0.5)):
        yield Difference("Attention, `qk_matmul_output_mode` 1 and 2", "Attention",
                         [query, key, value, mask], "onnxruntime",
                         {"qk_matmul_output_mode": mode, "softcap": cap}, opset=24, outputs=4)


@differs
def convolution_differences():
    for auto_pad in ("VALID", "SAME_UPPER"):
        yield Difference("Conv with `auto_pad`", "Conv",
                         [ramp(1, 1, 5, 7), numpy.ones((1, 1, 3, 3), F32)], "onnxruntime",
                         {"auto_pad": auto_pad, "strides": [3, 2]})
    yield Difference("ConvTranspose, `SAME_...`, with a kernel shorter than its stride", "ConvTranspose",
                     [floats(1, 2, 3, shape=[1, 1, 3]), numpy.ones((1, 1, 1), F32)],
                     [floats(1, 0, 2, 0, 3, 0, shape=[1, 1, 6])], {"strides": [2], "auto_pad": "SAME_UPPER"})


@checks
def product_checks():
    yield Check("matmul", "MatMul", [tensor("N", "K"), tensor("L", 4)], [[2, 3], [3, 4]],
                [([[2, 3], [5, 4]], "inner sizes 3 and 5 differ")])
    for name in ("M", "?"):
        yield Check(f"matmul-batch-{name}", "MatMul", [tensor("N" if name == "M" else "?", 4, 2), tensor(name, 2, 3)],
                    [[5, 4, 2], [1, 2, 3]],
                    [([[5, 4, 2], [2, 2, 3]], "sizes 5 and 2 cannot be broadcast together")])
    yield Check("matmul-batch-known", "MatMul", [tensor(3, 4, 2), tensor("M", 2, 3)], [[3, 4, 2], [3, 2, 3]],
                [([[3, 4, 2], [2, 2, 3]], "sizes 3 and 2 cannot be broadcast together")])
    for rank, dims, good, bad in ((1, ["C"], [5], [4]), (2, ["R", 5], [2, 5], [3, 5]), (2, [3, 1], [3, 1], None)):
        shapes = [[2, 3], [3, 5], good] if bad else [[3, 3], [3, 5], good]
        wrong = [[2, 3], [3, 5], bad or good]
        text = f"dimension 0 of C has size {wrong[2][0]}; it must be 1 or the result's, {5 if rank == 1 else 2}"
        yield Check(f"gemm-addend-{'x'.join(map(str, dims))}", "Gemm", [tensor("N", 3), tensor(3, 5), tensor(*dims)],
                    shapes, [(wrong, text)])
    yield Check("gemm", "Gemm", [tensor("N", "K"), tensor("L", 4)], [[2, 3], [3, 4]],
                [([[2, 3], [5, 4]], "inner sizes 3 and 5 differ")])
    yield Check("einsum", "Einsum", [tensor("N", "K"), tensor("L", 4)], [[2, 3], [3, 4]],
                [([[2, 3], [5, 4]], "sizes 3 and 5")], {"equation": "ij,jk->ik"})
    yield Check("conv-channels", "Conv", [tensor(1, "C", 5), tensor(2, 3, 2)],
                [[1, 3, 5], [2, 3, 2]],
                [([[1, 4, 5], [2, 3, 2]], "the weights take 3 channels, the input has 4")])
    yield Check("conv-extent", "Conv", [tensor(1, 3, "W"), tensor(2, 3, 4)],
                [[1, 3, 4], [2, 3, 4]],
                [([[1, 3, 3], [2, 3, 4]], "a window of 4 elements is larger than the padded input of 3")])
    yield Check("conv-bias", "Conv", [tensor(1, 3, 5), tensor("F", 3, 2), tensor("B")],
                [[1, 3, 5], [2, 3, 2], [2]],
                [([[1, 3, 5], [2, 3, 2], [3]], "the bias has 3 values for 2 filters")])
    yield Check("conv-group", "Conv", [tensor(1, 4, 5), tensor("F", 2, 2)],
                [[1, 4, 5], [4, 2, 2]],
                [([[1, 4, 5], [3, 2, 2]], "3 filters are not a multiple of group 2")], {"group": 2})
    yield Check("conv-kernel", "Conv", [tensor(1, 3, 5), tensor(4, 3, "K")],
                [[1, 3, 5], [4, 3, 2]],
                [([[1, 3, 5], [4, 3, 3]], "kernel_shape has a size of 2, the weights one of 3")],
                {"kernel_shape": [2]})
    yield Check("conv-transpose-channels", "ConvTranspose", [tensor(1, "C", 5), tensor(3, 2, 2)],
                [[1, 3, 5], [3, 2, 2]],
                [([[1, 4, 5], [3, 2, 2]], "the input has 4 channels, the weights 3")])
    yield Check("conv-transpose-group", "ConvTranspose", [tensor(1, "C", 5), tensor("C", 2, 2)],
                [[1, 4, 5], [4, 2, 2]],
                [([[1, 3, 5], [3, 2, 2]], "3 channels are not a multiple of group 2")],
                {"group": 2})
    yield Check("conv-transpose-bias", "ConvTranspose",
                [tensor(1, 3, 5), tensor(3, 2, 2), tensor("B")], [[1, 3, 5], [3, 2, 2], [2]],
                [([[1, 3, 5], [3, 2, 2], [5]], "the bias has 5 values for 2 channels")])


@checks
def attention_checks():
    def check(label, inputs, good, bad, text, **attributes):
        return Check(f"attention-{label}", "Attention", inputs, good, [(bad, text)], attributes,
                     opset=24)

    query, value = tensor("N", 2, 3, "D"), tensor("M", 2, "V", 4)
    inputs, scale = [query, tensor("N", 2, "K", "E"), value], {"scale": 0.5}
    good = [[1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 5, 4]]
    for label, wrong, text in (
            ("batch", [good[0], good[1], [2, 2, 5, 4]], "batch sizes 1 and 2 differ"),
            ("lengths", [good[0], good[1], [1, 2, 6, 4]], "lengths of keys and values 5 and 6 differ"),
            ("sizes", [good[0], [1, 2, 5, 3], good[2]], "head sizes 4 and 3 differ")):
        yield check(label, inputs, good, wrong, text, **scale)
    yield check("heads", [tensor(1, "H", 3, 4), tensor(1, "H", 5, 4), tensor(1, "G", 5, 4)], good,
                [good[0], good[1], [1, 3, 5, 4]], "numbers of heads 2 and 3 differ")
    yield check("packed", [tensor(1, 3, "D"), tensor(1, 5, "E"), tensor(1, 5, 8)],
                [[1, 3, 8], [1, 5, 8], [1, 5, 8]], [[1, 3, 9], [1, 5, 8], [1, 5, 8]],
                "size 9 is not a multiple of q_num_heads 2", q_num_heads=2, kv_num_heads=2, **scale)
    fixed = [tensor(1, 2, 3, 4), tensor(1, 2, 5, 4), tensor(1, 2, 5, 4)]
    yield check("mask", [*fixed, tensor("R", 5)], [*good, [3, 5]], [*good, [2, 5]],
                "sizes of attn_mask and of the scores 2 and 3 differ")
    yield check("mask-keys", [*fixed, tensor(3, "K")], [*good, [3, 4]], [*good, [3, 6]],
                "attn_mask is for 6 keys; there are 5")
    yield check("past", [*fixed, None, tensor(1, 2, "P", 4), tensor(1, 2, "R", 4)],
                [*good, [1, 2, 3, 4], [1, 2, 3, 4]], [*good, [1, 2, 3, 4], [1, 2, 2, 4]],
                "lengths of the past 3 and 2 differ")
    yield check("nonpad", [*fixed, None, None, None, tensor("B", dtype=I64)],
                [*good, given(5)], [*good, [2]], "the number of lengths and the batch 2 and 1 differ")
