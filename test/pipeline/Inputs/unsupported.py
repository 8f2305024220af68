"""Models with one unsupported thing of each kind, for cameoc-unsupported.test: many.onnx, old.onnx
(opset 9) and older.onnx (opset 6), in the folder that is given."""
# SPDX-License-Identifier: Apache-2.0
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

F, I = TensorProto.FLOAT, TensorProto.INT64
node, value = helper.make_node, helper.make_tensor_value_info


def weight(name, numbers, dtype):
    return numpy_helper.from_array(numpy.array(numbers, dtype), name)


def save(name, nodes, inputs, weights=(), opset=20, domains=()):
    used = {name for n in nodes for name in n.input}
    outputs = [helper.make_empty_tensor_value_info(name) for n in nodes for name in n.output
               if name and name not in used]
    model = helper.make_model(
        helper.make_graph(nodes, "all", inputs, outputs, weights),
        opset_imports=[helper.make_opsetid("", opset),
                       *(helper.make_opsetid(domain, 1) for domain in domains)])
    model.ir_version = 8
    onnx.save(model, f"{sys.argv[1]}/{name}.onnx")


def branch(name):
    return helper.make_graph([node("RandomUniformLike", ["x"], [name], f"inside_{name}", low=2.0)], name, [],
                             [value(name, F, None)])


save("many", [
    node("Twist", ["x"], ["twisted"], "twist", domain="com.acme", strength=3),
    node("Relu", ["twisted"], ["after"], "behind_twist"),
    node("FusedConv", ["x"], ["fused"], "fused", domain="com.microsoft"),
    node("QuickGelu", ["x"], ["quick"], "quick", domain="com.microsoft"),
    node("QAttention", ["x"], ["attention"], "attention", domain="com.microsoft"),
    node("Reluu", ["x"], ["typo"], "typo"),
    node("Swish", ["x"], ["newer"], "newer"),
    node("Cast", ["axes"], ["bytes"], "to_bytes", to=TensorProto.UINT8),
    *(node("ImageDecoder", ["bytes"], [f"image{i}"], f"image{i}") for i in range(5)),
    node("If", ["flag"], ["chosen"], "if", then_branch=branch("a"), else_branch=branch("b")),
    node("LSTM", ["steps", "w", "w"], ["recurrent"], "lstm", hidden_size=2),
    node("Resize", ["x", "", "scales"], ["cropped"], "crop",
         coordinate_transformation_mode="tf_crop_and_resize"),
    node("Dropout", ["x", "ratio", "yes"], ["dropped"], "training"),
    node("ReduceSum", ["x", "axes"], ["summed"], "axes"),
    node("Cast", ["axes"], ["floats"], "to_floats", to=TensorProto.FLOAT),
    node("Sigmoid", ["floats"], ["squashed"], "squash"),
    node("Cast", ["squashed"], ["counts"], "as_list", to=I),
    node("Expand", ["steps", "counts"], ["expanded"], "device_shape"),
    node("Add", ["x", "seven"], ["added"], "broadcast"),
    node("SequenceConstruct", ["x", "x"], ["both"], "sequence"),
    node("RandomUniform", [], ["random"], "random", shape=[2], low=2.0),
    node("Einsum", ["x", "x"], ["product"], "einsum", equation="ij,jk->ik"),
], [value("x", F, ["N", 3, 8, 8]), value("flag", TensorProto.BOOL, []), value("axes", I, ["A"]),
    value("steps", F, [5, 1, 1]), value("words", TensorProto.STRING, [1, 4])],
    [weight("scales", [1, 1, 2, 2], "f"), weight("ratio", 1.5, "f"), weight("yes", True, "?"), weight("one", [1], "q"),
     weight("w", [[[1]] * 4], "f"), weight("seven", [0] * 7, "f")],
    domains=("com.acme", "com.microsoft"))

save("old", [
    node("BatchNormalization", ["x", "s", "s", "s", "s"], ["y", "mean"], "training"),
    node("Hardmax", ["y"], ["z"], "hardmax"), node("Unsupported", ["x"], ["u"], "unknown"),
], [value("x", F, [1, 3, 4])], [weight("s", [1] * 3, "f")], opset=9)

save("older", [node("Relu", ["x"], ["y"], "relu"), node("Neg", ["y"], ["z"], "mask")],
     [value("x", F, [4])], opset=0)
