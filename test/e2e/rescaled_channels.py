#!/usr/bin/env python3
"""INT8 of networks whose channels differ: trained ones, of which channels are multiplied by powers of two where they
are computed and divided where they are read, so that FP32 gives the same bits. At default options they lose no more
points than as they were, and have as many launches and products of integers.

Rescaled are channels behind depthwise convolutions, those of residual groups, behind activations and without any, and
those of two convolutions that are joined by a Concat. Integers of what --emit=onnx writes are run by ONNX Runtime, on
test images.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import sys

import numpy
import onnx
from onnx import helper, numpy_helper

import harness
import typed_networks
from precision import demo, fashion_data

SECONDS = 600
TRAINING = 512
# Points that may be lost, of 10,000 images.
MOST_POINTS = 0.3
MOST_EXPONENT = 4


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

    def rescale(self, makers, readers):
        """Channels that `makers` compute and `readers` multiply."""
        count = self.array(self.nodes[makers[0]].input[1]).shape[0]
        factors = (2.0 ** self.random.integers(-MOST_EXPONENT, MOST_EXPONENT + 1, count)).astype(numpy.float32)
        for node in (self.nodes[name] for name in makers):
            for name in node.input[1:3]:
                array = self.array(name)
                self.replace(name, array * factors.reshape(-1, *[1] * (array.ndim - 1)))
        for node in (self.nodes[name] for name in readers):
            array = self.array(node.input[1])
            if array.shape[1] == 1:  # depthwise
                self.replace(node.input[1], array / factors.reshape(-1, *[1] * (array.ndim - 1)))
            else:
                self.replace(node.input[1], array / factors.reshape(1, -1, *[1] * (array.ndim - 2)))

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
        return [f"{name}.0", f"{name}.1"], joined.name


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
        makers, _ = network.split(f"/block{number}/conv1/Conv")
        half = network.array(network.nodes[makers[0]].input[1]).shape[0]
        reader = network.nodes[f"/block{number}/conv2/Conv"].input[1]
        for i, maker in enumerate(makers):
            factors = (2.0 ** network.random.integers(-MOST_EXPONENT, MOST_EXPONENT + 1, half)).astype(numpy.float32)
            for name in network.nodes[maker].input[1:3]:
                array = network.array(name)
                network.replace(name, array * factors.reshape(-1, *[1] * (array.ndim - 1)))
            array = network.array(reader).copy()
            array[:, i * half:(i + 1) * half] /= factors.reshape(1, -1, 1, 1)
            network.replace(reader, array)


CASES = {"depthwise": ("fashion_mobile", depthwise), "linear-groups": ("fashion_mobile", linear_groups),
         "groups": ("fashion", groups), "concat": ("fashion", parts)}


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
        flags = ("--precision=int8", f"--calibration-data={self.data}", "--calibration-batch=64")
        steps = [harness.run([self.cameoc, source, "-o", made, "--emit=onnx", *flags], SECONDS),
                 harness.run([self.cameoc, source, "-o", f"{made}.plan", "--emit=plan", "--target=sm_80,ptx", *flags,
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--count", type=int, default=10000, metavar="N", help="test images")
    options = parser.parse_args()
    check = Check(options.build, options.count)
    for case, (name, change) in CASES.items():
        check.check(case, name, change)
    return check.suite.close()


if __name__ == "__main__":
    sys.exit(main())
