#!/usr/bin/env python3
"""INT8 of networks whose channels differ: trained ones, of which channels are multiplied by powers of two where they
are computed and divided where they are read, so that FP32 gives the same bits. At default options they lose no more
points than as they were, and have as many launches and products of integers.

Rescaled are channels behind depthwise convolutions, those of residual groups, behind activations and without any, and
those of two convolutions that are joined by a Concat. Random networks, whose channels differ as much, are computed as
ONNX Runtime computes what --emit=onnx writes, and lose nothing by factors. Integers of what --emit=onnx writes are run by ONNX Runtime, on
test images.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

import artefact
import harness
import networks
import typed_networks
from precision import demo, fashion_data, sqnr

SECONDS = 600
TRAINING = 512
# Points that may be lost, of 3,000 images; with --count=10000 of all.
MOST_POINTS = 0.3
MOST_EXPONENT = 4
# Random networks, and how many dB factors may lose in one.
DRAWN, MOST_LOST = 10, 1.5
# The share of elements that may be more than a quantum off ONNX Runtime's where values have 16 bits, which it keeps
# wide; none may elsewhere. 0.5 % are measured beyond half a quantum.
MOST_SHARE = 0.02


class Rescaled:
    """A trained network, its batch normalizations folded; convolutions by their names."""

    def __init__(self, path):
        self.model = onnx.load(path)
        self.nodes = {node.name: node for node in self.model.graph.node}
        self.weights = {tensor.name: tensor for tensor in self.model.graph.initializer}
        self.random = numpy.random.default_rng(1)

    def array(self, name):
        return numpy_helper.to_array(self.weights[name])

    def replace(self, name, array):
        self.weights[name].CopyFrom(numpy_helper.from_array(numpy.ascontiguousarray(array), name))

    def rescale(self, makers, readers, first=0):
        """Channels that `makers` compute and `readers` multiply, which have them from `first` on."""
        count = self.array(self.nodes[makers[0]].input[1]).shape[0]
        factors = (2.0 ** self.random.integers(-MOST_EXPONENT, MOST_EXPONENT + 1, count)).astype(numpy.float32)
        for node in (self.nodes[name] for name in makers):
            for name in node.input[1:3]:
                array = self.array(name)
                self.replace(name, array * factors.reshape(-1, *[1] * (array.ndim - 1)))
        for node in (self.nodes[name] for name in readers):
            array = self.array(node.input[1]).copy()
            if array.shape[1] == 1:  # depthwise
                array /= factors.reshape(-1, *[1] * (array.ndim - 1))
            else:
                array[:, first:first + count] /= factors.reshape(1, -1, *[1] * (array.ndim - 2))
            self.replace(node.input[1], array)

    def split(self, name):
        """A convolution and its Relu become two of half the channels, which a Concat joins."""
        graph, conv = self.model.graph, self.nodes[name]
        relu = next(node for node in graph.node if node.input[0] == conv.output[0])
        parts, nodes = [], []
        for half in (0, 1):
            names = [f"{each}.{half}" for each in conv.input[1:3]]
            for each, new in zip(conv.input[1:3], names):
                tensor = numpy_helper.from_array(numpy.split(self.array(each), 2)[half], new)
                graph.initializer.append(tensor)
                self.weights[new] = graph.initializer[-1]
            part = onnx.NodeProto()
            part.CopyFrom(conv)
            part.name, part.output[0] = f"{name}.{half}", f"{conv.output[0]}.{half}"
            part.input[1:] = names
            parts.append(f"{relu.output[0]}.{half}")
            nodes += [part, helper.make_node("Relu", [part.output[0]], parts[-1:], f"{relu.name}.{half}")]
            self.nodes[part.name] = part
        joined = helper.make_node("Concat", parts, [relu.output[0]], f"{name}.joined", axis=1)
        kept = []
        for node in graph.node:
            kept += [*nodes, joined] if node.name == name else [] if node.name == relu.name else [node]
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
        del graph.node[:]
        graph.node.extend(copies)
        self.nodes = {node.name: node for node in graph.node}
        return [f"{name}.0", f"{name}.1"]


def block(number, layer, kind="Conv"):
    return f"/blocks/blocks.{number}/layers/layers.{layer}/{kind}"


def depthwise(network):
    network.rescale([block(0, 0)], [block(0, 3)])
    for number in (1, 2):
        network.rescale([block(number, 0)], [block(number, 3)])
    network.rescale([block(1, 3)], [block(1, 6)])
    network.rescale([block(2, 3)], [block(2, "6/reduce"), block(2, 7)])


def linear_groups(network):
    network.rescale([block(1, 6), block(2, 7)], [block(2, 0), block(3, 0)])
    network.rescale([block(3, 7), block(4, 7)], [block(4, 0), "/head/head.0/Conv"])


def groups(network):
    network.rescale(["/conv/Conv", "/block1/conv2/Conv"],
                    ["/block1/conv1/Conv", "/block2/project/project.0/Conv", "/block2/conv1/Conv"])
    network.rescale(["/block2/conv2/Conv", "/block2/project/project.0/Conv"],
                    ["/block3/project/project.0/Conv", "/block3/conv1/Conv"])
    network.rescale(["/block3/conv2/Conv", "/block3/project/project.0/Conv"], ["/classify/Gemm"])


def parts(network):
    for number in (1, 2, 3):
        makers = network.split(f"/block{number}/conv1/Conv")
        half = network.array(network.nodes[makers[0]].input[1]).shape[0]
        for i, maker in enumerate(makers):
            network.rescale([maker], [f"/block{number}/conv2/Conv"], i * half)


CASES = {"depthwise": ("fashion_mobile", depthwise), "linear-groups": ("fashion_mobile", linear_groups),
         "groups": ("fashion", groups), "concat": ("fashion", parts)}


class Drawn:
    """A random network of convolutions, rows, pools, gates, sums and concatenations. Channels of what products compute
    are multiplied by random powers of two, which the weights that read them make up for where they can."""

    SIZE, SAMPLES = 8, 32

    def __init__(self, seed):
        self.b = networks.Builder(f"drawn{seed}", seed)
        self.random = self.b.random
        self.values = [("x", numpy.ones(4))]  # of 4 dimensions, with the factors of their channels
        for _ in range(self.random.integers(5, 10)):
            step = self.random.choice([self.convolution] * 3 + [self.depthwise, self.activation, self.pool, self.join,
                                                                self.add, self.rows, self.excite])
            step(*self.values[-1 if self.random.random() < 0.7 else self.random.integers(len(self.values))])
        self.convolution(*self.values[-1])
        outputs = [self.values[-1][0]]
        if self.random.random() < 0.3:
            outputs.append(self.values[self.random.integers(1, len(self.values))][0])
        self.outputs = list(dict.fromkeys(outputs))
        sizes = ["N", 4, self.SIZE, self.SIZE]
        self.model = self.b.model([networks.value("x", sizes)],
                                  [networks.value(name, ["N", None, None, None]) for name in self.outputs], 17)
        self.feed = {"x": self.random.standard_normal((self.SAMPLES, *sizes[1:]), numpy.float32)}

    def factors(self, count):
        return 2.0 ** self.random.integers(-MOST_EXPONENT, MOST_EXPONENT + 1, count)

    def weights(self, shape, factors, inputs):
        """[outputs, inputs, ...] of one size, but for factors."""
        array = self.random.normal(0, 1, shape) / numpy.prod(shape[1:]) ** 0.5
        ones = [1] * (len(shape) - 2)
        return self.b.constant((array * factors.reshape(-1, 1, *ones) / inputs.reshape(1, -1, *ones))
                               .astype(numpy.float32))

    def convolution(self, x, inputs):
        size, factors = self.random.choice([1, 3]), self.factors(self.random.choice([8, 16]))
        weights = self.weights((len(factors), len(inputs), size, size), factors, inputs)
        bias = self.b.constant((self.random.normal(0, 0.3, len(factors)) * factors).astype(numpy.float32))
        y = self.b.node("Conv", x, weights, bias, pads=[size // 2] * 4)
        self.values.append((self.b.node("Relu", y) if self.random.random() < 0.6 else y, factors))

    def depthwise(self, x, inputs):
        factors = self.factors(len(inputs))
        array = self.random.normal(0, 0.5, (len(inputs), 1, 3, 3)) * (factors / inputs).reshape(-1, 1, 1, 1)
        y = self.b.node("Conv", x, self.b.constant(array.astype(numpy.float32)), group=len(inputs), pads=[1] * 4)
        self.values.append((y, factors))

    def activation(self, x, factors):
        self.values.append((self.b.node(self.random.choice(["Relu", "HardSwish", "LeakyRelu", "Abs"]), x), factors))

    def pool(self, x, factors):
        kind = self.random.choice(["MaxPool", "AveragePool"])
        self.values.append((self.b.node(kind, x, kernel_shape=[3, 3], pads=[1] * 4), factors))

    def join(self, x, factors):
        y, others = self.values[self.random.integers(len(self.values))]
        self.values.append((self.b.node("Concat", x, y, axis=1), numpy.concatenate([factors, others])))

    def add(self, x, factors):
        y = next((y for y, others in reversed(self.values) if y != x and len(others) == len(factors)), x)
        self.values.append((self.b.node("Add", x, y), factors))

    def rows(self, x, inputs):
        """A product of rows, whose channels are innermost."""
        factors = self.factors(8)
        turned = self.b.node("Transpose", x, perm=[0, 2, 3, 1])
        array = self.random.normal(0, 1, (len(inputs), 8)) / len(inputs) ** 0.5 * factors / inputs[:, None]
        y = self.b.node("MatMul", turned, self.b.constant(array.astype(numpy.float32)))
        self.values.append((self.b.node("Transpose", y, perm=[0, 3, 1, 2]), factors))

    def excite(self, x, factors):
        pooled = self.b.node("GlobalAveragePool", x)
        gate = self.b.node("Sigmoid", self.b.node("Conv", pooled, self.weights(
            (len(factors), len(factors), 1, 1), numpy.ones(len(factors)), factors)))
        self.values.append((self.b.node("Mul", x, gate), factors))


class Check:
    def __init__(self, build, count):
        self.suite = harness.Suite("rescaled-channels", build.resolve())
        self.cameoc = self.suite.tool("cameoc")
        self.images, self.labels = (each[:count] for each in fashion_data.load("test"))
        self.data = self.suite.work / "training.npz"
        numpy.savez(self.data, image=fashion_data.load("train")[0][:TRAINING])
        self.measured = {}

    def points(self, logits):
        return 100 * float((logits.argmax(1) == self.labels).mean())

    def int8(self, case, model):
        """Points, launches and products of integers at default options; None where it fails."""
        if case in self.measured:
            return self.measured[case]
        source, made, report = (self.suite.work / f"{case}{end}" for end in (".onnx", "-int8.onnx", ".json"))
        onnx.save(model, source)
        flags = ("--precision=int8", f"--calibration-data={self.data}", "--calibration-batch=64",
                 f"--calibration-cache={self.suite.work / case}.ranges")
        steps = [harness.run([self.cameoc, source, "-o", made, "--emit=onnx", *flags], SECONDS),
                 harness.run([self.cameoc, source, "-o", f"{made}.plan", "--emit=plan", "--target=ptx:sm_80", *flags,
                              f"--report={report}"], SECONDS)]
        if any(step.code for step in steps):
            self.suite.fail(case, steps[0].how(), *steps)
            return None
        told = json.loads(report.read_text())
        logits = typed_networks.run_reference(onnx.load(made), {"image": self.images})["logits"]
        integers = sum(each["text"] == "multiplied as integers" for each in told["decisions"])
        self.measured[case] = (self.points(logits), len(harness.launched(told)), integers)
        return self.measured[case]

    def check(self, case, name, change):
        path = self.suite.work / f"{name}-normalized.onnx"
        step = harness.run([self.cameoc, demo.HERE / f"{name}.onnx", "-o", path, "--stop-after=normalized",
                            "--emit=onnx"], SECONDS)
        if step.code:
            return self.suite.fail(case, step.how(), step)
        network = Rescaled(path)
        before = typed_networks.run_reference(network.model, {"image": self.images})["logits"]
        was = self.int8(name, network.model)
        change(network)
        onnx.checker.check_model(network.model)
        after = typed_networks.run_reference(network.model, {"image": self.images})["logits"]
        if abs(self.points(after) - self.points(before)) > 0.02:
            return self.suite.fail(case, f"FP32 has {self.points(after)} % right, {self.points(before)} % before")
        found = self.int8(case, network.model)
        if not was or not found:
            return None
        print(f"{case}: {found[0]:.2f} %, {found[1]} launches; as it was {was[0]:.2f} %, {was[1]} launches; "
              f"FP32 {self.points(before):.2f} %", flush=True)
        problem = None
        if found[0] < was[0] - MOST_POINTS:
            problem = f"{found[0]:.2f} %, {was[0]:.2f} % before channels were rescaled"
        elif case != "concat" and found[1:] != was[1:]:
            problem = f"{found[1:]} launches and products, {was[1:]} before"
        if problem:
            self.suite.fail(case, problem)
        else:
            self.suite.ok(case)
        return None


    def check_drawn(self, seed):
        """Results are those of ONNX Runtime of what --emit=onnx writes, and not further from FP32's than without
        factors."""
        drawn, case = Drawn(seed), f"drawn-{seed}"
        wanted = typed_networks.run_reference(drawn.model, drawn.feed)
        samples = self.suite.work / f"{case}.npz"
        numpy.savez(samples, **drawn.feed)
        found = {}
        for scales in ("on", "off"):
            # Nothing is left to trials, whose choices differ, too.
            flags = ("--precision=int8", f"--calibration-data={samples}", f"--channel-scales={scales}",
                     "--calibration-method=mse", "--bias-correction=off", "--precision-of=*=int8",
                     f"--calibration-cache={self.suite.work / case}-{scales}.ranges")
            made = self.suite.work / f"{case}-{scales}.onnx"
            built = artefact.Artefact(self.suite, f"{case}-{scales}-ours", drawn.model, *flags)
            step = harness.run([self.cameoc, self.suite.work / f"{case}-{scales}-ours.onnx", "-o", made, "--emit=onnx",
                                *flags], SECONDS)
            run, outputs = built.run(drawn.feed)
            if step.code or run.code:
                return self.suite.fail(case, (step if step.code else run).how(), step, run)
            theirs = typed_networks.run_reference(onnx.load(made), drawn.feed)
            found[scales] = min(sqnr(theirs[name], wanted[name]) for name in drawn.outputs)
            off = [numpy.abs(ours - theirs[name]) / max(numpy.abs(theirs[name]).max(), 1e-30) * 127
                   for ours, name in zip(outputs, drawn.outputs)]
            casts = any(node.op_type == "Cast" for node in onnx.load(made).graph.node)
            # A rounding of FP16 becomes another integer here and there, which a factor behind it makes many.
            wrong = max(float((each > 1).mean()) for each in off)
            if wrong > (MOST_SHARE if casts else 0):
                return self.suite.fail(f"{case}-{scales}", f"{wrong:.4f} of the elements are more than a quantum off "
                                       f"ONNX Runtime's results, {max(each.max() for each in off):.2f} at most", built.step)
        if found["on"] < found["off"] - MOST_LOST:
            return self.suite.fail(case, f"{found['on']:.1f} dB, without factors {found['off']:.1f} dB", step)
        print(f"{case}: {found['on']:.1f} dB, without factors {found['off']:.1f} dB", flush=True)
        self.suite.ok(case)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--count", type=int, default=3000, metavar="N", help="test images")
    parser.add_argument("--drawn", type=int, default=DRAWN, metavar="N", help="random networks")
    options = parser.parse_args()
    check = Check(options.build, options.count)
    for case, (name, change) in CASES.items():
        if re.search(options.filter, case):
            check.check(case, name, change)
    for seed in range(options.drawn):
        if re.search(options.filter, f"drawn-{seed}"):
            check.check_drawn(seed)
    return check.suite.close()


if __name__ == "__main__":
    sys.exit(main())
