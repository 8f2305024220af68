#!/usr/bin/env python3
"""Products by weights of 8 and 4 bits that are dequantised as they are read: one scale, one a column,
one for each block of depth, with and without zero points, by one row, a few and many, of even and odd
sizes. Compared with sums in double precision of the weights that DequantizeLinear defines, as
matrix_products.py does, under all checks of the simulator. The report has to say that weights are read
in the bits that they need."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import math
import re
import sys

import numpy
import onnx
from onnx import TensorProto, helper

import batch
import harness
import matrix_products
from matrix_products import Case, add, clip, judge

SECONDS = 240
matrix_products.TYPES |= {"f32": (TensorProto.FLOAT, numpy.float32, 2.0**-24)}

WEIGHTS = {"s8": (TensorProto.INT8, -128, 127, 8), "u8": (TensorProto.UINT8, 0, 255, 8),
           "s4": (TensorProto.INT4, -8, 7, 4), "u4": (TensorProto.UINT4, 0, 15, 4)}


class WeightCase(Case):
    """`bits` of each weight; `least`: bytes that are read and written with no more than these."""

    def __init__(self, name, kind, weight):
        super().__init__(name, kind)
        self.type, self.low, self.high, self.bits = WEIGHTS[weight]

    def constant(self, kind, values):
        name = f"w{len(self.weights)}"
        self.weights.append(helper.make_tensor(name, kind, values.shape,
                                               values.astype(float).flatten().tolist()))
        return name

    def dequantised(self, k, n, granularity, has_zeros, block, turned,
                    by_graph=True):
        """(name, values) of weights [k, n], whose scales have the type of what they are multiplied by;
        stored as [n, k] with `turned`, and turned by the graph."""
        numbers = self.random.integers(self.low, self.high + 1, (k, n))
        shape = {"tensor": (), "column": (n,), "block": (k // block if block else 1, n)}[granularity]
        scales = self.random.uniform(0.01, 0.03, shape).astype(self.array)
        zeros = self.random.integers(self.low, self.high + 1, shape)
        spread = ((lambda a: a.repeat(block, 0)) if granularity == "block" else lambda a: a)
        exact = (numbers - (spread(zeros) if has_zeros else 0)) * spread(scales).astype(float)
        # One rounding, from f32, in which the product of an integer and a scale is rounded first.
        exact = exact.astype(numpy.float32).astype(self.array).astype(float)
        store = (lambda a: a.swapaxes(0, 1) if a.ndim == 2 else a) if turned else lambda a: a
        inputs = [self.constant(self.type, store(numbers)), self.constant(self.tensor, store(scales))]
        if has_zeros:
            inputs.append(self.constant(self.type, store(zeros)))
        axis = {"tensor": 0, "column": 0 if turned else 1, "block": 1 if turned else 0}[granularity]
        attributes = {"axis": axis} if granularity != "tensor" else {}
        if granularity == "block":
            attributes["block_size"] = block
        name = self.node("DequantizeLinear", *inputs, **attributes)
        if turned and by_graph:
            name = self.node("Transpose", name, perm=[1, 0])
        self.least = (math.prod(numbers.shape) * self.bits / 8 + scales.nbytes +
                      (zeros.size if has_zeros else 0))
        return name, exact


def multiply(case, m, n, k, granularity="tensor", zeros=False, block=32, turned=False, batches=()):
    a, x = case.input(*batches, m, k)
    b, y = case.dequantised(k, n, granularity, zeros, block, turned)
    case.product(x @ y, abs(x) @ abs(y), k)
    case.least += (x.size + case.exact.size) * numpy.dtype(case.array).itemsize
    return case.node("MatMul", a, b)


def gemm(case, m, n, k, granularity="column", block=32):
    """As fully connected layers come: weights [n, k], a bias."""
    a, x = case.input(m, k)
    b, y = case.dequantised(k, n, granularity, False, block, turned=True, by_graph=False)
    bias, z = case.weight(n)
    case.product(x @ y, abs(x) @ abs(y), k)
    case.exact = case.exact + z
    case.round()
    return case.node("Gemm", a, b, bias, transB=1)


def check_sizes(suite, options):
    """One kernel, which reads no more than the bits of the weights, which are what the file has more
    than one without any."""
    for kind, m, granularity in (("f16", 1, "column"), ("f16", 1, "block"), ("f16", 128, "block"),
                                 ("bf16", 1, "block"), ("bf16", 128, "block")):
        files = {}
        for weight in ("s8", "u4", "s4"):
            case = WeightCase(f"size-{m}-{granularity}-{weight}-{kind}", kind, weight)
            entry = case.entry(multiply(case, m, 256, 1024, granularity, True))
            work = suite.work / case.name
            work.mkdir(parents=True, exist_ok=True)
            onnx.save(entry.model, work / "model.onnx")
            step = harness.run([suite.tool("cameoc"), work / "model.onnx", "-o", work / "model",
                                f"--target={options.target.split(',')[-1]}",
                                f"--report={work / 'report.json'}"], SECONDS)
            if step.code != 0:
                suite.fail(case.name, harness.first_error(step.output), step)
                continue
            kernels = json.loads((work / "report.json").read_text())["kernels"]
            files[weight] = (work / "model").stat().st_size
            if m == 1 and (len(kernels) != 1 or kernels[0]["bytes"] != case.least):
                suite.fail(case.name, f"{len(kernels)} kernels, of {kernels[0]['bytes']} bytes, not "
                           f"{case.least}", step)
            elif not any(f"xi{case.bits}" in text for text in kernels[0]["inputs"]):
                suite.fail(case.name, f"reads {kernels[0]['inputs']}", step)
            elif case.bits == 4 and files["s8"] - files[weight] < 0.8 * 256 * 1024 / 2:
                suite.fail(case.name, f"the artefact has {files[weight]} bytes, {files['s8']} with "
                           "weights of 8 bits", step)
            else:
                suite.ok(case.name)


CASES = {}
for m, n, k in ((1, 256, 512), (7, 96, 256), (128, 64, 128), (1, 101, 129), (7, 33, 66),
                (128, 65, 77), (40, 48, 1024), (3, 64, 67), (20, 27, 64)):
    for granularity in ("tensor", "column"):
        for zeros in (False, True):
            CASES[f"{m}x{n}x{k}-{granularity}{'-zeros' if zeros else ''}"] = (
                lambda c, m=m, n=n, k=k, g=granularity, z=zeros: multiply(c, m, n, k, g, z))
for m, n, k, block in ((1, 256, 512, 32), (7, 96, 256, 128), (128, 64, 128, 32), (1, 101, 96, 16),
                       (7, 33, 66, 22), (128, 65, 77, 7), (1, 64, 4096, 64), (40, 50, 512, 16)):
    for zeros in (False, True):
        CASES[f"{m}x{n}x{k}-block-{block}{'-zeros' if zeros else ''}"] = (
            lambda c, m=m, n=n, k=k, b=block, z=zeros: multiply(c, m, n, k, "block", z, b))
CASES |= {
    "turned": lambda c: multiply(c, 1, 96, 128, "column", True, turned=True),
    "turned-many": lambda c: multiply(c, 72, 40, 128, "column", turned=True),
    "turned-block": lambda c: multiply(c, 1, 96, 128, "block", True, turned=True),
    "turned-block-many": lambda c: multiply(c, 72, 40, 128, "block", turned=True),
    "batches": lambda c: multiply(c, 3, 64, 96, "column", True, batches=(2,)),
    "batches-block": lambda c: multiply(c, 24, 64, 96, "block", True, batches=(2,)),
    "gemm": lambda c: gemm(c, 1, 72, 96),
    "gemm-many": lambda c: gemm(c, 66, 72, 96, "tensor"),
    "gemm-block": lambda c: gemm(c, 1, 72, 96, "block"),
    "gemm-block-many": lambda c: gemm(c, 66, 72, 96, "block"),
    "gemm-odd": lambda c: clip(c, gemm(c, 5, 35, 67)),
    "residual": lambda c: clip(c, add(c, multiply(c, 4, 64, 96, "block", True), 4, 64)),
    "residual-many": lambda c: add(c, multiply(c, 72, 136, 64, "column", True), 72, 136),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sm_80,sim:sm_80", sim_checks="all", sim_seed=[1, 2])
    parser.add_argument("--long", action="store_true", help="all cases of all types")
    options = parser.parse_args()
    arch = options.target.split(",")[0]
    suite = harness.Suite(f"weight-products-{arch}", options.build.resolve())
    runner = batch.Runner(suite, options)
    if not options.filter:
        check_sizes(suite, options)
    cases = []
    for number, (kind, weight) in enumerate((kind, weight) for kind in ("f16", "f32", "bf16")
                                            for weight in WEIGHTS):
        for index, (name, make) in enumerate(CASES.items()):
            case = WeightCase(f"{name}-{weight}-{kind}", kind, weight)
            # Each case in two of the twelve.
            if not options.long and index % 6 != number % 6:
                continue
            if re.search(options.filter, case.name):
                case.entry = case.entry(make(case))
                cases.append(case)
    cases = cases[::options.each]
    groups = [cases[i:i + 8] for i in range(0, len(cases), 8)]

    def check(number):
        runner.run(f"group{number}", [case.entry for case in groups[number]])
        return groups[number]

    for _, group in harness.for_each(range(len(groups)), check, options.jobs):
        for case in group:
            if reason := judge(case, case.entry):
                suite.fail(case.name, reason, *case.entry.steps)
            else:
                suite.ok(case.name)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
