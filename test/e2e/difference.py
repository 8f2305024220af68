"""One case of what ONNX's reference evaluator and ONNX Runtime do differently. Functions that yield such are registered by
`differs`, beside the rows of their operators; differences.py tries them all."""
# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass, field

import numpy
from onnx import helper, numpy_helper

F32, I64 = numpy.float32, numpy.int64
NAN, INF = numpy.nan, numpy.inf
DIFFERENCES = []


def differs(cases):
    """A function without arguments that yields Differences."""
    DIFFERENCES.append(cases)
    return cases


def all_differences():
    for cases in DIFFERENCES:
        yield from cases()


@dataclass
class Difference:
    """One node over `inputs`; if `fixed`, all but the one that is `given` are constants. `followed` is
    "reference", "onnxruntime", or what Cameo computes where it is neither."""
    row: str  # the first cells of the page's row
    operator: str
    inputs: list
    followed: object
    attributes: dict = field(default_factory=dict)
    fixed: bool = True
    opset: int = 22
    outputs: int = 1
    given: int = 0
    joined: bool = False  # its result is a sequence, of which one tensor is made

    def model(self):
        names, values, weights = [], [], []
        for number, array in enumerate(self.inputs):
            names.append("" if array is None else f"x{number}")
            if array is None:
                continue
            if number != self.given and self.fixed:
                weights.append(numpy_helper.from_array(array, names[-1]))
            else:
                values.append(helper.make_tensor_value_info(
                    names[-1], helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        results = [f"y{number}" for number in range(self.outputs)]
        nodes = [helper.make_node(self.operator, names, results, name="it", **self.attributes)]
        if self.joined:
            nodes[0].output[0] = "sequence"
            nodes.append(helper.make_node("ConcatFromSequence", ["sequence"], results, axis=0))
        model = helper.make_model(helper.make_graph(
            nodes, "difference", values, [helper.make_empty_tensor_value_info(r) for r in results],
            weights), opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 10
        return model

    def feed(self):
        return {f"x{number}": array for number, array in enumerate(self.inputs)
                if array is not None and (number == self.given or not self.fixed)}


def floats(*numbers, shape=None):
    return numpy.array(numbers, F32).reshape(shape or [len(numbers)])


def ints(*numbers, dtype=I64):
    return numpy.array(numbers, dtype)


def ramp(*shape):
    return numpy.arange(numpy.prod(shape), dtype=F32).reshape(shape)
