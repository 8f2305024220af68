# SPDX-License-Identifier: Apache-2.0
"""Writes the models that the lit tests of the importer read: make_model.py NAME FILE."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def info(name, shape=("N", 4), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs=(), outputs=(), initializers=(), opset=21, functions=(), others=()):
    graph = helper.make_graph(nodes, "net-1", list(inputs) or [info("x")],
                              list(outputs) or [info("y")], list(initializers))
    made = helper.make_model(graph, functions=list(functions), producer_name="maker",
                             opset_imports=[helper.make_opsetid("", opset), *others])
    made.ir_version = 10
    return made


def names():
    return model([helper.make_node("Relu", ["x"], ["a"], name="first"),
                  helper.make_node("Relu", ["a"], ["b"]),
                  helper.make_node("Relu", ["b"], ["y"], name="first")])


def aliases():
    w = numpy_helper.from_array(np.ones([4], np.float32), "w")
    return model([helper.make_node("Relu", ["x"], ["y"])],
                 outputs=[info("x"), info("w", (4,)), info("y")],
                 initializers=[w])


def weights():
    big = np.arange(512, dtype=np.float32)
    return model([helper.make_node("Add", ["x", "big"], ["y"])], [info("x", (512,))],
                 [info("y", (512,))], [numpy_helper.from_array(big, "big")])


def softmax():
    return model([helper.make_node("Softmax", ["x"], ["y"], axis=1)],
                 [info("x", ("N", 3, 4))], [info("y", ("N", 3, 4))], opset=11)


def squeeze():
    return model([helper.make_node("Squeeze", ["x"], ["y"], axes=[0])],
                 [info("x", (1, 4))], [info("y", (4,))], opset=11)


def function():
    body = [helper.make_node("LeakyRelu", ["a"], ["t"], name="leak"),
            helper.make_node("Add", ["t", "a"], ["b"])]
    alpha = onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    body[0].attribute.append(alpha)
    made = helper.make_function("acme", "Leak", ["a"], ["b"], body, [helper.make_opsetid("", 21)],
                                attribute_protos=[helper.make_attribute("slope", 0.5)])
    return model([helper.make_node("Leak", ["x"], ["h"], name="one", domain="acme"),
                  helper.make_node("Leak", ["h"], ["y"], name="two", domain="acme", slope=0.25)],
                 functions=[made], others=[helper.make_opsetid("acme", 1)])


def custom():
    return model([helper.make_node("Twist", ["x"], ["y"], domain="acme", alpha=1.5)],
                 others=[helper.make_opsetid("acme", 3)])


def capture():
    then_graph = helper.make_graph([helper.make_node("Neg", ["h"], ["t"])], "then", [],
                                   [helper.make_empty_tensor_value_info("t")])
    else_graph = helper.make_graph([helper.make_node("Identity", ["h"], ["e"])], "else", [],
                                   [helper.make_empty_tensor_value_info("e")])
    return model([helper.make_node("Relu", ["x"], ["h"]),
                  helper.make_node("If", ["c"], ["y"], then_branch=then_graph,
                                   else_branch=else_graph)],
                 [info("x"), info("c", (), TensorProto.BOOL)])


def many_problems():
    return model([helper.make_node("Relu", ["q"], ["a"], name="first"),
                  helper.make_node("LeakyRelu", ["x"], ["b"], name="second", beta=1.0),
                  helper.make_node("Softmax", ["i"], ["y"], name="third")],
                 [info("x"), info("i", (4,), TensorProto.INT64)])


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_bytes(globals()[sys.argv[1]]().SerializeToString())
