#!/usr/bin/env python3
"""Sizes that the device computes: ends of slices, lengths, shapes, repeats, pads, depths, from sums, maxima, products
and casts, one after another, beside sizes of inputs, and 0 among them. Each model is compiled once a level and run for
several inputs, at -O2 with the simulator's checks; beside ONNX Runtime, and at -O0 to the bit."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

import artefact
import harness
import nested_graphs
import reference

FLOAT, I64 = TensorProto.FLOAT, numpy.int64
RANDOM = numpy.random.default_rng(3)


class Graph:
    """A model under construction."""

    def __init__(self):
        self.nodes, self.weights, self.inputs = [], {}, []

    def input(self, name, kind, sizes):
        self.inputs.append((name, kind, sizes))
        return name

    def array(self, values):
        name = f"w{len(self.weights)}"
        self.weights[name] = numpy.asarray(values)
        return name

    def ints(self, *values):
        return self.array(numpy.array(values, I64))

    def add(self, kind, *operands, outputs=1, **attributes):
        number = len(self.nodes)
        names = [f"v{number}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(operands), names, f"{kind}_{number}", **attributes))
        return names if outputs > 1 else names[0]

    def count(self, x, bound=0.0, shape=(1,)):
        """How many elements of x are above a bound, as a list of one number."""
        above = self.add("Cast", self.add("Greater", x, self.array(numpy.float32(bound))), to=TensorProto.INT64)
        return self.add("Reshape", self.add("ReduceSum", above, keepdims=0), self.ints(*shape))

    def model(self, *outputs):
        nodes = [*self.nodes, *(helper.make_node("Identity", [name], [f"y{i}"]) for i, name in enumerate(outputs))]
        return artefact.model("fetches", nodes, self.inputs, [(f"y{i}", FLOAT, None) for i in range(len(outputs))],
                              self.weights, opset=18)


def rows(count, columns=4):
    return RANDOM.standard_normal((count, columns)).astype(numpy.float32)


def sequence_mask(kind):
    g = Graph()
    lengths = g.input("lengths", kind, ["B"])
    longest = g.add("ReduceMax", lengths, g.ints(0), keepdims=0)
    zero, one = (g.array(helper.tensor_dtype_to_np_dtype(kind).type(n)) for n in (0, 1))
    at = g.add("Range", zero, longest, one)
    mask = g.add("Less", at, g.add("Unsqueeze", lengths, g.ints(1)))
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    feeds = [{"lengths": numpy.array(n, dtype)} for n in ([3, 5, 2], [1], [0, 0], [3, 5, 2])]
    return g.model(g.add("Cast", mask, to=FLOAT)), feeds


def sliced(where):
    g = Graph()
    x = g.input("x", FLOAT, ["N", 4])
    n = g.count(g.add("ReduceMax", x, g.ints(1), keepdims=0), 0.5)
    zero, last, axis = g.ints(0), g.ints(2**62), g.ints(0)
    y = {"end": lambda: g.add("Slice", x, zero, n, axis),
         "start": lambda: g.add("Slice", x, n, last, axis),
         "step": lambda: g.add("Slice", x, zero, last, axis, g.add("Max", n, g.ints(1))),
         "backwards": lambda: g.add("Slice", x, n, g.ints(-2**62), axis, g.ints(-1))}[where]()
    z = g.add("MatMul", y, g.array(rows(4, 3)))
    feeds = [{"x": rows(6)}, {"x": rows(9)}, {"x": -abs(rows(6))}, {"x": 1 + abs(rows(2))}, {"x": rows(0)}]
    return g.model(g.add("Relu", y), z, g.add("ReduceSum", y, axis, keepdims=0), g.add("Mul", x, x)), feeds


def shaped(operator):
    """A shape beside sizes of an input."""
    g = Graph()
    x, n = g.input("x", FLOAT, ["N", 3]), g.input("n", FLOAT, [1, 1])
    whole = g.add("Reshape", g.add("Cast", g.add("Floor", g.add("Relu", n)), to=TensorProto.INT64), g.ints(1))
    size = g.add("Shape", x)
    feeds = [{"x": rows(rank, 3), "n": numpy.float32([[number]])} for rank, number in ((2, 4.2), (1, 1), (3, 0.5), (2, 4.2))]
    if operator == "Expand":
        y = g.add("Expand", x, g.add("Concat", whole, size, axis=0))
        return g.model(g.add("Exp", y), g.add("MatMul", y, g.array(rows(3, 2)))), feeds
    if operator == "Tile":
        y = g.add("Tile", x, g.add("Concat", whole, g.ints(2), axis=0))
        return g.model(y, g.add("Softmax", y, axis=0)), feeds
    if operator == "Pad":
        y = g.add("Pad", x, g.add("Concat", g.ints(0), whole, whole, g.ints(1), axis=0), mode="constant")
        return g.model(y, g.add("ReduceMax", y, g.ints(1))), feeds
    if operator == "ConstantOfShape":
        y = g.add("ConstantOfShape", g.add("Concat", whole, g.ints(3), axis=0),
                  value=numpy_helper.from_array(numpy.float32([2.5])))
        return g.model(y, g.add("Concat", x, y, axis=0)), feeds
    if operator == "Resize":
        sizes = g.add("Concat", g.add("Slice", size, g.ints(0), g.ints(1)), g.add("Max", whole, g.ints(1)), axis=0)
        return g.model(g.add("Resize", x, "", "", sizes, mode="nearest")), feeds
    # The rest of a Reshape follows from what is there.
    y = g.add("Tile", x, g.add("Concat", whole, g.ints(1), axis=0))
    return g.model(g.add("Reshape", y, g.add("Concat", g.add("Max", whole, g.ints(1)), g.ints(-1), axis=0))), \
        [feed for feed in feeds if feed["n"][0, 0] >= 1]


def windows():
    """Windows as long as the greatest element."""
    g = Graph()
    n = g.add("ReduceMax", g.input("x", FLOAT, ["N"]), g.ints(0), keepdims=0)
    size = g.add("Cast", n, to=TensorProto.INT64)
    results = [g.add("HannWindow", size), g.add("HammingWindow", g.add("Cast", n, to=TensorProto.INT32), periodic=0),
               g.add("BlackmanWindow", size, periodic=0), g.add("HannWindow", size, output_datatype=TensorProto.DOUBLE)]
    results[3] = g.add("Cast", results[3], to=FLOAT)
    return g.model(*results), [{"x": numpy.float32(x)} for x in ((3.5, 10), (2,), (300, 1, 4), (0,))]


def one_hot():
    g = Graph()
    x = g.input("x", TensorProto.INT64, ["N"])
    depth = g.add("Add", g.add("ReduceMax", x, g.ints(0), keepdims=0), g.array(I64(1)))
    y = g.add("OneHot", x, depth, g.array(numpy.float32([0, 1])))
    table = g.add("Unsqueeze", g.add("Cast", g.add("Range", g.array(I64(0)), depth, g.array(I64(1))), to=FLOAT), g.ints(1))
    return g.model(y, g.add("MatMul", y, table)), [{"x": numpy.array(x, I64)} for x in ([2, 0, 1], [0], [5, 5], [2, 0, 1])]


def in_sequence(times):
    """Each length is that of what the one before has left."""
    g = Graph()
    x = g.input("x", FLOAT, ["N", 4])
    parts, y = [], x
    for time in range(times):
        n = g.count(g.add("ReduceMax", y, g.ints(1), keepdims=0), 0.3 * time)
        y = g.add("Slice", g.add("Tanh", x), g.ints(0), n, g.ints(0))
        parts.append(y)
    joined = g.add("Concat", x, *parts, axis=0)
    feeds = [{"x": rows(n)} for n in (7, 3, 0, 7)]
    return g.model(joined, g.add("MatMul", joined, g.array(rows(4, 3))), parts[-1]), feeds


def of_products():
    """Numbers that a product computes, several at a time, and equal sizes from one fetch."""
    g = Graph()
    x, w = g.input("x", FLOAT, [1, 4]), g.array(numpy.float32([[1, 0, 2], [0, 1, 0], [1, 1, 0], [0, 0, 1]]))
    sizes = g.add("Reshape", g.add("Cast", g.add("Relu", g.add("MatMul", x, w)), to=TensorProto.INT64), g.ints(3))
    a = g.add("ConstantOfShape", sizes, value=numpy_helper.from_array(numpy.float32([0.5])))
    b = g.add("Expand", g.array(numpy.float32(3)), sizes)
    return g.model(g.add("Add", a, b), g.add("Cast", g.add("Shape", a), to=FLOAT)), \
        [{"x": numpy.float32([x])} for x in ([1, 2, 1, 1], [0, 1, 1, 2], [-5, 1, 1, 1])]


def chosen(operator):
    """How many are chosen, and what becomes of them."""
    g = Graph()
    x = g.input("x", FLOAT, ["N", 4])
    feeds = [{"x": rows(n)} for n in (6, 1, 0, 500)] + [{"x": -abs(rows(6))}]
    best = g.add("ReduceMax", x, g.ints(1), keepdims=0)
    above = g.add("Greater", best, g.array(numpy.float32(0.8)))
    if operator == "NonZero":
        places = g.add("Transpose", g.add("NonZero", g.add("Greater", x, g.array(numpy.float32(0.8)))), perm=[1, 0])
        y = g.add("GatherND", x, places)
        count = g.add("Cast", g.add("Shape", y), to=FLOAT)
        return g.model(y, count, g.add("Cast", places, to=FLOAT)), [feed for feed in feeds if len(feed["x"])]
    if operator == "Compress":
        y = g.add("Compress", x, above, axis=0)
        return g.model(g.add("Exp", y), g.add("MatMul", y, g.array(rows(4, 3)))), feeds
    if operator == "TopK":
        count = g.add("Reshape", g.add("ReduceSum", g.add("Cast", above, to=TensorProto.INT64), keepdims=0), g.ints(1))
        y, i = g.add("TopK", best, count, outputs=2)
        return g.model(y, g.add("Gather", x, i), g.add("Cast", i, to=FLOAT)), [feed for feed in feeds if len(feed["x"])]
    if operator == "NonMaxSuppression":
        boxes, scores = g.add("Unsqueeze", x, g.ints(0)), g.add("Reshape", best, g.ints(1, 1, -1))
        places = g.add("NonMaxSuppression", boxes, scores, g.add("Shape", best), g.array(numpy.float32([0.1])),
                       g.array(numpy.float32([0.2])))
        y = g.add("Gather", x, g.add("Reshape", g.add("Slice", places, g.ints(2), g.ints(3), g.ints(1)), g.ints(-1)))
        return g.model(y, g.add("Cast", places, to=FLOAT)), [feed for feed in feeds if len(feed["x"])]
    tens = g.add("Cast", g.add("Mul", x, g.array(numpy.float32(3))), to=TensorProto.INT64)
    y, first, inverse, counts = g.add("Unique", tens, outputs=4, sorted=int(operator == "Unique"))
    return g.model(*(g.add("Cast", value, to=FLOAT) for value in (y, first, inverse, counts))), \
        [feed for feed in feeds if len(feed["x"])]


def updated():
    """Values of one part are written over, or handed on, in the next."""
    g = Graph()
    x = g.input("x", FLOAT, [64])
    y = g.add("Exp", x)
    n = g.count(y, 1.0)
    z = g.add("Neg", g.add("Abs", g.add("Slice", y, g.ints(0), n)))
    return g.model(g.add("Sigmoid", y), z, g.add("Add", y, g.add("Cast", n, to=FLOAT))), \
        [{"x": RANDOM.standard_normal(64).astype(numpy.float32)} for _ in range(3)]


def cases():
    """(name, (model, feeds))"""
    for kind in (TensorProto.INT64, TensorProto.INT32):
        yield f"mask-{TensorProto.DataType.Name(kind).lower()}", sequence_mask(kind)
    for where in ("end", "start", "step", "backwards"):
        yield f"slice-{where}", sliced(where)
    for operator in ("Expand", "Tile", "Pad", "ConstantOfShape", "Resize", "Reshape"):
        yield f"shape-{operator}", shaped(operator)
    yield "one-hot", one_hot()
    yield "windows", windows()
    for operator in ("NonZero", "Compress", "TopK", "NonMaxSuppression", "Unique", "Unique-unsorted"):
        yield f"chosen-{operator.lower()}", chosen(operator)
    for times in (1, 2, 4):
        yield f"sequence-{times}", in_sequence(times)
    yield "products", of_products()
    yield "updated", updated()


def refusals():
    """What a run finds out: (name, model, feed, text)"""
    g = Graph()
    x = g.input("x", FLOAT, [3])
    size = g.add("Cast", g.add("Slice", g.add("Mul", x, x), g.ints(0), g.ints(1)), to=TensorProto.INT64)
    y = g.add("ConstantOfShape", g.add("Sub", g.ints(2), size))
    yield "negative", g.model(y), {"x": numpy.float32([2, 1, 1])}, "the shape has a size of -2; it must be 0 or more"
    g = Graph()
    x = g.input("x", FLOAT, ["N", 4])
    n = g.count(g.add("ReduceMax", x, g.ints(1), keepdims=0))
    yield "differing", g.model(g.add("Add", g.add("Slice", x, g.ints(0), n, g.ints(0)), g.array(rows(3)))), \
        {"x": abs(rows(2))}, "cannot be broadcast"
    g = nested_graphs.Graph()
    x, n = g.input("x", FLOAT, [2]), g.input("n", TensorProto.INT64)
    made = g.loop(n, "", [x], lambda b, _, v: ("", [b.add("Sin", v)], [v]))
    yield "trips", g.model(*made), {"x": numpy.float32([1, 2]), "n": numpy.array(2**63 - 1)}, \
        "it collects a part in each of 9223372036854775807 trips; nearest supported: 16777216 trips"


def check(suite, name, made, feeds):
    results = {}
    for level in harness.LEVELS:
        program = artefact.Artefact(suite, f"{name}{level}", made, level, *harness.CHECKS_OF_LEVEL[level])
        for number, feed in enumerate(feeds):
            case = f"{name}{level}-{number}"
            step, arrays = program.run(feed)
            if step.code:
                suite.fail(case, step.how(), step)
                continue
            wanted = reference.expected(made, feed)
            reasons = [reason for output, array, want in zip(made.graph.output, arrays, wanted)
                       if (reason := reference.differs(output.name, array, want))]
            bits = [array.tobytes() for array in arrays]
            if results.setdefault(number, bits) != bits:
                reasons.append("has other bits than at -O0")
            if reasons:
                suite.fail(case, reasons[0], step)
            else:
                suite.ok(case)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("fetches", options.build.resolve())
    for name, (made, feeds) in cases():
        if re.search(options.filter, name):
            check(suite, name, made, feeds)
    for name, made, feed, text in refusals():
        if re.search(options.filter, name):
            step, _ = artefact.Artefact(suite, name, made).run(feed)
            if step.code == 2 and text in step.output:
                suite.ok(name)
            else:
                suite.fail(name, f"{step.how()}; exit code 2 and '{text}' are wanted", step)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
