#!/usr/bin/env python3
"""Arithmetic on integers that sizes depend on: every integer type and operator, on numbers at the ends of the
types, as inputs that a run reads, as constants that the compiler folds, and as sizes. The right results are
those of Python's integers, cut to the type."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import re
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

import artefact
import harness

TYPES = [numpy.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FORMS = ("read", "half", "constant", "sizes")
# What an operator gives for all pairs becomes one size: the sum of the results times these numbers, modulo this
# one.
MODULUS = 65521
# Sizes that leave the types of 8 and 16 bits, and not the others.
SHAPES = {"a": (3, 250, 2, 131), "b": (200, 131, 7, 5)}


def cut(number, dtype):
    """The low bits of an integer, as a number of the type."""
    bits = dtype.itemsize * 8
    number %= 1 << bits
    return number - (1 << bits) if dtype.kind == "i" and number >> (bits - 1) else number


def quotient(a, b):
    """Towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def as_float(dtype):
    """A cast to a float and to int64: the nearest number where it is beyond the type's."""
    def convert(a):
        return min(max(int(dtype(a)), -2**63), 2**63 - 1)
    return convert


class Operation:
    """`compute` takes Python's integers; its result is cut to `result`, the operands' type where it is None."""

    def __init__(self, name, kind, compute, *, arity=2, result=None, reduces=False, divides=False,
                 steps=(), **attributes):
        self.name, self.kind, self.compute, self.arity = name, kind, compute, arity
        self.result, self.reduces, self.divides = result, reduces, divides
        self.steps, self.attributes = steps, attributes

    def nodes(self, names, label):
        yield helper.make_node(self.kind, names, [f"{label}/0"], label, **self.attributes)
        for number, to in enumerate((*self.steps, TensorProto.INT64)):
            yield helper.make_node("Cast", [f"{label}/{number}"], [f"{label}/{number + 1}"],
                                   f"{label}/cast{number}", to=to)
        last = f"{label}/{len(self.steps) + 1}"
        yield helper.make_node("Mul", [last, "one" if self.reduces else "factors"], [f"{label}/m"], f"{label}/mul")
        yield helper.make_node("ReduceSum", [f"{label}/m"], [f"{label}/s"], f"{label}/sum", keepdims=1)
        yield helper.make_node("Mod", [f"{label}/s", "modulus"], [f"{label}/h"], f"{label}/mod")
        yield helper.make_node("ConstantOfShape", [f"{label}/h"], [label], f"{label}/fill",
                               value=numpy_helper.from_array(numpy.zeros(1, numpy.uint8)))

    def size(self, dtype, operands, factors):
        to = self.result or dtype
        rows = zip(*operands[:self.arity])
        results = [self.compute(operands[0])] if self.reduces else [self.compute(*row) for row in rows]
        total = sum(cut(result, to) * factor for result, factor in zip(results, factors))
        return cut(total, numpy.dtype(numpy.int64)) % MODULUS


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def operations(dtype):
    boolean = numpy.dtype(numpy.uint8)
    yield Operation("add", "Add", lambda a, b: a + b)
    yield Operation("sub", "Sub", lambda a, b: a - b)
    yield Operation("mul", "Mul", lambda a, b: a * b)
    yield Operation("div", "Div", quotient, divides=True)
    yield Operation("mod", "Mod", lambda a, b: a % b, divides=True)
    yield Operation("fmod", "Mod", lambda a, b: a - quotient(a, b) * b, divides=True, fmod=1)
    yield Operation("max", "Max", max)
    yield Operation("min", "Min", min)
    for kind, compute in (("Equal", lambda a, b: a == b), ("Less", lambda a, b: a < b),
                          ("LessOrEqual", lambda a, b: a <= b), ("Greater", lambda a, b: a > b),
                          ("GreaterOrEqual", lambda a, b: a >= b)):
        yield Operation(kind.lower(), kind, compute, result=boolean)
    yield Operation("abs", "Abs", abs, arity=1)
    if dtype.kind == "i":
        yield Operation("neg", "Neg", lambda a: -a, arity=1)
    for to in TYPES:
        yield Operation(f"to-{to}", "Cast", lambda a: a, arity=1, result=to,
                        to=helper.np_dtype_to_tensor_dtype(to))
    yield Operation("to-bool", "Cast", lambda a: a != 0, arity=1, result=boolean, to=TensorProto.BOOL)
    for to, real in ((TensorProto.FLOAT, numpy.float32), (TensorProto.DOUBLE, numpy.float64)):
        yield Operation(f"by-{real.__name__}", "Cast", as_float(real), arity=1,
                        result=numpy.dtype(numpy.int64), to=to)
    if dtype.itemsize >= 4:
        yield Operation("sum", "ReduceSum", sum, arity=1, reduces=True)
        yield Operation("prod", "ReduceProd", product, arity=1, reduces=True)
    if dtype.itemsize >= 4 or dtype.itemsize == 1:
        yield Operation("greatest", "ReduceMax", max, arity=1, reduces=True)
        yield Operation("least", "ReduceMin", min, arity=1, reduces=True)


def edges(dtype):
    """Pairs of numbers at the ends of the type and in the middle."""
    info = numpy.iinfo(dtype)
    numbers = {info.min, info.min + 1, 0, 1, 2, 3, 7, 100, info.max // 2, info.max // 2 + 1, info.max - 1, info.max}
    if dtype.kind == "i":
        numbers |= {-1, -2, -3, -100}
    pairs = list(itertools.product(sorted(numbers), repeat=2))
    return [list(side) for side in zip(*pairs[::3])]


class Numbers:
    """The operands in one form: arrays for inputs and initializers, nodes, and what they hold."""

    def __init__(self, dtype, form):
        self.feed, self.weights, self.nodes, self.inputs = {}, {}, [], []
        element = helper.np_dtype_to_tensor_dtype(dtype)
        if form == "sizes":
            for name, shape in SHAPES.items():
                self.feed[f"x{name}"] = numpy.zeros(shape, numpy.uint8)
                self.inputs.append((f"x{name}", TensorProto.UINT8, [f"{name}{dim}" for dim in range(len(shape))]))
                self.nodes += [helper.make_node("Shape", [f"x{name}"], [f"{name}/shape"], f"{name}/shape"),
                               helper.make_node("Cast", [f"{name}/shape"], [name], f"{name}/cast", to=element)]
            a, b = ([cut(size, dtype) for size in shape] for shape in SHAPES.values())
            self.nodes.append(helper.make_node("Identity", ["b"], ["d"], "divisor"))
            self.values = {"a": a, "b": b, "d": b}
            return
        a, b = edges(dtype)
        self.values = {"a": a, "b": b, "d": [number or 3 for number in b]}
        for name, numbers in self.values.items():
            array = numpy.array(numbers, dtype)
            if form == "read" or (form == "half" and name == "a"):
                self.feed[name] = array
                self.inputs.append((name, element, array.shape))
            else:
                self.weights[name] = array


def build(numbers, chosen):
    factors = 1 + numpy.arange(len(numbers.values["a"]), dtype=numpy.int64) * 7919 % 10007
    weights = {**numbers.weights, "factors": factors, "one": factors[:1],
               "modulus": numpy.array([MODULUS], numpy.int64)}
    nodes = list(numbers.nodes)
    for operation in chosen:
        names = ["a", "d" if operation.divides else "b"][:operation.arity]
        nodes += operation.nodes(names, operation.name)
    model = artefact.model(
        "host_integers", nodes, numbers.inputs,
        [(operation.name, TensorProto.UINT8, [f"n-{operation.name}"]) for operation in chosen], weights)
    return model, [int(factor) for factor in factors]


class Check:
    def __init__(self, options):
        self.suite = harness.Suite("host-integers", options.build.resolve())
        self.filter = options.filter

    def operators(self, dtype, form, chosen):
        """Each operator of a type alone where the model of all of them does not run."""
        numbers = Numbers(dtype, form)
        label = f"{dtype}-{form}"
        model, factors = build(numbers, chosen)
        name = label if len(chosen) > 1 else f"{label}-{chosen[0].name}"
        made = artefact.Artefact(self.suite, name, model)
        step, arrays = made.run(numbers.feed)
        if step.code and len(chosen) > 1 and not step.crashed:
            for operation in chosen:
                self.operators(dtype, form, [operation])
            return
        for number, operation in enumerate(chosen):
            case = f"{label}-{operation.name}"
            if step.code:
                self.suite.fail(case, step.how(), step)
                continue
            operands = [numbers.values["a"], numbers.values["d" if operation.divides else "b"]]
            wanted = operation.size(dtype, operands, factors)
            found = arrays[number].shape
            if found == (wanted,):
                self.suite.ok(case)
            else:
                self.suite.fail(case, f"a size of {found}, not {wanted}", step)

    def fixed(self):
        """Numbers that were once wrong, and what a run refuses."""
        for case, dtype, kind, numbers, other, wanted in (
                ("int32-product", numpy.int32, "Mul", [70000], 65536, 4464 << 16),
                ("uint8-sum", numpy.uint8, "Add", [10], 250, 4),
                ("uint64-quotient", numpy.uint64, "Div", [3 << 62], 1 << 62, 3)):
            dtype = numpy.dtype(dtype)
            nodes = [helper.make_node(kind, ["a", "b"], ["c"], "it"),
                     helper.make_node("Cast", ["c"], ["d"], "cast", to=TensorProto.INT64),
                     helper.make_node("Div", ["d", "scale"], ["e"], "scale"),
                     helper.make_node("ConstantOfShape", ["e"], ["y"], "fill")]
            scale = 65536 if case == "int32-product" else 1
            model = artefact.model(
                case, nodes, [("a", helper.np_dtype_to_tensor_dtype(dtype), [1])],
                [("y", TensorProto.FLOAT, ["n"])],
                {"b": numpy.array([other], dtype), "scale": numpy.array([scale], numpy.int64)})
            self.expect(case, model, {"a": numpy.array(numbers, dtype)}, wanted // scale)
        for size, wanted in ((20000, 2_000_000_000 // 1_000_000), (30000, None)):
            nodes = [helper.make_node("Shape", ["x"], ["a"], "shape"),
                     helper.make_node("Cast", ["a"], ["b"], "cast", to=TensorProto.INT32),
                     helper.make_node("Mul", ["b", "c"], ["d"], "wide"),
                     helper.make_node("Div", ["d", "e"], ["f"], "div"),
                     helper.make_node("Cast", ["f"], ["g"], "back", to=TensorProto.INT64),
                     helper.make_node("ConstantOfShape", ["g"], ["y"], "fill")]
            model = artefact.model(
                "sizes", nodes, [("x", TensorProto.UINT8, ["n"])], [("y", TensorProto.FLOAT, ["m"])],
                {"c": numpy.array([100_000], numpy.int32), "e": numpy.array([1_000_000], numpy.int32)})
            self.expect(f"size-times-{size}", model, {"x": numpy.zeros(size, numpy.uint8)}, wanted)

    def expect(self, case, model, feed, wanted):
        if not re.search(self.filter, case):
            return
        made = artefact.Artefact(self.suite, case, model)
        step, arrays = made.run(feed)
        if wanted is None:
            said = "node 'wide': 3000000000, computed from sizes, does not fit int32"
            good = step.code == 2 and said in step.output
        else:
            good = not step.code and arrays[0].shape == (wanted,)
        if good:
            self.suite.ok(case)
        else:
            self.suite.fail(case, step.how() if step.code else f"not a size of {wanted}", step)

    def all(self):
        for dtype in TYPES:
            for form in FORMS:
                chosen = [operation for operation in operations(dtype)
                          if re.search(self.filter, f"{dtype}-{form}-{operation.name}")]
                if chosen:
                    self.operators(dtype, form, chosen)
        self.fixed()
        return self.suite.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    return Check(parser.parse_args()).all()


if __name__ == "__main__":
    sys.exit(main())
