"""Models that the passes on ONNX graphs change, each with the operators that are left of it."""
# SPDX-License-Identifier: Apache-2.0
import numpy
from onnx import TensorProto, helper, numpy_helper

RANDOM = numpy.random.default_rng(11)


class Graph:
    """A model of one input, built node by node; constants are initializers."""

    def __init__(self, *shape, left):
        self.shape, self.left = shape, sorted(left)
        self.nodes, self.constants = [], []

    def constant(self, *shape, values=None):
        if values is None:
            values = RANDOM.uniform(0.5, 1.5, shape).astype(numpy.float32)
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def ints(self, *values):
        return self.constant(values=numpy.array(values, numpy.int64))

    def node(self, operator, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def model(self, *outputs):
        graph = helper.make_graph(
            self.nodes, "main",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_empty_tensor_value_info(name) for name in outputs], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def feed(self):
        return {"x": RANDOM.standard_normal(self.shape).astype(numpy.float32)}


def pad_conv():
    g = Graph(2, 3, 6, 5, left=["Conv"])
    padded = g.node("Pad", "x", g.ints(0, 0, 1, 0, 0, 0, 2, 3))
    return g, g.model(g.node("Conv", padded, g.constant(4, 3, 3, 3), g.constant(4),
                             pads=[1, 0, 0, 1], strides=[2, 1]))


def pad_pools():
    g = Graph(1, 2, 6, 6, left=["AveragePool", "MaxPool"])
    pads = g.ints(0, 0, 1, 1, 0, 0, 0, 1)
    zeros = g.node("Pad", "x", pads)
    least = g.node("Pad", "x", pads, g.constant(values=numpy.float32(-numpy.inf)))
    return g, g.model(g.node("AveragePool", zeros, kernel_shape=[3, 3]),
                      g.node("MaxPool", least, kernel_shape=[3, 2], pads=[0, 0, 1, 0]))


def channels_last():
    """Two convolutions in a model that has channels last, with what is between them."""
    g = Graph(1, 3, 4, 5, left=["Add", "Add", "Clip", "Conv", "Conv", "HardSigmoid", "Mul"])
    last, first = [0, 2, 3, 1], [0, 3, 1, 2]
    conv = g.node("Transpose", g.node("Conv", "x", g.constant(3, 3, 1, 1)), perm=last)
    summed = g.node("Add", conv, g.constant(5, 3))
    gated = g.node("Mul", summed, g.node("HardSigmoid", summed))
    limited = g.node("Clip", gated, g.constant(values=numpy.float32(-1)))
    second = g.node("Conv", g.node("Transpose", limited, perm=first), g.constant(3, 3, 1, 1))
    total = g.node("Add", g.node("Transpose", second, perm=last), limited)
    return g, g.model(g.node("Transpose", total, perm=first))


def matrices():
    g = Graph(3, 4, left=["Gemm", "Gemm"])
    turned = g.node("Transpose", "x")
    product = g.node("Gemm", turned, g.constant(3, 2), alpha=0.5)
    return g, g.model(g.node("MatMul", g.node("Transpose", product, perm=[1, 0]), turned))


def views():
    """Rows for what does not need them; products that are transposed all around."""
    g = Graph(2, 6, 8, left=["MatMul", "Mul", "Relu", "Reshape", "Sigmoid"])
    rows = g.node("Reshape", "x", g.ints(12, 8))
    gated = g.node("Mul", rows, g.node("Sigmoid", rows))
    y = g.node("Relu", g.node("Reshape", gated, g.ints(2, -1, 8)))
    turned = g.node("Transpose", y, perm=[0, 2, 1])
    other = g.node("Transpose", g.node("Reshape", "x", g.ints(2, 8, 6)), perm=[0, 2, 1])
    return g, g.model(g.node("Transpose", g.node("MatMul", turned, other), perm=[0, 2, 1]))


def scales():
    g = Graph(2, 3, 4, left=["Add", "MatMul", "MatMul", "Relu", "Relu"])
    product = g.node("MatMul", g.node("Div", "x", g.constant(4)), g.constant(4, 5))
    biased = g.node("Mul", g.node("Add", product, g.constant(5)), g.constant(1))
    first = g.node("Relu", biased)
    both = g.node("Mul", g.node("Div", first, g.constant(5)), g.constant(1))
    product = g.node("MatMul", both, g.constant(5, 2))
    return g, g.model(g.node("Relu", g.node("Mul", product, g.constant(1, 2))))


def shifts():
    """Shifts in front of products stay."""
    g = Graph(1, 4, 5, left=["Add", "Conv", "Flatten", "Gemm", "Sub"])
    shifted = g.node("Mul", g.node("Sub", "x", g.constant(4, 1)), g.constant(4, 1))
    conv = g.node("Conv", shifted, g.constant(6, 2, 2), group=2)
    flat = g.node("Add", g.node("Flatten", conv), g.constant(24))
    return g, g.model(g.node("Gemm", flat, g.constant(3, 24), transB=1, alpha=2.0))


def attention():
    """Two heads: queries scaled and divided scores, and a mask."""
    g = Graph(2, 6, 8, left=["Add", "Attention", *["MatMul", "Reshape", "Transpose"] * 3])
    heads = [g.node("Transpose", g.node("Reshape", g.node("MatMul", "x", g.constant(8, 8)),
                                        g.ints(0, 0, 2, 4)), perm=perm)
             for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
    # The bias keeps the scale from the weights before it.
    query = g.node("Mul", g.node("Add", heads[0], g.constant(6, 4)),
                   g.constant(values=numpy.float32(0.7)))
    scores = g.node("Div", g.node("MatMul", query, heads[1]),
                    g.constant(values=numpy.float32(3)))
    weights = g.node("Softmax", g.node("Add", scores, g.constant(2, 1, 6, 6)), axis=3)
    return g, g.model(g.node("MatMul", weights, heads[2]))


def attention_of_one_head():
    """Each place sees itself and those before it; the keys are as the second product wants them."""
    g = Graph(2, 6, 8, left=["Attention", "Transpose"])
    later = g.constant(values=numpy.triu(numpy.ones((6, 6), bool), 1))
    scores = g.node("MatMul", "x", g.node("Transpose", "x", perm=[0, 2, 1]))
    hidden = g.node("Where", later, g.constant(values=numpy.float32(-1e9)), scores)
    y = g.node("MatMul", g.node("Softmax", hidden, axis=-1), "x")
    return g, g.model(g.node("Transpose", y, perm=[0, 2, 1]))


def splats():
    """Four megabytes, and forty, of one number."""
    g = Graph(1, 1024, left=["Add", *["ConstantOfShape"] * 3, "Identity", "MatMul"])

    def filled(value, *shape):
        return g.node("ConstantOfShape", g.ints(*shape),
                      value=helper.make_tensor("value", TensorProto.FLOAT, [1], [value]))

    weight = g.node("Mul", filled(0.5, 1024, 1024), filled(0.25, 1024, 1))
    product = g.node("MatMul", "x", weight)
    summed = g.node("Add", product, g.node("Expand", filled(2.0, 1), g.ints(1, 1024)))
    return g, g.model(summed, g.node("Transpose", filled(3.0, 1024, 10240)))


MODELS = {make.__name__.replace("_", "-"): make
          for make in (pad_conv, pad_pools, channels_last, matrices, views, scales, shifts, attention,
                       attention_of_one_head, splats)}
