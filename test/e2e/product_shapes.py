#!/usr/bin/env python3
"""Products of any shape: by vectors and by a few of them, of depths that blocks share, of sizes that
only a run knows, transposed, batched, ragged; and depthwise convolutions of FP32 and INT8. Compared with sums in double precision, as
matrix_products.py does; products of integers exactly. Depths are split by schedules that are edited,
whatever would be chosen. Under all checks of the simulator, and with the same bits from all its
orders of blocks. Without --long FP16, BF16 and 32-bit integers have each third case."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import shutil
import sys

import numpy
import onnx
from onnx import TensorProto, helper

import batch
import harness
import matrix_products
from matrix_products import Case, add, clip, convolve, judge, multiply, multiply_computed

SECONDS = 240
matrix_products.TYPES |= {"f32": (TensorProto.FLOAT, numpy.float32, 2.0**-24),
                          "i32": (TensorProto.INT32, numpy.int32, 0.0),
                          "s8": (TensorProto.INT8, numpy.int8, 0.0)}
INTEGERS = {"i32": (-1000, 1000), "s8": (-128, 128)}


class ShapeCase(Case):
    def __init__(self, name, kind):
        super().__init__(name, kind)
        if kind == "s8":
            self.result = TensorProto.INT32

    def values(self, *shape):
        if self.kind in INTEGERS:
            return self.random.integers(*INTEGERS[self.kind], shape).astype(self.array)
        return super().values(*shape)

    def node(self, operator, *inputs, **attributes):
        if self.kind == "s8" and operator in ("MatMul", "Conv"):
            operator += "Integer"
        return super().node(operator, *inputs, **attributes)

    def round(self):
        super().round()
        if self.kind in INTEGERS:
            self.error = numpy.full_like(self.exact, 0.5, float)


def multiply_open(case, left, right, names):
    """`names`: (operand, dimension) to what its size is called."""
    operands = []
    for number, shape in enumerate((left, right)):
        mine = {dim: name for (operand, dim), name in names.items() if operand == number}
        operands.append(case.input(*shape, names=mine))
    (a, x), (b, y) = operands
    case.product(x @ y, abs(x) @ abs(y), left[-1])
    return case.node("MatMul", a, b)


def weigh(case, k, n, turned=False):
    """A vector times a weight."""
    a, x = case.input(1, k)
    b, y = case.weight(*((n, k) if turned else (k, n)))
    if turned:
        b, y = case.node("Transpose", b, perm=[1, 0]), y.T
    case.product(x @ y, abs(x) @ abs(y), k)
    return case.node("MatMul", a, b)


def vectors(case, left, right):
    """Operands of one dimension among them."""
    a, x = case.input(*left)
    b, y = case.input(*right)
    case.product(x @ y, abs(x) @ abs(y), left[-1])
    return case.node("MatMul", a, b)


def siblings(case, m, n, k):
    """Products of one input with weights of `n` columns each, of which -O2 makes one."""
    a, x = case.input(m, k)
    found = []
    for columns in n:
        b, y = case.weight(k, columns)
        case.product(x @ y, abs(x) @ abs(y), k)
        found.append((case.node("MatMul", a, b), case.exact, case.error))
    case.others = found[:-1]
    return found[-1][0]


def attend(case, heads, tokens, deep, is_open=False):
    """Scores of one query, whose heads are side by side in one vector, with the keys of all."""
    a, x = case.input(1, heads * deep)
    b, y = case.input(heads, tokens, deep, names={1: "t"} if is_open else None)
    shape = numpy.array([heads, 1, deep], numpy.int64)
    case.weights.append(helper.make_tensor("shape", TensorProto.INT64, (3,), shape))
    a, x = case.node("Reshape", a, "shape"), x.reshape(heads, 1, deep)
    b, y = case.node("Transpose", b, perm=[0, 2, 1]), y.swapaxes(1, 2)
    case.product(x @ y, abs(x) @ abs(y), deep)
    return case.node("MatMul", a, b)


FLOATS = ("f32", "f16", "bf16")
THIRDS = {"bf16": 0, "i32": 1, "f16": 2}  # which of them, without --long
SKINNY = {}
for m, n, k in ((1, 64, 64), (1, 1000, 512), (2, 520, 96), (3, 33, 65), (4, 128, 1024),
                (5, 96, 100), (7, 35, 47), (8, 256, 264), (8, 32, 2048),
                # the other way round: few columns
                (64, 1, 64), (130, 1, 77), (200, 4, 96), (57, 7, 130), (1024, 8, 64)):
    for turned in ("", "a", "b", "ab"):
        if not turned or (m, n, k) in ((3, 33, 65), (8, 256, 264), (200, 4, 96)):
            SKINNY[f"{m}x{n}x{k}{turned and '-turned-' + turned}"] = (
                lambda c, m=m, n=n, k=k, turned=turned: multiply(c, m, n, k, turned=turned))
SKINNY |= {
    "vector-matrix": lambda c: vectors(c, (72,), (72, 48)),
    "matrix-vector": lambda c: vectors(c, (48, 72), (72,)),
    "batch": lambda c: multiply(c, 1, 48, 64, batch=(3,)),
    "batches": lambda c: multiply(c, 4, 40, 56, batch=(2, 3), turned="b"),
    "broadcast": lambda c: multiply(c, 2, 64, 40, left=(4, 2), right=(2,)),
    "weight": lambda c: weigh(c, 96, 100),
    "weight-odd": lambda c: weigh(c, 88, 101),
    "weight-turned": lambda c: weigh(c, 90, 64, turned=True),
    "bias": lambda c: clip(c, add(c, multiply(c, 4, 72, 48), 72)),
    "residual": lambda c: clip(c, add(c, multiply(c, 8, 136, 64), 8, 136)),
    "residual-odd": lambda c: add(c, multiply(c, 3, 43, 41), 3, 43),
    "computed": lambda c: multiply_computed(c, 4, 72, 48),
    "computed-odd": lambda c: multiply_computed(c, 5, 35, 37),
    "heads": lambda c: attend(c, 3, 50, 64),
    "heads-open": lambda c: attend(c, 3, 50, 40, is_open=True),
    "grouped": lambda c: multiply(c, 1, 64, 48, left=(2, 3), right=(2, 1), turned="b"),
    "open-depth": lambda c: multiply_open(c, (2, 50), (50, 64), {(0, 1): "k", (1, 0): "k"}),
    "open-columns": lambda c: multiply_open(c, (2, 64), (64, 50), {(1, 1): "n"}),
    "open-batch": lambda c: multiply_open(c, (3, 1, 64), (3, 64, 50),
                                          {(0, 0): "b", (1, 0): "b", (1, 2): "n"}),
}
SPLIT = {
    "128x64x512": lambda c: multiply(c, 128, 64, 512),
    "33x65x700": lambda c: multiply(c, 33, 65, 700),
    "20x40x330-turned-ab": lambda c: multiply(c, 20, 40, 330, turned="ab"),
    "batch": lambda c: multiply(c, 16, 24, 300, batch=(3,)),
    "weight": lambda c: multiply(c, 40, 48, 512, constant=True),
    "weight-odd-columns": lambda c: multiply(c, 40, 51, 512, constant=True),
    "bias": lambda c: clip(c, add(c, multiply(c, 64, 72, 512), 72)),
    "residual": lambda c: clip(c, add(c, multiply(c, 37, 43, 401), 37, 43)),
    "computed": lambda c: multiply_computed(c, 33, 35, 410),
    "siblings": lambda c: siblings(c, 40, (48, 24, 35), 512),
    "1x1": lambda c: convolve(c, 2, 320, 6, 24, 1),
    "3x3": lambda c: clip(c, convolve(c, 1, 64, 6, 24, 3, pad=1)),
    # So many results that a thread adds the parts of several, in vectors where rows allow.
    "wide": lambda c: clip(c, add(c, multiply(c, 256, 512, 192), 512)),
    "wide-residual": lambda c: clip(c, add(c, multiply(c, 220, 516, 192), 220, 516)),
    "wide-odd": lambda c: add(c, multiply(c, 225, 507, 192), 507),
    "wide-1x1": lambda c: clip(c, convolve(c, 2, 192, 16, 256, 1)),
    "wide-first-1x1": lambda c: clip(c, convolve(c, 2, 192, 16, 256, 1, last=False)),
    "open-rows": lambda c: multiply_open(c, (70, 512), (512, 48), {(0, 0): "m"}),
    "open-depth": lambda c: multiply_open(c, (40, 333), (333, 48), {(0, 1): "k", (1, 0): "k"}),
    "open": lambda c: multiply_open(c, (40, 333), (333, 51),
                                    {(0, 0): "m", (0, 1): "k", (1, 0): "k", (1, 1): "n"}),
}
# Three parts of whole steps, 128 to 512 of depth; steps that are left are the last one's.
SPLIT_SKINNY = {
    "1x64x700": lambda c: multiply(c, 1, 64, 700),
    "8x33x330": lambda c: multiply(c, 8, 33, 330),
    "3x36x1333-turned-ab": lambda c: multiply(c, 3, 36, 1333, turned="ab"),
    "70x1x700": lambda c: multiply(c, 70, 1, 700),
    "40x5x333-turned-b": lambda c: multiply(c, 40, 5, 333, turned="b"),
    "matrix-vector": lambda c: vectors(c, (48, 700), (700,)),
    "batches": lambda c: multiply(c, 4, 40, 336, batch=(2, 3), turned="b"),
    "weight": lambda c: weigh(c, 1336, 100),
    "bias": lambda c: clip(c, add(c, multiply(c, 4, 72, 700), 72)),
    "residual": lambda c: add(c, multiply(c, 3, 43, 333), 3, 43),
    "computed": lambda c: multiply_computed(c, 4, 72, 330),
    "heads": lambda c: attend(c, 3, 50, 700),
    "open-depth": lambda c: multiply_open(c, (2, 700), (700, 64), {(0, 1): "k", (1, 0): "k"}),
    "open-batch": lambda c: multiply_open(c, (3, 1, 700), (3, 700, 50),
                                          {(0, 0): "b", (1, 0): "b", (1, 2): "n"}),
}
OPEN = {
    "rows": lambda c: multiply_open(c, (70, 48), (48, 64), {(0, 0): "m"}),
    "columns": lambda c: multiply_open(c, (40, 64), (64, 77), {(1, 1): "n"}),
    "depth": lambda c: multiply_open(c, (40, 50), (50, 64), {(0, 1): "k", (1, 0): "k"}),
    "all": lambda c: multiply_open(c, (70, 50), (50, 36), {(0, 0): "m", (0, 1): "k",
                                                           (1, 0): "k", (1, 1): "n"}),
    "batch": lambda c: multiply_open(c, (3, 20, 40), (3, 40, 36), {(0, 0): "b", (1, 0): "b"}),
    "batch-all": lambda c: multiply_open(
        c, (3, 20, 41), (3, 41, 35), {(0, 0): "b", (1, 0): "b", (0, 1): "m", (0, 2): "k",
                                      (1, 1): "k", (1, 2): "n"}),
    "broadcast": lambda c: multiply_open(c, (3, 20, 40), (40, 36), {(0, 0): "b", (0, 1): "m"}),
    "residual": lambda c: add_open(c),
}
DEPTHWISE = {
    "3x3": lambda c: convolve(c, 1, 32, 12, 32, 3, pad=1, groups=32),
    "3x3-strided": lambda c: convolve(c, 2, 24, 9, 24, 3, stride=2, pad=1, groups=24),
    "3x3-odd": lambda c: convolve(c, 1, 19, 7, 19, 3, pad=1, groups=19),
    "3x3-dilated": lambda c: convolve(c, 1, 16, 11, 16, 3, pad=2, dilation=2, groups=16),
    "3x3-first": lambda c: convolve(c, 2, 12, 9, 12, 3, pad=1, groups=12, last=False),
    "5x5-first": lambda c: convolve(c, 1, 9, 14, 9, 5, pad=2, groups=9, last=False),
    "7x7": lambda c: convolve(c, 1, 8, 10, 8, 7, pad=3, groups=8),
    "line": lambda c: convolve(c, 2, 24, 40, 24, 3, pad=1, groups=24, rank=1),
}
# Cases, types, classes of schedules, parts of depth.
TILES = {"mma", "contraction"}
BYTES = {name: SPLIT[name] for name in ("33x65x700", "20x40x330-turned-ab", "batch")} | {
    "128x64x768": lambda c: multiply(c, 128, 64, 768)}
GROUPS = {"skinny": (SKINNY, (*FLOATS, "i32"), {"skinny"}, 0),
          "split-skinny": (SPLIT_SKINNY, (*FLOATS, "i32"), {"skinny"}, 3),
          "split": (SPLIT, (*FLOATS, "i32"), TILES, 3), "split-bytes": (BYTES, ("s8",), {"mma"}, 3),
          "open": (OPEN, FLOATS, TILES, 0), "depthwise": (DEPTHWISE, ("f32", "s8"), {"window"}, 0)}


def add_open(case):
    """Two sizes known at run time only, in a product and in what is added to it."""
    names = {0: "m", 1: "n"}
    result = multiply_open(case, (50, 40), (40, 44), {(0, 0): "m", (1, 1): "n"})
    c, z = case.input(50, 44, names=names)
    case.exact = case.exact + z
    case.round()
    return case.node("Add", result, c)


class Runner(batch.Runner):
    """`families` may compute the products; `splits` is how many parts their depths get."""

    def __init__(self, suite, options, families, splits):
        super().__init__(suite, options)
        self.families, self.splits = families, splits

    def attempt(self, name, entries):
        work = self.suite.work / name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        onnx.save(batch.merged(entries), work / "model.onnx")
        command, files = batch.write_inputs(work, entries)
        flags = [work / "model.onnx", *harness.compile_flags(self.options)]
        steps = [harness.run([self.cameoc, *flags, "--emit=schedules", "-o",
                              work / "schedules.json"], SECONDS)]
        if steps[-1].code == 0:
            file = json.loads((work / "schedules.json").read_text())
            if reason := self.edit(file["schedules"], len(entries)):
                return steps, reason
            (work / "schedules.json").write_text(json.dumps(file))
            steps.append(harness.run([self.cameoc, *flags, f"--schedules={work / 'schedules.json'}",
                                      f"--report={work / 'report.json'}", "-o", work / "model"],
                                     SECONDS))
        if steps[-1].code != 0:
            return steps, f"cameoc: {harness.first_error(steps[-1].output)}"
        if reason := harness.gate(self.options.build, work / "model", work / "report.json", 0):
            return steps, reason
        written = []
        for run in harness.run_flags(self.options):
            steps.append(harness.run([work / "model", *run, *command], SECONDS))
            if steps[-1].code != 0:
                return steps, f"{steps[-1].how()}: {harness.first_error(steps[-1].output)}"
            written.append([file.read_bytes() for _, file in files])
            if written[-1] != written[0]:
                return steps, f"with {run[1:]} bits are other than before"
        for entry in entries:
            entry.outputs, entry.steps = [], steps
        for entry, file in files:
            tensor = onnx.TensorProto.FromString(file.read_bytes())
            entry.outputs.append(numpy.asarray(onnx.numpy_helper.to_array(tensor)))
        shutil.rmtree(work)
        return steps, ""

    def edit(self, schedules, count):
        """Splits the depths; what is wrong with the schedules, or nothing."""
        classes = [re.match(r'#kernel.schedule<"(\w+)"', entry["schedule"])[1]
                   for entry in schedules]
        if not self.families & set(classes):
            return f"{count} products are computed by {sorted(set(classes))}"
        for entry, family in zip(schedules, classes):
            if self.splits and family in self.families:
                whole = re.sub(r"splits = \d+ : i64, ", "", entry["schedule"])
                entry["schedule"] = whole.replace("store_vector",
                                                  f"splits = {self.splits} : i64, store_vector")
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sm_80,sim:sm_80", sim_checks="all", sim_seed=[1, 2, 3])
    parser.add_argument("--long", action="store_true", help="all cases of all types")
    options = parser.parse_args()
    suite = harness.Suite("product-shapes", options.build.resolve())
    batches = []
    for group, (makers, kinds, families, splits) in GROUPS.items():
        cases = []
        for kind in kinds:
            for number, (name, make) in enumerate(makers.items()):
                case = ShapeCase(f"{group}-{name}-{kind}", kind)
                if not options.long and number % 3 != THIRDS.get(kind, number % 3):
                    continue
                if kind == "i32" and re.search("computed|bias|residual|[13]x[13]$", name):
                    continue  # Relu and Conv have no such type
                if re.search(options.filter, case.name):
                    case.entry = case.entry(make(case))
                    cases.append(case)
        batches += [(families, splits, cases[i:i + 8]) for i in range(0, len(cases), 8)]

    def check(number):
        families, splits, cases = batches[number]
        Runner(suite, options, families, splits).run(f"group{number}", [case.entry for case in cases])
        return cases

    for _, cases in harness.for_each(range(len(batches)), check, options.jobs):
        for case in cases:
            if reason := judge(case, case.entry):
                suite.fail(case.name, reason, *case.entry.steps)
            else:
                suite.ok(case.name)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
