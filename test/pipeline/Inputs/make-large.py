"""make-large.py FILE [half]: a MatMul by 2 x 1024 weights; or by their halves, which a Mul makes."""
# SPDX-License-Identifier: Apache-2.0
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

weights = numpy.arange(2048, dtype=numpy.float32).reshape(2, 1024)
half = numpy_helper.from_array(numpy.float32(0.5), "half")
halved = len(sys.argv) > 2
nodes = [helper.make_node("MatMul", ["x", "v" if halved else "w"], ["y"], "multiply")]
if halved:
    nodes.insert(0, helper.make_node("Mul", ["w", "half"], ["v"], "halve"))
onnx.save(helper.make_model(helper.make_graph(
    nodes, "large",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1024])],
    [numpy_helper.from_array(weights, "w"), *([half] if halved else [])]),
    opset_imports=[helper.make_opsetid("", 21)], ir_version=10), sys.argv[1])
