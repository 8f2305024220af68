"""Arithmetic on shapes, for cameoc-shape-chains.test: long.onnx adds 1 to a size 20,000 times,
doubled.onnx adds it to itself 60 times."""
# SPDX-License-Identifier: Apache-2.0
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def save(name, count, operands, last):
    nodes = [helper.make_node("Shape", ["x"], ["s0"], "shape")]
    nodes += [helper.make_node("Add", [f"s{i}", operands or f"s{i}"], [f"s{i + 1}"], f"add{i}")
              for i in range(count)]
    nodes.append(helper.make_node(last[0], [*last[1:]], ["y"], "last"))
    weights = [numpy_helper.from_array(numpy.array([number]), name)
               for name, number in (("zero", 0), ("one", 1))]
    model = helper.make_model(helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
        [helper.make_empty_tensor_value_info("y")], weights),
        opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, f"{sys.argv[1]}/{name}.onnx")


save("long", 20000, "one", ["Slice", "x", "zero", "s20000", "zero"])
save("doubled", 60, "", ["Reshape", "x", "s60"])
