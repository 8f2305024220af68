"""Cases of operators that write at computed places."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from row_cases import F16, F64, I32, I64, Case, Fixed, fixed, normal, operator, whole

# --- scattered updates

REDUCTIONS = {16: ["add", "mul"], 18: ["add", "mul", "max", "min"]}


def places(size, *shape, dtype=I64):
    """Some from the end, and several alike."""
    return whole(-size, size, *shape, dtype=dtype)


@operator("ScatterND")
def scatter_nd(name, version):
    yield Case("fixed-elements", [normal(8), fixed([4], [3], [1], [-1]), normal(4)])
    yield Case("fixed-rows", [normal(4, 3, 2), fixed([0], [2]), normal(2, 3, 2)])
    yield Case("fixed-places", [normal(4, 3, 2), fixed([[0, 1], [3, -1]]), normal(1, 2, 2)])
    yield Case("elements", [normal(8), places(8, 12, 1), normal(12)])
    yield Case("rows", [normal(4, 3, 2), places(4, 6, 1), normal(6, 3, 2)])
    yield Case("lists", [normal(3, 4, 5), places(3, 2, 5, 2), normal(2, 5, 5)])
    yield Case("none", [normal(3, 4), places(3, 0, 1), normal(0, 4)])
    # More than one block sorts, in an odd number.
    yield Case("many", [normal(70), places(70, 4201, 1), normal(4201)])
    yield Case("float16", [normal(9, 3, dtype=F16), places(9, 20, 1), normal(20, 3, dtype=F16)])
    for reduction in REDUCTIONS.get(version, []):
        yield Case(f"fixed-{reduction}", [normal(6, 2), fixed([4], [1], [4], [4]), normal(4, 2)],
                   {"reduction": reduction})
        # In more rounds than updates at fixed places are worth.
        yield Case(f"fixed-often-{reduction}", [normal(2), Fixed(places(2, 40, 1)), normal(40)],
                   {"reduction": reduction})
        yield Case(reduction, [normal(6, 2), places(6, 30, 1), normal(30, 2)], {"reduction": reduction})
        yield Case(f"elements-{reduction}", [normal(7), places(7, 30, 1), normal(30)], {"reduction": reduction})


@operator("ScatterElements")
def scatter_elements(name, version):
    yield Case("fixed-axis-0", [normal(4, 3), fixed([1, 0, 2], [0, 2, -1]), normal(2, 3)])
    yield Case("fixed-axis-1", [normal(2, 5), fixed([1, 3], [0, 4]), normal(2, 2)], {"axis": 1})
    yield Case("fixed-int32", [whole(0, 9, 3, 3, dtype=I32), Fixed(
        numpy.array([[0, 1, 2]], I32)), whole(0, 9, 1, 3, dtype=I32)])
    yield Case("axis-0", [normal(4, 3), places(4, 2, 3), normal(2, 3)])
    yield Case("axis-1", [normal(3, 5, 2), places(5, 2, 7, 1), normal(2, 7, 1)], {"axis": 1})
    yield Case("axis-from-the-end", [normal(3, 5), places(5, 3, 2, dtype=I32), normal(3, 2)], {"axis": -1})
    yield Case("none", [normal(4, 3), places(4, 0, 3), normal(0, 3)])
    yield Case("many", [normal(3, 30), places(30, 3, 2100), normal(3, 2100)], {"axis": 1})
    for reduction in REDUCTIONS.get(version, []):
        yield Case(f"fixed-{reduction}", [normal(1, 5), fixed([1, 1, 3, 1]), normal(1, 4)],
                   {"axis": 1, "reduction": reduction})
        yield Case(reduction, [normal(2, 5), places(5, 2, 20), normal(2, 20)], {"axis": 1, "reduction": reduction})


@operator("MaxUnpool")
def max_unpool(name, version):
    def case(label, x, size, **attributes):
        """Each place at most once: which of several wins, ONNX leaves open."""
        all_places = numpy.random.default_rng(5).permutation(size)[:x.size].reshape(x.shape).astype(I64)
        return Case(label, [x, all_places], attributes)

    yield case("plain", normal(1, 2, 3, 4), 2 * 6 * 8, kernel_shape=[2, 2], strides=[2, 2])
    yield case("overlapping", normal(1, 1, 3, 3), 25, kernel_shape=[3, 3])
    yield case("padded", normal(1, 1, 3, 5), 4 * 8, kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 1, 1])
    yield case("line", normal(2, 1, 6), 2 * 13, kernel_shape=[3], strides=[2])
    yield case("float64", normal(1, 1, 2, 2, dtype=F64), 16, kernel_shape=[2, 2], strides=[2, 2])
