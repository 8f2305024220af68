#!/usr/bin/env python3
"""Products on Tensor Cores of all that operators do not say: integers of 8 bits, signed and unsigned in
any mix, operands rounded to TF32, sums in f16. Descriptions are written by hand, of the dispatched stage:
sizes around those of tiles, ragged, batched, transposed, with epilogues, windows whose padding is a zero
point. Integers are compared exactly, floats with sums in double precision: no element may be farther from
those than sums of that length allow. Under all checks of the simulator, three seeds. Without --long forms
that differ in signs alone, and sm_75, have each third case, another third each."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy

import harness

SECONDS = 300
SUM = 2.0**-23  # an addition of a Tensor Core truncates
# The row's and the column's elements in NumPy, those of the sums; targets that multiply them. What
# matrix_products.py tests is here for planted_faults.py.
FORMS = {
    "s8": (numpy.int8, numpy.int8, "i32", ("sm_75", "sm_80")),
    "u8": (numpy.uint8, numpy.uint8, "i32", ("sm_75", "sm_80")),
    "u8s8": (numpy.uint8, numpy.int8, "i32", ("sm_75", "sm_80")),
    "s8u8": (numpy.int8, numpy.uint8, "i32", ("sm_80",)),
    "tf32": (numpy.float32, numpy.float32, "f32", ("sm_80",)),
    "f16": (numpy.float16, numpy.float16, "f32", ()),
    "f16-sums": (numpy.float16, numpy.float16, "f16", ("sm_75", "sm_80")),
}
ELEMENTS = {numpy.int8: "i8", numpy.uint8: "i8", numpy.float32: "f32", numpy.float16: "f16",
            numpy.int32: "i32"}
ONNX_TYPES = {**ELEMENTS, numpy.uint8: "ui8"}


def tensor(array, element=None):
    sizes = "x".join(map(str, array.shape))
    return f"tensor<{sizes}{'x' if sizes else ''}{element or ELEMENTS[array.dtype.type]}>"


def rounded_to_tf32(array):
    """To nearest, ties away from zero, as cvt.rna does."""
    bits = array.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x1000) & 0xffffe000).view(numpy.float32).astype(float)


class Case:
    """One dispatch. `operands` are arrays, `body` is MLIR of ^%a0, %a1, ... and %init, `wanted` the
    result, which may be off by `error`."""

    def __init__(self, name, form):
        self.name, self.form = name, form
        self.row, self.column, self.sum, self.targets = FORMS[form]
        self.random = numpy.random.default_rng(sum(map(ord, name + form)))
        self.operands, self.body, self.maps = [], [], []

    def values(self, kind, *shape):
        if kind in (numpy.int8, numpy.uint8):
            limits = numpy.iinfo(kind)
            return self.random.integers(limits.min, limits.max, shape, kind, endpoint=True)
        return self.random.standard_normal(shape).astype(kind)

    def operand(self, kind, *shape):
        self.operands.append(self.values(kind, *shape))
        return f"%a{len(self.operands) - 1}", self.operands[-1]

    def exact(self, array):
        """What is multiplied, wide enough."""
        if array.dtype == numpy.float32:
            return rounded_to_tf32(array)
        return array.astype(float if array.dtype == numpy.float16 else numpy.int64)

    def line(self, text):
        self.body.append(text)

    def product(self, a, b, shape, loops, depth, maps):
        """The generic operation of %a and %b: `loops` in all, the last `depth` of which are summed;
        maps of a, b and the result."""
        (left, x), (right, y) = a, b
        zero = "0" if self.sum == "i32" else "0.0"
        kind = f"tensor<{'x'.join(map(str, shape))}x{self.sum}>"
        iterators = ["parallel"] * (loops - depth) + ["reduction"] * depth
        names = ", ".join(f"d{i}" for i in range(loops))
        maps = ", ".join(f"affine_map<({names}) -> ({', '.join(at)})>" for at in maps)
        precision = ', kernel.precision = "tf32"' if self.form == "tf32" else ""
        self.line(f"%zero = arith.constant {zero} : {self.sum}")
        self.line(f"%empty = tensor.empty() : {kind}")
        self.line(f"%fill = linalg.fill ins(%zero : {self.sum}) outs(%empty : {kind}) -> {kind}")
        self.line(f"%sums = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
                  f"[{', '.join(f'{chr(34)}{i}{chr(34)}' for i in iterators)}]{precision}}} "
                  f"ins({left}, {right} : {tensor(x)}, {tensor(y)}) outs(%fill : {kind}) {{")
        e, f = ELEMENTS[x.dtype.type], ELEMENTS[y.dtype.type]
        self.line(f"^bb0(%p: {e}, %q: {f}, %s: {self.sum}):")
        if self.sum == "i32":
            for factor, array in (("p", x), ("q", y)):
                widen = "extui" if array.dtype == numpy.uint8 else "extsi"
                self.line(f"%{factor}w = arith.{widen} %{factor} : i8 to i32")
            self.line("%m = arith.muli %pw, %qw : i32")
            self.line("%t = arith.addi %s, %m : i32")
        else:
            for factor in "pq" if e != self.sum else "":
                self.line(f"%{factor}w = arith.extf %{factor} : {e} to {self.sum}")
            wide = "w" if e != self.sum else ""
            self.line(f"%t = math.fma %p{wide}, %q{wide}, %s : {self.sum}")
        self.line(f"linalg.yield %t : {self.sum}")
        self.line(f"}} -> {kind}")
        return "%sums"

    def sums(self, wanted, magnitude, depth):
        step = {"i32": 0, "f32": SUM, "f16": 2.0**-11}[self.sum]
        self.wanted, self.error = wanted, magnitude * step * (depth + 2)
        self.result = f"tensor<{'x'.join(map(str, wanted.shape))}x{self.sum}>"
        self.kind = {"i32": numpy.int32, "f32": numpy.float32, "f16": numpy.float16}[self.sum]

    def dispatch(self, number):
        """Its text, and the names of what it takes."""
        names = [f"%x{number}_{i}" for i in range(len(self.operands))]
        types = [tensor(array) for array in self.operands]
        arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(types))
        body = "\n".join(self.body)
        return (f"%e{number} = tensor.empty() : {self.result}\n"
                f"%y{number} = kernel.dispatch ins({', '.join(names)} : {', '.join(types)}) "
                f"outs(%e{number} : {self.result}) {{\n^bb0({arguments}, %init: {self.result}):\n"
                f"{body}\n}} -> {self.result}\n")


def finish(case, value):
    case.line(f"kernel.yield {value} : {case.result}")


def multiply(case, m, n, k, batch=(), turned=""):
    """[batch, m, k] x [batch, k, n]; operands in `turned` (a, b) lie transposed."""
    a = case.operand(case.row, *batch, *((k, m) if "a" in turned else (m, k)))
    b = case.operand(case.column, *batch, *((n, k) if "b" in turned else (k, n)))
    outer = [f"d{i}" for i in range(len(batch))]
    i, j, l = (f"d{len(batch) + loop}" for loop in range(3))
    maps = (outer + ([l, i] if "a" in turned else [i, l]),
            outer + ([j, l] if "b" in turned else [l, j]), outer + [i, j])
    sums = case.product(a, b, (*batch, m, n), len(batch) + 3, 1, maps)
    x = a[1].swapaxes(-1, -2) if "a" in turned else a[1]
    y = b[1].swapaxes(-1, -2) if "b" in turned else b[1]
    x, y = case.exact(x), case.exact(y)
    case.sums(x @ y, abs(x) @ abs(y), k)
    return sums


def convolve(case, images, channels, size, filters, window, zero, pad=1, stride=1, innermost=True,
             loaded=False):
    """Channels are innermost in the image; in the weights, too, or else filters. Beside the image is
    `zero`, which perhaps the kernel loads."""
    at, image = case.operand(case.row, images, size, size, channels)
    order = (filters, window, window, channels) if innermost else (window, window, channels, filters)
    weight = case.operand(case.column, *order)
    padded = numpy.pad(image, ((0, 0), (pad, pad), (pad, pad), (0, 0)), constant_values=zero)
    if loaded:
        case.operands.append(numpy.array(zero, case.row))
        case.line(f"%zp = tensor.extract %a2[] : {tensor(case.operands[-1])}")
    else:
        bits = int(numpy.array(zero, case.row).view(numpy.int8))
        case.line(f"%zp = arith.constant {bits} : i8")
    case.line(f"%padded = tensor.pad {at} low[0, {pad}, {pad}, 0] high[0, {pad}, {pad}, 0] {{\n"
              "^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\ntensor.yield %zp : i8\n"
              f"}} : {tensor(image)} to {tensor(padded)}")
    rows = (size + 2 * pad - window) // stride + 1
    maps = (["d0", f"d1 * {stride} + d4", f"d2 * {stride} + d5", "d6"],
            ["d3", "d4", "d5", "d6"] if innermost else ["d4", "d5", "d6", "d3"],
            ["d0", "d1", "d2", "d3"])
    sums = case.product(("%padded", padded), weight, (images, rows, rows, filters), 7, 3, maps)
    views = numpy.lib.stride_tricks.sliding_window_view(padded, (window, window), axis=(1, 2))
    views = case.exact(views[:, ::stride, ::stride])
    taps = case.exact(weight[1])
    case.sums(numpy.einsum("nyxcij,fijc->nyxf" if innermost else "nyxcij,ijcf->nyxf", views, taps,
                           optimize=True), 0, 0)
    return sums


def requantise(case, value, m, n):
    """Sums times a factor for each column, to nearest even and saturated: int8."""
    at, factors = case.operand(numpy.float32, n)
    factors[...] = abs(factors) * 2.0**-8 + 2.0**-12
    kind = f"tensor<{m}x{n}xi8>"
    case.line(f"%low = arith.constant -128.0 : f32\n%high = arith.constant 127.0 : f32")
    case.line(f"%small = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, "
              f"affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = "
              f"[\"parallel\", \"parallel\"]}} ins({value}, {at} : tensor<{m}x{n}xi32>, "
              f"{tensor(factors)}) outs(%init : {kind}) {{\n^bb0(%s: i32, %f: f32, %o: i8):\n"
              "%x = arith.sitofp %s : i32 to f32\n%y = arith.mulf %x, %f : f32\n"
              "%r = math.roundeven %y : f32\n%c = arith.maximumf %r, %low : f32\n"
              "%d = arith.minimumf %c, %high : f32\n%t = arith.fptosi %d : f32 to i8\n"
              f"linalg.yield %t : i8\n}} -> {kind}")
    scaled = case.wanted.astype(numpy.float32) * factors
    case.wanted = numpy.clip(numpy.rint(scaled), -128, 127)
    case.result, case.kind = kind, numpy.int8
    return "%small"


def quantised(case, m, n, k):
    """The row's operand is made of floats: a quarter of each, to nearest even and saturated."""
    at, floats = case.operand(numpy.float32, m, k)
    floats *= 200
    b = case.operand(case.column, k, n)
    low, high = numpy.iinfo(case.row).min, numpy.iinfo(case.row).max
    x = numpy.clip(numpy.rint(floats / 4), low, high).astype(case.row)
    signed = "s" if case.row == numpy.int8 else "u"
    case.line(f"%least = arith.constant {low}.0 : f32\n%most = arith.constant {high}.0 : f32\n"
              f"%quarter = arith.constant 0.25 : f32\n%none = tensor.empty() : {tensor(x)}")
    case.line(f"%whole = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, "
              f"affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} "
              f"ins({at} : {tensor(floats)}) outs(%none : {tensor(x)}) {{\n^bb0(%f: f32, %o: i8):\n"
              "%x = arith.mulf %f, %quarter : f32\n%r = math.roundeven %x : f32\n"
              "%c = arith.maximumf %r, %least : f32\n%d = arith.minimumf %c, %most : f32\n"
              f"%t = arith.fpto{signed}i %d : f32 to i8\nlinalg.yield %t : i8\n}} -> {tensor(x)}")
    sums = case.product(("%whole", x), b, (m, n), 3, 1, (["d0", "d2"], ["d2", "d1"], ["d0", "d1"]))
    case.sums(case.exact(x) @ case.exact(b[1]), 0, 0)
    return sums


def add(case, value, m, n):
    """The sums and a tensor of their type."""
    at, array = case.operand(case.kind, m, n) if case.sum != "i32" else (None, None)
    if at is None:
        case.operands.append(case.random.integers(-9999, 9999, (m, n), numpy.int32))
        at, array = f"%a{len(case.operands) - 1}", case.operands[-1]
    plus = "addi" if case.sum == "i32" else "addf"
    case.line(f"%more = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, "
              "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = "
              f"[\"parallel\", \"parallel\"]}} ins({value}, {at} : {case.result}, {tensor(array)}) "
              f"outs(%init : {case.result}) {{\n^bb0(%s: {case.sum}, %f: {case.sum}, "
              f"%o: {case.sum}):\n%t = arith.{plus} %s, %f : {case.sum}\nlinalg.yield %t : {case.sum}"
              f"\n}} -> {case.result}")
    case.wanted = case.wanted + case.exact(array) if case.sum == "i32" else case.wanted + array
    rounding = {"i32": 0, "f32": 2.0**-24, "f16": 2.0**-11}[case.sum]
    case.error = case.error * (1 + rounding) + abs(case.wanted) * rounding
    return "%more"


CASES = {}
for m, n, k in ((16, 16, 32), (64, 64, 64), (128, 128, 128), (256, 128, 96), (16, 256, 64),
                # ragged: rows, columns, depth; by less than a copy; by odd numbers
                (100, 128, 64), (128, 100, 72), (60, 36, 20), (33, 65, 17), (9, 11, 13)):
    CASES[f"{m}x{n}x{k}"] = lambda c, m=m, n=n, k=k: multiply(c, m, n, k)
for turned in ("a", "b", "ab"):
    for m, n, k in ((128, 64, 64), (48, 80, 36), (33, 65, 17)):
        CASES[f"{m}x{n}x{k}-turned-{turned}"] = (
            lambda c, m=m, n=n, k=k, turned=turned: multiply(c, m, n, k, turned=turned))
CASES |= {
    "batch": lambda c: multiply(c, 64, 48, 32, batch=(3,)),
    "batch-turned": lambda c: multiply(c, 24, 40, 56, batch=(2, 2), turned="b"),
    "residual": lambda c: add(c, multiply(c, 72, 136, 64), 72, 136),
    "residual-odd": lambda c: add(c, multiply(c, 37, 43, 41), 37, 43),
}
INTEGER_CASES = {
    "requantised": lambda c: requantise(c, multiply(c, 72, 136, 64, turned="b"), 72, 136),
    "requantised-odd": lambda c: requantise(c, multiply(c, 33, 35, 40), 33, 35),
    "quantised-operand": lambda c: quantised(c, 64, 72, 48),
    "quantised-operand-odd": lambda c: quantised(c, 33, 35, 37),
    "1x1": lambda c: convolve(c, 2, 64, 10, 40, 1, zero=0, pad=0),
    "3x3": lambda c: convolve(c, 1, 64, 8, 48, 3, zero=0),
    "3x3-zero-point": lambda c: convolve(c, 1, 64, 9, 48, 3, zero=7),
    "3x3-zero-point-strided": lambda c: convolve(c, 2, 32, 9, 40, 3, zero=101, stride=2),
    "3x3-zero-point-loaded": lambda c: convolve(c, 1, 64, 8, 32, 3, zero=93, loaded=True),
    "3x3-zero-point-across": lambda c: convolve(c, 1, 48, 7, 32, 3, zero=5, innermost=False),
    "3x3-zero-point-odd": lambda c: convolve(c, 1, 33, 7, 20, 3, zero=3),
    "3x3-zero-point-three-channels": lambda c: convolve(c, 1, 3, 9, 24, 3, zero=77),
    "3x3-zero-point-three-channels-across":
        lambda c: convolve(c, 1, 3, 9, 24, 3, zero=77, innermost=False),
    "7x7-strided-three-channels": lambda c: convolve(c, 2, 3, 19, 24, 7, zero=0, pad=3, stride=2,
                                                     innermost=False),
    "5x5-zero-point-four-channels": lambda c: convolve(c, 1, 4, 11, 20, 5, zero=9, pad=2,
                                                       innermost=False),
    "5x5-one-channel": lambda c: convolve(c, 2, 1, 11, 20, 5, zero=0, pad=2, innermost=False),
}


def module(cases, target, output="y{}"):
    """MLIR of all of them as one function; `output` names results by number."""
    arguments = ", ".join(
        f'%x{number}_{i}: {tensor(array)} {{onnx.dims = {list(array.shape)}, onnx.name = '
        f'"x{number}_{i}", onnx.type = {ONNX_TYPES[array.dtype.type]}}}'
        for number, case in enumerate(cases) for i, array in enumerate(case.operands))
    results = ", ".join(
        f'{case.result} {{onnx.dims = {list(case.wanted.shape)}, onnx.name = '
        f'"{output.format(number)}", onnx.type = {ELEMENTS[case.kind]}}}'
        for number, case in enumerate(cases))
    values = ", ".join(f"%y{number}" for number in range(len(cases)))
    types = ", ".join(case.result for case in cases)
    dispatches = "".join(case.dispatch(number) for number, case in enumerate(cases))
    return (f'module attributes {{onnx.opset = 21 : i64}} {{\nrt.variant @{target} target "{target}" '
            f"{{\nfunc.func @main({arguments}) -> ({results}) {{\n{dispatches}"
            f"return {values} : {types}\n}}\n}}\n}}\n")


def judge(case, got):
    """What is wrong, or nothing."""
    if got.shape != case.wanted.shape or got.dtype != case.kind:
        return f"is {got.dtype} {got.shape}, not {case.wanted.shape}"
    off = abs(got.astype(float) - case.wanted)
    wrong = ~(off <= case.error + (0 if case.sum == "i32" else 2.0**-24))  # NaN, too
    if not wrong.any():
        return ""
    place = numpy.unravel_index(numpy.argmax(wrong), wrong.shape)
    return (f"{wrong.sum()} of {wrong.size} elements are wrong, first at {place}: {got[place]}, not "
            f"{case.wanted[place]}")


def check(suite, options, name, cases, target):
    """(case, what is wrong, steps) of cases that are compiled and run together."""
    work = suite.work / name
    work.mkdir(parents=True, exist_ok=True)
    (work / "model.mlir").write_text(module(cases, target))
    artefact, report = work / "model", work / "report.json"
    steps = [harness.run([suite.tool("cameoc"), "--start-from=dispatched", work / "model.mlir", "-o",
                          artefact, f"--target={target},sim:{target}", "--sim-checks-only",
                          f"--report={report}"], SECONDS)]
    if steps[0].code != 0:
        return [(case, f"cameoc: {harness.first_error(steps[0].output)}", steps) for case in cases]
    if reason := harness.gate(options.build, artefact, report):
        return [(case, reason, steps) for case in cases]
    command = []
    for number, case in enumerate(cases):
        for i, array in enumerate(case.operands):
            numpy.save(work / f"x{number}_{i}.npy", array)
            command.append(f"--input=x{number}_{i}=@{work / f'x{number}_{i}.npy'}")
        command.append(f"--output=y{number}=@{work / f'y{number}.npy'}")
    wrong = {case.name: "" for case in cases}
    for seed in (1, 2, 3):
        steps.append(harness.run([artefact, "--device=sim", "--sim-checks=all", f"--sim-seed={seed}",
                                  *command], SECONDS))
        if steps[-1].code != 0:
            reason = f"{steps[-1].how()}: {harness.first_error(steps[-1].output)}"
            return [(case, reason, steps) for case in cases]
        for number, case in enumerate(cases):
            wrong[case.name] = wrong[case.name] or judge(case, numpy.load(work / f"y{number}.npy"))
    return [(case, wrong[case.name], steps) for case in cases]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--long", action="store_true", help="all cases of all forms and targets")
    options = parser.parse_args()
    suite = harness.Suite("matrix-types", options.build.resolve())
    groups, thirds = [], 0
    for form, (*_, kind, targets) in FORMS.items():
        cases = []
        for name, make in (CASES | (INTEGER_CASES if kind == "i32" else {})).items():
            case = Case(name, form)
            if re.search(options.filter, f"{name}-{form}"):
                finish(case, make(case))
                cases.append(case)
        for target in targets:
            chosen = cases
            if not options.long and (target != "sm_80" or form in ("u8", "u8s8", "s8u8", "f16-sums")):
                chosen, thirds = cases[thirds % 3::3], thirds + 1
            groups += [(f"{form}-{target}-{i}", chosen[i:i + 8], target)
                       for i in range(0, len(chosen), 8)]

    def run(number):
        return check(suite, options, *groups[number])

    for number, results in harness.for_each(range(len(groups)), run, options.jobs):
        for case, reason, steps in results:
            label = f"{case.name}-{case.form}-{groups[number][2]}"
            if reason:
                suite.fail(label, reason, *steps)
            else:
                suite.ok(label)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
