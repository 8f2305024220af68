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


def nameless():
    """Sizes that two inputs call alike without meaning that they are."""
    inputs = [info("x", ("?", "", "-1", "None", "N", "unk__7")), info("y", ("?", None, -1, 4))]
    return model([helper.make_node("Relu", ["x"], ["z"])], inputs,
                 [helper.make_empty_tensor_value_info("z")])


def aliases():
    w = numpy_helper.from_array(np.ones([4], np.float32), "w")
    return model([helper.make_node("Relu", ["x"], ["y"])],
                 outputs=[info("x"), info("w", (4,)), info("y")],
                 initializers=[w])


def weights():
    big = np.arange(512, dtype=np.float32)
    return model([helper.make_node("Add", ["x", "big"], ["y"])], [info("x", (512,))],
                 [info("y", (512,))], [numpy_helper.from_array(big, "big")])


def large():
    constants = [numpy_helper.from_array(np.arange(2048, dtype=np.float32), "a"),
                 numpy_helper.from_array(np.arange(3000, dtype=np.int32), "b"),
                 numpy_helper.from_array(np.ones([3], np.float32), "c")]
    nodes = [helper.make_node("Identity", [n], [n + "_out"]) for n in "abc"]
    return model(nodes, outputs=[helper.make_empty_tensor_value_info(n + "_out") for n in "abc"],
                 initializers=constants)


ELEMENTS = ("FLOAT DOUBLE FLOAT16 BFLOAT16 INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL "
            "COMPLEX64 COMPLEX128 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ "
            "FLOAT8E8M0 FLOAT4E2M1 INT4 UINT4 INT2 UINT2").split()


def constants_of_all_types(raw):
    """Seven elements and 3001, so that the last byte of sub-byte types is not full."""
    tensors = []
    for element in ELEMENTS:
        kind = getattr(TensorProto, element)
        dtype = helper.tensor_dtype_to_np_dtype(kind)
        for count in (1, 7, 3001):
            numbers = np.arange(count) % 4
            if kind in (TensorProto.INT4, TensorProto.INT2):
                numbers = numbers - 2
            array = (numbers % 2 if kind == TensorProto.INT2 else numbers).astype(dtype)
            tensor = numpy_helper.from_array(array, "%s_%d" % (element, count))
            tensors.append(tensor if raw else typed(tensor, array))
    nodes = [helper.make_node("Identity", [t.name], [t.name + "_out"]) for t in tensors]
    outputs = [helper.make_empty_tensor_value_info(n.output[0]) for n in nodes]
    return model(nodes, outputs=outputs, initializers=tensors, opset=26)


def typed(tensor, array):
    """The same values in the typed field, as the format describes it."""
    raw = tensor.raw_data
    out = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
    name = TensorProto.DataType.Name(tensor.data_type)
    if name in ("FLOAT", "COMPLEX64"):
        out.float_data.extend(np.frombuffer(raw, np.float32).tolist())
    elif name in ("DOUBLE", "COMPLEX128"):
        out.double_data.extend(np.frombuffer(raw, np.float64).tolist())
    elif name == "INT64":
        out.int64_data.extend(array.tolist())
    elif name in ("UINT32", "UINT64"):
        out.uint64_data.extend(array.tolist())
    elif name in ("FLOAT16", "BFLOAT16"):
        out.int32_data.extend(np.frombuffer(raw, np.uint16).tolist())
    elif name in ("INT8", "INT16", "INT32", "UINT8", "UINT16", "BOOL"):
        out.int32_data.extend(array.astype(np.int32).tolist())
    else:
        out.int32_data.extend(raw)
    return out


def raw_constants():
    return constants_of_all_types(True)


def typed_constants():
    return constants_of_all_types(False)


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
