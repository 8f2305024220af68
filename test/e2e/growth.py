#!/usr/bin/env python3
"""Large graphs: chains, trees, diamonds and many branches compile, compute what NumPy computes, and
equal work shares kernels. The compiler's time of the CPU grows with at most the power 1.2 of the nodes,
and 50,000 constants take a minute of it at most.

So do a chain, a tree and diamonds of each elementwise operator, with one constant and with different
ones, which compute what NumPy computes, and compile within a minute where --long gives them 100,000.

`--table` prints instead how compile time and memory grow, from 1,000 to 100,000 nodes; --stages
with each stage's time.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import math
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness

SECONDS = 1200
POWER = 1.2 # of the nodes, by which time may grow
ATTEMPTS = 3
CPU_SECONDS = 60 # for MANY constants
MANY = 50000
# Elementwise operators have so many nodes daily and a fourth of them, with --long so many and so many seconds, and
# so many where values are compared.
NODES = 2400
LONG_NODES, LONG_SECONDS = 100000, 60
VALUED = 60
SIZE = 8
TARGET = "--target=sim:sm_80"


def finish(nodes, output, initializers=(), kind=TensorProto.FLOAT):
    graph = helper.make_graph(nodes, "growth", [helper.make_tensor_value_info("x", kind, [SIZE])],
                              [helper.make_tensor_value_info(output, kind, None)], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def scalar(name, value):
    return numpy_helper.from_array(numpy.float32(value), name)


def chain(count):
    """Sqrt and Abs in turn: nothing folds, nothing is equal."""
    nodes = [helper.make_node(("Sqrt", "Abs")[i % 2], [f"t{i}" if i else "x"], [f"t{i + 1}"])
             for i in range(count)]

    def reference(x):
        for i in range(count):
            x = numpy.sqrt(x) if i % 2 == 0 else numpy.abs(x)
        return x

    return finish(nodes, f"t{count}"), reference


def factor(i):
    return numpy.float32(1 + (-1) ** i * (i // 2 + 1) * 1e-6)


def constants(count):
    """A chain of products, each by a constant of its own, and roots, so that none becomes one with
    another."""
    nodes = [helper.make_node("Sqrt", [f"t{i}"], [f"t{i + 1}"]) if i % 2 else
             helper.make_node("Mul", [f"t{i}" if i else "x", f"c{i}"], [f"t{i + 1}"])
             for i in range(count)]

    def reference(x):
        for i in range(count):
            x = numpy.sqrt(x) if i % 2 else x * factor(i)
        return x

    factors = [scalar(f"c{i}", factor(i)) for i in range(0, count, 2)]
    return finish(nodes, f"t{count}", factors), reference


def diamonds(count):
    """Roots and magnitudes of one value each, and their quotient, which is the next one's."""
    nodes = []
    for i in range(count // 3):
        source = f"t{i}" if i else "x"
        nodes += [helper.make_node("Sqrt", [source], [f"a{i}"]),
                  helper.make_node("Abs", [source], [f"b{i}"]),
                  helper.make_node("Div", [f"b{i}", f"a{i}"], [f"t{i + 1}"])]

    def reference(x):
        for _ in range(count // 3):
            x = numpy.abs(x) / numpy.sqrt(x)
        return x

    return finish(nodes, f"t{count // 3}"), reference


def transposes(count):
    """Roots of a matrix that is turned before each."""
    nodes = [helper.make_node("Reshape", ["x", "matrix"], ["t0"])]
    nodes += [helper.make_node(("Transpose", "Sqrt")[i % 2], [f"t{i}"], [f"t{i + 1}"])
              for i in range(count)]
    nodes.append(helper.make_node("Reshape", [f"t{count}", "row"], ["y"]))
    shapes = [numpy_helper.from_array(numpy.array(shape, numpy.int64), name)
              for name, shape in (("matrix", [2, SIZE // 2]), ("row", [SIZE]))]

    def reference(x):
        x = x.reshape(2, SIZE // 2)
        for i in range(count):
            x = numpy.sqrt(x) if i % 2 else x.T
        return x.reshape(SIZE)

    return finish(nodes, "y", shapes), reference


def tree(count):
    """Leaves that are x times a constant, then sums of two, level by level."""
    nodes, initializers, level = [], [], []
    for i in range((count + 1) // 2):
        initializers.append(scalar(f"c{i}", factor(i)))
        nodes.append(helper.make_node("Mul", ["x", f"c{i}"], [f"l{i}"]))
        level.append(f"l{i}")
    while len(level) > 1:
        above = []
        for left, right in zip(level[::2], level[1::2]):
            name = f"s{len(nodes)}"
            nodes.append(helper.make_node("Add", [left, right], [name]))
            above.append(name)
        level = above + (level[-1:] if len(level) % 2 else [])

    def reference(x):
        values = [x * factor(i) for i in range((count + 1) // 2)]
        while len(values) > 1:
            sums = [a + b for a, b in zip(values[::2], values[1::2])]
            values = sums + (values[-1:] if len(values) % 2 else [])
        return values[0]

    return finish(nodes, level[0], initializers), reference


def branches(count):
    """Products by different constants and sines of them, all in one Concat."""
    nodes, initializers, parts = [], [], []
    for i in range(count // 2):
        initializers.append(scalar(f"c{i}", factor(i)))
        nodes.append(helper.make_node("Mul", ["x", f"c{i}"], [f"m{i}"]))
        nodes.append(helper.make_node("Sin", [f"m{i}"], [f"s{i}"]))
        parts += [f"m{i}", f"s{i}"]
    nodes.append(helper.make_node("Concat", parts, ["y"], axis=0))

    def reference(x):
        values = [x * factor(i) for i in range(count // 2)]
        return numpy.concatenate([part for value in values for part in (value, numpy.sin(value))])

    return finish(nodes, "y", initializers), reference


def equals(count):
    """Products of x by a matrix each and their hyperbolic tangents, one after another: one launch."""
    random = numpy.random.default_rng(0)
    matrices = [random.standard_normal((SIZE, SIZE), numpy.float32) / 4 for _ in range(count // 2)]
    nodes, initializers, parts = [], [], []
    for i, matrix in enumerate(matrices):
        initializers.append(numpy_helper.from_array(matrix, f"w{i}"))
        nodes.append(helper.make_node("MatMul", ["x", f"w{i}"], [f"m{i}"]))
        nodes.append(helper.make_node("Tanh", [f"m{i}"], [f"t{i}"]))
        parts.append(f"t{i}")
    nodes.append(helper.make_node("Concat", parts, ["y"], axis=0))

    def reference(x):
        return numpy.concatenate([numpy.tanh(x @ matrix) for matrix in matrices])

    return finish(nodes, "y", initializers), reference


def near_one(i):
    """A number for each i: those next to one another are above and below 1."""
    return numpy.float32(1 + (-1) ** i * (i // 2 + 1) * 2.0**-22)


def small(i):
    return numpy.float32((-1) ** (i // 2) * (i + 1) * 2.0**-24)


def integer(i):
    return numpy.int32(i * 7 + 3)


# Elementwise operators of a value and a constant: what NumPy calls them, the constants by number, and
# attributes. Numbers stay numbers in chains of any length.
OPERATORS = {
    "Add": (numpy.add, small, {}),
    "Sub": (numpy.subtract, small, {}),
    "Mul": (numpy.multiply, near_one, {}),
    "Div": (numpy.divide, near_one, {}),
    "Pow": (numpy.power, near_one, {}),
    "Max": (numpy.maximum, near_one, {}),
    "Min": (numpy.minimum, near_one, {}),
    "Mod": (numpy.fmod, lambda i: near_one(i) + numpy.float32(1), {"fmod": 1}),
    "PRelu": (lambda x, slope: numpy.where(x < 0, x * slope, x), near_one, {}),
    "Sum": (numpy.add, small, {}),
    "Mean": (lambda x, y: (x + y) / numpy.float32(2), near_one, {}),
    "And": (numpy.logical_and, lambda i: numpy.bool_(i % 3), {}),
    "Or": (numpy.logical_or, lambda i: numpy.bool_(i % 3 == 0), {}),
    "Xor": (numpy.logical_xor, lambda i: numpy.bool_(i % 3), {}),
    "Equal": (numpy.equal, lambda i: numpy.bool_(i % 3), {}),
    "BitwiseAnd": (numpy.bitwise_and, lambda i: ~integer(i), {}),
    "BitwiseOr": (numpy.bitwise_or, integer, {}),
    "BitwiseXor": (numpy.bitwise_xor, integer, {}),
}


def kind_of(number):
    return helper.np_dtype_to_tensor_dtype(number.dtype)


class Elementwise:
    """A graph of one operator with one constant, or with `many`."""

    def __init__(self, operator, many):
        self.operator, self.many = operator, many
        self.compute, self.number, self.attributes = OPERATORS[operator]
        self.nodes, self.constants = [], {}

    def constant(self, i):
        name = f"c{i if self.many else 0}"
        self.constants.setdefault(name, self.number(i if self.many else 0))
        return name

    def node(self, *inputs):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(self.operator, inputs, [name], **self.attributes))
        return name

    def chain(self, count):
        last = "x"
        for i in range(count):
            last = self.node(last, self.constant(i))
        return last

    def tree(self, count):
        level = [self.node("x", self.constant(i)) for i in range((count + 1) // 2)]
        while len(level) > 1:
            above = [self.node(left, right) for left, right in zip(level[::2], level[1::2])]
            level = above + (level[-1:] if len(level) % 2 else [])
        return level[0]

    def diamonds(self, count):
        last = "x"
        for i in range(0, count, 3):
            left, right = (self.node(last, self.constant(i + side)) for side in range(2))
            last = self.node(left, right)
        return last

    def model(self, form, count):
        last = getattr(self, form)(count)
        initializers = [numpy_helper.from_array(number, name)
                        for name, number in self.constants.items()]
        return finish(self.nodes, last, initializers, kind_of(self.number(0)))

    def values(self):
        """An input, and what the last node makes of it."""
        dtype = self.number(0).dtype
        # Powers of powers of more than 1 overflow, and NumPy's own differ from CPU to CPU on the way.
        most = 1 if self.operator == "Pow" else 1.5
        x = (numpy.linspace(0.5, most, SIZE, dtype=dtype) if dtype.kind == "f" else
             (numpy.arange(SIZE) % 2).astype(dtype) if dtype.kind == "b" else
             numpy.arange(SIZE, dtype=dtype) * 12345)
        known = {"x": x, **self.constants}
        with numpy.errstate(all="ignore"):
            for node in self.nodes:
                known[node.output[0]] = self.compute(*(known[name] for name in node.input))
        return x, known[self.nodes[-1].output[0]]


ELEMENTWISE = {f"{operator}-{form}-{'many' if many else 'one'}": (operator, form, many)
               for operator in OPERATORS for form in ("chain", "tree", "diamonds")
               for many in (False, True)}


def stage_seconds(step):
    """Of the CPU, by what --time says: others that run beside it are not in it."""
    return sum(float(number) for number in re.findall(r"([\d.]+) ms of CPU$", step.output,
                                                       re.MULTILINE)) / 1e3


def elementwise_growth(suite, name, counts):
    """What is wrong, or None, with steps: the time for the first of `counts` is within a limit, or
    within a power of that for a fourth of it."""
    operator, form, many = ELEMENTWISE[name]
    most = [math.inf] * len(counts)
    for _ in range(ATTEMPTS):
        for i, count in enumerate(counts):
            step = compile_model(suite, f"{name}-{count}",
                                 Elementwise(operator, many).model(form, count), "--time")
            if step.code:
                return f"{count:,} nodes: {step.how()}", step
            most[i] = min(most[i], stage_seconds(step))
        limit = LONG_SECONDS if len(counts) == 1 else 4**POWER * most[1]
        if most[0] <= limit:
            return None, step
    return f"{counts[0]:,} nodes take {most[0]:.2f} s of CPU; at most {limit:.2f}", step


def check_elementwise(suite, name, long):
    """Outcomes as suite.fail takes them."""
    operator, form, many = ELEMENTWISE[name]
    graph = Elementwise(operator, many)
    step = compile_model(suite, name, graph.model(form, VALUED))
    x, wanted = graph.values()
    reason = f"{VALUED} nodes: {step.how()}" if step.code else None
    if not reason:
        reason, step = values_problem(suite, name, x, wanted)
    slow, slow_step = elementwise_growth(suite, name,
                                         [LONG_NODES] if long else [NODES, NODES // 4])
    return [(name, reason, step), (f"{name}-growth", slow, slow_step)]


def check_all_elementwise(suite, options):
    names = [name for name in ELEMENTWISE if re.search(options.filter, name)]
    outcomes = harness.for_each(names, lambda name: check_elementwise(suite, name, options.long),
                                options.jobs)
    for _, found in outcomes:
        for name, reason, step in found:
            if reason:
                suite.fail(name, reason, step)
            else:
                suite.ok(name)


SHAPES = {"chain": chain, "tree": tree, "diamonds": diamonds, "constants": constants,
          "branches": branches, "transposes": transposes, "equals": equals}
# Nodes, and how many different kernels they may be.
DAILY = [("chain", 10000, 2), ("tree", 10000, 8), ("diamonds", 10000, 4), ("constants", 10000, 2),
         ("transposes", 10000, 2), ("branches", 2000, 70), ("equals", 4000, 1)]


def compile_model(suite, name, model, *arguments):
    path = suite.work / f"{name}.onnx"
    onnx.save(model, path)
    return harness.run([suite.tool("cameoc"), path, "-o", suite.work / name, TARGET, *arguments],
                       SECONDS)


def compile_timed(suite, name, model, *arguments):
    before = harness.cpu_seconds()
    step = compile_model(suite, name, model, *arguments)
    return step, harness.cpu_seconds() - before


def check(suite, name, count, most_kernels):
    model, reference = SHAPES[name](count)
    report = suite.work / f"{name}.json"
    step, seconds = compile_timed(suite, name, model, f"--report={report}")
    if step.code:
        return suite.fail(name, step.how(), step)
    check_growth(suite, name, count, seconds)
    kernels = {kernel["name"] for kernel in json.loads(report.read_text())["kernels"]}
    if len(kernels) > most_kernels:
        return suite.fail(name, f"{len(kernels)} kernels; at most {most_kernels} are different")
    x = numpy.linspace(0.5, 1.5, SIZE, dtype=numpy.float32)
    reason, step = values_problem(suite, name, x, reference(x))
    return suite.fail(name, reason, step) if reason else suite.ok(name)


def values_problem(suite, name, x, wanted):
    """What is wrong with the values that an artefact computes, or None; and the step."""
    given, made = suite.work / f"{name}.x.npy", suite.work / f"{name}.y.npy"
    numpy.save(given, x)
    step = harness.run([suite.work / name, "--device=sim", f"--input=@{given}",
                        f"--output=@{made}"], SECONDS)
    if step.code:
        return step.how(), step
    got = numpy.load(made)
    if got.shape != wanted.shape or not numpy.allclose(got, wanted, rtol=1e-5, atol=1e-6,
                                                       equal_nan=True):
        return f"is not what NumPy computes: {got[:4]} for {wanted[:4]}", step
    return None, step


def check_growth(suite, name, count, seconds):
    """`seconds` were for `count` nodes; compared with a tenth of them. Caches that others use make
    either slower: where they seem to, the least of three counts."""
    case = f"{name}-growth"
    few, fewer, most = SHAPES[name](count // 10)[0], math.inf, 10**POWER
    for attempt in range(ATTEMPTS):
        if attempt:
            seconds = min(seconds, compile_timed(suite, name, SHAPES[name](count)[0])[1])
        step, taken = compile_timed(suite, f"{name}-tenth", few)
        if step.code:
            return suite.fail(case, step.how(), step)
        fewer = min(fewer, taken)
        if seconds <= most * fewer:
            break
    text = (f"{count:,} nodes take {seconds:.2f} s of CPU, {seconds / fewer:.1f} times those of "
            f"{count // 10:,}")
    print(f"{name}: {text}", flush=True)
    if seconds > most * fewer:
        return suite.fail(case, f"{text}; at most {most:.1f}", step)
    return suite.ok(case)


def check_many(suite):
    step, seconds = compile_timed(suite, "constants-many", SHAPES["constants"](MANY)[0])
    if step.code:
        return suite.fail("constants-many", step.how(), step)
    text = f"{MANY:,} nodes take {seconds:.1f} s of CPU"
    print(f"constants: {text}", flush=True)
    if seconds > CPU_SECONDS:
        return suite.fail("constants-many", f"{text}; at most {CPU_SECONDS}", step)
    return suite.ok("constants-many")


def table(suite, counts, names, with_stages):
    print(f"{'':12}" + "".join(f"{count:>14,} nodes" for count in counts))
    for name in names:
        cells, stages, before = [], [], None
        for count in counts:
            step = compile_model(suite, name, SHAPES[name](count)[0],
                                 *(["--time"] if with_stages else []))
            if step.code:
                return suite.fail(f"{name} of {count}", step.how(), step)
            growth = f" x{step.seconds / before:.1f}" if before else ""
            before = step.seconds
            cells.append(f"{step.seconds:.1f} s{growth} {step.peak_bytes / 2**30:.1f} GiB")
            stages.append(step.output)
            suite.ok()
        print(f"{name:12}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
        for count, output in zip(counts, stages if with_stages else []):
            lines = re.findall(r"^.* ms of CPU$", output, re.MULTILINE)
            print("\n".join(f"    {count:>7}: {line}" for line in lines), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true",
                        help=f"graphs of {LONG_NODES:,} elementwise nodes")
    parser.add_argument("--table", action="store_true", help="print compile times")
    parser.add_argument("--stages", action="store_true", help="with each stage's time")
    parser.add_argument("--counts", default="1000,10000,100000", help="numbers of nodes")
    parser.add_argument("--shapes", default="chain,tree,constants,transposes", help="of the table")
    options = parser.parse_args()
    suite = harness.Suite("growth", options.build.resolve())
    if options.table or options.stages:
        table(suite, [int(count) for count in options.counts.split(",")],
              options.shapes.split(","), options.stages)
    elif options.long:
        check_all_elementwise(suite, options)
    else:
        check_all_elementwise(suite, options)
        for name, count, most_kernels in DAILY:
            if re.search(options.filter, name):
                check(suite, name, count, most_kernels)
        if re.search(options.filter, "constants-many"):
            check_many(suite)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
