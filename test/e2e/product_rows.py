#!/usr/bin/env python3
"""Products whose rows are reduced in the same kernel: scores with softmax, projections with residual and
normalisation. Rows and columns that fill tiles and that do not, batches, masks, sizes of run time, on
lanes and on Tensor Cores. Compared with double precision at -O0 and -O2, under all checks of the
simulator, with the same bits from all its orders of blocks; each is one launch at -O2, but for those
whose rows no block has. Without --long BF16 and TF32 have each third case."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import shutil
import sys

import numpy
import onnx
from onnx import TensorProto

import batch
import harness
import matrix_products
from matrix_products import Case, add, judge, multiply, scale

SECONDS = 240
matrix_products.TYPES |= {"f32": (TensorProto.FLOAT, numpy.float32, 2.0**-24),
                          "tf32": (TensorProto.FLOAT, numpy.float32, 2.0**-24)}
KINDS = {"sm_80": ("f32", "f16", "bf16", "tf32"), "sm_75": ("f32", "f16")}
THIRDS = {"bf16": 0, "tf32": 1}  # which of them, without --long
TF32 = 2.0**-10  # two operands, each rounded to 11 bits


class RowCase(Case):
    def values(self, *shape):
        return (self.random.standard_normal(shape) / 2).astype(self.array)

    def entry(self, result):
        entry = super().entry(result)
        entry.model.opset_import[0].version = 23
        return entry

    def product(self, exact, magnitude, depth):
        super().product(exact, magnitude, depth)
        if self.kind == "tf32":
            self.error += magnitude * TF32


def softmax(case, result, log=False):
    """Of the last dimension: an error of a score is one of the exponent, its own and its row's."""
    exact, error = case.exact, case.error
    powers = numpy.exp(exact - exact.max(-1, keepdims=True))
    sums = powers.sum(-1, keepdims=True)
    apart = error + error.max(-1, keepdims=True) + 2.0**-19
    case.exact = numpy.log(powers / sums) if log else powers / sums
    case.error = 1.1 * apart if log else 1.1 * case.exact * numpy.expm1(apart)
    case.round()
    return case.node("LogSoftmax" if log else "Softmax", result, axis=-1)


def normalize(case, result, root=False):
    """LayerNormalization, or RMSNormalization."""
    columns = case.exact.shape[-1]
    g, gain = case.input(columns)
    exact, error = case.exact, case.error
    centre = 0 if root else exact.mean(-1, keepdims=True)
    variance = ((exact - centre)**2).mean(-1, keepdims=True) + 1e-5
    error = error + (0 if root else error.mean(-1, keepdims=True)) + abs(exact) * 2.0**-21
    off = (2 * abs(exact - centre) * error + error**2).mean(-1, keepdims=True) / variance / 2
    normal = (exact - centre) / numpy.sqrt(variance)
    case.exact = normal * gain
    case.error = 1.2 * abs(gain) * (error / numpy.sqrt(variance) + abs(normal) * (off + 2.0**-20))
    if root:
        case.round()
        return case.node("RMSNormalization", result, g, axis=-1, epsilon=1e-5)
    b, shift = case.input(columns)
    case.exact = case.exact + shift
    case.round()
    return case.node("LayerNormalization", result, g, b, axis=-1, epsilon=1e-5)


def scores(case, queries, keys, depth, heads, *mask):
    """softmax(q k' / sqrt(depth) + mask) of each head."""
    result = scale(case, multiply(case, queries, keys, depth, batch=heads, turned="b"))
    return softmax(case, add(case, result, *mask) if mask else result)


def windows(case):
    """Scores of shifted windows: 2 images of 4 windows, 3 heads; the mask is a window's."""
    result = scale(case, multiply(case, 49, 49, 32, batch=(2, 4, 3), turned="b"))
    return softmax(case, add(case, result, 4, 1, 49, 49))


def projection(case, rows, columns, depth, batch=(), root=False, keeps=False):
    """A product with bias, residual and normalisation; perhaps the sum is a result, too."""
    result = add(case, multiply(case, rows, columns, depth, batch, right=(), constant=True),
                 columns)
    result = add(case, result, *batch, rows, columns)
    if keeps:
        case.others.append((result, case.exact, case.error))
    return normalize(case, result, root)


def open_rows(case, rows, columns, depth):
    """As many rows as a run has."""
    a, x = case.input(rows, depth, names={0: "m"})
    w, y = case.weight(depth, columns)
    case.product(x @ y, abs(x) @ abs(y), depth)
    return softmax(case, add(case, case.node("MatMul", a, w), columns))


def sum_of_squares(case, rows, columns, depth):
    """Elements over the row's norm."""
    result = multiply(case, rows, columns, depth)
    exact, error = case.exact, case.error
    norm = numpy.sqrt((exact**2).sum(-1, keepdims=True))
    off = numpy.sqrt((error**2).sum(-1, keepdims=True)) / norm + 2.0**-20 + case.rounding
    case.exact, case.error = exact / norm, 1.2 * (error + abs(exact) * off) / norm
    case.round()
    length = case.node("ReduceL2", result, axes_of(case), keepdims=1)
    return case.node("Div", result, length)


def axes_of(case):
    case.weights.append(onnx.helper.make_tensor(f"w{len(case.weights)}", TensorProto.INT64, [1],
                                                [-1]))
    return case.weights[-1].name


# Whether each is one launch.
CASES = {
    True: {
        "scores": lambda c: scores(c, 64, 64, 32, (3,)),
        "scores-ragged": lambda c: scores(c, 37, 49, 24, (5,), 49),
        "scores-masked": lambda c: scores(c, 49, 49, 32, (2, 3), 2, 1, 49, 49),
        "scores-vit": lambda c: scores(c, 197, 197, 32, (4,)),
        "scores-few": lambda c: scores(c, 17, 9, 40, (2,)),
        "windows": windows,
        "log": lambda c: softmax(c, multiply(c, 50, 100, 48), log=True),
        "norm": lambda c: projection(c, 98, 96, 96),
        "norm-kept": lambda c: projection(c, 70, 96, 64, keeps=True),
        "norm-batch": lambda c: projection(c, 49, 128, 48, (3,), keeps=True),
        "norm-odd": lambda c: projection(c, 33, 75, 40),
        "norm-few": lambda c: projection(c, 40, 200, 16),
        "norm-long": lambda c: projection(c, 1500, 256, 16),
        "rms": lambda c: projection(c, 65, 64, 96, root=True),
        "squares": lambda c: sum_of_squares(c, 45, 72, 32),
        "open": lambda c: open_rows(c, 77, 120, 56),
    },
    False: {  # rows that no tile has; a depth that blocks share
        "wide": lambda c: scores(c, 40, 260, 32, (2,)),
        "deep": lambda c: projection(c, 16, 200, 4096),
    },
}


class Runner(batch.Runner):
    def __init__(self, suite, options, kind, is_whole):
        super().__init__(suite, options)
        self.kind, self.is_whole = kind, is_whole

    def attempt(self, name, entries):
        work = self.suite.work / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        onnx.save(batch.merged(entries), work / "model.onnx")
        command, files = batch.write_inputs(work, entries)
        steps = []
        for entry in entries:
            entry.levels = {}
        for level in ("-O0", "-O2"):
            flags = ["--precision=tf32"] if self.kind == "tf32" else []
            steps.append(harness.run([self.cameoc, work / "model.onnx", level, *flags,
                                      *harness.compile_flags(self.options), "-o", work / "model",
                                      f"--report={work / 'report.json'}"], SECONDS))
            if steps[-1].code != 0:
                return steps, f"cameoc: {harness.first_error(steps[-1].output)}"
            if reason := harness.gate(self.options.build, work / "model", work / "report.json", 0):
                return steps, reason
            kernels = len(json.loads((work / "report.json").read_text())["kernels"])
            if level == "-O2" and (kernels == len(entries) if not self.is_whole else
                                   kernels != len(entries)):
                return steps, f"{len(entries)} cases are {kernels} launches"
            written = []
            for run in harness.run_flags(self.options):
                steps.append(harness.run([work / "model", *run, *command], SECONDS))
                if steps[-1].code != 0:
                    return steps, f"{steps[-1].how()}: {harness.first_error(steps[-1].output)}"
                written.append([file.read_bytes() for _, file in files])
                if written[-1] != written[0]:
                    return steps, f"with {run[1:]} bits are other than before"
            for entry, file in files:
                tensor = onnx.TensorProto.FromString(file.read_bytes())
                array = numpy.asarray(onnx.numpy_helper.to_array(tensor))
                entry.levels.setdefault(level, []).append(array)
        for entry in entries:
            entry.steps = steps
        shutil.rmtree(work)
        return steps, ""


def judge_levels(case, entry):
    if entry.refusal or entry.failure:
        return entry.refusal or entry.failure
    for level, outputs in entry.levels.items():
        entry.outputs = outputs
        if reason := judge(case, entry):
            return f"{level}: {reason}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sm_80,sim:sm_80", sim_checks="all", sim_seed=[1, 2, 3])
    parser.add_argument("--long", action="store_true", help="all cases of all types")
    options = parser.parse_args()
    arch = options.target.split(",")[0]
    suite = harness.Suite(f"product-rows-{arch}", options.build.resolve())
    groups = []
    for kind in KINDS[arch]:
        for is_whole, makers in CASES.items():
            cases = []
            for number, (name, make) in enumerate(makers.items()):
                if number % 3 != THIRDS.get(kind, number % 3) and not options.long:
                    continue
                case = RowCase(f"{name}-{kind}", kind)
                if re.search(options.filter, case.name):
                    case.entry = case.entry(make(case))
                    cases.append(case)
            cases = cases[::options.each]
            groups += [(kind, is_whole, cases[i:i + 8]) for i in range(0, len(cases), 8)]

    def check(number):
        kind, is_whole, cases = groups[number]
        Runner(suite, options, kind, is_whole).run(f"group{number}",
                                                   [case.entry for case in cases])
        return cases

    for _, cases in harness.for_each(range(len(groups)), check, options.jobs):
        for case in cases:
            if reason := judge_levels(case, case.entry):
                suite.fail(case.name, reason, *case.entry.steps)
            else:
                suite.ok(case.name)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
