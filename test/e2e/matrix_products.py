#!/usr/bin/env python3
"""Products of f16 and bf16 on Tensor Cores: sizes around those of tiles, ragged in every way,
batched, transposed, with epilogues, convolutions. Compared with sums in double precision: no
element may be farther from those than sums of that length in f32 and one rounding of each result
allow. Under all checks of the simulator. Without --long BF16 has each third case."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import ml_dtypes
import numpy
from onnx import TensorProto, helper, numpy_helper

import batch
import harness

TYPES = {"f16": (TensorProto.FLOAT16, numpy.float16, 2.0**-11),
         "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16, 2.0**-8)}
SUM = 2.0**-23  # an addition of a Tensor Core truncates


class Case:
    """Nodes over inputs x0, x1, ...; `exact` is the result in double precision and `error` how far
    from it an element may be."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.tensor, self.array, self.rounding = TYPES[kind]
        self.random = numpy.random.default_rng(sum(map(ord, name)))
        self.feed, self.nodes, self.inputs, self.weights = {}, [], [], []
        self.result = self.tensor
        self.others = []  # (name, exact, error) of results beside the first

    def values(self, *shape):
        return self.random.standard_normal(shape).astype(self.array)

    def input(self, *shape, names=None):
        """(name, values); `names`: a dict from dimension to what its size is called, which is known
        only at run time."""
        name = f"x{len(self.inputs)}"
        self.feed[name] = self.values(*shape)
        dims = [names.get(i, size) for i, size in enumerate(shape)] if names else shape
        self.inputs.append(helper.make_tensor_value_info(name, self.tensor, dims))
        return name, self.feed[name].astype(float)

    def weight(self, *shape):
        array = self.values(*shape)
        self.weights.append(helper.make_tensor(f"w{len(self.weights)}", self.tensor, shape,
                                               array.tobytes(), raw=True))
        return self.weights[-1].name, array.astype(float)

    def node(self, operator, *inputs, **attributes):
        result = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [result], result, **attributes))
        return result

    def product(self, exact, magnitude, depth):
        """A product of which `magnitude` is the sum of the products' magnitudes."""
        self.exact, self.error = exact, magnitude * SUM * (depth + 2)
        self.round()

    def round(self):
        self.error = self.error * (1 + self.rounding) + abs(self.exact) * self.rounding + 2.0**-24

    def entry(self, result):
        outputs = []
        for number, name in enumerate([result, *(name for name, _, _ in self.others)]):
            self.nodes.append(helper.make_node("Identity", [name], [f"y{number}"]))
            outputs.append(helper.make_tensor_value_info(
                f"y{number}", self.result if number == 0 else self.tensor,
                [None] * self.exact.ndim))
        model = helper.make_model(
            helper.make_graph(self.nodes, self.name, self.inputs, outputs, self.weights),
            opset_imports=[helper.make_opsetid("", 21)])
        model.ir_version = 10
        return batch.Entry(self.name, model, self.feed)


def multiply(case, m, n, k, batch=(), left=(), right=(), turned="", constant=False):
    """[batch, m, k] x [batch, k, n]; `left` and `right` stand for batches of their own; operands
    in `turned` (a, b) come transposed."""
    left, right = left or batch, right or batch
    a, x = case.input(*left, *((k, m) if "a" in turned else (m, k)))
    make = case.weight if constant else case.input
    b, y = make(*right, *((n, k) if "b" in turned else (k, n)))
    for letter in turned:
        shape = left if letter == "a" else right
        order = [*range(len(shape)), len(shape) + 1, len(shape)]
        if letter == "a":
            a, x = case.node("Transpose", a, perm=order), x.swapaxes(-1, -2)
        else:
            b, y = case.node("Transpose", b, perm=order), y.swapaxes(-1, -2)
    case.product(x @ y, abs(x) @ abs(y), k)
    return case.node("MatMul", a, b)


def add(case, result, *shape):
    """`result` and a tensor of this shape, rounded."""
    c, z = case.input(*shape)
    case.exact = case.exact + z
    case.round()
    return case.node("Add", result, c)


def multiply_open(case, m, n, k, known=""):
    """The same of sizes that are known only at run time, but for those in `known`."""
    sizes = {"m": m, "n": n, "k": k}
    a, x = case.input(m, k, names={i: name for i, name in enumerate("mk") if name not in known})
    b, y = case.input(k, n, names={i: name for i, name in enumerate("kn") if name not in known})
    case.product(x @ y, abs(x) @ abs(y), sizes["k"])
    return case.node("MatMul", a, b)


def multiply_computed(case, m, n, k):
    """Of operands that are computed from others, and rounded."""
    a, _ = case.input(m, k)
    b, _ = case.input(k)
    c, y = case.input(k, n)
    left = case.node("Relu", case.node("Add", a, b))
    x = numpy.maximum(case.feed[a] + case.feed[b], 0).astype(float)
    case.product(x @ y, x @ abs(y), k)
    return case.node("MatMul", left, c)


def scale(case, result, *shape):
    """`result` times a tensor of this shape, rounded."""
    c, z = case.input(*shape)
    case.exact, case.error = case.exact * z, case.error * abs(z)
    case.round()
    return case.node("Mul", result, c)


def multiply_rectified(case, m, n, k):
    """relu(x) * s, s being one for each index of depth, times a matrix."""
    a, x = case.input(m, k)
    s, factors = case.input(k)
    b, y = case.input(k, n)
    left = case.node("Mul", case.node("Relu", a), s)
    x = (numpy.maximum(x, 0) * factors).astype(case.array).astype(float)
    case.product(x @ y, abs(x) @ abs(y), k)
    return case.node("MatMul", left, b)


def multiply_cast(case, m, n, k, side):
    """Operand 0 or 1 comes as FP32, and is rounded on its way."""
    x, y = case.values(m, k), case.values(k, n)
    names = []
    for number, values in enumerate((x, y)):
        name = f"x{number}"
        is_cast = number == side
        case.feed[name] = values.astype(numpy.float32) if is_cast else values
        case.inputs.append(helper.make_tensor_value_info(
            name, TensorProto.FLOAT if is_cast else case.tensor, values.shape))
        names.append(case.node("Cast", name, to=case.tensor) if is_cast else name)
    x, y = x.astype(float), y.astype(float)
    case.product(x @ y, abs(x) @ abs(y), k)
    return case.node("MatMul", *names)


def multiply_integers(case, m, n, k):
    """Weights of 8 bits, cast."""
    a, x = case.input(m, k)
    y = case.random.integers(-100, 100, (k, n)).astype(numpy.int8)
    case.feed["x1"] = y
    case.inputs.append(helper.make_tensor_value_info("x1", TensorProto.INT8, y.shape))
    y = y.astype(float)
    case.product(x @ y, abs(x) @ abs(y), k)
    return case.node("MatMul", a, case.node("Cast", "x1", to=case.tensor))


def quantise(case, m, n, k, kind=TensorProto.INT8):
    """A product whose results are of 8 bits: scaled, rounded half to even, saturated. Sums are small
    integers, so that nothing else is rounded, and half of them are halfway between two."""
    for name, shape in (("x0", (m, k)), ("x1", (k, n))):
        case.feed[name] = case.random.integers(-3, 4, shape).astype(case.array)
        case.inputs.append(helper.make_tensor_value_info(name, case.tensor, shape))
    sums = case.feed["x0"].astype(float) @ case.feed["x1"].astype(float)
    low, high = (-128, 127) if kind == TensorProto.INT8 else (0, 255)
    for number, value in enumerate((1.5, low, high)):
        case.weights.append(helper.make_tensor(f"w{number}", TensorProto.FLOAT, (), [value]))
    result = case.node("Cast", case.node("MatMul", "x0", "x1"), to=TensorProto.FLOAT)
    result = case.node("Clip", case.node("Round", case.node("Mul", result, "w0")), "w1", "w2")
    case.exact, case.result = numpy.clip(numpy.rint(sums * 1.5), low, high), kind
    case.error = numpy.full(case.exact.shape, 2.0**-24)
    return case.node("Cast", result, to=kind)


def join(case, result, *shape):
    """`result` beside another tensor: it is stored into a part of what both are in."""
    c, z = case.input(*shape)
    case.exact = numpy.concatenate([z, case.exact], axis=-1)
    case.error = numpy.concatenate([numpy.full(z.shape, 2.0**-24), case.error], axis=-1)
    return case.node("Concat", c, result, axis=-1)


def both(case, result):
    """The product and what is computed from it are results of one kernel."""
    case.others.append((result, case.exact, case.error))
    return clip(case, result)


def clip(case, result):
    case.exact = numpy.maximum(case.exact, 0)
    return case.node("Relu", result)


def convolve(case, images, channels, size, filters, window, stride=1, pad=0, dilation=1, groups=1,
             rank=2, last=True):
    """`size` and `window` in each of `rank` dimensions. With `last` the image's channels are innermost
    in memory; as ONNX has them they are not."""
    middle = list(range(1, rank + 1))
    shape = [images, *[size] * rank, channels] if last else [images, channels, *[size] * rank]
    x, values = case.input(*shape)
    w, taps = case.weight(filters, channels // groups, *[window] * rank)
    turned = case.node("Transpose", x, perm=[0, rank + 1, *middle]) if last else x
    result = case.node("Conv", turned, w, pads=[pad] * 2 * rank, strides=[stride] * rank,
                       dilations=[dilation] * rank, group=groups)
    values = values if last else numpy.moveaxis(values, 1, -1)
    padded = numpy.pad(values, [(0, 0), *[(pad, pad)] * rank, (0, 0)])
    out = (size + 2 * pad - dilation * (window - 1) - 1) // stride + 1
    sums = magnitudes = 0
    for tap in numpy.ndindex(*[window] * rank):
        slices = [slice(at * dilation, at * dilation + (out - 1) * stride + 1, stride) for at in tap]
        view = padded[:, *slices].reshape(images, *[out] * rank, groups, channels // groups)
        weights = taps[:, :, *tap].reshape(groups, filters // groups, channels // groups)
        sums = sums + numpy.einsum("...gc,gfc->...gf", view, weights, optimize=True)
        magnitudes = magnitudes + numpy.einsum("...gc,gfc->...gf", abs(view), abs(weights),
                                               optimize=True)
    sums, magnitudes = (array.reshape(images, *[out] * rank, filters)
                        for array in (sums, magnitudes))
    if not last:
        sums, magnitudes = (numpy.moveaxis(array, -1, 1) for array in (sums, magnitudes))
    case.product(sums, magnitudes, channels // groups * window**rank)
    return case.node("Transpose", result, perm=[0, *(i + 1 for i in middle), 1]) if last else result


def spread(case, images, channels, size, filters, window, stride, pad=0, last=True):
    """A transposed convolution."""
    x, values = case.input(*([images, size, size, channels] if last
                             else [images, channels, size, size]))
    w, taps = case.weight(channels, filters, window, window)
    turned = case.node("Transpose", x, perm=[0, 3, 1, 2]) if last else x
    result = case.node("ConvTranspose", turned, w, pads=[pad] * 4, strides=[stride] * 2)
    values = values if last else numpy.moveaxis(values, 1, -1)
    whole = (size - 1) * stride + window
    sums, magnitudes = numpy.zeros((2, images, whole, whole, filters))
    for y, x in numpy.ndindex(window, window):
        there = (slice(None), slice(y, y + (size - 1) * stride + 1, stride),
                 slice(x, x + (size - 1) * stride + 1, stride))
        sums[there] += values @ taps[:, :, y, x]
        magnitudes[there] += abs(values) @ abs(taps[:, :, y, x])
    inside = slice(pad, whole - pad)
    sums, magnitudes = sums[:, inside, inside], magnitudes[:, inside, inside]
    if not last:
        sums, magnitudes = (numpy.moveaxis(array, -1, 1) for array in (sums, magnitudes))
    case.product(sums, magnitudes, channels * window * window)
    return case.node("Transpose", result, perm=[0, 2, 3, 1]) if last else result


CASES = {}
for m, n, k in ((16, 16, 16), (32, 32, 32), (64, 64, 64), (128, 128, 64), (128, 128, 96),
                (256, 128, 32), (8, 64, 64), (16, 256, 128), (256, 16, 64), (1024, 512, 64),
                # ragged: rows, columns, depth, all; by odd numbers, and by less than 16 bytes
                (100, 128, 64), (128, 100, 64), (128, 128, 72), (72, 200, 40), (33, 65, 17),
                (127, 129, 31), (9, 11, 13), (60, 36, 20), (50, 34, 18), (200, 8, 8),
                (17, 520, 264)):
    CASES[f"{m}x{n}x{k}"] = lambda c, m=m, n=n, k=k: multiply(c, m, n, k)
for turned in ("a", "b", "ab"):
    for m, n, k in ((128, 64, 64), (40, 72, 24), (33, 65, 17)):
        CASES[f"{m}x{n}x{k}-turned-{turned}"] = (
            lambda c, m=m, n=n, k=k, turned=turned: multiply(c, m, n, k, turned=turned))
CASES |= {
    "batch": lambda c: multiply(c, 64, 48, 32, batch=(3,)),
    "batches": lambda c: multiply(c, 24, 40, 56, batch=(2, 3), turned="b"),
    "broadcast": lambda c: multiply(c, 48, 64, 32, left=(4, 2), right=(2,)),
    "weight": lambda c: multiply(c, 100, 96, 64, constant=True),
    "weight-turned": lambda c: multiply(c, 100, 96, 64, turned="b", constant=True),
    "weight-odd": lambda c: multiply(c, 20, 27, 35, constant=True),
    # Lines along depth have vectors, lines across have none.
    "weight-odd-columns": lambda c: multiply(c, 40, 27, 72, constant=True),
    "bias": lambda c: clip(c, add(c, multiply(c, 64, 72, 48), 72)),
    "rows": lambda c: add(c, multiply(c, 64, 72, 48), 64, 1),
    "residual": lambda c: clip(c, add(c, multiply(c, 72, 136, 64), 72, 136)),
    "residual-odd": lambda c: add(c, multiply(c, 37, 43, 41), 37, 43),
    "computed": lambda c: multiply_computed(c, 64, 72, 48),
    "computed-odd": lambda c: multiply_computed(c, 33, 35, 37),
    "open-rows": lambda c: multiply_open(c, 70, 64, 48, known="nk"),
    "open-depth": lambda c: multiply_open(c, 40, 64, 50, known="mn"),
    "open": lambda c: multiply_open(c, 70, 36, 50),
    "scale": lambda c: scale(c, multiply(c, 64, 72, 48), 72),
    "scale-rows": lambda c: scale(c, multiply(c, 80, 64, 48), 80, 1),
    "residual-scaled": lambda c: add(c, scale(c, multiply(c, 72, 136, 64), 136), 72, 136),
    "view": lambda c: join(c, multiply(c, 64, 72, 48), 64, 8),
    "view-odd": lambda c: join(c, multiply(c, 64, 72, 48), 64, 5),
    "view-residual": lambda c: join(c, add(c, multiply(c, 40, 64, 48), 40, 64), 40, 32),
    "both": lambda c: both(c, multiply(c, 64, 72, 48)),
    "both-large": lambda c: both(c, multiply(c, 520, 264, 64)),
    "quantised": lambda c: quantise(c, 64, 128, 48),
    "quantised-narrow": lambda c: quantise(c, 72, 24, 32),
    "quantised-unsigned": lambda c: quantise(c, 130, 144, 40, TensorProto.UINT8),
    "rectified": lambda c: multiply_rectified(c, 72, 64, 48),
    "cast-rows": lambda c: multiply_cast(c, 64, 72, 48, 0),
    "cast-columns": lambda c: multiply_cast(c, 64, 72, 48, 1),
    "cast-integers": lambda c: multiply_integers(c, 64, 72, 48),
    "1x1": lambda c: convolve(c, 2, 64, 10, 40, 1),
    "3x3": lambda c: convolve(c, 1, 32, 12, 64, 3, pad=1),
    "3x3-strided": lambda c: convolve(c, 2, 64, 9, 32, 3, stride=2, pad=1),
    "1x1-odd-filters": lambda c: convolve(c, 2, 64, 10, 27, 1),
    "3x3-odd-filters": lambda c: convolve(c, 1, 32, 12, 27, 3, pad=1),
    "3x3-odd-filters-first": lambda c: convolve(c, 1, 32, 12, 27, 3, pad=1, last=False),
    "3x3-ragged-channels": lambda c: clip(c, convolve(c, 1, 24, 7, 20, 3, pad=1)),
    "5x5-bias": lambda c: add(c, convolve(c, 1, 16, 8, 24, 5, pad=2), 24),
    "3x3-dilated": lambda c: convolve(c, 1, 32, 9, 24, 3, pad=2, dilation=2),
    "3x3-groups": lambda c: convolve(c, 1, 64, 8, 64, 3, pad=1, groups=4),
    "3x3-groups-of-8": lambda c: convolve(c, 1, 32, 8, 32, 3, pad=1, groups=4),
    "line": lambda c: convolve(c, 2, 32, 40, 24, 3, pad=1, rank=1),
    "line-1-channel": lambda c: convolve(c, 2, 1, 90, 24, 10, stride=5, rank=1, last=False),
    "volume": lambda c: convolve(c, 1, 32, 5, 24, 3, pad=1, rank=3),
    "volume-3-channels": lambda c: convolve(c, 1, 3, 7, 16, 3, stride=2, pad=1, rank=3),
    "patches": lambda c: convolve(c, 2, 3, 24, 40, 8, stride=8),
    "patches-16x16": lambda c: convolve(c, 3, 3, 32, 40, 16, stride=16),
    "patches-16x16-padded": lambda c: convolve(c, 1, 3, 46, 40, 16, stride=16, pad=1),
    "patches-16x16-first": lambda c: convolve(c, 3, 3, 32, 40, 16, stride=16, last=False),
    "spread-2x2": lambda c: spread(c, 1, 32, 6, 24, 2, 2),
    "spread-4x4": lambda c: spread(c, 1, 32, 6, 24, 4, 2, pad=1),
    "spread-4x4-first": lambda c: spread(c, 1, 32, 6, 24, 4, 2, pad=1, last=False),
    "depthwise": lambda c: clip(c, convolve(c, 1, 32, 12, 32, 3, pad=1, groups=32)),
    "depthwise-strided": lambda c: convolve(c, 2, 24, 9, 24, 3, stride=2, pad=1, groups=24),
    "depthwise-5x5-first": lambda c: convolve(c, 1, 9, 14, 9, 5, pad=2, groups=9, last=False),
    "3x3-first": lambda c: convolve(c, 2, 32, 9, 40, 3, pad=1, last=False),
    "3x3-first-ragged": lambda c: clip(c, convolve(c, 1, 20, 7, 24, 3, pad=1, last=False)),
    "1x1-first-strided": lambda c: convolve(c, 2, 64, 9, 40, 1, stride=2, last=False),
}
for first, last in (("", True), ("-first", False)):
    CASES |= {
        f"7x7-3-channels{first}": lambda c, last=last: convolve(c, 2, 3, 19, 24, 7, stride=2, pad=3,
                                                                last=last),
        f"3x3-3-channels{first}": lambda c, last=last: convolve(c, 1, 3, 17, 16, 3, stride=2, pad=1,
                                                                last=last),
        f"5x5-1-channel{first}": lambda c, last=last: convolve(c, 1, 1, 13, 16, 5, pad=2, last=last),
        f"3x3-4-channels{first}": lambda c, last=last: convolve(c, 2, 4, 10, 24, 3, pad=1, last=last),
    }


def judge(case, entry):
    """What is wrong, or nothing."""
    if entry.refusal or entry.failure:
        return entry.refusal or entry.failure
    results = [("y0", case.exact, case.error), *case.others]
    for got, (name, exact, error) in zip(entry.outputs, results, strict=True):
        got = got.astype(float)
        if got.shape != exact.shape:
            return f"{name} has shape {got.shape}, not {exact.shape}"
        off = abs(got - exact) / error
        if not off.max() <= 1:  # nor NaN
            place = numpy.unravel_index(numpy.nanargmax(off), off.shape)
            return (f"{numpy.sum(~(off <= 1))} of {off.size} elements of {name} are wrong, most at "
                    f"{place}: {got[place]}, not {exact[place]} within {error[place]}")
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="sm_80,sim:sm_80", sim_checks="all", sim_seed=[1, 2])
    parser.add_argument("--long", action="store_true", help="all cases of both types")
    options = parser.parse_args()
    arch = options.target.split(",")[0]
    suite = harness.Suite(f"matrix-products-{arch}", options.build.resolve())
    runner = batch.Runner(suite, options)
    cases = []
    for kind in TYPES:
        for number, (name, make) in enumerate(CASES.items()):
            if kind == "bf16" and number % 3 and not options.long:
                continue
            case = Case(f"{name}-{kind}", kind)
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
