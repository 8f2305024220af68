"""symbolic.py FILE [before]: a product, a Relu and a softmax across rows, with two sizes known only
at run time; before them, where asked, a negation."""
# SPDX-License-Identifier: Apache-2.0
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save

weights = numpy_helper.from_array(numpy.ones((64, 32), numpy.float32), "w")
nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], "product"),
         helper.make_node("Relu", ["h"], ["r"], "relu"),
         helper.make_node("Softmax", ["r"], ["y"], "softmax", axis=0)]
if sys.argv[2:]:
    nodes[0].input[0] = "n"
    nodes.insert(0, helper.make_node("Neg", ["x"], ["n"], "before"))
graph = helper.make_graph(
    nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("N", "M", 64))],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("N", "M", 32))], [weights])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
     sys.argv[1])
