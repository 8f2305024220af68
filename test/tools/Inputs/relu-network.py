"""relu-network.py: net.onnx, MatMul by 8 x 8 weights, Relu, MatMul; samples.npz; and for the first of them
doubled.npy, what comes out where the Relu gives twice as much."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

random = numpy.random.default_rng(27)
x, first, second = (random.standard_normal(shape).astype(numpy.float32)
                    for shape in ((16, 8), (8, 8), (8, 8)))
nodes = [helper.make_node("MatMul", ["x", "first"], ["a"], "a"),
         helper.make_node("Relu", ["a"], ["b"], "b"),
         helper.make_node("MatMul", ["b", "second"], ["y"], "c")]
onnx.save(helper.make_model(helper.make_graph(
    nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 8])],
    [numpy_helper.from_array(first, "first"), numpy_helper.from_array(second, "second")]),
    opset_imports=[helper.make_opsetid("", 21)], ir_version=10), "net.onnx")
numpy.savez("samples.npz", x=x)
numpy.save("x.npy", x[:2])
numpy.save("doubled.npy", 2 * numpy.maximum(x[:2] @ first, 0) @ second)
