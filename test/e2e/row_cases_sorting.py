"""Cases of operators that write at computed places, sort, or choose what a run finds."""
# SPDX-License-Identifier: Apache-2.0
import numpy
from onnx import TensorProto

from difference import Difference, differs, floats, ints
from row_cases import BOOL, F16, F32, F64, I32, I64, U8, Case, Fixed, fixed, normal, operator, uniform, whole
from runtime_check import Check, checks, given, tensor
from spec_kinds import at_least, cache_axis, count_input, indices_input

# --- scattered updates

REDUCTIONS = {16: ["add", "mul"], 18: ["add", "mul", "max", "min"]}


def places(size, *shape, dtype=I64):
    """Some from the end, and several alike."""
    return whole(-size, size, *shape, dtype=dtype)


@operator("ScatterND", inputs={"indices": indices_input})
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
        yield Case(f"booleans-{reduction}", [whole(0, 2, 9, 2, dtype=BOOL), places(9, 12, 1), whole(0, 2, 12, 2, dtype=BOOL)],
                   {"reduction": reduction})


@operator("ScatterElements", inputs={"indices": indices_input})
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
        yield Case(f"booleans-{reduction}", [whole(0, 2, 4, 9, dtype=BOOL), places(9, 4, 12), whole(0, 2, 4, 12, dtype=BOOL)],
                   {"axis": 1, "reduction": reduction})


@operator("TensorScatter", axis=cache_axis)
def tensor_scatter(name, version):
    yield Case("linear", [normal(2, 3, 6, 4), normal(2, 3, 2, 4), whole(0, 5, 2)])
    yield Case("start", [normal(2, 3, 6, 4), normal(2, 3, 4, 4)])
    yield Case("circular", [normal(2, 6, 4), normal(2, 3, 4), whole(0, 6, 2)], {"mode": "circular"})
    yield Case("circular-start", [normal(2, 6, 4), normal(2, 6, 4)], {"mode": "circular"})
    yield Case("around", [normal(3, 6, 4), normal(3, 6, 4), fixed(1, 5, 0)], {"mode": "circular"})
    yield Case("axis", [normal(2, 6, 4), normal(2, 6, 2), whole(0, 3, 2)], {"axis": 2})
    yield Case("axis-1", [normal(2, 9, 2, 4), normal(2, 3, 2, 4), whole(0, 7, 2)], {"axis": 1})
    yield Case("one-row", [normal(4, 2, 64, 16), normal(4, 2, 1, 16), whole(0, 64, 4)])
    yield Case("nothing", [normal(2, 6, 4), normal(2, 0, 4), whole(0, 6, 2)])
    yield Case("float16", [normal(1, 5, 2, dtype=F16), normal(1, 2, 2, dtype=F16), whole(0, 4, 1)])
    yield Case("int64", [whole(0, 9, 2, 5, 3), whole(9, 20, 2, 2, 3), whole(0, 4, 2)])
    yield Case("bool", [whole(0, 2, 2, 5, 3, dtype=BOOL), whole(0, 2, 2, 2, 3, dtype=BOOL), whole(0, 4, 2)])


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


# --- order

@operator("TopK", k=at_least(0), inputs={"K": count_input})
def top_k(name, version):
    values = whole(-3, 4, 3, 9, dtype=F32)  # many are equal

    def case(label, x, k, **attributes):
        if version == 1:
            return Case(label, [x], {"k": int(k[0]), **attributes}, 2)
        return Case(label, [x, Fixed(numpy.array(k, I64))], attributes, 2)

    yield case("last", values, [4])
    yield case("axis-0", values, [2], axis=0)
    yield case("middle", normal(2, 7, 3), [5], axis=1)
    yield case("all", normal(2, 40), [40])
    yield case("few-of-many", normal(1, 5000), [3])
    yield case("most-of-many", normal(2, 4099), [4000])
    if version < 10:
        return
    yield Case("k-at-run-time", [values, numpy.array([3], I64)], {}, 2)
    yield case("none", values, [0])
    if version < 11:
        return
    for largest in (0, 1):
        yield case(f"largest-{largest}", whole(-3, 4, 4, 12, dtype=F32), [6], largest=largest)
        yield case(f"int64-{largest}", whole(-2**62, 2**62, 2, 30), [7], largest=largest)
        yield case(f"float64-{largest}", normal(3, 20, dtype=F64), [5], largest=largest)
    yield case("int64-many", whole(-9, 9, 2500), [2500], axis=0, largest=0)
    yield case("int32", whole(-2**31, 2**31 - 1, 3, 15, dtype=I32), [6], axis=-1)


# --- choices

@operator("NonZero")
def non_zero(name, version):
    yield Case("matrix", [whole(0, 2, 5, 6, dtype=F32)])
    yield Case("list", [whole(0, 3, 17)])
    yield Case("booleans", [whole(0, 2, 2, 3, 4, dtype=BOOL)])
    yield Case("nothing", [numpy.zeros((3, 4), F32)])
    yield Case("everything", [numpy.ones((3, 4), I32)])
    yield Case("empty", [numpy.zeros((0, 4), F32)])
    yield Case("numbers", [numpy.array([0.0, -0.0, numpy.nan, 1e-45, -1], F32)])
    yield Case("many", [whole(0, 3, 3, 1500, dtype=F32)])


@operator("Compress")
def compress(name, version):
    yield Case("flat", [normal(3, 4), whole(0, 2, 12, dtype=BOOL)])
    yield Case("axis-0", [normal(6, 3), whole(0, 2, 6, dtype=BOOL)], {"axis": 0})
    yield Case("axis-1", [normal(2, 7, 3), whole(0, 2, 7, dtype=BOOL)], {"axis": 1})
    yield Case("short", [normal(3, 4), whole(0, 2, 5, dtype=BOOL)])
    yield Case("nothing", [normal(3, 4), numpy.zeros(3, BOOL)], {"axis": 0})
    yield Case("many", [normal(3000), whole(0, 2, 3000, dtype=BOOL)])
    if version >= 11:
        yield Case("axis-from-the-end", [normal(2, 7), whole(0, 2, 7, dtype=BOOL)], {"axis": -1})


@operator("Unique")
def unique(name, version):
    for ordered in (1, 0):
        attributes = {"sorted": ordered}
        yield Case(f"flat-{ordered}", [whole(0, 6, 4, 5, dtype=F32)], attributes, 4)
        yield Case(f"int64-{ordered}", [whole(-3, 4, 30)], attributes, 4)
        yield Case(f"axis-0-{ordered}", [whole(0, 2, 12, 3, dtype=F32)], {"axis": 0, **attributes}, 4)
        yield Case(f"axis-1-{ordered}", [whole(0, 2, 2, 9, 2)], {"axis": 1, **attributes}, 4)
        yield Case(f"many-{ordered}", [whole(0, 700, 3000, dtype=F32)], attributes, 4)
    yield Case("alone", [normal(12)])
    yield Case("bytes", [whole(0, 200, 60, dtype=U8)], {}, 4)
    yield Case("one", [normal(1, 1)], {}, 4)


def boxes_of(batches, count, classes):
    corners, sizes = uniform(0, 10, batches, count, 2), uniform(1, 6, batches, count, 2)
    return corners, sizes, whole(0, 60, batches, classes, count).astype(F32) / F32(64)


@operator("NonMaxSuppression")
def suppression(name, version):
    corners, sizes, scores = boxes_of(2, 40, 3)
    boxes = numpy.concatenate([corners, corners + sizes], 2)
    half, least = numpy.array([0.3], F32), numpy.array([0.2], F32)
    yield Case("corners", [boxes, scores, fixed(7), half, least])
    yield Case("flipped", [numpy.concatenate([corners + sizes, corners], 2), scores, fixed(40), half])
    yield Case("centers", [numpy.concatenate([corners, sizes], 2), scores, fixed(5), half, least],
               {"center_point_box": 1})
    yield Case("limit-at-run-time", [boxes, scores, numpy.array([4], I64), half, least])
    yield Case("no-limit", [boxes, scores])
    yield Case("limit-of-exporters", [boxes, scores, fixed(2**63 - 1), half, least])
    yield Case("limit-of-33-bits", [boxes, scores, fixed(2**32), half])
    yield Case("no-share", [boxes, scores, fixed(9)])
    yield Case("nothing", [boxes, scores, fixed(9), half, numpy.array([2], F32)])
    yield Case("no-boxes", [numpy.zeros((1, 0, 4), F32), numpy.zeros((1, 2, 0), F32), fixed(9), half])
    yield Case("equal", [numpy.tile(numpy.array([0, 0, 1, 1], F32), (1, 3, 1)), numpy.array([[[0.5, 0.5, 0.7]]], F32),
                         fixed(3), half])
    corners, sizes, scores = boxes_of(1, 2500, 2)
    yield Case("many", [numpy.concatenate([corners * 4, corners * 4 + sizes], 2), scores, fixed(200), half, least])


@differs
def scatter_differences():
    yield Difference("ScatterElements, ScatterND, MaxUnpool out of range at run time", "ScatterElements",
                     [floats(1, 2, 3), ints(3, -4), floats(5, 6)], [floats(6, 2, 5)], fixed=False)
    yield Difference("MaxUnpool with an `output_shape` larger than its windows make", "MaxUnpool",
                     [floats(1, 2, 3, 4, shape=[1, 1, 2, 2]), ints(5, 7, 13, 15).reshape(1, 1, 2, 2), ints(1, 1, 5, 5)],
                     "reference", {"kernel_shape": [2, 2], "strides": [2, 2]})


@differs
def place_differences():
    yield Difference("NonZero of a scalar", "NonZero", [numpy.array(2, F32)], [numpy.zeros((0, 1), I64)])
    yield Difference("NonZero of a scalar", "NonZero", [numpy.array(2, F32)], [numpy.zeros((0, 1), I64)], fixed=False)


@checks
def sorting_checks():
    yield Check("scatter-elements", "ScatterElements",
                [tensor("N", "M"), tensor("K", "L", dtype=I64), tensor("P", "Q")], [[3, 2], [3, 2], [3, 2]],
                [([[3, 2], [4, 2], [4, 2]], "indices have a size of 4, the data of 3"),
                 ([[3, 2], [3, 2], [3, 1]], "updates have a size of 1; data and indices make it 2"),
                 ([[3, 0], [3, 2], [3, 2]], "indices into a dimension of size 0")], {"axis": 1})
    yield Check("scatter-nd", "ScatterND", [tensor("N", "M"), tensor("K", 1, dtype=I64), tensor("P", "Q")],
                [[2, 3], given([1], [0]), [2, 3]],
                [([[2, 3], given([1], [0]), [2, 2]], "updates have a size of 2; data and indices make it 3")])
    yield Check("top-k", "TopK", [tensor("N", "M"), tensor(1, dtype=I64)], [[2, 5], given(3)],
                [([[2, 5], given(6)], "k is 6, along an axis of 5 elements"),
                 ([[2, 5], given(-1)], "k is -1; it must be 0 or more")], outputs=2,
                later_types=[TensorProto.INT64])
    yield Check("top-k-of-constant", "TopK", [tensor("N", "M"), ints(3)], [[2, 5]],
                [([[2, 2]], "k is 3, along an axis of 2 elements")], outputs=2, later_types=[TensorProto.INT64])
    yield Check("compress", "Compress", [tensor("N"), tensor("M", dtype=numpy.bool_)], [[5], [4]],
                [([[5], [6]], "a condition of 6 elements for 5")])
    boxes, scores, one = [2, 5, 4], [2, 3, 5], numpy.array([0.5], F32)
    for label, wrong, text in (
            ("numbers", [[2, 5, 3], scores], "boxes have 3 numbers; they need 4"),
            ("batch", [boxes, [1, 3, 5]], "batch sizes 2 and 1 of boxes and scores differ"),
            ("count", [boxes, [2, 3, 4]], "5 boxes have 4 scores")):
        yield Check(f"suppression-{label}", "NonMaxSuppression",
                    [tensor("B", "N", "K"), tensor("C", "M", "S"), ints(3), one], [boxes, scores], [(wrong, text)],
                    output_type=TensorProto.INT64)
