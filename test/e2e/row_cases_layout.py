"""The second half of row_cases: layout, indexing, resizing, shapes and types."""
# SPDX-License-Identifier: Apache-2.0
import ml_dtypes
import numpy
from onnx import TensorProto, helper, numpy_helper

from difference import INF, NAN, Difference, differs, floats, ints, ramp
from row_cases import (F16, F32, F64, I32, I64, U8, Case, Fixed, fixed, normal, operator,
                       same_label, scalar, uniform, whole)
from runtime_check import Beside, Check, Values, checks, given, tensor
from spec_kinds import (anything, axes_input, axes_of, axis_of, indices_input, inferred_sizes, lengths_input, one_number, pads2,
                        real, resize_sizes_input, sizes_input, two_numbers, words)


@operator("Concat")
def concat(name, version):
    yield Case("axis-1", [normal(2, 3, 4), normal(2, 5, 4), normal(2, 1, 4)], {"axis": 1})
    yield Case("axis-0", [normal(2, 3), normal(1, 3)], {"axis": 0})
    yield Case("int64", [whole(0, 9, 2, 3), whole(0, 9, 2, 2)], {"axis": 1})
    yield Case("hundreds", [normal(2, 1 + i % 3) for i in range(300)], {"axis": 1})
    if version >= 11:
        yield Case("negative", [normal(2, 3), normal(2, 4)], {"axis": -1})


@operator("Split")
def split(name, version):
    x = normal(2, 6, 3)
    if version < 13:
        yield Case("equal", [x], {"axis": 1}, outputs=3)
        yield Case("sizes", [x], {"axis": 1, "split": [1, 3, 2]}, outputs=3)
    else:
        count = {"num_outputs": 3} if version >= 18 else {}
        yield Case("equal", [x], {"axis": 1, **count}, outputs=3)
        yield Case("sizes", [x, fixed(1, 3, 2)], {"axis": 1}, outputs=3)
    if version >= 18:
        yield Case("uneven", [normal(2, 7)], {"axis": 1, "num_outputs": 3}, outputs=3)


@operator("Slice")
def slices(name, version):
    x = normal(5, 6, 7)
    if version < 10:
        yield Case("axes", [x], {"starts": [1, -3], "ends": [4, 1000], "axes": [0, 2]})
        yield Case("all", [x], {"starts": [0, 1, 2], "ends": [5, -1, 4]})
        return
    yield Case("axes", [x, fixed(1, -3), fixed(4, 1000), fixed(0, 2)])
    yield Case("steps", [x, fixed(0, 1), fixed(5, 6), fixed(0, 1), fixed(2, 3)])
    yield Case("backwards", [x, fixed(-1), fixed(-100), fixed(1), fixed(-2)])
    yield Case("no-axes", [x, fixed(0, 1, 2), fixed(5, -1, 4)])
    yield Case("given", [x, numpy.array([1, 2]), numpy.array([4, 6]), fixed(0, 2)])
    yield Case("empty", [x, fixed(3), fixed(3), fixed(0)])


@operator("Pad", mode=words("reflect"), pads=pads2, value=real)
def pad(name, version):
    x, pads = normal(3, 4, 5), [0, 1, 2, 3, 0, 1]
    modes = ["constant", "reflect", "edge"] + (["wrap"] if version >= 19 else [])
    for mode in modes:
        amounts = pads if mode != "reflect" else [0, 1, 2, 2, 0, 1]
        if version < 11:
            yield Case(mode, [x], {"mode": mode, "pads": amounts})
        else:
            yield Case(mode, [x, fixed(*amounts)], {"mode": mode})
    if version < 11:
        yield Case("value", [x], {"pads": pads, "value": 1.5})
        yield Case("crop", [x], {"pads": [0, -1, 0, 0, 0, -2]})
        return
    yield Case("value", [x, fixed(*pads), scalar(1.5)])
    yield Case("crop", [x, fixed(0, -1, 0, 0, 0, -2)])
    yield Case("given", [x, numpy.array(pads)])
    yield Case("int64", [whole(0, 9, 3, 4), fixed(1, 1, 1, 1), scalar(7, I64)])
    if version >= 18:
        yield Case("axes", [x, fixed(1, 2, 0, 1), None, fixed(0, 2)])


@operator("Reshape", inputs={"shape": inferred_sizes})
def reshape(name, version):
    yield Case("plain", [normal(2, 3, 4), fixed(4, 6)])
    yield Case("inferred", [normal(2, 3, 4), fixed(0, -1)])
    yield Case("given", [normal(2, 3, 4), numpy.array([3, -1])])
    yield Case("given-zero", [normal(2, 3, 4), numpy.array([0, -1])])
    if version >= 14:
        yield Case("zero", [numpy.zeros((0, 3), F32), fixed(3, 0)], {"allowzero": 1})


@operator("Flatten", axis=axis_of(behind=1))
def flatten(name, version):
    for axis in (0, 1, 2, 3):
        yield Case(f"axis-{axis}", [normal(2, 3, 4)], {"axis": axis})
    yield Case("default", [normal(2, 3, 4)])
    if version >= 11:
        yield Case("negative", [normal(2, 3, 4)], {"axis": -1})


@operator("Transpose")
def transpose(name, version):
    yield Case("default", [normal(2, 3, 4)])
    yield Case("perm", [normal(2, 3, 4, 5)], {"perm": [0, 3, 1, 2]})
    yield Case("matrix", [normal(65, 70)], {"perm": [1, 0]})
    yield Case("uint8", [whole(0, 9, 5, 7, dtype=U8)])


@operator("Squeeze", axes=axes_of(signed_since=11), inputs={"axes": axes_input(once=True)})
def squeeze(name, version):
    yield Case("all", [normal(1, 3, 1, 4)])
    if version < 13:
        yield Case("axes", [normal(1, 3, 1, 4)], {"axes": [2]})
    else:
        yield Case("axes", [normal(1, 3, 1, 4), fixed(-2)])


@operator("Unsqueeze", axes=axes_of(added=True, signed_since=11), inputs={"axes": axes_input(added=True, once=True)})
def unsqueeze(name, version):
    if version < 13:
        yield Case("axes", [normal(3, 4)], {"axes": [0, 2]})
    else:
        yield Case("axes", [normal(3, 4), fixed(0, 2)])
        yield Case("negative", [normal(3, 4), fixed(-1, 0)])


@operator("Expand")
def expand(name, version):
    yield Case("plain", [normal(3, 1), fixed(2, 1, 4)])
    yield Case("given", [normal(3, 1), numpy.array([3, 4])])
    yield Case("int64", [whole(0, 9, 1, 4), fixed(3, 1)])


@operator("Tile")
def tile(name, version):
    yield Case("plain", [normal(2, 3), fixed(2, 3)])
    yield Case("given", [normal(2, 3), numpy.array([1, 2])])


@operator("Gather", inputs={"indices": indices_input})
def gather(name, version):
    yield Case("axis-0", [normal(5, 4), whole(0, 5, 2, 3)])
    yield Case("axis-1", [normal(5, 4, 3), fixed(3, 0)], {"axis": 1})
    yield Case("scalar", [normal(5, 4), scalar(2, I64)])
    yield Case("int32", [normal(5, 4), whole(0, 5, 6, dtype=I32)])
    if version >= 11:
        yield Case("negative", [normal(5, 4), whole(-5, 5, 6)])


@operator("GatherElements", inputs={"indices": indices_input})
def gather_elements(name, version):
    yield Case("axis-1", [normal(3, 5), whole(-5, 5, 3, 4)], {"axis": 1})
    yield Case("axis-0", [normal(3, 5), whole(0, 3, 2, 5, dtype=I32)])


@operator("GatherND", inputs={"indices": indices_input})
def gather_nd(name, version):
    yield Case("rows", [normal(3, 4, 5), whole(0, 3, 6, 2)])
    yield Case("elements", [normal(3, 4), whole(-3, 3, 2, 3, 2)])
    if version >= 12:
        yield Case("batch", [normal(2, 3, 4), whole(0, 3, 2, 5, 1)], {"batch_dims": 1})


@operator("ReverseSequence", inputs={"sequence_lens": lengths_input})
def reverse_sequence(name, version):
    yield Case("time-first", [normal(4, 3), numpy.array([4, 1, 3])])
    yield Case("batch-first", [normal(3, 5, 2), numpy.array([0, 5, 2])],
               {"batch_axis": 0, "time_axis": 1})
    yield Case("constant", [normal(4, 3), fixed(2, 0, 4)])
    yield Case("equal-lengths", [normal(4, 3), fixed(4, 4, 4)])


@operator("Trilu", inputs={"k": one_number})
def trilu(name, version):
    yield Case("upper", [normal(2, 4, 5)])
    yield Case("lower", [normal(4, 5)], {"upper": 0})
    yield Case("offset", [normal(4, 5), scalar(-1, I64)])
    yield Case("given", [normal(4, 5), numpy.array(1)], {"upper": 0})


@operator("OneHot", axis=axis_of(before=1, behind=1), inputs={"values": two_numbers})
def one_hot(name, version):
    yield Case("default", [whole(0, 6, 2, 3), scalar(6, I64), fixed(2, 5, dtype=F32)])
    yield Case("axis-0", [whole(0, 6, 4, dtype=I32), scalar(6, I32), fixed(0, 1, dtype=I64)],
               {"axis": 0})
    if version >= 11:
        yield Case("negative", [whole(-6, 6, 4), scalar(6, I64), fixed(0, 1, dtype=F32)])


@operator("EyeLike")
def eye_like(name, version):
    yield Case("plain", [normal(4, 5)])
    yield Case("offset", [normal(4, 5)], {"k": 1, "dtype": TensorProto.INT64})
    yield Case("below", [whole(0, 9, 4, 4, dtype=I32)], {"k": -2})


@operator("Resize", inputs={"sizes": resize_sizes_input})
def resize(name, version):
    x = normal(1, 2, 4, 5)
    if version < 11:
        for mode in ("nearest", "linear"):
            yield Case(f"{mode}-up", [x, fixed(1, 1, 2, 3, dtype=F32)], {"mode": mode})
        yield Case("nearest-down", [x, fixed(1, 1, 0.5, 0.6, dtype=F32)])
        return
    up, down = fixed(1, 1, 1.6, 2.4, dtype=F32), fixed(1, 1, 0.6, 0.7, dtype=F32)
    # Version 11 must have all inputs; those not wanted are empty.
    none = fixed(dtype=F32) if version < 13 else None
    for transform in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                      *(["half_pixel_symmetric"] if version >= 19 else [])):
        # Of a size that is not whole, ONNX's backend tests align the corners before it is cut, as we
        # do, ONNX Runtime after.
        scales = fixed(1, 1, 1.5, 2.4, dtype=F32) if transform == "align_corners" else up
        for mode in ("nearest", "linear", "cubic"):
            yield Case(f"{mode}-{transform}", [x, none, scales],
                       {"mode": mode, "coordinate_transformation_mode": transform})
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        yield Case(f"nearest-{rounding}", [x, none, down], {"nearest_mode": rounding})
    yield Case("sizes", [x, none, none, fixed(1, 2, 7, 9)], {"mode": "linear"})
    yield Case("cubic-outside", [x, none, down], {"mode": "cubic", "exclude_outside": 1,
                                                  "cubic_coeff_a": -0.5})
    yield Case("crop", [x, fixed(0, 0, 0.125, 0.25, 1, 1, 0.75, 1.2, dtype=F32), none,
                        fixed(1, 2, 5, 6)],
               {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize",
                "extrapolation_value": 7.0})
    transforms = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                  "tf_crop_and_resize", *(["half_pixel_symmetric"] if version >= 19 else [])]
    for transform in transforms:
        roi = fixed(0, 0, 0.25, 0.125, 1, 1, 0.875, 0.75, dtype=F32) \
            if transform == "tf_crop_and_resize" else none
        for mode in ("nearest", "linear", "cubic"):
            attributes = {"mode": mode, "coordinate_transformation_mode": transform}
            yield Case(f"one-{mode}-{transform}", [x, roi, none, fixed(1, 2, 1, 1)], attributes)
            # One element of a size that is not whole.
            yield Case(f"fraction-{mode}-{transform}",
                       [x, roi, fixed(1, 1, 0.375, 0.25, dtype=F32)], attributes)
        cubic = {"mode": "cubic", "coordinate_transformation_mode": transform}
        yield Case(f"excluded-{transform}", [x, roi, none, fixed(1, 2, 7, 3)],
                   {**cubic, "exclude_outside": 1})
        if version >= 18:
            for mode in ("linear", "cubic"):
                yield Case(f"antialias-{mode}-{transform}", [x, roi, none, fixed(1, 2, 3, 2)],
                           {**cubic, "mode": mode, "antialias": 1})
    if version >= 18:
        yield Case("antialias", [x, none, down], {"mode": "linear", "antialias": 1})
        yield Case("axes", [x, none, fixed(1.5, 2, dtype=F32)], {"axes": [2, 3]})
        yield Case("aspect", [x, none, none, fixed(6, 9)],
                   {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"})


@operator("Upsample")
def upsample(name, version):
    x = normal(1, 2, 3, 4)
    for mode in ("nearest", "linear"):
        if version < 9:
            yield Case(mode, [x], {"mode": mode, "scales": [1.0, 1.0, 2.0, 3.0]})
        else:
            yield Case(mode, [x, fixed(1, 1, 2, 3, dtype=F32)], {"mode": mode})


@operator("DepthToSpace", "SpaceToDepth", mode=words("CRD"))
def depth_to_space(name, version):
    yield Case("plain", [normal(2, 8, 4, 6)], {"blocksize": 2})
    if name == "DepthToSpace" and version >= 11:
        yield Case("crd", [normal(2, 8, 4, 6)], {"blocksize": 2, "mode": "CRD"})


@operator("Shape")
def shape(name, version):
    yield Case("plain", [normal(2, 3, 4)])
    if version >= 15:
        yield Case("part", [normal(2, 3, 4)], {"start": 1, "end": -1})


@operator("Size")
def size(name, version):
    yield Case("plain", [normal(2, 3, 4)])


@operator("Constant", value=anything)
def constant(name, version):
    array = normal(2, 3)
    yield Case("value", [], {"value": numpy_helper.from_array(array)})
    if version >= 12:
        yield Case("float", [], {"value_float": 1.5})
        yield Case("ints", [], {"value_ints": [1, 2, 3]})
        yield Case("floats", [], {"value_floats": [1.5, -2.0]})
    if version >= 11:
        yield Case("sparse", [], {"sparse_value": helper.make_sparse_tensor(
            helper.make_tensor("values", TensorProto.FLOAT, [2], [1.5, -2.0]),
            helper.make_tensor("indices", TensorProto.INT64, [2], [1, 5]), [2, 3])})


@operator("ConstantOfShape", inputs={"input": sizes_input})
def constant_of_shape(name, version):
    yield Case("default", [fixed(2, 3)])
    yield Case("given", [numpy.array([2, 3])],
               {"value": helper.make_tensor("v", TensorProto.INT64, [1], [7])})


@operator("Range", inputs={"start": one_number})
def ranges(name, version):
    yield Case("fixed", [scalar(2, I64), scalar(11, I64), scalar(3, I64)])
    yield Case("given", [numpy.array(2, I64), numpy.array(11, I64), numpy.array(3, I64)])
    yield Case("float32", [scalar(5), scalar(1), scalar(-0.5)])


@operator("Cast")
def cast(name, version):
    targets = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT32,
               TensorProto.INT64, TensorProto.UINT8, TensorProto.BOOL)
    for label, dtype in same_label([F32, F16, F64, I32, I64, U8]):
        for to in targets:
            yield Case(f"{label}-to-{TensorProto.DataType.Name(to).lower()}",
                       [uniform(0, 100, 3, 5).astype(dtype)], {"to": to})
    yield Case("bool-to-float", [normal(3, 5) > 0], {"to": TensorProto.FLOAT})
    yield Case("negative-to-int8", [uniform(-100, 100, 3, 5)], {"to": TensorProto.INT8})
    if version >= 19:
        edges = numpy.array([0, -0.0, 448, 449, 464, 465, 57344, 61440, 61441, 1e9, numpy.inf,
                             -numpy.inf, numpy.nan, 2 ** -17, 3 * 2 ** -18, 2 ** -10, -2 ** -10],
                            F32)
        for kind in ("E4M3FN", "E4M3FNUZ", "E5M2", "E5M2FNUZ"):
            to = getattr(TensorProto, f"FLOAT8{kind}")
            yield Case(f"float-to-{kind.lower()}", [normal(40, 9) * 30], {"to": to})
            yield Case(f"edges-to-{kind.lower()}", [edges], {"to": to})
            yield Case(f"edges-to-{kind.lower()}-unsaturated", [edges], {"to": to, "saturate": 0})
            bits = numpy.arange(256, dtype=U8).view(
                helper.tensor_dtype_to_np_dtype(to))
            yield Case(f"{kind.lower()}-to-float", [bits], {"to": TensorProto.FLOAT})
            yield Case(f"{kind.lower()}-to-float16", [bits], {"to": TensorProto.FLOAT16})
            # The same of constants, which the compiler computes.
            yield Case(f"fixed-{kind.lower()}-to-float", [Fixed(bits)], {"to": TensorProto.FLOAT})
            yield Case(f"fixed-to-{kind.lower()}", [Fixed(normal(40, 9) * 30)], {"to": to})
            yield Case(f"fixed-edges-to-{kind.lower()}", [Fixed(edges)], {"to": to})
            yield Case(f"fixed-edges-to-{kind.lower()}-unsaturated", [Fixed(edges)],
                       {"to": to, "saturate": 0})
    if version >= 21:
        for label, dtype in (("int4", ml_dtypes.int4), ("uint4", ml_dtypes.uint4)):
            to = helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
            low = -8 if label == "int4" else 0
            x = uniform(low, low + 15.9, 5, 9)
            yield Case(f"float-to-{label}", [x], {"to": to})
            yield Case(f"int32-to-{label}", [whole(low, low + 16, 5, 9, dtype=I32)], {"to": to})
            nibbles = whole(low, low + 16, 5, 9).astype(dtype)
            yield Case(f"{label}-to-float", [nibbles], {"to": TensorProto.FLOAT})
            yield Case(f"fixed-{label}-to-int64", [Fixed(nibbles)], {"to": TensorProto.INT64})
            yield Case(f"fixed-to-{label}", [Fixed(x)], {"to": to})
    if version >= 24:
        for mode in ("up", "down", "nearest"):
            yield Case(f"float-to-e8m0-{mode}", [uniform(0.1, 100, 5, 9)],
                       {"to": TensorProto.FLOAT8E8M0, "round_mode": mode})


@operator("CastLike")
def cast_like(name, version):
    yield Case("to-int64", [uniform(0, 9, 3, 5), whole(0, 9, 1)])
    yield Case("to-float16", [normal(3, 5), Fixed(normal(1, dtype=F16))])
    if version >= 24:
        powers = Fixed(numpy.ones(1, ml_dtypes.float8_e8m0fnu))
        for mode in ("down", "nearest"):
            yield Case(f"to-e8m0-{mode}", [uniform(0.1, 100, 5, 9), powers], {"round_mode": mode})


@operator("BitCast")
def bit_cast(name, version):
    yield Case("float-to-int32", [normal(3, 5)], {"to": TensorProto.INT32})
    yield Case("int64-to-double", [whole(0, 1 << 60, 3, 5)], {"to": TensorProto.DOUBLE})


@operator("Identity")
def identity(name, version):
    for label, dtype in same_label([F32, I64, U8]):
        yield Case(label, [uniform(0, 9, 3, 5).astype(dtype)])


@operator("Dropout")
def dropout(name, version):
    yield Case("plain", [normal(3, 5)], {"ratio": 0.3} if version < 12 else {})
    if version >= 10:
        yield Case("mask", [normal(3, 5)], outputs=2)
    if version >= 12:
        yield Case("ratio", [normal(3, 5), scalar(0.3)])
        yield Case("inference", [normal(3, 5), scalar(0.3), scalar(False, bool)])
        # Nothing is dropped, in training, too.
        yield Case("training", [normal(3, 5), numpy.array(0.0, F32), scalar(True, bool)], outputs=2)
        yield Case("either", [normal(3, 5), scalar(0.0), numpy.array(False)], outputs=2)
        yield Case("seed", [normal(3, 50), scalar(0.25), scalar(True, bool)], {"seed": 7}, outputs=2)


@differs
def resize_differences():
    for mode in ("nearest", "linear"):
        yield Difference("Resize, `align_corners`", "Resize", [ramp(1, 1, 5), None,
                                                                floats(1, 1, 0.5)], "reference",
                         {"mode": mode, "coordinate_transformation_mode": "align_corners"})
    yield Difference("Resize, `pytorch_half_pixel`, to one element", "Resize",
                     [ramp(1, 1, 5), None, floats(1, 1, 0.3)], "onnxruntime",
                     {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"})


@differs
def layout_differences():
    yield Difference("Pad, `reflect`, beyond the size", "Pad", [floats(1, 2, 3), ints(4, 5)],
                     "reference", {"mode": "reflect"})
    yield Difference("Pad with negative amounts", "Pad", [floats(1, 2, 3), ints(2, -1)],
                     "onnxruntime")
    yield Difference("OneHot of an index out of range", "OneHot",
                     [ints(-5, -4, 4, 0, 3), numpy.array(4), floats(0, 1)], "onnxruntime")
    yield Difference("Cast of what does not fit to int32", "Cast",
                     [floats(NAN, INF, -INF, 3e9, -3e9, 2.5)],
                     [ints(0, 2**31 - 1, -2**31, 2**31 - 1, -2**31, 2, dtype=I32)],
                     {"to": TensorProto.INT32})
    yield Difference("Cast of what does not fit to int32", "Cast", [floats(NAN, INF, 300, -300)],
                     [ints(0, -1, 44, -44, dtype=numpy.int8)], {"to": TensorProto.INT8})
    yield Difference("Gather, GatherElements, GatherND, SequenceAt, classes of losses out of range at run time", "GatherElements",
                     [floats(1, 2, 3, 4), ints(4, -5)], [floats(4, 1)], fixed=False)
    yield Difference("ReverseSequence of lengths out of range at run time", "ReverseSequence",
                     [floats(1, 2, 3, 4, 5, 6, shape=[3, 2]), ints(4, -1)],
                     [floats(5, 2, 3, 4, 1, 6, shape=[3, 2])], fixed=False)


@checks
def layout_checks():
    yield Check("gather-empty", "Gather", [tensor("N", 3), tensor("I", dtype=I64)],
                [[2, 3], given(1)], [([[0, 3], given(0)], "indices into a dimension of size 0")])
    yield Check("gather-constant", "Gather", [tensor("N"), ints(3, -4)], [[4]],
                [([[3]], "index 3 into a dimension of size 3")])
    yield Check("gather-constant-negative", "Gather", [tensor("N"), ints(0, -4)], [[4]],
                [([[3]], "index -4 into a dimension of size 3")])
    yield Check("gather-by-size", "Gather", [tensor("N"), "b", Beside(tensor("M"))], [[4], [3]],
                [([[4], [4]], "index 4 into a dimension of size 4")],
                before=[helper.make_node("Shape", ["c"], ["b"], "size")])
    yield Check("gather-elements", "GatherElements",
                [tensor("N", "M"), tensor("K", "L", dtype=I64)], [[3, 2], [3, 2]],
                [([[3, 2], [4, 2]], "indices have a size of 4, the data of 3")], {"axis": 1})
    yield Check("gather-nd", "GatherND", [tensor("N", 3), tensor("M", 1, dtype=I64)],
                [[2, 3], Values([[1], [1]])],
                [([[2, 3], Values([[1], [1], [1]])], "batch sizes 2 and 3")], {"batch_dims": 1})
    yield Check("reverse-sequence-count", "ReverseSequence",
                [tensor("T", "N"), tensor("L", dtype=I64)], [[3, 2], given(3, 1)],
                [([[3, 2], given(3, 1, 2)], "sequence_lens holds 3 lengths for 2 sequences")])
    yield Check("reverse-sequence-constant", "ReverseSequence", [tensor("T", 2), ints(0, 3)],
                [[3, 2]], [([[2, 2]], "a sequence of length 3 along a time axis of size 2")])
    yield Check("one-hot", "OneHot", [tensor("N", dtype=I64), tensor(dtype=I64), tensor(2)],
                [[3], Values(4), [2]],
                [([[3], Values(-1), [2]], "depth is -1; it must be 1 or more")])
    yield Check("depth-to-space", "DepthToSpace", [tensor(1, "C", 2, 2)], [[1, 8, 2, 2]],
                [([[1, 6, 2, 2]], "6 channels are not a multiple of 4")], {"blocksize": 2})
    yield Check("space-to-depth", "SpaceToDepth", [tensor(1, 2, "H", 2)], [[1, 2, 4, 2]],
                [([[1, 2, 3, 2]], "a size of 3 is not a multiple of blocksize 2")],
                {"blocksize": 2})
    yield Check("tile", "Tile", [tensor("N", 2), tensor(2, dtype=I64)], [[3, 2], given(2, 0)],
                [([[3, 2], given(2, -1)], "repeats has a value of -1; it must be 0 or more")])
    yield Check("expand", "Expand", [tensor("N", 3), tensor(2, dtype=I64)], [[1, 3], given(4, 3)],
                [([[1, 3], given(4, 2)], "sizes 3 and 2 cannot be broadcast together"),
                 ([[1, 3], given(-4, 3)], "the shape has a size of -4; it must be 0 or more")])
    yield Check("concat", "Concat", [tensor("N", "M"), tensor("K", "L")], [[2, 3], [4, 3]],
                [([[2, 3], [4, 5]], "sizes 5 and 3 of two inputs differ in dimension 1")],
                {"axis": 0})
    yield Check("resize-scale", "Resize", [tensor(1, "W"), None, tensor(2)], [[1, 4], Values([1, 2])],
                [([[1, 4], Values([1, 0])], "the scale of dimension 1 is not positive"),
                 ([[1, 4], Values([1, float("nan")])], "the scale of dimension 1 is not positive"),
                 ([[1, 4], Values([1, float("inf")])], "the scaled size of dimension 1 is not a number of 64 bits")])
    yield Check("resize-size", "Resize", [tensor(1, "W"), None, None, tensor(2, dtype=I64)],
                [[1, 4], given(1, 8)],
                [([[1, 4], given(1, -8)], "sizes has a size of -8; it must be 0 or more"),
                 ([[1, 0], given(1, 8)], "a dimension of size 0 cannot become one of size 8")])
    yield Check("constant-of-shape", "ConstantOfShape", [tensor(2, dtype=I64)], [given(3, 0)],
                [([given(3, -2)], "the shape has a size of -2; it must be 0 or more")])
    yield Check("range", "Range", [tensor(dtype=I64) for _ in range(3)],
                [Values(0), Values(6), Values(2)],
                [([Values(0), Values(6), Values(0)], "delta is 0")],
                output_type=TensorProto.INT64)
    yield Check("range-number", "Range", [tensor() for _ in range(3)], [Values(0), Values(6), Values(2)],
                [([Values(0), Values(float("nan")), Values(1)], "the number of elements is not a number of 64 bits"),
                 ([Values(0), Values(1e30), Values(1)], "the number of elements is not a number of 64 bits")])
    yield Check("reshape-count", "Reshape", [tensor("N", 4), ints(2, 6)], [[3, 4]],
                [([[5, 4]], "20 elements cannot take a shape of 12 elements")])
    yield Check("reshape-rest", "Reshape", [tensor("N"), ints(-1, 6)], [[12]],
                [([[13]], "13 elements")])
    yield Check("reshape-values", "Reshape", [tensor("N"), tensor(2, dtype=I64)],
                [[12], given(-1, 6)],
                [([[12], given(5, 6)], "12 elements cannot take a shape of 30 elements"),
                 ([[12], given(-3, -4)], "the shape has a size of -3; it must be 0 or more")])
    yield Check("reshape-two-open", "Reshape", [tensor("N"), tensor(2, dtype=I64)],
                [[12], given(-1, 6)],
                [([[12], given(-1, -1)],
                  "the shape has 2 sizes of -1; at most one size may be -1")])
    yield Check("squeeze", "Squeeze", [tensor("N", 3), ints(0)], [[1, 3]],
                [([[2, 3]], "a size of 2 cannot be squeezed; only 1 can")])
    yield Check("squeeze-axes", "Squeeze", [tensor("N", 3, 1), tensor(1, dtype=I64)],
                [[2, 3, 1], given(-1)],
                [([[2, 3, 1], given(3)], "the 1 axes name 0 dimensions of a tensor of rank 3"),
                 ([[2, 3, 1], given(0)], "6 elements cannot take a shape of")])
    yield Check("unsqueeze-axes", "Unsqueeze", [tensor("N"), tensor(2, dtype=I64)],
                [[2], given(0, 2)],
                [([[2], given(0, 0)], "the 2 axes name 1 dimensions of a tensor of rank 3")])
    slices = [tensor("N", 4), *(tensor(1, dtype=I64) for _ in range(4))]
    yield Check("slice", "Slice", slices, [[5, 4], given(1), given(9), given(-2), given(2)],
                [([[5, 4], given(1), given(9), given(2), given(1)],
                  "the 1 axes name 0 dimensions of a tensor of rank 2"),
                 ([[5, 4], given(1), given(9), given(0), given(0)],
                  "a step of 0; steps must not be 0")])
    yield Check("split-sum", "Split", [tensor("N"), ints(2, 3)], [[5]],
                [([[6]], "the parts add up to 5; the input has 6")], outputs=2)
    yield Check("split-values", "Split", [tensor("N"), tensor(2, dtype=I64)], [[5], given(5, 0)],
                [([[5], given(6, -1)], "split has a size of -1; it must be 0 or more")], outputs=2)
    yield Check("pad-axes", "Pad",
                [tensor("N", 4), tensor(2, dtype=I64), None, tensor(1, dtype=I64)],
                [[3, 4], given(1, -2), given(-1)],
                [([[3, 4], given(1, 1), given(-3)],
                  "the 1 axes name 0 dimensions of a tensor of rank 2")])
    yield Check("pad-crop", "Pad", [tensor("N"), tensor(2, dtype=I64)], [[3], given(-2, 4)],
                [([[3], given(-5, 9)], "pads take away 5 elements of 3")])
    yield Check("split-even", "Split", [tensor("N")], [[4]],
                [([[5]], "a size of 5 does not split into 2 equal parts")], outputs=2, opset=17)
    yield Check("split-count", "Split", [tensor("N")], [[5]],
                [([[4]], "a size of 4 does not split into 3 parts of which only the last")],
                {"num_outputs": 3}, outputs=3)
    yield Check("dropout-ratio", "Dropout", [tensor("N"), tensor()], [[3], Values(0.25)],
                [([[3], Values(1.0)], "ratio is not 0 or more and less than 1"),
                 ([[3], Values(float("nan"))], "ratio is not 0 or more and less than 1"),
                 ([[3], Values(-0.5)], "ratio is not 0 or more and less than 1")])
    yield Check("dropout-training-ratio", "Dropout", [tensor("N"), tensor(), tensor(dtype=bool)],
                [[3], Values(0.0), Values(True)],
                [([[3], Values(1.0), Values(True)], "ratio is not 0 or more and less than 1")])
    yield Check("pad-empty", "Pad", [tensor("N"), ints(1, 1)], [[2]],
                [([[0]], "a dimension of size 0 has no elements to be padded with")],
                {"mode": "edge"})
