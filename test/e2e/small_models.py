"""Small models with several kernels each, for tests of artefacts: symbolic sizes, arithmetic on
shapes, inputs that are read on the host."""
# SPDX-License-Identifier: Apache-2.0
import sys
from dataclasses import dataclass

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import harness

sys.path.insert(0, str(harness.SOURCE / "examples" / "fashion"))
import fashion_data  # pylint: disable=wrong-import-position


@dataclass
class SmallModel:
    model: onnx.ModelProto
    feeds: list  # dicts of arrays, of different sizes
    data_dependent: bool = False  # sizes depend on values, not on shapes alone


def build(name, nodes, inputs, outputs, weights):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs],
        [numpy_helper.from_array(array, key) for key, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                              producer_name="cameo-tests")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def normal(random, *shape):
    return random.standard_normal(shape, numpy.float32)


def fashion():
    """The demo's trained network."""
    images, _ = fashion_data.load("test")
    model = onnx.load(harness.SOURCE / "examples" / "fashion" / "fashion.onnx")
    return SmallModel(model, [{"image": images[:2]}, {"image": images[2:7]}])


def layers():
    """A feed-forward block over (N, S, 32): products, a reduction over rows, elementwise work."""
    random = numpy.random.default_rng(1)
    nodes = [
        helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["n"], "norm", axis=-1),
        helper.make_node("MatMul", ["n", "w1"], ["h"], "up"),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("MatMul", ["r", "w2"], ["d"], "down"),
        helper.make_node("Add", ["x", "d"], ["residual"], "add"),
        helper.make_node("Softmax", ["residual"], ["y"], "softmax", axis=-1),
        helper.make_node("ReduceMean", ["residual"], ["mean"], "mean", axes=[1], keepdims=0),
    ]
    weights = {"scale": normal(random, 32), "bias": normal(random, 32),
               "w1": normal(random, 32, 64) / 6, "w2": normal(random, 64, 32) / 8}
    model = build("layers", nodes, [("x", TensorProto.FLOAT, ["N", "S", 32])],
                  [("y", TensorProto.FLOAT, ["N", "S", 32]),
                   ("mean", TensorProto.FLOAT, ["N", 32])], weights)
    return SmallModel(model, [{"x": normal(random, 2, 5, 32)}, {"x": normal(random, 3, 40, 32)}])


def shapes():
    """(N, S, 8) becomes (N, S * 8) by arithmetic on its shape and is cut at a bound that is given
    at run time; one output is the shape itself, computed on the host."""
    random = numpy.random.default_rng(2)
    nodes = [
        helper.make_node("Shape", ["x"], ["dims"], "shape"),
        helper.make_node("Gather", ["dims", "first"], ["n"], "first_dim"),
        helper.make_node("Gather", ["dims", "second"], ["s"], "second_dim"),
        helper.make_node("Gather", ["dims", "third"], ["c"], "third_dim"),
        helper.make_node("Mul", ["s", "c"], ["width"], "multiply"),
        helper.make_node("Concat", ["n", "width"], ["target"], "concat", axis=0),
        helper.make_node("Reshape", ["x", "target"], ["flat"], "reshape"),
        helper.make_node("Slice", ["flat", "zero", "limit", "one"], ["cut"], "slice"),
        helper.make_node("MatMul", ["x", "w"], ["p"], "product"),
        helper.make_node("Exp", ["cut"], ["y"], "exp"),
        helper.make_node("ReduceSum", ["p"], ["z"], "sum", keepdims=0),
        helper.make_node("Identity", ["target"], ["size"], "size"),
    ]
    integers = lambda *values: numpy.array(values, numpy.int64)  # noqa: E731
    weights = {"first": integers(0), "second": integers(1), "third": integers(2),
               "zero": integers(0), "one": integers(1), "w": normal(random, 8, 16)}
    model = build("shapes", nodes, [("x", TensorProto.FLOAT, ["N", "S", 8]),
                                    ("limit", TensorProto.INT64, [1])],
                  [("y", TensorProto.FLOAT, ["M", "K"]), ("z", TensorProto.FLOAT, []),
                   ("size", TensorProto.INT64, [2])], weights)
    return SmallModel(model, [{"x": normal(random, 3, 4, 8), "limit": integers(2)},
                              {"x": normal(random, 5, 1, 8), "limit": integers(5)}],
                      data_dependent=True)


MODELS = {"fashion": fashion, "layers": layers, "shapes": shapes}
