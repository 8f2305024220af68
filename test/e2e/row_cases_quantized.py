"""Rows of the import table whose operators quantise: see row_cases.py."""
# SPDX-License-Identifier: Apache-2.0
import ml_dtypes
import numpy
from onnx import TensorProto

from difference import Difference, differs
from row_cases import F16, F32, I8, I32, U8, Case, Fixed, normal, operator, scalar, uniform
from row_cases import whole
from runtime_check import Check, checks, tensor
from spec_kinds import quantised_axis

I16, U16 = numpy.int16, numpy.uint16
FP8 = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2,
       ml_dtypes.float8_e5m2fnuz)
PACKED = (ml_dtypes.int4, ml_dtypes.uint4)


def any_of(dtype, *shape):
    """Numbers over the whole range of an integer type."""
    info = ml_dtypes.iinfo(dtype)
    return whole(int(info.min), int(info.max) + 1, *shape).astype(dtype)


def name_of(dtype):
    return numpy.dtype(dtype).name


def steps(scale):
    """Floats about which quotients by the scale step from one integer to the next, and infinity."""
    middles = (numpy.arange(-260, 260) + 0.5) * float(numpy.float32(scale))
    bits = middles.astype(F32).view(I32)[:, None] + numpy.arange(-4, 5, dtype=I32)
    return numpy.append(bits.view(F32).ravel(), [numpy.inf, -numpy.inf, 3e38, -3e38]).astype(F32)


@operator("QuantizeLinear", axis=quantised_axis)
def quantize(name, version):
    x = normal(3, 5, 7) * 40
    halves = (numpy.arange(-300, 300) / 2).astype(F32)
    yield Case("ties", [halves, scalar(1.0), scalar(3, I8)])
    yield Case("uint8", [x, scalar(0.37), scalar(117, U8)])
    yield Case("no-zero-point", [x, scalar(0.37)])
    yield Case("int32", [whole(-500, 500, 4, 9, dtype=I32), scalar(0.5), scalar(3, U8)])
    yield Case("given", [x, numpy.array(0.21, F32), numpy.array(-5, I8)])
    for scale, zero in ((0.02, 0), (1 / 127, 0), (0.25, 0), (3, -7)):
        yield Case(f"steps-{scale:.3g}", [steps(scale), scalar(scale), scalar(zero, I8)])
    if version >= 13:
        scale, zero = uniform(0.1, 1, 5), any_of(U8, 5)
        yield Case("axis", [x, Fixed(scale), Fixed(zero)])
        yield Case("axis-given", [x, scale, zero], {"axis": -2})
        yield Case("axis-0", [x, Fixed(uniform(0.1, 1, 3)), Fixed(any_of(I8, 3))], {"axis": 0})
    if version >= 19:
        half = numpy.array(0.37, F16)
        yield Case("float16", [x.astype(F16), Fixed(half), scalar(9, I8)])
        for dtype in FP8:
            zero = Fixed(numpy.zeros((), dtype))
            yield Case(name_of(dtype), [x, scalar(0.05), zero])
            yield Case(f"{name_of(dtype)}-unsaturated", [x, scalar(0.05), zero], {"saturate": 0})
            yield Case(f"{name_of(dtype)}-weights", [Fixed(x), scalar(0.05), zero])
            yield Case(f"{name_of(dtype)}-axis", [x, Fixed(uniform(0.01, 0.1, 5)),
                                                  Fixed(numpy.zeros(5, dtype))])
    if version >= 21:
        for dtype in (I16, U16):
            yield Case(name_of(dtype), [x * 900, scalar(0.9), scalar(5, dtype)])
        for dtype in PACKED:
            yield Case(name_of(dtype), [x, scalar(9.1), Fixed(numpy.array(3, dtype))])
            yield Case(f"{name_of(dtype)}-axis", [x, Fixed(uniform(3, 20, 5)),
                                                  Fixed(any_of(dtype, 5))])
            blocks = [Fixed(uniform(3, 20, 3, 5, 3)), Fixed(any_of(dtype, 3, 5, 3))]
            yield Case(f"{name_of(dtype)}-blocks", [x, *blocks], {"axis": 2, "block_size": 3})
            yield Case(f"{name_of(dtype)}-blocks-weights", [Fixed(x), *blocks],
                       {"axis": 2, "block_size": 3})
        yield Case("output-type", [x * 900, scalar(0.9)], {"output_dtype": TensorProto.INT16})
        yield Case("blocks", [x, Fixed(uniform(0.1, 1, 3, 5, 3)), Fixed(any_of(U8, 3, 5, 3))],
                   {"axis": 2, "block_size": 3})
        yield Case("blocks-given", [x, uniform(0.1, 1, 3, 3, 7), any_of(I8, 3, 3, 7)],
                   {"block_size": 2})
    if version >= 23:
        yield Case("precision", [x, Fixed(numpy.array(0.37, F32)), scalar(9, I8)],
                   {"precision": TensorProto.FLOAT})
        # Quotients just below a half, which is what 16 bits have of them.
        yield Case("precision-of-half", [F32([2.4999, 3.4999, -0.5001, 7.25]), scalar(1.0), scalar(9, I8)],
                   {"precision": TensorProto.FLOAT16})


@operator("DequantizeLinear", axis=quantised_axis)
def dequantize(name, version):
    yield Case("uint8", [any_of(U8, 3, 5, 7), scalar(0.37), scalar(117, U8)])
    yield Case("int8", [any_of(I8, 3, 5, 7), scalar(0.37), scalar(-17, I8)])
    yield Case("int32", [whole(-1 << 31, 1 << 31, 4, 9, dtype=I32), scalar(0.37)])
    yield Case("given", [any_of(I8, 3, 5), numpy.array(0.21, F32), numpy.array(-5, I8)])
    if version >= 13:
        x, scale, zero = any_of(U8, 3, 5, 7), uniform(0.1, 1, 5), any_of(U8, 5)
        yield Case("axis", [x, Fixed(scale), Fixed(zero)])
        yield Case("axis-given", [x, scale, zero], {"axis": -2})
        yield Case("axis-no-zero-point", [x, Fixed(uniform(0.1, 1, 7))], {"axis": 2})
        yield Case("weights", [Fixed(any_of(I8, 6, 4)), Fixed(uniform(0.1, 1, 6)),
                               Fixed(any_of(I8, 6))], {"axis": 0})
    if version >= 19:
        yield Case("float16", [any_of(I8, 4, 9), Fixed(numpy.array(0.37, F16)), scalar(9, I8)])
        for dtype in FP8:
            bits, zero = numpy.arange(256, dtype=U8).view(dtype), Fixed(numpy.zeros((), dtype))
            yield Case(name_of(dtype), [bits, scalar(0.37), zero])
            yield Case(f"{name_of(dtype)}-weights", [Fixed(bits), scalar(0.37), zero])
    if version >= 21:
        for dtype in (I16, U16, *PACKED):
            yield Case(name_of(dtype), [any_of(dtype, 5, 7), scalar(0.37),
                                        Fixed(numpy.array(3, dtype))])
            yield Case(f"{name_of(dtype)}-weights", [Fixed(any_of(dtype, 5, 7)), scalar(0.37)])
            yield Case(f"{name_of(dtype)}-axis", [any_of(dtype, 3, 5, 7), Fixed(uniform(0.1, 1, 5)),
                                                  Fixed(any_of(dtype, 5))])
        yield Case("blocks", [any_of(I8, 3, 5, 7), Fixed(uniform(0.1, 1, 3, 5, 3)),
                              Fixed(any_of(I8, 3, 5, 3))], {"axis": 2, "block_size": 3})
        yield Case("blocks-given", [any_of(U8, 3, 5, 7), uniform(0.1, 1, 3, 3, 7)],
                   {"block_size": 2})
        yield Case("packed-blocks", [Fixed(any_of(ml_dtypes.int4, 12, 4)),
                                     Fixed(uniform(0.1, 1, 3, 4)),
                                     Fixed(any_of(ml_dtypes.int4, 3, 4))],
                   {"axis": 0, "block_size": 4})
    if version >= 23:
        yield Case("output-type", [any_of(I8, 4, 9), scalar(0.37)],
                   {"output_dtype": TensorProto.FLOAT16})


@operator("DynamicQuantizeLinear")
def dynamic_quantize(name, version):
    yield Case("both-signs", [normal(3, 5, 70)], outputs=3)
    yield Case("positive", [uniform(2, 9, 3, 5)], outputs=3)
    yield Case("negative", [uniform(-9, -2, 3, 5)], outputs=3)
    yield Case("zeros", [numpy.zeros((3, 5), F32)], outputs=3)


def weights(dtype, *shape):
    """Numbers of 7 bits: with more, ONNX Runtime adds products in pairs in 16 bits, which saturate,
    on processors without an instruction for sums in 32."""
    return (whole(-64, 64, *shape) + (128 if dtype == U8 else 0)).astype(dtype)


def operands(left_shape, right_shape):
    """(label, arrays) of all pairs of 8-bit types."""
    for left in (U8, I8):
        for right in (U8, I8):
            yield (f"{name_of(left)}-{name_of(right)}",
                   [any_of(left, *left_shape), weights(right, *right_shape)])


@operator("MatMulInteger")
def matmul_integer(name, version):
    for label, (a, b) in operands((9, 37), (37, 11)):
        b = any_of(b.dtype, *b.shape)
        left, right = any_of(a.dtype), any_of(b.dtype)
        yield Case(label, [a, b, Fixed(left), Fixed(right)])
        yield Case(f"{label}-weights", [a, Fixed(b), Fixed(left), Fixed(right)])
        yield Case(f"{label}-given", [a, Fixed(b), left, right])
    a, b = any_of(U8, 9, 37), any_of(I8, 37, 11)
    yield Case("plain", [a, b])
    yield Case("dynamic", [a, Fixed(b), any_of(U8)])
    yield Case("columns", [a, Fixed(b), Fixed(any_of(U8)), Fixed(any_of(I8, 11))])
    yield Case("columns-given", [a, b, Fixed(any_of(U8)), any_of(I8, 11)])
    yield Case("rows", [a, Fixed(b), Fixed(any_of(U8, 9, 1))])
    yield Case("batch", [any_of(U8, 2, 9, 37), Fixed(any_of(I8, 2, 37, 11)), any_of(U8)])
    yield Case("broadcast", [any_of(U8, 3, 2, 9, 37), Fixed(any_of(I8, 2, 37, 11)),
                             Fixed(any_of(U8)), Fixed(any_of(I8))])
    # 128 less than the weights are bytes again.
    yield Case("wide", [any_of(U8, 70, 300), Fixed(any_of(U8, 300, 65)), scalar(3, U8),
                        scalar(128, U8)])


@operator("ConvInteger")
def conv_integer(name, version):
    for label, (x, w) in operands((2, 4, 9, 10), (6, 4, 3, 3)):
        zero = any_of(x.dtype)
        yield Case(label, [x, w, Fixed(zero)], {"pads": [1, 1, 1, 1]})
        yield Case(f"{label}-weights", [x, Fixed(w), Fixed(zero), Fixed(any_of(w.dtype))],
                   {"pads": [1, 1, 1, 1]})
    x, w = any_of(U8, 2, 4, 9, 10), weights(I8, 6, 4, 3, 3)
    yield Case("plain", [x, w])
    yield Case("given", [x, Fixed(w), any_of(U8)], {"pads": [1, 0, 2, 1]})
    yield Case("given-unpadded", [x, Fixed(w), any_of(U8)])
    yield Case("filters", [x, Fixed(w), Fixed(any_of(U8)), Fixed(any_of(I8, 6))])
    yield Case("strides", [x, Fixed(w), Fixed(any_of(U8))],
               {"strides": [2, 3], "auto_pad": "SAME_UPPER"})
    yield Case("dilations", [x, Fixed(w), Fixed(any_of(U8))], {"dilations": [2, 3], "kernel_shape": [3, 3]})
    yield Case("groups", [x, Fixed(weights(I8, 6, 2, 3, 3)), Fixed(any_of(U8))],
               {"group": 2, "pads": [1, 1, 1, 1]})
    yield Case("depthwise", [x, Fixed(weights(I8, 4, 1, 3, 3)), Fixed(any_of(U8))],
               {"group": 4, "pads": [1, 1, 1, 1]})


def quantised(dtype, zero=None, scale=0.02):
    """A scale and a zero point."""
    return [scalar(scale), Fixed(numpy.array(any_of(dtype) if zero is None else zero, dtype))]


@operator("QLinearMatMul")
def qlinear_matmul(name, version):
    for label, (a, b) in operands((9, 37), (37, 11)):
        for kind, right in (("weights", Fixed(b)), ("given", b)):
            yield Case(f"{label}-{kind}", [a, *quantised(a.dtype, 100), right,
                                           *quantised(b.dtype, 10), *quantised(a.dtype, 90, 0.4)])
    a, b = any_of(U8, 9, 37), weights(I8, 37, 11)
    yield Case("columns", [a, *quantised(U8), Fixed(b), Fixed(uniform(0.01, 0.1, 11)),
                           Fixed(numpy.zeros(11, I8)), *quantised(U8, None, 0.5)])
    yield Case("scales-given", [a, numpy.array(0.02, F32), numpy.array(7, U8), Fixed(b),
                                *quantised(I8, 0), numpy.array(0.4, F32), numpy.array(99, U8)])
    yield Case("batch", [any_of(U8, 2, 9, 37), *quantised(U8), any_of(U8, 2, 37, 11),
                         *quantised(U8), *quantised(U8, None, 0.5)])
    if version >= 21:
        half = Fixed(numpy.array(0.02, F16))
        yield Case("float16", [a, half, scalar(7, U8), Fixed(b), half, scalar(0, I8),
                               Fixed(numpy.array(0.4, F16)), scalar(99, U8)])
        for dtype in FP8:
            zero = Fixed(numpy.zeros((), dtype))
            yield Case(name_of(dtype), [normal(9, 37).astype(dtype), scalar(0.02), zero,
                                        Fixed(normal(37, 11).astype(dtype)), scalar(0.5), zero,
                                        scalar(0.03), zero])


@operator("QLinearConv")
def qlinear_conv(name, version):
    for label, (x, w) in operands((2, 4, 9, 10), (6, 4, 3, 3)):
        yield Case(label, [x, *quantised(x.dtype, 100), Fixed(w), *quantised(w.dtype, 10),
                           *quantised(x.dtype, 90, 0.4)], {"pads": [1, 1, 1, 1]})
    x, w = any_of(U8, 2, 4, 9, 10), weights(I8, 6, 4, 3, 3)
    bias = Fixed(whole(-3000, 3000, 6, dtype=I32))
    filters = [Fixed(uniform(0.01, 0.1, 6)), Fixed(numpy.zeros(6, I8))]
    yield Case("filters", [x, *quantised(U8), Fixed(w), *filters, *quantised(U8, None, 0.5), bias],
               {"pads": [1, 1, 1, 1], "strides": [2, 1]})
    yield Case("dilations", [x, *quantised(U8), Fixed(w), *filters, *quantised(U8, None, 0.5), bias],
               {"dilations": [2, 3], "kernel_shape": [3, 3]})
    yield Case("same", [x, *quantised(U8), Fixed(w), *filters, *quantised(U8, None, 0.5), bias],
               {"strides": [2, 3], "auto_pad": "SAME_UPPER"})
    yield Case("given", [x, *quantised(U8), w, *filters, *quantised(U8, None, 0.5), bias.array])
    yield Case("scales-given", [x, numpy.array(0.02, F32), numpy.array(7, U8), Fixed(w),
                                *quantised(I8, 0), numpy.array(0.4, F32), numpy.array(99, U8),
                                bias])
    yield Case("groups", [x, *quantised(U8), Fixed(weights(I8, 6, 2, 3, 3)), *filters,
                          *quantised(U8, None, 0.5), bias], {"group": 2})
    yield Case("depthwise", [x, *quantised(U8), Fixed(weights(I8, 4, 1, 3, 3)), *quantised(I8, 0),
                             *quantised(U8, None, 0.5)], {"group": 4, "pads": [1, 1, 1, 1]})
    yield Case("pointwise", [any_of(U8, 1, 32, 12, 12), *quantised(U8), Fixed(weights(I8, 48, 32, 1, 1)),
                             *quantised(I8, 0), *quantised(U8, None, 1.0)])


@differs
def quantization_differences():
    yield Difference("QuantizeLinear of float16", "QuantizeLinear",
                     [(numpy.arange(6000) / 64).astype(numpy.float16),
                      numpy.array(0.37, numpy.float16), numpy.array(0, numpy.uint8)], "onnxruntime")
    yield Difference("DynamicQuantizeLinear of nothing but zeros", "DynamicQuantizeLinear",
                     [numpy.zeros(3, F32)], "onnxruntime", outputs=3)


@checks
def quantization_checks():
    yield Check("integer-batch", "MatMulInteger",
                [tensor("N", 4, 2, dtype=U8), tensor("M", 2, 3, dtype=U8)], [[5, 4, 2], [5, 2, 3]],
                [([[5, 4, 2], [2, 2, 3]], "sizes 5 and 2 cannot be broadcast together")],
                output_type=TensorProto.INT32)
    yield Check("quantised-axis", "DequantizeLinear", [tensor(2, "C", dtype=I8), tensor("S")],
                [[2, 3], [3]], [([[2, 3], [4]], "the scale has 4 numbers for an axis of 3")])
    yield Check("quantised-blocks", "DequantizeLinear",
                [tensor("N", 3, dtype=I8), tensor("B", 3)], [[4, 3], [2, 3]],
                [([[4, 3], [3, 3]], "the scale has a size of 3 where the input's blocks are 2")],
                {"axis": 0, "block_size": 2})
    yield Check("quantised-zero-point", "DequantizeLinear",
                [tensor(2, "C", dtype=I8), tensor("S"), tensor("Z", dtype=I8)], [[2, 3], [3], [3]],
                [([[2, 3], [3], [2]], "the zero point has a size of 2, the scale of 3")])
    yield Check("integer-columns", "MatMulInteger",
                [tensor(2, 3, dtype=U8), tensor(3, "N", dtype=U8), None, tensor("Z", dtype=U8)],
                [[2, 3], [3, 5], [5]],
                [([[2, 3], [3, 5], [4]], "'b_zero_point' has 4 numbers for 5 columns")],
                output_type=TensorProto.INT32)
    yield Check("integer-filters", "ConvInteger",
                [tensor(1, 3, 5, dtype=U8), tensor("F", 3, 2, dtype=U8), None,
                 tensor("Z", dtype=U8)], [[1, 3, 5], [4, 3, 2], [4]],
                [([[1, 3, 5], [4, 3, 2], [3]], "'w_zero_point' has 3 numbers for 4 filters")],
                output_type=TensorProto.INT32)
