#!/usr/bin/env python3
"""Sizes that only a run knows: products of operands whose sizes have names of their own or none, which must be
equal or broadcast when the model runs, shapes with 0 and -1, slices whose bounds are at and beyond the ends
of what they cut, which may be empty, and operands of operators that are written as others. Beside numpy; what a run refuses is in runtime_checks.py."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import re
import sys

import numpy
from onnx import TensorProto, helper

import artefact
import harness

F32, U8, I32, I64 = numpy.float32, numpy.uint8, numpy.int32, numpy.int64
FLOAT = TensorProto.FLOAT
LEAST, MOST = numpy.iinfo(I64).min, numpy.iinfo(I64).max


def numbers(shape, dtype=F32):
    """Small whole numbers, whose products are exact."""
    count = int(numpy.prod(shape))
    return (numpy.arange(count) * 7 % 11).astype(dtype).reshape(shape)


#===-- Products -------------------------------------------------------------------------------------------------===#

# Batch dimensions of both operands, and the sizes that runs give to open ones, in order.
BATCHES = {
    "named": (["A"], ["B"], [(2, 2), (1, 3), (3, 1), (1, 1), (0, 0), (0, 1), (1, 0)]),
    "nameless": ([""], [""], [(2, 2), (1, 3), (3, 1)]),
    "left-known": ([3], ["B"], [(3,), (1,)]),
    "right-known": (["A"], [3], [(3,), (1,)]),
    "one-and-open": ([1], ["B"], [(1,), (4,)]),
    "lower-rank": (["A", 2], ["B"], [(3, 2), (3, 1), (1, 2)]),
    "two-open": (["A", "B"], ["C", "D"], [(2, 3, 2, 3), (2, 1, 1, 3), (1, 3, 2, 3), (1, 1, 2, 3)]),
    "shared-and-open": (["N", "A"], ["N", "B"], [(2, 3, 2, 3), (2, 1, 2, 3), (2, 3, 2, 1)]),
    "no-batch": (["A"], [], [(2,), (1,)]),
}


def filled(dims, sizes):
    """Dims with their open sizes, of which there are as many as needed."""
    return [dim if isinstance(dim, int) else next(sizes) for dim in dims]


def product_cases():
    for label, (left, right, runs) in BATCHES.items():
        for vector in ("", "left", "right"):
            # A vector has no batch.
            if vector and label not in ("named", "two-open"):
                continue
            a = ["K"] if vector == "left" else [*left, 4, "K"]
            b = ["L"] if vector == "right" else [*right, "L", 5]
            yield f"matmul-{label}{vector and '-' + vector}", a, b, runs


def product_feeds(a, b, runs, dtype=F32):
    for run in runs:
        sizes = iter(run)
        shapes = []
        for dims in (a, b):
            batch = filled(dims[:-2], sizes)
            shapes.append(batch + [6 if isinstance(dim, str) else dim for dim in dims[-2:]])
        yield {name: numbers(shape, dtype) for name, shape in zip("ab", shapes)}


def matmul(case, a, b, runs):
    rank = max(len(a), len(b), 2) - (len(a) == 1) - (len(b) == 1)
    nodes = [helper.make_node("MatMul", ["a", "b"], ["m"], "product"), helper.make_node("Neg", ["m"], ["y"], "neg")]
    made = artefact.model(case, nodes, [("a", FLOAT, a), ("b", FLOAT, b)],
                          [("y", FLOAT, [f"r{i}" for i in range(rank)])], {})
    return made, [(feed, [-(feed["a"] @ feed["b"])]) for feed in product_feeds(a, b, runs)]


def integer_matmul(case, a, b, runs):
    made = artefact.model(
        case, [helper.make_node("MatMulInteger", ["a", "b", "az", "bz"], ["y"], "product")],
        [("a", TensorProto.UINT8, a), ("b", TensorProto.UINT8, b)],
        [("y", TensorProto.INT32, [f"r{i}" for i in range(max(len(a), len(b)))])],
        {"az": numpy.array(3, U8), "bz": numpy.array(5, U8)})
    return made, [(feed, [(feed["a"].astype(I32) - 3) @ (feed["b"].astype(I32) - 5)])
                  for feed in product_feeds(a, b, runs, U8)]


def gemms():
    """A C whose sizes are open, or known where the result's are not."""
    for label, dims, runs in (("both", ["P", "Q"], [(3, 5), (1, 5), (3, 1), (1, 1)]), ("last", ["Q"], [(5,), (1,)]),
                              ("first", ["P", 1], [(3, 1), (1, 1)]), ("known", [3, 5], [(3, 5)]),
                              ("known-row", [5], [(5,)]), ("nameless", ["", ""], [(3, 5), (1, 5)])):
        for transposed in (0, 1):
            a, b = (["K", "M"] if transposed else ["M", "K"]), ["L", "N"]
            nodes = [helper.make_node("Gemm", ["a", "b", "c"], ["y"], "gemm", transA=transposed, alpha=0.5, beta=2.0)]
            made = artefact.model(f"gemm-{label}", nodes, [("a", FLOAT, a), ("b", FLOAT, b), ("c", FLOAT, dims)],
                                  [("y", FLOAT, ["R", "S"])], {})
            pairs = []
            for run in runs:
                feed = {"a": numbers((6, 3) if transposed else (3, 6)), "b": numbers((6, 5)), "c": numbers(run)}
                left = feed["a"].T if transposed else feed["a"]
                pairs.append((feed, [F32(0.5) * (left @ feed["b"]) + 2 * feed["c"]]))
            yield f"gemm-{label}-{transposed}", made, pairs


def attention():
    """A mask and keys whose batch has other names, the way exporters name each input's sizes apart."""
    dims = {"q": ["q0", "q1", "q2", 8], "k": ["k0", "k1", 8, "k3"], "v": ["v0", "v1", "v2", 8], "m": ["m0", "m1", "m2", "m3"]}
    nodes = [helper.make_node("MatMul", ["q", "k"], ["s"], "scores"), helper.make_node("Add", ["s", "m"], ["t"], "mask"),
             helper.make_node("Softmax", ["t"], ["p"], "softmax", axis=-1),
             helper.make_node("MatMul", ["p", "v"], ["y"], "values")]
    made = artefact.model("attention", nodes, [(name, FLOAT, sizes) for name, sizes in dims.items()],
                          [("y", FLOAT, ["a", "b", "c", 8])], {})
    pairs = []
    for batch, heads, mask in ((2, 3, (2, 1, 1, 7)), (1, 2, (1, 1, 5, 7)), (2, 1, (1, 1, 1, 1))):
        feed = {"q": numbers((batch, heads, 5, 8)) / 8, "k": numbers((batch, heads, 8, 7)) / 8,
                "v": numbers((batch, heads, 7, 8)), "m": numbers(mask) / 4}
        scores = feed["q"] @ feed["k"] + feed["m"]
        weights = numpy.exp(scores - scores.max(-1, keepdims=True))
        pairs.append((feed, [weights / weights.sum(-1, keepdims=True) @ feed["v"]]))
    return made, pairs


def clip_bounds():
    """One number is a bound, whatever its rank: held by the model, or given."""
    nodes = [helper.make_node("Clip", ["x", "low", "high"], ["y"], "clip")]
    for label, shape, bound in (("scalar", [], [1]), ("scalar-matrix", [], [1, 1]), ("row", ["N"], [1, 1])):
        for held in (True, False):
            bounds = {"low": numpy.full(bound, -1, F32), "high": numpy.full(bound, 2, F32)}
            inputs = [("x", FLOAT, shape)] + ([] if held else [(name, FLOAT, bound) for name in bounds])
            made = artefact.model("clip", nodes, inputs, [("y", FLOAT, shape)], bounds if held else {})
            pairs = []
            for x in ([numpy.array(value, F32) for value in (-3, 0.5, 7)] if not shape else
                      [numpy.array([-3, 0.5, 7], F32)]):
                pairs.append(({"x": x, **({} if held else bounds)}, [numpy.clip(x, F32(-1), F32(2))]))
            yield f"clip-{label}-{'held' if held else 'given'}", made, pairs


#===-- Reshapes -------------------------------------------------------------------------------------------------===#

def reshapes(read):
    """Shapes of 0, which is the input's size, and -1, which is what is left: held by a model each, or read by a run."""
    shapes = ([0, -1], [-1, 0], [0, 0], [-1, 4], [4, -1], [-1, 12], [3, 4])
    for shape in [None] if read else shapes:
        nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"], "reshape")]
        given = [("shape", TensorProto.INT64, [2])] if read else []
        made = artefact.model("reshape", nodes, [("x", FLOAT, ["N", "M"]), *given], [("y", FLOAT, ["a", "b"])],
                              {} if read else {"shape": numpy.array(shape, I64)})
        pairs = []
        for wanted, size in itertools.product(shapes if read else [shape], ((2, 6), (6, 2), (3, 4))):
            x = numbers(size)
            right = x.reshape([size[at] if one == 0 else one for at, one in enumerate(wanted)])
            pairs.append(({"x": x, **({"shape": numpy.array(wanted, I64)} if read else {})}, [right]))
        yield f"reshape-{'read' if read else '_'.join(map(str, shape))}", made, pairs


#===-- Slices ---------------------------------------------------------------------------------------------------===#

ENDS = (LEAST, -7, -3, -1, 0, 1, 3, 9, MOST)
STEPS = (1, 2, -1, -2, MOST, LEAST)
LENGTHS = (0, 1, 2, 5)


def cut(x, start, end, step):
    """As ONNX words it: bounds are moved into range, and the start of a backward slice is an element."""
    size = len(x)
    low, high = (0, size - 1) if step < 0 else (0, size)
    start = max(min(start + size if start < 0 else start, high), low)
    end = max(min(end + size if end < 0 else end, high), -1 if step < 0 else 0)
    return x[[at for at in range(start, end, step) if at < size]]


def slices():
    """Bounds that the model holds: those of one step in one model."""
    for step in STEPS:
        bounds = list(itertools.product(ENDS, ENDS))[::3]
        nodes, weights = [], {"step": numpy.array([step], I64), "axis": numpy.array([0], I64)}
        for number, (start, end) in enumerate(bounds):
            weights[f"s{number}"], weights[f"e{number}"] = numpy.array([start], I64), numpy.array([end], I64)
            nodes.append(helper.make_node("Slice", ["x", f"s{number}", f"e{number}", "axis", "step"], [f"y{number}"],
                                          f"cut{number}"))
        made = artefact.model("slices", nodes, [("x", FLOAT, ["N", 2])],
                              [(f"y{number}", FLOAT, [f"r{number}", 2]) for number in range(len(bounds))], weights)
        pairs = []
        for length in LENGTHS:
            x = numbers((length, 2))
            pairs.append(({"x": x}, [cut(x, start, end, step) for start, end in bounds]))
        yield f"slices-{step}", made, pairs


def read_slices():
    """Bounds that a run reads."""
    nodes = [helper.make_node("Slice", ["x", "start", "end", "axis", "step"], ["y"], "cut")]
    made = artefact.model("read_slices", nodes, [("x", FLOAT, ["N", 2]), ("start", TensorProto.INT64, [1]),
                                                 ("end", TensorProto.INT64, [1]), ("step", TensorProto.INT64, [1])],
                          [("y", FLOAT, ["r", 2])], {"axis": numpy.array([0], I64)})
    pairs = []
    for number, (start, end, step) in enumerate(list(itertools.product(ENDS, ENDS, STEPS))[::7]):
        x = numbers((LENGTHS[number % len(LENGTHS)], 2))
        given = {"start": start, "end": end, "step": step}
        pairs.append(({"x": x, **{name: numpy.array([value], I64) for name, value in given.items()}},
                      [cut(x, start, end, step)]))
    return made, pairs


#===-- Operators that are written as others ---------------------------------------------------------------------===#

def grids():
    """As many images as a run gives, whose other sizes are known."""
    nodes = [helper.make_node("Shape", ["x"], ["size"], "size"), helper.make_node("AffineGrid", ["theta", "size"], ["y"], "grid")]
    made = artefact.model("grids", nodes, [("theta", FLOAT, ["N", 2, 3]), ("x", FLOAT, ["N", "C", 3, 4])],
                          [("y", FLOAT, None)], {}, opset=20)
    places = numpy.stack(numpy.meshgrid((2 * numpy.arange(4) + 1) / 4 - 1, (2 * numpy.arange(3) + 1) / 3 - 1), -1)
    places = numpy.concatenate([places, numpy.ones((3, 4, 1))], -1)
    pairs = []
    for images in (1, 3, 0):
        theta = numbers((images, 2, 3)) / 4
        pairs.append(({"theta": theta, "x": numbers((images, 2, 3, 4))},
                      [numpy.einsum("hwk,njk->nhwj", places, theta).astype(F32)]))
    return made, pairs


def frames():
    """A window of a size that must be the length of a frame."""
    nodes = [helper.make_node("STFT", ["x", "step", "window", "length"], ["y"], "stft")]
    made = artefact.model("frames", nodes, [("x", FLOAT, [1, "T", 1]), ("window", FLOAT, ["W"])], [("y", FLOAT, None)],
                          {"step": numpy.array(3, I64), "length": numpy.array(8, I64)}, opset=17)
    pairs = []
    for length in (8, 19):
        x, window = numbers((1, length, 1)) / 8, numbers(8) / 4
        found = numpy.fft.rfft([x[0, at:at + 8, 0] * window for at in range(0, length - 7, 3)])
        pairs.append(({"x": x, "window": window}, [numpy.stack([found.real, found.imag], -1)[None].astype(F32)]))
    return made, pairs


def rotations():
    """A cache whose last size must be that of half a head."""
    nodes = [helper.make_node("RotaryEmbedding", ["x", "cos", "sin"], ["y"], "rotate")]
    made = artefact.model("rotations", nodes, [("x", FLOAT, ["N", 2, "T", 8]), ("cos", FLOAT, ["N", "T", "D"]),
                                               ("sin", FLOAT, ["N", "T", "D"])], [("y", FLOAT, None)], {}, opset=23)
    pairs = []
    for count, length in ((1, 3), (2, 1)):
        x, cos, sin = numbers((count, 2, length, 8)), numbers((count, length, 4)) / 8, numbers((count, length, 4)) / 4 - 1
        re, im, c, s = x[..., :4], x[..., 4:], cos[:, None], sin[:, None]
        pairs.append(({"x": x, "cos": cos, "sin": sin}, [numpy.concatenate([c * re - s * im, s * re + c * im], -1)]))
    return made, pairs


def cases():
    yield "grids", *grids()
    yield "frames", *frames()
    yield "rotations", *rotations()
    for case, a, b, runs in product_cases():
        yield case, *matmul(case, a, b, runs)
    for label in ("named", "left-known", "lower-rank"):
        left, right, runs = BATCHES[label]
        yield f"integers-{label}", *integer_matmul(label, [*left, 4, "K"], [*right, "L", 5], runs)
    yield from gemms()
    yield from clip_bounds()
    yield "attention", *attention()
    yield from reshapes(read=True)
    yield from reshapes(read=False)
    yield from slices()
    yield "slices-read", *read_slices()


def wrong(arrays, wanted):
    """What is wrong with the outputs, or None."""
    for number, (array, right) in enumerate(zip(arrays, wanted, strict=True)):
        if array.shape != right.shape:
            return f"output {number} has the shape {array.shape}, not {right.shape}"
        if not numpy.allclose(array, right, rtol=1e-5, atol=1e-5):
            return f"output {number} is {abs(array - right).max()} off"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("open-sizes", options.build.resolve())
    for case, made, pairs in cases():
        if not re.search(options.filter, case):
            continue
        for level in harness.LEVELS:
            program = artefact.Artefact(suite, f"{case}{level}", made, level)
            for number, (feed, wanted) in enumerate(pairs):
                step, arrays = program.run(feed)
                name = f"{case}{level}-{number}"
                reason = step.how() if step.code else wrong(arrays, wanted)
                if reason:
                    suite.fail(name, reason, step)
                else:
                    suite.ok(name)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
