"""A MatMul by 2 x 1024 weights."""
# SPDX-License-Identifier: Apache-2.0
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

weights = numpy.arange(2048, dtype=numpy.float32).reshape(2, 1024)
onnx.save(helper.make_model(helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["y"], "multiply")], "large",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1024])],
    [numpy_helper.from_array(weights, "w")]), opset_imports=[helper.make_opsetid("", 21)],
    ir_version=10), sys.argv[1])
