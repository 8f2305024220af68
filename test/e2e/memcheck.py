#!/usr/bin/env python3
"""Six small networks are compiled under valgrind's memcheck, in each precision, with fixed and open sizes, to stage
host, one of them to PTX, which is LLVM's work for the most part: no byte is read behind its life, none that nobody has
written, and none is written outside.

That asks nothing of the build, so that it is daily; tools/run-sanitized, which builds everything anew, looks at stacks
and arithmetic, too."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys
from dataclasses import dataclass

import numpy
import onnx

import harness
import random_graphs
from networks import Builder, rename_output, value

SECONDS = 300
ERROR = 99  # exit code where memcheck has found something
CHANNELS = 8
HOST = ("--target=ptx:sm_80", "--stop-after=host")


@dataclass
class Network:
    model: onnx.ModelProto
    flags: tuple
    feed: dict = None  # samples that ranges are recorded over


def classifier():
    """A residual block and a gate."""
    b = Builder("classifier", 1)
    x = b.node("Relu", b.conv_norm("x", 3, CHANNELS, 3, stride=2))
    x = b.node("Add", x, b.conv_norm(x, CHANNELS, CHANNELS, 3))
    gate = b.node("Conv", b.node("GlobalAveragePool", x), b.normal((CHANNELS, CHANNELS, 1, 1), 0.3))
    rename_output(b, b.node("Mul", x, b.node("Sigmoid", gate)), "y")
    return b.model([value("x", ["N", 3, 16, 16])], [value("y", ["N", CHANNELS, 8, 8])], 17)


def mobile():
    """Depthwise and pointwise convolutions, and a product of what a pool leaves."""
    b = Builder("mobile", 3)
    x = b.node("Clip", b.conv_norm("x", 3, 3, 3, groups=3), b.constant(numpy.float32(0)), b.constant(numpy.float32(6)))
    x = b.node("MaxPool", b.conv_norm(x, 3, CHANNELS, 1), kernel_shape=[4, 4], strides=[4, 4])
    rename_output(b, b.dense(b.node("Flatten", x, axis=1), CHANNELS * 16, 10), "y")
    return b.model([value("x", ["N", 3, 16, 16])], [value("y", ["N", 10])], 17)


def transformer():
    """Attention behind a normalisation, of any length."""
    b = Builder("transformer", 4)
    rename_output(b, b.node("Add", "x", b.attention(b.layer_norm("x", 32), 32, 2, 0)), "y")
    return b.model([value("x", ["N", "T", 32])], [value("y", ["N", "T", 32])], 17)


def segmenter():
    """Down and up again, joined, of any size."""
    b = Builder("segmenter", 2)
    fine = b.node("Relu", b.conv_norm("x", 3, CHANNELS, 3))
    coarse = b.node("Relu", b.conv_norm(fine, CHANNELS, 2 * CHANNELS, 3, stride=2))
    up = b.node("ConvTranspose", coarse, b.normal((2 * CHANNELS, CHANNELS, 2, 2), 0.2), strides=[2, 2])
    rename_output(b, b.conv_norm(b.node("Concat", fine, up, axis=1), 2 * CHANNELS, 2, 1), "y")
    return b.model([value("x", ["N", 3, "H", "W"])], [value("y", ["N", 2, "H", "W"])], 17)


def networks():
    images = numpy.random.default_rng(3).standard_normal((4, 3, 16, 16), numpy.float32)
    return {
        "classifier": Network(classifier(), ("--precision=fp16", "--shapes=N:2", *HOST)),
        "mobile": Network(mobile(), ("--target=ptx:sm_80", "--precision=int8"), {"x": images}),
        "segmenter": Network(segmenter(), HOST),
        "transformer": Network(transformer(), ("--precision=bf16", *HOST)),
        "drawn": Network(random_graphs.draw(11, 8).sample.model, HOST),
        "drawn-plainly": Network(random_graphs.draw(12, 8).sample.model, ("-O0", *HOST)),
    }


def record_ranges(suite, source, feed):
    numpy.savez(source.with_suffix(".npz"), **feed)
    ranges = source.with_suffix(".ranges")
    step = harness.run([suite.tool("cameoc"), source, "-o", ranges, "--emit=ranges",
                        f"--calibration-data={source.with_suffix('.npz')}"], SECONDS)
    return ranges, step


def check(suite, name, network):
    """What is wrong, or None, and the step."""
    source = suite.work / f"{name}.onnx"
    onnx.save(network.model, source)
    flags = list(network.flags)
    if network.feed:
        ranges, step = record_ranges(suite, source, network.feed)
        if step.code:
            return f"no ranges: {step.how()}", step
        flags.append(f"--ranges={ranges}")
    step = harness.run(["valgrind", f"--error-exitcode={ERROR}", "--quiet", "--num-callers=30", suite.tool("cameoc"),
                        source, "-q", "-j1", "-o", suite.work / name, *flags], SECONDS)
    if step.code == ERROR:
        return "memcheck: " + step.output.splitlines()[0], step
    return step.how() if step.code else None, step


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("memcheck", options.build.resolve())
    chosen = {name: network for name, network in networks().items() if re.search(options.filter, name)}
    for name, (problem, step) in harness.for_each(chosen, lambda name: check(suite, name, chosen[name]), options.jobs):
        if problem:
            suite.fail(name, problem, step)
        else:
            print(f"{name}: {step.seconds:.0f} s", flush=True)
            suite.ok()
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
