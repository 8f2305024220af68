#!/usr/bin/env python3
"""Concatenations whose parts are written in place: along each axis, of odd sizes, with sizes known
only at run time, one in another, of parts that are read beside, and of parts that have no place.
Models of several nodes, compared with ONNX Runtime under all checks of the simulator."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import batch
import harness
import reference

CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


class Graph:
    """Nodes over inputs x0, x1, ...; results are outputs y0, y1, ..."""

    def __init__(self, name):
        self.random = numpy.random.default_rng(sum(map(ord, name)))
        self.name, self.feed = name, {}
        self.nodes, self.inputs, self.weights = [], [], []

    def normal(self, *shape):
        return self.random.standard_normal(shape, numpy.float32)

    def input(self, *shape, names=None):
        """`names`: a dict from dimension to what its size is called."""
        name = f"x{len(self.inputs)}"
        self.feed[name] = self.normal(*shape)
        dims = [f"{self.name}-{names[i]}" if names and i in names else size
                for i, size in enumerate(shape)]
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        return name

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, *shape):
        return self.constant(self.normal(*shape) / numpy.float32(numpy.sqrt(shape[-1])))

    def node(self, operator, *inputs, **attributes):
        result = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [result], result, **attributes))
        return result

    def concat(self, *parts, axis):
        return self.node("Concat", *parts, axis=axis)

    def conv(self, x, inputs, outputs, kernel=1, **attributes):
        weight = self.constant(self.normal(outputs, inputs, kernel, kernel) /
                               numpy.float32(kernel * numpy.sqrt(inputs)))
        return self.node("Conv", x, weight, pads=[kernel // 2] * 4, **attributes)

    def entry(self, *results):
        outputs = []
        for number, result in enumerate(results):
            self.nodes.append(helper.make_node("Identity", [result], [f"y{number}"]))
            outputs.append(helper.make_empty_tensor_value_info(f"y{number}"))
        model = helper.make_model(
            helper.make_graph(self.nodes, self.name, self.inputs, outputs, self.weights),
            opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return batch.Entry(self.name, model, self.feed)


def each_axis(g, shape, names=None):
    results = []
    for axis in range(len(shape)):
        x = g.input(*shape, names=names)
        other = list(shape)
        other[axis] += 3
        y = g.input(*other, names={i: name + "b" * (i == axis) for i, name in (names or {}).items()})
        results.append(g.concat(g.node("Relu", x), g.node("Exp", y), g.node("Neg", x), axis=axis))
    return g.entry(*results)


@case
def axes(g):
    return each_axis(g, (3, 5, 4, 8))


@case
def axes_odd(g):
    return each_axis(g, (3, 5, 7))


@case
def axes_symbolic_batch(g):
    return each_axis(g, (3, 4, 8), {0: "N"})


@case
def axes_symbolic(g):
    return each_axis(g, (2, 3, 6), {0: "N", 1: "A", 2: "B"})


@case
def along_symbolic(g):
    """The place of the second part is known only at run time."""
    x, y = g.input(2, 3, 8, names={1: "S"}), g.input(2, 4, 8, names={1: "T"})
    whole = g.concat(g.node("Relu", x), g.node("Exp", y), g.node("Neg", x), axis=1)
    return g.entry(whole, g.node("ReduceSum", whole, keepdims=0))


def reshaped_producers(g, axis, names):
    """Parts that kernels write in a shape of their own, first and behind others, whose sizes they compute in another
    way: as twice a half, as what a window leaves. `names` calls the inputs' sizes."""
    half = g.input(2, 8, 3, 4, names={i: name for i, name in zip((0, 2, 3), names[0])})
    skip = g.input(2, 8, 6, 8, names={i: name for i, name in zip((0, 2, 3), names[1])})
    same = g.input(2, 8, 6, 8, names={i: name for i, name in zip((0, 2, 3), names[2])})
    parts = [
        g.node("ConvTranspose", half, g.weight(8, 8, 2, 2), strides=[2, 2]),
        g.node("DepthToSpace", g.conv(half, 8, 32), blocksize=2),
        g.node("Conv", same, g.weight(8, 1, 3, 3), group=8, pads=[1] * 4),
        g.node("Conv", same, g.weight(8, 4, 3, 3), group=2, pads=[1] * 4),
    ]
    return g.entry(*(g.concat(*pair, axis=axis) for part in parts
                     for pair in ((skip, part), (part, skip), (g.node("Relu", skip), part))))


@case
def reshaped_channels(g):
    return reshaped_producers(g, 1, ("Nhw", "NHW", "NHW"))


@case
def reshaped_channels_unlike(g):
    return reshaped_producers(g, 1, ("Mhw", "NHW", "KIJ"))


@case
def reshaped_batch(g):
    return reshaped_producers(g, 0, ("Mhw", "NHW", "KIJ"))


def inception(g, batch_size, names, size):
    """Each kind of kernel as a part, and their readers in between."""
    x = g.input(batch_size, 16, size, size, names=names)
    product = g.conv(x, 16, 24)
    window = g.conv(g.node("Relu", g.conv(x, 16, 8)), 8, 24, 3)
    grouped = g.node("Conv", x, g.weight(16, 1, 3, 3), group=16, pads=[1] * 4)
    pool = g.node("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4)
    normal = g.node("Softmax", x, axis=3)
    whole = g.concat(product, window, grouped, pool, normal, axis=1)
    between = g.node("Add", pool, grouped)
    reduced = g.node("ReduceMax", normal, axes=[1], keepdims=0)
    again = g.conv(whole, 96, 32)
    pooled = g.node("AveragePool", whole, kernel_shape=[2, 2])
    return g.entry(whole, between, reduced, again, pooled, g.conv(grouped, 16, 8, 3))


@case
def inception_one(g):
    return inception(g, 1, None, 8)


@case
def inception_batch(g):
    return inception(g, 3, None, 8)


@case
def inception_odd(g):
    return inception(g, 2, None, 7)


@case
def inception_branches(g):
    """Products of one value, of whose results several products are made each: what they have become by then."""
    x = g.input(2, 16, 7, 7, names={0: "N"})
    a, b = g.conv(x, 16, 24), g.conv(x, 16, 32)
    return g.entry(g.concat(g.conv(a, 24, 16), g.conv(a, 24, 8), g.conv(b, 32, 16), g.conv(b, 32, 8), axis=1))


@case
def inception_symbolic(g):
    return inception(g, 3, {0: "N"}, 7)


@case
def kinds(g):
    """Sums along lines, rows, searches and products as parts along the last dimension."""
    x = g.input(4, 70)
    rows = g.node("LayerNormalization", x, g.weight(70), axis=-1)
    lines = g.node("CumSum", x, g.constant(numpy.array(1, numpy.int64)))
    product = g.node("MatMul", x, g.weight(70, 34))
    columns = g.node("Softmax", x, axis=0)
    return g.entry(g.concat(rows, lines, product, columns, axis=1),
                   g.node("ReduceSum", lines, keepdims=1))


def dense(g, batch_size, names):
    x = g.node("Relu", g.input(batch_size, 8, 6, 6, names=names))
    channels = 8
    for _ in range(4):
        hidden = g.conv(g.node("Relu", x), channels, 8)
        x = g.concat(x, g.conv(hidden, 8, 4, 3), axis=1)
        channels += 4
    return g.entry(g.node("GlobalAveragePool", x))


@case
def dense_one(g):
    return dense(g, 1, None)


@case
def dense_batch(g):
    return dense(g, 2, None)


@case
def dense_symbolic(g):
    return dense(g, 2, {0: "N"})


@case
def dense_flat(g):
    """Every layer concatenates all that came before."""
    parts = [g.node("Relu", g.input(2, 8, 6, 6))]
    for _ in range(4):
        x = g.concat(*parts, axis=1) if len(parts) > 1 else parts[0]
        parts.append(g.conv(x, 4 + 4 * len(parts), 4, 3))
    return g.entry(g.concat(*parts, axis=1))


@case
def nested_axes(g):
    x = g.input(2, 3, 4, 5)
    inner = g.concat(g.node("Relu", x), g.node("Exp", x), axis=3)
    middle = g.concat(inner, g.node("Neg", inner), axis=1)
    outer = g.concat(g.node("Abs", middle), middle, axis=2)
    return g.entry(outer, g.node("ReduceSum", inner, keepdims=0))


@case
def interleaved(g):
    """Parts of one element: behind them nothing is left that elements follow one another in."""
    x = g.input(4, 8, 16)
    last = g.constant(numpy.array([-1], numpy.int64))
    parts = [g.node("Unsqueeze", g.node(operator, x), last) for operator in ("Neg", "Exp")]
    pairs = g.concat(*parts, axis=-1)
    sums = [g.node("Unsqueeze", g.node(operator, x, keepdims=0, **{"axes": [0]}), last)
            for operator in ("ReduceMax", "ReduceMin")]
    columns = g.concat(g.node("Relu", sums[0]), sums[1], axis=-1)
    shape = g.constant(numpy.array([4, 8, 32], numpy.int64))
    return g.entry(g.node("Reshape", pairs, shape), columns)


@case
def outputs(g):
    """Parts that are outputs, and a concatenation in another one that is."""
    x = g.input(2, 3, 4)
    a, b = g.node("Relu", x), g.node("Exp", x)
    inner = g.concat(a, b, axis=1)
    return g.entry(inner, a, g.concat(inner, g.node("Neg", x), axis=1))


@case
def without_place(g):
    """Inputs, constants, values of the host, and what is a part already."""
    x, y = g.input(2, 3), g.input(2, 4, names={1: "M"})
    a = g.node("Relu", x)
    return g.entry(g.concat(x, a, g.weight(2, 5), axis=1), g.concat(a, a, axis=0),
                   g.concat(y, a, y, x, axis=1), g.concat(x, x, axis=0))


@case
def reshaped(g):
    """Before and behind a concatenation, as strides can say it and as they cannot."""
    x = g.input(3, 4, 6)
    shape = lambda *sizes: g.constant(numpy.array(sizes, numpy.int64))  # noqa: E731
    a, b, c = (g.node(operator, x) for operator in ("Relu", "Exp", "Neg"))
    split = g.node("Reshape", a, shape(3, 2, 2, 6))
    whole = g.concat(split, g.node("Reshape", b, shape(3, 2, 2, 6)), axis=1)
    flat = g.node("Reshape", b, shape(72))
    other = g.concat(c, x, axis=2)
    return g.entry(whole, g.node("Abs", flat), other, g.node("Exp", g.node("Reshape", c, shape(12, 6))),
                   g.node("Exp", g.node("Reshape", split, shape(3, 24))))


@case
def many(g):
    x = g.input(2, 3)
    parts = [g.node("Add", x, g.weight(1, 1)) if i % 3 else g.weight(2, 1 + i % 4)
             for i in range(120)]
    return g.entry(g.concat(*parts, axis=1), g.concat(*(g.weight(2, 1) for _ in range(70)), axis=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sm_80,sim:sm_80", sim_checks="all", sim_seed=[1, 2])
    options = parser.parse_args()
    suite = harness.Suite("concatenations", options.build.resolve())
    runner = batch.Runner(suite, options)

    def check(name):
        entry = CASES[name](Graph(name))
        wanted = reference.expected(entry.model, entry.feed)
        if isinstance(wanted, str):
            return entry, wanted
        for output, value in zip(entry.model.graph.output, wanted):
            output.CopyFrom(helper.make_tensor_value_info(
                output.name, helper.np_dtype_to_tensor_dtype(value.dtype),
                [None] * value.ndim))
        runner.run(name, [entry])
        return entry, batch.judge(entry, wanted)

    names = [name for name in CASES if options.filter in name]
    for name, (entry, reason) in harness.for_each(names, check, options.jobs):
        if reason:
            suite.fail(name, reason, *entry.steps)
        else:
            suite.ok(name)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
