"""The part of row_cases of operators that read a tensor at positions which another one holds."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from difference import INF, NAN, Difference, differs, floats, ints, ramp
from row_cases import F16, F32, F64, I32, I64, Case, Fixed, normal, operator, uniform, whole
from runtime_check import Check, checks, given, tensor
from spec_kinds import words


def modes_of(version):
    return ("linear", "nearest", "cubic") if version >= 20 else ("bilinear", "nearest", "bicubic")


@operator("GridSample", mode=words("nearest"))
def grid_sample(name, version):
    linear, nearest, cubic = modes_of(version)
    x, grid = normal(2, 3, 5, 7), uniform(-1.3, 1.3, 2, 4, 6, 2)
    yield Case("integers", [whole(-9, 9, 2, 2, 5, 7, dtype=I32), grid], {"mode": nearest})
    yield Case("default", [x, grid])
    for padding in ("zeros", "border", "reflection"):
        for align in (0, 1):
            for mode in (linear, nearest, cubic):
                # ONNX Runtime has other borders of cubic interpolation than ONNX: differences.py.
                reach = 1 if mode == cubic and padding == "border" else 2.6
                yield Case(f"{mode}-{padding}-{align}", [x, uniform(-reach, reach, 2, 4, 6, 2)],
                           {"mode": mode, "padding_mode": padding, "align_corners": align})
    yield Case("one-element", [normal(1, 2, 1, 1), uniform(-3, 3, 1, 3, 4, 2)],
               {"padding_mode": "reflection"})
    yield Case("fixed", [x, Fixed(grid)], {"padding_mode": "border"})
    yield Case("half-pixels", [normal(1, 1, 4, 4), numpy.linspace(-1, 1, 50, dtype=F32).reshape(1, 5, 5, 2)])
    if version >= 20:
        yield Case("double", [x.astype(F64), grid.astype(F64)], {"mode": cubic})
        x, grid = normal(2, 2, 3, 4, 5), uniform(-1.5, 1.5, 2, 2, 4, 3, 3)
        for padding in ("zeros", "border", "reflection"):
            for mode in ("linear", "nearest"):
                yield Case(f"volume-{mode}-{padding}", [x, grid],
                           {"mode": mode, "padding_mode": padding, "align_corners": mode == "linear"})
        yield Case("volume-cubic", [normal(1, 1, 3, 4, 5), uniform(-1, 1, 1, 2, 2, 3, 3)],
                   {"mode": "cubic", "padding_mode": "reflection"})
        yield Case("line", [normal(2, 3, 9), uniform(-1.2, 1.2, 2, 13, 1)])


REGIONS = [[1, 1, 6, 7], [0.5, 2.2, 5.1, 3.3], [-4, -3, 3, 12], [5, 5, 2, 1], [7, 7, 7, 7],
           [-20, -20, -10, -15], [2, 2, 30, 40]]


@operator("RoiAlign", mode=words("max"), coordinate_transformation_mode=words("half_pixel"))
def roi_align(name, version):
    x, rois = normal(2, 3, 8, 9), numpy.array(REGIONS, F32)
    images = numpy.array([0, 1, 0, 1, 1, 0, 1], I64)
    bins = {"output_height": 3, "output_width": 2, "spatial_scale": 0.75}
    transforms = ("half_pixel", "output_half_pixel") if version >= 16 else (None,)
    yield Case("default", [x, rois, images])
    for transform in transforms:
        shift = {"coordinate_transformation_mode": transform} if transform else {}
        for mode in ("avg", "max"):
            for ratio in (0, 1, 2, 5):
                yield Case(f"{mode}-{ratio}-{transform}", [x, rois, images],
                           {**bins, **shift, "mode": mode, "sampling_ratio": ratio})
    yield Case("many-samples", [normal(1, 2, 40, 30), numpy.array([[2, 1, 25, 38]], F32),
                                numpy.zeros(1, I64)], {"output_height": 2, "output_width": 3})
    yield Case("fixed", [x, Fixed(rois), Fixed(images)], bins)
    yield Case("no-regions", [x, numpy.zeros((0, 4), F32), numpy.zeros(0, I64)])
    for label, dtype in (("float64", F64), ("float16", F16)):
        yield Case(label, [x.astype(dtype), rois.astype(dtype), images], bins)


@operator("MaxRoiPool")
def max_roi_pool(name, version):
    images = numpy.array([[0], [1], [0], [1], [1], [0], [1]])
    x, rois = normal(2, 3, 8, 9), numpy.concatenate([images, REGIONS], axis=1).astype(F32)
    yield Case("plain", [x, rois], {"pooled_shape": [3, 2]})
    yield Case("scaled", [x, rois], {"pooled_shape": [2, 3], "spatial_scale": 0.75})
    yield Case("halves", [x, rois], {"pooled_shape": [1, 4], "spatial_scale": 0.5})
    yield Case("fixed", [x, Fixed(rois)], {"pooled_shape": [2, 2]})


def deformed(name, *, channels=4, filters=6, size=(6, 7), kernel=(3, 3), groups=1, offset_groups=1, mask=True,
             bias=True, reach=1.5, dtype=F32, change=lambda weights: weights, **attributes):
    """Inputs for a convolution of two images whose taps move by about `reach` elements."""
    strides = attributes.get("strides", [1] * len(size))
    dilations = attributes.get("dilations", [1] * len(size))
    pads = attributes.get("pads", [0] * 2 * len(size))
    out = [(n + before + after - (k - 1) * dilation - 1) // stride + 1
           for n, k, stride, dilation, before, after in
           zip(size, kernel, strides, dilations, pads[:len(size)], pads[len(size):])]
    taps = int(numpy.prod(kernel)) * offset_groups
    weights = normal(filters, channels // groups, *kernel)
    weights /= numpy.sqrt(weights[0].size, dtype=F32)  # columns are rounded: sums are as large as they
    inputs = [normal(2, channels, *size), change(weights),
              reach * normal(2, taps * len(size), *out), normal(filters) if bias else None,
              uniform(0, 1, 2, taps, *out) if mask else None]
    while inputs[-1] is None:
        inputs.pop()
    return Case(name, [value if value is None or isinstance(value, Fixed) else value.astype(dtype)
                       for value in inputs],
                {"group": groups, "offset_group": offset_groups, **attributes})


@operator("DeformConv")
def deform_conv(name, version):
    yield deformed("plain", mask=False, bias=False)
    yield deformed("mask", bias=False)
    yield deformed("bias", mask=False)
    yield deformed("mask-bias", kernel_shape=[3, 3])
    yield deformed("weights", change=Fixed)
    yield deformed("groups", groups=2)
    yield deformed("offset-groups", offset_groups=2)
    yield deformed("both-groups", groups=2, offset_groups=4)
    yield deformed("depthwise", groups=4, filters=4, offset_groups=4)
    yield deformed("strides", strides=[2, 1], pads=[1, 1, 2, 0])
    yield deformed("dilations", dilations=[2, 1], pads=[1, 2, 1, 2])
    yield deformed("pads", pads=[2, 0, 1, 3])
    yield deformed("kernel", kernel=(1, 2))
    yield deformed("point", kernel=(1, 1), reach=0.5)
    yield deformed("far", reach=20)
    yield deformed("wide", channels=16, filters=32, size=(9, 10), pads=[1, 1, 1, 1], change=Fixed)
    yield deformed("line", size=(9,), kernel=(3,), offset_groups=2, strides=[2], pads=[1, 2])
    yield deformed("volume", size=(4, 5, 3), kernel=(2, 3, 2), groups=2, dilations=[1, 2, 1])
    for label, dtype in (("float64", F64), ("float16", F16)):
        yield deformed(label, dtype=dtype)


@differs
def border_differences():
    x = ramp(1, 1, 3, 3) ** 2
    outside = floats(-1.2, 0, 1.4, 0.3, shape=[1, 1, 2, 2])
    for align in (0, 1):
        yield Difference("GridSample, `cubic` with `border`", "GridSample", [x, outside], "reference",
                         {"mode": "cubic", "padding_mode": "border", "align_corners": align})


@differs
def one_element_differences():
    for mode in ("linear", "cubic"):
        yield Difference("GridSample, `reflection` with `align_corners` in a size of 1", "GridSample",
                         [ramp(1, 1, 1, 4), floats(-0.5, -2.5, 0.1, 3.7, shape=[1, 1, 2, 2])], "onnxruntime",
                         {"mode": mode, "padding_mode": "reflection", "align_corners": 1})
    yield Difference("DeformConv of one row or column", "DeformConv",
                     [ramp(1, 1, 1, 4), floats(1, 2, shape=[1, 1, 1, 2]),
                      floats(*[0.25] * 12, shape=[1, 4, 1, 3])], "onnxruntime")


@differs
def sampling_differences():
    x = floats(1, NAN, 2, 3, shape=[1, 1, 2, 2])
    row = "RoiAlign with `max`, MaxRoiPool of NaN"
    yield Difference(row, "RoiAlign", [x, floats(0, 0, 1, 1, shape=[1, 4]), ints(0)], [floats(NAN, shape=[1, 1, 1, 1])],
                     {"mode": "max", "sampling_ratio": 2}, opset=16)
    yield Difference(row, "MaxRoiPool", [x, floats(0, 0, 0, 1, 1, shape=[1, 5])], [floats(NAN, shape=[1, 1, 1, 1])],
                     {"pooled_shape": [1, 1]}, opset=16)
    row = "RoiAlign, MaxRoiPool, an image out of range or a region that is no number, at run time"
    x, regions = floats(1, 1, 1, 1, shape=[1, 1, 2, 2]), floats(0, 0, 2, 2, 0, 0, NAN, 2, shape=[2, 4])
    yield Difference(row, "RoiAlign", [x, regions, ints(5, 0)], [floats(1, 0, shape=[2, 1, 1, 1])],
                     fixed=False, opset=16)
    yield Difference(row, "MaxRoiPool", [x, floats(7, 0, 0, 1, 1, shape=[1, 5])], [floats(1, shape=[1, 1, 1, 1])],
                     {"pooled_shape": [1, 1]}, fixed=False, opset=16)
    x, row = ramp(1, 1, 2, 3) + 1, "GridSample at a coordinate that is infinite, NaN or beyond integers"
    far = floats(NAN, -1, INF, -1, -1e30, -1, 1e30, -1, shape=[1, 1, 4, 2])
    for padding, wanted in (("zeros", [0, 0, 0, 0]), ("border", [1, 3, 1, 3])):
        yield Difference(row, "GridSample", [x, far], [floats(*wanted, shape=[1, 1, 1, 4])],
                         {"padding_mode": padding, "align_corners": 1})
    yield Difference("GridSample of integers, `linear` or `cubic`", "GridSample",
                     [ints(0, 10, 20, 33, dtype=I32).reshape(1, 1, 2, 2), floats(0.2, 0.4, shape=[1, 1, 1, 2])],
                     [ints(21, dtype=I32).reshape(1, 1, 1, 1)], {"align_corners": 1})


@checks
def sampling_checks():
    x, grid = [2, 3, 4, 5], [2, 3, 3, 2]
    operands = [tensor("N", 3, "H", "W"), tensor("M", 3, 3, "D")]
    for label, wrong, text in (
            ("coordinates", [x, [2, 3, 3, 3]], "the grid has 3 coordinates for 2 spatial dimensions"),
            ("batch", [x, [1, 3, 3, 2]], "batch sizes 2 and 1 of X and grid differ"),
            ("empty", [[2, 3, 4, 0], grid], "the input has a size of 0; it must be 1 or more")):
        yield Check(f"grid-sample-{label}", "GridSample", operands, [x, grid], [(wrong, text)])
    operands = [tensor("N", 3, "H", 5), tensor("R", "D"), tensor("I", dtype=I64)]
    for label, wrong, text in (
            ("numbers", [x, [4, 5], given(1, 0, 1, 1)], "rois holds 5 numbers a region; it needs 4"),
            ("count", [x, [4, 4], given(1, 0)], "batch_indices holds 2 numbers for 4 regions"),
            ("empty", [[2, 3, 0, 5], [4, 4], given(1, 0, 1, 1)], "the input has a size of 0")):
        yield Check(f"roi-align-{label}", "RoiAlign", operands, [x, [4, 4], given(1, 0, 1, 1)],
                    [(wrong, text)])
    yield Check("roi-align-images", "RoiAlign", [tensor("N", 3, 4, 5), tensor(2, 4), ints(0, 1)], [x, [2, 4]],
                [([[1, 3, 4, 5], [2, 4]], "batch_indices has image 1 of 1")])
    yield Check("max-roi-pool", "MaxRoiPool", [tensor("N", 3, "H", 5), tensor("R", "D")], [x, [4, 5]],
                [([x, [4, 4]], "rois holds 4 numbers a region; it needs 5"),
                 ([[2, 3, 0, 5], [4, 5]], "the input has a size of 0")], {"pooled_shape": [2, 2]})
    x, w, offset, bias, mask = [2, 4, 5, 6], [3, 4, 3, 2], [2, 12, 3, 5], [3], [2, 6, 3, 5]
    operands = [tensor("N", "C", "H", "W"), tensor("F", "D", 3, 2), tensor("M", "K", "P", "Q"),
                tensor("B"), tensor("L", "J", "R", "S")]
    for label, wrong, text in (
            ("offset-groups", [[2, 3, 5, 6], [3, 3, 3, 2], [2, 24, 3, 5], bias, [2, 12, 3, 5]],
             "3 channels are not a multiple of offset_group 2"),
            ("channels", [x, [3, 3, 3, 2], offset, bias, mask], "the weights take 3 channels, the input has 4"),
            ("bias", [x, w, [2, 24, 3, 5], [4], mask], "the bias has 4 values for 3 filters"),
            ("batch", [x, w, [1, 24, 3, 5], bias, mask], "batch sizes 1 and 2 of the offset and X differ"),
            ("offset", [x, w, offset, bias, mask], "the offset has 12 channels; kernel and offset_group need 24"),
            ("offset-size", [x, w, [2, 24, 3, 4], bias, mask],
             "the offset has a size of 4 for 5 positions of the window"),
            ("mask", [x, w, [2, 24, 3, 5], bias, mask], "the mask has 6 channels; kernel and offset_group need 12"),
            ("empty", [[2, 4, 5, 0], w, [2, 24, 3, 1], bias, [2, 12, 3, 1]],
             "the input has a spatial size of 0; it must be 1 or more")):
        pads = {"pads": [0, 1, 0, 1]} if label == "empty" else {}
        wide = 2 if pads else 0
        yield Check(f"deform-conv-{label}", "DeformConv", operands,
                    [x, w, [2, 24, 3, 5 + wide], bias, [2, 12, 3, 5 + wide]], [(wrong, text)],
                    {"offset_group": 2, **pads})
