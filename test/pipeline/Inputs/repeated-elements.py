#!/usr/bin/env python3
"""Writes products with a constant of equal elements, or with one element that is expanded."""
# SPDX-License-Identifier: Apache-2.0
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HALF = numpy_helper.from_array(numpy.array([0.5], numpy.float32))
GENERATOR = numpy.random.default_rng(1)


def save(name, nodes, inputs, result, shape):
    tensors = {key: helper.make_tensor_value_info(key, TensorProto.FLOAT, dims)
               for key, dims in {**inputs, "y": result}.items()}
    graph = helper.make_graph(nodes, name, [tensors[key] for key in inputs], [tensors["y"]],
                              [numpy_helper.from_array(numpy.array(shape, numpy.int64), "shape")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10),
              f"{name}.onnx")


def filled():
    return helper.make_node("ConstantOfShape", ["shape"], ["w"], value=HALF)


PRODUCT = helper.make_node("MatMul", ["x", "w"], ["y"])
save("product", [filled(), PRODUCT], {"x": [512, 64]}, [512, 4096], [64, 4096])
save("convolution", [filled(), helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)],
     {"x": [1, 16, 9, 9]}, [1, 128, 9, 9], [128, 16, 3, 3])
save("expand", [helper.make_node("Expand", ["w", "shape"], ["all"]),
                helper.make_node("MatMul", ["x", "all"], ["y"])],
     {"x": [512, 64], "w": []}, [512, 4096], [64, 4096])
# Small integers, whose sums are exact.
numpy.save("x.npy", GENERATOR.integers(-8, 8, (512, 64)).astype(numpy.float32))
numpy.save("image.npy", GENERATOR.integers(-8, 8, (1, 16, 9, 9)).astype(numpy.float32))
numpy.save("half.npy", numpy.float32(0.5))
