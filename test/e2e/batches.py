#!/usr/bin/env python3
"""Equal work on different tensors, side by side: what becomes one launch at -O2, and what must not.
Each model has at most so many launches as it says here, the results of ONNX Runtime, and at -O2 the
bits of -O0."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper

import harness
import launches
import models
from small_models import build, normal

FLOAT = TensorProto.FLOAT


class Model:
    """A model as launches.Case takes one."""

    def __init__(self, model, feeds, most):
        self.model, self.feeds = model, feeds
        self.most = most  # launches at -O2
        self.batches = range(len(feeds))

    def inputs(self, number, _):
        return self.feeds[number]


class Nodes:
    """Nodes and weights, one after another."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.weights = [], {}

    def weight(self, *shape, scale=1.0):
        name = f"w{len(self.weights)}"
        self.weights[name] = normal(self.random, *shape) * numpy.float32(scale)
        return name

    def constant(self, *values):
        name = f"w{len(self.weights)}"
        self.weights[name] = numpy.array(values, numpy.int64)
        return name

    def add(self, kind, *inputs, outputs=1, **attributes):
        names = [f"{kind.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, names[0], **attributes))
        return names[0] if outputs == 1 else names

    def output(self, value, name):
        self.nodes.append(helper.make_node("Identity", [value], [name], name))

    def model(self, name, inputs, outputs, feeds, most):
        return Model(build(name, self.nodes, inputs, outputs, self.weights), feeds, most)


def grouped_convolution(groups, batch):
    """A grouped convolution as older exporters write it: Split, a Conv a group, Concat."""
    b = Nodes(20 + groups)
    parts = b.add("Split", "x", b.constant(*[8] * groups), outputs=groups, axis=1)
    wide = [b.add("Relu", b.add("Conv", part, b.weight(12, 8, 3, 3, scale=0.1), b.weight(12),
                                pads=[1, 1, 1, 1])) for part in parts]
    b.output(b.add("Concat", *wide, axis=1), "y")
    size = "N" if batch is None else batch
    feeds = [{"x": normal(b.random, n, 8 * groups, 9, 9)}
             for n in ((1, 3) if batch is None else [batch])]
    return b.model("grouped_convolution", [("x", FLOAT, [size, 8 * groups, 9, 9])],
                   [("y", FLOAT, [size, 12 * groups, 9, 9])], feeds, 1)


def attention_by_head(heads, length):
    """Attention written a head at a time, each with its own projections."""
    width, size = 8 * heads, 8
    b = Nodes(40)
    outputs = []
    for _ in range(heads):
        query, key, value = (b.add("Add", b.add("MatMul", "x", b.weight(width, size, scale=0.2)),
                                   b.weight(size)) for _ in range(3))
        scores = b.add("MatMul", query, b.add("Transpose", key, perm=[0, 2, 1]))
        shares = b.add("Softmax", b.add("Mul", scores, "scale"), axis=-1)
        outputs.append(b.add("MatMul", shares, value))
    b.weights["scale"] = numpy.float32(0.35)
    joined = b.add("Concat", *outputs, axis=-1)
    b.output(b.add("MatMul", joined, b.weight(width, width, scale=0.2)), "y")
    return b.model("attention_by_head", [("x", FLOAT, [2, length, width])],
                   [("y", FLOAT, [2, length, width])],
                   [{"x": normal(b.random, 2, 13 if length == "S" else length, width)}], 5)


def experts(count):
    """A mixture of experts: each the same two layers, with weights of its own, times its gate. The
    first layers are one launch; the second ones each add to the sum so far, and so follow one
    another."""
    b = Nodes(41)
    gates = b.add("Softmax", b.add("MatMul", "x", b.weight(32, count)), axis=-1)
    total = None
    parts = b.add("Split", gates, b.constant(*[1] * count), outputs=count, axis=-1)
    for gate in parts:
        hidden = b.add("Relu", b.add("Gemm", "x", b.weight(32, 48, scale=0.2), b.weight(48)))
        one = b.add("Gemm", hidden, b.weight(48, 32, scale=0.2), b.weight(32))
        scaled = b.add("Mul", one, gate)
        total = b.add("Add", total, scaled) if total else scaled
    b.output(total, "y")
    return b.model("experts", [("x", FLOAT, [20, 32])], [("y", FLOAT, [20, 32])],
                   [{"x": normal(b.random, 20, 32)}], 9)


def normalised_parts(count, joined):
    """Layer normalizations of the parts of one tensor, each with its own scale. Where each is an
    output of the model, in memory of its own, they stay apart."""
    b = Nodes(42)
    parts = b.add("Split", "x", b.constant(*[32] * count), outputs=count, axis=-1)
    normed = [b.add("LayerNormalization", part, b.weight(32), b.weight(32), axis=-1)
              for part in parts]
    if joined:
        normed = [b.add("Concat", *[b.add("Unsqueeze", one, b.constant(0)) for one in normed],
                        axis=0)]
    for i, one in enumerate(normed):
        b.output(one, f"y{i}")
    return b.model("normalised_parts", [("x", FLOAT, [7, 32 * count])],
                   [("y0", FLOAT, [count, 7, 32])] if joined else
                   [(f"y{i}", FLOAT, [7, 32]) for i in range(count)],
                   [{"x": normal(b.random, 7, 32 * count)}], 1 if joined else count)


def towers(count):
    """Equal towers on different features, of layers that follow one another; Gemms with inputs and
    weights of their own."""
    b = Nodes(43)
    ends = []
    for i in range(count):
        x = b.add("Slice", "x", b.constant(i * 16), b.constant(i * 16 + 16), b.constant(1))
        for _ in range(3):
            x = b.add("Tanh", b.add("Gemm", x, b.weight(16, 16, scale=0.3), b.weight(16)))
        ends.append(x)
    b.output(b.add("Concat", *ends, axis=1), "y")
    return b.model("towers", [("x", FLOAT, [5, 16 * count])], [("y", FLOAT, [5, 16 * count])],
                   [{"x": normal(b.random, 5, 16 * count)}], 4)


def embeddings(count):
    """Rows of tables, a table a feature, beside dense features: as recommendation networks begin."""
    b = Nodes(44)
    columns = b.add("Split", "ids", b.constant(*[1] * count), outputs=count, axis=1)
    rows = [b.add("Gather", b.weight(50, 16), b.add("Squeeze", column, b.constant(1)))
            for column in columns]
    dense = b.add("Relu", b.add("MatMul", "x", b.weight(24, 32, scale=0.2)))
    b.output(b.add("Concat", dense, *rows, axis=1), "y")
    feed = {"ids": b.random.integers(0, 50, (9, count)), "x": normal(b.random, 9, 24)}
    return b.model("embeddings", [("ids", TensorProto.INT64, [9, count]), ("x", FLOAT, [9, 24])],
                   [("y", FLOAT, [9, 32 + 16 * count])], [feed], 2)


def kinds_of_kernels(count):
    """A window, a depthwise convolution, a search, a running sum, a reduction across rows and a
    movement of each part of a tensor; each kind is an output."""
    b = Nodes(45)
    parts = b.add("Split", "x", b.constant(*[1] * count), outputs=count, axis=0)
    steps = {
        "pool": lambda x: b.add("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        "depthwise": lambda x: b.add("Conv", x, b.weight(4, 1, 3, 3), group=4, pads=[1, 1, 1, 1]),
        "search": lambda x: b.add("ArgMax", x, axis=3),
        "running": lambda x: b.add("CumSum", x, b.constant(3)),
        "across": lambda x: b.add("ReduceSum", x, b.constant(1)),
        "moved": lambda x: b.add("Transpose", x, perm=[0, 3, 1, 2]),
    }
    shapes = {"search": [count, 4, 12, 1], "across": [count, 1, 12, 70],
              "moved": [count, 70, 4, 12]}
    outputs = []
    for name, step in steps.items():
        b.output(b.add("Concat", *[step(part) for part in parts], axis=0), name)
        outputs.append((name, TensorProto.INT64 if name == "search" else FLOAT,
                        shapes.get(name, [count, 4, 12, 70])))
    return b.model("kinds_of_kernels", [("x", FLOAT, [count, 4, 12, 70])], outputs,
                   [{"x": normal(b.random, count, 4, 12, 70)}], len(steps))


def uneven_parts(parts):
    """Parts of unequal sizes with different work each, some of them joined again and one an output."""
    b = Nodes(46)
    split = b.add("Split", "x", b.constant(*parts), outputs=len(parts), axis=1)
    worked = [b.add(("Relu", "Sigmoid", "Abs")[i % 3], part) for i, part in enumerate(split)]
    b.output(b.add("Concat", *worked[1:], "x", axis=1), "joined")
    b.output(worked[0], "first")
    width = sum(parts)
    return b.model("uneven_parts", [("x", FLOAT, ["N", width, 7])],
                   [("joined", FLOAT, ["N", 2 * width - parts[0], 7]),
                    ("first", FLOAT, ["N", parts[0], 7])],
                   [{"x": normal(b.random, n, width, 7)} for n in (1, 3)], 1)


MODELS = {
    "grouped-convolution-2": lambda: grouped_convolution(2, 1),
    "grouped-convolution-6": lambda: grouped_convolution(6, 3),
    "grouped-convolution-n": lambda: grouped_convolution(4, None),
    "attention-by-head": lambda: attention_by_head(6, 13),
    "attention-by-head-s": lambda: attention_by_head(6, "S"),
    "experts": lambda: experts(6),
    "normalised-parts": lambda: normalised_parts(5, True),
    "normalised-outputs": lambda: normalised_parts(5, False),
    "towers": lambda: towers(7),
    "embeddings": lambda: embeddings(6),
    "uneven-parts": lambda: uneven_parts((8, 5, 3)),
    "kinds-of-kernels": lambda: kinds_of_kernels(3),
}


class Checks:
    def __init__(self, options, suite):
        self.suite = harness.Suite(suite, options.build.resolve())
        self.reordered = harness.ReorderedSums(suite)

    def check(self, name, make):
        case = launches.Case(self.suite, name, make, fixed=False)
        artefacts, counts = [], []
        for level in harness.LEVELS:
            step, artefact, report = case.compile(level, ("--sim-checks-only",))
            if step.code:
                return self.suite.fail(f"{name}{level}", harness.first_error(step.output), step)
            artefacts.append(artefact)
            counts.append(len(harness.launched(report)))
        print(f"{name}: launches {counts[0]} -> {counts[1]} (at most {case.network.most})")
        if counts[1] > case.network.most:
            self.suite.fail(name, f"{counts[1]} launches")
        else:
            self.suite.ok(name)
        self.results(case, artefacts)
        return case.close()

    def results(self, case, artefacts):
        session = onnxruntime.InferenceSession(case.path)
        names = [output.name for output in session.get_outputs()]
        for number, feed in enumerate(case.feeds):
            references = dict(zip(names, session.run(names, feed)))
            results = []
            for artefact in artefacts:
                step, result = case.run(artefact, number, ("--device=sim", "--sim-checks=all"))
                reason = (f"{step.how()}: {harness.first_error(step.output)}" if step.code else
                          models.compare(result, references)[0])
                if reason:
                    return self.suite.fail(f"{case.name}-{number}", reason, step)
                results.append(result)
            if launches.other_bits(*results) and not self.reordered.explain(case.name):
                return self.suite.fail(f"{case.name}-bits", "other bits at -O2 than at -O0")
            self.suite.ok(f"{case.name}-{number}")
        return None


def run(suite, description, all_models):
    parser = argparse.ArgumentParser(description=description)
    harness.add_arguments(parser)
    options = parser.parse_args()
    checks = Checks(options, suite)
    for name, make in all_models.items():
        if re.search(options.filter, name):
            checks.check(name, make)
    return checks.suite.close()


if __name__ == "__main__":
    sys.exit(run("batches", __doc__.splitlines()[0], MODELS))
