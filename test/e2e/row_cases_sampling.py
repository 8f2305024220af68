"""The part of row_cases of operators that read a tensor at positions which another one holds."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from row_cases import F32, F64, I32, Case, Fixed, normal, operator, uniform, whole


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
