#!/usr/bin/env python3
"""Broadcasts of sizes that only a run knows: every operator that broadcasts, with operands whose sizes have names of
their own, of which either may be 1, n or 0 in a run; and what reads such a result. Beside ONNX Runtime, else onnx's
reference; sizes that do not go together must be told by the node."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

import numpy
from onnx import TensorProto, helper

import artefact
import harness
import reference

F32, I64 = numpy.float32, numpy.int64
FLOAT = TensorProto.FLOAT
# What a pair of open sizes is in runs.
PAIRS = ((3, 3), (1, 3), (3, 1), (1, 1), (0, 0), (0, 1), (1, 0))


def numbers(shape, dtype=F32, first=0):
    """Small numbers, which are neither all one nor sorted."""
    count = int(numpy.prod(shape))
    values = (numpy.arange(first, first + count) * 7 % 11 - 4) / 2
    if dtype == numpy.bool_:
        return (values > 0).reshape(shape)
    return (abs(values) * 2 if numpy.issubdtype(dtype, numpy.integer) else values).astype(dtype).reshape(shape)


class Given:
    """An input: its sizes, where a letter is an open size, and its elements."""

    def __init__(self, name, sizes, dtype=F32):
        self.name, self.sizes, self.dtype = name, sizes, numpy.dtype(dtype)

    def proto(self):
        return self.name, helper.np_dtype_to_tensor_dtype(self.dtype), self.sizes

    def array(self, letters, first=0):
        return numbers([letters.get(size, size) for size in self.sizes], self.dtype.type, first)


class Shape(Given):
    """An input of int64 that holds sizes."""

    def __init__(self, name, sizes):
        super().__init__(name, sizes, I64)

    def proto(self):
        return self.name, TensorProto.INT64, [len(self.sizes)]

    def array(self, letters, first=0):
        return numpy.array([letters.get(size, size) for size in self.sizes], I64)


def made(case, nodes, given, weights=None, outputs=("y", ), opset=21):
    """Element types of outputs are those that ONNX infers."""
    model = artefact.model(case, nodes, [each.proto() for each in given], [(name, FLOAT, None) for name in outputs],
                           weights or {}, opset=opset)
    for output in model.graph.output:
        output.ClearField("type")
    return model


def node(kind, inputs, outputs=("y",), **attributes):
    return helper.make_node(kind, inputs, list(outputs), f"make_{outputs[0]}", **attributes)


#===-- Operators ------------------------------------------------------------------------------------------------===#

BINARY = {F32: ("Add", "Sub", "Mul", "Div", "Pow", "Less", "GreaterOrEqual", "Equal", "PRelu", "Max", "Min", "Sum", "Mean",
                "Mod"),
          I64: ("Add", "Mod", "Div", "BitwiseXor"), numpy.uint8: ("BitShift", "Max"), numpy.bool_: ("And", "Xor", "Equal")}


def elementwise():
    """(case, nodes, inputs, letters in pairs)"""
    for dtype, kinds in BINARY.items():
        for kind in kinds:
            word = f"{kind}-{numpy.dtype(dtype)}".lower()
            attributes = {"direction": "LEFT"} if kind == "BitShift" else {"fmod": 1} if (kind, dtype) == ("Mod", F32) else {}
            work = [node(kind, ["a", "b"], **attributes)]
            yield word, work, [Given("a", ["A", "B"], dtype), Given("b", ["C", "D"], dtype)], ["AC", "BD"]
    add = [node("Add", ["a", "b"])]
    yield "rank", add, [Given("a", ["A", 2, "B"]), Given("b", ["D"])], ["BD"]
    yield "rank-left", add, [Given("a", ["B"]), Given("b", [2, "C", "D"])], ["BD"]
    yield "inner", add, [Given("a", [2, "A", 4]), Given("b", [2, "C", 4])], ["AC"]
    yield "outer", add, [Given("a", ["A", 8]), Given("b", ["C", 8])], ["AC"]
    yield "three", [node("Max", ["a", "b", "c"])], [Given("a", ["A", "B"]), Given("b", ["C", "D"]), Given("c", ["B"])], \
        ["AC", "BD"]
    yield "where", [node("Where", ["c", "a", "b"])], \
        [Given("c", ["E", 2], numpy.bool_), Given("a", ["A", 2]), Given("b", ["C", 1])], ["AC", "CE", "AE"]
    yield "where-scalar", [node("Where", ["c", "a", "b"])], \
        [Given("c", ["E", "F"], numpy.bool_), Given("a", []), Given("b", ["C", "D"])], ["EC", "FD"]
    yield "chain", [node("Add", ["a", "b"], ["s"]), node("Mul", ["s", "c"], ["m"]), node("Tanh", ["m"])], \
        [Given("a", ["A", "B"]), Given("b", ["C", "D"]), Given("c", ["A", "D"])], ["AC", "BD"]
    yield "twice", [node("Add", ["a", "b"], ["s"]), node("Sub", ["a", "b"], ["t"]), node("Mul", ["s", "t"])], \
        [Given("a", ["A", "B"]), Given("b", ["C", "D"])], ["AC", "BD"]
    yield "nameless", add, [Given("a", ["", "A"]), Given("b", ["", "C"])], ["AC"]


def others():
    """Operators that broadcast in ways of their own."""
    yield "matmul", [node("MatMul", ["a", "b"])], [Given("a", ["A", 2, 3]), Given("b", ["C", 3, 4])], ["AC"]
    yield "matmul-integer", [node("MatMulInteger", ["a", "b"])], \
        [Given("a", ["A", 2, 3], numpy.uint8), Given("b", ["C", 3, 4], numpy.uint8)], ["AC"]
    for equation, left, right, pairs in (("...ij,...jk->...ik", ["A", 2, 3], ["C", 3, 4], ["AC"]),
                                         ("bij,bjk->bik", ["A", 2, 3], ["C", 3, 4], ["AC"]),
                                         ("...i,...i->...", ["A", "B"], ["C", "D"], ["AC", "BD"]),
                                         ("ij,ij->ij", ["A", "B"], ["C", "D"], ["AC", "BD"])):
        yield f"einsum-{equation}", [node("Einsum", ["a", "b"], equation=equation)], \
            [Given("a", left), Given("b", right)], pairs
    yield "gemm", [node("Gemm", ["a", "b", "c"])], \
        [Given("a", ["A", 3]), Given("b", [3, "B"]), Given("c", ["C", "D"])], ["AC>", "BD>"]
    norm = [Given("x", [2, "A", "B"]), Given("s", ["C", "D"]), Given("c", ["D"])]
    yield "layer-norm", [node("LayerNormalization", ["x", "s", "c"], axis=1)], norm, ["AC>", "BD>"]
    yield "layer-norm-row", [node("LayerNormalization", ["x", "s", "c"])], \
        [Given("x", [2, "A"]), Given("s", ["C"]), Given("c", ["D"])], ["AC>", "AD>"]
    yield "rms-norm", [node("RMSNormalization", ["x", "s"], axis=1)], norm[:2], ["AC>", "BD>"]
    mask = [Given(name, ["N", 2, size, 4]) for name, size in (("q", "A"), ("k", "B"), ("v", "B"))]
    attention = [node("Attention", ["q", "k", "v", "m"])]
    yield "attention-mask", attention, [*mask, Given("m", ["P", "H", "C", "D"])], ["AC>", "NP>", "HH2"]
    yield "attention-rank", attention, [*mask, Given("m", ["C", "B"])], ["AC>"]
    yield "expand-shape", [node("Shape", ["b"], ["s"]), node("Expand", ["a", "s"])], \
        [Given("a", ["A", "B"]), Given("b", ["C", "D"])], ["AC", "BD"]
    yield "expand-read", [node("Expand", ["a", "s"])], [Given("a", ["A", "B"]), Shape("s", ["C", "D"])], ["AC", "BD"]
    yield "expand-read-rank", [node("Expand", ["a", "s"])], [Given("a", ["B"]), Shape("s", [2, "C", "D"])], ["BD"]
    yield "expand-rank", [node("Shape", ["b"], ["s"]), node("Expand", ["a", "s"])], \
        [Given("a", ["B"]), Given("b", ["C", "D"])], ["BD"]


AFTER = {
    "neg": [node("Neg", ["s"])], "softmax": [node("Softmax", ["s"])], "softmax-0": [node("Softmax", ["s"], axis=0)],
    "sum": [node("ReduceSum", ["s"], keepdims=0)], "transpose": [node("Transpose", ["s"])],
    "concat": [node("Concat", ["s", "s"], axis=1)], "flatten": [node("Flatten", ["s"], axis=0)],
    "shape": [node("Shape", ["s"])], "size": [node("Size", ["s"])], "matmul": [node("Transpose", ["s"], ["t"]),
                                                                         node("MatMul", ["s", "t"])],
    "split": [node("Concat", ["s", "s"], ["u"], axis=0), node("Split", ["u"], ["y", "z"], axis=0, num_outputs=2)],
    "cumsum": [node("CumSum", ["s", "zero"])], "gather": [node("Gather", ["s", "zeros"], axis=1)],
    "where": [node("Less", ["s", "a"], ["l"]), node("Where", ["l", "b", "s"])],
    "expand": [node("Shape", ["s"], ["h"]), node("Expand", ["a", "h"], ["e"]), node("Mul", ["e", "s"])],
    "reshape": [node("Reshape", ["s", "flat"])], "unsqueeze": [node("Unsqueeze", ["s", "zeros"], ["u"]),
                                                          node("Add", ["u", "a"])],
    "tile": [node("Tile", ["s", "twos"])], "constant": [node("Shape", ["s"], ["h"]),
                                                  node("ConstantOfShape", ["h"], ["o"]), node("Add", ["o", "b"])],
    "argmax": [node("ArgMax", ["s"], axis=1)], "pad": [node("Pad", ["s", "pads"])],
    "slice": [node("Slice", ["s", "ones", "fives", "zeros"])], "norm": [node("LayerNormalization", ["s", "unit"])],
}
# Not of sizes of 0, which have neither an element to take nor a greatest one.
FILLED = ("then-gather", "then-argmax")
WEIGHTS = {"zero": numpy.array(0, I64), "zeros": numpy.array([0], I64), "flat": numpy.array([-1], I64),
           "twos": numpy.array([2, 2], I64), "pads": numpy.array([1, 0, 0, 2], I64), "ones": numpy.array([1], I64),
           "fives": numpy.array([5], I64), "unit": numpy.array([1.5], F32)}


def readers():
    """What reads the result of a broadcast."""
    for name, nodes in AFTER.items():
        yield f"then-{name}", [node("Add", ["a", "b"], ["s"]), *nodes], \
            [Given("a", ["A", "B"]), Given("b", ["C", "D"])], ["AC", "BD"]


def sizes_of(pairs, filled):
    """Each choice of sizes; of several pairs those where one is (3, 3), and a third of the others. "AC>" is C broadcast
    to A alone, and "HH2" one of 1 and 2."""
    choices = [(0, {})]
    for pair in pairs:
        if pair[2:] == "2":
            options = [{pair[0]: 2}, {pair[0]: 1}]
        else:
            options = [{pair[0]: left, pair[1]: right} for left, right in PAIRS
                       if (not filled or left * right) and (pair[2:] != ">" or right in (1, left))]
        choices = [(total + number, {**known, **option}) for total, known in choices
                   for number, option in enumerate(options)
                   if (total == 0 or number == 0 or (total + number) % 3 == 0) and
                   all(known.get(letter, size) == size for letter, size in option.items())]
    return [letters for _, letters in choices]


def feed_of(given, letters):
    rest = {letter: 3 for each in given for letter in each.sizes if isinstance(letter, str)}
    return {each.name: each.array({**rest, **letters}, number) for number, each in enumerate(given)}


def cases():
    for group in (elementwise, others, readers):
        yield from group()


def check(suite, name, nodes, given, pairs):
    weights = {key: array for key, array in WEIGHTS.items() if any(key in each.input for each in nodes)}
    outputs = [key for key in nodes[-1].output]
    model = made(name, nodes, given, weights, outputs, opset=24 if {"RMSNormalization", "Attention"} &
                 {each.op_type for each in nodes} else 21)
    for level in harness.LEVELS:
        program = artefact.Artefact(suite, re.sub(r"[^\w-]", "_", name) + level, model, level)
        if program.step.code:
            suite.fail(f"{name}{level}", program.step.how(), program.step)
            continue
        for letters in sizes_of(pairs, name in FILLED):
            feed = feed_of(given, letters)
            case = f"{name}{level}-{'-'.join('x'.join(map(str, array.shape)) for array in feed.values())}"
            wanted = reference.expected(model, feed)
            if isinstance(wanted, str):
                suite.fail(case, wanted)
                continue
            step, arrays = program.run(feed)
            reason = step.how() if step.code else next(filter(None, (
                reference.differs(key, array, right) for key, array, right in zip(outputs, arrays, wanted))), None)
            if reason:
                suite.fail(case, reason, step)
            else:
                suite.ok(case)
        # Sizes that do not go together, in either order where both are broadcast.
        left, right, *rest = pairs[0]
        for wrong in ((2, 3), (0, 3), (1, 3) if rest else (3, 2)):
            step, _ = program.run(feed_of(given, dict(zip((left, right), wrong))))
            if step.code == 2 and step.output.count("error: node 'make_") == 1:
                suite.ok(f"{name}{level}-wrong-{wrong}")
            else:
                suite.fail(f"{name}{level}-wrong-{wrong}", step.how(), step)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("broadcasts", options.build.resolve())
    for name, nodes, given, pairs in cases():
        if re.search(options.filter, name):
            check(suite, name, nodes, given, pairs)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
