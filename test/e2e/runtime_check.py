"""One node, what it may be given when it runs, and what not. Functions that yield such are registered by `checks`, beside
the rows of their operators; runtime_checks.py tries them all."""
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass, field

import numpy
from onnx import TensorProto, helper, numpy_helper

F32, I64, I8, U8 = numpy.float32, numpy.int64, numpy.int8, numpy.uint8
CHECKS = []


def checks(cases):
    """A function without arguments that yields Checks."""
    CHECKS.append(cases)
    return cases


def all_checks():
    for cases in CHECKS:
        yield from cases()


@dataclass
class Check:
    """One node, 'it', over inputs a, b, ...: (dtype, dims), an array that the model holds, None for
    what is absent, or the name of a value that a node of `before` makes; a Beside is not an input of the
    node."""
    label: str
    operator: str
    inputs: list
    good: list  # what each run-time input is given: a shape or, of integers, values
    bad: list  # (the same, text of the error)
    attributes: dict = field(default_factory=dict)
    outputs: int = 1
    opset: int = 21
    output_type: int = TensorProto.FLOAT
    later_types: list = field(default_factory=list)  # of outputs behind the first, if they differ
    before: list = field(default_factory=list)  # nodes that make its inputs

    def model(self):
        names, declared, weights = [], [], []
        for letter, given in zip("abcdefgh", self.inputs):
            if not isinstance(given, Beside):
                names.append(letter if given is not None else "")
            if isinstance(given, numpy.ndarray):
                weights.append(numpy_helper.from_array(given, letter))
            elif isinstance(given, tuple):
                dtype, dims = given
                declared.append(helper.make_tensor_value_info(
                    letter, helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)), dims))
        results = [f"y{i}" for i in range(self.outputs)]
        kinds = [self.output_type, *(self.later_types or [self.output_type] * (self.outputs - 1))]
        node = helper.make_node(self.operator, names, results, "it", **self.attributes)
        model = helper.make_model(helper.make_graph(
            [*self.before, node], "check", declared,
            [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(results, kinds)],
            weights), opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 10
        return model

    def feeds(self, given):
        """Shapes are filled with random numbers, of which integers are small and none is negative: they may be
        places or lengths, and floats variances."""
        random = numpy.random.default_rng(1)
        names = [letter for letter, value in zip("abcdefgh", self.inputs)
                 if isinstance(value, tuple)]
        types = [value[0] for value in self.inputs if isinstance(value, tuple)]
        for name, dtype, value in zip(names, types, given):
            yield name, (numpy.array(value.values, dtype) if isinstance(value, Values)
                         else numpy.asarray(random.uniform(0.5, 2, value), dtype) if dtype is F32
                         else random.integers(0, 100 if dtype in (I8, U8) else 2, value, dtype))


@dataclass
class Values:
    values: list


class Beside(tuple):
    """The (dtype, dims) of an input of the model alone."""


def tensor(*dims, dtype=F32):
    return (dtype, list(dims))


def given(*numbers):
    return Values(list(numbers))
