#!/usr/bin/env python3
"""Models that round on purpose, or whose constants cancel or leave the range of their type on the way:
each computes at every level, and in the precisions that it names, what ONNX Runtime does node by node."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
import onnxruntime
from onnx import TensorProto

import harness
from batches import FLOAT, Nodes
from small_models import normal

SECONDS = 120
LEVELS = [[f"-O{level}"] for level in range(3)]
PRECISIONS = [[f"--precision={name}"] for name in ("tf32", "fp16", "bf16")]
# Of the largest magnitude of an output.
TOLERANCES = {"fp32": 1e-6, "tf32": 1e-3, "fp16": 2e-3, "bf16": 2e-2, "int8": 2e-2}
# Half a unit more than this rounds FP32 numbers to integers: its last digit is that of ones.
MAGIC = 1.5 * 2.0**23
HALF, INT32 = TensorProto.FLOAT16, TensorProto.INT32
NUMBERS = numpy.array([0, 0.3, 0.5, 0.7, 1.49, -2.6, 3.5, 100.25], numpy.float32)


class Case:
    """A model of one input and one output, its values, and the options that it is compiled with."""

    def __init__(self, build, x, flags=LEVELS, kind=FLOAT, relative=True):
        b = Nodes(80)
        self.b, self.x, self.flags, self.relative = b, x, flags, relative
        b.output(build(b), "y")
        shape = list(x.shape)
        self.model = b.model("rounding", [("x", kind, shape)], [("y", kind, [None] * len(shape))],
                             [{"x": x}], None).model

    def expected(self):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(self.model.SerializeToString(), options)
        return session.run(None, {"x": self.x})[0]


def scalar(b, number, kind=numpy.float32):
    name = f"w{len(b.weights)}"
    b.weights[name] = kind(number)
    return name


def chain(*steps, kind=numpy.float32):
    """Arithmetic on one value after another: ("Add", 1), ("Mul", 2)."""
    def build(b, x="x"):
        for operator, number in steps:
            x = b.add(operator, x, scalar(b, number, kind))
        return x
    return build


def convolution(*steps, bias=None, before=(), channels=1, pads=0):
    """A convolution by 1 with arithmetic in front of it and behind it."""
    def build(b):
        x = chain(*before)(b)
        b.weights["filter"] = numpy.ones((channels, 1, 1, 1), numpy.float32)
        operands = ["filter"]
        if bias is not None:
            b.weights["bias"] = numpy.full(channels, bias, numpy.float32)
            operands.append("bias")
        return chain(*steps)(b, b.add("Conv", x, *operands, pads=[pads] * 4))
    return build


def product(weight, behind=(), before=()):
    def build(b):
        b.weights["matrix"] = numpy.full((4, 2), weight, numpy.float32)
        return chain(*behind)(b, b.add("MatMul", chain(*before)(b), "matrix"))
    return build


def pad_scale_conv(b):
    x = b.add("Mul", b.add("Pad", "x", b.constant(0, 0, 1, 1, 0, 0, 1, 1)), scalar(b, 0.5))
    return b.add("Conv", x, b.weight(4, 3, 3, 3))


def batch_norm(b, x, channels):
    parts = [b.weight(channels) for _ in range(4)]
    b.weights[parts[3]] = abs(b.weights[parts[3]]) + numpy.float32(0.5)
    return b.add("BatchNormalization", x, *parts)


def conv_batch_norms(*operators):
    """A convolution, and a batch normalization behind each operator with a constant."""
    def build(b):
        x = b.add("Conv", "x", b.weight(4, 3, 3, 3))
        for operator in operators:
            x = batch_norm(b, b.add(operator, x, scalar(b, 3)), 4)
        return x
    return build


def behind_transposes(b):
    """What is between a convolution and its batch normalization cancels in two steps."""
    x = b.add("Transpose", b.add("Conv", "x", b.weight(4, 3, 3, 3)), perm=[0, 2, 3, 1])
    x = b.add("Div", b.add("Mul", x, scalar(b, 4)), scalar(b, 4))
    return batch_norm(b, b.add("Transpose", x, perm=[0, 3, 1, 2]), 4)


def pad_pool(b):
    """Factors between a Pad and a pool, which no weights take over."""
    x = b.add("Pad", "x", b.constant(0, 0, 1, 1, 0, 0, 1, 1))
    x = b.add("Div", b.add("Mul", x, scalar(b, 2)), scalar(b, 2))
    return b.add("AveragePool", x, kernel_shape=[3, 3])


def casts(through, products=False):
    """Rounded to fewer bits, and back."""
    def build(b):
        x = b.add("Cast", b.add("Cast", "x", to=through), to=FLOAT)
        return b.add("MatMul", x, b.weight(8, 8)) if products else b.add("Relu", x)
    return build


def half_product(b):
    name = b.weight(64, 32, scale=0.125)
    b.weights[name] = b.weights[name].astype(numpy.float16)
    return b.add("MatMul", "x", name)


def images(*shape):
    return normal(numpy.random.default_rng(81), *shape)


IMAGES = images(1, 3, 8, 8)
ROWS = numpy.array([[1e20, 1e20, -1e20, 1e20], [1, 2, 3, 4]], numpy.float32)
WHOLE = numpy.array([0, 1, -1, 7, 2**30, -2**30, 2**31 - 1, -2**31], numpy.int32)
PIXELS = NUMBERS.reshape(1, 1, 2, 4)
ALL = LEVELS + PRECISIONS

CASES = {
    # Sums.
    "magic": lambda: Case(chain(("Add", MAGIC), ("Sub", MAGIC)), NUMBERS),
    "magic-in-two": lambda: Case(chain(("Add", MAGIC / 2), ("Add", MAGIC / 2), ("Sub", MAGIC)),
                                 NUMBERS),
    "magic-back-in-two": lambda: Case(chain(("Add", MAGIC), ("Sub", MAGIC / 2),
                                            ("Add", -MAGIC / 2)), NUMBERS),
    "small-beside-one": lambda: Case(chain(("Add", 1), ("Sub", 1)), NUMBERS * numpy.float32(1e-7)),
    "magic-behind-conv": lambda: Case(convolution(("Add", MAGIC), ("Sub", MAGIC)), PIXELS),
    "magic-of-bias": lambda: Case(convolution(("Sub", MAGIC), bias=MAGIC), PIXELS),
    "magic-in-front": lambda: Case(convolution(bias=-MAGIC, before=[("Add", MAGIC)]), PIXELS),
    "one-sign": lambda: Case(chain(("Add", 1), ("Add", 0.5), ("Sub", -2)), NUMBERS),
    # Factors.
    "overflow": lambda: Case(chain(*[("Mul", 1e30)] * 2, *[("Mul", 1e-30)] * 2), NUMBERS),
    "underflow": lambda: Case(chain(("Mul", 2.0**-100), ("Mul", 2.0**-40), ("Mul", 2.0**100),
                                    ("Mul", 2.0**40)), NUMBERS),
    "denormal-factor": lambda: Case(chain(("Mul", 1e-20), ("Mul", 1e-20)),
                                    NUMBERS * numpy.float32(1e30)),
    "zero-times-infinity": lambda: Case(chain(("Mul", 1e30), ("Mul", 1e30), ("Mul", 0)), NUMBERS),
    "sums-overflow": lambda: Case(product(1e25, behind=[("Div", 1e25)]), abs(ROWS)),
    "weights-denormal": lambda: Case(product(1e-35, before=[("Mul", 1e-10)]), ROWS),
    "weights-denormal-behind": lambda: Case(product(1e-35, behind=[("Mul", 1e-10)]), ROWS),
    # Integers wrap, and quotients are cut.
    "integers-wrap": lambda: Case(chain(("Mul", 3), ("Div", 3), kind=numpy.int32), WHOLE, kind=INT32),
    "integers-cut": lambda: Case(chain(("Div", 4), ("Mul", 4), ("Div", 2), ("Div", 3),
                                       kind=numpy.int32), WHOLE[:-1], kind=INT32),
    "integers-added": lambda: Case(chain(("Add", 2**31 - 1), ("Add", 5), ("Sub", 2**31 - 1),
                                         kind=numpy.int32), WHOLE, kind=INT32),
    # What is left where factors cancel is nothing, and what they stood between are neighbours.
    "scales-that-cancel": lambda: Case(chain(("Mul", 2), ("Div", 2)), NUMBERS, ALL),
    "pad-scale-conv": lambda: Case(pad_scale_conv, IMAGES, ALL),
    "pad-scales-pool": lambda: Case(pad_pool, IMAGES, ALL),
    "conv-div-batch-norm": lambda: Case(conv_batch_norms("Div"), IMAGES, ALL),
    "conv-batch-norms": lambda: Case(conv_batch_norms("Mul", "Add", "Sub", "Div"), IMAGES),
    "conv-scales-batch-norm": lambda: Case(behind_transposes, IMAGES, ALL),
    # The model's casts are not ours.
    "cast-there-and-back": lambda: Case(casts(HALF), NUMBERS, ALL),
    "cast-bf16-and-back": lambda: Case(casts(TensorProto.BFLOAT16), NUMBERS, ALL),
    "cast-to-product": lambda: Case(casts(HALF, products=True), images(4, 8), ALL),
    "half-to-int8": lambda: Case(half_product, images(8, 64).astype(numpy.float16),
                                 LEVELS + [["--precision=int8"], ["--precision=int8", "-O0"]], HALF),
}


class Checks:
    def __init__(self, options):
        self.suite = harness.Suite("rounding", options.build.resolve())
        self.options = options

    def check(self, name, case):
        path = self.suite.work / f"{name}.onnx"
        path.write_bytes(case.model.SerializeToString())
        numpy.save(self.suite.work / "x.npy", case.x)
        # Samples for calibration: the rows of the input.
        numpy.savez(self.suite.work / "samples.npz", x=case.x)
        expected = case.expected()
        for flags in case.flags:
            self.run(f"{name}{''.join(flags)}", path, flags, expected)

    def run(self, name, path, flags, expected):
        precision = next((flag.split("=")[1] for flag in flags if "=" in flag), "fp32")
        given = [f"--calibration-data={self.suite.work / 'samples.npz'}"] if precision == "int8" else []
        artefact, out = path.with_suffix(""), self.suite.work / "y.npy"
        step = harness.run([self.suite.tool("cameoc"), path, "-o", artefact, "--target=sim:sm_80",
                            *flags, *given], SECONDS)
        if step.code:
            return self.suite.fail(name, f"{step.how()}: {harness.first_error(step.output)}", step)
        out.unlink(missing_ok=True)
        step = harness.run([artefact, "--device=sim", f"--input=x=@{self.suite.work / 'x.npy'}",
                            f"--output=y=@{out}"], SECONDS)
        if step.code:
            return self.suite.fail(name, f"{step.how()}: {harness.first_error(step.output)}", step)
        found = numpy.load(out)
        if found.dtype != expected.dtype or found.shape != expected.shape:
            return self.suite.fail(name, f"{found.dtype} {found.shape} for "
                                         f"{expected.dtype} {expected.shape}", step)
        wide, right = found.astype(numpy.float64), expected.astype(numpy.float64)
        finite = numpy.isfinite(right)
        most = abs(right[finite]).max(initial=0)
        tolerance = TOLERANCES["fp16" if found.dtype == numpy.float16 else precision]
        tolerance = 0 if found.dtype.kind == "i" else tolerance * most
        if numpy.array_equal(wide[~finite], right[~finite], equal_nan=True) and (
                abs(wide[finite] - right[finite]) <= tolerance).all():
            return self.suite.ok(name)
        return self.suite.fail(name, f"{found.flatten()[:8]}, not {expected.flatten()[:8]}", step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    checks = Checks(options)
    for name, make in CASES.items():
        if re.search(options.filter, name):
            checks.check(name, make())
    return checks.suite.close()


if __name__ == "__main__":
    sys.exit(main())
