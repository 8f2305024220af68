"""columns.py FILE: LpNormalization along the middle of three axes, the last of which is of any size."""
# SPDX-License-Identifier: Apache-2.0
import sys

import onnx
from onnx import helper

FLOAT = onnx.TensorProto.FLOAT
graph = helper.make_graph(
    [helper.make_node("LpNormalization", ["x"], ["y"], name="norm", axis=1, p=1)], "g",
    [helper.make_tensor_value_info("x", FLOAT, [1, 2, "N"])],
    [helper.make_tensor_value_info("y", FLOAT, [1, 2, "N"])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
model.ir_version = 9
onnx.save(model, sys.argv[1])
