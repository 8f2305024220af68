"""The part of row_cases of operators that read a tensor at positions which another one holds."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from row_cases import F16, F32, F64, I32, I64, Case, Fixed, normal, operator, uniform, whole


def modes_of(version):
    return ("linear", "nearest", "cubic") if version >= 20 else ("bilinear", "nearest", "bicubic")


@operator("GridSample")
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


@operator("RoiAlign")
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
