#!/usr/bin/env python3
"""Large graphs: chains, trees, diamonds and many branches compile, compute what NumPy computes, and
equal work shares kernels. The compiler's time of the CPU grows with at most the power 1.2 of the nodes,
and it has a limit in seconds, 36 for 30,000 constants.

So do a chain, a tree and diamonds of each elementwise operator, with one constant and with different
ones, which compute what NumPy computes, and compile within a minute where --long gives them 100,000.

Times of equal work differ by 30 % either way where a machine has other work. So large and small graphs are
compiled in turn, and one pair within the limit is enough.

`--table` prints instead how compile time and memory grow, from 1,000 to 100,000 nodes; --stages
with each stage's time.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import math
import re
import sys
from dataclasses import dataclass

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness

SECONDS = 1200
POWER = 1.2 # of the nodes, by which time may grow
ATTEMPTS = 5 # to compile a pair of graphs whose times are within the limit
# Elementwise operators have so many nodes daily and an eighth of them, with --long so many and so many seconds, and
# so many where values are compared.
NODES, SMALLER = 1600, 8
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


def compile_model(suite, name, model, *arguments):
    path = suite.work / f"{name}.onnx"
    onnx.save(model, path)
    return harness.run([suite.tool("cameoc"), path, "-o", suite.work / name, TARGET, *arguments],
                       SECONDS)


def least_growth(pair, factor):
    """The least quotient of up to ATTEMPTS pairs of times, which pair() measures, of graphs one of which has `factor`
    times the other's nodes. One within the limit is the last."""
    least = math.inf
    for _ in range(ATTEMPTS):
        large, small = pair()
        least = min(least, large / small)
        if least <= factor**POWER:
            break
    return least


def check_itself():
    """Linear times pass and quadratic ones do not, all of them off by up to 30 %."""
    random = numpy.random.default_rng(0)
    for factor in (SMALLER, TENTH):
        for power in (1, 2):
            for _ in range(1000):
                found = least_growth(lambda: numpy.array([factor**power, 1]) * random.uniform(0.7, 1.3, 2), factor)
                assert (found <= factor**POWER) == (power == 1), f"power {power}: {found:.1f} times"


@dataclass
class Growth:
    """What is wrong with the time for `count` nodes, or None; the last step; the time in words."""
    reason: str | None
    step: harness.Step
    text: str = ""


def growth_of(suite, name, model, count, factor, most_seconds=math.inf):
    """Of model(count) from one of fewer nodes. The large one's artefact is called name-count."""
    steps, seconds = [], math.inf

    def pair():
        nonlocal seconds
        for nodes in (count // factor, count):
            report = suite.work / f"{name}-{nodes}.json"
            steps.append(compile_model(suite, f"{name}-{nodes}", model(nodes), "--time", f"--report={report}"))
        small, large = map(stage_seconds, steps[-2:])
        seconds = min(seconds, large)
        return (large, small) if not any(step.code for step in steps[-2:]) else (0, 1)

    growth = least_growth(pair, factor)
    if failed := next((step for step in steps if step.code), None):
        return Growth(failed.how(), failed)
    text = f"{count:,} nodes take {seconds:.2f} s of CPU, {growth:.1f} times those of {count // factor:,}"
    if growth > factor**POWER:
        return Growth(f"{text}; at most {factor**POWER:.1f}", steps[-1], text)
    if seconds > most_seconds:
        return Growth(f"{text}; at most {most_seconds} s", steps[-1], text)
    return Growth(None, steps[-1], text)


def check_long(suite, name):
    """Outcomes as suite.fail takes them."""
    step = compile_model(suite, name, model_of(name)(LONG_NODES), "--time")
    seconds = stage_seconds(step)
    reason = (step.how() if step.code else None if seconds <= LONG_SECONDS else
              f"{LONG_NODES:,} nodes take {seconds:.2f} s of CPU; at most {LONG_SECONDS}")
    return [(name, reason, step)]


def model_of(name):
    """From a number of nodes to a graph of ELEMENTWISE."""
    operator, form, many = ELEMENTWISE[name]
    return lambda count: Elementwise(operator, many).model(form, count)


def check_elementwise(suite, name):
    """Outcomes as suite.fail takes them."""
    operator, form, many = ELEMENTWISE[name]
    graph = Elementwise(operator, many)
    step = compile_model(suite, name, graph.model(form, VALUED))
    x, wanted = graph.values()
    reason = f"{VALUED} nodes: {step.how()}" if step.code else None
    if not reason:
        reason, step = values_problem(suite, name, x, wanted)
    growth = growth_of(suite, name, model_of(name), NODES, SMALLER)
    return [(name, reason, step), (f"{name}-growth", growth.reason, growth.step)]


def check_all_elementwise(suite, options):
    names = [name for name in ELEMENTWISE if re.search(options.filter, name)]
    check_one = check_long if options.long else check_elementwise
    for _, found in harness.for_each(names, lambda name: check_one(suite, name), options.jobs):
        for name, reason, step in found:
            if reason:
                suite.fail(name, reason, step)
            else:
                suite.ok(name)


SHAPES = {"chain": chain, "tree": tree, "diamonds": diamonds, "constants": constants,
          "branches": branches, "transposes": transposes, "equals": equals}
# Nodes, how many different kernels they may be, and seconds of CPU. Time is compared with that for a tenth of them.
TENTH = 10
DAILY = [("chain", 10000, 2, 12), ("tree", 10000, 8, 12), ("diamonds", 10000, 4, 12), ("constants", 30000, 2, 36),
         ("transposes", 10000, 2, 12), ("branches", 2000, 70, 12), ("equals", 4000, 1, 12)]


def check(suite, name, count, most_kernels, most_seconds):
    artefact = f"{name}-{count}"
    growth = growth_of(suite, name, lambda nodes: SHAPES[name](nodes)[0], count, TENTH, most_seconds)
    if not growth.text:
        return suite.fail(name, growth.reason, growth.step)
    print(f"{name}: {growth.text}", flush=True)
    if growth.reason:
        suite.fail(f"{name}-growth", growth.reason, growth.step)
    else:
        suite.ok(f"{name}-growth")
    report = json.loads((suite.work / f"{artefact}.json").read_text())
    kernels = {kernel["name"] for kernel in report["kernels"]}
    if len(kernels) > most_kernels:
        return suite.fail(name, f"{len(kernels)} kernels; at most {most_kernels} are different")
    x = numpy.linspace(0.5, 1.5, SIZE, dtype=numpy.float32)
    reason, step = values_problem(suite, artefact, x, SHAPES[name](count)[1](x))
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
    check_itself()
    suite = harness.Suite("growth", options.build.resolve())
    if options.table or options.stages:
        table(suite, [int(count) for count in options.counts.split(",")],
              options.shapes.split(","), options.stages)
    elif options.long:
        check_all_elementwise(suite, options)
    else:
        check_all_elementwise(suite, options)
        for row in DAILY:
            if re.search(options.filter, row[0]):
                check(suite, *row)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
